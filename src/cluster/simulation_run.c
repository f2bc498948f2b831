/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "api/identity.h"
#include "api/selector.h"
#include "base/alloc.h"
#include "base/nanoseconds.h"
#include "cluster/simulation.h"
#include "state/pod_groups.h"

/** Start of virtual time. */
#define START_NS BT_NS_PER_SECOND
/**
 * Maximum number of attempts of one pod. Without a limit, pods that requeue each other would be
 * tried for ever.
 */
#define ATTEMPTS_MAX 64
/** Maximum length of a message once the memory of all messages is used up. */
#define CUT_MESSAGE_BYTES 256

/** --- changes that the scheduler observes --- */

static struct bt_simulated_pod *find_pod(
	const struct bt_simulation *simulation, struct bt_str uid, uint32_t *out_index)
{
	uint64_t hash = bt_str_hash(uid);
	BT_MAP_EACH (&simulation->by_uid, hash, index) {
		if (bt_str_equal(simulation->pods.items[index].pod->metadata.uid, uid)) {
			*out_index = index;
			return &simulation->pods.items[index];
		}
	}
	return NULL;
}

/**
 * Adds the pod to the scheduler's queue if a profile handles the pod. A second call has no effect.
 */
static void enqueue_pod(struct bt_simulation *simulation, uint32_t index)
{
	struct bt_simulated_pod *entry = &simulation->pods.items[index];
	if (entry->object != NULL ||
		bt_engine_profile(simulation->engine, entry->pod->spec.scheduler_name) == NULL) {
		return;
	}
	entry->object = bt_object_create_pod(entry->pod, NULL, &simulation->commons);
	/* Each pod is observed 1 ns after the previous pod, so that the queue keeps their order. */
	int result = bt_scheduler_observe(
		simulation->scheduler, NULL, entry->object, simulation->start_ns + index, NULL);
	BT_ASSERT(result == 0); /* a new pod cannot contradict the cache */
}

/**
 * Records a change that the scheduler observes after its current step. new_object: consumed; NULL:
 * the pod is deleted.
 */
static void change(struct bt_simulation *simulation, struct bt_object *old_object,
	struct bt_object *new_object)
{
	struct bt_simulated_change entry = {bt_object_share(old_object), new_object};
	bt_vec_push(&simulation->changes, entry);
}

/** Records a new version of a pending pod, with another node or nomination. */
static void change_pod(struct bt_simulation *simulation, struct bt_simulated_pod *entry,
	struct bt_str node_name, struct bt_str nominated_node_name)
{
	struct bt_pod pod = *(const struct bt_pod *)bt_object_value(entry->object, BT_KIND_POD);
	char version[24];
	(void)snprintf(version, sizeof(version), "%" PRIu64, ++simulation->version);
	pod.metadata.resource_version = bt_str_from(version);
	pod.spec.node_name = node_name;
	pod.status.nominated_node_name = nominated_node_name;
	struct bt_object *changed = bt_object_create_pod(&pod, entry->object, &simulation->commons);
	change(simulation, entry->object, bt_object_share(changed));
	bt_object_release(entry->object);
	entry->object = changed;
}

static void apply_changes(struct bt_simulation *simulation)
{
	for (uint32_t i = 0; i < simulation->changes.count; i++) {
		struct bt_simulated_change *entry = &simulation->changes.items[i];
		int result = bt_scheduler_observe(simulation->scheduler, entry->old_object,
			entry->new_object, simulation->now_ns, NULL);
		BT_ASSERT(result == 0); /* the scheduler itself requested these changes */
		if (entry->new_object == NULL) {
			bt_pod_claims_release(
				simulation->engine->state, entry->old_object->meta->uid, false);
		}
		bt_object_release(entry->old_object);
		bt_object_release(entry->new_object);
	}
	simulation->changes.count = 0;
}

/** --- the scheduler's writes --- */

static int patch_status(void *context, const struct bt_pod *pod,
	const struct bt_pod_condition *condition BT_UNUSED,
	const struct bt_post_filter_result *nomination, struct berth_error *err BT_UNUSED)
{
	struct bt_simulation *simulation = context;
	uint32_t index;
	struct bt_simulated_pod *entry = find_pod(simulation, pod->metadata.uid, &index);
	if (entry != NULL && entry->object != NULL && entry->fate != BT_FATE_SCHEDULED &&
		nomination->present && nomination->mode == BT_NOMINATING_OVERRIDE) {
		const struct bt_pod *known = bt_object_value(entry->object, BT_KIND_POD);
		if (!bt_str_equal(
			    known->status.nominated_node_name, nomination->nominated_node_name)) {
			change_pod(simulation, entry, BT_STR(""), nomination->nominated_node_name);
		}
	}
	return 0;
}

/** Evicts a pod and deletes it at once, because there is no kubelet. */
static int delete_pod(void *context, struct bt_preemption_ticket ticket BT_UNUSED,
	const struct bt_preemption_pod *victim, struct berth_error *err)
{
	struct bt_simulation *simulation = context;
	struct bt_object *object =
		bt_scheduler_find_pod(simulation->scheduler, victim->namespace_, victim->name);
	if (object == NULL) {
		return bt_error_set(err, BERTH_ERR_NOT_FOUND, "pod not found");
	}
	const struct bt_pod *pod = bt_object_value(object, BT_KIND_POD);
	struct bt_simulated_eviction eviction = {
		.namespace_ = bt_arena_str(&simulation->arena, victim->namespace_),
		.name = bt_arena_str(&simulation->arena, victim->name),
		.node_name = bt_arena_str(&simulation->arena, pod->spec.node_name),
		.priority = bt_pod_priority(pod),
		.preemptor = UINT32_MAX, /* set when the step ends */
	};
	bt_vec_push(&simulation->evictions, eviction);
	uint32_t index;
	struct bt_simulated_pod *entry = find_pod(simulation, pod->metadata.uid, &index);
	if (entry != NULL) {
		/* The victim was placed by this run, before the preemptor found room. */
		entry->fate = BT_FATE_UNSCHEDULABLE;
		entry->node_name = BT_STR("");
		entry->message = bt_arena_printf(&simulation->arena, "preempted on node %.*s",
			BT_STR_ARG(eviction.node_name));
		entry->is_dropped = true;
	}
	change(simulation, object, NULL);
	/*
	 * Act as the disruption controller after an eviction: each budget that matches the pod
	 * allows one disruption less, but not below 0.
	 */
	struct bt_state *state = simulation->engine->state;
	struct bt_arena arena = {0};
	BT_VEC(struct bt_object *) changed = {0};
	const struct bt_pod_disruption_budget *budget;
	uint32_t cursor = 0;
	while ((budget = bt_object_store_next(&state->objects, BT_KIND_POD_DISRUPTION_BUDGET,
			pod->metadata.namespace_, &cursor)) != NULL) {
		struct bt_selector selector;
		if (budget->status.disruptions_allowed > 0 &&
			bt_selector_from_label_selector(
				budget->spec.selector, &arena, &selector, NULL) == 0 &&
			bt_selector_matches(&selector, &pod->metadata.labels)) {
			struct bt_pod_disruption_budget copy = *budget;
			copy.status.disruptions_allowed--;
			bt_vec_push(
				&changed, bt_object_create(BT_KIND_POD_DISRUPTION_BUDGET, &copy));
		}
	}
	for (uint32_t i = 0; i < changed.count; i++) {
		bt_object_store_put(&state->objects, changed.items[i]);
	}
	bt_vec_finish(&changed);
	bt_arena_finish(&arena);
	return 0;
}

static bool may_schedule(void *context)
{
	const struct bt_simulation *simulation = context;
	return simulation->tried_count < simulation->try_limit;
}

/** --- creating and finishing a simulation --- */

int bt_simulation_init(struct bt_simulation *simulation, struct bt_manifests *cluster,
	bt_scheduler_create_fn *create_scheduler, const void *context, struct berth_error *err)
{
	struct bt_scheduler_writer writer = {
		.context = simulation,
		.patch_status = patch_status,
		.delete_pod = delete_pod,
		.may_schedule = may_schedule,
	};
	*simulation = (struct bt_simulation){.cluster = cluster,
		.expansion.cluster = cluster,
		.now_ns = START_NS,
		.start_ns = START_NS};
	int result = create_scheduler(context, &writer, &simulation->scheduler, err);
	if (result < 0) {
		return result;
	}
	simulation->engine = bt_scheduler_engine(simulation->scheduler);
	for (uint32_t i = 0; i < simulation->engine->profiles.frameworks.count; i++) {
		/*
		 * Set no lister, so that preemption uses the pod that is passed in: commands also
		 * run the engine for pods that the scheduler does not have.
		 */
		simulation->engine->profiles.frameworks.items[i]->handle.pods = NULL;
	}
	simulation->claims = bt_claim_maker_create(
		simulation->engine->state, &simulation->engine->config->gates);
	return 0;
}

void bt_simulation_finish(struct bt_simulation *simulation)
{
	for (uint32_t i = 0; i < simulation->pods.count; i++) {
		bt_object_release(simulation->pods.items[i].object);
	}
	bt_claim_maker_destroy(simulation->claims);
	bt_scheduler_destroy(simulation->scheduler);
	bt_pod_commons_finish(&simulation->commons);
	bt_map_finish(&simulation->by_uid);
	bt_text_set_finish(&simulation->missing_templates);
	bt_vec_finish(&simulation->changes);
	bt_vec_finish(&simulation->evictions);
	bt_vec_finish(&simulation->extras);
	bt_vec_finish(&simulation->pods);
	bt_expansion_finish(&simulation->expansion);
	bt_arena_finish(&simulation->arena);
}

void bt_simulation_reopen(struct bt_simulation *simulation)
{
	BT_ASSERT(simulation->evictions.count == 0);
	/* Remove the last pod first, which restores the order of the lists of pods on nodes. */
	for (uint32_t i = simulation->pods.count; i-- > 0;) {
		struct bt_simulated_pod *entry = &simulation->pods.items[i];
		struct bt_object *known = bt_scheduler_find_pod(simulation->scheduler,
			entry->pod->metadata.namespace_, entry->pod->metadata.name);
		if (known != NULL) {
			change(simulation, known, NULL);
			apply_changes(simulation);
		}
		bt_object_release(entry->object);
	}
	simulation->pods.count = 0;
	bt_map_reset(&simulation->by_uid);
	memset(simulation->counts, 0, sizeof(simulation->counts));
	simulation->tried_count = 0;
	simulation->waiting_count = 0;
	simulation->start_ns = ++simulation->now_ns;
}

/** --- the order of the queue --- */

/** Compares by the order of the queue (see simulation.h), but not by the input order. */
static int compare_in_queue(const struct bt_pod *first, const struct bt_pod *second)
{
	int32_t first_priority = bt_pod_priority(first);
	int32_t second_priority = bt_pod_priority(second);
	const struct bt_time *first_time = &first->metadata.creation_timestamp;
	const struct bt_time *second_time = &second->metadata.creation_timestamp;
	if (first_priority != second_priority) {
		return first_priority > second_priority ? -1 : 1;
	}
	if (first_time->set != second_time->set) {
		return first_time->set ? -1 : 1;
	}
	return bt_time_compare(first_time, second_time);
}

BT_COMPARE(compare_pods, struct bt_simulated_pod,
	BT_ORDER_BY(compare_in_queue(a->pod, b->pod), a->sequence < b->sequence ? -1 : 1))

uint32_t bt_simulation_position(const struct bt_simulation *simulation, const struct bt_pod *pod)
{
	uint32_t position = 0;
	while (position < simulation->pods.count && simulation->pods.items[position].pod != pod &&
		compare_in_queue(simulation->pods.items[position].pod, pod) <= 0) {
		position++;
	}
	return position;
}

void bt_simulation_close(struct bt_simulation *simulation)
{
	if (simulation->pods.count > 1) {
		/* Sorting moves entries, so sort before any code keeps pointers to entries. */
		qsort(simulation->pods.items, simulation->pods.count,
			sizeof(simulation->pods.items[0]), compare_pods);
	}
	const struct bt_profiles *profiles = &simulation->engine->profiles;
	for (uint32_t i = 0; i < profiles->frameworks.count && !simulation->preempt; i++) {
		profiles->frameworks.items[i]->handle.preemption_writer = NULL;
	}
	for (uint32_t i = 0; i < simulation->pods.count; i++) {
		const struct bt_pod *pod = simulation->pods.items[i].pod;
		const struct bt_str *group = bt_pod_group_name_of(pod);
		bool is_grouped = group != NULL && simulation->engine->state->pod_groups != NULL;
		simulation->pods.items[i].group_name = is_grouped ? *group : BT_STR("");
		bt_map_insert(&simulation->by_uid, bt_str_hash(pod->metadata.uid), i);
		if (bt_engine_profile(simulation->engine, pod->spec.scheduler_name) != NULL) {
			bt_pod_groups_add_pending(simulation->engine->state, pod);
		}
		if (pod->status.nominated_node_name.length != 0) {
			/*
			 * A nominated pod holds its place from the start, even if no pod is tried.
			 */
			enqueue_pod(simulation, i);
		}
	}
}

/** --- attempts --- */

/**
 * Returns a copy of the message in the arena. Consecutive pods with the same message share one
 * copy, *last.
 */
static struct bt_str keep_message(
	struct bt_simulation *simulation, struct bt_str message, struct bt_str *last)
{
	if (bt_str_equal(message, *last)) {
		return *last;
	}
	if (simulation->message_bytes + message.length > BT_SIMULATION_MESSAGE_BYTES_MAX &&
		message.length > CUT_MESSAGE_BYTES) {
		message = bt_str_sub(message, 0, CUT_MESSAGE_BYTES);
		*last = bt_arena_printf(&simulation->arena, "%.*s ...", BT_STR_ARG(message));
		return *last;
	}
	simulation->message_bytes += message.length;
	*last = bt_arena_str(&simulation->arena, message);
	return *last;
}

/** Returns a copy of the name of the pod's nominated node, or "". */
static struct bt_str nominated_node(
	struct bt_simulation *simulation, const struct bt_simulated_pod *entry)
{
	struct bt_str node_name;
	return bt_nominator_find(
		       &simulation->engine->nominator, entry->pod->metadata.uid, &node_name)
		? bt_arena_str(&simulation->arena, node_name)
		: BT_STR("");
}

static void set_failed(struct bt_simulation *simulation, struct bt_simulated_pod *entry,
	const struct bt_attempt *attempt, struct bt_str *last)
{
	bool rejected = bt_str_equal_c(attempt->reason, "Unschedulable");
	entry->fate = rejected ? BT_FATE_UNSCHEDULABLE : BT_FATE_SCHEDULER_ERROR;
	entry->message = keep_message(simulation, attempt->message, last);
	if (attempt->group_name.length != 0) {
		entry->group_message = bt_arena_str(&simulation->arena,
			bt_scheduler_group_attempt(simulation->scheduler)->message);
	}
	const struct bt_queue_entry *queued = bt_queue_find(
		bt_scheduler_queue(simulation->scheduler), attempt->namespace_, attempt->name);
	/* A pod in the error backoff had an error, unless the pod was rejected with its group. */
	bool is_error = queued != NULL && queued->place == BT_QUEUE_ERROR_BACKOFF &&
		(attempt->group_name.length == 0 || !rejected);
	if (queued == NULL || is_error || attempt->has_waited || entry->attempts >= ATTEMPTS_MAX) {
		/*
		 * Do not try the pod again: an error would be repeated for ever, and a gang that
		 * was removed to leave its room to other pods would take that room again.
		 */
		entry->nominated_node_name = nominated_node(simulation, entry);
		entry->is_dropped = true;
		change(simulation, entry->object, NULL);
	} else if (simulation->preempt) {
		/*
		 * Evict terminating pods of lower priority from the node that the preemptor is
		 * nominated for. Preemption does not delete terminating pods again, and a
		 * simulation has no kubelet that would end them.
		 */
		const struct bt_state *state = simulation->engine->state;
		struct bt_str node_name = nominated_node(simulation, entry);
		uint32_t slot = node_name.length != 0 ? bt_state_snapshot_find(state, node_name)
						      : BT_SLOT_NONE;
		for (uint32_t i = 0; slot != BT_SLOT_NONE && i < state->nodes.rows[slot].pods.count;
			i++) {
			uint32_t pod_id = state->nodes.rows[slot].pods.items[i];
			const struct bt_pod_record *record = bt_state_pod_at(state, pod_id);
			if (record->terminating && record->priority < bt_pod_priority(entry->pod)) {
				struct bt_pod_info info;
				bt_pod_info_from_record(state, pod_id, &info);
				struct bt_preemption_pod victim = {
					info.namespace_, info.name, info.uid};
				struct bt_preemption_ticket none = {NULL, 0};
				(void)delete_pod(simulation, none, &victim, NULL); /* cannot fail */
			}
		}
	}
}

static void take_attempt(struct bt_simulation *simulation, const struct bt_attempt *attempt,
	uint32_t first_eviction, struct bt_str *last)
{
	uint32_t index;
	struct bt_simulated_pod *entry = find_pod(simulation, attempt->uid, &index);
	BT_ASSERT(entry != NULL); /* the queue has only pods of the simulation */
	entry->attempts += !attempt->has_waited;
	simulation->tried_count += entry->fate == BT_FATE_UNDECIDED && !entry->waiting;
	simulation->waiting_count -= entry->waiting;
	entry->waiting = attempt->outcome == BT_ATTEMPT_WAITING;
	simulation->waiting_count += entry->waiting;
	if (!attempt->has_waited) {
		entry->score = attempt->score;
		entry->feasible_count = attempt->feasible_count;
	}
	switch (attempt->outcome) {
	case BT_ATTEMPT_BOUND:
		entry->fate = BT_FATE_SCHEDULED;
		entry->node_name = bt_arena_str(&simulation->arena, attempt->node_name);
		entry->message = BT_STR("");
		change_pod(simulation, entry, entry->node_name, BT_STR(""));
		break;
	case BT_ATTEMPT_FAILED:
		set_failed(simulation, entry, attempt, last);
		break;
	case BT_ATTEMPT_SKIPPED:
		entry->fate = BT_FATE_DELETING;
		entry->message =
			bt_arena_printf(&simulation->arena, "skip schedule deleting pod: %.*s/%.*s",
				BT_STR_ARG(attempt->namespace_), BT_STR_ARG(attempt->name));
		break;
	case BT_ATTEMPT_WAITING:
	case BT_ATTEMPT_IDLE:
		break;
	}
	for (uint32_t i = first_eviction; i < simulation->evictions.count; i++) {
		simulation->evictions.items[i].preemptor = index;
	}
}

/** --- running all pods --- */

/** Sets fate and message of a pod that the scheduler never tried. */
static void set_untried(
	struct bt_simulation *simulation, struct bt_simulated_pod *entry, struct bt_str *last)
{
	const struct bt_pod *pod = entry->pod;
	struct bt_framework *framework =
		bt_engine_profile(simulation->engine, pod->spec.scheduler_name);
	struct bt_strbuf text = {0};
	struct bt_arena arena = {0};
	if (framework == NULL) {
		entry->fate = BT_FATE_NOT_HANDLED;
		bt_strbuf_append_c(&text, "profile not found for scheduler name ");
		bt_strbuf_append_quoted(&text, pod->spec.scheduler_name);
	} else {
		struct bt_pod_info info;
		struct bt_plugin *gate;
		entry->fate = BT_FATE_SCHEDULING_GATED;
		/*
		 * A gated pod is not in the nominator: its nomination stays, but reserves no room.
		 */
		entry->nominated_node_name = pod->status.nominated_node_name;
		bt_pod_info_init_pending(simulation->engine->state, pod, &info);
		struct bt_status status = bt_run_pre_enqueue(framework, &info, &arena, NULL, &gate);
		bt_strbuf_append_str(&text, bt_status_message_str(&status, &arena));
		bt_pod_info_finish_pending(simulation->engine->state, &info);
	}
	entry->message = keep_message(simulation, bt_strbuf_str(&text), last);
	bt_arena_finish(&arena);
	bt_strbuf_finish(&text);
}

void bt_simulation_run(struct bt_simulation *simulation, uint32_t count)
{
	struct bt_scheduler *scheduler = simulation->scheduler;
	struct bt_str last = BT_STR("");
	uint32_t shown = UINT32_MAX;
	bool is_whole = count == simulation->pods.count;
	simulation->try_limit = 0;
	for (uint32_t i = 0; i < count; i++) {
		const struct bt_simulated_pod *entry = &simulation->pods.items[i];
		enqueue_pod(simulation, i);
		const struct bt_queue_entry *queued = entry->object != NULL
			? bt_queue_find(bt_scheduler_queue(scheduler),
				  entry->pod->metadata.namespace_, entry->pod->metadata.name)
			: NULL;
		simulation->try_limit += queued != NULL && !bt_queue_entry_is_gated(queued);
	}
	if (is_whole) {
		simulation->try_limit = UINT32_MAX;
	}
	simulation->now_ns += count;
	for (;;) {
		struct bt_attempt attempt;
		uint32_t first_eviction = simulation->evictions.count;
		if (simulation->progress != NULL && simulation->tried_count != shown) {
			shown = simulation->tried_count;
			simulation->progress(simulation->progress_context, shown, count);
		}
		int64_t next_ns = bt_scheduler_step(scheduler, simulation->now_ns, &attempt);
		if (attempt.outcome != BT_ATTEMPT_IDLE) {
			take_attempt(simulation, &attempt, first_eviction, &last);
		}
		bool has_changes = simulation->changes.count != 0;
		apply_changes(simulation);
		if (attempt.outcome != BT_ATTEMPT_IDLE || has_changes) {
			continue;
		}
		if (is_whole ? !bt_scheduler_has_work(scheduler) : simulation->waiting_count == 0) {
			break;
		}
		simulation->now_ns = next_ns;
	}
	for (uint32_t i = 0; i < count; i++) {
		struct bt_simulated_pod *entry = &simulation->pods.items[i];
		if (entry->fate == BT_FATE_UNDECIDED) {
			set_untried(simulation, entry, &last);
		} else if (entry->fate != BT_FATE_SCHEDULED && !entry->is_dropped) {
			entry->nominated_node_name = nominated_node(simulation, entry);
		}
		simulation->counts[entry->fate]++;
	}
}

struct bt_simulated_group *bt_simulation_groups(
	const struct bt_simulation *simulation, uint32_t *group_of, uint32_t *out_count)
{
	BT_VEC(struct bt_simulated_group) list = {0};
	struct bt_map map = {0};
	for (uint32_t i = 0; i < simulation->pods.count; i++) {
		const struct bt_simulated_pod *entry = &simulation->pods.items[i];
		if (entry->group_name.length == 0) {
			continue;
		}
		struct bt_str namespace_ = entry->pod->metadata.namespace_;
		uint64_t hash = bt_hash_name(namespace_, entry->group_name);
		uint32_t at = list.count;
		BT_MAP_EACH (&map, hash, index) {
			if (bt_str_equal(list.items[index].name, entry->group_name) &&
				bt_str_equal(list.items[index].namespace_, namespace_)) {
				at = index;
				break;
			}
		}
		if (at == list.count) {
			struct bt_simulated_group fresh = {.namespace_ = namespace_,
				.name = entry->group_name,
				.message = BT_STR(""),
				.reason = BT_STR(""),
				.stopped = UINT32_MAX};
			bt_vec_push(&list, fresh);
			bt_map_insert(&map, hash, at);
		}
		struct bt_simulated_group *group = &list.items[at];
		if (group_of != NULL) {
			group_of[i] = at;
		}
		group->placed_count += entry->fate == BT_FATE_SCHEDULED;
		if (!bt_fate_is_pending(entry->fate)) {
			continue;
		}
		if (group->pending_count++ == 0) {
			group->first_pending = i;
			group->message = entry->group_message;
		}
		/* Skip pods that are pending only because their group is unschedulable. */
		if (group->stopped == UINT32_MAX && entry->message.length != 0 &&
			!bt_str_has_prefix(entry->message, BT_STR("pod group is unschedulable"))) {
			group->stopped = i;
			group->reason = entry->message;
		}
	}
	bt_map_finish(&map);
	*out_count = list.count;
	return list.items;
}
