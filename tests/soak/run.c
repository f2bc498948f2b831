/* SPDX-License-Identifier: Apache-2.0 */
/**
 * One history: changes, quiet moments with checks of everything, and the deletion of everything at
 * the end.
 */
#include "soak/sim.h"

#include "api/identity.h"
#include "soak/world.h"

#define ROUND_SECONDS 300
/** Seconds, more than the longest wait of an unschedulable pod for a flush (BT_SIM_PATIENCE_NS). */
#define FINAL_SECONDS 400
/** Seconds, more than the longest backoff. */
#define CALM_SECONDS 13

/** --- quiet moments --- */

static bool is_quiet(struct bt_sim *sim)
{
	return sim->busy == 0 && sim->waiting == 0 && !sim->attempt_is_due &&
		!sim->cluster_is_due &&
		!bt_controllers_have_work(sim->store.cluster->controllers) &&
		bt_sim_watch_is_quiet(&sim->watch) &&
		!bt_queue_can_pop(bt_scheduler_queue(sim->scheduler));
}

static void wait_for_quiet(struct bt_sim *sim)
{
	for (uint32_t i = 0; i < 90000 && !sim->failed; i++) {
		if (is_quiet(sim)) {
			return;
		}
		bt_sim_run_until(sim, sim->clock.now_ns + 20 * BT_SIM_MILLISECOND);
	}
	struct bt_strbuf complaint = {0};
	bt_strbuf_printf(&complaint,
		"nothing changes, but it does not get quiet: %u actions are to come, %u bindings "
		"wait, the watch is %s, the controllers are %s",
		sim->busy, sim->waiting, bt_sim_watch_is_quiet(&sim->watch) ? "quiet" : "busy",
		bt_controllers_have_work(sim->store.cluster->controllers) ? "busy" : "quiet");
	bt_sim_complain(sim, bt_strbuf_str(&complaint));
	bt_strbuf_finish(&complaint);
}

/** --- waiting pods, according to the scheduler --- */

static bool is_ours(void *context, const struct bt_pod *pod)
{
	const struct bt_sim *sim = context;
	return bt_engine_profile(bt_scheduler_engine(sim->scheduler), pod->spec.scheduler_name) !=
		NULL;
}

static bool has_rejector(
	const struct bt_sim *sim, const struct bt_queue_entry *entry, struct bt_str plugin)
{
	uint32_t rejector =
		bt_queue_find_rejector(bt_scheduler_queue(sim->scheduler), entry->profile, plugin);
	return rejector != BT_REJECTOR__COUNT &&
		bt_rejectors_has(&entry->unschedulable_plugins, rejector);
}

/**
 * Whether only a flush by time can requeue the pod. The queueing hints of upstream miss some
 * changes that can help a pod, and berth must do the same (spec 06 sections 2.15 and 3.12):
 * - a node no longer counts for a spread constraint
 * - a pod with anti-affinity, or the last pod that matches an affinity, has left a node's domain
 * - a nomination ended; the API never had this nomination, or still has it because the patch
 *   failed, or the pod is assumed on another node
 * - a binding failed, and other pods could use its volumes or devices
 * - a claim was deleted before the watch showed that its devices were free (spec 12 section 16)
 */
static bool needs_flush(const struct bt_sim *sim, const struct bt_queue_entry *entry)
{
	bool nodes_changed = sim->node_change_ns >= entry->timestamp_ns;
	bool pods_changed = sim->pod_change_ns >= entry->timestamp_ns;
	const struct bt_affinity *affinity = entry->pod.object->spec.affinity;
	bool wants_others = affinity != NULL && affinity->pod_affinity != NULL &&
		affinity->pod_affinity->required.count != 0;
	return sim->unseen_end_ns >= entry->timestamp_ns ||
		(has_rejector(sim, entry, BT_STR("VolumeBinding")) &&
			sim->freed_ns >= entry->timestamp_ns) ||
		(has_rejector(sim, entry, BT_STR("DynamicResources")) &&
			(sim->freed_ns >= entry->timestamp_ns ||
				sim->claim_lost_ns >= entry->timestamp_ns)) ||
		(has_rejector(sim, entry, BT_STR("PodTopologySpread")) && nodes_changed) ||
		(has_rejector(sim, entry, BT_STR("InterPodAffinity")) &&
			(nodes_changed || (wants_others && pods_changed)));
}

static enum bt_sim_wait wait_of(void *context, const struct bt_pod *pod)
{
	const struct bt_sim *sim = context;
	const struct bt_queue_entry *entry = bt_queue_find(
		bt_scheduler_queue(sim->scheduler), pod->metadata.namespace_, pod->metadata.name);
	if (entry == NULL) {
		return BT_SIM_WAIT_NOWHERE;
	}
	if (bt_queue_entry_is_gated(entry)) {
		struct bt_str plugin = bt_queue_rejector_name(
			bt_scheduler_queue(sim->scheduler), entry->profile, entry->gating_plugin);
		return bt_str_equal_c(plugin, "DynamicResources") ? BT_SIM_WAIT_CLAIM
								  : BT_SIM_WAIT_GATE;
	}
	if (entry->place != BT_QUEUE_UNSCHEDULABLE) {
		return BT_SIM_WAIT_TURN;
	}
	return needs_flush(sim, entry) ? BT_SIM_WAIT_CLOCK : BT_SIM_WAIT_EVENT;
}

struct nominations {
	struct bt_sim *sim;
	struct bt_str node_name;
	BT_VEC(struct bt_sim_placed) list;
};

static void note_nomination(struct nominations *nominations, const struct bt_pod_info *info)
{
	const struct bt_pod *pod = bt_object_store_find(
		&nominations->sim->store.objects, BT_KIND_POD, info->namespace_, info->name);
	if (pod != NULL) {
		struct bt_sim_placed placed = {pod, nominations->node_name};
		bt_vec_push(&nominations->list, placed);
	}
}

static void find_nominations(struct nominations *nominations)
{
	struct bt_sim *sim = nominations->sim;
	const struct bt_node *node;
	uint32_t cursor = 0;
	while ((node = bt_object_store_next(&sim->store.objects, BT_KIND_NODE,
			(struct bt_str){NULL, 0}, &cursor)) != NULL) {
		nominations->node_name = node->metadata.name;
		const struct bt_pod_info *info;
		uint32_t at = BT_NOMINATION_FIRST;

		while ((info = bt_nominator_next(&bt_scheduler_engine(sim->scheduler)->nominator,
				node->metadata.name, &at)) != NULL) {
			note_nomination(nominations, info);
		}
	}
}

static bool check_pending(struct bt_sim *sim, bool is_final, struct bt_strbuf *complaint)
{
	struct nominations nominations = {.sim = sim};
	find_nominations(&nominations);
	struct bt_sim_pending pending = {
		.nominated = nominations.list.items,
		.nominated_count = nominations.list.count,
		.is_final = is_final,
		.is_ours = is_ours,
		.wait_of = wait_of,
		.blurred = sim->excused_pools.items,
		.blurred_count = sim->excused_pools.count,
		.context = sim,
	};
	bool good = bt_sim_check_pending(&sim->store.objects, &pending, complaint);
	bt_vec_finish(&nominations.list);
	return good;
}

/** --- checks of everything --- */

static bool is_excused(void *context, struct bt_str node_name)
{
	const struct bt_sim *sim = context;
	for (uint32_t i = 0; i < sim->excused.count; i++) {
		if (bt_str_equal(sim->excused.items[i], node_name)) {
			return true;
		}
	}
	return false;
}

static bool check_nodes(struct bt_sim *sim, struct bt_strbuf *complaint)
{
	struct bt_sim_view view;
	bt_sim_view_init(&view, &sim->store.objects);
	bool good = bt_sim_check_nodes(&view, is_excused, sim, complaint);
	bt_sim_view_finish(&view);
	return good;
}

static void look(struct bt_sim *sim, bool is_final)
{
	struct bt_engine *engine = bt_scheduler_engine(sim->scheduler);
	struct bt_strbuf complaint = {0};
	sim->report->checks++;
	bt_sim_log(sim, "%s", is_final ? "all timers had their time" : "all is quiet");
	if (!check_nodes(sim, &complaint) ||
		!bt_sim_check_cache(engine->state, &sim->store.objects, &complaint) ||
		!bt_sim_check_queue(bt_scheduler_queue(sim->scheduler), &engine->nominator,
			&sim->store.objects, &complaint) ||
		!bt_sim_check_ages(
			bt_scheduler_queue(sim->scheduler), sim->clock.now_ns, &complaint) ||
		!bt_sim_check_devices(sim, &complaint) || !bt_sim_check_groups(sim, &complaint) ||
		!check_pending(sim, is_final, &complaint)) {
		bt_sim_complain(sim, bt_strbuf_str(&complaint));
	}
	bt_strbuf_finish(&complaint);
}

static void calm_down(struct bt_sim *sim, int64_t seconds, bool is_final)
{
	sim->is_changing = false;
	sim->has_faults = false;
	/* Check before any timer runs: no pod may wait for an event that has already happened. */
	wait_for_quiet(sim);
	if (!sim->failed) {
		look(sim, false);
	}
	bt_sim_run_until(sim, sim->clock.now_ns + seconds * BT_SIM_SECOND);
	wait_for_quiet(sim);
	if (!sim->failed) {
		look(sim, is_final);
	}
}

/** --- rounds --- */

struct rounds {
	BT_VEC(struct bt_sim_memory) memory;
};

static void end_round(struct bt_sim *sim, struct rounds *rounds)
{
	struct bt_engine *engine = bt_scheduler_engine(sim->scheduler);
	struct bt_strbuf complaint = {0};
	struct bt_sim_view view;
	bt_sim_log(sim, "everything is deleted");
	bt_sim_workload_drain(sim);
	wait_for_quiet(sim);
	bt_sim_workload_drain(sim); /* controllers may have created further objects */
	wait_for_quiet(sim);
	bt_sim_view_of_scheduler(sim, &view);
	bt_sim_view_finish(&view);
	if (sim->failed) {
		return;
	}
	sim->excused.count = 0;
	sim->excused_pods.count = 0;
	sim->excused_pools.count = 0;
	sim->torn_groups.count = 0;
	bt_sim_forget_answers(sim);
	struct bt_sim_memory memory = bt_sim_memory_of(engine->state);
	bt_vec_push(&rounds->memory, memory);
	/*
	 * The log line has no bytes, because they differ from run to run: the fill of hash tables
	 * depends on the random secret of the process.
	 */
	bt_sim_log(sim, "empty: %u symbols, %u shapes, %u label sets", memory.symbols,
		memory.shapes, memory.label_sets);
	if (!bt_sim_check_devices(sim, &complaint) ||
		!bt_sim_check_empty(engine->state, bt_scheduler_queue(sim->scheduler),
			&engine->nominator, &complaint) ||
		!bt_sim_check_memory(rounds->memory.items, rounds->memory.count, &complaint)) {
		bt_sim_complain(sim, bt_strbuf_str(&complaint));
	}
	bt_strbuf_finish(&complaint);
}

/**
 * Makes one change at a time and checks the waiting pods after each change. With several changes at
 * once, the event of one change could requeue a pod that another change helps, and hide that the
 * other change has no event.
 */
static void step_by_step(struct bt_sim *sim, int64_t until_ns)
{
	sim->is_changing = false;
	while (!sim->failed && sim->clock.now_ns < until_ns) {
		bt_sim_workload_change(sim);
		wait_for_quiet(sim);
		if (!sim->failed) {
			look(sim, false);
		}
	}
}

static void run_round(struct bt_sim *sim, int64_t seconds, bool is_last, struct rounds *rounds)
{
	int64_t end_ns = sim->clock.now_ns + seconds * BT_SIM_SECOND;
	bt_sim_workload_start(sim);
	while (!sim->failed && sim->clock.now_ns < end_ns) {
		int64_t until_ns = sim->clock.now_ns +
			bt_sim_between_ms(&sim->changes, 20000, 90000) * BT_SIM_MILLISECOND;
		until_ns = until_ns < end_ns ? until_ns : end_ns;
		sim->has_faults = true;
		if (bt_sim_chance(&sim->changes, 50)) {
			sim->is_changing = true;
			bt_sim_run_until(sim, until_ns);
		} else {
			step_by_step(sim, until_ns);
		}
		if (!sim->failed) {
			calm_down(sim, CALM_SECONDS, false);
		}
	}
	if (!sim->failed && is_last) {
		calm_down(sim, FINAL_SECONDS, true);
	}
	if (!sim->failed) {
		end_round(sim, rounds);
	}
}

int bt_sim_run(const struct bt_sim_options *options, struct bt_sim_report *out_report,
	struct berth_error *err)
{
	struct bt_sim sim;
	struct rounds rounds = {0};
	*out_report = (struct bt_sim_report){0};
	int result = bt_sim_init(&sim, options, out_report, err);
	if (result == 0) {
		int64_t start_ns = sim.clock.now_ns;
		if (options->sabotage != NULL) {
			options->sabotage(&sim);
		}
		int64_t seconds = options->minutes * 60;
		while (!sim.failed && seconds > 0) {
			int64_t part = seconds < ROUND_SECONDS ? seconds : ROUND_SECONDS;
			seconds -= part;
			run_round(&sim, part, seconds == 0, &rounds);
		}
		out_report->simulated_ns = sim.clock.now_ns - start_ns;
		out_report->relists = sim.watch.relist_count;
	}
	bt_vec_finish(&rounds.memory);
	bt_sim_finish(&sim);
	return result;
}

void bt_sim_report_finish(struct bt_sim_report *report)
{
	bt_strbuf_finish(&report->complaint);
}
