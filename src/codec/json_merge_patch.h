/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CODEC_JSON_MERGE_PATCH_H
#define BT_CODEC_JSON_MERGE_PATCH_H
/** JSON Merge Patch, RFC 7396. Spec: 14 section 12.2. */
#include "codec/json_edit.h"

/**
 * Null removes, objects merge, everything else replaces. target (may be NULL) is changed in place,
 * values are taken over from the patch, which is changed too; the result is the root.
 */
BT_MUST_USE struct bt_json_value *bt_json_merge_patch(
	struct bt_arena *arena, struct bt_json_value *target, struct bt_json_value *patch);
#endif
