/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>

#include "lib/adapted.h"

/** --- queueing --- */

static struct bt_status pre_enqueue(
	struct bt_plugin *plugin, const struct bt_pod_info *pod, struct bt_arena *arena)
{
	struct bt_adapted *adapted = bt_adapted_of(plugin);
	struct bt_status status = adapted->outside.pre_enqueue(
		adapted->plugin, berth_const_pod_info_of(pod), berth_arena_of(arena));

	return bt_adapted_status(adapted, status, arena);
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
	struct bt_adapted *adapted = bt_adapted_of(plugin);
	struct berth_queued_pod first = queued_pod_of(a);
	struct berth_queued_pod second = queued_pod_of(b);

	return adapted->outside.less(adapted->plugin, &first, &second);
}

static enum bt_queueing_hint ask_hint(struct bt_plugin *plugin, uint32_t index,
	const struct bt_pod_info *pod, const void *old_object, const void *new_object,
	struct berth_error *err)
{
	struct bt_adapted *adapted = bt_adapted_of(plugin);

	return adapted->hints[index](adapted->plugin, berth_const_pod_info_of(pod), old_object,
		       new_object, err) == BERTH_QUEUEING_HINT_SKIP
		? BT_HINT_SKIP
		: BT_HINT_QUEUE;
}

/* The framework's hint functions are not told which registration they are called for: one function
 * each. */
#define HINT(index) \
	static enum bt_queueing_hint hint_##index(struct bt_plugin *plugin, \
		const struct bt_pod_info *pod, const void *old_object, const void *new_object, \
		struct berth_error *err) \
	{ \
		return ask_hint(plugin, index, pod, old_object, new_object, err); \
	}
/* clang-format off */
#define ALL_HINTS(X) \
	X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15) \
	X(16) X(17) X(18) X(19) X(20) X(21) X(22) X(23) X(24) X(25) X(26) X(27) X(28) X(29) \
	X(30) X(31)
/* clang-format on */
ALL_HINTS(HINT)

#define HINT_NAME(index) hint_##index,
static const bt_hint_function hint_functions[] = {ALL_HINTS(HINT_NAME)};
_Static_assert(
	BT_ARRAY_LENGTH(hint_functions) == BERTH_HINTS_MAX, "one function for each registration");

static int register_events(struct bt_adapted *adapted,
	const struct berth_event_registration *events, uint32_t count, struct berth_error *err)
{
	for (uint32_t i = 0; i < count; i++) {
		struct bt_event_registration event = {
			.event = {events[i].event.resource, events[i].event.action}};

		if (events[i].hint != NULL) {
			if (adapted->hint_count == BERTH_HINTS_MAX) {
				return bt_error_set(err, BERTH_ERR_TOO_LARGE,
					"plugin %s registers more than %d events with hints",
					adapted->inside.name, BERTH_HINTS_MAX);
			}
			event.hint = hint_functions[adapted->hint_count];
			adapted->hints[adapted->hint_count++] = events[i].hint;
		}
		bt_vec_push(&adapted->events, event);
	}
	return BERTH_OK;
}

static int events_to_register(struct bt_plugin *plugin,
	const struct bt_event_registration **out_events, uint32_t *out_count,
	struct berth_error *err)
{
	struct bt_adapted *adapted = bt_adapted_of(plugin);
	const struct berth_event_registration *events = NULL;
	uint32_t count = 0;
	int result = adapted->outside.events_to_register(adapted->plugin, &events, &count, err);

	adapted->events.count = 0;
	adapted->hint_count = 0;
	if (result == BERTH_OK) {
		result = register_events(adapted, events, count, err);
	}
	if (result != BERTH_OK) {
		return result < 0 ? result : BERTH_ERR_INTERNAL;
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
	struct bt_adapted *adapted = bt_adapted_of(plugin);
	struct bt_status status = adapted->outside.sign(adapted->plugin,
		berth_const_pod_info_of(pod), (struct berth_sign_fragments *)(void *)out);

	return bt_adapted_status(adapted, status, out->arena);
}

/** --- after the choice: the pod is in the state, but not in the snapshot --- */

static void hide(const struct bt_adapted *adapted, const struct bt_pod_info *pod, uint32_t slot)
{
	struct bt_snapshot_view *view = &adapted->handle->framework->handle.snapshot;

	view->assumed = pod;
	view->assumed_slot = slot;
}

static void unhide(const struct bt_adapted *adapted)
{
	adapted->handle->framework->handle.snapshot.assumed = NULL;
}

static struct bt_status reserve(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, uint32_t slot)
{
	struct bt_adapted *adapted = bt_adapted_of(plugin);

	hide(adapted, pod, slot);
	struct bt_status status =
		adapted->outside.reserve(adapted->plugin, berth_cycle_state_of(cycle),
			berth_const_pod_info_of(pod), bt_adapted_node_name(adapted, slot));
	unhide(adapted);

	return bt_adapted_status(adapted, status, cycle->arena);
}

static void unreserve(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, uint32_t slot)
{
	struct bt_adapted *adapted = bt_adapted_of(plugin);

	hide(adapted, pod, slot);
	adapted->outside.unreserve(adapted->plugin, berth_cycle_state_of(cycle),
		berth_const_pod_info_of(pod), bt_adapted_node_name(adapted, slot));
	unhide(adapted);
}

static struct bt_status permit(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, uint32_t slot, int64_t *out_timeout_ns)
{
	struct bt_adapted *adapted = bt_adapted_of(plugin);
	int64_t timeout_ns = 0;

	hide(adapted, pod, slot);
	struct bt_status status = adapted->outside.permit(adapted->plugin,
		berth_cycle_state_of(cycle), berth_const_pod_info_of(pod),
		bt_adapted_node_name(adapted, slot), &timeout_ns);
	unhide(adapted);

	*out_timeout_ns = timeout_ns;
	return bt_adapted_status(adapted, status, cycle->arena);
}

/** --- binding cycle: the snapshot is not to be read --- */

static void enter_binding(const struct bt_adapted *adapted)
{
	adapted->handle->framework->handle.binding_calls++;
}

static void leave_binding(const struct bt_adapted *adapted)
{
	adapted->handle->framework->handle.binding_calls--;
}

static struct bt_status pre_bind_pre_flight(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, uint32_t slot, struct bt_pre_bind_pre_flight *out_result)
{
	struct bt_adapted *adapted = bt_adapted_of(plugin);
	bool allow_parallel = false;

	enter_binding(adapted);
	struct bt_status status = adapted->outside.pre_bind_pre_flight(adapted->plugin,
		berth_cycle_state_of(cycle), berth_const_pod_info_of(pod),
		bt_adapted_node_name(adapted, slot), &allow_parallel);
	leave_binding(adapted);
	out_result->allow_parallel = allow_parallel;
	return bt_adapted_status(adapted, status, cycle->arena);
}

static struct bt_status pre_bind(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, uint32_t slot)
{
	struct bt_adapted *adapted = bt_adapted_of(plugin);

	enter_binding(adapted);
	struct bt_status status =
		adapted->outside.pre_bind(adapted->plugin, berth_cycle_state_of(cycle),
			berth_const_pod_info_of(pod), bt_adapted_node_name(adapted, slot));
	leave_binding(adapted);
	return bt_adapted_status(adapted, status, cycle->arena);
}

static struct bt_status bind_pod(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, uint32_t slot)
{
	struct bt_adapted *adapted = bt_adapted_of(plugin);

	enter_binding(adapted);
	struct bt_status status =
		adapted->outside.bind(adapted->plugin, berth_cycle_state_of(cycle),
			berth_const_pod_info_of(pod), bt_adapted_node_name(adapted, slot));
	leave_binding(adapted);
	return bt_adapted_status(adapted, status, cycle->arena);
}

static void post_bind(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, uint32_t slot)
{
	struct bt_adapted *adapted = bt_adapted_of(plugin);

	enter_binding(adapted);
	adapted->outside.post_bind(adapted->plugin, berth_cycle_state_of(cycle),
		berth_const_pod_info_of(pod), bt_adapted_node_name(adapted, slot));
	leave_binding(adapted);
}

/** --- pod groups --- */

static struct berth_placement placement_outside(const struct bt_adapted *adapted,
	const struct bt_placement *placement, struct bt_arena *arena)
{
	struct bt_str *names = BT_ARENA_NEW_ARRAY(arena, struct bt_str, placement->count);

	for (uint32_t i = 0; i < placement->count; i++) {
		names[i] = bt_adapted_node_name(adapted, placement->slots[i]);
	}
	return (struct berth_placement){
		.name = placement->name, .node_names = names, .node_count = placement->count};
}

/** false with *out_status when a node is not in the snapshot. */
static bool placement_inside(const struct bt_adapted *adapted,
	const struct berth_placement *placement, struct bt_arena *arena,
	struct bt_placement *out_placement, struct bt_status *out_status)
{
	uint32_t *slots = BT_ARENA_NEW_ARRAY(arena, uint32_t, placement->node_count);

	for (uint32_t i = 0; i < placement->node_count; i++) {
		slots[i] = bt_state_snapshot_find(adapted->handle->state, placement->node_names[i]);
		if (slots[i] == BT_SLOT_NONE) {
			*out_status = bt_status_printf(BT_STATUS_ERROR, arena,
				"nodeinfo not found for node name \"%.*s\"",
				BT_STR_ARG(placement->node_names[i]));
			return false;
		}
	}
	*out_placement = (struct bt_placement){
		.name = placement->name, .slots = slots, .count = placement->node_count};
	return true;
}

static struct bt_status generate_placements(struct bt_plugin *plugin, struct bt_arena *arena,
	struct bt_str group_namespace, struct bt_str group_name, const struct bt_placement *parent,
	const struct bt_placement **out_placements, uint32_t *out_count)
{
	struct bt_adapted *adapted = bt_adapted_of(plugin);
	struct berth_placement outside = placement_outside(adapted, parent, arena);
	const struct berth_placement *found = NULL;
	uint32_t count = 0;
	struct bt_status status = bt_adapted_status(adapted,
		adapted->outside.generate_placements(adapted->plugin, berth_arena_of(arena),
			group_namespace, group_name, &outside, &found, &count),
		arena);

	if (!bt_status_is_success(&status)) {
		return status;
	}
	struct bt_placement *placements = BT_ARENA_NEW_ARRAY(arena, struct bt_placement, count);

	for (uint32_t i = 0; i < count; i++) {
		if (!placement_inside(adapted, &found[i], arena, &placements[i], &status)) {
			return status;
		}
	}
	*out_placements = placements;
	*out_count = count;
	return status;
}

static struct bt_status score_placement(struct bt_plugin *plugin, struct bt_arena *arena,
	const struct bt_placement *placement, const struct bt_pod_info *const *pods,
	uint32_t pod_count, int64_t *out_score)
{
	struct bt_adapted *adapted = bt_adapted_of(plugin);
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
	return bt_adapted_status(adapted, status, arena);
}

static struct bt_status normalize_placement_scores(
	struct bt_plugin *plugin, struct bt_arena *arena, int64_t *scores, uint32_t count)
{
	struct bt_adapted *adapted = bt_adapted_of(plugin);
	struct bt_status status = adapted->outside.normalize_placement_scores(
		adapted->plugin, berth_arena_of(arena), scores, count);

	return bt_adapted_status(adapted, status, arena);
}

void bt_adapted_fill_rest(struct bt_adapted *adapted)
{
	BT_ADAPTED_FILL(adapted, pre_enqueue, pre_enqueue);
	BT_ADAPTED_FILL(adapted, less, less);
	BT_ADAPTED_FILL(adapted, events_to_register, events_to_register);
	BT_ADAPTED_FILL(adapted, sign, sign);
	BT_ADAPTED_FILL(adapted, reserve, reserve);
	BT_ADAPTED_FILL(adapted, unreserve, unreserve);
	BT_ADAPTED_FILL(adapted, permit, permit);
	BT_ADAPTED_FILL(adapted, pre_bind_pre_flight, pre_bind_pre_flight);
	BT_ADAPTED_FILL(adapted, pre_bind, pre_bind);
	BT_ADAPTED_FILL(adapted, bind, bind_pod);
	BT_ADAPTED_FILL(adapted, post_bind, post_bind);
	BT_ADAPTED_FILL(adapted, generate_placements, generate_placements);
	BT_ADAPTED_FILL(adapted, score_placement, score_placement);
	BT_ADAPTED_FILL(adapted, normalize_placement_scores, normalize_placement_scores);
}
