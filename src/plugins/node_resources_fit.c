/* SPDX-License-Identifier: Apache-2.0 */
/**
 * NodeResourcesFit (PreFilter, Filter, PreScore, Score, PlacementScore): rejects nodes without room
 * for the pod's requests, and scores nodes by their utilisation with the pod. Spec: 05 section 11.
 */
#include <math.h>

#include "api/resources.h"
#include "base/alloc.h"
#include "base/wrap.h"
#include "dra/dra.h"
#include "plugins/common_columns.h"
#include "plugins/common_plugin.h"
#include "plugins/common_resource_score.h"
#include "plugins/common_sign.h"
#include "plugins/in_tree.h"

/* Shape points in the arguments are on a scale of 0 to 10. */
#define CUSTOM_SCORE_SCALE 10

/* How to score nodes. Spec: 05 sections 3.9, 11.5, 11.8. */
enum fit_strategy {
	BT_FIT_LEAST_ALLOCATED,
	BT_FIT_MOST_ALLOCATED,
	BT_FIT_REQUESTED_TO_CAPACITY_RATIO,
};

struct fit_scorer {
	struct bt_scored_resources resources;
	enum fit_strategy strategy;
	struct bt_shape_point *shape; /* owned; BT_FIT_REQUESTED_TO_CAPACITY_RATIO only */
	uint32_t shape_count;
};

static int64_t points_of(const struct fit_scorer *scorer, const struct bt_score_entry *entry)
{
	switch (scorer->strategy) {
	case BT_FIT_LEAST_ALLOCATED:
		if (entry->requested > entry->capacity) {
			return 0;
		}
		return bt_wrap_div(
			bt_wrap_mul(bt_wrap_sub(entry->capacity, entry->requested), BT_SCORE_MAX),
			entry->capacity);
	case BT_FIT_MOST_ALLOCATED:
		return bt_most_allocated_points(entry->requested, entry->capacity);
	case BT_FIT_REQUESTED_TO_CAPACITY_RATIO:
		return bt_broken_line(scorer->shape, scorer->shape_count,
			entry->requested <= entry->capacity
				? bt_wrap_div(bt_wrap_mul(entry->requested, BT_SCORE_MAX),
					  entry->capacity)
				: BT_SCORE_MAX);
	}
	return 0;
}

/** Returns the score of a node. requests: the pod's request of each configured resource. */
static int64_t fit_score(
	const struct fit_scorer *scorer, const int64_t *requests, const struct bt_node_info *node)
{
	bool is_ratio = scorer->strategy == BT_FIT_REQUESTED_TO_CAPACITY_RATIO;
	int64_t score = 0;
	int64_t weights = 0;

	for (uint32_t i = 0; i < scorer->resources.count; i++) {
		struct bt_score_entry entry;
		int64_t points;

		if (!bt_score_entry_find(&scorer->resources.items[i], requests[i], node,
			    BT_SCORE_NON_ZERO, &entry)) {
			continue;
		}
		points = points_of(scorer, &entry);
		if (is_ratio && points <= 0) {
			continue;
		}
		score = bt_wrap_add(score, bt_wrap_mul(points, entry.weight));
		weights = bt_wrap_add(weights, entry.weight);
	}
	if (weights == 0) {
		return 0;
	}
	return is_ratio ? bt_trunc_to_i64(round((double)score / (double)weights))
			: bt_wrap_div(score, weights);
}

/**
 * Whether DynamicResources decides about the resource on a node: the node has no allocatable amount
 * of the resource, and a device class provides it. Spec 05 section 3.10.
 */
static bool fit_is_delegated(
	const struct bt_handle *handle, struct bt_str name, int64_t allocatable)
{
	return allocatable <= 0 && bt_gate_enabled(handle->gates, BT_GATE_DRA_EXTENDED_RESOURCE) &&
		bt_dra_class_of(handle->state, name) != NULL;
}

struct fit_plugin {
	struct bt_plain_plugin base;
	const struct bt_node_resources_fit_args *args; /* borrowed for the life of the framework */
	struct bt_resource_gates gates;
	struct fit_scorer scorer;
	/**
	 * The lowest free amounts in each block of FLOOR_SLOTS slots, as of floor_sequence. A pod
	 * that requests no more than these amounts fits on all nodes of the block, so the nodes
	 * need not be checked one by one.
	 */
	struct fit_floors *floors;
	uint32_t floor_slot_count; /* slots covered by floors */
	uint64_t floor_sequence;
};

#define FLOOR_SLOTS 64

/** Lowest free amounts of one block. Slots outside the snapshot do not count. */
struct fit_floors {
	int64_t pods;
	int64_t least[BT_STANDARD__COUNT];
};

/** A scalar resource that the pod requests (not 0). */
struct fit_scalar {
	struct bt_str name;
	struct bt_str reason; /* "Insufficient <name>" */
	uint32_t column;      /* column of the node table */
	bool ignored;         /* the arguments tell Filter to ignore the resource */
	/**
	 * A device class provides the resource: DynamicResources decides on nodes without capacity
	 * of the resource (spec 05 section 3.10).
	 */
	bool has_class;
	int64_t value;
};

/** The pod's request as Filter checks it (variant F, api/resources.h). */
struct fit_pre_filter_data {
	int64_t standard[BT_STANDARD__COUNT];
	const struct fit_scalar *scalars; /* sorted by name */
	uint32_t scalar_count;
};

static struct bt_status pre_filter(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, BT_UNUSED struct bt_pre_filter_result *out_result)
{
	struct fit_plugin *instance = bt_plugin_instance(plugin);
	struct bt_resource request =
		bt_pod_fit_request(bt_shape_pod(pod->shape), &instance->gates, cycle->arena);
	struct fit_pre_filter_data *data = BT_ARENA_NEW(cycle->arena, struct fit_pre_filter_data);
	struct fit_scalar *scalars =
		BT_ARENA_NEW_ARRAY(cycle->arena, struct fit_scalar, request.scalar_count);

	bt_resource_get_standard(&request, data->standard);
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
			.column = bt_node_table_scalar(&instance->base.handle->state->nodes, name),
			.ignored = bt_resource_is_extended(name) &&
				(bt_str_list_has(&instance->args->ignored_resources, name) ||
					bt_str_list_has(&instance->args->ignored_resource_groups,
						bt_str_sub(name, 0,
							(uint32_t)bt_str_find_char(name, '/')))),
			.has_class = fit_is_delegated(instance->base.handle, name, 0),
			.value = request.scalars[i].value,
		};
	}
	cycle->pre_filter_data[plugin->index] = data;
	return BT_STATUS_OK;
}

/** Maximum number of reasons besides those of scalar resources: pods and standard resources. */
#define FIXED_REASONS (1 + BT_STANDARD__COUNT)

static struct bt_status filter(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	BT_UNUSED const struct bt_pod_info *pod, const struct bt_node_info *node)
{
	const struct fit_pre_filter_data *data = cycle->pre_filter_data[plugin->index];

	if (data == NULL) {
		return bt_status_error_text(cycle->arena,
			BT_STR("error reading \"PreFilterNodeResourcesFit\" from cycleState: not "
			       "found"));
	}
	struct bt_lacks lacks = {
		.arena = cycle->arena, .capacity = FIXED_REASONS + data->scalar_count};
	if (bt_wrap_add(node->pod_count, 1) > node->allocatable_pods) {
		bt_lacks_add(&lacks, bt_reason_texts[BT_REASON_TOO_MANY_PODS], false);
	}
	bt_lacks_check_standard(&lacks, node, data->standard);
	for (uint32_t i = 0; i < data->scalar_count; i++) {
		const struct fit_scalar *scalar = &data->scalars[i];
		int64_t allocatable = bt_node_info_scalar_allocatable(node, scalar->column);

		if (scalar->ignored || (scalar->has_class && allocatable <= 0)) {
			continue;
		}
		if (scalar->value > bt_wrap_sub(allocatable,
					    bt_node_info_scalar_requested(node, scalar->column))) {
			bt_lacks_add(&lacks, scalar->reason, scalar->value > allocatable);
		}
	}
	return bt_lacks_status(&lacks);
}

/*
 * Column form of Filter: a detail has one bit for each reason, in the order of the reasons, after
 * the bit for "unresolvable".
 */
enum {
	DETAIL_UNRESOLVABLE = BT_LACK_UNRESOLVABLE,
	DETAIL_TOO_MANY_PODS = 1 << 1,
	DETAIL_STANDARD = 1 << 2, /* the first of BT_STANDARD__COUNT bits */
	DETAIL_SCALAR_SHIFT = 2 + BT_STANDARD__COUNT,
	DETAIL_SCALARS_MAX = 19,
};

static bool filter_fits_column(BT_UNUSED struct bt_plugin *plugin, const void *data,
	BT_UNUSED const struct bt_pod_info *pod)
{
	const struct fit_pre_filter_data *request = data;

	return request->scalar_count <= DETAIL_SCALARS_MAX;
}

/** Returns the lowest free amount of the slots from first up to end, or `least` if it is lower. */
static int64_t lowest_free(int64_t least, const int64_t *allocatable, const int64_t *requested,
	uint32_t first, uint32_t end)
{
	for (uint32_t slot = first; slot < end; slot++) {
		int64_t free_amount = bt_wrap_sub(allocatable[slot], requested[slot]);
		least = free_amount < least ? free_amount : least;
	}
	return least;
}

/** Lower the floors to the free amounts of the slots from first up to, but not including, end. */
static void lower_floors(
	struct fit_floors *floors, const struct bt_node_table *nodes, uint32_t first, uint32_t end)
{
	floors->pods =
		lowest_free(floors->pods, nodes->allocatable_pods, nodes->pod_count, first, end);
	for (uint32_t i = 0; i < BT_STANDARD__COUNT; i++) {
		floors->least[i] = lowest_free(
			floors->least[i], nodes->allocatable[i], nodes->requested[i], first, end);
	}
}

static void set_floors(
	struct fit_plugin *instance, const struct bt_node_table *nodes, uint32_t block)
{
	static const struct fit_floors highest = {INT64_MAX, {INT64_MAX, INT64_MAX, INT64_MAX}};
	struct fit_floors *floors = &instance->floors[block];
	uint32_t first = block * FLOOR_SLOTS;
	uint32_t end =
		nodes->slot_count - first < FLOOR_SLOTS ? nodes->slot_count : first + FLOOR_SLOTS;

	*floors = highest;
	lower_floors(floors, nodes, first, end);
	if (floors->pods > 0) {
		return;
	}
	/*
	 * Either a node is full, or a slot is outside the snapshot: compute the floors again
	 * without the slots outside the snapshot.
	 */
	*floors = highest;
	for (uint32_t slot = first; slot < end; slot++) {
		if (nodes->rows[slot].in_snapshot) {
			lower_floors(floors, nodes, slot, slot + 1);
		}
	}
}

#define FLOOR_CHANGES (BT_CHANGE_PODS | BT_CHANGE_ALLOCATABLE | BT_CHANGE_EXISTENCE)

static void prepare_columns(struct bt_plugin *plugin, const struct bt_state *state)
{
	struct fit_plugin *instance = bt_plugin_instance(plugin);
	const struct bt_node_table *nodes = &state->nodes;
	const struct bt_change_log *log = &state->log;
	uint32_t block_count = (nodes->slot_count + FLOOR_SLOTS - 1) / FLOOR_SLOTS;

	if (instance->floor_slot_count != nodes->slot_count ||
		!bt_change_log_covers(log, instance->floor_sequence) ||
		bt_change_log_count(log, instance->floor_sequence, FLOOR_CHANGES) > block_count) {
		instance->floors =
			bt_realloc_array(instance->floors, block_count, sizeof(*instance->floors));
		instance->floor_slot_count = nodes->slot_count;
		for (uint32_t block = 0; block < block_count; block++) {
			set_floors(instance, nodes, block);
		}
	} else {
		uint64_t end = bt_change_log_end(log, instance->floor_sequence, FLOOR_CHANGES);
		for (uint64_t i = instance->floor_sequence; i < end; i++) {
			struct bt_change change = bt_change_log_at(log, i);
			if ((change.kinds & FLOOR_CHANGES) != 0) {
				set_floors(instance, nodes, change.slot / FLOOR_SLOTS);
			}
		}
	}
	instance->floor_sequence = log->sequence;
}

/**
 * Whether every node of the block is known to have enough for the request. false: the nodes must be
 * checked.
 */
static bool floors_allow(const struct fit_floors *floors, const struct fit_pre_filter_data *request)
{
	bool allowed = request->scalar_count == 0 && floors->pods > 0;

	for (uint32_t i = 0; i < BT_STANDARD__COUNT; i++) {
		allowed = allowed && request->standard[i] <= floors->least[i];
	}
	return allowed;
}

/** Get the columns of the standard resources; request 0: the pod does not request the resource. */
static void get_standard_columns(const struct fit_pre_filter_data *request,
	const struct bt_node_table *nodes, struct bt_lack_column out[BT_STANDARD__COUNT])
{
	for (uint32_t i = 0; i < BT_STANDARD__COUNT; i++) {
		out[i] = (struct bt_lack_column){nodes->allocatable[i], nodes->requested[i],
			request->standard[i], DETAIL_STANDARD << i};
	}
}

static bool filter_slots(const void *data, const struct bt_state *state, struct bt_slot_range range,
	uint32_t *detail)
{
	const struct fit_pre_filter_data *request = data;
	const struct bt_node_table *nodes = &state->nodes;
	const struct bt_lack_column pods = {
		nodes->allocatable_pods, nodes->pod_count, 1, DETAIL_TOO_MANY_PODS};
	struct bt_lack_column columns[BT_STANDARD__COUNT];
	uint32_t count = 0;

	get_standard_columns(request, nodes, columns);
	/* Leave out the resources that the pod does not request. */
	for (uint32_t i = 0; i < BT_STANDARD__COUNT; i++) {
		if (columns[i].request > 0) {
			columns[count++] = columns[i];
		}
	}
	bool any = bt_resource_kernels_for_cpu()->lack(&pods, columns, count, range, detail);

	for (uint32_t i = 0; i < request->scalar_count; i++) {
		const struct fit_scalar *scalar = &request->scalars[i];

		const struct bt_scalar_column *column = &nodes->scalars.items[scalar->column];
		uint32_t bit = 1U << (DETAIL_SCALAR_SHIFT + i);

		for (uint32_t k = 0; !scalar->ignored && k < range.count; k++) {
			uint32_t slot = bt_slot_at(range, k);
			int64_t allocatable = column->allocatable[slot];

			if (scalar->value > bt_wrap_sub(allocatable, column->requested[slot]) &&
				!(scalar->has_class && allocatable <= 0)) {
				detail[slot] |= bit |
					(scalar->value > allocatable ? DETAIL_UNRESOLVABLE : 0);
				any = true;
			}
		}
	}
	return any;
}

static bool filter_column(struct bt_plugin *plugin, const void *data,
	BT_UNUSED const struct bt_pod_info *pod, const struct bt_state *state,
	struct bt_slot_range range, uint32_t *detail)
{
	const struct fit_plugin *instance = bt_plugin_instance(plugin);
	uint32_t end = range.first + range.count;
	bool any = false;

	if (range.slots != NULL || instance->floor_slot_count != state->nodes.slot_count ||
		instance->floor_sequence != state->log.sequence) {
		return filter_slots(data, state, range, detail);
	}
	/*
	 * Check only blocks in which a node may lack something. The details of skipped blocks are
	 * set to 0 only once a lacking node is found, because the caller ignores the details if no
	 * node lacks a resource.
	 */
	for (uint32_t first = range.first, next; first < end; first = next) {
		bool allowed = floors_allow(&instance->floors[first / FLOOR_SLOTS], data);

		next = first;
		do {
			next = (next / FLOOR_SLOTS + 1) * FLOOR_SLOTS;
		} while (next < end &&
			floors_allow(&instance->floors[next / FLOOR_SLOTS], data) == allowed);
		next = next < end ? next : end;
		struct bt_slot_range part = {.first = first, .count = next - first};
		if (!allowed && filter_slots(data, state, part, detail) && !any) {
			part = (struct bt_slot_range){
				.first = range.first, .count = first - range.first};
			any = true;
			allowed = true;
		}
		if (allowed && any) {
			bt_fill_slots(part, detail, 0);
		}
	}
	return any;
}

/**
 * Limit *room, the number of pods that fit, by one resource: Filter accepts a pod if `request` is
 * free, and each accepted pod uses `taken`.
 */
static void lower_room(
	uint32_t *room, int64_t request, int64_t taken, int64_t allocatable, int64_t requested)
{
	int64_t free_amount = bt_wrap_sub(allocatable, requested);

	if (request > free_amount) {
		*room = 0;
	} else if (taken > 0) {
		int64_t count = (free_amount - request) / taken + 1;
		*room = count < *room ? (uint32_t)count : *room;
	}
}

/**
 * Lower room[slot] to the number of pods of the shape that fit on the node (filter_room in
 * framework/plugin.h). The node table must not have wide values.
 */
static void filter_room(BT_UNUSED struct bt_plugin *plugin, const void *data,
	const struct bt_pod_info *pod, const struct bt_state *state, struct bt_slot_range range,
	uint32_t *room)
{
	const struct fit_pre_filter_data *request = data;
	const struct bt_node_table *nodes = &state->nodes;
	const struct bt_shape *shape = pod->shape;
	struct bt_lack_column columns[BT_STANDARD__COUNT];

	get_standard_columns(request, nodes, columns);
	for (uint32_t k = 0; k < range.count; k++) {
		uint32_t slot = bt_slot_at(range, k);

		lower_room(
			&room[slot], 1, 1, nodes->allocatable_pods[slot], nodes->pod_count[slot]);
		for (uint32_t i = 0; i < BT_STANDARD__COUNT; i++) {
			if (columns[i].request > 0) {
				lower_room(&room[slot], columns[i].request, shape->requested[i],
					columns[i].allocatable[slot], columns[i].requested[slot]);
			}
		}
	}
	for (uint32_t i = 0; i < request->scalar_count; i++) {
		const struct fit_scalar *scalar = &request->scalars[i];
		const struct bt_scalar_column *column = &nodes->scalars.items[scalar->column];
		int64_t taken = 0; /* amount that a pod of the shape adds to `requested` */

		for (uint32_t k = 0; k < shape->scalar_count; k++) {
			taken += shape->scalars[k].resource == scalar->column
				? shape->scalars[k].value
				: 0;
		}

		for (uint32_t k = 0; !scalar->ignored && k < range.count; k++) {
			uint32_t slot = bt_slot_at(range, k);

			if (!scalar->has_class || column->allocatable[slot] > 0) {
				lower_room(&room[slot], scalar->value, taken,
					column->allocatable[slot], column->requested[slot]);
			}
		}
	}
}

static struct bt_status filter_detail_status(BT_UNUSED struct bt_plugin *plugin, const void *data,
	BT_UNUSED const struct bt_pod_info *pod, uint32_t detail, struct bt_arena *arena)
{
	static const enum bt_reason fixed[FIXED_REASONS] = {BT_REASON_TOO_MANY_PODS,
		BT_REASON_INSUFFICIENT_CPU, BT_REASON_INSUFFICIENT_MEMORY,
		BT_REASON_INSUFFICIENT_EPHEMERAL_STORAGE};
	const struct fit_pre_filter_data *request = data;
	struct bt_lacks lacks = {
		.arena = arena,
		.capacity = FIXED_REASONS + request->scalar_count,
		.is_unresolvable = (detail & DETAIL_UNRESOLVABLE) != 0,
	};

	for (uint32_t i = 0; i < FIXED_REASONS; i++) {
		if ((detail >> (i + 1) & 1) != 0) {
			bt_lacks_add(&lacks, bt_reason_texts[fixed[i]], false);
		}
	}
	for (uint32_t i = 0; i < request->scalar_count; i++) {
		if ((detail >> (DETAIL_SCALAR_SHIFT + i) & 1) != 0) {
			bt_lacks_add(&lacks, request->scalars[i].reason, false);
		}
	}
	return bt_lacks_status(&lacks);
}

/*
 * Upstream quirk, spec 05 section 11.6: the pod's request ignores pod-level requests and status,
 * but the sum of the node's pods includes pod-level requests and status.
 */
static int64_t *scoring_requests(
	const struct fit_plugin *instance, const struct bt_pod_info *pod, struct bt_arena *arena)
{
	struct bt_request_options options = {
		.no_pod_level = true, .missing = bt_default_requests()};
	struct bt_resource_list list = bt_pod_requests(bt_shape_pod(pod->shape), &options, arena);

	return bt_scored_resources_request(&instance->scorer.resources, &list, arena);
}

static struct bt_status pre_score(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, BT_UNUSED const uint32_t *slots,
	BT_UNUSED uint32_t slot_count)
{
	cycle->pre_score_data[plugin->index] =
		scoring_requests(bt_plugin_instance(plugin), pod, cycle->arena);
	return BT_STATUS_OK;
}

static struct bt_status score(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const struct bt_node_info *node, int64_t *out_score)
{
	const struct fit_plugin *instance = bt_plugin_instance(plugin);
	const int64_t *requests = cycle->pre_score_data[plugin->index];

	if (instance->scorer.resources.count == 0) {
		return bt_status_error_text(cycle->arena, BT_STR("resources not found"));
	}
	*out_score = fit_score(&instance->scorer,
		requests != NULL ? requests : scoring_requests(instance, pod, cycle->arena), node);
	return BT_STATUS_OK;
}

/**
 * Returns false if the scores depend on devices, or if amounts are so large that scores may exceed
 * their range; scoring node by node then reports upstream's error.
 */
static bool score_fits_column(
	struct bt_plugin *plugin, const void *data, BT_UNUSED const struct bt_pod_info *pod)
{
	const struct fit_plugin *instance = bt_plugin_instance(plugin);
	const int64_t *requests = data;

	return instance->scorer.resources.count != 0 &&
		!bt_scored_resources_need_devices(&instance->scorer.resources, requests) &&
		bt_score_amounts_are_narrow(
			instance->base.handle->state, requests, instance->scorer.resources.count);
}

static bool score_column(struct bt_plugin *plugin, const void *data,
	BT_UNUSED const struct bt_pod_info *pod, const struct bt_state *state,
	struct bt_slot_range range, int32_t *scores)
{
	const struct fit_plugin *instance = bt_plugin_instance(plugin);
	const int64_t *requests = data;
	struct bt_resource_column columns[BT_RESOURCE_COLUMNS_MAX];
	uint32_t count;

	if (instance->scorer.strategy == BT_FIT_REQUESTED_TO_CAPACITY_RATIO ||
		!bt_resource_columns_collect(&instance->scorer.resources, requests, state,
			BT_SCORE_NON_ZERO, columns, &count)) {
		for (uint32_t k = 0; k < range.count; k++) {
			struct bt_node_info node;
			bt_node_info_init(&node, state, bt_slot_at(range, k));
			scores[node.slot] = (int32_t)fit_score(&instance->scorer, requests, &node);
		}
		return true;
	}
	bt_resource_kernels_for_cpu()->allocation(
		columns, count, instance->scorer.strategy == BT_FIT_MOST_ALLOCATED, range, scores);
	return true;
}

static struct bt_status score_placement(struct bt_plugin *plugin, struct bt_arena *arena,
	const struct bt_placement *placement, const struct bt_pod_info *const *pods,
	uint32_t pod_count, int64_t *out_score)
{
	const struct fit_plugin *instance = bt_plugin_instance(plugin);
	const struct bt_scored_resources *resources = &instance->scorer.resources;
	int64_t *sums = BT_ARENA_NEW_ARRAY(arena, int64_t, resources->count);
	const int64_t *requests = NULL;

	for (uint32_t i = 0; i < pod_count; i++) {
		/* Members of a group often have the same shape. */
		if (i == 0 || pods[i]->shape != pods[i - 1]->shape) {
			requests = scoring_requests(instance, pods[i], arena);
		}
		for (uint32_t k = 0; k < resources->count; k++) {
			sums[k] = bt_wrap_add(sums[k], requests[k]);
		}
	}
	/*
	 * Score by MostAllocated, whatever the strategy, with capacity and use summed over the
	 * nodes of the placement. sums: requests of the proposed pods.
	 */
	int64_t score = 0;
	int64_t weights = 0;

	for (uint32_t i = 0; i < instance->scorer.resources.count; i++) {
		const struct bt_scored_resource *resource = &instance->scorer.resources.items[i];
		int64_t capacity;
		int64_t used;
		int64_t points;

		if (sums[i] == 0 && resource->kind == BT_SCORED_SCALAR) {
			continue;
		}
		capacity = 0;
		used = 0;

		for (uint32_t n = 0; n < placement->count; n++) {
			struct bt_node_info node;
			int64_t node_capacity;
			int64_t node_used;

			bt_node_info_init(&node, instance->base.handle->state, placement->slots[n]);
			bt_scored_resource_read(
				resource, &node, BT_SCORE_NON_ZERO, &node_capacity, &node_used);
			if (node_capacity == 0 && resource->kind == BT_SCORED_SCALAR) {
				continue;
			}
			capacity = bt_wrap_add(capacity, node_capacity);
			used = bt_wrap_add(used, node_used);
		}
		if (capacity == 0) {
			continue;
		}
		points = bt_most_allocated_points(bt_wrap_add(used, sums[i]), capacity);
		score = bt_wrap_add(score, bt_wrap_mul(points, resource->weight));
		weights = bt_wrap_add(weights, resource->weight);
	}
	*out_score = weights == 0 ? 0 : bt_wrap_div(score, weights);
	return BT_STATUS_OK;
}

/* Queueing hints. Spec: 05 section 11.9. */
static int64_t scalar_of(const struct bt_resource *resource, struct bt_str name)
{
	const int64_t *value = bt_resource_find_scalar(resource, name);

	return value != NULL ? *value : 0;
}

/*
 * Returns the request of a pod for hints (variant H): with status, and with pod-level requests even
 * if their gate is off.
 */
static struct bt_resource request_with_status(
	const struct bt_pod *pod, const struct bt_resource_gates *gates, struct bt_arena *arena)
{
	struct bt_request_options options = {
		.use_status = true,
		.use_pod_status = gates->in_place_pod_level_resources,
	};
	struct bt_resource_list list = bt_pod_requests(pod, &options, arena);
	struct bt_resource resource = {0};

	bt_resource_set_max(&resource, &list, arena);
	return resource;
}

/* Whether the changed pod requests less than before of some resource that the waiting pod wants. */
static bool freed_anything(const struct bt_resource *wanted, const struct bt_resource *old_request,
	const struct bt_resource *new_request)
{
	if ((wanted->cpu_milli != 0 && old_request->cpu_milli > new_request->cpu_milli) ||
		(wanted->memory_bytes != 0 &&
			old_request->memory_bytes > new_request->memory_bytes) ||
		(wanted->ephemeral_storage_bytes != 0 &&
			old_request->ephemeral_storage_bytes >
				new_request->ephemeral_storage_bytes)) {
		return true;
	}
	for (uint32_t i = 0; i < wanted->scalar_count; i++) {
		struct bt_str name = wanted->scalars[i].name;

		if (wanted->scalars[i].value != 0 &&
			scalar_of(old_request, name) > scalar_of(new_request, name)) {
			return true;
		}
	}
	return false;
}

/**
 * Whether more cpu, memory or ephemeral-storage is requested than the empty node has. A request of
 * 0 fits.
 */
static bool exceeds(int64_t request, int64_t available)
{
	return request > 0 && request > available;
}

/*
 * Whether the request fits on the node without pods. Upstream quirk, spec 05 section 11.9:
 * resources that the arguments ignore are not ignored here.
 */
static bool fits_empty_node(const struct bt_handle *handle, const struct bt_resource *request,
	const struct bt_resource *allocatable)
{
	if (allocatable->allowed_pod_number < 1 ||
		exceeds(request->cpu_milli, allocatable->cpu_milli) ||
		exceeds(request->memory_bytes, allocatable->memory_bytes) ||
		exceeds(request->ephemeral_storage_bytes, allocatable->ephemeral_storage_bytes)) {
		return false;
	}
	for (uint32_t i = 0; i < request->scalar_count; i++) {
		const struct bt_scalar_resource *scalar = &request->scalars[i];
		int64_t available = scalar_of(allocatable, scalar->name);

		if (scalar->value != 0 && scalar->value > available &&
			!fit_is_delegated(handle, scalar->name, available)) {
			return false;
		}
	}
	return true;
}

/*
 * Whether the node has room for more pods or more of a requested resource than before. A resource
 * about which DynamicResources decides always counts as more.
 */
static bool has_grown(const struct bt_handle *handle, const struct bt_resource *request,
	const struct bt_resource *old_allocatable, const struct bt_resource *new_allocatable)
{
	if (new_allocatable->allowed_pod_number > old_allocatable->allowed_pod_number ||
		(request->cpu_milli > 0 &&
			new_allocatable->cpu_milli > old_allocatable->cpu_milli) ||
		(request->memory_bytes > 0 &&
			new_allocatable->memory_bytes > old_allocatable->memory_bytes) ||
		(request->ephemeral_storage_bytes > 0 &&
			new_allocatable->ephemeral_storage_bytes >
				old_allocatable->ephemeral_storage_bytes)) {
		return true;
	}
	for (uint32_t i = 0; i < request->scalar_count; i++) {
		struct bt_str name = request->scalars[i].name;
		int64_t available = scalar_of(new_allocatable, name);

		if (request->scalars[i].value != 0 &&
			(available > scalar_of(old_allocatable, name) ||
				fit_is_delegated(handle, name, available))) {
			return true;
		}
	}
	return false;
}

static struct bt_resource allocatable_of(const struct bt_node *node, struct bt_arena *arena)
{
	struct bt_resource resource = {0};

	bt_resource_add(&resource, &node->status.allocatable, arena);
	return resource;
}

/** Whether the pod's requests, without status, name the resource, even with a request of 0. */
static bool names_resource(const struct bt_resource_gates *gates, const struct bt_pod_info *pod,
	struct bt_str resource)
{
	struct bt_arena arena = {0};
	struct bt_request_options options = {.no_pod_level = !gates->pod_level_resources};
	struct bt_resource_list list = bt_pod_requests(bt_shape_pod(pod->shape), &options, &arena);
	bool named = bt_resource_list_find(&list, resource) != NULL;

	bt_arena_finish(&arena);
	return named;
}

static bool after_pod_change(const struct bt_hint_call *call)
{
	/* Handles Pod/Delete (new_pod NULL) and Pod/UpdatePodScaleDown. */
	const struct fit_plugin *instance = bt_plugin_instance(call->plugin);
	const struct bt_resource_gates *gates = &instance->gates;
	const struct bt_pod *old_pod = call->old_object;
	const struct bt_pod *new_pod = call->new_object;
	struct bt_arena arena = {0};
	struct bt_resource wanted;
	struct bt_resource old_request;
	struct bt_resource new_request;
	bool helps;

	if (new_pod == NULL) {
		return bt_plugin_pod_is_placed(old_pod);
	}
	if (bt_str_equal(new_pod->metadata.uid, call->pod->uid)) {
		return true;
	}
	if (new_pod->spec.node_name.length == 0) {
		return false;
	}
	wanted = request_with_status(bt_shape_pod(call->pod->shape), gates, &arena);
	old_request = request_with_status(old_pod, gates, &arena);
	new_request = request_with_status(new_pod, gates, &arena);
	helps = freed_anything(&wanted, &old_request, &new_request);
	bt_arena_finish(&arena);
	return helps;
}

static bool after_node_change(const struct bt_hint_call *call)
{
	/* Handles Node/Add (old_node NULL) and Node/UpdateNodeAllocatable. */
	const struct fit_plugin *instance = bt_plugin_instance(call->plugin);
	const struct bt_handle *handle = bt_plugin_handle(call->plugin);
	const struct bt_resource_gates *gates = &instance->gates;
	const struct bt_node *old_node = call->old_object;
	const struct bt_node *new_node = call->new_object;
	struct bt_arena arena = {0};
	struct bt_resource request =
		bt_pod_fit_request(bt_shape_pod(call->pod->shape), gates, &arena);
	struct bt_resource allocatable = allocatable_of(new_node, &arena);
	bool helps = fits_empty_node(handle, &request, &allocatable);

	if (helps && old_node != NULL) {
		struct bt_resource old_allocatable = allocatable_of(old_node, &arena);

		helps = has_grown(handle, &request, &old_allocatable, &allocatable);
	}
	bt_arena_finish(&arena);
	return helps;
}

static void hint_needs(
	struct bt_plugin *plugin, const struct bt_shape *shape, int64_t out_needs[BT_HINT_NEEDS])
{
	/*
	 * Get the requests of cpu and memory. No pod of the shape fits on a node with less, even if
	 * the node is empty.
	 */
	const struct fit_plugin *instance = bt_plugin_instance(plugin);
	const struct bt_resource_gates *gates = &instance->gates;
	struct bt_arena arena = {0};
	struct bt_resource request = bt_pod_fit_request(bt_shape_pod(shape), gates, &arena);

	out_needs[0] = request.cpu_milli;
	out_needs[1] = request.memory_bytes;
	bt_arena_finish(&arena);
}

/**
 * Get the amounts to compare with hint_needs: cpu and memory of the node without pods. Returns
 * false for events of other resources.
 */
static bool hint_limits(BT_UNUSED struct bt_plugin *plugin, const struct bt_cluster_event *event,
	BT_UNUSED const void *old_object, const void *new_object, int64_t out_limits[BT_HINT_NEEDS])
{
	if (!bt_str_equal_c(event->resource, "Node") || new_object == NULL) {
		return false;
	}
	const struct bt_node *node = new_object;
	struct bt_arena arena = {0};
	struct bt_resource allocatable = allocatable_of(node, &arena);

	/* An amount that has overflowed may be negative, but a request of 0 fits. */
	out_limits[0] = allocatable.cpu_milli > 0 ? allocatable.cpu_milli : 0;
	out_limits[1] = allocatable.memory_bytes > 0 ? allocatable.memory_bytes : 0;
	bt_arena_finish(&arena);
	return true;
}

static bool after_class_change(const struct bt_hint_call *call)
{
	/* Spec 04 (hints) section 6.7: old_class is NULL for an added class. */
	const struct fit_plugin *instance = bt_plugin_instance(call->plugin);
	const struct bt_resource_gates *gates = &instance->gates;
	const struct bt_device_class *old_class = call->old_object;
	const struct bt_device_class *new_class = call->new_object;
	struct bt_str resource = new_class->spec.extended_resource_name;
	struct bt_strbuf implicit = {0};
	bool helps = false;

	if (old_class != NULL && bt_str_equal(old_class->spec.extended_resource_name, resource)) {
		return false;
	}
	if (old_class == NULL) {
		bt_strbuf_append_c(&implicit, BT_DEVICE_CLASS_RESOURCE_PREFIX);
		bt_strbuf_append_str(&implicit, new_class->metadata.name);
		helps = names_resource(gates, call->pod, bt_strbuf_str(&implicit));
		bt_strbuf_finish(&implicit);
	}
	if (!helps && resource.data != NULL) {
		helps = names_resource(gates, call->pod, resource);
	}
	return helps;
}

/* The event of device classes must be last, because it is left out if its gate is off. */
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
	struct fit_plugin *instance = bt_plugin_instance(plugin);

	bt_free(instance->scorer.resources.items);
	bt_free(instance->scorer.shape);
	bt_free(instance->floors);
	bt_free(instance);
}

static int init(struct bt_plugin *plugin, const struct bt_plugin_args *args,
	BT_UNUSED struct berth_error *err)
{
	struct fit_plugin *instance = (struct fit_plugin *)(void *)plugin;
	const struct bt_handle *handle = bt_plugin_handle(plugin);

	instance->args = &args->node_resources_fit;
	instance->gates = bt_resource_gates_of(handle->gates);
	/* The strategy was validated. */
	struct fit_scorer *scorer = &instance->scorer;
	const struct bt_scoring_strategy *strategy = args->node_resources_fit.scoring_strategy;
	bt_scored_resources_init(&scorer->resources, &strategy->resources, handle);
	if (bt_str_equal_c(strategy->type, "MostAllocated")) {
		scorer->strategy = BT_FIT_MOST_ALLOCATED;
	}
	if (bt_str_equal_c(strategy->type, "RequestedToCapacityRatio")) {
		const bt_utilization_shape_point_list *shape =
			&strategy->requested_to_capacity_ratio->shape;

		scorer->strategy = BT_FIT_REQUESTED_TO_CAPACITY_RATIO;
		scorer->shape = BT_NEW_ARRAY(struct bt_shape_point, shape->count);
		scorer->shape_count = shape->count;
		for (uint32_t i = 0; i < shape->count; i++) {
			scorer->shape[i].utilization = shape->items[i].utilization;
			scorer->shape[i].score =
				(int64_t)shape->items[i].score * CUSTOM_SCORE_SCALE;
		}
	}
	return 0;
}

static const struct bt_plugin_shortcuts shortcuts = {
	.pure = true,
	.columns_split = true,
	.hint_scope = BT_HINT_SCOPE_SHAPE,
	.hint_needs = hint_needs,
	.hint_limits = hint_limits,
	.filter_fits_column = filter_fits_column,
	.filter_reads = BT_CHANGE_PODS | BT_CHANGE_ALLOCATABLE,
	.prepare_columns = prepare_columns,
	.filter_column = filter_column,
	.filter_detail_status = filter_detail_status,
	.filter_room = filter_room,
	.placement_score_ignores_nodes = true,
	.score_fits_column = score_fits_column,
	.score_reads = BT_CHANGE_PODS | BT_CHANGE_ALLOCATABLE,
	.score_column = score_column,
};

const struct bt_plugin_ops bt_node_resources_fit_plugin = {
	.name = "NodeResourcesFit",
	.size = sizeof(struct fit_plugin),
	.args_kind = BT_ARGS_NODE_RESOURCES_FIT,
	.args_error = "want args to be of type",
	.init = init,
	.destroy = destroy,
	.shortcuts = &shortcuts,
	.events_to_register = events_to_register,
	.sign = bt_sign_requests,
	.pre_filter = pre_filter,
	.filter = filter,
	.pre_score = pre_score,
	.score = score,
	.score_placement = score_placement,
};
