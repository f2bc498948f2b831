/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first byte says whether the input is a kubeconfig or the output of a credential plugin. An
 * accepted kubeconfig has a base URL for requests. A refused input has an error message.
 */
#include <stddef.h>
#include <stdint.h>

#include "base/assert.h"
#include "base/error.h"
#include "client/config.h"
#include "client/exec_plugin.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_config(const struct bt_client_config *config)
{
	struct bt_strbuf info = {0};

	BT_ASSERT(bt_str_has_prefix(
		config->base_url, config->is_tls ? BT_STR("https://") : BT_STR("http://")));
	BT_ASSERT(bt_str_find_char(config->base_url, '\r') < 0 &&
		bt_str_find_char(config->base_url, '\n') < 0 &&
		bt_str_find_char(config->base_url, ' ') < 0);
	BT_ASSERT(config->base_url.data[config->base_url.length - 1] != '/');
	BT_ASSERT(config->cluster.ca_file.length == 0 || config->cluster.ca_file.data[0] == '/');
	if (config->user.exec != NULL) {
		bt_exec_write_info(config, BT_STR("ca"), false, &info);
		BT_ASSERT(info.data[info.length - 1] == '\n');
	}
	bt_strbuf_finish(&info);
}

static void try_config(struct bt_str text, const char *master)
{
	struct bt_client_config config = {0};
	struct berth_error err = BERTH_ERROR_INIT;

	if (bt_client_config_parse(text, "/etc/k/conf", master, &config, NULL, &err) != 0) {
		BT_ASSERT(err.code < 0 && err.message != NULL && config.arena.chunks == NULL);
		berth_error_finish(&err);
		return;
	}
	BT_ASSERT(err.code == 0);
	check_config(&config);
	bt_client_config_finish(&config);
}

static void try_credential(struct bt_str text)
{
	struct bt_exec_credential credential = {0};
	struct berth_error err = BERTH_ERROR_INIT;

	if (bt_exec_credential_read(
		    text, BT_STR("client.authentication.k8s.io/v1"), &credential, &err) != 0) {
		BT_ASSERT(err.code < 0 && err.message != NULL);
		berth_error_finish(&err);
		return;
	}
	BT_ASSERT(credential.token.length != 0 || credential.certificate.length != 0);
	bt_exec_credential_finish(&credential);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bt_str text;

	if (size == 0 || size > (1U << 20)) {
		return 0;
	}
	text = (struct bt_str){(const char *)data + 1, (uint32_t)size - 1};
	if (data[0] == 'p') {
		try_credential(text);
	} else {
		try_config(text, data[0] == 'm' ? "127.0.0.1:8080" : "");
	}
	return 0;
}
