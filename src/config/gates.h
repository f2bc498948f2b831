/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CONFIG_GATES_H
#define BT_CONFIG_GATES_H
/**
 * Feature gates of v1.36, and their state in the releases that can be emulated. gates.def lists the
 * gates with stages, defaults and dependencies. Spec: 10 section 2, 11 section 5, 05 section 2.4.
 */
#include <stdbool.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "codec/message.h"

enum bt_gate {
#define BT_GATE(name, upper, stage, value, locked) BT_GATE_##upper,
#include "config/gates.def"
	BT_GATE__COUNT,
};

enum bt_gate_stage {
	BT_GATE_STAGE_ALPHA,
	BT_GATE_STAGE_BETA,
	BT_GATE_STAGE_GA,
	BT_GATE_STAGE_DEPRECATED,
	BT_GATE_STAGE_NONE, /* the gate does not exist in the emulated release */
};

/** State of a gate in one release. */
struct bt_gate_state {
	enum bt_gate_stage stage;
	bool value;  /* default */
	bool locked; /* the default value cannot be changed */
};

/** The emulated release 1.x and the minimum compatibility version 1.x, as minor versions. */
struct bt_gate_release {
	int emulated_minor;
	int min_compatibility_minor; /* only for messages */
};

/**
 * The first constant is the newest release with a gate table, which is the default release. The
 * second constant is the oldest release that can be emulated.
 */
#define BT_GATE_RELEASE_MINOR 36
#define BT_GATE_RELEASE_OLDEST_MINOR 33

enum bt_gate_warning_kind {
	BT_GATE_WARNING_GA,         /* a GA gate was set; the gate will be removed */
	BT_GATE_WARNING_DEPRECATED, /* a deprecated gate was set; the gate will be removed */
	BT_GATE_WARNING_UNKNOWN,    /* the gate is not in gates.def and is ignored */
};

struct bt_gate_warning {
	enum bt_gate_warning_kind kind;
	struct bt_str gate;
	bool value;
};

typedef BT_LIST(struct bt_gate_warning) bt_gate_warning_list;

struct bt_gates {
	bool enabled[BT_GATE__COUNT];
	/** Values of the pseudo gates AllAlpha and AllBeta. */
	bool all_alpha;
	bool all_beta;
};

/** Maximum length of a --feature-gates value, in bytes. */
#define BT_GATES_TEXT_MAX 65536

/** Returns the defaults of v1.36. */
struct bt_gates bt_gates_default(void);
/**
 * Sets gates from text such as "Name=true,kube:Other=false", in the format of --feature-gates (the
 * values of repeated flags are joined by commas). AllAlpha and AllBeta set the gates of their stage
 * that text does not name. Unknown gates are errors; messages are upstream's. gates is untouched on
 * failure. Returns 0, BERTH_ERR_INVALID or BERTH_ERR_TOO_LARGE.
 */
BT_MUST_USE int bt_gates_set(struct bt_gates *gates, struct bt_str text, struct berth_error *err);

/** Returns the defaults of release 1.minor. */
struct bt_gates bt_gates_default_at(int minor);
/**
 * Sets out_gates to the defaults of an emulated release (NULL: v1.36), then applies text as
 * bt_gates_set does, with the stages of that release. An unknown gate is an error if is_strict is
 * true, else a warning. out_warnings is a list in the arena: first the warnings about GA and
 * deprecated gates in the order of gates.def, then the warnings about unknown gates in the order of
 * text. On failure, out_gates and out_warnings are untouched. Returns 0, BERTH_ERR_INVALID or
 * BERTH_ERR_TOO_LARGE.
 */
BT_MUST_USE int bt_gates_set_at(const struct bt_gate_release *release, bool is_strict,
	struct bt_str text, struct bt_gates *out_gates, bt_gate_warning_list *out_warnings,
	struct bt_arena *arena, struct berth_error *err);
/**
 * Returns the text of a warning without the gate's name, such as "Warning: unknown feature gate is
 * ignored.".
 */
const char *bt_gate_warning_text(enum bt_gate_warning_kind kind);

static inline bool bt_gate_enabled(const struct bt_gates *gates, enum bt_gate gate)
{
	return gates->enabled[gate];
}

const char *bt_gate_name(enum bt_gate gate);
/** Returns the state of a gate in release 1.minor; minor is clamped to the supported range. */
struct bt_gate_state bt_gate_state_at(enum bt_gate gate, int minor);
/** Returns "ALPHA", "BETA" or "DEPRECATED"; "" for GA and BT_GATE_STAGE_NONE. */
const char *bt_gate_stage_name(enum bt_gate_stage stage);
/** Returns BT_GATE__COUNT if there is no gate of this name. */
enum bt_gate bt_gate_find(struct bt_str name);
#endif
