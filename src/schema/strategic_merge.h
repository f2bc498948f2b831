/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SCHEMA_STRATEGIC_MERGE_H
#define BT_SCHEMA_STRATEGIC_MERGE_H
/**
 * Strategic merge patch: objects merge, and so do lists whose patch strategy in the schema is
 * merge. Spec: 14 section 12.3.
 */
#include "codec/json_edit.h"
#include "schema/schema.h"

/**
 * Applies a patch. Both trees are consumed: they are changed in place, and *out_result shares parts
 * of them. If the schema does not know a member, its objects merge and its lists are replaced.
 *
 * BERTH_ERR_SYNTAX: a tree is not an object (400). BERTH_ERR_INVALID: a directive is malformed, or
 * elements of a merged list have the wrong type (400). BERTH_ERR_STATE: $retainKeys contradicts the
 * patch (422). BERTH_ERR_INTERNAL: an element lacks its merge key, an order contradicts the patch,
 * or $patch is unknown (500).
 */
BT_MUST_USE int bt_strategic_merge(struct bt_arena *arena, const struct bt_schema_message *message,
	struct bt_json_value *object, struct bt_json_value *patch,
	struct bt_json_value **out_result, struct berth_error *err);
#endif
