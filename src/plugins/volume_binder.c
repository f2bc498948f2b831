/* SPDX-License-Identifier: Apache-2.0 */
#include "plugins/volume_binder.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "plugins/volume_binder_private.h"

/* --- affinity --- */

struct bt_volume_affinity bt_volume_affinity_parse(
	const struct bt_node_selector *required, struct bt_arena *arena)
{
	struct bt_volume_affinity affinity = {0};

	if (required != NULL) {
		affinity.restricted = true;
		affinity.selector = bt_node_selector_parse(required, BT_STR(""), arena);
	}
	return affinity;
}

bool bt_volume_affinity_matches(
	const struct bt_volume_affinity *affinity, const struct bt_str_map *labels)
{
	/* Without a node name field requirements hold: only labels count (spec 07 section 2.7). */
	return !affinity->restricted ||
		bt_node_selector_matches(&affinity->selector, BT_STR(""), labels, NULL, NULL);
}

bool bt_volume_affinity_check(const struct bt_volume_affinity *affinity,
	const struct bt_str_map *labels, struct bt_arena *arena, struct bt_str *out_text)
{
	struct bt_error_list errors = {0};

	if (!affinity->restricted ||
		bt_node_selector_matches(&affinity->selector, BT_STR(""), labels, arena, &errors)) {
		return true;
	}
	*out_text = errors.count != 0 ? bt_error_list_text(&errors, arena)
				      : BT_STR("no matching NodeSelectorTerms");
	return false;
}

int bt_volume_affinity_for_node(const struct bt_persistent_volume *volume,
	const struct bt_csi_node *csi_node, struct bt_arena *arena,
	struct bt_volume_affinity *out_affinity, struct berth_error *err)
{
	enum bt_in_tree_driver driver = bt_in_tree_of_volume(volume);
	const struct bt_node_selector *required =
		volume->spec.node_affinity != NULL ? volume->spec.node_affinity->required : NULL;
	struct bt_str handle;
	int code;

	if (driver != BT_IN_TREE__COUNT && bt_in_tree_is_migrated(driver) &&
		bt_csi_node_lists_migrated(csi_node, driver)) {
		code = bt_in_tree_volume_handle(volume, arena, &handle, err);
		if (code != 0) {
			return bt_error_wrap(err, code, "could not translate pv");
		}
		required = bt_in_tree_node_affinity(volume, arena);
	}
	*out_affinity = bt_volume_affinity_parse(required, arena);
	return 0;
}

/* --- volumes by class --- */

static int compare_class_volumes(const void *a, const void *b)
{
	const struct bt_class_volume *left = a;
	const struct bt_class_volume *right = b;
	int order = bt_str_compare(left->class_name, right->class_name);

	if (order == 0) {
		order = bt_quantity_compare(left->capacity, right->capacity);
	}
	return order != 0
		? order
		: bt_str_compare(left->stored->metadata.name, right->stored->metadata.name);
}

static void build_index(struct bt_real_binder *binder)
{
	struct bt_object_store *store = &binder->handle->state->objects;
	struct bt_class_index *index = &binder->index;
	const struct bt_persistent_volume *volume;
	uint32_t cursor = 0;

	index->volumes.count = 0;
	bt_arena_reset(&index->arena);
	while ((volume = bt_object_store_next(
			store, BT_KIND_PERSISTENT_VOLUME, (struct bt_str){0}, &cursor)) != NULL) {
		struct bt_class_volume entry = {
			.stored = volume,
			.class_name = bt_persistent_volume_class(volume),
			.capacity = bt_volume_capacity(volume),
		};
		bt_vec_push(&index->volumes, entry);
	}
	if (index->volumes.count > 1) {
		qsort(index->volumes.items, index->volumes.count, sizeof(*index->volumes.items),
			compare_class_volumes);
	}
	index->store_version = bt_object_store_version(store, BT_KIND_PERSISTENT_VOLUME);
	index->built = true;
}

/** First volume whose class is not before class_name; with `after`, that is behind it. */
static uint32_t class_bound(
	const struct bt_class_index *index, struct bt_str class_name, bool after)
{
	uint32_t low = 0;
	uint32_t high = index->volumes.count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		int order = bt_str_compare(index->volumes.items[middle].class_name, class_name);

		if (order < 0 || (after && order == 0)) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low;
}

struct bt_class_volume *bt_class_index_find(
	struct bt_real_binder *binder, struct bt_str class_name, uint32_t *out_count)
{
	struct bt_class_index *index = &binder->index;
	uint32_t first;

	if (!index->built ||
		index->store_version !=
			bt_object_store_version(
				&binder->handle->state->objects, BT_KIND_PERSISTENT_VOLUME)) {
		build_index(binder);
	}
	first = class_bound(index, class_name, false);
	*out_count = class_bound(index, class_name, true) - first;
	return *out_count != 0 ? &index->volumes.items[first] : NULL;
}

void bt_class_index_finish(struct bt_class_index *index)
{
	bt_vec_finish(&index->volumes);
	bt_arena_finish(&index->arena);
}

const struct bt_volume_affinity *bt_class_volume_affinity(
	struct bt_class_index *index, struct bt_class_volume *volume)
{
	const struct bt_volume_node_affinity *affinity = volume->stored->spec.node_affinity;

	if (!volume->parsed) {
		volume->affinity = bt_volume_affinity_parse(
			affinity != NULL ? affinity->required : NULL, &index->arena);
		volume->parsed = true;
	}
	return &volume->affinity;
}

bool bt_volume_is_for_claim(
	const struct bt_persistent_volume *volume, const struct bt_persistent_volume_claim *claim)
{
	const struct bt_object_reference *reference = volume->spec.claim_ref;

	return reference != NULL && bt_str_equal(reference->name, claim->metadata.name) &&
		bt_str_equal(reference->namespace_, claim->metadata.namespace_) &&
		(reference->uid.length == 0 || bt_str_equal(reference->uid, claim->metadata.uid));
}

/* --- the binder --- */

static void destroy(struct bt_volume_binder *base)
{
	struct bt_real_binder *binder = bt_real_binder_of(base);

	bt_assume_cache_finish(&binder->volumes);
	bt_assume_cache_finish(&binder->claims);
	bt_class_index_finish(&binder->index);
	bt_free(binder);
}

static const struct bt_volume_binder_ops real_binder_ops = {
	.destroy = destroy,
	.get_pod_volume_claims = bt_binder_get_pod_volume_claims,
	.find_pod_volumes = bt_binder_find_pod_volumes,
	.assume_pod_volumes = bt_binder_assume_pod_volumes,
	.revert_assumed_pod_volumes = bt_binder_revert_assumed_pod_volumes,
	.bind_pod_volumes = bt_binder_bind_pod_volumes,
};

struct bt_volume_binder *bt_volume_binder_create(
	const struct bt_handle *handle, int64_t bind_timeout_seconds)
{
	struct bt_real_binder *binder = BT_NEW(struct bt_real_binder);
	const struct bt_object_store *store = &handle->state->objects;

	binder->base.ops = &real_binder_ops;
	binder->handle = handle;
	binder->bind_timeout_seconds = bind_timeout_seconds;
	bt_assume_cache_init(&binder->volumes, store, BT_KIND_PERSISTENT_VOLUME);
	bt_assume_cache_init(&binder->claims, store, BT_KIND_PERSISTENT_VOLUME_CLAIM);
	return &binder->base;
}

uint64_t bt_volume_binder_stage_errors(
	const struct bt_volume_binder *binder, enum bt_volume_stage stage)
{
	BT_ASSERT(binder->ops == &real_binder_ops);
	return ((const struct bt_real_binder *)(const void *)binder)->stage_errors[stage];
}
