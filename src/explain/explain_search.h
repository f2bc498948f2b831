/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_EXPLAIN_EXPLAIN_SEARCH_H
#define BT_EXPLAIN_EXPLAIN_SEARCH_H
/** Between the files that look for proposals: candidates are what might help, trials what does. */
#include "explain/explain_private.h"

/** Sets of changes that one node may want. */
#define BT_WISHES_MAX 4

/** Changes that should let the pod onto a node. */
struct bt_candidate {
	bt_remedy_list remedies; /* in the order of bt_remedies_sort */
	double distance;
	uint32_t node;       /* index in out->nodes: the nearest that wants them */
	uint32_t node_count; /* how many nodes want just these */
	uint32_t rounds;     /* how often it grew */
	bool is_too_small;   /* the node would have to be a larger one; comes last */
	bool tried;
};

struct bt_explain_search {
	struct bt_explain_run *run;
	struct bt_arena arena;
	struct bt_candidate **queue; /* nearest first */
	uint32_t queue_count;
	uint32_t next;
	/** Of the queue, but put off: a proposal of the same kind has been found. */
	BT_VEC(struct bt_candidate *) alike;
	uint32_t next_alike;
	struct bt_candidate **of_node; /* BT_WISHES_MAX for each node; NULL: none */
	BT_VEC(struct bt_tried) memo;
	BT_VEC(struct bt_proposal) found;
	BT_VEC(double) distances; /* of found */
	BT_VEC(bool) too_small;   /* likewise */
	uint64_t work;            /* nodes asked, trials made */
	uint64_t node_work;       /* of one node asked */
	uint64_t cycle_work;      /* of one trial */
	bool removals_sought;
	bool exhausted; /* no more trials */
};

/** What came of a set of changes. */
struct bt_tried {
	bt_remedy_list remedies;
	bool fits;
};

/* explain_candidates.c */

/** A copy in one order, for sets of changes to be compared. */
bt_remedy_list bt_remedies_sort(
	struct bt_arena *arena, const struct bt_remedy *remedies, uint32_t count);
bool bt_remedies_equal(const bt_remedy_list *a, const bt_remedy_list *b);
/** They have the pod ask for less. */
bool bt_remedies_lower(const struct bt_remedy *remedies, uint32_t count);
/** Every one of `part` is among `whole`, or one that asks for more of the same. */
bool bt_remedies_include(const bt_remedy_list *whole, const bt_remedy_list *part);
/** Fill the queue from what nodes want. */
void bt_candidates_collect(struct bt_explain_search *search);
/** It grew: put it where it belongs among those that are left. */
void bt_candidates_requeue(struct bt_explain_search *search, struct bt_candidate *candidate);

/**
 * Queue sets of fewer than `limit` changes, one pod's leaving among them, that open a node as far
 * as its filters say. Once in a search.
 */
BT_MUST_USE int bt_search_removals(
	struct bt_explain_search *search, uint32_t limit, struct berth_error *err);

/** One trial that looked at so many nodes. */
void bt_search_charge(struct bt_explain_search *search, uint32_t asked_count);
#endif
