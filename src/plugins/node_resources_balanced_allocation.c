/* SPDX-License-Identifier: Apache-2.0 */
/**
 * NodeResourcesBalancedAllocation (PreScore, Score): prefers nodes on which the pod brings the
 * utilisations of resources closer together. Spec: 05 section 12.
 */
#include <math.h>

#include "api/resources.h"
#include "base/alloc.h"
#include "base/wrap.h"
#include "plugins/common_columns.h"
#include "plugins/common_plugin.h"
#include "plugins/common_resource_score.h"
#include "plugins/common_sign.h"
#include "plugins/in_tree.h"

struct balanced_plugin {
	struct bt_plain_plugin base;
	struct bt_scored_resources resources;
	/*
	 * By slot, the balance without the pod, as of log_sequence. Kept only if the balance is the
	 * same for all pods: there are two resources, and neither is scalar or untracked.
	 */
	int32_t *balances;
	uint32_t slot_count;
	uint32_t slot_capacity;
	uint64_t log_sequence;
};

static int64_t *scoring_requests(const struct balanced_plugin *instance,
	const struct bt_pod_info *pod, struct bt_arena *arena)
{
	struct bt_resource_gates gates = bt_resource_gates_of(instance->base.handle->gates);
	struct bt_request_options options = {
		.use_status = true,
		.use_pod_status = gates.in_place_pod_level_resources,
		.no_pod_level = !gates.pod_level_resources,
	};
	struct bt_resource_list list = bt_pod_requests(bt_shape_pod(pod->shape), &options, arena);

	return bt_scored_resources_request(&instance->resources, &list, arena);
}

static bool all_zero(const int64_t *values, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		if (values[i] != 0) {
			return false;
		}
	}
	return true;
}

static struct bt_status pre_score(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, BT_UNUSED const uint32_t *slots,
	BT_UNUSED uint32_t slot_count)
{
	const struct balanced_plugin *instance = bt_plugin_instance(plugin);
	int64_t *requests = scoring_requests(instance, pod, cycle->arena);

	if (all_zero(requests, instance->resources.count)) {
		return bt_status_code_only(BT_STATUS_SKIP);
	}
	cycle->pre_score_data[plugin->index] = requests;
	return BT_STATUS_OK;
}

enum utilization {
	WITHOUT_POD,
	WITH_POD,
};

/**
 * Get the used fraction of one resource, at most 1. Returns false if the resource does not count.
 */
static bool fraction_of(const struct bt_scored_resource *resource, int64_t request,
	const struct bt_node_info *node, enum utilization which, double *out_fraction)
{
	struct bt_score_entry entry;
	double fraction;

	if (!bt_score_entry_find(resource, request, node, BT_SCORE_REQUESTED, &entry)) {
		return false;
	}
	fraction =
		(double)(which == WITH_POD ? entry.requested : entry.used) / (double)entry.capacity;
	*out_fraction = fraction > 1.0 ? 1.0 : fraction;
	return true;
}

/**
 * Returns 100 x (1 - standard deviation of the used fractions), truncated; so 100 if all fractions
 * are equal. The order of operations is the same as in upstream, because another order would round
 * differently.
 */
static int64_t balance_of_requests(const struct bt_scored_resources *resources,
	const int64_t *requests, const struct bt_node_info *node, enum utilization which)
{
	double first_two[2] = {0.0, 0.0};
	double sum = 0.0;
	double deviation = 0.0;
	double fraction;
	uint32_t count = 0;

	for (uint32_t i = 0; i < resources->count; i++) {
		if (fraction_of(&resources->items[i], requests[i], node, which, &fraction)) {
			if (count < 2) {
				first_two[count] = fraction;
			}
			sum += fraction;
			count++;
		}
	}
	if (count == 2) {
		deviation = fabs((first_two[0] - first_two[1]) / 2);
	} else if (count > 2) {
		double mean = sum / (double)count;
		double squares = 0.0;

		for (uint32_t i = 0; i < resources->count; i++) {
			if (fraction_of(
				    &resources->items[i], requests[i], node, which, &fraction)) {
				squares += (fraction - mean) * (fraction - mean);
			}
		}
		deviation = sqrt(squares / (double)count);
	}
	return bt_trunc_to_i64((1 - deviation) * (double)BT_SCORE_MAX);
}

static int64_t score_of_node(const struct bt_scored_resources *resources, const int64_t *requests,
	const struct bt_node_info *node)
{
	int64_t with_pod = balance_of_requests(resources, requests, node, WITH_POD);
	int64_t without_pod = balance_of_requests(resources, requests, node, WITHOUT_POD);

	return 50 + bt_wrap_sub(bt_wrap_add(50, with_pod), without_pod) / 2;
}

static struct bt_status score(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const struct bt_node_info *node, int64_t *out_score)
{
	const struct balanced_plugin *instance = bt_plugin_instance(plugin);
	const int64_t *requests = cycle->pre_score_data[plugin->index];

	if (requests == NULL) {
		requests = scoring_requests(instance, pod, cycle->arena);
	}
	*out_score = all_zero(requests, instance->resources.count)
		? 0
		: score_of_node(&instance->resources, requests, node);
	return BT_STATUS_OK;
}

/**
 * Returns false if the scores depend on devices, or if amounts are so large that scores may exceed
 * their range; scoring node by node then reports upstream's error.
 */
static bool score_fits_column(
	struct bt_plugin *plugin, const void *data, BT_UNUSED const struct bt_pod_info *pod)
{
	const struct balanced_plugin *instance = bt_plugin_instance(plugin);
	const int64_t *requests = data;

	return !bt_scored_resources_need_devices(&instance->resources, requests) &&
		bt_score_amounts_are_narrow(
			instance->base.handle->state, requests, instance->resources.count);
}

static bool keeps_balances(const struct balanced_plugin *instance)
{
	const struct bt_scored_resources *resources = &instance->resources;

	for (uint32_t i = 0; i < resources->count; i++) {
		if (resources->items[i].kind == BT_SCORED_SCALAR ||
			resources->items[i].kind == BT_SCORED_UNTRACKED) {
			return false;
		}
	}
	return resources->count == 2;
}

#define AMOUNT_CHANGES (BT_CHANGE_PODS | BT_CHANGE_ALLOCATABLE | BT_CHANGE_EXISTENCE)

static void prepare_columns(struct bt_plugin *plugin, const struct bt_state *state)
{
	struct balanced_plugin *instance = bt_plugin_instance(plugin);
	const struct bt_change_log *log = &state->log;
	uint32_t slot_count = state->nodes.slot_count;
	struct bt_resource_column columns[BT_RESOURCE_COLUMNS_MAX];
	static const int64_t no_requests[2];
	uint32_t count;

	if (!keeps_balances(instance) || state->nodes.has_wide_values ||
		!bt_resource_columns_collect(&instance->resources, no_requests, state,
			BT_SCORE_REQUESTED, columns, &count)) {
		return;
	}
	if (instance->slot_count != slot_count ||
		!bt_change_log_covers(log, instance->log_sequence) ||
		bt_change_log_count(log, instance->log_sequence, AMOUNT_CHANGES) > slot_count / 4) {
		if (slot_count > instance->slot_capacity) {
			instance->slot_capacity = state->nodes.slot_capacity;
			instance->balances = bt_realloc_array(instance->balances,
				instance->slot_capacity, sizeof(*instance->balances));
		}
		instance->slot_count = slot_count;
		bt_resource_kernels_for_cpu()->balance(
			columns, (struct bt_slot_range){.count = slot_count}, instance->balances);
	} else {
		uint64_t end = bt_change_log_end(log, instance->log_sequence, AMOUNT_CHANGES);
		for (uint64_t i = instance->log_sequence; i < end; i++) {
			struct bt_change change = bt_change_log_at(log, i);
			if ((change.kinds & AMOUNT_CHANGES) != 0) {
				bt_resource_kernels_for_cpu()->balance(columns,
					(struct bt_slot_range){.first = change.slot, .count = 1},
					instance->balances);
			}
		}
	}
	instance->log_sequence = log->sequence;
}

static bool score_column(struct bt_plugin *plugin, const void *data,
	BT_UNUSED const struct bt_pod_info *pod, const struct bt_state *state,
	struct bt_slot_range range, int32_t *scores)
{
	const struct balanced_plugin *instance = bt_plugin_instance(plugin);
	const struct bt_scored_resources *resources = &instance->resources;
	const int64_t *requests = data;
	struct bt_resource_column columns[BT_RESOURCE_COLUMNS_MAX];
	uint32_t count;
	bool is_kept = instance->log_sequence == state->log.sequence &&
		instance->slot_count == state->nodes.slot_count && keeps_balances(instance);

	if (bt_resource_columns_collect(
		    resources, requests, state, BT_SCORE_REQUESTED, columns, &count) &&
		count <= 2) {
		bt_resource_kernels_for_cpu()->balanced(
			columns, count, is_kept ? instance->balances : NULL, range, scores);
		return true;
	}
	for (uint32_t k = 0; k < range.count; k++) {
		struct bt_node_info node;
		bt_node_info_init(&node, state, bt_slot_at(range, k));
		scores[node.slot] = (int32_t)score_of_node(resources, requests, &node);
	}
	return true;
}

static void destroy(struct bt_plugin *plugin)
{
	const struct balanced_plugin *instance = bt_plugin_instance(plugin);

	bt_free(instance->resources.items);
	bt_free(instance->balances);
	bt_free(plugin);
}

static int init(struct bt_plugin *plugin, const struct bt_plugin_args *args,
	BT_UNUSED struct berth_error *err)
{
	struct balanced_plugin *instance = (struct balanced_plugin *)(void *)plugin;

	bt_scored_resources_init(&instance->resources,
		&args->node_resources_balanced_allocation.resources, bt_plugin_handle(plugin));
	return 0;
}

static const struct bt_plugin_shortcuts shortcuts = {
	.pure = true,
	.columns_split = true,
	.score_fits_column = score_fits_column,
	.score_reads = BT_CHANGE_PODS | BT_CHANGE_ALLOCATABLE,
	.prepare_columns = prepare_columns,
	.score_column = score_column,
};

const struct bt_plugin_ops bt_node_resources_balanced_allocation_plugin = {
	.name = "NodeResourcesBalancedAllocation",
	.size = sizeof(struct balanced_plugin),
	.args_kind = BT_ARGS_NODE_RESOURCES_BALANCED_ALLOCATION,
	.args_error = "want args to be of type",
	.init = init,
	.destroy = destroy,
	.shortcuts = &shortcuts,
	.sign = bt_sign_requests,
	.pre_score = pre_score,
	.score = score,
};
