/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The public preemption and the preemption plugin must give the same result. They use one handle,
 * which has no writer, no random numbers, and the extenders that the test sets. Setting up this
 * handle needs internal headers.
 */
#include "base/prng.h"
#include "berth/preemption.h"
#include "cluster.h"
#include "lib/convert.h"
#include "plugins/default_preemption.h"

#define ROUNDS 300

struct twin {
	struct berth_engine *engine;
	struct bt_framework *framework;
	struct berth_framework *outside;
	struct berth_cycle_state *state;
	struct berth_pod_info *pod;
	struct berth_preemption *preemption;
};

static void init(struct twin *twin)
{
	*twin = (struct twin){.engine = cluster_create(CLUSTER_CONFIG("", ""), NULL)};
	twin->outside = cluster_framework(twin->engine);
	twin->framework = bt_framework_of(twin->outside);
	twin->framework->handle.prng = NULL;
	twin->framework->handle.preemption_writer = NULL;
}

static void begin(struct twin *twin, int priority, int cpu)
{
	struct berth_pre_filter_result result = {.restricted = false};
	char more[64];
	char cpus[16];

	(void)snprintf(more, sizeof(more), ",'priority':%d", priority);
	(void)snprintf(cpus, sizeof(cpus), "%d", cpu);
	cluster_put_pod(twin->engine, "boss", cpus, more);
	ck_assert_ptr_nonnull(berth_engine_snapshot_shared_lister(twin->engine, NULL));
	twin->pod = cluster_pod_info(twin->outside, "boss", cpus, more);
	twin->state = berth_cycle_state_create();
	(void)berth_framework_run_pre_filter_plugins(
		twin->outside, twin->state, twin->pod, &result, NULL, NULL);
	twin->preemption = berth_preemption_create(
		"DefaultPreemption", berth_framework_handle(twin->outside), NULL, NULL);
}

static void finish(struct twin *twin)
{
	berth_cycle_state_destroy(twin->state);
	berth_framework_pod_destroy(twin->pod);
	berth_preemption_destroy(twin->preemption);
	berth_engine_destroy(twin->engine);
}

static void put_random_pod(struct twin *twin, struct bt_prng *prng, int number, int node_count)
{
	char text[1024];

	(void)snprintf(text, sizeof(text),
		"{'apiVersion':'v1','kind':'Pod','metadata':{'name':'p%d','namespace':'d','uid':"
		"'u%d','labels':{'app':'a%d'}},'spec':{'nodeName':'n%d','priority':%d,"
		"'containers':[{'name':'c','resources':{'requests':{'cpu':'%d'}}}]},'status':{"
		"'phase':'Running','startTime':'2026-01-01T00:00:0%dZ'}}",
		number, number, (int)bt_prng_below(prng, 4),
		(int)bt_prng_below(prng, (uint64_t)node_count), (int)bt_prng_below(prng, 5),
		1 + (int)bt_prng_below(prng, 2), (int)bt_prng_below(prng, 9));
	cluster_put(twin->engine, text);
}

static void put_budget(struct twin *twin, struct bt_prng *prng, int number)
{
	char text[512];

	(void)snprintf(text, sizeof(text),
		"{'apiVersion':'policy/v1','kind':'PodDisruptionBudget','metadata':{'name':'b%d',"
		"'namespace':'d'},'spec':{'selector':{'matchLabels':{'app':'a%d'}}},'status':{"
		"'disruptionsAllowed':%d,'currentHealthy':1,'desiredHealthy':1,'expectedPods':1}}",
		number, number, (int)bt_prng_below(prng, 2));
	cluster_put(twin->engine, text);
}

/** Compares status, message and nomination; returns whether a node was nominated. */
static bool compare(struct twin *twin, uint64_t round)
{
	struct berth_arena *arena = berth_cycle_state_arena(twin->state);
	struct bt_node_statuses statuses = {.absent = {.code = BT_STATUS_UNSCHEDULABLE}};
	struct berth_node_to_status *outside = berth_node_to_status_create();
	struct berth_status unschedulable = {.code = BERTH_CODE_UNSCHEDULABLE};
	struct bt_post_filter_result expected = {0};
	struct berth_post_filter_result result;
	struct bt_status inside = bt_evaluator_preempt(
		bt_default_preemption_evaluator(twin->framework), bt_cycle_state_of(twin->state),
		bt_const_pod_info_of(twin->pod), &statuses, &expected, NULL);

	berth_node_to_status_set_absent(outside, &unschedulable);
	struct berth_status status = berth_preemption_preempt(
		twin->preemption, twin->state, twin->pod, outside, &result);
	struct berth_str text = berth_status_message(&status, arena);
	struct berth_str wanted = berth_status_message(&inside, arena);
	ck_assert_msg(status.code == inside.code && berth_str_equal(text, wanted) &&
			result.present == expected.present &&
			berth_str_equal(result.nominated_node_name, expected.nominated_node_name),
		"round %d: '%.*s' on %.*s instead of '%.*s' on %.*s", (int)round,
		BERTH_STR_ARG(text), BERTH_STR_ARG(result.nominated_node_name),
		BERTH_STR_ARG(wanted), BERTH_STR_ARG(expected.nominated_node_name));
	berth_node_to_status_destroy(outside);
	return result.nominated_node_name.length != 0;
}

START_TEST(test_preemption_twin__random_clusters)
{
	uint32_t nominated = 0;

	for (uint64_t round = 0; round < ROUNDS; round++) {
		struct bt_prng prng;
		struct twin twin;

		bt_prng_init(&prng, round);
		init(&twin);
		int node_count = 1 + (int)bt_prng_below(&prng, 5);
		int pod_count = (int)bt_prng_below(&prng, 14);
		for (int i = 0; i < node_count; i++) {
			char name[16];

			(void)snprintf(name, sizeof(name), "n%d", i);
			cluster_put_node(twin.engine, name, "4", "");
		}
		for (int i = 0; i < pod_count; i++) {
			put_random_pod(&twin, &prng, i, node_count);
		}
		for (int i = 0; i < (int)bt_prng_below(&prng, 4); i++) {
			put_budget(&twin, &prng, i);
		}
		begin(&twin, 1 + (int)bt_prng_below(&prng, 6), 1 + (int)bt_prng_below(&prng, 5));
		nominated += compare(&twin, round);
		finish(&twin);
	}
	/* Both results, with and without a nominated node, must be frequent. */
	ck_assert_uint_gt(nominated, ROUNDS / 4);
	ck_assert_uint_lt(nominated, ROUNDS - ROUNDS / 4);
}
END_TEST

/** An extender that accepts only the first candidate; fails if *context (a bool) is true. */
static int process(void *context, BT_UNUSED const struct bt_pod_info *pod,
	const struct bt_node_victims_list *candidates, BT_UNUSED struct bt_arena *arena,
	struct bt_node_victims_list *out_answer, struct berth_error *err)
{
	if (*(const bool *)context) {
		return berth_error_set(err, BERTH_ERR_IO, "the extender is ill");
	}
	ck_assert_uint_eq(candidates->count, 2);
	*out_answer = (struct bt_node_victims_list){&candidates->items[0], 1};
	return 0;
}

/*
 * seed-map 002.17, 002.25: the extenders receive the map of candidates, and the choice is made from
 * their answer
 */
START_TEST(test_preemption_twin__extenders)
{
	static const struct bt_config_extender config = {.preempt_verb = BT_STR_INIT("preempt")};
	struct berth_node_to_status *statuses = berth_node_to_status_create();
	struct berth_status unschedulable = {.code = BERTH_CODE_UNSCHEDULABLE};
	struct berth_post_filter_result result;
	struct twin twin;
	bool ill = false;
	struct bt_preemption_extender extender = {
		.config = &config, .process = process, .context = &ill};

	init(&twin);
	cluster_put_node(twin.engine, "n0", "4", "");
	cluster_put_node(twin.engine, "n1", "4", "");
	for (int i = 0; i < 2; i++) {
		char text[512];

		(void)snprintf(text, sizeof(text),
			"{'apiVersion':'v1','kind':'Pod','metadata':{'name':'p%d','namespace':'d',"
			"'uid':'u%d'},'spec':{'nodeName':'n%d','priority':%d,'containers':[{'name':"
			"'c','resources':{'requests':{'cpu':'4'}}}]},'status':{'phase':'Running'}}",
			i, i, i, 5 - i);
		cluster_put(twin.engine, text);
	}
	begin(&twin, 100, 3);
	berth_node_to_status_set_absent(statuses, &unschedulable);
	(void)berth_preemption_preempt(twin.preemption, twin.state, twin.pod, statuses, &result);
	cluster_expect(result.nominated_node_name, "n1"); /* n1 has the victim of lower priority */
	twin.framework->handle.preemption_extenders = &extender;
	twin.framework->handle.preemption_extender_count = 1;
	(void)berth_preemption_preempt(twin.preemption, twin.state, twin.pod, statuses, &result);
	cluster_expect(result.nominated_node_name, "n0");
	ill = true;
	struct berth_status status =
		berth_preemption_preempt(twin.preemption, twin.state, twin.pod, statuses, &result);
	cluster_expect_status(
		&status, berth_cycle_state_arena(twin.state), "Error: the extender is ill");
	ck_assert(!result.present);
	berth_node_to_status_destroy(statuses);
	finish(&twin);
}
END_TEST

BT_TEST_MAIN("lib_preemption_twin", test_preemption_twin__random_clusters,
	test_preemption_twin__extenders)
