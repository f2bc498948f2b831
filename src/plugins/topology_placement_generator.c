/* SPDX-License-Identifier: Apache-2.0 */
/**
 * TopologyPlacementGenerator (PlacementGenerate): makes a placement for each value of the node
 * label in the pod group's topology constraint. Spec: 05 section 15.2.
 */
#include "api/types.h"
#include "plugins/common_plugin.h"
#include "plugins/common_pod_group.h"
#include "plugins/in_tree.h"

static struct bt_status generate_placements(struct bt_plugin *plugin, struct bt_arena *arena,
	struct bt_str group_namespace, struct bt_str group_name, const struct bt_placement *parent,
	const struct bt_placement **out_placements, uint32_t *out_count)
{
	const struct bt_state *state = bt_plugin_handle(plugin)->state;
	const struct bt_pod_group *group = bt_object_store_find(
		&state->objects, BT_KIND_POD_GROUP, group_namespace, group_name);

	if (group == NULL) {
		return bt_status_error_text(arena,
			bt_arena_printf(arena, "podgroup.scheduling.k8s.io \"%.*s\" not found",
				BT_STR_ARG(group_name)));
	}
	const struct bt_pod_group_scheduling_constraints *constraints =
		group->spec.scheduling_constraints;

	if (constraints == NULL || constraints->topology.count == 0) {
		*out_placements = parent;
		*out_count = 1;
		return BT_STATUS_OK;
	}
	struct bt_str key = constraints->topology.items[0].key;

	return bt_pod_group_topology_placements(
		state, key, group_namespace, group_name, parent, arena, out_placements, out_count);
}

const struct bt_plugin_ops bt_topology_placement_generator_plugin = {
	.name = "TopologyPlacementGenerator",
	.generate_placements = generate_placements,
};
