/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_FRAMEWORK_POD_LISTER_H
#define BT_FRAMEWORK_POD_LISTER_H
/**
 * Finds the newest version of a pod that the engine's driver has received, as upstream's pod lister
 * does. Plugins need this function because the state does not keep whole pods. The function is
 * called on the scheduling thread and must not block.
 */
#include "api/pod.h"
#include "base/str.h"

struct bt_pod_lister {
	/** Returns NULL if the pod does not exist. Borrowed until the cycle ends. */
	const struct bt_pod *(*find)(void *context, struct bt_str namespace_, struct bt_str name);
	void *context;
};
#endif
