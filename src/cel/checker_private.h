/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CEL_CHECKER_PRIVATE_H
#define BT_CEL_CHECKER_PRIVATE_H
/** The type checker, between its files. Spec: 12b section 7. */
#include "base/vec.h"
#include "cel/ast.h"
#include "cel/function.h"

/*
 * What the checker knows about types while it works: which types go where, and what the parameters
 * met so far stand for. Spec: 12b section 7.1.
 *
 * Expressions can be written whose types are gigantic (a map of a map to the same map ...): work
 * and sizes are bounded, and passing a bound is remembered in is_exhausted.
 */

/** Parts of one type, and steps of one check. */
#define BT_CEL_TYPE_PARTS_MAX 500
#define BT_CEL_INFERENCE_STEPS_MAX 4000000

struct bt_cel_binding {
	uint32_t parameter;
	const struct bt_cel_type *before; /* NULL: nothing */
};

struct bt_cel_inference {
	struct bt_arena *arena;
	BT_VEC(const struct bt_cel_type *) bound; /* by parameter; NULL: free */
	BT_VEC(struct bt_cel_binding) trail;      /* to undo what an attempt bound */
	uint32_t steps;
	uint32_t depth;
	bool is_exhausted;
};

void bt_cel_inference_finish(struct bt_cel_inference *inference);

const struct bt_cel_type *bt_cel_fresh_parameter(struct bt_cel_inference *inference);
/** A LIST, OPTIONAL or TYPE of first, a MAP of both. */
const struct bt_cel_type *bt_cel_type_make(struct bt_cel_inference *inference,
	enum bt_cel_kind kind, const struct bt_cel_type *first, const struct bt_cel_type *second);

/**
 * Whether values of types `from` can be used where types `to` are asked for, one by one; then the
 * parameters in them are bound, otherwise everything is as it was.
 */
bool bt_cel_assign(struct bt_cel_inference *inference, const struct bt_cel_type *const *from,
	const struct bt_cel_type *const *to, uint32_t count);
/** The type with everything put in that is known; is_final: dyn for parameters that stayed free. */
const struct bt_cel_type *bt_cel_substitute(
	struct bt_cel_inference *inference, const struct bt_cel_type *type, bool is_final);
/** The more general of two types if a can be used as b; NULL: it cannot. */
const struct bt_cel_type *bt_cel_join(struct bt_cel_inference *inference,
	const struct bt_cel_type *a, const struct bt_cel_type *b);
/** The very same type. */
bool bt_cel_type_is_same(const struct bt_cel_type *a, const struct bt_cel_type *b);

static inline bool bt_cel_type_is_dyn(const struct bt_cel_type *type)
{
	return type->kind == BT_CEL_DYN || type->kind == BT_CEL_ANY || type->kind == BT_CEL_ERROR;
}

/** signature.c */

struct bt_cel_signature {
	const struct bt_cel_type *result;
	const struct bt_cel_type *parameters[BT_CEL_ARGUMENTS_MAX];
	uint32_t count;
};

/** The types of a row of functions.def, with fresh parameters. */
void bt_cel_signature_read(struct bt_cel_inference *inference, const char *text,
	struct bt_cel_signature *out_signature);

/** Overloads of one name and style, at most. */
#define BT_CEL_OVERLOADS_MAX 16
/** Issues after which nothing more is looked at; 100 are shown. */
#define BT_CEL_ISSUES_MAX 1000

/** A variable of a macro. */
struct bt_cel_scope {
	struct bt_str name;
	const struct bt_cel_type *type;
	uint32_t slot;
};

struct bt_cel_checker {
	struct bt_cel_inference inference; /* in the scratch arena */
	struct bt_arena *arena;            /* of the tree */
	const struct bt_cel_environment *environment;
	struct bt_cel_issues *issues;
	BT_VEC(struct bt_cel_scope) scopes; /* innermost last */
	uint32_t slot_count;
	BT_VEC(const struct bt_cel_type *) objects; /* `Object.spec` ..., as far as they are used */
	struct bt_strbuf text;                      /* of a type, for messages */
};

/** A function and the types that it is called with, the target of a member call first. */
struct bt_cel_application {
	struct bt_str function;
	enum bt_cel_style style;
	const struct bt_cel_type *const *arguments;
	uint32_t count;
	uint32_t position;
};

struct bt_cel_resolution {
	const struct bt_cel_type *result;
	const struct bt_cel_overload *overloads[BT_CEL_OVERLOADS_MAX];
	uint8_t kinds[BT_CEL_OVERLOADS_MAX][BT_CEL_ARGUMENTS_MAX];
	uint32_t count;
};

/* checker.c */

/** The type of a node, which is written into it, and its issues. Never NULL. */
const struct bt_cel_type *bt_cel_check_node(
	struct bt_cel_checker *checker, struct bt_cel_node *node);
/** `expected type 'bool' but found 'int'`; parameters are printed as such, also bound ones. */
void bt_cel_report_type(struct bt_cel_issues *issues, uint32_t position,
	const struct bt_cel_type *expected, const struct bt_cel_type *found);
/** The same, and false, unless the type of the node, which was checked, can be used as bool. */
bool bt_cel_expect_bool(struct bt_cel_checker *checker, const struct bt_cel_node *node);
/** false, with an issue: no overload takes these types, or there is no such function. */
bool bt_cel_resolve(struct bt_cel_checker *checker, const struct bt_cel_application *application,
	struct bt_cel_resolution *out_resolution);

/* checker_macro.c */

const struct bt_cel_type *bt_cel_check_macro(
	struct bt_cel_checker *checker, struct bt_cel_node *node);
#endif
