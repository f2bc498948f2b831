/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CEL_CEL_H
#define BT_CEL_CEL_H
/**
 * The Common Expression Language as Kubernetes uses it: compile a text once, evaluate it many
 * times, with a bound on the work. A library of its own: it knows quantities and
 * nothing else of a cluster; the variable `device` is added by cel/device.h. How it is used with
 * variables of one's own: tests/unit/cel/test_cel_alone.c. Spec: 12b.
 *
 * Pure: the same program and values give the same result, whatever thread asks; a program is not
 * changed by an evaluation.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/compiler.h"
#include "base/error.h"
#include "base/str.h"
#include "cel/type.h"
#include "cel/value.h"

/** Units of spec 12b section 10 that one evaluation may use. */
#define BT_CEL_COST_MAX UINT64_C(1000000)
/** Code points of an expression, and how deep it may nest. */
#define BT_CEL_SIZE_MAX 100000
#define BT_CEL_DEPTH_MAX 250

/** The objects that an expression of a MutatingAdmissionPolicy makes. */
enum bt_cel_mutation {
	BT_CEL_MUTATION_NONE,    /* there are no such objects */
	BT_CEL_MUTATION_APPLY,   /* the result is an Object */
	BT_CEL_MUTATION_PATCHES, /* the result is a list of JSONPatch */
};

/** What an expression is checked against. Borrowed for the life of the programs made with it. */
struct bt_cel_environment {
	const struct bt_cel_variable *variables;
	uint32_t variable_count;
	/** The result must be bool (or any, which is tested at run time). false: any type will do.
	 */
	bool wants_bool;
	/** Gate DRAListTypeAttributes: attributes of devices are dyn instead of any, and with
	 * wants_bool a dyn result will do. */
	bool accepts_dyn;
	/** Not NONE: `Object{...}`, `Object.spec{...}`, `JSONPatch{...}` and jsonpatch.escapeKey
	 * are known, and the result is what it says. */
	enum bt_cel_mutation mutation;
};

struct bt_cel_program;

/**
 * err: the whole text after "CEL compile error: ", e.g. `compilation failed: ERROR: <input>:1:1:
 * ...` or `must evaluate to bool or the unknown type, not int` (spec 12b section 12).
 */
BT_MUST_USE int bt_cel_compile(struct bt_str expression,
	const struct bt_cel_environment *environment, struct bt_cel_program **out_program,
	struct berth_error *err);
void bt_cel_program_destroy(struct bt_cel_program *program);
/** Bytes of heap memory held. */
size_t bt_cel_program_bytes(const struct bt_cel_program *program);
/** Kind of the static type of the result. */
enum bt_cel_kind bt_cel_program_result(const struct bt_cel_program *program);
/** Units that an evaluation uses at most, as far as types say how large values are. */
uint64_t bt_cel_program_estimate(const struct bt_cel_program *program);

/** Bounds of one evaluation. */
struct bt_cel_limits {
	uint64_t cost_max;
	/** Asked now and then during long evaluations: true ends it with `operation interrupted:
	 * <cause>`. NULL: never. *out_cause is borrowed until the end of the evaluation. */
	bool (*is_interrupted)(void *context, struct bt_str *out_cause);
	void *context;
	uint64_t *out_cost; /* units used, also up to an error; NULL: not told */
};

/**
 * values: one for each variable of the environment, in its order and of its type. The result,
 * BT_CEL_ERROR among them, lives in the arena and borrows from values and program. Memory taken is
 * bounded by the cost.
 */
struct bt_cel_value bt_cel_evaluate(const struct bt_cel_program *program,
	const struct bt_cel_value *values, const struct bt_cel_limits *limits,
	struct bt_arena *arena);
#endif
