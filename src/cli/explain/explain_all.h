/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLI_EXPLAIN_ALL_H
#define BT_CLI_EXPLAIN_ALL_H
/** All pods that wait for a node, by owner and reason: "berth pending", "berth explain --all". */
#include "cli/explain/explain_report.h"

struct bt_pod_owner {
	struct bt_str kind; /* "Deployment"; "" of a pod without controller */
	struct bt_str name;
};

/** The workload of a pod; a ReplicaSet with a template's hash stands for its Deployment. Texts are
 * borrowed from the pod. */
struct bt_pod_owner bt_pod_owner_of(const struct bt_pod *pod);

/**
 * Append the pending pods of a loaded simulation (of one namespace, unless it is NULL), the largest
 * group first. One pod of each owner is explained for all of them. Returns the exit status:
 * BT_EXIT_FINDING when there are some; or BERTH_ERR_*.
 */
BT_MUST_USE int bt_explain_all_write(struct bt_simulation *simulation, const char *namespace_,
	const struct bt_explain_options *options, enum bt_output_format format,
	struct bt_strbuf *out, struct berth_error *err);
#endif
