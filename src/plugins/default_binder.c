/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DefaultBinder (Bind): binds the pod through the handle's binder (plugin.h). The engine does no
 * I/O: if there is no binder, as in a simulation, every binding succeeds. Spec: 05 section 16.
 */
#include "plugins/common_plugin.h"
#include "plugins/in_tree.h"

static struct bt_status bind(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, uint32_t slot)
{
	const struct bt_handle *handle = bt_plugin_handle(plugin);
	struct berth_error err = BERTH_ERROR_INIT;

	if (handle->binder == NULL) {
		return BT_STATUS_OK;
	}
	int code = handle->binder->bind(handle->binder->context, pod,
		bt_node_table_name(&handle->state->nodes, slot), &err);
	if (code < 0) {
		return bt_status_from_error(cycle->arena, &err);
	}
	return bt_status_code_only(code == BT_WRITE_PENDING ? BT_STATUS_WAIT : BT_STATUS_SUCCESS);
}

const struct bt_plugin_ops bt_default_binder_plugin = {
	.name = "DefaultBinder",
	.bind = bind,
};
