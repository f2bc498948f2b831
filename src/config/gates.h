/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CONFIG_GATES_H
#define BT_CONFIG_GATES_H
/** Feature gates of v1.36: the set, stages and defaults stand in gates.def. Spec: 10 (gates), 05 section 2.4. */
#include <stdbool.h>

#include "base/error.h"
#include "base/str.h"

enum bt_gate {
#define BT_GATE(name, upper, stage, value, locked) BT_GATE_##upper,
#include "config/gates.def"
#undef BT_GATE
	BT_GATE__COUNT,
};

struct bt_gates {
	bool enabled[BT_GATE__COUNT];
};

/** Defaults of v1.36. */
struct bt_gates bt_gates_default(void);
/** "Name=true,Other=false" as --feature-gates takes it, with upstream's messages; AllAlpha and AllBeta included. */
BT_MUST_USE int bt_gates_set(struct bt_gates *gates, struct bt_str text, struct berth_error *err);
static inline bool bt_gate_enabled(const struct bt_gates *gates, enum bt_gate gate)
{
	return gates->enabled[gate];
}
const char *bt_gate_name(enum bt_gate gate);
#endif
