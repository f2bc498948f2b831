/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_NET_HTTP_LOOKUP_H
#define BT_NET_HTTP_LOOKUP_H
/**
 * Resolves host names. Numeric addresses and localhost are resolved at once; for other names
 * getaddrinfo runs in a thread, so that the event loop is not blocked.
 */
#include <netinet/in.h>

#include "base/strbuf.h"
#include "base/vec.h"
#include "net/loop.h"

union bt_http_address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

struct bt_http_addresses {
	BT_VEC(union bt_http_address) list; /* in the order of connection attempts */
};

struct bt_http_lookup;

/** If the host needs no lookup, appends its addresses with port 0 and returns true. */
bool bt_http_lookup_literal(struct bt_str host, struct bt_http_addresses *out);
/**
 * Starts a lookup. Calls `ready` once, in a later turn, with no addresses if the lookup failed; the
 * lookup is freed when `ready` returns. host: at most 255 bytes. NULL: threads or descriptors have
 * run out.
 */
struct bt_http_lookup *bt_http_lookup_start(struct bt_loop *loop, struct bt_str host,
	void (*ready)(void *context, struct bt_http_lookup *lookup,
		const struct bt_http_addresses *addresses),
	void *context);
struct bt_str bt_http_lookup_host(const struct bt_http_lookup *lookup);
/** Frees the lookup, whose `ready` is then not called. Must not be called within `ready`. */
void bt_http_lookup_cancel(struct bt_http_lookup *lookup);

/** Appends "10.0.0.1:80" or "[::1]:80". */
void bt_http_address_append(const union bt_http_address *address, struct bt_strbuf *out);
#endif
