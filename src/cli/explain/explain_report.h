/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLI_EXPLAIN_REPORT_H
#define BT_CLI_EXPLAIN_REPORT_H
/** The answer of "berth explain", for people and for programs. */
#include "cli/command.h"
#include "cli/reference.h"
#include "client/live.h"
#include "cluster/simulation.h"
#include "codec/json.h"
#include "explain/explain.h"

/** --- what a live cluster has said about the pod so far --- */

struct bt_explain_events {
	bool asked;               /* there is a server, and the pod is there */
	struct bt_strbuf problem; /* why they could not be read; "": they could */
	struct bt_live_events list;
};

/**
 * Which pod is meant. Of a workload the first pending pod in the order of the queue counts that the
 * simulation has not placed, else its first one. Nothing given: the only pending pod.
 */

struct bt_pod_choice {
	uint32_t pending; /* index in bt_simulation.pods; UINT32_MAX: it runs */
	uint32_t object;  /* of a running pod: index in the cluster's objects */
	/* Of a workload. */
	bool of_workload;
	enum bt_kind workload_kind;
	struct bt_str workload_namespace;
	struct bt_str workload_name;
	uint32_t workload_pods;    /* all but those that are over */
	uint32_t workload_pending; /* those without a node in the input */
	uint32_t workload_fits;    /* those that the simulation has placed so far */
};

/**
 * Find the pod in a loaded simulation that keeps its bound pods. reference NULL: the only pending
 * pod (of namespace_, unless that is NULL). BERTH_ERR_INVALID: one sentence that says what there is
 * instead.
 */
BT_MUST_USE int bt_pod_choose(const struct bt_simulation *simulation,
	const struct bt_pod_reference *reference, const char *namespace_, struct bt_pod_choice *out,
	struct berth_error *err);

struct bt_explain_report {
	const struct bt_pod *pod; /* as it was explained: defaulted, without a node */
	bool in_input;            /* as an object of its own, not made from a workload */
	/** It came from an API server, and without tolerations: a patch has none to append to. */
	bool lacks_tolerations;
	struct bt_str running_on; /* its node; "": it is pending */
	struct bt_str group_name; /* of the PodGroup it is scheduled with; "": by itself */
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

/** Let the scheduler place the first count pods, with a line of progress that begins with what. */
void bt_explain_place_pods(struct bt_simulation *simulation, uint32_t count, const char *what);

/** Append the whole answer. BERTH_ERR_INVALID: YAML in a program built without it. */
BT_MUST_USE int bt_explain_report_write(const struct bt_explain_report *report,
	enum bt_output_format format, struct bt_strbuf *out, struct berth_error *err);

void bt_explain_report_write_table(
	const struct bt_explain_report *report, bool wide, struct bt_strbuf *out);

/* Parts of the table, each with a blank line in front, or nothing. */

/** The first sentence, the scheduler's message. */
void bt_explain_write_summary(const struct bt_explain_report *report, struct bt_strbuf *out);

/** The groups of nodes that reject the pod, a line or more each. */
void bt_explain_write_groups(const struct bt_explanation *explanation, struct bt_strbuf *out);
/** The same as member "groups" of a JSON object. */
void bt_explain_write_json_groups(
	const struct bt_explanation *explanation, struct bt_json_writer *writer);

/* Words. */

/** "4,812" */
void bt_explain_append_count(struct bt_strbuf *out, uint64_t count);
/** "1 node", "4,812 nodes" */
void bt_explain_append_counted(
	struct bt_strbuf *out, uint64_t count, const char *one, const char *many);
/** One of the reasons that the usual filters give. */
bool bt_explain_is_of_filter(struct bt_str reason);
/** Condition PodScheduled of the pod's status, or NULL. */
const struct bt_pod_condition *bt_explain_condition(const struct bt_pod *pod);
#endif
