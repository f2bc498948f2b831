/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_TESTS_UNIT_FAKE_POSTER_H
#define BT_TESTS_UNIT_FAKE_POSTER_H
/** Extenders that answer what a test tells them, by URL. */
#include "sched/extender.h"
#include "sched/extender_wire.h"

#define FAKE_POSTER_REPLIES 8

/** ' stands for " in bodies. */
struct fake_reply {
	const char *url;   /* NULL: the end */
	const char *body;  /* of the response */
	int status;        /* 0: 200 */
	const char *error; /* not NULL: there is no response, but this */
};

struct fake_poster {
	struct bt_extender_poster poster; /* first */
	struct bt_extender_factory factory;
	struct bt_extender_observer observer;
	struct fake_reply replies[FAKE_POSTER_REPLIES];
	struct bt_strbuf log;     /* "<url> <body>" lines, " as ' */
	struct bt_strbuf urls;    /* "<url>" with blanks between */
	struct bt_strbuf ignored; /* lines that the observer got */
	int64_t timeout_ns;       /* of the last request */
	uint32_t asking;          /* calls under way */
	void (*during)(void *context);
	void *during_context;
};

void fake_poster_init(struct fake_poster *fake);
void fake_poster_reply(struct fake_poster *fake, const char *url, const char *body);
void fake_poster_fail(struct fake_poster *fake, const char *url, int status, const char *error);
void fake_poster_finish(struct fake_poster *fake);
/** URLs since the last call, with blanks between; valid until the next question. */
const char *fake_poster_urls(struct fake_poster *fake);
/** "<url> <body>" lines since the last call. */
const char *fake_poster_log(struct fake_poster *fake);
#endif
