/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/event_recorder.h"

#include "base/alloc.h"
#include "base/map.h"
#include "base/nanoseconds.h"
#include "base/vec.h"

#define FORGET_AFTER_NS (360 * BT_NS_PER_SECOND)
#define FORGET_EVERY_NS (360 * BT_NS_PER_SECOND)
#define TELL_EVERY_NS (1800 * BT_NS_PER_SECOND)
#define HAPPENS_ONCE "Scheduled"
#define NONE UINT32_MAX

/** One kind of event that is remembered; in a list by the time it was last seen. */
struct series {
	uint64_t hash;
	struct bt_event_record *record; /* shared; NULL: the place is free */
	int64_t last_ns;
	uint32_t count; /* 1: no series yet */
	uint32_t older; /* of a free place: the next free one */
	uint32_t newer;
};

struct bt_event_recorder {
	struct bt_event_sink sink;
	BT_VEC(struct series) places;
	struct bt_map by_key;
	uint32_t oldest;
	uint32_t newest;
	uint32_t free;
	int64_t next_tell_ns;
	int64_t next_forget_ns;
};

static uint64_t hash_of(const void *owner, uint32_t index)
{
	const struct bt_event_recorder *recorder = owner;
	return recorder->places.items[index].hash;
}

struct bt_event_recorder *bt_event_recorder_create(const struct bt_event_sink *sink)
{
	struct bt_event_recorder *recorder = bt_calloc(1, sizeof(*recorder));
	recorder->sink = *sink;
	recorder->oldest = NONE;
	recorder->newest = NONE;
	recorder->free = NONE;
	bt_map_init(&recorder->by_key, hash_of, recorder);
	return recorder;
}

void bt_event_recorder_destroy(struct bt_event_recorder *recorder)
{
	if (recorder == NULL) {
		return;
	}
	for (uint32_t i = 0; i < recorder->places.count; i++) {
		bt_event_record_release(recorder->places.items[i].record);
	}
	bt_vec_finish(&recorder->places);
	bt_map_finish(&recorder->by_key);
	bt_free(recorder);
}

uint32_t bt_event_recorder_count(const struct bt_event_recorder *recorder)
{
	return recorder->by_key.count;
}

/** --- places --- */

static struct series *at(struct bt_event_recorder *recorder, uint32_t index)
{
	return &recorder->places.items[index];
}

static void unlink_place(struct bt_event_recorder *recorder, uint32_t index)
{
	const struct series *series = at(recorder, index);
	if (series->older != NONE) {
		at(recorder, series->older)->newer = series->newer;
	} else {
		recorder->oldest = series->newer;
	}
	if (series->newer != NONE) {
		at(recorder, series->newer)->older = series->older;
	} else {
		recorder->newest = series->older;
	}
}

static void link_newest(struct bt_event_recorder *recorder, uint32_t index)
{
	struct series *series = at(recorder, index);
	series->older = recorder->newest;
	series->newer = NONE;
	if (recorder->newest != NONE) {
		at(recorder, recorder->newest)->newer = index;
	} else {
		recorder->oldest = index;
	}
	recorder->newest = index;
}

static uint32_t find(const struct bt_event_recorder *recorder, const struct bt_event_record *record,
	uint64_t hash)
{
	for (uint32_t it = bt_map_first(&recorder->by_key, hash); it != BT_MAP_NONE;
		it = bt_map_next(&recorder->by_key, hash, it)) {
		uint32_t index = bt_map_value(&recorder->by_key, it);
		if (bt_event_record_same_series(recorder->places.items[index].record, record)) {
			return index;
		}
	}
	return NONE;
}

/** PATCH with the count as it is; an event that is gone is posted again, series included. */
static void tell(struct bt_event_recorder *recorder, const struct series *series)
{
	struct bt_event_delivery event = {series->record, series->count, series->last_ns};
	if (!recorder->sink.patch(recorder->sink.context, &event)) {
		recorder->sink.post(recorder->sink.context, &event);
	}
}

static void forget_oldest(struct bt_event_recorder *recorder)
{
	if (at(recorder, recorder->oldest)->count > 1) {
		tell(recorder, at(recorder, recorder->oldest));
	}
	uint32_t index = recorder->oldest;
	struct series *series = at(recorder, index);
	unlink_place(recorder, index);
	(void)bt_map_remove(&recorder->by_key, series->hash, index);
	bt_event_record_release(series->record);
	*series = (struct series){.older = recorder->free};
	recorder->free = index;
}

static void remember(
	struct bt_event_recorder *recorder, struct bt_event_record *record, uint64_t hash)
{
	if (recorder->by_key.count >= BT_EVENT_SERIES_MAX) {
		forget_oldest(recorder);
	}
	struct series series = {
		.hash = hash,
		.record = bt_event_record_share(record),
		.last_ns = record->time_ns,
		.count = 1,
	};
	uint32_t index = recorder->free;
	if (index != NONE) {
		recorder->free = at(recorder, index)->older;
		*at(recorder, index) = series;
	} else {
		index = recorder->places.count;
		bt_vec_push(&recorder->places, series);
	}
	link_newest(recorder, index);
	bt_map_insert(&recorder->by_key, hash, index);
}

/** --- events --- */

void bt_event_recorder_accept(struct bt_event_recorder *recorder, struct bt_event_record *record)
{
	struct bt_event_delivery event = {.record = record};
	if (!bt_str_equal_c(bt_event_record_part(record, BT_EVENT_REASON), HAPPENS_ONCE)) {
		uint64_t hash = bt_event_record_series_hash(record);
		uint32_t index = find(recorder, record, hash);
		if (index != NONE) {
			int64_t now_ns = record->time_ns;
			struct series *series = at(recorder, index);
			series->count++;
			series->last_ns = now_ns;
			unlink_place(recorder, index);
			link_newest(recorder, index);
			if (series->count == 2) {
				tell(recorder, series);
			}
			return;
		}
		remember(recorder, record, hash);
	}
	recorder->sink.post(recorder->sink.context, &event);
}

void bt_event_recorder_record(
	struct bt_event_recorder *recorder, const struct bt_event_facts *facts, int64_t now_ns)
{
	struct bt_event_record *record = bt_event_record_create(facts, now_ns);
	if (recorder->sink.take == NULL || !recorder->sink.take(recorder->sink.context, record)) {
		bt_event_recorder_accept(recorder, record);
	}
	bt_event_record_release(record);
}

void bt_event_recorder_record_pod(struct bt_event_recorder *recorder, const struct bt_pod *pod,
	const char *type, const char *reason, const char *action, struct bt_str note,
	int64_t now_ns)
{
	struct bt_event_facts facts = {
		.kind = "Pod",
		.api_version = "v1",
		.regarding = &pod->metadata,
		.type = type,
		.reason = reason,
		.action = action,
		.controller = pod->spec.scheduler_name,
		.note = note,
	};
	bt_event_recorder_record(recorder, &facts, now_ns);
}

int64_t bt_event_recorder_tick(struct bt_event_recorder *recorder, int64_t now_ns)
{
	if (recorder->next_tell_ns == 0) {
		recorder->next_tell_ns = now_ns + TELL_EVERY_NS;
		recorder->next_forget_ns = now_ns + FORGET_EVERY_NS;
	}
	if (now_ns >= recorder->next_tell_ns) {
		for (uint32_t i = 0; i < recorder->places.count; i++) {
			if (at(recorder, i)->record != NULL && at(recorder, i)->count > 1) {
				tell(recorder, at(recorder, i));
			}
		}
		recorder->next_tell_ns = now_ns + TELL_EVERY_NS;
	}
	if (now_ns >= recorder->next_forget_ns) {
		while (recorder->oldest != NONE &&
			now_ns - at(recorder, recorder->oldest)->last_ns >= FORGET_AFTER_NS) {
			forget_oldest(recorder);
		}
		recorder->next_forget_ns = now_ns + FORGET_EVERY_NS;
	}
	return recorder->next_tell_ns < recorder->next_forget_ns ? recorder->next_tell_ns
								 : recorder->next_forget_ns;
}
