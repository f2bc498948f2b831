/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SCHEMA_NORMALISE_PRIVATE_H
#define BT_SCHEMA_NORMALISE_PRIVATE_H
/** Between normalise.c, which walks the tree, and normalise_value.c, which knows the values. */
#include "schema/schema_private.h"

enum bt_normalise_step {
	BT_NORMALISE_FIELD,
	BT_NORMALISE_KEY,   /* of a map */
	BT_NORMALISE_INDEX, /* of a list */
};

/** The way to a value; on the stack, innermost first. */
struct bt_normalise_at {
	const struct bt_normalise_at *up;
	enum bt_normalise_step step;
	uint32_t index;
	struct bt_str name;
	const struct bt_schema_message *owner;      /* BT_NORMALISE_FIELD */
	const struct bt_schema_field *inline_field; /* that the field sits in, or NULL */
};

struct bt_normalise {
	struct bt_arena *arena;
	const struct bt_schema_watcher *watcher; /* NULL: nobody listens */
	uint32_t problem_count;                  /* that the watcher counts */
	bool partial;                            /* missing ALWAYS members stay missing */
	struct bt_strbuf scratch;
	struct berth_error *err;
};

/**
 * Bring a value that is neither null, a message nor of a list or map to its canonical form.
 * A time without instant becomes null.
 */
BT_MUST_USE int bt_normalise_scalar(struct bt_normalise *run, const struct bt_schema_field *field,
	const struct bt_normalise_at *at, struct bt_json_value *value);
/** "cannot unmarshal": value is not what the field holds; element: what a list or map holds. */
int bt_normalise_mismatch(struct bt_normalise *run, const struct bt_schema_field *field,
	bool element, const struct bt_normalise_at *at, const struct bt_json_value *value);
/** Make value, which was null or is new, the zero value of what the field holds one of. */
void bt_normalise_set_zero(const struct bt_schema_field *field, struct bt_json_value *value);
/** Whether Go leaves the value out where it has omitempty. */
bool bt_normalise_is_zero(const struct bt_schema_field *field, const struct bt_json_value *value);
#endif
