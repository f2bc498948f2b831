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

/** --- waiting times --- */

/** Of each power of two. */
#define STEPS 16
#define STEP_BITS 4
#define NS_PER_MS 1000000

void bt_waits_add(struct bt_waits *waits, int64_t wait_ns)
{
	uint64_t ms = (uint64_t)(wait_ns > 0 ? wait_ns : 0) / NS_PER_MS;
	uint32_t index = (uint32_t)ms;
	if (ms >= STEPS) {
		uint32_t power = 63U - (uint32_t)__builtin_clzll(ms);
		index = (power - STEP_BITS + 1) * STEPS +
			(uint32_t)(ms >> (power - STEP_BITS) & (STEPS - 1));
	}
	waits->buckets[index < BT_WAIT_BUCKETS ? index : BT_WAIT_BUCKETS - 1]++;
	waits->count++;
	waits->max_ns = wait_ns > waits->max_ns ? wait_ns : waits->max_ns;
}

/** The longest time that a bucket counts. */
static int64_t bucket_end_ns(uint32_t index)
{
	if (index < STEPS) {
		return (int64_t)index * NS_PER_MS;
	}
	uint32_t shift = index / STEPS - 1;
	int64_t ms = (int64_t)(index % STEPS + STEPS + 1) << shift;
	return ms < INT64_MAX / NS_PER_MS ? ms * NS_PER_MS : INT64_MAX;
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
	uint64_t hash = bt_str_hash(bt_strbuf_str(&name));
	struct bt_measured_group *group = NULL;
	BT_MAP_EACH (&measure->owner_map, hash, index) {
		if (bt_str_equal(measure->owners.items[index]->name, bt_strbuf_str(&name))) {
			group = measure->owners.items[index];
			break;
		}
	}
	if (group == NULL && measure->owners.count > BT_MEASURE_OWNERS_MAX) {
		group = measure->owners.items[BT_MEASURE_OWNERS_MAX];
	} else if (group == NULL) {
		bool is_last = measure->owners.count == BT_MEASURE_OWNERS_MAX;
		group = add_group(measure, is_last ? BT_STR("others") : bt_strbuf_str(&name), 0);
		bt_vec_push(&measure->owners, group);
		bt_map_insert(&measure->owner_map, hash, measure->owners.count - 1);
	}
	bt_strbuf_finish(&name);
	return group;
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

static void take_bound(void *context, const struct bt_replay_binding *binding)
{
	add_wait(context, binding->pod, binding->time_ns - binding->created_ns, false);
}

static void take_departed(void *context, const struct bt_replay_departure *departure)
{
	struct bt_measure *measure = context;
	bool is_lost = departure->end == BT_REPLAY_PREEMPTED || departure->end == BT_REPLAY_LOST;
	if (is_lost && departure->bound_ns >= 0) {
		measure->lost_ns += (double)(departure->time_ns - departure->bound_ns);
	}
}

static void take_waiting(
	void *context, const struct bt_pod *pod, int64_t created_ns, int64_t time_ns)
{
	add_wait(context, pod, time_ns - created_ns, true);
}

static struct bt_measured_resource *find_resource(
	struct bt_measure *measure, uint32_t index, struct bt_str name)
{
	if (index == measure->resources.count) {
		struct bt_measured_resource resource = {
			.name = bt_arena_str(&measure->arena, name)};
		bt_vec_push(&measure->resources, resource);
	}
	return &measure->resources.items[index];
}

/** A pod that its DaemonSet, or the node itself, has bound to this node by name. */
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
		if (!is_of_node(&bt_shape_at(&state->shapes, pod->shape)->pod->spec)) {
			return true;
		}
	}
	return false;
}

struct sums {
	double used;
	double capacity;
};

static struct sums sum_columns(const struct bt_state *state, const int64_t *allocatable,
	const int64_t *requested)
{
	struct sums sums = {0, 0};
	for (uint32_t slot = 0; slot < state->nodes.slot_count; slot++) {
		if (state->nodes.rows[slot].has_node) {
			sums.used += (double)requested[slot];
			sums.capacity += (double)allocatable[slot];
		}
	}
	return sums;
}

static void raise_to(uint32_t *most, uint32_t value)
{
	*most = value > *most ? value : *most;
}

static void take_sample(
	void *context, const struct bt_state *state, uint32_t pending_count, int64_t time_ns)
{
	struct bt_measure *measure = context;
	const struct bt_node_table *nodes = &state->nodes;
	struct bt_measured_sample sample = {.time_ns = time_ns, .pending = pending_count};
	const struct {
		const char *name;
		const int64_t *allocatable;
		const int64_t *requested;
	} columns[] = {{"cpu", nodes->allocatable_cpu_milli, nodes->requested_cpu_milli},
		{"memory", nodes->allocatable_memory_bytes, nodes->requested_memory_bytes}};
	const uint32_t fixed = (uint32_t)BT_ARRAY_LENGTH(columns);
	/* The time since the sample before counts as it is now. */
	const struct bt_measured_sample *last = measure->samples.count != 0
		? &measure->samples.items[measure->samples.count - 1]
		: NULL;
	double elapsed_ns = last != NULL ? (double)(time_ns - last->time_ns) : 0;
	for (uint32_t slot = 0; slot < nodes->slot_count; slot++) {
		if (nodes->rows[slot].has_node) {
			sample.nodes++;
			sample.used_nodes += is_used(state, slot);
		}
	}
	sample.share_count = fixed + nodes->scalars.count;
	double *shares = BT_ARENA_NEW_ARRAY(&measure->arena, double, sample.share_count);
	for (uint32_t i = 0; i < sample.share_count; i++) {
		const struct bt_scalar_column *scalar =
			i < fixed ? NULL : &nodes->scalars.items[i - fixed];
		struct sums sums = scalar == NULL
			? sum_columns(state, columns[i].allocatable, columns[i].requested)
			: sum_columns(state, scalar->allocatable, scalar->requested);
		struct bt_measured_resource *resource = find_resource(measure, i,
			scalar == NULL ? bt_str_from(columns[i].name)
				       : bt_symbol_text(nodes->symbols, scalar->name));
		shares[i] = sums.capacity > 0 ? sums.used / sums.capacity : 0;
		resource->used_ns += sums.used * elapsed_ns;
		resource->capacity_ns += sums.capacity * elapsed_ns;
		resource->peak = shares[i] > resource->peak ? shares[i] : resource->peak;
	}
	sample.shares = shares;
	measure->node_ns += (double)sample.nodes * elapsed_ns;
	measure->used_node_ns += (double)sample.used_nodes * elapsed_ns;
	raise_to(&measure->most_nodes, sample.nodes);
	raise_to(&measure->most_used_nodes, sample.used_nodes);
	raise_to(&measure->most_pending, pending_count);
	bt_vec_push(&measure->samples, sample);
}

void bt_measure_init(struct bt_measure *measure)
{
	*measure = (struct bt_measure){0};
	bt_arena_init(&measure->arena, 0);
}

void bt_measure_finish(struct bt_measure *measure)
{
	bt_vec_finish(&measure->priorities);
	bt_vec_finish(&measure->owners);
	bt_map_finish(&measure->owner_map);
	bt_vec_finish(&measure->resources);
	bt_vec_finish(&measure->samples);
	bt_arena_finish(&measure->arena);
}

void bt_measure_follow(struct bt_measure *measure, struct bt_replay_sink *out_sink)
{
	*out_sink = (struct bt_replay_sink){.context = measure};
	out_sink->bound = take_bound;
	out_sink->departed = take_departed;
	out_sink->waiting = take_waiting;
	out_sink->sampled = take_sample;
}

static int compare_priorities(const void *a, const void *b)
{
	const struct bt_measured_group *first = *(struct bt_measured_group *const *)a;
	const struct bt_measured_group *second = *(struct bt_measured_group *const *)b;
	return first->priority > second->priority ? -1 : first->priority < second->priority;
}

static int compare_owners(const void *a, const void *b)
{
	const struct bt_measured_group *first = *(struct bt_measured_group *const *)a;
	const struct bt_measured_group *second = *(struct bt_measured_group *const *)b;
	return bt_str_compare(first->name, second->name);
}

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
