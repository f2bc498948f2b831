/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_TESTS_UNIT_DAEMON_FAKE_REQUESTS_H
#define BT_TESTS_UNIT_DAEMON_FAKE_REQUESTS_H
/**
 * The functions of client/rest.h and net/loop.h that the event sender calls, without sockets and in
 * virtual time. Tests that link this do not link the real ones. At most one request is under way.
 */
#include "client/rest.h"

struct fake_requests {
	int64_t now_ns;            /* of the loop */
	struct bt_rest_call *call; /* under way; NULL: none */
	struct bt_strbuf request;  /* "METHOD path content-type\nbody" of it */
	uint32_t started;
};

extern struct fake_requests fake_requests;

void fake_requests_reset(void);
/** Workers are called; returns when they want to be called again. */
int64_t fake_requests_turn(void);
/** What is under way ends like this. code 0: without a response. */
void fake_requests_answer(enum bt_rest_class class_, uint16_t code, const char *message);
#endif
