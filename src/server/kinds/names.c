/* SPDX-License-Identifier: Apache-2.0 */
#include "server/kinds/common.h"

#include "base/assert.h"

/** Sets with up to this many names are searched linearly. */
#define FEW 12

static void insert_slot(struct bt_names *names, uint32_t index)
{
	uint32_t mask = names->slot_count - 1;
	uint32_t slot = (uint32_t)bt_str_hash(names->texts[index]) & mask;
	while (names->slots[slot] != 0) {
		slot = (slot + 1) & mask;
	}
	names->slots[slot] = index + 1;
}

uint32_t bt_names_find(const struct bt_names *names, struct bt_str text)
{
	uint32_t mask = names->slot_count - 1;
	if (names->slot_count == 0) {
		for (uint32_t i = 0; i < names->count; i++) {
			if (bt_str_equal(names->texts[i], text)) {
				return i;
			}
		}
		return BT_NAMES_NONE;
	}
	for (uint32_t slot = (uint32_t)bt_str_hash(text) & mask; names->slots[slot] != 0;
		slot = (slot + 1) & mask) {
		uint32_t index = names->slots[slot] - 1;
		if (bt_str_equal(names->texts[index], text)) {
			return index;
		}
	}
	return BT_NAMES_NONE;
}

static void append(struct bt_names *names, struct bt_str text)
{
	if (names->count == names->capacity) {
		uint32_t capacity = names->capacity == 0 ? FEW : names->capacity * 2;
		struct bt_str *texts = BT_ARENA_NEW_ARRAY(names->arena, struct bt_str, capacity);
		BT_ASSERT(names->count < UINT32_MAX / 4);
		for (uint32_t i = 0; i < names->count; i++) {
			texts[i] = names->texts[i];
		}
		names->texts = texts;
		names->capacity = capacity;
	}
	names->texts[names->count++] = text;
	if (names->count <= FEW) {
		return;
	}
	if ((uint64_t)names->count * 2 > names->slot_count) {
		names->slot_count =
			names->slot_count == 0 ? 4 * FEW / 3 * 4 : names->slot_count * 2;
		names->slots = BT_ARENA_NEW_ARRAY(names->arena, uint32_t, names->slot_count);
		for (uint32_t i = 0; i < names->count; i++) {
			insert_slot(names, i);
		}
	} else {
		insert_slot(names, names->count - 1);
	}
}

bool bt_names_add(struct bt_names *names, struct bt_str text)
{
	if (bt_names_find(names, text) != BT_NAMES_NONE) {
		return false;
	}
	append(names, text);
	return true;
}

struct bt_names bt_names_of_list(
	struct bt_arena *arena, const struct bt_json_value *list, const char *member)
{
	struct bt_names names = {.arena = arena};
	for (uint32_t i = 0; i < list->count; i++) {
		(void)bt_names_add(&names, bt_kinds_text(list->elements[i], member));
	}
	return names;
}

struct bt_names bt_names_of_members(struct bt_arena *arena, const struct bt_json_value *object)
{
	struct bt_names names = {.arena = arena};
	/* Repeated names are kept, so that positions equal the indexes of members. */
	for (uint32_t i = 0; object != NULL && i < object->count; i++) {
		append(&names, object->members[i].name);
	}
	return names;
}
