/* SPDX-License-Identifier: Apache-2.0 */
/** A module without plugins. */
#include "berth/plugin.h"

BERTH_API const struct berth_plugin_module berth_plugin_module = {
	.abi_version = BERTH_PLUGIN_ABI_VERSION,
	.name = "no_plugins",
};
