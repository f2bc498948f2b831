/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLIENT_REST_PRIVATE_H
#define BT_CLIENT_REST_PRIVATE_H
/**
 * Internals of a REST client, shared by rest.c (queue of calls, metrics) and rest_attempt.c (one
 * request and its response).
 */
#include "base/heap.h"
#include "base/vec.h"
#include "client/pace.h"
#include "client/rest.h"

/** Spec 13 section 7.4. */
#define BT_REST_RESENDS_MAX 10

enum bt_rest_state {
	BT_REST_QUEUED,  /* waits for a token */
	BT_REST_DELAYED, /* waits before a retry */
	BT_REST_RUNNING,
	BT_REST_ENDING, /* `done` is being called */
};

struct bt_rest_call {
	struct bt_rest_client *client;
	struct bt_transport_call transport; /* used while running */
	struct bt_http_header headers[3];   /* of the request */
	struct bt_rest_handler handler;
	bool (*may_send)(void *context); /* NULL: always */
	const char *method;
	struct bt_str path;
	struct bt_str query;
	struct bt_str resource;
	struct bt_str name;
	struct bt_str content_type;
	struct bt_str accept;
	struct bt_str body;
	enum bt_rest_state state;
	bool is_watch;
	bool opened; /* successful stream: bytes go to the handler */
	uint8_t resends;
	uint8_t verb;  /* verb index, for metrics */
	uint32_t slot; /* index in client->slots */
	int64_t queued_at_ns;
	int64_t sent_at_ns;
	int64_t deadline_ns; /* of all attempts together; INT64_MAX: none; set when first sent */
	uint64_t received_bytes;     /* bytes of a stream */
	struct bt_strbuf error_body; /* error body of a refused stream */
	char *previous;              /* owned; error of the previous attempt; NULL: none */
	struct bt_rest_call *prior;  /* previous in the queue */
	struct bt_rest_call *next;
	struct bt_arena arena; /* of the request's texts */
};

/* Metric cells of one verb. */
struct bt_rest_verb_cells {
	struct bt_metric_cell *duration;
	struct bt_metric_cell *limiter;
	struct bt_metric_cell *request_size;
	struct bt_metric_cell *response_size;
};

struct bt_rest_metrics {
	struct bt_metric *duration; /* NULL: metrics are off */
	struct bt_metric *limiter;
	struct bt_metric *request_size;
	struct bt_metric *response_size;
	struct bt_metric *requests;
	struct bt_metric *retries;
	char *host; /* owned */
	struct bt_rest_verb_cells *verbs;
};

struct bt_rest_client {
	struct bt_transport *transport;
	struct bt_loop *loop;
	struct bt_limiter limiter;
	struct bt_arena arena;            /* holds texts of the options */
	struct bt_http_header headers[3]; /* User-Agent, Accept, Content-Type */
	bool writes_protobuf;
	int64_t timeout_ns;
	bool (*may_wait)(void *context, int64_t wait_ns); /* NULL: always retry */
	void *may_wait_context;
	struct bt_str timeout_query;         /* "timeout=5s", or "" */
	BT_VEC(struct bt_rest_call *) slots; /* entries are NULL if free */
	BT_VEC(uint32_t) free_slots;
	struct bt_rest_call *first; /* queue of calls */
	struct bt_rest_call *last;
	struct bt_heap delayed; /* slots sorted by time */
	int64_t warned_ns[2];   /* when long waits were last logged at verbosity 2 and at 0 */
	struct bt_rest_metrics metrics;
};

/** Sends the request. The caller has taken the token of the limiter, or the request needs none. */
void bt_rest_send(struct bt_rest_call *call);
/** Appends the call's URL, with its query. */
void bt_rest_append_url(const struct bt_rest_call *call, struct bt_strbuf *out);
/** Calls the handler's `done` and frees the call. */
void bt_rest_finish_call(struct bt_rest_call *call, const struct bt_rest_answer *answer);

/**
 * Records the end of an attempt; code 0: no response. duration_ns < 0: the request is a stream, and
 * only its code is counted.
 */
void bt_rest_metrics_ended(const struct bt_rest_metrics *rest, uint8_t verb, uint16_t code,
	int64_t duration_ns, uint64_t request_bytes, uint64_t response_bytes);
void bt_rest_metrics_resent(const struct bt_rest_metrics *rest, uint8_t verb, uint16_t code);

/** Names for generic messages. */
struct bt_status_subject {
	const char *method;
	struct bt_str path;     /* names the API group */
	struct bt_str resource; /* "pods"; "": unnamed */
	struct bt_str name;
};

/**
 * Fills class, message, reason and the other fields from code, content_type and body, which must be
 * set. Texts are allocated in the arena.
 */
void bt_status_classify(const struct bt_status_subject *subject, struct bt_arena *arena,
	struct bt_rest_answer *answer);
/** Compares media types, ignoring parameters and case. */
bool bt_media_type_is(struct bt_str content_type, const char *media_type);
#endif
