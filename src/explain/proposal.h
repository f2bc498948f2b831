/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_EXPLAIN_PROPOSAL_H
#define BT_EXPLAIN_PROPOSAL_H
/**
 * Trying changes out: applied to the state, the scheduler asked again, the state set back. Used by
 * bt_explain for every proposal it makes, and by tests.
 */
#include "explain/explain.h"

/** How the pod fares after some changes. */
struct bt_trial {
	uint32_t feasible_count;
	bool node_fits; /* the node that was asked for */
	bool error;     /* a plugin failed */
};

/** node "": no particular one. Errors: the state contradicts itself. */
BT_MUST_USE int bt_explain_try(struct bt_engine *engine, const struct bt_pod *pod,
	const struct bt_remedy *remedies, uint32_t count, struct bt_str node,
	const struct bt_explain_objects *objects, struct bt_trial *out, struct berth_error *err);
#endif
