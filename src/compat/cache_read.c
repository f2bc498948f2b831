/* SPDX-License-Identifier: Apache-2.0 */
/* What a public cache tells: lists of pods, copies of aggregates. */
#include <stdlib.h>

#include "base/alloc.h"
#include "compat/cache.h"
#include "lib/convert.h"
#include "compat/label_selector.h"

static int compare_pods(const void *left, const void *right)
{
	const struct bt_object_meta *a = &(*(const struct bt_pod *const *)left)->metadata;
	const struct bt_object_meta *b = &(*(const struct bt_pod *const *)right)->metadata;
	int order = bt_str_compare(a->namespace_, b->namespace_);

	if (order == 0) {
		order = bt_str_compare(a->name, b->name);
	}
	return order != 0 ? order : bt_str_compare(a->uid, b->uid);
}

const struct berth_pod *const *berth_cache_list(const struct berth_cache *cache,
	const struct berth_label_selector *selector, struct berth_arena *arena, uint32_t *out_count)
{
	return berth_cache_filtered_list(cache, NULL, NULL, selector, arena, out_count);
}

const struct berth_pod *const *berth_cache_filtered_list(const struct berth_cache *cache,
	berth_pod_filter_fn filter, const void *context,
	const struct berth_label_selector *selector, struct berth_arena *arena, uint32_t *out_count)
{
	uint32_t total = berth_cache_pod_count(cache);
	const struct berth_pod **list = NULL;
	uint32_t count = 0;

	if (total != 0 && selector != NULL) {
		list = BT_ARENA_NEW_ARRAY(bt_arena_of(arena), const struct berth_pod *, total);
	}
	for (uint32_t i = 0; i < cache->pods.count && list != NULL; i++) {
		const struct bt_aggregate_pod *pod = cache->pods.items[i].pod;

		if (pod == NULL ||
			!bt_selector_matches(&selector->selector, &pod->pod->metadata.labels) ||
			(filter != NULL && !filter(context, berth_const_pod_of(pod->pod)))) {
			continue;
		}
		list[count++] = berth_const_pod_of(pod->pod);
	}
	if (count != 0) {
		qsort(list, count, sizeof(*list), compare_pods);
	}
	*out_count = count;
	return count != 0 ? list : NULL;
}

/* --- copies --- */

int64_t bt_cache_generation(struct berth_cache *cache, uint32_t slot)
{
	int64_t row_generation = cache->state->nodes.rows[slot].generation;
	struct bt_cache_node none = {0};
	struct bt_cache_node *node;

	while (cache->nodes.count <= slot) {
		bt_vec_push(&cache->nodes, none);
	}
	node = &cache->nodes.items[slot];
	if (node->generation == 0 || node->row_generation != row_generation) {
		node->row_generation = row_generation;
		node->generation = bt_aggregate_next_generation();
	}
	return node->generation;
}

static void copy_pods(
	struct bt_aggregate *copy, struct berth_cache *cache, const struct bt_node_row *row)
{
	for (uint32_t i = 0; i < row->pods.count; i++) {
		bt_aggregate_add(copy, cache->pods.items[row->pods.items[i]].pod);
	}
	/* Removals have left this list in an order of its own. */
	BT_ASSERT(copy->pods_with_affinity.count == row->pods_with_affinity.count);
	for (uint32_t i = 0; i < row->pods_with_affinity.count; i++) {
		uint32_t pod_id = row->pods_with_affinity.items[i];
		struct bt_aggregate_pod *pod =
			bt_aggregate_pod_share(cache->pods.items[pod_id].pod);

		bt_aggregate_pod_release(copy->pods_with_affinity.items[i]);
		copy->pods_with_affinity.items[i] = pod;
	}
}

static int compare_images(const void *a, const void *b)
{
	return bt_str_compare(((const struct bt_aggregate_image *)a)->name,
		((const struct bt_aggregate_image *)b)->name);
}

static void copy_images(
	struct bt_aggregate *copy, const struct bt_state *state, const struct bt_node_row *row)
{
	struct bt_aggregate_image *images;

	if (row->images.count == 0) {
		return;
	}
	images = BT_NEW_ARRAY(struct bt_aggregate_image, row->images.count);
	for (uint32_t i = 0; i < row->images.count; i++) {
		const struct bt_image *image =
			&state->images.images.items[row->images.items[i].image];

		images[i].name = bt_symbol_text(&state->symbols, image->name);
		images[i].state.size_bytes = image->size_bytes;
		images[i].state.node_count = image->node_count;
	}
	qsort(images, row->images.count, sizeof(*images), compare_images);
	for (uint32_t i = 0; i < row->images.count; i++) {
		bt_aggregate_push_image(copy, images[i].name, &images[i].state);
	}
	bt_free(images);
}

struct bt_aggregate *bt_cache_copy_node(struct berth_cache *cache, uint32_t slot)
{
	const struct bt_node_row *row = &cache->state->nodes.rows[slot];
	int64_t generation = bt_cache_generation(cache, slot);
	const struct bt_cache_node *node = &cache->nodes.items[slot];
	struct bt_aggregate *copy = bt_aggregate_create();

	copy_pods(copy, cache, row);
	/* A set, not a multiset: the ports are what the row says, not what its pods say. */
	berth_host_port_info_finish(&copy->ports);
	for (uint32_t i = 0; i < row->ports.count; i++) {
		berth_host_port_info_add(&copy->ports,
			bt_symbol_text(&cache->state->symbols, row->ports.items[i].ip),
			bt_symbol_text(&cache->state->symbols, row->ports.items[i].protocol),
			row->ports.items[i].port);
	}
	if (row->has_node) {
		bt_aggregate_set_node(copy, node->node);
		copy_images(copy, cache->state, row);
	} else if (node->node != NULL) {
		/* A ghost keeps its allocatable: spec 01b section 9.4. */
		berth_resource_add(&copy->allocatable,
			berth_node_allocatable(
				berth_const_node_of(bt_object_value(node->node, BT_KIND_NODE))));
	}
	copy->pressures = node->pressures;
	copy->generation = generation;
	return copy;
}

int berth_cache_get_node_info(struct berth_cache *cache, struct berth_str node_name,
	struct berth_node_info **out_node, struct berth_error *err)
{
	uint32_t slot = bt_node_table_find(&cache->state->nodes, node_name);

	if (slot == BT_SLOT_NONE || !cache->state->nodes.rows[slot].in_cache) {
		return bt_error_set(err, BERTH_ERR_NOT_FOUND,
			"node %.*s does not exist in scheduler cache", BT_STR_ARG(node_name));
	}
	*out_node = berth_node_info_of_aggregate(bt_cache_copy_node(cache, slot));
	return BERTH_OK;
}
