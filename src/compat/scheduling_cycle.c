/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A scheduling decision by one call or step by step, and helpers for it: traces, counts of errors,
 * parallel loops.
 */
#include <stddef.h>
#include <string.h>

#include "base/alloc.h"
#include "berth/scheduling_cycle.h"
#include "compat/framework.h"
#include "compat/volume_binder.h"
#include "lib/convert.h"
#include "lib/engine.h"
#include "lib/node_to_status.h"
#include "sched/cycle.h"

double berth_metrics_since_seconds(int64_t start_ns, int64_t now_ns)
{
	return ((double)now_ns - (double)start_ns) / 1e9;
}

void berth_trace_step(const struct berth_trace *trace, const char *text)
{
	if (trace != NULL && trace->step != NULL) {
		trace->step(trace->context, text);
	}
}

void berth_error_counts_add(struct berth_error_counts *counts, const char *message)
{
	for (uint32_t i = 0; i < counts->count; i++) {
		if (strcmp(counts->items[i].message, message) == 0) {
			counts->items[i].times++;
			return;
		}
	}
	struct berth_error_count added = {bt_strndup(message, strlen(message)), 1};
	bt_vec_push(counts, added);
}

int berth_error_counts_aggregate(const struct berth_error_counts *counts, struct berth_error *err)
{
	struct bt_strbuf text = {0};

	if (counts->count == 0) {
		return BERTH_OK;
	}
	bt_strbuf_append_c(&text, counts->count > 1 ? "[" : "");
	for (uint32_t i = 0; i < counts->count; i++) {
		const struct berth_error_count *entry = &counts->items[i];

		bt_strbuf_append_c(&text, i != 0 ? ", " : "");
		bt_strbuf_append_c(&text, entry->message);
		if (entry->times > 1) {
			bt_strbuf_printf(&text, " (repeated %u times)", entry->times);
		}
	}
	bt_strbuf_append_c(&text, counts->count > 1 ? "]" : "");
	return bt_error_take(err, BERTH_ERR_INTERNAL, &text);
}

void berth_error_counts_finish(struct berth_error_counts *counts)
{
	for (uint32_t i = 0; i < counts->count; i++) {
		bt_free(counts->items[i].message);
	}
	bt_free(counts->items);
	*counts = (struct berth_error_counts){0};
}

/** The arguments of berth_parallelize_until, which all chunks read. */
struct work {
	const struct berth_cancel *cancel;
	uint32_t pieces;
	uint32_t chunk_size;
	berth_parallelize_work_fn work;
	void *context;
};

static void run_chunk(void *context, uint32_t chunk)
{
	const struct work *work = context;
	uint64_t first = (uint64_t)chunk * work->chunk_size;
	uint64_t end = first + work->chunk_size;

	for (uint64_t piece = first; piece < end && piece < work->pieces; piece++) {
		if (work->cancel != NULL && work->cancel->canceled) {
			return;
		}
		work->work(work->context, (uint32_t)piece);
	}
}

uint32_t berth_parallelize_chunk_size(uint32_t pieces, uint32_t workers)
{
	uint32_t most = pieces / (workers != 0 ? workers : 1) + 1;
	uint64_t root = 0;

	while ((root + 1) * (root + 1) <= pieces) {
		root++;
	}
	if (root > most) {
		return most;
	}
	return root != 0 ? (uint32_t)root : 1;
}

void berth_parallelize_until(const struct berth_cancel *cancel,
	const struct berth_executor *executor, uint32_t workers, uint32_t pieces,
	berth_parallelize_work_fn work, void *context)
{
	struct work shared = {
		cancel, pieces, berth_parallelize_chunk_size(pieces, workers), work, context};
	uint32_t chunks =
		(uint32_t)(((uint64_t)pieces + shared.chunk_size - 1) / shared.chunk_size);

	if (executor != NULL && chunks != 0) {
		workers = workers == 0 ? 1 : workers;
		executor->run(executor->context, workers < chunks ? workers : chunks, chunks,
			run_chunk, &shared);
		return;
	}
	for (uint32_t i = 0; i < chunks; i++) {
		run_chunk(&shared, i);
	}
}

static struct bt_engine *inside_of(const struct berth_engine *engine)
{
	return bt_scheduler_engine(engine->scheduler);
}

struct berth_framework *berth_engine_framework(
	struct berth_engine *engine, struct berth_str scheduler_name)
{
	return berth_framework_of(bt_engine_profile(inside_of(engine), scheduler_name));
}

const struct berth_shared_lister *berth_engine_snapshot_shared_lister(
	struct berth_engine *engine, struct berth_error *err)
{
	struct bt_engine *inside = inside_of(engine);

	if (bt_state_refresh_snapshot(inside->state, err) < 0) {
		return NULL;
	}
	return berth_const_shared_lister_of(&inside->profiles.frameworks.items[0]->handle.snapshot);
}

void berth_engine_set_trace(struct berth_engine *engine, const struct berth_trace *trace)
{
	engine->trace_step = trace != NULL ? trace->step : NULL;
	engine->trace_context = trace != NULL ? trace->context : NULL;
}

static void trace_step(const struct berth_engine *engine, const char *text)
{
	const struct berth_trace trace = {engine->trace_step, engine->trace_context};

	berth_trace_step(&trace, text);
}

struct berth_str berth_fit_error_text(
	const struct berth_fit_error *fit_error, struct berth_arena *arena)
{
	const struct berth_node_to_status *map = fit_error->node_to_status;
	struct bt_node_statuses memory = {0};
	struct bt_diagnosis diagnosis = {
		.pre_filter_message = fit_error->pre_filter_message,
		.post_filter_message = fit_error->post_filter_message,
		.node_count = fit_error->num_all_nodes,
	};
	struct bt_strbuf text = {0};

	if (map != NULL && map->statuses != NULL) {
		diagnosis.statuses = *map->statuses;
	} else if (map != NULL) {
		/* The message counts reasons, so the slots of the entries can be any numbers. */
		memory.absent = map->absent;
		for (uint32_t i = 0; i < map->entries.count; i++) {
			struct bt_node_status_entry entry = {i, map->entries.items[i]};

			bt_vec_push(&memory.entries, entry);
		}
		diagnosis.statuses = memory;
	}
	bt_diagnosis_message(&diagnosis, &text);
	bt_vec_finish(&memory.entries);
	return bt_arena_take_strbuf(bt_arena_of(arena), &text);
}

/** Returns a view of the statuses, in the arena. */
static const struct berth_node_to_status *make_view(const struct bt_state *state,
	const struct bt_node_statuses *statuses, struct bt_arena *arena)
{
	struct berth_node_to_status *view = BT_ARENA_NEW(arena, struct berth_node_to_status);
	struct bt_node_statuses *copy = BT_ARENA_NEW(arena, struct bt_node_statuses);

	*copy = *statuses;
	view->state = state;
	view->statuses = copy;
	return view;
}

int berth_engine_schedule(struct berth_engine *engine, struct berth_framework *framework,
	const struct berth_pod_info *pod, struct berth_schedule_result *out_result,
	struct berth_fit_error *out_fit_error, struct berth_error *err)
{
	struct bt_engine *inside = inside_of(engine);
	struct bt_framework *profile = bt_framework_of(framework);
	struct bt_framework_point *post_filter = &profile->points[BT_POINT_POST_FILTER];
	uint32_t post_filter_count = post_filter->entries.count;
	struct bt_schedule_result result;

	trace_step(engine, "Computing predicates");
	/* Decide only: PostFilter plugins would evict pods. */
	post_filter->entries.count = 0;
	bt_engine_schedule(inside, profile, bt_const_pod_info_of(pod), NULL, &result);
	post_filter->entries.count = post_filter_count;
	switch (result.outcome) {
	case BT_OUTCOME_SCHEDULED:
		*out_result = (struct berth_schedule_result){
			bt_node_table_name(&inside->state->nodes, result.slot),
			result.evaluated_count, result.feasible_count};
		return BERTH_OK;
	case BT_OUTCOME_NO_NODES:
		return bt_error_set(
			err, BERTH_ERR_NO_NODES_AVAILABLE, "no nodes available to schedule pods");
	case BT_OUTCOME_FIT_ERROR:
		if (out_fit_error != NULL) {
			*out_fit_error = (struct berth_fit_error){pod, result.diagnosis.node_count,
				make_view(inside->state, &result.diagnosis.statuses,
					result.cycle->arena),
				result.diagnosis.pre_filter_message, BT_STR("")};
		}
		break;
	case BT_OUTCOME_ERROR:
		break;
	}
	return bt_error_set(err,
		result.outcome == BT_OUTCOME_FIT_ERROR ? BERTH_ERR_FIT : BERTH_ERR_INTERNAL, "%.*s",
		BT_STR_ARG(bt_status_message_str(&result.status, result.cycle->arena)));
}

uint32_t berth_engine_num_feasible_nodes_to_find(const struct berth_engine *engine,
	const struct berth_framework *framework, uint32_t num_all_nodes)
{
	uint32_t limit =
		bt_search_limit(inside_of(engine), bt_const_framework_of(framework), num_all_nodes);

	return limit < num_all_nodes ? limit : num_all_nodes;
}

struct berth_status berth_engine_pod_fits_on_node(struct berth_engine *engine,
	struct berth_framework *framework, struct berth_cycle_state *state,
	const struct berth_pod_info *pod, const struct berth_node_info *node)
{
	(void)engine; /* the framework knows the engine's nominations */
	return berth_framework_run_filter_plugins_with_nominated_pods(framework, state, pod, node);
}

struct berth_status berth_engine_check_node(struct berth_engine *engine,
	struct berth_framework *framework, struct berth_cycle_state *state,
	const struct berth_pod_info *pod, uint32_t index, struct berth_str *out_node_name)
{
	struct bt_engine *inside = inside_of(engine);
	struct bt_framework *profile = bt_framework_of(framework);
	struct bt_cycle_state *cycle = bt_lib_adopt_cycle(profile, state);
	const struct bt_snapshot *snapshot = &inside->state->snapshot;

	BT_ASSERT(index < snapshot->count);
	uint64_t position = (uint64_t)inside->next_start_node_index + index;
	uint32_t slot = bt_snapshot_list(snapshot)[position % snapshot->count];

	if (out_node_name != NULL) {
		*out_node_name = bt_node_table_name(&inside->state->nodes, slot);
	}
	if (profile->points[BT_POINT_FILTER].entries.count == 0) {
		return BT_STATUS_OK;
	}
	struct bt_node_info node;

	bt_node_info_init(&node, profile->handle.state, slot);
	return bt_run_filter_with_nominated_pods(profile, cycle, bt_const_pod_info_of(pod), &node);
}

int berth_engine_find_nodes_that_fit(struct berth_engine *engine, struct berth_framework *framework,
	struct berth_cycle_state *state, const struct berth_pod_info *pod,
	struct berth_feasible_nodes *out_nodes, struct berth_error *err)
{
	struct bt_engine *inside = inside_of(engine);
	struct bt_framework *profile = bt_framework_of(framework);
	struct bt_cycle_state *cycle = bt_lib_adopt_cycle(profile, state);
	struct bt_arena *arena = cycle->arena;
	struct bt_diagnosis diagnosis;
	const uint32_t *slots;
	uint32_t count;

	trace_step(engine, "Computing predicates");
	if (bt_state_refresh_snapshot(inside->state, err) < 0) {
		return BERTH_ERR_INTERNAL;
	}
	struct bt_status status = bt_engine_find_nodes(
		inside, profile, cycle, bt_const_pod_info_of(pod), &diagnosis, &slots, &count);
	struct bt_node_statuses statuses = diagnosis.statuses;

	statuses.entries.items = bt_arena_copy_array(arena, diagnosis.statuses.entries.items,
		statuses.entries.count, 0, sizeof(struct bt_node_status_entry));
	bt_vec_finish(&diagnosis.statuses.entries);
	if (!bt_status_is_success(&status)) {
		return bt_error_set(err, BERTH_ERR_INTERNAL, "%.*s",
			BT_STR_ARG(bt_status_message_str(&status, arena)));
	}
	struct berth_str *names = BT_ARENA_NEW_ARRAY(arena, struct berth_str, count);

	for (uint32_t i = 0; i < count; i++) {
		names[i] = bt_node_table_name(&inside->state->nodes, slots[i]);
	}
	*out_nodes = (struct berth_feasible_nodes){
		.names = names,
		.count = count,
		.diagnosis = {pod, diagnosis.node_count, make_view(inside->state, &statuses, arena),
			diagnosis.pre_filter_message, BT_STR("")},
	};
	return BERTH_OK;
}

void berth_engine_add_nominated_pods(struct berth_engine *engine, struct berth_framework *framework,
	const struct berth_cycle_state *state, const struct berth_pod_info *pod,
	const struct berth_node_info *node, struct berth_nominated_view *out_view)
{
	struct bt_framework *profile = bt_framework_of(framework);
	const struct bt_cycle_state *cycle = bt_const_cycle_state_of(state);
	struct bt_nominated_view *view = BT_ARENA_NEW(cycle->arena, struct bt_nominated_view);
	struct bt_node_info buffer;
	const struct bt_node_info *inside = bt_lib_node_view(&profile->handle, node, &buffer);

	(void)engine; /* the framework knows the engine's nominations */
	*out_view = (struct berth_nominated_view){0};
	if (inside != NULL && inside->state == profile->handle.state) {
		bt_add_nominated_pods(profile, cycle, bt_const_pod_info_of(pod), inside, view);
	}
	if (view->added) {
		*out_view =
			(struct berth_nominated_view){true, berth_const_node_info_of(&view->node),
				berth_cycle_state_of(&view->cycle), view->status};
	}
}

void berth_nominated_view_finish(struct berth_nominated_view *view)
{
	if (view->added) {
		bt_cycle_state_finish(bt_cycle_state_of(view->state));
	}
	*view = (struct berth_nominated_view){0};
}

const struct berth_queue *berth_engine_queue(const struct berth_engine *engine)
{
	/* The public queue is the engine, cast to another type: the engine has the nominations. */
	return (const struct berth_queue *)(const void *)engine;
}

const struct berth_pod_info *const *berth_queue_nominated_pods_for_node(
	const struct berth_queue *queue, struct berth_str node_name, struct berth_arena *arena,
	uint32_t *out_count)
{
	const struct berth_engine *engine = (const struct berth_engine *)(const void *)queue;
	BT_VEC(const struct berth_pod_info *) list = {0};
	const struct bt_pod_info *pod;
	uint32_t cursor = BT_NOMINATION_FIRST;

	while ((pod = bt_nominator_next(&inside_of(engine)->nominator, node_name, &cursor)) !=
		NULL) {
		bt_arena_push(bt_arena_of(arena), &list, berth_const_pod_info_of(pod));
	}
	*out_count = list.count;
	return list.items;
}
