/* SPDX-License-Identifier: Apache-2.0 */
#include "server/kinds/common.h"

/* Resource lists as JSON trees. Spec: 14b section 3.1, 01 section 5.1. */

/** Resource lists are stored with this resolution, as a power of ten. */
#define MILLI_EXPONENT (-3)

bool bt_kinds_quantity(
	const struct bt_json_value *value, struct bt_arena *arena, struct bt_quantity *out)
{
	return value != NULL && (value->type == BT_JSON_STRING || value->type == BT_JSON_NUMBER) &&
		bt_quantity_parse(value->text, arena, out, NULL) == 0;
}

struct bt_json_value *bt_kinds_quantity_value(
	const struct bt_quantity *quantity, struct bt_arena *arena)
{
	struct bt_strbuf text = {0};
	struct bt_json_value *value;
	bt_quantity_format(quantity, &text);
	value = bt_json_new_str(arena, bt_arena_str(arena, bt_strbuf_str(&text)));
	bt_strbuf_finish(&text);
	return value;
}

void bt_kinds_round_quantities(struct bt_arena *arena, struct bt_json_value *map)
{
	for (uint32_t i = 0; map != NULL && i < map->count; i++) {
		struct bt_json_value *value = map->members[i].value;
		struct bt_quantity quantity;
		struct bt_quantity milli;
		bool may_be_fine =
			false; /* without these bytes it is a multiple */
		for (uint32_t n = 0; value->type == BT_JSON_STRING && n < value->text.length; n++) {
			may_be_fine =
				may_be_fine || memchr(".uneE", value->text.data[n], 5) != NULL;
		}
		if (!may_be_fine || !bt_kinds_quantity(value, arena, &quantity)) {
			continue;
		}
		milli = bt_quantity_make(bt_quantity_milli(&quantity), MILLI_EXPONENT,
			(enum bt_quantity_format)quantity.format);
		/* A quantity too large for int64 thousandths stays as it is. */
		if (bt_quantity_compare(&milli, &quantity) > 0) {
			map->members[i].value = bt_kinds_quantity_value(&milli, arena);
		}
	}
}

void bt_kinds_add_quantities(
	struct bt_arena *arena, struct bt_json_value *map, const struct bt_json_value *addend)
{
	for (uint32_t i = 0; addend != NULL && i < addend->count; i++) {
		const struct bt_json_member *member = &addend->members[i];
		struct bt_quantity sum;
		struct bt_quantity more;
		if (!bt_kinds_quantity(bt_json_get(map, member->name), arena, &sum)) {
			if (map->count == BT_KINDS_RESOURCES_MAX) {
				return;
			}
			bt_json_set(arena, map, member->name, member->value);
		} else if (bt_kinds_quantity(member->value, arena, &more)) {
			bt_quantity_add(&sum, &more, arena);
			bt_json_set(arena, map, member->name, bt_kinds_quantity_value(&sum, arena));
		}
	}
}

void bt_kinds_max_quantities(
	struct bt_arena *arena, struct bt_json_value *map, const struct bt_json_value *other)
{
	for (uint32_t i = 0; other != NULL && i < other->count; i++) {
		if (map->count == BT_KINDS_RESOURCES_MAX) {
			return;
		}
		const struct bt_json_member *member = &other->members[i];
		struct bt_quantity mine;
		struct bt_quantity theirs;
		if (!bt_kinds_quantity(bt_json_get(map, member->name), arena, &mine) ||
			(bt_kinds_quantity(member->value, arena, &theirs) &&
				bt_quantity_compare(&theirs, &mine) > 0)) {
			bt_json_set(arena, map, member->name, member->value);
		}
	}
}
