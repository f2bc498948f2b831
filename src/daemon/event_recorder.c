/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/event_recorder.h"

#include <inttypes.h>
#include <stddef.h>

#include "api/time.h"
#include "base/alloc.h"
#include "base/links.h"
#include "base/map.h"
#include "base/nanoseconds.h"
#include "base/vec.h"

#define OBJECT_NAME_BYTES_MAX 253
#define KEY_LENGTHS_BYTES (sizeof(uint16_t) * BT_EVENT_NOTE)

struct bt_event_record *bt_event_record_create(const struct bt_event_facts *facts, int64_t now_ns)
{
	const struct bt_object_meta *meta = facts->regarding;
	const struct bt_str parts[BT_EVENT_PART__COUNT] = {
		[BT_EVENT_TYPE] = bt_str_from(facts->type),
		[BT_EVENT_REASON] = bt_str_from(facts->reason),
		[BT_EVENT_ACTION] = bt_str_from(facts->action),
		[BT_EVENT_CONTROLLER] = facts->controller,
		[BT_EVENT_KIND] = bt_str_from(facts->kind),
		[BT_EVENT_API_VERSION] = bt_str_from(facts->api_version),
		[BT_EVENT_NAMESPACE] = meta->namespace_,
		[BT_EVENT_NAME] = meta->name,
		[BT_EVENT_UID] = meta->uid,
		[BT_EVENT_RESOURCE_VERSION] = meta->resource_version,
		[BT_EVENT_NOTE] = facts->note,
	};
	uint16_t lengths[BT_EVENT_PART__COUNT];
	size_t total = 0;
	for (uint32_t i = 0; i < BT_EVENT_PART__COUNT; i++) {
		lengths[i] = (uint16_t)BT_MIN(parts[i].length, UINT16_MAX);
		total += lengths[i];
	}
	struct bt_event_record *record = bt_malloc(offsetof(struct bt_event_record, bytes) + total);
	record->references = 1;
	record->time_ns = now_ns;
	memcpy(record->lengths, lengths, sizeof(lengths));
	size_t at = 0;
	for (uint32_t i = 0; i < BT_EVENT_PART__COUNT; i++) {
		if (lengths[i] != 0) {
			memcpy(record->bytes + at, parts[i].data, lengths[i]);
			at += lengths[i];
		}
	}
	return record;
}

struct bt_event_record *bt_event_record_share(struct bt_event_record *record)
{
	record->references++;
	return record;
}

void bt_event_record_release(struct bt_event_record *record)
{
	if (record != NULL && --record->references == 0) {
		bt_free(record);
	}
}

struct bt_str bt_event_record_part(const struct bt_event_record *record, enum bt_event_part part)
{
	uint32_t at = 0;
	for (uint32_t i = 0; i < part; i++) {
		at += record->lengths[i];
	}
	return (struct bt_str){record->bytes + at, record->lengths[part]};
}

struct bt_str bt_event_record_namespace(const struct bt_event_record *record)
{
	struct bt_str namespace_ = bt_event_record_part(record, BT_EVENT_NAMESPACE);
	return namespace_.length != 0 ? namespace_ : BT_STR("default");
}

void bt_event_record_append_name(const struct bt_event_record *record, struct bt_strbuf *out)
{
	struct bt_str name = bt_event_record_part(record, BT_EVENT_NAME);
	size_t start = out->length;
	bt_strbuf_append_str(out, name);
	bt_strbuf_printf(out, ".%" PRIx64, (uint64_t)record->time_ns);
	if (out->length - start <= OBJECT_NAME_BYTES_MAX) {
		return;
	}
	uint64_t high = bt_hash_bytes(out->data + start, out->length - start, 1);
	uint64_t low = bt_hash_bytes(out->data + start, out->length - start, 2);
	out->length = start;
	bt_strbuf_append_uuid(out, high, low);
}

/** Write the members of the reference to the regarding object, and the closing brace. */
static void write_reference(struct bt_json_writer *writer, const struct bt_event_record *record)
{
	bt_json_write(writer,
		"kind: %s, namespace?: %s, name: %s, uid: %s, apiVersion: %s, resourceVersion: %s}",
		bt_event_record_part(record, BT_EVENT_KIND),
		bt_event_record_part(record, BT_EVENT_NAMESPACE),
		bt_event_record_part(record, BT_EVENT_NAME),
		bt_event_record_part(record, BT_EVENT_UID),
		bt_event_record_part(record, BT_EVENT_API_VERSION),
		bt_event_record_part(record, BT_EVENT_RESOURCE_VERSION));
}

void bt_event_record_write(const struct bt_event_record *record, struct bt_str host,
	uint32_t series_count, int64_t series_ns, struct bt_strbuf *out)
{
	struct bt_json_writer writer;
	struct bt_strbuf name = {0};
	struct bt_arena arena = {0};
	struct bt_str controller = bt_event_record_part(record, BT_EVENT_CONTROLLER);
	bt_event_record_append_name(record, &name);
	bt_json_writer_init(&writer, out, 0);
	bt_json_write(&writer,
		"{kind: 'Event', apiVersion: 'events.k8s.io/v1', metadata: {name: %s, namespace: "
		"%s}, eventTime: %s",
		bt_strbuf_str(&name), bt_event_record_namespace(record),
		bt_micro_time_text(&arena, record->time_ns));
	if (series_count > 1) {
		bt_json_write(&writer, "series: {count: %d, lastObservedTime: %s}",
			(int64_t)series_count, bt_micro_time_text(&arena, series_ns));
	}
	bt_json_write(&writer,
		"reportingController: %s, reportingInstance: %s, action: %s, reason: %s, "
		"regarding: {",
		controller,
		bt_arena_printf(&arena, "%.*s-%.*s", BT_STR_ARG(controller), BT_STR_ARG(host)),
		bt_event_record_part(record, BT_EVENT_ACTION),
		bt_event_record_part(record, BT_EVENT_REASON));
	write_reference(&writer, record);
	bt_json_write(&writer, "note: %s, type: %s}", bt_event_record_part(record, BT_EVENT_NOTE),
		bt_event_record_part(record, BT_EVENT_TYPE));
	bt_arena_finish(&arena);
	bt_strbuf_finish(&name);
}

void bt_event_record_write_series(uint32_t series_count, int64_t series_ns, struct bt_strbuf *out)
{
	struct bt_json_writer writer;
	struct bt_arena arena = {0};
	bt_json_writer_init(&writer, out, 0);
	bt_json_begin_object(&writer);
	bt_json_write(&writer, "series: {count: %d, lastObservedTime: %s}", (int64_t)series_count,
		bt_micro_time_text(&arena, series_ns));
	bt_json_end_object(&writer);
	bt_arena_finish(&arena);
}

void bt_event_record_write_core(const struct bt_event_record *record, struct bt_str name,
	const struct bt_event_counts *counts, struct bt_strbuf *out)
{
	struct bt_json_writer writer;
	struct bt_arena arena = {0};
	struct bt_str controller = bt_event_record_part(record, BT_EVENT_CONTROLLER);
	bt_json_writer_init(&writer, out, 0);
	bt_json_write(&writer,
		"{kind: 'Event', apiVersion: 'v1', metadata: {name: %s, namespace: %s}, "
		"involvedObject: {",
		name, bt_event_record_namespace(record));
	write_reference(&writer, record);
	bt_json_write(&writer,
		"reason: %s, message: %s, source: {component: %s}, firstTimestamp: %s, "
		"lastTimestamp: %s, count: %d, type: %s, eventTime: null, reportingComponent: %s, "
		"reportingInstance: ''}",
		bt_event_record_part(record, BT_EVENT_REASON), counts->message, controller,
		bt_time_text(&arena, counts->first_ns), bt_time_text(&arena, counts->last_ns),
		(int64_t)counts->count, bt_event_record_part(record, BT_EVENT_TYPE), controller);
	bt_arena_finish(&arena);
}

void bt_event_record_write_counts(
	const struct bt_event_counts *counts, bool with_message, struct bt_strbuf *out)
{
	struct bt_json_writer writer;
	struct bt_arena arena = {0};
	bt_json_writer_init(&writer, out, 0);
	bt_json_write(&writer, "{count: %d, lastTimestamp: %s", (int64_t)counts->count,
		bt_time_text(&arena, counts->last_ns));
	bt_json_write(&writer, with_message ? "message: %s}" : "}", counts->message);
	bt_arena_finish(&arena);
}

#define FORGET_AFTER_NS (360 * BT_NS_PER_SECOND)
#define FORGET_EVERY_NS (360 * BT_NS_PER_SECOND)
#define PATCH_EVERY_NS (1800 * BT_NS_PER_SECOND)
#define HAPPENS_ONCE "Scheduled"
#define NONE UINT32_MAX

/** The events of one key. A list orders the entries by the time of their last event. */
struct series {
	uint64_t hash;
	struct bt_event_record *record; /* of the first event, shared; NULL: the place is free */
	int64_t last_ns;                /* when the last event happened */
	uint32_t count;                 /* 1: no series yet */
	uint32_t older;                 /* in a free place: the next free place */
	uint32_t newer;
};

struct bt_event_recorder {
	struct bt_event_sink sink;
	BT_VEC(struct series) places;
	struct bt_map by_key;
	uint32_t oldest;
	uint32_t newest;
	uint32_t free;
	int64_t next_patch_ns;
	int64_t next_forget_ns;
};

struct bt_event_recorder *bt_event_recorder_create(const struct bt_event_sink *sink)
{
	struct bt_event_recorder *recorder = bt_calloc(1, sizeof(*recorder));
	recorder->sink = *sink;
	recorder->oldest = NONE;
	recorder->newest = NONE;
	recorder->free = NONE;
	return recorder;
}

void bt_event_recorder_destroy(struct bt_event_recorder *recorder)
{
	if (recorder == NULL) {
		return;
	}
	bt_vec_finish_each(&recorder->places, bt_event_record_release(each->record));
	bt_map_finish(&recorder->by_key);
	bt_free(recorder);
}

uint32_t bt_event_recorder_count(const struct bt_event_recorder *recorder)
{
	return recorder->by_key.count;
}

static struct series *series_at(struct bt_event_recorder *recorder, uint32_t index)
{
	return &recorder->places.items[index];
}

/** PATCH the series with its current count. */
static void send_series(struct bt_event_recorder *recorder, const struct series *series)
{
	struct bt_event_delivery event = {series->record, series->count, series->last_ns};
	recorder->sink.send(recorder->sink.context, &event, true);
}

static void remove_oldest(struct bt_event_recorder *recorder)
{
	if (series_at(recorder, recorder->oldest)->count > 1) {
		send_series(recorder, series_at(recorder, recorder->oldest));
	}
	uint32_t index = recorder->oldest;
	struct series *series = series_at(recorder, index);
	BT_INDEX_LIST_REMOVE(
		recorder->oldest, recorder->newest, recorder->places.items, index, older, newer);
	(void)bt_map_remove(&recorder->by_key, series->hash, index);
	bt_event_record_release(series->record);
	*series = (struct series){.older = recorder->free};
	recorder->free = index;
}

void bt_event_recorder_accept(struct bt_event_recorder *recorder, struct bt_event_record *record)
{
	struct bt_event_delivery event = {.record = record};
	if (!bt_str_equal_c(bt_event_record_part(record, BT_EVENT_REASON), HAPPENS_ONCE)) {
		/* Everything but the note is the key of a series. */
		uint32_t key_length = (uint32_t)(bt_event_record_part(record, BT_EVENT_NOTE).data -
			record->bytes);
		uint64_t hash = bt_hash_bytes(record->bytes, key_length,
			bt_hash_bytes(record->lengths, KEY_LENGTHS_BYTES, 0));
		BT_MAP_EACH (&recorder->by_key, hash, index) {
			struct series *series = series_at(recorder, index);
			const struct bt_event_record *known = series->record;
			if (memcmp(known->lengths, record->lengths, KEY_LENGTHS_BYTES) != 0 ||
				memcmp(known->bytes, record->bytes, key_length) != 0) {
				continue;
			}
			series->count++;
			series->last_ns = record->time_ns;
			BT_INDEX_LIST_REMOVE(recorder->oldest, recorder->newest,
				recorder->places.items, index, older, newer);
			BT_INDEX_LIST_APPEND(recorder->oldest, recorder->newest,
				recorder->places.items, index, older, newer);
			if (series->count == 2) {
				send_series(recorder, series);
			}
			return;
		}
		if (recorder->by_key.count >= BT_EVENT_SERIES_MAX) {
			remove_oldest(recorder);
		}
		struct series series = {
			.hash = hash,
			.record = bt_event_record_share(record),
			.last_ns = record->time_ns,
			.count = 1,
		};
		uint32_t index = recorder->free;
		if (index != NONE) {
			recorder->free = series_at(recorder, index)->older;
			*series_at(recorder, index) = series;
		} else {
			index = recorder->places.count;
			bt_vec_push(&recorder->places, series);
		}
		BT_INDEX_LIST_APPEND(recorder->oldest, recorder->newest, recorder->places.items,
			index, older, newer);
		bt_map_insert(&recorder->by_key, hash, index);
	}
	recorder->sink.send(recorder->sink.context, &event, false);
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
	/* At the first call, and after the clock was set back, the intervals begin now. */
	if (recorder->next_patch_ns == 0 || recorder->next_forget_ns - now_ns > FORGET_EVERY_NS) {
		recorder->next_patch_ns = now_ns + PATCH_EVERY_NS;
		recorder->next_forget_ns = now_ns + FORGET_EVERY_NS;
	}
	if (now_ns >= recorder->next_patch_ns) {
		for (uint32_t i = 0; i < recorder->places.count; i++) {
			if (series_at(recorder, i)->record != NULL &&
				series_at(recorder, i)->count > 1) {
				send_series(recorder, series_at(recorder, i));
			}
		}
		recorder->next_patch_ns = now_ns + PATCH_EVERY_NS;
	}
	if (now_ns >= recorder->next_forget_ns) {
		while (recorder->oldest != NONE) {
			int64_t age_ns = now_ns - series_at(recorder, recorder->oldest)->last_ns;
			if (age_ns >= 0 && age_ns < FORGET_AFTER_NS) {
				break;
			}
			remove_oldest(recorder);
		}
		recorder->next_forget_ns = now_ns + FORGET_EVERY_NS;
	}
	return BT_MIN(recorder->next_patch_ns, recorder->next_forget_ns);
}
