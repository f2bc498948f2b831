/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CEL_INFERENCE_H
#define BT_CEL_INFERENCE_H
/**
 * What the checker knows about types while it works: which types go where, and what the parameters
 * met so far stand for. Spec: 12b section 7.1.
 *
 * Expressions can be written whose types are gigantic (a map of a map to the same map ...): work
 * and sizes are bounded, and passing a bound is remembered in is_exhausted.
 */
#include "base/vec.h"
#include "cel/ast.h"
#include "cel/function.h"

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
#endif
