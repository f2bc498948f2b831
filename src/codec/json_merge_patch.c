/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/json_merge_patch.h"

#include "codec/name_index.h"

/* Recursion: a patch is no deeper than the decoder allowed its text to be. */
struct bt_json_value *bt_json_merge_patch(
	struct bt_arena *arena, struct bt_json_value *target, struct bt_json_value *patch)
{
	if (patch->type != BT_JSON_OBJECT) {
		return patch;
	}
	if (target == NULL || target->type != BT_JSON_OBJECT) {
		target = bt_json_new(arena, BT_JSON_OBJECT);
	}

	/* One member at a time, with names that repeat: the last one counts in either document. */
	struct bt_name_index index = {0};
	struct bt_name_index of_patch = {0};
	bt_name_index_add_members(&index, target);
	bt_name_index_add_members(&of_patch, patch);
	for (uint32_t i = 0; i < target->count; i++) {
		if (bt_name_index_find(&index, target->members[i].name) != i) {
			target->members[i].value = NULL;
		}
	}
	for (uint32_t i = 0; i < patch->count; i++) {
		struct bt_json_member *member = &patch->members[i];
		if (bt_name_index_find(&of_patch, member->name) != i) {
			continue;
		}
		uint32_t position = bt_name_index_find(&index, member->name);
		bool removes = member->value->type == BT_JSON_NULL;
		if (position != BT_MAP_NONE) {
			struct bt_json_member *old = &target->members[position];
			old->value = removes
				? NULL
				: bt_json_merge_patch(arena, old->value, member->value);
		} else if (!removes) {
			/* appended: the index need not know, no other member has this name */
			struct bt_json_value *value =
				bt_json_merge_patch(arena, NULL, member->value);
			bt_json_append_member(arena, target, member->name, value);
		}
	}

	/* Take the members out whose value was set to NULL. */
	uint32_t kept = 0;
	for (uint32_t i = 0; i < target->count; i++) {
		if (target->members[i].value != NULL) {
			target->members[kept++] = target->members[i];
		}
	}
	target->count = kept;
	bt_name_index_finish(&index);
	bt_name_index_finish(&of_patch);
	return target;
}
