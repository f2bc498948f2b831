/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_LIB_REGISTRY_H
#define BT_LIB_REGISTRY_H
/** The public registry: the framework's registry, and the memory of its entries. */
#include "berth/registry.h"
#include "framework/registry.h"
#include "lib/plugin_adapter.h"

struct berth_registry {
	struct bt_registry inside;
	BT_VEC(struct bt_plugin_registration *) registrations; /* owned, also removed ones */
	BT_VEC(void *) objects;                                /* loaded shared objects */
};
#endif
