/* SPDX-License-Identifier: Apache-2.0 */
/* DynamicResources: devices that must be prepared before the pod is bound. Spec: 12 sections 13
 * (steps 3 to 6) and 13.2; numbered cases of section 20. */
#include "devices_world.h"
#include "test_main.h"

#define READY(status) "{'type':'ready','status':'" status "'}"

/* --- binding conditions --- */

/** Delivers claim c with these device statuses from drivers; version: newer than all before. */
static void deliver_devices(struct world *world, const char *version, const char *devices)
{
	put_device_claim(&world->fixture, "c", ONE_REQUEST,
		bt_arena_printf(&world->fixture.arena,
			",'metadata':{'resourceVersion':'%s'},'status':{'allocation':{'devices':{"
			"'results':[" RESULT_CONDITIONS
			"]},'allocationTimestamp':'1970-01-01T00:00:00Z'},'reservedFor':[" FOR_P
			"],'devices':[%s]}",
			version, devices)
			.data);
}

#define SAID_OF(driver, pool, device, conditions) \
	"{'driver':'" driver "','pool':'" pool "','device':'" device "','conditions':[" conditions \
	"]}"

/** Delivers conditions of device a only. */
static void deliver_conditions(struct world *world, const char *version, const char *conditions)
{
	deliver_devices(world, version,
		bt_arena_printf(&world->fixture.arena, SAID_OF("d", "n1", "a", "%s"), conditions)
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

START_TEST(test_dynamic_resources__edge_12_25_binding_conditions)
{
	struct devices_cycle next;
	struct world world;

	begin_wait(&world);
	deliver_conditions(&world, "200", READY("True"));
	fixture_expect("asked too early", devices_cycle_pre_bind(&world.cycle, "n1"), "Wait");
	fixture_expect("ready", devices_cycle_pre_bind_to_end(&world.cycle, "n1"), "Success");
	ck_assert_int_eq(world.fixture.handle.now_ns, 5 * SECOND_NS);
	world_finish(&world);

	begin_wait(&world);
	deliver_conditions(&world, "200",
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
	deliver_conditions(&world, "200", "");
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

/** The device is neither ready nor failed: PreBind waits, and the next cycle may wait, too. */
START_TEST(test_dynamic_resources__conditions_that_are_false)
{
	struct devices_cycle next;
	struct world world;

	begin_wait(&world);
	deliver_conditions(&world, "200",
		"{'type':'ready','status':'False'},{'type':'broken','status':'False'}");
	world.fixture.handle.now_ns = 5 * SECOND_NS;
	fixture_expect("still", devices_cycle_pre_bind(&world.cycle, "n1"), "Wait");
	devices_cycle_begin(&next, &world.fixture, devices_pod(&world.fixture, "p", "c"));
	fixture_expect("next cycle", devices_cycle_filter(&next, "n1"), "Success");
	devices_cycle_end(&next);
	world_finish(&world);
}
END_TEST

/** Another pod started to wait for the claim long ago. */
START_TEST(test_dynamic_resources__a_claim_runs_out_of_time_by_itself)
{
	struct world world;

	world_init(&world, NULL, "");
	world.fixture.handle.now_ns = 100 * SECOND_NS;
	deliver_conditions(&world, "1", "");
	world_place(&world);
	fixture_expect("timeout", devices_cycle_pre_bind_to_end(&world.cycle, "n1"),
		"Error: device binding timeout: claim=c");
	ck_assert_int_eq(world.fixture.handle.now_ns, 605 * SECOND_NS);
	world_finish(&world);
}
END_TEST

/** Puts a claim with one device, one condition of which is True: type is "ready" or "broken". */
static void put_waiting(struct world *world, const char *name, const char *device,
	const char *version, const char *type)
{
	put_device_claim(&world->fixture, name, ONE_REQUEST,
		bt_arena_printf(&world->fixture.arena,
			",'metadata':{'resourceVersion':'%s'},'status':{'allocation':{'devices':{"
			"'results':[{'request':'r','driver':'d','pool':'n1','device':'%s'"
			"," CONDITIONS "}]}},'reservedFor':[" FOR_P "],'devices':[" SAID_OF(
				"d", "n1", "%s", "{'type':'%s','status':'True'}") "]}",
			version, device, device, type)
			.data);
}

/** Claims x and y of a pod are both ready at Filter; then their device conditions change. */
static void check_two_claims(const char *x_type, const char *y_type, const char *expected)
{
	struct world world;

	world_init(&world, NULL, "");
	put_waiting(&world, "x", "a", "1", "ready");
	put_waiting(&world, "y", "b", "1", "ready");
	devices_cycle_begin(&world.cycle, &world.fixture, devices_pod(&world.fixture, "p", "x y"));
	fixture_expect("Filter", devices_cycle_filter(&world.cycle, "n1"), "Success");
	put_waiting(&world, "x", "a", "2", x_type);
	put_waiting(&world, "y", "b", "2", y_type);
	fixture_expect(x_type, devices_cycle_pre_bind(&world.cycle, "n1"), expected);
	world_finish(&world);
}

START_TEST(test_dynamic_resources__edge_12_27_first_failing_claim)
{
	check_two_claims(
		"broken", "broken", "Error: device binding failed: claim=x, reason=, message=\"\"");
	check_two_claims(
		"ready", "broken", "Error: device binding failed: claim=y, reason=, message=\"\"");
	/* The first claim that is not ready ends the poll (section 13, step 5). */
	check_two_claims("other", "broken", "Wait");
}
END_TEST

/** Logs an event. */
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

START_TEST(test_dynamic_resources__spec_12_13_2_whose_conditions_count)
{
	static const struct {
		const char *row;
		const char *devices;
		const char *expected;
	} rows[] = {
		{"nobody's", "", "Wait"},
		{"the device's", SAID_OF("d", "n1", "a", READY("True")), "Success"},
		{"those of another driver", SAID_OF("e", "n1", "a", READY("True")), "Wait"},
		{"those of another pool", SAID_OF("d", "n2", "a", READY("True")), "Wait"},
		{"those of another device", SAID_OF("d", "n1", "b", READY("True")), "Wait"},
		{"others beside it",
			SAID_OF("d", "n1", "b", READY("False")) "," SAID_OF(
				"d", "n1", "a", READY("True")),
			"Success"},
		{"not known", SAID_OF("d", "n1", "a", READY("Unknown")), "Wait"},
		{"the failure is not known",
			SAID_OF("d", "n1", "a",
				READY("True") ",{'type':'broken','status':'Unknown'}"),
			"Success"},
		{"the first entry of the device, not ready",
			SAID_OF("d", "n1", "a", READY("False")) "," SAID_OF(
				"d", "n1", "a", READY("True")),
			"Wait"},
		{"the first entry of the device, ready",
			SAID_OF("d", "n1", "a", READY("True")) "," SAID_OF(
				"d", "n1", "a", READY("False")),
			"Success"},
	};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct world world;

		begin_wait(&world);
		deliver_devices(&world, "200", rows[i].devices);
		world.fixture.handle.now_ns = 5 * SECOND_NS;
		fixture_expect(
			rows[i].row, devices_cycle_pre_bind(&world.cycle, "n1"), rows[i].expected);
		world_finish(&world);
	}
}
END_TEST

/** The timeout is not a multiple of the poll interval. */
START_TEST(test_dynamic_resources__spec_12_13_the_binding_timeout_ends_the_wait)
{
	struct world world;

	world_init_with(&world, NULL, "{'bindingTimeout':'7s'}", "");
	put_slice(&world.fixture, "n1", "{'name':'a'," CONDITIONS "}");
	put_device_claim(&world.fixture, "c", ONE_REQUEST, "");
	world_place(&world);
	fixture_expect("timeout", devices_cycle_pre_bind_to_end(&world.cycle, "n1"),
		"Error: device binding timeout: context deadline exceeded");
	ck_assert_int_eq(world.fixture.handle.now_ns, 7 * SECOND_NS);
	world_finish(&world);
}
END_TEST

/** Spec 12 section 8, step 3c: the timeout has passed, but the devices are ready. */
START_TEST(test_dynamic_resources__spec_12_08_ready_after_the_time)
{
	struct devices_cycle next;
	struct world world;

	begin_wait(&world);
	deliver_conditions(&world, "200", READY("True"));
	world.fixture.handle.now_ns = 700 * SECOND_NS;
	devices_cycle_begin(&next, &world.fixture, devices_pod(&world.fixture, "p", "c"));
	fixture_expect("Filter", devices_cycle_filter(&next, "n1"), "Success");
	devices_cycle_end(&next);
	world_finish(&world);
}
END_TEST

START_TEST(test_dynamic_resources__earlier_timers_of_other_plugins_stay)
{
	struct bt_plugin *plugin;
	struct bt_status status;
	struct world world;

	begin_wait(&world);
	plugin = world.fixture.plugin;
	world.cycle.state.wake_ns = 3 * SECOND_NS;
	status = plugin->ops->pre_bind(
		plugin, &world.cycle.state, world.cycle.pod, fixture_slot(&world.fixture, "n1"));
	ck_assert_int_eq(status.code, BT_STATUS_WAIT);
	ck_assert_int_eq(world.cycle.state.wake_ns, 3 * SECOND_NS);
	world_finish(&world);

	world_init(&world, NULL, "c");
	plugin = world.fixture.plugin;
	put_device_claim(&world.fixture, "c", ONE_REQUEST, "");
	world_place(&world);
	world.cycle.state.wake_ns = 1;
	status = plugin->ops->pre_bind(
		plugin, &world.cycle.state, world.cycle.pod, fixture_slot(&world.fixture, "n1"));
	ck_assert_int_eq(status.code, BT_STATUS_WAIT);
	ck_assert_int_eq(world.cycle.state.wake_ns, 1);
	world_finish(&world);
}
END_TEST

/**
 * Spec 12 section 13.2: exactly at the timeout Filter still accepts the claim, later it does not.
 */
START_TEST(test_dynamic_resources__spec_12_13_2_when_the_time_is_over)
{
	static const struct {
		int64_t now_ms;
		int64_t wall_offset_ms;
		const char *expected;
	} rows[] = {
		{600250, 0, "Success"},
		{600500, 0, "Success"},
		{600501, 0, REFUSED "resourceclaim not available on the node"},
		{600501, -1, "Success"},
		{1, 600500, REFUSED "resourceclaim not available on the node"},
	};
	struct world world;

	world_init(&world, NULL, "");
	put_device_claim(&world.fixture, "c", ONE_REQUEST,
		",'status':{'allocation':{'devices':{'results':[" RESULT_CONDITIONS
		"]},'allocationTimestamp':'1970-01-01T00:00:00.5Z'}}");
	devices_cycle_begin(&world.cycle, &world.fixture, devices_pod(&world.fixture, "p", "c"));
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		world.fixture.handle.now_ns = rows[i].now_ms * (SECOND_NS / 1000);
		world.fixture.handle.wall_offset_ns = rows[i].wall_offset_ms * (SECOND_NS / 1000);
		fixture_expect(
			"Filter", devices_cycle_filter(&world.cycle, "n1"), rows[i].expected);
	}
	world_finish(&world);
}
END_TEST

/* --- metrics --- */

static int64_t still_clock(void *context)
{
	return *(const int64_t *)context;
}

static const char *counters(struct fixture *fixture, struct bt_metrics *metrics)
{
	return bt_arena_printf(&fixture->arena, "%s%s",
		metric_lines(
			fixture, metrics, "scheduler_dra_bindingconditions_allocations_total{"),
		metric_lines(fixture, metrics,
			"scheduler_dra_bindingconditions_wait_duration_seconds_count{"))
		.data;
}

#define COUNTED(status) \
	"scheduler_dra_bindingconditions_allocations_total{driver=\"d\",profile=\"default-" \
	"scheduler\",status=" \
	"\"" status "\"} 1\n" \
	"scheduler_dra_bindingconditions_wait_duration_seconds_count{driver=\"d\",profile=" \
	"\"default-scheduler\"," \
	"status=\"" status "\"} 2\n"

/**
 * One of the claim's two devices has conditions: one allocation is counted, but the duration is
 * recorded for both results.
 */
START_TEST(test_dynamic_resources__spec_12_13_metrics_of_the_wait)
{
	static const struct {
		const char *row;
		const char *told; /* device a's status; NULL: none; "": deleted */
		int64_t at_seconds;
		const char *expected;
	} rows[] = {
		{"success", READY("True"), 5, COUNTED("success")},
		{"failure", "{'type':'broken','status':'True'}", 5, COUNTED("failure")},
		{"timeout of the claim", READY("False"), 605, COUNTED("timeout")},
		{"timeout of the wait", NULL, 600, COUNTED("timeout")},
		{"error", "", 5, COUNTED("error")},
	};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct bt_framework framework = {0};
		struct bt_profile_metrics profile = {0};
		struct bt_metrics *metrics = bt_metrics_create();
		struct world world;
		int64_t clock_ns = 0;

		world_init(&world, NULL, "");
		profile.all = bt_scheduler_metrics_create(
			metrics, &world.fixture.gates, still_clock, &clock_ns);
		framework.metrics = &profile;
		world.fixture.handle.framework = &framework;
		put_slice(&world.fixture, "n1", "{'name':'a'," CONDITIONS "},{'name':'b'}");
		put_device_claim(
			&world.fixture, "c", "{'name':'r','exactly':{" DEVICES_OF_C(2) "}}", "");
		world_place(&world);
		fixture_expect(rows[i].row, devices_cycle_pre_bind(&world.cycle, "n1"), "Wait");
		fixture_expect(rows[i].row, counters(&world.fixture, metrics), "");
		if (rows[i].told != NULL && rows[i].told[0] == '\0') {
			fixture_delete(&world.fixture, BT_KIND_RESOURCE_CLAIM, "default", "c");
		} else if (rows[i].told != NULL) {
			put_device_claim(&world.fixture, "c", ONE_REQUEST,
				bt_arena_printf(&world.fixture.arena,
					",'metadata':{'resourceVersion':'200'},'status':{"
					"'allocation':{'devices':{'results':[" RESULT_CONDITIONS
					",{'request':'r','driver':'d','pool':'n1','device':'b'}]},"
					"'allocationTimestamp':'1970-01-01T00:00:00Z'},"
					"'reservedFor':[" FOR_P
					"],'devices':[" SAID_OF("d", "n1", "a", "%s") "]}",
					rows[i].told)
					.data);
		}
		world.fixture.handle.now_ns = rows[i].at_seconds * SECOND_NS;
		(void)devices_cycle_pre_bind(&world.cycle, "n1");
		fixture_expect(rows[i].row, counters(&world.fixture, metrics), rows[i].expected);
		world.fixture.handle.framework = NULL;
		world_finish(&world);
		bt_scheduler_metrics_destroy(profile.all);
		bt_metrics_destroy(metrics);
	}
}
END_TEST

BT_TEST_MAIN("dynamic_resources_wait", test_dynamic_resources__edge_12_25_binding_conditions,
	test_dynamic_resources__edge_12_26_not_ready_in_time,
	test_dynamic_resources__conditions_that_are_false,
	test_dynamic_resources__a_claim_runs_out_of_time_by_itself,
	test_dynamic_resources__edge_12_27_first_failing_claim,
	test_dynamic_resources__event_of_the_wait,
	test_dynamic_resources__spec_12_13_2_whose_conditions_count,
	test_dynamic_resources__spec_12_13_the_binding_timeout_ends_the_wait,
	test_dynamic_resources__spec_12_08_ready_after_the_time,
	test_dynamic_resources__earlier_timers_of_other_plugins_stay,
	test_dynamic_resources__spec_12_13_2_when_the_time_is_over,
	test_dynamic_resources__spec_12_13_metrics_of_the_wait)
