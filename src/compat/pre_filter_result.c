/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "berth/volume_binding.h"
#include "lib/convert.h"

static const struct bt_str *sorted_names(
	const struct berth_pre_filter_result *result, struct bt_arena *arena)
{
	struct bt_str *names = BT_ARENA_NEW_ARRAY(arena, struct bt_str, result->count);

	for (uint32_t i = 0; i < result->count; i++) {
		names[i] = result->names[i];
	}
	if (result->count > 1) {
		qsort(names, result->count, sizeof(names[0]), bt_str_compare_qsort);
	}
	return names;
}

struct berth_pre_filter_result berth_pre_filter_result_merge(
	const struct berth_pre_filter_result *a, const struct berth_pre_filter_result *b,
	struct berth_arena *arena)
{
	struct berth_pre_filter_result merged = {.restricted = a->restricted || b->restricted};
	const struct berth_pre_filter_result *all = a->restricted ? a : b;
	bool both = a->restricted && b->restricted;
	const struct bt_str *others;
	struct bt_str *names;

	if (!merged.restricted) {
		return merged;
	}
	names = BT_ARENA_NEW_ARRAY(bt_arena_of(arena), struct bt_str, all->count);
	others = both ? sorted_names(b, bt_arena_of(arena)) : NULL;
	for (uint32_t i = 0; i < all->count; i++) {
		if (!both ||
			(b->count != 0 &&
				bsearch(&all->names[i], others, b->count, sizeof(others[0]),
					bt_str_compare_qsort) != NULL)) {
			names[merged.count++] = all->names[i];
		}
	}
	merged.names = names;
	return merged;
}
