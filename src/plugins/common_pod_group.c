/* SPDX-License-Identifier: Apache-2.0 */
#include "plugins/common_pod_group.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/symbol.h"
#include "plugins/common_plugin.h"
#include "state/pod_groups.h"

struct bt_status bt_pod_group_scheduled_count(const struct bt_state *state,
	struct bt_str group_namespace, struct bt_str group_name, struct bt_arena *arena,
	uint32_t *out_count)
{
	const struct bt_group_members *members =
		bt_pod_groups_find(state, group_namespace, group_name);

	if (members == NULL) {
		return bt_pod_group_no_members(group_namespace, group_name, arena);
	}
	*out_count = bt_group_scheduled_count(members, false);
	return BT_STATUS_OK;
}

struct bt_status bt_pod_group_no_members(
	struct bt_str group_namespace, struct bt_str group_name, struct bt_arena *arena)
{
	return bt_status_error_text(arena,
		bt_arena_printf(arena, "pod group state not found for pod group %.*s/%.*s",
			BT_STR_ARG(group_namespace), BT_STR_ARG(group_name)));
}

#define DOMAIN_ERROR "cannot determine domain for already scheduled pods: "

struct scheduled_member {
	struct bt_str name;
	uint32_t pod_id;
};

BT_COMPARE(compare_members, struct scheduled_member, bt_str_compare(a->name, b->name))

/**
 * Find the domain (label value) of the nodes of the scheduled members. *out_found is false if no
 * member is scheduled. Error if the members have no common domain.
 */
static struct bt_status domain_of_group(const struct bt_state *state, struct bt_str key,
	struct bt_str group_namespace, const struct bt_group_members *members,
	struct bt_arena *arena, bool *out_found, struct bt_str *out_domain)
{
	struct scheduled_member *scheduled =
		BT_ARENA_NEW_ARRAY(arena, struct scheduled_member, members->items.count);
	struct bt_str shared = BT_STR("");
	uint32_t count = 0;

	for (uint32_t i = 0; i < members->items.count; i++) {
		const struct bt_group_member *member = &members->items.items[i];
		uint32_t pod_id = member->is_assumed || member->is_assigned
			? bt_state_find_pod(state, bt_symbol_text(&state->symbols, member->uid))
			: BT_POD_NONE;

		if (pod_id != BT_POD_NONE) {
			scheduled[count++] = (struct scheduled_member){
				bt_symbol_text(&state->symbols, member->name), pod_id};
		}
	}
	/*
	 * Sort by name, so that the error names the same pod each time if several pods are at
	 * fault.
	 */
	if (count > 1) {
		qsort(scheduled, count, sizeof(*scheduled), compare_members);
	}
	*out_found = count != 0;
	for (uint32_t i = 0; i < count; i++) {
		const struct bt_pod_record *pod = bt_state_pod_at(state, scheduled[i].pod_id);
		const struct bt_node_row *row = &state->nodes.rows[pod->node];

		if (!row->in_snapshot) {
			return bt_status_error_text(arena,
				bt_arena_printf(arena,
					DOMAIN_ERROR
					"getting node for pod %.*s/%.*s: nodeinfo not found "
					"for node name \"%.*s\"",
					BT_STR_ARG(group_namespace), BT_STR_ARG(scheduled[i].name),
					BT_STR_ARG(bt_symbol_text(&state->symbols, row->name))));
		}
		const struct bt_str *value = bt_str_map_find(&row->labels, key);
		if (value == NULL) {
			return bt_status_error_text(arena,
				bt_arena_printf(arena,
					DOMAIN_ERROR "no topology domain found for pod %.*s/%.*s",
					BT_STR_ARG(group_namespace),
					BT_STR_ARG(scheduled[i].name)));
		}
		/* Upstream quirk, spec 05 section 15.2: the domain "" counts as unknown. */
		if (shared.length != 0 && !bt_str_equal(shared, *value)) {
			return bt_status_error_text(arena,
				bt_arena_printf(arena,
					DOMAIN_ERROR
					"more than 1 domain found for pod group: %.*s, %.*s",
					BT_STR_ARG(shared), BT_STR_ARG(*value)));
		}
		shared = *value;
	}
	*out_domain = shared;
	return BT_STATUS_OK;
}

/** A node of the parent placement and its domain. */
struct domain_node {
	struct bt_str domain;
	uint32_t position; /* in the parent placement, to keep the order */
	uint32_t slot;
};

BT_COMPARE(compare_domain_nodes, struct domain_node,
	BT_ORDER_BY(bt_str_compare(a->domain, b->domain), BT_ORDER(a->position, b->position)))

struct bt_status bt_pod_group_topology_placements(const struct bt_state *state, struct bt_str key,
	struct bt_str group_namespace, struct bt_str group_name, const struct bt_placement *parent,
	struct bt_arena *arena, const struct bt_placement **out_placements, uint32_t *out_count)
{
	struct domain_node *nodes = BT_ARENA_NEW_ARRAY(arena, struct domain_node, parent->count);
	struct bt_placement *placements =
		BT_ARENA_NEW_ARRAY(arena, struct bt_placement, parent->count);
	const struct bt_group_members *members =
		bt_pod_groups_find(state, group_namespace, group_name);
	struct bt_str required = {0};
	bool has_required = false;
	uint32_t count = 0;
	struct bt_status status = members == NULL
		? bt_pod_group_no_members(group_namespace, group_name, arena)
		: domain_of_group(
			  state, key, group_namespace, members, arena, &has_required, &required);

	if (!bt_status_is_success(&status)) {
		return status;
	}
	for (uint32_t i = 0; i < parent->count; i++) {
		const struct bt_str *domain =
			bt_str_map_find(&state->nodes.rows[parent->slots[i]].labels, key);

		if (domain != NULL && (!has_required || bt_str_equal(*domain, required))) {
			nodes[count] = (struct domain_node){
				.domain = *domain, .position = i, .slot = parent->slots[i]};
			count++;
		}
	}
	if (count > 1) {
		qsort(nodes, count, sizeof(*nodes), compare_domain_nodes);
	}
	/* Make one placement for each run of equal domains in the sorted list. */
	uint32_t *slots = BT_ARENA_NEW_ARRAY(arena, uint32_t, count);
	*out_count = 0;
	for (uint32_t i = 0; i < count; i++) {
		slots[i] = nodes[i].slot;
		if (i == 0 || !bt_str_equal(nodes[i].domain, nodes[i - 1].domain)) {
			placements[(*out_count)++] =
				(struct bt_placement){.name = nodes[i].domain, .slots = &slots[i]};
		}
		placements[*out_count - 1].count++;
	}
	*out_placements = placements;
	return BT_STATUS_OK;
}
