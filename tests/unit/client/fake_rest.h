/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_TESTS_UNIT_CLIENT_FAKE_REST_H
#define BT_TESTS_UNIT_CLIENT_FAKE_REST_H
/**
 * The functions of client/rest.h and net/loop.h that a reflector calls, without sockets and in
 * virtual time: tests do not wait for backoffs, and can end an answer after any byte. A test
 * program that links this file does not link the real functions; the tests against a real server
 * are in test_reflector_server.c.
 */
#include "base/vec.h"
#include "client/rest.h"

struct bt_rest_call {
	char *path;
	char *query;
	char *accept;
	bool is_watch;
	bool is_open;
	struct bt_rest_handler handler;
	void *server_state; /* owned by the test */
};

struct fake_rest {
	int64_t now_ns;
	BT_VEC(struct bt_rest_call *) calls; /* in flight */
	uint32_t started;                    /* in total */
};

extern struct fake_rest fake_rest;

/** Resets all state to the initial state; no call may be in flight. */
void fake_rest_reset(void);
/** Runs all workers once; returns the earliest time at which a worker is due. */
int64_t fake_turn(void);
/** Advances time until a worker is due, at most by at_most_ns, and runs the workers. */
void fake_wait(int64_t at_most_ns);

void fake_open(struct bt_rest_call *call, const char *content_type);
/** Delivers bytes of the body; returns false if the data callback cancelled the call. */
bool fake_data(struct bt_rest_call *call, struct bt_str bytes);
void fake_done(struct bt_rest_call *call, const struct bt_rest_answer *answer);
/** Ends the call with success and code 200. */
void fake_end(struct bt_rest_call *call);
void fake_fail(struct bt_rest_call *call, enum bt_http_failure failure);
void fake_refuse(struct bt_rest_call *call, enum bt_rest_class class_, uint16_t code);
#endif
