/* SPDX-License-Identifier: Apache-2.0 */
/**
 * metrics.k8s.io: PodMetrics and NodeMetrics, made from pods and nodes when they are read. Spec:
 * 14b section 6.9.
 */
#include <inttypes.h>

#include "api/time.h"
#include "server/kinds/common.h"
#include "server/usage.h"

/** Reduces the object to metadata, timestamp and window. */
static void begin_metrics(const struct bt_write *write, struct bt_json_value *object)
{
	static const char *const kept[] = {"name", "namespace", "labels"};
	struct bt_arena *arena = write->arena;
	const struct bt_json_value *from = bt_json_object_at(object, "metadata");
	struct bt_json_value *metadata = bt_json_new(arena, BT_JSON_OBJECT);
	struct bt_str now = bt_time_text(arena, bt_api_now_ns(write->api));

	for (size_t i = 0; i < BT_ARRAY_LENGTH(kept); i++) {
		struct bt_json_value *member = bt_json_find(from, kept[i]);
		if (member != NULL) {
			bt_json_set_value(arena, metadata, kept[i], member);
		}
	}
	bt_json_set_str(arena, metadata, "creationTimestamp", now);
	object->count = 0;
	bt_json_set_value(arena, object, "metadata", metadata);
	bt_json_set_str(arena, object, "timestamp", now);
	bt_json_set_c(arena, object, "window", "15s");
}

static struct bt_json_value *usage_value(struct bt_arena *arena, const struct bt_usage *usage)
{
	struct bt_json_value *value = bt_json_new(arena, BT_JSON_OBJECT);

	bt_json_set_str(
		arena, value, "cpu", bt_arena_printf(arena, "%" PRId64 "n", usage->cpu_nano));
	bt_json_set_str(arena, value, "memory",
		bt_arena_printf(arena, "%" PRId64 "Ki", usage->memory_bytes >> 10));
	return value;
}

static void pod_from_stored(const struct bt_write *write, struct bt_json_value *object)
{
	struct bt_arena *arena = write->arena;
	const struct bt_json_value *containers = bt_json_array_at(object, "spec.containers");
	struct bt_json_value *list = bt_json_new(arena, BT_JSON_ARRAY);

	for (uint32_t i = 0; i < containers->count; i++) {
		struct bt_json_value *entry = bt_json_new(arena, BT_JSON_OBJECT);
		struct bt_usage usage =
			bt_usage_of_container(write->api, object, containers->elements[i]);

		bt_json_set_str(
			arena, entry, "name", bt_json_text_at(containers->elements[i], "name"));
		bt_json_set_value(arena, entry, "usage", usage_value(arena, &usage));
		bt_json_append(arena, list, entry);
	}
	begin_metrics(write, object);
	bt_json_set_value(arena, object, "containers", list);
}

static void node_from_stored(const struct bt_write *write, struct bt_json_value *object)
{
	struct bt_usage usage =
		bt_usage_of_node(write->api, bt_json_text_at(object, "metadata.name"));

	begin_metrics(write, object);
	bt_json_set_value(write->arena, object, "usage", usage_value(write->arena, &usage));
}

static bool is_running(const struct bt_stored *stored)
{
	return bt_str_find(bt_stored_text(stored), BT_STR("\"phase\":\"Running\"")) >= 0;
}

const struct bt_strategy bt_strategy_pod_metrics = {
	.from_stored = pod_from_stored,
	.is_served = is_running,
};

const struct bt_strategy bt_strategy_node_metrics = {
	.from_stored = node_from_stored,
};
