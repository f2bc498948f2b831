/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_STATE_POD_GROUPS_H
#define BT_STATE_POD_GROUPS_H
/**
 * Members of pod groups, by namespace and spec.schedulingGroup.podGroupName, whether a PodGroup
 * object of that name exists or not. Kept only with gate GenericWorkload (bt_state.pod_groups).
 * Spec: 09 section 3, 03b section 8.
 *
 * The cache follows assigned and assumed pods by itself; pending pods are added and removed by the
 * owner. What a pod group cycle assumes in the snapshot is marked beside the sets of the cache.
 */
#include "base/map.h"
#include "state/state.h"

struct bt_group_member {
	bt_sym uid;
	bt_sym name;
	/* Sets; a pod that was bound by another scheduler is in the first and the last. */
	bool is_unscheduled;
	bool is_assumed;
	bool is_assigned;
	bool has_node;       /* the latest object has spec.nodeName */
	bool is_in_snapshot; /* assumed there by the running pod group cycle */
};

struct bt_group_members {
	bt_sym namespace_; /* BT_SYM_NONE: a free entry */
	bt_sym name;
	BT_VEC(struct bt_group_member) items; /* in no order */
	struct bt_map by_uid;
	/** Members that are assumed or assigned in the cache. */
	uint32_t scheduled_count;
	uint32_t unscheduled_count;
	/** Members that only the snapshot of the running cycle has assumed. */
	uint32_t snapshot_count;
	/** GangScheduling wants the unscheduled members activated; listed in wanted. */
	bool wants_activation;
};

struct bt_pod_groups {
	BT_VEC(struct bt_group_members) groups;
	BT_VEC(uint32_t) free_ids;
	struct bt_map map;
	/** Groups whose unscheduled members are to be activated: see wants_activation. */
	BT_VEC(uint32_t) wanted;
};

/** Name of the pod's group; NULL: it is in none. */
const struct bt_str *bt_pod_group_name_of(const struct bt_pod *pod);

void bt_pod_groups_init(struct bt_state *state);
void bt_pod_groups_destroy(struct bt_state *state);
/** Bytes of heap memory held. */
size_t bt_pod_groups_memory_bytes(const struct bt_pod_groups *groups);

/* Nothing happens without bt_state.pod_groups, or to a pod without group. */

/** A pending pod of one of our profiles was seen for the first time. */
void bt_pod_groups_add_pending(struct bt_state *state, const struct bt_pod *pod);
/** A pending pod is gone. */
void bt_pod_groups_remove_pending(struct bt_state *state, const struct bt_pod *pod);

/** For the cache: a pod was assigned (was_assumed: it confirms an assumed one), removed, assumed,
 * forgotten; in the snapshot: assumed or forgotten by a pod group cycle. */
void bt_pod_groups_assign(struct bt_state *state, const struct bt_pod *pod, bool was_assumed);
void bt_pod_groups_remove(struct bt_state *state, bt_sym uid, bt_sym namespace_, uint32_t shape);
void bt_pod_groups_assume(struct bt_state *state, const struct bt_pod *pod);
void bt_pod_groups_forget(struct bt_state *state, const struct bt_pod *pod);
void bt_pod_groups_mark(struct bt_state *state, const struct bt_pod *pod);
void bt_pod_groups_unmark(struct bt_state *state, bt_sym uid, bt_sym namespace_, uint32_t shape);

/** NULL: no pod of that group is known, or the gate is off. Borrowed until the state changes. */
struct bt_group_members *bt_pod_groups_find(
	const struct bt_state *state, struct bt_str namespace_, struct bt_str name);
/** Assumed and assigned members; with those of the running pod group cycle when in_snapshot. */
static inline uint32_t bt_group_scheduled_count(
	const struct bt_group_members *members, bool in_snapshot)
{
	return members->scheduled_count + (in_snapshot ? members->snapshot_count : 0);
}

/** List the group for bt_pod_groups_take_wanted. */
void bt_pod_groups_want_activation(struct bt_state *state, struct bt_group_members *members);
/** The next group that wants activation, in the order they asked, or NULL. */
struct bt_group_members *bt_pod_groups_take_wanted(struct bt_state *state);
/**
 * Names of the unscheduled members, ascending, in the arena; texts are borrowed until the state
 * changes. Returns their number.
 */
uint32_t bt_group_unscheduled_names(const struct bt_state *state,
	const struct bt_group_members *members, struct bt_arena *arena, struct bt_str **out_names);
#endif
