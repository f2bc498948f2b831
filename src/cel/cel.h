/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CEL_CEL_H
#define BT_CEL_CEL_H
/**
 * The Common Expression Language as Kubernetes uses it: compile an expression once, evaluate the
 * program many times, with bounded work. The library is independent of Kubernetes' API types,
 * except for quantities and times; cel/device.h adds the variable `device`, which describes a
 * device of the API. tests/unit/cel/test_cel_alone.c shows how to use other variables. Spec: 12b.
 *
 * Evaluation is pure: the same program and values give the same result on every thread, and the
 * program is not changed.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/compiler.h"
#include "base/error.h"
#include "base/str.h"
#include "base/strbuf.h"
#include "cel/type.h"
#include "cel/value.h"

/** Maximum units (spec 12b section 10) of one evaluation. */
#define BT_CEL_COST_MAX UINT64_C(1000000)
/** Maximum code points and maximum nesting depth of an expression. */
#define BT_CEL_SIZE_MAX 100000
#define BT_CEL_DEPTH_MAX 250

/** What the result of an expression in a MutatingAdmissionPolicy must be. */
enum bt_cel_mutation {
	BT_CEL_MUTATION_NONE,    /* no Object or JSONPatch types */
	BT_CEL_MUTATION_APPLY,   /* the result is an Object */
	BT_CEL_MUTATION_PATCHES, /* the result is a list of JSONPatch */
};

/**
 * The environment of an expression: variables and options. Borrowed for the life of the programs
 * made with it.
 */
struct bt_cel_environment {
	const struct bt_cel_variable *variables;
	uint32_t variable_count;
	/**
	 * true: the result must have the type bool or any; a result of type any is checked at run
	 * time. false: the result may have every type.
	 */
	bool must_be_bool;
	/**
	 * Whether the gate DRAListTypeAttributes is enabled. If so, attributes of devices have the
	 * type dyn instead of any, and must_be_bool also accepts a result of the type dyn.
	 */
	bool accepts_dyn;
	/**
	 * If not NONE, `Object{...}`, `Object.spec{...}`, `JSONPatch{...}` and jsonpatch.escapeKey
	 * are available, and the result must have the type that enum bt_cel_mutation describes.
	 */
	enum bt_cel_mutation mutation;
};

struct bt_cel_program;

/**
 * Compiles an expression. The caller destroys *out_program with bt_cel_program_destroy(). On
 * failure err has the text after "CEL compile error: ", e.g. `compilation failed: ERROR:
 * <input>:1:1: ...` or `must evaluate to bool or the unknown type, not int` (spec 12b section 12).
 */
BT_MUST_USE int bt_cel_compile(struct bt_str expression,
	const struct bt_cel_environment *environment, struct bt_cel_program **out_program,
	struct berth_error *err);
void bt_cel_program_destroy(struct bt_cel_program *program);
/** Heap memory of the program in bytes. */
size_t bt_cel_program_bytes(const struct bt_cel_program *program);
/** Kind of the static type of the result. */
enum bt_cel_kind bt_cel_program_result(const struct bt_cel_program *program);
/** Cost of an evaluation in the worst case; sizes unknown at compile time count as 0. */
uint64_t bt_cel_program_estimate(const struct bt_cel_program *program);

/** Limits of one evaluation. */
struct bt_cel_limits {
	uint64_t cost_max;
	/**
	 * Called repeatedly during long evaluations: true stops the evaluation with `operation
	 * interrupted: <cause>`. NULL: the evaluation cannot be interrupted. *out_cause is borrowed
	 * until the end of the evaluation.
	 */
	bool (*is_interrupted)(void *context, struct bt_str *out_cause);
	void *context;
	uint64_t *out_cost; /* units used, also after an error; may be NULL */
};

/**
 * Evaluates a program. values: one for each variable of the environment, in the same order and of
 * the same types. The result (possibly BT_CEL_ERROR) lives in the arena and borrows from values and
 * program. An evaluation that needs too much memory (BT_CEL_MEMORY_MAX in cel/function.h) ends with
 * the error of the cost limit.
 */
struct bt_cel_value bt_cel_evaluate(const struct bt_cel_program *program,
	const struct bt_cel_value *values, const struct bt_cel_limits *limits,
	struct bt_arena *arena);

/** How bt_cel_rename changes names. */
struct bt_cel_renaming {
	/**
	 * Returns the new text for a name. If the expression names an attribute or capacity
	 * together with its domain, as in device.attributes["domain"].name, then name is
	 * "domain/name". The new text must have the same number of slashes. Borrowed until the
	 * arena ends.
	 */
	struct bt_str (*rename)(void *context, struct bt_str name, struct bt_arena *arena);
	/**
	 * Returns a regular expression that matches the renamed form of every text for which the
	 * call of `function` (startsWith, endsWith or contains) with the argument `part` is true.
	 * Absent: unknown; the call stays, and has_parts is set.
	 */
	struct bt_str (*find_texts)(
		void *context, struct bt_str function, struct bt_str part, struct bt_arena *arena);
	void *context;
	bool has_parts; /* out: the result contains a function that depends on parts of texts */
};

/**
 * Appends the expression to out, with other names of fields and variables and other string
 * literals. Keywords, functions, fields that every device has (device.driver), numbers and amounts
 * stay; comments are dropped. The caller must know whether the meaning stays the same: it does for
 * comparisons of whole texts, but not always for functions on parts of texts. false: the source is
 * not a valid sequence of tokens; nothing is appended.
 */
bool bt_cel_rename(struct bt_str source, struct bt_cel_renaming *renaming, struct bt_arena *arena,
	struct bt_strbuf *out);
#endif
