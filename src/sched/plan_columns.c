/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/assert.h"
#include "base/cpu.h"
#include "plugins/common_columns.h"
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
	if (snapshot->count == slot_count) {
		memset(plan->verdict, 0, (size_t)slot_count * sizeof(*plan->verdict));
	} else {
		memset(plan->verdict, 0xff, (size_t)slot_count * sizeof(*plan->verdict));
		for (uint32_t i = 0; i < snapshot->count; i++) {
			plan->verdict[snapshot->list[i]] = 0;
		}
	}
	evaluate_filters(plan, engine, pod, (struct bt_slot_range){.count = slot_count});
	plan->feasible_count = bt_plan_kernels_for_cpu()->count_feasible(plan->verdict, slot_count);
	count_rejections(plan, snapshot->count);
	plan->scored = false;
	plan->columns_version++;
}

static void evaluate_scores(struct bt_plan *plan, struct bt_engine *engine,
	const struct bt_pod_info *pod, struct bt_slot_range range)
{
	const struct bt_state *state = engine->state;
	int32_t *scores = engine->plans->scores;
	int32_t base = (int32_t)plan->constant_score;
	bt_fill_scores(range, plan->local, base);
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

static void recompute_scores(
	struct bt_plan *plan, struct bt_engine *engine, const struct bt_pod_info *pod)
{
	if (plan->local == NULL) {
		plan->local = bt_plan_take_block(engine->plans);
		for (uint32_t i = 0; i < plan->raw_count; i++) {
			plan->raws[i].values = bt_plan_take_block(engine->plans);
		}
	}
	evaluate_scores(plan, engine, pod, (struct bt_slot_range){.count = plan->slot_count});
	plan->node_count = engine->state->snapshot.count;
	plan->scored = true;
	plan->columns_version++;
}

static void repair_slots(struct bt_plan *plan, struct bt_engine *engine,
	const struct bt_pod_info *pod, const uint32_t *slots, uint32_t count)
{
	struct bt_slot_range range = {.slots = slots, .count = count};
	for (uint32_t i = 0; i < count; i++) {
		uint32_t *verdict = &plan->verdict[slots[i]];
		plan->feasible_count -= *verdict == 0;
		count_rejection(plan, *verdict, -1);
		*verdict = engine->state->nodes.rows[slots[i]].in_snapshot ? 0 : BT_VERDICT_OUTSIDE;
	}
	evaluate_filters(plan, engine, pod, range);
	for (uint32_t i = 0; i < count; i++) {
		plan->feasible_count += plan->verdict[slots[i]] == 0;
		count_rejection(plan, plan->verdict[slots[i]], 1);
	}
	if (plan->scored) {
		evaluate_scores(plan, engine, pod, range);
	}
}

uint32_t bt_plan_changed_slots(struct bt_plan_cache *cache, const struct bt_change_log *log,
	uint64_t since, uint32_t kinds)
{
	uint32_t count = 0;
	cache->mark++;
	for (uint64_t i = since; i < log->sequence; i++) {
		struct bt_change change = bt_change_log_at(log, i);
		if ((change.kinds & kinds) != 0 && cache->marks[change.slot] != cache->mark) {
			cache->marks[change.slot] = cache->mark;
			cache->changed[count++] = change.slot;
		}
	}
	return count;
}

void bt_plan_catch_up(struct bt_plan *plan, struct bt_engine *engine, const struct bt_pod_info *pod)
{
	const struct bt_state *state = engine->state;
	const struct bt_change_log *log = &state->log;
	plan->behind = log->sequence - plan->log_sequence;
	if (plan->verdict == NULL || plan->slot_count != state->nodes.slot_count ||
		plan->list_version != state->snapshot.list_version ||
		!bt_change_log_covers(log, plan->log_sequence) ||
		plan->behind > plan->slot_count / REPAIR_SHARE + 16) {
		recompute_verdicts(plan, engine, pod);
		plan->behind = UINT64_MAX;
	} else {
		uint32_t count = bt_plan_changed_slots(
			engine->plans, log, plan->log_sequence, plan->reads | BT_CHANGE_EXISTENCE);
		if (count != 0) {
			repair_slots(plan, engine, pod, engine->plans->changed, count);
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
		struct bt_slot_range all = {.count = plan->slot_count};
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
