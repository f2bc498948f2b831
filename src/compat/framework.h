/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_COMPAT_FRAMEWORK_H
#define BT_COMPAT_FRAMEWORK_H
/** Functions of the public framework for preemption and the scheduling cycle. */
#include "berth/framework.h"
#include "framework/framework.h"
#include "lib/convert.h"

/**
 * Returns the internal cycle state. If the caller created the state and no framework has used it
 * yet, the state is set up for this framework's number of plugins.
 */
struct bt_cycle_state *bt_lib_adopt_cycle(
	const struct bt_framework *framework, struct berth_cycle_state *state);
/**
 * Returns the internal form of `outside`. If `outside` is a view, returns the list behind the view.
 * If `outside` is a map, builds the form in *memory without the nodes that are not in the snapshot;
 * the caller must then finish memory->entries.
 */
const struct bt_node_statuses *bt_lib_node_statuses(const struct berth_node_to_status *outside,
	const struct bt_state *state, struct bt_node_statuses *memory);
#endif
