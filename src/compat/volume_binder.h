/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_COMPAT_VOLUME_BINDER_H
#define BT_COMPAT_VOLUME_BINDER_H
/** Volume binders inside out: the one of src/plugins as a public one, and the other way round. */
#include "berth/volume_binder.h"
#include "plugins/volume_binder_private.h"

/** What berth_volume_binder_create makes. */
struct bt_lib_binder {
	struct berth_volume_binder base;
	const struct bt_handle *handle; /* the caller's, borrowed */
	struct bt_handle own_handle;    /* what the inner binder is given; brought up to date by
	                                   each operation */
	struct bt_state *own_state;     /* with listers of the caller's: copies of their objects */
	struct berth_volume_binder_listers listers;
	struct berth_capacity_check capacity;
	struct bt_volume_writer writer; /* in front of the handle's */
	struct bt_volume_binder *inside;
};

/**
 * A binder for the in-tree plugin that passes everything on to **outside, looked up at each call.
 * owned; outside is borrowed.
 */
BT_MUST_USE struct bt_volume_binder *bt_outside_binder_create(
	struct berth_volume_binder *const *outside);
/** The same for one that it owns. */
BT_MUST_USE struct bt_volume_binder *bt_outside_binder_own(struct berth_volume_binder *outside);

/** The node in the handle's state: a view as it is, for an aggregate that stands alone the node of
 * its name. NULL: unknown. buffer: where to put what is looked up. */
const struct bt_node_info *bt_lib_node_view(const struct bt_handle *handle,
	const struct berth_node_info *node, struct bt_node_info *buffer);

/** Lists of claims with public members, in the arena. */
struct berth_pvc_list bt_lib_pvc_list(const struct bt_claim_list *list, struct bt_arena *arena);
struct bt_claim_list bt_lib_claim_list(const struct berth_pvc_list *list, struct bt_arena *arena);
/** Public members from inner ones, in the arena; work and next_check_ns are the caller's. */
void bt_lib_show_volumes(const struct bt_pod_volumes *inside, struct berth_pod_volumes *out_volumes,
	struct bt_arena *arena);
/** The other way round; progress is the caller's. */
void bt_lib_read_volumes(const struct berth_pod_volumes *volumes, struct bt_pod_volumes *out_inside,
	struct bt_arena *arena);
#endif
