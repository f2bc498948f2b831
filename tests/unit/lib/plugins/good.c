/* SPDX-License-Identifier: Apache-2.0 */
/** Two plugins that do nothing. */
#include "berth/plugin.h"

static struct berth_status filter(struct berth_plugin *plugin, struct berth_cycle_state *state,
	const struct berth_pod_info *pod, const struct berth_node_info *node)
{
	(void)plugin;
	(void)state;
	(void)pod;
	(void)node;
	return BERTH_STATUS_SUCCESS;
}

static const struct berth_plugin_ops first_ops = {
	.size = sizeof(struct berth_plugin_ops), .name = "First", .filter = filter};
static const struct berth_plugin_ops second_ops = {
	.size = sizeof(struct berth_plugin_ops), .name = "Second", .filter = filter};
static struct berth_plugin instances[] = {{&first_ops}, {&second_ops}};

static int create(void *context, const struct berth_raw_args *args,
	const struct berth_handle *handle, struct berth_plugin **out_plugin,
	struct berth_error *err)
{
	(void)args;
	(void)handle;
	(void)err;
	*out_plugin = context;
	return BERTH_OK;
}

static const struct berth_plugin_descriptor plugins[] = {
	{"First", create, &instances[0]}, {"Second", create, &instances[1]}};

BERTH_API const struct berth_plugin_module berth_plugin_module = {
	.abi_version = BERTH_PLUGIN_ABI_VERSION,
	.name = "good",
	.plugins = plugins,
	.plugin_count = 2,
};
