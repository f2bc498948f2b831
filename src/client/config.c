/* SPDX-License-Identifier: Apache-2.0 */
#include "client/config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "client/config_private.h"
#include "client/file.h"
#include "net/http_proxy.h"

/** Derives base_url and is_tls from server (spec 13 section 4.5). */
static int client_config_derive_url(struct bt_client_config *config, struct berth_error *err)
{
	struct bt_http_url parts = bt_http_url_split_text(config->cluster.server);
	struct bt_str rest = parts.rest; /* path, query and fragment */
	struct bt_str path = bt_str_cut(&rest, '#');

	path = bt_str_cut(&path, '?');
	if (parts.user.length != 0) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"user information in the server's URL is not supported");
	}
	/* Refuse bytes that are not allowed in URLs or would change the request. */
	if (!bt_str_is_visible(config->cluster.server, "\"<>\\^`{|}") || parts.host.length == 0 ||
		(parts.scheme.length == 0 && path.length > 1)) {
		struct bt_strbuf shown = {0};
		bt_http_url_append_redacted(&shown, config->cluster.server);
		int result = bt_error_set_quoted(err, BERTH_ERR_INVALID,
			"host must be a URL or a host:port pair: ", bt_strbuf_str(&shown), "");
		bt_strbuf_finish(&shown);
		return result;
	}
	if (parts.scheme.length == 0) {
		/* A URL without a scheme means https if any TLS option is set, else http. */
		config->is_tls = config->cluster.ca_data.data != NULL ||
			config->cluster.ca_file.length != 0 ||
			config->user.certificate_data.data != NULL ||
			config->user.certificate_file.length != 0 || config->cluster.insecure;
	} else if (bt_str_equal_without_case(parts.scheme, BT_STR("https"))) {
		config->is_tls = true;
	} else if (!bt_str_equal_without_case(parts.scheme, BT_STR("http"))) {
		return bt_error_set(err, BERTH_ERR_INVALID, "unsupported protocol scheme \"%.*s\"",
			BT_STR_ARG(parts.scheme));
	}
	while (path.length > 0 && path.data[path.length - 1] == '/') {
		path.length--;
	}
	const char *scheme = config->is_tls ? "https" : "http";
	config->base_url = bt_arena_printf(
		&config->arena, "%s://%.*s%.*s", scheme, BT_STR_ARG(parts.host), BT_STR_ARG(path));
	return 0;
}

#define NO_CONFIGURATION \
	"no configuration has been provided, try setting KUBERNETES_MASTER environment variable"

/* All problems of a configuration, in the order in which they were found. */
struct problems {
	struct bt_strbuf text; /* joined by ", " */
	uint32_t count;
};

BT_PRINTF(2, 3)
static void add_problem(struct problems *problems, const char *format, ...)
{
	va_list arguments;

	bt_strbuf_append_c(&problems->text, problems->count++ > 0 ? ", " : "");
	va_start(arguments, format);
	bt_strbuf_vprintf(&problems->text, format, arguments);
	va_end(arguments);
}

static void check_file(
	struct problems *problems, const char *what, struct bt_str path, struct bt_str name)
{
	struct berth_error cause = BERTH_ERROR_INIT;
	struct bt_strbuf whole = {0};

	if (path.length == 0) {
		return;
	}
	int fd = open(path.data, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd >= 0) {
		(void)close(fd); /* read-only: no data to lose */
	} else {
		(void)bt_client_file_fail("open", path.data, errno, &cause);
		bt_strbuf_printf(&whole, "%s %.*s", what, BT_STR_ARG(path));
		add_problem(problems, "unable to read %s for %.*s due to %s", bt_strbuf_c(&whole),
			BT_STR_ARG(name), berth_error_message(&cause));
		berth_error_finish(&cause);
		bt_strbuf_finish(&whole);
	}
}

static void check_exec(
	struct problems *problems, const struct bt_kubeconfig_user *user, struct bt_str name)
{
	static const char plugin[] = "to use exec authentication plugin";
	const struct bt_kubeconfig_exec *exec = user->exec;

	if (exec == NULL) {
		return;
	}
	if (user->auth_provider != NULL) {
		add_problem(problems,
			"authProvider cannot be provided in combination with an exec plugin for "
			"%.*s",
			BT_STR_ARG(name));
	}
	if (exec->command.length == 0) {
		add_problem(problems, "command must be specified for %.*s %s", BT_STR_ARG(name),
			plugin);
	}
	if (exec->api_version.length == 0) {
		add_problem(problems, "apiVersion must be specified for %.*s %s", BT_STR_ARG(name),
			plugin);
	}
	for (uint32_t i = 0; i < exec->env.count; i++) {
		if (exec->env.items[i].name.length == 0) {
			add_problem(problems, "env variable name must be specified for %.*s %s",
				BT_STR_ARG(name), plugin);
		}
	}
	if (exec->interactive_mode.length == 0) {
		if (!(bt_str_equal_c(exec->api_version, "client.authentication.k8s.io/v1beta1") ||
			    bt_str_equal_c(
				    exec->api_version, "client.authentication.k8s.io/v1alpha1"))) {
			add_problem(problems, "interactiveMode must be specified for %.*s %s",
				BT_STR_ARG(name), plugin);
		}
	} else if (!(bt_str_equal_c(exec->interactive_mode, "Never") ||
			   bt_str_equal_c(exec->interactive_mode, "IfAvailable") ||
			   bt_str_equal_c(exec->interactive_mode, "Always"))) {
		add_problem(problems, "invalid interactiveMode for %.*s: \"%.*s\"",
			BT_STR_ARG(name), BT_STR_ARG(exec->interactive_mode));
	}
}

static void check_cluster(
	struct problems *problems, const struct bt_kubeconfig_cluster *cluster, struct bt_str name)
{
	struct bt_str scheme = bt_http_url_split_text(cluster->proxy_url).scheme;

	if (cluster->server.length == 0 && name.length == 0) {
		add_problem(problems, "default cluster has no server defined");
	} else if (cluster->server.length == 0) {
		add_problem(problems, "no server found for cluster \"%.*s\"", BT_STR_ARG(name));
	}
	if (cluster->proxy_url.length != 0 && !bt_str_equal_without_case(scheme, BT_STR("http")) &&
		!bt_str_equal_without_case(scheme, BT_STR("https")) &&
		!bt_str_equal_without_case(scheme, BT_STR("socks5"))) {
		/* The message shows no password. */
		struct bt_strbuf shown = {0};
		struct bt_strbuf text = {0};
		bt_strbuf_append_c(&text, "invalid 'proxy-url' ");
		bt_http_url_append_redacted(&shown, cluster->proxy_url);
		bt_strbuf_append_quoted(&text, bt_strbuf_str(&shown));
		bt_strbuf_append_c(&text, " for cluster ");
		bt_strbuf_append_quoted(&text, name);
		bt_strbuf_append_c(&text, ": unsupported scheme ");
		bt_strbuf_append_quoted(&text, scheme);
		add_problem(problems, "%s, must be http, https, or socks5", bt_strbuf_c(&text));
		bt_strbuf_finish(&shown);
		bt_strbuf_finish(&text);
	}
	if (cluster->ca_file.length != 0 && cluster->ca_data.data != NULL) {
		add_problem(problems,
			"certificate-authority-data and certificate-authority are both specified "
			"for %.*s. certificate-authority-data will override.",
			BT_STR_ARG(name));
	}
	check_file(problems, "certificate-authority", cluster->ca_file, name);
}

static int check_selection(const struct bt_kubeconfig *file,
	const struct bt_kubeconfig_context *context, bool context_is_known,
	const struct bt_client_config *config, bool *out_nothing, struct berth_error *err)
{
	const struct bt_kubeconfig_cluster *cluster = &config->cluster;
	const struct bt_kubeconfig_user *user = &config->user;
	struct problems problems = {0};
	bool nothing = false;
	int code = 0;

	if (!context_is_known) {
		add_problem(&problems, "context was not found for specified context: %.*s",
			BT_STR_ARG(file->current_context));
	}
	struct bt_str name = context->user;
	if (user->certificate_file.length != 0 || user->certificate_data.data != NULL) {
		if (user->certificate_file.length != 0 && user->certificate_data.data != NULL) {
			add_problem(&problems,
				"client-cert-data and client-cert are both specified for %.*s. "
				"client-cert-data will override.",
				BT_STR_ARG(name));
		}
		if (user->key_file.length != 0 && user->key_data.data != NULL) {
			add_problem(&problems,
				"client-key-data and client-key are both specified for %.*s; "
				"client-key-data will override",
				BT_STR_ARG(name));
		}
		if (user->key_file.length == 0 && user->key_data.data == NULL) {
			add_problem(&problems,
				"client-key-data or client-key must be specified for %.*s to use "
				"the clientCert authentication method.",
				BT_STR_ARG(name));
		}
		check_file(&problems, "client-cert", user->certificate_file, name);
		check_file(&problems, "client-key", user->key_file, name);
	}
	check_exec(&problems, user, name);
	if (user->token.length != 0 && (user->username.length != 0 || user->password.length != 0)) {
		add_problem(&problems,
			"more than one authentication method found for %.*s; found [token "
			"basicAuth], only one is allowed",
			BT_STR_ARG(name));
	}
	if (user->as.length == 0 &&
		(user->as_uid.length != 0 || user->as_groups.count != 0 ||
			(user->as_user_extra.length != 0 &&
				!bt_str_equal_c(user->as_user_extra, "null") &&
				!bt_str_equal_c(user->as_user_extra, "{}")))) {
		add_problem(&problems,
			"requesting uid, groups or user-extra for %.*s without impersonating a "
			"user",
			BT_STR_ARG(name));
	}
	if (cluster->server.length == 0 && cluster->tls_server_name.length == 0 &&
		!cluster->insecure && cluster->ca_file.length == 0 &&
		cluster->ca_data.data == NULL && cluster->proxy_url.length == 0 &&
		!cluster->disable_compression && cluster->extensions.count == 0) {
		nothing = problems.count == 0;
		add_problem(&problems, "%s",
			nothing ? NO_CONFIGURATION : "cluster has no server defined");
	} else {
		check_cluster(&problems, cluster, context->cluster);
	}
	if (problems.count > 0) {
		code = bt_error_set(err, BERTH_ERR_INVALID, "invalid configuration: %s%s%s",
			problems.count > 1 ? "[" : "", bt_strbuf_c(&problems.text),
			problems.count > 1 ? "]" : "");
	}
	bt_strbuf_finish(&problems.text);
	if (out_nothing != NULL) {
		*out_nothing = nothing;
	}
	return code;
}

int bt_kubeconfig_select(const struct bt_kubeconfig *file, const char *master,
	struct bt_client_config *config, bool *out_nothing, struct berth_error *err)
{
	struct bt_kubeconfig_context context = {0};
	struct bt_kubeconfig_cluster *cluster = &config->cluster;
	/*
	 * A missing context, cluster or user counts as empty. `known` is true if current-context is
	 * unset or names a context.
	 */
	bool known = file->current_context.length == 0;

	for (uint32_t i = 0; i < file->contexts.count; i++) {
		if (bt_str_equal(file->contexts.items[i].name, file->current_context)) {
			context = file->contexts.items[i].context;
			known = true;
		}
	}
	for (uint32_t i = 0; i < file->clusters.count; i++) {
		if (bt_str_equal(file->clusters.items[i].name, context.cluster)) {
			*cluster = file->clusters.items[i].cluster;
		}
	}
	for (uint32_t i = 0; i < file->users.count; i++) {
		if (bt_str_equal(file->users.items[i].name, context.user)) {
			config->user = file->users.items[i].user;
		}
	}
	if (bt_is_given(master)) {
		cluster->server = bt_arena_str(&config->arena, bt_str_from(master));
		cluster->tls_server_name = (struct bt_str){0};
	}
	int code = check_selection(file, &context, known, config, out_nothing, err);
	if (code != 0) {
		return code;
	}
	if (config->user.auth_provider != NULL) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"no Auth Provider found for name \"%.*s\"",
			BT_STR_ARG(config->user.auth_provider->name));
	}
	/* Each value of as-user-extra, {key: [value, ...]}, becomes a pair of key and value. */
	struct bt_str json = config->user.as_user_extra;
	struct bt_json_value *extra = NULL;
	uint32_t count = 0;
	if (json.length != 0 && bt_json_parse(&config->arena, json, true, &extra, NULL) != 0) {
		return bt_error_set(err, BERTH_ERR_INVALID, "as-user-extra: cannot be read");
	}
	uint32_t key_count = extra != NULL && extra->type == BT_JSON_OBJECT ? extra->count : 0;
	for (uint32_t i = 0; i < key_count; i++) {
		const struct bt_json_value *values = extra->members[i].value;
		count += values->type == BT_JSON_ARRAY ? values->count : 0;
	}
	config->impersonate_extra.items =
		BT_ARENA_NEW_ARRAY(&config->arena, struct bt_str_pair, count);
	for (uint32_t i = 0; i < key_count; i++) {
		const struct bt_json_value *values = extra->members[i].value;
		for (uint32_t k = 0; values->type == BT_JSON_ARRAY && k < values->count; k++) {
			if (values->elements[k]->type != BT_JSON_STRING) {
				return bt_error_set(err, BERTH_ERR_INVALID,
					"as-user-extra: expected string, got %s",
					bt_json_type_name(values->elements[k]->type));
			}
			config->impersonate_extra.items[config->impersonate_extra.count++] =
				(struct bt_str_pair){
					extra->members[i].name, values->elements[k]->text};
		}
	}
	return client_config_derive_url(config, err);
}

#define SERVICE_ACCOUNT_FOLDER "/var/run/secrets/kubernetes.io/serviceaccount"

static const char *folder_of(const struct bt_client_config_input *input)
{
	return input->service_account_folder != NULL ? input->service_account_folder
						     : SERVICE_ACCOUNT_FOLDER;
}

/*
 * Reads the environment variables that name the API server in a pod. Returns false if one of the
 * two variables is missing or empty. Spec: 13 section 5.
 */
static bool read_variables(const char **out_host, const char **out_port)
{
	*out_host = getenv("KUBERNETES_SERVICE_HOST");
	*out_port = getenv("KUBERNETES_SERVICE_PORT");
	return bt_is_given(*out_host) && bt_is_given(*out_port);
}

int bt_client_config_in_cluster(const struct bt_client_config_input *input,
	struct bt_client_config *out_config, struct berth_error *err)
{
	struct bt_client_config config = {0};
	struct bt_strbuf token = {0};
	const char *folder = folder_of(input);
	const char *host;
	const char *port;

	if (!read_variables(&host, &port)) {
		return bt_error_set(err, BERTH_ERR_NOT_FOUND,
			"unable to load in-cluster configuration, KUBERNETES_SERVICE_HOST and "
			"KUBERNETES_SERVICE_PORT must be defined");
	}
	config.user.token_file = bt_arena_printf(&config.arena, "%s/token", folder);
	int code = bt_client_file_read(
		config.user.token_file.data, BT_CLIENT_FILE_BYTES_MAX, &token, err);
	bt_strbuf_finish_wiped(&token);
	if (code == 0) {
		/* Use the service account's CA if it is valid; otherwise leave it out. */
		struct berth_error cause = BERTH_ERROR_INIT;
		struct bt_strbuf pem = {0};
		struct bt_str path = bt_arena_printf(&config.arena, "%s/ca.crt", folder);
		int ca_code =
			bt_client_file_read(path.data, BT_CLIENT_FILE_BYTES_MAX, &pem, &cause);
		if (ca_code == 0) {
			ca_code = bt_client_pem_check_roots(bt_strbuf_str(&pem), &cause);
		}
		if (ca_code == 0) {
			config.cluster.ca_file = path;
		} else {
			BT_LOG_TEXT(BT_LOG_SEVERITY_ERROR,
				"Expected to load root CA config from %s, but got err: %s",
				path.data, berth_error_message(&cause));
		}
		berth_error_finish(&cause);
		bt_strbuf_finish(&pem);
		bool is_v6 = bt_str_find_char(bt_str_from(host), ':') >= 0;
		config.cluster.server = bt_arena_printf(&config.arena, "https://%s%s%s:%s",
			is_v6 ? "[" : "", host, is_v6 ? "]" : "", port);
		code = client_config_derive_url(&config, err);
	}
	if (code != 0) {
		bt_client_config_finish(&config);
		return code;
	}
	*out_config = config;
	return 0;
}

int bt_client_config_parse(struct bt_str text, const char *path, const char *master,
	struct bt_client_config *out_config, bool *out_nothing, struct berth_error *err)
{
	struct bt_client_config config = {0};
	struct bt_kubeconfig file = {0};
	int code = bt_kubeconfig_read(text, path != NULL ? path : "", &config.arena, &file, err);

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

int bt_client_config_load(const struct bt_client_config_input *input,
	struct bt_client_config *out_config, struct berth_error *err)
{
	struct berth_error cause = BERTH_ERROR_INIT;
	struct bt_strbuf text = {0};
	bool nothing = false;

	if (!bt_is_given(input->kubeconfig) && !bt_is_given(input->master)) {
		BT_LOG_TEXT(BT_LOG_SEVERITY_WARNING,
			"Neither --kubeconfig nor --master was specified.  Using the "
			"inClusterConfig.  This might not work.");
		if (bt_client_config_in_cluster(input, out_config, &cause) == 0) {
			return 0;
		}
		BT_LOG_TEXT(BT_LOG_SEVERITY_WARNING,
			"error creating inClusterConfig, falling back to default config: %s",
			berth_error_message(&cause));
		berth_error_finish(&cause);
	}
	int code = 0;
	const char *path = input->kubeconfig;
	struct stat status;
	if (bt_is_given(path) && stat(path, &status) != 0) {
		code = bt_client_file_fail("stat", path, errno, &cause);
	} else if (bt_is_given(path)) {
		code = bt_client_file_read_waiting(path, BT_CLIENT_FILE_BYTES_MAX, &text, &cause);
		if (code != 0) {
			code = bt_error_wrap(
				&cause, code, "error loading config file \"%s\"", path);
		}
	}
	if (code == 0) {
		code = bt_client_config_parse(bt_strbuf_str(&text), input->kubeconfig,
			input->master, out_config, &nothing, &cause);
	}
	bt_strbuf_finish_wiped(&text);
	if (code != 0 && nothing) {
		/* If this process runs in a pod, use the pod's service account. */
		const char *host;
		const char *port;
		struct bt_strbuf token = {0};

		bt_strbuf_printf(&token, "%s/token", folder_of(input));
		bool is_pod = read_variables(&host, &port) &&
			stat(bt_strbuf_c(&token), &status) == 0 && !S_ISDIR(status.st_mode);
		bt_strbuf_finish(&token);
		if (is_pod) {
			berth_error_finish(&cause);
			return bt_client_config_in_cluster(input, out_config, err);
		}
	}
	return code != 0 ? bt_error_move(err, &cause) : 0;
}

void bt_client_config_finish(struct bt_client_config *config)
{
	bt_arena_finish_wiped(&config->arena);
	*config = (struct bt_client_config){0};
}
