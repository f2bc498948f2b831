/* SPDX-License-Identifier: Apache-2.0 */
#include "plugins/preemption_executor.h"

#include "api/identity.h"
#include "base/log.h"
#include "framework/framework.h"
#include "framework/pod_lister.h"
#include "framework/waiting_pods.h"
#include "plugins/common_plugin.h"

static struct bt_preemption_pod copy_pod(struct bt_arena *arena, struct bt_preemption_pod pod)
{
	return (struct bt_preemption_pod){
		.namespace_ = bt_arena_str(arena, pod.namespace_),
		.name = bt_arena_str(arena, pod.name),
		.uid = bt_arena_str(arena, pod.uid),
	};
}

static void eviction_init_victim(
	const struct bt_eviction *eviction, uint32_t pod_id, struct bt_victim *out)
{
	const struct bt_state *state = eviction->executor->handle->state;
	const struct bt_pod_record *record = bt_state_pod_at(state, pod_id);

	out->pod = copy_pod(eviction->arena,
		(struct bt_preemption_pod){bt_symbol_text(&state->symbols, record->namespace_),
			bt_pod_record_name(record), bt_pod_record_uid(record)});
	/* Make the DisruptionTarget condition, and check whether the victim's status lacks it. */
	const struct bt_pod_lister *pods = eviction->executor->handle->pods;
	const struct bt_pod *object =
		pods != NULL ? pods->find(pods->context, out->pod.namespace_, out->pod.name) : NULL;
	static const struct bt_time unknown_time = {0};

	out->condition = (struct bt_pod_condition){
		.type = BT_STR("DisruptionTarget"),
		.status = BT_STR("True"),
		.reason = BT_STR("PreemptionByScheduler"),
		.message = bt_arena_printf(eviction->arena,
			"%.*s: preempting to accommodate a higher priority %s",
			BT_STR_ARG(eviction->preemptor.scheduler_name),
			eviction->preemptor.is_group ? "podgroup" : "pod"),
	};
	out->patch = true;
	if (object != NULL && bt_str_equal(object->metadata.uid, out->pod.uid)) {
		out->condition.observed_generation = object->metadata.generation;
		(void)bt_pod_conditions_set(&object->status, &out->condition, &unknown_time,
			eviction->arena, &out->patch);
	}
}

static void eviction_send_event(
	const struct bt_eviction *eviction, const struct bt_victim *victim, bool in_memory)
{
	const struct bt_preemption_writer *writer = eviction->executor->handle->preemption_writer;
	struct bt_strbuf note = {0};
	struct bt_preemption_event event = {
		.victim = victim->pod,
		.related_group =
			eviction->preemptor.is_group ? &eviction->preemptor.identity : NULL,
	};

	BT_LOG_INFO(2, "Preemptor Pod preempted victim Pod",
		BT_LOG_REF("preemptor", eviction->preemptor.identity.namespace_,
			eviction->preemptor.identity.name),
		BT_LOG_REF("victim", victim->pod.namespace_, victim->pod.name),
		BT_LOG_STR("node", eviction->candidate_name));
	if (writer->event == NULL) {
		return;
	}
	bt_strbuf_printf(&note, "Preempted by %s %.*s on node %.*s%s",
		eviction->preemptor.is_group ? "podgroup" : "pod",
		BT_STR_ARG(eviction->preemptor.uid), BT_STR_ARG(eviction->candidate_name),
		in_memory ? " (in kube-scheduler memory)." : "");
	event.note = bt_strbuf_str(&note);
	writer->event(writer->context, &event);
	bt_strbuf_finish(&note);
}

/**
 * Stop a victim whose binding is not finished, without an API call. Returns false if the victim is
 * bound already.
 */
static bool eviction_stop_in_memory(
	const struct bt_eviction *eviction, const struct bt_victim *victim)
{
	const struct bt_handle *handle = eviction->executor->handle;
	const struct bt_preemption_writer *writer = handle->preemption_writer;
	struct bt_waiting_pod *waiting = handle->waiting_pods != NULL
		? bt_waiting_pods_find(handle->waiting_pods, victim->pod.uid)
		: NULL;
	struct bt_strbuf cause = {0};

	if (waiting != NULL) {
		return bt_waiting_pod_reject(waiting, BT_STATUS_ERROR,
			eviction->executor->plugin_name, BT_STR("preempted"));
	}
	if (writer->cancel_pre_bind == NULL) {
		return false;
	}
	bt_strbuf_append_c(&cause, "preempted by ");
	bt_strbuf_append_str(&cause, eviction->executor->plugin_name);
	bool stopped =
		writer->cancel_pre_bind(writer->context, victim->pod.uid, bt_strbuf_str(&cause));
	bt_strbuf_finish(&cause);
	return stopped;
}

/** Pods of lower priority that are nominated on the node. Their nominations must be cleared. */
struct lower_nominations {
	BT_VEC(struct bt_preemption_pod) pods;
};

/** Returns the nominations to clear. The caller must free pods (bt_vec_finish). */
static struct lower_nominations find_lower_nominations(const struct bt_eviction *eviction)
{
	const struct bt_framework *framework = eviction->executor->handle->framework;
	const struct bt_gates *gates = eviction->executor->handle->gates;
	/*
	 * Only nominations in the status of a pod need clearing. But if API calls are asynchronous,
	 * the patch that writes a nomination may still be queued, so every nominated pod counts.
	 */
	bool may_be_pending =
		gates != NULL && bt_gate_enabled(gates, BT_GATE_SCHEDULER_ASYNC_API_CALLS);
	struct lower_nominations lower = {0};
	const struct bt_pod_info *pod;
	uint32_t cursor = BT_NOMINATION_FIRST;

	while (framework != NULL && framework->nominator != NULL &&
		(pod = bt_nominator_next(
			 framework->nominator, eviction->candidate_name, &cursor)) != NULL) {
		if (pod->priority < eviction->preemptor.priority &&
			(pod->nominated_node_name.length != 0 || may_be_pending)) {
			bt_vec_push(&lower.pods,
				copy_pod(eviction->arena,
					(struct bt_preemption_pod){
						pod->namespace_, pod->name, pod->uid}));
		}
	}
	return lower;
}

void bt_eviction_clear_nominations(const struct bt_eviction *eviction)
{
	const struct bt_preemption_writer *writer = eviction->executor->handle->preemption_writer;
	struct bt_preemption_ticket none = {NULL, 0};

	if (writer == NULL) {
		return;
	}
	struct lower_nominations lower = find_lower_nominations(eviction);

	for (uint32_t i = 0; i < lower.pods.count; i++) {
		struct berth_error err = BERTH_ERROR_INIT;

		(void)writer->clear_nomination(writer->context, none, &lower.pods.items[i], &err);
		berth_error_finish(&err);
	}
	bt_vec_finish(&lower.pods);
}

static bool eviction_is_terminating(const struct bt_preemption_executor *executor, uint32_t pod_id)
{
	return bt_state_pod_at(executor->handle->state, pod_id)->terminating;
}

/** `item` of a write: the index of a victim, or this value if the write clears a nomination. */
#define ITEM_NOMINATION UINT32_C(0x7fffffff)

/** Step of an asynchronous preemption, spec 08 section 11.3 item 4. */
enum stage {
	STAGE_NOMINATIONS,
	STAGE_ALL_BUT_LAST,
	STAGE_LAST,
};

struct bt_preemption_task {
	uint32_t serial;
	uint64_t uid_hash;
	struct bt_arena arena;
	struct bt_eviction eviction;
	struct bt_victim *victims; /* without victims that were terminating already */
	uint32_t victim_count;
	enum stage stage;
	/*
	 * Tasks of one preemptor share a mark and a pending victim, as in spec 08 section 11.3: the
	 * end of any of them removes both.
	 */
	bool is_marked;
	bool has_pending_victim; /* the pending victim is the last victim of this task */
	uint32_t pending;        /* writes in flight */
	bool clearing_failed;
	bool failed; /* a victim could not be evicted */
};

static uint64_t serial_hash(uint32_t serial)
{
	return (serial + UINT64_C(1)) * UINT64_C(0x9e3779b97f4a7c15);
}

static void task_destroy(struct bt_preemption_task *task)
{
	bt_arena_finish(&task->arena);
	bt_free(task);
}

void bt_preemption_executor_finish(struct bt_preemption_executor *executor)
{
	bt_vec_finish_each(&executor->tasks, task_destroy(*each));
	bt_map_finish(&executor->by_uid);
	bt_map_finish(&executor->by_serial);
}

static uint32_t find_task(const struct bt_preemption_executor *executor, uint32_t serial)
{
	uint64_t hash = serial_hash(serial);

	if (executor->tasks.count == 0) {
		return UINT32_MAX;
	}
	BT_MAP_EACH (&executor->by_serial, hash, index) {
		if (executor->tasks.items[index]->serial == serial) {
			return index;
		}
	}
	return UINT32_MAX;
}

/**
 * Handle the result of a write; may start the next write for the same victim. deleted: the write
 * was the DELETE of the victim.
 */
static void write_done(struct bt_preemption_task *task, uint32_t item, bool deleted, int result);

static struct bt_preemption_ticket ticket_of(
	const struct bt_preemption_task *task, uint32_t item, bool deleting)
{
	uint64_t low = (uint64_t)item << 1 | deleting;

	return (struct bt_preemption_ticket){
		task->eviction.executor, (uint64_t)task->serial << 32 | low};
}

static void send_delete(struct bt_preemption_task *task, uint32_t item)
{
	const struct bt_preemption_writer *writer =
		task->eviction.executor->handle->preemption_writer;
	struct berth_error err = BERTH_ERROR_INIT;

	task->pending++;
	int result = writer->delete_pod(
		writer->context, ticket_of(task, item, true), &task->victims[item].pod, &err);
	berth_error_finish(&err);
	if (result != BT_PREEMPTION_PENDING) {
		write_done(task, item, true, result);
	}
}

static void send_victim(struct bt_preemption_task *task, uint32_t item)
{
	const struct bt_preemption_writer *writer =
		task->eviction.executor->handle->preemption_writer;
	const struct bt_victim *victim = &task->victims[item];
	struct berth_error err = BERTH_ERROR_INIT;

	if (eviction_stop_in_memory(&task->eviction, victim)) {
		eviction_send_event(&task->eviction, victim, true);
		return;
	}
	if (!victim->patch) {
		send_delete(task, item);
		return;
	}
	task->pending++;
	int result = writer->patch_condition(writer->context, ticket_of(task, item, false),
		&victim->pod, &victim->condition, &err);
	berth_error_finish(&err);
	if (result != BT_PREEMPTION_PENDING) {
		write_done(task, item, false, result);
	}
}

static void write_done(struct bt_preemption_task *task, uint32_t item, bool deleted, int result)
{
	task->pending--;
	if (item == ITEM_NOMINATION) {
		task->clearing_failed |= result < 0;
		return;
	}
	if (result == BERTH_ERR_NOT_FOUND) {
		return;
	}
	if (result < 0) {
		task->failed = true;
		return;
	}
	if (deleted) {
		eviction_send_event(&task->eviction, &task->victims[item], false);
	} else if (!task->failed) {
		/* After an error, no victim is deleted any more. */
		send_delete(task, item);
	}
}

/** Forget the pending victim of the task's preemptor, and its mark if the task ends. */
static void forget_pending_victim(const struct bt_preemption_task *task, bool ends)
{
	const struct bt_preemption_executor *executor = task->eviction.executor;

	BT_MAP_EACH (&executor->by_uid, task->uid_hash, index) {
		struct bt_preemption_task *other = executor->tasks.items[index];

		if (bt_str_equal(other->eviction.preemptor.uid, task->eviction.preemptor.uid)) {
			other->is_marked &= !ends;
			other->has_pending_victim = false;
		}
	}
}

static void end_task(struct bt_preemption_task *task)
{
	struct bt_preemption_executor *executor = task->eviction.executor;

	forget_pending_victim(task, true);
	uint32_t index = find_task(executor, task->serial);
	uint32_t last = executor->tasks.count - 1;
	const struct bt_preemption_task *moved = executor->tasks.items[last];

	bt_map_remove_swap(&executor->by_uid, task->uid_hash, index, moved->uid_hash, last);
	bt_map_remove_swap(&executor->by_serial, serial_hash(task->serial), index,
		serial_hash(moved->serial), last);
	bt_vec_remove_swap(&executor->tasks, index);
	if (task->failed || task->clearing_failed) {
		/* The preemption failed, so the preemptor need not wait for victims. */
		const struct bt_preemptor *preemptor = &task->eviction.preemptor;
		const struct bt_preemption_writer *writer = executor->handle->preemption_writer;
		const struct bt_handle_services *services = executor->handle->services;

		if (writer->activate != NULL) {
			writer->activate(writer->context, preemptor->pods, preemptor->pod_count);
		} else if (services != NULL && services->activate != NULL) {
			for (uint32_t i = 0; i < preemptor->pod_count; i++) {
				services->activate(services->context, preemptor->pods[i].namespace_,
					preemptor->pods[i].name);
			}
		}
	}
	task_destroy(task);
}

/** Continue the task until a write is pending. May end the task. */
static void advance(struct bt_preemption_task *task)
{
	while (task->pending == 0) {
		switch (task->stage) {
		case STAGE_NOMINATIONS:
			task->stage = STAGE_ALL_BUT_LAST;
			for (uint32_t i = 0; i + 1 < task->victim_count && !task->failed; i++) {
				send_victim(task, i);
			}
			break;
		case STAGE_ALL_BUT_LAST:
			if (task->failed) {
				end_task(task);
				return;
			}
			task->stage = STAGE_LAST;
			forget_pending_victim(task, false);
			task->has_pending_victim = true;
			send_victim(task, task->victim_count - 1);
			break;
		case STAGE_LAST:
			end_task(task);
			return;
		}
	}
}

static void start_task(struct bt_preemption_executor *executor,
	const struct bt_preemptor *preemptor, struct bt_str candidate_name, const uint32_t *victims,
	uint32_t victim_count)
{
	uint32_t remaining = 0;

	for (uint32_t i = 0; i < victim_count; i++) {
		remaining += !eviction_is_terminating(executor, victims[i]);
	}
	if (remaining == 0) {
		return;
	}
	struct bt_scheduler_metrics *metrics = bt_handle_metrics(executor->handle);
	/*
	 * Upstream quirk, spec 08 section 16: upstream records the result and the duration before
	 * the preemption starts, so they are always "success" and about 0.
	 */
	bt_metrics_observe(metrics, BT_FAMILY_PREEMPTION_VICTIMS, NULL, victim_count);
	bt_metrics_count(metrics, BT_FAMILY_PREEMPTION_TASKS, "success");
	bt_metrics_observe(metrics, BT_FAMILY_PREEMPTION_TASK_DURATION, "success", 0);
	struct bt_preemption_task *task = BT_NEW(struct bt_preemption_task);
	task->serial = executor->next_serial++;
	task->uid_hash = bt_str_hash(preemptor->uid);
	task->is_marked = true;
	task->eviction.executor = executor;
	task->eviction.arena = &task->arena;
	struct bt_arena *arena = task->eviction.arena;
	struct bt_preemption_pod *pods =
		BT_ARENA_NEW_ARRAY(arena, struct bt_preemption_pod, preemptor->pod_count);

	for (uint32_t i = 0; i < preemptor->pod_count; i++) {
		pods[i] = copy_pod(arena, preemptor->pods[i]);
	}
	task->eviction.preemptor = *preemptor;
	task->eviction.preemptor.uid = bt_arena_str(arena, preemptor->uid);
	task->eviction.preemptor.scheduler_name = bt_arena_str(arena, preemptor->scheduler_name);
	task->eviction.preemptor.identity = copy_pod(arena, preemptor->identity);
	task->eviction.preemptor.pods = pods;
	task->eviction.candidate_name = bt_arena_str(arena, candidate_name);
	task->victims = BT_ARENA_NEW_ARRAY(&task->arena, struct bt_victim, remaining);
	for (uint32_t i = 0; i < victim_count; i++) {
		if (!eviction_is_terminating(executor, victims[i])) {
			eviction_init_victim(
				&task->eviction, victims[i], &task->victims[task->victim_count++]);
		}
	}
	uint32_t index = executor->tasks.count;

	bt_vec_push(&executor->tasks, task);
	bt_map_insert(&executor->by_uid, task->uid_hash, index);
	bt_map_insert(&executor->by_serial, serial_hash(task->serial), index);
	const struct bt_preemption_writer *writer =
		task->eviction.executor->handle->preemption_writer;
	struct lower_nominations lower = find_lower_nominations(&task->eviction);

	for (uint32_t i = 0; i < lower.pods.count; i++) {
		struct berth_error err = BERTH_ERROR_INIT;

		task->pending++;
		int result = writer->clear_nomination(writer->context,
			ticket_of(task, ITEM_NOMINATION, false), &lower.pods.items[i], &err);
		berth_error_finish(&err);
		if (result != BT_PREEMPTION_PENDING) {
			write_done(task, ITEM_NOMINATION, false, result);
		}
	}
	bt_vec_finish(&lower.pods);
	advance(task);
}

void bt_preemption_complete(struct bt_preemption_executor *executor, uint64_t id, int result)
{
	uint32_t index = find_task(executor, (uint32_t)(id >> 32));

	if (index != UINT32_MAX) {
		struct bt_preemption_task *task = executor->tasks.items[index];

		write_done(task, (uint32_t)id >> 1, (id & 1) != 0, result);
		advance(task);
	}
}

struct bt_status bt_prepare_candidate(struct bt_preemption_executor *executor,
	const struct bt_preemptor *preemptor, struct bt_str candidate_name, const uint32_t *victims,
	uint32_t victim_count, struct bt_arena *arena)
{
	const struct bt_preemption_writer *writer = executor->handle->preemption_writer;
	struct bt_preemption_ticket none = {NULL, 0};
	struct bt_eviction eviction = {executor, arena, *preemptor, candidate_name};

	if (writer == NULL) {
		return BT_STATUS_OK;
	}
	if (!bt_gate_enabled(executor->handle->gates, BT_GATE_SCHEDULER_ASYNC_PREEMPTION)) {
		/* Evict synchronously: Success, or Error if a write failed. */
		bt_metrics_observe(bt_handle_metrics(executor->handle),
			BT_FAMILY_PREEMPTION_VICTIMS, NULL, victim_count);
		for (uint32_t i = 0; i < victim_count; i++) {
			struct berth_error err = BERTH_ERROR_INIT;
			struct bt_victim victim;

			if (eviction_is_terminating(executor, victims[i])) {
				continue;
			}
			eviction_init_victim(&eviction, victims[i], &victim);
			int result = 0;
			if (eviction_stop_in_memory(&eviction, &victim)) {
				eviction_send_event(&eviction, &victim, true);
				continue;
			}
			if (victim.patch) {
				result = writer->patch_condition(writer->context, none, &victim.pod,
					&victim.condition, &err);
			}
			if (result == 0) {
				result = writer->delete_pod(
					writer->context, none, &victim.pod, &err);
			}
			BT_ASSERT(result <= 0);
			if (result == 0) {
				eviction_send_event(&eviction, &victim, false);
			} else if (result == BERTH_ERR_NOT_FOUND) {
				berth_error_finish(&err);
			} else {
				return bt_status_from_error(arena, &err);
			}
		}
		bt_eviction_clear_nominations(&eviction);
		return BT_STATUS_OK;
	}
	start_task(executor, preemptor, candidate_name, victims, victim_count);
	return BT_STATUS_OK;
}

struct bt_status bt_prepare_candidate_for_pod(struct bt_preemption_executor *executor,
	const struct bt_pod_info *pod, struct bt_str node_name, const uint32_t *victims,
	uint32_t victim_count, struct bt_arena *arena)
{
	struct bt_preemption_pod identity = {pod->namespace_, pod->name, pod->uid};
	struct bt_preemptor preemptor = {
		.uid = pod->uid,
		.identity = identity,
		.priority = pod->priority,
		.scheduler_name = bt_plugin_pod_spec(pod)->scheduler_name,
		.pods = &identity,
		.pod_count = 1,
	};

	return bt_prepare_candidate(executor, &preemptor, node_name, victims, victim_count, arena);
}

bool bt_preemption_is_running(const struct bt_preemption_executor *executor, struct bt_str uid)
{
	if (executor->tasks.count == 0) {
		return false;
	}
	uint64_t hash = bt_str_hash(uid);
	const struct bt_handle *handle = executor->handle;
	const struct bt_preemption_task *holder = NULL;
	bool is_marked = false;
	BT_MAP_EACH (&executor->by_uid, hash, index) {
		const struct bt_preemption_task *task = executor->tasks.items[index];

		if (bt_str_equal(task->eviction.preemptor.uid, uid)) {
			is_marked |= task->is_marked;
			holder = task->has_pending_victim ? task : holder;
		}
	}
	if (!is_marked || holder == NULL) {
		return is_marked;
	}
	/* The preemption runs until the last victim is gone or terminating. */
	const struct bt_preemption_pod *last = &holder->victims[holder->victim_count - 1].pod;
	if (handle->pods != NULL) {
		const struct bt_pod *object =
			handle->pods->find(handle->pods->context, last->namespace_, last->name);
		return object != NULL && !bt_pod_is_terminating(object);
	}
	uint32_t pod_id = bt_state_find_pod(handle->state, last->uid);
	return pod_id != BT_POD_NONE && !eviction_is_terminating(executor, pod_id);
}
