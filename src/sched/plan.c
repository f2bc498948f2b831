/* SPDX-License-Identifier: Apache-2.0 */
#include "base/alloc.h"
#include "base/assert.h"
#include "base/links.h"
#include "sched/plan_private.h"

static bool is_pure_for(struct bt_plugin *plugin, const struct bt_pod_info *pod)
{
	const struct bt_plugin_shortcuts *shortcuts = bt_shortcuts(plugin);
	return shortcuts->is_pure_for != NULL ? shortcuts->is_pure_for(plugin, pod)
					      : shortcuts->pure;
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

static void collect_filters(struct bt_plan *plan, const struct bt_pod_info *pod)
{
	const struct bt_framework *framework = plan->framework;
	uint32_t count = framework->points[BT_POINT_FILTER].entries.count;
	plan->filters = BT_ARENA_NEW_ARRAY(&plan->arena, struct bt_plan_filter, count);
	for (uint32_t i = 0; i < count; i++) {
		struct bt_plugin *plugin =
			framework->points[BT_POINT_FILTER].entries.items[i].plugin;
		if (bt_plugin_set_has(&plan->template.skip_filter, plugin->index)) {
			continue;
		}
		struct bt_plan_filter *filter = &plan->filters[plan->filter_count++];
		const struct bt_plugin_shortcuts *shortcuts = bt_shortcuts(plugin);
		const void *data = plan->template.pre_filter_data[plugin->index];
		filter->plugin = plugin;
		/*
		 * The column form needs the data of PreFilter. If the plugin has PreFilter but
		 * PreFilter did not run (disabled in the profile, or failed), the filter uses the
		 * plain form, which returns the proper error.
		 */
		if (is_pure_for(plugin, pod) && shortcuts->filter_column != NULL &&
			(plugin->ops->pre_filter == NULL || data != NULL) &&
			(shortcuts->filter_fits_column == NULL ||
				shortcuts->filter_fits_column(plugin, data, pod))) {
			filter->form = BT_FILTER_COLUMN;
			plan->reads |= shortcuts->filter_reads;
		} else if (shortcuts->columns_per_cycle && shortcuts->filter_column != NULL &&
			(plugin->ops->pre_filter == NULL ||
				bt_framework_has_at(framework, BT_POINT_PRE_FILTER, plugin))) {
			/* The column form runs in every cycle, after PreFilter made its data. */
			bool needs_cells = shortcuts->filter_needs_cells;
			filter->form = needs_cells ? BT_FILTER_CELLS : BT_FILTER_CYCLE_COLUMN;
			plan->has_cycle_filters = true;
			plan->has_cell_filters |= needs_cells;
		} else {
			filter->form = BT_FILTER_PLAIN;
			plan->has_plain_filters = true;
		}
	}
}

const void *bt_plan_score_data(const struct bt_plan *plan, const struct bt_plugin *plugin)
{
	return bt_shortcuts(plugin)->score_column_data != NULL
		? plan->column_data[plugin->index]
		: plan->template.pre_score_data[plugin->index];
}

static void collect_scores(
	struct bt_plan *plan, const struct bt_pod_info *pod, const struct bt_state *state)
{
	const struct bt_framework *framework = plan->framework;
	uint32_t count = framework->points[BT_POINT_SCORE].entries.count;
	plan->local_scores = BT_ARENA_NEW_ARRAY(&plan->arena, struct bt_plan_score, count);
	plan->cycle_scores = BT_ARENA_NEW_ARRAY(&plan->arena, struct bt_plan_score, count);
	plan->raws = BT_ARENA_NEW_ARRAY(&plan->arena, struct bt_plan_raw, count);
	plan->column_data =
		BT_ARENA_NEW_ARRAY(&plan->arena, const void *, framework->instances.count);
	for (uint32_t i = 0; i < count; i++) {
		const struct bt_framework_entry *entry =
			&framework->points[BT_POINT_SCORE].entries.items[i];
		struct bt_plugin *plugin = entry->plugin;
		const struct bt_plugin_shortcuts *shortcuts = bt_shortcuts(plugin);
		enum bt_normalize_kind normalize = plugin->ops->normalize;
		bool reverse = normalize == BT_NORMALIZE_DEFAULT_REVERSE;
		int32_t constant = 0;
		if (bt_plugin_set_has(&plan->template.skip_score, plugin->index)) {
			continue;
		}
		if (shortcuts->score_column_data != NULL) {
			plan->column_data[plugin->index] =
				shortcuts->score_column_data(plugin, pod, &plan->arena);
		}
		const struct bt_plugin_ops *ops = plugin->ops;
		const void *data = bt_plan_score_data(plan, plugin);
		bool has_column = is_pure_for(plugin, pod) &&
			(shortcuts->score_column != NULL || shortcuts->score_is_constant != NULL) &&
			normalize != BT_NORMALIZE_CUSTOM &&
			(ops->pre_score == NULL || data != NULL) &&
			(shortcuts->score_fits_column == NULL ||
				shortcuts->score_fits_column(plugin, data, pod));
		if (!has_column) {
			if (shortcuts->columns_per_cycle && shortcuts->score_slots != NULL &&
				(ops->pre_score == NULL ||
					bt_framework_has_at(
						framework, BT_POINT_PRE_SCORE, plugin)) &&
				(shortcuts->score_fits_column == NULL ||
					shortcuts->score_fits_column(plugin, NULL, pod))) {
				plan->cycle_scores[plan->cycle_score_count++] =
					(struct bt_plan_score){plugin, entry->weight};
			} else {
				plan->has_plain_scores = true;
			}
		} else if (shortcuts->score_is_constant != NULL &&
			shortcuts->score_is_constant(plugin, data, pod, state, &constant)) {
			plan->constant_score += entry->weight *
				(normalize == BT_NORMALIZE_NONE
						? constant
						: bt_plan_normalized(constant, constant, reverse));
		} else if (normalize == BT_NORMALIZE_NONE) {
			plan->reads |= shortcuts->score_reads;
			plan->local_scores[plan->local_score_count++] =
				(struct bt_plan_score){plugin, entry->weight};
		} else {
			plan->reads |= shortcuts->score_reads;
			plan->raws[plan->raw_count++] = (struct bt_plan_raw){.plugin = plugin,
				.weight = (int32_t)entry->weight,
				.reverse = reverse};
		}
	}
}

/**
 * Default maximum memory of the plans of recurring shapes: enough for a thousand shapes at 5,000
 * nodes.
 */
#define PLAN_BYTES_MAX_DEFAULT ((size_t)64 * 1024 * 1024)
/**
 * Maximum number of plans of shapes that were requested only once. Enough for pods of a few owners
 * that arrive in turn, and few enough that the columns stay in the second-level cache if every pod
 * has another shape. Measured at 5,000 nodes with a new shape for each pod: 12,000 pods/s with this
 * limit; 4,200 pods/s if the limit is 64 MiB of plans instead.
 */
#define NEW_PLANS_MAX 12
/**
 * Beyond 1/STALE_SHARE of bytes_max, plans that are too far behind to be repaired are removed. This
 * reduces memory from 136 MB to 85 MB for 20,000 pods of 20,000 shapes on 5,000 nodes.
 */
#define STALE_SHARE 16
/** Maximum number of free column blocks kept for later plans. */
#define FREE_BLOCKS_MAX 64
/** Weighted scores must stay far from INT32_MIN, which is BT_TOTAL_INFEASIBLE. */
#define COLUMN_TOTAL_MAX (INT64_C(1) << 30)

struct bt_plan_cache *bt_plan_cache_create(size_t bytes_max)
{
	struct bt_plan_cache *cache = BT_NEW(struct bt_plan_cache);
	cache->bytes_max = bytes_max != 0 ? bytes_max : PLAN_BYTES_MAX_DEFAULT;
	return cache;
}

void *bt_plan_take_block(struct bt_plan_cache *cache)
{
	if (cache->free_blocks.count != 0) {
		return cache->free_blocks.items[--cache->free_blocks.count];
	}
	return bt_malloc((size_t)cache->block_slots * 4);
}

static void release_block(struct bt_plan_cache *cache, void *block, uint32_t block_slots)
{
	if (block != NULL && block_slots == cache->block_slots &&
		cache->free_blocks.count < FREE_BLOCKS_MAX) {
		bt_vec_push(&cache->free_blocks, block);
	} else {
		bt_free(block);
	}
}

void bt_plan_drop_columns(struct bt_plan_cache *cache, struct bt_plan *plan)
{
	release_block(cache, plan->verdict, plan->block_slots);
	release_block(cache, plan->local, plan->block_slots);
	release_block(cache, plan->room, plan->block_slots);
	plan->verdict = NULL;
	plan->local = NULL;
	plan->room = NULL;
	for (uint32_t i = 0; i < plan->raw_count; i++) {
		release_block(cache, plan->raws[i].values, plan->block_slots);
		plan->raws[i].values = NULL;
	}
	bt_plan_cells_drop(plan);
}

static void plan_destroy(struct bt_plan_cache *cache, struct bt_plan *plan)
{
	bt_plan_drop_columns(cache, plan);
	bt_cycle_state_finish(&plan->template);
	bt_vec_finish(&plan->nominated.items);
	bt_arena_finish(&plan->nominated.arena);
	bt_arena_finish(&plan->arena);
	bt_free(plan);
}

static void unlink_plan(struct bt_plan *plan)
{
	struct plan_queue *queue = plan->queue;
	BT_LIST_REMOVE(queue->oldest, queue->newest, plan, older, newer);
	queue->count--;
	queue->bytes -= plan->bytes;
}

static void cache_remove(struct bt_plan_cache *cache, struct bt_plan *plan)
{
	struct bt_plan **link = &cache->by_shape.items[plan->shape].plans;
	while (*link != plan) {
		link = &(*link)->next_of_shape;
	}
	*link = plan->next_of_shape;
	unlink_plan(plan);
	if (plan->pin_count != 0) {
		bt_plan_drop_columns(cache, plan);
		plan->removed = true;
		return;
	}
	plan_destroy(cache, plan);
}

static void drop_free_blocks(struct bt_plan_cache *cache)
{
	while (cache->free_blocks.count != 0) {
		bt_free(cache->free_blocks.items[--cache->free_blocks.count]);
	}
}

void bt_plan_cache_destroy(struct bt_plan_cache *cache)
{
	if (cache == NULL) {
		return;
	}
	while (cache->once.oldest != NULL || cache->recurring.oldest != NULL) {
		struct bt_plan *plan =
			cache->once.oldest != NULL ? cache->once.oldest : cache->recurring.oldest;
		plan->pin_count = 0; /* no held cycle outlives the engine */
		cache_remove(cache, plan);
	}
	drop_free_blocks(cache);
	bt_vec_finish(&cache->free_blocks);
	bt_vec_finish(&cache->by_shape);
	bt_free(cache->scratch);
	bt_free(cache->marks);
	bt_free(cache);
}

void bt_plan_pin(struct bt_plan *plan)
{
	if (plan != NULL) {
		plan->pin_count++;
	}
}

void bt_plan_unpin(struct bt_plan_cache *cache, struct bt_plan *plan)
{
	if (plan == NULL) {
		return;
	}
	BT_ASSERT(plan->pin_count != 0);
	plan->pin_count--;
	if (plan->pin_count == 0 && plan->removed) {
		plan_destroy(cache, plan);
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
	const struct bt_shape *shape, bool wide_values, uint64_t class_version)
{
	for (struct bt_plan *plan = entry_of(cache, shape->id)->plans; plan != NULL;) {
		struct bt_plan *next = plan->next_of_shape;
		if (plan->shape_serial != shape->serial || plan->wide_values != wide_values ||
			plan->class_version != class_version) {
			/*
			 * The id belongs to another shape now, or the plan's column forms no longer
			 * apply.
			 */
			cache_remove(cache, plan);
		} else if (plan->framework == framework) {
			return plan;
		}
		plan = next;
	}
	return NULL;
}

/** Make the parts of a plan that need no nodes: outcomes, active filters, kinds of scores. */
static struct bt_plan *make_plan(
	const struct bt_state *state, struct bt_framework *framework, const struct bt_pod_info *pod)
{
	struct bt_plan *plan = BT_NEW(struct bt_plan);
	plan->framework = framework;
	plan->cells = &plan->trees[0];
	plan->shape = pod->shape->id;
	plan->shape_serial = pod->shape->serial;
	plan->wide_values = state->nodes.has_wide_values;
	plan->class_version = bt_plan_class_version(state);
	bt_arena_init(&plan->arena, 4096);
	bt_cycle_state_init(&plan->template, &plan->arena, framework->instances.count);
	plan->memo =
		BT_ARENA_NEW_ARRAY(&plan->arena, struct bt_cycle_memo, framework->instances.count);
	plan->pre_filter_cached = point_is_pure(framework, BT_POINT_PRE_FILTER, pod);
	if (plan->pre_filter_cached) {
		plan->pre_filter = bt_run_pre_filter(framework, &plan->template, pod);
	} else {
		/*
		 * Run the pure PreFilter plugins of a profile that also has impure plugins. The
		 * runner of each cycle takes these results and runs only the impure plugins.
		 */
		for (uint32_t i = 0; i < framework->points[BT_POINT_PRE_FILTER].entries.count;
			i++) {
			struct bt_plugin *plugin =
				framework->points[BT_POINT_PRE_FILTER].entries.items[i].plugin;
			struct bt_cycle_memo *memo = &plan->memo[plugin->index];
			if (!is_pure_for(plugin, pod)) {
				continue;
			}
			struct bt_pre_filter_result result = {0};
			memo->pre_filter_known = true;
			memo->pre_filter_status =
				plugin->ops->pre_filter(plugin, &plan->template, pod, &result);
			memo->restricted = result.restricted;
			memo->name_count = result.count;
			memo->names = result.names;
			memo->pre_filter_data = plan->template.pre_filter_data[plugin->index];
			if (memo->pre_filter_status.code == BT_STATUS_SKIP) {
				bt_plugin_set_add(&plan->template.skip_filter, plugin->index);
			}
		}
	}
	plan->pre_score_cached = point_is_pure(framework, BT_POINT_PRE_SCORE, pod);
	if (plan->pre_score_cached) {
		plan->pre_score = bt_run_pre_score(framework, &plan->template, pod, NULL, NULL, 0);
	} else {
		for (uint32_t i = 0; i < framework->points[BT_POINT_PRE_SCORE].entries.count; i++) {
			struct bt_plugin *plugin =
				framework->points[BT_POINT_PRE_SCORE].entries.items[i].plugin;
			struct bt_cycle_memo *memo = &plan->memo[plugin->index];
			if (!is_pure_for(plugin, pod)) {
				continue;
			}
			memo->pre_score_known = true;
			memo->pre_score_status =
				plugin->ops->pre_score(plugin, &plan->template, pod, NULL, 0);
			if (memo->pre_score_status.code == BT_STATUS_SKIP) {
				bt_plugin_set_add(&plan->template.skip_score, plugin->index);
			}
		}
	}
	collect_filters(plan, pod);
	if (framework->metrics != NULL) {
		plan->rejected = BT_ARENA_NEW_ARRAY(&plan->arena, uint32_t, plan->filter_count);
	}
	collect_scores(plan, pod, state);
	return plan;
}

struct bt_plan *bt_plan_get(
	struct bt_engine *engine, struct bt_framework *framework, const struct bt_pod_info *pod)
{
	struct bt_plan_cache *cache = engine->plans;
	/* Columns need totals below COLUMN_TOTAL_MAX. */
	int64_t sum = 0;
	for (uint32_t i = 0; i < framework->points[BT_POINT_SCORE].entries.count; i++) {
		int64_t weight = framework->points[BT_POINT_SCORE].entries.items[i].weight;
		if (weight < 0 || weight > COLUMN_TOTAL_MAX / BT_SCORE_MAX) {
			return NULL;
		}
		sum += weight * BT_SCORE_MAX;
	}
	if (sum >= COLUMN_TOTAL_MAX) {
		return NULL;
	}
	/*
	 * Resize the scratch columns and the column blocks. Blocks have spare room, so that a
	 * growing cluster rarely needs new blocks.
	 */
	uint32_t slot_count = engine->state->nodes.slot_count;
	if (slot_count > cache->block_slots) {
		cache->block_slots = (slot_count + slot_count / 8 + 63) & ~UINT32_C(63);
		drop_free_blocks(cache);
	}
	if (slot_count > cache->scratch_slots) {
		cache->scratch_slots = (slot_count + 63) & ~UINT32_C(63);
		/* One block for all columns of 4 bytes; their old contents are not needed. */
		size_t slots = cache->scratch_slots;
		bt_free(cache->scratch);
		cache->scratch = bt_malloc(6 * slots * sizeof(uint32_t));
		cache->detail = cache->scratch;
		cache->verdict = cache->scratch + slots;
		cache->scores = (int32_t *)(cache->scratch + 2 * slots);
		cache->totals = (int32_t *)(cache->scratch + 3 * slots);
		cache->cells = cache->scratch + 4 * slots;
		cache->changed = cache->scratch + 5 * slots;
		bt_free(cache->marks);
		cache->marks = BT_NEW_ARRAY(uint64_t, cache->scratch_slots);
	}
	struct bt_plan *plan = cache_find(cache, framework, pod->shape,
		engine->state->nodes.has_wide_values, bt_plan_class_version(engine->state));
	struct shape_entry *entry = entry_of(cache, pod->shape->id);
	bool seen_before = entry->last_serial == pod->shape->serial;
	entry->last_serial = pod->shape->serial;
	if (plan == NULL) {
		plan = make_plan(engine->state, framework, pod);
		if (seen_before) {
			/* The shape comes so rarely that its plan was dropped meanwhile. */
			plan->mean_behind = UINT64_MAX;
		}
		plan->next_of_shape = entry->plans;
		entry->plans = plan;
	} else {
		unlink_plan(plan);
	}
	plan->recurring = seen_before;
	struct plan_queue *queue = seen_before ? &cache->recurring : &cache->once;
	uint32_t block_slots = cache->block_slots; /* size of all columns made from now on */
	plan->queue = queue;
	BT_LIST_APPEND(queue->oldest, queue->newest, plan, older, newer);
	queue->count++;
	/* Count all columns, because missing columns may still be made in this cycle. */
	plan->bytes = sizeof(*plan) + plan->arena.total_bytes +
		(2 + (size_t)plan->raw_count + (plan->room != NULL)) * block_slots * 4 +
		bt_plan_cells_bytes(plan);
	queue->bytes += plan->bytes;
	while (cache->once.count > NEW_PLANS_MAX) {
		cache_remove(cache, cache->once.oldest);
	}
	while (cache->recurring.count > 1 &&
		(cache->recurring.bytes > cache->bytes_max ||
			(cache->recurring.bytes > cache->bytes_max / STALE_SHARE &&
				bt_plan_is_far_behind(
					cache->recurring.oldest, &engine->state->log)))) {
		cache_remove(cache, cache->recurring.oldest);
	}
	return plan;
}
