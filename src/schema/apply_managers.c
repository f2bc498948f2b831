/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/apply_managers.h"

#include <stdlib.h>

static const struct bt_json_value *entries_of(const struct bt_json_value *object)
{
	return bt_json_array_at(object, "metadata.managedFields");
}

bool bt_apply_is_tracked(const struct bt_json_value *object)
{
	return object != NULL && entries_of(object)->count != 0;
}

struct bt_managers *bt_managers_read(
	struct bt_arena *arena, const struct bt_json_value *object, bool *out_given)
{
	const struct bt_json_value *entries = entries_of(object);
	struct bt_managers *managers = BT_ARENA_NEW(arena, struct bt_managers);
	uint32_t most = BT_MIN(entries->count, BT_APPLY_MANAGERS_MAX);
	managers->items = BT_ARENA_NEW_ARRAY(arena, struct bt_manager, most + 3);
	for (uint32_t i = 0; i < entries->count && managers->count < most; i++) {
		const struct bt_json_value *entry = entries->elements[i];
		struct bt_manager manager = {
			.name = bt_json_text_at(entry, "manager"),
			.operation = bt_json_text_at(entry, "operation"),
			.api_version = bt_json_text_at(entry, "apiVersion"),
			.time = bt_json_text_at(entry, "time"),
			.subresource = bt_json_text_at(entry, "subresource"),
		};
		manager.fields = bt_field_set_parse(arena, bt_json_find(entry, "fieldsV1"));
		if (manager.fields != NULL) {
			managers->items[managers->count++] = manager;
		}
	}
	*out_given = entries->count != 0;
	return managers;
}

static int compare_managers(const void *a, const void *b)
{
	const struct bt_manager *left = a;
	const struct bt_manager *right = b;
	int order = bt_str_compare(left->operation, right->operation);
	if (order == 0) {
		order = bt_str_compare(left->time, right->time);
	}
	if (order == 0) {
		order = bt_str_compare(left->name, right->name);
	}
	if (order == 0) {
		order = bt_str_compare(left->api_version, right->api_version);
	}
	return order != 0 ? order : bt_str_compare(left->subresource, right->subresource);
}

void bt_managers_write(
	struct bt_arena *arena, struct bt_managers *managers, struct bt_json_value *object)
{
	struct bt_json_value *entries = bt_json_new(arena, BT_JSON_ARRAY);
	struct bt_json_value *metadata = bt_json_ensure_object(arena, object, "metadata");
	qsort(managers->items, managers->count, sizeof(managers->items[0]), compare_managers);
	for (uint32_t i = 0; i < managers->count; i++) {
		const struct bt_manager *manager = &managers->items[i];
		if (manager->fields == NULL) {
			continue;
		}
		bt_json_put(arena, entries,
			"[{manager: %s, operation: %s, apiVersion: %s, time?: %s, "
			"fieldsType: 'FieldsV1', fieldsV1: %v, subresource?: %s}]",
			manager->name, manager->operation, manager->api_version, manager->time,
			bt_field_set_format(arena, manager->fields), manager->subresource);
	}
	if (entries->count != 0) {
		bt_json_set_value(arena, metadata, "managedFields", entries);
	} else {
		(void)bt_json_remove_c(metadata, "managedFields");
	}
}

struct bt_manager *bt_managers_of(
	struct bt_managers *managers, const struct bt_apply_writer *writer, bool applies)
{
	struct bt_str operation = applies ? BT_STR("Apply") : BT_STR("Update");
	for (uint32_t i = 0; i < managers->count; i++) {
		struct bt_manager *manager = &managers->items[i];
		/* an Apply entry matches in any apiVersion */
		if (bt_str_equal(manager->name, writer->manager) &&
			bt_str_equal(manager->operation, operation) &&
			bt_str_equal(manager->subresource, writer->subresource) &&
			(applies || bt_str_equal(manager->api_version, writer->api_version))) {
			return manager;
		}
	}
	struct bt_manager *manager = &managers->items[managers->count++];
	*manager = (struct bt_manager){.name = writer->manager,
		.operation = operation,
		.api_version = writer->api_version,
		.subresource = writer->subresource};
	return manager;
}

void bt_managers_cap(struct bt_arena *arena, struct bt_managers *managers)
{
	const struct bt_str ancient = BT_STR("ancient-changes");
	for (;;) {
		struct bt_manager *oldest = NULL;
		struct bt_manager *bucket = NULL;
		uint32_t updates = 0;
		for (uint32_t i = 0; i < managers->count; i++) {
			struct bt_manager *manager = &managers->items[i];
			if (manager->fields == NULL ||
				!bt_str_equal(manager->operation, BT_STR("Update"))) {
				continue;
			}
			updates++;
			if (bt_str_equal(manager->name, ancient)) {
				bucket = manager;
			} else if (oldest == NULL ||
				bt_str_compare(manager->time, oldest->time) < 0) {
				oldest = manager;
			}
		}
		if (updates <= BT_APPLY_UPDATES_MAX || oldest == NULL) {
			return;
		}
		if (bucket == NULL) {
			oldest->name = ancient;
			oldest->subresource = BT_STR("");
		} else {
			bucket->fields = bt_field_set_union(arena, bucket->fields, oldest->fields);
			bucket->time = oldest->time;
			oldest->fields = NULL;
		}
	}
}
