/* SPDX-License-Identifier: Apache-2.0 */
#include "plugins/common_resource_columns.h"

#include <math.h>

#include "base/assert.h"

/** Slots per block: the intermediate arrays of a block stay in the first-level cache. */
#define BLOCK 128

/**
 * Double of an integer in [0, 2^52) by its bits: 2^52 + value has value as its mantissa. Unlike a conversion instruction
 * this works on vectors of the baseline instruction set.
 */
BT_ALWAYS_INLINE double narrow_to_double(int64_t value)
{
	union {
		uint64_t bits;
		double number;
	} shifted = {.bits = (uint64_t)value | UINT64_C(0x4330000000000000)};
	return shifted.number - 0x1p52;
}

bool bt_requests_are_narrow(const int64_t *requests, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		if (requests[i] < 0 || requests[i] >= BT_NARROW_AMOUNT_MAX) {
			return false;
		}
	}
	return true;
}

static struct bt_resource_column column_of(const struct bt_node_table *nodes,
	const struct bt_scored_resource *resource, enum bt_score_usage usage)
{
	bool non_zero = usage == BT_SCORE_NON_ZERO;
	switch (resource->kind) {
	case BT_SCORED_CPU:
		return (struct bt_resource_column){.allocatable = nodes->allocatable_cpu_milli,
			.used = non_zero ? nodes->non_zero_cpu_milli : nodes->requested_cpu_milli};
	case BT_SCORED_MEMORY:
		return (struct bt_resource_column){.allocatable = nodes->allocatable_memory_bytes,
			.used = non_zero ? nodes->non_zero_memory_bytes : nodes->requested_memory_bytes};
	case BT_SCORED_EPHEMERAL_STORAGE:
		return (struct bt_resource_column){.allocatable = nodes->allocatable_ephemeral_bytes,
			.used = nodes->requested_ephemeral_bytes};
	case BT_SCORED_SCALAR:
		return (struct bt_resource_column){
			.allocatable = nodes->scalars.items[resource->column].allocatable,
			.used = nodes->scalars.items[resource->column].requested};
	case BT_SCORED_UNTRACKED:
		break;
	}
	return (struct bt_resource_column){0};
}

bool bt_resource_columns_collect(const struct bt_scored_resources *resources, const int64_t *requests,
	const struct bt_state *state, enum bt_score_usage usage, struct bt_resource_column *out_columns,
	uint32_t *out_count)
{
	uint32_t count = 0;
	if (resources->count > BT_RESOURCE_COLUMNS_MAX) {
		return false;
	}
	for (uint32_t i = 0; i < resources->count; i++) {
		const struct bt_scored_resource *resource = &resources->items[i];
		if (resource->weight < 0 || resource->weight > BT_SCORE_MAX) {
			return false;
		}
		if (resource->kind == BT_SCORED_UNTRACKED ||
			(resource->kind == BT_SCORED_SCALAR && requests[i] == 0)) {
			continue;
		}
		out_columns[count] = column_of(&state->nodes, resource, usage);
		out_columns[count].request = requests[i];
		out_columns[count].weight = (int32_t)resource->weight;
		count++;
	}
	*out_count = count;
	return true;
}

/**
 * One block of one resource: adds weight x score to sums and weight to weights where the node has the resource. Sums are
 * doubles to keep one vector width in the loop; they stay far below 2^52.
 */
static void add_allocation_scores(const struct bt_resource_column *column, bool most, const int64_t *allocatable,
	const int64_t *used, uint32_t count, double *restrict sums, double *restrict weights)
{
	double request = narrow_to_double(column->request);
	double weight = column->weight;
	for (uint32_t i = 0; i < count; i++) {
		double capacity = narrow_to_double(allocatable[i]);
		double wanted = narrow_to_double(used[i]) + request;
		double divisor = capacity > 0 ? capacity : 1;
		wanted = wanted < capacity ? wanted : capacity;
		double counted = most ? wanted : capacity - wanted;
		double score = (double)(int32_t)(counted * 100 / divisor);
		sums[i] += weight * score;
		weights[i] += capacity > 0 ? weight : 0;
	}
}

static void divide_by_weights(const double *sums, const double *weights, uint32_t count, int32_t *restrict scores)
{
	for (uint32_t i = 0; i < count; i++) {
		double divisor = weights[i] > 0 ? weights[i] : 1;
		scores[i] = (int32_t)(sums[i] / divisor);
	}
}

static void allocation_block(const struct bt_resource_column *columns, uint32_t column_count, bool most,
	uint32_t first_slot, uint32_t count, int32_t *scores)
{
	double sums[BLOCK] = {0};
	double weights[BLOCK] = {0};
	for (uint32_t c = 0; c < column_count; c++) {
		add_allocation_scores(&columns[c], most, columns[c].allocatable + first_slot,
			columns[c].used + first_slot, count, sums, weights);
	}
	divide_by_weights(sums, weights, count, scores);
}

void bt_allocation_score_column(const struct bt_resource_column *columns, uint32_t column_count, bool most,
	struct bt_slot_range range, int32_t *scores)
{
	if (range.slots != NULL) {
		for (uint32_t k = 0; k < range.count; k++) {
			uint32_t slot = range.slots[k];
			allocation_block(columns, column_count, most, slot, 1, &scores[slot]);
		}
		return;
	}
	for (uint32_t first = 0; first < range.count; first += BLOCK) {
		uint32_t count = range.count - first < BLOCK ? range.count - first : BLOCK;
		allocation_block(columns, column_count, most, first, count, &scores[first]);
	}
}

/** 100 x (1 - half the distance of two fractions), truncated; spec 05 section 12.3 for two resources. */
BT_ALWAYS_INLINE int32_t balance(double fraction_a, double fraction_b, bool both)
{
	double distance = both ? fabs((fraction_a - fraction_b) / 2) : 0;
	return (int32_t)((1 - distance) * 100);
}

BT_ALWAYS_INLINE double fraction(double amount, double divisor)
{
	double quotient = amount / divisor;
	return quotient < 1.0 ? quotient : 1.0;
}

static void balanced_block(const struct bt_resource_column *a, const struct bt_resource_column *b, uint32_t first_slot,
	uint32_t count, int32_t *restrict scores)
{
	const int64_t *allocatable_a = a->allocatable + first_slot;
	const int64_t *allocatable_b = b->allocatable + first_slot;
	const int64_t *used_a = a->used + first_slot;
	const int64_t *used_b = b->used + first_slot;
	double request_a = narrow_to_double(a->request);
	double request_b = narrow_to_double(b->request);
	for (uint32_t i = 0; i < count; i++) {
		double capacity_a = narrow_to_double(allocatable_a[i]);
		double capacity_b = narrow_to_double(allocatable_b[i]);
		double amount_a = narrow_to_double(used_a[i]);
		double amount_b = narrow_to_double(used_b[i]);
		bool both = (capacity_a > 0) & (capacity_b > 0);
		double divisor_a = capacity_a > 0 ? capacity_a : 1;
		double divisor_b = capacity_b > 0 ? capacity_b : 1;
		int32_t after = balance(fraction(amount_a + request_a, divisor_a),
			fraction(amount_b + request_b, divisor_b), both);
		int32_t before = balance(fraction(amount_a, divisor_a), fraction(amount_b, divisor_b), both);
		scores[i] = 50 + (50 + after - before) / 2;
	}
}

void bt_balanced_score_column(const struct bt_resource_column *columns, uint32_t column_count,
	struct bt_slot_range range, int32_t *scores)
{
	BT_ASSERT(column_count <= 2);
	if (column_count < 2) {
		/* With fewer than two fractions the balance is always perfect. */
		for (uint32_t k = 0; k < range.count; k++) {
			scores[range.slots == NULL ? k : range.slots[k]] = 75;
		}
		return;
	}
	if (range.slots != NULL) {
		for (uint32_t k = 0; k < range.count; k++) {
			balanced_block(&columns[0], &columns[1], range.slots[k], 1, &scores[range.slots[k]]);
		}
		return;
	}
	balanced_block(&columns[0], &columns[1], 0, range.count, scores);
}
