/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CODEC_JSON_REBASE_H
#define BT_CODEC_JSON_REBASE_H
/**
 * A change made to a part of a document, carried over to all of it: what a program does not know
 * of an object survives when it writes the object back.
 */
#include "codec/json_edit.h"

/**
 * before: what was read of whole; after: the same, changed. What is equal in the two stays as whole
 * has it; lists are told apart by their beginnings and ends. whole is changed in place and takes
 * values over from after; the result is the root. NULL: whole is NULL, and nothing changed.
 */
BT_MUST_USE struct bt_json_value *bt_json_rebase(struct bt_arena *arena,
	struct bt_json_value *whole, const struct bt_json_value *before,
	struct bt_json_value *after);
#endif
