/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/alloc.h"
#include "codec/message.h"
#include "codec/message_layout.h"

const struct bt_str *bt_str_map_find(const struct bt_str_map *map, struct bt_str key)
{
	uint32_t low = 0;
	uint32_t high = map->count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		int order = bt_str_compare(map->items[middle].key, key);
		if (order == 0) {
			return &map->items[middle].value;
		}
		if (order < 0) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return NULL;
}

struct bt_str_map bt_str_map_set(const struct bt_str_map *map, struct bt_str key,
	const struct bt_str *value, struct bt_arena *arena)
{
	struct bt_str_map copy = {.present = true};
	bool placed = value == NULL;

	copy.items = BT_ARENA_NEW_ARRAY(arena, struct bt_str_pair, (size_t)map->count + 1);
	for (uint32_t i = 0; i < map->count; i++) {
		int order = bt_str_compare(map->items[i].key, key);

		if (!placed && order >= 0) {
			copy.items[copy.count++] = (struct bt_str_pair){key, *value};
			placed = true;
		}
		if (order != 0) {
			copy.items[copy.count++] = map->items[i];
		}
	}
	if (!placed) {
		copy.items[copy.count++] = (struct bt_str_pair){key, *value};
	}
	return copy;
}

struct bt_str_map bt_str_map_from_json(struct bt_arena *arena, const struct bt_json_value *texts)
{
	struct bt_str_map map = {.present = texts != NULL};

	if (texts == NULL || texts->type != BT_JSON_OBJECT || texts->count == 0) {
		return map;
	}
	map.items = BT_ARENA_NEW_ARRAY(arena, struct bt_str_pair, texts->count);
	for (uint32_t i = 0; i < texts->count; i++) {
		map.items[map.count++] =
			(struct bt_str_pair){texts->members[i].name, texts->members[i].value->text};
	}
	qsort(map.items, map.count, sizeof(*map.items), bt_str_compare_qsort);
	return map;
}

/** Copies texts, messages and scalars; all other members were copied bytewise before. */
static void copy_value(
	const struct bt_field *field, void *out, const void *value, struct bt_arena *arena)
{
	switch ((enum bt_field_type)field->type) {
	case BT_FIELD_STR:
	case BT_FIELD_RAW_JSON:
		bt_store_str(out, bt_arena_str(arena, bt_load_str(value)));
		break;
	case BT_FIELD_BOOL:
	case BT_FIELD_I32:
	case BT_FIELD_I64:
		break;
	case BT_FIELD_MESSAGE:
		bt_message_copy(field->message, out, value, arena);
		break;
	case BT_FIELD_SCALAR:
		if (field->scalar->plain) {
			memcpy(out, value, field->scalar->size);
		} else {
			field->scalar->copy(out, value, arena);
		}
		break;
	}
}

void bt_message_copy(
	const struct bt_message *message, void *out, const void *value, struct bt_arena *arena)
{
	memcpy(out, value, message->size);
	for (uint32_t i = 0; i < message->field_count; i++) {
		const struct bt_field *field = &message->fields[i];
		void *copy = bt_field_at(out, field->offset);
		const void *member = bt_const_field_at(value, field->offset);
		if (field->shape == BT_SHAPE_LIST || field->shape == BT_SHAPE_MAP) {
			struct bt_any_list list = bt_load_list(member);
			const char *from = list.items;
			if (list.count == 0) {
				continue;
			}
			char *item = bt_arena_alloc(arena, (size_t)list.count * field->item_size);
			memcpy(item, from, (size_t)list.count * field->item_size);
			list.items = item;
			bt_store_list(copy, list);
			uint32_t value_at = bt_value_offset(field);
			for (uint32_t k = 0; k < list.count; k++) {
				if (field->shape == BT_SHAPE_MAP) {
					bt_store_str(item, bt_arena_str(arena, bt_load_str(from)));
				}
				copy_value(field, item + value_at, from + value_at, arena);
				item += field->item_size;
				from += field->item_size;
			}
		} else if (!bt_field_is_pointer(field)) {
			copy_value(field, copy, member, arena);
		} else if (bt_load_pointer(member) != NULL) {
			void *pointee = bt_arena_alloc(arena, bt_pointee_size(field));
			copy_value(field, pointee, bt_load_pointer(member), arena);
			bt_store_pointer(copy, pointee);
		}
	}
}

static bool values_equal(const struct bt_field *field, const void *a, const void *b)
{
	switch ((enum bt_field_type)field->type) {
	case BT_FIELD_STR:
	case BT_FIELD_RAW_JSON:
		return bt_str_equal(bt_load_str(a), bt_load_str(b));
	case BT_FIELD_BOOL:
	case BT_FIELD_I32:
	case BT_FIELD_I64:
		return bt_load_number(field, a) == bt_load_number(field, b);
	case BT_FIELD_MESSAGE:
		return bt_message_equal(field->message, a, b);
	case BT_FIELD_SCALAR:
		return field->scalar->equal(a, b);
	}
	return false;
}

static bool items_equal(const struct bt_field *field, const void *a, const void *b)
{
	struct bt_any_list x = bt_load_list(a);
	struct bt_any_list y = bt_load_list(b);
	uint32_t value_at = bt_value_offset(field);
	if (x.count != y.count || x.present != y.present) {
		return false;
	}
	for (uint32_t i = 0; i < x.count; i++) {
		const void *p = bt_list_item(field, &x, i);
		const void *q = bt_list_item(field, &y, i);
		if (field->shape == BT_SHAPE_MAP && !bt_str_equal(bt_load_str(p), bt_load_str(q))) {
			return false;
		}
		if (!values_equal(field, bt_const_field_at(p, value_at),
			    bt_const_field_at(q, value_at))) {
			return false;
		}
	}
	return true;
}

bool bt_message_equal(const struct bt_message *message, const void *a, const void *b)
{
	for (uint32_t i = 0; i < message->field_count; i++) {
		const struct bt_field *field = &message->fields[i];
		const void *x = bt_const_field_at(a, field->offset);
		const void *y = bt_const_field_at(b, field->offset);
		bool equal;
		if (field->shape == BT_SHAPE_LIST || field->shape == BT_SHAPE_MAP) {
			equal = items_equal(field, x, y);
		} else {
			if (field->shape == BT_SHAPE_NULLABLE) {
				x = bt_nullable_value(field, x);
				y = bt_nullable_value(field, y);
			}
			equal = x == NULL || y == NULL ? x == y : values_equal(field, x, y);
		}
		if (!equal) {
			return false;
		}
	}
	return true;
}

bool bt_message_lists_equal(const struct bt_message *message, const void *a, const void *b)
{
	struct bt_any_list x = bt_load_list(a);
	struct bt_any_list y = bt_load_list(b);
	if (x.count != y.count) {
		return false;
	}
	for (size_t i = 0; i < x.count; i++) {
		if (!bt_message_equal(message, (const char *)x.items + i * message->size,
			    (const char *)y.items + i * message->size)) {
			return false;
		}
	}
	return true;
}

static uint64_t hash_str(uint64_t hash, struct bt_str text)
{
	/* hash the length too, so that the boundary between two texts counts */
	hash = bt_hash_u64(hash, text.length);
	return text.length == 0 ? hash : bt_hash_bytes(text.data, text.length, hash);
}

static uint64_t hash_value(const struct bt_field *field, uint64_t hash, const void *value)
{
	switch ((enum bt_field_type)field->type) {
	case BT_FIELD_STR:
	case BT_FIELD_RAW_JSON:
		return hash_str(hash, bt_load_str(value));
	case BT_FIELD_BOOL:
	case BT_FIELD_I32:
	case BT_FIELD_I64:
		return bt_hash_u64(hash, (uint64_t)bt_load_number(field, value));
	case BT_FIELD_MESSAGE:
		return bt_message_hash(field->message, hash, value);
	case BT_FIELD_SCALAR:
		return field->scalar->hash(hash, value);
	}
	return hash;
}

uint64_t bt_message_hash(const struct bt_message *message, uint64_t seed, const void *value)
{
	uint64_t hash = seed;
	for (uint32_t i = 0; i < message->field_count; i++) {
		const struct bt_field *field = &message->fields[i];
		const void *member = bt_const_field_at(value, field->offset);
		struct bt_any_list list;
		switch ((enum bt_field_shape)field->shape) {
		case BT_SHAPE_SINGLE:
			hash = hash_value(field, hash, member);
			break;
		case BT_SHAPE_NULLABLE:
			member = bt_nullable_value(field, member);
			hash = bt_hash_u64(hash, member != NULL ? 1 : 0);
			hash = member != NULL ? hash_value(field, hash, member) : hash;
			break;
		case BT_SHAPE_LIST:
		case BT_SHAPE_MAP:
			list = bt_load_list(member);
			hash = bt_hash_u64(
				hash, (uint64_t)list.count << 1 | (list.present ? 1 : 0));
			for (uint32_t k = 0; k < list.count; k++) {
				const void *item = bt_list_item(field, &list, k);
				if (field->shape == BT_SHAPE_MAP) {
					hash = hash_str(hash, bt_load_str(item));
				}
				hash = hash_value(field, hash,
					bt_const_field_at(item, bt_value_offset(field)));
			}
			break;
		}
	}
	return hash;
}

bool bt_str_map_contains(const struct bt_str_map *map, const struct bt_str_map *wanted)
{
	for (uint32_t i = 0; i < wanted->count; i++) {
		const struct bt_str *value = bt_str_map_find(map, wanted->items[i].key);

		if (value == NULL || !bt_str_equal(*value, wanted->items[i].value)) {
			return false;
		}
	}
	return true;
}

bool bt_str_list_has(const bt_str_list *list, struct bt_str text)
{
	return bt_str_is_among(text, list->items, list->count);
}

static struct bt_str entry_key(const struct bt_any_list *list, size_t entry_size, uint32_t i)
{
	return bt_load_str((const char *)list->items + i * entry_size);
}

void bt_sort_entries(struct bt_any_list *list, size_t entry_size)
{
	uint32_t sorted = 1;
	while (sorted < list->count &&
		bt_str_compare(entry_key(list, entry_size, sorted - 1),
			entry_key(list, entry_size, sorted)) < 0) {
		sorted++;
	}
	if (sorted >= list->count) {
		return;
	}
	struct bt_indexed_str *rows = BT_NEW_ARRAY(struct bt_indexed_str, list->count);
	char *unsorted = bt_malloc(list->count * entry_size);
	memcpy(unsorted, list->items, list->count * entry_size);
	for (uint32_t i = 0; i < list->count; i++) {
		rows[i] = (struct bt_indexed_str){entry_key(list, entry_size, i), i};
	}
	qsort(rows, list->count, sizeof(*rows), bt_indexed_str_compare_qsort);
	char *out = list->items;
	uint32_t kept = 0;
	for (uint32_t i = 0; i < list->count; i++) {
		if (i + 1 < list->count && bt_str_equal(rows[i].text, rows[i + 1].text)) {
			continue;
		}
		memcpy(out + kept * entry_size, unsorted + rows[i].index * entry_size, entry_size);
		kept++;
	}
	list->count = kept;
	bt_free(unsorted);
	bt_free(rows);
}
