/* SPDX-License-Identifier: Apache-2.0 */
#include "api/binding.h"

#include "api/field_rows.h"

static const struct bt_field binding_rows[] = {
	BT_ROW_MSG(bt_binding, metadata, "metadata", 1, bt_object_meta, bt_object_meta_message),
	BT_ROW_MSG(
		bt_binding, target, "target", 2, bt_object_reference, bt_object_reference_message),
};
const struct bt_message bt_binding_message = BT_MESSAGE(bt_binding, "Binding", binding_rows);
