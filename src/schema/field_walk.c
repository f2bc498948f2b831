/* SPDX-License-Identifier: Apache-2.0 */
/* Objects as field sets: which parts of a value are owned one by one. Spec: 14 section 12.5. */
#include <stdlib.h>

#include "codec/json_same.h"
#include "codec/name_index.h"
#include "schema/field_set.h"

#define LIST_KEYS_MAX 8

/** --- parts of a value --- */

/** {"containerPort":80,"protocol":"TCP"}; false when a key is missing. */
static bool write_key(
	const char *const *keys, const struct bt_json_value *element, struct bt_strbuf *out)
{
	const char *sorted[LIST_KEYS_MAX];
	uint32_t count = 0;
	struct bt_json_writer writer;
	for (; keys[count] != NULL && count < LIST_KEYS_MAX; count++) {
		uint32_t at = count;
		for (; at > 0 && strcmp(sorted[at - 1], keys[count]) > 0; at--) {
			sorted[at] = sorted[at - 1];
		}
		sorted[at] = keys[count];
	}
	bt_json_writer_init(&writer, out, 0);
	bt_json_begin_object(&writer);
	for (uint32_t i = 0; i < count; i++) {
		const struct bt_json_value *value = bt_json_find(element, sorted[i]);
		bt_json_write_name_c(&writer, sorted[i]);
		if (bt_spot_scalar_text(value).data != NULL) {
			bt_json_write_value(&writer, value);
		} else if (value == NULL && strcmp(sorted[i], "protocol") == 0) {
			/* the only key member with a default */
			bt_json_write_c(&writer, "TCP");
		} else {
			return false;
		}
	}
	bt_json_end_object(&writer);
	return true;
}

static bool write_edge(
	const struct bt_spot *spot, const struct bt_json_value *element, struct bt_strbuf *out)
{
	struct bt_json_writer writer;
	if (spot->list->list_keys != NULL) {
		return element->type == BT_JSON_OBJECT &&
			write_key(spot->list->list_keys, element, out);
	}
	if (bt_spot_scalar_text(element).data == NULL) {
		return false;
	}
	bt_json_writer_init(&writer, out, 0);
	bt_json_write_value(&writer, element);
	return true;
}

enum bt_field_shape bt_field_list_texts(struct bt_arena *arena, const struct bt_spot *spot,
	const struct bt_json_value *list, char *out_kind, struct bt_str **out_texts)
{
	struct bt_strbuf text = {0};
	struct bt_name_index index = {0};
	enum bt_field_shape shape = BT_FIELD_PARTS;
	bool keyed = spot->list != NULL && spot->list->list_keys != NULL;
	if (list->count == 0 || spot->list == NULL || bt_spot_has(spot, BT_SCHEMA_ATOMIC) ||
		(!keyed && !bt_spot_has(spot, BT_SCHEMA_LIST_SET))) {
		return BT_FIELD_LEAF;
	}
	struct bt_str *texts = BT_ARENA_NEW_ARRAY(arena, struct bt_str, list->count);
	for (uint32_t i = 0; i < list->count && shape == BT_FIELD_PARTS; i++) {
		bt_strbuf_reset(&text);
		if (write_edge(spot, list->elements[i], &text)) {
			texts[i] = bt_arena_str(arena, bt_strbuf_str(&text));
			if (bt_name_index_find(&index, texts[i]) != BT_MAP_NONE) {
				shape = BT_FIELD_BROKEN;
			}
			bt_name_index_add(&index, texts[i]);
		} else {
			shape = BT_FIELD_BROKEN;
		}
	}
	bt_strbuf_finish(&text);
	bt_name_index_finish(&index);
	if (shape == BT_FIELD_PARTS) {
		*out_kind = keyed ? BT_FIELD_KEY : BT_FIELD_VALUE;
		*out_texts = texts;
	}
	return shape;
}

static int compare_children(const void *a, const void *b)
{
	const struct bt_field_child *left = a;
	const struct bt_field_child *right = b;
	int order = bt_str_compare(left->text, right->text);
	if (order != 0) {
		return order;
	}
	return (left->position > right->position) - (left->position < right->position);
}

/** Of repeated members the last one counts. */
static void settle(struct bt_field_children *children)
{
	uint32_t kept = 0;
	bool sorted = true;
	for (uint32_t i = 1; i < children->count && sorted; i++) {
		sorted = bt_str_compare(children->items[i - 1].text, children->items[i].text) < 0;
	}
	if (sorted) {
		return;
	}
	qsort(children->items, children->count, sizeof(*children->items), compare_children);
	for (uint32_t i = 0; i < children->count; i++) {
		if (i + 1 < children->count &&
			bt_str_equal(children->items[i].text, children->items[i + 1].text)) {
			continue;
		}
		children->items[kept++] = children->items[i];
	}
	children->count = kept;
}

enum bt_field_shape bt_field_children(struct bt_arena *arena, const struct bt_spot *spot,
	const struct bt_json_value *value, struct bt_field_children *out_children)
{
	struct bt_str *texts = NULL;
	char kind = BT_FIELD_NAME;
	bool is_object = value->type == BT_JSON_OBJECT;
	if (value->type == BT_JSON_ARRAY) {
		enum bt_field_shape shape = bt_field_list_texts(arena, spot, value, &kind, &texts);
		if (shape != BT_FIELD_PARTS) {
			return shape;
		}
	} else if (!is_object || value->count == 0 || bt_spot_has(spot, BT_SCHEMA_ATOMIC)) {
		return BT_FIELD_LEAF;
	}
	out_children->count = value->count;
	out_children->items = BT_ARENA_NEW_ARRAY(arena, struct bt_field_child, value->count);
	for (uint32_t i = 0; i < value->count; i++) {
		struct bt_str text = is_object ? value->members[i].name : texts[i];
		out_children->items[i] = (struct bt_field_child){
			.kind = kind,
			.text = text,
			.position = i,
			.value = is_object ? value->members[i].value : value->elements[i],
			.spot = is_object ? bt_spot_member(spot, text) : bt_spot_element(spot),
		};
	}
	settle(out_children);
	return BT_FIELD_PARTS;
}

static int compare_with_set(const struct bt_field_child *child, const struct bt_field_set *set)
{
	if (child->kind != set->kind) {
		return child->kind < set->kind ? -1 : 1;
	}
	return bt_str_compare(child->text, set->text);
}

/** --- sets --- */

static const struct bt_field_set *set_at(struct bt_arena *arena, char kind, struct bt_str text,
	const struct bt_spot *spot, const struct bt_json_value *value)
{
	struct bt_field_children children = {0};
	if (bt_field_children(arena, spot, value, &children) != BT_FIELD_PARTS) {
		struct bt_field_set *leaf = bt_field_set_new(arena, kind, text, 0);
		leaf->member = true;
		return leaf;
	}
	struct bt_field_set *set = bt_field_set_new(arena, kind, text, children.count);
	set->member = kind == BT_FIELD_KEY;
	for (uint32_t i = 0; i < children.count; i++) {
		const struct bt_field_child *child = &children.items[i];
		set->children[set->count++] =
			set_at(arena, child->kind, child->text, &child->spot, child->value);
	}
	return set;
}

const struct bt_field_set *bt_field_set_of(
	struct bt_arena *arena, const struct bt_spot *spot, const struct bt_json_value *value)
{
	return value->count != 0 ? set_at(arena, '\0', BT_STR(""), spot, value) : NULL;
}

static const struct bt_field_set *changed_at(struct bt_arena *arena, char kind, struct bt_str text,
	const struct bt_spot *spot, const struct bt_json_value *old_value,
	const struct bt_json_value *new_value)
{
	struct bt_field_children of_old = {0};
	struct bt_field_children of_new = {0};
	uint32_t k = 0;
	if (old_value == new_value) {
		return NULL;
	}
	if (old_value == NULL) {
		return set_at(arena, kind, text, spot, new_value);
	}
	if (bt_field_children(arena, spot, new_value, &of_new) != BT_FIELD_PARTS ||
		bt_field_children(arena, spot, old_value, &of_old) != BT_FIELD_PARTS) {
		return bt_json_same(old_value, new_value)
			? NULL
			: set_at(arena, kind, text, spot, new_value);
	}
	struct bt_field_set *set = bt_field_set_new(arena, kind, text, of_new.count);
	for (uint32_t i = 0; i < of_new.count; i++) {
		const struct bt_field_child *child = &of_new.items[i];
		while (k < of_old.count && bt_str_compare(of_old.items[k].text, child->text) < 0) {
			k++;
		}
		bool existed = k < of_old.count && bt_str_equal(of_old.items[k].text, child->text);
		const struct bt_field_set *changes = changed_at(arena, child->kind, child->text,
			&child->spot, existed ? of_old.items[k].value : NULL, child->value);
		if (changes != NULL) {
			set->children[set->count++] = changes;
		}
	}
	return bt_field_set_or_empty(set);
}

const struct bt_field_set *bt_field_set_changed(struct bt_arena *arena, const struct bt_spot *spot,
	const struct bt_json_value *old_value, const struct bt_json_value *new_value)
{
	if (new_value->count == 0) {
		return NULL;
	}
	return changed_at(arena, '\0', BT_STR(""), spot, old_value, new_value);
}

const struct bt_field_set *bt_field_set_existing(struct bt_arena *arena,
	const struct bt_field_set *set, const struct bt_spot *spot,
	const struct bt_json_value *value)
{
	struct bt_field_children children = {0};
	uint32_t k = 0;
	if (set == NULL || set->count == 0) {
		return set;
	}
	struct bt_field_set *rest = bt_field_set_new(arena, set->kind, set->text, set->count);
	rest->member = set->member;
	if (bt_field_children(arena, spot, value, &children) != BT_FIELD_PARTS) {
		return bt_field_set_or_empty(rest);
	}
	for (uint32_t i = 0; i < set->count; i++) {
		const struct bt_field_set *child = set->children[i];
		while (k < children.count && compare_with_set(&children.items[k], child) < 0) {
			k++;
		}
		if (k < children.count && compare_with_set(&children.items[k], child) == 0) {
			child = bt_field_set_existing(
				arena, child, &children.items[k].spot, children.items[k].value);
			if (child != NULL) {
				rest->children[rest->count++] = child;
			}
		}
	}
	return bt_field_set_or_empty(rest);
}
