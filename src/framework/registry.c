/* SPDX-License-Identifier: Apache-2.0 */
#include "framework/registry.h"

#include <stddef.h>

/** Returns the index of the plugin with this name, or the number of entries if there is none. */
static uint32_t find_entry(const struct bt_registry *registry, struct bt_str name)
{
	uint32_t i = 0;

	while (i < registry->entries.count &&
		!bt_str_equal_c(name, registry->entries.items[i]->name)) {
		i++;
	}
	return i;
}

int bt_registry_register(
	struct bt_registry *registry, const struct bt_plugin_ops *ops, struct berth_error *err)
{
	if (find_entry(registry, bt_str_from(ops->name)) < registry->entries.count) {
		return bt_error_set(
			err, BERTH_ERR_EXISTS, "a plugin named %s already exists", ops->name);
	}
	bt_vec_push(&registry->entries, ops);
	return BERTH_OK;
}

int bt_registry_unregister(
	struct bt_registry *registry, struct bt_str name, struct berth_error *err)
{
	uint32_t index = find_entry(registry, name);

	if (index == registry->entries.count) {
		return bt_error_set(
			err, BERTH_ERR_NOT_FOUND, "no plugin named %.*s exists", BT_STR_ARG(name));
	}
	bt_vec_remove_ordered(&registry->entries, index);
	return BERTH_OK;
}

int bt_registry_merge(
	struct bt_registry *registry, const struct bt_registry *other, struct berth_error *err)
{
	for (uint32_t i = 0; i < other->entries.count; i++) {
		int code = bt_registry_register(registry, other->entries.items[i], err);

		if (code != BERTH_OK) {
			return code;
		}
	}
	return BERTH_OK;
}

const struct bt_plugin_ops *bt_registry_find(const struct bt_registry *registry, struct bt_str name)
{
	uint32_t index = find_entry(registry, name);

	return index < registry->entries.count ? registry->entries.items[index] : NULL;
}
