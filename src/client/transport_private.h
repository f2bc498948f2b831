/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLIENT_TRANSPORT_PRIVATE_H
#define BT_CLIENT_TRANSPORT_PRIVATE_H
/**
 * Inside of a transport: for transport.c, and for tests, which move its clock with
 * bt_transport_refresh and bt_transport_check.
 */
#include "base/vec.h"
#include "client/authorization.h"
#include "client/exec_plugin.h"
#include "client/pace.h"
#include "client/tls_material.h"
#include "client/transport.h"

/**
 * Servers answer within a minute (spec 13 section 7.4). One that says nothing for longer hangs, and
 * what HTTP/2 would notice by its pings is noticed so.
 */
#define BT_TRANSPORT_SILENCE_NS INT64_C(90000000000)

struct bt_transport_call {
	struct bt_transport *transport;
	struct bt_http_transfer *transfer; /* NULL: not started, or over */
	struct bt_http_client_handler handler;
	uint32_t generation;                /* of the plugin's credentials that it used; 0: none */
	bool waits;                         /* for credentials: in `waiting`, not in `live` */
	bool ending;                        /* done is being called */
	bool is_paced;                      /* it uses bt_transport.calls */
	struct bt_strbuf failure;           /* to be told instead of a start */
	struct bt_transport_call *previous; /* in live or waiting */
	struct bt_transport_call *next;
	/* While it waits: its number, and the request, its texts in one block. */
	uint64_t ticket;
	struct bt_transport_request request;
	char *texts;
};

struct bt_transport_calls {
	struct bt_transport_call *first;
	struct bt_transport_call *last;
};

/** The plugin and what it gave. */
struct bt_transport_exec {
	bool active;
	bool cached;
	uint32_t generation; /* 0: never ran */
	bool expires;
	int64_t expiry_ns; /* since 1970 */
	struct bt_exec_run *run;
	bool is_refresh;       /* the run was started because of a 401 */
	int64_t hint_since_ns; /* the hour that hint_count is for */
	uint32_t hint_count;
};

struct bt_transport {
	struct bt_loop *loop;
	const struct bt_client_config *config;
	int64_t silence_ns; /* BT_TRANSPORT_SILENCE_NS */
	/* Calls share few connections: each is a handshake and memory. */
	struct bt_http_client *calls;
	struct bt_pace pace; /* of calls */
	uint32_t calls_max;  /* connections of calls at most */
	/* Streams, which keep theirs, and requests with a timeout, which must not wait. */
	struct bt_http_client *streams;
	struct bt_authorization authorization;
	struct bt_tls_material tls;
	struct bt_transport_exec exec;
	struct bt_transport_calls live;
	struct bt_transport_calls waiting;
	uint64_t ticket;                       /* of the last one that waited */
	BT_VEC(struct bt_http_header) headers; /* scratch of a start */
	struct bt_strbuf url;                  /* the same; begins with the base URL */
	struct bt_metric *exec_calls;          /* rest_client_exec_plugin_call_total; NULL: none */
};

/** What is looked at when a request starts: token, certificates, CA. */
void bt_transport_refresh(struct bt_transport *transport, int64_t now_ns);
/** Everything that is due, as the loop's worker; when to come again. */
int64_t bt_transport_check(struct bt_transport *transport, int64_t now_ns);

#endif
