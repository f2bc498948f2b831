/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The two steps of apply: merge the configuration, then prune fields that are no longer in the
 * configuration.
 */
#include "base/text_set.h"
#include "schema/field_set.h"
#include "schema/list_order.h"

/** --- merge --- */

/**
 * Merges two lists. live_texts and applied_texts identify the elements of live and of applied:
 * elements with equal texts merge.
 */
static int merge_lists(struct bt_arena *arena, const struct bt_spot *spot,
	const struct bt_json_value *live, const struct bt_str *live_texts,
	const struct bt_json_value *applied, const struct bt_str *applied_texts,
	struct bt_json_value **out_list, struct berth_error *err)
{
	struct bt_text_set index = {0};
	struct bt_spot element = bt_spot_element(spot);
	uint32_t room = live->count + applied->count;
	struct bt_json_value **elements = BT_ARENA_NEW_ARRAY(arena, struct bt_json_value *, room);
	struct bt_str *texts = BT_ARENA_NEW_ARRAY(arena, struct bt_str, room);
	struct bt_json_value *list = bt_json_new(arena, BT_JSON_ARRAY);
	uint32_t count = live->count;
	int result = 0;
	for (uint32_t i = 0; i < live->count; i++) {
		elements[i] = live->elements[i];
		texts[i] = live_texts[i];
		bt_text_set_append(&index, texts[i]);
	}
	for (uint32_t i = 0; i < applied->count && result == 0; i++) {
		uint32_t position = bt_text_set_find(&index, applied_texts[i]);
		if (position == BT_MAP_NONE) {
			position = count++;
			texts[position] = applied_texts[i];
			elements[position] = NULL;
		}
		result = bt_apply_merge(arena, &element, elements[position], applied->elements[i],
			&elements[position], err);
	}
	bt_text_set_finish(&index);
	if (result != 0) {
		return result;
	}
	struct bt_keyed_list merged = {count, texts, elements};
	list->count = count;
	list->capacity = count;
	list->elements = BT_ARENA_NEW_ARRAY(arena, struct bt_json_value *, count);
	bt_list_order(
		&merged, applied_texts, applied->count, live_texts, live->count, list->elements);
	*out_list = list;
	return 0;
}

static int merge_array(struct bt_arena *arena, const struct bt_spot *spot,
	struct bt_json_value *live, const struct bt_json_value *applied,
	struct bt_json_value **out_value, struct berth_error *err)
{
	struct bt_str *live_texts = NULL;
	struct bt_str *applied_texts = NULL;
	char kind;
	enum bt_field_shape shape =
		bt_field_list_texts(arena, spot, applied, &kind, &applied_texts);
	if (shape == BT_FIELD_BROKEN) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"failed to create typed patch object: .%s: the list has elements that omit "
			"or repeat a key",
			spot->field != NULL ? spot->field->name : "");
	}
	if (applied->count == 0 && bt_spot_is_keyed(spot) && live != NULL) {
		*out_value = live; /* an empty list in a configuration names no elements */
		return 0;
	}
	if (shape == BT_FIELD_LEAF) {
		*out_value = bt_json_clone(arena, applied, false);
		return 0;
	}
	if (live != NULL &&
		bt_field_list_texts(arena, spot, live, &kind, &live_texts) == BT_FIELD_PARTS) {
		return merge_lists(
			arena, spot, live, live_texts, applied, applied_texts, out_value, err);
	}
	static const struct bt_json_value none = {.type = BT_JSON_ARRAY};
	return merge_lists(arena, spot, &none, NULL, applied, applied_texts, out_value, err);
}

/*
 * Recursion is bounded by the nesting of the configuration. Values that the live object lacks are
 * walked, too, because their lists must be checked.
 */
int bt_apply_merge(struct bt_arena *arena, const struct bt_spot *spot, struct bt_json_value *live,
	const struct bt_json_value *applied, struct bt_json_value **out_value,
	struct berth_error *err)
{
	if (live != NULL && live->type != applied->type) {
		live = NULL;
	}
	if (applied->type == BT_JSON_ARRAY) {
		return merge_array(arena, spot, live, applied, out_value, err);
	}
	if (applied->type != BT_JSON_OBJECT || bt_spot_has(spot, BT_SCHEMA_ATOMIC)) {
		*out_value = bt_json_clone(arena, applied, false);
		return 0;
	}
	if (live == NULL) {
		live = bt_json_new(arena, BT_JSON_OBJECT);
	}
	struct bt_text_set index = {0};
	int result = 0;
	bt_json_append_names(live, &index);
	for (uint32_t i = 0; i < applied->count && result == 0; i++) {
		const struct bt_json_member *member = &applied->members[i];
		struct bt_spot at = bt_spot_member(spot, member->name);
		uint32_t position = bt_text_set_find(&index, member->name);
		struct bt_json_value *merged = NULL;
		struct bt_json_value *old =
			position != BT_MAP_NONE ? live->members[position].value : NULL;
		result = bt_apply_merge(arena, &at, old, member->value, &merged, err);
		if (result != 0) {
			break;
		}
		if (position != BT_MAP_NONE) {
			live->members[position].value = merged;
		} else {
			bt_json_append_member(arena, live, member->name, merged);
			bt_text_set_append(&index, member->name);
		}
	}
	bt_text_set_finish(&index);
	if (result == 0) {
		*out_value = live;
	}
	return result;
}

/** --- prune --- */

static bool is_list_key(const struct bt_spot *list, struct bt_str name)
{
	const char *const *keys = list != NULL && list->list != NULL ? list->list->list_keys : NULL;
	for (uint32_t i = 0; keys != NULL && keys[i] != NULL; i++) {
		if (bt_str_equal_c(name, keys[i])) {
			return true;
		}
	}
	return false;
}

static void prune_at(struct bt_arena *arena, const struct bt_spot *spot, const struct bt_spot *list,
	struct bt_json_value *value, const struct bt_field_set *last,
	const struct bt_field_set *keep, uint32_t depth);

/*
 * Prunes the children of value. list: the place of the list that has value as an element; the key
 * members of such an element are not pruned. NULL: value is not an element of a keyed list.
 */
static void prune_at(struct bt_arena *arena, const struct bt_spot *spot, const struct bt_spot *list,
	struct bt_json_value *value, const struct bt_field_set *last,
	const struct bt_field_set *keep, uint32_t depth)
{
	struct bt_field_children children = {0};
	if (last->count == 0 ||
		bt_field_children(arena, spot, value, &children) != BT_FIELD_PARTS) {
		return;
	}
	for (uint32_t i = 0; i < children.count; i++) {
		const struct bt_field_child *child = &children.items[i];
		const struct bt_field_set *owned =
			bt_field_set_child(last, child->kind, child->text);
		const struct bt_field_set *kept =
			bt_field_set_child(keep, child->kind, child->text);
		if (owned == NULL || is_list_key(list, child->text)) {
			continue;
		}
		/*
		 * kept NULL: no manager keeps the child or a part of it. Such a child is removed,
		 * except for a map of which the manager owned only members: then only these members
		 * are removed, and the map stays if it has other members. A message does not stay,
		 * because its other members are only defaults.
		 */
		if (kept != NULL || (!owned->member && child->spot.map != NULL)) {
			prune_at(arena, &child->spot, child->kind == BT_FIELD_KEY ? spot : NULL,
				child->value, owned, kept, depth + 1);
			if (kept != NULL || child->value->count != 0 || depth == 0) {
				continue;
			}
		}
		if (value->type == BT_JSON_OBJECT) {
			value->members[child->position].value = NULL;
		} else {
			value->elements[child->position] = NULL;
		}
	}
	/* remove the children whose value is NULL now */
	uint32_t left = 0;
	for (uint32_t i = 0; i < value->count; i++) {
		if (value->type == BT_JSON_OBJECT && value->members[i].value != NULL) {
			value->members[left++] = value->members[i];
		} else if (value->type == BT_JSON_ARRAY && value->elements[i] != NULL) {
			value->elements[left++] = value->elements[i];
		}
	}
	value->count = left;
}

void bt_apply_prune(struct bt_arena *arena, const struct bt_spot *spot, struct bt_json_value *value,
	const struct bt_field_set *last, const struct bt_field_set *keep)
{
	if (last != NULL) {
		prune_at(arena, spot, NULL, value, last, keep, 0);
	}
}
