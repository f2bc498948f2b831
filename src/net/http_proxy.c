/* SPDX-License-Identifier: Apache-2.0 */
#include "net/http_proxy.h"

#include <arpa/inet.h>
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "codec/base64.h"
#include "net/http_server.h"

/* Longer texts are not valid host names. */
#define HOST_BYTES_MAX 255

static bool parse_port(struct bt_str text, uint16_t *out_port)
{
	int64_t value = 0;
	if (text.length == 0 || text.data[0] == '+' || text.data[0] == '-' ||
		!bt_str_parse_int64(text, &value) || value > UINT16_MAX) {
		return false;
	}
	*out_port = (uint16_t)value;
	return true;
}

/*
 * Splits "host", "host:port" or "[v6]:port"; an IPv6 address without brackets is taken as a host
 * without port.
 */
static bool split_host(struct bt_str text, uint16_t default_port, struct bt_http_url *out_url)
{
	struct bt_str port = BT_STR("");
	out_url->port = default_port;
	out_url->is_v6 = text.length != 0 && text.data[0] == '[';
	if (out_url->is_v6) {
		int64_t end = bt_str_find_char(text, ']');
		if (end < 0) {
			return false;
		}
		out_url->host = bt_str_sub(text, 1, (uint32_t)end - 1);
		port = bt_str_sub(text, (uint32_t)end + 1, BT_STR_MAX);
		if (port.length != 0 && port.data[0] != ':') {
			return false;
		}
	} else {
		int64_t colon = bt_str_find_last_char(text, ':');
		out_url->host = text;
		if (colon >= 0 && bt_str_find_char(text, ':') == colon) {
			out_url->host = bt_str_sub(text, 0, (uint32_t)colon);
			port = bt_str_sub(text, (uint32_t)colon, BT_STR_MAX);
		}
	}
	if (out_url->host.length == 0 || out_url->host.length > HOST_BYTES_MAX) {
		return false;
	}
	port = bt_str_sub(port, port.length != 0 ? 1 : 0, BT_STR_MAX);
	return port.length == 0 || parse_port(port, &out_url->port);
}

/* Returns the number of bytes before the first '/', '?' or '#'. */
static uint32_t find_rest(struct bt_str text)
{
	uint32_t end = 0;
	while (end < text.length && strchr("/?#", text.data[end]) == NULL) {
		end++;
	}
	return end;
}

struct bt_http_url bt_http_url_split_text(struct bt_str url)
{
	struct bt_http_url parts = {.scheme = BT_STR_INIT(""), .user = BT_STR_INIT("")};
	uint32_t end = find_rest(url);
	bool has_scheme =
		end > 1 && bt_str_has_prefix(bt_str_sub(url, end - 1, BT_STR_MAX), BT_STR("://"));
	for (uint32_t i = 0; has_scheme && i < end - 1; i++) {
		char byte = url.data[i];
		bool is_other = bt_is_digit(byte) || byte == '+' || byte == '-' || byte == '.';
		has_scheme = bt_is_letter(byte) || (i != 0 && is_other);
	}
	if (has_scheme) {
		parts.scheme = bt_str_sub(url, 0, end - 1);
		url = bt_str_sub(url, end + 2, BT_STR_MAX);
		end = find_rest(url);
	}
	parts.host = bt_str_sub(url, 0, end);
	parts.rest = bt_str_sub(url, end, BT_STR_MAX);
	int64_t at = bt_str_find_last_char(parts.host, '@');
	if (at >= 0) {
		parts.user = bt_str_sub(parts.host, 0, (uint32_t)at);
		parts.host = bt_str_sub(parts.host, (uint32_t)at + 1, BT_STR_MAX);
	}
	return parts;
}

struct scheme {
	const char *name;
	uint16_t port;
	const char *proxy_name; /* normalized scheme; socks5h: the proxy resolves names */
};

static const struct scheme schemes[] = {
	{"http", 80, "http"},
	{"https", 443, "https"},
	{"socks5", 1080, "socks5h"},
	{"socks5h", 1080, "socks5h"},
};

static const struct scheme *find_scheme(struct bt_str name, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (bt_str_equal_without_case(name, bt_str_from(schemes[i].name))) {
			return &schemes[i];
		}
	}
	return NULL;
}

bool bt_http_url_split(struct bt_str url, bool is_proxy, struct bt_http_url *out_url)
{
	struct bt_http_url parts = bt_http_url_split_text(url);
	const struct scheme *scheme =
		find_scheme(parts.scheme, is_proxy ? BT_ARRAY_LENGTH(schemes) : 2);
	if (scheme == NULL || !split_host(parts.host, scheme->port, &parts)) {
		return false;
	}
	*out_url = parts;
	return true;
}

void bt_http_url_append_basic(struct bt_strbuf *out, struct bt_str user)
{
	struct bt_strbuf pair = {0};
	if (!bt_http_percent_decode(user, false, &pair)) {
		bt_strbuf_set(&pair, user);
	}
	if (bt_str_find_char(user, ':') < 0) {
		bt_strbuf_append_char(&pair, ':');
	}
	bt_strbuf_append_c(out, "Basic ");
	bt_base64_encode(bt_strbuf_str(&pair), out);
	bt_strbuf_finish_wiped(&pair);
}

void bt_http_url_append_address(struct bt_strbuf *out, struct bt_str host, uint16_t port)
{
	bool brackets = bt_str_find_char(host, ':') >= 0;
	bt_strbuf_printf(
		out, brackets ? "[%.*s]:%u" : "%.*s:%u", BT_STR_ARG(host), (unsigned int)port);
}

void bt_http_url_append_redacted(struct bt_strbuf *out, struct bt_str url)
{
	struct bt_http_url parts = bt_http_url_split_text(url);
	int64_t at = bt_str_find_last_char(url, '@');
	struct bt_str user = parts.user;
	if (parts.scheme.length == 0 && at >= 0) {
		user = bt_str_sub(url, 0, (uint32_t)at); /* anything may be a password */
	}
	int64_t colon = bt_str_find_char(user, ':');
	if (colon < 0) {
		bt_strbuf_append_str(out, url);
		return;
	}
	uint32_t password = (uint32_t)(user.data - url.data) + (uint32_t)colon + 1;
	bt_strbuf_append_str(out, bt_str_sub(url, 0, password));
	bt_strbuf_append_c(out, "xxxxx");
	bt_strbuf_append_str(
		out, bt_str_sub(url, (uint32_t)(user.data - url.data) + user.length, BT_STR_MAX));
}

/* Normalizes a proxy URL to scheme, user info, host and port. */
static int parse_proxy(struct bt_str url, struct bt_http_proxy *out_proxy, struct berth_error *err)
{
	struct bt_http_url parts = bt_http_url_split_text(url);
	struct bt_strbuf text = {0};
	if (parts.scheme.length == 0) {
		return bt_error_set(err, BERTH_ERR_INVALID, "the proxy address is not a URL");
	}
	const struct scheme *scheme = find_scheme(parts.scheme, BT_ARRAY_LENGTH(schemes));
	if (scheme == NULL) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"unsupported scheme \"%.*s\", must be http, https, or socks5",
			BT_STR_ARG(parts.scheme));
	}
	if (!split_host(parts.host, scheme->port, &parts)) {
		return bt_error_set(err, BERTH_ERR_INVALID, "the proxy's URL has no usable host");
	}
	bt_strbuf_printf(&text, "%s://%.*s%s", scheme->proxy_name, BT_STR_ARG(parts.user),
		parts.user.length != 0 ? "@" : "");
	bt_http_url_append_address(&text, parts.host, parts.port);
	out_proxy->text = bt_strbuf_steal(&text);
	bool is_url = bt_http_url_split(bt_str_from(out_proxy->text), true, &out_proxy->url);
	BT_ASSERT(is_url); /* its parts were checked above */
	out_proxy->is_socks = strcmp(scheme->proxy_name, "socks5h") == 0;
	return 0;
}

int bt_http_proxies_fix(struct bt_http_proxies *proxies, const char *url, struct berth_error *err)
{
	int result = parse_proxy(bt_str_from(url), &proxies->https, err);
	proxies->is_fixed = result == 0;
	return result;
}

static int read_one(const char *url, struct bt_http_proxy *out_proxy, struct berth_error *err)
{
	if (url == NULL || *url == '\0') {
		return 0;
	}
	if (bt_http_url_split_text(bt_str_from(url)).scheme.length != 0) {
		return parse_proxy(bt_str_from(url), out_proxy, err);
	}
	struct bt_strbuf text = {0};
	bt_strbuf_printf(&text, "http://%s", url);
	int result = parse_proxy(bt_strbuf_str(&text), out_proxy, err);
	bt_strbuf_finish_wiped(&text);
	return result;
}

int bt_http_proxies_read(struct bt_http_proxies *proxies, const char *http, const char *https,
	const char *no_proxy, struct berth_error *err)
{
	struct bt_http_proxies fresh = {0};
	int result = read_one(http, &fresh.http, err);
	if (result == 0) {
		result = read_one(https, &fresh.https, err);
	}
	if (result != 0) {
		bt_http_proxies_finish(&fresh);
		return result;
	}
	fresh.no_proxy = bt_strndup(
		no_proxy != NULL ? no_proxy : "", no_proxy != NULL ? strlen(no_proxy) : 0);
	*proxies = fresh;
	return 0;
}

static void free_secret(char *text)
{
	struct bt_strbuf buffer = {
		text, text != NULL ? strlen(text) : 0, text != NULL ? strlen(text) + 1 : 0};
	bt_strbuf_finish_wiped(&buffer);
}

void bt_http_proxies_finish(struct bt_http_proxies *proxies)
{
	free_secret(proxies->http.text);
	free_secret(proxies->https.text);
	bt_free(proxies->no_proxy);
	struct bt_http_proxies none = {0};
	*proxies = none;
}

bool bt_http_parse_ip(struct bt_str text, struct bt_http_ip *out, bool *out_is_v4)
{
	static const unsigned char mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
	char copy[INET6_ADDRSTRLEN];
	if (text.length == 0 || text.length >= sizeof(copy)) {
		return false;
	}
	memcpy(copy, text.data, text.length);
	copy[text.length] = '\0';
	*out_is_v4 = inet_pton(AF_INET, copy, out->bytes + 12) == 1;
	if (*out_is_v4) {
		memcpy(out->bytes, mapped, sizeof(mapped));
		return true;
	}
	if (inet_pton(AF_INET6, copy, out->bytes) != 1) {
		return false;
	}
	*out_is_v4 = memcmp(out->bytes, mapped, sizeof(mapped)) == 0;
	return true;
}

/* Matches "10.0.0.0/8" against the host; false also if the entry is no CIDR. */
static bool matches_network(struct bt_str entry, const struct bt_http_ip *host, bool host_is_v4)
{
	struct bt_http_ip network;
	bool is_v4 = false;
	uint16_t bits = 0;
	int64_t slash = bt_str_find_char(entry, '/');
	if (slash < 0 ||
		!bt_http_parse_ip(bt_str_sub(entry, 0, (uint32_t)slash), &network, &is_v4) ||
		!parse_port(bt_str_sub(entry, (uint32_t)slash + 1, BT_STR_MAX), &bits) ||
		bits > (is_v4 ? 32 : 128) || is_v4 != host_is_v4) {
		return false;
	}
	uint32_t prefix = is_v4 ? 96U + bits : bits;
	uint32_t bytes = prefix / 8;
	uint32_t rest = prefix % 8;
	return memcmp(network.bytes, host->bytes, bytes) == 0 &&
		(rest == 0 || (network.bytes[bytes] ^ host->bytes[bytes]) >> (8 - rest) == 0);
}

static bool has_suffix_without_case(struct bt_str text, struct bt_str suffix)
{
	return text.length >= suffix.length &&
		bt_str_equal_without_case(
			bt_str_sub(text, text.length - suffix.length, BT_STR_MAX), suffix);
}

static bool matches_entry(struct bt_str entry, const struct bt_http_url *url,
	const struct bt_http_ip *address, bool is_address, bool is_v4)
{
	struct bt_http_url parts = {0};
	struct bt_http_ip own;
	bool own_is_v4 = false;
	if (bt_str_equal(entry, BT_STR("*"))) {
		return true;
	}
	if (bt_str_find_char(entry, '/') >= 0) {
		return is_address && matches_network(entry, address, is_v4);
	}
	if (!split_host(entry, 0, &parts) || (parts.port != 0 && parts.port != url->port)) {
		return false;
	}
	if (bt_http_parse_ip(parts.host, &own, &own_is_v4)) {
		return is_address && memcmp(&own, address, sizeof(own)) == 0;
	}
	/* "example.org" matches itself and its subdomains, ".example.org" only subdomains. */
	struct bt_str host = url->host;
	struct bt_str domain = parts.host;
	if (bt_str_has_prefix(domain, BT_STR("*."))) {
		domain = bt_str_sub(domain, 1, BT_STR_MAX);
	}
	if (is_address || domain.length == 0) {
		return false;
	}
	if (domain.data[0] == '.') {
		return has_suffix_without_case(host, domain);
	}
	return bt_str_equal_without_case(host, domain) ||
		(host.length > domain.length && has_suffix_without_case(host, domain) &&
			host.data[host.length - domain.length - 1] == '.');
}

const struct bt_http_proxy *bt_http_proxies_find(
	const struct bt_http_proxies *proxies, const struct bt_http_url *url)
{
	static const struct bt_http_ip loopback = {
		{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}};
	struct bt_http_ip address = {{0}};
	bool is_v4 = false;
	if (proxies->is_fixed) {
		return &proxies->https;
	}
	const struct bt_http_proxy *proxy = bt_str_equal_without_case(url->scheme, BT_STR("https"))
		? &proxies->https
		: &proxies->http;
	if (proxy->text == NULL || bt_str_equal_without_case(url->host, BT_STR("localhost"))) {
		return NULL;
	}
	bool is_address = bt_http_parse_ip(url->host, &address, &is_v4);
	if (is_address &&
		(is_v4 ? address.bytes[12] == 127
		       : memcmp(&address, &loopback, sizeof(loopback)) == 0)) {
		return NULL;
	}
	struct bt_str rest = bt_str_from(proxies->no_proxy);
	while (rest.length != 0) {
		struct bt_str entry = bt_str_trim(bt_str_cut(&rest, ','), " \t");
		if (entry.length != 0 && matches_entry(entry, url, &address, is_address, is_v4)) {
			return NULL;
		}
	}
	return proxy;
}
