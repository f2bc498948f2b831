/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SCHEMA_NORMALISE_PRIVATE_H
#define BT_SCHEMA_NORMALISE_PRIVATE_H
/** Shared by normalise.c, which walks the tree, and normalise_value.c, which converts values. */
#include "schema/schema_private.h"

enum bt_normalise_step {
	BT_NORMALISE_FIELD,
	BT_NORMALISE_KEY,   /* key of a map */
	BT_NORMALISE_INDEX, /* index in a list */
};

/** Path to a value, a linked list on the stack; up is the parent. */
struct bt_normalise_at {
	const struct bt_normalise_at *up;
	enum bt_normalise_step step;
	uint32_t index;
	struct bt_str name;
	const struct bt_schema_message *owner;      /* BT_NORMALISE_FIELD */
	const struct bt_schema_field *inline_field; /* contains the field; NULL: none */
};

struct bt_normalise {
	struct bt_arena *arena;
	const struct bt_schema_watcher *watcher; /* NULL: none */
	uint32_t problem_count;                  /* problems for which the watcher returned true */
	bool partial;                            /* do not add missing ALWAYS members */
	struct bt_strbuf scratch;
	struct berth_error *err;
};

/** Normalises a single value that is neither null nor a message. The zero time becomes null. */
BT_MUST_USE int bt_normalise_scalar(struct bt_normalise *run, const struct bt_schema_field *field,
	const struct bt_normalise_at *at, struct bt_json_value *value);
/**
 * Sets the error "cannot unmarshal" and returns BERTH_ERR_INVALID. The error names the type of the
 * field; if element is true, it names the type of one element or map value of the field.
 */
int bt_normalise_mismatch(struct bt_normalise *run, const struct bt_schema_field *field,
	bool element, const struct bt_normalise_at *at, const struct bt_json_value *value);
/**
 * Sets value to the zero value of the field's type. For a list or map, that is the zero value of
 * an element or map value.
 */
void bt_normalise_set_zero(const struct bt_schema_field *field, struct bt_json_value *value);
/** Whether the value is a value that Go omits for a field with omitempty. */
bool bt_normalise_is_zero(const struct bt_schema_field *field, const struct bt_json_value *value);
#endif
