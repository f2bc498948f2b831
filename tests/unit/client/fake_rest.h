/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_TESTS_UNIT_CLIENT_FAKE_REST_H
#define BT_TESTS_UNIT_CLIENT_FAKE_REST_H
/**
 * The functions of client/rest.h and net/loop.h that a reflector calls, without sockets and in
 * virtual time: tests wait for no backoff and cut answers where they like. Tests that link this do
 * not link the real ones; those against a real server are in test_reflector_server.c.
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
	void *server_state; /* the test's */
};

struct fake_rest {
	int64_t now_ns;
	BT_VEC(struct bt_rest_call *) calls; /* under way */
	uint32_t started;                    /* ever */
};

extern struct fake_rest fake_rest;

/** Everything as at the start; calls must be over. */
void fake_rest_reset(void);
/** Workers are called; returns when they want to be called again. */
int64_t fake_turn(void);
/** Time passes until workers want to be called (at most that long), and they are. */
void fake_wait(int64_t at_most_ns);

void fake_open(struct bt_rest_call *call, const char *content_type);
/** false: the call was cancelled within. */
bool fake_data(struct bt_rest_call *call, struct bt_str bytes);
void fake_done(struct bt_rest_call *call, const struct bt_rest_answer *answer);
/** The answers there are most of. */
void fake_end(struct bt_rest_call *call);
void fake_fail(struct bt_rest_call *call, enum bt_http_failure failure);
void fake_refuse(struct bt_rest_call *call, enum bt_rest_class class_, uint16_t code);
#endif
