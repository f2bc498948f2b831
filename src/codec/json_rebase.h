/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CODEC_JSON_REBASE_H
#define BT_CODEC_JSON_REBASE_H
/**
 * Applies a change of decoded parts to the whole document, so that fields unknown to the program
 * survive when it writes the object back.
 */
#include "codec/json_edit.h"

/**
 * before: the known parts of whole; after: these parts with changes. Parts that are equal in before
 * and after keep the value of whole; array elements are matched from both ends. Changes whole in
 * place and moves values from after; returns the new root. Returns NULL if whole is NULL and
 * nothing changed.
 */
BT_MUST_USE struct bt_json_value *bt_json_rebase(struct bt_arena *arena,
	struct bt_json_value *whole, const struct bt_json_value *before,
	struct bt_json_value *after);
#endif
