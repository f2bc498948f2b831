/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_COMPAT_VOLUME_BINDER_H
#define BT_COMPAT_VOLUME_BINDER_H
/** Adapters between the volume binder of src/plugins and the public one, in both directions. */
#include "berth/volume_binder.h"
#include "plugins/volume_binder_private.h"

/** The binder that berth_volume_binder_create makes. */
struct bt_lib_binder {
	struct berth_volume_binder base;
	const struct bt_handle *handle; /* the caller's, borrowed */
	struct bt_handle own_handle;    /* handle of the inner binder; each operation updates it */
	struct bt_state *own_state;     /* copies of objects of the caller's listers */
	struct berth_volume_binder_listers listers;
	struct berth_capacity_check capacity;
	struct bt_volume_writer writer; /* wraps the handle's writer */
	struct bt_volume_binder *inside;
};

/** The same conflict as a public reason, as the plugin's flag, and as a reason of a status. */
struct bt_lib_conflict {
	enum berth_conflict_reason reason;
	enum bt_volume_conflict conflict;
	enum bt_reason text;
};

/** In the order in which a binder reports the reasons: spec 07 section 7.1. */
extern const struct bt_lib_conflict bt_lib_conflicts[BERTH_CONFLICT_REASONS_MAX];

/**
 * Creates a binder for the in-tree plugin that forwards every call to **outside, which is read
 * again at each call. owned; outside is borrowed.
 */
BT_MUST_USE struct bt_volume_binder *bt_outside_binder_create(
	struct berth_volume_binder *const *outside);
/** Like bt_outside_binder_create, but the new binder owns `outside`. */
BT_MUST_USE struct bt_volume_binder *bt_outside_binder_own(struct berth_volume_binder *outside);

/**
 * Returns the node as a view of the handle's state: the node itself if it is a view, for an
 * aggregate the node with the same name. NULL: unknown node. buffer: memory for the result.
 */
const struct bt_node_info *bt_lib_node_view(const struct bt_handle *handle,
	const struct berth_node_info *node, struct bt_node_info *buffer);

/** Convert lists of claims to the public form and back, in the arena. */
struct berth_pvc_list bt_lib_pvc_list(const struct bt_claim_list *list, struct bt_arena *arena);
struct bt_claim_list bt_lib_claim_list(const struct berth_pvc_list *list, struct bt_arena *arena);
/** Converts to public members, in the arena; the caller sets work and next_check_ns. */
void bt_lib_show_volumes(const struct bt_pod_volumes *inside, struct berth_pod_volumes *out_volumes,
	struct bt_arena *arena);
/** Converts public members to the internal form. The caller must set progress. */
void bt_lib_read_volumes(const struct berth_pod_volumes *volumes, struct bt_pod_volumes *out_inside,
	struct bt_arena *arena);
#endif
