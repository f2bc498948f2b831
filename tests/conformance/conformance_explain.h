/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CONFORMANCE_EXPLAIN_H
#define BT_CONFORMANCE_EXPLAIN_H
/**
 * Explanations held to the recorded answers: groups add up to the filter map and the message, and
 * every proposal, applied to the objects and loaded into a new engine, lets the pod in.
 */
#include "conformance/conformance_private.h"
#include "explain/explain.h"

/* conformance_remedy.c: err says which remedy does not apply */

/** All remedies of the pod. */
BT_MUST_USE int bt_remedies_edit_pod(struct bt_arena *arena, struct bt_json_value *pod,
	const struct bt_remedy *remedies, uint32_t count, struct berth_error *err);
/** All remedies of this node but the removal of pods. */
BT_MUST_USE int bt_remedies_edit_node(struct bt_arena *arena, struct bt_json_value *node,
	struct bt_str name, const struct bt_remedy *remedies, uint32_t count,
	struct berth_error *err);

/* conformance_twin.c */

/** A copy of the case's cluster at the moment of one pod. */
struct bt_twin {
	struct bt_case_run *run;
	struct bt_str pod_json;
	/* Pods that RemovePod names are not loaded. */
	const struct bt_remedy *remedies;
	uint32_t remedy_count;
	struct bt_engine *engine;
	struct bt_arena arena;
	BT_VEC(struct bt_pod_info *) queued;
	/* What the last change did, to take it back. */
	BT_VEC(struct bt_case_node) changed; /* node: as it was */
	BT_VEC(const struct bt_node *) now;
};

/** How the pod fares in the twin. */
struct bt_twin_verdict {
	bool node_fits;
	uint32_t feasible_count;
	const struct bt_str *feasible; /* names, unless pods were removed; in the twin's arena */
	struct bt_str why_not;         /* of the node */
};

/** run and pod_json are set, everything else is zero. Finish it in any case. */
BT_MUST_USE int bt_twin_load(struct bt_twin *twin, struct berth_error *err);
void bt_twin_finish(struct bt_twin *twin);
/** Errors: a remedy does not apply. */
BT_MUST_USE int bt_twin_try(struct bt_twin *twin, const struct bt_remedy *remedies, uint32_t count,
	struct bt_str node_name, struct bt_twin_verdict *out, struct berth_error *err);

/* conformance_proposal.c */

/** Check every proposal; what is wrong is appended to out as lines. json: of the pod. */
BT_MUST_USE int bt_case_check_proposals(struct bt_case_run *run, struct bt_str json,
	const struct bt_explanation *explanation, struct bt_strbuf *out, struct berth_error *err);

/** "Tolerate key=a effect=NoSchedule, RemovePod shop/db-0 on node-1" */
void bt_remedies_describe(const struct bt_remedy *remedies, uint32_t count, struct bt_strbuf *out);
#endif
