/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_FRAMEWORK_WAITING_PODS_H
#define BT_FRAMEWORK_WAITING_PODS_H
/**
 * Pods that wait in Permit: one map for all profiles, by pod uid. Spec: 02 section 12.1. No
 * function blocks, and a timer is only a deadline: the owner of the map must call
 * bt_waiting_pods_expire with the current time, and bt_waiting_pods_poll to get the results
 * (upstream's WaitOnPermit).
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"
#include "framework/framework.h"

struct bt_waiting_timer {
	struct bt_plugin *plugin;
	int64_t timeout_ns;
	int64_t deadline_ns;
	bool stopped;
};

struct bt_waiting_pod {
	struct bt_waiting_pods *waiting; /* the pods that this pod is one of */
	const struct bt_pod_info *pod;   /* borrowed until the entry is removed */
	struct bt_framework *framework;
	char *uid; /* owned */
	uint32_t uid_length;
	BT_VEC(struct bt_waiting_timer) pending; /* plugins that have not allowed the pod yet */
	bool done;
	/* Set by the first decision; later decisions are ignored. */
	bool has_result;
	uint8_t result_code;    /* Success, Unschedulable or Error */
	uint16_t result_plugin; /* index of the plugin + 1, as in a status; 0: no plugin */
	char *result_message;   /* owned */
	/**
	 * Set to true when the pod has a result or its entry is removed. The caller of
	 * bt_waiting_pods_add may set this pointer. NULL: not used.
	 */
	bool *is_decided;
};

struct bt_waiting_pods {
	BT_VEC(struct bt_waiting_pod *) pods; /* in no order */
	struct bt_map by_uid;
	uint32_t decided_count;   /* pods with a result */
	int64_t next_deadline_ns; /* lower bound of all deadlines; INT64_MAX: no timer */
};

void bt_waiting_pods_init(struct bt_waiting_pods *waiting);
void bt_waiting_pods_finish(struct bt_waiting_pods *waiting);
/**
 * AddWaitingPod: adds the pod; replaces an entry with the same uid. waits: the plugins that the pod
 * waits for, and their timeouts. If a timeout is 0 or less, this function rejects the pod at once.
 * If several timeouts are 0 or less, the first of these plugins in `waits` rejects the pod.
 */
struct bt_waiting_pod *bt_waiting_pods_add(struct bt_waiting_pods *waiting,
	struct bt_framework *framework, const struct bt_pod_info *pod,
	const struct bt_wait_time *waits, uint32_t wait_count, int64_t now_ns);
/**
 * Returns NULL if the pod does not wait. The pointer is valid until bt_waiting_pods_add replaces
 * the entry or bt_waiting_pods_poll removes it.
 */
struct bt_waiting_pod *bt_waiting_pods_find(
	const struct bt_waiting_pods *waiting, struct bt_str uid);
/**
 * Rejects each pod with a timer whose deadline is now_ns or earlier. The plugin of the pod's
 * earliest timer rejects the pod.
 */
void bt_waiting_pods_expire(struct bt_waiting_pods *waiting, int64_t now_ns);
/**
 * RejectWaitingPod: rejects the pod with reason `removed`. Returns false if the pod does not wait
 * or is decided already.
 */
bool bt_waiting_pods_reject(struct bt_waiting_pods *waiting, struct bt_str uid);

/**
 * Removes the plugin from the pod's pending plugins, if it is one of them. Then allows the pod if
 * no pending plugin is left.
 */
void bt_waiting_pod_allow(struct bt_waiting_pod *pod, struct bt_str plugin_name);
/**
 * Rejects the pod with this code and message as reason. code: Unschedulable, or Error if the pod is
 * preempted. plugin_name: the plugin of the status; "" if there is none. Returns false if the pod
 * is decided already.
 */
bool bt_waiting_pod_reject(struct bt_waiting_pod *pod, enum bt_status_code code,
	struct bt_str plugin_name, struct bt_str message);

enum bt_wait_result {
	BT_WAIT_NOT_WAITING, /* the pod has no entry, so the pod need not wait */
	BT_WAIT_PENDING,     /* no decision yet */
	BT_WAIT_DECIDED,     /* *out_status is the result; the entry is removed */
};

/**
 * WaitOnPermit without blocking (spec 02 section 5.14). *out_status: the result, with its text in
 * the arena; Success unless BT_WAIT_DECIDED is returned.
 */
enum bt_wait_result bt_waiting_pods_poll(struct bt_waiting_pods *waiting, struct bt_str uid,
	struct bt_arena *arena, struct bt_status *out_status);
#endif
