/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_FRAMEWORK_POD_LISTER_H
#define BT_FRAMEWORK_POD_LISTER_H
/**
 * Gives the newest version of each pod that the engine's driver has received, as upstream's pod
 * informer does, because the state keeps no whole pods. Called on the scheduling thread; must not
 * block.
 */
#include "api/pod.h"
#include "base/str.h"

struct bt_pod_lister {
	/** Returns NULL if the pod does not exist. Borrowed until the cycle ends. */
	const struct bt_pod *(*find)(void *context, struct bt_str namespace_, struct bt_str name);
	void *context;
};
#endif
