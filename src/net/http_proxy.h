/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_NET_HTTP_PROXY_H
#define BT_NET_HTTP_PROXY_H
/**
 * Selects the proxy of a URL as Go's HTTP library does from the environment. Spec: 13 section 4.6.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/strbuf.h"

/** Parts of a URL; borrowed from the URL's text. */
struct bt_http_url {
	struct bt_str scheme;
	struct bt_str user; /* "name:password" as written, or "" */
	struct bt_str host; /* without brackets */
	bool is_v6;         /* the host had brackets */
	uint16_t port;      /* the scheme's default port if the URL has no port */
	struct bt_str rest; /* path, query and fragment, or "" */
};

/**
 * Splits a URL without checks. scheme: "" if no scheme with "://" precedes path, query and
 * fragment. host includes brackets and port; is_v6 and port are not set.
 */
struct bt_http_url bt_http_url_split_text(struct bt_str url);
/**
 * Returns false if the URL has no host, a bad port, or a scheme other than http and https.
 * is_proxy: the schemes socks5 and socks5h are accepted, too.
 */
BT_MUST_USE bool bt_http_url_split(struct bt_str url, bool is_proxy, struct bt_http_url *out_url);
/** An IP address in sixteen bytes, IPv4 mapped into IPv6. */
struct bt_http_ip {
	unsigned char bytes[16];
};

/** Returns false if the text is no IP address. *out_is_v4: the address is IPv4, maybe mapped. */
BT_MUST_USE bool bt_http_parse_ip(struct bt_str text, struct bt_http_ip *out, bool *out_is_v4);
/** Appends "host:port", with brackets around IPv6 addresses. */
void bt_http_url_append_address(struct bt_strbuf *out, struct bt_str host, uint16_t port);

/** Appends "Basic ..." from the user info of a URL. */
void bt_http_url_append_basic(struct bt_strbuf *out, struct bt_str user);

/** Appends the URL, which may be invalid, as Go prints it: with xxxxx in place of the password. */
void bt_http_url_append_redacted(struct bt_strbuf *out, struct bt_str url);

struct bt_http_proxy {
	char *text;             /* "scheme://[name:password@]host:port"; NULL: no proxy */
	struct bt_http_url url; /* parts of text */
	bool is_socks;          /* SOCKS 5, and the proxy resolves names; else HTTP */
};

/** Proxy configuration. All-zero memory: no proxies. */
struct bt_http_proxies {
	struct bt_http_proxy http;
	struct bt_http_proxy https;
	char *no_proxy;
	bool is_fixed; /* `https` is the proxy of every URL, without exceptions */
};

/**
 * Uses one proxy for all URLs. BERTH_ERR_INVALID: `unsupported scheme "ftp", must be http, https,
 * or socks5`, or not a URL.
 */
BT_MUST_USE int bt_http_proxies_fix(
	struct bt_http_proxies *proxies, const char *url, struct berth_error *err);
/**
 * Parses the values of HTTP_PROXY, HTTPS_PROXY and NO_PROXY; NULL and "" mean unset.
 * BERTH_ERR_INVALID: a URL is unusable; proxies is unchanged.
 */
BT_MUST_USE int bt_http_proxies_read(struct bt_http_proxies *proxies, const char *http,
	const char *https, const char *no_proxy, struct berth_error *err);
void bt_http_proxies_finish(struct bt_http_proxies *proxies);
/** Returns the URL's proxy, borrowed from proxies; NULL: connect directly. */
const struct bt_http_proxy *bt_http_proxies_find(
	const struct bt_http_proxies *proxies, const struct bt_http_url *url);
#endif
