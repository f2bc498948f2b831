/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CEL_CHECKER_PRIVATE_H
#define BT_CEL_CHECKER_PRIVATE_H
/** Shared by the files of the type checker. Spec: 12b section 7. */
#include "base/vec.h"
#include "cel/ast.h"
#include "cel/function.h"

/*
 * Type inference: decides whether a type can be assigned to another type, and binds type
 * parameters. Spec: 12b section 7.1.
 *
 * A short expression can have a huge type, because a map type contains two types, which can again
 * be maps. So work and sizes are bounded; is_exhausted records that a bound was exceeded.
 */

/** Maximum parts of a type (bt_cel_type.parts), and maximum steps of one check. */
#define BT_CEL_TYPE_PARTS_MAX 500
#define BT_CEL_INFERENCE_STEPS_MAX 4000000

struct bt_cel_binding {
	uint32_t parameter;
	const struct bt_cel_type *before; /* previous binding; NULL: the parameter was free */
};

struct bt_cel_inference {
	struct bt_arena *arena;
	BT_VEC(const struct bt_cel_type *) bound; /* type of each parameter; NULL: free */
	BT_VEC(struct bt_cel_binding) trail;      /* to undo bindings of a failed attempt */
	uint32_t steps;
	uint32_t depth;
	bool is_exhausted;
};

void bt_cel_inference_finish(struct bt_cel_inference *inference);

const struct bt_cel_type *bt_cel_fresh_parameter(struct bt_cel_inference *inference);
/**
 * Makes a type of this kind. LIST, OPTIONAL and TYPE: first is the inner type, and second is NULL.
 * MAP: first is the type of the keys, second the type of the values. If the new type is too large,
 * sets is_exhausted and returns the type BT_CEL_ERROR.
 */
const struct bt_cel_type *bt_cel_type_make(struct bt_cel_inference *inference,
	enum bt_cel_kind kind, const struct bt_cel_type *first, const struct bt_cel_type *second);

/**
 * Whether a value of the type from[i] can be used as the type to[i], for every i below count. true:
 * binds the type parameters in these types. false: all bindings stay as they were.
 */
bool bt_cel_assign(struct bt_cel_inference *inference, const struct bt_cel_type *const *from,
	const struct bt_cel_type *const *to, uint32_t count);
/** Replaces the bound parameters in a type by their types. is_final: free parameters become dyn. */
const struct bt_cel_type *bt_cel_substitute(
	struct bt_cel_inference *inference, const struct bt_cel_type *type, bool is_final);
/** Returns the more general of the types `a` and `b`. NULL: `a` cannot be used as `b`. */
const struct bt_cel_type *bt_cel_join(struct bt_cel_inference *inference,
	const struct bt_cel_type *a, const struct bt_cel_type *b);
/** Whether two types are identical. */
bool bt_cel_type_is_same(const struct bt_cel_type *a, const struct bt_cel_type *b);

static inline bool bt_cel_type_is_dyn(const struct bt_cel_type *type)
{
	return type->kind == BT_CEL_DYN || type->kind == BT_CEL_ANY || type->kind == BT_CEL_ERROR;
}

/** Types of the result and of the parameters of an overload. */

struct bt_cel_signature {
	const struct bt_cel_type *result;
	const struct bt_cel_type *parameters[BT_CEL_ARGUMENTS_MAX];
	uint32_t count;
};

/** Reads the signature of a row of functions.def; creates fresh type parameters for A and B. */
void bt_cel_signature_read(struct bt_cel_inference *inference, const char *text,
	struct bt_cel_signature *out_signature);

/** Maximum number of overloads of one name and style. */
#define BT_CEL_OVERLOADS_MAX 16
/** The checker stops at this number of issues; messages show at most 100 issues. */
#define BT_CEL_ISSUES_MAX 1000

/** A variable of a macro. */
struct bt_cel_scope {
	struct bt_str name;
	const struct bt_cel_type *type;
	uint32_t slot;
};

struct bt_cel_checker {
	struct bt_cel_inference inference; /* in the scratch arena */
	struct bt_arena *arena;            /* arena of the tree */
	const struct bt_cel_environment *environment;
	struct bt_cel_issues *issues;
	BT_VEC(struct bt_cel_scope) scopes; /* innermost last */
	uint32_t slot_count;
	BT_VEC(const struct bt_cel_type *) objects; /* `Object.spec` ..., created on first use */
	struct bt_strbuf text;                      /* buffer for types in messages */
};

/** A function and its argument types; for a member call the target comes first. */
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

/** Checks a node, adds issues, and writes the type into the node. Never returns NULL. */
const struct bt_cel_type *bt_cel_check_node(
	struct bt_cel_checker *checker, struct bt_cel_node *node);
/**
 * Adds `expected type 'bool' but found 'int'`; type parameters print as `_var<number>`, even if
 * bound.
 */
void bt_cel_report_type(struct bt_cel_issues *issues, uint32_t position,
	const struct bt_cel_type *expected, const struct bt_cel_type *found);
/** Returns whether a checked node can be used as bool; if not, adds an issue. */
bool bt_cel_expect_bool(struct bt_cel_checker *checker, const struct bt_cel_node *node);
/**
 * Selects the overloads that accept the argument types. false: the function is unknown, or no
 * overload accepts the types; an issue is added.
 */
bool bt_cel_resolve(struct bt_cel_checker *checker, const struct bt_cel_application *application,
	struct bt_cel_resolution *out_resolution);

/* checker_macro.c */

const struct bt_cel_type *bt_cel_check_macro(
	struct bt_cel_checker *checker, struct bt_cel_node *node);
#endif
