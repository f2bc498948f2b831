/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLIENT_TRANSPORT_PRIVATE_H
#define BT_CLIENT_TRANSPORT_PRIVATE_H
/**
 * Internals of a transport, for transport.c and for tests, which set its clock with
 * bt_transport_refresh and bt_transport_check.
 */
#include "base/vec.h"
#include "client/exec_plugin.h"
#include "client/pace.h"
#include "client/file.h"
#include "client/transport.h"

/**
 * Certificate, key and CA bundle of a connection, and when their files are checked for changes.
 * Spec: 13 section 6.4. Times are of the loop's clock.
 */

/** Effect of a change on the connections. */
enum bt_tls_change {
	BT_TLS_SAME,
	BT_TLS_NEW_CONNECTIONS, /* close idle connections; new connections use the new material */
	BT_TLS_CUT,             /* close all connections */
};

struct bt_tls_material {
	const struct bt_client_config *config; /* borrowed */
	struct bt_strbuf ca;
	struct bt_strbuf certificate;
	struct bt_strbuf key;
	bool has_ca; /* set also with an empty CA: no server is trusted */
	bool has_pair;
	bool pair_is_watched; /* certificate and key are both read from files */
	struct bt_client_file_stamp certificate_stamp;
	struct bt_client_file_stamp key_stamp;
	bool pair_changed;             /* changed since the last periodic check */
	struct berth_error pair_error; /* set until the first usable pair */
	int64_t pair_refreshed_ns;     /* time of the last check of the file stamps */
	int64_t pair_check_ns;         /* time of the next periodic check */
	int64_t pair_backoff_ns;
	int64_t ca_refreshed_ns;
};

/** Reads all files. Fails only with errors that are fatal at start. */
BT_MUST_USE int bt_tls_material_load(struct bt_tls_material *material,
	const struct bt_client_config *config, int64_t now_ns, struct berth_error *err);
/** Call before a request that may open a connection: checks the files. */
enum bt_tls_change bt_tls_material_refresh(struct bt_tls_material *material, int64_t now_ns);
/** Does the periodic check if it is due. *out_next_ns: time of the next check; INT64_MAX: never. */
enum bt_tls_change bt_tls_material_check(
	struct bt_tls_material *material, int64_t now_ns, int64_t *out_next_ns);
/**
 * Sets certificate and key, from files or a credential plugin; certificate.data NULL: no pair.
 * Returns true if the pair changed.
 */
bool bt_tls_material_set_pair(
	struct bt_tls_material *material, struct bt_str certificate, struct bt_str key);
/** Returns the current material, borrowed until the next change. */
struct bt_http_client_tls bt_tls_material_view(const struct bt_tls_material *material);
void bt_tls_material_finish(struct bt_tls_material *material);

/**
 * The request headers that identify the user: Authorization (at most one) and impersonation
 * headers. Created once, and again when a token changes. Spec: 13 sections 6.1 to 6.3, 6.6.
 */

struct bt_authorization {
	const struct bt_client_config *config; /* borrowed */
	struct bt_strbuf value;                /* value of Authorization; empty: none */
	bool watches_file;                     /* the token is read again from its file */
	int64_t read_at_ns;                    /* time of the last successful reading */
	struct bt_arena arena;                 /* memory of the headers */
	/**
	 * headers[0] is Authorization; if it is unset, requests use the headers from headers[1] on.
	 */
	struct bt_http_header *headers;
	uint32_t count;
};

/** Fails only with errors that are fatal at start. */
BT_MUST_USE int bt_authorization_init(struct bt_authorization *authorization,
	const struct bt_client_config *config, int64_t now_ns, struct berth_error *err);
void bt_authorization_finish(struct bt_authorization *authorization);
/**
 * Call before a request: reads the token's file again if the token is too old. An error is logged,
 * and the old token stays in use.
 */
void bt_authorization_refresh(struct bt_authorization *authorization, int64_t now_ns);
/**
 * Sets the bearer token; "": no token. BERTH_ERR_INVALID: the token contains bytes that are not
 * allowed in a header.
 */
BT_MUST_USE int bt_authorization_set_token(
	struct bt_authorization *authorization, struct bt_str token, struct berth_error *err);
/** Returns true if an Authorization header is set (client certificates do not count). */
bool bt_authorization_is_set(const struct bt_authorization *authorization);

/**
 * Servers answer within a minute (spec 13 section 7.4), so a server silent for longer has hung. The
 * limit replaces upstream's detection by HTTP/2 pings.
 */
#define BT_TRANSPORT_SILENCE_NS INT64_C(90000000000)

/** Credential plugin and its cached credentials. */
struct bt_transport_exec {
	bool active;
	bool cached;
	uint32_t generation; /* 0: never ran */
	bool expires;
	int64_t expiry_ns; /* since 1970 */
	struct bt_exec_run *run;
	bool is_refresh;       /* the run was started because of a 401 */
	int64_t hint_since_ns; /* start of the current hour, for the limit of install hints */
	uint32_t hint_count;   /* install hints given since hint_since_ns */
};

struct bt_transport {
	struct bt_loop *loop;
	const struct bt_client_config *config;
	int64_t silence_ns; /* BT_TRANSPORT_SILENCE_NS */
	/*
	 * HTTP client for calls. Calls share a few connections, because each connection costs a
	 * handshake and memory.
	 */
	struct bt_http_client *calls;
	struct bt_pace pace; /* limit of concurrent calls */
	uint32_t calls_max;  /* current limit of connections */
	/*
	 * HTTP client for streams, each of which keeps a connection, and for requests with a
	 * timeout, which must not wait.
	 */
	struct bt_http_client *streams;
	struct bt_authorization authorization;
	struct bt_tls_material tls;
	struct bt_transport_exec exec;
	struct bt_transport_call *waiting_first; /* calls that wait for credentials */
	struct bt_transport_call *waiting_last;
	uint64_t ticket;                       /* number of the last call that waited */
	BT_VEC(struct bt_http_header) headers; /* buffer for starting a call */
	struct bt_strbuf url;                  /* buffer, begins with the base URL */
	struct bt_metric *exec_calls;          /* rest_client_exec_plugin_call_total; NULL: none */
};

/** Refreshes token, certificates and CA before a request. */
void bt_transport_refresh(struct bt_transport *transport, int64_t now_ns);
/**
 * The loop's worker: does all that is due, and returns the time at which it must run again.
 * context: struct bt_transport.
 */
int64_t bt_transport_check(void *context, int64_t now_ns);

#endif
