/* SPDX-License-Identifier: Apache-2.0 */
/**
 * TopologyPlacementGenerator (PlacementGenerate): one placement for each value of the node label
 * that the pod group names in its topology constraint. Spec: 05 section 15.2.
 */
#include "plugins/common_plugin.h"
#include "plugins/common_pod_group.h"
#include "plugins/in_tree.h"

static struct bt_status generate_placements(struct bt_plugin *plugin, struct bt_arena *arena,
	struct bt_str group_namespace, struct bt_str group_name, const struct bt_placement *parent,
	const struct bt_placement **out_placements, uint32_t *out_count)
{
	const struct bt_state *state = bt_plugin_handle(plugin)->state;
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_str key;

	if (bt_pod_group_topology_key(state, group_namespace, group_name, &key, &err) != 0) {
		return bt_status_from_error(arena, &err);
	}
	if (key.data == NULL) {
		*out_placements = parent;
		*out_count = 1;
		return BT_STATUS_OK;
	}
	return bt_pod_group_topology_placements(
		state, key, group_namespace, group_name, parent, arena, out_placements, out_count);
}

const struct bt_plugin_ops bt_topology_placement_generator_plugin = {
	.name = "TopologyPlacementGenerator",
	.create = bt_plain_plugin_create,
	.destroy = bt_plain_plugin_destroy,
	.generate_placements = generate_placements,
};
