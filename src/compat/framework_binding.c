/* SPDX-License-Identifier: Apache-2.0 */
/** Runners from the choice of a node on, and of the queue. */
#include <stddef.h>

#include "framework/waiting_pods.h"
#include "compat/framework.h"

uint32_t bt_lib_find_slot(const struct bt_framework *framework, struct bt_str node_name,
	struct bt_arena *arena, struct bt_status *out_status)
{
	uint32_t slot = bt_node_table_find(&framework->handle.state->nodes, node_name);

	*out_status = BT_STATUS_OK;
	if (slot == BT_SLOT_NONE) {
		struct bt_str text = bt_arena_printf(
			arena, "nodeinfo not found for node name \"%.*s\"", BT_STR_ARG(node_name));
		*out_status = bt_status_error_text(arena, text);
	}
	return slot;
}

/** What the runners of one pod on one node work with. */
struct run {
	struct bt_framework *framework;
	struct bt_cycle_state *cycle;
	const struct bt_pod_info *pod;
	uint32_t slot; /* BT_SLOT_NONE: status says why not */
	struct bt_status status;
};

static struct run begin(struct berth_framework *framework, struct berth_cycle_state *state,
	const struct berth_pod_info *pod, struct berth_str node_name)
{
	struct run run = {
		.framework = bt_framework_of(framework), .pod = bt_const_pod_info_of(pod)};

	run.cycle = bt_lib_adopt_cycle(run.framework, state);
	run.slot = bt_lib_find_slot(run.framework, node_name, run.cycle->arena, &run.status);
	return run;
}

struct berth_status berth_framework_run_reserve_plugins(struct berth_framework *framework,
	struct berth_cycle_state *state, const struct berth_pod_info *pod,
	struct berth_str node_name)
{
	struct run run = begin(framework, state, pod, node_name);

	return run.slot != BT_SLOT_NONE
		? bt_run_reserve(run.framework, run.cycle, run.pod, run.slot)
		: run.status;
}

void berth_framework_run_unreserve_plugins(struct berth_framework *framework,
	struct berth_cycle_state *state, const struct berth_pod_info *pod,
	struct berth_str node_name)
{
	struct run run = begin(framework, state, pod, node_name);

	if (run.slot != BT_SLOT_NONE) {
		bt_run_unreserve(run.framework, run.cycle, run.pod, run.slot);
	}
}

/* --- Permit --- */

struct berth_status berth_framework_run_permit_plugins(struct berth_framework *framework,
	struct berth_cycle_state *state, const struct berth_pod_info *pod,
	struct berth_str node_name, const struct berth_permit_wait **out_waits, uint32_t *out_count)
{
	struct run run = begin(framework, state, pod, node_name);

	*out_waits = NULL;
	*out_count = 0;
	if (run.slot == BT_SLOT_NONE) {
		return run.status;
	}
	struct bt_permit_outcome outcome =
		bt_run_permit(run.framework, run.cycle, run.pod, run.slot);
	struct berth_permit_wait *waits =
		BT_ARENA_NEW_ARRAY(run.cycle->arena, struct berth_permit_wait, outcome.wait_count);

	for (uint32_t i = 0; i < outcome.wait_count; i++) {
		waits[i].plugin = bt_str_from(outcome.waits[i].plugin->ops->name);
		waits[i].timeout_ns = outcome.waits[i].timeout_ns;
	}
	*out_waits = waits;
	*out_count = outcome.wait_count;
	return outcome.status;
}

void berth_framework_add_waiting_pod(struct berth_framework *framework,
	const struct berth_pod_info *pod, const struct berth_permit_wait *waits, uint32_t count,
	int64_t now_ns)
{
	struct bt_framework *inside = bt_framework_of(framework);
	struct bt_wait_time times[BT_PLUGINS_MAX];
	uint32_t known = 0;

	for (uint32_t i = 0; i < count && known < BT_PLUGINS_MAX; i++) {
		struct bt_plugin *plugin = bt_framework_find_plugin(inside, waits[i].plugin);

		if (plugin != NULL) {
			times[known++] = (struct bt_wait_time){plugin, waits[i].timeout_ns};
		}
	}
	if (inside->handle.waiting_pods != NULL) {
		(void)bt_waiting_pods_add(inside->handle.waiting_pods, inside,
			bt_const_pod_info_of(pod), times, known, now_ns);
	}
}

struct berth_status berth_framework_wait_on_permit(struct berth_framework *framework,
	const struct berth_pod_info *pod, int64_t now_ns, struct berth_arena *arena)
{
	struct bt_waiting_pods *waiting = bt_framework_of(framework)->handle.waiting_pods;
	struct bt_status status = BT_STATUS_OK;

	if (waiting == NULL) {
		return status;
	}
	bt_waiting_pods_expire(waiting, now_ns);
	if (bt_waiting_pods_poll(waiting, bt_const_pod_info_of(pod)->uid, bt_arena_of(arena),
		    &status) == BT_WAIT_PENDING) {
		return bt_status_code_only(BT_STATUS_WAIT);
	}
	return status;
}

int64_t berth_framework_next_permit_deadline_ns(const struct berth_framework *framework)
{
	const struct bt_waiting_pods *waiting =
		bt_const_framework_of(framework)->handle.waiting_pods;

	return waiting != NULL ? bt_waiting_pods_next_deadline_ns(waiting) : INT64_MAX;
}

/* --- binding --- */

struct berth_status berth_framework_run_pre_bind_pre_flights(struct berth_framework *framework,
	struct berth_cycle_state *state, const struct berth_pod_info *pod,
	struct berth_str node_name)
{
	struct run run = begin(framework, state, pod, node_name);

	return run.slot != BT_SLOT_NONE
		? bt_run_pre_bind_pre_flights(run.framework, run.cycle, run.pod, run.slot)
		: run.status;
}

/** How far the binding cycle got, between calls that ended with Wait. */
struct binding_progress {
	struct bt_pre_bind_progress pre_bind;
	uint32_t next_binder;
};

#define PROGRESS_KEY BT_STR("berth/binding-progress")

static struct binding_progress *progress_of(struct bt_cycle_state *cycle)
{
	void *progress = NULL;

	if (bt_cycle_state_read(cycle, PROGRESS_KEY, &progress, NULL) != BERTH_OK) {
		progress = BT_ARENA_NEW(cycle->arena, struct binding_progress);
		bt_cycle_state_write(cycle, PROGRESS_KEY, progress, NULL);
	}
	return progress;
}

struct berth_status berth_framework_run_pre_bind_plugins(struct berth_framework *framework,
	struct berth_cycle_state *state, const struct berth_pod_info *pod,
	struct berth_str node_name)
{
	struct run run = begin(framework, state, pod, node_name);

	if (run.slot == BT_SLOT_NONE) {
		return run.status;
	}
	struct binding_progress *progress = progress_of(run.cycle);

	run.cycle->wake_ns = INT64_MAX;
	run.status = bt_run_pre_bind_from(
		run.framework, run.cycle, run.pod, run.slot, &progress->pre_bind);
	if (run.status.code != BT_STATUS_WAIT) {
		progress->pre_bind = (struct bt_pre_bind_progress){0};
	}
	return run.status;
}

struct berth_status berth_framework_run_bind_plugins(struct berth_framework *framework,
	struct berth_cycle_state *state, const struct berth_pod_info *pod,
	struct berth_str node_name)
{
	struct run run = begin(framework, state, pod, node_name);

	if (run.slot == BT_SLOT_NONE) {
		return run.status;
	}
	struct binding_progress *progress = progress_of(run.cycle);

	run.cycle->wake_ns = INT64_MAX;
	run.status = bt_run_bind_from(
		run.framework, run.cycle, run.pod, run.slot, &progress->next_binder);
	if (run.status.code != BT_STATUS_WAIT) {
		progress->next_binder = 0;
	}
	return run.status;
}

void berth_framework_run_post_bind_plugins(struct berth_framework *framework,
	struct berth_cycle_state *state, const struct berth_pod_info *pod,
	struct berth_str node_name)
{
	struct run run = begin(framework, state, pod, node_name);

	if (run.slot != BT_SLOT_NONE) {
		bt_run_post_bind(run.framework, run.cycle, run.pod, run.slot);
	}
}

struct berth_status berth_framework_run_pre_enqueue_plugins(struct berth_framework *framework,
	const struct berth_pod_info *pod, struct berth_arena *arena)
{
	struct bt_plugin *gating = NULL;

	return bt_run_pre_enqueue(
		bt_framework_of(framework), bt_const_pod_info_of(pod), bt_arena_of(arena), &gating);
}
