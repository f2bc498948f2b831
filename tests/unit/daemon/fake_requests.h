/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_TESTS_UNIT_DAEMON_FAKE_REQUESTS_H
#define BT_TESTS_UNIT_DAEMON_FAKE_REQUESTS_H
/**
 * Fakes of those functions of client/rest.h and net/loop.h that the event sender calls: no sockets,
 * virtual time. Tests that link this file do not link the real functions. At most one request is in
 * flight.
 */
#include "client/rest.h"

struct fake_requests {
	int64_t now_ns;            /* time of the loop */
	struct bt_rest_call *call; /* in flight; NULL: none */
	struct bt_strbuf request;  /* the request in flight: "METHOD path content-type\nbody" */
	uint32_t started;
};

extern struct fake_requests fake_requests;

void fake_requests_reset(void);
/** Calls the workers; returns the time of their next call. */
int64_t fake_requests_turn(void);
/** Ends the request in flight with this result. code 0: no response. */
void fake_requests_answer(enum bt_rest_class class_, uint16_t code, const char *message);
#endif
