/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_TESTS_UNIT_SERVER_STREAM_FIXTURE_H
#define BT_TESTS_UNIT_SERVER_STREAM_FIXTURE_H
/** Reads lists and watches of an API in memory as an HTTP server does. */
#include "api_fixture.h"
#include "base/strbuf.h"
#include "server/list.h"
#include "server/watch.h"

struct stream_fixture {
	struct api_fixture api;
	struct bt_watchers *watchers;
	int64_t loop_ns;                /* the loop's clock */
	struct bt_list_request request; /* of the next list or watch, which resets its parameters */
	struct bt_failure failure;
	uint32_t wakes;
	size_t capacity;       /* largest number of bytes of each read */
	struct bt_strbuf text; /* the last list, or the events of the last stream_read */
	int64_t last_read;     /* result of the last read */
};

void stream_fixture_init(struct stream_fixture *fixture);
void stream_fixture_finish(struct stream_fixture *fixture);
/** Runs one turn of the loop. */
void stream_turn(struct stream_fixture *fixture);
/** Sets resource (e.g. "pods" or "deployments.apps") and namespace of the next request. */
void stream_resource(struct stream_fixture *fixture, const char *resource, const char *namespace_);
/**
 * Reads a list to its end. Returns 200 and sets text, or the failure's code; 0: the list was
 * aborted.
 */
uint16_t stream_list(struct stream_fixture *fixture, const char *resource, const char *namespace_);
struct bt_watch *stream_watch(
	struct stream_fixture *fixture, const char *resource, const char *namespace_);
/**
 * Reads and returns the events that the watch has ready; last_read says whether the watch has
 * ended.
 */
const char *stream_read(struct stream_fixture *fixture, struct bt_watch *watch);
#endif
