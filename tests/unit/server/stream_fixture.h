/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_TESTS_UNIT_SERVER_STREAM_FIXTURE_H
#define BT_TESTS_UNIT_SERVER_STREAM_FIXTURE_H
/** Lists and watches over an API in memory, read as an HTTP server would. */
#include "api_fixture.h"
#include "base/strbuf.h"
#include "server/list.h"
#include "server/watch.h"

struct stream_fixture {
	struct api_fixture api;
	struct bt_watchers *watchers;
	int64_t loop_ns; /* the loop's clock */
	struct bt_list_request
		request; /* of the next list or watch; parameters are emptied by it */
	struct bt_failure failure;
	uint32_t wakes;
	size_t capacity;       /* of each read */
	struct bt_strbuf text; /* what the last list answered, or a watch since the last look */
	int64_t last_read;     /* what the last read answered */
};

void stream_fixture_init(struct stream_fixture *fixture);
void stream_fixture_finish(struct stream_fixture *fixture);
/** One turn of the loop. */
void stream_turn(struct stream_fixture *fixture);
/** "pods", "pods/ns" -> resource and namespace of the next request. */
void stream_resource(struct stream_fixture *fixture, const char *resource, const char *namespace_);
/** Read a list to its end: 200 and text, or the failure's code. 0: it was aborted. */
uint16_t stream_list(struct stream_fixture *fixture, const char *resource, const char *namespace_);
struct bt_watch *stream_watch(
	struct stream_fixture *fixture, const char *resource, const char *namespace_);
/** What the watch has to say now; its end is in last_read. */
const char *stream_read(struct stream_fixture *fixture, struct bt_watch *watch);
#endif
