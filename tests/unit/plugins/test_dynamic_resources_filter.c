/* SPDX-License-Identifier: Apache-2.0 */
/* DynamicResources: several claims at Filter, the end of long searches, scores. Spec: 12 sections
 * 7, 8, 10 and 11. */
#include "devices_fixture.h"
#include "test_main.h"

#define ON(node) "{'request':'r','driver':'d','pool':'" node "','device':'a'}"
#define FOR_Q "{'resource':'pods','name':'q','uid':'uid-q'}"
#define NOT_HERE REFUSED "resourceclaim not available on the node"

/* --- claims allocated on other nodes --- */

/** One claim on another node is enough to reject, in either order. */
START_TEST(test_dynamic_resources_filter__spec_12_08_the_first_of_two_is_elsewhere)
{
	struct devices_cycle cycle;
	struct fixture fixture;

	devices_fixture_init(&fixture, NULL, NULL);
	put_allocated_claim(&fixture, "c", "n1", ON("n1"), "");
	put_allocated_claim(&fixture, "anywhere", NULL, ON("all"), "");
	devices_cycle_begin(&cycle, &fixture, devices_pod(&fixture, "p", "c anywhere"));
	fixture_expect("n1", devices_cycle_filter(&cycle, "n1"), "Success");
	fixture_expect("n2", devices_cycle_filter(&cycle, "n2"), NOT_HERE);
	devices_cycle_end(&cycle);
	fixture_finish(&fixture);
}
END_TEST

/** The claims are on different nodes: PostFilter may deallocate the claim that no pod uses. */
START_TEST(test_dynamic_resources_filter__spec_12_08_unavailable_on_any_node)
{
	static const char *const orders[][2] = {{"n1", "n2"}, {"n2", "n1"}};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(orders); i++) {
		struct devices_cycle cycle;
		struct fixture fixture;

		devices_fixture_init(&fixture, NULL, NULL);
		put_allocated_claim(&fixture, "c", "n1", ON("n1"), "");
		put_allocated_claim(&fixture, "e", "n2", ON("n2"), FOR_Q);
		devices_cycle_begin(&cycle, &fixture, devices_pod(&fixture, "p", "c e"));
		fixture_expect("first", devices_cycle_filter(&cycle, orders[i][0]), NOT_HERE);
		fixture_expect("second", devices_cycle_filter(&cycle, orders[i][1]), NOT_HERE);
		fixture_expect("PostFilter", devices_cycle_post_filter(&cycle),
			"Unschedulable: deallocation of ResourceClaim completed");
		fixture_expect("c", latest_claim(&fixture, "c"), "[0] - {}");
		fixture_expect("e", latest_claim(&fixture, "e"), "[0] a {q}");
		devices_cycle_end(&cycle);
		fixture_finish(&fixture);
	}
}
END_TEST

/**
 * The allocator's rejection comes first; the claim on another node is then not recorded for
 * PostFilter.
 */
START_TEST(test_dynamic_resources_filter__spec_12_08_no_devices_and_elsewhere)
{
	struct devices_cycle cycle;
	struct fixture fixture;

	devices_fixture_init(&fixture, NULL, NULL);
	put_allocated_claim(&fixture, "c", "n1", ON("n1"), "");
	put_device_claim(&fixture, "e", ONE_REQUEST, "");
	devices_cycle_begin(&cycle, &fixture, devices_pod(&fixture, "p", "c e"));
	fixture_expect(
		"Filter", devices_cycle_filter(&cycle, "n2"), REFUSED "cannot allocate all claims");
	fixture_expect("PostFilter", devices_cycle_post_filter(&cycle),
		"Unschedulable: still not schedulable");
	devices_cycle_end(&cycle);
	fixture_finish(&fixture);
}
END_TEST

/* --- PreFilter --- */

START_TEST(test_dynamic_resources_filter__spec_12_07_an_alternative_without_class)
{
	struct fixture fixture;

	devices_fixture_init(&fixture, NULL, NULL);
	put_device_claim(&fixture, "c", "{'name':'r','firstAvailable':[{'name':'s'}]}", "");
	fixture_expect("PreFilter",
		fixture_pre_filter(&fixture, devices_pod(&fixture, "p", "c"), NULL),
		"Error: request r/s: unsupported request type");
	fixture_finish(&fixture);
}
END_TEST

/* --- the end of a search --- */

/** A clock: at the third call the cycle is canceled; `ends`: the time limit has passed as well. */
struct clock {
	struct bt_cycle_state *cycle;
	uint32_t questions;
	bool ends;
};

static int64_t ask_clock(void *context)
{
	struct clock *clock = context;

	if (++clock->questions < 3) {
		return 0;
	}
	clock->cycle->cancel_cause = BT_STR("test canceling Filter");
	return clock->ends ? INT64_MAX : 0;
}

static void check_canceled(const char *row, bool time_is_over, const char *expected)
{
	struct bt_framework framework = {0};
	struct bt_profile_metrics profile = {0};
	struct bt_metrics *metrics = bt_metrics_create();
	struct devices_cycle cycle;
	struct clock clock = {&cycle.state, 0, time_is_over};
	struct fixture fixture;

	devices_fixture_init(&fixture, NULL, NULL);
	profile.all = bt_scheduler_metrics_create(metrics, &fixture.gates, ask_clock, &clock);
	framework.metrics = &profile;
	fixture.handle.framework = &framework;
	put_vain_claim(&fixture);
	devices_cycle_begin(&cycle, &fixture, devices_pod(&fixture, "p", "c"));
	fixture_expect(row, devices_cycle_filter(&cycle, "n1"), expected);
	ck_assert_uint_ge(clock.questions, 3);
	devices_cycle_end(&cycle);
	fixture.handle.framework = NULL;
	fixture_finish(&fixture);
	bt_scheduler_metrics_destroy(profile.all);
	bt_metrics_destroy(metrics);
}

START_TEST(test_dynamic_resources_filter__spec_12_08_canceled_within_the_search)
{
	check_canceled("in time", false,
		REFUSED "asked by caller to stop allocating devices: test canceling Filter");
	check_canceled(
		"too late as well", true, "Error: node n1: timed out trying to allocate devices");
}
END_TEST

/** Without a clock the limit counts calls. */
START_TEST(test_dynamic_resources_filter__spec_12_08_without_a_clock)
{
	struct bt_cycle_state cycle = {0};
	struct bt_filter_limit limit = {.cycle = &cycle, .steps_left = 2};

	ck_assert(!bt_dynamic_filter_is_over(&limit));
	ck_assert(bt_dynamic_filter_is_over(&limit));
	ck_assert(limit.is_timed_out);
	ck_assert(bt_dynamic_filter_is_over(&limit));
}
END_TEST

/* --- Score --- */

#define FORMS(name, count) "{'name':'" name "'," DEVICES_OF_C(count) "}"

/**
 * Rows: an alternative of another request, an alternative without devices, a request in both forms.
 */
START_TEST(test_dynamic_resources_filter__spec_12_11_what_scores)
{
	static const struct {
		const char *row;
		const char *requests;
		const char *result; /* result of the allocated claim; NULL: new claim */
		int64_t score;
	} rows[] = {
		{"the second",
			"{'name':'r','firstAvailable':[" FORMS("s", 1) "," FORMS("t", 1) "]}",
			"r/t", 7},
		{"of another request",
			"{'name':'r','firstAvailable':[" FORMS("s", 1) "," FORMS("t", 1) "]}",
			"q/t", 0},
		{"the request itself",
			"{'name':'r','firstAvailable':[" FORMS("s", 1) "," FORMS("t", 1) "]}", "r",
			0},
		{"both forms",
			"{'name':'r','exactly':{" DEVICES_OF_C(1) "},'firstAvailable':[" FORMS(
				"s", 1) "]}",
			"r/s", 0},
		{"both forms beside alternatives",
			"{'name':'r','exactly':{" DEVICES_OF_C(1) "},'firstAvailable':[" FORMS(
				"s", 1) "]},"
					"{'name':'q','firstAvailable':[" FORMS("s", 1) "]}",
			"r/s", 0},
		{"new, the second",
			"{'name':'r','firstAvailable':[" FORMS("s", 9) "," FORMS("t", 1) "]}", NULL,
			7},
		{"new, without devices", "{'name':'r','firstAvailable':[" FORMS("s", 0) "]}", NULL,
			0},
	};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct devices_cycle cycle;
		struct fixture fixture;

		devices_fixture_init(&fixture, NULL, NULL);
		put_slice(&fixture, "n1", "{'name':'a'},{'name':'b'}");
		put_device_claim(&fixture, "c", rows[i].requests,
			rows[i].result == NULL
				? ""
				: bt_arena_printf(&fixture.arena,
					  ",'status':{'allocation':{'devices':{'results':[{"
					  "'request':'%s','driver':'d','pool':'n1','device':'a'}]"
					  "}}}",
					  rows[i].result)
					  .data);
		put_device_claim(&fixture, "e", ONE_REQUEST, "");
		devices_cycle_begin(&cycle, &fixture, devices_pod(&fixture, "p", "c e"));
		fixture_expect(rows[i].row, devices_cycle_filter(&cycle, "n1"), "Success");
		ck_assert_msg(
			devices_cycle_score(&cycle, "n1") == rows[i].score, "%s", rows[i].row);
		devices_cycle_end(&cycle);
		fixture_finish(&fixture);
	}
}
END_TEST

BT_TEST_MAIN("dynamic_resources_filter",
	test_dynamic_resources_filter__spec_12_08_the_first_of_two_is_elsewhere,
	test_dynamic_resources_filter__spec_12_08_unavailable_on_any_node,
	test_dynamic_resources_filter__spec_12_08_no_devices_and_elsewhere,
	test_dynamic_resources_filter__spec_12_07_an_alternative_without_class,
	test_dynamic_resources_filter__spec_12_08_canceled_within_the_search,
	test_dynamic_resources_filter__spec_12_08_without_a_clock,
	test_dynamic_resources_filter__spec_12_11_what_scores)
