/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/measure.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "api/identity.h"
#include "base/alloc.h"
#include "base/nanoseconds.h"
#include "state/state.h"

/** The columns of cpu and memory, which come before the scalar ones. */
#define FIXED_COLUMNS 2
#define TYPICAL_AMOUNTS_MAX 8
#define INSTANCE_TYPE_LABEL "node.kubernetes.io/instance-type"
#define NS_PER_HOUR (3600.0 * (double)BT_NS_PER_SECOND)

/** --- waiting times --- */

/** Number of buckets for each power of two. */
#define STEPS 16
#define STEP_BITS 4

void bt_waits_add(struct bt_waits *waits, int64_t wait_ns)
{
	uint64_t ms = (uint64_t)(wait_ns > 0 ? wait_ns : 0) / BT_NS_PER_MS;
	uint32_t index = (uint32_t)ms;
	if (ms >= STEPS) {
		uint32_t power = 63U - BT_CLZ64(ms);
		index = (power - STEP_BITS + 1) * STEPS +
			(uint32_t)(ms >> (power - STEP_BITS) & (STEPS - 1));
	}
	waits->buckets[index < BT_WAIT_BUCKETS ? index : BT_WAIT_BUCKETS - 1]++;
	waits->count++;
	waits->max_ns = wait_ns > waits->max_ns ? wait_ns : waits->max_ns;
}

/** Returns the longest time that the bucket counts. */
static int64_t bucket_end_ns(uint32_t index)
{
	if (index < STEPS) {
		return (int64_t)index * BT_NS_PER_MS;
	}
	uint32_t shift = index / STEPS - 1;
	int64_t ms = (int64_t)(index % STEPS + STEPS + 1) << shift;
	return ms < INT64_MAX / BT_NS_PER_MS ? ms * BT_NS_PER_MS : INT64_MAX;
}

int64_t bt_waits_quantile(const struct bt_waits *waits, double share)
{
	uint64_t rank = (uint64_t)ceil(share * (double)waits->count);
	uint64_t count = 0;
	for (uint32_t i = 0; i < BT_WAIT_BUCKETS && waits->count != 0; i++) {
		count += waits->buckets[i];
		if (count >= rank && count != 0) {
			int64_t end_ns = bucket_end_ns(i);
			return end_ns < waits->max_ns ? end_ns : waits->max_ns;
		}
	}
	return waits->max_ns;
}

/** --- groups --- */

static struct bt_measured_group *add_group(
	struct bt_measure *measure, struct bt_str name, int64_t priority)
{
	struct bt_measured_group *group = BT_ARENA_NEW(&measure->arena, struct bt_measured_group);
	*group = (struct bt_measured_group){
		.name = bt_arena_str(&measure->arena, name), .priority = priority};
	return group;
}

static struct bt_measured_group *find_priority(struct bt_measure *measure, int64_t priority)
{
	for (uint32_t i = 0; i < measure->priorities.count; i++) {
		struct bt_measured_group *group = measure->priorities.items[i];
		if (group->priority == priority || i == BT_MEASURE_PRIORITIES_MAX) {
			return group;
		}
	}
	char name[24];
	(void)snprintf(name, sizeof(name), "%" PRId64, priority);
	bool is_last = measure->priorities.count == BT_MEASURE_PRIORITIES_MAX;
	bt_vec_push(&measure->priorities,
		add_group(measure, is_last ? BT_STR("others") : bt_str_from(name),
			is_last ? INT64_MIN : priority));
	return measure->priorities.items[measure->priorities.count - 1];
}

static struct bt_measured_group *find_owner(struct bt_measure *measure, const struct bt_pod *pod)
{
	const struct bt_owner_reference *owner = bt_object_controller(&pod->metadata);
	struct bt_strbuf name = {0};
	bt_strbuf_append_str(&name, pod->metadata.namespace_);
	bt_strbuf_append_char(&name, '/');
	if (owner != NULL) {
		bt_strbuf_append_str(&name, owner->kind);
		bt_strbuf_append_char(&name, '/');
		bt_strbuf_append_str(&name, owner->name);
	} else {
		bt_strbuf_append_c(&name, "no controller");
	}
	uint32_t index = bt_text_set_find(&measure->owner_names, bt_strbuf_str(&name));
	if (index == BT_MAP_NONE && measure->owners.count > BT_MEASURE_OWNERS_MAX) {
		index = BT_MEASURE_OWNERS_MAX;
	} else if (index == BT_MAP_NONE) {
		index = measure->owners.count;
		bool is_last = index == BT_MEASURE_OWNERS_MAX;
		struct bt_measured_group *group =
			add_group(measure, is_last ? BT_STR("others") : bt_strbuf_str(&name), 0);
		bt_vec_push(&measure->owners, group);
		bt_text_set_append(&measure->owner_names, group->name);
	}
	bt_strbuf_finish(&name);
	return measure->owners.items[index];
}

static void add_wait(
	struct bt_measure *measure, const struct bt_pod *pod, int64_t wait_ns, bool is_pending)
{
	struct bt_measured_group *groups[] = {
		find_priority(measure, bt_pod_priority(pod)), find_owner(measure, pod)};
	bt_waits_add(&measure->waits, wait_ns);
	for (size_t i = 0; i < BT_ARRAY_LENGTH(groups); i++) {
		bt_waits_add(&groups[i]->waits, wait_ns);
		groups[i]->pending += is_pending;
	}
}

/** --- the sink --- */

/**
 * Returns the record of pods with this request, or NULL if there are too many different requests.
 */
static struct bt_measured_request *find_request(
	struct bt_measure *measure, const struct bt_resource *request)
{
	uint64_t hash = bt_hash_u64((uint64_t)request->cpu_milli, (uint64_t)request->memory_bytes);
	for (uint32_t i = 0; i < request->scalar_count; i++) {
		hash = bt_hash_u64(hash, bt_str_hash(request->scalars[i].name));
		hash = bt_hash_u64(hash, (uint64_t)request->scalars[i].value);
	}
	BT_MAP_EACH (&measure->request_map, hash, index) {
		struct bt_measured_request *known = &measure->requests.items[index];
		bool is_same = known->request.cpu_milli == request->cpu_milli &&
			known->request.memory_bytes == request->memory_bytes &&
			known->request.scalar_count == request->scalar_count;
		for (uint32_t i = 0; i < request->scalar_count && is_same; i++) {
			is_same = known->request.scalars[i].value == request->scalars[i].value &&
				bt_str_equal(
					known->request.scalars[i].name, request->scalars[i].name);
		}
		if (is_same) {
			return known;
		}
	}
	if (measure->requests.count == BT_MEASURE_REQUESTS_MAX) {
		return NULL;
	}
	struct bt_measured_request entry = {.request = *request};
	entry.request.scalars = BT_ARENA_NEW_ARRAY(
		&measure->arena, struct bt_scalar_resource, request->scalar_count);
	for (uint32_t i = 0; i < request->scalar_count; i++) {
		entry.request.scalars[i] = (struct bt_scalar_resource){
			bt_arena_str(&measure->arena, request->scalars[i].name),
			request->scalars[i].value};
	}
	bt_vec_push(&measure->requests, entry);
	bt_map_insert(&measure->request_map, hash, measure->requests.count - 1);
	return &measure->requests.items[measure->requests.count - 1];
}

static void take_created(void *context, const struct bt_state *state, const struct bt_pod *pod,
	int64_t time_ns BT_UNUSED)
{
	struct bt_measure *measure = context;
	struct bt_resource request = bt_pod_fit_request(pod, &state->gates, &measure->scratch);
	struct bt_measured_request *kind = find_request(measure, &request);
	if (kind != NULL) {
		kind->count++;
	}
	bt_arena_reset(&measure->scratch);
}

static void take_bound(void *context, const struct bt_replay_binding *binding)
{
	add_wait(context, binding->pod, binding->time_ns - binding->created_ns, false);
}

static void take_departed(void *context, const struct bt_replay_departure *departure)
{
	struct bt_measure *measure = context;
	bool is_lost = departure->end == BT_REPLAY_PREEMPTED || departure->end == BT_REPLAY_LOST ||
		departure->end == BT_REPLAY_EVICTED;
	if (is_lost && departure->bound_ns >= 0) {
		measure->lost_ns += (double)(departure->time_ns - departure->bound_ns);
	}
}

static void take_waiting(
	void *context, const struct bt_pod *pod, int64_t created_ns, int64_t time_ns)
{
	add_wait(context, pod, time_ns - created_ns, true);
}

/**
 * Returns whether the pod is of a DaemonSet: the DaemonSet controller sets matchFields, which name
 * one node, in the node affinity of its pods.
 */
static bool is_of_node(const struct bt_pod_spec *spec)
{
	const struct bt_node_affinity *affinity =
		spec->affinity != NULL ? spec->affinity->node_affinity : NULL;
	if (affinity == NULL || affinity->required == NULL) {
		return false;
	}
	for (uint32_t i = 0; i < affinity->required->terms.count; i++) {
		if (affinity->required->terms.items[i].match_fields.count != 0) {
			return true;
		}
	}
	return false;
}

static bool is_used(const struct bt_state *state, uint32_t slot)
{
	const struct bt_node_row *row = &state->nodes.rows[slot];
	for (uint32_t i = 0; i < row->pods.count; i++) {
		const struct bt_pod_record *pod = bt_state_pod_at(state, row->pods.items[i]);
		if (!is_of_node(&bt_shape_pod(bt_shape_at(&state->shapes, pod->shape))->spec)) {
			return true;
		}
	}
	return false;
}

/** The amounts of one resource on all nodes. */
struct column {
	struct bt_str name;
	const int64_t *allocatable;
	const int64_t *requested;
};

/**
 * Returns the column with this index: 0 is cpu, 1 is memory; the scalar resources follow in the
 * order in which they were added.
 */
static struct column column_at(const struct bt_node_table *nodes, uint32_t index)
{
	if (index == 0) {
		return (struct column){BT_STR("cpu"), nodes->allocatable[BT_CPU_MILLI],
			nodes->requested[BT_CPU_MILLI]};
	}
	if (index == 1) {
		return (struct column){BT_STR("memory"), nodes->allocatable[BT_MEMORY_BYTES],
			nodes->requested[BT_MEMORY_BYTES]};
	}
	const struct bt_scalar_column *scalar = &nodes->scalars.items[index - FIXED_COLUMNS];
	return (struct column){bt_symbol_text(nodes->symbols, scalar->name), scalar->allocatable,
		scalar->requested};
}

/** A typical request, by the node table's columns. */
struct typical {
	double share; /* pods with this request / all typical pods */
	uint32_t amount_count;
	struct {
		uint32_t column;
		int64_t amount;
	} amounts[TYPICAL_AMOUNTS_MAX];
};

static void add_amount(struct typical *typical, uint32_t column, int64_t amount)
{
	if (amount > 0 && typical->amount_count < TYPICAL_AMOUNTS_MAX) {
		typical->amounts[typical->amount_count].column = column;
		typical->amounts[typical->amount_count++].amount = amount;
	}
}

/* The request that was seen first comes first. */
BT_COMPARE(compare_requests, struct bt_measured_request *const,
	BT_ORDER_BY(BT_ORDER((*b)->count, (*a)->count), BT_ORDER(*a, *b)))

static uint32_t find_typical(const struct bt_measure *measure, const struct bt_node_table *nodes,
	struct typical typical[BT_MEASURE_TYPICAL_MAX])
{
	const struct bt_measured_request *requests[BT_MEASURE_REQUESTS_MAX];
	uint32_t count = measure->requests.count;
	double total = 0;
	for (uint32_t i = 0; i < count; i++) {
		requests[i] = &measure->requests.items[i];
	}
	qsort(requests, count, sizeof(requests[0]), compare_requests);
	count = count < BT_MEASURE_TYPICAL_MAX ? count : BT_MEASURE_TYPICAL_MAX;
	for (uint32_t i = 0; i < count; i++) {
		total += (double)requests[i]->count;
	}
	for (uint32_t i = 0; i < count; i++) {
		const struct bt_resource *request = &requests[i]->request;
		typical[i] = (struct typical){.share = (double)requests[i]->count / total};
		add_amount(&typical[i], 0, request->cpu_milli);
		add_amount(&typical[i], 1, request->memory_bytes);
		for (uint32_t k = 0; k < request->scalar_count; k++) {
			uint32_t scalar =
				bt_node_table_find_scalar(nodes, request->scalars[k].name);
			if (scalar != UINT32_MAX) {
				add_amount(&typical[i], FIXED_COLUMNS + scalar,
					request->scalars[k].value);
			}
		}
	}
	return count;
}

/** Returns the share of typical pods that do not fit on the node. */
static double find_misfits(const struct column *columns, uint32_t slot,
	const struct typical *typical, uint32_t typical_count)
{
	double share = 0;
	for (uint32_t i = 0; i < typical_count; i++) {
		for (uint32_t k = 0; k < typical[i].amount_count; k++) {
			const struct column *column = &columns[typical[i].amounts[k].column];
			if (column->allocatable[slot] - column->requested[slot] <
				typical[i].amounts[k].amount) {
				share += typical[i].share;
				break;
			}
		}
	}
	return share;
}

static double find_price(const struct bt_measure *measure, const struct bt_node_row *row)
{
	const struct bt_str *type = measure->price_count != 0
		? bt_str_map_find(&row->labels, BT_STR(INSTANCE_TYPE_LABEL))
		: NULL;
	uint32_t index = type != NULL
		? BT_STR_INDEX(measure->prices, measure->price_count, instance_type, *type)
		: measure->price_count;
	return index < measure->price_count ? measure->prices[index].per_hour : 0;
}

/** Sums of one resource over all nodes at one time. */
struct totals {
	double used;
	double capacity;
	double fragmented;
};

/** Adds a node to the totals of each resource. Returns the highest share in use. */
static double add_node(const struct column *columns, uint32_t column_count, uint32_t slot,
	double misfits, struct totals *totals)
{
	double highest = 0;
	for (uint32_t i = 0; i < column_count; i++) {
		double allocatable = (double)columns[i].allocatable[slot];
		double requested = (double)columns[i].requested[slot];
		totals[i].used += requested;
		totals[i].capacity += allocatable;
		if (allocatable > requested) {
			totals[i].fragmented += (allocatable - requested) * misfits;
		}
		if (allocatable > 0 && requested / allocatable > highest) {
			highest = requested / allocatable;
		}
	}
	return highest;
}

static void take_sample(
	void *context, const struct bt_state *state, uint32_t pending_count, int64_t time_ns)
{
	struct bt_measure *measure = context;
	const struct bt_node_table *nodes = &state->nodes;
	struct typical typical[BT_MEASURE_TYPICAL_MAX];
	struct bt_measured_sample sample = {.time_ns = time_ns,
		.pending = pending_count,
		.share_count = FIXED_COLUMNS + nodes->scalars.count};
	/* Take the cluster as it is now for all the time since the previous sample. */
	double elapsed_ns = measure->samples.count != 0
		? (double)(time_ns - measure->samples.items[measure->samples.count - 1].time_ns)
		: 0;
	uint32_t typical_count = find_typical(measure, nodes, typical);
	struct column *columns =
		BT_ARENA_NEW_ARRAY(&measure->scratch, struct column, sample.share_count);
	struct totals *totals =
		BT_ARENA_NEW_ARRAY(&measure->scratch, struct totals, sample.share_count);
	double *shares = BT_ARENA_NEW_ARRAY(&measure->arena, double, sample.share_count);
	uint8_t *heat = BT_ARENA_NEW_ARRAY(&measure->arena, uint8_t, BT_MEASURE_HEAT_ROWS);
	double heat_sums[BT_MEASURE_HEAT_ROWS] = {0};
	uint32_t heat_counts[BT_MEASURE_HEAT_ROWS] = {0};
	uint32_t never_used = 0;
	if (measure->slots_per_row == 0 && nodes->slot_count != 0) {
		measure->slots_per_row = (nodes->slot_count - 1) / BT_MEASURE_HEAT_ROWS + 1;
	}
	for (uint32_t i = 0; i < sample.share_count; i++) {
		columns[i] = column_at(nodes, i);
		totals[i] = (struct totals){0, 0, 0};
	}
	for (uint32_t slot = 0; slot < nodes->slot_count; slot++) {
		if (!nodes->rows[slot].has_node) {
			continue;
		}
		bool used = is_used(state, slot);
		double misfits = find_misfits(columns, slot, typical, typical_count);
		double highest = add_node(columns, sample.share_count, slot, misfits, totals);
		double cost = find_price(measure, &nodes->rows[slot]) * elapsed_ns / NS_PER_HOUR;
		uint32_t row = slot / measure->slots_per_row;
		row = row < BT_MEASURE_HEAT_ROWS ? row : BT_MEASURE_HEAT_ROWS - 1;
		heat_sums[row] += highest < 1 ? highest : 1;
		heat_counts[row]++;
		sample.nodes++;
		sample.used_nodes += used;
		measure->full_cost += cost;
		measure->cost += used ? cost : 0;
		struct bt_str name = bt_node_table_name(nodes, slot);
		bool was_used = bt_text_set_has(&measure->ever_used, name);
		if (used && !was_used) {
			bt_text_set_append(
				&measure->ever_used, bt_arena_str(&measure->arena, name));
		}
		never_used += !used && !was_used;
	}
	for (uint32_t i = 0; i < sample.share_count; i++) {
		if (i == measure->resources.count) {
			const struct bt_measured_resource fresh = {
				.name = bt_arena_str(&measure->arena, columns[i].name)};
			bt_vec_push(&measure->resources, fresh);
		}
		struct bt_measured_resource *resource = &measure->resources.items[i];
		shares[i] = totals[i].capacity > 0 ? totals[i].used / totals[i].capacity : 0;
		resource->used_ns += totals[i].used * elapsed_ns;
		resource->capacity_ns += totals[i].capacity * elapsed_ns;
		resource->fragmented_ns += totals[i].fragmented * elapsed_ns;
		resource->peak = shares[i] > resource->peak ? shares[i] : resource->peak;
	}
	for (uint32_t i = 0; i < BT_MEASURE_HEAT_ROWS; i++) {
		heat[i] = heat_counts[i] != 0 ? (uint8_t)(heat_sums[i] / heat_counts[i] * 100 + 0.5)
					      : UINT8_MAX;
	}
	sample.shares = shares;
	sample.heat = heat;
	measure->node_ns += (double)sample.nodes * elapsed_ns;
	measure->used_node_ns += (double)sample.used_nodes * elapsed_ns;
	measure->never_used = never_used;
	measure->most_nodes = BT_MAX(measure->most_nodes, sample.nodes);
	measure->most_used_nodes = BT_MAX(measure->most_used_nodes, sample.used_nodes);
	bt_vec_push(&measure->samples, sample);
	bt_arena_reset(&measure->scratch);
}

void bt_measure_finish(struct bt_measure *measure)
{
	bt_vec_finish(&measure->priorities);
	bt_vec_finish(&measure->owners);
	bt_text_set_finish(&measure->owner_names);
	bt_vec_finish(&measure->resources);
	bt_vec_finish(&measure->samples);
	bt_vec_finish(&measure->requests);
	bt_map_finish(&measure->request_map);
	bt_text_set_finish(&measure->ever_used);
	bt_arena_finish(&measure->scratch);
	bt_arena_finish(&measure->arena);
}

struct bt_replay_sink bt_measure_sink(struct bt_measure *measure)
{
	return (struct bt_replay_sink){.context = measure,
		.created = take_created,
		.bound = take_bound,
		.departed = take_departed,
		.waiting = take_waiting,
		.sampled = take_sample};
}

BT_COMPARE(compare_priorities, struct bt_measured_group *const,
	BT_ORDER((*b)->priority, (*a)->priority))

BT_COMPARE(compare_owners, struct bt_measured_group *const, bt_str_compare((*a)->name, (*b)->name))

void bt_measure_end(struct bt_measure *measure)
{
	if (measure->priorities.count > 1) {
		qsort(measure->priorities.items, measure->priorities.count,
			sizeof(measure->priorities.items[0]), compare_priorities);
	}
	if (measure->owners.count > 1) {
		qsort(measure->owners.items, measure->owners.count,
			sizeof(measure->owners.items[0]), compare_owners);
	}
}
