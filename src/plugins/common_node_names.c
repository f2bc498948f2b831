/* SPDX-License-Identifier: Apache-2.0 */
#include "plugins/common_node_names.h"

#include <stdlib.h>

static void sort_distinct(struct bt_name_set *set)
{
	uint32_t kept = 0;

	if (set->count > 1) {
		qsort(set->items, set->count, sizeof(*set->items), bt_str_compare_qsort);
	}
	for (uint32_t i = 0; i < set->count; i++) {
		if (kept == 0 || !bt_str_equal(set->items[i], set->items[kept - 1])) {
			set->items[kept++] = set->items[i];
		}
	}
	set->count = kept;
}

static struct bt_name_set set_of_values(const bt_str_list *values, struct bt_arena *arena)
{
	struct bt_name_set set = {
		BT_ARENA_NEW_ARRAY(arena, struct bt_str, values->count), values->count};

	for (uint32_t i = 0; i < values->count; i++) {
		set.items[i] = values->items[i];
	}
	sort_distinct(&set);
	return set;
}

static void keep_common(struct bt_name_set *set, const struct bt_name_set *other)
{
	uint32_t kept = 0;
	uint32_t k = 0;

	for (uint32_t i = 0; i < set->count; i++) {
		while (k < other->count && bt_str_compare(other->items[k], set->items[i]) < 0) {
			k++;
		}
		if (k < other->count && bt_str_equal(other->items[k], set->items[i])) {
			set->items[kept++] = set->items[i];
		}
	}
	set->count = kept;
}

/** The node names a term leaves; false when it names none, so that any node may match. */
static bool names_of_term(const struct bt_node_selector_term *term, struct bt_arena *arena,
	struct bt_name_set *out_names)
{
	bool found = false;

	for (uint32_t i = 0; i < term->match_fields.count; i++) {
		const struct bt_node_selector_requirement *field = &term->match_fields.items[i];
		struct bt_name_set values;

		if (!bt_str_equal_c(field->key, "metadata.name") ||
			!bt_str_equal_c(field->operator_, "In")) {
			continue;
		}
		values = set_of_values(&field->values, arena);
		if (found) {
			keep_common(out_names, &values);
		} else {
			*out_names = values;
			found = true;
		}
	}
	return found;
}

bool bt_node_names_of_terms(const struct bt_node_selector *required, struct bt_arena *arena,
	struct bt_name_set *out_names)
{
	struct bt_name_set *sets =
		BT_ARENA_NEW_ARRAY(arena, struct bt_name_set, required->terms.count);
	struct bt_name_set all = {NULL, 0};

	for (uint32_t i = 0; i < required->terms.count; i++) {
		if (!names_of_term(&required->terms.items[i], arena, &sets[i])) {
			return false;
		}
		all.count += sets[i].count;
	}
	all.items = BT_ARENA_NEW_ARRAY(arena, struct bt_str, all.count);
	all.count = 0;
	for (uint32_t i = 0; i < required->terms.count; i++) {
		for (uint32_t k = 0; k < sets[i].count; k++) {
			all.items[all.count++] = sets[i].items[k];
		}
	}
	sort_distinct(&all);
	*out_names = all;
	return true;
}
