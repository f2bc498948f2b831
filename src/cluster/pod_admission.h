/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLUSTER_POD_ADMISSION_H
#define BT_CLUSTER_POD_ADMISSION_H
/**
 * Admission for pods that are not stored on an API server: defaults, limit ranges, service account,
 * priority, tolerations, runtime class. Pods with equal specs are admitted once, so a hundred
 * thousand pods of a few templates cost little. Spec: 14b section 4.
 */
#include "api/pod.h"
#include "base/text_set.h"
#include "base/vec.h"
#include "server/api.h"

struct bt_admitted_pod {
	struct bt_str answer; /* the admitted pod as JSON, which quotas count */
	const struct bt_pod_spec *spec;
};

struct bt_pod_admission {
	struct bt_api *api;
	const struct bt_api_resource *pods;
	/**
	 * Quotas exist. Then every pod must be admitted, even if it equals the previous pod,
	 * because each pod uses quota.
	 */
	bool has_quotas;
	bool has_policies; /* mutating policies exist, which may read all metadata of a pod */
	/** By text: 'r' (restored) or 'n' (new), then the JSON that was sent to the API server. */
	struct bt_text_set sent;
	BT_VEC(struct bt_admitted_pod) list; /* by position in sent */
	struct bt_arena arena;               /* of sent and list */
	struct bt_arena scratch;
	struct bt_strbuf text; /* of the pod that is admitted */
	void (*warn)(void *context, const char *line);
	void *warn_context;
	struct bt_text_set missing_classes;
};

/**
 * api: borrowed. LimitRanges, classes and quotas of the API must not change any more. warn (may be
 * NULL) is called once for each missing RuntimeClass; pods that name the class are admitted as if
 * they named none.
 */
void bt_pod_admission_init(struct bt_pod_admission *admission, struct bt_api *api,
	void (*warn)(void *context, const char *line), void *warn_context);
/** All-zero memory accepted. */
void bt_pod_admission_finish(struct bt_pod_admission *admission);
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
#endif
