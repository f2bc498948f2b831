/* SPDX-License-Identifier: Apache-2.0 */
/* Maps from node names to aggregates. Spec 01b section 16.1, 03b section 12. */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/text_set.h"
#include "compat/cache.h"
#include "lib/convert.h"

struct entry {
	struct bt_str name;             /* owned */
	struct bt_aggregate *aggregate; /* owned */
};

struct berth_node_name_to_info_map {
	BT_VEC(struct entry) entries; /* ascending by name */
};

static void free_entry(struct entry *entry)
{
	bt_aggregate_destroy(entry->aggregate);
	bt_lib_free_text(entry->name);
}

/**
 * Appends an entry; the aggregate is consumed. Entries must be appended in ascending order of their
 * names.
 */
static void push(
	struct berth_node_name_to_info_map *map, struct bt_str name, struct bt_aggregate *aggregate)
{
	struct entry entry = {bt_lib_own_text(name), aggregate};

	bt_vec_push(&map->entries, entry);
}

static struct entry *find(const struct berth_node_name_to_info_map *map, struct bt_str name)
{
	return map->entries.count == 0 ? NULL
				       : bsearch(&name, map->entries.items, map->entries.count,
						 sizeof(struct entry), bt_str_compare_qsort);
}

static int check_kinds(struct berth_object *const *objects, uint32_t count, enum bt_kind kind,
	struct berth_error *err)
{
	for (uint32_t i = 0; i < count; i++) {
		if (objects[i] == NULL || bt_object_of(objects[i])->kind != kind) {
			return bt_error_set(err, BERTH_ERR_INVALID, "object %lu is no %s",
				(unsigned long)i, bt_kind_info(kind)->name);
		}
	}
	return BERTH_OK;
}

static struct bt_str node_name_of(const struct berth_object *pod)
{
	struct bt_str name = berth_pod_node_name(berth_object_pod(pod));

	return name.data != NULL ? name : BT_STR("");
}

/** An image of a node, with the size that the node reports. */
struct image {
	struct bt_str name;
	int64_t size_bytes;
};

/** Adds the images of the node. If the node reports a name more than once, the last one counts. */
static void push_images(struct bt_aggregate *aggregate)
{
	const struct bt_node *node = bt_aggregate_node(aggregate);
	BT_VEC(struct image) images = {0};

	for (uint32_t i = 0; node != NULL && i < node->status.images.count; i++) {
		const struct bt_container_image *image = &node->status.images.items[i];

		for (uint32_t k = 0; k < image->names.count; k++) {
			struct image report = {image->names.items[k], image->size_bytes};

			bt_vec_push(&images, report);
		}
	}
	struct bt_any_list sorted = {.items = images.items, .count = images.count};

	bt_sort_entries(&sorted, sizeof(struct image));
	for (uint32_t i = 0; i < sorted.count; i++) {
		struct berth_image_state state = {.size_bytes = images.items[i].size_bytes};

		bt_aggregate_push_image(aggregate, images.items[i].name, &state);
	}
	bt_vec_finish(&images);
}

/** Sets the images of each node; node_count counts all nodes of the map with the image. */
static void set_images(struct berth_node_name_to_info_map *map)
{
	struct bt_text_set names = {0};
	BT_VEC(uint32_t) node_counts = {0}; /* by position in names */

	for (uint32_t i = 0; i < map->entries.count; i++) {
		struct bt_aggregate *aggregate = map->entries.items[i].aggregate;

		push_images(aggregate);
		for (uint32_t k = 0; k < aggregate->images.count; k++) {
			(void)bt_text_set_add(&names, aggregate->images.items[k].name);
			bt_vec_pad(&node_counts, names.items.count, 0);
			node_counts
				.items[bt_text_set_find(&names, aggregate->images.items[k].name)]++;
		}
	}
	for (uint32_t i = 0; i < map->entries.count; i++) {
		struct bt_aggregate *aggregate = map->entries.items[i].aggregate;

		for (uint32_t k = 0; k < aggregate->images.count; k++) {
			struct bt_aggregate_image *image = &aggregate->images.items[k];

			image->state.node_count =
				node_counts.items[bt_text_set_find(&names, image->name)];
		}
	}
	bt_vec_finish(&node_counts);
	bt_text_set_finish(&names);
}

int berth_node_name_to_info_map_create(struct berth_object *const *pods, uint32_t pod_count,
	struct berth_object *const *nodes, uint32_t node_count,
	struct berth_node_name_to_info_map **out_map, struct berth_error *err)
{
	int result = check_kinds(pods, pod_count, BT_KIND_POD, err);

	if (result == BERTH_OK) {
		result = check_kinds(nodes, node_count, BT_KIND_NODE, err);
	}
	if (result != BERTH_OK) {
		return result;
	}
	struct berth_node_name_to_info_map *map = BT_NEW(struct berth_node_name_to_info_map);

	/* Add an empty aggregate for the name of each node, and for the node name of each pod. */
	size_t count = (size_t)pod_count + node_count;
	struct bt_str *names = BT_NEW_ARRAY(struct bt_str, count + 1);

	for (uint32_t i = 0; i < pod_count; i++) {
		names[i] = node_name_of(pods[i]);
	}
	for (uint32_t i = 0; i < node_count; i++) {
		names[pod_count + i] = berth_object_name(nodes[i]);
	}
	qsort(names, count, sizeof(*names), bt_str_compare_qsort);
	for (size_t i = 0; i < count; i++) {
		if (i == 0 || !bt_str_equal(names[i], names[i - 1])) {
			push(map, names[i], bt_aggregate_create());
		}
	}
	bt_free(names);
	for (uint32_t i = 0; i < pod_count; i++) {
		bt_aggregate_add_object(
			find(map, node_name_of(pods[i]))->aggregate, bt_object_of(pods[i]));
	}
	for (uint32_t i = 0; i < node_count; i++) {
		bt_aggregate_set_node(
			find(map, berth_object_name(nodes[i]))->aggregate, bt_object_of(nodes[i]));
	}
	set_images(map);
	*out_map = map;
	return BERTH_OK;
}

void berth_node_name_to_info_map_destroy(struct berth_node_name_to_info_map *map)
{
	if (map == NULL) {
		return;
	}
	for (uint32_t i = 0; i < map->entries.count; i++) {
		free_entry(&map->entries.items[i]);
	}
	bt_vec_finish(&map->entries);
	bt_free(map);
}

struct berth_node_info *berth_node_name_to_info_map_find(
	const struct berth_node_name_to_info_map *map, struct berth_str node_name)
{
	struct entry *entry = find(map, node_name);

	return entry != NULL ? berth_node_info_of_aggregate(entry->aggregate) : NULL;
}

uint32_t berth_node_name_to_info_map_count(const struct berth_node_name_to_info_map *map)
{
	return map->entries.count;
}

struct berth_node_info *berth_node_name_to_info_map_at(
	const struct berth_node_name_to_info_map *map, uint32_t index, struct berth_str *out_name)
{
	BT_ASSERT(index < map->entries.count);
	if (out_name != NULL) {
		*out_name = map->entries.items[index].name;
	}
	return berth_node_info_of_aggregate(map->entries.items[index].aggregate);
}

void berth_cache_update_node_name_to_info_map(
	struct berth_cache *cache, struct berth_node_name_to_info_map *map)
{
	struct berth_node_name_to_info_map fresh = {0};
	struct bt_str *names =
		BT_NEW_ARRAY(struct bt_str, (size_t)cache->state->nodes.slot_count + 1);
	const struct bt_node_table *nodes = &cache->state->nodes;
	uint32_t count = 0;

	/* The names of the nodes that a snapshot would contain, ascending. */
	for (uint32_t slot = 0; slot < nodes->slot_count; slot++) {
		if (nodes->rows[slot].in_cache && nodes->rows[slot].has_node) {
			names[count++] = bt_node_table_name(nodes, slot);
		}
	}
	qsort(names, count, sizeof(*names), bt_str_compare_qsort);

	bt_vec_reserve(&fresh.entries, count);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t slot = bt_node_table_find(&cache->state->nodes, names[i]);
		struct entry *known = find(map, names[i]);
		struct bt_aggregate *aggregate;

		if (known != NULL &&
			known->aggregate->generation == bt_cache_generation(cache, slot)) {
			aggregate = known->aggregate;
			known->aggregate = NULL;
		} else {
			aggregate = bt_cache_copy_node(cache, slot);
		}
		push(&fresh, names[i], aggregate);
	}
	bt_free(names);
	for (uint32_t i = 0; i < map->entries.count; i++) {
		free_entry(&map->entries.items[i]);
	}
	bt_vec_finish(&map->entries);
	*map = fresh;
}
