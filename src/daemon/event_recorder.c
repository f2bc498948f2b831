/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/event_recorder.h"

#include <inttypes.h>

#include "api/time.h"
#include "base/alloc.h"
#include "base/map.h"
#include "base/nanoseconds.h"
#include "base/vec.h"
#include "codec/json_edit.h"

#define FORGET_AFTER_NS (6 * 60 * BT_NS_PER_SECOND)
#define FORGET_EVERY_NS (6 * 60 * BT_NS_PER_SECOND)
#define TELL_EVERY_NS (30 * 60 * BT_NS_PER_SECOND)
#define OBJECT_NAME_BYTES_MAX 253

/** One kind of event that is remembered. The texts are one block. */
struct series {
	uint64_t hash;
	char *bytes; /* owned: the key, then the posted event as JSON */
	uint32_t key_length;
	uint32_t event_length;
	struct bt_str namespace_; /* within bytes */
	struct bt_str name;
	uint32_t count; /* 1: no series yet */
	int64_t last_ns;
};

struct bt_event_recorder {
	struct bt_event_sink sink;
	char *host; /* owned */
	BT_VEC(struct series) series;
	struct bt_map by_key;
	struct bt_arena arena;
	int64_t next_tell_ns;
	int64_t next_forget_ns;
};

static uint64_t hash_of(const void *owner, uint32_t index)
{
	const struct bt_event_recorder *recorder = owner;
	return recorder->series.items[index].hash;
}

struct bt_event_recorder *bt_event_recorder_create(
	const struct bt_event_sink *sink, struct bt_str host)
{
	struct bt_event_recorder *recorder = bt_calloc(1, sizeof(*recorder));
	recorder->sink = *sink;
	recorder->host = bt_strndup(host.data, host.length);
	bt_map_init(&recorder->by_key, hash_of, recorder);
	bt_arena_init(&recorder->arena, 0);
	return recorder;
}

void bt_event_recorder_destroy(struct bt_event_recorder *recorder)
{
	if (recorder == NULL) {
		return;
	}
	for (uint32_t i = 0; i < recorder->series.count; i++) {
		bt_free(recorder->series.items[i].bytes);
	}
	bt_vec_finish(&recorder->series);
	bt_map_finish(&recorder->by_key);
	bt_arena_finish(&recorder->arena);
	bt_free(recorder->host);
	bt_free(recorder);
}

uint32_t bt_event_recorder_count(const struct bt_event_recorder *recorder)
{
	return recorder->series.count;
}

/** --- documents --- */

static struct bt_json_value *series_document(
	struct bt_arena *arena, uint32_t count, int64_t last_ns)
{
	struct bt_json_value *series = bt_json_new(arena, BT_JSON_OBJECT);
	bt_json_set_int64(arena, series, "count", count);
	bt_json_set_str(arena, series, "lastObservedTime", bt_micro_time_text(arena, last_ns));
	return series;
}

static struct bt_json_value *reference(struct bt_arena *arena, const struct bt_event_facts *facts)
{
	const struct bt_object_meta *meta = facts->regarding;
	struct bt_json_value *object = bt_json_new(arena, BT_JSON_OBJECT);
	bt_json_set_c(arena, object, "kind", facts->kind);
	if (meta->namespace_.length != 0) {
		bt_json_set_str(arena, object, "namespace", meta->namespace_);
	}
	bt_json_set_str(arena, object, "name", meta->name);
	bt_json_set_str(arena, object, "uid", meta->uid);
	bt_json_set_c(arena, object, "apiVersion", facts->api_version);
	bt_json_set_str(arena, object, "resourceVersion", meta->resource_version);
	return object;
}

/** `<name>.<time in hexadecimal>`, or a UUID where that is too long for a name. */
static struct bt_str event_name(
	struct bt_arena *arena, const struct bt_event_facts *facts, int64_t now_ns)
{
	struct bt_str name = bt_arena_printf(
		arena, "%.*s.%" PRIx64, BT_STR_ARG(facts->regarding->name), (uint64_t)now_ns);
	if (name.length <= OBJECT_NAME_BYTES_MAX) {
		return name;
	}
	uint64_t high = bt_hash_bytes(name.data, name.length, 1);
	uint64_t low = bt_hash_bytes(name.data, name.length, 2);
	return bt_arena_printf(arena, "%08x-%04x-4%03x-8%03x-%04x%08x", (unsigned)(high >> 32),
		(unsigned)(high & 0xffff), (unsigned)(high >> 16 & 0xfff), (unsigned)(low & 0xfff),
		(unsigned)(low >> 16 & 0xffff), (unsigned)(low >> 32));
}

static struct bt_json_value *event_document(struct bt_event_recorder *recorder,
	const struct bt_event_facts *facts, struct bt_str namespace_, int64_t now_ns)
{
	struct bt_arena *arena = &recorder->arena;
	struct bt_json_value *event = bt_json_new(arena, BT_JSON_OBJECT);
	struct bt_json_value *metadata = bt_json_ensure_object(arena, event, "metadata");
	bt_json_set_str(arena, metadata, "name", event_name(arena, facts, now_ns));
	bt_json_set_str(arena, metadata, "namespace", namespace_);
	bt_json_set_str(arena, event, "eventTime", bt_micro_time_text(arena, now_ns));
	bt_json_set_str(arena, event, "reportingController", facts->controller);
	bt_json_set_str(arena, event, "reportingInstance",
		bt_arena_printf(arena, "%.*s-%s", BT_STR_ARG(facts->controller), recorder->host));
	bt_json_set_c(arena, event, "action", facts->action);
	bt_json_set_c(arena, event, "reason", facts->reason);
	bt_json_set_value(arena, event, "regarding", reference(arena, facts));
	bt_json_set_str(arena, event, "note", facts->note);
	bt_json_set_c(arena, event, "type", facts->type);
	return event;
}

/** Every field that tells kinds of events apart; the note is not one of them. */
static void append_key(const struct bt_event_facts *facts, struct bt_strbuf *out)
{
	const struct bt_object_meta *meta = facts->regarding;
	const struct bt_str parts[] = {bt_str_from(facts->type), bt_str_from(facts->action),
		bt_str_from(facts->reason), facts->controller, bt_str_from(facts->kind),
		bt_str_from(facts->api_version), meta->namespace_, meta->name, meta->uid,
		meta->resource_version};
	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(parts); i++) {
		bt_strbuf_printf(out, "%u:", parts[i].length);
		bt_strbuf_append_str(out, parts[i]);
	}
}

/** --- series --- */

static uint32_t find(const struct bt_event_recorder *recorder, struct bt_str key, uint64_t hash)
{
	for (uint32_t at = bt_map_first(&recorder->by_key, hash); at != BT_MAP_NONE;
		at = bt_map_next(&recorder->by_key, hash, at)) {
		uint32_t index = bt_map_value(&recorder->by_key, at);
		const struct series *series = &recorder->series.items[index];
		struct bt_str known = {series->bytes, series->key_length};
		if (bt_str_equal(known, key)) {
			return index;
		}
	}
	return UINT32_MAX;
}

static void forget(struct bt_event_recorder *recorder, uint32_t index)
{
	struct series *series = &recorder->series.items[index];
	uint32_t last = recorder->series.count - 1;
	(void)bt_map_remove(&recorder->by_key, series->hash, index);
	bt_free(series->bytes);
	if (index != last) {
		uint64_t moved = recorder->series.items[last].hash;
		(void)bt_map_remove(&recorder->by_key, moved, last);
		bt_vec_remove_swap(&recorder->series, index);
		bt_map_insert(&recorder->by_key, moved, index);
	} else {
		recorder->series.count--;
	}
}

/** PATCH with the count as it is; an event that is gone is posted again, series included. */
static void tell(struct bt_event_recorder *recorder, const struct series *series)
{
	struct bt_arena *arena = &recorder->arena;
	struct bt_json_value *patch = bt_json_new(arena, BT_JSON_OBJECT);
	bt_json_set_value(
		arena, patch, "series", series_document(arena, series->count, series->last_ns));
	if (recorder->sink.patch(
		    recorder->sink.context, series->namespace_, series->name, patch, arena)) {
		return;
	}
	struct bt_str text = {series->bytes + series->key_length, series->event_length};
	struct bt_json_value *event;
	if (bt_json_parse(arena, text, true, &event, NULL) == 0) {
		bt_json_set_value(arena, event, "series",
			series_document(arena, series->count, series->last_ns));
		recorder->sink.post(recorder->sink.context, series->namespace_, event, arena);
	}
}

/** Room for one more: the one that was seen longest ago is told and forgotten. */
static void make_room(struct bt_event_recorder *recorder)
{
	if (recorder->series.count < BT_EVENT_SERIES_MAX) {
		return;
	}
	uint32_t oldest = 0;
	for (uint32_t i = 1; i < recorder->series.count; i++) {
		if (recorder->series.items[i].last_ns < recorder->series.items[oldest].last_ns) {
			oldest = i;
		}
	}
	if (recorder->series.items[oldest].count > 1) {
		tell(recorder, &recorder->series.items[oldest]);
	}
	forget(recorder, oldest);
}

static void remember(struct bt_event_recorder *recorder, const struct bt_strbuf *key, uint64_t hash,
	const struct bt_json_value *event, int64_t now_ns)
{
	make_room(recorder);
	struct bt_strbuf bytes = {0};
	bt_strbuf_append(&bytes, key->data, key->length);
	struct bt_json_writer writer;
	bt_json_writer_init(&writer, &bytes, 0);
	bt_json_write_value(&writer, event);
	struct bt_str namespace_ = bt_json_text_at(event, "metadata.namespace");
	struct bt_str name = bt_json_text_at(event, "metadata.name");
	uint32_t event_length = (uint32_t)(bytes.length - key->length);
	uint32_t names_at = (uint32_t)bytes.length;
	bt_strbuf_append_str(&bytes, namespace_);
	bt_strbuf_append_str(&bytes, name);
	struct series series = {
		.hash = hash,
		.bytes = bt_strbuf_steal(&bytes),
		.key_length = (uint32_t)key->length,
		.event_length = event_length,
		.count = 1,
		.last_ns = now_ns,
	};
	series.namespace_ = (struct bt_str){series.bytes + names_at, namespace_.length};
	series.name = (struct bt_str){series.bytes + names_at + namespace_.length, name.length};
	bt_vec_push(&recorder->series, series);
	bt_map_insert(&recorder->by_key, hash, recorder->series.count - 1);
}

void bt_event_recorder_record(
	struct bt_event_recorder *recorder, const struct bt_event_facts *facts, int64_t now_ns)
{
	struct bt_strbuf key = {0};
	append_key(facts, &key);
	uint64_t hash = bt_str_hash(bt_strbuf_str(&key));
	uint32_t index = find(recorder, bt_strbuf_str(&key), hash);
	if (index != UINT32_MAX) {
		struct series *series = &recorder->series.items[index];
		series->count++;
		series->last_ns = now_ns;
		if (series->count == 2) {
			tell(recorder, series);
		}
	} else {
		struct bt_str namespace_ = facts->regarding->namespace_.length != 0
			? facts->regarding->namespace_
			: BT_STR("default");
		struct bt_json_value *event = event_document(recorder, facts, namespace_, now_ns);
		remember(recorder, &key, hash, event, now_ns);
		recorder->sink.post(recorder->sink.context, namespace_, event, &recorder->arena);
	}
	bt_strbuf_finish(&key);
	bt_arena_reset(&recorder->arena);
}

static void forget_old(struct bt_event_recorder *recorder, int64_t now_ns)
{
	for (uint32_t i = recorder->series.count; i-- > 0;) {
		const struct series *series = &recorder->series.items[i];
		if (now_ns - series->last_ns < FORGET_AFTER_NS) {
			continue;
		}
		if (series->count > 1) {
			tell(recorder, series);
			bt_arena_reset(&recorder->arena);
		}
		forget(recorder, i);
	}
}

int64_t bt_event_recorder_tick(struct bt_event_recorder *recorder, int64_t now_ns)
{
	if (recorder->next_tell_ns == 0) {
		recorder->next_tell_ns = now_ns + TELL_EVERY_NS;
		recorder->next_forget_ns = now_ns + FORGET_EVERY_NS;
	}
	if (now_ns >= recorder->next_tell_ns) {
		for (uint32_t i = 0; i < recorder->series.count; i++) {
			if (recorder->series.items[i].count > 1) {
				tell(recorder, &recorder->series.items[i]);
				bt_arena_reset(&recorder->arena);
			}
		}
		recorder->next_tell_ns = now_ns + TELL_EVERY_NS;
	}
	if (now_ns >= recorder->next_forget_ns) {
		forget_old(recorder, now_ns);
		recorder->next_forget_ns = now_ns + FORGET_EVERY_NS;
	}
	return recorder->next_tell_ns < recorder->next_forget_ns ? recorder->next_tell_ns
								 : recorder->next_forget_ns;
}
