/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_TESTS_UNIT_SERVER_FRONT_FIXTURE_H
#define BT_TESTS_UNIT_SERVER_FRONT_FIXTURE_H
/** The HTTP front without sockets: one request at a time, its answer in texts. */
#include "server/front_private.h"

struct front_fixture {
	struct bt_store *store;
	struct bt_api *api;
	struct bt_front *front;
	int64_t now_ns;
	/** Of the request: lines "Name: value\n"; NULL: none. */
	const char *headers;
	/** The answer. */
	bool answered;
	bool streamed; /* it ended with the stream waiting for more */
	uint16_t code;
	struct bt_strbuf answer_headers; /* lines "Name: value\n" */
	struct bt_strbuf body;
	/* Private. */
	struct bt_http_stream stream;
};

/** options NULL: plain HTTP. */
void front_fixture_init(struct front_fixture *fixture, const struct bt_front_options *options);
/** With a store that keeps a file. */
void front_fixture_init_file(struct front_fixture *fixture, const char *path);
void front_fixture_finish(struct front_fixture *fixture);
/** method and target as in a request line; returns the code (0: no answer yet). */
uint16_t front_ask(
	struct front_fixture *fixture, const char *method, const char *target, struct bt_str body);
/** As the bearer of a token (NULL: without one); body with ' in place of ", NULL: none. A PATCH is
 * a merge patch. */
uint16_t front_ask_as(struct front_fixture *fixture, const char *bearer, const char *method,
	const char *target, const char *body);
/** The first half of front_ask: what is not answered at once waits for bt_front_flush. Texts are
 * borrowed until bt_front_end. One at a time. */
struct bt_front_call *front_start(
	struct front_fixture *fixture, const char *method, const char *target, struct bt_str body);
/** The answer's body, and what its header lines have. */
const char *front_body(const struct front_fixture *fixture);
bool front_has_header(const struct front_fixture *fixture, const char *line);
#endif
