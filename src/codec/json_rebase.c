/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/json_rebase.h"

/**
 * Counts the equal elements at the beginning of both arrays, or with from_end at the end of both
 * arrays. Stops at max.
 */
static uint32_t count_same(
	const struct bt_json_value *a, const struct bt_json_value *b, uint32_t max, bool from_end)
{
	uint32_t count = 0;
	for (; count < max; count++) {
		uint32_t at_a = from_end ? a->count - 1 - count : count;
		uint32_t at_b = from_end ? b->count - 1 - count : count;
		if (!bt_json_same(a->elements[at_a], b->elements[at_b])) {
			break;
		}
	}
	return count;
}

/* Recursive: the parser limits the depth of the documents. */
struct bt_json_value *bt_json_rebase(struct bt_arena *arena, struct bt_json_value *whole,
	const struct bt_json_value *before, struct bt_json_value *after)
{
	if (before != NULL && bt_json_same(before, after)) {
		return whole;
	}
	if (whole == NULL || before == NULL || whole->type != before->type ||
		before->type != after->type) {
		return after;
	}
	if (after->type == BT_JSON_OBJECT) {
		for (uint32_t i = 0; i < before->count; i++) {
			if (bt_json_get(after, before->members[i].name) == NULL) {
				(void)bt_json_remove(whole, before->members[i].name);
			}
		}
		for (uint32_t i = 0; i < after->count; i++) {
			const struct bt_json_member *member = &after->members[i];
			struct bt_json_value *value =
				bt_json_rebase(arena, bt_json_get(whole, member->name),
					bt_json_get(before, member->name), member->value);
			if (value != NULL) {
				bt_json_set(arena, whole, member->name, value);
			}
		}
		return whole;
	}
	if (after->type == BT_JSON_ARRAY && whole->count == before->count) {
		uint32_t common = BT_MIN(before->count, after->count);
		uint32_t head = count_same(before, after, common, false);
		uint32_t tail = count_same(before, after, common - head, true);
		for (uint32_t i = 0; i < after->count; i++) {
			uint32_t from_end = after->count - i;
			if (i < head) {
				after->elements[i] = whole->elements[i];
			} else if (from_end <= tail) {
				after->elements[i] = whole->elements[whole->count - from_end];
			} else if (before->count == after->count) {
				after->elements[i] = bt_json_rebase(arena, whole->elements[i],
					before->elements[i], after->elements[i]);
			}
		}
		return after;
	}
	return after;
}
