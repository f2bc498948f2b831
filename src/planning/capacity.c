/* SPDX-License-Identifier: Apache-2.0 */
#include "planning/capacity.h"

#include <stdlib.h>
#include <string.h>

#include "api/text_template.h"
#include "planning/capacity_private.h"
#include "dra/dra.h"
#include "framework/node_statuses.h"
#include "state/pod_groups.h"

/** --- placing copies one by one --- */

/**
 * Maximum number of attempts for one copy. A copy is tried again after an attempt that released
 * claims, because their devices are then free.
 */
#define ATTEMPTS_MAX 16

/**
 * Returns front, "-" and the number, such as "web-17". Does not call printf, because printf would
 * take a sixth of the time that one copy needs.
 */
static struct bt_str name_of_copy(struct bt_arena *arena, struct bt_str front, uint32_t number)
{
	char digits[20];
	uint32_t length = bt_str_format_uint64(number, digits);
	char *text = bt_arena_alloc_bytes(arena, (size_t)front.length + 1 + length);
	memcpy(text, front.data, front.length);
	text[front.length] = '-';
	memcpy(text + front.length + 1, digits, length);
	return (struct bt_str){text, front.length + 1 + length};
}

bool bt_capacity_next_copy(
	struct bt_capacity_session *session, uint32_t index, struct bt_pod *out_copy)
{
	struct bt_capacity_runner *runner = &session->runners[index];
	if (runner->has_own_pods) {
		if (runner->next_number >= runner->pods.count) {
			return false;
		}
		*out_copy = *runner->pods.items[runner->next_number++];
		return true;
	}
	*out_copy = runner->prototype;
	/* Skip numbers whose uid a pod of the input already has. */
	for (;; runner->next_number++) {
		out_copy->metadata.uid =
			name_of_copy(&session->copy_arena, runner->uid_front, runner->next_number);
		if (bt_state_find_pod(session->engine->state, out_copy->metadata.uid) ==
			BT_POD_NONE) {
			break;
		}
	}
	out_copy->metadata.name = name_of_copy(
		&session->copy_arena, runner->member->spec->name, runner->next_number++);
	return true;
}

struct reason_list {
	struct bt_arena *arena;
	struct bt_capacity_reason *items;
	uint32_t count;
	uint32_t capacity;
};

static void take_reason(void *context, struct bt_str reason, uint64_t count)
{
	struct reason_list *list = context;
	struct bt_capacity_reason entry = {bt_arena_str(list->arena, reason), count};
	bt_arena_push(list->arena, list, entry);
}

BT_COMPARE(compare_reasons, struct bt_capacity_reason,
	BT_ORDER_BY(BT_ORDER(b->node_count, a->node_count), bt_str_compare(a->text, b->text)))

/** --- members whose copy finds no node --- */

/** Returns whether copies of other members could make the next copy fit after all. */
static bool can_come_back(
	const struct bt_capacity_runner *runner, const struct bt_schedule_result *result)
{
	/* A rejection by these plugins is final: placing further pods never lifts it. */
	static const char *const final[] = {"NodeAffinity", "NodeDeclaredFeatures", "NodeName",
		"NodePorts", "NodeResourcesFit", "NodeUnschedulable", "NodeVolumeLimits",
		"TaintToleration", "VolumeRestrictions", "VolumeZone"};
	const struct bt_diagnosis *diagnosis = &result->diagnosis;
	if (result->outcome != BT_OUTCOME_FIT_ERROR || diagnosis->rejected_by_extender ||
		diagnosis->nameless_plugin) {
		return true;
	}
	for (uint32_t i = 0; i < runner->framework->instances.count; i++) {
		if ((bt_plugin_set_has(&diagnosis->unschedulable_plugins, i) ||
			    bt_plugin_set_has(&diagnosis->pending_plugins, i)) &&
			!bt_str_is_one_of(bt_framework_plugin_name(runner->framework, i), final,
				BT_ARRAY_LENGTH(final))) {
			return true;
		}
	}
	return false;
}

/**
 * Records why the member stopped, in place of an earlier reason. If the previous attempt failed
 * too, keeps the total of copies from the first of these failures.
 */
static void stop_member(struct bt_capacity_session *session, struct bt_capacity_runner *runner,
	const char *type, struct bt_str message)
{
	struct bt_capacity_member *member = runner->member;
	uint32_t total = runner->is_passed_over ? member->stop.total : session->answer->copies;
	bt_arena_reset(&member->stop_arena);
	member->stop = (struct bt_capacity_stop){
		.type = type,
		.message = bt_arena_str(&member->stop_arena, message),
		.total = total,
	};
	runner->is_passed_over = true;
	runner->failed_at = session->answer->copies;
}

static void stop_with_result(struct bt_capacity_session *session, struct bt_capacity_runner *runner,
	const struct bt_schedule_result *result)
{
	struct bt_capacity_member *member = runner->member;
	enum bt_fate fate = bt_status_is_rejected(&result->status) ? BT_FATE_UNSCHEDULABLE
								   : BT_FATE_SCHEDULER_ERROR;
	struct bt_str message = bt_status_message_str(&result->status, &session->copy_arena);
	runner->is_out = !can_come_back(runner, result);
	if (runner->is_passed_over && bt_str_equal(message, member->stop.message)) {
		runner->failed_at = session->answer->copies;
		return; /* this reason is recorded already */
	}
	stop_member(session, runner, bt_fate_name(fate), message);
	if (result->outcome == BT_OUTCOME_FIT_ERROR) {
		/* Sort the reasons by number of nodes, highest first. */
		const struct bt_diagnosis *diagnosis = &result->diagnosis;
		struct reason_list list = {.arena = &member->stop_arena};
		if (diagnosis->pre_filter_message.length != 0) {
			take_reason(&list, diagnosis->pre_filter_message, diagnosis->node_count);
		} else {
			bt_fit_error_visit_reasons(
				&diagnosis->statuses, diagnosis->node_count, take_reason, &list);
		}
		if (list.count > 1) {
			qsort(list.items, list.count, sizeof(list.items[0]), compare_reasons);
		}
		member->stop.reasons.items = list.items;
		member->stop.reasons.count = list.count;
	}
}

/** --- attempts --- */

/** Returns a number that changes whenever a claim is allocated, deallocated or deleted. */
static uint64_t version_of_claims(const struct bt_state *state)
{
	return state->dra != NULL ? state->dra->claims.version : 0;
}

/** Returns whether a scheduling gate holds the pod back, which stops the member for good. */
static bool is_gated(struct bt_capacity_session *session, struct bt_capacity_runner *runner,
	const struct bt_pod_info *info)
{
	struct bt_plugin *gate;
	struct bt_status status =
		bt_run_pre_enqueue(runner->framework, info, &session->copy_arena, NULL, &gate);
	if (bt_status_is_success(&status)) {
		return false;
	}
	stop_member(session, runner, bt_fate_name(BT_FATE_SCHEDULING_GATED),
		bt_status_message_str(&status, &session->copy_arena));
	runner->is_out = true;
	return true;
}

static bool schedule_copy(struct bt_capacity_session *session, struct bt_capacity_runner *runner,
	const struct bt_pod_info *info)
{
	struct bt_schedule_result result = {.framework = runner->framework};
	if (is_gated(session, runner, info)) {
		return false;
	}
	struct bt_engine *engine = session->engine;
	bool is_placed = false;
	for (int i = 0; !is_placed; i++) {
		uint64_t version = version_of_claims(engine->state);
		bt_engine_schedule(engine, runner->framework, info, NULL, &result);
		is_placed = result.outcome == BT_OUTCOME_SCHEDULED &&
			bt_engine_place(engine, info, &result);
		/* An attempt that releases devices of a claim may make the next one succeed. */
		bool may_retry = result.outcome == BT_OUTCOME_FIT_ERROR &&
			version_of_claims(engine->state) != version && i + 1 < ATTEMPTS_MAX;
		if (!is_placed && !may_retry) {
			stop_with_result(session, runner, &result);
			return false;
		}
	}
	runner->member->on_nodes[session->node_of_slot[result.slot]]++;
	runner->member->copies++;
	session->answer->copies++;
	runner->is_passed_over = false;
	return true;
}

struct bt_str bt_capacity_make_claims(
	struct bt_capacity_session *session, struct bt_pod *pod, struct bt_arena *arena)
{
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_str missing;
	size_t bytes;
	if (bt_claim_maker_make(session->simulation.claims, pod, arena, &missing, &bytes, &err) <
		0) {
		berth_error_finish(&err); /* the attempt's message names the missing claim */
	}
	return missing;
}

/** Makes the pods of one more group, with their claims, and adds the group to the state. */
static const struct bt_pod **make_group(
	struct bt_capacity_session *session, struct bt_capacity_runner *runner)
{
	struct bt_state *state = session->engine->state;
	struct bt_arena *arena = &session->copy_arena;
	const struct bt_capacity_spec *spec = runner->member->spec;
	struct bt_pod_group group =
		*(const struct bt_pod_group *)bt_object_value(spec->group, BT_KIND_POD_GROUP);
	struct bt_pod_scheduling_group *reference =
		BT_ARENA_NEW(arena, struct bt_pod_scheduling_group);
	const struct bt_pod **pods =
		BT_ARENA_NEW_ARRAY(arena, const struct bt_pod *, runner->pods.count);
	do {
		group.metadata.name = name_of_copy(arena, spec->name, runner->next_number++);
	} while (bt_pod_groups_find(state, spec->namespace_, group.metadata.name) != NULL ||
		bt_object_store_find(&state->objects, BT_KIND_POD_GROUP, spec->namespace_,
			group.metadata.name) != NULL);
	group.metadata.namespace_ = spec->namespace_;
	group.metadata.uid = group.metadata.name;
	group.status = (struct bt_pod_group_status){0};
	reference->pod_group_name = group.metadata.name;
	bt_object_store_put(&state->objects, bt_object_create(BT_KIND_POD_GROUP, &group));
	struct bt_str uid_front = name_of_copy(arena, runner->uid_front, runner->next_number);
	for (uint32_t i = 0; i < runner->pods.count; i++) {
		struct bt_pod *pod = BT_ARENA_NEW(arena, struct bt_pod);
		uint32_t number = i;
		*pod = *runner->pods.items[i];
		pod->metadata.name = name_of_copy(arena, group.metadata.name, i);
		pod->metadata.owner_references = spec->object->meta->owner_references;
		do {
			pod->metadata.uid = name_of_copy(arena, uid_front, number);
			number += runner->pods.count;
		} while (bt_state_find_pod(state, pod->metadata.uid) != BT_POD_NONE);
		pod->spec.scheduling_group = reference;
		(void)bt_capacity_make_claims(session, pod, arena);
		bt_pod_groups_add_pending(state, pod);
		pods[i] = pod;
	}
	return pods;
}

/**
 * Stops the member, with a hint such as "4 of 6 pods of the next group find a node in rack-1; the
 * others: 0/2 nodes are available: ..."
 */
static void stop_group(struct bt_capacity_session *session, struct bt_capacity_runner *runner,
	const struct bt_tried_group *tried)
{
	struct bt_capacity_stop *stop = &runner->member->stop;
	struct bt_strbuf text = {0};
	const struct bt_tried_placement *closest =
		tried->placement_count != 0 ? &tried->placements[tried->closest] : NULL;
	stop_member(session, runner,
		bt_fate_name(tried->code == BT_STATUS_ERROR ? BT_FATE_SCHEDULER_ERROR
							    : BT_FATE_UNSCHEDULABLE),
		tried->message.length != 0 ? tried->message
					   : BT_STR("not every pod of the group finds a node"));
	if (closest != NULL) {
		bt_text_append(&text,
			"%u of %u {pod|pods} of the next group {finds|find} a node[ in %s]",
			closest->placed_count, tried->member_count, closest->name);
	}
	for (uint32_t i = 0; closest != NULL && i < tried->member_count; i++) {
		if (tried->members[i].message.length != 0) {
			bt_text_append(&text, "; the others: %s", tried->members[i].message);
			break;
		}
	}
	stop->hint = bt_arena_take_strbuf(&runner->member->stop_arena, &text);
}

/**
 * Places one more group: all of its pods or none. Returns false if the group finds no room, which
 * stops the member.
 */
static bool place_group(struct bt_capacity_session *session, struct bt_capacity_runner *runner)
{
	const struct bt_pod **pods = make_group(session, runner);
	struct bt_pod_info info;
	bool is_placed = false;
	bt_pod_info_init_pending(session->engine->state, pods[0], &info);
	if (!is_gated(session, runner, &info)) {
		const struct bt_try_group_options options = {
			.pods = pods, .count = runner->pods.count, .keeps = true};
		struct bt_tried_group tried;
		bt_scheduler_try_group(session->simulation.scheduler, &options, &tried);
		is_placed = tried.is_kept;
		if (is_placed) {
			struct bt_capacity_member *member = runner->member;
			struct bt_str placement = tried.placements[tried.closest].name;
			for (uint32_t i = 0; i < tried.member_count; i++) {
				uint32_t slot = bt_node_table_find(
					&session->engine->state->nodes, tried.members[i].node_name);
				member->on_nodes[session->node_of_slot[slot]]++;
			}
			member->copies++;
			session->answer->copies++;
			runner->is_passed_over = false;
			uint32_t at = BT_STR_INDEX(member->placements.items,
				member->placements.count, name, placement);
			if (placement.length != 0) {
				if (at == member->placements.count) {
					struct bt_capacity_placement entry = {
						.name = bt_arena_str(
							&session->answer->arena, placement)};
					bt_vec_push(&member->placements, entry);
				}
				member->placements.items[at].copies++;
			}
		} else {
			stop_group(session, runner, &tried);
		}
	}
	bt_pod_info_finish_pending(session->engine->state, &info);
	if (!is_placed) {
		struct bt_state *state = session->engine->state;
		for (uint32_t i = 0; i < runner->pods.count; i++) {
			bt_pod_groups_remove_pending(state, pods[i]);
			bt_claim_maker_unmake(session->simulation.claims, pods[i]);
		}
		(void)bt_object_store_delete(&state->objects, BT_KIND_POD_GROUP,
			pods[0]->metadata.namespace_,
			pods[0]->spec.scheduling_group->pod_group_name);
	}
	bt_arena_reset(&session->copy_arena);
	return is_placed;
}

/**
 * Places one more copy. Returns false if the copy finds no room, which stops the member, or if all
 * pods that were made for the member are used (session->ran_dry).
 */
static bool place_one(struct bt_capacity_session *session, uint32_t index)
{
	struct bt_capacity_runner *runner = &session->runners[index];
	struct bt_pod copy;
	struct bt_pod_info info;
	if (runner->framework == NULL) {
		struct bt_strbuf text = {0};
		bt_strbuf_append_c(&text, "profile not found for scheduler name ");
		bt_strbuf_append_quoted(&text, runner->prototype.spec.scheduler_name);
		stop_member(
			session, runner, bt_fate_name(BT_FATE_NOT_HANDLED), bt_strbuf_str(&text));
		runner->is_out = true;
		bt_strbuf_finish(&text);
		return false;
	}
	if (runner->member->spec->group != NULL) {
		return place_group(session, runner);
	}
	if (!bt_capacity_next_copy(session, index, &copy)) {
		session->ran_dry = true;
		return false;
	}
	struct bt_str missing = bt_capacity_make_claims(session, &copy, &session->copy_arena);
	if (missing.length != 0 && !runner->warned_of_template) {
		runner->warned_of_template = true;
		bt_claim_maker_warn_missing(&session->cluster, &copy, missing);
	}
	bt_pod_info_init_pending(session->engine->state, &copy, &info);
	bool placed = schedule_copy(session, runner, &info);
	bt_pod_info_finish_pending(session->engine->state, &info);
	if (!placed) {
		bt_claim_maker_unmake(session->simulation.claims, &copy);
		runner->next_number--; /* try the same pod again next time */
	}
	bt_arena_reset(&session->copy_arena);
	return placed;
}

/** --- all members --- */

/** Runs one member's turn in a round. Returns whether the member placed its weight in copies. */
static bool take_turn(struct bt_capacity_session *session, uint32_t index)
{
	const struct bt_capacity_question *question = session->question;
	struct bt_capacity_runner *runner = &session->runners[index];
	bool is_hopeless = runner->is_passed_over && runner->failed_at == session->answer->copies;
	if (runner->is_out || is_hopeless) {
		return false;
	}
	for (int64_t i = 0; i < runner->member->spec->weight; i++) {
		if (session->answer->copies >= question->max || session->ran_dry ||
			!place_one(session, index)) {
			return false;
		}
		if (question->progress != NULL) {
			bool is_limited = question->max < BT_CAPACITY_COPIES_MAX;
			question->progress(question->progress_context, session->answer->copies,
				is_limited ? question->max : 0);
		}
	}
	return true;
}

/**
 * Runs rounds until a round places nothing, the limit is reached, or a member has used all pods
 * that were made for it.
 */
static void capacity_place_all(struct bt_capacity_session *session)
{
	for (;;) {
		uint32_t before = session->answer->copies;
		bool is_whole = true;
		for (uint32_t i = 0; i < session->question->spec_count; i++) {
			is_whole = take_turn(session, i) && is_whole;
		}
		session->answer->round_count += is_whole;
		if (session->answer->copies >= session->question->max) {
			struct bt_str message = bt_arena_printf(&session->copy_arena,
				"Maximum number of pods simulated: %u", session->question->max);
			for (uint32_t i = 0; i < session->question->spec_count; i++) {
				if (!session->runners[i].is_passed_over) {
					stop_member(session, &session->runners[i], "LimitReached",
						message);
				}
			}
			return;
		}
		if (session->answer->copies == before || session->ran_dry) {
			return;
		}
	}
}

/**
 * If the controllers create claims for each pod of a workload, every copy needs a pod of its own.
 * The first run makes OWN_PODS_AT_FIRST pods of that workload. If these pods do not suffice, the
 * next run makes OWN_PODS_GROWTH times as many.
 */
#define OWN_PODS_AT_FIRST 256
#define OWN_PODS_GROWTH 16
/**
 * Maximum number of pods made for all workloads whose pods have claims of their own. The limit
 * leaves room for the pods of other workloads.
 */
#define OWN_PODS_MAX (BT_WORKLOAD_PODS_MAX / 2)
/** Maximum number of bytes of a name that are kept in front of a suffix. */
#define NAME_PART_BYTES 200

/** --- the cluster of a session --- */

/**
 * Returns a copy of the pod with an unused name. The copy has no owner references, so that the
 * controller does not count it.
 */
static struct bt_object *make_unowned_pod(struct bt_capacity_session *session,
	const struct bt_capacity_spec *spec, const struct bt_object *object)
{
	struct bt_pod pod = *(const struct bt_pod *)bt_object_value(object, BT_KIND_POD);
	pod.metadata.owner_references.items = NULL;
	pod.metadata.owner_references.count = 0;
	for (uint32_t i = 0; bt_manifests_find(&session->cluster, BT_KIND_POD, spec->namespace_,
				     pod.metadata.name) != BT_MANIFESTS_NONE;
		i++) {
		pod.metadata.name = bt_arena_printf(&session->copy_arena, "%.*s-copy-%u",
			BT_STR_ARG(bt_str_sub(object->meta->name, 0, NAME_PART_BYTES)), i);
	}
	return bt_object_create(BT_KIND_POD, &pod);
}

static int add_spec(struct bt_capacity_session *session, struct bt_capacity_runner *runner,
	struct berth_error *err)
{
	struct bt_manifests *cluster = &session->cluster;
	const struct bt_capacity_spec *spec = runner->member->spec;
	if (spec->object->kind != BT_KIND_POD &&
		bt_manifests_find(cluster, spec->object->kind, spec->namespace_, spec->name) !=
			BT_MANIFESTS_NONE) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"two pod specs of a mix are the same %s: give it a larger weight instead",
			bt_kind_info(spec->object->kind)->name);
	}
	struct bt_object *object = spec->object->kind == BT_KIND_POD
		? make_unowned_pod(session, spec, spec->object)
		: bt_object_share(spec->object);
	int result = bt_manifests_put(cluster, "", object, &runner->object, err);
	if (result == 0) {
		cluster->objects.items[runner->object].origin = spec->origin;
		cluster->objects.items[runner->object].pods_exist |= spec->pods_exist;
	}
	runner->object_count = 1;
	while (result == 0 && runner->object_count < spec->members.count) {
		uint32_t index;
		result = bt_manifests_put(cluster, "",
			make_unowned_pod(session, spec, spec->members.items[runner->object_count]),
			&index, err);
		BT_ASSERT(result < 0 || index == runner->object + runner->object_count);
		runner->object_count++;
	}
	return result;
}

static int make_cluster(
	struct bt_capacity_session *session, uint32_t own_pods, struct berth_error *err)
{
	const struct bt_capacity_question *question = session->question;
	const struct bt_manifests *cluster = question->cluster;
	bool *left_out = BT_NEW_ARRAY(bool, cluster->objects.count);
	for (uint32_t i = 0; question->left_out != NULL && i < cluster->objects.count; i++) {
		left_out[i] = question->left_out[i];
	}
	for (uint32_t i = 0; i < question->spec_count; i++) {
		const struct bt_capacity_spec *spec = &question->specs[i];
		uint32_t index = spec->object->kind != BT_KIND_POD
			? bt_manifests_find(
				  cluster, spec->object->kind, spec->namespace_, spec->name)
			: BT_MANIFESTS_NONE;
		if (index != BT_MANIFESTS_NONE) {
			left_out[index] = true;
		}
	}
	bt_manifests_copy(question->cluster, left_out, &session->cluster);
	bt_free(left_out);
	if (question->quiet) {
		session->cluster.warn = NULL;
	}
	/* Quotas would count the copies. */
	uint32_t kept = 0;
	for (uint32_t i = 0; i < session->cluster.policies.count; i++) {
		if (!session->cluster.policies.items[i].is_quota) {
			session->cluster.policies.items[kept++] =
				session->cluster.policies.items[i];
		}
	}
	session->cluster.policies.count = kept;
	for (uint32_t i = 0; i < question->spec_count; i++) {
		int result = add_spec(session, &session->runners[i], err);
		if (result < 0) {
			return result;
		}
	}
	session->extras = BT_NEW_ARRAY(uint32_t, session->cluster.objects.count);
	for (uint32_t i = 0; i < question->spec_count; i++) {
		struct bt_capacity_runner *runner = &session->runners[i];
		runner->has_own_pods = bt_capacity_spec_creates_claims(runner->member->spec);
		for (uint32_t k = 0; k < runner->object_count; k++) {
			session->extras[runner->object + k] = runner->has_own_pods ? own_pods : 1;
		}
	}
	return 0;
}

/** --- a session --- */

static int run_loaded(struct bt_capacity_session *session, struct berth_error *err)
{
	if (session->simulation.node_count == 0) {
		return bt_error_set(err, BERTH_ERR_NOT_FOUND,
			"the cluster has no nodes%s: name files that have some with -f",
			session->question->left_out != NULL ? " that are not excluded" : "");
	}
	for (uint32_t i = 0; i < session->question->spec_count; i++) {
		const struct bt_capacity_spec *spec = &session->question->specs[i];
		int result = spec->group != NULL ? bt_simulation_check_group(&session->simulation,
							   spec->namespace_, spec->name, err)
						 : 0;
		if (result < 0) {
			return result;
		}
	}
	if (session->question->after_queue) {
		struct bt_simulation *simulation = &session->simulation;
		bt_simulation_run(simulation, simulation->pods.count);
		session->answer->queue_pending = bt_simulation_pending_count(simulation);
		session->answer->queue_placed = simulation->counts[BT_FATE_SCHEDULED];
	}
	struct bt_capacity_answer *answer = session->answer;
	const struct bt_node_table *table = &session->engine->state->nodes;
	answer->node_count = session->simulation.node_count;
	answer->nodes =
		BT_ARENA_NEW_ARRAY(&answer->arena, struct bt_capacity_node, answer->node_count);
	session->slots = bt_simulation_node_slots(&session->simulation);
	session->node_of_slot = BT_NEW_ARRAY(uint32_t, table->slot_count);
	for (uint32_t i = 0; i < answer->node_count; i++) {
		answer->nodes[i].name =
			bt_arena_str(&answer->arena, bt_node_table_name(table, session->slots[i]));
		session->node_of_slot[session->slots[i]] = i;
	}
	for (uint32_t i = 0; i < answer->member_count; i++) {
		answer->members[i].on_nodes =
			BT_ARENA_NEW_ARRAY(&answer->arena, uint32_t, answer->node_count);
	}
	for (uint32_t i = 0; i < session->question->spec_count; i++) {
		struct bt_capacity_runner *runner = &session->runners[i];
		const struct bt_capacity_spec *spec = runner->member->spec;
		for (uint32_t k = 0; k < session->simulation.extras.count; k++) {
			const struct bt_simulated_extra *extra =
				&session->simulation.extras.items[k];
			if (extra->owner - runner->object < runner->object_count) {
				bt_vec_push(&runner->pods, extra->pod);
			}
		}
		BT_ASSERT(runner->pods.count != 0);
		runner->prototype = *runner->pods.items[0];
		if (spec->object->kind == BT_KIND_POD) {
			runner->prototype.metadata.owner_references =
				spec->object->meta->owner_references;
		}
		runner->framework =
			bt_engine_profile(session->engine, runner->prototype.spec.scheduler_name);
		bt_capacity_describe_requests(session, runner);
	}
	bt_capacity_measure(session, false);
	capacity_place_all(session);
	bt_capacity_set_hints(session);
	bt_capacity_measure(session, true);
	return 0;
}

int bt_capacity_compute(const struct bt_capacity_question *question,
	struct bt_capacity_answer *out_answer, struct berth_error *err)
{
	uint32_t own_pods = OWN_PODS_AT_FIRST;
	/* Divide OWN_PODS_MAX among the members whose pods have claims of their own. */
	uint32_t count = 0;
	for (uint32_t i = 0; i < question->spec_count; i++) {
		count += bt_capacity_spec_creates_claims(&question->specs[i]);
	}
	uint32_t own_most = count > 1 ? OWN_PODS_MAX / count : OWN_PODS_MAX;
	struct bt_capacity_question asked = *question;
	for (;;) {
		struct bt_capacity_session session;
		uint32_t most = own_pods < asked.max ? own_pods : asked.max;
		session = (struct bt_capacity_session){.question = &asked, .answer = out_answer};
		*out_answer = (struct bt_capacity_answer){.member_count = asked.spec_count};
		bt_manifests_init(&session.cluster);
		out_answer->members = BT_ARENA_NEW_ARRAY(
			&out_answer->arena, struct bt_capacity_member, asked.spec_count);
		session.runners = BT_NEW_ARRAY(struct bt_capacity_runner, asked.spec_count);
		for (uint32_t i = 0; i < asked.spec_count; i++) {
			out_answer->members[i].spec = &asked.specs[i];
			session.runners[i].member = &out_answer->members[i];
			session.runners[i].uid_front =
				bt_arena_printf(&out_answer->arena, "copy-%u", i);
		}
		int result = make_cluster(&session, most, err);
		if (result == 0) {
			result = bt_simulation_init(&session.simulation, &session.cluster,
				asked.create, asked.create_context, err);
		}
		if (result == 0) {
			session.engine = session.simulation.engine;
			session.simulation.expansion.extras = session.extras;
			result = bt_simulation_load(&session.simulation, err);
			result = result == 0 ? run_loaded(&session, err) : result;
			bt_simulation_finish(&session.simulation);
		}
		bool ran_dry = session.ran_dry;
		for (uint32_t i = 0; i < session.question->spec_count; i++) {
			bt_vec_finish(&session.runners[i].pods);
		}
		bt_free(session.runners);
		bt_free(session.slots);
		bt_free(session.node_of_slot);
		bt_free(session.extras);
		bt_manifests_finish(&session.cluster);
		bt_arena_finish(&session.copy_arena);
		if (result == 0 && !ran_dry) {
			return 0;
		}
		uint32_t copies = out_answer->copies;
		bt_capacity_answer_finish(out_answer);
		if (result < 0) {
			return result;
		}
		if (own_pods == own_most) {
			/*
			 * No more pods can be made, so limit the next run to as many copies as this
			 * run placed.
			 */
			asked.max = copies;
		}
		own_pods = own_pods < own_most / OWN_PODS_GROWTH ? own_pods * OWN_PODS_GROWTH
								 : own_most;
		asked.quiet = true;
	}
}

void bt_capacity_answer_finish(struct bt_capacity_answer *answer)
{
	for (uint32_t i = 0; i < answer->member_count; i++) {
		bt_arena_finish(&answer->members[i].stop_arena);
		bt_vec_finish(&answer->members[i].placements);
	}
	bt_arena_finish(&answer->arena);
	*answer = (struct bt_capacity_answer){0};
}
