/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_plugin.h"

#include <stdlib.h>

struct fake_instance {
	struct bt_plugin base;
	const struct bt_plugin_args *args;
	bool args_seen;
};

static struct bt_strbuf call_log;
static bool call_log_registered;

static void release_log(void)
{
	bt_strbuf_finish(&call_log);
}

static void note_call(const struct fake *fake, const char *what)
{
	if (!call_log_registered) {
		call_log_registered = atexit(release_log) == 0;
	}
	if (call_log.length > 0) {
		bt_strbuf_append_char(&call_log, ' ');
	}
	bt_strbuf_printf(&call_log, "%s.%s", fake->ops.name, what);
}

const char *fake_log(void)
{
	return bt_strbuf_c(&call_log);
}

void fake_log_reset(void)
{
	bt_strbuf_reset(&call_log);
}

static struct fake *fake_of(struct bt_plugin *plugin)
{
	struct fake_instance *instance = (struct fake_instance *)(void *)plugin;
	/* The framework sees ops as constant, but a test's fake may be written. */
	struct fake *fake = (struct fake *)(uintptr_t)plugin->ops;

	if (!instance->args_seen) {
		fake->args = instance->args;
		instance->args_seen = true;
	}
	return fake;
}

static struct bt_status answer(struct fake *fake, enum fake_point point, struct bt_arena *arena)
{
	const struct fake_answer *wanted = &fake->answers[point];
	struct bt_status status = bt_status_code_only(wanted->code);

	fake->calls[point]++;
	if (wanted->error != NULL) {
		status.has_error = true;
		status.error_text = bt_arena_str(arena, bt_str_from(wanted->error));
	}
	if (wanted->reason != NULL) {
		bt_status_append_reason(&status, arena, bt_str_from(wanted->reason));
	}
	return status;
}

static int create(const struct bt_plugin_ops *ops, const struct bt_plugin_args *args,
	const struct bt_handle *handle, struct bt_plugin **out_plugin, struct berth_error *err)
{
	struct fake_instance *instance = BT_NEW(struct fake_instance);
	struct fake *fake = (struct fake *)(uintptr_t)ops;

	(void)handle;
	(void)err;
	instance->args = args;
	fake->ops.shortcuts = &fake->shortcuts;
	*out_plugin = &instance->base;
	return BERTH_OK;
}

static void destroy(struct bt_plugin *plugin)
{
	bt_free(plugin);
}

static struct bt_status pre_enqueue(
	struct bt_plugin *plugin, const struct bt_pod_info *pod, struct bt_arena *arena)
{
	(void)pod;
	note_call(fake_of(plugin), "PreEnqueue");
	return answer(fake_of(plugin), FAKE_PRE_ENQUEUE, arena);
}

static bool less(
	struct bt_plugin *plugin, const struct bt_queued_pod *a, const struct bt_queued_pod *b)
{
	(void)plugin;
	return a->timestamp_ns < b->timestamp_ns;
}

static int events_to_register(struct bt_plugin *plugin,
	const struct bt_event_registration **out_events, uint32_t *out_count,
	struct berth_error *err)
{
	struct fake *fake = fake_of(plugin);

	if (fake->answers[FAKE_EVENTS].error != NULL) {
		return bt_error_set(err, BERTH_ERR_INVALID, "%s", fake->answers[FAKE_EVENTS].error);
	}
	*out_events = fake->events;
	*out_count = fake->event_count;
	return BERTH_OK;
}

static struct bt_status sign(
	struct bt_plugin *plugin, const struct bt_pod_info *pod, struct bt_sign_fragments *out)
{
	struct fake *fake = fake_of(plugin);
	struct bt_sign_fragment own = {.key = bt_str_from(fake->ops.name),
		.value = pod->labels->count > 0 ? pod->labels->items[0].value : BT_STR("")};
	struct bt_sign_fragment common = {
		.key = BT_STR("common"), .value = bt_str_from(fake->ops.name)};

	bt_vec_push(&out->items, own);
	bt_vec_push(&out->items, common);
	return answer(fake, FAKE_SIGN, out->arena);
}

static struct bt_status pre_filter(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, struct bt_pre_filter_result *out_result)
{
	struct fake *fake = fake_of(plugin);

	(void)pod;
	if (fake->node_names != NULL) {
		struct bt_str *names =
			BT_ARENA_NEW_ARRAY(cycle->arena, struct bt_str, fake->node_name_count);

		for (uint32_t i = 0; i < fake->node_name_count; i++) {
			names[i] = bt_str_from(fake->node_names[i]);
		}
		*out_result = (struct bt_pre_filter_result){
			.restricted = true, .count = fake->node_name_count, .names = names};
	}
	if (cycle->plugin_count > 0) {
		uint32_t *counter = BT_ARENA_NEW(cycle->arena, uint32_t);

		cycle->pre_filter_data[plugin->index] = counter;
	}
	return answer(fake, FAKE_PRE_FILTER, cycle->arena);
}

static void *clone_counter(const void *data, struct bt_arena *arena)
{
	uint32_t *copy = BT_ARENA_NEW(arena, uint32_t);

	*copy = *(const uint32_t *)data;
	return copy;
}

static struct bt_status change_pod(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod_to_schedule, const struct bt_pod_info *other,
	const struct bt_node_info *node, int64_t step)
{
	(void)pod_to_schedule;
	(void)other;
	(void)node;
	if (step > 0 && cycle->pre_filter_data[plugin->index] != NULL) {
		++*(uint32_t *)cycle->pre_filter_data[plugin->index];
	}
	return answer(fake_of(plugin), step > 0 ? FAKE_ADD_POD : FAKE_REMOVE_POD, cycle->arena);
}

static struct bt_status filter(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const struct bt_node_info *node)
{
	struct fake *fake = fake_of(plugin);

	(void)pod;
	fake->filter_pod_count = bt_node_info_pod_count(node);
	if (fake->filter_full_at > 0 && fake->filter_pod_count >= fake->filter_full_at) {
		fake->calls[FAKE_FILTER]++;
		return bt_status_text(BT_STATUS_UNSCHEDULABLE, cycle->arena, BT_STR("full"));
	}
	return answer(fake, FAKE_FILTER, cycle->arena);
}

static struct bt_status post_filter(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const struct bt_node_statuses *statuses,
	struct bt_post_filter_result *out_result)
{
	struct fake *fake = fake_of(plugin);

	(void)pod;
	(void)statuses;
	if (fake->nominated != NULL) {
		*out_result = (struct bt_post_filter_result){
			.present = true,
			.mode = fake->nominating_mode,
			.nominated_node_name = bt_str_from(fake->nominated),
		};
	}
	return answer(fake, FAKE_POST_FILTER, cycle->arena);
}

static struct bt_status pre_score(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const uint32_t *slots, uint32_t slot_count)
{
	(void)pod;
	(void)slots;
	(void)slot_count;
	return answer(fake_of(plugin), FAKE_PRE_SCORE, cycle->arena);
}

static struct bt_status score(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const struct bt_node_info *node, int64_t *out_score)
{
	struct fake *fake = fake_of(plugin);

	(void)pod;
	(void)node;
	*out_score = fake->score;
	return answer(fake, FAKE_SCORE, cycle->arena);
}

static struct bt_status normalize_score(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const uint32_t *slots, int64_t *scores, uint32_t count)
{
	struct fake *fake = fake_of(plugin);

	(void)pod;
	(void)slots;
	for (uint32_t i = 0; i < count; i++) {
		scores[i] = fake->normalized_score;
	}
	return answer(fake, FAKE_NORMALIZE, cycle->arena);
}

static struct bt_status reserve(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, uint32_t slot)
{
	(void)pod;
	(void)slot;
	note_call(fake_of(plugin), "Reserve");
	return answer(fake_of(plugin), FAKE_RESERVE, cycle->arena);
}

static void unreserve(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, uint32_t slot)
{
	(void)cycle;
	(void)pod;
	(void)slot;
	note_call(fake_of(plugin), "Unreserve");
	fake_of(plugin)->calls[FAKE_UNRESERVE]++;
}

static struct bt_status permit(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, uint32_t slot, int64_t *out_timeout_ns)
{
	(void)pod;
	(void)slot;
	*out_timeout_ns = fake_of(plugin)->timeout_ns;
	return answer(fake_of(plugin), FAKE_PERMIT, cycle->arena);
}

static struct bt_status pre_bind_pre_flight(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, uint32_t slot, struct bt_pre_bind_pre_flight *out_result)
{
	(void)pod;
	(void)slot;
	out_result->allow_parallel = fake_of(plugin)->allow_parallel;
	return answer(fake_of(plugin), FAKE_PRE_FLIGHT, cycle->arena);
}

static struct bt_status pre_bind(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, uint32_t slot)
{
	(void)pod;
	(void)slot;
	note_call(fake_of(plugin), "PreBind");
	return answer(fake_of(plugin), FAKE_PRE_BIND, cycle->arena);
}

static struct bt_status bind_pod(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, uint32_t slot)
{
	(void)pod;
	(void)slot;
	return answer(fake_of(plugin), FAKE_BIND, cycle->arena);
}

static void post_bind(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, uint32_t slot)
{
	(void)cycle;
	(void)pod;
	(void)slot;
	note_call(fake_of(plugin), "PostBind");
	fake_of(plugin)->calls[FAKE_POST_BIND]++;
}

static struct bt_status generate_placements(struct bt_plugin *plugin, struct bt_arena *arena,
	struct bt_str group_namespace, struct bt_str group_name, const struct bt_placement *parent,
	const struct bt_placement **out_placements, uint32_t *out_count)
{
	struct fake *fake = fake_of(plugin);

	(void)group_namespace;
	(void)group_name;
	(void)parent;
	*out_placements = fake->placements;
	*out_count = fake->placement_count;
	return answer(fake, FAKE_PLACEMENTS, arena);
}

static struct bt_status score_placement(struct bt_plugin *plugin, struct bt_arena *arena,
	const struct bt_placement *placement, const struct bt_pod_info *const *pods,
	uint32_t pod_count, int64_t *out_score)
{
	(void)placement;
	(void)pods;
	*out_score = fake_of(plugin)->score + pod_count;
	return answer(fake_of(plugin), FAKE_SCORE_PLACEMENT, arena);
}

static struct bt_status normalize_placement_scores(
	struct bt_plugin *plugin, struct bt_arena *arena, int64_t *scores, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		scores[i] = fake_of(plugin)->normalized_score;
	}
	return answer(fake_of(plugin), FAKE_NORMALIZE_PLACEMENTS, arena);
}

/** Sets slot to the function if the mask has the role. */
#define GIVE_ROLE(fake, roles, point, slot, function) \
	((fake)->ops.slot = ((roles)&FAKE_ROLE(point)) != 0 ? (function) : NULL)

struct fake fake_plugin(const char *name, uint32_t roles)
{
	struct fake fake = {.ops = {.name = name,
				    .create = create,
				    .destroy = destroy,
				    .clone_pre_filter_data = clone_counter}};

	GIVE_ROLE(&fake, roles, FAKE_PRE_FILTER, pre_filter, pre_filter);
	GIVE_ROLE(&fake, roles, FAKE_ADD_POD, pre_filter_change_pod, change_pod);
	if ((roles & FAKE_ROLE(FAKE_REMOVE_POD)) != 0) {
		fake.ops.pre_filter_change_pod = change_pod;
	}
	GIVE_ROLE(&fake, roles, FAKE_FILTER, filter, filter);
	GIVE_ROLE(&fake, roles, FAKE_POST_FILTER, post_filter, post_filter);
	GIVE_ROLE(&fake, roles, FAKE_PRE_SCORE, pre_score, pre_score);
	GIVE_ROLE(&fake, roles, FAKE_SCORE, score, score);
	GIVE_ROLE(&fake, roles, FAKE_NORMALIZE, normalize_score, normalize_score);
	GIVE_ROLE(&fake, roles, FAKE_RESERVE, reserve, reserve);
	GIVE_ROLE(&fake, roles, FAKE_UNRESERVE, unreserve, unreserve);
	GIVE_ROLE(&fake, roles, FAKE_PERMIT, permit, permit);
	GIVE_ROLE(&fake, roles, FAKE_PRE_FLIGHT, pre_bind_pre_flight, pre_bind_pre_flight);
	GIVE_ROLE(&fake, roles, FAKE_PRE_BIND, pre_bind, pre_bind);
	GIVE_ROLE(&fake, roles, FAKE_BIND, bind, bind_pod);
	GIVE_ROLE(&fake, roles, FAKE_POST_BIND, post_bind, post_bind);
	GIVE_ROLE(&fake, roles, FAKE_PRE_ENQUEUE, pre_enqueue, pre_enqueue);
	GIVE_ROLE(&fake, roles, FAKE_QUEUE_SORT, less, less);
	GIVE_ROLE(&fake, roles, FAKE_SIGN, sign, sign);
	GIVE_ROLE(&fake, roles, FAKE_EVENTS, events_to_register, events_to_register);
	GIVE_ROLE(&fake, roles, FAKE_PLACEMENTS, generate_placements, generate_placements);
	GIVE_ROLE(&fake, roles, FAKE_SCORE_PLACEMENT, score_placement, score_placement);
	GIVE_ROLE(&fake, roles, FAKE_NORMALIZE_PLACEMENTS, normalize_placement_scores,
		normalize_placement_scores);
	if ((roles & FAKE_ROLE(FAKE_NORMALIZE)) != 0) {
		fake.ops.normalize = BT_NORMALIZE_CUSTOM;
	}
	return fake;
}

void fake_answer(
	struct fake *fake, enum fake_point point, enum bt_status_code code, const char *reason)
{
	fake->answers[point] = (struct fake_answer){.code = code, .reason = reason};
}

void fake_fail(struct fake *fake, enum fake_point point, const char *error)
{
	fake->answers[point] = (struct fake_answer){.code = BT_STATUS_ERROR, .error = error};
}
