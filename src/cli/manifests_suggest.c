/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/manifests.h"
#include "cli/suggest.h"

/** More names than this are not compared. */
#define NAMES_COMPARED 10000

const char *bt_manifests_suggest(const struct bt_manifests *cluster, enum bt_kind kind,
	const struct bt_str *namespace_, struct bt_str name,
	bool (*is_there)(const void *context, uint32_t index), const void *context,
	struct bt_arena *arena, uint32_t *out_count)
{
	BT_VEC(const char *) names = {0};
	uint32_t count = 0;
	for (uint32_t i = 0; i < cluster->objects.count; i++) {
		const struct bt_manifests_object *object = &cluster->objects.items[i];
		if (object->kind != kind ||
			(namespace_ != NULL && !bt_str_equal(object->namespace_, *namespace_)) ||
			(is_there != NULL && !is_there(context, i))) {
			continue;
		}
		count++;
		if (names.count < NAMES_COMPARED) {
			bt_vec_push(&names,
				bt_arena_printf(arena, "%.*s", BT_STR_ARG(object->name)).data);
		}
	}
	struct bt_str given = bt_arena_printf(arena, "%.*s", BT_STR_ARG(name));
	const char *near = bt_suggest(given.data, names.items, names.count);
	bt_vec_finish(&names);
	if (out_count != NULL) {
		*out_count = count;
	}
	return near;
}
