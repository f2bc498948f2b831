/* SPDX-License-Identifier: Apache-2.0 */
#include "plugins/common_device_class.h"

#include "base/compiler.h"

bool bt_device_class_for_resource(
	BT_UNUSED const struct bt_state *state, BT_UNUSED struct bt_str name)
{
	return false;
}
