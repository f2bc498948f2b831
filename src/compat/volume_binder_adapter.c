/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Lets the in-tree plugin call public binders, converts their results, and defines the fake binder.
 */
#include <stddef.h>

#include "berth/fake_volume_binder.h"

#include "base/alloc.h"
#include "base/compiler.h"
#include "base/error.h"
#include "compat/convert_storage.h"
#include "compat/volume_binder.h"

struct berth_pvc_list bt_lib_pvc_list(const struct bt_claim_list *list, struct bt_arena *arena)
{
	const struct berth_pvc **items =
		BT_ARENA_NEW_ARRAY(arena, const struct berth_pvc *, list->count);

	for (uint32_t i = 0; i < list->count; i++) {
		items[i] = berth_const_pvc_of(list->items[i]);
	}
	return (struct berth_pvc_list){.items = items, .count = list->count};
}

struct bt_claim_list bt_lib_claim_list(const struct berth_pvc_list *list, struct bt_arena *arena)
{
	struct bt_claim_list claims = {.count = list->count};

	claims.items =
		BT_ARENA_NEW_ARRAY(arena, const struct bt_persistent_volume_claim *, list->count);
	for (uint32_t i = 0; i < list->count; i++) {
		claims.items[i] = bt_const_pvc_of(list->items[i]);
	}
	return claims;
}

void bt_lib_volumes_to_public(const struct bt_pod_volumes *inside,
	struct berth_pod_volumes *out_volumes, struct bt_arena *arena)
{
	struct berth_binding_info *bindings =
		BT_ARENA_NEW_ARRAY(arena, struct berth_binding_info, inside->static_count);
	struct berth_dynamic_provision *provisions =
		BT_ARENA_NEW_ARRAY(arena, struct berth_dynamic_provision, inside->dynamic_count);

	for (uint32_t i = 0; i < inside->static_count; i++) {
		bindings[i].claim = berth_const_pvc_of(inside->static_bindings[i].claim);
		bindings[i].volume = berth_const_pv_of(inside->static_bindings[i].volume);
	}
	for (uint32_t i = 0; i < inside->dynamic_count; i++) {
		provisions[i].claim = berth_const_pvc_of(inside->dynamic_provisions[i].claim);
		provisions[i].node_capacity = berth_const_csi_storage_capacity_of(
			inside->dynamic_provisions[i].node_capacity);
	}
	out_volumes->static_bindings = bindings;
	out_volumes->static_count = inside->static_count;
	out_volumes->dynamic_provisions = provisions;
	out_volumes->dynamic_count = inside->dynamic_count;
}

void bt_lib_volumes_from_public(const struct berth_pod_volumes *volumes,
	struct bt_pod_volumes *out_inside, struct bt_arena *arena)
{
	struct bt_static_binding *bindings =
		BT_ARENA_NEW_ARRAY(arena, struct bt_static_binding, volumes->static_count);
	struct bt_dynamic_provision *provisions =
		BT_ARENA_NEW_ARRAY(arena, struct bt_dynamic_provision, volumes->dynamic_count);

	for (uint32_t i = 0; i < volumes->static_count; i++) {
		bindings[i].claim = bt_const_pvc_of(volumes->static_bindings[i].claim);
		bindings[i].volume = bt_const_pv_of(volumes->static_bindings[i].volume);
		bindings[i].resource_version = bindings[i].volume->metadata.resource_version;
	}
	for (uint32_t i = 0; i < volumes->dynamic_count; i++) {
		provisions[i].claim = bt_const_pvc_of(volumes->dynamic_provisions[i].claim);
		provisions[i].node_capacity = bt_const_csi_storage_capacity_of(
			volumes->dynamic_provisions[i].node_capacity);
	}
	out_inside->static_bindings = bindings;
	out_inside->static_count = volumes->static_count;
	out_inside->dynamic_provisions = provisions;
	out_inside->dynamic_count = volumes->dynamic_count;
}

const struct bt_node_info *bt_lib_node_view(const struct bt_handle *handle,
	const struct berth_node_info *node, struct bt_node_info *buffer)
{
	const struct bt_node_info *view = bt_const_node_info_of(node);

	if (view != NULL && view->state != NULL) {
		return view;
	}
	uint32_t slot = bt_state_snapshot_find(handle->state, berth_node_info_name(node));
	if (slot == BT_SLOT_NONE) {
		return NULL;
	}
	bt_node_info_init(buffer, handle->state, slot);
	return buffer;
}

struct outside_binder {
	struct bt_volume_binder base;
	struct berth_volume_binder *const *outside;
	struct berth_volume_binder *owned; /* the public binder to destroy; NULL: none */
};

/** The volumes that a public binder found, in the form that the in-tree plugin reads. */
struct outside_volumes {
	struct bt_pod_volumes inside; /* first: the in-tree plugin's pointer points here */
	struct berth_pod_volumes *outside;
};

static struct berth_volume_binder *outside_of(struct bt_volume_binder *binder)
{
	return *((struct outside_binder *)(void *)binder)->outside;
}

static struct berth_pod_volumes *volumes_of(const struct bt_pod_volumes *volumes)
{
	return volumes != NULL ? ((const struct outside_volumes *)(const void *)volumes)->outside
			       : NULL;
}

static void destroy(struct bt_volume_binder *binder)
{
	berth_volume_binder_destroy(((struct outside_binder *)(void *)binder)->owned);
	bt_free(binder);
}

static int get_pod_volume_claims(struct bt_volume_binder *binder, const struct bt_pod_info *pod,
	struct bt_arena *arena, struct bt_pod_volume_claims *out_claims, struct berth_error *err)
{
	struct berth_pod_volume_claims *claims =
		BT_ARENA_NEW(arena, struct berth_pod_volume_claims);
	int result = berth_volume_binder_get_pod_volume_claims(outside_of(binder),
		berth_const_pod_info_of(pod), berth_arena_of(arena), claims, err);

	if (result != BERTH_OK) {
		return result;
	}
	*out_claims = (struct bt_pod_volume_claims){
		.bound = bt_lib_claim_list(&claims->bound, arena),
		.delayed = bt_lib_claim_list(&claims->delayed, arena),
		.immediate = bt_lib_claim_list(&claims->immediate, arena),
		.work = claims,
	};
	return BERTH_OK;
}

static int find_pod_volumes(struct bt_volume_binder *binder, const struct bt_pod_info *pod,
	struct bt_pod_volume_claims *claims, const struct bt_node_info *node,
	struct bt_arena *arena, struct bt_pod_volumes **out_volumes, uint32_t *out_conflicts,
	struct berth_error *err)
{
	struct berth_pod_volumes *volumes = NULL;
	struct berth_conflict_reasons reasons = {.count = 0};
	int result = berth_volume_binder_find_pod_volumes(outside_of(binder),
		berth_const_pod_info_of(pod), claims->work, berth_const_node_info_of(node),
		berth_arena_of(arena), &volumes, &reasons, err);

	if (result != BERTH_OK) {
		return result;
	}
	*out_conflicts = 0;
	for (uint32_t i = 0; i < reasons.count && i < BERTH_CONFLICT_REASONS_MAX; i++) {
		for (uint32_t k = 0; k < BT_VOLUME_CONFLICTS; k++) {
			if (bt_lib_conflicts[k] == reasons.items[i]) {
				*out_conflicts |= UINT32_C(1) << k;
			}
		}
	}
	*out_volumes = NULL;
	if (volumes != NULL) {
		struct outside_volumes *kept = BT_ARENA_NEW(arena, struct outside_volumes);

		bt_lib_volumes_from_public(volumes, &kept->inside, arena);
		kept->outside = volumes;
		*out_volumes = &kept->inside;
	}
	return BERTH_OK;
}

static int assume_pod_volumes(struct bt_volume_binder *binder, const struct bt_pod_info *pod,
	struct bt_str node_name, struct bt_pod_volumes *volumes, struct bt_arena *arena,
	bool *out_all_bound, struct berth_error *err)
{
	struct berth_pod_volumes *outside = volumes_of(volumes);
	int result = berth_volume_binder_assume_pod_volumes(outside_of(binder),
		berth_const_pod_info_of(pod), node_name, outside, berth_arena_of(arena),
		out_all_bound, err);

	if (result == BERTH_OK && outside != NULL) {
		bt_lib_volumes_from_public(outside, volumes, arena);
	}
	return result;
}

static void revert_assumed_pod_volumes(
	struct bt_volume_binder *binder, const struct bt_pod_volumes *volumes)
{
	berth_volume_binder_revert_assumed_pod_volumes(outside_of(binder), volumes_of(volumes));
}

static int bind_pod_volumes(struct bt_volume_binder *binder, const struct bt_pod_info *pod,
	struct bt_str node_name, struct bt_pod_volumes *volumes, struct bt_arena *arena,
	struct berth_error *err)
{
	struct berth_pod_volumes *outside = volumes_of(volumes);
	int result = berth_volume_binder_bind_pod_volumes(outside_of(binder),
		berth_const_pod_info_of(pod), node_name, outside, berth_arena_of(arena), err);

	if (outside != NULL) {
		volumes->progress.next_check_ns = outside->next_check_ns;
	}
	return result;
}

static const struct bt_volume_binder_ops outside_ops = {
	.destroy = destroy,
	.get_pod_volume_claims = get_pod_volume_claims,
	.find_pod_volumes = find_pod_volumes,
	.assume_pod_volumes = assume_pod_volumes,
	.revert_assumed_pod_volumes = revert_assumed_pod_volumes,
	.bind_pod_volumes = bind_pod_volumes,
};

struct bt_volume_binder *bt_outside_binder_create(
	struct berth_volume_binder *const *outside, struct berth_volume_binder *owned)
{
	struct outside_binder *binder = BT_NEW(struct outside_binder);

	binder->base.ops = &outside_ops;
	binder->owned = owned;
	binder->outside = outside != NULL ? outside : &binder->owned;
	return &binder->base;
}

static struct berth_fake_volume_binder *fake_of(struct berth_volume_binder *binder)
{
	return (struct berth_fake_volume_binder *)(void *)binder;
}

static int fail_with(const char *text, struct berth_error *err)
{
	return text != NULL ? bt_error_set(err, BERTH_ERR_STATE, "%s", text) : BERTH_OK;
}

static void destroy_fake(struct berth_volume_binder *binder)
{
	bt_free(binder);
}

int berth_fake_volume_binder_get_pod_volume_claims(BT_UNUSED struct berth_volume_binder *binder,
	BT_UNUSED const struct berth_pod_info *pod, BT_UNUSED struct berth_arena *arena,
	struct berth_pod_volume_claims *out_claims, BT_UNUSED struct berth_error *err)
{
	*out_claims = (struct berth_pod_volume_claims){0};
	return BERTH_OK;
}

void berth_fake_volume_binder_get_eligible_nodes(BT_UNUSED struct berth_volume_binder *binder,
	BT_UNUSED const struct berth_pvc_list *bound_claims, BT_UNUSED struct berth_arena *arena,
	struct berth_pre_filter_result *out_nodes)
{
	*out_nodes = (struct berth_pre_filter_result){0};
}

int berth_fake_volume_binder_find_pod_volumes(struct berth_volume_binder *binder,
	BT_UNUSED const struct berth_pod_info *pod,
	BT_UNUSED struct berth_pod_volume_claims *claims,
	BT_UNUSED const struct berth_node_info *node, BT_UNUSED struct berth_arena *arena,
	struct berth_pod_volumes **out_volumes, struct berth_conflict_reasons *out_reasons,
	struct berth_error *err)
{
	*out_volumes = NULL;
	*out_reasons = fake_of(binder)->config.find_reasons;
	return fail_with(fake_of(binder)->config.find_err, err);
}

int berth_fake_volume_binder_assume_pod_volumes(struct berth_volume_binder *binder,
	BT_UNUSED const struct berth_pod_info *pod, BT_UNUSED struct berth_str node_name,
	BT_UNUSED struct berth_pod_volumes *volumes, BT_UNUSED struct berth_arena *arena,
	bool *out_all_bound, struct berth_error *err)
{
	fake_of(binder)->assume_called = true;
	*out_all_bound = fake_of(binder)->config.all_bound;
	return fail_with(fake_of(binder)->config.assume_err, err);
}

void berth_fake_volume_binder_revert_assumed_pod_volumes(
	BT_UNUSED struct berth_volume_binder *binder,
	BT_UNUSED const struct berth_pod_volumes *volumes)
{
}

int berth_fake_volume_binder_bind_pod_volumes(struct berth_volume_binder *binder,
	BT_UNUSED const struct berth_pod_info *pod, BT_UNUSED struct berth_str node_name,
	BT_UNUSED struct berth_pod_volumes *volumes, BT_UNUSED struct berth_arena *arena,
	struct berth_error *err)
{
	fake_of(binder)->bind_called = true;
	return fail_with(fake_of(binder)->config.bind_err, err);
}

static const struct berth_volume_binder_ops fake_ops = {
	.destroy = destroy_fake,
	.get_pod_volume_claims = berth_fake_volume_binder_get_pod_volume_claims,
	.get_eligible_nodes = berth_fake_volume_binder_get_eligible_nodes,
	.find_pod_volumes = berth_fake_volume_binder_find_pod_volumes,
	.assume_pod_volumes = berth_fake_volume_binder_assume_pod_volumes,
	.revert_assumed_pod_volumes = berth_fake_volume_binder_revert_assumed_pod_volumes,
	.bind_pod_volumes = berth_fake_volume_binder_bind_pod_volumes,
};

struct berth_fake_volume_binder *berth_fake_volume_binder_create(
	const struct berth_fake_volume_binder_config *config)
{
	struct berth_fake_volume_binder *fake = BT_NEW(struct berth_fake_volume_binder);

	fake->base.ops = &fake_ops;
	if (config != NULL) {
		fake->config = *config;
	}
	return fake;
}
