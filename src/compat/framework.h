/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_COMPAT_FRAMEWORK_H
#define BT_COMPAT_FRAMEWORK_H
/** Shared by the files of the public framework. */
#include "berth/framework.h"
#include "framework/framework.h"
#include "lib/convert.h"

/**
 * The state as this framework's runners use it: a state that the library made has room for any
 * framework's plugins and belongs to the first one that runs on it.
 */
struct bt_cycle_state *bt_lib_adopt_cycle(
	const struct bt_framework *framework, struct berth_cycle_state *state);
/** Slot of a node of the framework's cluster; BT_SLOT_NONE and a status when there is none. */
uint32_t bt_lib_find_slot(const struct bt_framework *framework, struct bt_str node_name,
	struct bt_arena *arena, struct bt_status *out_status);
/** Slots of nodes, in the arena; NULL and a status when one is not of the framework's cluster. */
uint32_t *bt_lib_slots_of(const struct bt_framework *framework,
	const struct berth_node_info *const *nodes, uint32_t count, struct bt_arena *arena,
	struct bt_status *out_status);
/** Success, or why this node info cannot be used with the framework. */
struct bt_status bt_lib_check_node(const struct bt_framework *framework,
	const struct bt_node_info *node, struct bt_arena *arena);
/** Internal form of a map of statuses: a view's own, or one made in *memory (vector) by name. */
const struct bt_node_statuses *bt_lib_node_statuses(const struct berth_node_to_status *outside,
	const struct bt_state *state, struct bt_node_statuses *memory);
#endif
