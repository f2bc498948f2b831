/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLIENT_TRANSPORT_PRIVATE_H
#define BT_CLIENT_TRANSPORT_PRIVATE_H
/**
 * Internals of a transport, for transport.c and for tests, which set its clock with
 * bt_transport_refresh and bt_transport_check.
 */
#include "base/vec.h"
#include "client/authorization.h"
#include "client/exec_plugin.h"
#include "client/pace.h"
#include "client/tls_material.h"
#include "client/transport.h"

/**
 * Servers answer within a minute (spec 13 section 7.4), so a server silent for longer has hung.
 * This replaces the detection by HTTP/2 pings.
 */
#define BT_TRANSPORT_SILENCE_NS INT64_C(90000000000)

struct bt_transport_call {
	struct bt_transport *transport;
	struct bt_http_transfer *transfer; /* NULL: not started, or over */
	struct bt_http_client_handler handler;
	uint32_t generation;                /* of the plugin's credentials in use; 0: none */
	bool waits;                         /* waits for credentials: in `waiting`, not in `live` */
	bool ending;                        /* `done` is being called */
	bool is_paced;                      /* uses bt_transport.calls */
	struct bt_strbuf failure;           /* error to report instead of starting */
	struct bt_transport_call *previous; /* in live or waiting */
	struct bt_transport_call *next;
	/* Set while the call waits: its number, and the request with its texts in one block. */
	uint64_t ticket;
	struct bt_transport_request request;
	char *texts;
};

struct bt_transport_calls {
	struct bt_transport_call *first;
	struct bt_transport_call *last;
};

/** Credential plugin and its cached credentials. */
struct bt_transport_exec {
	bool active;
	bool cached;
	uint32_t generation; /* 0: never ran */
	bool expires;
	int64_t expiry_ns; /* since 1970 */
	struct bt_exec_run *run;
	bool is_refresh;       /* the run was started because of a 401 */
	int64_t hint_since_ns; /* start of the hour counted by hint_count */
	uint32_t hint_count;
};

struct bt_transport {
	struct bt_loop *loop;
	const struct bt_client_config *config;
	int64_t silence_ns; /* BT_TRANSPORT_SILENCE_NS */
	/* Few connections are shared by calls, because each costs a handshake and memory. */
	struct bt_http_client *calls;
	struct bt_pace pace; /* limit of concurrent calls */
	uint32_t calls_max;  /* current limit of connections */
	/*
	 * For streams, each of which keeps a connection, and requests with a timeout, which must
	 * not wait.
	 */
	struct bt_http_client *streams;
	struct bt_authorization authorization;
	struct bt_tls_material tls;
	struct bt_transport_exec exec;
	struct bt_transport_calls live;
	struct bt_transport_calls waiting;
	uint64_t ticket;                       /* number of the last call that waited */
	BT_VEC(struct bt_http_header) headers; /* buffer for starting a call */
	struct bt_strbuf url;                  /* buffer, begins with the base URL */
	struct bt_metric *exec_calls;          /* rest_client_exec_plugin_call_total; NULL: none */
};

/** Refreshes token, certificates and CA before a request. */
void bt_transport_refresh(struct bt_transport *transport, int64_t now_ns);
/** The loop's worker: does all that is due, and returns the time at which it must run again. */
int64_t bt_transport_check(struct bt_transport *transport, int64_t now_ns);

#endif
