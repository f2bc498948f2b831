/* SPDX-License-Identifier: Apache-2.0 */
/** A module whose factory creates a plugin with another name than the registered one. */
#include <stddef.h>

#include "berth/plugin.h"

static const struct berth_plugin_ops ops = {
	.size = sizeof(struct berth_plugin_ops), .name = "SomebodyElse"};
static struct berth_plugin instance = {&ops};

static int create(void *context, const struct berth_raw_args *args,
	const struct berth_handle *handle, struct berth_plugin **out_plugin,
	struct berth_error *err)
{
	(void)context;
	(void)args;
	(void)handle;
	(void)err;
	*out_plugin = &instance;
	return BERTH_OK;
}

static const struct berth_plugin_descriptor plugins[] = {{"Misnamed", create, NULL}};

BERTH_API const struct berth_plugin_module berth_plugin_module = {
	.abi_version = BERTH_PLUGIN_ABI_VERSION,
	.name = "misnamed",
	.plugins = plugins,
	.plugin_count = 1,
};
