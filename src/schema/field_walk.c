/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes field sets from objects: finds the parts of a value that are owned separately. Spec: 14
 * section 12.5.
 */
#include <stdlib.h>

#include "base/text_set.h"
#include "schema/field_set.h"

#define LIST_KEYS_MAX 8

/** --- parts of a value --- */

bool bt_field_write_key_default(
	const struct bt_schema_field *list, const char *name, struct bt_json_writer *writer)
{
	const struct bt_schema_field *field =
		bt_schema_field_find(list->message, bt_str_from(name), NULL);
	if (field == NULL ||
		(field->default_text == NULL && (field->flags & BT_SCHEMA_ALWAYS) == 0)) {
		return false;
	}
	if (field->type == BT_SCHEMA_STRING) {
		bt_json_write_c(writer, field->default_text != NULL ? field->default_text : "");
	} else {
		bt_json_write_raw(writer,
			bt_str_from(field->default_text != NULL ? field->default_text : "0"));
	}
	return true;
}

/**
 * Writes a key such as {"containerPort":80,"protocol":"TCP"}; false: a key member is not a scalar,
 * or is missing and has no default.
 */
static bool write_key(const struct bt_schema_field *list, const struct bt_json_value *element,
	struct bt_strbuf *out)
{
	const char *const *keys = list->list_keys;
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
		} else if (value != NULL || !bt_field_write_key_default(list, sorted[i], &writer)) {
			return false;
		}
	}
	bt_json_end_object(&writer);
	return true;
}

enum bt_field_shape bt_field_list_texts(struct bt_arena *arena, const struct bt_spot *spot,
	const struct bt_json_value *list, char *out_kind, struct bt_str **out_texts)
{
	struct bt_strbuf text = {0};
	struct bt_text_set seen = {0};
	enum bt_field_shape shape = BT_FIELD_PARTS;
	if (list->count == 0 || !bt_spot_is_keyed(spot)) {
		return BT_FIELD_LEAF;
	}
	bool keyed = spot->list->list_keys != NULL;
	struct bt_str *texts = BT_ARENA_NEW_ARRAY(arena, struct bt_str, list->count);
	for (uint32_t i = 0; i < list->count && shape == BT_FIELD_PARTS; i++) {
		const struct bt_json_value *element = list->elements[i];
		bt_strbuf_reset(&text);
		bool fits = keyed
			? element->type == BT_JSON_OBJECT && write_key(spot->list, element, &text)
			: bt_spot_scalar_text(element).data != NULL;
		if (fits && !keyed) {
			bt_json_format(element, &text);
		}
		if (fits) {
			texts[i] = bt_arena_str(arena, bt_strbuf_str(&text));
			if (!bt_text_set_add(&seen, texts[i])) {
				shape = BT_FIELD_BROKEN;
			}
		} else {
			shape = BT_FIELD_BROKEN;
		}
	}
	bt_strbuf_finish(&text);
	bt_text_set_finish(&seen);
	if (shape == BT_FIELD_PARTS) {
		*out_kind = keyed ? BT_FIELD_KEY : BT_FIELD_VALUE;
		*out_texts = texts;
	}
	return shape;
}

BT_COMPARE(compare_children, struct bt_field_child,
	BT_ORDER_BY(bt_str_compare(a->text, b->text), BT_ORDER(a->position, b->position)))

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
	uint32_t kept = 0;
	bool sorted = true;
	for (uint32_t i = 1; i < out_children->count && sorted; i++) {
		sorted = bt_str_compare(
				 out_children->items[i - 1].text, out_children->items[i].text) < 0;
	}
	if (!sorted) {
		qsort(out_children->items, out_children->count, sizeof(*out_children->items),
			compare_children);
		for (uint32_t i = 0; i < out_children->count; i++) {
			if (i + 1 < out_children->count &&
				bt_str_equal(out_children->items[i].text,
					out_children->items[i + 1].text)) {
				continue;
			}
			out_children->items[kept++] = out_children->items[i];
		}
		out_children->count = kept;
	}
	return BT_FIELD_PARTS;
}

/** --- sets --- */

/** Whether parts of the value are owned separately, even if it has no parts now. */
static bool has_parts(const struct bt_spot *spot, const struct bt_json_value *value)
{
	if (value->type == BT_JSON_OBJECT) {
		return !bt_spot_has(spot, BT_SCHEMA_ATOMIC);
	}
	return value->type == BT_JSON_ARRAY && bt_spot_is_keyed(spot);
}

/*
 * Returns the set of the places in the value at this place. whole true (for a write): the set
 * contains every place, including objects and lists. whole false (for a configuration): the set
 * contains only the leaves, which are values without parts, and the elements of keyed lists.
 */
static const struct bt_field_set *set_at(struct bt_arena *arena, const struct bt_field_child *at,
	const struct bt_json_value *value, bool whole)
{
	struct bt_field_children children = {0};
	if (bt_field_children(arena, &at->spot, value, &children) != BT_FIELD_PARTS) {
		struct bt_field_set *leaf = bt_field_set_new(arena, at->kind, at->text, 0);
		leaf->member = true;
		return leaf;
	}
	struct bt_field_set *set = bt_field_set_new(arena, at->kind, at->text, children.count);
	set->member = whole || at->kind == BT_FIELD_KEY;
	for (uint32_t i = 0; i < children.count; i++) {
		const struct bt_field_child *child = &children.items[i];
		/* an empty keyed list in a configuration names no elements */
		if (whole || child->value->type != BT_JSON_ARRAY || child->value->count != 0 ||
			!has_parts(&child->spot, child->value)) {
			set->children[set->count++] = set_at(arena, child, child->value, whole);
		}
	}
	return set;
}

const struct bt_field_set *bt_field_set_of(
	struct bt_arena *arena, const struct bt_spot *spot, const struct bt_json_value *value)
{
	const struct bt_field_child root = {.text = BT_STR(""), .spot = *spot};
	return value->count != 0 ? set_at(arena, &root, value, false) : NULL;
}

static struct bt_field_changes compare_at(struct bt_arena *arena, const struct bt_field_child *at,
	const struct bt_json_value *old_value, const struct bt_json_value *new_value);

/* Compares a child of an object or list; old_child or new_child may be NULL. */
static struct bt_field_changes compare_child(struct bt_arena *arena,
	const struct bt_field_child *old_child, const struct bt_field_child *new_child)
{
	const struct bt_field_child *child = new_child != NULL ? new_child : old_child;
	const struct bt_json_value *old_value = old_child != NULL ? old_child->value : NULL;
	const struct bt_json_value *new_value = new_child != NULL ? new_child->value : NULL;
	const struct bt_spot *spot = &child->spot;
	struct bt_json_value nothing = {.type = child->value->type};
	if (bt_spot_has(spot, BT_SCHEMA_ALWAYS) && (spot->list != NULL || spot->map != NULL)) {
		/* Go writes null for such a list or map if it is missing; treat null as empty */
		if (old_value != NULL && old_value->type != BT_JSON_NULL) {
			nothing.type = old_value->type;
		}
		bool has_places = has_parts(spot, &nothing);
		if (old_value == NULL || (has_places && old_value->type == BT_JSON_NULL)) {
			old_value = &nothing;
		}
		if (new_value == NULL || (has_places && new_value->type == BT_JSON_NULL)) {
			new_value = &nothing;
		}
	}
	if (old_value != NULL && new_value != NULL) {
		return compare_at(arena, child, old_value, new_value);
	}
	const struct bt_field_set *set = set_at(arena, child, child->value, true);
	return new_value != NULL ? (struct bt_field_changes){.changed = set}
				 : (struct bt_field_changes){.removed = set};
}

static struct bt_field_changes compare_at(struct bt_arena *arena, const struct bt_field_child *at,
	const struct bt_json_value *old_value, const struct bt_json_value *new_value)
{
	const struct bt_spot *spot = &at->spot;
	struct bt_field_changes changes = {0};
	struct bt_field_children of_old = {0};
	struct bt_field_children of_new = {0};
	if (old_value == new_value) {
		return changes;
	}
	bool is_old_whole = bt_field_children(arena, spot, old_value, &of_old) != BT_FIELD_PARTS &&
		(old_value->count != 0 || !has_parts(spot, old_value));
	bool is_new_whole = bt_field_children(arena, spot, new_value, &of_new) != BT_FIELD_PARTS &&
		(new_value->count != 0 || !has_parts(spot, new_value));
	if (is_old_whole || is_new_whole || old_value->type != new_value->type) {
		if (!bt_json_same(old_value, new_value)) {
			changes.changed = set_at(arena, at, new_value, true);
		}
		if (changes.changed != NULL && !is_old_whole) {
			changes.removed = bt_field_set_difference(
				arena, set_at(arena, at, old_value, true), changes.changed);
		}
		return changes;
	}
	struct bt_field_set *changed =
		bt_field_set_new(arena, at->kind, at->text, of_new.count + of_old.count);
	struct bt_field_set *removed = bt_field_set_new(arena, at->kind, at->text, of_old.count);
	uint32_t i = 0;
	uint32_t k = 0;
	while (i < of_new.count || k < of_old.count) {
		int order = i == of_new.count ? 1 : -1;
		if (i < of_new.count && k < of_old.count) {
			order = bt_str_compare(of_new.items[i].text, of_old.items[k].text);
		}
		const struct bt_field_child *new_child = order <= 0 ? &of_new.items[i++] : NULL;
		const struct bt_field_child *old_child = order >= 0 ? &of_old.items[k++] : NULL;
		struct bt_field_changes child = compare_child(arena, old_child, new_child);
		if (child.changed != NULL) {
			changed->children[changed->count++] = child.changed;
		}
		if (child.removed != NULL) {
			removed->children[removed->count++] = child.removed;
		}
	}
	changes.changed = bt_field_set_or_empty(changed);
	changes.removed = bt_field_set_or_empty(removed);
	return changes;
}

struct bt_field_changes bt_field_set_compare(struct bt_arena *arena, const struct bt_spot *spot,
	const struct bt_json_value *old_value, const struct bt_json_value *new_value)
{
	const struct bt_field_child root = {.text = BT_STR(""), .spot = *spot};
	return compare_at(arena, &root, old_value, new_value);
}
