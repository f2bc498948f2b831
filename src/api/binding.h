/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_API_BINDING_H
#define BT_API_BINDING_H
/** Binding of a pod to a node. Spec: 01 section 4.13. */
#include "api/meta.h"
#include "api/storage.h"

struct bt_binding {
	struct bt_object_meta metadata;
	struct bt_object_reference target;
};

extern const struct bt_message bt_binding_message;
#endif
