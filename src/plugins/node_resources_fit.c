/* SPDX-License-Identifier: Apache-2.0 */
/**
 * NodeResourcesFit (PreFilter, Filter, PreScore, Score, PlacementScore): the node has room for what
 * the pod requests; scored by how full it would be. Spec: 05 section 11. The scoring strategies are
 * in common_fit_score.h, the hints in common_fit_hints.h.
 */
#include "api/resources.h"
#include "base/alloc.h"
#include "plugins/common_columns.h"
#include "plugins/common_fit_hints.h"
#include "plugins/common_fit_score.h"
#include "plugins/common_plugin.h"
#include "plugins/common_resource_columns.h"
#include "plugins/common_resource_score.h"
#include "plugins/common_sign.h"
#include "plugins/in_tree.h"

struct fit_plugin {
	struct bt_plugin base;
	const struct bt_handle *handle;
	const struct bt_node_resources_fit_args *args; /* borrowed for the life of the framework */
	struct bt_resource_gates gates;
	struct bt_fit_scorer scorer;
};

/** A scalar resource of the pod, value not 0. */
struct fit_scalar {
	struct bt_str name;
	struct bt_str reason; /* "Insufficient <name>" */
	uint32_t column;      /* of the node table */
	bool ignored;         /* by the arguments */
	/** A device class stands behind it: the DynamicResources plugin decides where the node has
	 * none of its own (spec 05 section 3.10). */
	bool has_class;
	int64_t value;
};

/** Variant F of the pod's request. */
struct fit_pre_filter_data {
	int64_t cpu_milli;
	int64_t memory_bytes;
	int64_t ephemeral_bytes;
	const struct fit_scalar *scalars; /* ascending by name */
	uint32_t scalar_count;
};

/** Variant FS of the request for the configured resources, in their order. */
struct fit_pre_score_data {
	const int64_t *requests;
};

static struct fit_plugin *instance_of(struct bt_plugin *plugin)
{
	return (struct fit_plugin *)(void *)plugin;
}

static bool list_has(const bt_str_list *list, struct bt_str name)
{
	for (uint32_t i = 0; i < list->count; i++) {
		if (bt_str_equal(list->items[i], name)) {
			return true;
		}
	}
	return false;
}

static bool is_ignored(const struct bt_node_resources_fit_args *args, struct bt_str name)
{
	if (!bt_resource_is_extended(name)) {
		return false;
	}
	return list_has(&args->ignored_resources, name) ||
		list_has(&args->ignored_resource_groups,
			bt_str_sub(name, 0, (uint32_t)bt_str_find_char(name, '/')));
}

static struct bt_status pre_filter(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, BT_UNUSED struct bt_pre_filter_result *out_result)
{
	struct fit_plugin *instance = instance_of(plugin);
	struct bt_resource request =
		bt_pod_fit_request(pod->shape->pod, &instance->gates, cycle->arena);
	struct fit_pre_filter_data *data = BT_ARENA_NEW(cycle->arena, struct fit_pre_filter_data);
	struct fit_scalar *scalars =
		BT_ARENA_NEW_ARRAY(cycle->arena, struct fit_scalar, request.scalar_count);

	data->cpu_milli = request.cpu_milli;
	data->memory_bytes = request.memory_bytes;
	data->ephemeral_bytes = request.ephemeral_storage_bytes;
	data->scalars = scalars;
	for (uint32_t i = 0; i < request.scalar_count; i++) {
		struct bt_str name = request.scalars[i].name;

		if (request.scalars[i].value == 0) {
			continue;
		}
		scalars[data->scalar_count++] = (struct fit_scalar){
			.name = name,
			.reason = bt_arena_printf(
				cycle->arena, "Insufficient %.*s", BT_STR_ARG(name)),
			.column = bt_node_table_scalar(&instance->handle->state->nodes, name),
			.ignored = is_ignored(instance->args, name),
			.has_class = bt_fit_is_delegated(instance->handle, name, 0),
			.value = request.scalars[i].value,
		};
	}
	bt_plugin_set_pre_filter_data(plugin, cycle, data);
	return BT_STATUS_OK;
}

/** What is missing on a node, in the order of the reasons. reasons NULL: only counted. */
struct fit_failures {
	struct bt_str *reasons;
	uint32_t count;
	bool unresolvable;
};

static void add_failure(struct fit_failures *failures, struct bt_str reason, bool unresolvable)
{
	if (failures->reasons != NULL) {
		failures->reasons[failures->count] = reason;
	}
	failures->count++;
	failures->unresolvable = failures->unresolvable || unresolvable;
}

/* cpu, memory, ephemeral-storage: a request of 0 fits even on an over-committed node. */
static void check_standard(struct fit_failures *failures, enum bt_reason reason, int64_t request,
	int64_t allocatable, int64_t requested)
{
	if (request > 0 && request > bt_wrap_sub(allocatable, requested)) {
		add_failure(failures, bt_reason_texts[reason], request > allocatable);
	}
}

static void check_node(const struct fit_pre_filter_data *data, const struct bt_node_info *node,
	struct fit_failures *failures)
{
	if (bt_wrap_add(node->pod_count, 1) > node->allocatable_pods) {
		add_failure(failures, bt_reason_texts[BT_REASON_TOO_MANY_PODS], false);
	}
	check_standard(failures, BT_REASON_INSUFFICIENT_CPU, data->cpu_milli,
		node->allocatable_cpu_milli, node->requested_cpu_milli);
	check_standard(failures, BT_REASON_INSUFFICIENT_MEMORY, data->memory_bytes,
		node->allocatable_memory_bytes, node->requested_memory_bytes);
	check_standard(failures, BT_REASON_INSUFFICIENT_EPHEMERAL_STORAGE, data->ephemeral_bytes,
		node->allocatable_ephemeral_bytes, node->requested_ephemeral_bytes);
	for (uint32_t i = 0; i < data->scalar_count; i++) {
		const struct fit_scalar *scalar = &data->scalars[i];
		int64_t allocatable = bt_node_info_scalar_allocatable(node, scalar->column);

		if (scalar->ignored || (scalar->has_class && allocatable <= 0)) {
			continue;
		}
		if (scalar->value > bt_wrap_sub(allocatable,
					    bt_node_info_scalar_requested(node, scalar->column))) {
			add_failure(failures, scalar->reason, scalar->value > allocatable);
		}
	}
}

static struct bt_status filter(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	BT_UNUSED const struct bt_pod_info *pod, const struct bt_node_info *node)
{
	const struct fit_pre_filter_data *data = bt_plugin_pre_filter_data(plugin, cycle);
	struct fit_failures counted = {0};
	struct fit_failures failures = {0};
	enum bt_status_code code;

	if (data == NULL) {
		return bt_status_error_text(cycle->arena,
			BT_STR("error reading \"PreFilterNodeResourcesFit\" from cycleState: not "
			       "found"));
	}
	check_node(data, node, &counted);
	if (counted.count == 0) {
		return BT_STATUS_OK;
	}
	failures.reasons = BT_ARENA_NEW_ARRAY(cycle->arena, struct bt_str, counted.count);
	check_node(data, node, &failures);
	code = failures.unresolvable ? BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE
				     : BT_STATUS_UNSCHEDULABLE;
	return (struct bt_status){
		.code = (uint8_t)code,
		.reason_count = failures.count,
		.reasons = failures.reasons,
	};
}

/* Column form of Filter: a detail has one bit per reason, in the order of the reasons. */
enum {
	DETAIL_UNRESOLVABLE = BT_LACK_UNRESOLVABLE,
	DETAIL_TOO_MANY_PODS = 1 << 1,
	DETAIL_CPU = 1 << 2,
	DETAIL_MEMORY = 1 << 3,
	DETAIL_EPHEMERAL = 1 << 4,
	DETAIL_SCALAR_SHIFT = 5,
	DETAIL_SCALARS_MAX = 19,
};

static bool filter_fits_column(BT_UNUSED struct bt_plugin *plugin, const void *data,
	BT_UNUSED const struct bt_pod_info *pod)
{
	const struct fit_pre_filter_data *request = data;

	return request->scalar_count <= DETAIL_SCALARS_MAX;
}

/** true: on some node. */
static bool add_scalar_lack(const struct fit_scalar *scalar, const struct bt_scalar_column *column,
	uint32_t bit, struct bt_slot_range range, uint32_t *detail)
{
	bool any = false;

	for (uint32_t k = 0; k < range.count; k++) {
		uint32_t slot = bt_slot_at(range, k);
		int64_t allocatable = column->allocatable[slot];

		if (scalar->value > bt_wrap_sub(allocatable, column->requested[slot]) &&
			!(scalar->has_class && allocatable <= 0)) {
			detail[slot] |=
				bit | (scalar->value > allocatable ? DETAIL_UNRESOLVABLE : 0);
			any = true;
		}
	}
	return any;
}

/** cpu, memory, ephemeral-storage as far as the pod requests them; returns how many. */
static uint32_t standard_columns(const struct fit_pre_filter_data *request,
	const struct bt_node_table *nodes, struct bt_lack_column out_columns[3])
{
	const struct bt_lack_column all[3] = {
		{nodes->allocatable_cpu_milli, nodes->requested_cpu_milli, request->cpu_milli,
			DETAIL_CPU},
		{nodes->allocatable_memory_bytes, nodes->requested_memory_bytes,
			request->memory_bytes, DETAIL_MEMORY},
		{nodes->allocatable_ephemeral_bytes, nodes->requested_ephemeral_bytes,
			request->ephemeral_bytes, DETAIL_EPHEMERAL},
	};
	uint32_t count = 0;

	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(all); i++) {
		if (all[i].request > 0) {
			out_columns[count++] = all[i];
		}
	}
	return count;
}

static bool filter_column(BT_UNUSED struct bt_plugin *plugin, const void *data,
	BT_UNUSED const struct bt_pod_info *pod, const struct bt_state *state,
	struct bt_slot_range range, uint32_t *detail)
{
	const struct fit_pre_filter_data *request = data;
	const struct bt_node_table *nodes = &state->nodes;
	const struct bt_lack_column pods = {
		nodes->allocatable_pods, nodes->pod_count, 1, DETAIL_TOO_MANY_PODS};
	struct bt_lack_column columns[3];
	uint32_t count = standard_columns(request, nodes, columns);
	bool any = bt_resource_kernels_for_cpu()->lack(&pods, columns, count, range, detail);

	for (uint32_t i = 0; i < request->scalar_count; i++) {
		const struct fit_scalar *scalar = &request->scalars[i];

		if (!scalar->ignored) {
			any |= add_scalar_lack(scalar, &nodes->scalars.items[scalar->column],
				1U << (DETAIL_SCALAR_SHIFT + i), range, detail);
		}
	}
	return any;
}

static struct bt_status filter_detail_status(BT_UNUSED struct bt_plugin *plugin, const void *data,
	BT_UNUSED const struct bt_pod_info *pod, uint32_t detail, struct bt_arena *arena)
{
	static const enum bt_reason fixed[] = {BT_REASON_TOO_MANY_PODS, BT_REASON_INSUFFICIENT_CPU,
		BT_REASON_INSUFFICIENT_MEMORY, BT_REASON_INSUFFICIENT_EPHEMERAL_STORAGE};
	const struct fit_pre_filter_data *request = data;
	uint32_t fixed_count = BT_ARRAY_LENGTH(fixed);
	struct fit_failures failures = {0};

	failures.reasons = BT_ARENA_NEW_ARRAY(
		arena, struct bt_str, (size_t)fixed_count + request->scalar_count);
	for (uint32_t i = 0; i < fixed_count; i++) {
		if ((detail >> (i + 1) & 1) != 0) {
			add_failure(&failures, bt_reason_texts[fixed[i]], false);
		}
	}
	for (uint32_t i = 0; i < request->scalar_count; i++) {
		if ((detail >> (DETAIL_SCALAR_SHIFT + i) & 1) != 0) {
			add_failure(&failures, request->scalars[i].reason, false);
		}
	}
	return (struct bt_status){
		.code = (detail & DETAIL_UNRESOLVABLE) != 0
			? BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE
			: BT_STATUS_UNSCHEDULABLE,
		.reason_count = failures.count,
		.reasons = failures.reasons,
	};
}

/*
 * Upstream quirk, spec 05 section 11.6: the scorer ignores pod-level requests and status, while the
 * node's part of the sum honours them.
 */
static const int64_t *scoring_requests(
	const struct fit_plugin *instance, const struct bt_pod_info *pod, struct bt_arena *arena)
{
	struct bt_request_options options = {
		.no_pod_level = true, .missing = bt_default_requests()};
	struct bt_resource_list list = bt_pod_requests(pod->shape->pod, &options, arena);

	return bt_scored_resources_request(&instance->scorer.resources, &list, arena);
}

static struct bt_status pre_score(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, BT_UNUSED const uint32_t *slots,
	BT_UNUSED uint32_t slot_count)
{
	struct fit_pre_score_data *data = BT_ARENA_NEW(cycle->arena, struct fit_pre_score_data);

	data->requests = scoring_requests(instance_of(plugin), pod, cycle->arena);
	bt_plugin_set_pre_score_data(plugin, cycle, data);
	return BT_STATUS_OK;
}

static struct bt_status score(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const struct bt_node_info *node, int64_t *out_score)
{
	const struct fit_plugin *instance = instance_of(plugin);
	const struct fit_pre_score_data *data = bt_plugin_pre_score_data(plugin, cycle);

	if (instance->scorer.resources.count == 0) {
		return bt_status_error_text(cycle->arena, BT_STR("resources not found"));
	}
	*out_score = bt_fit_score(&instance->scorer,
		data != NULL ? data->requests : scoring_requests(instance, pod, cycle->arena),
		node);
	return BT_STATUS_OK;
}

/** Absurd amounts can leave the range of scores; the plain form then reports what upstream would.
 */
static bool score_fits_column(
	struct bt_plugin *plugin, const void *data, BT_UNUSED const struct bt_pod_info *pod)
{
	const struct fit_plugin *instance = instance_of(plugin);
	const int64_t *requests = ((const struct fit_pre_score_data *)data)->requests;

	return instance->scorer.resources.count != 0 &&
		!bt_scored_resources_need_devices(&instance->scorer.resources, requests) &&
		bt_score_amounts_are_narrow(
			instance->handle->state, requests, instance->scorer.resources.count);
}

static void score_column(struct bt_plugin *plugin, const void *data,
	BT_UNUSED const struct bt_pod_info *pod, const struct bt_state *state,
	struct bt_slot_range range, int32_t *scores)
{
	const struct fit_plugin *instance = instance_of(plugin);
	const int64_t *requests = ((const struct fit_pre_score_data *)data)->requests;
	struct bt_resource_column columns[BT_RESOURCE_COLUMNS_MAX];
	uint32_t count;

	if (instance->scorer.strategy == BT_FIT_REQUESTED_TO_CAPACITY_RATIO ||
		!bt_resource_columns_collect(&instance->scorer.resources, requests, state,
			BT_SCORE_NON_ZERO, columns, &count)) {
		for (uint32_t k = 0; k < range.count; k++) {
			struct bt_node_info node;
			bt_node_info_init(&node, state, bt_slot_at(range, k));
			scores[node.slot] =
				(int32_t)bt_fit_score(&instance->scorer, requests, &node);
		}
		return;
	}
	bt_resource_kernels_for_cpu()->allocation(
		columns, count, instance->scorer.strategy == BT_FIT_MOST_ALLOCATED, range, scores);
}

static struct bt_status score_placement(struct bt_plugin *plugin, struct bt_arena *arena,
	const struct bt_placement *placement, const struct bt_pod_info *const *pods,
	uint32_t pod_count, int64_t *out_score)
{
	const struct fit_plugin *instance = instance_of(plugin);
	const struct bt_scored_resources *resources = &instance->scorer.resources;
	int64_t *sums = BT_ARENA_NEW_ARRAY(arena, int64_t, resources->count);

	for (uint32_t i = 0; i < pod_count; i++) {
		const int64_t *requests = scoring_requests(instance, pods[i], arena);

		for (uint32_t k = 0; k < resources->count; k++) {
			sums[k] = bt_wrap_add(sums[k], requests[k]);
		}
	}
	*out_score =
		bt_fit_placement_score(&instance->scorer, sums, instance->handle->state, placement);
	return BT_STATUS_OK;
}

static struct bt_status sign(
	struct bt_plugin *plugin, const struct bt_pod_info *pod, struct bt_sign_fragments *out)
{
	return bt_sign_requests(plugin, pod, out);
}

static enum bt_queueing_hint after_pod_change(struct bt_plugin *plugin,
	const struct bt_pod_info *pod, const void *old_object, const void *new_object,
	BT_UNUSED struct berth_error *err)
{
	return bt_fit_hint_after_pod_change(
		&instance_of(plugin)->gates, pod, old_object, new_object);
}

static enum bt_queueing_hint after_node_change(struct bt_plugin *plugin,
	const struct bt_pod_info *pod, const void *old_object, const void *new_object,
	BT_UNUSED struct berth_error *err)
{
	return bt_fit_hint_after_node_change(instance_of(plugin)->handle,
		&instance_of(plugin)->gates, pod, old_object, new_object);
}

static void hint_needs(
	struct bt_plugin *plugin, const struct bt_shape *shape, int64_t out_needs[BT_HINT_NEEDS])
{
	bt_fit_hint_needs(&instance_of(plugin)->gates, shape, out_needs);
}

/** after_node_change, as far as it looks at cpu and memory of an empty node. */
static bool hint_limits(BT_UNUSED struct bt_plugin *plugin, const struct bt_cluster_event *event,
	BT_UNUSED const void *old_object, const void *new_object, int64_t out_limits[BT_HINT_NEEDS])
{
	if (!bt_str_equal_c(event->resource, "Node") || new_object == NULL) {
		return false;
	}
	bt_fit_hint_limits(new_object, out_limits);
	return true;
}

static enum bt_queueing_hint after_class_change(struct bt_plugin *plugin,
	const struct bt_pod_info *pod, const void *old_object, const void *new_object,
	BT_UNUSED struct berth_error *err)
{
	return bt_fit_hint_after_class_change(
		&instance_of(plugin)->gates, pod, old_object, new_object);
}

/* Device classes come last: they are registered only with their gate. */
static const struct bt_event_registration events[] = {
	{{BT_RESOURCE_POD, BT_ACTION_DELETE | BT_ACTION_UPDATE_POD_SCALE_DOWN}, after_pod_change},
	{{BT_RESOURCE_NODE, BT_ACTION_ADD | BT_ACTION_UPDATE_NODE_ALLOCATABLE}, after_node_change},
	{{BT_RESOURCE_DEVICE_CLASS, BT_ACTION_ADD | BT_ACTION_UPDATE}, after_class_change},
};

static int events_to_register(struct bt_plugin *plugin,
	const struct bt_event_registration **out_events, uint32_t *out_count,
	BT_UNUSED struct berth_error *err)
{
	*out_events = events;
	*out_count = (uint32_t)BT_ARRAY_LENGTH(events) -
		(bt_plugin_gate(plugin, BT_GATE_DRA_EXTENDED_RESOURCE) ? 0 : 1);
	return 0;
}

static void destroy(struct bt_plugin *plugin)
{
	if (plugin != NULL) {
		bt_fit_scorer_finish(&instance_of(plugin)->scorer);
		bt_free(plugin);
	}
}

static int create(const struct bt_plugin_args *args, const struct bt_handle *handle,
	struct bt_plugin **out_plugin, struct berth_error *err)
{
	struct fit_plugin *instance;
	int code = bt_plugin_args_expect(
		args, BT_ARGS_NODE_RESOURCES_FIT, "want args to be of type", handle, err);

	if (code != 0) {
		return code;
	}
	instance = BT_NEW(struct fit_plugin);
	instance->base.ops = &bt_node_resources_fit_plugin;
	instance->handle = handle;
	instance->args = &args->node_resources_fit;
	instance->gates = bt_resource_gates_of(handle->gates);
	bt_fit_scorer_init(&instance->scorer, args->node_resources_fit.scoring_strategy, handle);
	*out_plugin = &instance->base;
	return 0;
}

const struct bt_plugin_ops bt_node_resources_fit_plugin = {
	.name = "NodeResourcesFit",
	.create = create,
	.destroy = destroy,
	.pure = true,
	.columns_split = true,
	.hint_scope = BT_HINT_SCOPE_SHAPE,
	.hint_needs = hint_needs,
	.hint_limits = hint_limits,
	.events_to_register = events_to_register,
	.sign = sign,
	.pre_filter = pre_filter,
	.filter = filter,
	.filter_fits_column = filter_fits_column,
	.filter_reads = BT_CHANGE_PODS | BT_CHANGE_ALLOCATABLE,
	.filter_column = filter_column,
	.filter_detail_status = filter_detail_status,
	.pre_score = pre_score,
	.score = score,
	.score_fits_column = score_fits_column,
	.score_reads = BT_CHANGE_PODS | BT_CHANGE_ALLOCATABLE,
	.score_column = score_column,
	.score_placement = score_placement,
};
