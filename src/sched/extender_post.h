/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SCHED_EXTENDER_POST_H
#define BT_SCHED_EXTENDER_POST_H
/**
 * Extenders behind a POST: everything of spec 11b section 9.1 but the exchange itself. It makes the
 * URL and the body, and turns status and body of the response into the answer. The exchange
 * (connection, TLS, time limit, redirects) is one function of the owner.
 */
#include "sched/extender_wire.h"

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
