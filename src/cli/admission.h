/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLI_ADMISSION_H
#define BT_CLI_ADMISSION_H
/**
 * What a pod is given on its way through the API server, for pods that come from manifests. Pods of
 * a live cluster come out as they were. Spec: 01b section 12, 01 sections 4.14 and 5.13.
 */
#include "api/pod.h"
#include "cli/manifests.h"

struct bt_admission {
	const struct bt_manifests *cluster;
	const struct bt_priority_class *default_class; /* NULL: priority 0 */
	bool pod_level;                                /* gate PodLevelResources */
};

/** Look for the default priority class: of several globalDefault ones that of the lowest value. */
void bt_admission_init(
	struct bt_admission *admission, const struct bt_manifests *cluster, bool pod_level);
/**
 * Fill in defaults, tolerations, priority and preemption policy. pod is a shallow copy that may be
 * changed; what it shares with others is not. namespace and uid are set already. BERTH_ERR_INVALID:
 * "spec.priorityClassName: no PriorityClass with name ... was found".
 */
BT_MUST_USE int bt_admission_admit(const struct bt_admission *admission, struct bt_pod *pod,
	struct bt_arena *arena, struct berth_error *err);
/**
 * Refuse what the API server refuses of a pod or of a workload's pod template and the scheduler
 * cannot decide about: amounts of containers, of the pod and of its overhead that are negative or
 * no whole number, and a template without containers. Other objects pass. BERTH_ERR_INVALID with
 * the API server's words: "spec.template.spec.containers: Required value".
 */
BT_MUST_USE int bt_admission_validate(const struct bt_object *object, struct berth_error *err);
#endif
