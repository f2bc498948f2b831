/* SPDX-License-Identifier: Apache-2.0 */
/* Spec 12 section 20, cases 37 to 74, and neighbouring cases. */
#include "allocator_fixture.h"
#include "dra/device_pools_private.h"
#include "test_main.h"

START_TEST(test_allocator__edge_12_37_no_devices_needed)
{
	struct world w;

	begin(&w, "{'name':'a'}");
	expect(&w, "");
	expect_for(&w, REQUESTS(""), "");
	world_finish(&w);
}
END_TEST

START_TEST(test_allocator__edge_12_38_first_device)
{
	struct world w;

	begin(&w, "{'name':'a'},{'name':'b'}");
	expect_for(&w, REQUESTS(EXACT("r", "1")), "r=p1/a");
	add_allocated(&w, HELD("p1", "a"));
	expect(&w, "r=p1/b");
	world_finish(&w);
}
END_TEST

START_TEST(test_allocator__edge_12_39_slices_by_name)
{
	struct world w;

	world_init(&w);
	add_node(&w, "n1", "");
	add_class(&w, "c", "");
	add_slice(&w, "s2", "d", "p1", 1, 2, ON_N1, "{'name':'a'}");
	add_slice(&w, "s1", "d", "p1", 1, 2, ON_N1, "{'name':'b'}");
	expect_for(&w, REQUESTS(EXACT("r", "2")), "r=p1/b r=p1/a");
	world_finish(&w);
}
END_TEST

START_TEST(test_allocator__edge_12_40_pools_by_name)
{
	struct world w;

	world_init(&w);
	add_node(&w, "n1", "");
	add_class(&w, "c", "");
	add_slice(&w, "s1", "d", "p2", 1, 1, ON_N1, "{'name':'a'}");
	add_slice(&w, "s2", "d", "p1", 1, 1, ON_N1, "{'name':'a'}");
	add_slice(&w, "s3", "b", "p9", 1, 1, ON_N1, "{'name':'a'}");
	expect_for(&w, REQUESTS(EXACT("r", "3")), "r=p9/a r=p1/a r=p2/a");
	world_finish(&w);
}
END_TEST

START_TEST(test_allocator__edge_12_41_binding_conditions_last)
{
	struct world w;

	begin(&w, "{'name':'a','bindingConditions':['x'],'bindingFailureConditions':['y']}");
	add_slice(&w, "s2", "d", "p2", 1, 1, ON_N1, "{'name':'a'}");
	expect_for(&w, REQUESTS(EXACT("r", "2")), "r=p2/a r=p1/a");
	ck_assert(strstr(allocate_as(&w, "n1", true),
			  "\"bindingConditions\":[\"x\"],\"bindingFailureConditions\":[\"y\"]") !=
		NULL);
	world_finish(&w);
	/* If the gate is off, devices with binding conditions are never used. */
	begin_with_gate(&w, BT_GATE_DRA_DEVICE_BINDING_CONDITIONS, false,
		"{'name':'a','bindingConditions':['x']},{'name':'b'}");
	expect_for(&w, REQUESTS(EXACT("r", "1")), "r=p1/b");
	expect_for(&w, REQUESTS(EXACT("r", "2")), "none");
	world_finish(&w);
}
END_TEST

START_TEST(test_allocator__edge_12_42_backtracking)
{
	struct world w;

	begin(&w,
		"{'name':'large','attributes':{'size':{'string':'large'}}},"
		"{'name':'small','attributes':{'size':{'string':'small'}}}");
	expect_for(&w,
		REQUESTS(EXACT("any", "1") "," EXACT_WITH("big", "1",
			SELECTOR("device.attributes[\\\"d\\\"].size == \\\"large\\\""))),
		"any=p1/small big=p1/large");
	world_finish(&w);
}
END_TEST

START_TEST(test_allocator__edge_12_43_more_than_there_are)
{
	struct world w;

	begin(&w, "{'name':'a'},{'name':'b'},{'name':'c'},{'name':'d'}");
	expect_for(&w, REQUESTS(EXACT("r", "5")), "none");
	expect_for(&w, REQUESTS(EXACT("r", "4")), "r=p1/a r=p1/b r=p1/c r=p1/d");
	world_finish(&w);
}
END_TEST

/** Appends devices d0 to d(count - 1), each with the members `more`. */
static void many_devices(struct bt_strbuf *out, int count, const char *more)
{
	for (int i = 0; i < count; i++) {
		bt_strbuf_printf(out, "%s{'name':'d%d'%s}", i == 0 ? "" : ",", i, more);
	}
}

START_TEST(test_allocator__edge_12_44_claim_limit)
{
	struct bt_strbuf devices = {0};
	struct world w;

	many_devices(&devices, 40, "");
	begin(&w, bt_strbuf_c(&devices));
	expect_for(&w, REQUESTS(EXACT("r", "33")),
		"error: claim default/c0: number of requested devices 33 exceeds the claim limit "
		"of 32");
	expect_for(&w, REQUESTS(EXACT("r", "20") "," EXACT("s", "13")),
		"error: claim default/c0: number of requested devices 33 exceeds the claim limit "
		"of 32");
	world_drop_claims(&w);
	add_claim(&w, REQUESTS(EXACT("r", "32")));
	ck_assert(bt_str_has_suffix(bt_str_from(allocate(&w, "n1")), BT_STR(" r=p1/d31")));
	expect_for(&w, REQUESTS(EXACT("r", "9223372036854775807") "," EXACT("s", "1")),
		"error: claim default/c0: number of requested devices 9223372036854775807 exceeds "
		"the claim limit of 32");
	bt_strbuf_finish(&devices);
	world_finish(&w);
}
END_TEST

START_TEST(test_allocator__edge_12_45_too_many_alternative)
{
	struct world w;

	begin(&w, "{'name':'a'}");
	expect_for(&w,
		REQUESTS("{'name':'r','firstAvailable':[" SUB("s1", "33") "," SUB("s2", "1") "]}"),
		"r/s2=p1/a");
	world_finish(&w);
}
END_TEST

START_TEST(test_allocator__edge_12_46_47_incomplete_pool)
{
	struct world w;

	world_init(&w);
	add_node(&w, "n1", "");
	add_class(&w, "c", "");
	add_slice(&w, "s1", "d", "p1", 1, 2, ON_N1, "{'name':'a'}");
	expect_for(&w, REQUESTS(ALL("r")),
		"error: claim default/c0, request r: asks for all devices, but resource pool d/p1 "
		"is currently being updated");
	expect_for(&w, REQUESTS(EXACT("r", "1")), "none");
	world_finish(&w);
}
END_TEST

#define ALL_ADMIN \
	"{'name':'r','exactly':{'deviceClassName':'c','allocationMode':'All','adminAccess':true}}"

START_TEST(test_allocator__edge_12_48_all_with_one_in_use)
{
	struct world w;

	begin(&w, "{'name':'a'},{'name':'b'}");
	add_allocated(&w, HELD("p1", "a"));
	expect_for(&w, REQUESTS(ALL("r")), "none");
	expect_for(&w, REQUESTS(ALL_ADMIN), "r=p1/a(admin) r=p1/b(admin)");
	world_finish(&w);
}
END_TEST

START_TEST(test_allocator__edge_12_49_all_of_nothing)
{
	struct world w;

	begin(&w, "{'name':'a'}");
	expect_for(&w,
		REQUESTS("{'name':'r','exactly':{'deviceClassName':'c','allocationMode':'All'"
			 "," SELECTOR("false") "}}"),
		"none");
	world_finish(&w);
}
END_TEST

START_TEST(test_allocator__edge_12_50_all_of_the_node)
{
	struct world w;

	world_init(&w);
	add_node(&w, "n1", "");
	add_node(&w, "n2", "");
	add_class(&w, "c", "");
	add_slice(&w, "s1", "d", "p1", 1, 2, ON_N1, "{'name':'a'}");
	add_slice(&w, "s2", "d", "p1", 1, 2, "'nodeName':'n2'", "{'name':'b'}");
	expect_for(&w, REQUESTS(ALL("r")), "r=p1/a");
	ck_assert_str_eq(allocate(&w, "n2"), "r=p1/b");
	world_finish(&w);
}
END_TEST

START_TEST(test_allocator__edge_12_51_old_generation_is_whole)
{
	struct world w;

	world_init(&w);
	add_node(&w, "n1", "");
	add_class(&w, "c", "");
	add_slice(&w, "s1", "d", "p1", 1, 2, ON_N1, "{'name':'a'}");
	add_slice(&w, "s2", "d", "p1", 1, 2, ON_N1, "{'name':'b'}");
	add_slice(&w, "s3", "d", "p1", 2, 1, "'nodeName':'n2'", "{'name':'c'}");
	expect_for(&w, REQUESTS(EXACT("r", "1")), "r=p1/a");
	world_finish(&w);
}
END_TEST

START_TEST(test_allocator__edge_12_52_generations)
{
	struct world w;

	world_init(&w);
	add_node(&w, "n1", "");
	add_class(&w, "c", "");
	add_slice(&w, "s1", "d", "p1", 1, 2, ON_N1, "{'name':'a'}");
	add_slice(&w, "s3", "d", "p1", 2, 1, "'nodeName':'n2'", "{'name':'c'}");
	expect_for(&w, REQUESTS(EXACT("r", "1")), "none");
	expect_for(&w, REQUESTS(ALL("r")), "none");
	/*
	 * The update to generation 2 begins on n1; a slice of generation 1 remains on another node.
	 */
	add_slice(&w, "s1", "d", "p1", 2, 2, ON_N1, "{'name':'a'}");
	add_slice(&w, "s3", "d", "p1", 1, 1, "'nodeName':'n2'", "{'name':'c'}");
	expect_for(&w, REQUESTS(EXACT("r", "1")), "none");
	expect_for(&w, REQUESTS(ALL("r")),
		"error: claim default/c0, request r: asks for all devices, but resource pool d/p1 "
		"is currently being updated");
	/* The slice of generation 1 moves to n1; generation 2 still lacks a slice. */
	add_slice(&w, "s3", "d", "p1", 1, 2, ON_N1, "{'name':'c'}");
	expect_for(&w, REQUESTS(EXACT("r", "1")), "none");
	world_finish(&w);
}
END_TEST

START_TEST(test_allocator__edge_12_53_duplicate_device)
{
	struct world w;

	begin(&w, "{'name':'a'},{'name':'a'}");
	add_slice(&w, "s2", "d", "p2", 1, 1, ON_N1, "{'name':'a'}");
	expect_for(&w, REQUESTS(EXACT("r", "1")), "r=p2/a");
	expect_for(&w, REQUESTS(EXACT("r", "2")), "invalid pool");
	expect_for(&w, REQUESTS(ALL("r")),
		"error: claim default/c0, request r: asks for all devices, but resource pool d/p1 "
		"is currently invalid");
	world_finish(&w);
	/* Two slices list the same device: the pool is invalid. */
	world_init(&w);
	add_node(&w, "n1", "");
	add_class(&w, "c", "");
	add_slice(&w, "s1", "d", "p1", 1, 2, ON_N1, "{'name':'a'}");
	add_slice(&w, "s2", "d", "p1", 1, 2, ON_N1, "{'name':'a'}");
	expect_for(&w, REQUESTS(EXACT("r", "1")), "invalid pool");
	world_finish(&w);
}
END_TEST

#define NUMA(name, number) "{'name':'" name "','attributes':{'d/numa':{'int':" number "}}}"

START_TEST(test_allocator__edge_12_54_match_attribute)
{
	struct world w;

	begin(&w, NUMA("a", "0") "," NUMA("b", "1") ",{'name':'x'}," NUMA("c", "1"));
	expect_for(&w, REQUESTS(EXACT("r", "2")) "," MATCH("", "d/numa"), "r=p1/b r=p1/c");
	expect_for(&w, REQUESTS(EXACT("r", "3")) "," MATCH("", "d/numa"), "none");
	expect_for(&w,
		REQUESTS("{'name':'r','exactly':{'deviceClassName':'c','allocationMode':'All'"
			 "," SELECTOR(
				 "\\\"numa\\\" in device.attributes[\\\"d\\\"]") "}}") "," MATCH("",
			"d/numa"),
		"error: claim default/c0, request r: cannot add device d/p1/b because a claim "
		"constraint would not be satisfied");
	world_finish(&w);
}
END_TEST

START_TEST(test_allocator__edge_12_55_attribute_without_domain)
{
	struct world w;

	begin(&w, "{'name':'a','attributes':{'numa':{'int':1}}}");
	add_slice(&w, "s2", "e", "p2", 1, 1, ON_N1, "{'name':'a','attributes':{'numa':{'int':1}}}");
	expect_for(&w, REQUESTS(EXACT("r", "1")) "," MATCH("", "d/numa"), "r=p1/a");
	expect_for(&w, REQUESTS(EXACT("r", "1")) "," MATCH("", "e/numa"), "r=p2/a");
	expect_for(&w, REQUESTS(EXACT("r", "2")) "," MATCH("", "d/numa"), "none");
	world_finish(&w);
}
END_TEST

START_TEST(test_allocator__edge_12_56_constraint_of_alternatives)
{
	struct world w;
	const char *alternatives = REQUESTS(EXACT("q", "1") ",{'name':'r','firstAvailable':[" SUB(
		"s1", "1") "," SUB("s2", "1") "]}");
	struct bt_strbuf claim = {0};

	begin(&w, NUMA("a", "0") "," NUMA("b", "1"));
	bt_strbuf_printf(&claim, "%s,%s", alternatives, MATCH("'q','r/s1'", "d/numa"));
	expect_for(&w, bt_strbuf_c(&claim), "q=p1/a r/s2=p1/b");
	bt_strbuf_reset(&claim);
	bt_strbuf_printf(&claim, "%s,%s", alternatives, MATCH("'q','r'", "d/numa"));
	expect_for(&w, bt_strbuf_c(&claim), "none");
	bt_strbuf_finish(&claim);
	world_finish(&w);
}
END_TEST

#define ADMIN(name, count) EXACT_WITH(name, count, "'adminAccess':true")

START_TEST(test_allocator__edge_12_57_admin_access)
{
	struct world w;

	begin(&w, "{'name':'a'}");
	add_claim(&w, REQUESTS(ADMIN("r", "1")));
	add_claim(&w, REQUESTS(ADMIN("r", "1")));
	expect(&w, "r=p1/a(admin); r=p1/a(admin)");
	expect_for(&w, REQUESTS(ADMIN("r", "1") "," ADMIN("s", "1")), "none");
	world_drop_claims(&w);
	add_claim(&w, REQUESTS(ADMIN("r", "1")));
	add_claim(&w, REQUESTS(EXACT("r", "1")));
	expect(&w, "none");
	world_drop_claims(&w);
	add_claim(&w, REQUESTS(EXACT("r", "1")));
	add_claim(&w, REQUESTS(ADMIN("r", "1")));
	expect(&w, "r=p1/a; r=p1/a(admin)");
	add_allocated(&w, HELD("p1", "a"));
	expect_for(&w, REQUESTS(EXACT("r", "1")), "none");
	expect_for(&w, REQUESTS(ADMIN("r", "1")), "r=p1/a(admin)");
	world_finish(&w);
}
END_TEST

#define USES(name, amount) \
	"{'name':'" name "','consumesCounters':[{'counterSet':'set','counters':{'memory':{" \
	"'value':'" amount "'}}}]}"
#define MEMORY(amount) "{'name':'set','counters':{'memory':{'value':'" amount "'}}}"

static void begin_partitioned(struct world *w)
{
	world_init(w);
	add_node(w, "n1", "");
	add_class(w, "c", "");
	add_counters(w, "s1", "d", "p1", 1, 2, MEMORY("40Gi"));
	add_slice(w, "s2", "d", "p1", 1, 2, ON_N1,
		USES("a", "10Gi") "," USES("b", "10Gi") "," USES("x", "10Gi") "," USES(
			"y", "10Gi") "," USES("z", "10Gi") "," USES("all", "40Gi") ",{'name':"
										   "'free'}");
}

START_TEST(test_allocator__edge_12_58_counters)
{
	struct world w;

	begin_partitioned(&w);
	expect_for(&w, REQUESTS(EXACT("r", "6")), "none");
	expect_for(&w, REQUESTS(EXACT("r", "4")), "r=p1/a r=p1/b r=p1/x r=p1/y");
	add_allocated(&w, HELD("p1", "all"));
	expect_for(&w, REQUESTS(EXACT("r", "2")), "none");
	world_finish(&w);
}
END_TEST

START_TEST(test_allocator__edge_12_59_overcommitted_pool)
{
	struct world w;

	begin_partitioned(&w);
	add_allocated(&w, HELD("p1", "all") "," HELD("p1", "a"));
	expect_for(&w, REQUESTS(EXACT("r", "1")), "r=p1/free");
	expect_for(&w, REQUESTS(EXACT("r", "2")), "none");
	delete_object(&w.f, BT_KIND_RESOURCE_CLAIM, "other", "held0");
	expect(&w, "r=p1/a r=p1/b");
	world_finish(&w);
}
END_TEST

START_TEST(test_allocator__edge_12_60_counter_set_of_another_pool)
{
	struct world w;

	begin(&w, USES("a", "1"));
	add_counters(&w, "s2", "d", "p2", 1, 1, MEMORY("40Gi"));
	expect_for(&w, REQUESTS(EXACT("r", "1")), "invalid pool");
	world_finish(&w);
}
END_TEST

START_TEST(test_allocator__edge_12_61_per_device_node_selection)
{
	struct world w;

	world_init(&w);
	add_node(&w, "n1", "'zone':'z','disk':'ssd'");
	add_node(&w, "n2", "");
	add_class(&w, "c", "");
	add_slice(&w, "s1", "d", "p1", 1, 1, "'perDeviceNodeSelection':true",
		"{'name':'a','nodeName':'n2'},{'name':'b','nodeName':'n1'}");
	expect_for(&w, REQUESTS(ALL("r")), "r=p1/b");
	ck_assert(
		strstr(allocate_as(&w, "n1", true),
			"\"nodeSelector\":{\"nodeSelectorTerms\":[{\"matchFields\":[{\"key\":"
			"\"metadata.name\",\"operator\":\"In\",\"values\":[\"n1\"]}]}]}") != NULL);
	ck_assert_str_eq(allocate(&w, "n2"), "r=p1/a");
	add_slice(&w, "s1", "d", "p1", 1, 1, "'perDeviceNodeSelection':true",
		"{'name':'a','nodeSelector':{'nodeSelectorTerms':[{'matchExpressions':["
		"{'key':'zone','operator':'Exists'}]}]}},"
		"{'name':'b','nodeSelector':{'nodeSelectorTerms':[{'matchExpressions':["
		"{'key':'disk','operator':'In','values':['ssd','hdd']},"
		"{'key':'zone','operator':'Exists'}]}]}}");
	expect_for(&w, REQUESTS(EXACT("r", "2")), "r=p1/a r=p1/b");
	ck_assert(strstr(allocate_as(&w, "n1", true),
			  "\"nodeSelector\":{\"nodeSelectorTerms\":[{\"matchExpressions\":[{"
			  "\"key\":\"zone\",\"operator\":\"Exists\"},{\"key\":\"disk\","
			  "\"operator\":\"In\",\"values\":[\"ssd\",\"hdd\"]}]}]}") != NULL);
	world_finish(&w);
}
END_TEST

START_TEST(test_allocator__edge_12_62_all_nodes)
{
	struct world w;

	world_init(&w);
	add_node(&w, "n1", "");
	add_class(&w, "c", "");
	add_slice(&w, "s1", "d", "p1", 1, 1, "'allNodes':true", "{'name':'a'}");
	add_claim(&w, REQUESTS(EXACT("r", "1")));
	ck_assert_str_eq(allocate_as(&w, "n1", true),
		"{\"devices\":{\"results\":[{\"request\":\"r\",\"driver\":\"d\",\"pool\":\"p1\","
		"\"device\":\"a\"}]}}");
	add_slice(&w, "s1", "d", "p1", 1, 1, "'allNodes':true", "{'name':'a','bindsToNode':true}");
	ck_assert(strstr(allocate_as(&w, "n1", true), "metadata.name") != NULL);
	world_finish(&w);
}
END_TEST

#define SHARED(name, capacity) \
	"{'name':'" name "','allowMultipleAllocations':true,'capacity':{'memory':{" capacity "}}}"
#define WANTS(name, amount) EXACT_WITH(name, "1", "'capacity':{'requests':{'memory':'" amount "'}}")

START_TEST(test_allocator__edge_12_63_shared_device)
{
	struct world w;

	begin(&w, SHARED("a", "'value':'4'"));
	add_claim(&w, REQUESTS(EXACT("r", "1")));
	expect(&w, "r=p1/a(memory 4)");
	add_claim(&w, REQUESTS(EXACT("r", "1")));
	expect(&w, "none");
	add_slice(&w, "s1", "d", "p1", 1, 1, ON_N1,
		SHARED("a", "'value':'4','requestPolicy':{'default':'0'}"));
	expect(&w, "r=p1/a(memory 0); r=p1/a(memory 0)");
	ck_assert(strstr(allocate_as(&w, "n1", true), "\"shareID\":\"") != NULL);
	world_finish(&w);
}
END_TEST

START_TEST(test_allocator__edge_12_64_request_policies)
{
	static const struct {
		const char *policy;
		const char *request;
		const char *wanted;
	} rows[] = {
		{"'validRange':{'min':'2','max':'4','step':'2'}", "3", "r=p1/a(memory 4)"},
		{"'validRange':{'min':'2','max':'4','step':'2'}", "1", "r=p1/a(memory 2)"},
		{"'validRange':{'min':'2','max':'4','step':'2'}", "6", "none"},
		{"'validRange':{'min':'2','step':'0'}", "3", "r=p1/a(memory 3)"},
		{"'validRange':{'min':'1500m','max':'4'}", "1", "r=p1/a(memory 1500m)"},
		{"'validValues':['1','2','4']", "3", "r=p1/a(memory 4)"},
		{"'validValues':['1','2','4']", "5", "none"},
		{"'default':'3','validValues':['1','2','4']", "3", "r=p1/a(memory 4)"},
	};
	struct bt_strbuf device = {0};
	struct bt_strbuf claim = {0};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct world w;
		bt_strbuf_reset(&device);
		bt_strbuf_reset(&claim);
		bt_strbuf_printf(
			&device, SHARED("a", "'value':'8','requestPolicy':{%s}"), rows[i].policy);
		bt_strbuf_printf(&claim, REQUESTS(WANTS("r", "%s")), rows[i].request);
		begin(&w, bt_strbuf_c(&device));
		add_claim(&w, bt_strbuf_c(&claim));
		ck_assert_msg(strcmp(allocate(&w, "n1"), rows[i].wanted) == 0,
			"row %zu: %s, not %s", i, bt_strbuf_c(&w.text), rows[i].wanted);
		world_finish(&w);
	}
	bt_strbuf_finish(&device);
	bt_strbuf_finish(&claim);
}
END_TEST

#define SHARE(device, amount) \
	"{'request':'x','driver':'d','pool':'p1','device':'" device "','shareID':'" amount \
	"','consumedCapacity':{'memory':'" amount "'}}"

START_TEST(test_allocator__edge_12_65_what_is_left_of_a_shared_device)
{
	struct world w;

	begin(&w, SHARED("a", "'value':'4'") "," SHARED("b", "'value':'4'"));
	add_allocated(&w, SHARE("a", "2"));
	expect_for(&w, REQUESTS(WANTS("r", "2")), "r=p1/a(memory 2)");
	expect_for(&w, REQUESTS(WANTS("r", "3")), "r=p1/b(memory 3)");
	expect_for(&w, REQUESTS(EXACT_WITH("r", "1", "'capacity':{'requests':{'other':'1'}}")),
		"none");
	world_finish(&w);
}
END_TEST

START_TEST(test_allocator__edge_12_66_no_longer_shared)
{
	struct world w;

	begin(&w, "{'name':'a','capacity':{'memory':{'value':'2'}}}");
	add_allocated(&w, SHARE("a", "1"));
	expect_for(&w, REQUESTS(WANTS("r", "1")), "r=p1/a");
	expect_for(&w, REQUESTS(EXACT("r", "1")), "none");
	expect_for(&w, REQUESTS(EXACT_WITH("r", "1", SELECTOR("device.allowMultipleAllocations"))),
		"none");
	/* Another claim holds all of a shareable device. */
	add_slice(&w, "s1", "d", "p1", 1, 1, ON_N1, SHARED("a", "'value':'4'"));
	add_allocated(&w, HELD("p1", "a"));
	expect_for(&w, REQUESTS(WANTS("r", "1")), "none");
	world_finish(&w);
}
END_TEST

#define SHARED_USES(name) \
	"{'name':'" name "','allowMultipleAllocations':true,'capacity':{'memory':{'value':'4'}}," \
	"'consumesCounters':[{'counterSet':'set','counters':{'memory':{'value':'30Gi'}}}]}"

START_TEST(test_allocator__edge_12_67_shared_device_and_counters)
{
	struct world w;

	world_init(&w);
	add_node(&w, "n1", "");
	add_class(&w, "c", "");
	add_counters(&w, "s1", "d", "p1", 1, 2, MEMORY("40Gi"));
	add_slice(&w, "s2", "d", "p1", 1, 2, ON_N1, SHARED_USES("a") "," USES("b", "30Gi"));
	add_allocated(&w, SHARE("a", "1"));
	expect_for(&w, REQUESTS(WANTS("r", "3")), "r=p1/a(memory 3)");
	expect_for(&w, REQUESTS(EXACT("r", "1")), "none");
	world_finish(&w);
}
END_TEST

START_TEST(test_allocator__edge_12_68_distinct_attribute)
{
	struct world w;

	begin(&w, NUMA("a", "0") "," NUMA("b", "0") "," NUMA("c", "1"));
	expect_for(&w,
		REQUESTS(EXACT("r0", "1") "," EXACT("r1", "1")) "," DISTINCT("'r0','r1'", "d/numa"),
		"r0=p1/a r1=p1/c");
	add_allocated(&w, HELD("p1", "c"));
	expect(&w, "none");
	world_finish(&w);
	/* Spec 12 section 21, D9: the third device is compared with the second only. */
	begin(&w, NUMA("a", "0") "," NUMA("b", "1") "," NUMA("c", "0"));
	expect_for(
		&w, REQUESTS(EXACT("r", "3")) "," DISTINCT("", "d/numa"), "r=p1/a r=p1/b r=p1/c");
	world_finish(&w);
}
END_TEST

#define OPAQUE "'opaque':{'driver':'d','parameters':{}}"

START_TEST(test_allocator__edge_12_69_claim_configuration)
{
	struct world w;
	const char *text;

	begin(&w, "{'name':'a'},{'name':'b'}");
	add_claim(&w,
		REQUESTS("{'name':'r','firstAvailable':[" SUB(
			"s1", "1") "]}") ",'config':[{'requests':['r','r/s1']," OPAQUE "}]");
	text = allocate_as(&w, "n1", true);
	ck_assert(strstr(text,
			  "\"config\":[{\"source\":\"FromClaim\",\"requests\":[\"r\","
			  "\"r/s1\"],") != NULL);
	ck_assert(strstr(strstr(text, "FromClaim") + 1, "FromClaim") == NULL);
	world_drop_claims(&w);
	add_claim(&w,
		REQUESTS(EXACT("r1", "1") "," EXACT(
			"r2", "1")) ",'config':[{'requests':['r1','r2']," OPAQUE "}]");
	text = allocate_as(&w, "n1", true);
	ck_assert(strstr(strstr(text, "FromClaim") + 1, "FromClaim") != NULL);
	world_finish(&w);
}
END_TEST

START_TEST(test_allocator__edge_12_70_class_configuration)
{
	struct world w;
	const char *text;

	begin(&w, "{'name':'a'},{'name':'b'}");
	add_class(&w, "c", "'config':[{" OPAQUE "}]");
	add_claim(&w, REQUESTS(EXACT("r1", "1") "," EXACT("r2", "1")));
	text = allocate_as(&w, "n1", true);
	ck_assert(strstr(text,
			  "\"config\":[{\"source\":\"FromClass\",\"requests\":[\"r1\","
			  "\"r2\"],") != NULL);
	ck_assert(strstr(strstr(text, "FromClass") + 1, "FromClass") == NULL);
	world_finish(&w);
}
END_TEST

START_TEST(test_allocator__edge_12_71_attribute_without_value)
{
	struct world w;

	begin(&w, "{'name':'a','attributes':{'X':{}}}");
	add_class(&w, "c", SELECTOR("true"));
	expect_for(&w, REQUESTS(EXACT("r", "1")),
		"error: class c: selector #0: CEL runtime error: attribute X: unsupported "
		"attribute value");
	world_finish(&w);
}
END_TEST

START_TEST(test_allocator__edge_12_72_no_selectors)
{
	struct world w;

	begin(&w, "{'name':'a','attributes':{'X':{}}}");
	expect_for(&w, REQUESTS(EXACT("r", "1")), "r=p1/a");
	ck_assert_uint_eq(w.f.dra->pools->evaluated, 0);
	world_finish(&w);
}
END_TEST

#define TAINTED(taint) "{'name':'a','taints':[" taint "]}"
#define TOLERATES(toleration) EXACT_WITH("r", "1", "'tolerations':[" toleration "]")

START_TEST(test_allocator__edge_12_73_taints)
{
	static const struct {
		const char *taint;
		const char *toleration;
		bool is_used;
	} rows[] = {
		{"'key':'k','value':'v','effect':'NoSchedule'", "", false},
		{"'key':'k','value':'v','effect':'NoSchedule'", "{'operator':'Exists'}", true},
		{"'key':'k','value':'v','effect':'NoExecute'", "{'key':'k','value':'v'}", true},
		{"'key':'k','value':'w','effect':'NoExecute'", "{'key':'k','value':'v'}", false},
		{"'key':'k','effect':'NoExecute'", "{'key':'k','operator':'Other'}", false},
		{"'key':'k','effect':'NoExecute'",
			"{'key':'k','operator':'Exists','effect':'NoSchedule'}", false},
		{"'key':'k','value':'v','effect':'None'", "", true},
		{"'key':'k','value':'v','effect':'Whatever'", "", true},
	};
	struct bt_strbuf text = {0};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct world w;
		bt_strbuf_reset(&text);
		bt_strbuf_printf(&text, TAINTED("{%s}"), rows[i].taint);
		begin(&w, bt_strbuf_c(&text));
		bt_strbuf_reset(&text);
		bt_strbuf_printf(&text, REQUESTS(TOLERATES("%s")), rows[i].toleration);
		add_claim(&w, bt_strbuf_c(&text));
		ck_assert_msg(strcmp(allocate(&w, "n1"), rows[i].is_used ? "r=p1/a" : "none") == 0,
			"row %zu: %s", i, bt_strbuf_c(&w.text));
		world_finish(&w);
	}
	bt_strbuf_finish(&text);
}
END_TEST

START_TEST(test_allocator__edge_12_20_taints_switched_off)
{
	struct world w;

	begin_with_gate(
		&w, BT_GATE_DRA_DEVICE_TAINTS, false, TAINTED("{'key':'k','effect':'NoSchedule'}"));
	expect_for(&w, REQUESTS(EXACT("r", "1")), "r=p1/a");
	world_finish(&w);
}
END_TEST

START_TEST(test_allocator__edge_12_74_no_allocation_mode)
{
	struct world w;

	begin(&w, "{'name':'a'}");
	expect_for(&w, REQUESTS("{'name':'r','exactly':{'deviceClassName':'c'}}"),
		"error: claim default/c0, request r: unsupported count mode ");
	world_finish(&w);
}
END_TEST

/* --- errors in claims and their order --- */

START_TEST(test_allocator__texts_of_bad_claims)
{
	static const struct {
		const char *claim;
		const char *wanted;
	} rows[] = {
		{REQUESTS("{'name':'r','exactly':{'deviceClassName':'c','allocationMode':"
			  "'ExactCount','count':1,'selectors':[{}]}}"),
			"error: claim default/c0, request r, selector #0: CEL expression empty "
			"(unsupported selector type?)"},
		{REQUESTS("{'name':'r','exactly':{'allocationMode':'ExactCount','count':1}}"),
			"error: claim default/c0, request r: missing device class name "
			"(unsupported request type?)"},
		{REQUESTS("{'name':'r','firstAvailable':[{'name':'s','deviceClassName':'gone'}]}"),
			"error: claim default/c0, request s: could not retrieve device class gone: "
			"deviceclass.resource.k8s.io \"gone\" not found"},
		{REQUESTS(EXACT("r", "33")) ",'constraints':[{}]",
			"error: claim default/c0: number of requested devices 33 exceeds the "
			"claim limit of 32"},
		{REQUESTS(EXACT("r", "1")) ",'constraints':[{'matchAttribute':'d/x'},{}]",
			"error: claim default/c0, constraint #1: empty constraint (unsupported "
			"constraint type?)"},
		{REQUESTS(EXACT_WITH("r", "1", SELECTOR("device.nothing"))), NULL},
	};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct world w;
		begin(&w, "{'name':'a'}");
		add_claim(&w, rows[i].claim);
		if (rows[i].wanted != NULL) {
			expect(&w, rows[i].wanted);
		} else {
			ck_assert(bt_str_has_prefix(bt_str_from(allocate(&w, "n1")),
				BT_STR("error: claim default/c0: selector #0: CEL compile error: "
				       "compilation failed: ERROR: <input>:1:7: ")));
		}
		world_finish(&w);
	}
}
END_TEST

START_TEST(test_allocator__error_only_where_the_search_comes)
{
	struct world w;
	const char *fails = SELECTOR("device.attributes[\\\"d\\\"].n == 1");

	begin(&w, "{'name':'a','attributes':{'n':{'int':1}}},{'name':'b'}");
	add_claim(&w, "");
	world_drop_claims(&w);
	for (int count = 1; count <= 3; count++) {
		struct bt_strbuf claim = {0};
		bt_strbuf_printf(&claim, REQUESTS(EXACT_WITH("r", "%d", "%s")), count, fails);
		world_drop_claims(&w);
		add_claim(&w, bt_strbuf_c(&claim));
		if (count == 1) {
			expect(&w, "r=p1/a");
		} else {
			expect(&w,
				"error: claim default/c0: selector #0: CEL runtime error: no "
				"such key: n");
		}
		bt_strbuf_finish(&claim);
	}
	/* The device is in use, so its selectors are not evaluated. */
	add_allocated(&w, HELD("p1", "b"));
	expect(&w, "none");
	world_finish(&w);
}
END_TEST

START_TEST(test_allocator__broken_node_selector)
{
	struct world w;

	world_init(&w);
	add_node(&w, "n1", "");
	add_class(&w, "c", "");
	add_slice(&w, "s1", "d", "p1", 1, 1,
		"'nodeSelector':{'nodeSelectorTerms':[{'matchExpressions':[{'key':'k','operator':"
		"'Near'}]}]}",
		"{'name':'a'}");
	add_claim(&w, REQUESTS(EXACT("r", "1")));
	ck_assert(bt_str_has_prefix(bt_str_from(allocate(&w, "n1")),
		BT_STR("error: gather pool information: failed to perform node selection for "
		       "slice s1: failed to parse node selector")));
	world_finish(&w);
}
END_TEST

/* --- bounds --- */

static bool say_over(void *context)
{
	return ++*(int *)context > 0;
}

START_TEST(test_allocator__hopeless_searches_are_short)
{
	struct bt_strbuf devices = {0};
	struct world w;

	/* Without pruning none of these searches would end in time. */
	many_devices(&devices, 40, ",'attributes':{'d/same':{'int':1}}");
	bt_strbuf_append_c(&devices, ",{'name':'x'}");
	begin(&w, bt_strbuf_c(&devices));
	for (int i = 0; i < 12; i++) {
		char held[80];
		(void)snprintf(held, sizeof(held), HELD("p1", "d%d"), i);
		add_allocated(&w, held);
	}
	expect_for(&w, REQUESTS(EXACT("r", "30")), "none");
	expect_for(&w, REQUESTS(EXACT("r", "29")) "," MATCH("", "d/same"), "none");
	expect_for(&w, REQUESTS(EXACT("q", "1") "," EXACT("r", "29")), "none");
	bt_strbuf_finish(&devices);
	world_finish(&w);
}
END_TEST

static int asked;

static bool is_over_now(void *context)
{
	(void)context;
	return say_over(&asked);
}

START_TEST(test_allocator__long_search_is_given_up)
{
	struct bt_strbuf devices = {0};
	struct world w;

	/* The requests need 41 of 40 devices: the search would try every choice. */
	many_devices(&devices, 40, ",'attributes':{'d/same':{'int':1}}");
	begin(&w, bt_strbuf_c(&devices));
	add_claim(&w, REQUESTS(EXACT("q", "16") "," EXACT("r", "16")) "," MATCH("'q'", "d/same"));
	add_claim(&w, REQUESTS(EXACT("r", "9")));
	w.is_over = is_over_now;
	asked = 0;
	expect(&w, "over");
	ck_assert_int_eq(asked, 1);
	/* The aborted search leaves no state behind. */
	w.is_over = NULL;
	expect_for(&w, REQUESTS(EXACT("r", "1")), "r=p1/d0");
	bt_strbuf_finish(&devices);
	world_finish(&w);
}
END_TEST

static bool is_over_at_the_third_question(void *context)
{
	(void)context;
	return ++asked == 3;
}

/** Slow expressions count as steps even if the search tries few devices. */
START_TEST(test_allocator__evaluations_count_as_steps)
{
	struct bt_strbuf devices = {0};
	struct world w;

	many_devices(&devices, 40, "");
	begin(&w, bt_strbuf_c(&devices));
	add_claim(&w,
		REQUESTS(EXACT_WITH(
			"r", "1", SELECTOR("\\\"no\\\" in device.attributes[\\\"d\\\"]"))));
	w.is_over = is_over_at_the_third_question;
	asked = 0;
	expect(&w, "over");
	bt_strbuf_finish(&devices);
	world_finish(&w);
}
END_TEST

/* --- report --- */

START_TEST(test_allocator__report_says_what_refused)
{
	struct world w;
	struct bt_allocator_options options = {0};
	const struct bt_resource_claim *claim;
	struct bt_allocation_report report;
	struct bt_node_info node;

	begin(&w,
		"{'name':'a'},{'name':'b','taints':[{'key':'k','value':'v','effect':'NoSchedule'"
		"}]},{'name':'x','attributes':{'no':{'bool':true}}},{'name':'y'}");
	add_allocated(&w, HELD("p1", "y"));
	add_claim(&w,
		REQUESTS(EXACT_WITH(
			"r", "2", SELECTOR("!(\\\"no\\\" in device.attributes[\\\"d\\\"])"))));
	claim = bt_object_value(w.claims[0], BT_KIND_RESOURCE_CLAIM);
	bt_node_info_init(&node, w.f.state, bt_node_table_find(&w.f.state->nodes, BT_STR("n1")));
	bt_allocator_report(bt_allocator_create(w.f.dra, &options, &w.f.arena), &node, &claim, 1,
		&w.f.arena, &report);
	ck_assert_uint_eq(report.count, 1);
	ck_assert_uint_eq(report.requests[0].considered, 4);
	ck_assert_uint_eq(report.requests[0].wanted, 2);
	ck_assert_uint_eq(report.requests[0].usable, 1);
	ck_assert_uint_eq(report.requests[0].in_use, 1);
	ck_assert_uint_eq(report.requests[0].request_refused, 1);
	ck_assert_uint_eq(report.requests[0].tainted, 1);
	ck_assert(bt_str_equal_c(report.requests[0].taint, "k=v:NoSchedule"));
	ck_assert(bt_str_equal_c(
		report.requests[0].selector, "!(\"no\" in device.attributes[\"d\"])"));
	ck_assert(!report.is_joint);
	world_finish(&w);
}
END_TEST

BT_TEST_MAIN("allocator", test_allocator__edge_12_20_taints_switched_off,
	test_allocator__edge_12_37_no_devices_needed, test_allocator__edge_12_38_first_device,
	test_allocator__edge_12_39_slices_by_name, test_allocator__edge_12_40_pools_by_name,
	test_allocator__edge_12_41_binding_conditions_last, test_allocator__edge_12_42_backtracking,
	test_allocator__edge_12_43_more_than_there_are, test_allocator__edge_12_44_claim_limit,
	test_allocator__edge_12_45_too_many_alternative,
	test_allocator__edge_12_46_47_incomplete_pool,
	test_allocator__edge_12_48_all_with_one_in_use, test_allocator__edge_12_49_all_of_nothing,
	test_allocator__edge_12_50_all_of_the_node,
	test_allocator__edge_12_51_old_generation_is_whole, test_allocator__edge_12_52_generations,
	test_allocator__edge_12_53_duplicate_device, test_allocator__edge_12_54_match_attribute,
	test_allocator__edge_12_55_attribute_without_domain,
	test_allocator__edge_12_56_constraint_of_alternatives,
	test_allocator__edge_12_57_admin_access, test_allocator__edge_12_58_counters,
	test_allocator__edge_12_59_overcommitted_pool,
	test_allocator__edge_12_60_counter_set_of_another_pool,
	test_allocator__edge_12_61_per_device_node_selection, test_allocator__edge_12_62_all_nodes,
	test_allocator__edge_12_63_shared_device, test_allocator__edge_12_64_request_policies,
	test_allocator__edge_12_65_what_is_left_of_a_shared_device,
	test_allocator__edge_12_66_no_longer_shared,
	test_allocator__edge_12_67_shared_device_and_counters,
	test_allocator__edge_12_68_distinct_attribute,
	test_allocator__edge_12_69_claim_configuration,
	test_allocator__edge_12_70_class_configuration,
	test_allocator__edge_12_71_attribute_without_value, test_allocator__edge_12_72_no_selectors,
	test_allocator__edge_12_73_taints, test_allocator__edge_12_74_no_allocation_mode,
	test_allocator__texts_of_bad_claims, test_allocator__error_only_where_the_search_comes,
	test_allocator__broken_node_selector, test_allocator__hopeless_searches_are_short,
	test_allocator__long_search_is_given_up, test_allocator__evaluations_count_as_steps,
	test_allocator__report_says_what_refused)
