/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/assert.h"
#include "base/cpu.h"
#include "sched/plan_kernels.h"
#include "sched/plan_private.h"

/** A plan further behind than this share of the slots is computed anew: a full pass is cheaper than
 * many repairs. */
#define REPAIR_SHARE 8

const struct bt_plan_kernels *bt_plan_kernels_for_cpu(void)
{
#ifdef BT_HAVE_AVX2_KERNELS
	if (bt_cpu_has_avx2()) {
		return &bt_plan_kernels_avx2;
	}
#endif
	return &bt_plan_kernels_plain;
}

static void reserve_columns(struct bt_plan_cache *cache, struct bt_plan *plan, uint32_t slot_count)
{
	if (plan->verdict == NULL || plan->block_slots < slot_count) {
		bt_plan_drop_columns(cache, plan);
		plan->block_slots = cache->block_slots;
		plan->verdict = bt_plan_take_block(cache);
	}
	plan->slot_count = slot_count;
}

/** Verdicts of the slots in range, which the caller preset to 0 or OUTSIDE. */
static void evaluate_filters(struct bt_plan *plan, struct bt_engine *engine,
	const struct bt_pod_info *pod, struct bt_slot_range range)
{
	uint32_t *detail = engine->plans->detail;
	uint32_t *verdict = plan->verdict;
	for (uint32_t i = 0; i < plan->filter_count; i++) {
		const struct bt_plan_filter *filter = &plan->filters[i];
		if (filter->form != BT_FILTER_COLUMN) {
			continue;
		}
		uint32_t tag = (i + 1) << BT_VERDICT_DETAIL_BITS;
		bool rejects = filter->plugin->ops->filter_column(filter->plugin,
			plan->template.pre_filter_data[filter->plugin->index], pod, engine->state,
			range, detail);
		if (!rejects) {
			continue;
		}
		if (range.slots == NULL) {
			bt_plan_kernels_for_cpu()->merge_verdicts(
				verdict, detail, tag, range.count);
		} else {
			for (uint32_t k = 0; k < range.count; k++) {
				uint32_t slot = range.slots[k];
				if (verdict[slot] == 0 && detail[slot] != 0) {
					verdict[slot] = tag | detail[slot];
				}
			}
		}
	}
}

/** A verdict is there, or no longer is: one more or less of its filter's. */
static inline void count_rejection(const struct bt_plan *plan, uint32_t verdict, int32_t by)
{
	if (plan->rejected != NULL && verdict != 0 && verdict != BT_VERDICT_OUTSIDE) {
		plan->rejected[(verdict >> BT_VERDICT_DETAIL_BITS) - 1] += (uint32_t)by;
	}
}

static void count_rejections(const struct bt_plan *plan, uint32_t node_count)
{
	if (plan->rejected == NULL) {
		return;
	}
	memset(plan->rejected, 0, plan->filter_count * sizeof(*plan->rejected));
	if (plan->feasible_count == node_count) {
		return;
	}
	for (uint32_t slot = 0; slot < plan->slot_count; slot++) {
		count_rejection(plan, plan->verdict[slot], 1);
	}
}

static void recompute_verdicts(
	struct bt_plan *plan, struct bt_engine *engine, const struct bt_pod_info *pod)
{
	const struct bt_snapshot *snapshot = &engine->state->snapshot;
	uint32_t slot_count = engine->state->nodes.slot_count;
	reserve_columns(engine->plans, plan, slot_count);
	memset(plan->verdict, 0xff, (size_t)slot_count * sizeof(*plan->verdict));
	for (uint32_t i = 0; i < snapshot->count; i++) {
		plan->verdict[snapshot->list[i]] = 0;
	}
	evaluate_filters(plan, engine, pod, (struct bt_slot_range){NULL, slot_count});
	plan->feasible_count = bt_plan_kernels_for_cpu()->count_feasible(plan->verdict, slot_count);
	count_rejections(plan, snapshot->count);
	plan->scored = false;
}

static void evaluate_scores(struct bt_plan *plan, struct bt_engine *engine,
	const struct bt_pod_info *pod, struct bt_slot_range range)
{
	const struct bt_state *state = engine->state;
	int32_t *scores = engine->plans->scores;
	int32_t base = (int32_t)plan->constant_score;
	for (uint32_t k = 0; k < range.count; k++) {
		plan->local[range.slots == NULL ? k : range.slots[k]] = base;
	}
	for (uint32_t i = 0; i < plan->local_score_count; i++) {
		struct bt_plugin *plugin = plan->local_scores[i].plugin;
		int32_t weight = (int32_t)plan->local_scores[i].weight;
		plugin->ops->score_column(
			plugin, bt_plan_score_data(plan, plugin), pod, state, range, scores);
		if (range.slots == NULL) {
			bt_plan_kernels_for_cpu()->add_weighted(
				plan->local, scores, weight, range.count);
		} else {
			for (uint32_t k = 0; k < range.count; k++) {
				plan->local[range.slots[k]] += weight * scores[range.slots[k]];
			}
		}
	}
	for (uint32_t i = 0; i < plan->raw_count; i++) {
		struct bt_plugin *plugin = plan->raws[i].plugin;
		plugin->ops->score_column(plugin, bt_plan_score_data(plan, plugin), pod, state,
			range, plan->raws[i].values);
	}
}

static void find_raw_max(struct bt_plan *plan, struct bt_plan_raw *raw)
{
	const struct bt_plan_kernels *kernels = bt_plan_kernels_for_cpu();
	raw->max = kernels->max_feasible(raw->values, plan->verdict, plan->slot_count);
	raw->max_count =
		kernels->count_equal(raw->values, plan->verdict, raw->max, plan->slot_count);
}

/** total += weighted normalised raw. Raws repeat: beyond a few values a table saves a division for
 * every slot. */
static void add_normalized(
	struct bt_plan_cache *cache, struct bt_plan *plan, const struct bt_plan_raw *raw)
{
	int32_t *table = cache->scores;
	bool tabled = (uint32_t)raw->max < cache->scratch_slots;
	for (int32_t value = 0; tabled && value <= raw->max; value++) {
		table[value] = raw->weight * bt_plan_normalized(value, raw->max, raw->reverse);
	}
	for (uint32_t slot = 0; slot < plan->slot_count; slot++) {
		if (plan->verdict[slot] != 0) {
			continue;
		}
		int32_t value = raw->values[slot];
		plan->total[slot] += tabled
			? table[value]
			: raw->weight * bt_plan_normalized(value, raw->max, raw->reverse);
	}
}

static void recompute_totals(struct bt_plan_cache *cache, struct bt_plan *plan)
{
	int32_t base = 0;
	for (uint32_t i = 0; i < plan->raw_count; i++) {
		if (plan->raws[i].max == 0) {
			base += plan->raws[i].weight *
				bt_plan_normalized(0, 0, plan->raws[i].reverse);
		}
	}
	bt_plan_kernels_for_cpu()->start_totals(
		plan->total, plan->local, plan->verdict, base, plan->slot_count);
	for (uint32_t i = 0; i < plan->raw_count; i++) {
		if (plan->raws[i].max != 0) {
			add_normalized(cache, plan, &plan->raws[i]);
		}
	}
	plan->totals_stale = false;
}

static void recompute_scores(
	struct bt_plan *plan, struct bt_engine *engine, const struct bt_pod_info *pod)
{
	if (plan->local == NULL) {
		plan->local = bt_plan_take_block(engine->plans);
		plan->total = bt_plan_take_block(engine->plans);
		for (uint32_t i = 0; i < plan->raw_count; i++) {
			plan->raws[i].values = bt_plan_take_block(engine->plans);
		}
	}
	evaluate_scores(plan, engine, pod, (struct bt_slot_range){NULL, plan->slot_count});
	for (uint32_t i = 0; i < plan->raw_count; i++) {
		find_raw_max(plan, &plan->raws[i]);
	}
	plan->node_count = engine->state->snapshot.count;
	plan->scored = true;
	plan->totals_stale = true;
}

/** The slot's old contribution leaves the maxima. */
static void leave_maxima(struct bt_plan *plan, uint32_t slot)
{
	for (uint32_t i = 0; i < plan->raw_count; i++) {
		struct bt_plan_raw *raw = &plan->raws[i];
		if (raw->values[slot] == raw->max) {
			raw->max_count--;
		}
	}
}

static void enter_maxima(struct bt_plan *plan, uint32_t slot)
{
	for (uint32_t i = 0; i < plan->raw_count; i++) {
		struct bt_plan_raw *raw = &plan->raws[i];
		if (raw->values[slot] == raw->max) {
			raw->max_count++;
		} else if (raw->values[slot] > raw->max) {
			raw->max = raw->values[slot];
			raw->max_count = 1;
			plan->totals_stale = true;
		}
	}
}

static void repair_total(struct bt_plan *plan, uint32_t slot)
{
	if (plan->verdict[slot] != 0) {
		plan->total[slot] = BT_TOTAL_INFEASIBLE;
		return;
	}
	int32_t total = plan->local[slot];
	for (uint32_t i = 0; i < plan->raw_count; i++) {
		const struct bt_plan_raw *raw = &plan->raws[i];
		total +=
			raw->weight * bt_plan_normalized(raw->values[slot], raw->max, raw->reverse);
	}
	plan->total[slot] = total;
}

static void repair_slot(struct bt_plan *plan, struct bt_engine *engine,
	const struct bt_pod_info *pod, uint32_t slot)
{
	bool was_feasible = plan->verdict[slot] == 0;
	if (plan->scored && was_feasible) {
		leave_maxima(plan, slot);
	}
	struct bt_slot_range range = {&slot, 1};
	count_rejection(plan, plan->verdict[slot], -1);
	plan->verdict[slot] = engine->state->nodes.rows[slot].in_snapshot ? 0 : BT_VERDICT_OUTSIDE;
	if (plan->verdict[slot] == 0) {
		evaluate_filters(plan, engine, pod, range);
	}
	count_rejection(plan, plan->verdict[slot], 1);
	bool is_feasible = plan->verdict[slot] == 0;
	plan->feasible_count += (uint32_t)is_feasible - (uint32_t)was_feasible;
	if (!plan->scored) {
		return;
	}
	evaluate_scores(plan, engine, pod, range);
	if (is_feasible) {
		enter_maxima(plan, slot);
	}
	repair_total(plan, slot);
}

void bt_plan_catch_up(struct bt_plan *plan, struct bt_engine *engine, const struct bt_pod_info *pod)
{
	const struct bt_state *state = engine->state;
	const struct bt_change_log *log = &state->log;
	uint64_t behind = log->sequence - plan->log_sequence;
	if (plan->verdict == NULL || plan->slot_count != state->nodes.slot_count ||
		plan->list_version != state->snapshot.list_version ||
		!bt_change_log_covers(log, plan->log_sequence) ||
		behind > plan->slot_count / REPAIR_SHARE + 16) {
		recompute_verdicts(plan, engine, pod);
	} else {
		for (uint64_t i = plan->log_sequence; i < log->sequence; i++) {
			struct bt_change change = bt_change_log_at(log, i);
			if ((change.kinds & (plan->reads | BT_CHANGE_EXISTENCE)) != 0) {
				repair_slot(plan, engine, pod, change.slot);
			}
		}
	}
	plan->log_sequence = log->sequence;
	plan->list_version = state->snapshot.list_version;
}

void bt_plan_score_columns(
	struct bt_plan *plan, struct bt_engine *engine, const struct bt_pod_info *pod)
{
	if (!plan->scored ||
		(plan->reads_node_count && plan->node_count != engine->state->snapshot.count)) {
		recompute_scores(plan, engine, pod);
	}
	for (uint32_t i = 0; i < plan->raw_count; i++) {
		struct bt_plan_raw *raw = &plan->raws[i];
		if (raw->max_count == 0) {
			int32_t old_max = raw->max;
			find_raw_max(plan, raw);
			plan->totals_stale |= raw->max != old_max;
		}
	}
	if (plan->totals_stale) {
		recompute_totals(engine->plans, plan);
	}
}

const uint32_t *bt_plan_cycle_verdicts(struct bt_plan *plan, struct bt_engine *engine,
	const struct bt_cycle_state *cycle, const struct bt_pod_info *pod)
{
	struct bt_plan_cache *cache = engine->plans;
	bool copied = false;
	for (uint32_t i = 0; plan->has_cycle_filters && i < plan->filter_count; i++) {
		struct bt_plugin *plugin = plan->filters[i].plugin;
		if (plan->filters[i].form != BT_FILTER_CYCLE_COLUMN ||
			bt_plugin_set_has(&cycle->skip_filter, plugin->index)) {
			continue;
		}
		if (!copied) {
			memcpy(cache->verdict, plan->verdict,
				plan->slot_count * sizeof(*plan->verdict));
			copied = true;
		}
		struct bt_slot_range all = {NULL, plan->slot_count};
		if (plugin->ops->filter_column(plugin, cycle->pre_filter_data[plugin->index], pod,
			    engine->state, all, cache->detail)) {
			bt_plan_kernels_for_cpu()->merge_earlier(cache->verdict, cache->detail,
				(i + 1) << BT_VERDICT_DETAIL_BITS, plan->slot_count);
		}
	}
	return copied ? cache->verdict : plan->verdict;
}

struct bt_status bt_plan_verdict_status(const struct bt_plan *plan,
	const struct bt_cycle_state *cycle, const struct bt_pod_info *pod, uint32_t verdict,
	struct bt_arena *arena)
{
	BT_ASSERT(verdict != 0 && verdict != BT_VERDICT_OUTSIDE);
	uint32_t index = (verdict >> BT_VERDICT_DETAIL_BITS) - 1;
	BT_ASSERT(index < plan->filter_count);
	struct bt_plugin *plugin = plan->filters[index].plugin;
	const void *data = plan->filters[index].form == BT_FILTER_COLUMN
		? plan->template.pre_filter_data[plugin->index]
		: cycle->pre_filter_data[plugin->index];
	uint32_t detail = verdict & ((UINT32_C(1) << BT_VERDICT_DETAIL_BITS) - 1);
	struct bt_status status =
		plugin->ops->filter_detail_status(plugin, data, pod, detail, arena);
	status.plugin = (uint16_t)(plugin->index + 1);
	return status;
}
