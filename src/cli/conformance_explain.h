/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLI_CONFORMANCE_EXPLAIN_H
#define BT_CLI_CONFORMANCE_EXPLAIN_H
/**
 * Explanations held to the recorded answers: groups add up to the filter map and the message, and
 * every proposal, applied to the objects and loaded into a new engine, lets the pod in.
 */
#include "cli/conformance_private.h"
#include "explain/explain.h"

/* conformance_remedy.c: err says which remedy does not apply */

/** All remedies of the pod. */
BT_MUST_USE int bt_remedies_edit_pod(struct bt_arena *arena, struct bt_json_value *pod,
	const struct bt_remedy *remedies, uint32_t count, struct berth_error *err);
/** All remedies of this node but the removal of pods. */
BT_MUST_USE int bt_remedies_edit_node(struct bt_arena *arena, struct bt_json_value *node,
	struct bt_str name, const struct bt_remedy *remedies, uint32_t count,
	struct berth_error *err);

/* conformance_proposal.c */

/** Check every proposal; what is wrong is appended to out as lines. json: of the pod. */
BT_MUST_USE int bt_case_check_proposals(struct bt_case_run *run, struct bt_str json,
	const struct bt_explanation *explanation, struct bt_strbuf *out, struct berth_error *err);

/** "Tolerate key=a effect=NoSchedule, RemovePod shop/db-0 on node-1" */
void bt_remedies_describe(const struct bt_remedy *remedies, uint32_t count, struct bt_strbuf *out);
#endif
