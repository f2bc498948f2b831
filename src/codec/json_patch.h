/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CODEC_JSON_PATCH_H
#define BT_CODEC_JSON_PATCH_H
/**
 * JSON Patch, RFC 6902, and JSON Merge Patch, RFC 7396; rebasing a change of parts of a document.
 * Spec: 14 sections 12.1 and 12.2.
 */
#include "codec/json_edit.h"

#define BT_JSON_PATCH_OPERATIONS_MAX 10000
/** Limit of the total size, as JSON text, of the values that copy operations copy. */
#define BT_JSON_PATCH_COPIED_BYTES_MAX (3 << 20)
/** Maximum depth of the result: copy and move can increase nesting. */
#define BT_JSON_PATCH_DEPTH_MAX 500

/**
 * Applies a patch. The document is changed in place; if an operation fails, the operations before
 * it have changed the document, and the document must not be used any more. *out_result is the new
 * root, because a patch may replace the root. Values are moved from the patch, not copied.
 *
 * A test with value null succeeds for an absent member, because clients of the API rely on this
 * leniency.
 *
 * BERTH_ERR_SYNTAX: the patch is not a list of operations, with Go's message (400).
 * BERTH_ERR_TOO_LARGE: too many operations, or a result too large, too deep or too expensive (413).
 * BERTH_ERR_INVALID: an operation is malformed, a path does not exist, or a test failed (422).
 */
BT_MUST_USE int bt_json_patch(struct bt_arena *arena, struct bt_json_value *document,
	const struct bt_json_value *patch, struct bt_json_value **out_result,
	struct berth_error *err);

/**
 * Applies a merge patch: null removes a member, objects are merged, other values replace the old
 * value. document NULL: an absent document. Returns the result, which shares values with the
 * document and the patch.
 */
BT_MUST_USE struct bt_json_value *bt_json_merge_patch(
	struct bt_arena *arena, const struct bt_json_value *document, struct bt_json_value *patch);
/**
 * Computes the merge patch that changes the object `from` into the object `to`. If the objects are
 * equal, the patch has no members. A null member counts as absent, because a merge patch cannot set
 * null. The patch borrows values from `to`.
 */
BT_MUST_USE struct bt_json_value *bt_json_merge_diff(
	struct bt_arena *arena, const struct bt_json_value *from, const struct bt_json_value *to);
/**
 * Applies to `whole` the change from `before` to `after`, so that fields unknown to the program
 * survive when the program writes an object back. `before` has the parts of `whole` that the
 * program decodes; `after` has these parts with the program's changes. A part that is equal in
 * `before` and `after` keeps its value in `whole`. Array elements are matched from both ends of the
 * arrays. Changes `whole` in place, moves values from `after`, and returns the new root. `whole`
 * NULL: the document is absent. `before` NULL: the program decoded no parts. Returns NULL if
 * `whole` is NULL and `before` equals `after`.
 */
BT_MUST_USE struct bt_json_value *bt_json_rebase(struct bt_arena *arena,
	struct bt_json_value *whole, const struct bt_json_value *before,
	struct bt_json_value *after);
#endif
