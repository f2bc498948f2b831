/* SPDX-License-Identifier: Apache-2.0 */
#include "api/toleration.h"

#include "api_test.h"
#include "test_main.h"

static struct bt_arena arena;

static bool tolerates(const char *toleration_json, const char *taint_json, bool allow_comparison)
{
	const struct bt_toleration *toleration =
		api_decode(&arena, &bt_toleration_message, toleration_json);
	const struct bt_taint *taint = api_decode(&arena, &bt_taint_message, taint_json);

	return bt_toleration_tolerates(toleration, taint, allow_comparison);
}

START_TEST(test_toleration__edge_01_34_exists_without_key)
{
	ck_assert(tolerates(
		"{'operator':'Exists'}", "{'key':'k','value':'v','effect':'NoSchedule'}", false));
	ck_assert(tolerates("{'operator':'Exists'}", "{'key':'','effect':''}", false));
	ck_assert(tolerates(
		"{'operator':'Exists','value':'x'}", "{'key':'k','effect':'NoExecute'}", false));
}
END_TEST

START_TEST(test_toleration__edge_01_35_empty_toleration)
{
	ck_assert(tolerates("{}", "{'key':'k','effect':'NoSchedule'}", false));
	ck_assert(!tolerates("{}", "{'key':'k','value':'v','effect':'NoSchedule'}", false));
	ck_assert(tolerates("{'operator':'Equal','value':'v'}",
		"{'key':'k','value':'v','effect':'NoSchedule'}", false));
}
END_TEST

START_TEST(test_toleration__edge_01_36_comparison)
{
	static const struct {
		const char *operator_;
		const char *bound;
		const char *value;
		bool tolerated;
	} rows[] = {{"Gt", "750", "950", true}, {"Gt", "950", "950", false},
		{"Gt", "0100", "950", false}, {"Gt", "high", "950", false},
		{"Gt", "750", "0950", false}, {"Lt", "950", "750", true}, {"Lt", "0", "-5", true},
		{"Lt", "0", "-0", false}, {"Gt", "+1", "5", false},
		{"Gt", "0", "9223372036854775808", false},
		{"Gt", "-9223372036854775808", "0", true}, {"Gt", "", "5", false},
		{"Gt", "-", "5", false}, {"Gt", "1 ", "5", false}};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct bt_toleration toleration = {.operator_ = bt_str_from(rows[i].operator_),
			.value = bt_str_from(rows[i].bound)};
		struct bt_taint taint = {.key = BT_STR("k"), .value = bt_str_from(rows[i].value)};

		ck_assert(!bt_toleration_tolerates(&toleration, &taint, false));
		ck_assert_msg(
			bt_toleration_tolerates(&toleration, &taint, true) == rows[i].tolerated,
			"%s %s on %s", rows[i].operator_, rows[i].bound, rows[i].value);
	}
}
END_TEST

START_TEST(test_toleration__edge_01_37_unknown_operator)
{
	ck_assert(!tolerates("{'operator':'Foo'}", "{'key':'k','effect':'NoSchedule'}", true));
	ck_assert(!tolerates("{'operator':'exists'}", "{'key':'k','effect':'NoSchedule'}", true));
}
END_TEST

START_TEST(test_toleration__edge_01_38_filters)
{
	const struct bt_node *node = api_node(&arena,
		"{'spec':{'taints':[{'key':'soft','effect':'PreferNoSchedule'},{'key':'odd','"
		"effect':'Other'},"
		"{'key':'a','value':'1','effect':'NoSchedule'},{'key':'b','effect':'NoExecute'}]}"
		"}");
	const struct bt_pod *pod =
		api_pod(&arena, "{'spec':{'tolerations':[{'key':'a','operator':'Exists'}]}}");
	const bt_taint_list none = {NULL, 0, false};
	const bt_toleration_list no_tolerations = {NULL, 0, false};

	ck_assert_ptr_null(bt_find_untolerated_taint(&none, &no_tolerations, BT_TAINT_HARD, false));
	ck_assert_ptr_eq(bt_find_untolerated_taint(
				 &node->spec.taints, &no_tolerations, BT_TAINT_HARD, false),
		&node->spec.taints.items[2]);
	ck_assert_ptr_eq(bt_find_untolerated_taint(
				 &node->spec.taints, &pod->spec.tolerations, BT_TAINT_HARD, false),
		&node->spec.taints.items[3]);
	ck_assert_ptr_eq(bt_find_untolerated_taint(
				 &node->spec.taints, &no_tolerations, BT_TAINT_SOFT, false),
		&node->spec.taints.items[0]);
}
END_TEST

START_TEST(test_toleration__effect_and_key_must_agree)
{
	static const char taint[] = "{'key':'k','value':'v','effect':'NoSchedule'}";

	ck_assert(tolerates("{'key':'k','value':'v','effect':'NoSchedule'}", taint, false));
	ck_assert(tolerates("{'key':'k','operator':'Exists'}", taint, false));
	ck_assert(!tolerates("{'key':'k','value':'v','effect':'NoExecute'}", taint, false));
	ck_assert(!tolerates("{'key':'x','operator':'Exists'}", taint, false));
	ck_assert(!tolerates("{'key':'k','value':'x'}", taint, false));
}
END_TEST

START_TEST(test_toleration__taint_text)
{
	static const struct {
		const char *json;
		const char *text;
	} rows[] = {{"{'key':'k','value':'v','effect':'NoSchedule'}", "k=v:NoSchedule"},
		{"{'key':'k','effect':'NoSchedule'}", "k:NoSchedule"},
		{"{'key':'k','value':'v','effect':''}", "k=v:"}, {"{'key':'k','effect':''}", "k"}};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct bt_strbuf text = {0};

		bt_taint_format(api_decode(&arena, &bt_taint_message, rows[i].json), &text);
		ck_assert_str_eq(bt_strbuf_c(&text), rows[i].text);
		bt_strbuf_finish(&text);
	}
}
END_TEST

BT_TEST_MAIN("toleration", test_toleration__edge_01_34_exists_without_key,
	test_toleration__edge_01_35_empty_toleration, test_toleration__edge_01_36_comparison,
	test_toleration__edge_01_37_unknown_operator, test_toleration__edge_01_38_filters,
	test_toleration__effect_and_key_must_agree, test_toleration__taint_text)
