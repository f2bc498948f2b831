/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_TESTS_UNIT_FAKE_POSTER_H
#define BT_TESTS_UNIT_FAKE_POSTER_H
/** Fakes extenders: each URL gets the reply that a test has set. */
#include "sched/extender.h"
#include "sched/extender_wire.h"

#define FAKE_POSTER_REPLIES 8

/** A reply to a URL; bodies have ' in place of ". */
struct fake_reply {
	const char *url;   /* NULL: end of the list */
	const char *body;  /* body of the response */
	int status;        /* 0: 200 */
	const char *error; /* not NULL: the request fails with this text */
};

struct fake_poster {
	struct bt_extender_poster poster; /* must be the first member */
	struct bt_extender_factory factory;
	struct bt_extender_observer observer;
	struct fake_reply replies[FAKE_POSTER_REPLIES];
	struct bt_strbuf log;     /* lines "<url> <body>", with ' in place of " */
	struct bt_strbuf urls;    /* URLs, separated by blanks */
	struct bt_strbuf ignored; /* lines that the observer of ignored errors got */
	int64_t timeout_ns;       /* of the last request */
	uint32_t calls_in_flight;
	void (*during)(void *context);
	void *during_context;
};

void fake_poster_init(struct fake_poster *fake);
void fake_poster_reply(struct fake_poster *fake, const char *url, const char *body);
void fake_poster_fail(struct fake_poster *fake, const char *url, int status, const char *error);
void fake_poster_finish(struct fake_poster *fake);
/**
 * Returns the URLs requested since the last call, separated by blanks; valid until the next
 * request.
 */
const char *fake_poster_urls(struct fake_poster *fake);
/** Returns the lines "<url> <body>" since the last call. */
const char *fake_poster_log(struct fake_poster *fake);
#endif
