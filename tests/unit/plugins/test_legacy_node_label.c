/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"
#include "fixture.h"
#include "framework/cluster_event.h"
#include "test_main.h"

#define REJECTED "UnschedulableAndUnresolvable: node(s) didn't have the requested labels"

START_TEST(test_node_label__edge_05b_08_keys_only)
{
	struct fixture fixture;

	fixture_init_with(&fixture, &bt_legacy_node_label_plugin, NULL,
		"{'presentLabels':['region'],'absentLabels':['bad']}");
	fixture_add_node(&fixture, "{'metadata':{'name':'empty','labels':{'region':''}}}");
	fixture_add_node(&fixture, "{'metadata':{'name':'bad','labels':{'region':'r','bad':'x'}}}");
	fixture_add_node(&fixture, "{'metadata':{'name':'bare'}}");
	ck_assert_str_eq(fixture_filter(&fixture, "{}", "empty"), "Success");
	ck_assert_str_eq(fixture_filter(&fixture, "{}", "bad"), REJECTED);
	ck_assert_str_eq(fixture_filter(&fixture, "{}", "bare"), REJECTED);
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_node_label__edge_05b_09_score)
{
	struct fixture fixture;

	fixture_init_with(&fixture, &bt_legacy_node_label_plugin, NULL,
		"{'apiVersion':'kubescheduler.config.k8s.io/v1','kind':'NodeLabelArgs',"
		"'presentLabelsPreference':['a','b'],'absentLabelsPreference':['c']}");
	fixture_add_node(&fixture, "{'metadata':{'name':'one','labels':{'a':'1','c':'1'}}}");
	fixture_add_node(&fixture, "{'metadata':{'name':'all','labels':{'a':'1','b':'1'}}}");
	ck_assert_int_eq(fixture_score(&fixture, "{}", "one"), 33);
	ck_assert_int_eq(fixture_score(&fixture, "{}", "all"), 100);
	fixture_finish(&fixture);

	fixture_init_with(
		&fixture, &bt_legacy_node_label_plugin, NULL, "{'presentLabelsPreference':['a']}");
	fixture_add_node(&fixture, "{'metadata':{'name':'none'}}");
	ck_assert_int_eq(fixture_score(&fixture, "{}", "none"), 0);
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_node_label__no_arguments)
{
	struct fixture fixture;

	fixture_init(&fixture, &bt_legacy_node_label_plugin);
	fixture_add_node(&fixture, "{'metadata':{'name':'n'}}");
	ck_assert_str_eq(fixture_filter(&fixture, "{}", "n"), "Success");
	ck_assert_int_eq(fixture_score(&fixture, "{}", "n"), 0);
	ck_assert_int_eq(fixture_hint(&fixture, "Node", BT_ACTION_UPDATE_NODE_LABEL,
				 fixture_pending(&fixture, "{}"), NULL, NULL, NULL),
		FIXTURE_QUEUE);
	fixture_finish(&fixture);
}
END_TEST

static void expect_args_error(
	const struct bt_plugin_ops *ops, const char *json, const char *expected)
{
	struct bt_plugin_args args = {.kind = BT_ARGS_OTHER, .raw = bt_str_from(json)};
	struct bt_handle handle = {0};
	struct bt_plugin *plugin = NULL;
	struct berth_error err = BERTH_ERROR_INIT;
	int code = bt_plugin_create(ops, &args, &handle, &plugin, &err);

	ck_assert_msg(code < 0, "%s", json);
	ck_assert_msg(plugin == NULL, "%s", json);
	fixture_expect(json, berth_error_message(&err), expected);
	berth_error_finish(&err);
	/* err may be NULL. */
	ck_assert_int_eq(bt_plugin_create(ops, &args, &handle, &plugin, NULL), code);
}

START_TEST(test_node_label__edge_05b_10_conflicts)
{
	expect_args_error(&bt_legacy_node_label_plugin,
		"{\"presentLabels\":[\"a\",\"x\"],\"absentLabels\":[\"x\"]}",
		"presentLabels[1]: Invalid value: \"x\": conflict with absentLabels[0]");
	expect_args_error(&bt_legacy_node_label_plugin,
		"{\"presentLabelsPreference\":[\"x\"],\"absentLabelsPreference\":[\"y\",\"x\"]}",
		"presentLabelsPreference[0]: Invalid value: \"x\": "
		"conflict with absentLabelsPreference[1]");
}
END_TEST

START_TEST(test_node_label__bad_arguments)
{
	expect_args_error(&bt_legacy_node_label_plugin, "{\"presentLabel\":[]}",
		"NodeLabelArgs: unknown field \"presentLabel\"");
	expect_args_error(&bt_legacy_node_label_plugin, "{\"presentLabels\":\"a\"}",
		"NodeLabelArgs: presentLabels: expected array, got string");
	expect_args_error(&bt_legacy_node_label_plugin, "{\"absentLabels\":[\"a\",7]}",
		"NodeLabelArgs: absentLabels[1]: expected string, got number");
	expect_args_error(
		&bt_legacy_node_label_plugin, "[]", "NodeLabelArgs: expected object, got array");
	expect_args_error(&bt_legacy_equal_priority_plugin, "{\"weight\":1}",
		"EqualPriority: unknown field \"weight\"");
	expect_args_error(&bt_legacy_service_affinity_plugin, "{\"affinityLabels\":[null]}",
		"ServiceAffinityArgs: affinityLabels[0]: expected string, got null");
}
END_TEST

START_TEST(test_node_label__list_limit)
{
	struct bt_strbuf json = {0};

	bt_strbuf_append_c(&json, "{\"presentLabels\":[");
	for (int i = 0; i < 1025; i++) {
		bt_strbuf_append_c(&json, i == 0 ? "\"a\"" : ",\"a\"");
	}
	bt_strbuf_append_c(&json, "]}");
	expect_args_error(&bt_legacy_node_label_plugin, bt_strbuf_c(&json),
		"NodeLabelArgs: presentLabels: more than 1024 entries");
	bt_strbuf_finish(&json);
}
END_TEST

BT_TEST_MAIN("legacy_node_label", test_node_label__edge_05b_08_keys_only,
	test_node_label__edge_05b_09_score, test_node_label__no_arguments,
	test_node_label__edge_05b_10_conflicts, test_node_label__bad_arguments,
	test_node_label__list_limit)
