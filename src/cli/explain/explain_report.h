/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLI_EXPLAIN_REPORT_H
#define BT_CLI_EXPLAIN_REPORT_H
/** The answer of "berth explain", as text and as JSON. */
#include "cli/command.h"
#include "planning/reference.h"
#include "client/live.h"
#include "cluster/simulation.h"
#include "codec/json.h"
#include "explain/explain.h"

/** --- events of the pod on a live cluster --- */

struct bt_explain_events {
	bool is_live; /* the cluster was read from a server, and the pod exists on that server */
	struct bt_strbuf problem; /* error of reading the events; "": none */
	struct bt_live_events list;
};

/**
 * The pod to explain. For a workload: the first pending pod in queue order that the simulation has
 * not placed, else a running pod, else a pod that is being deleted, was placed or has finished.
 * Without a reference: the only pending pod.
 */
struct bt_pod_choice {
	uint32_t pending; /* index in bt_simulation.pods; UINT32_MAX: the pod runs */
	uint32_t object;  /* for a running pod: its index in the cluster's objects */
	/* Set if the reference names a workload. */
	bool of_workload;
	enum bt_kind workload_kind;
	struct bt_str workload_namespace;
	struct bt_str workload_name;
	uint32_t workload_pods;    /* pods that have not finished */
	uint32_t workload_pending; /* pods without a node in the input */
	uint32_t workload_fits;    /* pods that the simulation has placed so far */
};

/**
 * Find the pod in a simulation that was loaded with keep_bound. reference NULL: the only pending
 * pod (namespace_ NULL: in any namespace). BERTH_ERR_INVALID: the message is one sentence that says
 * which pods the input has instead.
 */
BT_MUST_USE int bt_pod_choose(const struct bt_simulation *simulation,
	const struct bt_pod_reference *reference, const char *namespace_, struct bt_pod_choice *out,
	struct berth_error *err);

struct bt_explain_report {
	const struct bt_pod *pod; /* with defaults and without a node, as it was explained */
	bool in_input;            /* the pod is an object of the input, not made from a template */
	/**
	 * The pod comes from an API server and has no tolerations, so a patch cannot append to the
	 * list.
	 */
	bool lacks_tolerations;
	struct bt_str running_on; /* its node; "": the pod is pending */
	struct bt_str group_name; /* name of its PodGroup; "": the pod is scheduled by itself */
	const struct bt_pod_choice *choice;
	const struct bt_explanation *explanation;
	const struct bt_node_table *nodes; /* of the simulated cluster; NULL: not available */
	uint32_t pending_count; /* pending pods; includes the explained pod unless it runs */
	uint32_t ahead_count;   /* pending pods that the scheduler tries first */
	bool after_queue;       /* the pods ahead were placed first */
	uint32_t placed_count;  /* number of the pods ahead that found a node */
	bool proposals_wanted;
	struct bt_explain_events events;
};

/** "Fits", "Unschedulable", "NoNodes", "Gated", "NotHandled", "Error" */
const char *bt_explained_fate_name(enum bt_explained_fate fate);

/** Append the whole answer. */
BT_MUST_USE int bt_explain_report_write(const struct bt_explain_report *report,
	enum bt_output_format format, struct bt_strbuf *out, struct berth_error *err);

/** A bt_output_write_text. answer: a struct bt_explain_report. */
void bt_explain_report_write_table(const void *answer, bool wide, struct bt_strbuf *out);

/* Sections of the text; a section that is not empty begins with a blank line. */

/** The first sentence, and the scheduler's message. */
void bt_explain_write_summary(const struct bt_explain_report *report, struct bt_strbuf *out);

/** The groups of nodes that reject the pod, one or more lines per group. */
void bt_explain_write_groups(const struct bt_explanation *explanation, struct bt_strbuf *out);
/** Write the groups of nodes that reject the pod as member "groups" of a JSON object. */
void bt_explain_write_json_groups(
	const struct bt_explanation *explanation, struct bt_json_writer *writer);

/* Parts of sentences. */

/** Append indent and the line "and 12 more" if fewer than count rows are shown. */
void bt_explain_write_more(
	uint32_t shown, uint32_t count, const char *indent, struct bt_strbuf *out);
/** Whether one of the in-tree Filter plugins gives this reason. */
bool bt_explain_is_of_filter(struct bt_str reason);
#endif
