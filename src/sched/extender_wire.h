/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SCHED_EXTENDER_WIRE_H
#define BT_SCHED_EXTENDER_WIRE_H
/**
 * Questions to extenders and their answers as JSON. Spec: 11b section 9.2, 08 section 10.1.
 *
 * Questions have the names exactly as written there, absent lists as null. In answers names are
 * matched as Go does: the same bytes, else the same but for case. Unknown names are skipped, what
 * follows the first JSON value is not looked at.
 */
#include "base/strbuf.h"
#include "framework/extender.h"

/** An answer may have this many bytes: 5,000 nodes as complete objects stay well below. */
#define BT_EXTENDER_ANSWER_BYTES_MAX (UINT32_C(256) << 20)

/**
 * Where complete objects come from. The engine keeps of a pod or node what a scheduler reads; its
 * owner may have the whole object. Each function appends the object as JSON without apiVersion and
 * kind, or returns false: then what the engine knows is sent. NULL functions count as false.
 */
struct bt_extender_objects {
	bool (*append_pod)(void *context, struct bt_str namespace_, struct bt_str name,
		struct bt_str uid, struct bt_strbuf *out);
	bool (*append_node)(void *context, struct bt_str name, struct bt_strbuf *out);
	void *context;
};

/* Questions, appended to out. objects may be NULL. by_name: the extender is nodeCacheCapable. */

void bt_extender_encode_args(const struct bt_extender_args *args,
	const struct bt_extender_objects *objects, bool by_name, struct bt_strbuf *out);
void bt_extender_encode_preemption_args(const struct bt_extender_preemption_args *args,
	const struct bt_extender_objects *objects, bool by_name, struct bt_strbuf *out);
void bt_extender_encode_binding_args(
	const struct bt_extender_binding_args *args, struct bt_strbuf *out);

/*
 * Answers. Text of results borrows json or lies in the arena. Errors read as Go's decoder puts
 * them: "EOF" for nothing, "unexpected EOF" for a value that breaks off, "invalid character ...",
 * "json: cannot unmarshal string into Go struct field ...".
 */

BT_MUST_USE int bt_extender_decode_filter_result(struct bt_str json, struct bt_arena *arena,
	struct bt_extender_filter_result *out_result, struct berth_error *err);
BT_MUST_USE int bt_extender_decode_priorities(struct bt_str json, struct bt_arena *arena,
	bt_host_priority_list *out_priorities, struct berth_error *err);
/** Nodes in the answer's order; null where victims should be counts as none. */
BT_MUST_USE int bt_extender_decode_preemption_result(struct bt_str json, struct bt_arena *arena,
	struct bt_preemption_opinions *out_answer, struct berth_error *err);
BT_MUST_USE int bt_extender_decode_binding_result(struct bt_str json, struct bt_arena *arena,
	struct bt_extender_binding_result *out_result, struct berth_error *err);

/* Answers as an extender writes them: for extenders in tests and in the same program. */

void bt_extender_encode_filter_result(
	const struct bt_extender_filter_result *result, struct bt_strbuf *out);
void bt_extender_encode_priorities(const bt_host_priority_list *priorities, struct bt_strbuf *out);
void bt_extender_encode_preemption_result(
	const struct bt_preemption_opinions *answer, struct bt_strbuf *out);

/**
 * Extenders behind a POST: everything of spec 11b section 9.1 but the exchange itself. It makes the
 * URL and the body, and turns status and body of the response into the answer. The exchange
 * (connection, TLS, time limit, redirects) is one function of the owner.
 */

struct bt_extender_request {
	const struct bt_config_extender *config; /* tlsConfig, enableHTTPS */
	struct bt_str url;
	struct bt_str body;
	int64_t timeout_ns; /* for the whole exchange; 5 s where the configuration says 0 */
};

struct bt_extender_response {
	int status;
	/** In the arena or longer lived; at most BT_EXTENDER_ANSWER_BYTES_MAX bytes. */
	struct bt_str body;
};

struct bt_extender_poster {
	/**
	 * POST the body as Content-Type application/json and return with the response, whatever its
	 * status. Blocks. Negative with err set when there is no response: err is what the
	 * transport says. May leave the body empty unless the status is 200.
	 */
	int (*post)(void *context, const struct bt_extender_request *request,
		struct bt_arena *arena, struct bt_extender_response *out_response,
		struct berth_error *err);
	void *context;
	struct bt_extender_objects objects; /* where complete objects come from */
	/**
	 * post in two steps, both or neither: several can be under way. request is borrowed until
	 * the end; *out_response is undefined on failure.
	 */
	void *(*begin)(
		void *context, const struct bt_extender_request *request, struct bt_arena *arena);
	int (*end)(void *context, void *exchange, struct bt_extender_response *out_response,
		struct berth_error *err);
};

/**
 * A factory whose extenders ask through the poster. Both are borrowed: they must outlive the
 * engines made with the factory.
 */
struct bt_extender_factory bt_extender_poster_factory(struct bt_extender_poster *poster);

/** `<urlPrefix without trailing slashes>/<verb>`, appended. */
void bt_extender_append_url(
	const struct bt_config_extender *config, struct bt_str verb, struct bt_strbuf *out);
#endif
