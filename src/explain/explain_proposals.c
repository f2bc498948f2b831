/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/explain_private.h"

int bt_explain_propose(BT_UNUSED struct bt_explain_run *run, BT_UNUSED struct berth_error *err)
{
	return 0;
}
