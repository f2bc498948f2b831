/* SPDX-License-Identifier: Apache-2.0 */
/** Filter and Score of DynamicResources. Spec: 12 sections 8 and 11. */
#include "api/types.h"
#include "base/error.h"
#include "framework/framework.h"
#include "plugins/common_columns.h"
#include "plugins/common_pod_group.h"
#include "plugins/dynamic_resources.h"

/**
 * Maximum number of search steps of the allocator in one Filter call if there is no clock. This
 * many steps take some seconds.
 */
#define FILTER_STEPS_MAX (UINT32_C(1) << 17)
/** Score of the first alternative of a request; each further alternative scores 1 less. */
#define FIRST_AVAILABLE_SCORE 8
/** First word of the identity of the node trait: "devices" in ASCII. */
#define TRAIT_DEVICES UINT64_C(0x64657669636573)

static struct bt_status unresolvable(enum bt_reason reason)
{
	return bt_status_reason(BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE, reason);
}

void bt_dynamic_filter_begin(void *context)
{
	struct bt_filter_limit *limit = context;
	const struct bt_scheduler_metrics *metrics = bt_handle_metrics(limit->handle);

	limit->is_timed_out = false;
	limit->deadline_ns = limit->timeout_ns != 0 && metrics != NULL
		? bt_metrics_now(metrics) + limit->timeout_ns
		: 0;
	limit->steps_left = limit->timeout_ns != 0 && metrics == NULL ? FILTER_STEPS_MAX : 0;
}

bool bt_dynamic_filter_is_over(void *context)
{
	struct bt_filter_limit *limit = context;

	if (limit->deadline_ns != 0) {
		limit->is_timed_out |=
			bt_metrics_now(bt_handle_metrics(limit->handle)) >= limit->deadline_ns;
	} else if (limit->steps_left != 0) {
		limit->is_timed_out |= --limit->steps_left == 0;
	}
	return limit->is_timed_out || limit->cycle->cancel_cause.length != 0;
}

/** State shared by the functions of Filter. */
struct node_check {
	struct bt_plugin *plugin;
	struct bt_cycle_state *cycle;
	struct bt_dynamic_cycle *data;
	const struct bt_pod_info *pod;
	const struct bt_node_info *node;
	struct bt_dynamic_node found;
};

/**
 * Step 3 of Filter: check the allocated claims, and set is_unavailable_here in each claim that is
 * not available on the node. *out_available: whether all allocated claims are available.
 */
static struct bt_status check_available(const struct node_check *check, bool *out_available)
{
	const struct bt_dynamic_resources *instance = bt_dynamic_resources_of(check->plugin);
	struct bt_arena *arena = check->cycle->arena;
	struct bt_dynamic_cycle *data = check->data;

	*out_available = true;
	for (uint32_t i = 0; i < data->count; i++) {
		struct bt_dynamic_claim *claim = &data->claims[i];
		struct berth_error err = BERTH_ERROR_INIT;
		bool is_ready = true;

		if (!claim->was_allocated) {
			continue;
		}
		claim->is_unavailable_here = claim->has_selector &&
			!bt_node_selector_matches(&claim->selector, bt_node_info_name(check->node),
				bt_node_info_labels(check->node), arena, NULL);
		if (claim->is_unavailable_here) {
			*out_available = false;
			continue;
		}
		if (bt_dynamic_binds_conditions(check->plugin)) {
			bool failed = bt_dynamic_is_ready(claim->claim, &is_ready, &err) != 0;

			berth_error_finish(&err);
			claim->is_unavailable_here = failed ||
				(!is_ready && bt_dynamic_is_timed_out(instance, claim->claim));
		}
		if (bt_plugin_gate(check->plugin, BT_GATE_DRA_NODE_ALLOCATABLE_RESOURCES)) {
			struct bt_status status = bt_node_allocatable_check_sharing(
				instance, check->pod, claim->claim, check->node, arena);
			if (!bt_status_is_success(&status)) {
				return status;
			}
		}
		*out_available &= !claim->is_unavailable_here;
	}
	return BT_STATUS_OK;
}

/** Status for a search that timed out or was cancelled. */
static struct bt_status over_status(const struct node_check *check)
{
	struct bt_arena *arena = check->cycle->arena;

	if (check->data->limit.is_timed_out) {
		return bt_status_error_text(arena,
			bt_arena_printf(arena, "node %.*s: timed out trying to allocate devices",
				BT_STR_ARG(bt_node_info_name(check->node))));
	}
	return bt_status_printf(BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE, arena,
		"asked by caller to stop allocating devices: %.*s",
		BT_STR_ARG(check->cycle->cancel_cause));
}

/**
 * Put the claims that the allocator must allocate on the node into data->todo, in order. Returns
 * their number.
 */
static uint32_t collect_todo(struct bt_dynamic_cycle *data, const struct bt_dynamic_node *node)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < data->count; i++) {
		const struct bt_dynamic_claim *claim = &data->claims[i];

		if (claim->pending == NULL && bt_dynamic_is_wanted(claim, node)) {
			data->todo[count++] =
				claim->is_special ? &node->special->claim : claim->claim;
		}
	}
	return count;
}

/** Steps 4b and 4c of Filter: allocate devices for the claims. */
static struct bt_status allocate(struct node_check *check)
{
	struct bt_dynamic_cycle *data = check->data;
	struct berth_error err = BERTH_ERROR_INIT;
	uint32_t count = collect_todo(data, &check->found);

	if (count == 0) {
		return BT_STATUS_OK;
	}
	data->limit.cycle = check->cycle;
	data->limit.is_timed_out = false;
	/*
	 * Check for cancellation here, because a short search may end before the allocator checks.
	 */
	if (check->cycle->cancel_cause.length != 0) {
		return over_status(check);
	}
	struct bt_node_allocation answer = bt_allocator_allocate(
		data->allocator, check->node->slot, data->todo, count, &check->found.choice, &err);
	switch (answer.outcome) {
	case BT_ALLOCATION_FOUND:
		check->found.score = answer.score;
		return BT_STATUS_OK;
	case BT_ALLOCATION_NONE:
		return unresolvable(BT_REASON_CLAIMS_NOT_ALLOCATABLE);
	case BT_ALLOCATION_INVALID_POOL:
		return unresolvable(BT_REASON_INVALID_RESOURCE_POOLS);
	case BT_ALLOCATION_OVER:
		berth_error_finish(&err);
		return over_status(check);
	case BT_ALLOCATION_ERROR:
		break;
	}
	return bt_status_from_error(check->cycle->arena, &err);
}

/** Step 4d of Filter: check that the node has the resources that the allocations need. */
static struct bt_status check_demand(struct node_check *check)
{
	struct bt_dynamic_cycle *data = check->data;
	struct bt_arena *arena = check->cycle->arena;
	struct bt_new_allocation *allocations =
		BT_ARENA_NEW_ARRAY(arena, struct bt_new_allocation, data->count);
	uint32_t count = 0;

	for (uint32_t i = 0; i < data->count; i++) {
		struct berth_error err = BERTH_ERROR_INIT;

		if (!bt_dynamic_is_wanted(&data->claims[i], &check->found)) {
			continue;
		}
		struct bt_allocation_result *result =
			BT_ARENA_NEW(arena, struct bt_allocation_result);
		/*
		 * No random share ids: the number of nodes that are checked depends on how the
		 * nodes are searched.
		 */
		if (bt_dynamic_allocation(data, &check->found, i, NULL, arena, result, &err) != 0) {
			return bt_status_from_error(arena, &err);
		}
		allocations[count++] = (struct bt_new_allocation){&data->claims[i], result};
	}
	return bt_node_allocatable_check(bt_dynamic_resources_of(check->plugin), check->pod,
		check->node, allocations, count, arena, &check->found.demand);
}

struct bt_status bt_dynamic_filter(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const struct bt_node_info *node)
{
	struct bt_dynamic_cycle *data = bt_dynamic_cycle_of(plugin, cycle);
	struct node_check check = {plugin, cycle, data, pod, node, {0}};
	bool available;

	if (data == NULL) {
		return bt_status_error_text(cycle->arena, BT_STR("not found"));
	}
	if (data->count == 0) {
		return BT_STATUS_OK;
	}
	struct bt_status status = check.data->extended == NULL
		? BT_STATUS_OK
		: bt_extended_for_node(check.data->extended, check.pod, check.node,
			  check.data->user_count != 0, check.cycle->arena, &check.found.special);
	if (!bt_status_is_success(&status) ||
		(check.found.special == NULL && data->user_count == 0)) {
		return status;
	}
	status = check_available(&check, &available);
	if (bt_status_is_success(&status) && data->allocator != NULL) {
		status = allocate(&check);
	}
	if (bt_status_is_success(&status) && data->allocator != NULL &&
		bt_plugin_gate(plugin, BT_GATE_DRA_NODE_ALLOCATABLE_RESOURCES)) {
		status = check_demand(&check);
	}
	if (!bt_status_is_success(&status)) {
		return status;
	}
	if (!available) {
		/* Step 5: record the claims that are not available. */
		for (uint32_t i = 0; i < data->count; i++) {
			data->claims[i].is_unavailable |= data->claims[i].is_unavailable_here;
		}
		return unresolvable(BT_REASON_CLAIM_NOT_AVAILABLE);
	}
	if (data->allocator != NULL) {
		uint32_t slot = check.node->slot;

		if (data->column != NULL) {
			data->last = check.found;
			data->last_slot = slot;
		} else if (slot < data->slot_count) {
			if (data->nodes == NULL) {
				data->nodes = BT_ARENA_NEW_ARRAY(check.cycle->arena,
					struct bt_dynamic_node *, data->slot_count);
			}
			if (data->nodes[slot] == NULL) {
				data->nodes[slot] =
					BT_ARENA_NEW(check.cycle->arena, struct bt_dynamic_node);
			}
			*data->nodes[slot] = check.found;
		}
	}
	return BT_STATUS_OK;
}

int bt_dynamic_allocation(const struct bt_dynamic_cycle *data, const struct bt_dynamic_node *node,
	uint32_t index, struct bt_prng *share_ids, struct bt_arena *arena,
	struct bt_allocation_result *out_result, struct berth_error *err)
{
	if (data->claims[index].pending != NULL) {
		*out_result = *data->claims[index].pending;
		return 0;
	}
	/*
	 * Count the earlier claims that were passed to the allocator. This number is the index of
	 * the claim in the call of the allocator.
	 */
	uint32_t place = 0;
	for (uint32_t i = 0; i < index; i++) {
		place += data->claims[i].pending == NULL &&
			bt_dynamic_is_wanted(&data->claims[i], node);
	}
	return bt_allocation_choice_result(
		data->allocator, node->choice, place, share_ids, arena, out_result, err);
}

static bool is_named(const struct bt_allocation_result *allocation, struct bt_str request,
	struct bt_str subrequest)
{
	for (uint32_t i = 0; i < allocation->devices.results.count; i++) {
		struct bt_str subrequest_name = allocation->devices.results.items[i].request;
		struct bt_str name = bt_str_cut(&subrequest_name, '/');

		if (bt_str_equal(name, request) && subrequest_name.data != NULL &&
			bt_str_equal(subrequest_name, subrequest)) {
			return true;
		}
	}
	return false;
}

/**
 * Returns the score of the allocation that the claim had before Filter; 0 if the claim had no
 * allocation.
 */
static int64_t score_claim(const struct bt_dynamic_claim *claim)
{
	const struct bt_allocation_result *allocation =
		claim->was_allocated ? claim->claim->status.allocation : claim->pending;
	const struct bt_device_request *requests = claim->claim->spec.devices.requests.items;
	int64_t sum = 0;

	for (uint32_t i = 0; allocation != NULL && i < claim->claim->spec.devices.requests.count;
		i++) {
		uint32_t count =
			requests[i].exactly == NULL ? requests[i].first_available.count : 0;

		for (uint32_t k = 0; k < count; k++) {
			if (is_named(allocation, requests[i].name,
				    requests[i].first_available.items[k].name)) {
				sum += FIRST_AVAILABLE_SCORE - (int64_t)k;
			}
		}
	}
	return sum;
}

/**
 * Whether the scores of nodes can differ. Scores differ only if different alternatives of a request
 * (firstAvailable) are selected.
 */
static bool scores_alternatives(const struct bt_plugin *plugin, const struct bt_dynamic_cycle *data)
{
	return data->has_alternatives && bt_plugin_gate(plugin, BT_GATE_DRA_PRIORITIZED_LIST);
}

static int64_t score_node(const struct bt_dynamic_cycle *data, uint32_t slot)
{
	const struct bt_dynamic_node *found = bt_dynamic_node_of(data, slot);
	int64_t score = 0;

	if (data->column != NULL) {
		return data->column->answers[data->column->values[slot]].score;
	}
	if (found == NULL) {
		return 0;
	}
	for (uint32_t i = 0; i < data->count; i++) {
		score += score_claim(&data->claims[i]);
	}
	return score + found->score;
}

struct bt_status bt_dynamic_score(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	BT_UNUSED const struct bt_pod_info *pod, const struct bt_node_info *node,
	int64_t *out_score)
{
	const struct bt_dynamic_cycle *data = bt_dynamic_cycle_of(plugin, cycle);

	*out_score = 0;
	if (!bt_plugin_gate(plugin, BT_GATE_DRA_PRIORITIZED_LIST)) {
		return BT_STATUS_OK;
	}
	if (data == NULL) {
		return bt_status_error_text(cycle->arena, BT_STR("not found"));
	}
	if (scores_alternatives(plugin, data)) {
		*out_score = score_node(data, node->slot);
	}
	return BT_STATUS_OK;
}

void bt_dynamic_score_slots(struct bt_plugin *plugin, const void *data,
	BT_UNUSED const struct bt_pod_info *pod, BT_UNUSED const struct bt_state *state,
	const uint32_t *slots, uint32_t count, int64_t *scores)
{
	const struct bt_dynamic_cycle *cycle_data = data;
	bool differ = scores_alternatives(plugin, cycle_data);

	for (uint32_t i = 0; i < count; i++) {
		scores[i] = differ ? score_node(cycle_data, slots[i]) : 0;
	}
}

bool bt_dynamic_cell_traits(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	BT_UNUSED const struct bt_pod_info *pod, struct bt_trait_list *out)
{
	struct bt_dynamic_cycle *data = bt_dynamic_cycle_of(plugin, cycle);
	const struct bt_dynamic_node no_special = {0};

	if (data == NULL || data->count == 0) {
		return data != NULL;
	}
	/* Allocated claims and the special claim must be checked on each node. */
	if (data->extended != NULL || data->unallocated_count != data->count ||
		cycle->cancel_cause.length != 0 ||
		bt_plugin_gate(plugin, BT_GATE_DRA_NODE_ALLOCATABLE_RESOURCES)) {
		return false;
	}
	for (uint32_t i = 0; i < data->count; i++) {
		if (data->claims[i].pending != NULL) {
			return false;
		}
	}
	data->limit.cycle = cycle;
	const struct bt_allocation_column *column = bt_allocation_column_get(
		data->allocator, data->todo, collect_todo(data, &no_special));
	/*
	 * With an error on some node the column cannot be used. The error ends the cycle, but only
	 * if the search for feasible nodes reaches that node.
	 */
	if (column == NULL || column->failure_count != 0) {
		return false;
	}
	struct bt_node_trait trait = {
		.identity = {TRAIT_DEVICES, column->serial, column->version},
		.reads = BT_ALLOCATION_COLUMN_READS,
		.values = column->values,
	};
	bt_arena_push(out->arena, out, trait);
	data->column = column;
	data->last_slot = BT_SLOT_NONE;
	return true;
}

bool bt_dynamic_filter_column(BT_UNUSED struct bt_plugin *plugin, const void *data,
	BT_UNUSED const struct bt_pod_info *pod, BT_UNUSED const struct bt_state *state,
	struct bt_slot_range range, uint32_t *detail)
{
	const struct bt_allocation_column *column = ((const struct bt_dynamic_cycle *)data)->column;
	uint32_t any = 0;

	for (uint32_t i = 0; i < range.count; i++) {
		uint32_t slot = bt_slot_at(range, i);

		/* 0: BT_ALLOCATION_FOUND */
		detail[slot] = (uint32_t)column->answers[column->values[slot]].outcome;
		any |= detail[slot];
	}
	return any != 0;
}

/**
 * PostFilter of DynamicResources: if no node fits, deallocate a claim whose devices the pod cannot
 * reach. Spec: 12 section 10.
 */

static struct bt_status unschedulable(enum bt_reason reason)
{
	return bt_status_reason(BT_STATUS_UNSCHEDULABLE, reason);
}

/**
 * Find the claim of a group's entry. *out_claim is NULL if the entry needs no claim, or if the
 * generated claim belongs to another owner. Fails if the claim does not exist.
 */
static int find_group_claim(const struct bt_dynamic_resources *instance,
	const struct bt_pod_group *group, const struct bt_pod_group_resource_claim *entry,
	const struct bt_resource_claim **out_claim, struct berth_error *err)
{
	const struct bt_pod_group_resource_claim_status *status =
		BT_STR_FIND(&group->status.resource_claim_statuses, name, entry->name);
	struct bt_str name = entry->resource_claim_name;

	*out_claim = NULL;
	if (name.data == NULL && entry->resource_claim_template_name.data == NULL) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"PodGroup %.*s/%.*s, spec.resourceClaim %.*s: none of the supported fields "
			"are set",
			BT_STR_ARG(group->metadata.namespace_), BT_STR_ARG(group->metadata.name),
			BT_STR_ARG(entry->name));
	}
	if (name.data == NULL && status == NULL) {
		return bt_error_set(err, BERTH_ERR_STATE,
			"PodGroup %.*s/%.*s: ResourceClaim not created yet",
			BT_STR_ARG(group->metadata.namespace_), BT_STR_ARG(group->metadata.name));
	}
	name = name.data == NULL ? status->resource_claim_name : name;
	const struct bt_object *object = name.data != NULL
		? bt_claim_cache_find(&instance->dra->claims, group->metadata.namespace_, name)
		: NULL;
	if (name.data != NULL && object == NULL) {
		return bt_error_set(err, BERTH_ERR_NOT_FOUND,
			"could not find ResourceClaim \"%.*s/%.*s\"",
			BT_STR_ARG(group->metadata.namespace_), BT_STR_ARG(name));
	}
	const struct bt_owner_reference *owner =
		object != NULL ? bt_object_controller(object->meta) : NULL;
	if (object != NULL &&
		(entry->resource_claim_name.data != NULL ||
			(owner != NULL && bt_str_equal(owner->uid, group->metadata.uid)))) {
		*out_claim = bt_object_value(object, BT_KIND_RESOURCE_CLAIM);
	}
	return 0;
}

/**
 * If no pod of the group is scheduled, remove the group's reservation from the first of its
 * allocated claims that has the reservation, and return UnschedulableAndUnresolvable. Returns
 * Success if a pod of the group is scheduled, or if there is no reservation to remove.
 */
static struct bt_status unreserve_group(
	struct bt_plugin *plugin, struct bt_cycle_state *cycle, const struct bt_pod_info *pod)
{
	const struct bt_dynamic_resources *instance = bt_dynamic_resources_of(plugin);
	const struct bt_state *state = instance->base.handle->state;
	struct bt_str name = bt_plugin_pod_group_name(&pod->object->spec);
	struct berth_error err = BERTH_ERROR_INIT;
	const struct bt_pod_group *group =
		bt_object_store_find(&state->objects, BT_KIND_POD_GROUP, pod->namespace_, name);

	if (group == NULL) {
		return bt_status_error_text(cycle->arena,
			bt_arena_printf(cycle->arena,
				"podgroup.scheduling.k8s.io \"%.*s\" not found", BT_STR_ARG(name)));
	}
	uint32_t scheduled = 0;
	struct bt_status counted = bt_pod_group_scheduled_count(
		state, pod->namespace_, name, cycle->arena, &scheduled);
	if (!bt_status_is_success(&counted)) {
		return counted;
	}
	if (scheduled != 0) {
		return BT_STATUS_OK;
	}
	for (uint32_t i = 0; i < group->spec.resource_claims.count; i++) {
		const struct bt_resource_claim *claim;

		if (find_group_claim(instance, group, &group->spec.resource_claims.items[i], &claim,
			    &err) != 0) {
			return bt_status_from_error(cycle->arena, &err);
		}
		if (claim != NULL && claim->status.allocation != NULL &&
			bt_dynamic_is_reserved_for(instance, claim, pod->object)) {
			bt_dynamic_unreserve_claim(
				instance, pod, claim, group->metadata.uid, cycle->arena);
			return bt_status_reason(BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE,
				BT_REASON_CLAIM_UNRESERVED_FOR_GROUP);
		}
	}
	return BT_STATUS_OK;
}

/**
 * Upstream quirk, spec 08 section 4.1: if an earlier plugin ended PreFilter, there is no cycle
 * data, and PostFilter fails with the error for missing data.
 */
struct bt_status bt_dynamic_post_filter(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, BT_UNUSED const struct bt_node_statuses *statuses,
	BT_UNUSED struct bt_post_filter_result *out_result)
{
	const struct bt_dynamic_resources *instance = bt_dynamic_resources_of(plugin);
	const struct bt_dynamic_cycle *data = bt_dynamic_cycle_of(plugin, cycle);
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_status status = BT_STATUS_OK;

	if (data == NULL) {
		return bt_status_error_text(cycle->arena, BT_STR("not found"));
	}
	if (data->count == 0) {
		return unschedulable(BT_REASON_NO_NEW_CLAIMS);
	}
	for (uint32_t i = 0; i < data->user_count; i++) {
		const struct bt_dynamic_claim *claim = &data->claims[i];
		uint32_t users = claim->claim->status.reserved_for.count;

		/* Deallocate the claim only if it is not reserved for another pod. */
		if (claim->is_unavailable &&
			(users == 0 ||
				(users == 1 &&
					bt_str_equal(claim->claim->status.reserved_for.items[0].uid,
						pod->uid)))) {
			return bt_dynamic_deallocate(instance, pod, claim->object, &err) != 0
				? bt_status_from_error(cycle->arena, &err)
				: unschedulable(BT_REASON_CLAIM_DEALLOCATED);
		}
	}
	if (data->count > data->user_count &&
		!bt_extended_is_in_memory(data->claims[data->user_count].claim)) {
		return bt_extended_delete(instance, pod, data->claims[data->user_count].object,
			       cycle->arena, &err) != 0
			? bt_status_from_error(cycle->arena, &err)
			: unschedulable(BT_REASON_SPECIAL_CLAIM_DELETED);
	}
	if (bt_plugin_pod_group_name(&pod->object->spec).length != 0 &&
		bt_plugin_gate(plugin, BT_GATE_DRA_WORKLOAD_RESOURCE_CLAIMS)) {
		status = unreserve_group(plugin, cycle, pod);
	}
	return bt_status_is_success(&status) ? unschedulable(BT_REASON_CLAIMS_STILL_NOT_SCHEDULABLE)
					     : status;
}
