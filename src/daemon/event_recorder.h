/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_DAEMON_EVENT_RECORDER_H
#define BT_DAEMON_EVENT_RECORDER_H
/**
 * The scheduler's events as the API gets them: the first of a kind is posted, a second one makes a
 * series of it, further ones are counted and told later. No I/O: documents go to a sink. Spec: 11b
 * sections 8.1 and 8.4.
 */
#include <stdbool.h>
#include <stdint.h>

#include "api/meta.h"
#include "base/arena.h"
#include "codec/json.h"

/** Remembered kinds of events at most; the oldest is told and forgotten. */
#define BT_EVENT_SERIES_MAX 4096

struct bt_event_sink {
	void *context;
	/** POST an events.k8s.io/v1 Event. Borrowed for the call. */
	void (*post)(void *context, struct bt_str namespace_, struct bt_json_value *event,
		struct bt_arena *arena);
	/** PATCH (strategic) the event of that name. When it is gone (404): false, and `event` is
	 * posted. */
	bool (*patch)(void *context, struct bt_str namespace_, struct bt_str name,
		struct bt_json_value *patch, struct bt_arena *arena);
};

/** What happened, and to whom. Borrowed for the call. */
struct bt_event_facts {
	const char *kind;        /* of regarding: "Pod" */
	const char *api_version; /* "v1" */
	const struct bt_object_meta *regarding;
	const char *type;
	const char *reason;
	const char *action;
	struct bt_str controller; /* reportingController: the schedulerName */
	struct bt_str note;
};

struct bt_event_recorder;

/** host: what reportingInstance ends in. Copied. */
BT_MUST_USE struct bt_event_recorder *bt_event_recorder_create(
	const struct bt_event_sink *sink, struct bt_str host);
void bt_event_recorder_destroy(struct bt_event_recorder *recorder);
/** now_ns: since 1970. */
void bt_event_recorder_record(
	struct bt_event_recorder *recorder, const struct bt_event_facts *facts, int64_t now_ns);
/** Tell series that are due, forget what is over. Returns when to be called again. */
int64_t bt_event_recorder_tick(struct bt_event_recorder *recorder, int64_t now_ns);
/** Series and single events that are remembered. */
uint32_t bt_event_recorder_count(const struct bt_event_recorder *recorder);
#endif
