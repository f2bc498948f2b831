/* SPDX-License-Identifier: Apache-2.0 */
/** Each checker accepts correct states and complains about wrong ones. */
#include "soak/check.h"
#include "sim_objects.h"
#include "test_main.h"

/** A store, the complaint, and what the scheduler reports about a pod. */
struct bench {
	struct bt_object_store store;
	struct bt_strbuf complaint;
	enum bt_sim_wait wait;
	bool excused;
};

static void bench_init(struct bench *bench)
{
	*bench = (struct bench){.wait = BT_SIM_WAIT_EVENT};
	bt_object_store_init(&bench->store);
	sim_node(&bench->store, "n0", "");
	sim_node(&bench->store, "n1", "");
}

static void bench_finish(struct bench *bench)
{
	bt_object_store_finish(&bench->store);
	bt_strbuf_finish(&bench->complaint);
}

/**
 * Returns the complaint and empties it. good: the complaint must be empty; !good: it must not be
 * empty.
 */
static const char *said(struct bench *bench, bool good)
{
	static char text[512];

	(void)snprintf(text, sizeof(text), "%s", bt_strbuf_c(&bench->complaint));
	bt_strbuf_reset(&bench->complaint);
	ck_assert_msg(good == (text[0] == '\0'), "%d: %s", good, text);
	return text;
}

/** --- decisions --- */

static const char *decide(struct bench *bench, const char *pod, const char *node)
{
	struct bt_sim_view view;

	bt_sim_view_init(&view, &bench->store);
	bool good = bt_sim_check_decision(
		&view, sim_find_pod(&bench->store, pod), bt_str_from(node), &bench->complaint);
	bt_sim_view_finish(&view);
	return said(bench, good);
}

START_TEST(test_sim_check__decisions)
{
	struct bench bench;

	bench_init(&bench);
	sim_pod(&bench.store, "large", "n0", "1500m", "");
	sim_pod(&bench.store, "p", "", "1", "");
	ck_assert_str_eq(decide(&bench, "p", "n1"), "");
	ck_assert_str_eq(decide(&bench, "p", "n0"),
		"pod a/p (uid p) is put on node n0, but: not enough room");
	ck_assert_str_eq(decide(&bench, "p", "n2"),
		"pod a/p (uid p) is put on node n2, but: there is no such node");
	ck_assert_str_eq(decide(&bench, "large", "n1"),
		"pod a/large (uid large) is bound to n1, but is known to be on n0 already");
	bench_finish(&bench);
}
END_TEST

/* A binding counts although the watch has not delivered it yet. */
START_TEST(test_sim_check__decisions_follow_bindings)
{
	struct bench bench;
	struct bt_sim_view view;

	bench_init(&bench);
	const struct bt_pod *first = sim_pod(&bench.store, "first", "", "1500m", "")->value;
	sim_pod(&bench.store, "p", "", "1", "");
	bt_sim_view_init(&view, &bench.store);
	bt_sim_view_place(&view, first, BT_STR("n0"));
	bt_sim_view_place(&view, first, BT_STR("n0")); /* counts once */
	ck_assert_uint_eq(view.placed.count, 1);
	ck_assert(!bt_sim_check_decision(
		&view, sim_find_pod(&bench.store, "p"), BT_STR("n0"), &bench.complaint));
	ck_assert(!bt_sim_check_decision(&view, first, BT_STR("n1"), &bench.complaint));
	bt_sim_view_finish(&view);
	bench_finish(&bench);
}
END_TEST

/** --- nodes --- */

static bool is_excused(void *context, struct bt_str node_name)
{
	const struct bench *bench = context;

	return bench->excused && bt_str_equal_c(node_name, "n0");
}

static const char *look_at_nodes(struct bench *bench)
{
	struct bt_sim_view view;

	bt_sim_view_init(&view, &bench->store);
	bool good = bt_sim_check_nodes(&view, is_excused, bench, &bench->complaint);
	bt_sim_view_finish(&view);
	return said(bench, good);
}

START_TEST(test_sim_check__over_committed_nodes)
{
	struct bench bench;

	bench_init(&bench);
	sim_pod(&bench.store, "a", "n0", "1", "");
	sim_pod(&bench.store, "b", "n0", "1", "");
	ck_assert_str_eq(look_at_nodes(&bench), "");
	sim_pod(&bench.store, "c", "n0", "1m", "");
	ck_assert_str_eq(look_at_nodes(&bench), "node n0 is over-committed: 2001 of cpu, has 2000");
	bench.excused = true;
	ck_assert_str_eq(look_at_nodes(&bench), "");
	for (char name[] = "d"; name[0] < 'i'; name[0]++) {
		sim_pod(&bench.store, name, "n1", "0", "");
	}
	ck_assert_str_eq(look_at_nodes(&bench), "node n1 is over-committed: 5 of pods, has 4");
	bench_finish(&bench);
}
END_TEST

/** --- victims --- */

START_TEST(test_sim_check__victims)
{
	struct bench bench;

	bench_init(&bench);
	const struct bt_pod *victim =
		sim_pod(&bench.store, "victim", "n0", "1", ",'priority':5")->value;
	sim_pod(&bench.store, "same", "", "1", ",'priority':5");
	sim_pod(&bench.store, "never", "", "1", ",'priority':9,'preemptionPolicy':'Never'");
	sim_pod(&bench.store, "placed", "n1", "1", ",'priority':9");
	bool good = bt_sim_check_victim(&bench.store, victim, &bench.complaint);
	ck_assert_str_eq(said(&bench, good),
		"pod a/victim (uid victim) is removed by preemption, but no pending pod has "
		"a higher priority");
	sim_pod(&bench.store, "more", "", "1", ",'priority':6");
	good = bt_sim_check_victim(&bench.store, victim, &bench.complaint);
	ck_assert_str_eq(said(&bench, good), "");
	bench_finish(&bench);
}
END_TEST

/** --- pending pods --- */

static bool is_ours(void *context, const struct bt_pod *pod)
{
	(void)context;
	return bt_str_equal_c(pod->spec.scheduler_name, "default-scheduler");
}

static enum bt_sim_wait wait_of(void *context, const struct bt_pod *pod)
{
	const struct bench *bench = context;

	(void)pod;
	return bench->wait;
}

static const char *look_at_pending(struct bench *bench, enum bt_sim_wait wait, bool is_final,
	const char *nominated, const char *nominated_on)
{
	struct bt_sim_placed placed = {
		nominated != NULL ? sim_find_pod(&bench->store, nominated) : NULL,
		bt_str_from(nominated_on)};
	struct bt_sim_pending pending = {
		.nominated = &placed,
		.nominated_count = nominated != NULL,
		.is_final = is_final,
		.is_ours = is_ours,
		.wait_of = wait_of,
		.context = bench,
	};

	bench->wait = wait;
	bool good = bt_sim_check_pending(&bench->store, &pending, &bench->complaint);
	return said(bench, good);
}

START_TEST(test_sim_check__pending_pods)
{
	struct bench bench;

	bench_init(&bench);
	sim_pod(&bench.store, "p", "", "1500m", "");
	ck_assert_str_eq(look_at_pending(&bench, BT_SIM_WAIT_EVENT, false, NULL, ""),
		"pod a/p (uid p) is pending although it fits on node n0; no event woke it up");
	ck_assert_str_eq(look_at_pending(&bench, BT_SIM_WAIT_TURN, false, NULL, ""), "");
	ck_assert_str_eq(look_at_pending(&bench, BT_SIM_WAIT_TURN, true, NULL, ""),
		"pod a/p (uid p) is pending although it fits on node n0");
	ck_assert_str_eq(look_at_pending(&bench, BT_SIM_WAIT_CLOCK, true, NULL, ""), "");
	ck_assert_str_eq(look_at_pending(&bench, BT_SIM_WAIT_CLAIM, false, NULL, ""),
		"pod a/p (uid p) has its claims, but no event has ended its wait for "
		"them");
	ck_assert_str_eq(look_at_pending(&bench, BT_SIM_WAIT_NOWHERE, false, NULL, ""),
		"pod a/p (uid p) is pending, but in no queue");
	ck_assert_str_eq(look_at_pending(&bench, BT_SIM_WAIT_GATE, true, NULL, ""),
		"pod a/p (uid p) has no gate, but is held back");
	sim_pod(&bench.store, "a", "n0", "1", "");
	sim_pod(&bench.store, "b", "n1", "1", "");
	ck_assert_str_eq(look_at_pending(&bench, BT_SIM_WAIT_EVENT, true, NULL, ""), "");
	bench_finish(&bench);
}
END_TEST

START_TEST(test_sim_check__pending_pods_that_lack_claims)
{
	struct bench bench;

	bench_init(&bench);
	sim_pod(&bench.store, "p", "", "1",
		",'resourceClaims':[{'name':'e','resourceClaimName':'c'}]");
	ck_assert_str_eq(look_at_pending(&bench, BT_SIM_WAIT_CLAIM, true, NULL, ""), "");
	sim_object(&bench.store,
		"{'apiVersion':'resource.k8s.io/v1','kind':'ResourceClaim','metadata':{'namespace':"
		"'a','name':'c'}}");
	ck_assert_str_ne(look_at_pending(&bench, BT_SIM_WAIT_CLAIM, false, NULL, ""), "");
	bench_finish(&bench);
}
END_TEST

START_TEST(test_sim_check__pending_pods_that_may_preempt)
{
	struct bench bench;

	bench_init(&bench);
	sim_pod(&bench.store, "a", "n0", "1", "");
	sim_pod(&bench.store, "b", "n1", "1", ",'priority':3");
	sim_pod(&bench.store, "p", "", "1500m", ",'priority':2");
	ck_assert_str_eq(look_at_pending(&bench, BT_SIM_WAIT_EVENT, false, NULL, ""), "");
	ck_assert_str_eq(look_at_pending(&bench, BT_SIM_WAIT_EVENT, true, NULL, ""),
		"pod a/p (uid p) is pending although it could preempt on node n0");
	sim_pod(&bench.store, "p", "", "1500m", ",'priority':2,'preemptionPolicy':'Never'");
	ck_assert_str_eq(look_at_pending(&bench, BT_SIM_WAIT_EVENT, true, NULL, ""), "");
	bench_finish(&bench);
}
END_TEST

/* A nominated pod of the same or a higher priority takes room on its node. */
START_TEST(test_sim_check__pending_pods_and_nominations)
{
	struct bench bench;

	bench_init(&bench);
	sim_pod(&bench.store, "b", "n1", "1", "");
	sim_pod(&bench.store, "p", "", "1500m", "");
	sim_pod(&bench.store, "q", "", "4", "");
	ck_assert_str_eq(look_at_pending(&bench, BT_SIM_WAIT_EVENT, true, "q", "n0"), "");
	ck_assert_str_ne(look_at_pending(&bench, BT_SIM_WAIT_EVENT, true, "q", "n1"), "");
	sim_pod(&bench.store, "q", "", "4", ",'priority':-1");
	ck_assert_str_ne(look_at_pending(&bench, BT_SIM_WAIT_EVENT, true, "q", "n0"), "");
	bench_finish(&bench);
}
END_TEST

START_TEST(test_sim_check__gated_and_foreign_pods)
{
	struct bench bench;

	bench_init(&bench);
	sim_pod(&bench.store, "p", "", "1", ",'schedulingGates':[{'name':'g'}]");
	ck_assert_str_eq(look_at_pending(&bench, BT_SIM_WAIT_GATE, true, NULL, ""), "");
	ck_assert_str_eq(look_at_pending(&bench, BT_SIM_WAIT_EVENT, false, NULL, ""),
		"pod a/p (uid p) has a gate, but is not held back by it");
	sim_object(&bench.store,
		"{'apiVersion':'v1','kind':'Pod','metadata':{'namespace':'a','name':'p','uid':'p'},"
		"'spec':{'schedulerName':'other'}}");
	ck_assert_str_eq(look_at_pending(&bench, BT_SIM_WAIT_NOWHERE, true, NULL, ""), "");
	bench_finish(&bench);
}
END_TEST

/** --- memory --- */

START_TEST(test_sim_check__memory)
{
	struct bench bench = {0};
	struct bt_sim_memory flat[6];
	struct bt_sim_memory leak[6];

	for (uint32_t i = 0; i < 6; i++) {
		flat[i] = (struct bt_sim_memory){100000 + i % 2 * 1000, i * 1000, 300, 20, 4};
		leak[i] = flat[i];
		leak[i].symbols += i * 300;
	}
	ck_assert_str_eq(said(&bench, bt_sim_check_memory(flat, 6, &bench.complaint)), "");
	ck_assert_str_eq(said(&bench, bt_sim_check_memory(leak, 6, &bench.complaint)),
		"memory: symbols of an empty cluster grew from 900 to 1800");
	ck_assert_str_eq(said(&bench, bt_sim_check_memory(leak, 3, &bench.complaint)), "");
	for (uint32_t i = 3; i < 6; i++) {
		flat[i].state_bytes *= 2;
	}
	ck_assert_str_eq(said(&bench, bt_sim_check_memory(flat, 6, &bench.complaint)),
		"memory: bytes of an empty cluster grew from 101000 to 202000");
	leak[0].cache_bytes = (size_t)82 << 20;
	ck_assert_str_eq(said(&bench, bt_sim_check_memory(leak, 1, &bench.complaint)),
		"memory: the caches hold 85983232 bytes");
	bt_strbuf_finish(&bench.complaint);
}
END_TEST

BT_TEST_MAIN("sim_check", test_sim_check__decisions, test_sim_check__decisions_follow_bindings,
	test_sim_check__over_committed_nodes, test_sim_check__victims, test_sim_check__pending_pods,
	test_sim_check__pending_pods_that_lack_claims,
	test_sim_check__pending_pods_that_may_preempt, test_sim_check__pending_pods_and_nominations,
	test_sim_check__gated_and_foreign_pods, test_sim_check__memory)
