/* SPDX-License-Identifier: Apache-2.0 */
/** A module built for a later plugin interface. */
#include "berth/plugin.h"

BERTH_API const struct berth_plugin_module berth_plugin_module = {
	.abi_version = BERTH_PLUGIN_ABI_VERSION + 1,
	.name = "wrong_version",
};
