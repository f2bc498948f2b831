/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"
#include "framework/cluster_event.h"
#include "test_main.h"

static const char *pre_enqueue(struct fixture *fixture, const char *pod)
{
	return fixture_status_text(fixture,
		fixture->plugin->ops->pre_enqueue(
			fixture->plugin, fixture_pending(fixture, pod), &fixture->arena));
}

START_TEST(test_scheduling_gates__edge_05_01_gates_hold_back)
{
	struct fixture fixture;

	fixture_init(&fixture, &bt_scheduling_gates_plugin);
	fixture_expect("two gates",
		pre_enqueue(
			&fixture, "{'spec':{'schedulingGates':[{'name':'foo'},{'name':'bar'}]}}"),
		"UnschedulableAndUnresolvable: waiting for scheduling gates: [foo bar]");
	fixture_expect("no list", pre_enqueue(&fixture, "{}"), "Success");
	fixture_expect(
		"empty list", pre_enqueue(&fixture, "{'spec':{'schedulingGates':[]}}"), "Success");
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_scheduling_gates__hint_only_for_the_pod_itself)
{
	struct fixture fixture;
	const struct bt_pod_info *pod;

	fixture_init(&fixture, &bt_scheduling_gates_plugin);
	pod = fixture_pending(&fixture, "{'metadata':{'uid':'a'}}");
	ck_assert_int_eq(
		fixture_hint(&fixture, "Pod", BT_ACTION_UPDATE_POD_SCHEDULING_GATES_ELIMINATED, pod,
			"{}", "{'metadata':{'uid':'a'}}", NULL),
		FIXTURE_QUEUE);
	ck_assert_int_eq(
		fixture_hint(&fixture, "Pod", BT_ACTION_UPDATE_POD_SCHEDULING_GATES_ELIMINATED, pod,
			"{}", "{'metadata':{'uid':'b'}}", NULL),
		FIXTURE_SKIP);
	fixture_finish(&fixture);
}
END_TEST

BT_TEST_MAIN("scheduling_gates", test_scheduling_gates__edge_05_01_gates_hold_back,
	test_scheduling_gates__hint_only_for_the_pod_itself)
