/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/capacity/capacity.h"

#include "cli/capacity/capacity_private.h"
#include "cli/output.h"

/** Pods that a workload with claims of its own makes at first, and how many more when they do not
 * last. */
#define OWN_PODS_AT_FIRST 256
#define OWN_PODS_GROWTH 16
/** Of all members together: room for the pods of other workloads is left. */
#define OWN_PODS_MAX (BT_WORKLOAD_PODS_MAX / 2)
/** Of a name, where something is put behind it. */
#define NAME_PART_BYTES 200

/** --- the cluster of a session --- */

/** A workload that is asked about takes the place of its namesake. */
static bool *objects_left_out(const struct bt_capacity_question *question)
{
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
	return left_out;
}

/** The pod without what its controller would count it by, under a name that is free. */
static struct bt_object *stand_in(
	struct bt_capacity_session *session, const struct bt_capacity_spec *spec)
{
	struct bt_pod pod = *(const struct bt_pod *)bt_object_value(spec->object, BT_KIND_POD);
	pod.metadata.owner_references.items = NULL;
	pod.metadata.owner_references.count = 0;
	for (uint32_t i = 0; bt_manifests_find(&session->cluster, BT_KIND_POD, spec->namespace_,
				     pod.metadata.name) != BT_MANIFESTS_NONE;
		i++) {
		pod.metadata.name = bt_arena_printf(&session->copy_arena, "%.*s-copy-%u",
			BT_STR_ARG(bt_str_sub(spec->name, 0, NAME_PART_BYTES)), i);
	}
	return bt_object_create(BT_KIND_POD, &pod);
}

static int put_spec(struct bt_capacity_session *session, struct bt_capacity_runner *runner,
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
		? stand_in(session, spec)
		: bt_object_share(spec->object);
	int result = bt_manifests_put(cluster, "", object, &runner->object, err);
	if (result == 0) {
		cluster->objects.items[runner->object].origin = spec->origin;
		cluster->objects.items[runner->object].pods_exist |= spec->pods_exist;
	}
	return result;
}

static int make_cluster(
	struct bt_capacity_session *session, uint32_t own_pods, struct berth_error *err)
{
	const struct bt_capacity_question *question = session->question;
	bool *left_out = objects_left_out(question);
	bt_manifests_copy(question->cluster, left_out, &session->cluster);
	bt_free(left_out);
	if (question->quiet) {
		session->cluster.warn = NULL;
	}
	for (uint32_t i = 0; i < question->spec_count; i++) {
		int result = put_spec(session, &session->runners[i], err);
		if (result < 0) {
			return result;
		}
	}
	session->extras = BT_NEW_ARRAY(uint32_t, session->cluster.objects.count);
	for (uint32_t i = 0; i < question->spec_count; i++) {
		struct bt_capacity_runner *runner = &session->runners[i];
		runner->has_own_pods = bt_capacity_spec_has_own_claims(runner->member->spec);
		session->extras[runner->object] = runner->has_own_pods ? own_pods : 1;
	}
	return 0;
}

/** --- members --- */

static void take_prototype(struct bt_capacity_session *session, struct bt_capacity_runner *runner)
{
	const struct bt_capacity_spec *spec = runner->member->spec;
	for (uint32_t i = 0; i < session->simulation.extras.count; i++) {
		const struct bt_simulated_extra *extra = &session->simulation.extras.items[i];
		if (extra->owner == runner->object) {
			bt_vec_push(&runner->pods, extra->pod);
		}
	}
	BT_ASSERT(runner->pods.count != 0);
	runner->prototype = *runner->pods.items[0];
	if (spec->object->kind == BT_KIND_POD) {
		runner->prototype.metadata.owner_references = spec->object->meta->owner_references;
	}
	runner->framework =
		bt_engine_profile(session->engine, runner->prototype.spec.scheduler_name);
	bt_capacity_describe_requests(session, runner);
}

static void list_nodes(struct bt_capacity_session *session)
{
	struct bt_capacity_answer *answer = session->answer;
	const struct bt_node_table *table = &session->engine->state->nodes;
	answer->node_count = session->simulation.node_count;
	answer->nodes =
		BT_ARENA_NEW_ARRAY(&answer->arena, struct bt_capacity_node, answer->node_count);
	session->slots = bt_output_node_slots(&session->simulation);
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
}

/** --- a session --- */

static void start(struct bt_capacity_session *session, const struct bt_capacity_question *question,
	struct bt_capacity_answer *answer)
{
	*session = (struct bt_capacity_session){.question = question, .answer = answer};
	*answer = (struct bt_capacity_answer){.member_count = question->spec_count};
	bt_arena_init(&answer->arena, 0);
	bt_arena_init(&session->copy_arena, 0);
	bt_manifests_init(&session->cluster);
	answer->members =
		BT_ARENA_NEW_ARRAY(&answer->arena, struct bt_capacity_member, question->spec_count);
	session->runners = BT_NEW_ARRAY(struct bt_capacity_runner, question->spec_count);
	for (uint32_t i = 0; i < question->spec_count; i++) {
		bt_arena_init(&answer->members[i].stop_arena, 0);
		answer->members[i].spec = &question->specs[i];
		session->runners[i].member = &answer->members[i];
		session->runners[i].uid_front = bt_arena_printf(&answer->arena, "copy-%u", i);
	}
}

static void finish(struct bt_capacity_session *session)
{
	for (uint32_t i = 0; i < session->question->spec_count; i++) {
		bt_vec_finish(&session->runners[i].pods);
	}
	bt_free(session->runners);
	bt_free(session->slots);
	bt_free(session->node_of_slot);
	bt_free(session->extras);
	bt_manifests_finish(&session->cluster);
	bt_arena_finish(&session->copy_arena);
}

static int run_loaded(struct bt_capacity_session *session, struct berth_error *err)
{
	if (session->simulation.node_count == 0) {
		return bt_error_set(err, BERTH_ERR_NOT_FOUND,
			"the cluster has no nodes%s: name files that have some with -f",
			session->question->left_out != NULL ? " that are not excluded" : "");
	}
	if (session->question->after_queue) {
		struct bt_simulation *simulation = &session->simulation;
		bt_simulation_run(simulation);
		session->answer->queue_pending = bt_simulation_pending_count(simulation);
		session->answer->queue_placed = simulation->counts[BT_FATE_SCHEDULED];
	}
	list_nodes(session);
	for (uint32_t i = 0; i < session->question->spec_count; i++) {
		take_prototype(session, &session->runners[i]);
	}
	bt_capacity_measure(session, false);
	bt_capacity_place_all(session);
	bt_capacity_tell_tightest(session);
	bt_capacity_measure(session, true);
	return 0;
}

static int run(struct bt_capacity_session *session, uint32_t own_pods, struct berth_error *err)
{
	int result = make_cluster(session, own_pods, err);
	if (result == 0) {
		result = bt_setup_engine(session->question->setup, &session->engine, err);
	}
	if (result < 0) {
		return result;
	}
	bt_simulation_init(&session->simulation, &session->cluster, session->engine);
	session->simulation.extras_wanted = session->extras;
	result = bt_simulation_load(&session->simulation, err);
	if (result == 0) {
		result = run_loaded(session, err);
	}
	bt_simulation_finish(&session->simulation);
	bt_engine_destroy(session->engine);
	return result;
}

int bt_capacity_ask(const struct bt_capacity_question *question,
	struct bt_capacity_answer *out_answer, struct berth_error *err)
{
	uint32_t own_pods = OWN_PODS_AT_FIRST;
	/* Pods of its own that each member can have at most. */
	uint32_t count = 0;
	for (uint32_t i = 0; i < question->spec_count; i++) {
		count += bt_capacity_spec_has_own_claims(&question->specs[i]);
	}
	uint32_t own_most = count > 1 ? OWN_PODS_MAX / count : OWN_PODS_MAX;
	struct bt_capacity_question asked = *question;
	for (;;) {
		struct bt_capacity_session session;
		uint32_t most = own_pods < asked.max ? own_pods : asked.max;
		start(&session, &asked, out_answer);
		int result = run(&session, most, err);
		bool ran_dry = session.ran_dry;
		finish(&session);
		if (result == 0 && !ran_dry) {
			return 0;
		}
		uint32_t copies = out_answer->copies;
		bt_capacity_answer_finish(out_answer);
		if (result < 0) {
			return result;
		}
		if (own_pods == own_most) {
			asked.max = copies; /* the same again, and it ends there */
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
	}
	bt_arena_finish(&answer->arena);
	*answer = (struct bt_capacity_answer){0};
}
