/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLI_EXPLAIN_POD_H
#define BT_CLI_EXPLAIN_POD_H
/**
 * Which pod is meant. Of a workload the first pending pod in the order of the queue counts, else
 * its first one. Nothing given: the only pending pod.
 */
#include "cli/pod_reference.h"
#include "cli/simulation.h"

struct bt_pod_choice {
	uint32_t pending; /* index in bt_simulation.pods; UINT32_MAX: it runs */
	uint32_t object;  /* of a running pod: index in the cluster's objects */
	/* Of a workload. */
	bool of_workload;
	enum bt_kind workload_kind;
	struct bt_str workload_namespace;
	struct bt_str workload_name;
	uint32_t workload_pods; /* all but those that are over */
	uint32_t workload_pending;
};

/**
 * Find the pod in a loaded simulation that keeps its bound pods. reference NULL: the only pending
 * pod (of namespace_, unless that is NULL). BERTH_ERR_INVALID: one sentence that says what there is
 * instead.
 */
BT_MUST_USE int bt_pod_choose(const struct bt_simulation *simulation,
	const struct bt_pod_reference *reference, const char *namespace_, struct bt_pod_choice *out,
	struct berth_error *err);
#endif
