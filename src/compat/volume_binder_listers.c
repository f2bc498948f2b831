/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What a binder knows: the objects of the handle's scheduler, or copies of what the caller's
 * listers have. Where it writes: the handle's requests, or the caller's functions.
 */
#include "compat/convert_storage.h"
#include "compat/lister.h"
#include "compat/volume_binder.h"

/* --- writes --- */

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

/* --- objects --- */

/** A walk over what a lister has, into the store. */
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

	/* Without versions nobody can tell whether it changed. */
	if (known == NULL || meta->resource_version.length == 0 ||
		!bt_str_equal(known->resource_version, meta->resource_version) ||
		!bt_str_equal(known->uid, meta->uid)) {
		bt_object_store_put(copying->store, bt_object_create(copying->kind, value));
	}
	return true;
}

static void follow_lister(
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

/** The scheduler keeps no whole nodes; what the binder reads of them is this. */
static void copy_nodes(struct bt_lib_binder *binder)
{
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

static bool has_node(const struct bt_lib_binder *binder, struct bt_str name)
{
	const struct bt_node_table *nodes = &binder->handle->state->nodes;

	if (binder->listers.nodes.get != NULL) {
		return berth_lister_get(&binder->listers.nodes, BT_STR(""), name) != NULL;
	}
	uint32_t slot = bt_node_table_find(nodes, name);
	return slot != BT_SLOT_NONE && nodes->rows[slot].has_node;
}

static void follow_nodes(struct bt_lib_binder *binder)
{
	struct bt_state *state = binder->own_state;

	for (uint32_t slot = 0; slot < state->nodes.slot_count; slot++) {
		struct bt_str name;

		if (!state->nodes.rows[slot].has_node) {
			continue;
		}
		name = bt_node_table_name(&state->nodes, slot);
		if (!has_node(binder, name)) {
			struct bt_arena arena = {0};
			struct bt_node node = {.metadata.name = bt_arena_str(&arena, name)};
			int result = bt_state_remove_node(state, &node, NULL);

			(void)result; /* it is there */
			bt_arena_finish(&arena);
		}
	}
	if (binder->listers.nodes.list != NULL) {
		berth_lister_list(
			&binder->listers.nodes, (struct bt_str){NULL, 0}, put_node, state);
	} else {
		copy_nodes(binder);
	}
}

void bt_lib_binder_follow_listers(struct bt_lib_binder *binder)
{
	if (binder->own_state == NULL) {
		return;
	}
	follow_lister(binder, &binder->listers.csi_nodes, BT_KIND_CSI_NODE);
	follow_lister(binder, &binder->listers.pvcs, BT_KIND_PERSISTENT_VOLUME_CLAIM);
	follow_lister(binder, &binder->listers.pvs, BT_KIND_PERSISTENT_VOLUME);
	follow_lister(binder, &binder->listers.storage_classes, BT_KIND_STORAGE_CLASS);
	follow_lister(binder, &binder->capacity.csi_driver_lister, BT_KIND_CSI_DRIVER);
	follow_lister(binder, &binder->capacity.csi_storage_capacity_lister,
		BT_KIND_CSI_STORAGE_CAPACITY);
	follow_nodes(binder);
}

/* --- the source --- */

void bt_lib_binder_follow_handle(struct bt_lib_binder *binder)
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

void bt_lib_binder_init_source(struct bt_lib_binder *binder)
{
	const struct berth_handle *handle = berth_const_handle_of(binder->handle);
	const struct berth_volume_binder_listers *listers = &binder->listers;
	bool is_handles = bt_lister_is_of_handle(&listers->nodes, handle, "Node") &&
		bt_lister_is_of_handle(&listers->csi_nodes, handle, "CSINode") &&
		bt_lister_is_of_handle(&listers->pvcs, handle, "PersistentVolumeClaim") &&
		bt_lister_is_of_handle(&listers->pvs, handle, "PersistentVolume") &&
		bt_lister_is_of_handle(&listers->storage_classes, handle, "StorageClass") &&
		bt_lister_is_of_handle(&binder->capacity.csi_driver_lister, handle, "CSIDriver") &&
		bt_lister_is_of_handle(&binder->capacity.csi_storage_capacity_lister, handle,
			"CSIStorageCapacity");

	if (!is_handles) {
		struct bt_state_options options = {0};

		binder->own_state = bt_state_create(&options);
	}
	bt_lib_binder_follow_handle(binder);
}

void bt_lib_binder_finish_source(struct bt_lib_binder *binder)
{
	if (binder->own_state != NULL) {
		bt_state_destroy(binder->own_state);
	}
}
