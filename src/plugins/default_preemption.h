/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_PLUGINS_DEFAULT_PREEMPTION_H
#define BT_PLUGINS_DEFAULT_PREEMPTION_H
/** Access to the DefaultPreemption plugin of a profile, for the owner of the engine. */
#include "plugins/preemption_evaluator.h"

/**
 * Returns the evaluator of the plugin, to set hooks, complete writes and read metrics; NULL if the
 * plugin is not enabled.
 */
struct bt_evaluator *bt_default_preemption_evaluator(const struct bt_framework *framework);
/**
 * Returns the decision of PostFilter in this cycle; NULL if the plugin is not enabled or PostFilter
 * did not search for candidates.
 */
const struct bt_preemption_decision *bt_default_preemption_decision(
	const struct bt_framework *framework, const struct bt_cycle_state *cycle);
#endif
