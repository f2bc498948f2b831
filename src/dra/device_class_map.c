/* SPDX-License-Identifier: Apache-2.0 */
#include "dra/dra.h"

#include "api/time.h"
#include "base/alloc.h"
#include "base/strbuf.h"

void bt_device_class_map_finish(struct bt_device_class_map *map)
{
	for (uint32_t id = 0; id < map->mappings.count; id++) {
		bt_free(map->mappings.items[id].resource);
		bt_object_release(map->mappings.items[id].device_class);
	}
	bt_hash_table_finish(&map->mappings);
}

static uint32_t find_id(const struct bt_device_class_map *map, struct bt_str resource)
{
	uint64_t hash = bt_str_hash(resource);

	BT_MAP_EACH (&map->mappings.map, hash, id) {
		const struct bt_device_class_mapping *mapping = &map->mappings.items[id];
		if (bt_str_equal((struct bt_str){mapping->resource, mapping->resource_length},
			    resource)) {
			return id;
		}
	}
	return UINT32_MAX;
}

static void set_mapping(
	struct bt_device_class_map *map, struct bt_str resource, struct bt_object *device_class)
{
	uint32_t id = find_id(map, resource);

	map->version++;
	if (id != UINT32_MAX) {
		struct bt_object *old = map->mappings.items[id].device_class;
		map->has_history |= !bt_str_equal(old->meta->name, device_class->meta->name);
		map->mappings.items[id].device_class = bt_object_share(device_class);
		bt_object_release(old);
		return;
	}
	struct bt_device_class_mapping mapping = {
		.resource = bt_strndup(resource.data, resource.length),
		.resource_length = resource.length,
		.device_class = bt_object_share(device_class),
		.hash = bt_str_hash(resource),
	};
	bt_hash_table_add(&map->mappings, mapping.hash, mapping, id);
}

static void clear(struct bt_device_class_map *map, struct bt_str resource)
{
	uint32_t id = find_id(map, resource);

	if (id == UINT32_MAX) {
		return;
	}
	struct bt_device_class_mapping mapping = map->mappings.items[id];
	map->version++;
	bt_hash_table_remove(&map->mappings, mapping.hash, id);
	map->mappings.items[id] = (struct bt_device_class_mapping){0};
	bt_free(mapping.resource);
	bt_object_release(mapping.device_class);
}

static const struct bt_device_class *class_of(const struct bt_object *object)
{
	return bt_object_value(object, BT_KIND_DEVICE_CLASS);
}

/** Returns the implicit resource name of the class. The caller owns the buffer. */
static struct bt_strbuf implicit_name(const struct bt_object *device_class)
{
	struct bt_strbuf name = {0};

	bt_strbuf_append_c(&name, BT_DEVICE_CLASS_RESOURCE_PREFIX);
	bt_strbuf_append_str(&name, device_class->meta->name);
	return name;
}

static void set_class(struct bt_device_class_map *map, struct bt_object *device_class)
{
	struct bt_strbuf implicit = implicit_name(device_class);
	struct bt_str explicit_name = class_of(device_class)->spec.extended_resource_name;

	if (explicit_name.length != 0) {
		set_mapping(map, explicit_name, device_class);
	}
	set_mapping(map, bt_strbuf_str(&implicit), device_class);
	bt_strbuf_finish(&implicit);
}

static void clear_class(struct bt_device_class_map *map, const struct bt_object *device_class)
{
	struct bt_strbuf implicit = implicit_name(device_class);
	struct bt_str explicit_name = class_of(device_class)->spec.extended_resource_name;

	clear(map, bt_strbuf_str(&implicit));
	if (explicit_name.length != 0) {
		clear(map, explicit_name);
	}
	bt_strbuf_finish(&implicit);
}

void bt_device_class_map_observe(
	void *dra, struct bt_object *old_class, struct bt_object *new_class)
{
	struct bt_device_class_map *map = &((struct bt_dra *)dra)->classes;

	if (new_class == NULL) {
		clear_class(map, old_class);
		return;
	}
	/*
	 * If another class has the extendedResourceName, the younger class wins or, with equal age,
	 * the first by name. A losing class gets no mapping, not even the implicit one.
	 *
	 * Upstream also compares an updated class with its own old object, which may win and stay.
	 * Here a class never loses against itself (spec 12 section 21, D8).
	 */
	uint32_t id = find_id(map, class_of(new_class)->spec.extended_resource_name);
	if (id != UINT32_MAX) {
		const struct bt_object_meta *meta = new_class->meta;
		const struct bt_object_meta *holder = map->mappings.items[id].device_class->meta;
		int order = bt_time_compare(&meta->creation_timestamp, &holder->creation_timestamp);
		if (!bt_str_equal(holder->name, meta->name) &&
			(order < 0 ||
				(order == 0 && bt_str_compare(meta->name, holder->name) >= 0))) {
			map->has_history = true;
			return;
		}
	}
	if (old_class != NULL) {
		clear_class(map, old_class);
	}
	set_class(map, new_class);
}

const struct bt_device_class *bt_device_class_for_resource(
	const struct bt_device_class_map *map, struct bt_str resource)
{
	if (map->mappings.map.count == 0 ||
		!bt_gate_enabled(map->dra->gates, BT_GATE_DRA_EXTENDED_RESOURCE)) {
		return NULL;
	}
	uint32_t id = find_id(map, resource);
	return id != UINT32_MAX ? class_of(map->mappings.items[id].device_class) : NULL;
}

bool bt_device_class_map_validate(
	const struct bt_device_class_map *map, struct bt_strbuf *out_reason)
{
	struct bt_object_store *store = &map->dra->state->objects;
	struct bt_device_class_map fresh = {.dra = map->dra};
	const struct bt_device_class *device_class;
	uint32_t cursor = 0;

	if (map->has_history) {
		return true;
	}
	while ((device_class = bt_object_store_next(
			store, BT_KIND_DEVICE_CLASS, (struct bt_str){NULL, 0}, &cursor)) != NULL) {
		set_class(&fresh,
			bt_object_store_find_object(store, BT_KIND_DEVICE_CLASS, BT_STR(""),
				device_class->metadata.name));
	}
	bool valid = map->mappings.map.count == fresh.mappings.map.count;
	for (uint32_t i = 0; i < map->mappings.count && valid; i++) {
		const struct bt_device_class_mapping *mapping = &map->mappings.items[i];
		if (mapping->resource != NULL) {
			uint32_t id = find_id(&fresh,
				(struct bt_str){mapping->resource, mapping->resource_length});
			valid = id != UINT32_MAX &&
				fresh.mappings.items[id].device_class == mapping->device_class;
		}
	}
	if (!valid) {
		bt_strbuf_append_c(out_reason, "classes behind extended resources are stale");
	}
	bt_device_class_map_finish(&fresh);
	return valid;
}
