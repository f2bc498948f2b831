/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CODEC_JSON_PATCH_H
#define BT_CODEC_JSON_PATCH_H
/** JSON Patch, RFC 6902, and JSON Merge Patch, RFC 7396. Spec: 14 sections 12.1 and 12.2. */
#include "codec/json_edit.h"

#define BT_JSON_PATCH_OPERATIONS_MAX 10000
/** What copy operations may add up to, as JSON text. */
#define BT_JSON_PATCH_COPIED_BYTES_MAX (3 << 20)
/** Levels of the result: copy and move can nest what they find. */
#define BT_JSON_PATCH_DEPTH_MAX 500

/**
 * Apply a patch. The document is changed in place, also when an operation fails after others (then
 * nothing may be done with it); *out_result is its root, which a patch may replace. Values are
 * taken over from the patch, not copied.
 *
 * One leniency: test with value null passes for a member that is absent from its object, as
 * clients of the API use it.
 *
 * BERTH_ERR_SYNTAX: the patch is no list of operations, in Go's words (400). BERTH_ERR_TOO_LARGE:
 * too many operations, or results too large, too deep or too costly (413). BERTH_ERR_INVALID: an
 * operation is malformed, a path does not exist, a test failed (422).
 */
BT_MUST_USE int bt_json_patch(struct bt_arena *arena, struct bt_json_value *document,
	const struct bt_json_value *patch, struct bt_json_value **out_result,
	struct berth_error *err);

/**
 * Merge: null removes, objects merge, everything else replaces. target (may be NULL) is changed in
 * place, values are taken over from the patch, which is changed too; the result is the root.
 */
BT_MUST_USE struct bt_json_value *bt_json_merge_patch(
	struct bt_arena *arena, struct bt_json_value *target, struct bt_json_value *patch);
/**
 * The merge patch that makes `to` of `from`, both objects: an object without members if nothing
 * changed. A member that is null counts as absent, as merge patches cannot say null. Values are
 * borrowed from `to`.
 */
BT_MUST_USE struct bt_json_value *bt_json_merge_diff(
	struct bt_arena *arena, const struct bt_json_value *from, const struct bt_json_value *to);
#endif
