/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_STATE_POD_GROUPS_H
#define BT_STATE_POD_GROUPS_H
/**
 * Members of pod groups, by namespace and spec.schedulingGroup.podGroupName, whether or not a
 * PodGroup object with that name exists. The members are recorded only if the gate GenericWorkload
 * is on (bt_state.pod_groups is not NULL). Spec: 09 section 3, 03b section 8.
 *
 * The cache updates the entries of assigned and assumed pods; the owner of the state adds and
 * removes pending pods. is_in_snapshot marks the pods that a pod group cycle assumes in the
 * snapshot.
 */
#include "base/hash_table.h"
#include "state/state.h"

struct bt_group_member {
	bt_sym uid;
	bt_sym name;
	/*
	 * Whether the pod is in each of upstream's three sets. If another scheduler has bound the
	 * pod, it is in two sets: unscheduled and assigned.
	 */
	bool is_unscheduled;
	bool is_assumed;
	bool is_assigned;
	bool has_node;       /* the latest version of the pod has spec.nodeName */
	bool is_in_snapshot; /* assumed in the snapshot by the running pod group cycle */
};

struct bt_group_members {
	bt_sym namespace_; /* BT_SYM_NONE: the entry is free */
	bt_sym name;
	BT_VEC(struct bt_group_member) items; /* in no order */
	struct bt_map by_uid;
	/** Number of members assumed or assigned in the cache. */
	uint32_t scheduled_count;
	uint32_t unscheduled_count;
	/** Number of members assumed only in the snapshot of the running cycle. */
	uint32_t snapshot_count;
	/**
	 * GangScheduling requested activation of the unscheduled members; the group is in `wanted`.
	 */
	bool needs_activation;
};

struct bt_pod_groups {
	BT_HASH_TABLE(struct bt_group_members) groups;
	/** Groups with needs_activation. */
	BT_VEC(uint32_t) wanted;
};

/** Name of the pod's group; NULL: the pod is in no group. */
const struct bt_str *bt_pod_group_name_of(const struct bt_pod *pod);

void bt_pod_groups_destroy(struct bt_state *state);

/* The functions below do nothing if bt_state.pod_groups is NULL, or if the pod has no group. */

/** Call when a pending pod of a configured profile is added. */
void bt_pod_groups_add_pending(struct bt_state *state, const struct bt_pod *pod);
/** Call when a pending pod is deleted. */
void bt_pod_groups_remove_pending(struct bt_state *state, const struct bt_pod *pod);

/**
 * Called when the cache adds or updates an assigned pod (was_assumed: the cache already had the
 * pod), or removes, assumes or forgets a pod.
 */
void bt_pod_groups_assign(struct bt_state *state, const struct bt_pod *pod, bool was_assumed);
void bt_pod_groups_remove(struct bt_state *state, const struct bt_pod_record *record);
void bt_pod_groups_assume(struct bt_state *state, const struct bt_pod *pod);
void bt_pod_groups_forget(struct bt_state *state, const struct bt_pod *pod);
/** Called when a pod group cycle assumes (true) or forgets (false) a pod in the snapshot. */
void bt_pod_groups_set_in_snapshot(
	struct bt_state *state, const struct bt_pod_record *record, bool is_in_snapshot);

/**
 * Returns the group, borrowed until the state changes; NULL if no pod of the group is known, or if
 * the gate is off.
 */
struct bt_group_members *bt_pod_groups_find(
	const struct bt_state *state, struct bt_str namespace_, struct bt_str name);
/**
 * Number of assumed and assigned members. in_snapshot: include the members that the running pod
 * group cycle assumes in the snapshot.
 */
static inline uint32_t bt_group_scheduled_count(
	const struct bt_group_members *members, bool in_snapshot)
{
	return members->scheduled_count + (in_snapshot ? members->snapshot_count : 0);
}

/** Request activation of the group's unscheduled members. */
void bt_pod_groups_request_activation(struct bt_state *state, struct bt_group_members *members);
/** Removes and returns the next group in the order of the requests, or NULL if there is none. */
struct bt_group_members *bt_pod_groups_take_activations(struct bt_state *state);
/**
 * Gets the names of the unscheduled members, ascending. The array is in the arena; the texts are
 * borrowed until the state changes. Returns the number of names.
 */
uint32_t bt_group_unscheduled_names(const struct bt_state *state,
	const struct bt_group_members *members, struct bt_arena *arena, struct bt_str **out_names);
#endif
