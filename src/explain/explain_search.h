/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_EXPLAIN_EXPLAIN_SEARCH_H
#define BT_EXPLAIN_EXPLAIN_SEARCH_H
/**
 * Shared by the files that search for proposals. Candidates are sets of changes that may help;
 * trials decide whether they help.
 */
#include "explain/explain_private.h"

/** Limit of sets of changes per node. */
#define BT_WISHES_MAX 4

/** A set of changes that should make a node accept the pod. */
struct bt_candidate {
	bt_remedy_list remedies; /* in the order of bt_remedies_sort */
	double distance;
	uint32_t node;       /* index in out->nodes of the nearest node that needs the remedies */
	uint32_t node_count; /* number of nodes that need exactly these remedies */
	uint32_t rounds;     /* number of times that changes were added */
	bool is_too_small;   /* the changes need a larger node; such candidates come last */
	bool tried;
};

struct bt_found_proposal {
	struct bt_proposal proposal;
	double distance;
	bool is_too_small;
};

struct bt_explain_search {
	struct bt_explain_run *run;
	struct bt_arena arena;
	BT_VEC(struct bt_candidate *) queue; /* nearest first */
	uint32_t next;
	/** Candidates that are put off because a proposal with the same kinds of changes exists. */
	BT_VEC(struct bt_candidate *) alike;
	uint32_t next_alike;
	struct bt_candidate **of_node; /* BT_WISHES_MAX candidates for each node; NULL: none */
	BT_VEC(struct bt_tried) memo;
	BT_VEC(struct bt_found_proposal) found;
	/* The unit of work is the evaluation of one node for a pod with few terms. */
	uint64_t work;       /* used so far */
	uint64_t node_work;  /* of the evaluation of one node for this pod */
	uint64_t cycle_work; /* of one trial, without the evaluations of nodes */
	bool removals_sought;
	bool exhausted; /* the budget is used up */
};

/** A set of changes, and whether a node accepted the pod after them. */
struct bt_tried {
	bt_remedy_list remedies;
	bool fits;
};

/* explain_candidates.c */

/** Copies the list in a canonical order, so that sets can be compared. */
bt_remedy_list bt_remedies_sort(struct bt_arena *arena, const bt_remedy_list *remedies);
/** Whether every member of `part` is covered by a member of `whole`. */
bool bt_remedies_include(const bt_remedy_list *whole, const bt_remedy_list *part);
/** Fills the queue with the changes that nodes need. */
void bt_candidates_collect(struct bt_explain_search *search);
/** After changes were added to a candidate: puts it back into the queue, at its sorted place. */
void bt_candidates_requeue(struct bt_explain_search *search, struct bt_candidate *candidate);

/**
 * Queues sets of fewer than `limit` changes that include the removal of one pod and make the
 * filters of a node accept the pending pod. Called once per search.
 */
BT_MUST_USE int bt_search_removals(
	struct bt_explain_search *search, uint32_t limit, struct berth_error *err);

/** Charges the budget for one trial that evaluated this many nodes. */
void bt_search_charge(struct bt_explain_search *search, uint32_t evaluated_count);
#endif
