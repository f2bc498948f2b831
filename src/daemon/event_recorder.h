/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_DAEMON_EVENT_RECORDER_H
#define BT_DAEMON_EVENT_RECORDER_H
/**
 * The scheduler's events as the API gets them: the first of a kind is posted, a second one makes a
 * series of it, further ones are counted and told later. No I/O: events go to a sink. Spec: 11b
 * sections 8.1 and 8.4.
 *
 * An event `Scheduled` is not remembered: its key names the version of a pod that was bound, which
 * no second one can name. Bursts of them therefore take no memory here.
 */
#include <stdbool.h>
#include <stdint.h>

#include "api/pod.h"
#include "daemon/event_record.h"

/** Remembered kinds of events at most; the one seen longest ago is told and forgotten. */
#define BT_EVENT_SERIES_MAX 4096

/** An event, and what became of it. Borrowed for the call; the record may be shared. */
struct bt_event_delivery {
	struct bt_event_record *record;
	uint32_t series_count; /* below 2: no series */
	int64_t series_ns;     /* last seen */
};

struct bt_event_sink {
	void *context;
	/** POST the event, with its series if there is one. */
	void (*post)(void *context, const struct bt_event_delivery *event);
	/**
	 * PATCH its series. false: the event is gone (404), `post` is called. A sink that cannot
	 * know yet returns true and posts by itself.
	 */
	bool (*patch)(void *context, const struct bt_event_delivery *event);
	/** Before anything else, may be NULL. true: the sink deals with the event itself; it may
	 * hand it to bt_event_recorder_accept later. */
	bool (*take)(void *context, struct bt_event_record *record);
};

struct bt_event_recorder;

BT_MUST_USE struct bt_event_recorder *bt_event_recorder_create(const struct bt_event_sink *sink);
void bt_event_recorder_destroy(struct bt_event_recorder *recorder);
/** now_ns: since 1970. */
void bt_event_recorder_record(
	struct bt_event_recorder *recorder, const struct bt_event_facts *facts, int64_t now_ns);
/** An event on a pod, by the scheduler that the pod names. */
void bt_event_recorder_record_pod(struct bt_event_recorder *recorder, const struct bt_pod *pod,
	const char *type, const char *reason, const char *action, struct bt_str note,
	int64_t now_ns);
/** An event that the sink took: posted or counted as of its own time. */
void bt_event_recorder_accept(struct bt_event_recorder *recorder, struct bt_event_record *record);
/** Tell series that are due, forget what is over. Returns when to be called again. */
int64_t bt_event_recorder_tick(struct bt_event_recorder *recorder, int64_t now_ns);
/** Series and single events that are remembered. */
uint32_t bt_event_recorder_count(const struct bt_event_recorder *recorder);
#endif
