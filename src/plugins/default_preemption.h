/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_PLUGINS_DEFAULT_PREEMPTION_H
#define BT_PLUGINS_DEFAULT_PREEMPTION_H
/** What the owner of the engine may ask the DefaultPreemption plugin of a profile. */
#include "plugins/preemption_evaluator.h"

/** The evaluator, to set hooks, complete writes and read metrics; NULL: the plugin is not enabled.
 */
struct bt_evaluator *bt_default_preemption_evaluator(const struct bt_framework *framework);
/** What its PostFilter found in this cycle; NULL when it did not look for candidates. */
const struct bt_preemption_decision *bt_default_preemption_decision(
	const struct bt_framework *framework, const struct bt_cycle_state *cycle);
#endif
