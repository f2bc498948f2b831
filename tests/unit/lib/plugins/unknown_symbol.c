/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A module that uses a function missing from this library, like a module built for a later version.
 */
#include "berth/plugin.h"

int berth_of_a_later_version(void);

BERTH_API const struct berth_plugin_module berth_plugin_module = {
	.abi_version = BERTH_PLUGIN_ABI_VERSION,
	.name = "unknown_symbol",
};

BERTH_API int berth_test_use(void);

int berth_test_use(void)
{
	return berth_of_a_later_version();
}
