/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLI_EXPLAIN_REPORT_H
#define BT_CLI_EXPLAIN_REPORT_H
/** The answer of "berth explain", for people and for programs. */
#include "cli/explain/explain_events.h"
#include "cli/explain/explain_pod.h"
#include "cli/output.h"
#include "codec/json.h"
#include "explain/explain.h"

struct bt_explain_report {
	const struct bt_pod *pod; /* as it was explained: defaulted, without a node */
	bool in_input;            /* as an object of its own, not made from a workload */
	/** It came from an API server, and without tolerations: a patch has none to append to. */
	bool lacks_tolerations;
	struct bt_str running_on; /* its node; "": it is pending */
	const struct bt_pod_choice *choice;
	const struct bt_explanation *explanation;
	const struct bt_node_table *nodes; /* of the cluster that was asked; NULL: not at hand */
	uint32_t pending_count; /* pods without a node, this one among them when it has none */
	uint32_t ahead_count;   /* those the scheduler would try before it */
	bool after_queue;       /* they were placed first */
	uint32_t placed_count;  /* and so many of them found a node */
	bool proposals_wanted;
	struct bt_explain_events events;
};

/** "Fits", "Unschedulable", "NoNodes", "Gated", "NotHandled", "Error" */
const char *bt_explained_fate_name(enum bt_explained_fate fate);

/** Append the whole answer. BERTH_ERR_INVALID: YAML in a program built without it. */
BT_MUST_USE int bt_explain_report_write(const struct bt_explain_report *report,
	enum bt_output_format format, struct bt_strbuf *out, struct berth_error *err);

/* explain_json.c, explain_table.c */
void bt_explain_report_write_json(
	const struct bt_explain_report *report, uint32_t indent, struct bt_strbuf *out);
void bt_explain_report_write_table(
	const struct bt_explain_report *report, bool wide, struct bt_strbuf *out);

/* Parts of the table, each with a blank line in front, or nothing. */

/** explain_summary.c: the first sentence, the scheduler's message. */
void bt_explain_write_summary(const struct bt_explain_report *report, struct bt_strbuf *out);
/** explain_groups.c: why not, nearest nodes first. */
void bt_explain_write_groups(const struct bt_explain_report *report, struct bt_strbuf *out);
/** explain_outlook.c: what would let the pod in, whom it could evict, what it waits for. */
void bt_explain_write_proposals(const struct bt_explain_report *report, struct bt_strbuf *out);
void bt_explain_write_preemption(const struct bt_explain_report *report, struct bt_strbuf *out);
void bt_explain_write_queue(const struct bt_explain_report *report, struct bt_strbuf *out);

/* Words. */

/** "4,812" */
void bt_explain_append_count(struct bt_strbuf *out, uint64_t count);
/** "1 node", "4,812 nodes" */
void bt_explain_append_counted(
	struct bt_strbuf *out, uint64_t count, const char *one, const char *many);
/** "NodeResourcesFit: needs 250m more cpu; NodePorts: ..."; without plugins: the hints alone. */
void bt_explain_append_obstacles(
	struct bt_strbuf *out, const struct bt_explained_node *node, bool with_plugins);
/** One of the reasons that the usual filters give. */
bool bt_explain_is_of_filter(struct bt_str reason);
/** Condition PodScheduled of the pod's status, or NULL. */
const struct bt_pod_condition *bt_explain_condition(const struct bt_pod *pod);
#endif
