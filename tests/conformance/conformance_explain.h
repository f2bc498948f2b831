/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CONFORMANCE_EXPLAIN_H
#define BT_CONFORMANCE_EXPLAIN_H
/**
 * Compares explanations with the recorded answers: the groups must add up to the recorded filter
 * map and message. For each proposal, applies the remedies to the objects and loads the objects
 * into a new engine, where the pod must fit.
 */
#include "conformance/conformance_private.h"
#include "explain/explain.h"

/* conformance_remedy.c. If a function fails, err names the remedy that does not apply. */

/** Edits the JSON of the pending pod. Skips remedies that change nodes or remove pods. */
BT_MUST_USE int bt_remedies_edit_pod(struct bt_arena *arena, struct bt_json_value *pod,
	const struct bt_remedy *remedies, uint32_t count, struct berth_error *err);
/** Edits the JSON of the node `name`. Skips remedies for other nodes and for pods. */
BT_MUST_USE int bt_remedies_edit_node(struct bt_arena *arena, struct bt_json_value *node,
	struct bt_str name, const struct bt_remedy *remedies, uint32_t count,
	struct berth_error *err);

/* conformance_twin.c */

/** A copy of the case's cluster just before one pod is scheduled. */
struct bt_twin {
	struct bt_case_run *run;
	struct bt_str pod_json;
	/* Pods that a RemovePod remedy names are not loaded. */
	const struct bt_remedy *remedies;
	uint32_t remedy_count;
	struct bt_engine *engine;
	struct bt_arena arena;
	BT_VEC(struct bt_pod_info *) queued;
	/* For undo: the nodes that the current try has changed. */
	BT_VEC(struct bt_case_node) changed; /* before the change */
	BT_VEC(const struct bt_node *) now;  /* after the change */
};

/** Whether the pod fits in the twin. */
struct bt_twin_verdict {
	bool node_fits;
	uint32_t feasible_count;
	/**
	 * Names of the feasible nodes, in the twin's arena; NULL if a remedy removes pods.
	 * feasible_count is always set.
	 */
	const struct bt_str *feasible;
	struct bt_str why_not; /* why the pod does not fit on the node */
};

/**
 * Loads the cluster. Before the call, the caller sets `run`, `pod_json` and the optional `remedies`
 * and `remedy_count`, and zeroes all other fields. The caller must call bt_twin_finish even after a
 * failure.
 */
BT_MUST_USE int bt_twin_load(struct bt_twin *twin, struct berth_error *err);
void bt_twin_finish(struct bt_twin *twin);
/**
 * Applies the remedies, tries the pod on all nodes, and undoes the remedies. out->node_fits and
 * out->why_not are for the node `node_name`. Fails if a remedy does not apply.
 */
BT_MUST_USE int bt_twin_try(struct bt_twin *twin, const struct bt_remedy *remedies, uint32_t count,
	struct bt_str node_name, struct bt_twin_verdict *out, struct berth_error *err);

/* conformance_proposal.c */

/** Checks every proposal for the pod `json`. Appends complaints to `out` as lines. */
BT_MUST_USE int bt_case_check_proposals(struct bt_case_run *run, struct bt_str json,
	const struct bt_explanation *explanation, struct bt_strbuf *out, struct berth_error *err);

/** Append a text such as "Tolerate key=a effect=NoSchedule, RemovePod shop/db-0 on node-1". */
void bt_remedies_describe(const struct bt_remedy *remedies, uint32_t count, struct bt_strbuf *out);
#endif
