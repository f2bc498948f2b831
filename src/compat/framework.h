/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_COMPAT_FRAMEWORK_H
#define BT_COMPAT_FRAMEWORK_H
/** Shared by the files of the public framework. */
#include "berth/framework.h"
#include "framework/framework.h"
#include "lib/convert.h"

/**
 * Prepares a cycle state for this framework's runners: a state that the library made has room for
 * any framework's plugins and belongs to the first framework that runs on it.
 */
struct bt_cycle_state *bt_lib_adopt_cycle(
	const struct bt_framework *framework, struct berth_cycle_state *state);
/**
 * Returns the internal form of a map of statuses. For a view, this is the view's; otherwise it is
 * built in *memory (a vector), and nodes are found by name.
 */
const struct bt_node_statuses *bt_lib_node_statuses(const struct berth_node_to_status *outside,
	const struct bt_state *state, struct bt_node_statuses *memory);
#endif
