/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/alloc.h"
#include "codec/name_index.h"
#include "schema/list_order.h"
#include "schema/strategic_merge_internal.h"

#define PRINTED_BYTES_MAX 4096

/** --- messages --- */

static int compare_members(const void *a, const void *b)
{
	const struct bt_json_member *left = a;
	const struct bt_json_member *right = b;
	return bt_str_compare(left->name, right->name);
}

static void print_object(const struct bt_json_value *value, struct bt_strbuf *out)
{
	struct bt_json_member *sorted = BT_NEW_ARRAY(struct bt_json_member, value->count);
	if (value->count != 0) {
		memcpy(sorted, value->members, value->count * sizeof(*sorted));
		qsort(sorted, value->count, sizeof(*sorted), compare_members);
	}
	bt_strbuf_append_c(out, "map[");
	for (uint32_t i = 0; i < value->count && out->length < PRINTED_BYTES_MAX; i++) {
		bt_strbuf_append_c(out, i != 0 ? " " : "");
		bt_strbuf_append_str(out, sorted[i].name);
		bt_strbuf_append_char(out, ':');
		bt_strategic_print(sorted[i].value, out);
	}
	bt_strbuf_append_char(out, ']');
	bt_free(sorted);
}

void bt_strategic_print(const struct bt_json_value *value, struct bt_strbuf *out)
{
	if (out->length >= PRINTED_BYTES_MAX || value == NULL) {
		return;
	}
	switch (value->type) {
	case BT_JSON_NULL:
		bt_strbuf_append_c(out, "<nil>");
		break;
	case BT_JSON_BOOL:
		bt_strbuf_append_c(out, value->boolean ? "true" : "false");
		break;
	case BT_JSON_NUMBER:
	case BT_JSON_STRING:
		bt_strbuf_append_str(out, bt_str_sub(value->text, 0, PRINTED_BYTES_MAX));
		break;
	case BT_JSON_ARRAY:
		bt_strbuf_append_char(out, '[');
		for (uint32_t i = 0; i < value->count && out->length < PRINTED_BYTES_MAX; i++) {
			bt_strbuf_append_c(out, i != 0 ? " " : "");
			bt_strategic_print(value->elements[i], out);
		}
		bt_strbuf_append_char(out, ']');
		break;
	case BT_JSON_OBJECT:
		print_object(value, out);
		break;
	case BT_JSON__COUNT:
		break;
	}
}

static int missing_key(
	struct bt_strategic *merge, const struct bt_json_value *element, const char *key)
{
	struct bt_strbuf text = {0};
	bt_strategic_print(element, &text);
	int result = bt_error_set(merge->err, BERTH_ERR_INTERNAL,
		"map: %s does not contain declared merge key: %s", bt_strbuf_c(&text), key);
	bt_strbuf_finish(&text);
	return result;
}

static int wrong_order(struct bt_strategic *merge, const struct bt_json_value *patch,
	const struct bt_json_value *order)
{
	struct bt_strbuf patch_text = {0};
	struct bt_strbuf order_text = {0};
	bt_strategic_print(patch, &patch_text);
	bt_strategic_print(order, &order_text);
	int result = bt_error_set(merge->err, BERTH_ERR_INTERNAL,
		"The order in patch list:\n%s\n doesn't match $setElementOrder list:\n%s\n",
		bt_strbuf_c(&patch_text), bt_strbuf_c(&order_text));
	bt_strbuf_finish(&patch_text);
	bt_strbuf_finish(&order_text);
	return result;
}

/** --- a merge under way --- */

struct list_merge {
	struct bt_strategic *merge;
	struct bt_spot element;
	const char *key; /* NULL: scalars */
	/* What is merged so far; index finds the first element of a key by its rank. */
	BT_VEC(struct bt_json_value *) elements;
	BT_VEC(struct bt_str) keys;
	BT_VEC(uint32_t) ranks;
	struct bt_name_index index;
	/* Keys of the patch's elements that are merged. */
	BT_VEC(struct bt_str) patched;
};

static void finish(struct list_merge *list)
{
	bt_vec_finish(&list->elements);
	bt_vec_finish(&list->keys);
	bt_vec_finish(&list->ranks);
	bt_vec_finish(&list->patched);
	bt_name_index_finish(&list->index);
}

static struct bt_str key_of(const struct list_merge *list, const struct bt_json_value *element)
{
	return bt_spot_scalar_text(list->key != NULL ? bt_json_find(element, list->key) : element);
}

static uint32_t find(const struct list_merge *list, struct bt_str key)
{
	uint32_t rank = key.data != NULL ? bt_name_index_find(&list->index, key) : BT_MAP_NONE;
	return rank != BT_MAP_NONE ? list->ranks.items[rank] : BT_MAP_NONE;
}

static void append(struct list_merge *list, struct bt_str key, struct bt_json_value *element)
{
	if (key.data != NULL && find(list, key) == BT_MAP_NONE) {
		bt_name_index_add(&list->index, key);
		bt_vec_push(&list->ranks, list->elements.count);
	}
	bt_vec_push(&list->elements, element);
	bt_vec_push(&list->keys, key);
}

/** Keys of elements to delete; *out_replaces when the patch is the new list. */
static int read_directives(struct list_merge *list, const struct bt_json_value *patch,
	struct bt_name_index *deleted, bool *out_replaces)
{
	for (uint32_t i = 0; i < patch->count; i++) {
		const struct bt_json_value *element = patch->elements[i];
		struct bt_str directive = bt_strategic_directive(element);
		bool is_object = element->type == BT_JSON_OBJECT;
		if (is_object != (list->key != NULL) || element->type == BT_JSON_ARRAY) {
			return bt_error_set(list->merge->err, BERTH_ERR_INVALID,
				"list elements of a strategic merge patch have the wrong type");
		}
		if (bt_str_equal(directive, BT_STR("replace"))) {
			*out_replaces = true;
		} else if (bt_str_equal(directive, BT_STR("delete"))) {
			struct bt_str key = key_of(list, element);
			if (key.data == NULL) {
				return missing_key(list->merge, element, list->key);
			}
			bt_name_index_add(deleted, key);
		} else if (directive.data != NULL && !bt_str_equal(directive, BT_STR("merge"))) {
			return bt_strategic_unknown_directive(list->merge, element);
		}
	}
	return 0;
}

static int merge_element(struct list_merge *list, struct bt_json_value *element)
{
	struct bt_str directive = bt_strategic_directive(element);
	struct bt_str key = key_of(list, element);
	if (bt_str_equal(directive, BT_STR("delete"))) {
		return 0;
	}
	if (key.data == NULL && list->key != NULL) {
		return missing_key(list->merge, element, list->key);
	}
	bt_vec_push(&list->patched, key);
	uint32_t position = find(list, key);
	if (position == BT_MAP_NONE) {
		append(list, key, bt_strategic_stripped(element));
		return 0;
	}
	if (list->key == NULL) {
		return 0;
	}
	return bt_strategic_object(list->merge, &list->element, list->elements.items[position],
		element, &list->elements.items[position]);
}

/** The patch's elements must follow each other as in the order; *out_names: the order's keys. */
static int read_order(struct list_merge *list, const struct bt_json_value *patch,
	const struct bt_json_value *order, struct bt_str **out_names)
{
	struct bt_str *names = BT_ARENA_NEW_ARRAY(list->merge->arena, struct bt_str, order->count);
	uint32_t matched = 0;
	for (uint32_t i = 0; i < order->count; i++) {
		names[i] = key_of(list, order->elements[i]);
		if (names[i].data == NULL) {
			return bt_error_set(list->merge->err, BERTH_ERR_INVALID,
				"invalid patch format of setElementOrder list");
		}
		if (matched < list->patched.count &&
			bt_str_equal(names[i], list->patched.items[matched])) {
			matched++;
		}
	}
	if (matched != list->patched.count) {
		return wrong_order(list->merge, patch, order);
	}
	*out_names = names;
	return 0;
}

static int merge_all(struct list_merge *list, const struct bt_json_value *old,
	struct bt_json_value *patch, const struct bt_json_value *order,
	const struct bt_name_index *deleted, struct bt_json_value *merged)
{
	struct bt_arena *arena = list->merge->arena;
	struct bt_str *server = BT_ARENA_NEW_ARRAY(arena, struct bt_str, old->count);
	struct bt_str *names = NULL;
	int result = 0;
	for (uint32_t i = 0; i < old->count; i++) {
		server[i] = key_of(list, old->elements[i]);
		bool repeated = list->key == NULL && find(list, server[i]) != BT_MAP_NONE;
		bool gone = server[i].data != NULL &&
			bt_name_index_find(deleted, server[i]) != BT_MAP_NONE;
		if (!repeated && !gone) {
			append(list, server[i], old->elements[i]);
		}
	}
	for (uint32_t i = 0; i < patch->count && result == 0; i++) {
		result = merge_element(list, patch->elements[i]);
	}
	if (result == 0 && order != NULL) {
		result = read_order(list, patch, order, &names);
	}
	if (result != 0) {
		return result;
	}
	struct bt_keyed_list all = {list->elements.count, list->keys.items, list->elements.items};
	merged->count = all.count;
	merged->capacity = all.count;
	merged->elements = BT_ARENA_NEW_ARRAY(arena, struct bt_json_value *, all.count);
	bt_list_order(&all, order != NULL ? names : list->patched.items,
		order != NULL ? order->count : list->patched.count, server, old->count,
		merged->elements);
	return 0;
}

int bt_strategic_list(struct bt_strategic *merge, const struct bt_spot *spot,
	const struct bt_json_value *list, struct bt_json_value *patch,
	const struct bt_json_value *order, struct bt_json_value **out_result)
{
	struct list_merge state = {.merge = merge,
		.element = bt_spot_element(spot),
		.key = spot->list != NULL ? spot->list->merge_key : NULL};
	struct bt_name_index deleted = {0};
	struct bt_json_value *merged = bt_json_new(merge->arena, BT_JSON_ARRAY);
	bool replaces = false;
	int result = read_directives(&state, patch, &deleted, &replaces);
	if (result == 0 && replaces) {
		merged = bt_strategic_stripped(patch);
	} else if (result == 0) {
		result = merge_all(&state, list, patch, order, &deleted, merged);
	}
	bt_name_index_finish(&deleted);
	finish(&state);
	if (result == 0) {
		*out_result = merged;
	}
	return result;
}
