/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/field_set.h"
#include "base/vec.h"

#include <stdlib.h>

BT_COMPARE(compare_sets, struct bt_field_set *const,
	BT_ORDER_BY(BT_ORDER((*a)->kind, (*b)->kind), bt_str_compare((*a)->text, (*b)->text)))

struct bt_field_set *bt_field_set_new(
	struct bt_arena *arena, char kind, struct bt_str text, uint32_t room)
{
	struct bt_field_set *set = BT_ARENA_NEW(arena, struct bt_field_set);
	set->kind = kind;
	set->text = text;
	set->children =
		room != 0 ? BT_ARENA_NEW_ARRAY(arena, const struct bt_field_set *, room) : NULL;
	return set;
}

const struct bt_field_set *bt_field_set_or_empty(const struct bt_field_set *set)
{
	return set->member || set->count != 0 ? set : NULL;
}

/** --- FieldsV1 --- */

/**
 * Parses the name of an edge such as "f:spec". A key or value is rewritten as compact JSON with
 * members in ascending order, so that equal keys have equal texts. false: the kind is unknown, the
 * text is not JSON, or a key member is not a scalar.
 */
static bool parse_edge(
	struct bt_arena *arena, struct bt_str name, char *out_kind, struct bt_str *out_text)
{
	struct bt_json_value *key = NULL;
	struct bt_strbuf buffer = {0};
	if (name.length < 2 || name.data[1] != ':') {
		return false;
	}
	*out_kind = name.data[0];
	*out_text = bt_str_sub(name, 2, name.length);
	if (*out_kind == BT_FIELD_NAME || *out_kind == BT_FIELD_INDEX) {
		return true;
	}
	if ((*out_kind != BT_FIELD_KEY && *out_kind != BT_FIELD_VALUE) ||
		bt_json_parse(arena, *out_text, false, &key, NULL) != 0) {
		return false;
	}
	for (uint32_t i = 0; i < key->count; i++) {
		if (key->type == BT_JSON_ARRAY ||
			bt_spot_scalar_text(key->members[i].value).data == NULL) {
			return false; /* keys must be scalars */
		}
	}
	if (key->count > 1) {
		qsort(key->members, key->count, sizeof(key->members[0]), bt_str_compare_qsort);
	}
	bt_json_format(key, &buffer);
	*out_text = bt_arena_take_strbuf(arena, &buffer);
	return true;
}

static const struct bt_field_set *parse_at(struct bt_arena *arena, char kind, struct bt_str text,
	const struct bt_json_value *fields, bool is_root)
{
	struct bt_field_set *set = bt_field_set_new(arena, kind, text, fields->count);
	set->member = fields->count == 0 && !is_root;
	for (uint32_t i = 0; i < fields->count; i++) {
		const struct bt_json_member *member = &fields->members[i];
		char child_kind;
		struct bt_str child_text;
		if (bt_str_equal(member->name, BT_STR("."))) {
			set->member = !is_root;
		} else if (member->value->type == BT_JSON_OBJECT &&
			parse_edge(arena, member->name, &child_kind, &child_text)) {
			const struct bt_field_set *child =
				parse_at(arena, child_kind, child_text, member->value, false);
			if (child != NULL) {
				set->children[set->count++] = child;
			}
		}
	}
	uint32_t kept = 0;
	if (set->count >= 2) {
		qsort(set->children, set->count, sizeof(*set->children), compare_sets);
		for (uint32_t i = 1; i < set->count; i++) {
			if (compare_sets(&set->children[kept], &set->children[i]) == 0) {
				set->children[kept] = bt_field_set_union(
					arena, set->children[kept], set->children[i]);
			} else {
				set->children[++kept] = set->children[i];
			}
		}
		set->count = kept + 1;
	}
	return bt_field_set_or_empty(set);
}

const struct bt_field_set *bt_field_set_parse(
	struct bt_arena *arena, const struct bt_json_value *fields)
{
	if (fields == NULL || fields->type != BT_JSON_OBJECT) {
		return NULL;
	}
	return parse_at(arena, '\0', BT_STR(""), fields, true);
}

struct bt_json_value *bt_field_set_format(struct bt_arena *arena, const struct bt_field_set *set)
{
	struct bt_json_value *fields = bt_json_new(arena, BT_JSON_OBJECT);
	if (set == NULL) {
		return fields;
	}
	if (set->member && set->count != 0) {
		bt_json_append_member(
			arena, fields, BT_STR("."), bt_json_new(arena, BT_JSON_OBJECT));
	}
	for (uint32_t i = 0; i < set->count; i++) {
		const struct bt_field_set *child = set->children[i];
		char *name = bt_arena_alloc_bytes(arena, (size_t)child->text.length + 2);
		name[0] = child->kind;
		name[1] = ':';
		if (child->text.length != 0) {
			memcpy(name + 2, child->text.data, child->text.length);
		}
		bt_json_append_member(arena, fields, (struct bt_str){name, child->text.length + 2},
			bt_field_set_format(arena, child));
	}
	return fields;
}

/** --- set operations --- */

enum operation { UNION, DIFFERENCE, INTERSECTION };

static const struct bt_field_set *combine(struct bt_arena *arena, enum operation operation,
	const struct bt_field_set *a, const struct bt_field_set *b)
{
	if (a == NULL || b == NULL) {
		const struct bt_field_set *only = a != NULL ? a : b;
		return operation == UNION || (operation == DIFFERENCE && a != NULL) ? only : NULL;
	}
	uint32_t room = operation == UNION ? a->count + b->count : a->count;
	struct bt_field_set *set = bt_field_set_new(arena, a->kind, a->text, room);
	set->member = operation == UNION ? a->member || b->member
					 : a->member && b->member == (operation == INTERSECTION);
	uint32_t i = 0;
	uint32_t k = 0;
	while (i < a->count || k < b->count) {
		int order = 0;
		if (i == a->count || k == b->count) {
			order = i == a->count ? 1 : -1;
		} else {
			order = compare_sets(&a->children[i], &b->children[k]);
		}
		const struct bt_field_set *left = order <= 0 ? a->children[i++] : NULL;
		const struct bt_field_set *right = order >= 0 ? b->children[k++] : NULL;
		const struct bt_field_set *child = combine(arena, operation, left, right);
		if (child != NULL) {
			set->children[set->count++] = child;
		}
	}
	return bt_field_set_or_empty(set);
}

const struct bt_field_set *bt_field_set_union(
	struct bt_arena *arena, const struct bt_field_set *a, const struct bt_field_set *b)
{
	return combine(arena, UNION, a, b);
}

const struct bt_field_set *bt_field_set_difference(
	struct bt_arena *arena, const struct bt_field_set *a, const struct bt_field_set *b)
{
	return combine(arena, DIFFERENCE, a, b);
}

const struct bt_field_set *bt_field_set_intersection(
	struct bt_arena *arena, const struct bt_field_set *a, const struct bt_field_set *b)
{
	return combine(arena, INTERSECTION, a, b);
}

const struct bt_field_set *bt_field_set_child(
	const struct bt_field_set *set, char kind, struct bt_str text)
{
	const struct bt_field_set wanted = {.kind = kind, .text = text};
	const struct bt_field_set *key = &wanted;
	uint32_t count = set != NULL ? set->count : 0;
	uint32_t at;

	BT_LOWER_BOUND(at, count, middle, compare_sets(&set->children[middle], &key) < 0);
	return at < count && compare_sets(&set->children[at], &key) == 0 ? set->children[at] : NULL;
}

/** Copies the set without the children that have these names; NULL: no children are left. */
static const struct bt_field_set *copy_without(
	struct bt_arena *arena, const struct bt_field_set *set, const char *const *names)
{
	if (set == NULL) {
		return NULL;
	}
	struct bt_field_set *rest = bt_field_set_new(arena, set->kind, set->text, set->count);
	for (uint32_t i = 0; i < set->count; i++) {
		const struct bt_field_set *child = set->children[i];
		bool listed = false;
		for (uint32_t k = 0; names[k] != NULL && !listed; k++) {
			listed = bt_str_equal_c(child->text, names[k]);
		}
		if (!listed) {
			rest->children[rest->count++] = child;
		}
	}
	return bt_field_set_or_empty(rest);
}

const struct bt_field_set *bt_field_set_stripped(
	struct bt_arena *arena, const struct bt_field_set *set, const char *ignored_member)
{
	static const char *const of_metadata[] = {"name", "namespace", "creationTimestamp",
		"selfLink", "uid", "clusterName", "generation", "managedFields", "resourceVersion",
		"deletionTimestamp", "deletionGracePeriodSeconds", NULL};
	const char *const of_root[] = {"apiVersion", "kind", "metadata", ignored_member, NULL};
	const struct bt_field_set *metadata =
		bt_field_set_child(set, BT_FIELD_NAME, BT_STR("metadata"));
	const struct bt_field_set *rest = copy_without(arena, set, of_root);
	metadata = copy_without(arena, metadata, of_metadata);
	if (metadata != NULL) {
		struct bt_field_set *root = bt_field_set_new(arena, '\0', BT_STR(""), 1);
		root->children[root->count++] = metadata;
		rest = bt_field_set_union(arena, rest, root);
	}
	return rest;
}

/** --- paths --- */

struct path_list {
	struct bt_arena *arena;
	struct bt_strbuf path;
	uint32_t count;
	uint32_t limit;
	struct bt_json_value *out;
};

static void print_edge(struct path_list *list, const struct bt_field_set *set)
{
	switch (set->kind) {
	case BT_FIELD_NAME:
		bt_strbuf_append_char(&list->path, '.');
		bt_strbuf_append_str(&list->path, set->text);
		break;
	case BT_FIELD_KEY: {
		struct bt_json_value *key = NULL;
		if (bt_json_parse(list->arena, set->text, false, &key, NULL) == 0) {
			bt_strbuf_append_char(&list->path, '[');
			for (uint32_t i = 0; key->type == BT_JSON_OBJECT && i < key->count; i++) {
				bt_strbuf_append_c(&list->path, i != 0 ? "," : "");
				bt_strbuf_append_str(&list->path, key->members[i].name);
				bt_strbuf_append_char(&list->path, '=');
				bt_json_format(key->members[i].value, &list->path);
			}
			bt_strbuf_append_char(&list->path, ']');
		}
		break;
	}
	case BT_FIELD_VALUE:
		bt_strbuf_append_c(&list->path, "[=");
		bt_strbuf_append_str(&list->path, set->text);
		bt_strbuf_append_char(&list->path, ']');
		break;
	case BT_FIELD_INDEX:
		bt_strbuf_append_char(&list->path, '[');
		bt_strbuf_append_str(&list->path, set->text);
		bt_strbuf_append_char(&list->path, ']');
		break;
	default: /* the root has no text */
		break;
	}
}

/*
 * Lists the paths of the set. The direct children that are in the set come first; then come the
 * places below each child.
 */
static void list_paths(struct path_list *list, const struct bt_field_set *set)
{
	size_t length = list->path.length;
	for (uint32_t i = 0; i < 2 * set->count; i++) {
		const struct bt_field_set *child = set->children[i % set->count];
		bool is_member = i < set->count && child->member;
		if (list->count < list->limit) {
			print_edge(list, child);
		}
		if (is_member && list->count < list->limit) {
			struct bt_str path = bt_arena_str(list->arena, bt_strbuf_str(&list->path));
			bt_json_append(list->arena, list->out, bt_json_new_str(list->arena, path));
		}
		list->count += is_member ? 1U : 0U;
		if (i >= set->count && child->count != 0) {
			list_paths(list, child);
		}
		list->path.length = length;
	}
}

uint32_t bt_field_set_paths(struct bt_arena *arena, const struct bt_field_set *set, uint32_t limit,
	struct bt_json_value *out_paths)
{
	struct path_list list = {.arena = arena, .limit = limit, .out = out_paths};
	if (set != NULL) {
		list_paths(&list, set);
	}
	bt_strbuf_finish(&list.path);
	return list.count;
}
