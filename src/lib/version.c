/* SPDX-License-Identifier: Apache-2.0 */
#include "berth/version.h"

const char *berth_version(void)
{
	return BT_VERSION;
}

const char *berth_kubernetes_version(void)
{
	return "v1.36";
}
