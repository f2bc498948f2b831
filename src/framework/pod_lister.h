/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_FRAMEWORK_POD_LISTER_H
#define BT_FRAMEWORK_POD_LISTER_H
/**
 * The newest version of each pod that the engine's driver has received: upstream's pod informer.
 * The state keeps no whole pods. Called on the scheduling thread; must not block.
 */
#include "api/pod.h"
#include "base/str.h"

struct bt_pod_lister {
	/** NULL if the pod does not exist. Borrowed until the cycle ends. */
	const struct bt_pod *(*find)(void *context, struct bt_str namespace_, struct bt_str name);
	void *context;
};
#endif
