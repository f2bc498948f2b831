/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CEL_EVALUATE_PRIVATE_H
#define BT_CEL_EVALUATE_PRIVATE_H
/** Shared by the files of the evaluator. Spec: 12b section 8. */
#include "cel/ast.h"
#include "cel/function.h"

#define BT_CEL_NO_OVERLOAD BT_STR("no such overload")

/** A variable of a macro. */
struct bt_cel_local {
	struct bt_cel_value value;
	const struct bt_cel_node *pending; /* cel.bind: value to evaluate on first use */
};

static inline bool bt_cel_is_stopped(const struct bt_cel_evaluation *evaluation)
{
	return evaluation->stop.kind == BT_CEL_ERROR;
}

/* evaluate.c */

/** Initialises an evaluation. variables: values of the environment's variables, by index. */
void bt_cel_evaluation_init(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_program *program, const struct bt_cel_value *variables,
	const struct bt_cel_limits *limits, struct bt_arena *arena);
/** Call before each step of a macro: polls is_interrupted every few steps. false: stop. */
bool bt_cel_evaluation_iterate(struct bt_cel_evaluation *evaluation);
/** Returns the program's result, possibly BT_CEL_ERROR. */
struct bt_cel_value bt_cel_evaluation_run(struct bt_cel_evaluation *evaluation);
struct bt_cel_value bt_cel_evaluate_node(
	struct bt_cel_evaluation *evaluation, const struct bt_cel_node *node);

/* evaluate_call.c */

struct bt_cel_value bt_cel_evaluate_call(
	struct bt_cel_evaluation *evaluation, const struct bt_cel_node *node);

/** Evaluates +, -, *, / or % (not of doubles) of two numbers of the same kind. */
struct bt_cel_value bt_cel_number_arithmetic(
	enum bt_cel_operator operation, struct bt_cel_value left, const struct bt_cel_value *right);

/* evaluate_macro.c */

struct bt_cel_value bt_cel_evaluate_macro(
	struct bt_cel_evaluation *evaluation, const struct bt_cel_node *node);

/* evaluate.c: spec 12b section 8.3 */

/** Evaluates container[key]. An optional container gives an optional. */
struct bt_cel_value bt_cel_lookup(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *container, const struct bt_cel_value *key);
/** Evaluates container[?key]. */
struct bt_cel_value bt_cel_lookup_optional(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *container, const struct bt_cel_value *key);

/** A compiled expression. */
struct bt_cel_program {
	struct bt_arena arena; /* the tree and everything in it */
	struct bt_cel_node *root;
	const struct bt_cel_environment *environment;
	uint32_t local_count;
	enum bt_cel_kind result;
	uint64_t estimate;                     /* units */
	BT_VEC(struct bt_cel_regex *) regexes; /* constant patterns; owned */
	size_t pattern_bytes;                  /* memory of all patterns compiled so far */
};
#endif
