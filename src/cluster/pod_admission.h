/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLUSTER_POD_ADMISSION_H
#define BT_CLUSTER_POD_ADMISSION_H
/**
 * Admission for pods that are not stored on an API server: defaults, limit ranges, service account,
 * priority, tolerations, runtime class. Pods with equal specs are admitted once, so a hundred
 * thousand pods of a few templates cost little. Spec: 14b section 4.
 */
#include "api/pod.h"
#include "server/api.h"

struct bt_pod_admission;

/**
 * api: borrowed. LimitRanges, classes and quotas of the API must not change any more. warn (may be
 * NULL) is called once for each missing RuntimeClass; pods that name the class are admitted as if
 * they named none.
 */
BT_MUST_USE struct bt_pod_admission *bt_pod_admission_create(
	struct bt_api *api, void (*warn)(void *context, const char *line), void *warn_context);
/** NULL accepted. */
void bt_pod_admission_destroy(struct bt_pod_admission *admission);
/**
 * Admits the pod and counts it against the quotas of its namespace. *out_spec: the pod's spec after
 * admission, but without nodeName; borrowed from the admission.
 *
 * is_from_cluster: another API server has admitted the pod, so the pod only gets missing defaults
 * and no quota refuses it. A pod that already has a priority, an overhead or a node is treated in
 * the same way.
 *
 * BERTH_ERR_INVALID: refused, with the API server's text. BERTH_ERR_STATE: a quota refuses the pod,
 * but may still admit a smaller pod.
 */
BT_MUST_USE int bt_pod_admission_admit(struct bt_pod_admission *admission, const struct bt_pod *pod,
	bool is_from_cluster, const struct bt_pod_spec **out_spec, struct berth_error *err);
/**
 * Returns whether quotas exist. Then every pod must be admitted, even if it equals the previous
 * pod, because each pod uses quota.
 */
bool bt_pod_admission_has_quotas(const struct bt_pod_admission *admission);
/** Returns the memory that the admitted specs take. */
size_t bt_pod_admission_bytes(const struct bt_pod_admission *admission);
#endif
