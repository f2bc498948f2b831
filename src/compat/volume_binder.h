/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_COMPAT_VOLUME_BINDER_H
#define BT_COMPAT_VOLUME_BINDER_H
/** Adapters between volume binders of src/plugins and public volume binders, in both directions. */
#include "berth/volume_binder.h"
#include "plugins/volume_binder_private.h"

/** The result of berth_volume_binder_create: a public binder that calls a binder of src/plugins. */
struct bt_lib_binder {
	struct berth_volume_binder base;
	const struct bt_handle *handle; /* the caller's, borrowed */
	struct bt_handle own_handle;    /* copy for `inside`; each operation updates the copy */
	struct bt_state
		*own_state; /* objects of the caller's listers; NULL: use the handle's state */
	struct berth_volume_binder_listers listers;
	struct berth_capacity_check capacity;
	struct bt_volume_writer
		writer; /* writer of `inside`: the caller's functions, or the handle's writer */
	struct bt_volume_binder *inside;
};

/** The public form of each conflict, by bit of enum bt_volume_conflict. */
extern const enum berth_conflict_reason bt_lib_conflicts[BT_VOLUME_CONFLICTS];

/**
 * Creates a binder that the in-tree plugin can use and that calls the public binder **outside. The
 * pointer *outside is borrowed, and read at each call, so it may change. outside NULL: calls
 * `owned`. owned: destroyed with the new binder; NULL if outside is set. The caller owns the
 * result.
 */
BT_MUST_USE struct bt_volume_binder *bt_outside_binder_create(
	struct berth_volume_binder *const *outside, struct berth_volume_binder *owned);

/**
 * Returns a view of the node in the handle's state. A view is returned as it is; for a standalone
 * aggregate, *buffer becomes the view of the node with the same name. NULL: there is no such node.
 */
const struct bt_node_info *bt_lib_node_view(const struct bt_handle *handle,
	const struct berth_node_info *node, struct bt_node_info *buffer);

/**
 * Convert lists of claims to the public form, and to the internal form. The results are in the
 * arena.
 */
struct berth_pvc_list bt_lib_pvc_list(const struct bt_claim_list *list, struct bt_arena *arena);
struct bt_claim_list bt_lib_claim_list(const struct berth_pvc_list *list, struct bt_arena *arena);
/** Sets the lists of *out_volumes, in the arena. The caller sets work and next_check_ns. */
void bt_lib_volumes_to_public(const struct bt_pod_volumes *inside,
	struct berth_pod_volumes *out_volumes, struct bt_arena *arena);
/** Sets the lists of *out_inside, in the arena. The caller sets progress. */
void bt_lib_volumes_from_public(const struct berth_pod_volumes *volumes,
	struct bt_pod_volumes *out_inside, struct bt_arena *arena);
#endif
