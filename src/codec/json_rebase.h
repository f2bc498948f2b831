/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CODEC_JSON_REBASE_H
#define BT_CODEC_JSON_REBASE_H
/**
 * Applies a change of decoded parts to the whole document, so that fields unknown to the program
 * survive when it writes the object back.
 */
#include "codec/json_edit.h"

/**
 * Applies to `whole` the change from `before` to `after`. `before` has the parts of `whole` that
 * the program decodes; `after` has these parts with the program's changes. A part that is equal in
 * `before` and `after` keeps its value in `whole`. Array elements are matched from both ends of the
 * arrays. Changes `whole` in place, moves values from `after`, and returns the new root. `whole`
 * NULL: the document is absent. `before` NULL: the program decoded no parts. Returns NULL if
 * `whole` is NULL and `before` equals `after`.
 */
BT_MUST_USE struct bt_json_value *bt_json_rebase(struct bt_arena *arena,
	struct bt_json_value *whole, const struct bt_json_value *before,
	struct bt_json_value *after);
#endif
