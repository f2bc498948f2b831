/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/simulation.h"

#include <stdlib.h>

#include "api/defaulting.h"
#include "api/identity.h"
#include "cli/admission.h"
#include "cli/printable.h"
#include "cli/surroundings.h"
#include "config/text_set.h"

/** A message beyond the budget of all messages. */
#define CUT_MESSAGE_BYTES 256

const char *bt_fate_name(enum bt_fate fate)
{
	switch (fate) {
	case BT_FATE_SCHEDULED:
		return "Scheduled";
	case BT_FATE_UNSCHEDULABLE:
		return "Unschedulable";
	case BT_FATE_SCHEDULER_ERROR:
		return "SchedulerError";
	case BT_FATE_SCHEDULING_GATED:
		return "SchedulingGated";
	case BT_FATE_NOT_HANDLED:
		return "NotHandled";
	case BT_FATE_DELETING:
		return "Deleting";
	case BT_FATE__COUNT:
		break;
	}
	return "";
}

bool bt_fate_is_pending(enum bt_fate fate)
{
	return fate != BT_FATE_SCHEDULED && fate != BT_FATE_DELETING;
}

void bt_simulation_init(
	struct bt_simulation *simulation, struct bt_cluster *cluster, struct bt_engine *engine)
{
	*simulation = (struct bt_simulation){.cluster = cluster, .engine = engine};
	bt_arena_init(&simulation->arena, 0);
	bt_expansion_init(&simulation->expansion, cluster);
}

static void let_go(struct bt_simulation *simulation, struct bt_simulated_pod *entry)
{
	if (entry->info.shape != NULL) {
		bt_pod_info_finish_pending(simulation->engine->state, &entry->info);
	}
}

void bt_simulation_finish(struct bt_simulation *simulation)
{
	for (uint32_t i = 0; i < simulation->pods.count; i++) {
		struct bt_simulated_pod *entry = &simulation->pods.items[i];
		if (entry->info.shape != NULL) {
			bt_nominator_delete(&simulation->engine->nominator, entry->info.uid);
		}
		let_go(simulation, entry);
	}
	bt_vec_finish(&simulation->pods);
	bt_expansion_finish(&simulation->expansion);
	bt_arena_finish(&simulation->arena);
}

/** --- loading --- */

struct loading {
	struct bt_simulation *simulation;
	struct bt_admission admission;
	struct bt_arena scratch; /* of one object */
	uint32_t next_expanded;
};

static void load_nodes(struct loading *loading)
{
	struct bt_simulation *simulation = loading->simulation;
	const struct bt_cluster *cluster = simulation->cluster;
	for (uint32_t i = 0; i < cluster->objects.count; i++) {
		const struct bt_cluster_object *object = &cluster->objects.items[i];
		if (object->kind != BT_KIND_NODE) {
			continue;
		}
		struct bt_node node =
			*(const struct bt_node *)bt_object_value(object->object, BT_KIND_NODE);
		node.metadata.name = object->name;
		node.metadata.uid = object->uid;
		bt_node_default(&node, &loading->scratch);
		bt_state_add_node(simulation->engine->state, &node);
		bt_arena_reset(&loading->scratch);
		simulation->node_count++;
	}
}

static int same_uid(const struct bt_pod *pod, struct berth_error *err)
{
	struct bt_strbuf shown = {0};
	bt_printable_append(&shown, pod->metadata.uid);
	int result = bt_error_set(err, BERTH_ERR_INVALID,
		"metadata.uid: %s belongs to another pod as well", bt_strbuf_c(&shown));
	bt_strbuf_finish(&shown);
	return result;
}

static int load_running(struct loading *loading, const struct bt_pod *pod, struct berth_error *err)
{
	struct bt_simulation *simulation = loading->simulation;
	struct bt_state *state = simulation->engine->state;
	if (bt_state_find_pod(state, pod->metadata.uid) != BT_POD_NONE) {
		return same_uid(pod, err);
	}
	if (bt_cluster_find(simulation->cluster, BT_KIND_NODE, BT_STR(""), pod->spec.node_name) ==
		BT_CLUSTER_NONE) {
		struct bt_strbuf shown = {0};
		bt_printable_append(&shown, pod->metadata.namespace_);
		bt_strbuf_append_char(&shown, '/');
		bt_printable_append(&shown, pod->metadata.name);
		bt_strbuf_append_c(&shown, ": its node ");
		bt_printable_append(
			&shown, bt_str_sub(pod->spec.node_name, 0, BT_CLUSTER_NAME_BYTES_MAX));
		bt_cluster_warn(
			simulation->cluster, "Pod %s is not in the input", bt_strbuf_c(&shown));
		bt_strbuf_finish(&shown);
	}
	simulation->running_count++;
	return bt_state_add_pod(state, pod, err);
}

/** pod: a shallow copy whose name, namespace and uid are set. */
static int load_pod(struct loading *loading, const struct bt_pod *pod, struct berth_error *err)
{
	struct bt_simulation *simulation = loading->simulation;
	if (bt_pod_is_terminal(pod)) {
		return 0;
	}
	if (bt_pod_is_assigned(pod)) {
		struct bt_pod copy = *pod;
		int result = bt_admission_admit(&loading->admission, &copy, &loading->scratch, err);
		if (result == 0) {
			result = load_running(loading, &copy, err);
		}
		bt_arena_reset(&loading->scratch);
		return result;
	}
	if (simulation->arena.total_bytes > BT_SIMULATION_POD_BYTES_MAX) {
		return bt_error_set(err, BERTH_ERR_TOO_LARGE,
			"the pods to be placed take more than %zu bytes of memory",
			BT_SIMULATION_POD_BYTES_MAX);
	}
	struct bt_pod *copy = BT_ARENA_NEW(&simulation->arena, struct bt_pod);
	*copy = *pod;
	struct bt_simulated_pod entry = {.pod = copy, .sequence = simulation->pods.count};
	bt_vec_push(&simulation->pods, entry);
	return bt_admission_admit(&loading->admission, copy, &simulation->arena, err);
}

static int load_input_pod(struct loading *loading, uint32_t index, struct berth_error *err)
{
	struct bt_cluster *cluster = loading->simulation->cluster;
	const struct bt_cluster_object *object = &cluster->objects.items[index];
	struct bt_pod pod = *(const struct bt_pod *)bt_object_value(object->object, BT_KIND_POD);
	pod.metadata.name = object->name;
	pod.metadata.namespace_ = object->namespace_;
	pod.metadata.uid = object->uid;
	int result = load_pod(loading, &pod, err);
	if (result < 0) {
		return bt_cluster_wrap(cluster, index, result, err);
	}
	if (bt_pod_is_assigned(&pod) || bt_pod_is_terminal(&pod)) {
		bt_cluster_release(cluster, index);
	}
	return 0;
}

static int load_expanded_pods(struct loading *loading, uint32_t owner, struct berth_error *err)
{
	const struct bt_expansion *expansion = &loading->simulation->expansion;
	while (loading->next_expanded < expansion->pods.count &&
		expansion->pods.items[loading->next_expanded].owner == owner) {
		const struct bt_pod *pod = expansion->pods.items[loading->next_expanded++].pod;
		int result = load_pod(loading, pod, err);
		if (result < 0) {
			result = bt_error_wrap(err, result, "spec.template");
			return bt_cluster_wrap(loading->simulation->cluster, owner, result, err);
		}
	}
	return 0;
}

static int load_pods(struct loading *loading, struct berth_error *err)
{
	const struct bt_cluster *cluster = loading->simulation->cluster;
	for (uint32_t i = 0; i < cluster->objects.count; i++) {
		int result;
		if (cluster->objects.items[i].kind == BT_KIND_POD) {
			result = load_input_pod(loading, i, err);
		} else {
			result = load_expanded_pods(loading, i, err);
		}
		if (result < 0) {
			return result;
		}
	}
	return 0;
}

static int check_uids(const struct bt_simulation *simulation, struct berth_error *err)
{
	struct bt_text_set uids = {0};
	int result = 0;
	for (uint32_t i = 0; i < simulation->pods.count && result == 0; i++) {
		const struct bt_pod *pod = simulation->pods.items[i].pod;
		if (!bt_text_set_add(&uids, pod->metadata.uid) ||
			bt_state_find_pod(simulation->engine->state, pod->metadata.uid) !=
				BT_POD_NONE) {
			result = same_uid(pod, err);
			uint32_t index = bt_cluster_find(simulation->cluster, BT_KIND_POD,
				pod->metadata.namespace_, pod->metadata.name);
			if (index != BT_CLUSTER_NONE) {
				result = bt_cluster_wrap(simulation->cluster, index, result, err);
			}
		}
	}
	bt_text_set_finish(&uids);
	return result;
}

/** The order of the queue; see the header. */
static int compare_pods(const void *a, const void *b)
{
	const struct bt_simulated_pod *first = a;
	const struct bt_simulated_pod *second = b;
	int32_t first_priority = bt_pod_priority(first->pod);
	int32_t second_priority = bt_pod_priority(second->pod);
	const struct bt_time *first_time = &first->pod->metadata.creation_timestamp;
	const struct bt_time *second_time = &second->pod->metadata.creation_timestamp;
	if (first_priority != second_priority) {
		return first_priority > second_priority ? -1 : 1;
	}
	if (first_time->set != second_time->set) {
		return first_time->set ? -1 : 1;
	}
	int order = bt_time_compare(first_time, second_time);
	if (order != 0) {
		return order;
	}
	return first->sequence < second->sequence ? -1 : 1;
}

/** Nominated pods hold their places from the start, in input order. */
static void nominate(struct bt_simulation *simulation)
{
	struct bt_engine *engine = simulation->engine;
	for (uint32_t i = 0; i < simulation->pods.count; i++) {
		struct bt_simulated_pod *entry = &simulation->pods.items[i];
		struct bt_str node_name = entry->pod->status.nominated_node_name;
		if (node_name.length != 0 && !bt_pod_is_terminating(entry->pod) &&
			bt_engine_profile(engine, entry->pod->spec.scheduler_name) != NULL) {
			bt_pod_info_init_pending(engine->state, entry->pod, &entry->info);
			bt_nominator_add(&engine->nominator, &entry->info, node_name, true);
		}
	}
}

int bt_simulation_load(struct bt_simulation *simulation, struct berth_error *err)
{
	const struct bt_gates *gates = bt_config_gates(simulation->engine->config);
	struct loading loading = {.simulation = simulation};
	bt_arena_init(&loading.scratch, 0);
	bt_cluster_index_owners(simulation->cluster);
	bt_admission_init(&loading.admission, simulation->cluster,
		bt_gate_enabled(gates, BT_GATE_POD_LEVEL_RESOURCES));
	simulation->expansion.taint_comparison =
		bt_gate_enabled(gates, BT_GATE_TAINT_TOLERATION_COMPARISON_OPERATORS);
	int result = bt_expansion_run(&simulation->expansion, err);
	if (result == 0) {
		load_nodes(&loading);
		result = bt_surroundings_load(simulation->cluster, &simulation->expansion,
			simulation->engine->state, err);
	}
	if (result == 0) {
		result = load_pods(&loading, err);
	}
	if (result == 0) {
		result = check_uids(simulation, err);
	}
	bt_arena_finish(&loading.scratch);
	if (result == 0 && simulation->pods.count > 1) {
		/* Moves entries, so it must come before anybody keeps a pointer to one. */
		qsort(simulation->pods.items, simulation->pods.count,
			sizeof(simulation->pods.items[0]), compare_pods);
	}
	if (result == 0) {
		nominate(simulation);
	}
	return result;
}

/** --- deciding --- */

/** Pods of one template fail with the same words: those are kept once. */
static struct bt_str keep_message(
	struct bt_simulation *simulation, struct bt_str message, const struct bt_str *last)
{
	if (bt_str_equal(message, *last)) {
		return *last;
	}
	if (simulation->message_bytes + message.length > BT_SIMULATION_MESSAGE_BYTES_MAX &&
		message.length > CUT_MESSAGE_BYTES) {
		message = bt_str_sub(message, 0, CUT_MESSAGE_BYTES);
		return bt_arena_printf(&simulation->arena, "%.*s ...", BT_STR_ARG(message));
	}
	simulation->message_bytes += message.length;
	return bt_arena_str(&simulation->arena, message);
}

static void reject(struct bt_simulated_pod *entry, enum bt_fate fate, struct bt_str message)
{
	entry->fate = fate;
	entry->message = message;
}

/** Spec 03 section 9: what a failed cycle does to the pod's nomination. */
static void renominate(struct bt_engine *engine, struct bt_simulated_pod *entry,
	const struct bt_schedule_result *result)
{
	struct bt_str node_name;
	bt_nominator_nominate(&engine->nominator, &entry->info,
		result->nomination.present ? &result->nomination : NULL, true, true);
	if (!bt_nominator_find(&engine->nominator, entry->info.uid, &node_name)) {
		bt_pod_info_finish_pending(engine->state, &entry->info);
	}
}

static void schedule(struct bt_simulation *simulation, struct bt_framework *framework,
	struct bt_simulated_pod *entry, struct bt_arena *arena)
{
	struct bt_engine *engine = simulation->engine;
	struct bt_schedule_result result;
	entry->cpu_milli = entry->info.shape->requested_cpu_milli;
	entry->memory_bytes = entry->info.shape->requested_memory_bytes;
	bt_engine_schedule(engine, framework, &entry->info, &result);
	entry->feasible_count = result.feasible_count;
	if (result.outcome == BT_OUTCOME_SCHEDULED) {
		entry->score = result.total_score;
		if (bt_engine_place(engine, &entry->info, &result)) {
			entry->fate = BT_FATE_SCHEDULED;
			entry->node_name = bt_arena_str(&simulation->arena,
				bt_node_table_name(&engine->state->nodes, result.slot));
			let_go(simulation, entry);
			return;
		}
	}
	enum bt_fate fate = bt_status_is_rejected(&result.status) ? BT_FATE_UNSCHEDULABLE
								  : BT_FATE_SCHEDULER_ERROR;
	reject(entry, fate, bt_status_message_str(&result.status, arena));
	renominate(engine, entry, &result);
}

static void decide(
	struct bt_simulation *simulation, struct bt_simulated_pod *entry, struct bt_arena *arena)
{
	struct bt_engine *engine = simulation->engine;
	const struct bt_pod *pod = entry->pod;
	struct bt_framework *framework = bt_engine_profile(engine, pod->spec.scheduler_name);
	if (framework == NULL) {
		struct bt_strbuf text = {0};
		bt_strbuf_append_c(&text, "profile not found for scheduler name ");
		bt_strbuf_append_quoted(&text, pod->spec.scheduler_name);
		reject(entry, BT_FATE_NOT_HANDLED, bt_arena_str(arena, bt_strbuf_str(&text)));
		bt_strbuf_finish(&text);
		return;
	}
	if (entry->info.shape == NULL) {
		bt_pod_info_init_pending(engine->state, pod, &entry->info);
	}
	struct bt_plugin *gate;
	struct bt_status status = bt_run_pre_enqueue(framework, &entry->info, arena, &gate);
	if (!bt_status_is_success(&status)) {
		reject(entry, BT_FATE_SCHEDULING_GATED, bt_status_message_str(&status, arena));
	} else if (bt_pod_is_terminating(pod)) {
		reject(entry, BT_FATE_DELETING,
			bt_arena_printf(arena, "skip schedule deleting pod: %.*s/%.*s",
				BT_STR_ARG(pod->metadata.namespace_),
				BT_STR_ARG(pod->metadata.name)));
	} else {
		schedule(simulation, framework, entry, arena);
		return;
	}
	if (pod->status.nominated_node_name.length == 0 || bt_pod_is_terminating(pod)) {
		let_go(simulation, entry);
	}
}

void bt_simulation_run(struct bt_simulation *simulation)
{
	struct bt_str last = BT_STR("");
	struct bt_arena arena;
	bt_arena_init(&arena, 0);
	for (uint32_t i = 0; i < simulation->pods.count; i++) {
		struct bt_simulated_pod *entry = &simulation->pods.items[i];
		if (simulation->progress != NULL) {
			simulation->progress(
				simulation->progress_context, i, simulation->pods.count);
		}
		decide(simulation, entry, &arena);
		if (entry->fate != BT_FATE_SCHEDULED) {
			entry->message = keep_message(simulation, entry->message, &last);
			last = entry->message;
		}
		simulation->counts[entry->fate]++;
		bt_arena_reset(&arena);
	}
	bt_arena_finish(&arena);
}
