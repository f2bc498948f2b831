/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/plugin_adapter.h"

#include <stddef.h>

#include "base/alloc.h"
#include "berth/plugin.h"
#include "framework/framework.h"
#include "framework/plugin.h"
#include "lib/convert.h"
#include "lib/node_to_status.h"

/** An out-of-tree plugin, wrapped in an instance that the framework calls. */
struct adapted {
	struct bt_plugin base;       /* the instance that the framework calls */
	struct bt_plugin_ops inside; /* the table of base: NULL where the plugin has no function */
	struct bt_plugin_shortcuts shortcuts;
	struct berth_plugin *plugin;
	/* copy of the plugin's table; slots that the plugin's table lacks are NULL */
	struct berth_plugin_ops outside;
	const struct bt_handle *handle;
	struct berth_raw_args args;
	struct bt_arena column_arena;                /* memory of one call of score_column */
	BT_VEC(struct bt_event_registration) events; /* the events that the plugin registered */
	BT_VEC(berth_queueing_hint_fn) hints;        /* by registration; NULL: no hint */
};

static struct adapted *adapted_of(struct bt_plugin *plugin)
{
	return (struct adapted *)(void *)plugin;
}

static struct bt_str node_name(const struct adapted *adapted, uint32_t slot)
{
	return bt_node_table_name(&adapted->handle->state->nodes, slot);
}

/**
 * Checks the status that a function of the plugin returned. Returns the status with plugin index 0,
 * or an Error if the code of the status is unknown.
 */
static struct bt_status checked_status(
	const struct adapted *adapted, struct bt_status status, struct bt_arena *arena)
{
	if (status.code > BT_STATUS_PENDING) {
		return bt_status_printf(BT_STATUS_ERROR, arena,
			"plugin %s answered with the unknown code %d", adapted->inside.name,
			status.code);
	}
	status.plugin = 0; /* the framework sets the index of the plugin */
	return status;
}

static struct bt_status pre_filter(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, struct bt_pre_filter_result *out_result)
{
	struct adapted *adapted = adapted_of(plugin);
	struct berth_pre_filter_result result = {0};
	struct bt_status status = adapted->outside.pre_filter(adapted->plugin,
		berth_cycle_state_of(cycle), berth_const_pod_info_of(pod), &result);

	if (result.restricted) {
		out_result->restricted = true;
		out_result->count = result.count;
		out_result->names = result.names;
	}
	return checked_status(adapted, status, cycle->arena);
}

static struct bt_status pre_filter_change_pod(struct bt_plugin *plugin,
	struct bt_cycle_state *cycle, const struct bt_pod_info *pod_to_schedule,
	const struct bt_pod_info *other, const struct bt_node_info *node, int64_t step)
{
	struct adapted *adapted = adapted_of(plugin);
	const struct berth_pre_filter_extensions *extensions =
		adapted->outside.pre_filter_extensions;
	struct berth_status (*change)(struct berth_plugin * plugin,
		struct berth_cycle_state * state, const struct berth_pod_info *pod_to_schedule,
		const struct berth_pod_info *other, const struct berth_node_info *node) =
		step > 0 ? extensions->add_pod : extensions->remove_pod;
	struct bt_status status = change != NULL
		? change(adapted->plugin, berth_cycle_state_of(cycle),
			  berth_const_pod_info_of(pod_to_schedule), berth_const_pod_info_of(other),
			  berth_const_node_info_of(node))
		: BT_STATUS_OK;

	return checked_status(adapted, status, cycle->arena);
}

static struct bt_status filter(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const struct bt_node_info *node)
{
	struct adapted *adapted = adapted_of(plugin);
	struct bt_status status =
		adapted->outside.filter(adapted->plugin, berth_cycle_state_of(cycle),
			berth_const_pod_info_of(pod), berth_const_node_info_of(node));

	return checked_status(adapted, status, cycle->arena);
}

static struct bt_status post_filter(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const struct bt_node_statuses *statuses,
	struct bt_post_filter_result *out_result)
{
	struct adapted *adapted = adapted_of(plugin);
	struct berth_node_to_status view = {.state = adapted->handle->state, .statuses = statuses};
	struct berth_post_filter_result result = {0};
	struct bt_status status = adapted->outside.post_filter(adapted->plugin,
		berth_cycle_state_of(cycle), berth_const_pod_info_of(pod), &view, &result);

	if (result.present) {
		out_result->present = true;
		out_result->mode = result.mode == BERTH_NOMINATING_OVERRIDE ? BT_NOMINATING_OVERRIDE
									    : BT_NOMINATING_NOOP;
		out_result->nominated_node_name = result.nominated_node_name;
	}
	return checked_status(adapted, status, cycle->arena);
}

static struct bt_status pre_score(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const uint32_t *slots, uint32_t slot_count)
{
	struct adapted *adapted = adapted_of(plugin);
	const struct berth_node_info *const *nodes =
		bt_lib_node_infos(&adapted->handle->snapshot, slots, slot_count, cycle->arena);
	struct bt_status status = adapted->outside.pre_score(adapted->plugin,
		berth_cycle_state_of(cycle), berth_const_pod_info_of(pod), nodes, slot_count);

	return checked_status(adapted, status, cycle->arena);
}

static struct bt_status score(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const struct bt_node_info *node, int64_t *out_score)
{
	struct adapted *adapted = adapted_of(plugin);
	int64_t value = 0;
	struct bt_status status =
		adapted->outside.score(adapted->plugin, berth_cycle_state_of(cycle),
			berth_const_pod_info_of(pod), berth_const_node_info_of(node), &value);

	*out_score = value;
	return checked_status(adapted, status, cycle->arena);
}

static struct bt_status normalize_score(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const uint32_t *slots, int64_t *scores, uint32_t count)
{
	struct adapted *adapted = adapted_of(plugin);
	struct berth_node_score_list list = {
		.items = BT_ARENA_NEW_ARRAY(cycle->arena, struct berth_node_score, count),
		.count = count,
	};
	struct berth_node_score *items = list.items;

	for (uint32_t i = 0; i < count; i++) {
		items[i].name = node_name(adapted, slots[i]);
		items[i].score = scores[i];
	}
	struct bt_status status = adapted->outside.score_extensions->normalize_score(
		adapted->plugin, berth_cycle_state_of(cycle), berth_const_pod_info_of(pod), &list);

	for (uint32_t i = 0; i < count; i++) {
		scores[i] = items[i].score;
	}
	return checked_status(adapted, status, cycle->arena);
}

/**
 * Sets the raw scores of the nodes for a score column. Columns are computed outside of scheduling
 * cycles. A score is 0 if Score fails, if the score is negative, or if the node is not in the
 * snapshot. A score above the maximum is reduced to the maximum.
 */
static bool score_column(struct bt_plugin *plugin, BT_UNUSED const void *data,
	const struct bt_pod_info *pod, BT_UNUSED const struct bt_state *unused,
	struct bt_slot_range range, int32_t *scores)
{
	struct adapted *adapted = adapted_of(plugin);
	int64_t highest = adapted->inside.normalize == BT_NORMALIZE_NONE ? BT_SCORE_MAX : INT32_MAX;
	const struct bt_state *state = adapted->handle->state;
	struct bt_cycle_state cycle;

	bt_cycle_state_init(&cycle, &adapted->column_arena, 0);
	for (uint32_t k = 0; k < range.count; k++) {
		uint32_t slot = range.slots == NULL ? k : range.slots[k];

		struct bt_node_info node;
		int64_t value = 0;

		scores[slot] = 0;
		if (!state->nodes.rows[slot].in_snapshot) {
			continue;
		}
		bt_node_info_init(&node, state, slot);
		struct bt_status status = adapted->outside.score(adapted->plugin,
			berth_cycle_state_of(&cycle), berth_const_pod_info_of(pod),
			berth_const_node_info_of(&node), &value);

		if (bt_status_is_success(&status) && value > 0) {
			scores[slot] = (int32_t)(value < highest ? value : highest);
		}
	}
	bt_cycle_state_finish(&cycle);
	bt_arena_reset(&adapted->column_arena);
	return true;
}

_Static_assert((int)BERTH_READS_PODS == (int)BT_CHANGE_PODS &&
		(int)BERTH_READS_PORTS == (int)BT_CHANGE_PORTS &&
		(int)BERTH_READS_ALLOCATABLE == (int)BT_CHANGE_ALLOCATABLE &&
		(int)BERTH_READS_LABELS == (int)BT_CHANGE_LABELS &&
		(int)BERTH_READS_TAINTS == (int)BT_CHANGE_TAINTS &&
		(int)BERTH_READS_IMAGES == (int)BT_CHANGE_IMAGES &&
		(int)BERTH_READS_NAME == (int)BT_CHANGE_EXISTENCE,
	"what a plugin reads is what the change log tells");

static struct bt_status pre_enqueue(
	struct bt_plugin *plugin, const struct bt_pod_info *pod, struct bt_arena *arena)
{
	struct adapted *adapted = adapted_of(plugin);
	struct bt_status status = adapted->outside.pre_enqueue(
		adapted->plugin, berth_const_pod_info_of(pod), berth_arena_of(arena));

	return checked_status(adapted, status, arena);
}

static struct berth_queued_pod queued_pod_of(const struct bt_queued_pod *pod)
{
	return (struct berth_queued_pod){
		.pod = berth_const_pod_info_of(pod->pod),
		.timestamp_ns = pod->timestamp_ns,
		.attempts = pod->attempts,
		.initial_attempt_timestamp_ns = pod->initial_attempt_ns,
	};
}

static bool less(
	struct bt_plugin *plugin, const struct bt_queued_pod *a, const struct bt_queued_pod *b)
{
	struct adapted *adapted = adapted_of(plugin);
	struct berth_queued_pod first = queued_pod_of(a);
	struct berth_queued_pod second = queued_pod_of(b);

	return adapted->outside.less(adapted->plugin, &first, &second);
}

static bool run_hint(const struct bt_hint_call *call)
{
	struct adapted *adapted = adapted_of(call->plugin);

	return adapted->hints.items[call->registration](adapted->plugin,
		       berth_const_pod_info_of(call->pod), call->old_object, call->new_object,
		       call->err) != BERTH_QUEUEING_HINT_SKIP;
}

static int events_to_register(struct bt_plugin *plugin,
	const struct bt_event_registration **out_events, uint32_t *out_count,
	struct berth_error *err)
{
	struct adapted *adapted = adapted_of(plugin);
	const struct berth_event_registration *events = NULL;
	uint32_t count = 0;
	uint32_t hint_count = 0;
	int result = adapted->outside.events_to_register(adapted->plugin, &events, &count, err);

	adapted->events.count = 0;
	adapted->hints.count = 0;
	if (result != BERTH_OK) {
		return result < 0 ? result : BERTH_ERR_INTERNAL;
	}
	for (uint32_t i = 0; i < count; i++) {
		struct bt_event_registration event = {
			.event = {events[i].event.resource, events[i].event.action}};

		if (events[i].hint != NULL) {
			if (hint_count == BERTH_HINTS_MAX) {
				return bt_error_set(err, BERTH_ERR_TOO_LARGE,
					"plugin %s registers more than %d events with hints",
					adapted->inside.name, BERTH_HINTS_MAX);
			}
			event.hint = run_hint;
			hint_count++;
		}
		bt_vec_push(&adapted->events, event);
		bt_vec_push(&adapted->hints, events[i].hint);
	}
	*out_events = adapted->events.items;
	*out_count = adapted->events.count;
	return BERTH_OK;
}

void berth_sign_fragments_add(
	struct berth_sign_fragments *fragments, struct berth_str key, struct berth_str value)
{
	struct bt_sign_fragments *inside = (struct bt_sign_fragments *)(void *)fragments;
	struct bt_sign_fragment fragment = {
		.key = bt_arena_str(inside->arena, key),
		.value = bt_arena_str(inside->arena, value),
	};

	bt_vec_push(&inside->items, fragment);
}

static struct bt_status sign(
	struct bt_plugin *plugin, const struct bt_pod_info *pod, struct bt_sign_fragments *out)
{
	struct adapted *adapted = adapted_of(plugin);
	struct bt_status status = adapted->outside.sign(adapted->plugin,
		berth_const_pod_info_of(pod), (struct berth_sign_fragments *)(void *)out);

	return checked_status(adapted, status, out->arena);
}

static void hide_pod(const struct adapted *adapted, const struct bt_pod_info *pod, uint32_t slot)
{
	struct bt_snapshot_view *view = &adapted->handle->framework->handle.snapshot;

	view->assumed = pod;
	view->assumed_slot = slot;
}

static void show_all_pods(const struct adapted *adapted)
{
	adapted->handle->framework->handle.snapshot.assumed = NULL;
}

static struct bt_status reserve(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, uint32_t slot)
{
	struct adapted *adapted = adapted_of(plugin);

	hide_pod(adapted, pod, slot);
	struct bt_status status =
		adapted->outside.reserve(adapted->plugin, berth_cycle_state_of(cycle),
			berth_const_pod_info_of(pod), node_name(adapted, slot));
	show_all_pods(adapted);

	return checked_status(adapted, status, cycle->arena);
}

static void unreserve(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, uint32_t slot)
{
	struct adapted *adapted = adapted_of(plugin);

	hide_pod(adapted, pod, slot);
	adapted->outside.unreserve(adapted->plugin, berth_cycle_state_of(cycle),
		berth_const_pod_info_of(pod), node_name(adapted, slot));
	show_all_pods(adapted);
}

static struct bt_status permit(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, uint32_t slot, int64_t *out_timeout_ns)
{
	struct adapted *adapted = adapted_of(plugin);
	int64_t timeout_ns = 0;

	hide_pod(adapted, pod, slot);
	struct bt_status status =
		adapted->outside.permit(adapted->plugin, berth_cycle_state_of(cycle),
			berth_const_pod_info_of(pod), node_name(adapted, slot), &timeout_ns);
	show_all_pods(adapted);

	*out_timeout_ns = timeout_ns;
	return checked_status(adapted, status, cycle->arena);
}

static struct bt_status pre_bind_pre_flight(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, uint32_t slot, struct bt_pre_bind_pre_flight *out_result)
{
	struct adapted *adapted = adapted_of(plugin);
	bool allow_parallel = false;

	adapted->handle->framework->handle.binding_calls++;
	struct bt_status status =
		adapted->outside.pre_bind_pre_flight(adapted->plugin, berth_cycle_state_of(cycle),
			berth_const_pod_info_of(pod), node_name(adapted, slot), &allow_parallel);
	adapted->handle->framework->handle.binding_calls--;
	out_result->allow_parallel = allow_parallel;
	return checked_status(adapted, status, cycle->arena);
}

static struct bt_status run_in_binding(struct adapted *adapted,
	struct berth_status (*run)(struct berth_plugin *plugin, struct berth_cycle_state *state,
		const struct berth_pod_info *pod, struct berth_str node_name),
	struct bt_cycle_state *cycle, const struct bt_pod_info *pod, uint32_t slot)
{
	adapted->handle->framework->handle.binding_calls++;
	struct bt_status status = run(adapted->plugin, berth_cycle_state_of(cycle),
		berth_const_pod_info_of(pod), node_name(adapted, slot));
	adapted->handle->framework->handle.binding_calls--;
	return checked_status(adapted, status, cycle->arena);
}

static struct bt_status pre_bind(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, uint32_t slot)
{
	struct adapted *adapted = adapted_of(plugin);

	return run_in_binding(adapted, adapted->outside.pre_bind, cycle, pod, slot);
}

static struct bt_status bind_pod(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, uint32_t slot)
{
	struct adapted *adapted = adapted_of(plugin);

	return run_in_binding(adapted, adapted->outside.bind, cycle, pod, slot);
}

static void post_bind(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, uint32_t slot)
{
	struct adapted *adapted = adapted_of(plugin);

	adapted->handle->framework->handle.binding_calls++;
	adapted->outside.post_bind(adapted->plugin, berth_cycle_state_of(cycle),
		berth_const_pod_info_of(pod), node_name(adapted, slot));
	adapted->handle->framework->handle.binding_calls--;
}

static struct berth_placement placement_outside(
	const struct adapted *adapted, const struct bt_placement *placement, struct bt_arena *arena)
{
	struct bt_str *names = BT_ARENA_NEW_ARRAY(arena, struct bt_str, placement->count);

	for (uint32_t i = 0; i < placement->count; i++) {
		names[i] = node_name(adapted, placement->slots[i]);
	}
	return (struct berth_placement){
		.name = placement->name, .node_names = names, .node_count = placement->count};
}

static struct bt_status generate_placements(struct bt_plugin *plugin, struct bt_arena *arena,
	struct bt_str group_namespace, struct bt_str group_name, const struct bt_placement *parent,
	const struct bt_placement **out_placements, uint32_t *out_count)
{
	struct adapted *adapted = adapted_of(plugin);
	struct berth_placement outside = placement_outside(adapted, parent, arena);
	const struct berth_placement *found = NULL;
	uint32_t count = 0;
	struct bt_status status = checked_status(adapted,
		adapted->outside.generate_placements(adapted->plugin, berth_arena_of(arena),
			group_namespace, group_name, &outside, &found, &count),
		arena);

	if (!bt_status_is_success(&status)) {
		return status;
	}
	struct bt_placement *placements = BT_ARENA_NEW_ARRAY(arena, struct bt_placement, count);

	for (uint32_t i = 0; i < count; i++) {
		uint32_t *slots = BT_ARENA_NEW_ARRAY(arena, uint32_t, found[i].node_count);

		for (uint32_t k = 0; k < found[i].node_count; k++) {
			struct bt_str name = found[i].node_names[k];

			slots[k] = bt_state_snapshot_find(adapted->handle->state, name);
			if (slots[k] == BT_SLOT_NONE) {
				return bt_lib_unknown_node(arena, name);
			}
		}
		placements[i] = (struct bt_placement){
			.name = found[i].name, .slots = slots, .count = found[i].node_count};
	}
	*out_placements = placements;
	*out_count = count;
	return status;
}

static struct bt_status score_placement(struct bt_plugin *plugin, struct bt_arena *arena,
	const struct bt_placement *placement, const struct bt_pod_info *const *pods,
	uint32_t pod_count, int64_t *out_score)
{
	struct adapted *adapted = adapted_of(plugin);
	struct berth_placement outside = placement_outside(adapted, placement, arena);
	const struct berth_pod_info **infos =
		BT_ARENA_NEW_ARRAY(arena, const struct berth_pod_info *, pod_count);
	int64_t value = 0;

	for (uint32_t i = 0; i < pod_count; i++) {
		infos[i] = berth_const_pod_info_of(pods[i]);
	}
	struct bt_status status = adapted->outside.score_placement(
		adapted->plugin, berth_arena_of(arena), &outside, infos, pod_count, &value);

	*out_score = value;
	return checked_status(adapted, status, arena);
}

static struct bt_status normalize_placement_scores(
	struct bt_plugin *plugin, struct bt_arena *arena, int64_t *scores, uint32_t count)
{
	struct adapted *adapted = adapted_of(plugin);
	struct bt_status status = adapted->outside.normalize_placement_scores(
		adapted->plugin, berth_arena_of(arena), scores, count);

	return checked_status(adapted, status, arena);
}

const char *berth_plugin_name(const struct berth_plugin *plugin)
{
	return plugin->ops->name;
}

/** Sets an adapter in the framework's table for each function that the plugin has. */
static void fill_slots(struct adapted *adapted)
{
	const struct berth_plugin_ops *outside = &adapted->outside;
	struct bt_plugin_ops *inside = &adapted->inside;
	const struct berth_pre_filter_extensions *extensions = outside->pre_filter_extensions;
	bool changes_pods = extensions != NULL &&
		(extensions->add_pod != NULL || extensions->remove_pod != NULL);

#define FILL(slot, function) (inside->slot = outside->slot != NULL ? (function) : NULL)
	FILL(pre_filter, pre_filter);
	inside->pre_filter_change_pod = changes_pods ? pre_filter_change_pod : NULL;
	FILL(filter, filter);
	FILL(post_filter, post_filter);
	FILL(pre_score, pre_score);
	FILL(score, score);
	if (outside->normalize == BERTH_NORMALIZE_DEFAULT) {
		inside->normalize = BT_NORMALIZE_DEFAULT;
	} else if (outside->normalize == BERTH_NORMALIZE_DEFAULT_REVERSE) {
		inside->normalize = BT_NORMALIZE_DEFAULT_REVERSE;
	}
	/*
	 * Ignore score_reads if the plugin has PreFilter, PreScore or ScoreExtensions: the scores
	 * then depend on data of the cycle, or are changed after Score.
	 */
	if (outside->score_reads != 0 && outside->score != NULL && outside->pre_filter == NULL &&
		outside->pre_score == NULL && outside->score_extensions == NULL) {
		adapted->shortcuts.pure = true;
		adapted->shortcuts.score_column = score_column;
		adapted->shortcuts.score_reads = outside->score_reads & BT_CHANGE_ALL;
		inside->shortcuts = &adapted->shortcuts;
	}
	if (outside->score_extensions != NULL &&
		outside->score_extensions->normalize_score != NULL) {
		inside->normalize = BT_NORMALIZE_CUSTOM;
		inside->normalize_score = normalize_score;
	}
	FILL(pre_enqueue, pre_enqueue);
	FILL(less, less);
	FILL(events_to_register, events_to_register);
	FILL(sign, sign);
	FILL(reserve, reserve);
	FILL(unreserve, unreserve);
	FILL(permit, permit);
	FILL(pre_bind_pre_flight, pre_bind_pre_flight);
	FILL(pre_bind, pre_bind);
	FILL(bind, bind_pod);
	FILL(post_bind, post_bind);
	FILL(generate_placements, generate_placements);
	FILL(score_placement, score_placement);
	FILL(normalize_placement_scores, normalize_placement_scores);
#undef FILL
}

static void destroy_adapted(struct bt_plugin *plugin)
{
	struct adapted *adapted = adapted_of(plugin);

	if (adapted->outside.destroy != NULL) {
		adapted->outside.destroy(adapted->plugin);
	}
	bt_vec_finish(&adapted->events);
	bt_vec_finish(&adapted->hints);
	bt_arena_finish(&adapted->column_arena);
	bt_free(adapted);
}

static int create_adapted(const struct bt_plugin_ops *ops, const struct bt_plugin_args *args,
	const struct bt_handle *handle, struct bt_plugin **out_plugin, struct berth_error *err)
{
	const struct bt_plugin_registration *registration = ops->context;
	struct adapted *adapted = BT_NEW(struct adapted);

	adapted->handle = handle;
	adapted->args = bt_raw_args_of(args);

	int result = registration->create(registration->context, &adapted->args,
		berth_const_handle_of(handle), &adapted->plugin, err);

	if (result == BERTH_OK && (adapted->plugin == NULL || adapted->plugin->ops == NULL)) {
		result = bt_error_set(err, BERTH_ERR_INTERNAL,
			"the factory returned no plugin, or a plugin without ops");
	} else if (result == BERTH_OK &&
		(adapted->plugin->ops->size < offsetof(struct berth_plugin_ops, destroy) ||
			adapted->plugin->ops->name == NULL)) {
		result = bt_error_set(
			err, BERTH_ERR_INTERNAL, "the ops of the plugin have no size or no name");
	}
	if (result != BERTH_OK) {
		bt_free(adapted);
		return result < 0 ? result : BERTH_ERR_INTERNAL;
	}
	/*
	 * A plugin built with an older header has a shorter table, a plugin built with a newer
	 * header a longer table: copy the part that both versions have.
	 */
	size_t size = adapted->plugin->ops->size;

	memcpy(&adapted->outside, adapted->plugin->ops,
		size < sizeof(adapted->outside) ? size : sizeof(adapted->outside));
	if (!bt_str_equal_c(bt_str_from(registration->name), adapted->outside.name)) {
		result = bt_error_set(err, BERTH_ERR_INTERNAL, "the plugin calls itself \"%s\"",
			adapted->outside.name);
		destroy_adapted(&adapted->base);
		return result;
	}
	adapted->inside.name = registration->name;
	adapted->inside.destroy = destroy_adapted;
	fill_slots(adapted);
	adapted->base.ops = &adapted->inside;
	*out_plugin = &adapted->base;
	return BERTH_OK;
}

void bt_plugin_registration_init(struct bt_plugin_registration *registration)
{
	registration->ops = (struct bt_plugin_ops){
		.name = registration->name,
		.create = create_adapted,
		.context = registration,
	};
}
