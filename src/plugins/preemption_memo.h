/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_PLUGINS_PREEMPTION_MEMO_H
#define BT_PLUGINS_PREEMPTION_MEMO_H
/**
 * What preemption remembers of nodes from one attempt to the next: the lowest priority among the
 * pods of each node, and what dry runs for pods of a shape came to. Both are repaired from the
 * change log of the state. Spec 08 sections 8 and 9: neither changes what an attempt finds.
 */
#include "framework/cycle_state.h"
#include "framework/status.h"
#include "state/pod_info.h"
#include "state/state.h"

/** Lowest priorities by node, by block of nodes, and of the whole cluster. */
struct bt_lowest_priorities {
	BT_VEC(int32_t) by_slot; /* INT32_MAX: the node has no pods */
	BT_VEC(int32_t) by_block;
	uint64_t seen; /* position in the change log */
	bool filled;
};

void bt_lowest_priorities_finish(struct bt_lowest_priorities *lowest);
/** Up to date with the state. O(changes), O(pods) at first or after very many of them. */
void bt_lowest_priorities_refresh(
	struct bt_lowest_priorities *lowest, const struct bt_state *state);
/** No pod on any node is below; may be lower than the lowest in the snapshot. O(nodes / 4096). */
int32_t bt_lowest_priority(const struct bt_lowest_priorities *lowest);
/** Some pod of the node is below this priority. */
static inline bool bt_node_has_lower(
	const struct bt_lowest_priorities *lowest, uint32_t slot, int32_t priority)
{
	return lowest->by_slot.items[slot] < priority;
}

/** A dry run's end: a status, or victims. */
struct bt_dry_run_end {
	struct bt_status status; /* borrowed from the memo */
	const uint32_t *victims; /* borrowed until the memo learns more */
	uint32_t victim_count;
};

struct bt_dry_run_note {
	int64_t generation; /* of the node's row then, + 1; 0: nothing is known */
	uint32_t at;        /* in victims, or in statuses */
	uint32_t count;     /* of victims; 0: it failed */
};

/** Dry runs for pods of one shape and priority, with the same filters at work. */
struct bt_dry_run_memo {
	uint64_t shape_serial; /* 0: free */
	int32_t priority;
	struct bt_plugin_set skip_filter;
	uint64_t last_use;
	uint64_t seen;                        /* position in the change log */
	BT_VEC(struct bt_dry_run_note) notes; /* by slot */
	BT_VEC(uint32_t) victims;
	BT_VEC(struct bt_status) statuses; /* distinct, in the arena */
	struct bt_arena arena;
};

/** Shapes that are remembered at a time. */
#define BT_DRY_RUN_MEMOS 4

struct bt_dry_run_memos {
	struct bt_dry_run_memo items[BT_DRY_RUN_MEMOS];
	uint64_t uses;
};

void bt_dry_run_memos_finish(struct bt_dry_run_memos *memos);
/** Up to date with the state; takes the place of the one that was not used for longest. */
struct bt_dry_run_memo *bt_dry_run_memo_for(struct bt_dry_run_memos *memos,
	const struct bt_state *state, const struct bt_pod_info *pod,
	const struct bt_plugin_set *skip_filter);
/** false: the node has changed since, or was never tried. */
bool bt_dry_run_recall(const struct bt_dry_run_memo *memo, const struct bt_state *state,
	uint32_t slot, struct bt_dry_run_end *out_end);
void bt_dry_run_note_victims(struct bt_dry_run_memo *memo, const struct bt_state *state,
	uint32_t slot, const uint32_t *victims, uint32_t count);
/** Nothing is noted once statuses are too many to be worth it. */
void bt_dry_run_note_failure(struct bt_dry_run_memo *memo, const struct bt_state *state,
	uint32_t slot, const struct bt_status *status);
#endif
