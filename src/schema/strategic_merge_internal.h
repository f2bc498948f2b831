/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SCHEMA_STRATEGIC_MERGE_INTERNAL_H
#define BT_SCHEMA_STRATEGIC_MERGE_INTERNAL_H
/** Shared by strategic_merge.c (objects) and strategic_merge_list.c. */
#include "codec/json_edit.h"
#include "schema/spot.h"

struct bt_strategic {
	struct bt_arena *arena;
	struct berth_error *err;
};

BT_MUST_USE int bt_strategic_object(struct bt_strategic *merge, const struct bt_spot *spot,
	struct bt_json_value *object, struct bt_json_value *patch,
	struct bt_json_value **out_result);
/** list: of patch strategy merge. order NULL: that of the patch. */
BT_MUST_USE int bt_strategic_list(struct bt_strategic *merge, const struct bt_spot *spot,
	const struct bt_json_value *list, struct bt_json_value *patch,
	const struct bt_json_value *order, struct bt_json_value **out_result);
/** Value of $patch; absent without, "?" when it is no text. */
struct bt_str bt_strategic_directive(const struct bt_json_value *value);
/** The value without directives at any level; elements that only direct vanish. In place. */
struct bt_json_value *bt_strategic_stripped(struct bt_json_value *value);
int bt_strategic_unknown_directive(struct bt_strategic *merge, const struct bt_json_value *value);
/** As Go's %v prints it, cut after some thousand bytes. */
void bt_strategic_print(const struct bt_json_value *value, struct bt_strbuf *out);
#endif
