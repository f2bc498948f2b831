/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_NET_HTTP_PROXY_H
#define BT_NET_HTTP_PROXY_H
/**
 * Which proxy a URL is fetched through, as Go's HTTP library decides by the environment. Spec: 13
 * section 4.6.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/strbuf.h"

/** Parts of an absolute URL, borrowed from it. */
struct bt_http_url {
	struct bt_str scheme;
	struct bt_str user; /* "name:password" as written, or "" */
	struct bt_str host; /* without brackets */
	bool is_v6;         /* it had brackets */
	uint16_t port;      /* of the scheme where the URL has none */
	struct bt_str rest; /* from the path on, or "" */
};

/** false: not http or https, no host, or a bad port. */
BT_MUST_USE bool bt_http_url_split(struct bt_str url, struct bt_http_url *out_url);
/** The same for what bt_http_proxies_find returns: its schemes are http, https and socks5h. */
BT_MUST_USE bool bt_http_url_split_proxy(struct bt_str url, struct bt_http_url *out_url);
/** Appends "host:port", with brackets where they are needed. */
void bt_http_url_append_address(struct bt_strbuf *out, struct bt_str host, uint16_t port);

/** Appends "Basic ..." for the user info of a URL. */
void bt_http_url_append_basic(struct bt_strbuf *out, struct bt_str user);

/** Append a URL, or what was taken for one, as Go shows it: xxxxx for its password. */
void bt_http_url_append_redacted(struct bt_strbuf *out, struct bt_str url);

/** Zero memory: no proxy for anything. */
struct bt_http_proxies {
	char *http; /* "scheme://[user@]host:port", may hold a password; NULL: none */
	char *https;
	char *no_proxy;
	bool is_fixed; /* for every URL; no exceptions */
};

/**
 * One proxy for all URLs. BERTH_ERR_INVALID: `unsupported scheme "ftp", must be http, https, or
 * socks5`, or no URL.
 */
BT_MUST_USE int bt_http_proxies_fix(
	struct bt_http_proxies *proxies, const char *url, struct berth_error *err);
/** From the environment's three texts; NULL and "" are none. Unusable URLs are an error. */
BT_MUST_USE int bt_http_proxies_read(struct bt_http_proxies *proxies, const char *http,
	const char *https, const char *no_proxy, struct berth_error *err);
void bt_http_proxies_finish(struct bt_http_proxies *proxies);
/** NULL: fetched without one. */
const char *bt_http_proxies_find(
	const struct bt_http_proxies *proxies, const struct bt_http_url *url);
#endif
