/* SPDX-License-Identifier: Apache-2.0 */
#include "sched/plan.h"

#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/cpu.h"
#include "sched/plan_kernels.h"

/** Plans of recurring shapes kept by default: a thousand shapes at 5,000 nodes. */
#define PLAN_BYTES_MAX_DEFAULT ((size_t)64 * 1024 * 1024)
/**
 * Plans of shapes seen once: enough for pods of a few owners arriving in turn, few enough for their columns to stay in the
 * second-level cache when every pod has a shape of its own (5,000 nodes, all different: 12,000 pods/s against 4,200 with
 * one queue of 64 MiB).
 */
#define NEW_PLANS_MAX 12
/** Free column blocks kept for the next plan. */
#define FREE_BLOCKS_MAX 64
/** A plan further behind than this share of the slots is computed anew: a full pass is cheaper than many repairs. */
#define REPAIR_SHARE 8
/** Weighted scores must stay far from INT32_MIN. */
#define COLUMN_TOTAL_MAX (INT64_C(1) << 30)

/** Plans in order of use, linked by newer / older. */
struct plan_queue {
	struct bt_plan *newest;
	struct bt_plan *oldest;
	uint32_t count;
	size_t bytes;
};

/** What is known of a shape id. */
struct shape_entry {
	struct bt_plan *plans; /* one per profile, linked by next_of_shape */
	uint64_t last_serial;  /* shape that was asked for last under this id */
};

struct bt_plan_cache {
	BT_VEC(struct shape_entry) by_shape;
	struct plan_queue once;      /* shapes asked for once so far: held to NEW_PLANS_MAX */
	struct plan_queue recurring; /* held to bytes_max */
	size_t bytes_max;
	/* Column blocks of dropped plans, all of block_slots entries of 4 bytes. */
	BT_VEC(void *) free_blocks;
	uint32_t block_slots;
	/* Scratch columns of one pass. */
	uint32_t *detail;
	uint32_t *verdict; /* of one cycle: the plan's with the per-cycle filters merged in */
	int32_t *scores;
	uint32_t scratch_slots;
};

const struct bt_plan_kernels *bt_plan_kernels_for_cpu(void)
{
#ifdef BT_HAVE_AVX2_KERNELS
	if (bt_cpu_has_avx2()) {
		return &bt_plan_kernels_avx2;
	}
#endif
	return &bt_plan_kernels_plain;
}

struct bt_plan_cache *bt_plan_cache_create(size_t bytes_max)
{
	struct bt_plan_cache *cache = BT_NEW(struct bt_plan_cache);
	cache->bytes_max = bytes_max != 0 ? bytes_max : PLAN_BYTES_MAX_DEFAULT;
	return cache;
}

/** A column of uninitialised 4-byte entries for block_slots slots. */
static void *take_block(struct bt_plan_cache *cache)
{
	if (cache->free_blocks.count != 0) {
		return cache->free_blocks.items[--cache->free_blocks.count];
	}
	return bt_malloc((size_t)cache->block_slots * 4);
}

static void give_block(struct bt_plan_cache *cache, void *block, uint32_t block_slots)
{
	if (block != NULL && block_slots == cache->block_slots && cache->free_blocks.count < FREE_BLOCKS_MAX) {
		bt_vec_push(&cache->free_blocks, block);
	} else {
		bt_free(block);
	}
}

static void drop_columns(struct bt_plan_cache *cache, struct bt_plan *plan)
{
	give_block(cache, plan->verdict, plan->block_slots);
	give_block(cache, plan->local, plan->block_slots);
	give_block(cache, plan->total, plan->block_slots);
	plan->verdict = NULL;
	plan->local = NULL;
	plan->total = NULL;
	for (uint32_t i = 0; i < plan->raw_count; i++) {
		give_block(cache, plan->raws[i].values, plan->block_slots);
		plan->raws[i].values = NULL;
	}
}

static void plan_destroy(struct bt_plan_cache *cache, struct bt_plan *plan)
{
	drop_columns(cache, plan);
	bt_cycle_state_finish(&plan->template);
	bt_arena_finish(&plan->arena);
	bt_free(plan);
}

static void destroy_queue(struct bt_plan_cache *cache, struct plan_queue *queue)
{
	for (struct bt_plan *plan = queue->oldest; plan != NULL;) {
		struct bt_plan *newer = plan->newer;
		plan_destroy(cache, plan);
		plan = newer;
	}
}

static void free_blocks(struct bt_plan_cache *cache)
{
	for (uint32_t i = 0; i < cache->free_blocks.count; i++) {
		bt_free(cache->free_blocks.items[i]);
	}
	cache->free_blocks.count = 0;
}

void bt_plan_cache_destroy(struct bt_plan_cache *cache)
{
	if (cache == NULL) {
		return;
	}
	destroy_queue(cache, &cache->once);
	destroy_queue(cache, &cache->recurring);
	free_blocks(cache);
	bt_vec_finish(&cache->free_blocks);
	bt_vec_finish(&cache->by_shape);
	bt_free(cache->detail);
	bt_free(cache->verdict);
	bt_free(cache->scores);
	bt_free(cache);
}

/** Scratch columns and blocks for this many slots; blocks have room to spare so that growing clusters keep them. */
static void reserve_scratch(struct bt_plan_cache *cache, uint32_t slot_count)
{
	if (slot_count > cache->block_slots) {
		cache->block_slots = (slot_count + slot_count / 8 + 63) & ~UINT32_C(63);
		free_blocks(cache);
	}
	if (slot_count <= cache->scratch_slots) {
		return;
	}
	cache->scratch_slots = (slot_count + 63) & ~UINT32_C(63);
	cache->detail = bt_realloc_array(cache->detail, cache->scratch_slots, sizeof(*cache->detail));
	cache->verdict = bt_realloc_array(cache->verdict, cache->scratch_slots, sizeof(*cache->verdict));
	cache->scores = bt_realloc_array(cache->scores, cache->scratch_slots, sizeof(*cache->scores));
}

/** Every score weight and their sum fit the 32-bit total column. */
static bool weights_fit_columns(const struct bt_framework *framework)
{
	int64_t sum = 0;
	for (uint32_t i = 0; i < framework->points[BT_POINT_SCORE].entries.count; i++) {
		int64_t weight = framework->points[BT_POINT_SCORE].entries.items[i].weight;
		if (weight < 0 || weight > COLUMN_TOTAL_MAX / BT_SCORE_MAX) {
			return false;
		}
		sum += weight * BT_SCORE_MAX;
	}
	return sum < COLUMN_TOTAL_MAX;
}

/** --- what is known of a shape before any node is looked at --- */

static bool is_pure_for(struct bt_plugin *plugin, const struct bt_pod_info *pod)
{
	const struct bt_plugin_ops *ops = plugin->ops;
	return ops->is_pure_for != NULL ? ops->is_pure_for(plugin, pod) : ops->pure;
}

static bool point_is_pure(const struct bt_framework *framework, enum bt_extension_point point,
	const struct bt_pod_info *pod)
{
	for (uint32_t i = 0; i < framework->points[point].entries.count; i++) {
		if (!is_pure_for(framework->points[point].entries.items[i].plugin, pod)) {
			return false;
		}
	}
	return true;
}

/** Answers of the pure plugins, for a point that has others too: the runner takes these and asks only the others. */
static void memorize_pre_filters(struct bt_plan *plan, const struct bt_pod_info *pod)
{
	const struct bt_framework *framework = plan->framework;
	for (uint32_t i = 0; i < framework->points[BT_POINT_PRE_FILTER].entries.count; i++) {
		struct bt_plugin *plugin = framework->points[BT_POINT_PRE_FILTER].entries.items[i].plugin;
		struct bt_cycle_memo *memo = &plan->memo[plugin->index];
		if (!is_pure_for(plugin, pod)) {
			continue;
		}
		struct bt_pre_filter_result result = {0};
		memo->pre_filter_known = true;
		memo->pre_filter_status = plugin->ops->pre_filter(plugin, &plan->template, pod, &result);
		memo->restricted = result.restricted;
		memo->name_count = result.count;
		memo->names = result.names;
		if (memo->pre_filter_status.code == BT_STATUS_SKIP) {
			bt_plugin_set_add(&plan->template.skip_filter, plugin->index);
		}
	}
}

static void memorize_pre_scores(struct bt_plan *plan, const struct bt_pod_info *pod)
{
	const struct bt_framework *framework = plan->framework;
	for (uint32_t i = 0; i < framework->points[BT_POINT_PRE_SCORE].entries.count; i++) {
		struct bt_plugin *plugin = framework->points[BT_POINT_PRE_SCORE].entries.items[i].plugin;
		struct bt_cycle_memo *memo = &plan->memo[plugin->index];
		if (!is_pure_for(plugin, pod)) {
			continue;
		}
		memo->pre_score_known = true;
		memo->pre_score_status = plugin->ops->pre_score(plugin, &plan->template, pod, NULL, 0);
		if (memo->pre_score_status.code == BT_STATUS_SKIP) {
			bt_plugin_set_add(&plan->template.skip_score, plugin->index);
		}
	}
}

/**
 * The column form needs the data of the earlier point: a plugin that has that role but did not run it (disabled in the
 * profile, or failed) is left to its plain form, which knows the proper error.
 */
static bool filter_has_column(const struct bt_plan *plan, struct bt_plugin *plugin, const struct bt_pod_info *pod)
{
	const struct bt_plugin_ops *ops = plugin->ops;
	const void *data = plan->template.pre_filter_data[plugin->index];
	return is_pure_for(plugin, pod) && ops->filter_column != NULL && (ops->pre_filter == NULL || data != NULL) &&
		(ops->filter_fits_column == NULL || ops->filter_fits_column(plugin, data, pod));
}

static void collect_filters(struct bt_plan *plan, const struct bt_pod_info *pod)
{
	const struct bt_framework *framework = plan->framework;
	uint32_t count = framework->points[BT_POINT_FILTER].entries.count;
	plan->filters = BT_ARENA_NEW_ARRAY(&plan->arena, struct bt_plan_filter, count);
	for (uint32_t i = 0; i < count; i++) {
		struct bt_plugin *plugin = framework->points[BT_POINT_FILTER].entries.items[i].plugin;
		if (bt_plugin_set_has(&plan->template.skip_filter, plugin->index)) {
			continue;
		}
		struct bt_plan_filter *filter = &plan->filters[plan->filter_count++];
		filter->plugin = plugin;
		if (filter_has_column(plan, plugin, pod)) {
			filter->form = BT_FILTER_COLUMN;
			plan->reads |= plugin->ops->filter_reads;
		} else if (plugin->ops->columns_per_cycle) {
			filter->form = BT_FILTER_CYCLE_COLUMN;
			plan->has_cycle_filters = true;
		} else {
			filter->form = BT_FILTER_PLAIN;
			plan->has_plain_filters = true;
		}
	}
}

/** What the column form of a score plugin is given. */
static const void *score_data(const struct bt_plan *plan, const struct bt_plugin *plugin)
{
	return plugin->ops->score_column_data != NULL ? plan->column_data[plugin->index] :
							 plan->template.pre_score_data[plugin->index];
}

static bool score_has_column(const struct bt_plan *plan, struct bt_plugin *plugin, const struct bt_pod_info *pod)
{
	const struct bt_plugin_ops *ops = plugin->ops;
	const void *data = score_data(plan, plugin);
	if (!is_pure_for(plugin, pod) || (ops->score_column == NULL && ops->score_is_constant == NULL) ||
		ops->normalize == BT_NORMALIZE_CUSTOM) {
		return false;
	}
	if (ops->pre_score != NULL && data == NULL) {
		return false;
	}
	return ops->score_fits_column == NULL || ops->score_fits_column(plugin, data, pod);
}

static void add_column_score(struct bt_plan *plan, struct bt_plugin *plugin, int64_t weight,
	const struct bt_pod_info *pod, const struct bt_state *state)
{
	const struct bt_plugin_ops *ops = plugin->ops;
	const void *data = score_data(plan, plugin);
	bool reverse = ops->normalize == BT_NORMALIZE_DEFAULT_REVERSE;
	int32_t constant = 0;
	if (ops->score_is_constant != NULL && ops->score_is_constant(plugin, data, pod, state, &constant)) {
		int32_t score = ops->normalize == BT_NORMALIZE_NONE ?
			constant : bt_plan_normalized(constant, constant, reverse);
		plan->constant_score += weight * score;
		return;
	}
	plan->reads |= ops->score_reads;
	plan->reads_node_count |= ops->score_reads_node_count;
	if (ops->normalize == BT_NORMALIZE_NONE) {
		plan->local_scores[plan->local_score_count++] = (struct bt_plan_score){plugin, weight};
	} else {
		plan->raws[plan->raw_count++] =
			(struct bt_plan_raw){.plugin = plugin, .weight = (int32_t)weight, .reverse = reverse};
	}
}

static void collect_scores(struct bt_plan *plan, const struct bt_pod_info *pod, const struct bt_state *state)
{
	const struct bt_framework *framework = plan->framework;
	uint32_t count = framework->points[BT_POINT_SCORE].entries.count;
	plan->local_scores = BT_ARENA_NEW_ARRAY(&plan->arena, struct bt_plan_score, count);
	plan->cycle_scores = BT_ARENA_NEW_ARRAY(&plan->arena, struct bt_plan_score, count);
	plan->raws = BT_ARENA_NEW_ARRAY(&plan->arena, struct bt_plan_raw, count);
	plan->column_data = BT_ARENA_NEW_ARRAY(&plan->arena, const void *, framework->instances.count);
	for (uint32_t i = 0; i < count; i++) {
		const struct bt_framework_entry *entry = &framework->points[BT_POINT_SCORE].entries.items[i];
		if (bt_plugin_set_has(&plan->template.skip_score, entry->plugin->index)) {
			continue;
		}
		if (entry->plugin->ops->score_column_data != NULL) {
			plan->column_data[entry->plugin->index] =
				entry->plugin->ops->score_column_data(entry->plugin, pod, &plan->arena);
		}
		if (score_has_column(plan, entry->plugin, pod)) {
			add_column_score(plan, entry->plugin, entry->weight, pod, state);
		} else if (entry->plugin->ops->columns_per_cycle) {
			plan->cycle_scores[plan->cycle_score_count++] =
				(struct bt_plan_score){entry->plugin, entry->weight};
		} else {
			plan->has_plain_scores = true;
		}
	}
}

static struct bt_plan *plan_create(struct bt_engine *engine, struct bt_framework *framework,
	const struct bt_pod_info *pod)
{
	struct bt_plan *plan = BT_NEW(struct bt_plan);
	plan->framework = framework;
	plan->shape = pod->shape->id;
	plan->shape_serial = pod->shape->serial;
	plan->wide_values = engine->state->nodes.has_wide_values;
	bt_arena_init(&plan->arena, 4096);
	bt_cycle_state_init(&plan->template, &plan->arena, framework->instances.count);
	plan->memo = BT_ARENA_NEW_ARRAY(&plan->arena, struct bt_cycle_memo, framework->instances.count);
	plan->pre_filter_cached = point_is_pure(framework, BT_POINT_PRE_FILTER, pod);
	if (plan->pre_filter_cached) {
		plan->pre_filter = bt_run_pre_filter(framework, &plan->template, pod);
	} else {
		memorize_pre_filters(plan, pod);
	}
	plan->pre_score_cached = point_is_pure(framework, BT_POINT_PRE_SCORE, pod);
	if (plan->pre_score_cached) {
		plan->pre_score = bt_run_pre_score(framework, &plan->template, pod, NULL, 0);
	} else {
		memorize_pre_scores(plan, pod);
	}
	collect_filters(plan, pod);
	collect_scores(plan, pod, engine->state);
	return plan;
}

/** --- columns --- */

static void reserve_columns(struct bt_plan_cache *cache, struct bt_plan *plan, uint32_t slot_count)
{
	if (plan->verdict == NULL || plan->block_slots < slot_count) {
		drop_columns(cache, plan);
		plan->block_slots = cache->block_slots;
		plan->verdict = take_block(cache);
	}
	plan->slot_count = slot_count;
}

/** Verdicts of the slots in range, which the caller preset to 0 or OUTSIDE. */
static void evaluate_filters(struct bt_plan *plan, struct bt_engine *engine, const struct bt_pod_info *pod,
	struct bt_slot_range range)
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
			plan->template.pre_filter_data[filter->plugin->index], pod, engine->state, range, detail);
		if (!rejects) {
			continue;
		}
		if (range.slots == NULL) {
			bt_plan_kernels_for_cpu()->merge_verdicts(verdict, detail, tag, range.count);
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

static void recompute_verdicts(struct bt_plan *plan, struct bt_engine *engine, const struct bt_pod_info *pod)
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
	plan->scored = false;
}

static void evaluate_scores(struct bt_plan *plan, struct bt_engine *engine, const struct bt_pod_info *pod,
	struct bt_slot_range range)
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
		plugin->ops->score_column(plugin, score_data(plan, plugin), pod, state, range, scores);
		if (range.slots == NULL) {
			bt_plan_kernels_for_cpu()->add_weighted(plan->local, scores, weight, range.count);
		} else {
			for (uint32_t k = 0; k < range.count; k++) {
				plan->local[range.slots[k]] += weight * scores[range.slots[k]];
			}
		}
	}
	for (uint32_t i = 0; i < plan->raw_count; i++) {
		struct bt_plugin *plugin = plan->raws[i].plugin;
		plugin->ops->score_column(plugin, score_data(plan, plugin), pod, state, range, plan->raws[i].values);
	}
}

static void find_raw_max(struct bt_plan *plan, struct bt_plan_raw *raw)
{
	const struct bt_plan_kernels *kernels = bt_plan_kernels_for_cpu();
	raw->max = kernels->max_feasible(raw->values, plan->verdict, plan->slot_count);
	raw->max_count = kernels->count_equal(raw->values, plan->verdict, raw->max, plan->slot_count);
}

/** total += weighted normalised raw. Raws repeat: beyond a few values a table saves a division for every slot. */
static void add_normalized(struct bt_plan_cache *cache, struct bt_plan *plan, const struct bt_plan_raw *raw)
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
		plan->total[slot] +=
			tabled ? table[value] : raw->weight * bt_plan_normalized(value, raw->max, raw->reverse);
	}
}

static void recompute_totals(struct bt_plan_cache *cache, struct bt_plan *plan)
{
	int32_t base = 0;
	for (uint32_t i = 0; i < plan->raw_count; i++) {
		if (plan->raws[i].max == 0) {
			base += plan->raws[i].weight * bt_plan_normalized(0, 0, plan->raws[i].reverse);
		}
	}
	bt_plan_kernels_for_cpu()->start_totals(plan->total, plan->local, plan->verdict, base, plan->slot_count);
	for (uint32_t i = 0; i < plan->raw_count; i++) {
		if (plan->raws[i].max != 0) {
			add_normalized(cache, plan, &plan->raws[i]);
		}
	}
	plan->totals_stale = false;
}

static void recompute_scores(struct bt_plan *plan, struct bt_engine *engine, const struct bt_pod_info *pod)
{
	if (plan->local == NULL) {
		plan->local = take_block(engine->plans);
		plan->total = take_block(engine->plans);
		for (uint32_t i = 0; i < plan->raw_count; i++) {
			plan->raws[i].values = take_block(engine->plans);
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

/** --- repair --- */

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
		total += raw->weight * bt_plan_normalized(raw->values[slot], raw->max, raw->reverse);
	}
	plan->total[slot] = total;
}

static void repair_slot(struct bt_plan *plan, struct bt_engine *engine, const struct bt_pod_info *pod, uint32_t slot)
{
	bool was_feasible = plan->verdict[slot] == 0;
	if (plan->scored && was_feasible) {
		leave_maxima(plan, slot);
	}
	struct bt_slot_range range = {&slot, 1};
	plan->verdict[slot] = engine->state->nodes.rows[slot].in_snapshot ? 0 : BT_VERDICT_OUTSIDE;
	if (plan->verdict[slot] == 0) {
		evaluate_filters(plan, engine, pod, range);
	}
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

/** Bring the plan up to the snapshot's position in the change log. */
static void catch_up(struct bt_plan *plan, struct bt_engine *engine, const struct bt_pod_info *pod)
{
	const struct bt_state *state = engine->state;
	const struct bt_change_log *log = &state->log;
	uint64_t behind = log->sequence - plan->log_sequence;
	if (plan->verdict == NULL || plan->slot_count != state->nodes.slot_count ||
		plan->list_version != state->snapshot.list_version || !bt_change_log_covers(log, plan->log_sequence) ||
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

void bt_plan_score_columns(struct bt_plan *plan, struct bt_engine *engine, const struct bt_pod_info *pod)
{
	if (!plan->scored || (plan->reads_node_count && plan->node_count != engine->state->snapshot.count)) {
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

/** --- cache --- */

static void unlink_plan(struct bt_plan *plan)
{
	struct plan_queue *queue = plan->queue;
	if (plan->newer != NULL) {
		plan->newer->older = plan->older;
	} else {
		queue->newest = plan->older;
	}
	if (plan->older != NULL) {
		plan->older->newer = plan->newer;
	} else {
		queue->oldest = plan->newer;
	}
	queue->count--;
	queue->bytes -= plan->bytes;
}

static void link_newest(struct plan_queue *queue, struct bt_plan *plan)
{
	plan->queue = queue;
	plan->newer = NULL;
	plan->older = queue->newest;
	if (queue->newest != NULL) {
		queue->newest->newer = plan;
	} else {
		queue->oldest = plan;
	}
	queue->newest = plan;
	queue->count++;
	/* Score columns may still be added in this cycle: count them as if they were there. */
	plan->bytes = sizeof(*plan) + plan->arena.total_bytes + (3 + (size_t)plan->raw_count) * plan->block_slots * 4;
	queue->bytes += plan->bytes;
}

static void cache_remove(struct bt_plan_cache *cache, struct bt_plan *plan)
{
	struct bt_plan **link = &cache->by_shape.items[plan->shape].plans;
	while (*link != plan) {
		link = &(*link)->next_of_shape;
	}
	*link = plan->next_of_shape;
	unlink_plan(plan);
	plan_destroy(cache, plan);
}

static void make_room(struct bt_plan_cache *cache)
{
	while (cache->once.count > NEW_PLANS_MAX) {
		cache_remove(cache, cache->once.oldest);
	}
	while (cache->recurring.bytes > cache->bytes_max && cache->recurring.count > 1) {
		cache_remove(cache, cache->recurring.oldest);
	}
}

static struct shape_entry *entry_of(struct bt_plan_cache *cache, uint32_t shape_id)
{
	while (cache->by_shape.count <= shape_id) {
		struct shape_entry empty = {NULL, UINT64_MAX};
		bt_vec_push(&cache->by_shape, empty);
	}
	return &cache->by_shape.items[shape_id];
}

static struct bt_plan *cache_find(struct bt_plan_cache *cache, const struct bt_framework *framework,
	const struct bt_shape *shape, bool wide_values)
{
	for (struct bt_plan *plan = entry_of(cache, shape->id)->plans; plan != NULL;) {
		struct bt_plan *next = plan->next_of_shape;
		if (plan->shape_serial != shape->serial || plan->wide_values != wide_values) {
			/* The id names another shape now, or the plan's choice of column forms no longer holds. */
			cache_remove(cache, plan);
		} else if (plan->framework == framework) {
			return plan;
		}
		plan = next;
	}
	return NULL;
}

struct bt_plan *bt_plan_get(struct bt_engine *engine, struct bt_framework *framework, const struct bt_pod_info *pod)
{
	struct bt_plan_cache *cache = engine->plans;
	if (!weights_fit_columns(framework)) {
		return NULL;
	}
	reserve_scratch(cache, engine->state->nodes.slot_count);
	struct bt_plan *plan =
		cache_find(cache, framework, pod->shape, engine->state->nodes.has_wide_values);
	struct shape_entry *entry = entry_of(cache, pod->shape->id);
	bool seen_before = entry->last_serial == pod->shape->serial;
	entry->last_serial = pod->shape->serial;
	if (plan == NULL) {
		plan = plan_create(engine, framework, pod);
		plan->next_of_shape = entry->plans;
		entry->plans = plan;
	} else {
		unlink_plan(plan);
	}
	catch_up(plan, engine, pod);
	link_newest(seen_before ? &cache->recurring : &cache->once, plan);
	make_room(cache);
	return plan;
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
			memcpy(cache->verdict, plan->verdict, plan->slot_count * sizeof(*plan->verdict));
			copied = true;
		}
		struct bt_slot_range all = {NULL, plan->slot_count};
		if (plugin->ops->filter_column(plugin, cycle->pre_filter_data[plugin->index], pod, engine->state, all,
			    cache->detail)) {
			bt_plan_kernels_for_cpu()->merge_earlier(
				cache->verdict, cache->detail, (i + 1) << BT_VERDICT_DETAIL_BITS, plan->slot_count);
		}
	}
	return copied ? cache->verdict : plan->verdict;
}

struct bt_status bt_plan_verdict_status(const struct bt_plan *plan, const struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, uint32_t verdict, struct bt_arena *arena)
{
	BT_ASSERT(verdict != 0 && verdict != BT_VERDICT_OUTSIDE);
	uint32_t index = (verdict >> BT_VERDICT_DETAIL_BITS) - 1;
	BT_ASSERT(index < plan->filter_count);
	struct bt_plugin *plugin = plan->filters[index].plugin;
	const void *data = plan->filters[index].form == BT_FILTER_COLUMN ?
		plan->template.pre_filter_data[plugin->index] : cycle->pre_filter_data[plugin->index];
	uint32_t detail = verdict & ((UINT32_C(1) << BT_VERDICT_DETAIL_BITS) - 1);
	struct bt_status status = plugin->ops->filter_detail_status(plugin, data, pod, detail, arena);
	status.plugin = (uint16_t)(plugin->index + 1);
	return status;
}
