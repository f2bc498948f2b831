/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_LIB_REGISTRY_H
#define BT_LIB_REGISTRY_H
/** The public registry: a registry of the framework, and the memory of the out-of-tree plugins. */
#include "berth/registry.h"
#include "framework/registry.h"
#include "lib/plugin_adapter.h"

struct berth_registry {
	struct bt_registry inside;
	BT_VEC(struct bt_plugin_registration *)
	registrations;          /* owned; registrations of unregistered plugins stay here */
	BT_VEC(void *) objects; /* handles of dlopen, in the order of loading */
};
#endif
