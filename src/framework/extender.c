/* SPDX-License-Identifier: Apache-2.0 */
#include "framework/extender.h"

static bool list_has_managed(
	const struct bt_config_extender *extender, const struct bt_resource_list *list)
{
	for (uint32_t i = 0; i < list->count; i++) {
		for (uint32_t m = 0; m < extender->managed_resources.count; m++) {
			if (bt_str_equal(list->items[i].name,
				    extender->managed_resources.items[m].name)) {
				return true;
			}
		}
	}
	return false;
}

static bool containers_have_managed(
	const struct bt_config_extender *extender, const bt_container_list *containers)
{
	for (uint32_t i = 0; i < containers->count; i++) {
		const struct bt_resource_requirements *resources = &containers->items[i].resources;

		if (list_has_managed(extender, &resources->requests) ||
			list_has_managed(extender, &resources->limits)) {
			return true;
		}
	}
	return false;
}

bool bt_extender_is_interested(
	const struct bt_config_extender *extender, const struct bt_pod_info *pod)
{
	const struct bt_pod_spec *spec = &bt_shape_pod(pod->shape)->spec;

	return extender->managed_resources.count == 0 ||
		containers_have_managed(extender, &spec->containers) ||
		containers_have_managed(extender, &spec->init_containers);
}
