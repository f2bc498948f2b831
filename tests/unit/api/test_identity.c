/* SPDX-License-Identifier: Apache-2.0 */
#include "api/identity.h"

#include "api_test.h"
#include "test_main.h"

static struct bt_arena arena;

static const struct bt_object_meta *meta_of(const char *json)
{
	return api_decode(&arena, &bt_object_meta_message, json);
}

START_TEST(test_identity__edge_01_39_second_owner_controls)
{
	const struct bt_object_meta *meta = meta_of("{'ownerReferences':[{'name':'a','uid':'1'},{'"
						    "name':'b','uid':'2','controller':true},"
						    "{'name':'c','uid':'3','controller':true}]}");

	ck_assert(bt_str_equal_c(bt_object_controller(meta)->name, "b"));
}
END_TEST

START_TEST(test_identity__edge_01_40_controller_false)
{
	ck_assert_ptr_null(bt_object_controller(
		meta_of("{'ownerReferences':[{'name':'a','controller':false},{'name':'b'}]}")));
	ck_assert_ptr_null(bt_object_controller(meta_of("{}")));
}
END_TEST

START_TEST(test_identity__edge_01_41_api_version_with_two_slashes)
{
	static const struct {
		const char *text;
		const char *group;
		const char *version;
	} rows[] = {{"v1", "", "v1"}, {"apps/v1", "apps", "v1"}, {"", "", ""}, {"/", "", ""},
		{"/v1", "", "v1"}};
	struct bt_str group;
	struct bt_str version;

	ck_assert(!bt_api_version_split(BT_STR("a/b/c"), &group, &version));
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		ck_assert(bt_api_version_split(bt_str_from(rows[i].text), &group, &version));
		api_check_str(rows[i].text, group, rows[i].group);
		api_check_str(rows[i].text, version, rows[i].version);
	}
}
END_TEST

START_TEST(test_identity__edge_01_42_terminal_phases)
{
	static const struct {
		const char *json;
		bool terminal;
	} rows[] = {{"{'status':{'phase':'Running'}}", false},
		{"{'status':{'phase':'Succeeded'}}", true}, {"{'status':{'phase':'Failed'}}", true},
		{"{'status':{'phase':'Pending'}}", false}, {"{}", false},
		{"{'status':{'phase':'succeeded'}}", false}};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		ck_assert_msg(bt_pod_is_terminal(api_pod(&arena, rows[i].json)) == rows[i].terminal,
			"%s", rows[i].json);
	}
}
END_TEST

START_TEST(test_identity__edge_01_43_absent_priority)
{
	ck_assert_int_eq(bt_pod_priority(api_pod(&arena, "{'spec':{}}")), 0);
	ck_assert_int_eq(bt_pod_priority(api_pod(&arena, "{'spec':{'priority':0}}")), 0);
	ck_assert_int_eq(bt_pod_priority(api_pod(&arena, "{'spec':{'priority':-5}}")), -5);
}
END_TEST

START_TEST(test_identity__edge_01_45_empty_scheduler_name)
{
	/* Decoding does not set a default name, and no profile has an empty name. */
	ck_assert_uint_eq(api_pod(&arena, "{'spec':{}}")->spec.scheduler_name.length, 0);
}
END_TEST

START_TEST(test_identity__object_reference_text)
{
	struct bt_strbuf text = {0};

	bt_object_ref(meta_of("{'name':'p','namespace':'ns'}"), &text);
	bt_strbuf_append_char(&text, ' ');
	bt_object_ref(meta_of("{'name':'n'}"), &text);
	ck_assert_str_eq(bt_strbuf_c(&text), "ns/p n");
	bt_strbuf_finish(&text);
}
END_TEST

START_TEST(test_identity__pod_states)
{
	const struct bt_pod *pod = api_pod(&arena,
		"{'metadata':{'deletionTimestamp':'2026-01-01T00:00:00Z'},'spec':{'"
		"nodeName':'n','preemptionPolicy':'Never'}}");
	const struct bt_pod *plain =
		api_pod(&arena, "{'spec':{'preemptionPolicy':'PreemptLowerPriority'}}");

	ck_assert(bt_pod_is_terminating(pod) && bt_pod_is_assigned(pod));
	ck_assert(!bt_pod_is_terminating(plain) && !bt_pod_is_assigned(plain));
}
END_TEST

START_TEST(test_identity__set_condition)
{
	const struct bt_pod *pod = api_pod(&arena,
		"{'status':{'conditions':[{'type':'Ready','status':'True'},{'type':'PodScheduled','"
		"status':'False',"
		"'reason':'Unschedulable','message':'m','lastTransitionTime':'2026-01-01T00:00:00Z'"
		",'observedGeneration':1}]}}");
	struct bt_time now = {.seconds = 1800000000, .set = true};
	struct bt_pod_condition condition = {.type = BT_STR("PodScheduled"),
		.status = BT_STR("False"),
		.reason = BT_STR("Unschedulable"),
		.message = BT_STR("m"),
		.observed_generation = 2};
	bt_pod_condition_list conditions;
	bool changed;

	conditions = bt_pod_conditions_set(&pod->status, &condition, &now, &arena, &changed);
	ck_assert(!changed); /* only observedGeneration differs */
	ck_assert_uint_eq(conditions.count, 2);
	ck_assert_int_eq(conditions.items[1].last_transition_time.seconds, 1767225600);
	condition.message = BT_STR("other");
	conditions = bt_pod_conditions_set(&pod->status, &condition, &now, &arena, &changed);
	ck_assert(changed);
	ck_assert_int_eq(conditions.items[1].last_transition_time.seconds, 1767225600);
	condition.status = BT_STR("True");
	conditions = bt_pod_conditions_set(&pod->status, &condition, &now, &arena, &changed);
	ck_assert(changed);
	ck_assert_int_eq(conditions.items[1].last_transition_time.seconds, 1800000000);
	condition.type = BT_STR("DisruptionTarget");
	conditions = bt_pod_conditions_set(&pod->status, &condition, &now, &arena, &changed);
	ck_assert(changed);
	ck_assert_uint_eq(conditions.count, 3);
	ck_assert_int_eq(conditions.items[2].last_transition_time.seconds, 1800000000);
}
END_TEST

BT_TEST_MAIN("identity", test_identity__edge_01_39_second_owner_controls,
	test_identity__edge_01_40_controller_false,
	test_identity__edge_01_41_api_version_with_two_slashes,
	test_identity__edge_01_42_terminal_phases, test_identity__edge_01_43_absent_priority,
	test_identity__edge_01_45_empty_scheduler_name, test_identity__object_reference_text,
	test_identity__pod_states, test_identity__set_condition)
