/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_COMPAT_FRAMEWORK_H
#define BT_COMPAT_FRAMEWORK_H
/** What the public framework offers to preemption and to the scheduling cycle. */
#include "berth/framework.h"
#include "framework/framework.h"
#include "lib/convert.h"

/**
 * Returns the internal cycle state. If the caller created the state and no framework has used it
 * yet, it becomes a state of this framework's plugins.
 */
struct bt_cycle_state *bt_lib_adopt_cycle(
	const struct bt_framework *framework, struct berth_cycle_state *state);
/**
 * Returns the internal form of statuses by node. For a view that form exists; for a map it is built
 * in *memory, whose entries the caller must finish, and nodes that are not in the snapshot are left
 * out.
 */
const struct bt_node_statuses *bt_lib_node_statuses(const struct berth_node_to_status *outside,
	const struct bt_state *state, struct bt_node_statuses *memory);
#endif
