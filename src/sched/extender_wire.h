/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SCHED_EXTENDER_WIRE_H
#define BT_SCHED_EXTENDER_WIRE_H
/**
 * Requests to extenders and their answers as JSON. Spec: 11b section 9.2, 08 section 10.1.
 *
 * Field names in requests are exactly those of the spec, and absent lists are null. Field names in
 * answers match as in Go: exactly or, failing that, ignoring case. Unknown fields and everything
 * after the first JSON value are skipped.
 */
#include "base/strbuf.h"
#include "framework/extender.h"

/** Maximum size of an answer: 5,000 nodes as complete objects take far less. */
#define BT_EXTENDER_ANSWER_BYTES_MAX (UINT32_C(256) << 20)

/**
 * Source of complete objects. The engine keeps only the fields of pods and nodes that a scheduler
 * reads; the owner of the engine may have the complete objects. Each function appends the object as
 * JSON without apiVersion and kind. If the function returns false or is NULL, the engine's fields
 * are sent.
 */
struct bt_extender_objects {
	bool (*append_pod)(void *context, struct bt_str namespace_, struct bt_str name,
		struct bt_str uid, struct bt_strbuf *out);
	bool (*append_node)(void *context, struct bt_str name, struct bt_strbuf *out);
	void *context;
};

/*
 * Requests, appended to out. `objects` may be NULL. by_name: the extender is nodeCacheCapable, so
 * nodes are sent by name only.
 */

void bt_extender_encode_args(const struct bt_extender_args *args,
	const struct bt_extender_objects *objects, bool by_name, struct bt_strbuf *out);
void bt_extender_encode_preemption_args(const struct bt_extender_preemption_args *args,
	const struct bt_extender_objects *objects, bool by_name, struct bt_strbuf *out);
void bt_extender_encode_binding_args(
	const struct bt_extender_binding_args *args, struct bt_strbuf *out);

/*
 * Answers. Texts of results borrow from json or lie in the arena. Errors have the texts of Go's
 * decoder: "EOF" for empty input, "unexpected EOF" for a truncated value, "invalid character ...",
 * "json: cannot unmarshal string into Go struct field ...".
 */

BT_MUST_USE int bt_extender_decode_filter_result(struct bt_str json, struct bt_arena *arena,
	struct bt_extender_filter_result *out_result, struct berth_error *err);
BT_MUST_USE int bt_extender_decode_priorities(struct bt_str json, struct bt_arena *arena,
	bt_host_priority_list *out_priorities, struct berth_error *err);
/** Nodes keep the order of the answer. A null value of a node means no victims. */
BT_MUST_USE int bt_extender_decode_preemption_result(struct bt_str json, struct bt_arena *arena,
	struct bt_node_victims_list *out_answer, struct berth_error *err);
BT_MUST_USE int bt_extender_decode_binding_result(struct bt_str json, struct bt_arena *arena,
	struct bt_extender_binding_result *out_result, struct berth_error *err);

/**
 * Extenders that are called by POST: everything of spec 11b section 9.1 except the HTTP exchange.
 * The factory's extenders make the URL and the body, and read status and body of the response. The
 * owner implements the exchange (connection, TLS, timeout, redirects).
 */

struct bt_extender_request {
	const struct bt_config_extender *config; /* for tlsConfig and enableHTTPS */
	struct bt_str url;
	struct bt_str body;
	int64_t timeout_ns; /* for the whole exchange; 5 s if the configuration has 0 */
};

struct bt_extender_response {
	int status;
	/**
	 * The text must live as long as the arena. It has at most BT_EXTENDER_ANSWER_BYTES_MAX
	 * bytes.
	 */
	struct bt_str body;
};

struct bt_extender_poster {
	/**
	 * POST the body of the request as Content-Type application/json and wait for the response.
	 * Returns 0 for a response with any status; the body of the response is needed only if the
	 * status is 200. Returns a negative value, with the transport's error in err, if there is
	 * no response.
	 */
	int (*post)(void *context, const struct bt_extender_request *request,
		struct bt_arena *arena, struct bt_extender_response *out_response,
		struct berth_error *err);
	void *context;
	struct bt_extender_objects objects; /* source of complete objects */
	/**
	 * begin() and end() do the work of post() in two steps, so that several requests can be in
	 * flight. Either both functions are NULL or both are set. begin() returns the exchange,
	 * never NULL, and borrows `request` until end(). end() waits for the response and frees the
	 * exchange; *out_response is undefined on failure.
	 */
	void *(*begin)(
		void *context, const struct bt_extender_request *request, struct bt_arena *arena);
	int (*end)(void *context, void *exchange, struct bt_extender_response *out_response,
		struct berth_error *err);
};

/** A factory of extenders that use the poster. The poster must outlive the engines made with it. */
struct bt_extender_factory bt_extender_poster_factory(struct bt_extender_poster *poster);

/** Append `<urlPrefix without trailing slashes>/<verb>`. */
void bt_extender_append_url(
	const struct bt_config_extender *config, struct bt_str verb, struct bt_strbuf *out);
#endif
