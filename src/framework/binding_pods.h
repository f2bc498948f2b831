/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_FRAMEWORK_BINDING_PODS_H
#define BT_FRAMEWORK_BINDING_PODS_H
/**
 * Pods in PreBind: one map for all profiles, by pod uid. Preemption uses it to stop a pod of lower
 * priority that is binding already. Spec: 02 section 12.2.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"

/** Called once per entry at most. cause is borrowed for the call. Must not change the map. */
typedef void (*bt_binding_cancel)(void *context, struct bt_str cause);

struct bt_binding_pod {
	char *uid; /* owned */
	uint32_t uid_length;
	bt_binding_cancel cancel;
	void *context;
	bool canceled;
	bool finished;
};

struct bt_binding_pods {
	BT_VEC(struct bt_binding_pod) pods; /* in no order */
	struct bt_map by_uid;
};

void bt_binding_pods_init(struct bt_binding_pods *binding);
void bt_binding_pods_finish(struct bt_binding_pods *binding);
/** Overwrites an entry with the same uid. cancel may be NULL. */
void bt_binding_pods_add(struct bt_binding_pods *binding, struct bt_str uid,
	bt_binding_cancel cancel, void *context);
void bt_binding_pods_remove(struct bt_binding_pods *binding, struct bt_str uid);
bool bt_binding_pods_has(const struct bt_binding_pods *binding, struct bt_str uid);
/** false when the pod is not there or its PreBind is over; true also when canceled before. */
bool bt_binding_pods_cancel(
	struct bt_binding_pods *binding, struct bt_str uid, struct bt_str cause);
/** The point of no return: false when canceled (or not there). */
bool bt_binding_pods_mark_prebound(struct bt_binding_pods *binding, struct bt_str uid);
#endif
