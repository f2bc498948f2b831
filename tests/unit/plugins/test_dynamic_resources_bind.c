/* SPDX-License-Identifier: Apache-2.0 */
/* DynamicResources from Reserve on: writes, their failures, waiting for devices. Spec: 12 sections
 * 12 and 13; numbered cases of section 20. */
#include "base/error.h"
#include "devices_fixture.h"
#include "test_main.h"

#define SECOND_NS (INT64_C(1000) * 1000 * 1000)
#define RESULT_A "{'request':'r','driver':'d','pool':'n1','device':'a'}"
#define FOR_P "{'resource':'pods','name':'p','uid':'uid-p'}"
/** Binding conditions of device a. */
#define CONDITIONS "'bindingConditions':['ready'],'bindingFailureConditions':['broken']"
#define RESULT_CONDITIONS "{'request':'r','driver':'d','pool':'n1','device':'a'," CONDITIONS "}"

/** A cycle of pod p for claim c, which gets device a of node n1, up to Reserve. */
struct world {
	struct fixture fixture;
	struct claim_recorder api;
	struct devices_cycle cycle;
};

static void world_init(struct world *world, const char *gates, const char *script)
{
	devices_fixture_init(&world->fixture, gates, NULL);
	put_slice(&world->fixture, "n1", "{'name':'a'}");
	claim_recorder_init(&world->api, &world->fixture, script);
}

static void world_place(struct world *world)
{
	devices_cycle_place(
		&world->cycle, &world->fixture, devices_pod(&world->fixture, "p", "c"), "n1");
}

static void world_finish(struct world *world)
{
	devices_cycle_end(&world->cycle);
	claim_recorder_finish(&world->api);
	fixture_finish(&world->fixture);
}

static void expect_log(struct world *world, const char *expected)
{
	fixture_expect("writes", bt_strbuf_c(&world->api.log), expected);
}

static bool is_in_flight(struct world *world, const char *uid)
{
	return bt_claim_cache_pending(&world->fixture.state->dra->claims, bt_str_from(uid)) != NULL;
}

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

/** PUT of the status meets a conflict: then the claim has changed as said. */
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
	/* Freed, and allocated anew for somebody else, perhaps out of the node's reach. */
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
	/* What another pod has reserved since is not this one's to take back. */
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
	/* It stays allocated; only the reservation goes, and once. */
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

/** What is under way is waited for: the claim has its devices, and nobody else gets them. */
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
		/* A finalizer does no harm. */
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

/* --- binding conditions --- */

/** The watch tells of the claim with what the driver says of device a; version: newer than all. */
static void tell(struct world *world, const char *version, const char *conditions)
{
	put_device_claim(&world->fixture, "c", ONE_REQUEST,
		bt_arena_printf(&world->fixture.arena,
			",'metadata':{'resourceVersion':'%s'},'status':{'allocation':{'devices':{"
			"'results':[" RESULT_CONDITIONS
			"]},'allocationTimestamp':'1970-01-01T00:00:00Z'},'reservedFor':[" FOR_P
			"],'devices':[{'driver':'d','pool':'n1','device':'a','conditions':[%s]}]}",
			version, conditions)
			.data);
}

static void begin_wait(struct world *world)
{
	world_init(world, NULL, "");
	put_slice(&world->fixture, "n1", "{'name':'a'," CONDITIONS "}");
	put_device_claim(&world->fixture, "c", ONE_REQUEST, "");
	world_place(world);
	fixture_expect("not ready", devices_cycle_pre_bind(&world->cycle, "n1"), "Wait");
	ck_assert_int_eq(world->cycle.state.wake_ns, 5 * SECOND_NS);
}

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

/** Claims of files: each has a place of its own in flight. */
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

START_TEST(test_dynamic_resources__edge_12_25_binding_conditions)
{
	struct devices_cycle next;
	struct world world;

	begin_wait(&world);
	tell(&world, "200", "{'type':'ready','status':'True'}");
	fixture_expect("asked too early", devices_cycle_pre_bind(&world.cycle, "n1"), "Wait");
	fixture_expect("ready", devices_cycle_pre_bind_to_end(&world.cycle, "n1"), "Success");
	ck_assert_int_eq(world.fixture.handle.now_ns, 5 * SECOND_NS);
	world_finish(&world);

	begin_wait(&world);
	tell(&world, "200",
		"{'type':'ready','status':'True'},"
		"{'type':'broken','status':'True','reason':'R','message':'m'}");
	fixture_expect("failed", devices_cycle_pre_bind_to_end(&world.cycle, "n1"),
		"Error: device binding failed: claim=c, reason=R, message=\"m\"");
	devices_cycle_begin(&next, &world.fixture, devices_pod(&world.fixture, "p", "c"));
	fixture_expect("next cycle", devices_cycle_filter(&next, "n1"),
		REFUSED "resourceclaim not available on the node");
	fixture_expect("PostFilter", devices_cycle_post_filter(&next),
		"Unschedulable: deallocation of ResourceClaim completed");
	devices_cycle_end(&next);
	expect_log(&world, "PUT c;PUT c/status a {p};PUT c/status - {} now;");
	world_finish(&world);
}
END_TEST

START_TEST(test_dynamic_resources__edge_12_26_not_ready_in_time)
{
	struct devices_cycle next;
	struct world world;

	begin_wait(&world);
	fixture_expect("timeout", devices_cycle_pre_bind_to_end(&world.cycle, "n1"),
		"Error: device binding timeout: context deadline exceeded");
	ck_assert_int_eq(world.fixture.handle.now_ns, 600 * SECOND_NS);
	tell(&world, "200", "");
	world.fixture.handle.now_ns = 601 * SECOND_NS;
	devices_cycle_begin(&next, &world.fixture, devices_pod(&world.fixture, "p", "c"));
	fixture_expect("Filter", devices_cycle_filter(&next, "n1"),
		REFUSED "resourceclaim not available on the node");
	fixture_expect("PostFilter", devices_cycle_post_filter(&next),
		"Unschedulable: deallocation of ResourceClaim completed");
	devices_cycle_end(&next);
	world_finish(&world);
}
END_TEST

/** Neither ready nor failed: it is waited for, and the next cycle may wait, too. */
START_TEST(test_dynamic_resources__conditions_that_are_false)
{
	struct devices_cycle next;
	struct world world;

	begin_wait(&world);
	tell(&world, "200", "{'type':'ready','status':'False'},{'type':'broken','status':'False'}");
	world.fixture.handle.now_ns = 5 * SECOND_NS;
	fixture_expect("still", devices_cycle_pre_bind(&world.cycle, "n1"), "Wait");
	devices_cycle_begin(&next, &world.fixture, devices_pod(&world.fixture, "p", "c"));
	fixture_expect("next cycle", devices_cycle_filter(&next, "n1"), "Success");
	devices_cycle_end(&next);
	world_finish(&world);
}
END_TEST

/** Another pod has begun to wait for the claim long before. */
START_TEST(test_dynamic_resources__a_claim_runs_out_of_time_by_itself)
{
	struct world world;

	world_init(&world, NULL, "");
	world.fixture.handle.now_ns = 100 * SECOND_NS;
	tell(&world, "1", "");
	world_place(&world);
	fixture_expect("timeout", devices_cycle_pre_bind_to_end(&world.cycle, "n1"),
		"Error: device binding timeout: claim=c");
	ck_assert_int_eq(world.fixture.handle.now_ns, 605 * SECOND_NS);
	world_finish(&world);
}
END_TEST

START_TEST(test_dynamic_resources__edge_12_27_first_failing_claim)
{
	struct world world;

	world_init(&world, NULL, "");
	put_slice(&world.fixture, "n1", "{'name':'a'," CONDITIONS "},{'name':'b'," CONDITIONS "}");
	for (int i = 0; i < 2; i++) {
		put_device_claim(&world.fixture, i == 0 ? "x" : "y", ONE_REQUEST,
			bt_arena_printf(&world.fixture.arena,
				",'status':{'allocation':{'devices':{'results':[{'request':'r',"
				"'driver':'d','pool':'n1','device':'%s'," CONDITIONS
				"}]}},'reservedFor':[" FOR_P
				"],'devices':[{'driver':'d','pool':'n1','device':'%s',"
				"'conditions':[{'type':'ready','status':'True'}]}]}",
				i == 0 ? "a" : "b", i == 0 ? "a" : "b")
				.data);
	}
	devices_cycle_begin(&world.cycle, &world.fixture, devices_pod(&world.fixture, "p", "x y"));
	fixture_expect("Filter", devices_cycle_filter(&world.cycle, "n1"), "Success");
	for (int i = 0; i < 2; i++) {
		put_device_claim(&world.fixture, i == 0 ? "x" : "y", ONE_REQUEST,
			bt_arena_printf(&world.fixture.arena,
				",'metadata':{'resourceVersion':'2'},'status':{'allocation':{"
				"'devices':{'results':[{'request':'r','driver':'d','pool':'n1',"
				"'device':'%s'," CONDITIONS "}]}},'reservedFor':[" FOR_P
				"],'devices':[{'driver':'d','pool':'n1','device':'%s','conditions':"
				"[{'type':'broken','status':'%s'}]}]}",
				i == 0 ? "a" : "b", i == 0 ? "a" : "b", "True")
				.data);
	}
	fixture_expect("the first", devices_cycle_pre_bind(&world.cycle, "n1"),
		"Error: device binding failed: claim=x, reason=, message=\"\"");
	world_finish(&world);
}
END_TEST

/** Notes of the events. */
static void record_event(void *context, BT_UNUSED const struct bt_pod_info *pod, const char *type,
	const char *reason, const char *action, struct bt_str note)
{
	bt_strbuf_printf(context, "%s %s %s: %.*s;", type, reason, action, BT_STR_ARG(note));
}

START_TEST(test_dynamic_resources__event_of_the_wait)
{
	struct bt_strbuf events = {0};
	struct bt_handle_services services = {.context = &events, .event = record_event};
	struct world world;

	world_init(&world, NULL, "");
	world.fixture.handle.services = &services;
	put_slice(&world.fixture, "n1", "{'name':'a'," CONDITIONS "}");
	put_device_claim(&world.fixture, "c", ONE_REQUEST, "");
	world_place(&world);
	fixture_expect("Wait", devices_cycle_pre_bind(&world.cycle, "n1"), "Wait");
	fixture_expect("still", devices_cycle_pre_bind(&world.cycle, "n1"), "Wait");
	fixture_expect("event", bt_strbuf_c(&events),
		"Normal BindingConditionsPending Scheduling: waiting for binding conditions for "
		"device on node n1;");
	bt_strbuf_finish(&events);
	world_finish(&world);
}
END_TEST

BT_TEST_MAIN("dynamic_resources_bind", test_dynamic_resources__edge_12_12_reserved_already,
	test_dynamic_resources__edge_12_13_finalizer_is_there,
	test_dynamic_resources__edge_12_14_conflicts,
	test_dynamic_resources__conflicts_are_ten_milliseconds_apart,
	test_dynamic_resources__edge_12_15_deallocated_meanwhile,
	test_dynamic_resources__edge_11b_43_allocated_elsewhere_meanwhile,
	test_dynamic_resources__unreserve_undoes_what_reserve_did,
	test_dynamic_resources__unreserve_after_the_write,
	test_dynamic_resources__simulation_writes_to_the_claim_cache,
	test_dynamic_resources__simulation_keeps_what_others_write,
	test_dynamic_resources__canceled_while_the_status_is_written,
	test_dynamic_resources__the_first_timestamp_stays,
	test_dynamic_resources__claims_without_uid,
	test_dynamic_resources__edge_12_25_binding_conditions,
	test_dynamic_resources__edge_12_26_not_ready_in_time,
	test_dynamic_resources__conditions_that_are_false,
	test_dynamic_resources__a_claim_runs_out_of_time_by_itself,
	test_dynamic_resources__edge_12_27_first_failing_claim,
	test_dynamic_resources__event_of_the_wait)
