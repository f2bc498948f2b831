/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CONFIG_GATES_H
#define BT_CONFIG_GATES_H
/**
 * Feature gates of v1.36: the set, stages, defaults and dependencies stand in gates.def.
 * Spec: 10 section 2, 11 section 5, 05 section 2.4.
 */
#include <stdbool.h>

#include "base/error.h"
#include "base/str.h"

enum bt_gate {
#define BT_GATE(name, upper, stage, value, locked) BT_GATE_##upper,
#include "config/gates.def"
	BT_GATE__COUNT,
};

enum bt_gate_stage {
	BT_GATE_STAGE_ALPHA,
	BT_GATE_STAGE_BETA,
	BT_GATE_STAGE_GA,
};

struct bt_gates {
	bool enabled[BT_GATE__COUNT];
};

/** A --feature-gates value longer than this is refused. */
#define BT_GATES_TEXT_MAX 65536

/** Defaults of v1.36. */
struct bt_gates bt_gates_default(void);
/**
 * "Name=true,kube:Other=false" as --feature-gates takes it (several flags: joined by commas), with
 * upstream's messages; AllAlpha and AllBeta set the gates of their stage that text does not name.
 * gates is untouched on failure. Returns 0, BERTH_ERR_INVALID or BERTH_ERR_TOO_LARGE.
 */
BT_MUST_USE int bt_gates_set(struct bt_gates *gates, struct bt_str text, struct berth_error *err);

static inline bool bt_gate_enabled(const struct bt_gates *gates, enum bt_gate gate)
{
	return gates->enabled[gate];
}

const char *bt_gate_name(enum bt_gate gate);
enum bt_gate_stage bt_gate_stage(enum bt_gate gate);
bool bt_gate_default(enum bt_gate gate);
bool bt_gate_is_locked(enum bt_gate gate);
/** BT_GATE__COUNT when there is none of this name. */
enum bt_gate bt_gate_find(struct bt_str name);
#endif
