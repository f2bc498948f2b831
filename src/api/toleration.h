/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_API_TOLERATION_H
#define BT_API_TOLERATION_H
/** Taints and tolerations. Spec: 01 section 5.12. */
#include <stdbool.h>

#include "api/node.h"
#include "api/pod.h"

/**
 * allow_comparison: whether the gate TaintTolerationComparisonOperators is enabled, which allows
 * the operators Lt and Gt.
 */
bool bt_toleration_tolerates(const struct bt_toleration *toleration, const struct bt_taint *taint,
	bool allow_comparison);
bool bt_tolerations_tolerate(
	const bt_toleration_list *tolerations, const struct bt_taint *taint, bool allow_comparison);

/**
 * Returns how many seconds a pod with these tolerations stays on a node with these taints; 0: not
 * at all, INT64_MAX: for ever. Only taints with effect NoExecute count. Spec: 14b section 6.6.
 */
int64_t bt_tolerated_seconds(const bt_taint_list *taints, const bt_toleration_list *tolerations);

enum bt_taint_filter {
	BT_TAINT_HARD, /* NoSchedule, NoExecute */
	BT_TAINT_SOFT, /* PreferNoSchedule */
};

bool bt_taint_in_filter(const struct bt_taint *taint, enum bt_taint_filter filter);
/** Returns the first taint of the filter that is not tolerated, or NULL. */
const struct bt_taint *bt_find_untolerated_taint(const bt_taint_list *taints,
	const bt_toleration_list *tolerations, enum bt_taint_filter filter, bool allow_comparison);
/** Appends "key=value:effect", "key:effect", "key=value:" or "key". */
void bt_taint_format(const struct bt_taint *taint, struct bt_strbuf *out);
#endif
