/* SPDX-License-Identifier: Apache-2.0 */
#include "plugins/common_pod_group.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/symbol.h"
#include "plugins/common_plugin.h"

static bool is_member(const struct bt_state *state, const struct bt_pod_record *pod,
	struct bt_str group_namespace, struct bt_str group_name)
{
	const struct bt_pod_spec *spec;

	if (!pod->in_use) {
		return false;
	}
	spec = &bt_shape_at(&state->shapes, pod->shape)->pod->spec;
	return spec->scheduling_group != NULL &&
		bt_str_equal(spec->scheduling_group->pod_group_name, group_name) &&
		bt_str_equal(bt_symbol_text(&state->symbols, pod->namespace_), group_namespace);
}

uint32_t bt_pod_group_next_scheduled(const struct bt_state *state, struct bt_str group_namespace,
	struct bt_str group_name, uint32_t from)
{
	for (uint32_t id = from; id < state->pods.records.count; id++) {
		if (is_member(state, bt_state_pod_at(state, id), group_namespace, group_name)) {
			return id;
		}
	}
	return BT_POD_NONE;
}

uint32_t bt_pod_group_scheduled_count(
	const struct bt_state *state, struct bt_str group_namespace, struct bt_str group_name)
{
	uint32_t count = 0;
	uint32_t id = bt_pod_group_next_scheduled(state, group_namespace, group_name, 0);

	while (id != BT_POD_NONE) {
		count++;
		id = bt_pod_group_next_scheduled(state, group_namespace, group_name, id + 1);
	}
	return count;
}

int bt_pod_group_topology_key(BT_UNUSED const struct bt_state *state,
	BT_UNUSED struct bt_str group_namespace, struct bt_str group_name,
	BT_UNUSED struct bt_str *out_key, struct berth_error *err)
{
	return bt_error_set(err, BERTH_ERR_NOT_FOUND,
		"podgroup.scheduling.k8s.io \"%.*s\" not found", BT_STR_ARG(group_name));
}

#define DOMAIN_ERROR "cannot determine domain for already scheduled pods: "

/* Value of the label on the node of a scheduled pod. */
/* The domain all scheduled members share; *out_found false when there are none. */
static struct bt_status domain_of_group(const struct bt_state *state, struct bt_str key,
	struct bt_str group_namespace, struct bt_str group_name, struct bt_arena *arena,
	bool *out_found, struct bt_str *out_domain)
{
	struct bt_str shared = BT_STR("");
	uint32_t id = bt_pod_group_next_scheduled(state, group_namespace, group_name, 0);

	*out_found = id != BT_POD_NONE;
	while (id != BT_POD_NONE) {
		struct bt_str domain = {0};
		const struct bt_pod_record *pod = bt_state_pod_at(state, id);
		struct bt_str namespace_ = bt_symbol_text(&state->symbols, pod->namespace_);
		struct bt_str name = bt_symbol_text(&state->symbols, pod->name);
		const struct bt_node_row *row = &state->nodes.rows[pod->node];
		const struct bt_str *value;

		if (!row->in_snapshot) {
			return bt_status_error_text(arena,
				bt_arena_printf(arena,
					DOMAIN_ERROR
					"getting node for pod %.*s/%.*s: nodeinfo not found "
					"for node name \"%.*s\"",
					BT_STR_ARG(namespace_), BT_STR_ARG(name),
					BT_STR_ARG(bt_symbol_text(&state->symbols, row->name))));
		}
		value = bt_str_map_find(&row->labels, key);
		if (value == NULL) {
			return bt_status_error_text(arena,
				bt_arena_printf(arena,
					DOMAIN_ERROR "no topology domain found for pod %.*s/%.*s",
					BT_STR_ARG(namespace_), BT_STR_ARG(name)));
		}
		domain = *value;
		/* Upstream quirk, spec 05 section 15.2: the domain "" counts as not yet known. */
		if (shared.length != 0 && !bt_str_equal(shared, domain)) {
			return bt_status_error_text(arena,
				bt_arena_printf(arena,
					DOMAIN_ERROR
					"more than 1 domain found for pod group: %.*s, %.*s",
					BT_STR_ARG(shared), BT_STR_ARG(domain)));
		}
		shared = domain;
		id = bt_pod_group_next_scheduled(state, group_namespace, group_name, id + 1);
	}
	*out_domain = shared;
	return BT_STATUS_OK;
}

/** A node of the parent placement with its domain. */
struct domain_node {
	struct bt_str domain;
	uint32_t position; /* in the parent, so that its order is kept */
	uint32_t slot;
};

static int compare_domain_nodes(const void *a, const void *b)
{
	const struct domain_node *left = a;
	const struct domain_node *right = b;
	int order = bt_str_compare(left->domain, right->domain);

	if (order != 0) {
		return order;
	}
	return (left->position > right->position) - (left->position < right->position);
}

/* One placement for each run of equal domains in the sorted list. */
static uint32_t split_domains(const struct domain_node *nodes, uint32_t node_count,
	struct bt_arena *arena, struct bt_placement *placements)
{
	uint32_t *slots = BT_ARENA_NEW_ARRAY(arena, uint32_t, node_count);
	uint32_t count = 0;

	for (uint32_t i = 0; i < node_count; i++) {
		slots[i] = nodes[i].slot;
		if (i == 0 || !bt_str_equal(nodes[i].domain, nodes[i - 1].domain)) {
			placements[count++] =
				(struct bt_placement){.name = nodes[i].domain, .slots = &slots[i]};
		}
		placements[count - 1].count++;
	}
	return count;
}

struct bt_status bt_pod_group_topology_placements(const struct bt_state *state, struct bt_str key,
	struct bt_str group_namespace, struct bt_str group_name, const struct bt_placement *parent,
	struct bt_arena *arena, const struct bt_placement **out_placements, uint32_t *out_count)
{
	struct domain_node *nodes = BT_ARENA_NEW_ARRAY(arena, struct domain_node, parent->count);
	struct bt_placement *placements =
		BT_ARENA_NEW_ARRAY(arena, struct bt_placement, parent->count);
	struct bt_str required = {0};
	bool has_required = false;
	uint32_t count = 0;
	struct bt_status status = domain_of_group(
		state, key, group_namespace, group_name, arena, &has_required, &required);

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
	*out_count = split_domains(nodes, count, arena, placements);
	*out_placements = placements;
	return BT_STATUS_OK;
}
