/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/listen.h"

#include <stdio.h>
#include <string.h>

int bt_listen_check(struct bt_listen *listen, uint16_t default_port, struct berth_error *err)
{
	const char *text = listen->text;
	struct bt_str host = bt_str_from(text);
	int64_t port = default_port;
	int64_t colon = bt_str_find_last_char(host, ':');
	bool is_bare_v6 = colon >= 0 && text[0] != '[' && bt_str_find_char(host, ':') != colon;
	if (colon >= 0 && !is_bare_v6 && host.data[host.length - 1] != ']') {
		struct bt_str digits = bt_str_sub(host, (uint32_t)colon + 1, UINT32_MAX);
		host = bt_str_sub(host, 0, (uint32_t)colon);
		if (!bt_str_parse_int64(digits, &port) || port < 0 || port > UINT16_MAX) {
			return bt_error_set(err, BERTH_ERR_INVALID,
				"--listen: %s: the port must be 0 to 65535", text);
		}
	}
	if (host.length >= 2 && host.data[0] == '[' && host.data[host.length - 1] == ']') {
		host = bt_str_sub(host, 1, host.length - 2);
	}
	if (host.length == 0) {
		host = BT_STR("0.0.0.0");
	} else if (bt_str_equal_c(host, "localhost")) {
		host = BT_STR("127.0.0.1");
	}
	if (host.length >= sizeof(listen->address)) {
		return bt_error_set(
			err, BERTH_ERR_INVALID, "--listen: %s: expected ADDRESS:PORT", text);
	}
	(void)snprintf(listen->address, sizeof(listen->address), "%.*s", BT_STR_ARG(host));
	listen->port = (uint16_t)port;
	return (listen->certificate_path == NULL) == (listen->key_path == NULL)
		? 0
		: bt_error_set(err, BERTH_ERR_INVALID,
			  "--tls-cert-file and --tls-private-key-file come together");
}

bool bt_listen_is_loopback(const struct bt_listen *listen)
{
	return strncmp(listen->address, "127.", 4) == 0 || strcmp(listen->address, "::1") == 0;
}

void bt_listen_append_url(
	const struct bt_listen *listen, bool is_plain, uint16_t port, struct bt_strbuf *out)
{
	const char *address = listen->address;
	bool is_any = strcmp(address, "0.0.0.0") == 0 || strcmp(address, "::") == 0;
	const char *host = is_any ? "127.0.0.1" : address;
	bool is_v6 = strchr(host, ':') != NULL;
	bt_strbuf_printf(out, "%s://%s%s%s:%u", is_plain ? "http" : "https", is_v6 ? "[" : "", host,
		is_v6 ? "]" : "", port);
}
