/* SPDX-License-Identifier: Apache-2.0 */
#include "client/config_private.h"
#include "net/http_proxy.h"

/* A URL taken apart; texts are borrowed. */
struct parts {
	struct bt_str scheme; /* "" without "://" */
	struct bt_str user;   /* before '@' */
	struct bt_str host;   /* with port */
	struct bt_str path;
};

static bool is_scheme(struct bt_str text)
{
	for (uint32_t i = 0; i < text.length; i++) {
		char byte = text.data[i];
		bool is_letter = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
		bool is_other =
			(byte >= '0' && byte <= '9') || byte == '+' || byte == '-' || byte == '.';
		if (!is_letter && (i == 0 || !is_other)) {
			return false;
		}
	}
	return text.length > 0;
}

static uint32_t until_any(struct bt_str text, const char *stops)
{
	uint32_t at = 0;

	while (at < text.length && strchr(stops, text.data[at]) == NULL) {
		at++;
	}
	return at;
}

static struct parts split(struct bt_str url)
{
	struct parts parts = {.scheme = BT_STR(""), .user = BT_STR("")};
	int64_t mark = bt_str_find(url, BT_STR("://"));
	struct bt_str rest = url;
	uint32_t end;
	int64_t at;

	if (mark > 0 && is_scheme(bt_str_sub(url, 0, (uint32_t)mark))) {
		parts.scheme = bt_str_sub(url, 0, (uint32_t)mark);
		rest = bt_str_sub(url, (uint32_t)mark + 3, url.length);
	}
	end = until_any(rest, "?#");
	rest = bt_str_sub(rest, 0, end);
	end = until_any(rest, "/");
	parts.host = bt_str_sub(rest, 0, end);
	parts.path = bt_str_sub(rest, end, rest.length);
	at = bt_str_find_last_char(parts.host, '@');
	if (at >= 0) {
		parts.user = bt_str_sub(parts.host, 0, (uint32_t)at);
		parts.host = bt_str_sub(parts.host, (uint32_t)at + 1, parts.host.length);
	}
	return parts;
}

/* What cannot be in a URL, or would be something else in a request. */
static bool is_clean(struct bt_str text)
{
	for (uint32_t i = 0; i < text.length; i++) {
		unsigned char byte = (unsigned char)text.data[i];
		if (byte <= ' ' || byte >= 0x7f || strchr("\"<>\\^`{|}", byte) != NULL) {
			return false;
		}
	}
	return true;
}

static int fail_host(struct bt_str host, struct berth_error *err)
{
	struct bt_strbuf text = {0};
	int code;

	bt_strbuf_append_quoted(&text, host);
	code = bt_error_set(err, BERTH_ERR_INVALID, "host must be a URL or a host:port pair: %s",
		bt_strbuf_c(&text));
	bt_strbuf_finish(&text);
	return code;
}

int bt_client_config_derive_url(struct bt_client_config *config, struct berth_error *err)
{
	struct parts parts = split(config->server);
	const char *scheme;

	if (parts.user.length != 0) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"user information in the server's URL is not supported");
	}
	if (!is_clean(config->server) || parts.host.length == 0) {
		return fail_host(config->server, err);
	}
	if (parts.scheme.length == 0) {
		if (parts.path.length > 1) {
			return fail_host(config->server, err);
		}
		/* Without a scheme: https when something of TLS is configured. */
		config->is_tls = config->ca.data.data != NULL || config->ca.file.length != 0 ||
			config->certificate.data.data != NULL ||
			config->certificate.file.length != 0 || config->insecure;
	} else if (bt_str_equal_without_case(parts.scheme, BT_STR("https"))) {
		config->is_tls = true;
	} else if (!bt_str_equal_without_case(parts.scheme, BT_STR("http"))) {
		return bt_error_set(err, BERTH_ERR_INVALID, "unsupported protocol scheme \"%.*s\"",
			BT_STR_ARG(parts.scheme));
	}
	while (parts.path.length > 0 && parts.path.data[parts.path.length - 1] == '/') {
		parts.path.length--;
	}
	scheme = config->is_tls ? "https" : "http";
	config->base_url = bt_arena_printf(&config->arena, "%s://%.*s%.*s", scheme,
		BT_STR_ARG(parts.host), BT_STR_ARG(parts.path));
	return 0;
}

int bt_client_config_check_proxy(struct bt_str url, struct bt_str cluster, struct berth_error *err)
{
	struct parts parts = split(url);
	struct bt_strbuf shown = {0};
	struct bt_strbuf text = {0};
	int code;

	if (bt_str_equal_without_case(parts.scheme, BT_STR("http")) ||
		bt_str_equal_without_case(parts.scheme, BT_STR("https")) ||
		bt_str_equal_without_case(parts.scheme, BT_STR("socks5"))) {
		return 0;
	}
	bt_strbuf_append_c(&text, "invalid 'proxy-url' ");
	bt_http_url_append_redacted(&shown, url);
	bt_strbuf_append_quoted(&text, bt_strbuf_str(&shown));
	bt_strbuf_append_c(&text, " for cluster ");
	bt_strbuf_append_quoted(&text, cluster);
	bt_strbuf_append_c(&text, ": unsupported scheme ");
	bt_strbuf_append_quoted(&text, parts.scheme);
	bt_strbuf_append_c(&text, ", must be http, https, or socks5");
	code = bt_error_set(err, BERTH_ERR_INVALID, "%s", bt_strbuf_c(&text));
	bt_strbuf_finish(&shown);
	bt_strbuf_finish(&text);
	return code;
}
