/* SPDX-License-Identifier: Apache-2.0 */
/* Details of spec 12 sections 9.1 to 9.9 that the numbered cases of section 20 do not cover. */
#include "allocator_fixture.h"
#include "test_main.h"
#include "validate/validate.h"

/* --- 9.1: pools --- */

/** Without the gate, slices with counters and devices that consume counters are ignored. */
START_TEST(test_allocator_details__spec_12_09_1_no_partitions)
{
	struct world w;

	begin_with_gate(&w, BT_GATE_DRA_PARTITIONABLE_DEVICES, false,
		"{'name':'a','consumesCounters':[{'counterSet':'set','counters':{'memory':{"
		"'value':'1'}}}]},{'name':'b'}");
	expect_for(&w, REQUESTS(EXACT("r", "1")), "r=p1/b");
	expect_for(&w, REQUESTS(EXACT("r", "2")), "none");
	add_slice(&w, "s2", "d", "p0", 1, 1, "'perDeviceNodeSelection':true",
		"{'name':'a','nodeName':'n1'}");
	add_counters(&w, "s3", "d", "p2", 1, 1, "{'name':'set','counters':{}}");
	expect_for(&w, REQUESTS(EXACT("r", "1")), "r=p1/b");
	world_finish(&w);
}
END_TEST

START_TEST(test_allocator_details__spec_12_09_1_counter_sets)
{
	struct world w;

	begin(&w, "{'name':'a'}");
	add_slice(&w, "s1", "d", "p1", 1, 2, ON_N1, "{'name':'a'}");
	add_counters(&w, "s2", "d", "p1", 1, 2,
		"{'name':'set','counters':{}},{'name':'set','counters':{}}");
	expect_for(&w, REQUESTS(EXACT("r", "1")), "invalid pool");
	/* A slice with counters has no devices, even if it lists some. */
	PUT(&w.f, BT_KIND_RESOURCE_SLICE,
		"{'metadata':{'name':'s2'},'spec':{'driver':'d','pool':{'name':'p1','generation':1,"
		"'resourceSliceCount':2},'nodeName':'n1','sharedCounters':[{'name':'set',"
		"'counters':{}}],'devices':[{'name':'b'}]}}");
	expect_for(&w, REQUESTS(EXACT("r", "1")), "r=p1/a");
	expect_for(&w, REQUESTS(EXACT("r", "2")), "none");
	world_finish(&w);
}
END_TEST

/* --- 9.3: errors in a claim --- */

START_TEST(test_allocator_details__spec_12_09_3_texts)
{
	static const struct {
		enum bt_gate off; /* BT_GATE__COUNT: none */
		const char *claim;
		const char *wanted;
	} rows[] = {
		{BT_GATE__COUNT,
			REQUESTS(EXACT_WITH(
				"r", "1", "'selectors':[{'cel':{'expression':'true'}},{}]")),
			"error: claim default/c0, request r, selector #1: CEL expression empty "
			"(unsupported selector type?)"},
		{BT_GATE__COUNT, REQUESTS(EXACT("r", "1")) ",'constraints':[{},{}]",
			"error: claim default/c0, constraint #0: empty constraint (unsupported "
			"constraint type?)"},
		{BT_GATE_DRA_ADMIN_ACCESS, REQUESTS(EXACT_WITH("r", "1", "'adminAccess':false")),
			"error: claim default/c0, request r: admin access is requested, but the "
			"feature is disabled"},
		{BT_GATE_DRA_CONSUMABLE_CAPACITY, REQUESTS(EXACT_WITH("r", "1", "'capacity':{}")),
			"error: claim default/c0, request r: has capacity requests, but the "
			"DRAConsumableCapacity feature is disabled"},
		{BT_GATE_DRA_CONSUMABLE_CAPACITY,
			REQUESTS("{'name':'r','firstAvailable':[" SUB(
				"s", "1") ",{'name':'t',"
					  "'deviceClassName':'c','allocationMode':'ExactCount','"
					  "count':1,"
					  "'capacity':{}}]}"),
			"error: claim default/c0, subrequest t: has capacity requests, but the "
			"DRAConsumableCapacity feature is disabled"},
		{BT_GATE_DRA_CONSUMABLE_CAPACITY, REQUESTS(EXACT("r", "1")) "," DISTINCT("", "d/x"),
			"error: claim default/c0, constraint #0: empty constraint (unsupported "
			"constraint type?)"},
	};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct world w;

		if (rows[i].off != BT_GATE__COUNT) {
			begin_with_gate(&w, rows[i].off, false, "{'name':'a'}");
		} else {
			begin(&w, "{'name':'a'}");
		}
		expect_for(&w, rows[i].claim, rows[i].wanted);
		world_finish(&w);
	}
}
END_TEST

static void numbered_devices(struct bt_strbuf *out, int count, int with_attribute)
{
	for (int i = 0; i < count; i++) {
		bt_strbuf_printf(out, "%s{'name':'d%02d'%s}", i == 0 ? "" : ",", i,
			i < with_attribute ? ",'attributes':{'x':{'int':1}}" : "");
	}
}

/** The API server defaults the count to 1, so 0 cannot come from the API. */
START_TEST(test_allocator_details__spec_12_09_4_a_count_of_nothing)
{
	struct world w;

	begin(&w, "{'name':'a'}");
	expect_for(&w, REQUESTS(EXACT("r", "0")), "");
	expect_for(&w, REQUESTS(EXACT("r", "0") "," EXACT("s", "1")), "s=p1/a");
	world_finish(&w);
}
END_TEST

START_TEST(test_allocator_details__spec_12_09_3_all_up_to_the_limit)
{
	for (int count = 32; count <= 33; count++) {
		struct bt_strbuf devices = {0};
		struct world w;

		numbered_devices(&devices, count, 0);
		begin(&w, bt_strbuf_c(&devices));
		add_claim(&w, REQUESTS(ALL("r")));
		if (count == 32) {
			ck_assert(bt_str_has_suffix(
				bt_str_from(allocate(&w, "n1")), BT_STR(" r=p1/d31")));
		} else {
			expect(&w,
				"error: claim default/c0: number of requested devices 33 exceeds "
				"the claim limit of 32");
		}
		bt_strbuf_finish(&devices);
		world_finish(&w);
	}
}
END_TEST

/* --- 9.4: the search --- */

/**
 * The first alternative leaves too few of the claim's 32 devices for the next request. The search
 * then tries the second alternative at once. It does not try other devices for the first
 * alternative, whose selector would fail.
 */
START_TEST(test_allocator_details__spec_12_09_4_too_many_tries_no_other_devices)
{
	struct bt_strbuf devices = {0};
	struct world w;
	const char *text;

	numbered_devices(&devices, 25, 20);
	begin(&w, bt_strbuf_c(&devices));
	add_claim(&w,
		REQUESTS("{'name':'r','firstAvailable':[{'name':'s','deviceClassName':'c',"
			 "'allocationMode':'ExactCount','count':20," SELECTOR(
				 "device.attributes[\\\"d\\\"].x == 1") "}," SUB("t",
				 "1") "]},"
				      "{'name':'q','firstAvailable':[" SUB("u", "20") "]}"));
	text = allocate(&w, "n1");
	ck_assert_msg(
		bt_str_has_prefix(bt_str_from(text), BT_STR("r/t=p1/d00 q/u=p1/d01 ")), "%s", text);
	bt_strbuf_finish(&devices);
	world_finish(&w);
}
END_TEST

START_TEST(test_allocator_details__spec_12_09_6_admin_access_is_a_choice)
{
	struct world w;

	begin(&w, "{'name':'a'}");
	add_allocated(&w, HELD("p1", "a"));
	expect_for(&w, REQUESTS(EXACT_WITH("r", "1", "'adminAccess':true")), "r=p1/a(admin)");
	expect_for(&w, REQUESTS(EXACT_WITH("r", "1", "'adminAccess':false")), "none");
	world_finish(&w);
}
END_TEST

/**
 * Two requests of one claim may get the same shared device, with admin access or not: the search
 * never marks the device as taken.
 */
START_TEST(test_allocator_details__spec_12_09_6_admin_access_to_a_shared_device)
{
	struct world w;

	begin(&w, "{'name':'a','allowMultipleAllocations':true}");
	expect_for(&w,
		REQUESTS(EXACT_WITH("r", "1", "'adminAccess':true") "," EXACT_WITH(
			"s", "1", "'adminAccess':true")),
		"r=p1/a(admin) s=p1/a(admin)");
	world_finish(&w);
}
END_TEST

START_TEST(test_allocator_details__spec_12_09_6_several_taints)
{
	static const struct {
		const char *taints;
		const char *wanted;
	} rows[] = {
		{"{'key':'k','effect':'NoSchedule'},{'key':'j','effect':'None'}", "r=p1/a"},
		{"{'key':'k','effect':'NoSchedule'},{'key':'j','effect':'NoSchedule'}", "none"},
		{"{'key':'j','effect':'NoExecute'},{'key':'k','effect':'NoSchedule'}", "none"},
		{"{'key':'k','effect':'NoSchedule'},{'key':'k','effect':'NoExecute'}", "r=p1/a"},
	};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct bt_strbuf device = {0};
		struct world w;

		bt_strbuf_printf(&device, "{'name':'a','taints':[%s]}", rows[i].taints);
		begin(&w, bt_strbuf_c(&device));
		expect_for(&w,
			REQUESTS(EXACT_WITH(
				"r", "1", "'tolerations':[{'key':'k','operator':'Exists'}]")),
			rows[i].wanted);
		bt_strbuf_finish(&device);
		world_finish(&w);
	}
}
END_TEST

/* --- 9.7 and 9.8: amounts --- */

START_TEST(test_allocator_details__spec_12_09_7_amounts)
{
	static const struct {
		const char *capacity;
		const char *request; /* NULL: none */
		const char *wanted;
	} rows[] = {
		{"'value':'4','requestPolicy':{'default':'2','validRange':{'min':'1'}}", NULL,
			"r=p1/a(memory 2)"},
		{"'value':'4','requestPolicy':{'validRange':{'min':'1','max':'3'}}", "3",
			"r=p1/a(memory 3)"},
		{"'value':'4','requestPolicy':{'validRange':{'min':'1','max':'3'}}", "3001m",
			"none"},
		{"'value':'4'", "4", "r=p1/a(memory 4)"},
		{"'value':'4'", "4001m", "none"},
		{"'value':'4'", "4000000001n", "none"},
		{"'value':'9E'", "9000000000000000001", "none"},
		{"'value':'1e20'", "1e19", "r=p1/a(memory 10e18)"},
		{"'value':'1e20'", "100000000000000000001", "none"},
	};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct bt_strbuf text = {0};
		struct world w;

		bt_strbuf_printf(&text,
			"{'name':'a','allowMultipleAllocations':true,'capacity':{'memory':{%s}}}",
			rows[i].capacity);
		begin(&w, bt_strbuf_c(&text));
		bt_strbuf_reset(&text);
		if (rows[i].request == NULL) {
			bt_strbuf_append_c(&text, REQUESTS(EXACT("r", "1")));
		} else {
			bt_strbuf_printf(&text,
				REQUESTS(EXACT_WITH(
					"r", "1", "'capacity':{'requests':{'memory':'%s'}}")),
				rows[i].request);
		}
		add_claim(&w, bt_strbuf_c(&text));
		ck_assert_msg(strcmp(allocate(&w, "n1"), rows[i].wanted) == 0, "row %zu: %s", i,
			bt_strbuf_c(&w.text));
		bt_strbuf_finish(&text);
		world_finish(&w);
	}
}
END_TEST

#define CONSUMES(name, set, amount) \
	"{'name':'" name "','consumesCounters':[{'counterSet':'" set "','counters':{'memory':{" \
	"'value':'" amount "'}}}]}"

/**
 * An overcommitted set (held devices consume more than the set has) blocks the devices of all sets
 * of the pool.
 */
START_TEST(test_allocator_details__spec_12_09_8_another_set_is_overcommitted)
{
	struct world w;

	world_init(&w);
	add_node(&w, "n1", "");
	add_class(&w, "c", "");
	add_counters(&w, "s1", "d", "p1", 1, 2,
		"{'name':'one','counters':{'memory':{'value':'1'}}},"
		"{'name':'two','counters':{'memory':{'value':'8'}}}");
	add_slice(&w, "s2", "d", "p1", 1, 2, ON_N1,
		CONSUMES("a", "one", "1") "," CONSUMES("b", "one", "1") "," CONSUMES(
			"x", "two", "1"));
	add_allocated(&w, HELD("p1", "a"));
	expect_for(&w, REQUESTS(EXACT("r", "1")), "r=p1/x");
	add_allocated(&w, HELD("p1", "b"));
	expect(&w, "none");
	world_finish(&w);
}
END_TEST

/* --- 9.9: constraints --- */

/**
 * Two values of attribute x: either a match constraint accepts both, or a distinct constraint does.
 */
START_TEST(test_allocator_details__spec_12_09_9_equal_values)
{
	static const struct {
		const char *first;
		const char *second;
		bool match;
	} rows[] = {
		{"'string':'v'", "'string':'v'", true},
		{"'string':'v'", "'version':'v'", false},
		{"'string':''", "'int':0", false},
		{"'int':0", "'bool':false", false},
		{"'bool':false", "'int':0", false},
		{"'bool':false", "'bool':false", true},
		{"'bool':false", "'string':''", false},
		{"'version':'1.0.0'", "'version':'1.0.0'", true},
		{"'version':'1.0.0'", "'version':'1.0'", false},
		{"'version':''", "'string':''", false},
		{"", "'version':''", false},
		{"", "", false},
	};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct bt_strbuf devices = {0};
		struct world w;

		bt_strbuf_printf(&devices,
			"{'name':'a','attributes':{'x':{%s}}},{'name':'b','attributes':{'x':{%s}}}",
			rows[i].first, rows[i].second);
		begin(&w, bt_strbuf_c(&devices));
		add_claim(&w, REQUESTS(EXACT("r", "2")) "," MATCH("", "d/x"));
		ck_assert_msg(
			strcmp(allocate(&w, "n1"), rows[i].match ? "r=p1/a r=p1/b" : "none") == 0,
			"match, row %zu: %s", i, bt_strbuf_c(&w.text));
		world_drop_claims(&w);
		add_claim(
			&w, REQUESTS(EXACT("r", "1") "," EXACT("s", "1")) "," DISTINCT("", "d/x"));
		ck_assert_msg(rows[i].first[0] == '\0' ||
				strcmp(allocate(&w, "n1"),
					rows[i].match ? "none" : "r=p1/a s=p1/b") == 0,
			"distinct, row %zu: %s", i, bt_strbuf_c(&w.text));
		bt_strbuf_finish(&devices);
		world_finish(&w);
	}
}
END_TEST

/** The full attribute name takes precedence over the short one. */
START_TEST(test_allocator_details__spec_12_09_9_full_name_first)
{
	struct world w;

	begin(&w,
		"{'name':'a','attributes':{'d/x':{'int':1},'x':{'int':2}}},"
		"{'name':'b','attributes':{'d/x':{'int':3},'x':{'int':2}}},"
		"{'name':'c','attributes':{'x':{'int':1}}}");
	expect_for(&w, REQUESTS(EXACT("r", "2")) "," MATCH("", "d/x"), "r=p1/a r=p1/c");
	world_finish(&w);
}
END_TEST

/** If values cannot be compared, the second device is refused. */
START_TEST(test_allocator_details__spec_12_09_9_values_that_cannot_differ)
{
	struct world w;

	begin(&w, "{'name':'a','attributes':{'x':{}}},{'name':'b','attributes':{'x':{}}}");
	expect_for(&w, REQUESTS(EXACT("r", "1")) "," DISTINCT("", "d/x"), "r=p1/a");
	expect_for(
		&w, REQUESTS(EXACT("r", "1") "," EXACT("s", "1")) "," DISTINCT("", "d/x"), "none");
	world_finish(&w);
}
END_TEST

/* --- 9.9: the result --- */

#define REQUIRES(key, operator, values) \
	"{'key':'" key "','operator':'" operator"','values':[" values "]}"
#define WITH_SELECTOR(name, requirements) \
	"{'name':'" name \
	"','nodeSelector':{'nodeSelectorTerms':[{'matchExpressions':[" requirements "]}]}}"

START_TEST(test_allocator_details__spec_12_09_9_node_selectors)
{
	static const struct {
		const char *scope;
		const char *devices;
		const char *selector; /* expected selector of the result; NULL: none */
	} rows[] = {
		{"'perDeviceNodeSelection':true",
			WITH_SELECTOR("a", REQUIRES("k", "In", "'v'")) "," WITH_SELECTOR(
				"b", REQUIRES("k", "NotIn", "'v2'")),
			"\"matchExpressions\":[{\"key\":\"k\",\"operator\":\"In\",\"values\":["
			"\"v\"]"
			"},{\"key\":\"k\",\"operator\":\"NotIn\",\"values\":[\"v2\"]}]"},
		{"'perDeviceNodeSelection':true",
			WITH_SELECTOR("a", REQUIRES("k", "In", "'v'")) "," WITH_SELECTOR(
				"b", REQUIRES("k", "In", "'v','w'")),
			"\"matchExpressions\":[{\"key\":\"k\",\"operator\":\"In\",\"values\":["
			"\"v\"]"
			"},{\"key\":\"k\",\"operator\":\"In\",\"values\":[\"v\",\"w\"]}]"},
		{"'perDeviceNodeSelection':true",
			WITH_SELECTOR("a", REQUIRES("k", "In", "'v','w'")) "," WITH_SELECTOR(
				"b", REQUIRES("k", "In", "'v'")),
			"\"matchExpressions\":[{\"key\":\"k\",\"operator\":\"In\",\"values\":["
			"\"v\","
			"\"w\"]},{\"key\":\"k\",\"operator\":\"In\",\"values\":[\"v\"]}]"},
		{"'perDeviceNodeSelection':true",
			WITH_SELECTOR("a", REQUIRES("k", "In", "'v','w'")) "," WITH_SELECTOR(
				"b", REQUIRES("k", "In", "'w','v'")),
			"\"matchExpressions\":[{\"key\":\"k\",\"operator\":\"In\",\"values\":["
			"\"v\","
			"\"w\"]}]"},
		{"'perDeviceNodeSelection':true",
			WITH_SELECTOR("a", REQUIRES("n", "Gt", "'1'")) "," WITH_SELECTOR(
				"b", REQUIRES("n", "NotIn", "'1'")),
			"\"matchExpressions\":[{\"key\":\"n\",\"operator\":\"Gt\",\"values\":["
			"\"1\"]"
			"},{\"key\":\"n\",\"operator\":\"NotIn\",\"values\":[\"1\"]}]"},
		{"'allNodes':true", "{'name':'a','bindsToNode':true},{'name':'b'}",
			"\"matchFields\":[{\"key\":\"metadata.name\",\"operator\":\"In\","
			"\"values\":[\"n1\"]}]"},
		{"'allNodes':true", "{'name':'a'},{'name':'b','bindsToNode':true}",
			"\"matchFields\":[{\"key\":\"metadata.name\",\"operator\":\"In\","
			"\"values\":[\"n1\"]}]"},
		/* The fields of earlier devices do not count. */
		{"'perDeviceNodeSelection':true",
			"{'name':'a','nodeSelector':{'nodeSelectorTerms':[{'matchFields':[{"
			"'key':'metadata.name','operator':'In','values':['n1']}]}]}},"
			"{'name':'b','nodeName':'n1'}",
			"\"matchFields\":[{\"key\":\"metadata.name\",\"operator\":\"In\","
			"\"values\":[\"n1\"]}]"},
		{"'allNodes':true", "{'name':'a','bindsToNode':false},{'name':'b'}", NULL},
		{"'nodeSelector':{'nodeSelectorTerms':[{'matchExpressions':[" REQUIRES("k", "In",
			 "'v'") "]},{'matchExpressions':[" REQUIRES("k", "In", "'w'") "]}]}",
			"{'name':'a'},{'name':'b'}",
			"error: create NodeSelector for claim c0: unsupported "
			"ResourceSlice.NodeSelector with 2 terms"},
	};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct world w;
		const char *text;

		world_init(&w);
		add_node(&w, "n1", "'k':'v','n':'3'");
		add_class(&w, "c", "");
		add_slice(&w, "s1", "d", "p1", 1, 1, rows[i].scope, rows[i].devices);
		add_claim(&w, REQUESTS(EXACT("r", "2")));
		text = allocate_as(&w, "n1", true);
		ck_assert_msg(rows[i].selector != NULL ? strstr(text, rows[i].selector) != NULL
						       : strstr(text, "nodeSelector") == NULL,
			"row %zu: %s", i, text);
		world_finish(&w);
	}
}
END_TEST

/** A shared device without any capacity gets a share, too. */
START_TEST(test_allocator_details__spec_12_09_9_share_without_capacity)
{
	struct world w;
	const char *text;

	begin(&w, "{'name':'a','allowMultipleAllocations':true}");
	add_claim(&w, REQUESTS(EXACT("r", "1")));
	text = allocate_as(&w, "n1", true);
	ck_assert_msg(strstr(text, "\"shareID\":\"") != NULL, "%s", text);
	ck_assert_msg(strstr(text, "consumedCapacity") == NULL, "%s", text);
	ck_assert_msg(strstr(text, "tolerations") == NULL, "%s", text);
	world_finish(&w);
}
END_TEST

START_TEST(test_allocator_details__spec_12_09_9_conditions_need_their_gates)
{
	static const enum bt_gate gates[] = {
		BT_GATE_DRA_DEVICE_BINDING_CONDITIONS, BT_GATE_DRA_RESOURCE_CLAIM_DEVICE_STATUS};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(gates); i++) {
		struct world w;

		begin_with_gate(&w, gates[i], false,
			"{'name':'a','bindingConditions':['ready']},"
			"{'name':'b','bindingFailureConditions':['broken']}");
		add_claim(&w, REQUESTS(EXACT("r", "1")));
		ck_assert_str_eq(allocate_as(&w, "n1", true),
			"{\"devices\":{\"results\":[{\"request\":\"r\",\"driver\":\"d\",\"pool\":"
			"\"p1\",\"device\":\"b\"}]},\"nodeSelector\":{\"nodeSelectorTerms\":[{"
			"\"matchFields\":[{\"key\":\"metadata.name\",\"operator\":\"In\","
			"\"values\":"
			"[\"n1\"]}]}]}}");
		world_finish(&w);
	}
}
END_TEST

#define OPAQUE "'opaque':{'driver':'d','parameters':{}}"

/** Configurations of classes come first, each class once, in the order of the requests. */
START_TEST(test_allocator_details__spec_12_09_9_order_of_configurations)
{
	struct world w;
	const char *text;
	static const char *const parts[] = {"\"source\":\"FromClass\",\"requests\":[\"r1\",\"r3\"]",
		"\"source\":\"FromClass\",\"requests\":[\"r2\"]", "\"source\":\"FromClaim\""};

	begin(&w, "{'name':'a'},{'name':'b'},{'name':'x'}");
	add_class(&w, "c", "'config':[{" OPAQUE "}]");
	add_class(&w, "e", "'config':[{" OPAQUE "}]");
	add_claim(&w,
		REQUESTS(EXACT("r1", "1") ",{'name':'r2','exactly':{'deviceClassName':'e',"
					  "'allocationMode':'ExactCount','count':1}}," EXACT(
						  "r3", "1")) ",'config':[{" OPAQUE "}]");
	text = allocate_as(&w, "n1", true);
	for (size_t i = 0; i < BT_ARRAY_LENGTH(parts); i++) {
		const char *found = strstr(text, parts[i]);

		ck_assert_msg(found != NULL, "%s is not in %s", parts[i], text);
		text = found + 1;
	}
	ck_assert(strstr(text, "\"source\"") == NULL);
	world_finish(&w);
}
END_TEST

/** Returns the column of a request of class c with this name and count; may be NULL. */
static const struct bt_allocation_column *get_column(struct world *w, uint32_t name, uint32_t count)
{
	const struct bt_allocator_options options = {.verify = true};
	char text[160];

	(void)snprintf(text, sizeof(text),
		"'requests':[{'name':'r%u','exactly':{'deviceClassName':'c','allocationMode':"
		"'ExactCount','count':%u}}]",
		name, count);
	world_drop_claims(w);
	add_claim(w, text);
	const struct bt_resource_claim *claim =
		bt_object_value(w->claims[0], BT_KIND_RESOURCE_CLAIM);
	struct bt_allocator *allocator = bt_allocator_create(w->f.dra, &options, &w->f.arena);

	return bt_allocation_column_get(allocator, &claim, 1);
}

/**
 * Returns the cached outcome. The first call for a request may only prepare the cache, so a second
 * call follows.
 */
static enum bt_allocation_outcome kept_outcome(
	struct world *w, const char *node, uint32_t name, uint32_t count)
{
	uint32_t slot = bt_node_table_find(&w->f.state->nodes, bt_str_from(node));
	const struct bt_allocation_column *column = get_column(w, name, count);

	column = column != NULL ? column : get_column(w, name, count);
	ck_assert_ptr_nonnull(column);
	return column->answers[column->values[slot]].outcome;
}

/** The second request gets a column, whatever the secret of the hashes is. */
START_TEST(test_allocator_details__columns_do_not_depend_on_the_secret)
{
	struct world w;

	begin(&w, "{'name':'a'}");
	for (uint32_t i = 0; i < 200; i++) {
		ck_assert_ptr_null(get_column(&w, i, 1));
	}
	for (uint32_t i = 0; i < 200; i++) {
		ck_assert_ptr_nonnull(get_column(&w, i, 1));
	}
	world_finish(&w);
}
END_TEST

/* More kinds of requests than the cache has columns, in two rounds; then a class changes. */
START_TEST(test_allocator_details__columns_of_many_kinds)
{
	struct world w;

	begin(&w, "{'name':'a'},{'name':'b'}");
	size_t bytes = bt_state_memory_bytes(w.f.state);
	for (uint32_t i = 0; i < 300; i++) {
		uint32_t count = 1 + i % 3;
		ck_assert_int_eq(kept_outcome(&w, "n1", i % 150, count),
			count <= 2 ? BT_ALLOCATION_FOUND : BT_ALLOCATION_NONE);
		if (i == 200) {
			add_node(&w, "n2", "");
		}
	}
	ck_assert_uint_gt(bt_state_memory_bytes(w.f.state), bytes + 16384);
	ck_assert_int_eq(kept_outcome(&w, "n2", 149, 1), BT_ALLOCATION_NONE);
	add_class(&w, "c", SELECTOR("device.driver == \\\"other\\\""));
	ck_assert_int_eq(kept_outcome(&w, "n1", 149, 1), BT_ALLOCATION_NONE);
	add_class(&w, "c", "");
	ck_assert_int_eq(kept_outcome(&w, "n1", 149, 1), BT_ALLOCATION_FOUND);
	add_allocated(&w, HELD("p1", "a"));
	ck_assert_int_eq(kept_outcome(&w, "n1", 149, 1), BT_ALLOCATION_FOUND);
	add_allocated(&w, HELD("p1", "b"));
	ck_assert_int_eq(kept_outcome(&w, "n1", 149, 1), BT_ALLOCATION_NONE);
	world_finish(&w);
}
END_TEST

BT_TEST_MAIN("allocator_details", test_allocator_details__spec_12_09_1_no_partitions,
	test_allocator_details__spec_12_09_1_counter_sets,
	test_allocator_details__spec_12_09_3_texts,
	test_allocator_details__spec_12_09_4_a_count_of_nothing,
	test_allocator_details__spec_12_09_3_all_up_to_the_limit,
	test_allocator_details__spec_12_09_4_too_many_tries_no_other_devices,
	test_allocator_details__spec_12_09_6_admin_access_is_a_choice,
	test_allocator_details__spec_12_09_6_admin_access_to_a_shared_device,
	test_allocator_details__spec_12_09_6_several_taints,
	test_allocator_details__spec_12_09_7_amounts,
	test_allocator_details__spec_12_09_8_another_set_is_overcommitted,
	test_allocator_details__spec_12_09_9_equal_values,
	test_allocator_details__spec_12_09_9_full_name_first,
	test_allocator_details__spec_12_09_9_values_that_cannot_differ,
	test_allocator_details__spec_12_09_9_node_selectors,
	test_allocator_details__spec_12_09_9_share_without_capacity,
	test_allocator_details__spec_12_09_9_conditions_need_their_gates,
	test_allocator_details__spec_12_09_9_order_of_configurations,
	test_allocator_details__columns_of_many_kinds,
	test_allocator_details__columns_do_not_depend_on_the_secret)
