/* SPDX-License-Identifier: Apache-2.0 */
#include "state/pod_groups.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "state/state_private.h"

const struct bt_str *bt_pod_group_name_of(const struct bt_pod *pod)
{
	return pod->spec.scheduling_group != NULL ? &pod->spec.scheduling_group->pod_group_name
						  : NULL;
}

static uint64_t key_hash(bt_sym namespace_, bt_sym name)
{
	return bt_sym_hash(namespace_) * 31 + bt_sym_hash(name);
}

void bt_pod_groups_destroy(struct bt_state *state)
{
	struct bt_pod_groups *groups = state->pod_groups;

	if (groups == NULL) {
		return;
	}
	/* bt_symbol_table_finish frees the symbols. */
	for (uint32_t i = 0; i < groups->groups.count; i++) {
		bt_vec_finish(&groups->groups.items[i].items);
		bt_map_finish(&groups->groups.items[i].by_uid);
	}
	bt_hash_table_finish(&groups->groups);
	bt_vec_finish(&groups->wanted);
	bt_free(groups);
}

static struct bt_group_members *find_group(
	const struct bt_pod_groups *groups, bt_sym namespace_, bt_sym name)
{
	if (bt_sym_is_none(namespace_) || bt_sym_is_none(name)) {
		return NULL;
	}
	BT_MAP_EACH (&groups->groups.map, key_hash(namespace_, name), id) {
		struct bt_group_members *members = &groups->groups.items[id];
		if (bt_sym_equal(members->namespace_, namespace_) &&
			bt_sym_equal(members->name, name)) {
			return members;
		}
	}
	return NULL;
}

struct bt_group_members *bt_pod_groups_find(
	const struct bt_state *state, struct bt_str namespace_, struct bt_str name)
{
	return state->pod_groups == NULL
		? NULL
		: find_group(state->pod_groups, bt_symbol_find(&state->symbols, namespace_),
			  bt_symbol_find(&state->symbols, name));
}

/** The pod's group; NULL if the pod names no group or the group has no entry. */
static struct bt_group_members *group_of(const struct bt_state *state, const struct bt_pod *pod)
{
	const struct bt_str *name = bt_pod_group_name_of(pod);

	return name != NULL ? bt_pod_groups_find(state, pod->metadata.namespace_, *name) : NULL;
}

static struct bt_group_member *find_member(const struct bt_group_members *members, bt_sym uid)
{
	if (bt_sym_is_none(uid)) {
		return NULL;
	}
	BT_MAP_EACH (&members->by_uid, bt_sym_hash(uid), at) {
		if (bt_sym_equal(members->items.items[at].uid, uid)) {
			return &members->items.items[at];
		}
	}
	return NULL;
}

static struct bt_group_member *member_of(const struct bt_state *state,
	const struct bt_group_members *members, const struct bt_pod *pod)
{
	return members != NULL
		? find_member(members, bt_symbol_find(&state->symbols, pod->metadata.uid))
		: NULL;
}

/**
 * The pod's member entry, created if there is none. NULL: the pod names no group, or the gate is
 * off.
 */
static struct bt_group_member *ensure_member(
	struct bt_state *state, const struct bt_pod *pod, struct bt_group_members **out_members)
{
	struct bt_pod_groups *groups = state->pod_groups;
	const struct bt_str *name = bt_pod_group_name_of(pod);
	struct bt_group_members *members;
	struct bt_group_member *member;
	uint32_t id;

	if (groups == NULL || name == NULL) {
		return NULL;
	}
	members = group_of(state, pod);
	if (members == NULL) {
		struct bt_group_members fresh = {
			.namespace_ = bt_symbol_ref_str(&state->symbols, pod->metadata.namespace_),
			.name = bt_symbol_ref_str(&state->symbols, *name),
		};
		bt_hash_table_add(
			&groups->groups, key_hash(fresh.namespace_, fresh.name), fresh, id);
		members = &groups->groups.items[id];
	}
	*out_members = members;
	member = member_of(state, members, pod);
	if (member == NULL) {
		struct bt_group_member fresh = {
			.uid = bt_symbol_ref_str(&state->symbols, pod->metadata.uid),
			.name = bt_symbol_ref_str(&state->symbols, pod->metadata.name),
		};
		bt_vec_push(&members->items, fresh);
		bt_map_insert(&members->by_uid, bt_sym_hash(fresh.uid), members->items.count - 1);
		member = &members->items.items[members->items.count - 1];
	}
	return member;
}

/**
 * by 1: add the member to the group's counters; by -1: remove the member from the counters. Call
 * with -1 before and with 1 after a change of the member.
 */
static void count_member(
	struct bt_group_members *members, const struct bt_group_member *member, int by)
{
	bool is_scheduled = member->is_assumed || member->is_assigned;

	members->scheduled_count += is_scheduled ? (uint32_t)by : 0;
	members->unscheduled_count += member->is_unscheduled ? (uint32_t)by : 0;
	members->snapshot_count += member->is_in_snapshot && !is_scheduled ? (uint32_t)by : 0;
}

static void remove_member(
	struct bt_state *state, struct bt_group_members *members, struct bt_group_member *member)
{
	struct bt_pod_groups *groups = state->pod_groups;
	uint32_t at = (uint32_t)(member - members->items.items);
	uint32_t last = members->items.count - 1;
	struct bt_group_member gone = *member;

	count_member(members, member, -1);
	bt_map_remove_swap(&members->by_uid, bt_sym_hash(gone.uid), at,
		bt_sym_hash(members->items.items[last].uid), last);
	bt_vec_remove_swap(&members->items, at);
	bt_symbol_unref(&state->symbols, gone.uid);
	bt_symbol_unref(&state->symbols, gone.name);
	if (members->items.count == 0) {
		uint32_t id = (uint32_t)(members - groups->groups.items);

		for (uint32_t i = 0; members->needs_activation && i < groups->wanted.count; i++) {
			if (groups->wanted.items[i] == id) {
				bt_vec_remove_ordered(&groups->wanted, i);
				break;
			}
		}
		bt_hash_table_remove(
			&groups->groups, key_hash(members->namespace_, members->name), id);
		bt_symbol_unref(&state->symbols, members->namespace_);
		bt_symbol_unref(&state->symbols, members->name);
		bt_vec_finish(&members->items);
		bt_map_finish(&members->by_uid);
		*members = (struct bt_group_members){.namespace_ = BT_SYM_NONE};
	}
}

void bt_pod_groups_add_pending(struct bt_state *state, const struct bt_pod *pod)
{
	struct bt_group_members *members = NULL;
	struct bt_group_member *member = ensure_member(state, pod, &members);

	if (member != NULL) {
		count_member(members, member, -1);
		member->is_unscheduled = true;
		member->has_node = false;
		count_member(members, member, 1);
	}
}

void bt_pod_groups_remove_pending(struct bt_state *state, const struct bt_pod *pod)
{
	struct bt_group_members *members = group_of(state, pod);
	struct bt_group_member *member = member_of(state, members, pod);

	if (member != NULL) {
		remove_member(state, members, member);
	}
}

void bt_pod_groups_assign(struct bt_state *state, const struct bt_pod *pod, bool was_assumed)
{
	struct bt_group_members *members = NULL;
	struct bt_group_member *member = ensure_member(state, pod, &members);

	if (member != NULL) {
		count_member(members, member, -1);
		if (was_assumed) {
			member->is_unscheduled = false;
			member->is_assumed = false;
		}
		member->is_assigned = true;
		member->has_node = true;
		count_member(members, member, 1);
	}
}

/** The member entry of a cached pod; NULL: the pod is in no group. */
static struct bt_group_member *member_of_record(const struct bt_state *state,
	const struct bt_pod_record *record, struct bt_group_members **out_members)
{
	if (state->pod_groups == NULL) {
		return NULL;
	}
	const struct bt_str *name =
		bt_pod_group_name_of(bt_shape_pod(bt_shape_at(&state->shapes, record->shape)));
	*out_members = name != NULL ? find_group(state->pod_groups, record->namespace_,
					      bt_symbol_find(&state->symbols, *name))
				    : NULL;
	return *out_members != NULL
		? find_member(
			  *out_members, bt_symbol_find(&state->symbols, bt_pod_record_uid(record)))
		: NULL;
}

void bt_pod_groups_remove(struct bt_state *state, const struct bt_pod_record *record)
{
	struct bt_group_members *members = NULL;
	struct bt_group_member *member = member_of_record(state, record, &members);

	if (member != NULL) {
		remove_member(state, members, member);
	}
}

void bt_pod_groups_assume(struct bt_state *state, const struct bt_pod *pod)
{
	struct bt_group_members *members = group_of(state, pod);
	struct bt_group_member *member = member_of(state, members, pod);

	if (members == NULL && bt_pod_group_name_of(pod) != NULL) {
		/*
		 * As in upstream: an assumed pod has spec.nodeName, so a new group counts it as
		 * assigned.
		 */
		bt_pod_groups_assign(state, pod, false);
	} else if (member != NULL) {
		count_member(members, member, -1);
		member->is_unscheduled = false;
		member->is_assigned |= member->has_node;
		member->is_assumed |= !member->has_node;
		count_member(members, member, 1);
	}
}

void bt_pod_groups_forget(struct bt_state *state, const struct bt_pod *pod)
{
	struct bt_group_members *members = group_of(state, pod);
	struct bt_group_member *member = member_of(state, members, pod);

	if (member != NULL) {
		count_member(members, member, -1);
		member->is_assumed = false;
		member->is_assigned |= member->has_node;
		member->is_unscheduled |= !member->has_node;
		count_member(members, member, 1);
	}
}

void bt_pod_groups_set_in_snapshot(
	struct bt_state *state, const struct bt_pod_record *record, bool is_in_snapshot)
{
	struct bt_group_members *members = NULL;
	struct bt_group_member *member = member_of_record(state, record, &members);

	if (member != NULL) {
		count_member(members, member, -1);
		member->is_in_snapshot = is_in_snapshot;
		count_member(members, member, 1);
	}
}

void bt_pod_groups_request_activation(struct bt_state *state, struct bt_group_members *members)
{
	struct bt_pod_groups *groups = state->pod_groups;

	if (!members->needs_activation) {
		members->needs_activation = true;
		bt_vec_push(&groups->wanted, (uint32_t)(members - groups->groups.items));
	}
}

struct bt_group_members *bt_pod_groups_take_activations(struct bt_state *state)
{
	struct bt_pod_groups *groups = state->pod_groups;
	struct bt_group_members *members;

	if (groups == NULL || groups->wanted.count == 0) {
		return NULL;
	}
	members = &groups->groups.items[groups->wanted.items[0]];
	bt_vec_remove_ordered(&groups->wanted, 0);
	members->needs_activation = false;
	return members;
}

uint32_t bt_group_unscheduled_names(const struct bt_state *state,
	const struct bt_group_members *members, struct bt_arena *arena, struct bt_str **out_names)
{
	uint32_t count = 0;

	*out_names = BT_ARENA_NEW_ARRAY(arena, struct bt_str, members->items.count);
	for (uint32_t i = 0; i < members->items.count; i++) {
		if (members->items.items[i].is_unscheduled) {
			(*out_names)[count++] =
				bt_symbol_text(&state->symbols, members->items.items[i].name);
		}
	}
	if (count > 1) {
		qsort(*out_names, count, sizeof(**out_names), bt_str_compare_qsort);
	}
	return count;
}
