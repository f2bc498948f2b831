/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The loops of common_resource_score.h, compiled once for every processor and, on x86-64, also for
 * AVX2 and AVX-512. The macro BT_KERNELS is the name of the table. All variants give bit-identical
 * results: every operation is an IEEE double operation, and the only fused operations are those in
 * divide(), whose result equals that of a division. -ffp-contract=off keeps compilers from fusing
 * other operations.
 */
#include <math.h>

#include "base/assert.h"
#include "base/wrap.h"
#include "plugins/common_resource_score.h"

/** Slots per block: the intermediate arrays of a block stay in the first-level cache. */
#define BLOCK 128

/**
 * Convert an integer in [0, 2^52) to double by its bits: the double 2^52 + value has value as its
 * mantissa. Unlike a conversion instruction, this computation can be vectorised with the baseline
 * instruction set.
 */
BT_ALWAYS_INLINE double narrow_to_double(int64_t value)
{
#ifdef __AVX512DQ__
	return (double)value; /* AVX512DQ has an instruction for this */
#else
	union {
		uint64_t bits;
		double number;
	} shifted = {.bits = (uint64_t)value | UINT64_C(0x4330000000000000)};
	return shifted.number - 0x1p52;
#endif
}

/**
 * Returns amount / capacity, correctly rounded. inverse is the correctly rounded 1 / capacity. If
 * capacity is 0, returns 0 with fused operations (inverse is then 0), and returns amount without
 * fused operations.
 *
 * With fused operations there is no division, and the result is exact for integers amount in [0,
 * 2^52) and capacity in [0, 2^44): the first product is off by at most two units in the last place,
 * so the remainder fits a double exactly. The quotient of the remainder is off by less than 2^-51
 * units, while a quotient of such integers is at least 2^-46 units away from any rounding boundary.
 */
BT_ALWAYS_INLINE double divide(double amount, double capacity, double inverse)
{
#ifdef FP_FAST_FMA
	double product = amount * inverse;
	return fma(fma(-product, capacity, amount), inverse, product);
#else
	(void)inverse; /* without fused operations, a division is the fastest way */
	return amount / (capacity > 0 ? capacity : 1);
#endif
}

/** One resource of one block of slots. */
struct block_column {
	const int64_t *allocatable;
	const int64_t *used;
	const double *inverse; /* inverses of allocatable */
	double request;
	double weight;
};

static struct block_column block_of(const struct bt_resource_column *column, uint32_t first_slot,
	uint32_t count, double *inverses)
{
	struct block_column block = {
		.allocatable = column->allocatable + first_slot,
		.used = column->used + first_slot,
		.inverse = inverses,
		.request = narrow_to_double(column->request),
		.weight = column->weight,
	};
	if (column->inverse != NULL) {
		block.inverse = column->inverse + first_slot;
	} else {
		for (uint32_t i = 0; i < count; i++) {
			double amount = narrow_to_double(block.allocatable[i]);
			inverses[i] = amount > 0 ? 1 / amount : 0;
		}
	}
	return block;
}

/** floor() for amounts in [0, 2^31). */
BT_ALWAYS_INLINE double truncated(double amount)
{
#ifdef FP_FAST_FMA
	return floor(amount); /* one instruction on processors with fused operations */
#else
	return (double)(int32_t)amount;
#endif
}

/**
 * Returns the points (0 to 100) of one resource of one node: the free share or, with `most`, the
 * used share. The result is truncated, so one multiplication by the inverse gives the integer
 * quotient: adding 0.5 keeps the exact quotient away from every integer by at least 0.5 / capacity,
 * which is more than 2^-45. The two roundings of a value of at most 100.5 cause a smaller error.
 */
BT_ALWAYS_INLINE double allocation_points(
	double capacity, double used, double inverse, double request, bool most)
{
	double wanted = used + request;
	wanted = wanted < capacity ? wanted : capacity;
	double counted = most ? wanted : capacity - wanted;
	return truncated((counted * 100 + 0.5) * inverse);
}

/**
 * Score one resource for one block: where the node has the resource, add weight x score to sums and
 * weight to weights. Sums are doubles, far below 2^52, so that the loop has one vector width.
 */
static void add_allocation_scores(const struct block_column *column, bool most, uint32_t count,
	double *restrict sums, double *restrict weights)
{
	const int64_t *allocatable = column->allocatable;
	const int64_t *used = column->used;
	const double *inverse = column->inverse;
	double request = column->request;
	double weight = column->weight;
	for (uint32_t i = 0; i < count; i++) {
		double capacity = narrow_to_double(allocatable[i]);
		sums[i] += weight *
			allocation_points(
				capacity, narrow_to_double(used[i]), inverse[i], request, most);
		weights[i] += capacity > 0 ? weight : 0;
	}
}

/**
 * Score two resources (usually cpu and memory) in one pass. The sum of weights of a node is the
 * weight of a, the weight of b or the total of both weights, so the inverses of these three sums
 * are computed once.
 */
BT_ALWAYS_INLINE void allocation_pair(const struct block_column *a, const struct block_column *b,
	bool most, uint32_t count, int32_t *restrict scores)
{
	const int64_t *allocatable_a = a->allocatable;
	const int64_t *allocatable_b = b->allocatable;
	const int64_t *used_a = a->used;
	const int64_t *used_b = b->used;
	const double *inverse_a = a->inverse;
	const double *inverse_b = b->inverse;
	double request_a = a->request;
	double request_b = b->request;
	double weight_a = a->weight;
	double weight_b = b->weight;
	double share_a = weight_a > 0 ? 1 / weight_a : 0;
	double share_b = weight_b > 0 ? 1 / weight_b : 0;
	double share = weight_a + weight_b > 0 ? 1 / (weight_a + weight_b) : 0;
	for (uint32_t i = 0; i < count; i++) {
		double capacity_a = narrow_to_double(allocatable_a[i]);
		double capacity_b = narrow_to_double(allocatable_b[i]);
		double sum = weight_a *
				allocation_points(capacity_a, narrow_to_double(used_a[i]),
					inverse_a[i], request_a, most) +
			weight_b *
				allocation_points(capacity_b, narrow_to_double(used_b[i]),
					inverse_b[i], request_b, most);
		double only = capacity_a > 0 ? share_a : share_b;
		bool both = (capacity_a > 0) & (capacity_b > 0);
		double inverse = both ? share : only;
		/*
		 * The quotient is exact for the same reason as in allocation_points. Sums are at
		 * most 100 x 200.
		 */
		scores[i] = (int32_t)((sum + 0.5) * inverse);
	}
}

/** Options of a score_block_fn. */
struct score_options {
	uint32_t column_count;
	bool most; /* for allocation: score the used share instead of the free share */
	/**
	 * For balanced: the balance without the pod, by slot. NULL: the kernel computes this
	 * balance.
	 */
	const int32_t *before;
};

/** Scores `count` slots from first_slot on. scores[0] is the score of first_slot. */
typedef void score_block_fn(const struct bt_resource_column *columns,
	const struct score_options *options, uint32_t first_slot, uint32_t count, int32_t *scores);

static void allocation_block(const struct bt_resource_column *columns,
	const struct score_options *options, uint32_t first_slot, uint32_t count, int32_t *scores)
{
	double inverses_a[BLOCK];
	double inverses_b[BLOCK];
	if (options->column_count == 2) {
		struct block_column a = block_of(&columns[0], first_slot, count, inverses_a);
		struct block_column b = block_of(&columns[1], first_slot, count, inverses_b);
		if (options->most) {
			allocation_pair(&a, &b, true, count, scores);
		} else {
			allocation_pair(&a, &b, false, count, scores);
		}
		return;
	}
	double sums[BLOCK] = {0};
	double weights[BLOCK] = {0};
	for (uint32_t c = 0; c < options->column_count; c++) {
		struct block_column column = block_of(&columns[c], first_slot, count, inverses_a);
		add_allocation_scores(&column, options->most, count, sums, weights);
	}
	for (uint32_t i = 0; i < count; i++) {
		double divisor = weights[i] > 0 ? weights[i] : 1;
		scores[i] = (int32_t)(sums[i] / divisor);
	}
}

/** Scores a range in blocks, or the slots of a list one by one. scores is indexed by slot. */
BT_ALWAYS_INLINE void score_range(score_block_fn *score_block,
	const struct bt_resource_column *columns, const struct score_options *options,
	struct bt_slot_range range, int32_t *scores)
{
	for (uint32_t k = 0; range.slots != NULL && k < range.count; k++) {
		uint32_t slot = range.slots[k];
		score_block(columns, options, slot, 1, &scores[slot]);
	}
	for (uint32_t first = 0; range.slots == NULL && first < range.count; first += BLOCK) {
		uint32_t count = range.count - first < BLOCK ? range.count - first : BLOCK;
		uint32_t slot = range.first + first;
		score_block(columns, options, slot, count, &scores[slot]);
	}
}

static void allocation_score_column(const struct bt_resource_column *columns, uint32_t column_count,
	bool most, struct bt_slot_range range, int32_t *scores)
{
	const struct score_options options = {.column_count = column_count, .most = most};
	score_range(allocation_block, columns, &options, range, scores);
}

/**
 * Returns the balance of two fractions: 100 x (1 - half of their difference), truncated; 100 unless
 * the node has both resources. Spec 05 section 12.3 for two resources.
 */
BT_ALWAYS_INLINE int32_t balance_of_fractions(double fraction_a, double fraction_b, bool both)
{
	double distance = both ? fabs((fraction_a - fraction_b) / 2) : 0;
	return (int32_t)((1 - distance) * 100);
}

BT_ALWAYS_INLINE double divide_up_to_one(double amount, double capacity, double inverse)
{
	double exact = divide(amount, capacity, inverse);
	return exact < 1.0 ? exact : 1.0;
}

/**
 * Score one block. before: the balances without the pod, from which the scores are computed. If
 * before is NULL, store the balances with the pod in `scores` instead.
 */
BT_ALWAYS_INLINE void balance_block(const struct block_column *a, const struct block_column *b,
	uint32_t count, const int32_t *before, int32_t *restrict scores)
{
	const int64_t *allocatable_a = a->allocatable;
	const int64_t *allocatable_b = b->allocatable;
	const int64_t *used_a = a->used;
	const int64_t *used_b = b->used;
	const double *inverse_a = a->inverse;
	const double *inverse_b = b->inverse;
	double request_a = a->request;
	double request_b = b->request;
	for (uint32_t i = 0; i < count; i++) {
		double capacity_a = narrow_to_double(allocatable_a[i]);
		double capacity_b = narrow_to_double(allocatable_b[i]);
		double amount_a = narrow_to_double(used_a[i]);
		double amount_b = narrow_to_double(used_b[i]);
		bool both = (capacity_a > 0) & (capacity_b > 0);
		int32_t after = balance_of_fractions(
			divide_up_to_one(amount_a + request_a, capacity_a, inverse_a[i]),
			divide_up_to_one(amount_b + request_b, capacity_b, inverse_b[i]), both);
		scores[i] = before != NULL ? 50 + (50 + after - before[i]) / 2 : after;
	}
}

static void balance_column(
	const struct bt_resource_column columns[2], struct bt_slot_range range, int32_t *balances)
{
	double inverses_a[BLOCK];
	double inverses_b[BLOCK];
	BT_ASSERT(range.slots == NULL);
	for (uint32_t first = 0; first < range.count; first += BLOCK) {
		uint32_t count = range.count - first < BLOCK ? range.count - first : BLOCK;
		uint32_t slot = range.first + first;
		struct block_column a = block_of(&columns[0], slot, count, inverses_a);
		struct block_column b = block_of(&columns[1], slot, count, inverses_b);
		balance_block(&a, &b, count, NULL, &balances[slot]);
	}
}

static void balanced_block(const struct bt_resource_column *columns,
	const struct score_options *options, uint32_t first_slot, uint32_t count, int32_t *scores)
{
	double inverses_a[BLOCK];
	double inverses_b[BLOCK];
	int32_t computed[BLOCK];
	struct block_column a = block_of(&columns[0], first_slot, count, inverses_a);
	struct block_column b = block_of(&columns[1], first_slot, count, inverses_b);
	const int32_t *before = computed;
	if (options->before != NULL) {
		before = options->before + first_slot;
	} else {
		struct block_column unused_a = a;
		struct block_column unused_b = b;
		unused_a.request = 0;
		unused_b.request = 0;
		balance_block(&unused_a, &unused_b, count, NULL, computed);
	}
	balance_block(&a, &b, count, before, scores);
}

static void balanced_score_column(const struct bt_resource_column *columns, uint32_t column_count,
	const int32_t *before, struct bt_slot_range range, int32_t *scores)
{
	BT_ASSERT(column_count <= 2);
	if (column_count < 2) {
		/*
		 * With fewer than two fractions the balance is always perfect, so the score is
		 * constant.
		 */
		for (uint32_t k = 0; k < range.count; k++) {
			scores[range.slots == NULL ? range.first + k : range.slots[k]] = 75;
		}
		return;
	}
	const struct score_options options = {.column_count = 2, .before = before};
	score_range(balanced_block, columns, &options, range, scores);
}

/**
 * Returns the detail bits of one resource on one node; 0: the free amount suffices. Free amounts
 * wrap as with bt_wrap_sub.
 */
BT_ALWAYS_INLINE uint32_t lacking_bits(
	int64_t request, int64_t allocatable, int64_t requested, uint32_t bits)
{
	int64_t free_amount = (int64_t)((uint64_t)allocatable - (uint64_t)requested);
	uint32_t found = request > free_amount ? bits : 0;
	return request > allocatable ? found : found & ~BT_LACK_UNRESOLVABLE;
}

static uint32_t add_lack(const struct bt_lack_column *column, uint32_t first_slot, uint32_t count,
	uint32_t *restrict details)
{
	const int64_t *restrict allocatable = column->allocatable + first_slot;
	const int64_t *restrict requested = column->requested + first_slot;
	int64_t request = column->request;
	uint32_t bits = column->bit | BT_LACK_UNRESOLVABLE;
	uint32_t any = 0;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t found = lacking_bits(request, allocatable[i], requested[i], bits);
		details[i] |= found;
		any |= found;
	}
	return any;
}

static uint32_t lack_block(const struct bt_lack_column *pods, const struct bt_lack_column *columns,
	uint32_t column_count, uint32_t first_slot, uint32_t count, uint32_t *restrict details)
{
	const int64_t *pod_counts = pods->requested + first_slot;
	const int64_t *limits = pods->allocatable + first_slot;
	uint32_t bit = pods->bit;
	uint32_t any = 0;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t found = pod_counts[i] >= limits[i] ? bit : 0;
		details[i] = found;
		any |= found;
	}
	for (uint32_t c = 0; c < column_count; c++) {
		any |= add_lack(&columns[c], first_slot, count, details);
	}
	return any;
}

static bool lack_column(const struct bt_lack_column *pods, const struct bt_lack_column *columns,
	uint32_t column_count, struct bt_slot_range range, uint32_t *details)
{
	uint32_t any = 0;
	for (uint32_t k = 0; range.slots != NULL && k < range.count; k++) {
		uint32_t slot = range.slots[k];
		any |= lack_block(pods, columns, column_count, slot, 1, &details[slot]);
	}
	for (uint32_t first = 0; range.slots == NULL && first < range.count; first += BLOCK) {
		uint32_t count = range.count - first < BLOCK ? range.count - first : BLOCK;
		uint32_t slot = range.first + first;
		any |= lack_block(pods, columns, column_count, slot, count, &details[slot]);
	}
	return any != 0;
}

const struct bt_resource_kernels BT_KERNELS = {
	allocation_score_column, balance_column, balanced_score_column, lack_column};
