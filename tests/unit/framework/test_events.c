/* SPDX-License-Identifier: Apache-2.0 */
#include "framework/events.h"

#include "config/config.h"
#include "fake_plugin.h"
#include "test_main.h"

static bool match(const char *registered, uint32_t registered_action, const char *incoming,
	uint32_t incoming_action)
{
	const struct bt_cluster_event r = {bt_str_from(registered), registered_action};
	const struct bt_cluster_event e = {bt_str_from(incoming), incoming_action};

	return bt_cluster_event_match(&r, &e);
}

START_TEST(test_events__edge_02_42_match)
{
	ck_assert(match("Pod", BT_ACTION_UPDATE_NODE_LABEL | BT_ACTION_UPDATE_NODE_TAINT,
		"UnschedulablePod", BT_ACTION_UPDATE_NODE_LABEL));
	ck_assert(!match("*", BT_ACTION_UPDATE_NODE_LABEL, "Pod", BT_ACTION_UPDATE));
	ck_assert(match("*", BT_ACTION_UPDATE, "Pod", BT_ACTION_UPDATE_NODE_LABEL));
	ck_assert(!match("Pod", BT_ACTION_ADD, "*", BT_ACTION_ADD));
}
END_TEST

START_TEST(test_events__match_more)
{
	ck_assert(match("*", BT_ACTION_ALL, "Anything", 0));
	ck_assert(match("Pod", BT_ACTION_ADD, "AssignedPod", BT_ACTION_ADD));
	ck_assert(!match("AssignedPod", BT_ACTION_ADD, "Pod", BT_ACTION_ADD));
	ck_assert(!match("Node", BT_ACTION_ADD, "Pod", BT_ACTION_ADD));
	ck_assert(!match("Node", BT_ACTION_ADD, "Node", BT_ACTION_DELETE));
	ck_assert(match("Node", BT_ACTION_ALL, "Node", BT_ACTION_UPDATE));
	/*
	 * Neither action contains the other, yet they match: Match compares the masks as numbers.
	 */
	ck_assert(match("Node", BT_ACTION_UPDATE_NODE_TAINT | BT_ACTION_ADD, "Node",
		BT_ACTION_ADD | BT_ACTION_UPDATE_NODE_LABEL));
}
END_TEST

static void expect_label(const char *resource, uint32_t action, const char *expected)
{
	const struct bt_cluster_event event = {bt_str_from(resource), action};
	struct bt_strbuf text = {0};

	bt_cluster_event_label(&event, &text);
	ck_assert_str_eq(bt_strbuf_c(&text), expected);
	bt_strbuf_finish(&text);
}

START_TEST(test_events__labels)
{
	ck_assert_int_eq(BT_ACTION_ALL, 8191);
	ck_assert_int_eq(BT_ACTION_UPDATE, 8188);
	expect_label("Node", BT_ACTION_ADD, "NodeAdd");
	expect_label("AssignedPod", BT_ACTION_DELETE, "AssignedPodDelete");
	expect_label(
		"UnschedulablePod", BT_ACTION_UPDATE_POD_LABEL, "UnschedulablePodUpdatePodLabel");
	expect_label("storage.k8s.io/CSINode", BT_ACTION_UPDATE, "storage.k8s.io/CSINodeUpdate");
	expect_label("Node", BT_ACTION_ALL, "NodeAll");
	expect_label("Node", BT_ACTION_ADD | BT_ACTION_DELETE, "Node");
	expect_label("Pod", BT_ACTION_UPDATE_POD_GENERATED_RESOURCE_CLAIM,
		"PodUpdatePodGeneratedResourceClaim");
	expect_label("Pod", 0, "Pod");
}
END_TEST

static bool skip_hint(BT_UNUSED const struct bt_hint_call *call)
{
	return false;
}

static bool failing_hint(const struct bt_hint_call *call)
{
	(void)bt_error_set(call->err, BERTH_ERR_INTERNAL, "hint failed");
	return false;
}

/** Compares the hints as text: "A:NodeAdd A:NodeUpdateNodeTaint". */
static void expect_hints(const struct bt_event_hints *hints, const char *expected)
{
	struct bt_strbuf text = {0};

	for (uint32_t i = 0; i < hints->items.count; i++) {
		const struct bt_event_hint *hint = &hints->items.items[i];

		bt_strbuf_append_c(&text, i > 0 ? " " : "");
		bt_strbuf_append_c(&text,
			hint->plugin != NULL ? hint->plugin->ops->name : BT_EXTENDER_PLUGIN_NAME);
		bt_strbuf_append_c(&text, ":");
		bt_cluster_event_label(&hint->event, &text);
	}
	ck_assert_str_eq(bt_strbuf_c(&text), expected);
	bt_strbuf_finish(&text);
}

START_TEST(test_events__registration)
{
	static const struct bt_event_registration a_events[] = {
		{{BT_RESOURCE_NODE, BT_ACTION_ADD}, skip_hint}};
	static const struct bt_event_registration b_events[] = {
		{{BT_RESOURCE_NODE, BT_ACTION_ADD}, failing_hint},
		{{BT_RESOURCE_NODE, BT_ACTION_UPDATE_NODE_TAINT}, NULL}};
	uint32_t roles = FAKE_ROLE(FAKE_FILTER) | FAKE_ROLE(FAKE_EVENTS);
	struct fake fakes[] = {fake_plugin("A", roles), fake_plugin("B", roles),
		/*
	         * C has an empty event list; D has no role that takes part; E has the default list.
	         */
		fake_plugin("C", roles),
		fake_plugin("D", FAKE_ROLE(FAKE_SCORE) | FAKE_ROLE(FAKE_EVENTS)),
		fake_plugin("E", FAKE_ROLE(FAKE_PERMIT))};
	struct fake_world world;
	struct bt_event_hints hints = {0};

	fakes[0].events = a_events;
	fakes[0].event_count = 1;
	fakes[1].events = b_events;
	fakes[1].event_count = 2;
	fakes[3].events = a_events;
	fakes[3].event_count = 1;
	fake_world_init(&world, fakes, 5, "filter=A,B,C; score=D; permit=E");
	ck_assert_int_eq(bt_event_hints_create(world.framework, &hints, NULL), BERTH_OK);
	expect_hints(&hints,
		"A:NodeAdd A:NodeUpdateNodeTaint B:NodeAdd B:NodeUpdateNodeTaint E:PodAll "
		"E:NodeAll E:PersistentVolumeAll E:PersistentVolumeClaimAll "
		"E:storage.k8s.io/CSINodeAll E:storage.k8s.io/CSIDriverAll "
		"E:storage.k8s.io/CSIStorageCapacityAll E:storage.k8s.io/StorageClassAll "
		"E:resource.k8s.io/ResourceClaimAll E:resource.k8s.io/DeviceClassAll");
	ck_assert(hints.items.items[0].hint == skip_hint);
	/* The entry added for taints always queues. */
	ck_assert(hints.items.items[1].hint == NULL);
	ck_assert(hints.items.items[2].hint == failing_hint);
	bt_vec_finish(&hints.items);
	fake_world_finish(&world);
}
END_TEST

START_TEST(test_events__registration_errors)
{
	uint32_t roles = FAKE_ROLE(FAKE_FILTER) | FAKE_ROLE(FAKE_EVENTS);
	struct fake fakes[] = {
		fake_plugin("A", roles), fake_plugin("B", roles), fake_plugin("C", roles)};
	struct fake_world world;
	struct bt_event_hints hints = {0};
	struct berth_error err = BERTH_ERROR_INIT;

	fake_fail(&fakes[0], FAKE_EVENTS, "first");
	fake_fail(&fakes[2], FAKE_EVENTS, "second");
	fake_world_init(&world, fakes, 3, "filter=A,B,C");
	ck_assert_int_ne(bt_event_hints_create(world.framework, &hints, &err), BERTH_OK);
	ck_assert_str_eq(berth_error_message(&err), "first\nsecond");
	berth_error_finish(&err);
	fake_world_finish(&world);
}
END_TEST

START_TEST(test_events__extender_first)
{
	struct fake fakes[] = {fake_plugin("A", FAKE_ROLE(FAKE_FILTER) | FAKE_ROLE(FAKE_EVENTS))};
	struct bt_config_extender extender = {0};
	struct fake_world world;
	struct bt_event_hints hints = {0};

	fake_world_init(&world, fakes, 1, "filter=A");
	world.config->document.extenders.items = &extender;
	world.config->document.extenders.count = 1;
	ck_assert_int_eq(bt_event_hints_create(world.framework, &hints, NULL), BERTH_OK);
	ck_assert_uint_eq(hints.items.count, 10);
	ck_assert_ptr_null(hints.items.items[0].plugin);
	bt_vec_finish(&hints.items);
	fake_world_finish(&world);
}
END_TEST

BT_TEST_MAIN("events", test_events__edge_02_42_match, test_events__match_more, test_events__labels,
	test_events__registration, test_events__registration_errors, test_events__extender_first)
