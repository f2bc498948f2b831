/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SCHEMA_STRATEGIC_MERGE_H
#define BT_SCHEMA_STRATEGIC_MERGE_H
/** Strategic merge patch: objects merge, and lists too where the schema says how. Spec: 14
 * section 12.3. */
#include "codec/json_edit.h"
#include "schema/schema.h"

/**
 * Apply a patch. Both trees are consumed: changed in place and shared with *out_result. Members
 * that the schema does not name: objects merge, lists are replaced.
 *
 * BERTH_ERR_SYNTAX: the patch is no object; BERTH_ERR_INVALID: a directive is malformed (both 400).
 * BERTH_ERR_STATE: $retainKeys contradicts the patch (422). BERTH_ERR_INTERNAL: an element without
 * merge key, an order that contradicts the patch, an unknown $patch (500).
 */
BT_MUST_USE int bt_strategic_merge(struct bt_arena *arena, const struct bt_schema_message *message,
	struct bt_json_value *object, struct bt_json_value *patch,
	struct bt_json_value **out_result, struct berth_error *err);
#endif
