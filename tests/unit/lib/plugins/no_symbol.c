/* SPDX-License-Identifier: Apache-2.0 */
/** A shared object that is not a plugin module. */
#include "berth/api.h"

BERTH_API int berth_test_no_plugin(void);

int berth_test_no_plugin(void)
{
	return 1;
}
