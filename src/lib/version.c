/* SPDX-License-Identifier: Apache-2.0 */
#include "berth/api.h"

#include "base/str.h"

const char *berth_version(void)
{
	return BT_VERSION;
}

const char *berth_kubernetes_version(void)
{
	return "v1.36";
}

void berth_set_hash_secret(uint64_t secret)
{
	bt_hash_set_secret(secret);
}
