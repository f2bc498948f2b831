/* SPDX-License-Identifier: Apache-2.0 */
#include "client/config.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/log.h"
#include "client/config_private.h"
#include "client/file.h"
#include "client/pem.h"

#define SERVICE_ACCOUNT_FOLDER "/var/run/secrets/kubernetes.io/serviceaccount"

static const char *folder_of(const struct bt_client_config_input *input)
{
	return input->service_account_folder != NULL ? input->service_account_folder
						     : SERVICE_ACCOUNT_FOLDER;
}

/* --- in-cluster, spec 13 section 5 --- */

/* Both variables, or false. */
static bool read_variables(const char **out_host, const char **out_port)
{
	*out_host = getenv("KUBERNETES_SERVICE_HOST");
	*out_port = getenv("KUBERNETES_SERVICE_PORT");
	return *out_host != NULL && (*out_host)[0] != '\0' && *out_port != NULL &&
		(*out_port)[0] != '\0';
}

static bool in_cluster_is_possible(const char *folder)
{
	const char *host;
	const char *port;
	struct bt_strbuf path = {0};
	struct stat status;
	bool possible;

	bt_strbuf_printf(&path, "%s/token", folder);
	possible = read_variables(&host, &port) && stat(bt_strbuf_c(&path), &status) == 0 &&
		!S_ISDIR(status.st_mode);
	bt_strbuf_finish(&path);
	return possible;
}

/* Usable, or it is reported and left out. */
static void take_service_ca(struct bt_client_config *config, struct bt_str path)
{
	struct berth_error cause = BERTH_ERROR_INIT;
	struct bt_strbuf pem = {0};
	int code = bt_client_file_read(path.data, BT_CLIENT_FILE_BYTES_MAX, &pem, &cause);

	if (code == 0) {
		code = bt_client_pem_check_roots(bt_strbuf_str(&pem), &cause);
	}
	if (code == 0) {
		config->ca.file = path;
	} else {
		BT_LOG_TEXT(BT_LOG_SEVERITY_ERROR,
			"Expected to load root CA config from %s, but got err: %s", path.data,
			berth_error_message(&cause));
	}
	berth_error_finish(&cause);
	bt_strbuf_finish(&pem);
}

static int fill_in_cluster(
	const char *folder, struct bt_client_config *config, struct berth_error *err)
{
	struct bt_strbuf token = {0};
	const char *host;
	const char *port;
	bool is_v6;
	int code;

	if (!read_variables(&host, &port)) {
		return bt_error_set(err, BERTH_ERR_NOT_FOUND,
			"unable to load in-cluster configuration, KUBERNETES_SERVICE_HOST and "
			"KUBERNETES_SERVICE_PORT must be defined");
	}
	config->token_file = bt_arena_printf(&config->arena, "%s/token", folder);
	code = bt_client_file_read(config->token_file.data, BT_CLIENT_FILE_BYTES_MAX, &token, err);
	bt_strbuf_finish_wiped(&token);
	if (code != 0) {
		return code;
	}
	take_service_ca(config, bt_arena_printf(&config->arena, "%s/ca.crt", folder));
	is_v6 = bt_str_find_char(bt_str_from(host), ':') >= 0;
	config->server = bt_arena_printf(&config->arena, "https://%s%s%s:%s", is_v6 ? "[" : "",
		host, is_v6 ? "]" : "", port);
	config->in_cluster = true;
	return bt_client_config_derive_url(config, err);
}

int bt_client_config_in_cluster(
	const char *folder, struct bt_client_config *out_config, struct berth_error *err)
{
	struct bt_client_config config = {0};
	int code = fill_in_cluster(folder, &config, err);

	if (code != 0) {
		bt_client_config_finish(&config);
		return code;
	}
	*out_config = config;
	return 0;
}

/* --- kubeconfig --- */

/* path "" or NULL: there is no file, text is empty. */
static int parse(struct bt_str text, const char *path, const char *master,
	struct bt_client_config *out_config, bool *out_nothing, struct berth_error *err)
{
	struct bt_client_config config = {0};
	struct bt_kubeconfig file = {0};
	int code = bt_kubeconfig_read(text, path != NULL ? path : "", &config.arena, &file, err);

	*out_nothing = false;
	if (code != 0) {
		code = bt_error_wrap(
			err, code, "error loading config file \"%s\"", path != NULL ? path : "");
	} else {
		code = bt_kubeconfig_select(&file, master, &config, out_nothing, err);
	}
	if (code != 0) {
		bt_client_config_finish(&config);
		return code;
	}
	*out_config = config;
	return 0;
}

int bt_client_config_parse(struct bt_str text, const char *path, const char *master,
	struct bt_client_config *out_config, struct berth_error *err)
{
	bool nothing;

	return parse(text, path, master, out_config, &nothing, err);
}

/* The file's text; empty without a file. */
static int read_kubeconfig(const char *path, struct bt_strbuf *out, struct berth_error *err)
{
	struct stat status;
	int code;

	if (path == NULL || path[0] == '\0') {
		return 0;
	}
	if (stat(path, &status) != 0) {
		int number = errno;
		char text[128];
		return bt_error_set(err, BERTH_ERR_NOT_FOUND, "stat %s: %s", path,
			bt_client_file_errno(number, text, sizeof(text)));
	}
	code = bt_client_file_read(path, BT_CLIENT_FILE_BYTES_MAX, out, err);
	return code != 0 ? bt_error_wrap(err, code, "error loading config file \"%s\"", path) : 0;
}

/* true: that is the configuration. */
static bool try_in_cluster(const char *folder, struct bt_client_config *out_config)
{
	struct berth_error cause = BERTH_ERROR_INIT;

	BT_LOG_TEXT(BT_LOG_SEVERITY_WARNING,
		"Neither --kubeconfig nor --master was specified.  Using the inClusterConfig.  "
		"This might not work.");
	if (bt_client_config_in_cluster(folder, out_config, &cause) == 0) {
		return true;
	}
	BT_LOG_TEXT(BT_LOG_SEVERITY_WARNING,
		"error creating inClusterConfig, falling back to default config: %s",
		berth_error_message(&cause));
	berth_error_finish(&cause);
	return false;
}

static bool is_given(const char *text)
{
	return text != NULL && text[0] != '\0';
}

int bt_client_config_load(const struct bt_client_config_input *input,
	struct bt_client_config *out_config, struct berth_error *err)
{
	struct berth_error cause = BERTH_ERROR_INIT;
	struct bt_strbuf text = {0};
	bool nothing = false;
	int code;

	if (!is_given(input->kubeconfig) && !is_given(input->master) &&
		try_in_cluster(folder_of(input), out_config)) {
		return 0;
	}
	code = read_kubeconfig(input->kubeconfig, &text, &cause);
	if (code == 0) {
		code = parse(bt_strbuf_str(&text), input->kubeconfig, input->master, out_config,
			&nothing, &cause);
	}
	bt_strbuf_finish_wiped(&text);
	if (code != 0 && nothing && in_cluster_is_possible(folder_of(input))) {
		berth_error_finish(&cause);
		return bt_client_config_in_cluster(folder_of(input), out_config, err);
	}
	return code != 0 ? bt_error_move(err, &cause) : 0;
}

void bt_client_config_finish(struct bt_client_config *config)
{
	bt_arena_finish_wiped(&config->arena);
	*config = (struct bt_client_config){0};
}
