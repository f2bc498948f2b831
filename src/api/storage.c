/* SPDX-License-Identifier: Apache-2.0 */
#include "api/storage.h"

static struct bt_str class_of(const struct bt_object_meta *meta, struct bt_str field)
{
	const struct bt_str *beta = bt_str_map_find(
		&meta->annotations, BT_STR("volume.beta.kubernetes.io/storage-class"));

	return beta != NULL ? *beta : field;
}

struct bt_str bt_persistent_volume_claim_class(const struct bt_persistent_volume_claim *claim)
{
	return class_of(&claim->metadata, claim->spec.storage_class_name);
}

struct bt_str bt_persistent_volume_class(const struct bt_persistent_volume *volume)
{
	return class_of(&volume->metadata, volume->spec.storage_class_name);
}

void bt_default_class_offer(struct bt_default_class *best, struct bt_str name, struct bt_str mark,
	const struct bt_time *created)
{
	int order = bt_time_compare(created, &best->created);

	if (bt_str_equal_c(mark, "true") &&
		(best->name.length == 0 || order > 0 ||
			(order == 0 && bt_str_compare(name, best->name) < 0))) {
		*best = (struct bt_default_class){name, *created};
	}
}
