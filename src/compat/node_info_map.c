/* SPDX-License-Identifier: Apache-2.0 */
/* Maps from node names to aggregates. Spec 01b section 16.1, 03b section 12. */
#include <stdlib.h>

#include "base/alloc.h"
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

/** A name of an image in the status of a node. */
struct report {
	struct bt_str image;
	uint32_t entry;    /* index of the node in the map */
	uint32_t sequence; /* position in the status of the node */
	int64_t size_bytes;
};

struct report_list {
	BT_VEC(struct report) reports;
};

static int compare_reports(const void *left, const void *right)
{
	const struct report *a = left;
	const struct report *b = right;
	int order = bt_str_compare(a->image, b->image);

	if (order == 0) {
		order = BT_ORDER(a->entry, b->entry);
	}
	return order != 0 ? order : BT_ORDER(a->sequence, b->sequence);
}

static void collect_reports(struct report_list *list, const struct bt_node *node, uint32_t entry)
{
	uint32_t sequence = 0;

	for (uint32_t i = 0; i < node->status.images.count; i++) {
		const struct bt_container_image *image = &node->status.images.items[i];

		for (uint32_t k = 0; k < image->names.count; k++) {
			struct report report = {
				image->names.items[k], entry, sequence++, image->size_bytes};

			bt_vec_push(&list->reports, report);
		}
	}
}

/** Whether this is the node's last report of the image. Only the last report counts. */
static bool is_last_report(const struct report_list *list, uint32_t at)
{
	return at + 1 == list->reports.count ||
		list->reports.items[at].entry != list->reports.items[at + 1].entry ||
		!bt_str_equal(list->reports.items[at].image, list->reports.items[at + 1].image);
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

	/*
	 * Set the images of each node: the size is from the node's own report, and node_count
	 * counts all given nodes with the image.
	 */
	struct report_list list = {0};
	uint32_t end;

	for (uint32_t i = 0; i < map->entries.count; i++) {
		const struct bt_node *node = bt_aggregate_node(map->entries.items[i].aggregate);
		if (node != NULL) {
			collect_reports(&list, node, i);
		}
	}
	if (list.reports.count != 0) {
		qsort(list.reports.items, list.reports.count, sizeof(*list.reports.items),
			compare_reports);
	}
	for (uint32_t i = 0; i < list.reports.count; i = end) {
		struct berth_image_state state = {0};

		for (end = i; end < list.reports.count &&
			bt_str_equal(list.reports.items[i].image, list.reports.items[end].image);
			end++) {
			state.node_count += is_last_report(&list, end);
		}
		for (uint32_t k = i; k < end; k++) {
			const struct report *report = &list.reports.items[k];

			if (is_last_report(&list, k)) {
				state.size_bytes = report->size_bytes;
				bt_aggregate_push_image(map->entries.items[report->entry].aggregate,
					report->image, &state);
			}
		}
	}
	bt_vec_finish(&list.reports);
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
