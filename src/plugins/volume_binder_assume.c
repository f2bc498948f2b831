/* SPDX-License-Identifier: Apache-2.0 */
/* Reserving what a pod needs, and giving it back. Spec: 07 section 8. */
#include "plugins/common_plugin.h"
#include "plugins/volume_binder_private.h"

/** Step 1. */
static bool all_bound(
	struct bt_real_binder *binder, const struct bt_pod_info *pod, struct bt_arena *arena)
{
	const struct bt_pod_spec *spec = bt_plugin_pod_spec(pod);

	for (uint32_t i = 0; i < spec->volumes.count; i++) {
		const struct bt_persistent_volume_claim *claim;
		struct bt_volume_claim named;

		if (!bt_volume_claim_of(pod, &spec->volumes.items[i], arena, &named)) {
			continue;
		}
		claim = bt_assume_cache_find(&binder->claims, pod->namespace_, named.name);
		if (claim == NULL || (named.ephemeral && !bt_pod_owns_claim(pod, claim)) ||
			!bt_claim_is_fully_bound(claim)) {
			return false;
		}
	}
	return true;
}

/** The volume with a reference to the claim; *out_dirty: that changed it. */
static const struct bt_persistent_volume *bind(const struct bt_persistent_volume *volume,
	const struct bt_persistent_volume_claim *claim, struct bt_arena *arena, bool *out_dirty)
{
	struct bt_persistent_volume *bound = BT_ARENA_NEW(arena, struct bt_persistent_volume);
	bool mark = !bt_volume_is_for_claim(volume, claim);
	const struct bt_object_reference *old;

	bt_message_copy(&bt_persistent_volume_message, bound, volume, arena);
	old = bound->spec.claim_ref;
	*out_dirty = false;
	if (old == NULL || !bt_str_equal(old->name, claim->metadata.name) ||
		!bt_str_equal(old->namespace_, claim->metadata.namespace_) ||
		!bt_str_equal(old->uid, claim->metadata.uid)) {
		struct bt_object_reference *reference =
			BT_ARENA_NEW(arena, struct bt_object_reference);

		*reference = (struct bt_object_reference){
			.kind = BT_STR("PersistentVolumeClaim"),
			.api_version = BT_STR("v1"),
			.namespace_ = bt_arena_str(arena, claim->metadata.namespace_),
			.name = bt_arena_str(arena, claim->metadata.name),
			.uid = bt_arena_str(arena, claim->metadata.uid),
			.resource_version = bt_arena_str(arena, claim->metadata.resource_version),
		};
		bound->spec.claim_ref = reference;
		*out_dirty = true;
	}
	if (mark &&
		bt_str_map_find(&bound->metadata.annotations, BT_ANNOTATION_BOUND_BY_CONTROLLER) ==
			NULL) {
		bound->metadata.annotations = bt_str_map_with(&bound->metadata.annotations,
			BT_ANNOTATION_BOUND_BY_CONTROLLER, BT_STR("yes"), arena);
		*out_dirty = true;
	}
	return bound;
}

static const struct bt_persistent_volume_claim *copy_claim(
	const struct bt_persistent_volume_claim *claim, struct bt_arena *arena)
{
	struct bt_persistent_volume_claim *copy =
		BT_ARENA_NEW(arena, struct bt_persistent_volume_claim);

	bt_message_copy(&bt_persistent_volume_claim_message, copy, claim, arena);
	return copy;
}

/** A change that is to be assumed: the cache may drop the objects it came from while others are
 * assumed. */
struct change {
	struct bt_pod_volumes volumes;
	bool *dirty; /* by static binding */
};

static struct change make_change(
	const struct bt_pod_volumes *volumes, struct bt_str node_name, struct bt_arena *arena)
{
	struct change change = {.volumes = *volumes};

	change.volumes.static_bindings =
		BT_ARENA_NEW_ARRAY(arena, struct bt_static_binding, volumes->static_count);
	change.volumes.dynamic_provisions =
		BT_ARENA_NEW_ARRAY(arena, struct bt_dynamic_provision, volumes->dynamic_count);
	change.dirty = BT_ARENA_NEW_ARRAY(arena, bool, volumes->static_count);
	for (uint32_t i = 0; i < volumes->static_count; i++) {
		const struct bt_static_binding *binding = &volumes->static_bindings[i];
		const struct bt_persistent_volume *bound =
			bind(binding->volume, binding->claim, arena, &change.dirty[i]);

		change.volumes.static_bindings[i] = (struct bt_static_binding){
			bound, copy_claim(binding->claim, arena), bound->metadata.resource_version};
	}
	for (uint32_t i = 0; i < volumes->dynamic_count; i++) {
		struct bt_persistent_volume_claim *claim =
			BT_ARENA_NEW(arena, struct bt_persistent_volume_claim);

		bt_message_copy(&bt_persistent_volume_claim_message, claim,
			volumes->dynamic_provisions[i].claim, arena);
		claim->metadata.annotations = bt_str_map_with(&claim->metadata.annotations,
			BT_ANNOTATION_SELECTED_NODE, node_name, arena);
		change.volumes.dynamic_provisions[i].claim = claim;
	}
	return change;
}

void bt_binder_revert_assumed_pod_volumes(
	struct bt_volume_binder *base, const struct bt_pod_volumes *volumes)
{
	struct bt_real_binder *binder = bt_real_binder_of(base);

	for (uint32_t i = 0; i < volumes->static_count; i++) {
		bt_assume_cache_restore(&binder->volumes, BT_STR(""),
			volumes->static_bindings[i].volume->metadata.name,
			volumes->static_bindings[i].resource_version);
	}
	for (uint32_t i = 0; i < volumes->dynamic_count; i++) {
		const struct bt_object_meta *claim =
			&volumes->dynamic_provisions[i].claim->metadata;

		bt_assume_cache_restore(
			&binder->claims, claim->namespace_, claim->name, claim->resource_version);
	}
}

static int assume(
	struct bt_real_binder *binder, const struct change *change, struct berth_error *err)
{
	struct bt_pod_volumes done = change->volumes;
	int code = 0;

	done.dynamic_count = 0;
	for (done.static_count = 0; done.static_count < change->volumes.static_count;
		done.static_count++) {
		if (change->dirty[done.static_count]) {
			code = bt_assume_cache_assume(&binder->volumes,
				done.static_bindings[done.static_count].volume, err);
		}
		if (code != 0) {
			bt_binder_revert_assumed_pod_volumes(&binder->base, &done);
			return code;
		}
	}
	for (; done.dynamic_count < change->volumes.dynamic_count; done.dynamic_count++) {
		code = bt_assume_cache_assume(
			&binder->claims, done.dynamic_provisions[done.dynamic_count].claim, err);
		if (code != 0) {
			bt_binder_revert_assumed_pod_volumes(&binder->base, &done);
			return code;
		}
	}
	return 0;
}

int bt_binder_assume_pod_volumes(struct bt_volume_binder *base, const struct bt_pod_info *pod,
	struct bt_str node_name, struct bt_pod_volumes *volumes, struct bt_arena *arena,
	bool *out_all_bound, struct berth_error *err)
{
	struct bt_real_binder *binder = bt_real_binder_of(base);
	struct change change;
	int code;

	if (all_bound(binder, pod, arena)) {
		*out_all_bound = true;
		return 0;
	}
	change = make_change(volumes, bt_arena_str(arena, node_name), arena);
	code = assume(binder, &change, err);
	if (code != 0) {
		binder->stage_errors[BT_VOLUME_STAGE_ASSUME]++;
		return code;
	}
	for (uint32_t i = 0; i < change.volumes.dynamic_count; i++) {
		change.volumes.dynamic_provisions[i].node_capacity = NULL;
	}
	*volumes = change.volumes;
	*out_all_bound = false;
	return 0;
}
