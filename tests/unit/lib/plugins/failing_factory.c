/* SPDX-License-Identifier: Apache-2.0 */
/** A module whose factory fails. */
#include <stddef.h>

#include "berth/plugin.h"

static int create(void *context, const struct berth_raw_args *args,
	const struct berth_handle *handle, struct berth_plugin **out_plugin,
	struct berth_error *err)
{
	(void)context;
	(void)args;
	(void)handle;
	(void)out_plugin;
	return berth_error_set(err, BERTH_ERR_INVALID, "today is a bad day");
}

static const struct berth_plugin_descriptor plugins[] = {{"Failing", create, NULL}};

BERTH_API const struct berth_plugin_module berth_plugin_module = {
	.abi_version = BERTH_PLUGIN_ABI_VERSION,
	.name = "failing_factory",
	.plugins = plugins,
	.plugin_count = 1,
};
