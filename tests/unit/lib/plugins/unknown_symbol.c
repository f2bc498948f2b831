/* SPDX-License-Identifier: Apache-2.0 */
/** Uses a function that this library does not have, as one made for a later version would. */
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
