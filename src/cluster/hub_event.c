/* SPDX-License-Identifier: Apache-2.0 */
#include "base/nanoseconds.h"
#include "cluster/hub.h"

#include <inttypes.h>

#include "api/time.h"
#include "codec/json_edit.h"

#define BURST_MILLI 25000
/** One event in 300 s, in thousandths of an event. */
#define NS_PER_MILLI_TOKEN (INT64_C(300) * BT_NS_PER_SECOND / 1000)
#define MESSAGE_BYTES_MAX 1024
/** Longest object name in an Event's name: with the stamp it must stay a name. */
#define NAME_BYTES_MAX 230

/** false: this object has told enough for now. */
static bool take_token(struct bt_hub *hub, uint64_t hash)
{
	struct bt_hub_event_source *source;
	int64_t gained;

	if (hub->event_sources == NULL) {
		hub->event_sources = BT_NEW_ARRAY(struct bt_hub_event_source, BT_HUB_EVENT_SOURCES);
	}
	source = &hub->event_sources[hash % BT_HUB_EVENT_SOURCES];
	if (source->hash != hash) {
		*source = (struct bt_hub_event_source){hash, BURST_MILLI, hub->now_ns};
	}
	gained = (hub->now_ns - source->updated_ns) / NS_PER_MILLI_TOKEN;
	if (gained > 0) {
		source->updated_ns += gained * NS_PER_MILLI_TOKEN;
		source->tokens_milli = gained > BURST_MILLI - source->tokens_milli
			? BURST_MILLI
			: source->tokens_milli + gained;
	}
	if (source->tokens_milli < 1000) {
		return false;
	}
	source->tokens_milli -= 1000;
	return true;
}

static struct bt_hub_event_memory *remembered(struct bt_hub *hub, uint64_t hash)
{
	for (uint32_t i = 0; hub->events != NULL && i < BT_HUB_EVENTS_REMEMBERED; i++) {
		if (hub->events[i].key != NULL && hub->events[i].hash == hash) {
			return &hub->events[i];
		}
	}
	return NULL;
}

static void remember(struct bt_hub *hub, uint64_t hash, struct bt_str key)
{
	struct bt_hub_event_memory *memory;

	if (hub->events == NULL) {
		hub->events = BT_NEW_ARRAY(struct bt_hub_event_memory, BT_HUB_EVENTS_REMEMBERED);
	}
	memory = &hub->events[hub->next_event];
	hub->next_event = (hub->next_event + 1) % BT_HUB_EVENTS_REMEMBERED;
	bt_free(memory->key);
	*memory = (struct bt_hub_event_memory){hash, bt_strndup(key.data, key.length), 1};
}

/** Count a remembered event up. false: it is gone. */
static bool count_up(struct bt_hub *hub, struct bt_hub_event_memory *memory,
	const struct bt_api_resource *events, struct bt_arena *arena)
{
	struct bt_json_value *patch = bt_json_new(arena, BT_JSON_OBJECT);

	bt_json_set_int64(arena, patch, "count", memory->count + 1);
	bt_json_set_str(arena, patch, "lastTimestamp", bt_time_text(arena, hub->now_ns));
	if (bt_hub_patch(hub, events, BT_SUBRESOURCE_NONE, bt_str_from(memory->key), patch, arena,
		    NULL) != 200) {
		bt_free(memory->key);
		*memory = (struct bt_hub_event_memory){0};
		return false;
	}
	memory->count++;
	return true;
}

static struct bt_json_value *reference_to(struct bt_arena *arena,
	const struct bt_api_resource *resource, const struct bt_json_value *object)
{
	struct bt_json_value *reference = bt_json_new(arena, BT_JSON_OBJECT);

	bt_json_set_c(arena, reference, "kind", resource->kind);
	bt_json_set_str(
		arena, reference, "namespace", bt_json_text_at(object, "metadata.namespace"));
	bt_json_set_str(arena, reference, "name", bt_json_text_at(object, "metadata.name"));
	bt_json_set_str(arena, reference, "uid", bt_json_text_at(object, "metadata.uid"));
	bt_json_set_str(arena, reference, "apiVersion", bt_resource_api_version(resource, arena));
	bt_json_set_str(arena, reference, "resourceVersion",
		bt_json_text_at(object, "metadata.resourceVersion"));
	return reference;
}

/** At most so many bytes, and no piece of a character. */
static struct bt_str cut(struct bt_str text, uint32_t bytes_max)
{
	uint32_t length = text.length;

	if (length <= bytes_max) {
		return text;
	}
	length = bytes_max;
	while (length > 0 && ((unsigned char)text.data[length] & 0xc0) == 0x80) {
		length--;
	}
	return bt_str_sub(text, 0, length);
}

static uint64_t hash_c(uint64_t hash, struct bt_str text)
{
	return bt_hash_bytes(text.data, text.length, hash);
}

void bt_hub_event(struct bt_hub *hub, const char *component, const struct bt_api_resource *resource,
	const struct bt_json_value *object, const char *type, const char *reason,
	struct bt_str message)
{
	const struct bt_api_resource *events =
		bt_resources_builtin(bt_api_resources(hub->api), "", "events");
	struct bt_arena *arena = &hub->event_arena;
	struct bt_str namespace_ = bt_json_text_at(object, "metadata.namespace");
	struct bt_str uid = bt_json_text_at(object, "metadata.uid");
	uint64_t source_hash = hash_c(hash_c(0, bt_str_from(component)), uid);
	uint64_t hash = hash_c(
		hash_c(hash_c(source_hash, bt_str_from(type)), bt_str_from(reason)), message);
	struct bt_hub_event_memory *memory;
	struct bt_json_value *event;
	struct bt_json_value *metadata;
	struct bt_json_value *source;
	struct bt_str name;
	struct bt_str now;

	if (!take_token(hub, source_hash)) {
		return;
	}
	memory = remembered(hub, hash);
	if (memory != NULL && count_up(hub, memory, events, arena)) {
		bt_arena_reset(arena);
		return;
	}
	hub->last_event_stamp =
		hub->now_ns > hub->last_event_stamp ? hub->now_ns : hub->last_event_stamp + 1;
	name = bt_arena_printf(arena, "%.*s.%" PRIx64,
		BT_STR_ARG(bt_str_sub(bt_json_text_at(object, "metadata.name"), 0, NAME_BYTES_MAX)),
		(uint64_t)hub->last_event_stamp);
	namespace_ = namespace_.length != 0 ? namespace_ : BT_STR("default");
	now = bt_time_text(arena, hub->now_ns);
	event = bt_json_new(arena, BT_JSON_OBJECT);
	metadata = bt_json_ensure_object(arena, event, "metadata");
	bt_json_set_str(arena, metadata, "name", name);
	bt_json_set_str(arena, metadata, "namespace", namespace_);
	bt_json_set_value(arena, event, "involvedObject", reference_to(arena, resource, object));
	bt_json_set_c(arena, event, "reason", reason);
	bt_json_set_str(arena, event, "message", cut(message, MESSAGE_BYTES_MAX));
	source = bt_json_ensure_object(arena, event, "source");
	bt_json_set_c(arena, source, "component", component);
	bt_json_set_str(arena, event, "firstTimestamp", now);
	bt_json_set_str(arena, event, "lastTimestamp", now);
	bt_json_set_int64(arena, event, "count", 1);
	bt_json_set_c(arena, event, "type", type);
	bt_json_set_c(arena, event, "reportingComponent", component);
	if (bt_hub_create(hub, events, namespace_, event, arena, NULL) == 201) {
		remember(hub, hash, bt_api_key(arena, namespace_, name));
	}
	bt_arena_reset(arena);
}

void bt_hub_events_finish(struct bt_hub *hub)
{
	for (uint32_t i = 0; hub->events != NULL && i < BT_HUB_EVENTS_REMEMBERED; i++) {
		bt_free(hub->events[i].key);
	}
	bt_free(hub->events);
	bt_free(hub->event_sources);
}
