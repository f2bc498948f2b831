/* SPDX-License-Identifier: Apache-2.0 */
/** Requests to extenders and their answers: spec 11b sections 9.1 and 9.2. */
#include "extender_answers.h"
#include "fake_poster.h"
#include "sched_world.h"
#include "test_main.h"

static struct bt_arena arena;

static struct bt_str unquoted(const char *text)
{
	struct bt_str copy = bt_arena_str(&arena, bt_str_from(text));
	char *bytes = (char *)(uintptr_t)copy.data;

	for (uint32_t i = 0; i < copy.length; i++) {
		bytes[i] = bytes[i] == '\'' ? '"' : bytes[i];
	}
	return copy;
}

static void expect_json(struct bt_strbuf *json, const char *expected)
{
	ck_assert_str_eq(bt_strbuf_c(json), unquoted(expected).data);
	bt_strbuf_finish(json);
}

/** --- requests --- */

static bool append_pod(void *context BT_UNUSED, struct bt_str namespace_, struct bt_str name,
	struct bt_str uid, struct bt_strbuf *out)
{
	bt_strbuf_printf(out, "{\"pod\":\"%.*s/%.*s/%.*s\"}", BT_STR_ARG(namespace_),
		BT_STR_ARG(name), BT_STR_ARG(uid));
	return true;
}

static bool append_node(void *context BT_UNUSED, struct bt_str name, struct bt_strbuf *out)
{
	if (bt_str_equal_c(name, "n2")) {
		return false;
	}
	bt_strbuf_printf(out, "{\"node\":\"%.*s\"}", BT_STR_ARG(name));
	return true;
}

static const struct bt_extender_objects objects = {append_pod, append_node, NULL};

static void make_world(struct world *world)
{
	world_init(world, "", NULL, NULL, 0);
	world_add_node(world, "{'metadata':{'name':'n1'}}");
	world_add_node(world,
		"{'metadata':{'name':'n2','labels':{'a':'b'}},'spec':{'taints':[{'key':'k',"
		"'effect':'NoSchedule'}]},'status':{'allocatable':{'cpu':'2500m','memory':'1Gi',"
		"'pods':'9','example.com/x':'3'}}}");
	world_add_pod(world,
		"{'metadata':{'name':'v','uid':'uid1','labels':{'l':'m'}},'spec':{'nodeName':'n2',"
		"'containers':[{'name':'c','resources':{'requests':{'cpu':'1'}}}]}}");
	ck_assert_int_eq(bt_state_refresh_snapshot(world->engine->state, NULL), 0);
}

START_TEST(test_extender_wire__args)
{
	struct world world;
	struct bt_strbuf json = {0};
	struct bt_extender_node nodes[] = {
		{.name = BT_STR("n2")}, {.name = BT_STR("n1")}, {BT_STR("n3"), BT_STR("{}")}};
	struct bt_extender_args args = {.nodes = nodes, .node_count = 3};

	make_world(&world);
	args.state = world.engine->state;
	args.pod = world_pending(&world, "{'metadata':{'name':'p','uid':'u'}}");
	bt_extender_encode_args(&args, &objects, true, &json);
	expect_json(
		&json, "{'Pod':{'pod':'default/p/u'},'Nodes':null,'NodeNames':['n2','n1','n3']}");
	bt_extender_encode_args(&args, &objects, false, &json);
	expect_json(&json,
		"{'Pod':{'pod':'default/p/u'},'Nodes':{'metadata':{},'items':["
		"{'metadata':{'name':'n2','labels':{'a':'b'}},"
		"'spec':{'taints':[{'key':'k','effect':'NoSchedule'}]},"
		"'status':{'allocatable':{'cpu':'2500m','ephemeral-storage':'0',"
		"'example.com/x':'3','memory':'1Gi','pods':'9'}}},"
		"{'node':'n1'},{}]},'NodeNames':null}");
	args.node_count = 0;
	bt_extender_encode_args(&args, &objects, true, &json);
	expect_json(&json, "{'Pod':{'pod':'default/p/u'},'Nodes':null,'NodeNames':[]}");
	world_finish(&world);
}
END_TEST

START_TEST(test_extender_wire__edge_11b_22_victims_by_uid)
{
	struct world world;
	struct bt_strbuf json = {0};
	static const struct bt_str uids[] = {BT_STR_INIT("uid1"), BT_STR_INIT("uid3")};
	struct bt_node_victims opinions[] = {
		{BT_STR("n2"), uids, 1, 0}, {BT_STR("n1"), uids, 2, 1}};
	struct bt_node_victims_list candidates = {&opinions[1], 1};
	struct bt_extender_preemption_args args = {.candidates = &candidates};

	make_world(&world);
	args.state = world.engine->state;
	args.pod = world_pending(&world, "{'metadata':{'name':'p','uid':'u'}}");
	bt_extender_encode_preemption_args(&args, &objects, true, &json);
	expect_json(&json,
		"{'Pod':{'pod':'default/p/u'},'NodeNameToVictims':null,'NodeNameToMetaVictims':{"
		"'n1':{'Pods':[{'UID':'uid1'},{'UID':'uid3'}],'NumPDBViolations':1}}}");
	/* Without nodeCacheCapable complete pods are sent; maps are sorted by name. */
	candidates = (struct bt_node_victims_list){opinions, 2};
	opinions[1].victim_count = 1;
	bt_extender_encode_preemption_args(&args, &objects, false, &json);
	expect_json(&json,
		"{'Pod':{'pod':'default/p/u'},'NodeNameToVictims':{"
		"'n1':{'Pods':[{'pod':'default/v/uid1'}],'NumPDBViolations':1},"
		"'n2':{'Pods':[{'pod':'default/v/uid1'}],'NumPDBViolations':0}},"
		"'NodeNameToMetaVictims':null}");
	/* Without a source of objects, the engine's data of a running pod is sent. */
	candidates.count = 1;
	bt_extender_encode_preemption_args(&args, NULL, false, &json);
	ck_assert_ptr_ne(strstr(bt_strbuf_c(&json),
				 unquoted("'NodeNameToVictims':{'n2':{'Pods':[{'metadata':{'name':"
					  "'v','namespace':'default','uid':'uid1',")
					 .data),
		NULL);
	ck_assert_ptr_ne(strstr(bt_strbuf_c(&json), unquoted("'requests':{'cpu':'1'}").data), NULL);
	ck_assert_ptr_ne(strstr(bt_strbuf_c(&json), unquoted("'nodeName':'n2'").data), NULL);
	bt_strbuf_finish(&json);
	world_finish(&world);
}
END_TEST

START_TEST(test_extender_wire__binding_args)
{
	struct bt_strbuf json = {0};
	struct bt_extender_binding_args args = {
		BT_STR("p"), BT_STR("ns"), BT_STR("u<&>"), BT_STR("n\"1")};

	bt_extender_encode_binding_args(&args, &json);
	expect_json(&json,
		"{'PodName':'p','PodNamespace':'ns','PodUID':'u\\u003c\\u0026\\u003e','Node':'n\\"
		"'1'}");
}
END_TEST

/** --- answers --- */

START_TEST(test_extender_wire__filter_results_come_back)
{
	static const char *const rows[] = {
		"{'Nodes':null,'NodeNames':null,'FailedNodes':null,'FailedAndUnresolvableNodes':"
		"null,'Error':''}",
		"{'Nodes':null,'NodeNames':[],'FailedNodes':{},'FailedAndUnresolvableNodes':{},"
		"'Error':'x'}",
		"{'Nodes':{'metadata':{},'items':[{'metadata':{'name':'n1'}},{'a':[{}]}]},"
		"'NodeNames':['b','a'],'FailedNodes':{'a':'','b':'2'},"
		"'FailedAndUnresolvableNodes':{'c':'\\u003c'},'Error':''}",
	};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct bt_extender_filter_result result;
		struct bt_strbuf json = {0};

		ck_assert_int_eq(
			bt_extender_decode_filter_result(unquoted(rows[i]), &arena, &result, NULL),
			0);
		bt_extender_encode_filter_result(&result, &json);
		expect_json(&json, rows[i]);
	}
}
END_TEST

START_TEST(test_extender_wire__filter_result_as_go_reads_it)
{
	static const struct {
		const char *json;
		const char *same;
	} rows[] = {
		/* Case of names, unknown names, trailing data. */
		{"{'NODENAMES':['a'],'ERROR':'e','foo':[1,{}]} garbage",
			"{'NodeNames':['a'],'Error':'e'}"},
		{"{'nodeNames':['a'],'NodeNames':null}", "{}"},
		{"{'nodeNames':['a','b'],'NodeNames':['c']}", "{'NodeNames':['c']}"},
		/* Repeated maps are merged, null empties them; the last of equal keys counts. */
		{"{'FailedNodes':{'a':'1','b':'2','a':'3'},'failednodes':{'b':'4','c':null}}",
			"{'FailedNodes':{'a':'3','b':'4','c':''}}"},
		{"{'FailedNodes':{'a':'1'},'FailedNodes':null}", "{}"},
		{"{'Error':'e','Error':null}", "{'Error':'e'}"},
		{"null", "{}"},
		{"{'Nodes':{}}", "{'Nodes':{'items':[]}}"},
		{"{'Nodes':{'items':[{'METADATA':{'NAME':'n'}}],'Items':null}}",
			"{'Nodes':{'items':[]}}"},
		{"  {'NodeNames' : [ null ] }\n", "{'NodeNames':['']}"},
	};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct bt_extender_filter_result result;
		struct bt_extender_filter_result same;
		struct bt_strbuf json = {0};
		struct bt_strbuf expected = {0};

		ck_assert_int_eq(bt_extender_decode_filter_result(
					 unquoted(rows[i].json), &arena, &result, NULL),
			0);
		ck_assert_int_eq(bt_extender_decode_filter_result(
					 unquoted(rows[i].same), &arena, &same, NULL),
			0);
		bt_extender_encode_filter_result(&result, &json);
		bt_extender_encode_filter_result(&same, &expected);
		ck_assert_str_eq(bt_strbuf_c(&json), bt_strbuf_c(&expected));
		bt_strbuf_finish(&json);
		bt_strbuf_finish(&expected);
	}
}
END_TEST

START_TEST(test_extender_wire__broken_answers)
{
	static const struct {
		const char *json;
		const char *message;
	} rows[] = {
		{"", "EOF"},
		{" \n\t", "EOF"},
		{"{", "unexpected EOF"},
		{"{'NodeNames':['a'", "unexpected EOF"},
		{"{'NodeNames':['a", "unexpected EOF"},
		{"tru", "unexpected EOF"},
		{"<html>", "invalid character '<' looking for beginning of value"},
		{"{'a':1,}", "invalid character '}' looking for beginning of object key string"},
		{"[]",
			"json: cannot unmarshal array into Go value of type "
			"v1.ExtenderFilterResult"},
		{"7",
			"json: cannot unmarshal number into Go value of type "
			"v1.ExtenderFilterResult"},
		{"{'NodeNames':{}}",
			"json: cannot unmarshal object into Go struct field "
			"ExtenderFilterResult.NodeNames of type []string"},
		{"{'NodeNames':[1]}",
			"json: cannot unmarshal number into Go struct field "
			"ExtenderFilterResult.NodeNames of type string"},
		{"{'FailedNodes':{'a':true}}",
			"json: cannot unmarshal bool into Go struct field "
			"ExtenderFilterResult.FailedNodes of type string"},
		{"{'Nodes':[]}",
			"json: cannot unmarshal array into Go struct field "
			"ExtenderFilterResult.Nodes of type v1.NodeList"},
		{"{'Nodes':{'items':['n1']}}",
			"json: cannot unmarshal string into Go struct field "
			"ExtenderFilterResult.Nodes.items of type v1.Node"},
		{"{'Error':{}}",
			"json: cannot unmarshal object into Go struct field "
			"ExtenderFilterResult.Error of type string"},
	};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct bt_extender_filter_result result;
		struct berth_error err = BERTH_ERROR_INIT;

		ck_assert_int_lt(bt_extender_decode_filter_result(
					 unquoted(rows[i].json), &arena, &result, &err),
			0);
		ck_assert_str_eq(berth_error_message(&err), rows[i].message);
		berth_error_finish(&err);
	}
}
END_TEST

START_TEST(test_extender_wire__priorities)
{
	bt_host_priority_list list;
	struct bt_strbuf json = {0};
	struct berth_error err = BERTH_ERROR_INIT;

	ck_assert_int_eq(bt_extender_decode_priorities(
				 unquoted("[{'host':'n1','SCORE':-7},{},null,{'Host':null,'Score':"
					  "9223372036854775807,'Score':null}]"),
				 &arena, &list, NULL),
		0);
	bt_extender_encode_priorities(&list, &json);
	expect_json(&json,
		"[{'Host':'n1','Score':-7},{'Host':'','Score':0},{'Host':'','Score':0},"
		"{'Host':'','Score':9223372036854775807}]");
	ck_assert_int_lt(
		bt_extender_decode_priorities(unquoted("[{'Score':1.5}]"), &arena, &list, &err), 0);
	ck_assert_str_eq(berth_error_message(&err),
		"json: cannot unmarshal number 1.5 into Go struct field HostPriority.Score of "
		"type int64");
	berth_error_finish(&err);
	ck_assert_int_lt(bt_extender_decode_priorities(
				 unquoted("[{'Score':9223372036854775808}]"), &arena, &list, NULL),
		0);
	ck_assert_int_lt(bt_extender_decode_priorities(unquoted("{}"), &arena, &list, NULL), 0);
}
END_TEST

START_TEST(test_extender_wire__preemption_result)
{
	struct bt_node_victims_list answer;
	struct bt_strbuf json = {0};

	ck_assert_int_eq(bt_extender_decode_preemption_result(
				 unquoted("{'nodeNameToMetaVictims':{'b':{'pods':[{'uid':'2'},null,"
					  "{'UID':'1'}],'numPDBViolations':3},'a':null,'c':{},"
					  "'a':{'Pods':[{}]}}}"),
				 &arena, &answer, NULL),
		0);
	/* Candidates are in the order of the answer; the later 'a' counts. */
	ck_assert_uint_eq(answer.count, 3);
	ck_assert(bt_str_equal_c(answer.items[0].node_name, "b"));
	ck_assert(bt_str_equal_c(answer.items[1].node_name, "c"));
	ck_assert(bt_str_equal_c(answer.items[2].node_name, "a"));
	bt_extender_encode_preemption_result(&answer, &json);
	expect_json(&json,
		"{'NodeNameToMetaVictims':{"
		"'b':{'Pods':[{'UID':'2'},{'UID':''},{'UID':'1'}],'NumPDBViolations':3},"
		"'c':{'Pods':[],'NumPDBViolations':0},"
		"'a':{'Pods':[{'UID':''}],'NumPDBViolations':0}}}");
	ck_assert_int_eq(bt_extender_decode_preemption_result(
				 unquoted("{'NodeNameToMetaVictims':null,'NodeNameToVictims':{'a':"
					  "{}}}"),
				 &arena, &answer, NULL),
		0);
	ck_assert_uint_eq(answer.count, 0);
	ck_assert_int_lt(
		bt_extender_decode_preemption_result(
			unquoted("{'NodeNameToMetaVictims':{'a':[]}}"), &arena, &answer, NULL),
		0);
}
END_TEST

START_TEST(test_extender_wire__binding_result)
{
	struct bt_extender_binding_result result;

	ck_assert_int_eq(
		bt_extender_decode_binding_result(unquoted("{'error':'x'}"), &arena, &result, NULL),
		0);
	ck_assert(bt_str_equal_c(result.error, "x"));
	ck_assert_int_lt(bt_extender_decode_binding_result(unquoted(""), &arena, &result, NULL), 0);
}
END_TEST

START_TEST(test_extender_wire__hostile_answers)
{
	struct bt_extender_filter_result result;
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_strbuf json = {0};

	/* The number of entries is limited, because a short text can need much memory. */
	bt_strbuf_append_c(&json, "{\"NodeNames\":[\"\"");
	for (uint32_t i = 0; i < 1100000; i++) {
		bt_strbuf_append_c(&json, ",\"\"");
	}
	bt_strbuf_append_c(&json, "]}");
	ck_assert_int_eq(
		bt_extender_decode_filter_result(bt_strbuf_str(&json), &arena, &result, &err),
		BERTH_ERR_TOO_LARGE);
	ck_assert_str_eq(berth_error_message(&err), "answer has more than 1048576 entries");
	berth_error_finish(&err);
	/*
	 * The answer has a member with a long map, then the same member with an empty map, many
	 * times: the long map must not be sorted again each time.
	 */
	bt_strbuf_reset(&json);
	bt_strbuf_append_c(&json, "{\"FailedNodes\":{\"\":\"\"");
	for (uint32_t i = 0; i < 100000; i++) {
		bt_strbuf_printf(&json, ",\"%u\":\"\"", i);
	}
	bt_strbuf_append_c(&json, "}");
	for (uint32_t i = 0; i < 100000; i++) {
		bt_strbuf_append_c(&json, ",\"FailedNodes\":{}");
	}
	bt_strbuf_append_c(&json, "}");
	ck_assert_int_eq(
		bt_extender_decode_filter_result(bt_strbuf_str(&json), &arena, &result, &err),
		BERTH_ERR_TOO_LARGE);
	berth_error_finish(&err);
	/* Nesting is limited. */
	bt_strbuf_reset(&json);
	for (uint32_t i = 0; i < 20000; i++) {
		bt_strbuf_append_c(&json, "[");
	}
	ck_assert_int_lt(
		bt_extender_decode_filter_result(bt_strbuf_str(&json), &arena, &result, &err), 0);
	ck_assert_str_eq(berth_error_message(&err), "exceeded max depth");
	berth_error_finish(&err);
	bt_strbuf_finish(&json);
}
END_TEST

/** --- URL and exchange --- */

START_TEST(test_extender_post__edge_11b_01_url)
{
	static const struct {
		const char *prefix;
		const char *verb;
		const char *url;
	} rows[] = {
		{"http://h:1/a//", "f", "http://h:1/a/f"},
		{"http://h:1/a//", "/f", "http://h:1/a//f"},
		{"http://h:1", "f", "http://h:1/f"},
		{"", "filter", "/filter"},
		{"///", "f", "/f"},
	};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct bt_config_extender config = {.url_prefix = bt_str_from(rows[i].prefix)};
		struct bt_strbuf url = {0};

		bt_extender_append_url(&config, bt_str_from(rows[i].verb), &url);
		ck_assert_str_eq(bt_strbuf_c(&url), rows[i].url);
		bt_strbuf_finish(&url);
	}
}
END_TEST

START_TEST(test_extender_post__preempt_without_verb)
{
	struct bt_config_extender config = {.url_prefix = BT_STR("http://h")};
	struct bt_extender_preemption_args args = {0};
	struct bt_node_victims_list answer;
	struct berth_error err = BERTH_ERROR_INIT;
	const struct bt_extender_ops *ops;
	struct fake_poster fake;
	void *context;

	fake_poster_init(&fake);
	ck_assert_int_eq(
		fake.factory.create(fake.factory.context, &config, &ops, &context, NULL), 0);
	ck_assert_int_lt(ops->preempt(context, &args, &arena, &answer, &err), 0);
	ck_assert_str_eq(berth_error_message(&err),
		"preempt verb is not defined for extender http://h but run into "
		"ProcessPreemption");
	berth_error_finish(&err);
	ops->destroy(context);
	fake_poster_finish(&fake);
}
END_TEST

START_TEST(test_extender_post__insecure_with_roots)
{
	static const struct bt_config_extender_tls tls = {
		.insecure = true, .ca_file = BT_STR_INIT("/ca")};
	struct bt_config_extender config = {.tls_config = &tls};
	struct berth_error err = BERTH_ERROR_INIT;
	const struct bt_extender_ops *ops;
	struct fake_poster fake;
	void *context;

	fake_poster_init(&fake);
	ck_assert_int_lt(
		fake.factory.create(fake.factory.context, &config, &ops, &context, &err), 0);
	ck_assert_str_eq(berth_error_message(&err),
		"specifying a root certificates file with the insecure flag is not allowed");
	berth_error_finish(&err);
	fake_poster_finish(&fake);
}
END_TEST

START_TEST(test_extender_wire__memory_is_released)
{
	bt_arena_finish(&arena);
}
END_TEST

BT_TEST_MAIN("extender_wire", test_extender_wire__args,
	test_extender_wire__edge_11b_22_victims_by_uid, test_extender_wire__binding_args,
	test_extender_wire__filter_results_come_back,
	test_extender_wire__filter_result_as_go_reads_it, test_extender_wire__broken_answers,
	test_extender_wire__priorities, test_extender_wire__preemption_result,
	test_extender_wire__binding_result, test_extender_wire__hostile_answers,
	test_extender_post__edge_11b_01_url, test_extender_post__preempt_without_verb,
	test_extender_post__insecure_with_roots, test_extender_wire__memory_is_released)
