/* SPDX-License-Identifier: Apache-2.0 */
/* DynamicResources from Reserve on: writes and their failures. Spec: 12 sections 12 and 13.1;
 * numbered cases of section 20. */
#include "base/error.h"
#include "devices_world.h"
#include "test_main.h"

/* --- writes --- */

START_TEST(test_dynamic_resources__edge_12_12_reserved_already)
{
	struct world world;

	world_init(&world, NULL, "");
	put_allocated_claim(&world.fixture, "c", "n1", RESULT_A, FOR_P);
	world_place(&world);
	fixture_expect("PreBind", devices_cycle_pre_bind(&world.cycle, "n1"), "Success");
	expect_log(&world, "");
	world_finish(&world);
}
END_TEST

START_TEST(test_dynamic_resources__edge_12_13_finalizer_is_there)
{
	struct world world;

	world_init(&world, NULL, "");
	put_device_claim(&world.fixture, "c", ONE_REQUEST,
		",'metadata':{'finalizers':['resource.kubernetes.io/delete-protection']}");
	world_place(&world);
	fixture_expect("PreBind", devices_cycle_pre_bind(&world.cycle, "n1"), "Success");
	expect_log(&world, "PUT c/status a {p};");
	fixture_expect("assumed", latest_claim(&world.fixture, "c"), "[1] a {p}");
	ck_assert(!is_in_flight(&world, "uid-c"));
	world_finish(&world);
}
END_TEST

START_TEST(test_dynamic_resources__edge_12_14_conflicts)
{
	static const struct {
		const char *row;
		const char *script;
		const char *status;
		const char *log;
		const char *latest;
	} rows[] = {
		{"none", "", "Success", "PUT c;PUT c/status a {p};", "[1] a {p}"},
		{"no answer yet", "p.pp.", "Success",
			"PUT c;PUT c;PUT c/status a {p};PUT c/status a {p};PUT c/status a {p};",
			"[1] a {p}"},
		{"one of the finalizer", "c", "Success", "PUT c;GET c;PUT c;PUT c/status a {p};",
			"[1] a {p}"},
		{"one of the status", ".c", "Success",
			"PUT c;PUT c/status a {p};GET c;PUT c/status a {p};", "[1] a {p}"},
		{"five", "c.c.c.c.c", "Error: add finalizer to claim default/c: conflict on c",
			"PUT c;GET c;PUT c;GET c;PUT c;GET c;PUT c;GET c;PUT c;", "[0] - {}"},
		{"five, the status", ".c.c.c.c.c",
			"Error: add allocation and reservation to claim default/c: conflict on c",
			"PUT c;PUT c/status a {p};GET c;PUT c/status a {p};GET c;PUT c/status a "
			"{p};GET c;PUT c/status a {p};GET c;PUT c/status a {p};",
			"[1] - {}"},
		{"GET fails", "ce", "Error: get updated claim default/c after conflict: no API",
			"PUT c;GET c;", "[0] - {}"},
		{"another error", "e", "Error: add finalizer to claim default/c: no API", "PUT c;",
			"[0] - {}"},
	};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct world world;

		world_init(&world, NULL, rows[i].script);
		put_device_claim(&world.fixture, "c", ONE_REQUEST, "");
		world_place(&world);
		fixture_expect(rows[i].row, devices_cycle_pre_bind_to_end(&world.cycle, "n1"),
			rows[i].status);
		fixture_expect(rows[i].row, bt_strbuf_c(&world.api.log), rows[i].log);
		fixture_expect(rows[i].row, latest_claim(&world.fixture, "c"), rows[i].latest);
		ck_assert_msg(!is_in_flight(&world, "uid-c"), "%s", rows[i].row);
		world_finish(&world);
	}
}
END_TEST

START_TEST(test_dynamic_resources__conflicts_are_ten_milliseconds_apart)
{
	struct world world;

	world_init(&world, NULL, "c");
	put_device_claim(&world.fixture, "c", ONE_REQUEST, "");
	world_place(&world);
	fixture_expect("conflict", devices_cycle_pre_bind(&world.cycle, "n1"), "Wait");
	ck_assert_int_eq(world.cycle.state.wake_ns, SECOND_NS / 100);
	fixture_expect("too early", devices_cycle_pre_bind(&world.cycle, "n1"), "Wait");
	expect_log(&world, "PUT c;");
	world.fixture.handle.now_ns = SECOND_NS / 100;
	fixture_expect("in time", devices_cycle_pre_bind(&world.cycle, "n1"), "Success");
	world_finish(&world);
}
END_TEST

/**
 * Checks PreBind after a conflict of the status PUT. extra: members of the claim, which has changed
 * meanwhile.
 */
static void check_changed(const char *gates, const char *extra, const char *status, const char *log)
{
	struct world world;

	world_init(&world, gates, "c");
	put_allocated_claim(&world.fixture, "c", "n1", RESULT_A, "");
	world_place(&world);
	fixture_expect("conflict", devices_cycle_pre_bind(&world.cycle, "n1"), "Wait");
	put_device_claim(&world.fixture, "c", ONE_REQUEST, extra);
	world.fixture.handle.now_ns += SECOND_NS;
	fixture_expect(extra, devices_cycle_pre_bind(&world.cycle, "n1"), status);
	expect_log(&world, log);
	world_finish(&world);
}

START_TEST(test_dynamic_resources__edge_12_15_deallocated_meanwhile)
{
	check_changed(NULL, ",'metadata':{'resourceVersion':'2'}",
		"Error: claim default/c got deallocated elsewhere in the meantime",
		"PUT c/status a {p};GET c;");
	check_changed("DRADeviceBindingConditions=false", ",'metadata':{'resourceVersion':'2'}",
		"Success", "PUT c/status a {p};GET c;PUT c/status - {p};");
	check_changed(NULL,
		",'metadata':{'resourceVersion':'2','deletionTimestamp':'2026-01-01T00:00:00Z'}",
		"Error: claim default/c got deleted in the meantime", "PUT c/status a {p};GET c;");
	/*
	 * The claim was deallocated and allocated again for another pod, on a device that the node
	 * may not reach.
	 */
	check_changed(NULL,
		",'metadata':{'resourceVersion':'2'},'status':{'allocation':{'devices':{'results':"
		"[{'request':'r','driver':'d','pool':'n2','device':'a'}]}}}",
		"Error: claim default/c got allocated elsewhere in the meantime",
		"PUT c/status a {p};GET c;");
}
END_TEST

START_TEST(test_dynamic_resources__edge_11b_43_allocated_elsewhere_meanwhile)
{
	struct world world;

	world_init(&world, NULL, "c");
	put_device_claim(&world.fixture, "c", ONE_REQUEST, "");
	world_place(&world);
	fixture_expect("conflict", devices_cycle_pre_bind(&world.cycle, "n1"), "Wait");
	put_device_claim(&world.fixture, "c", ONE_REQUEST,
		",'metadata':{'resourceVersion':'2'},'status':{'allocation':{'devices':{'results':"
		"[" RESULT_A "]}}}");
	world.fixture.handle.now_ns += SECOND_NS;
	fixture_expect("GET", devices_cycle_pre_bind(&world.cycle, "n1"),
		"Error: claim default/c got allocated elsewhere in the meantime");
	world_finish(&world);
}
END_TEST

/* --- Unreserve --- */

/**
 * A pod that lists one claim under two names handles the claim twice; the second time, the claim
 * has an allocation. The next attempt finds the claim allocated.
 */
START_TEST(test_dynamic_resources__one_claim_under_two_names)
{
	static const char *const modes[] = {"with an API", "without"};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(modes); i++) {
		struct world world;
		const char *pod;

		world_init(&world, NULL, "..c");
		put_slice(&world.fixture, "n1", "{'name':'a'},{'name':'b'}");
		put_device_claim(&world.fixture, "c", ONE_REQUEST, "");
		if (i == 1) {
			world.fixture.handle.claim_writer = NULL;
		}
		pod = devices_pod(&world.fixture, "p", "c c");
		devices_cycle_place(&world.cycle, &world.fixture, pod, "n1");
		fixture_expect(modes[i], devices_cycle_pre_bind_to_end(&world.cycle, "n1"),
			"Error: claim default/c got allocated elsewhere in the meantime");
		fixture_expect(modes[i], latest_claim(&world.fixture, "c"), "[1] a {p}");
		expect_log(&world, i == 0 ? "PUT c;PUT c/status a {p};PUT c;GET c;" : "");
		devices_cycle_unreserve(&world.cycle, "n1");
		ck_assert(!is_in_flight(&world, "uid-c"));
		if (i == 1) {
			fixture_expect("undone", latest_claim(&world.fixture, "c"), "[1] a {}");
			devices_cycle_end(&world.cycle);
			devices_cycle_place(&world.cycle, &world.fixture, pod, "n1");
			fixture_expect(
				"again", devices_cycle_pre_bind(&world.cycle, "n1"), "Success");
		}
		world_finish(&world);
	}
}
END_TEST

/** A claim without requests gets an allocation without devices. */
START_TEST(test_dynamic_resources__claim_without_requests)
{
	const struct bt_resource_claim *claim;
	struct bt_strbuf text = {0};
	struct bt_json_writer writer;
	struct world world;

	world_init(&world, NULL, "");
	put_device_claim(&world.fixture, "c", "", "");
	world_place(&world);
	fixture_expect("PreBind", devices_cycle_pre_bind(&world.cycle, "n1"), "Success");
	claim = bt_object_value(bt_claim_cache_find(&world.fixture.state->dra->claims,
					BT_STR("default"), BT_STR("c")),
		BT_KIND_RESOURCE_CLAIM);
	ck_assert_ptr_nonnull(claim->status.allocation);
	struct bt_allocation_result allocation = *claim->status.allocation;
	allocation.allocation_timestamp = NULL;
	bt_json_writer_init(&writer, &text, 0);
	bt_message_encode_json(&bt_allocation_result_message, &writer, &allocation);
	ck_assert_str_eq(bt_strbuf_c(&text), "{\"devices\":{}}");
	bt_strbuf_finish(&text);
	world_finish(&world);
}
END_TEST

START_TEST(test_dynamic_resources__unreserve_undoes_what_reserve_did)
{
	struct devices_cycle other;
	struct world world;

	world_init(&world, NULL, "");
	put_device_claim(&world.fixture, "c", ONE_REQUEST, "");
	world_place(&world);
	ck_assert(is_in_flight(&world, "uid-c"));
	devices_cycle_unreserve(&world.cycle, "n1");
	devices_cycle_unreserve(&world.cycle, "n1");
	ck_assert(!is_in_flight(&world, "uid-c"));
	expect_log(&world, "");
	fixture_expect("claim", latest_claim(&world.fixture, "c"), "[0] - {}");
	/* The device is free again. */
	devices_cycle_place(&other, &world.fixture, devices_pod(&world.fixture, "q", "c"), "n1");
	/* Unreserve keeps the claim in flight, because another pod has reserved the claim since. */
	devices_cycle_unreserve(&world.cycle, "n1");
	ck_assert(is_in_flight(&world, "uid-c"));
	devices_cycle_unreserve(&other, "n1");
	ck_assert(!is_in_flight(&world, "uid-c"));
	devices_cycle_end(&other);
	world_finish(&world);
}
END_TEST

START_TEST(test_dynamic_resources__unreserve_after_the_write)
{
	struct world world;

	world_init(&world, NULL, "");
	put_device_claim(&world.fixture, "c", ONE_REQUEST, "");
	world_place(&world);
	fixture_expect("PreBind", devices_cycle_pre_bind(&world.cycle, "n1"), "Success");
	devices_cycle_unreserve(&world.cycle, "n1");
	devices_cycle_unreserve(&world.cycle, "n1");
	/* The claim stays allocated; only the reservation is removed, once. */
	expect_log(&world, "PUT c;PUT c/status a {p};-uid-p c;");
	fixture_expect("assumed", latest_claim(&world.fixture, "c"), "[1] a {p}");
	world_finish(&world);
}
END_TEST

START_TEST(test_dynamic_resources__simulation_writes_to_the_claim_cache)
{
	struct world world;

	world_init(&world, NULL, "");
	world.fixture.handle.claim_writer = NULL;
	put_device_claim(&world.fixture, "c", ONE_REQUEST, "");
	world_place(&world);
	fixture_expect("PreBind", devices_cycle_pre_bind(&world.cycle, "n1"), "Success");
	fixture_expect("bound", latest_claim(&world.fixture, "c"), "[1] a {p}");
	devices_cycle_unreserve(&world.cycle, "n1");
	fixture_expect("unreserved", latest_claim(&world.fixture, "c"), "[1] a {}");
	world_finish(&world);
}
END_TEST

/**
 * Unreserve waits for a status write in flight: if the write succeeds, the claim keeps its devices.
 */
START_TEST(test_dynamic_resources__canceled_while_the_status_is_written)
{
	static const struct {
		const char *script;
		const char *writes;
		const char *claim;
	} rows[] = {
		{".p.", "PUT c;PUT c/status a {p};PUT c/status a {p} now;-uid-p c;", "[1] a {p}"},
		{".pe", "PUT c;PUT c/status a {p};PUT c/status a {p} now;", "[0] - {}"},
		{".pc", "PUT c;PUT c/status a {p};PUT c/status a {p} now;", "[0] - {}"},
		/* A write of the finalizer needs no wait. */
		{"p", "PUT c;", "[0] - {}"},
	};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct world world;

		world_init(&world, NULL, rows[i].script);
		put_device_claim(&world.fixture, "c", ONE_REQUEST, "");
		world_place(&world);
		fixture_expect("PreBind", devices_cycle_pre_bind(&world.cycle, "n1"), "Wait");
		devices_cycle_unreserve(&world.cycle, "n1");
		devices_cycle_unreserve(&world.cycle, "n1");
		ck_assert(!is_in_flight(&world, "uid-c"));
		expect_log(&world, rows[i].writes);
		fixture_expect(rows[i].script, latest_claim(&world.fixture, "c"), rows[i].claim);
		world_finish(&world);
	}
}
END_TEST

/* --- without a writer, and claims of files --- */

START_TEST(test_dynamic_resources__simulation_keeps_what_others_write)
{
	struct world world;

	world_init(&world, NULL, "");
	world.fixture.handle.claim_writer = NULL;
	put_device_claim(&world.fixture, "c", ONE_REQUEST, "");
	world_place(&world);
	fixture_expect("PreBind", devices_cycle_pre_bind(&world.cycle, "n1"), "Success");
	put_device_claim(&world.fixture, "c", ONE_REQUEST,
		",'metadata':{'resourceVersion':'2'},'status':{'allocation':{'devices':{'results':"
		"[" RESULT_A "]}},'reservedFor':[" FOR_P ",{'resource':'pods','name':'q','uid':"
		"'uid-q'}]}");
	devices_cycle_unreserve(&world.cycle, "n1");
	fixture_expect("unreserved", latest_claim(&world.fixture, "c"), "[0] a {q}");
	world_finish(&world);
}
END_TEST

START_TEST(test_dynamic_resources__the_first_timestamp_stays)
{
	const struct bt_resource_claim *claim;
	struct world world;

	world_init(&world, NULL, "");
	put_device_claim(&world.fixture, "c", ONE_REQUEST,
		",'status':{'allocation':{'devices':{'results':[" RESULT_A
		"]},'allocationTimestamp':'1970-01-01T00:00:07Z'},'reservedFor':[{'resource':"
		"'pods','name':'q','uid':'uid-q'}]}");
	world_place(&world);
	fixture_expect("PreBind", devices_cycle_pre_bind(&world.cycle, "n1"), "Success");
	fixture_expect("bound", latest_claim(&world.fixture, "c"), "[0] a {q,p}");
	claim = bt_object_value(bt_claim_cache_find(&world.fixture.state->dra->claims,
					BT_STR("default"), BT_STR("c")),
		BT_KIND_RESOURCE_CLAIM);
	ck_assert_int_eq(claim->status.allocation->allocation_timestamp->seconds, 7);
	world_finish(&world);
}
END_TEST

/** The scheduler's clock is not the time of day after the machine's clock was set. */
START_TEST(test_dynamic_resources__the_timestamp_is_the_time_of_day)
{
	const struct bt_resource_claim *claim;
	struct world world;

	world_init(&world, NULL, "");
	put_device_claim(&world.fixture, "c", ONE_REQUEST, "");
	world.fixture.handle.now_ns = 5 * SECOND_NS;
	world.fixture.handle.wall_offset_ns = 3600 * SECOND_NS;
	world_place(&world);
	fixture_expect("PreBind", devices_cycle_pre_bind(&world.cycle, "n1"), "Success");
	claim = bt_object_value(bt_claim_cache_find(&world.fixture.state->dra->claims,
					BT_STR("default"), BT_STR("c")),
		BT_KIND_RESOURCE_CLAIM);
	ck_assert_int_eq(claim->status.allocation->allocation_timestamp->seconds, 3605);
	world_finish(&world);
}
END_TEST

/** Claims from files have no uid: each claim has a separate entry in flight. */
START_TEST(test_dynamic_resources__claims_without_uid)
{
	struct devices_cycle other;
	struct world world;

	world_init(&world, NULL, "");
	put_slice(&world.fixture, "n1", "{'name':'a'},{'name':'b'}");
	for (int i = 0; i < 2; i++) {
		fixture_put(&world.fixture,
			bt_arena_printf(&world.fixture.arena,
				"{'apiVersion':'resource.k8s.io/v1','kind':'ResourceClaim',"
				"'metadata':{'name':'%s'},'spec':{'devices':{'requests':"
				"[" ONE_REQUEST "]}}}",
				i == 0 ? "c" : "e")
				.data);
	}
	world_place(&world);
	devices_cycle_place(&other, &world.fixture, devices_pod(&world.fixture, "q", "e"), "n1");
	ck_assert(is_in_flight(&world, "default/c"));
	ck_assert(is_in_flight(&world, "default/e"));
	devices_cycle_unreserve(&other, "n1");
	devices_cycle_end(&other);
	devices_cycle_unreserve(&world.cycle, "n1");
	world_finish(&world);
}
END_TEST

BT_TEST_MAIN("dynamic_resources_bind", test_dynamic_resources__edge_12_12_reserved_already,
	test_dynamic_resources__edge_12_13_finalizer_is_there,
	test_dynamic_resources__edge_12_14_conflicts,
	test_dynamic_resources__conflicts_are_ten_milliseconds_apart,
	test_dynamic_resources__edge_12_15_deallocated_meanwhile,
	test_dynamic_resources__edge_11b_43_allocated_elsewhere_meanwhile,
	test_dynamic_resources__one_claim_under_two_names,
	test_dynamic_resources__claim_without_requests,
	test_dynamic_resources__unreserve_undoes_what_reserve_did,
	test_dynamic_resources__unreserve_after_the_write,
	test_dynamic_resources__simulation_writes_to_the_claim_cache,
	test_dynamic_resources__simulation_keeps_what_others_write,
	test_dynamic_resources__canceled_while_the_status_is_written,
	test_dynamic_resources__the_first_timestamp_stays,
	test_dynamic_resources__the_timestamp_is_the_time_of_day,
	test_dynamic_resources__claims_without_uid)
