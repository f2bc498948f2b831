/* SPDX-License-Identifier: Apache-2.0 */
#include "api/change.h"

#include <stdlib.h>

#include "api/resources.h"
#include "base/assert.h"

static void add_event(struct bt_change_events *events, uint32_t action)
{
	BT_ASSERT(events->count < BT_CHANGE_EVENTS_MAX);
	events->actions[events->count++] = action;
}

bool bt_str_map_equal(const struct bt_str_map *a, const struct bt_str_map *b)
{
	if (a->count != b->count) {
		return false;
	}
	for (uint32_t i = 0; i < a->count; i++) {
		if (!bt_str_equal(a->items[i].key, b->items[i].key) ||
			!bt_str_equal(a->items[i].value, b->items[i].value)) {
			return false;
		}
	}
	return true;
}

bool bt_str_list_equal(const bt_str_list *a, const bt_str_list *b)
{
	if (a->count != b->count) {
		return false;
	}
	for (uint32_t i = 0; i < a->count; i++) {
		if (!bt_str_equal(a->items[i], b->items[i])) {
			return false;
		}
	}
	return true;
}

bool bt_resource_list_equal(const struct bt_resource_list *a, const struct bt_resource_list *b)
{
	if (a->count != b->count) {
		return false;
	}
	for (uint32_t i = 0; i < a->count; i++) {
		if (!bt_str_equal(a->items[i].name, b->items[i].name) ||
			bt_quantity_compare(&a->items[i].quantity, &b->items[i].quantity) != 0) {
			return false;
		}
	}
	return true;
}

bool bt_taint_list_equal(const bt_taint_list *a, const bt_taint_list *b)
{
	return bt_message_lists_equal(&bt_taint_message, a, b);
}

/** Returns true if the new effective requests lack an old resource or request less of it. */
static bool scaled_down(const struct bt_pod *old_pod, const struct bt_pod *new_pod,
	const struct bt_change_gates *gates, struct bt_arena *arena)
{
	/* the options include pod-level resources even if the gate PodLevelResources is off */
	struct bt_request_options options = {
		.use_status = true, .use_pod_status = gates->in_place_pod_level_resources};
	struct bt_resource_list before = bt_pod_requests(old_pod, &options, arena);
	struct bt_resource_list after = bt_pod_requests(new_pod, &options, arena);

	for (uint32_t i = 0; i < before.count; i++) {
		const struct bt_quantity *now = bt_resource_list_find(&after, before.items[i].name);

		if (now == NULL ||
			bt_quantity_milli(&before.items[i].quantity) > bt_quantity_milli(now)) {
			return true;
		}
	}
	return false;
}

/** Compares the claims that the resource claim controller and the scheduler made for the pod. */
static bool claims_equal(const struct bt_pod_status *a, const struct bt_pod_status *b)
{
	const struct bt_pod_extended_resource_claim_status *left =
		a->extended_resource_claim_status;
	const struct bt_pod_extended_resource_claim_status *right =
		b->extended_resource_claim_status;

	if (!bt_message_lists_equal(&bt_pod_resource_claim_status_message,
		    &a->resource_claim_statuses, &b->resource_claim_statuses)) {
		return false;
	}
	if (left == NULL || right == NULL) {
		return left == right;
	}
	return bt_str_equal(left->resource_claim_name, right->resource_claim_name) &&
		bt_message_lists_equal(&bt_container_extended_resource_request_message,
			&left->request_mappings, &right->request_mappings);
}

struct bt_change_events bt_pod_change_events(const struct bt_pod *old_pod,
	const struct bt_pod *new_pod, const struct bt_change_gates *gates, struct bt_arena *arena)
{
	struct bt_change_events events = {.count = 0};

	if (!bt_str_map_equal(&old_pod->metadata.labels, &new_pod->metadata.labels)) {
		add_event(&events, BT_ACTION_UPDATE_POD_LABEL);
	}
	if (scaled_down(old_pod, new_pod, gates, arena)) {
		add_event(&events, BT_ACTION_UPDATE_POD_SCALE_DOWN);
	}
	if (old_pod->spec.scheduling_gates.count != 0 &&
		new_pod->spec.scheduling_gates.count == 0) {
		add_event(&events, BT_ACTION_UPDATE_POD_SCHEDULING_GATES_ELIMINATED);
	}
	if (old_pod->spec.tolerations.count != new_pod->spec.tolerations.count) {
		add_event(&events, BT_ACTION_UPDATE_POD_TOLERATION);
	}
	if (gates->dynamic_resource_allocation &&
		!claims_equal(&old_pod->status, &new_pod->status)) {
		add_event(&events, BT_ACTION_UPDATE_POD_GENERATED_RESOURCE_CLAIM);
	}
	if (events.count == 0) {
		add_event(&events, BT_ACTION_UPDATE);
	}
	return events;
}

/**
 * Sets *out to the types of the conditions, sorted, each with the index of the last condition of
 * this type. Returns the number of types.
 */
static uint32_t condition_types(
	const struct bt_node_status *status, struct bt_arena *arena, struct bt_indexed_str **out)
{
	uint32_t count = status->conditions.count;
	struct bt_indexed_str *types = BT_ARENA_NEW_ARRAY(arena, struct bt_indexed_str, count);
	uint32_t kept = 0;

	for (uint32_t i = 0; i < count; i++) {
		types[i] = (struct bt_indexed_str){status->conditions.items[i].type, i};
	}
	if (count != 0) {
		qsort(types, count, sizeof(types[0]), bt_indexed_str_compare_qsort);
	}
	for (uint32_t i = 0; i < count; i++) {
		if (kept != 0 && bt_str_equal(types[kept - 1].text, types[i].text)) {
			kept--;
		}
		types[kept++] = types[i];
	}
	*out = types;
	return kept;
}

static bool conditions_equal(
	const struct bt_node_status *a, const struct bt_node_status *b, struct bt_arena *arena)
{
	struct bt_indexed_str *left;
	struct bt_indexed_str *right;
	uint32_t count = condition_types(a, arena, &left);

	if (count != condition_types(b, arena, &right)) {
		return false;
	}
	for (uint32_t i = 0; i < count; i++) {
		if (!bt_str_equal(left[i].text, right[i].text) ||
			!bt_str_equal(a->conditions.items[left[i].index].status,
				b->conditions.items[right[i].index].status)) {
			return false;
		}
	}
	return true;
}

struct bt_change_events bt_node_change_events(const struct bt_node *old_node,
	const struct bt_node *new_node, const struct bt_change_gates *gates, struct bt_arena *arena)
{
	struct bt_change_events events = {.count = 0};

	if (old_node->spec.unschedulable && !new_node->spec.unschedulable) {
		add_event(&events, BT_ACTION_UPDATE_NODE_TAINT);
	}
	if (!bt_resource_list_equal(&old_node->status.allocatable, &new_node->status.allocatable)) {
		add_event(&events, BT_ACTION_UPDATE_NODE_ALLOCATABLE);
	}
	if (!bt_str_map_equal(&old_node->metadata.labels, &new_node->metadata.labels)) {
		add_event(&events, BT_ACTION_UPDATE_NODE_LABEL);
	}
	if (!bt_taint_list_equal(&old_node->spec.taints, &new_node->spec.taints)) {
		add_event(&events, BT_ACTION_UPDATE_NODE_TAINT);
	}
	if (!conditions_equal(&old_node->status, &new_node->status, arena)) {
		add_event(&events, BT_ACTION_UPDATE_NODE_CONDITION);
	}
	if (!bt_str_map_equal(&old_node->metadata.annotations, &new_node->metadata.annotations)) {
		add_event(&events, BT_ACTION_UPDATE_NODE_ANNOTATION);
	}
	if (gates->node_declared_features &&
		!bt_str_list_equal(
			&old_node->status.declared_features, &new_node->status.declared_features)) {
		add_event(&events, BT_ACTION_UPDATE_NODE_DECLARED_FEATURE);
	}
	return events;
}
