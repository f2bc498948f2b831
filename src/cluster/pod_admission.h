/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLUSTER_POD_ADMISSION_H
#define BT_CLUSTER_POD_ADMISSION_H
/**
 * What the API server of a cluster gives to a pod that is created, for pods that are not stored
 * there: defaults, limit ranges, service account, priority, tolerations, runtime class. Pods with
 * equal specs are admitted once, so a hundred thousand pods of a few templates cost little. Spec:
 * 14b section 4.
 */
#include "api/pod.h"
#include "server/api.h"

struct bt_pod_admission;

/**
 * api: borrowed. Its LimitRanges, classes and quotas do not change any more. warn (may be NULL) is
 * told, once for each, of RuntimeClasses that are not there: pods then go without.
 */
BT_MUST_USE struct bt_pod_admission *bt_pod_admission_create(
	struct bt_api *api, void (*warn)(void *context, const char *line), void *warn_context);
/** NULL accepted. */
void bt_pod_admission_destroy(struct bt_pod_admission *admission);
/**
 * *out_spec: the pod's spec after admission, without its node, borrowed from the admission. The pod
 * is counted against the quotas of its namespace.
 *
 * is_from_cluster: it was admitted before. So was a pod that has what only admission or a scheduler
 * gives: a priority, an overhead or a node. Such a pod is only given what it lacks, and not refused
 * for a quota.
 *
 * BERTH_ERR_INVALID: refused, with the API server's text. BERTH_ERR_STATE: a quota refuses it; the
 * next one may be smaller.
 */
BT_MUST_USE int bt_pod_admission_admit(struct bt_pod_admission *admission, const struct bt_pod *pod,
	bool is_from_cluster, const struct bt_pod_spec **out_spec, struct berth_error *err);
/** Every pod has to be admitted, also one like the pod before. */
bool bt_pod_admission_has_quotas(const struct bt_pod_admission *admission);
/** Bytes that the admitted specs take. */
size_t bt_pod_admission_bytes(const struct bt_pod_admission *admission);
#endif
