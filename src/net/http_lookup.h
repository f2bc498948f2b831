/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_NET_HTTP_LOOKUP_H
#define BT_NET_HTTP_LOOKUP_H
/**
 * Addresses of host names. Addresses written as numbers, and localhost, are known at once; each
 * other name is asked for in a thread, so that the event loop goes on.
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
	BT_VEC(union bt_http_address) list; /* in the order in which they are tried */
};

struct bt_http_lookup;

/** The host needs no lookup: its addresses, with port 0, are appended. */
bool bt_http_lookup_literal(struct bt_str host, struct bt_http_addresses *out);
/**
 * Calls ready once within a later turn, with no address when there is none; the lookup ends when
 * ready returns. NULL: threads or descriptors have run out.
 */
struct bt_http_lookup *bt_http_lookup_start(struct bt_loop *loop, struct bt_str host,
	void (*ready)(void *context, struct bt_http_lookup *lookup,
		const struct bt_http_addresses *addresses),
	void *context);
struct bt_str bt_http_lookup_host(const struct bt_http_lookup *lookup);
/** Not within ready. */
void bt_http_lookup_cancel(struct bt_http_lookup *lookup);

/** Appends "10.0.0.1:80" or "[::1]:80". */
void bt_http_address_append(const union bt_http_address *address, struct bt_strbuf *out);
#endif
