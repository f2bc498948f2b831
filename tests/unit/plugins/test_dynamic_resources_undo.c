/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DynamicResources: undoing reservations and allocations, and claims that other clients change
 * while a pod is being bound. Spec: 12 sections 4.1, 4.2, 10, 12 and 13.1.
 */
#include "devices_world.h"
#include "test_main.h"

#define FOR_Q "{'resource':'pods','name':'q','uid':'uid-q'}"
#define ALLOCATED "'allocation':{'devices':{'results':[" RESULT_A "]}}"
#define VERSION(number) ",'metadata':{'resourceVersion':'" #number "'}"

/* --- PreBind: writes and their failures --- */

/** The first attempt writes the claim version of the cycle, without reading the claim again. */
START_TEST(test_dynamic_resources_undo__spec_12_13_1_the_first_attempt_reads_nothing)
{
	struct world world;

	world_init(&world, NULL, "");
	put_allocated_claim(&world.fixture, "c", "n1", RESULT_A, "");
	world_place(&world);
	put_device_claim(&world.fixture, "c", ONE_REQUEST,
		VERSION(2) ",'status':{" ALLOCATED ",'reservedFor':[" FOR_Q "]}");
	fixture_expect("PreBind", devices_cycle_pre_bind(&world.cycle, "n1"), "Success");
	expect_log(&world, "PUT c/status a {p};");
	world_finish(&world);
}
END_TEST

START_TEST(test_dynamic_resources_undo__spec_12_13_1_a_reservation_fails)
{
	struct world world;

	world_init(&world, NULL, "e");
	put_allocated_claim(&world.fixture, "c", "n1", RESULT_A, "");
	world_place(&world);
	fixture_expect("PreBind", devices_cycle_pre_bind(&world.cycle, "n1"),
		"Error: add reservation to claim default/c: no API");
	devices_cycle_unreserve(&world.cycle, "n1");
	expect_log(&world, "PUT c/status a {p};");
	world_finish(&world);
}
END_TEST

/**
 * Meanwhile the claim was allocated for this pod and is being deleted: PreBind reports the
 * deletion. Unreserve does not remove the reservation in the API, because this cycle did not write
 * the reservation.
 */
START_TEST(test_dynamic_resources_undo__spec_12_13_1_deleted_and_allocated_meanwhile)
{
	struct world world;

	world_init(&world, NULL, "c");
	put_device_claim(&world.fixture, "c", ONE_REQUEST, "");
	world_place(&world);
	fixture_expect("conflict", devices_cycle_pre_bind(&world.cycle, "n1"), "Wait");
	put_device_claim(&world.fixture, "c", ONE_REQUEST,
		",'metadata':{'resourceVersion':'2','deletionTimestamp':'2026-01-01T00:00:00Z'},"
		"'status':{" ALLOCATED ",'reservedFor':[" FOR_P "]}");
	world.fixture.handle.now_ns += SECOND_NS;
	fixture_expect("GET", devices_cycle_pre_bind(&world.cycle, "n1"),
		"Error: claim default/c got deleted in the meantime");
	devices_cycle_unreserve(&world.cycle, "n1");
	expect_log(&world, "PUT c;GET c;");
	ck_assert(!is_in_flight(&world, "uid-c"));
	world_finish(&world);
}
END_TEST

/** The cache no longer has the claim: PreBind neither waits nor fails. */
START_TEST(test_dynamic_resources_undo__spec_12_13_1_a_claim_that_the_cache_lost)
{
	struct world world;

	world_init(&world, NULL, "p");
	put_device_claim(&world.fixture, "c", ONE_REQUEST, "");
	world_place(&world);
	fixture_expect("no answer yet", devices_cycle_pre_bind(&world.cycle, "n1"), "Wait");
	fixture_delete(&world.fixture, BT_KIND_RESOURCE_CLAIM, "default", "c");
	fixture_expect("written", devices_cycle_pre_bind(&world.cycle, "n1"), "Success");
	ck_assert(!is_in_flight(&world, "uid-c"));
	world_finish(&world);
}
END_TEST

/**
 * The watch delivers the allocation before the answer of the PUT. A reservation by another pod,
 * once assumed, shows that the API has the claim: the claim's allocation is no longer in flight.
 */
START_TEST(test_dynamic_resources_undo__spec_12_13_1_assumed_by_another_pod)
{
	struct devices_cycle other;
	struct world world;

	world_init(&world, NULL, ".p");
	put_device_claim(&world.fixture, "c", ONE_REQUEST, "");
	world_place(&world);
	fixture_expect("no answer yet", devices_cycle_pre_bind(&world.cycle, "n1"), "Wait");
	put_device_claim(&world.fixture, "c", ONE_REQUEST,
		VERSION(102) ",'status':{" ALLOCATED ",'reservedFor':[" FOR_P "]}");
	ck_assert(is_in_flight(&world, "uid-c"));
	world.api.version = 200;
	devices_cycle_place(&other, &world.fixture, devices_pod(&world.fixture, "q", "c"), "n1");
	fixture_expect("the other", devices_cycle_pre_bind(&other, "n1"), "Success");
	ck_assert(!is_in_flight(&world, "uid-c"));
	/*
	 * The allocation belongs to the first pod: Unreserve of the second pod must not take the
	 * claim's devices back.
	 */
	devices_cycle_unreserve(&other, "n1");
	devices_cycle_end(&other);
	world_finish(&world);
}
END_TEST

/* --- Unreserve --- */

START_TEST(test_dynamic_resources_undo__spec_12_12_whose_reservation)
{
	static const struct {
		const char *row;
		const char *status;
		const char *log;
	} rows[] = {
		{"its own", ALLOCATED ",'reservedFor':[" FOR_Q "," FOR_P "]", "-uid-p c;"},
		{"another's", ALLOCATED ",'reservedFor':[" FOR_Q "]", ""},
		{"nobody's", ALLOCATED, ""},
		{"of a claim without devices", "'reservedFor':[" FOR_P "]", ""},
	};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct world world;

		world_init(&world, NULL, "");
		put_device_claim(&world.fixture, "c", ONE_REQUEST,
			bt_arena_printf(&world.fixture.arena, ",'status':{%s}", rows[i].status)
				.data);
		world_place(&world);
		devices_cycle_unreserve(&world.cycle, "n1");
		fixture_expect(rows[i].row, bt_strbuf_c(&world.api.log), rows[i].log);
		world_finish(&world);
	}
}
END_TEST

/**
 * Unreserve drops the assumed claim; the written allocation counts again when the watch delivers
 * the claim.
 */
START_TEST(test_dynamic_resources_undo__spec_12_12_unreserve_restores)
{
	struct devices_cycle next;
	struct world world;

	world_init(&world, NULL, ".e");
	put_device_claim(&world.fixture, "c", ONE_REQUEST, "");
	world_place(&world);
	fixture_expect("PreBind", devices_cycle_pre_bind(&world.cycle, "n1"),
		"Error: add allocation and reservation to claim default/c: no API");
	devices_cycle_unreserve(&world.cycle, "n1");
	fixture_expect("the finalizer", latest_claim(&world.fixture, "c"), "[1] - {}");
	devices_cycle_place(&next, &world.fixture, devices_pod(&world.fixture, "p", "c"), "n1");
	devices_cycle_unreserve(&next, "n1");
	fixture_expect("restored", latest_claim(&world.fixture, "c"), "[0] - {}");
	devices_cycle_end(&next);
	world_finish(&world);
}
END_TEST

/** Without a writer there is no watch: the assumed deallocation stays. */
START_TEST(test_dynamic_resources_undo__simulation_keeps_what_was_taken_back)
{
	struct devices_cycle cycle;
	struct world world;

	world_init(&world, NULL, "");
	world.fixture.handle.claim_writer = NULL;
	put_allocated_claim(&world.fixture, "c", "n1", RESULT_A, "");
	devices_cycle_begin(&world.cycle, &world.fixture, devices_pod(&world.fixture, "p", "c"));
	fixture_expect("Filter", devices_cycle_filter(&world.cycle, "n2"),
		REFUSED "resourceclaim not available on the node");
	fixture_expect("PostFilter", devices_cycle_post_filter(&world.cycle),
		"Unschedulable: deallocation of ResourceClaim completed");
	fixture_expect("freed", latest_claim(&world.fixture, "c"), "[0] - {}");
	devices_cycle_place(&cycle, &world.fixture, devices_pod(&world.fixture, "p", "c"), "n1");
	devices_cycle_unreserve(&cycle, "n1");
	fixture_expect("still", latest_claim(&world.fixture, "c"), "[0] - {}");
	devices_cycle_end(&cycle);
	world_finish(&world);
}
END_TEST

/** The pod's claim was deleted, and a new claim of the same name belongs to another pod. */
START_TEST(test_dynamic_resources_undo__simulation_leaves_a_new_claim_alone)
{
	struct world world;

	world_init(&world, NULL, "");
	world.fixture.handle.claim_writer = NULL;
	put_device_claim(&world.fixture, "c", ONE_REQUEST, "");
	world_place(&world);
	fixture_expect("PreBind", devices_cycle_pre_bind(&world.cycle, "n1"), "Success");
	fixture_delete(&world.fixture, BT_KIND_RESOURCE_CLAIM, "default", "c");
	put_device_claim(&world.fixture, "c", ONE_REQUEST,
		",'metadata':{'uid':'uid-new'},'status':{" ALLOCATED ",'reservedFor':[" FOR_P "]}");
	devices_cycle_unreserve(&world.cycle, "n1");
	fixture_expect("the new one", latest_claim(&world.fixture, "c"), "[0] a {p}");
	world_finish(&world);
}
END_TEST

/* --- PostFilter --- */

static const struct bt_resource_claim *claim_c(struct world *world)
{
	return bt_object_value(bt_claim_cache_find(&world->fixture.state->dra->claims,
				       BT_STR("default"), BT_STR("c")),
		BT_KIND_RESOURCE_CLAIM);
}

static void check_post_filter(const char *script, const char *expected)
{
	struct world world;

	world_init(&world, NULL, script);
	put_allocated_claim(&world.fixture, "c", "n1", RESULT_A, "");
	devices_cycle_begin(&world.cycle, &world.fixture, devices_pod(&world.fixture, "p", "c"));
	fixture_expect("Filter", devices_cycle_filter(&world.cycle, "n2"),
		REFUSED "resourceclaim not available on the node");
	fixture_expect(script, devices_cycle_post_filter(&world.cycle), expected);
	expect_log(&world, "PUT c/status - {} now;");
	world_finish(&world);
}

START_TEST(test_dynamic_resources_undo__spec_12_10_deallocation_fails)
{
	check_post_filter("", "Unschedulable: deallocation of ResourceClaim completed");
	check_post_filter("e", "Error: no API");
	/* PostFilter does not read the claim again: a conflict is an error like any other. */
	check_post_filter("c", "Error: conflict on c");
}
END_TEST

START_TEST(test_dynamic_resources_undo__spec_12_10_deallocation_clears_the_devices)
{
	struct world world;

	world_init(&world, NULL, "");
	world.fixture.handle.claim_writer = NULL;
	put_device_claim(&world.fixture, "c", ONE_REQUEST,
		",'status':{'allocation':{'devices':{'results':[" RESULT_A
		"]},'nodeSelector':{'nodeSelectorTerms':[{'matchFields':[{'key':'metadata.name',"
		"'operator':'In','values':['n1']}]}]}},'devices':[{'driver':'d','pool':'n1',"
		"'device':'a'}],'reservedFor':[" FOR_P "]}");
	ck_assert_uint_eq(claim_c(&world)->status.devices.count, 1);
	devices_cycle_begin(&world.cycle, &world.fixture, devices_pod(&world.fixture, "p", "c"));
	fixture_expect("Filter", devices_cycle_filter(&world.cycle, "n2"),
		REFUSED "resourceclaim not available on the node");
	fixture_expect("PostFilter", devices_cycle_post_filter(&world.cycle),
		"Unschedulable: deallocation of ResourceClaim completed");
	ck_assert_ptr_null(claim_c(&world)->status.allocation);
	ck_assert_uint_eq(claim_c(&world)->status.devices.count, 0);
	ck_assert_uint_eq(claim_c(&world)->status.reserved_for.count, 0);
	world_finish(&world);
}
END_TEST

BT_TEST_MAIN("dynamic_resources_undo",
	test_dynamic_resources_undo__spec_12_13_1_the_first_attempt_reads_nothing,
	test_dynamic_resources_undo__spec_12_13_1_a_reservation_fails,
	test_dynamic_resources_undo__spec_12_13_1_deleted_and_allocated_meanwhile,
	test_dynamic_resources_undo__spec_12_13_1_a_claim_that_the_cache_lost,
	test_dynamic_resources_undo__spec_12_13_1_assumed_by_another_pod,
	test_dynamic_resources_undo__spec_12_12_whose_reservation,
	test_dynamic_resources_undo__spec_12_12_unreserve_restores,
	test_dynamic_resources_undo__simulation_keeps_what_was_taken_back,
	test_dynamic_resources_undo__simulation_leaves_a_new_claim_alone,
	test_dynamic_resources_undo__spec_12_10_deallocation_fails,
	test_dynamic_resources_undo__spec_12_10_deallocation_clears_the_devices)
