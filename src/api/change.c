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

static bool times_equal(const struct bt_time *a, const struct bt_time *b)
{
	if (a == NULL || b == NULL) {
		return a == b;
	}
	return bt_time_compare(a, b) == 0;
}

bool bt_taint_list_equal(const bt_taint_list *a, const bt_taint_list *b)
{
	if (a->count != b->count) {
		return false;
	}
	for (uint32_t i = 0; i < a->count; i++) {
		const struct bt_taint *left = &a->items[i];
		const struct bt_taint *right = &b->items[i];

		if (!bt_str_equal(left->key, right->key) ||
			!bt_str_equal(left->value, right->value) ||
			!bt_str_equal(left->effect, right->effect) ||
			!times_equal(left->time_added, right->time_added)) {
			return false;
		}
	}
	return true;
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

static bool claim_statuses_equal(const struct bt_pod_status *a, const struct bt_pod_status *b)
{
	if (a->resource_claim_statuses.count != b->resource_claim_statuses.count) {
		return false;
	}
	for (uint32_t i = 0; i < a->resource_claim_statuses.count; i++) {
		const struct bt_pod_resource_claim_status *left =
			&a->resource_claim_statuses.items[i];
		const struct bt_pod_resource_claim_status *right =
			&b->resource_claim_statuses.items[i];

		if (!bt_str_equal(left->name, right->name) ||
			!bt_str_nullable_equal(
				left->resource_claim_name, right->resource_claim_name)) {
			return false;
		}
	}
	return true;
}

static bool extended_claims_equal(const struct bt_pod_extended_resource_claim_status *a,
	const struct bt_pod_extended_resource_claim_status *b)
{
	if (a == NULL || b == NULL) {
		return a == b;
	}
	if (!bt_str_equal(a->resource_claim_name, b->resource_claim_name) ||
		a->request_mappings.count != b->request_mappings.count) {
		return false;
	}
	for (uint32_t i = 0; i < a->request_mappings.count; i++) {
		const struct bt_container_extended_resource_request *left =
			&a->request_mappings.items[i];
		const struct bt_container_extended_resource_request *right =
			&b->request_mappings.items[i];

		if (!bt_str_equal(left->container_name, right->container_name) ||
			!bt_str_equal(left->resource_name, right->resource_name) ||
			!bt_str_equal(left->request_name, right->request_name)) {
			return false;
		}
	}
	return true;
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
		(!claim_statuses_equal(&old_pod->status, &new_pod->status) ||
			!extended_claims_equal(old_pod->status.extended_resource_claim_status,
				new_pod->status.extended_resource_claim_status))) {
		add_event(&events, BT_ACTION_UPDATE_POD_GENERATED_RESOURCE_CLAIM);
	}
	if (events.count == 0) {
		add_event(&events, BT_ACTION_UPDATE);
	}
	return events;
}

struct condition_order {
	const struct bt_node_condition *condition;
	uint32_t position;
};

static int compare_conditions(const void *a, const void *b)
{
	const struct condition_order *left = a;
	const struct condition_order *right = b;
	int order = bt_str_compare(left->condition->type, right->condition->type);

	return order != 0 ? order
			  : (left->position > right->position) - (left->position < right->position);
}

/**
 * Sets *out to the conditions, sorted by type; for each type the last condition counts. Returns the
 * number of entries.
 */
static uint32_t condition_map(
	const struct bt_node_status *status, struct bt_arena *arena, struct condition_order **out)
{
	struct condition_order *items =
		BT_ARENA_NEW_ARRAY(arena, struct condition_order, status->conditions.count);
	uint32_t kept = 0;

	for (uint32_t i = 0; i < status->conditions.count; i++) {
		items[i] = (struct condition_order){&status->conditions.items[i], i};
	}
	if (status->conditions.count != 0) {
		qsort(items, status->conditions.count, sizeof(items[0]), compare_conditions);
	}
	for (uint32_t i = 0; i < status->conditions.count; i++) {
		if (kept != 0 &&
			bt_str_equal(items[kept - 1].condition->type, items[i].condition->type)) {
			kept--;
		}
		items[kept++] = items[i];
	}
	*out = items;
	return kept;
}

static bool conditions_equal(
	const struct bt_node_status *a, const struct bt_node_status *b, struct bt_arena *arena)
{
	struct condition_order *left;
	struct condition_order *right;
	uint32_t left_count = condition_map(a, arena, &left);
	uint32_t right_count = condition_map(b, arena, &right);

	if (left_count != right_count) {
		return false;
	}
	for (uint32_t i = 0; i < left_count; i++) {
		if (!bt_str_equal(left[i].condition->type, right[i].condition->type) ||
			!bt_str_equal(left[i].condition->status, right[i].condition->status)) {
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
