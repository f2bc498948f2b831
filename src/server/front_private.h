/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SERVER_FRONT_PRIVATE_H
#define BT_SERVER_FRONT_PRIVATE_H
/**
 * Shared by the files of the HTTP side: front.c (the server, answers, metrics), front_call.c
 * (requests for resources, their bodies), front_connect.c (logs, exec and attach), front_user.c
 * (authentication and authorization), front_page.c (everything else).
 */
#include "base/prng.h"
#include "metrics/metrics.h"
#include "net/certificate.h"
#include "server/discovery.h"
#include "server/front.h"
#include "server/query.h"
#include "server/rbac.h"
#include "server/routes.h"
#include "server/watch.h"

/**
 * The transport of requests and answers: an HTTP server, or a test, which passes its own data as
 * the exchange. Functions as in net/http_server.h.
 */
struct bt_wire {
	struct bt_str (*header)(const struct bt_http_exchange *exchange, const char *name);
	void (*each_header)(const struct bt_http_exchange *exchange, const char *name,
		void (*take)(void *context, struct bt_str value), void *context);
	void (*add_header)(
		struct bt_http_exchange *exchange, const char *name, struct bt_str value);
	uint32_t (*peer_certificates)(const struct bt_http_exchange *exchange,
		struct bt_str *out_chain, uint32_t capacity);
	void (*answer)(struct bt_http_exchange *exchange, uint16_t code, struct bt_strbuf *body);
	void (*answer_stream)(struct bt_http_exchange *exchange, uint16_t code,
		const struct bt_http_stream *stream);
	void (*answer_websocket)(struct bt_http_exchange *exchange, const char *protocol,
		const struct bt_http_stream *stream);
	void (*wake)(struct bt_http_exchange *exchange);
};

/** A request as the client sent it. */
struct bt_front_request {
	struct bt_str method;
	struct bt_str path;
	struct bt_str query;
	struct bt_str body;
};

/** One request that is being served; lives until the exchange is closed. */
struct bt_front_call {
	struct bt_front *front;
	struct bt_http_exchange *exchange;
	struct bt_front_request request;
	struct bt_arena arena;
	struct bt_route route;
	struct bt_query query;
	struct bt_user user;
	struct bt_encoding encoding; /* of the answer */
	enum bt_verb verb;
	struct bt_api_request api;
	struct bt_failure failure;
	struct bt_strbuf yaml; /* a YAML body, converted to JSON */
	/** Keys that a YAML body repeats, each as "\n  line N: key \"K\" already set in map". */
	struct bt_str repeated_keys;
	struct bt_strbuf body;     /* body of the answer */
	const char *cache_control; /* of the answer; NULL: it may change at any time */
	uint16_t code;
	int64_t began_ns;    /* start of the request, by the loop's clock */
	int64_t answered_ns; /* 0: not answered yet, or answered by a stream */
	bool answered;
	bool is_held; /* the answer is complete, and the call is in bt_front.held */
	struct bt_wait *wait;
	struct bt_list *list;           /* NULL: none, or a stream owns it */
	struct bt_front_call *previous; /* in bt_front.held */
	struct bt_front_call *next;     /* in bt_front.held or bt_front.spare */
};

/** The OpenAPI documents of all resources. */
enum bt_openapi_document {
	BT_OPENAPI_V2,
	BT_OPENAPI_V2_PROTOBUF,
	BT_OPENAPI_V3_INDEX,
	BT_OPENAPI__COUNT,
};

struct bt_front_cached {
	uint64_t generation; /* bt_resources_generation when cached */
	struct bt_strbuf body;
	char hash[17];
};

struct bt_front {
	struct bt_loop *loop;
	struct bt_api *api;
	struct bt_http_server *server; /* NULL: the front was made by bt_front_create_bare */
	const struct bt_wire *wire;
	struct bt_watchers *watchers;
	bool is_plain; /* no TLS: every client is admin */
	bool is_ready;
	bool failed; /* writing the store's file failed */
	uint32_t watches_max;
	struct bt_certificate_authorities *client_authorities; /* NULL: none */
	uint32_t token_count;
	const struct bt_front_token *tokens; /* borrowed */
	struct bt_prng prng;                 /* for audit ids */
	struct bt_front_call *held;
	struct bt_front_call *held_last;
	struct bt_front_call *spare;
	uint32_t spare_count;
	struct bt_metrics *metrics;
	struct bt_metric *requests;       /* in metrics */
	struct bt_metric *durations;      /* in metrics */
	struct bt_metric *stored_objects; /* in metrics */
	struct bt_front_cached openapi[BT_OPENAPI__COUNT];
};

/** Creates a front without a server: the caller passes requests to bt_front_begin. */
BT_MUST_USE struct bt_front *bt_front_create_bare(
	struct bt_loop *loop, const struct bt_front_options *options, const struct bt_wire *wire);
/** Answers a request, now or later. Borrows the request's texts until bt_front_end. */
BT_MUST_USE struct bt_front_call *bt_front_begin(struct bt_front *front,
	struct bt_http_exchange *exchange, const struct bt_front_request *request);
/** Call when the exchange is over, answered or not. */
void bt_front_end(struct bt_front_call *call);

/** --- front_user.c --- */

/** Sets call->user. Returns false and sets call->failure if the credentials are refused. */
BT_MUST_USE bool bt_front_identify(struct bt_front_call *call);
/** Returns the user that the token authenticates; NULL: the token is unknown. */
const struct bt_user *bt_front_user_of_token(const struct bt_front *front, struct bt_str token);
/** Returns whether call->user may perform the request. false: sets call->failure. */
BT_MUST_USE bool bt_front_authorize(struct bt_front_call *call);

/** --- front_call.c --- */

/** Serves a request for a resource, now or later. false: sets call->failure. */
bool bt_front_call_resource(struct bt_front_call *call);

/** --- front_connect.c --- */

/** Serves pods/log, exec and attach. false: sets call->failure. */
bool bt_front_connect(struct bt_front_call *call);
/** Wakes the stream of a call. call: struct bt_front_call. */
void bt_front_resume(void *call);

/** --- front_page.c --- */

/** Serves a path that is not a resource. false: sets call->failure. */
bool bt_front_page(struct bt_front_call *call);

/** --- front.c --- */

/** Returns the value of a header of the request; absent: the request does not have the header. */
struct bt_str bt_front_find_header(const struct bt_front_call *call, const char *name);
/** Adds a header to this answer. */
void bt_front_header(struct bt_front_call *call, const char *name, struct bt_str value);
/**
 * Sends call->body as the answer, or holds the answer while the store has changes that are not
 * durable. content_type NULL: there is no body.
 */
void bt_front_send(struct bt_front_call *call, uint16_t code, const char *content_type);
void bt_front_send_text(struct bt_front_call *call, uint16_t code, const char *text);
/** Sends a document, which is complete with kind and apiVersion, as the answer. */
void bt_front_send_document(
	struct bt_front_call *call, uint16_t code, const struct bt_json_value *document);
/** Sets call->failure; returns false. */
BT_PRINTF(4, 5)
bool bt_front_fail(
	struct bt_front_call *call, uint16_t code, const char *reason, const char *format, ...);
/** Sends call->failure as a Status. */
void bt_front_send_failure(struct bt_front_call *call);
void bt_front_send_stream(
	struct bt_front_call *call, const char *content_type, const struct bt_http_stream *stream);
void bt_front_send_websocket(
	struct bt_front_call *call, const char *protocol, const struct bt_http_stream *stream);
/**
 * If the limit of open watches and connections is reached, sets call->failure (429) and returns
 * true.
 */
bool bt_front_refuse_further(struct bt_front_call *call);
#endif
