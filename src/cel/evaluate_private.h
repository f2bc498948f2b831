/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CEL_EVALUATE_PRIVATE_H
#define BT_CEL_EVALUATE_PRIVATE_H
/** Between the files of the evaluator. Spec: 12b section 8. */
#include "cel/ast.h"
#include "cel/function.h"

#define BT_CEL_NO_OVERLOAD BT_STR("no such overload")

/** A variable of a macro. */
struct bt_cel_local {
	struct bt_cel_value value;
	const struct bt_cel_node *pending; /* cel.bind: evaluated when it is first used */
};

static inline bool bt_cel_is_stopped(const struct bt_cel_evaluation *evaluation)
{
	return evaluation->stop.kind == BT_CEL_ERROR;
}

/** evaluation.c: all zero but for what the arguments say. */
void bt_cel_evaluation_init(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_program *program, const struct bt_cel_value *variables,
	const struct bt_cel_limits *limits, struct bt_arena *arena);
/** Before each step of a macro: asks now and then whether to go on. false: stop. */
bool bt_cel_evaluation_iterate(struct bt_cel_evaluation *evaluation);

/* evaluate.c */

/** The program's result, BT_CEL_ERROR among them. */
struct bt_cel_value bt_cel_evaluation_run(struct bt_cel_evaluation *evaluation);
struct bt_cel_value bt_cel_evaluate_node(
	struct bt_cel_evaluation *evaluation, const struct bt_cel_node *node);

/* evaluate_call.c */

struct bt_cel_value bt_cel_evaluate_call(
	struct bt_cel_evaluation *evaluation, const struct bt_cel_node *node);

/* evaluate_macro.c */

struct bt_cel_value bt_cel_evaluate_macro(
	struct bt_cel_evaluation *evaluation, const struct bt_cel_node *node);

/* lookup.c: spec 12b section 8.3 */

/** container[key]. Of an optional: an optional. */
struct bt_cel_value bt_cel_lookup(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *container, const struct bt_cel_value *key);
/** container[?key] */
struct bt_cel_value bt_cel_lookup_optional(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *container, const struct bt_cel_value *key);
/** has(container.field) */
struct bt_cel_value bt_cel_lookup_test(
	const struct bt_cel_value *container, const struct bt_cel_value *field);

/* arithmetic.c: spec 12b sections 8.6 and 8.7 */

/** operation: BT_CEL_OP_LESS ... BT_CEL_OP_GREATER_EQUAL, BT_CEL_OP_ADD ... BT_CEL_OP_MODULO. */
struct bt_cel_value bt_cel_arithmetic(struct bt_cel_evaluation *evaluation,
	enum bt_cel_operator operation, struct bt_str function, const struct bt_cel_value *left,
	const struct bt_cel_value *right);
struct bt_cel_value bt_cel_ordering(struct bt_cel_evaluation *evaluation,
	enum bt_cel_operator operation, struct bt_str function, const struct bt_cel_value *left,
	const struct bt_cel_value *right);
struct bt_cel_value bt_cel_negate(
	struct bt_cel_evaluation *evaluation, const struct bt_cel_value *operand);
/** Units of == and of an ordering. Spec: 12b section 10. */
bool bt_cel_charge_comparison(struct bt_cel_evaluation *evaluation, const struct bt_cel_value *left,
	const struct bt_cel_value *right);
#endif
