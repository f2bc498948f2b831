/* SPDX-License-Identifier: Apache-2.0 */
#include "compat/volume_binder.h"

#include <string.h>

#include "base/alloc.h"
#include "compat/convert_storage.h"

/**
 * The public binder: a binder of src/plugins. It reads the objects of the handle's state, or copies
 * of the objects of the caller's listers. It writes with the caller's functions, or with the
 * handle's writer.
 */

static int bind_volume(void *context, const struct bt_persistent_volume *volume,
	const struct bt_persistent_volume_claim *claim, struct bt_str *out_resource_version,
	struct berth_error *err)
{
	const struct bt_lib_binder *binder = context;
	const struct bt_volume_writer *behind = binder->handle->volume_writer;

	if (binder->listers.bind_volume != NULL) {
		return binder->listers.bind_volume(binder->listers.client_context,
			berth_const_pv_of(volume), berth_const_pvc_of(claim), out_resource_version,
			err);
	}
	return behind->bind_volume(behind->context, volume, claim, out_resource_version, err);
}

static int select_node(void *context, const struct bt_persistent_volume_claim *claim,
	struct bt_str node_name, struct bt_str *out_resource_version, struct berth_error *err)
{
	const struct bt_lib_binder *binder = context;
	const struct bt_volume_writer *behind = binder->handle->volume_writer;

	if (binder->listers.bind_volume != NULL) {
		return binder->listers.select_node(binder->listers.client_context,
			berth_const_pvc_of(claim), node_name, out_resource_version, err);
	}
	return behind->select_node(behind->context, claim, node_name, out_resource_version, err);
}

static bool pod_exists(void *context, const struct bt_pod_info *pod)
{
	const struct bt_lib_binder *binder = context;
	const struct bt_volume_writer *behind = binder->handle->volume_writer;

	if (binder->listers.pods.get != NULL) {
		return berth_lister_get(&binder->listers.pods, pod->namespace_, pod->name) != NULL;
	}
	return behind == NULL || behind->pod_exists == NULL ||
		behind->pod_exists(behind->context, pod);
}

static int wait(void *context, const struct bt_pod_info *pod, struct berth_error *err)
{
	const struct bt_lib_binder *binder = context;
	const struct bt_volume_writer *behind = binder->handle->volume_writer;

	return behind->wait(behind->context, pod, err);
}

/** Context of put_object: copies objects of a lister to the store. */
struct copying {
	struct bt_object_store *store;
	enum bt_kind kind;
};

static bool put_object(void *context, const void *value)
{
	const struct copying *copying = context;
	const struct bt_object_meta *meta = value;
	const struct bt_object_meta *known =
		bt_object_store_find(copying->store, copying->kind, meta->namespace_, meta->name);

	/*
	 * Skip an object that has not changed. Without a resourceVersion a change cannot be
	 * recognized.
	 */
	if (known == NULL || meta->resource_version.length == 0 ||
		!bt_str_equal(known->resource_version, meta->resource_version) ||
		!bt_str_equal(known->uid, meta->uid)) {
		bt_object_store_put(copying->store, bt_object_create(copying->kind, value));
	}
	return true;
}

static void copy_lister(
	struct bt_lib_binder *binder, const struct berth_lister *given, enum bt_kind kind)
{
	struct copying copying = {&binder->own_state->objects, kind};
	struct berth_lister lister = *given;

	if (lister.get == NULL && lister.list == NULL) {
		lister = berth_handle_lister(
			berth_const_handle_of(binder->handle), bt_kind_info(kind)->name);
	}
	struct bt_arena arena = {0};
	BT_VEC(struct bt_str) gone = {0};
	const struct bt_object_meta *meta;
	uint32_t cursor = 0;

	while ((meta = bt_object_store_next(
			copying.store, copying.kind, (struct bt_str){NULL, 0}, &cursor)) != NULL) {
		if (berth_lister_get(&lister, meta->namespace_, meta->name) == NULL) {
			bt_vec_push(&gone, bt_arena_str(&arena, meta->namespace_));
			bt_vec_push(&gone, bt_arena_str(&arena, meta->name));
		}
	}
	for (uint32_t i = 0; i < gone.count; i += 2) {
		(void)bt_object_store_delete(
			copying.store, copying.kind, gone.items[i], gone.items[i + 1]);
	}
	bt_vec_finish(&gone);
	bt_arena_finish(&arena);
	berth_lister_list(&lister, (struct bt_str){NULL, 0}, put_object, &copying);
}

static bool put_node(void *context, const void *value)
{
	struct bt_state *state = context;

	bt_state_update_node(state, NULL, value);
	return true;
}

static bool has_node(const struct bt_lib_binder *binder, struct bt_str name)
{
	const struct bt_node_table *nodes = &binder->handle->state->nodes;

	if (binder->listers.nodes.get != NULL) {
		return berth_lister_get(&binder->listers.nodes, BT_STR(""), name) != NULL;
	}
	uint32_t slot = bt_node_table_find(nodes, name);
	return slot != BT_SLOT_NONE && nodes->rows[slot].has_node;
}

/** Copies the objects that the listers of the caller have now. */
static void copy_listers(struct bt_lib_binder *binder)
{
	if (binder->own_state == NULL) {
		return;
	}
	copy_lister(binder, &binder->listers.csi_nodes, BT_KIND_CSI_NODE);
	copy_lister(binder, &binder->listers.pvcs, BT_KIND_PERSISTENT_VOLUME_CLAIM);
	copy_lister(binder, &binder->listers.pvs, BT_KIND_PERSISTENT_VOLUME);
	copy_lister(binder, &binder->listers.storage_classes, BT_KIND_STORAGE_CLASS);
	copy_lister(binder, &binder->capacity.csi_driver_lister, BT_KIND_CSI_DRIVER);
	copy_lister(binder, &binder->capacity.csi_storage_capacity_lister,
		BT_KIND_CSI_STORAGE_CAPACITY);
	struct bt_state *state = binder->own_state;

	for (uint32_t slot = 0; slot < state->nodes.slot_count; slot++) {
		if (!state->nodes.rows[slot].has_node) {
			continue;
		}
		struct bt_str name = bt_node_table_name(&state->nodes, slot);
		if (!has_node(binder, name)) {
			struct bt_arena arena = {0};
			struct bt_node node = {.metadata.name = bt_arena_str(&arena, name)};
			int result = bt_state_remove_node(state, &node, NULL);

			(void)result; /* the state has the node */
			bt_arena_finish(&arena);
		}
	}
	if (binder->listers.nodes.list != NULL) {
		berth_lister_list(
			&binder->listers.nodes, (struct bt_str){NULL, 0}, put_node, state);
	} else {
		/*
		 * The scheduler does not store whole nodes, so make nodes with the fields that the
		 * binder reads.
		 */
		const struct bt_node_table *nodes = &binder->handle->state->nodes;

		for (uint32_t slot = 0; slot < nodes->slot_count; slot++) {
			struct bt_node node = {0};

			if (nodes->rows[slot].has_node) {
				node.metadata.name = bt_node_table_name(nodes, slot);
				node.metadata.labels = nodes->rows[slot].labels;
				bt_state_update_node(binder->own_state, NULL, &node);
			}
		}
	}
}

static void copy_handle(struct bt_lib_binder *binder)
{
	const struct bt_volume_writer *behind = binder->handle->volume_writer;

	binder->own_handle = *binder->handle;
	if (binder->own_state != NULL) {
		binder->own_handle.state = binder->own_state;
	}
	binder->writer = (struct bt_volume_writer){
		.bind_volume = bind_volume,
		.select_node = select_node,
		.wait = behind != NULL && behind->wait != NULL ? wait : NULL,
		.pod_exists = pod_exists,
		.context = binder,
	};
	if (behind != NULL || binder->listers.bind_volume != NULL) {
		binder->own_handle.volume_writer = &binder->writer;
	}
}

_Static_assert(BERTH_CONFLICT_REASONS_MAX == BT_VOLUME_CONFLICTS, "each conflict has a reason");

const enum berth_conflict_reason bt_lib_conflicts[BT_VOLUME_CONFLICTS] = {
	BERTH_CONFLICT_REASON_NODE_CONFLICT,
	BERTH_CONFLICT_REASON_BIND_CONFLICT,
	BERTH_CONFLICT_REASON_NOT_ENOUGH_SPACE,
	BERTH_CONFLICT_REASON_PV_NOT_EXIST,
};

const char *berth_conflict_reason_text(enum berth_conflict_reason reason)
{
	for (uint32_t i = 0; i < BT_VOLUME_CONFLICTS; i++) {
		if (bt_lib_conflicts[i] == reason) {
			return bt_reason_texts[bt_volume_conflict_reasons[i]].data;
		}
	}
	return "";
}

uint32_t berth_conflict_reasons_len(const struct berth_conflict_reasons *reasons)
{
	return reasons->count;
}

bool berth_conflict_reasons_less(
	const struct berth_conflict_reasons *reasons, uint32_t i, uint32_t j)
{
	BT_ASSERT(i < reasons->count && j < reasons->count);
	return strcmp(berth_conflict_reason_text(reasons->items[i]),
		       berth_conflict_reason_text(reasons->items[j])) < 0;
}

void berth_conflict_reasons_swap(struct berth_conflict_reasons *reasons, uint32_t i, uint32_t j)
{
	BT_ASSERT(i < reasons->count && j < reasons->count);
	enum berth_conflict_reason kept = reasons->items[i];
	reasons->items[i] = reasons->items[j];
	reasons->items[j] = kept;
}

struct berth_str berth_binding_info_storage_class_name(const struct berth_binding_info *binding)
{
	return bt_const_pv_of(binding->volume)->spec.storage_class_name;
}

struct berth_storage_resource berth_binding_info_storage_resource(
	const struct berth_binding_info *binding)
{
	return (struct berth_storage_resource){
		.requested = berth_pvc_request_bytes(binding->claim),
		.capacity = berth_pv_capacity_bytes(binding->volume),
	};
}

static struct bt_lib_binder *own_of(struct berth_volume_binder *binder)
{
	struct bt_lib_binder *own = (struct bt_lib_binder *)(void *)binder;

	copy_handle(own);
	return own;
}

static void destroy(struct berth_volume_binder *binder)
{
	struct bt_lib_binder *own = own_of(binder);

	own->inside->ops->destroy(own->inside);
	bt_state_destroy(own->own_state);
	bt_free(own);
}

static int get_pod_volume_claims(struct berth_volume_binder *binder,
	const struct berth_pod_info *pod, struct berth_arena *arena,
	struct berth_pod_volume_claims *out_claims, struct berth_error *err)
{
	struct bt_lib_binder *own = own_of(binder);
	struct bt_arena *memory = bt_arena_of(arena);
	struct bt_pod_volume_claims *inside = BT_ARENA_NEW(memory, struct bt_pod_volume_claims);

	copy_listers(own);
	int result = own->inside->ops->get_pod_volume_claims(
		own->inside, bt_const_pod_info_of(pod), memory, inside, err);
	if (result != BERTH_OK) {
		return result;
	}
	*out_claims = (struct berth_pod_volume_claims){
		.bound = bt_lib_pvc_list(&inside->bound, memory),
		.delayed = bt_lib_pvc_list(&inside->delayed, memory),
		.immediate = bt_lib_pvc_list(&inside->immediate, memory),
		.work = inside,
	};
	struct berth_class_volumes *classes =
		BT_ARENA_NEW_ARRAY(memory, struct berth_class_volumes, inside->delayed.count);
	struct bt_real_binder *real = bt_real_binder_of(own->inside);
	uint32_t count = 0;

	for (uint32_t i = 0; i < inside->delayed.count; i++) {
		struct bt_str class_name =
			bt_persistent_volume_claim_class(inside->delayed.items[i]);

		if (BT_STR_INDEX(classes, count, storage_class, class_name) < count) {
			continue;
		}
		/* An assumed version of a volume replaces the API server's version. */
		uint32_t volume_count = 0;
		const struct bt_class_volume *found =
			bt_class_index_find(real, class_name, &volume_count);
		const struct berth_pv **list =
			BT_ARENA_NEW_ARRAY(memory, const struct berth_pv *, volume_count);

		for (uint32_t k = 0; k < volume_count; k++) {
			list[k] = berth_const_pv_of(
				bt_assume_cache_view(&real->volumes, found[k].stored));
		}
		classes[count++] = (struct berth_class_volumes){
			.storage_class = class_name, .volumes = list, .volume_count = volume_count};
	}
	out_claims->volumes_by_class = classes;
	out_claims->class_count = count;
	return BERTH_OK;
}

static int find_pod_volumes(struct berth_volume_binder *binder, const struct berth_pod_info *pod,
	struct berth_pod_volume_claims *claims, const struct berth_node_info *node,
	struct berth_arena *arena, struct berth_pod_volumes **out_volumes,
	struct berth_conflict_reasons *out_reasons, struct berth_error *err)
{
	struct bt_lib_binder *own = own_of(binder);
	struct bt_arena *memory = bt_arena_of(arena);
	struct bt_pod_volumes *inside = NULL;
	uint32_t conflicts = 0;
	struct bt_node_info buffer;
	const struct bt_node_info *view = bt_lib_node_view(own->handle, node, &buffer);

	if (view == NULL) {
		struct bt_str name = berth_node_info_name(node);

		return bt_error_set(
			err, BERTH_ERR_NOT_FOUND, "node \"%.*s\" not found", BT_STR_ARG(name));
	}
	if (claims->work == NULL) { /* the claims come from the caller, not from this binder */
		struct bt_pod_volume_claims *made =
			BT_ARENA_NEW(memory, struct bt_pod_volume_claims);

		made->bound = bt_lib_claim_list(&claims->bound, memory);
		made->delayed = bt_lib_claim_list(&claims->delayed, memory);
		made->immediate = bt_lib_claim_list(&claims->immediate, memory);
		claims->work = made;
	}
	int result = own->inside->ops->find_pod_volumes(own->inside, bt_const_pod_info_of(pod),
		claims->work, view, memory, &inside, &conflicts, err);
	if (result != BERTH_OK) {
		return result;
	}
	*out_volumes = NULL;
	struct berth_conflict_reasons reasons = {.count = 0};

	for (uint32_t i = 0; i < BT_VOLUME_CONFLICTS; i++) {
		if ((conflicts >> i & 1) != 0) {
			reasons.items[reasons.count++] = bt_lib_conflicts[i];
		}
	}
	*out_reasons = reasons;
	if (inside != NULL) {
		*out_volumes = BT_ARENA_NEW(memory, struct berth_pod_volumes);
		bt_lib_volumes_to_public(inside, *out_volumes, memory);
		(*out_volumes)->work = inside;
	}
	return BERTH_OK;
}

/**
 * Returns the internal form of volumes. Creates the form if the volumes come from the caller and
 * not from this binder. volumes NULL: the pod needs no volumes, and the result is empty.
 */
static struct bt_pod_volumes *volumes_of(struct berth_pod_volumes *volumes, struct bt_arena *arena)
{
	struct bt_pod_volumes *inside = volumes != NULL ? volumes->work : NULL;

	if (inside == NULL) {
		inside = BT_ARENA_NEW(arena, struct bt_pod_volumes);
		if (volumes != NULL) {
			bt_lib_volumes_from_public(volumes, inside, arena);
			volumes->work = inside;
		}
	}
	return inside;
}

static int assume_pod_volumes(struct berth_volume_binder *binder, const struct berth_pod_info *pod,
	struct berth_str node_name, struct berth_pod_volumes *volumes, struct berth_arena *arena,
	bool *out_all_bound, struct berth_error *err)
{
	struct bt_lib_binder *own = own_of(binder);
	struct bt_pod_volumes *inside = volumes_of(volumes, bt_arena_of(arena));
	int result = own->inside->ops->assume_pod_volumes(own->inside, bt_const_pod_info_of(pod),
		node_name, inside, bt_arena_of(arena), out_all_bound, err);

	if (result == BERTH_OK && volumes != NULL) {
		bt_lib_volumes_to_public(inside, volumes, bt_arena_of(arena));
	}
	return result;
}

static void revert_assumed_pod_volumes(
	struct berth_volume_binder *binder, const struct berth_pod_volumes *volumes)
{
	struct bt_lib_binder *own = own_of(binder);
	struct bt_arena arena = {0};
	struct bt_pod_volumes read = {0};
	const struct bt_pod_volumes *inside = volumes->work;

	if (inside == NULL) {
		bt_lib_volumes_from_public(volumes, &read, &arena);
		inside = &read;
	}
	own->inside->ops->revert_assumed_pod_volumes(own->inside, inside);
	bt_arena_finish(&arena);
}

static int bind_pod_volumes(struct berth_volume_binder *binder, const struct berth_pod_info *pod,
	struct berth_str node_name, struct berth_pod_volumes *volumes, struct berth_arena *arena,
	struct berth_error *err)
{
	struct bt_lib_binder *own = own_of(binder);
	struct bt_pod_volumes *inside = volumes_of(volumes, bt_arena_of(arena));

	copy_listers(own);
	int result = own->inside->ops->bind_pod_volumes(
		own->inside, bt_const_pod_info_of(pod), node_name, inside, bt_arena_of(arena), err);
	if (volumes != NULL) {
		volumes->next_check_ns = inside->progress.next_check_ns;
	}
	return result;
}

static void get_eligible_nodes(struct berth_volume_binder *binder,
	const struct berth_pvc_list *bound_claims, struct berth_arena *arena,
	struct berth_pre_filter_result *out_nodes)
{
	struct bt_lib_binder *own = own_of(binder);
	struct bt_arena *memory = bt_arena_of(arena);
	const struct bt_state *state = own->handle->state;
	struct bt_pod_volume_claims claims = {.bound = bt_lib_claim_list(bound_claims, memory)};
	struct bt_str *names = BT_ARENA_NEW_ARRAY(memory, struct bt_str, state->snapshot.count);
	uint32_t count = 0;

	*out_nodes = (struct berth_pre_filter_result){0};
	for (uint32_t i = 0; i < claims.bound.count; i++) {
		if (bt_assume_cache_find(&bt_real_binder_of(own->inside)->volumes, BT_STR(""),
			    claims.bound.items[i]->spec.volume_name) == NULL) {
			return;
		}
	}
	for (uint32_t i = 0; i < state->snapshot.count; i++) {
		struct bt_pod_volumes *volumes = NULL;
		struct bt_node_info node;
		uint32_t conflicts = 0;

		/* The binder does not read the pod. */
		bt_node_info_init(&node, state, bt_snapshot_list(&state->snapshot)[i]);
		if (own->inside->ops->find_pod_volumes(own->inside, NULL, &claims, &node, memory,
			    &volumes, &conflicts, NULL) != BERTH_OK) {
			return;
		}
		if (conflicts == 0) {
			names[count++] = bt_arena_str(memory, bt_node_info_name(&node));
		}
	}
	if (count < state->snapshot.count) {
		*out_nodes = (struct berth_pre_filter_result){true, count, names};
	}
}

static const struct berth_volume_binder_ops real_ops = {
	.destroy = destroy,
	.get_pod_volume_claims = get_pod_volume_claims,
	.get_eligible_nodes = get_eligible_nodes,
	.find_pod_volumes = find_pod_volumes,
	.assume_pod_volumes = assume_pod_volumes,
	.revert_assumed_pod_volumes = revert_assumed_pod_volumes,
	.bind_pod_volumes = bind_pod_volumes,
};

struct berth_volume_binder *berth_volume_binder_create(const struct berth_handle *handle,
	const struct berth_volume_binder_listers *listers,
	const struct berth_capacity_check *capacity_check,
	const struct berth_volume_binder_options *given)
{
	struct berth_volume_binder_options options = BERTH_VOLUME_BINDER_OPTIONS_INIT;
	struct bt_lib_binder *own = BT_NEW(struct bt_lib_binder);

	bt_lib_read_options(&options, sizeof(options), given);
	own->base.ops = &real_ops;
	own->handle = bt_const_handle_of(handle);
	if (listers != NULL) {
		own->listers = *listers;
	}
	if (capacity_check != NULL) {
		own->capacity = *capacity_check;
	}
	/* Listers other than the handle's need a separate state. */
	bool is_handles = bt_lister_is_of_handle(&own->listers.nodes, handle, "Node") &&
		bt_lister_is_of_handle(&own->listers.csi_nodes, handle, "CSINode") &&
		bt_lister_is_of_handle(&own->listers.pvcs, handle, "PersistentVolumeClaim") &&
		bt_lister_is_of_handle(&own->listers.pvs, handle, "PersistentVolume") &&
		bt_lister_is_of_handle(&own->listers.storage_classes, handle, "StorageClass") &&
		bt_lister_is_of_handle(&own->capacity.csi_driver_lister, handle, "CSIDriver") &&
		bt_lister_is_of_handle(
			&own->capacity.csi_storage_capacity_lister, handle, "CSIStorageCapacity");

	if (!is_handles) {
		struct bt_state_options empty = {0};

		own->own_state = bt_state_create(&empty);
	}
	copy_handle(own);
	own->inside = bt_volume_binder_create(
		&own->own_handle, options.bind_timeout_ns / INT64_C(1000000000));
	return &own->base;
}

void berth_volume_binder_destroy(struct berth_volume_binder *binder)
{
	if (binder != NULL && binder->ops->destroy != NULL) {
		binder->ops->destroy(binder);
	}
}

#define SAME_STAGE(name) \
	_Static_assert((int)BERTH_VOLUME_STAGE_##name == (int)BT_VOLUME_STAGE_##name, \
		"one list of stages")
SAME_STAGE(PREDICATE);
SAME_STAGE(ASSUME);
SAME_STAGE(BIND);

uint64_t berth_volume_binder_stage_errors(
	const struct berth_volume_binder *binder, enum berth_volume_stage stage)
{
	const struct bt_lib_binder *own = (const struct bt_lib_binder *)(const void *)binder;

	return binder->ops == &real_ops
		? bt_volume_binder_stage_errors(own->inside, (enum bt_volume_stage)stage)
		: 0;
}

int berth_volume_binder_get_pod_volume_claims(struct berth_volume_binder *binder,
	const struct berth_pod_info *pod, struct berth_arena *arena,
	struct berth_pod_volume_claims *out_claims, struct berth_error *err)
{
	return binder->ops->get_pod_volume_claims(binder, pod, arena, out_claims, err);
}

void berth_volume_binder_get_eligible_nodes(struct berth_volume_binder *binder,
	const struct berth_pvc_list *bound_claims, struct berth_arena *arena,
	struct berth_pre_filter_result *out_nodes)
{
	*out_nodes = (struct berth_pre_filter_result){0};
	if (binder->ops->get_eligible_nodes != NULL) {
		binder->ops->get_eligible_nodes(binder, bound_claims, arena, out_nodes);
	}
}

int berth_volume_binder_find_pod_volumes(struct berth_volume_binder *binder,
	const struct berth_pod_info *pod, struct berth_pod_volume_claims *claims,
	const struct berth_node_info *node, struct berth_arena *arena,
	struct berth_pod_volumes **out_volumes, struct berth_conflict_reasons *out_reasons,
	struct berth_error *err)
{
	return binder->ops->find_pod_volumes(
		binder, pod, claims, node, arena, out_volumes, out_reasons, err);
}

int berth_volume_binder_assume_pod_volumes(struct berth_volume_binder *binder,
	const struct berth_pod_info *pod, struct berth_str node_name,
	struct berth_pod_volumes *volumes, struct berth_arena *arena, bool *out_all_bound,
	struct berth_error *err)
{
	return binder->ops->assume_pod_volumes(
		binder, pod, node_name, volumes, arena, out_all_bound, err);
}

void berth_volume_binder_revert_assumed_pod_volumes(
	struct berth_volume_binder *binder, const struct berth_pod_volumes *volumes)
{
	if (volumes != NULL) {
		binder->ops->revert_assumed_pod_volumes(binder, volumes);
	}
}

int berth_volume_binder_bind_pod_volumes(struct berth_volume_binder *binder,
	const struct berth_pod_info *pod, struct berth_str node_name,
	struct berth_pod_volumes *volumes, struct berth_arena *arena, struct berth_error *err)
{
	return binder->ops->bind_pod_volumes(binder, pod, node_name, volumes, arena, err);
}
