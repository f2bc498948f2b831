/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLI_EXPLAIN_ALL_H
#define BT_CLI_EXPLAIN_ALL_H
/**
 * Explanations of several pods: all pending pods by owner and reason ("berth pending", "berth
 * explain --all"), or the pods of a pod group ("berth explain podgroup/NAME").
 */
#include "cli/explain/explain_report.h"

/**
 * Append the pending pods of a loaded simulation (namespace_ NULL: of all namespaces), the largest
 * owner first. One pod of each owner is explained for all pods of that owner. Returns the exit
 * status: BT_EXIT_FINDING if there are pending pods; or BERTH_ERR_*.
 */
BT_MUST_USE int bt_explain_all_write(struct bt_simulation *simulation, const char *namespace_,
	const struct bt_explain_options *options, enum bt_output_format format,
	struct bt_strbuf *out, struct berth_error *err);

/**
 * Explain the pod group of this name in a loaded simulation. If no pod of the group is pending,
 * only has_object, scheduled_count and fate are set (fate: BT_GROUP_FITS, or BT_GROUP_GATED if the
 * group has no pods). Requires gate GenericWorkload. out is initialised in any case; the caller
 * must finish it, also after an error.
 */
BT_MUST_USE int bt_explain_pod_group(struct bt_simulation *simulation, struct bt_str namespace_,
	struct bt_str name, const struct bt_explain_options *options,
	struct bt_group_explanation *out, struct berth_error *err);
/** "Fits", "Scheduled" (no pod is pending), "Unschedulable", "Gated", "NoPods", "Error" */
const char *bt_explained_group_fate_name(const struct bt_group_explanation *explanation);
/** Append "add 2 empty nodes like node-7". pod: a member; nodes as for bt_changes_append_text. */
void bt_group_proposal_append_text(const struct bt_group_proposal *proposal,
	const struct bt_pod *pod, const struct bt_node_table *nodes, struct bt_strbuf *out);
/**
 * Append the answer about a pod group. Returns the exit status, BT_EXIT_FINDING unless the group
 * fits; or BERTH_ERR_*.
 */
BT_MUST_USE int bt_explain_pod_group_write(struct bt_simulation *simulation,
	const struct bt_pod_reference *reference, const struct bt_explain_options *options,
	enum bt_output_format format, struct bt_strbuf *out, struct berth_error *err);
#endif
