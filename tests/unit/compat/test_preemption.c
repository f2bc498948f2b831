/* SPDX-License-Identifier: Apache-2.0 */
/** Spec 08, by public headers. */
#include "berth/preemption.h"

#include "cluster.h"

#define SECOND INT64_C(1000000000)

/**
 * Nodes n1, n2, n3 with 4 cpus; pods of low priority fill n1 and n2, and preemption cannot help on
 * n3.
 */
struct world {
	struct berth_engine *engine;
	struct berth_framework *framework;
	struct berth_cycle_state *state;
	struct berth_arena *arena;
	struct berth_node_to_status *statuses;
	struct berth_preemption *preemption;
	struct berth_pod_info *pod; /* the preemptor */
	const struct berth_shared_lister *snapshot;
};

static void put_bound(
	struct world *world, const char *name, const char *node, int priority, const char *more)
{
	char text[1024];

	(void)snprintf(text, sizeof(text),
		"{'apiVersion':'v1','kind':'Pod','metadata':{'name':'%s','namespace':'d','uid':"
		"'uid-%s','labels':{'app':'%s'}%s},'spec':{'nodeName':'%s','priority':%d,"
		"'containers':[{'name':'c','resources':{'requests':{'cpu':'2'}}}]},'status':{"
		"'phase':'Running','startTime':'2026-01-01T00:00:0%dZ'%s}}",
		name, name, name,
		more[0] == 'T' ? ",'deletionTimestamp':'2026-01-02T00:00:00Z'" : "", node, priority,
		priority % 10,
		more[0] == 'T' ? ",'conditions':[{'type':'DisruptionTarget','status':'True',"
				 "'reason':'PreemptionByScheduler'}]"
			       : "");
	cluster_put(world->engine, text);
}

/** Starts the preemptor's cycle. more: members of the preemptor's spec. */
static void begin(struct world *world, const char *more, const struct berth_preemption_ops *ops)
{
	struct berth_status unschedulable = {.code = BERTH_CODE_UNSCHEDULABLE};
	struct berth_pre_filter_result result = {.restricted = false};
	char members[256];

	(void)snprintf(members, sizeof(members), ",'priority':100%s", more);
	struct berth_object *pod = cluster_pod("boss", "3", members);
	ck_assert_int_eq(berth_engine_put(world->engine, pod, SECOND, NULL), 0);
	world->snapshot = berth_engine_snapshot_shared_lister(world->engine, NULL);
	world->pod = berth_framework_pod_create(world->framework, pod);
	berth_object_release(pod);
	world->state = berth_cycle_state_create();
	world->arena = berth_cycle_state_arena(world->state);
	(void)berth_framework_run_pre_filter_plugins(
		world->framework, world->state, world->pod, &result, NULL, NULL);
	world->statuses = berth_node_to_status_create();
	berth_node_to_status_set(world->statuses, BERTH_STR("n1"), &unschedulable);
	berth_node_to_status_set(world->statuses, BERTH_STR("n2"), &unschedulable);
	world->preemption = berth_preemption_create(
		"DefaultPreemption", berth_framework_handle(world->framework), ops, NULL);
}

static void init_nodes(struct world *world)
{
	*world = (struct world){.engine = cluster_create(CLUSTER_CONFIG("", ""), NULL)};
	world->framework = cluster_framework(world->engine);
	cluster_put_node(world->engine, "n1", "4", "");
	cluster_put_node(world->engine, "n2", "4", "");
	cluster_put_node(world->engine, "n3", "4", "");
}

/**
 * Starts a cycle with pods of priority 1 and 5 on n1, and pods of priority 2 and 3 on n2. The
 * preemptor needs the room of both pods of a node.
 */
static void init(struct world *world, const char *more, const struct berth_preemption_ops *ops)
{
	init_nodes(world);
	put_bound(world, "a1", "n1", 1, "");
	put_bound(world, "a5", "n1", 5, "");
	put_bound(world, "b2", "n2", 2, "");
	put_bound(world, "b3", "n2", 3, "");
	begin(world, more, ops);
}

static void finish(struct world *world)
{
	berth_node_to_status_destroy(world->statuses);
	berth_cycle_state_destroy(world->state);
	berth_framework_pod_destroy(world->pod);
	berth_engine_destroy(world->engine);
	berth_preemption_destroy(world->preemption);
}

static struct berth_preemption_dry_run_result dry_run(
	struct world *world, uint32_t offset, uint32_t candidates_num)
{
	struct berth_preemption_dry_run_result found;
	uint32_t node_count = 0;
	uint32_t pdb_count = 0;
	const struct berth_node_info *const *nodes = berth_preemption_potential_nodes(
		world->preemption, world->statuses, world->arena, &node_count);
	const struct berth_pdb *const *pdbs =
		berth_preemption_pdbs(world->preemption, world->arena, &pdb_count);

	berth_preemption_dry_run(world->preemption, world->state, world->pod, nodes, node_count,
		pdbs, pdb_count, offset, candidates_num, &found);
	return found;
}

static void expect(const struct world *world, struct berth_status status, const char *expected)
{
	cluster_expect_status(&status, world->arena, expected);
}

/* seed-map 002.1, 002.2, 002.3, 002.4, 002.5, 002.12, 002.13, 002.14, 002.15, 002.29 */
START_TEST(test_preemption__dry_run)
{
	struct world world;
	uint32_t count = 0;

	init(&world, "", NULL);
	const struct berth_node_info *const *nodes = berth_preemption_potential_nodes(
		world.preemption, world.statuses, world.arena, &count);
	ck_assert_uint_eq(count, 2);
	cluster_expect(berth_node_info_name(nodes[0]), "n1");
	cluster_expect(berth_node_info_name(nodes[1]), "n2");
	struct berth_preemption_dry_run_result found = dry_run(&world, 0, 10);
	ck_assert_uint_eq(found.candidate_count, 2);
	ck_assert_uint_eq(found.status_count, 0);
	ck_assert_ptr_null(found.error_text.data);
	cluster_expect(berth_preemption_candidate_name(&found.candidates[0]), "n1");
	const struct berth_victims *victims =
		berth_preemption_candidate_victims(&found.candidates[0]);
	ck_assert_uint_eq(victims->pod_count, 2);
	cluster_expect(berth_pod_info_name(victims->pods[0]), "a5");
	cluster_expect(berth_pod_info_name(victims->pods[1]), "a1");
	ck_assert_int_eq(victims->num_pdb_violations, 0);
	/* The scan starts at the offset and stops when it has enough candidates. */
	found = dry_run(&world, 1, 10);
	cluster_expect(found.candidates[0].name, "n2");
	found = dry_run(&world, 1, 1);
	ck_assert_uint_eq(found.candidate_count, 1);
	found = dry_run(&world, 0, 0);
	ck_assert_uint_eq(found.candidate_count, 0);
	finish(&world);
}
END_TEST

/* seed-map 002.22 */
START_TEST(test_preemption__selects_a_candidate)
{
	struct world world;

	init(&world, "", NULL);
	struct berth_preemption_dry_run_result found = dry_run(&world, 0, 10);
	struct berth_preemption_candidate worse = found.candidates[1];

	/* n2: the most important victim has priority 3, not 5. */
	cluster_expect(berth_preemption_select_candidate(
			       world.preemption, found.candidates, 2, world.arena)
			       ->name,
		"n2");
	ck_assert_ptr_null(
		berth_preemption_select_candidate(world.preemption, NULL, 0, world.arena));
	worse.victims.num_pdb_violations = 1; /* counts before all other criteria */
	struct berth_preemption_candidate both[] = {found.candidates[0], worse};
	cluster_expect(
		berth_preemption_select_candidate(world.preemption, both, 2, world.arena)->name,
		"n1");
	cluster_expect(
		berth_preemption_select_candidate(world.preemption, &worse, 1, world.arena)->name,
		"n2");
	/* Names that are no nodes, such as that of a pod group, count as any other name. */
	both[0].name = berth_str_from("cluster");
	both[1].name = berth_str_from("");
	cluster_expect(
		berth_preemption_select_candidate(world.preemption, both, 2, world.arena)->name,
		"cluster");
	finish(&world);
}
END_TEST

#define BUDGET \
	"{'apiVersion':'policy/v1','kind':'PodDisruptionBudget','metadata':{'name':'b'," \
	"'namespace':'d'},'spec':{'selector':{'matchLabels':{'app':'b3'}}},'status':{" \
	"'disruptionsAllowed':0,'currentHealthy':1,'desiredHealthy':1,'expectedPods':1," \
	"'disruptedPods':{'old':'2026-01-01T00:00:00Z'}}}"

/** Lists one disruption budget, for tests with a lister of the caller. */
static void list_budget(
	void *context, struct berth_str space, berth_lister_visit_fn visit, void *visit_context)
{
	(void)space;
	(void)visit(visit_context, berth_object_pdb(context));
}

/* seed-map 002.9, 002.33, 002.34 */
START_TEST(test_preemption__disruption_budgets)
{
	struct berth_object *budget = cluster_object(BUDGET);
	const struct berth_pdb *pdb = berth_object_pdb(budget);
	struct world world;
	uint32_t count = 1;

	init(&world, "", NULL);
	cluster_expect(berth_pdb_name(pdb), "b");
	cluster_expect(berth_pdb_namespace(pdb), "d");
	ck_assert_int_eq(berth_pdb_disruptions_allowed(pdb), 0);
	ck_assert(berth_pdb_has_disrupted_pod(pdb, BERTH_STR("old")));
	ck_assert(!berth_pdb_has_disrupted_pod(pdb, BERTH_STR("b3")));
	(void)berth_preemption_pdbs(world.preemption, world.arena, &count);
	ck_assert_uint_eq(count, 0);
	ck_assert_int_eq(dry_run(&world, 1, 10).candidates[0].victims.num_pdb_violations, 0);
	/* The caller's lister replaces the scheduler's objects. */
	world.preemption->pdb_lister = (struct berth_lister){budget, NULL, list_budget};
	struct berth_preemption_dry_run_result found = dry_run(&world, 1, 10);
	ck_assert_uint_eq(found.candidate_count, 2);
	cluster_expect(found.candidates[0].name, "n1"); /* n1: no violations */
	cluster_expect(found.candidates[1].name, "n2");
	ck_assert_int_eq(found.candidates[1].victims.num_pdb_violations, 1);
	ck_assert(berth_pdb_covers(pdb, found.candidates[1].victims.pods[0]));
	ck_assert(!berth_pdb_covers(pdb, found.candidates[0].victims.pods[0]));
	/* The handle's lister returns the scheduler's objects. */
	cluster_put(world.engine, BUDGET);
	world.preemption->pdb_lister =
		berth_handle_lister(berth_framework_handle(world.framework), "PodDisruptionBudget");
	cluster_expect(dry_run(&world, 1, 10).candidates[0].name, "n1");
	finish(&world);
	berth_object_release(budget);
}
END_TEST

/** Takes all requests; appends the kind and name of each to log. */
static void drain(struct world *world, char *log, size_t size, uint64_t *out_last_id)
{
	struct berth_request request;

	log[0] = '\0';
	while (berth_engine_take_request(world->engine, &request)) {
		size_t length = strlen(log);

		(void)snprintf(log + length, size - length, " %d:%.*s", (int)request.kind,
			BERTH_STR_ARG(request.object_name));
		if (request.kind != BERTH_REQUEST_EVENT) {
			*out_last_id = request.id;
		}
	}
}

/* seed-map 002.6, 002.7, 002.16, 002.17, 002.21, 002.31, 002.32 */
START_TEST(test_preemption__nominates_a_node)
{
	struct berth_post_filter_result result;
	struct world world;
	struct berth_answer done = {.code = BERTH_OK};
	char log[256];
	uint64_t id = 0;

	init(&world, "", NULL);
	cluster_expect(world.preemption->plugin_name, "DefaultPreemption");
	ck_assert_ptr_eq(world.preemption->handle, berth_framework_handle(world.framework));
	expect(&world,
		berth_preemption_preempt(
			world.preemption, world.state, world.pod, world.statuses, &result),
		"Success: ");
	ck_assert(result.present);
	ck_assert_int_eq(result.mode, BERTH_NOMINATING_OVERRIDE);
	cluster_expect(result.nominated_node_name, "n2");
	/*
	 * First all victims but the last, then the last: for each, the condition is written before
	 * the deletion.
	 */
	for (int step = 0; step < 4; step++) {
		ck_assert_msg(berth_preemption_is_pod_running(
				      world.preemption, berth_pod_info_uid(world.pod)),
			"step %d", step);
		ck_assert(!berth_preemption_is_pod_running(world.preemption, BERTH_STR("uid-x")));
		drain(&world, log, sizeof(log), &id);
		ck_assert_ptr_nonnull(strstr(log, step < 2 ? ":b3" : ":b2"));
		berth_engine_answer(world.engine, id, &done);
	}
	ck_assert(
		!berth_preemption_is_pod_running(world.preemption, berth_pod_info_uid(world.pod)));
	finish(&world);
}
END_TEST

/* seed-map 002.8, 002.18, 002.34 */
START_TEST(test_preemption__no_result_and_error)
{
	struct berth_post_filter_result result = {.present = true};
	struct berth_object *gone = cluster_pod("boss", "3", "");
	struct world world;

	init(&world, "", NULL);
	ck_assert_int_eq(berth_engine_delete(world.engine, gone, SECOND, NULL), 0);
	expect(&world,
		berth_preemption_preempt(
			world.preemption, world.state, world.pod, world.statuses, &result),
		"Error: pod \"boss\" not found");
	ck_assert(!result.present);
	/* Without a pod lister, the pod passed in counts as the newest version. */
	world.preemption->pod_lister = (struct berth_lister){NULL, NULL, NULL};
	expect(&world,
		berth_preemption_preempt(
			world.preemption, world.state, world.pod, world.statuses, &result),
		"Success: ");
	finish(&world);
	berth_object_release(gone);
}
END_TEST

/* seed-map 002.19, 002.26 */
START_TEST(test_preemption__no_result_and_unschedulable)
{
	struct berth_post_filter_result result = {.present = true};
	struct world world;

	init(&world, ",'preemptionPolicy':'Never'", NULL);
	expect(&world,
		berth_preemption_preempt(
			world.preemption, world.state, world.pod, world.statuses, &result),
		"Unschedulable: not eligible due to preemptionPolicy=Never.");
	ck_assert(!result.present);
	finish(&world);
}
END_TEST

/* seed-map 002.20, 002.30 */
START_TEST(test_preemption__a_result_and_unschedulable)
{
	struct berth_status hopeless = {.code = BERTH_CODE_UNSCHEDULABLE_AND_UNRESOLVABLE};
	struct berth_status helpful = {.code = BERTH_CODE_UNSCHEDULABLE};
	struct berth_post_filter_result result = {.present = false};
	struct world world;
	uint32_t count = 0;

	init(&world, "", NULL);
	berth_node_to_status_set(world.statuses, BERTH_STR("n1"), &hopeless);
	berth_node_to_status_set(world.statuses, BERTH_STR("n2"), &hopeless);
	(void)berth_node_to_status_nodes_for_code(world.statuses, world.snapshot,
		BERTH_CODE_UNSCHEDULABLE_AND_UNRESOLVABLE, world.arena, &count);
	ck_assert_uint_eq(count, 3); /* n3 has the status of absent nodes */
	(void)berth_preemption_potential_nodes(
		world.preemption, world.statuses, world.arena, &count);
	ck_assert_uint_eq(count, 0);
	expect(&world,
		berth_preemption_preempt(
			world.preemption, world.state, world.pod, world.statuses, &result),
		"Unschedulable: 0/3 nodes are available: 3 Preemption is not helpful for "
		"scheduling.");
	ck_assert(result.present);
	ck_assert_int_eq(result.mode, BERTH_NOMINATING_OVERRIDE);
	cluster_expect(result.nominated_node_name, "");
	/* Node n3 has no pods. */
	berth_node_to_status_set(world.statuses, BERTH_STR("n3"), &helpful);
	expect(&world,
		berth_preemption_preempt(
			world.preemption, world.state, world.pod, world.statuses, &result),
		"Unschedulable: 0/3 nodes are available: 1 No preemption victims found for "
		"incoming pod, 2 Preemption is not helpful for scheduling.");
	finish(&world);
}
END_TEST

/** Logs the victims that the caller's function receives. */
static int note_victim(struct berth_preemption *preemption, const struct berth_pod_info *preemptor,
	const struct berth_pod_info *victim, struct berth_str candidate_name,
	struct berth_error *err)
{
	char *log = preemption->context;
	size_t length = strlen(log);

	if (berth_str_equal_c(berth_pod_info_name(victim), "b2") && log[0] == '!') {
		return berth_error_set(err, BERTH_ERR_IO, "cannot remove b2");
	}
	(void)snprintf(log + length, 128 - length, " %.*s<%.*s@%.*s",
		BERTH_STR_ARG(berth_pod_info_name(victim)),
		BERTH_STR_ARG(berth_pod_info_name(preemptor)), BERTH_STR_ARG(candidate_name));
	return 0;
}

/* seed-map 002.10, 002.18 */
START_TEST(test_preemption__removal_can_be_replaced)
{
	struct berth_post_filter_result result;
	struct world world;
	char log[128] = "";
	uint64_t id = 0;
	char requests[256];

	init(&world, "", NULL);
	world.preemption->preempt_pod = note_victim;
	world.preemption->context = log;
	expect(&world,
		berth_preemption_preempt(
			world.preemption, world.state, world.pod, world.statuses, &result),
		"Success: ");
	ck_assert_str_eq(log, " b3<boss@n2 b2<boss@n2");
	drain(&world, requests, sizeof(requests), &id);
	ck_assert_str_eq(requests, "");
	ck_assert(
		!berth_preemption_is_pod_running(world.preemption, berth_pod_info_uid(world.pod)));
	(void)snprintf(log, sizeof(log), "!");
	expect(&world,
		berth_preemption_preempt(
			world.preemption, world.state, world.pod, world.statuses, &result),
		"Error: cannot remove b2");
	ck_assert(!result.present);
	finish(&world);
}
END_TEST

/* seed-map 002.10: nominations of lower priority are cleared even if the caller removes the victims
 */
START_TEST(test_preemption__lower_nominations_are_cleared)
{
	struct berth_post_filter_result result;
	struct world world;
	char log[128] = "";
	char requests[256];
	uint64_t id = 0;

	init(&world, "", NULL);
	cluster_put(world.engine,
		"{'apiVersion':'v1','kind':'Pod','metadata':{'name':'lower','namespace':'d','uid':"
		"'uid-lower'},'spec':{'schedulerName':'default-scheduler','priority':50,"
		"'containers':[{'name':'c'}]},'status':{'nominatedNodeName':'n2'}}");
	world.preemption->preempt_pod = note_victim;
	world.preemption->context = log;
	expect(&world,
		berth_preemption_preempt(
			world.preemption, world.state, world.pod, world.statuses, &result),
		"Success: ");
	cluster_expect(result.nominated_node_name, "n2");
	drain(&world, requests, sizeof(requests), &id);
	ck_assert_str_eq(requests, " 1:lower");
	finish(&world);
}
END_TEST

/** --- operations that a plugin overrides --- */

static void offset_one(struct berth_preemption *preemption, uint32_t node_count,
	uint32_t *out_offset, uint32_t *out_candidates_num)
{
	berth_preemption_get_offset_and_num_candidates(
		preemption, node_count, out_offset, out_candidates_num);
	ck_assert_uint_lt(*out_offset, node_count);
	ck_assert_uint_eq(*out_candidates_num, node_count); /* at least 100 candidates are wanted */
	*out_offset = 1;
	*out_candidates_num = 1;
}

static struct berth_node_victims *count_map(struct berth_preemption *preemption,
	const struct berth_preemption_candidate *candidates, uint32_t count,
	struct berth_arena *arena, uint32_t *out_count)
{
	++*(int *)preemption->context;
	return berth_preemption_candidates_to_victims_map(
		preemption, candidates, count, arena, out_count);
}

static bool not_on_sundays(struct berth_preemption *preemption, const struct berth_pod_info *pod,
	const struct berth_status *nominated_status, struct berth_arena *arena,
	struct berth_str *out_reason)
{
	ck_assert(berth_preemption_pod_eligible_to_preempt_others(
		preemption, pod, nominated_status, arena, out_reason));
	*out_reason = BERTH_STR("not on sundays");
	return *(int *)preemption->context == 0;
}

/** Selects only the first victim of n1, and returns an error for other nodes. */
static struct berth_status first_victim_of_n1(struct berth_preemption *preemption,
	struct berth_cycle_state *state, const struct berth_pod_info *pod,
	const struct berth_node_info *node, const struct berth_pdb *const *pdbs, uint32_t pdb_count,
	struct berth_victims *out_victims)
{
	struct berth_status status = berth_preemption_select_victims_on_node(
		preemption, state, pod, node, pdbs, pdb_count, out_victims);

	if (!berth_str_equal_c(berth_node_info_name(node), "n1")) {
		return berth_status_reason(
			berth_cycle_state_arena(state), BERTH_CODE_ERROR, "not this one");
	}
	out_victims->pod_count = 1;
	return status;
}

static int64_t most_important_first(
	const struct berth_preemption *preemption, const struct berth_node_victims *victims)
{
	(void)preemption;
	return berth_pod_info_priority(victims->victims.pods[0]);
}

static const berth_preemption_score_fn *own_scores(struct berth_preemption *preemption,
	const struct berth_node_victims *nodes_to_victims, uint32_t node_count, uint32_t *out_count)
{
	static const berth_preemption_score_fn scores[] = {most_important_first};

	(void)preemption;
	ck_assert_uint_eq(node_count, 2);
	cluster_expect(nodes_to_victims[0].node_name, "n1");
	*out_count = 1;
	return scores;
}

/* seed-map 002.11, 002.23, 002.24, 002.25, 002.26, 002.28 */
START_TEST(test_preemption__decisions_can_be_replaced)
{
	static const struct berth_preemption_ops offsets = {
		.get_offset_and_num_candidates = offset_one,
		.pod_eligible_to_preempt_others = not_on_sundays,
	};
	static const struct berth_preemption_ops scores = {
		.candidates_to_victims_map = count_map,
		.ordered_score_funcs = own_scores,
	};
	struct berth_post_filter_result result;
	struct world world;
	int number = 1;

	init(&world, "", &offsets);
	world.preemption->context = &number;
	expect(&world,
		berth_preemption_preempt(
			world.preemption, world.state, world.pod, world.statuses, &result),
		"Unschedulable: not on sundays");
	ck_assert(!result.present);
	number = 0;
	expect(&world,
		berth_preemption_preempt(
			world.preemption, world.state, world.pod, world.statuses, &result),
		"Success: ");
	cluster_expect(result.nominated_node_name, "n2");
	finish(&world);

	init(&world, "", &scores);
	world.preemption->context = &number;
	ck_assert_ptr_eq(world.preemption->ops, &scores);
	struct berth_preemption_dry_run_result found = dry_run(&world, 0, 10);
	const struct berth_preemption_candidate *winner = berth_preemption_select_candidate(
		world.preemption, found.candidates, 2, world.arena);
	cluster_expect(winner->name, "n1"); /* without the override: n2 */
	ck_assert_uint_eq(winner->victims.pod_count, 2);
	ck_assert_int_eq(number, 1);
	finish(&world);
}
END_TEST

/* seed-map 002.27 */
START_TEST(test_preemption__victims_can_be_chosen)
{
	static const struct berth_preemption_ops ops = {
		.select_victims_on_node = first_victim_of_n1};
	struct berth_victims victims;
	struct world world;

	init(&world, "", &ops);
	struct berth_preemption_dry_run_result found = dry_run(&world, 0, 10);
	ck_assert_uint_eq(found.candidate_count, 1);
	cluster_expect(found.candidates[0].name, "n1");
	ck_assert_uint_eq(found.candidates[0].victims.pod_count, 1);
	cluster_expect(berth_pod_info_name(found.candidates[0].victims.pods[0]), "a5");
	ck_assert_uint_eq(found.status_count, 1);
	cluster_expect(found.statuses[0].plugin, "n2");
	cluster_expect(found.error_text, "not this one");
	/* Call the default function for a node without pods and for a node with pods. */
	const struct berth_node_info *node = NULL;
	ck_assert_int_eq(
		berth_shared_lister_get(world.snapshot, BERTH_STR("n3"), world.arena, &node, NULL),
		0);
	expect(&world,
		berth_preemption_select_victims_on_node(
			world.preemption, world.state, world.pod, node, NULL, 0, &victims),
		"UnschedulableAndUnresolvable: No preemption victims found for incoming pod");
	ck_assert_int_eq(
		berth_shared_lister_get(world.snapshot, BERTH_STR("n2"), world.arena, &node, NULL),
		0);
	expect(&world,
		berth_preemption_select_victims_on_node(
			world.preemption, world.state, world.pod, node, NULL, 0, &victims),
		"Success: ");
	ck_assert_uint_eq(victims.pod_count, 2);
	cluster_expect(berth_pod_info_name(victims.pods[0]), "b3");
	finish(&world);
}
END_TEST

/* seed-map 002.19: a victim on the nominated node is still terminating */
START_TEST(test_preemption__waits_for_a_terminating_victim)
{
	struct berth_status hopeless = {.code = BERTH_CODE_UNSCHEDULABLE_AND_UNRESOLVABLE};
	struct berth_post_filter_result result = {.present = true};
	struct world world;
	struct berth_object *nominated = NULL;

	init_nodes(&world);
	put_bound(&world, "a1", "n1", 1, "T");
	put_bound(&world, "b2", "n2", 2, "");
	put_bound(&world, "b3", "n2", 3, "");
	begin(&world, "", NULL);
	nominated = cluster_object(
		"{'apiVersion':'v1','kind':'Pod','metadata':{'name':'boss','namespace':'d','uid':"
		"'uid-boss'},'spec':{'schedulerName':'default-scheduler','priority':100,"
		"'containers':[{'name':'c','resources':{'requests':{'cpu':'3'}}}]},'status':{"
		"'nominatedNodeName':'n1'}}");
	/*
	 * The stored pod decides, because its version is newer than the version that is being
	 * scheduled.
	 */
	ck_assert_int_eq(berth_engine_put(world.engine, nominated, SECOND, NULL), 0);
	expect(&world,
		berth_preemption_preempt(
			world.preemption, world.state, world.pod, world.statuses, &result),
		"Unschedulable: not eligible due to a terminating pod on the nominated node.");
	ck_assert(!result.present);
	/* The nominated node is unresolvable now, so preemption may choose another node. */
	berth_node_to_status_set(world.statuses, BERTH_STR("n1"), &hopeless);
	expect(&world,
		berth_preemption_preempt(
			world.preemption, world.state, world.pod, world.statuses, &result),
		"Success: ");
	cluster_expect(result.nominated_node_name, "n2");
	finish(&world);
	berth_object_release(nominated);
}
END_TEST

BT_TEST_MAIN("lib_preemption", test_preemption__dry_run, test_preemption__selects_a_candidate,
	test_preemption__disruption_budgets, test_preemption__nominates_a_node,
	test_preemption__no_result_and_error, test_preemption__no_result_and_unschedulable,
	test_preemption__a_result_and_unschedulable, test_preemption__removal_can_be_replaced,
	test_preemption__lower_nominations_are_cleared, test_preemption__decisions_can_be_replaced,
	test_preemption__victims_can_be_chosen, test_preemption__waits_for_a_terminating_victim)
