/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_TESTS_UNIT_SERVER_FRONT_FIXTURE_H
#define BT_TESTS_UNIT_SERVER_FRONT_FIXTURE_H
/** Runs the HTTP front without sockets: one request at a time, its answer as text. */
#include "server/front_private.h"

struct front_fixture {
	struct bt_store *store;
	struct bt_api *api;
	struct bt_front *front;
	int64_t now_ns;
	/** Header lines of the next request, "Name: value\n"; NULL: none. */
	const char *headers;
	/** The answer to the last request. */
	bool answered;
	bool streamed; /* the answer is a stream that waits for more data */
	uint16_t code;
	struct bt_strbuf answer_headers; /* lines "Name: value\n" */
	struct bt_strbuf body;
	/* Used by the fixture only. */
	struct bt_http_stream stream;
};

/** Starts the front over an empty store in memory; options NULL: plain HTTP. */
void front_fixture_init(struct front_fixture *fixture, const struct bt_front_options *options);
/** Like front_fixture_init, with a store that keeps a file at path. */
void front_fixture_init_file(struct front_fixture *fixture, const char *path);
void front_fixture_finish(struct front_fixture *fixture);
/**
 * Sends a request, with method and target as in a request line; returns the code (0: no answer
 * yet).
 */
uint16_t front_ask(
	struct front_fixture *fixture, const char *method, const char *target, struct bt_str body);
/**
 * Like front_ask, with a bearer token (NULL: without). body: JSON with ' in place of ", or NULL. A
 * PATCH is a merge patch.
 */
uint16_t front_ask_as(struct front_fixture *fixture, const char *bearer, const char *method,
	const char *target, const char *body);
/**
 * Starts a request without flushing: an answer that is not ready at once becomes ready in
 * bt_front_flush. The texts are borrowed until bt_front_end. Only one call may be open.
 */
struct bt_front_call *front_start(
	struct front_fixture *fixture, const char *method, const char *target, struct bt_str body);
/**
 * front_body returns the answer's body; front_has_header looks for a line of the answer's header.
 */
const char *front_body(const struct front_fixture *fixture);
bool front_has_header(const struct front_fixture *fixture, const char *line);
#endif
