/* SPDX-License-Identifier: Apache-2.0 */
/**
 * ImageLocality (Score): prefers nodes that hold the pod's images. Large images count more, and
 * images on few nodes count less. Spec: 05 section 13.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/strbuf.h"
#include "base/wrap.h"
#include "plugins/common_columns.h"
#include "plugins/common_plugin.h"
#include "plugins/common_sign.h"
#include "plugins/in_tree.h"

#define MIB INT64_C(1048576)
#define SUM_MIN (23 * MIB)
#define SUM_MAX_PER_CONTAINER (1000 * MIB)

/**
 * Returns the image names of a pod, normalised and with repetitions: init containers, containers
 * and, if with_volumes, image volumes.
 */
static bt_str_list names_of_pod(
	const struct bt_pod_spec *spec, bool with_volumes, struct bt_arena *arena)
{
	const bt_container_list *const lists[] = {&spec->init_containers, &spec->containers};
	bt_str_list names = {0};

	names.items = BT_ARENA_NEW_ARRAY(arena, struct bt_str,
		(size_t)spec->init_containers.count + spec->containers.count + spec->volumes.count);
	for (uint32_t n = 0; n < BT_ARRAY_LENGTH(lists); n++) {
		for (uint32_t i = 0; i < lists[n]->count; i++) {
			names.items[names.count++] =
				bt_image_normalized_name(lists[n]->items[i].image, arena);
		}
	}
	for (uint32_t i = 0; with_volumes && i < spec->volumes.count; i++) {
		if (spec->volumes.items[i].image != NULL) {
			names.items[names.count++] = bt_image_normalized_name(
				spec->volumes.items[i].image->reference, arena);
		}
	}
	return names;
}

/**
 * Returns the size of an image times the share of nodes that have the image. Without this factor
 * all pods would go to the nodes where the first pods ran.
 */
static int64_t spread_size(int64_t size_bytes, uint32_t holder_count, uint32_t node_count)
{
	return bt_trunc_to_i64((double)size_bytes * ((double)holder_count / (double)node_count));
}

static int64_t scaled_score(int64_t sum_bytes, int64_t container_count)
{
	int64_t sum_max = SUM_MAX_PER_CONTAINER * container_count;

	if (sum_bytes < SUM_MIN) {
		sum_bytes = SUM_MIN;
	} else if (sum_bytes > sum_max) {
		sum_bytes = sum_max;
	}
	return BT_SCORE_MAX * (sum_bytes - SUM_MIN) / (sum_max - SUM_MIN);
}

int64_t bt_image_locality_score(
	const bt_str_list *names, int64_t container_count, const struct bt_node_info *node)
{
	int64_t sum_bytes = 0;

	for (uint32_t i = 0; i < names->count; i++) {
		int64_t size_bytes;
		uint32_t holder_count;

		if (bt_node_info_find_image(node, names->items[i], &size_bytes, &holder_count)) {
			sum_bytes = bt_wrap_add(sum_bytes,
				spread_size(size_bytes, holder_count, node->state->snapshot.count));
		}
	}
	return scaled_score(sum_bytes, container_count);
}

static int64_t container_count(const struct bt_pod_spec *spec)
{
	return (int64_t)spec->init_containers.count + spec->containers.count;
}

static struct bt_status score(BT_UNUSED struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const struct bt_node_info *node, int64_t *out_score)
{
	const struct bt_pod_spec *spec = bt_plugin_pod_spec(pod);
	bt_str_list names = names_of_pod(spec, true, cycle->arena);

	*out_score = bt_image_locality_score(&names, container_count(spec), node);
	return BT_STATUS_OK;
}

static const void *score_column_data(
	BT_UNUSED struct bt_plugin *plugin, const struct bt_pod_info *pod, struct bt_arena *arena)
{
	bt_str_list *names = BT_ARENA_NEW(arena, bt_str_list);

	*names = names_of_pod(bt_plugin_pod_spec(pod), true, arena);
	return names;
}

/** Ids of those images of the pod that some node lists. */
struct wanted_images {
	uint32_t *items; /* owned unless items is `few` */
	uint32_t count;
	uint64_t filter; /* bit (id % 64) of each image, to skip most other images of a node */
	uint32_t few[8];
};

static void find_images(
	const struct bt_state *state, const bt_str_list *names, struct wanted_images *out)
{
	out->items = names->count <= BT_ARRAY_LENGTH(out->few)
		? out->few
		: BT_NEW_ARRAY(uint32_t, names->count);
	out->count = 0;
	out->filter = 0;
	for (uint32_t i = 0; i < names->count; i++) {
		uint32_t image = bt_state_find_image(state, names->items[i]);

		if (image != BT_IMAGE_NONE) {
			out->items[out->count++] = image;
			out->filter |= UINT64_C(1) << image % 64;
		}
	}
}

static void finish_images(struct wanted_images *wanted)
{
	if (wanted->items != wanted->few) {
		bt_free(wanted->items);
	}
}

/** Returns the sum of spread_size over those of the images that the node has. */
static int64_t sum_of_node(
	const struct wanted_images *wanted, const struct bt_state *state, uint32_t slot)
{
	const struct bt_node_row *row = &state->nodes.rows[slot];
	int64_t sum_bytes = 0;

	for (uint32_t i = 0; i < row->images.count; i++) {
		const struct bt_node_image *held = &row->images.items[i];

		if ((wanted->filter >> held->image % 64 & 1) == 0) {
			continue;
		}
		for (uint32_t n = 0; n < wanted->count; n++) {
			if (wanted->items[n] == held->image) {
				sum_bytes = bt_wrap_add(sum_bytes,
					spread_size(
						state->images.images.items[held->image].size_bytes,
						held->node_count, state->snapshot.count));
			}
		}
	}
	return sum_bytes;
}

/**
 * For most pods no node has any of the images. All nodes then have the same score. If this score is
 * 0, the function returns false and does not write scores.
 */
static bool score_column(BT_UNUSED struct bt_plugin *plugin, const void *data,
	const struct bt_pod_info *pod, const struct bt_state *state, struct bt_slot_range range,
	int32_t *scores)
{
	const bt_str_list *names = data;
	int64_t containers = container_count(bt_plugin_pod_spec(pod));
	struct wanted_images wanted;

	find_images(state, names, &wanted);
	bool any = wanted.count != 0 || scaled_score(0, containers) != 0;

	for (uint32_t k = 0; k < range.count && any; k++) {
		uint32_t slot = bt_slot_at(range, k);

		scores[slot] = (int32_t)scaled_score(sum_of_node(&wanted, state, slot), containers);
	}
	finish_images(&wanted);
	return any;
}

/**
 * Whether the scores can depend on the node count: false if the images are too small for a score
 * above 0.
 */
static bool score_reads_node_count(BT_UNUSED struct bt_plugin *plugin, const void *data,
	BT_UNUSED const struct bt_pod_info *pod, const struct bt_state *state, uint32_t count,
	uint32_t other_count)
{
	struct wanted_images wanted;
	/*
	 * For each of its images, a node stores how many nodes had the image when this node last
	 * changed. This number may exceed the current number of nodes, but not the number of slots.
	 */
	double share =
		(double)state->nodes.slot_count / (count < other_count ? count : other_count);
	double sum_bytes = 0;

	find_images(state, data, &wanted);
	for (uint32_t i = 0; i < wanted.count; i++) {
		int64_t size_bytes = state->images.images.items[wanted.items[i]].size_bytes;
		sum_bytes += size_bytes > 0 ? (double)size_bytes * share : 0;
	}
	finish_images(&wanted);
	return !(sum_bytes < SUM_MIN);
}

static struct bt_status sign(BT_UNUSED struct bt_plugin *plugin, const struct bt_pod_info *pod,
	struct bt_sign_fragments *out)
{
	bt_str_list names = names_of_pod(bt_plugin_pod_spec(pod), false, out->arena);
	struct bt_strbuf value = {0};

	bt_sign_write_sorted(&value, names.items, names.count, true);
	bt_sign_add(out, BT_STR("v1.Pod.Spec.CanonicalImageNames()"), &value);
	return BT_STATUS_OK;
}

static const struct bt_plugin_shortcuts shortcuts = {
	.pure = true,
	.columns_split = true,
	.score_column_data = score_column_data,
	.score_reads = BT_CHANGE_IMAGES,
	.score_reads_node_count = score_reads_node_count,
	.score_column = score_column,
};

const struct bt_plugin_ops bt_image_locality_plugin = {
	.name = "ImageLocality",
	.shortcuts = &shortcuts,
	.sign = sign,
	.score = score,
};
