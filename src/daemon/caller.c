/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/caller.h"

#include "codec/json_edit.h"

void bt_caller_finish(struct bt_caller *caller)
{
	bt_vec_finish(&caller->groups);
	bt_vec_finish(&caller->extra);
}

bool bt_caller_has_group(const struct bt_caller *caller, struct bt_str group)
{
	for (uint32_t i = 0; i < caller->groups.count; i++) {
		if (bt_str_equal(caller->groups.items[i], group)) {
			return true;
		}
	}
	return false;
}

void bt_caller_write(const struct bt_caller *caller, struct bt_arena *arena,
	const char *name_member, struct bt_json_value *spec)
{
	bt_json_set_str(arena, spec, name_member, caller->name);
	if (caller->groups.count != 0) {
		struct bt_json_value *groups = bt_json_ensure_array(arena, spec, "groups");
		for (uint32_t i = 0; i < caller->groups.count; i++) {
			bt_json_append(
				arena, groups, bt_json_new_str(arena, caller->groups.items[i]));
		}
	}
	if (caller->extra.count != 0) {
		struct bt_json_value *extra = bt_json_ensure_object(arena, spec, "extra");
		for (uint32_t i = 0; i < caller->extra.count; i++) {
			const struct bt_caller_extra *item = &caller->extra.items[i];
			struct bt_json_value *values = bt_json_get(extra, item->key);
			if (values == NULL) {
				values = bt_json_new(arena, BT_JSON_ARRAY);
				bt_json_append_member(arena, extra, item->key, values);
			}
			bt_json_append(arena, values, bt_json_new_str(arena, item->value));
		}
	}
	if (caller->uid.length != 0) {
		bt_json_set_str(arena, spec, "uid", caller->uid);
	}
}

void bt_caller_read(
	struct bt_caller *caller, struct bt_arena *arena, const struct bt_json_value *user_info)
{
	const struct bt_json_value *groups = bt_json_array_at(user_info, "groups");
	const struct bt_json_value *extra = bt_json_object_at(user_info, "extra");
	caller->name = bt_arena_str(arena, bt_json_text_at(user_info, "username"));
	caller->uid = bt_arena_str(arena, bt_json_text_at(user_info, "uid"));
	for (uint32_t i = 0; i < groups->count; i++) {
		if (groups->elements[i]->type == BT_JSON_STRING) {
			bt_vec_push(
				&caller->groups, bt_arena_str(arena, groups->elements[i]->text));
		}
	}
	for (uint32_t i = 0; i < extra->count; i++) {
		const struct bt_json_value *values = extra->members[i].value;
		struct bt_str key = bt_arena_str(arena, extra->members[i].name);
		for (uint32_t j = 0; values->type == BT_JSON_ARRAY && j < values->count; j++) {
			if (values->elements[j]->type == BT_JSON_STRING) {
				struct bt_caller_extra item = {
					key, bt_arena_str(arena, values->elements[j]->text)};
				bt_vec_push(&caller->extra, item);
			}
		}
	}
}
