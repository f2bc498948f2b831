/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include "plugins/common_plugin.h"
#include "test_main.h"

#define NODE(name, allocatable) \
	"{'metadata':{'name':'" name "'},'status':{'allocatable':{" allocatable "}}}"
#define POD(requests) \
	"{'spec':{'containers':[{'name':'c','resources':{'requests':{" requests "}}}]}}"
#define N1 NODE("n1", "'cpu':'4000m','memory':'10000','pods':'9'")
#define N2 NODE("n2", "'cpu':'6000m','memory':'10000','pods':'9'")
#define STRATEGY(type, resources) \
	"{'scoringStrategy':{'type':'" type "','resources':[" resources "]}}"
#define R(name, weight) "{'name':'" name "','weight':" weight "}"
#define RATIO(resources, shape) \
	"{'scoringStrategy':{'type':'RequestedToCapacityRatio','resources':[" resources \
	"],'requestedToCapacityRatio':{'shape':[" shape "]}}}"
#define P(utilization, score) "{'utilization':" utilization ",'score':" score "}"
#define CPU_MEMORY R("cpu", "1") "," R("memory", "1")
#define CPU_MEMORY_2 R("cpu", "1") "," R("memory", "2")

/** Checks the score of a pod on the node named `on`. nodes: JSON of one or two empty nodes. */
static void check_score(const char *row, const char *args, const char *nodes[2], const char *pod,
	const char *on, int64_t expected)
{
	struct fixture fixture;
	int64_t score;
	int64_t alone = -1;

	fixture_init_with(&fixture, &bt_node_resources_fit_plugin, NULL, args);
	for (int i = 0; i < 2 && nodes[i] != NULL; i++) {
		fixture_add_node(&fixture, nodes[i]);
	}
	score = fixture_score(&fixture, pod, on);
	ck_assert_msg(score == expected, "%s: got %lld, expected %lld", row, (long long)score,
		(long long)expected);
	fixture_expect(row, fixture_score_alone(&fixture, pod, on, &alone), "Success");
	ck_assert_msg(alone == expected, "%s: without PreScore %lld", row, (long long)alone);
	fixture_finish(&fixture);
}

START_TEST(test_node_resources_fit__edge_05_41_strategies)
{
	const char *nodes[2] = {N1, N2};
	const char *pod = POD("'cpu':'3000m','memory':'5000'");

	check_score("default", NULL, nodes, pod, "n1", 37);
	check_score("least", STRATEGY("LeastAllocated", CPU_MEMORY), nodes, pod, "n1", 37);
	check_score("least", STRATEGY("LeastAllocated", CPU_MEMORY), nodes, pod, "n2", 50);
	check_score("most", STRATEGY("MostAllocated", CPU_MEMORY), nodes, pod, "n1", 62);
	check_score("most", STRATEGY("MostAllocated", CPU_MEMORY), nodes, pod, "n2", 50);
	check_score(
		"ratio", RATIO(CPU_MEMORY, P("0", "10") "," P("100", "0")), nodes, pod, "n1", 38);
	check_score(
		"ratio", RATIO(CPU_MEMORY, P("0", "10") "," P("100", "0")), nodes, pod, "n2", 50);
	check_score(
		"least, weights", STRATEGY("LeastAllocated", CPU_MEMORY_2), nodes, pod, "n1", 41);
	check_score("most, weights", STRATEGY("MostAllocated", CPU_MEMORY_2), nodes, pod, "n1", 58);
}
END_TEST

START_TEST(test_node_resources_fit__edge_05_42_defaults_of_containers_without_requests)
{
	const char *nodes[2] = {N1, NULL};

	check_score("least", NULL, nodes, "{'spec':{'containers':[{'name':'c'}]}}", "n1", 48);
}
END_TEST

START_TEST(test_node_resources_fit__edge_05_43_extended_resource)
{
#define FOO RATIO(R("intel.com/foo", "1"), P("0", "0") "," P("100", "1"))
	const char *eight[2] = {NODE("n1", "'intel.com/foo':'8'"), NULL};
	const char *four[2] = {NODE("n1", "'intel.com/foo':'4'"), NULL};

	check_score("2 of 8", FOO, eight, POD("'intel.com/foo':'2'"), "n1", 2);
	check_score("2 of 4", FOO, four, POD("'intel.com/foo':'2'"), "n1", 5);
	check_score("4 of 4", FOO, four, POD("'intel.com/foo':'4'"), "n1", 10);
	check_score("not requested", FOO, four, POD("'cpu':'1'"), "n1", 0);
}
END_TEST

START_TEST(test_node_resources_fit__edge_05_44_entries_of_zero)
{
#define CPU_MEMORY_3 R("cpu", "1") "," R("memory", "3")
#define AND_STORAGE CPU_MEMORY_3 "," R("ephemeral-storage", "4")
#define SHAPE P("0", "0") "," P("100", "10")
	const char *nodes[2] = {
		NODE("n1", "'cpu':'4','memory':'1000','ephemeral-storage':'10'"), NULL};
	const char *pod = POD("'cpu':'1','memory':'1000'");

	check_score("rounded", RATIO(CPU_MEMORY_3, SHAPE), nodes, pod, "n1", 81);
	check_score("third is left out", RATIO(AND_STORAGE, SHAPE), nodes, pod, "n1", 81);
	check_score("most counts it", STRATEGY("MostAllocated", AND_STORAGE), nodes, pod, "n1",
		325 / 8);
	check_score("least counts memory at 0", STRATEGY("LeastAllocated", CPU_MEMORY_3), nodes,
		pod, "n1", 75 / 4);
}
END_TEST

START_TEST(test_node_resources_fit__edge_05_45_broken_line)
{
	static const struct bt_shape_point rising[] = {{10, 1}, {90, 9}};
	static const struct bt_shape_point hill[] = {{0, 2}, {40, 10}, {100, 0}};
	static const int64_t on_rising[][2] = {
		{15, 1}, {19, 1}, {20, 2}, {89, 8}, {90, 9}, {110, 9}, {5, 1}};
	static const int64_t on_hill[][2] = {{20, 6}, {30, 8}, {40, 10}, {70, 5}, {100, 0}};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(on_rising); i++) {
		ck_assert_int_eq(bt_broken_line(rising, 2, on_rising[i][0]), on_rising[i][1]);
	}
	for (size_t i = 0; i < BT_ARRAY_LENGTH(on_hill); i++) {
		ck_assert_int_eq(bt_broken_line(hill, 3, on_hill[i][0]), on_hill[i][1]);
	}
}
END_TEST

START_TEST(test_node_resources_fit__edge_05_46_request_above_capacity)
{
	const char *nodes[2] = {NODE("n1", "'cpu':'1'"), NULL};
	const char *pod = POD("'cpu':'2'");

	check_score("least", STRATEGY("LeastAllocated", R("cpu", "1")), nodes, pod, "n1", 0);
	check_score("most", STRATEGY("MostAllocated", R("cpu", "1")), nodes, pod, "n1", 100);
	check_score("ratio", RATIO(R("cpu", "1"), P("0", "10") "," P("100", "7")), nodes, pod, "n1",
		70);
}
END_TEST

START_TEST(test_node_resources_fit__edge_05_47_resource_the_node_lacks)
{
	const char *nodes[2] = {NODE("n1", "'cpu':'4'"), NULL};

	check_score("gpu only", STRATEGY("MostAllocated", R("example.com/gpu", "1")), nodes,
		POD("'example.com/gpu':'1'"), "n1", 0);
	check_score("cpu decides",
		STRATEGY("MostAllocated", R("cpu", "1") "," R("example.com/gpu", "5")), nodes,
		POD("'cpu':'1','example.com/gpu':'1'"), "n1", 25);
	check_score("untracked names",
		STRATEGY("MostAllocated", R("cpu", "1") "," R("pods", "5") "," R("foo", "5")),
		nodes, POD("'cpu':'1','foo':'1'"), "n1", 25);
}
END_TEST

/* Spec 05 section 11.6: the pod's part ignores pod-level requests, the node's part honours them. */
START_TEST(test_node_resources_fit__score_ignores_pod_level_requests)
{
	const char *nodes[2] = {NODE("n1", "'cpu':'1000m'"), NULL};
	struct fixture fixture;

	check_score("container default", STRATEGY("MostAllocated", R("cpu", "1")), nodes,
		"{'spec':{'resources':{'requests':{'cpu':'500m'}},'containers':[{'name':'c'}]}}",
		"n1", 10);
	fixture_init_with(&fixture, &bt_node_resources_fit_plugin, NULL,
		STRATEGY("MostAllocated", R("cpu", "1")));
	fixture_add_node(&fixture, NODE("n1", "'cpu':'1000m'"));
	fixture_add_pod(&fixture,
		"{'spec':{'nodeName':'n1','resources':{'requests':{'cpu':'500m'}},'containers':[{'"
		"name':'c'}]}}");
	ck_assert_int_eq(fixture_score(&fixture, POD("'cpu':'100m'"), "n1"), 60);
	fixture_finish(&fixture);
}
END_TEST

static int64_t placement_score(struct fixture *fixture, uint32_t slot_count)
{
	const struct bt_pod_info *pods[2];
	struct bt_placement placement = {.name = BT_STR("p"), .count = slot_count};
	uint32_t slots[2];
	int64_t score = -1;
	struct bt_status status;

	for (uint32_t i = 0; i < slot_count; i++) {
		slots[i] = fixture_slot(fixture, i == 0 ? "n1" : "n2");
	}
	placement.slots = slots;
	pods[0] = fixture_pending(fixture, POD("'cpu':'1000m','memory':'1000'"));
	pods[1] = fixture_pending(fixture, POD("'cpu':'2000m','memory':'1000'"));
	status = fixture->plugin->ops->score_placement(
		fixture->plugin, &fixture->arena, &placement, pods, 2, &score);
	ck_assert_str_eq(fixture_status_text(fixture, status), "Success");
	return score;
}

START_TEST(test_node_resources_fit__edge_05_51_edge_09_39_placement)
{
	struct fixture fixture;

	fixture_init(&fixture, &bt_node_resources_fit_plugin);
	fixture_add_node(&fixture, NODE("n1", "'cpu':'5000m','memory':'5000'"));
	fixture_add_node(&fixture, NODE("n2", "'cpu':'5000m','memory':'5000'"));
	ck_assert_int_eq(placement_score(&fixture, 2), 25);
	fixture_add_pod(&fixture,
		"{'spec':{'nodeName':'n1','containers':[{'name':'c','resources':{'requests':{'cpu':"
		"'1000m','memory':'0'}}}]}}");
	ck_assert_int_eq(placement_score(&fixture, 2), 30);
	fixture_finish(&fixture);

	fixture_init_with(&fixture, &bt_node_resources_fit_plugin, NULL,
		STRATEGY("LeastAllocated", R("cpu", "4") "," R("memory", "1")));
	fixture_add_node(&fixture, NODE("n1", "'cpu':'5000m','memory':'5000'"));
	fixture_add_node(&fixture, NODE("n2", "'cpu':'5000m','memory':'5000'"));
	ck_assert_int_eq(placement_score(&fixture, 2), 28);
	fixture_finish(&fixture);

	/* No proposed pod requests the device, so the weight of the device does not count. */
	fixture_init_with(&fixture, &bt_node_resources_fit_plugin, NULL,
		STRATEGY("MostAllocated", CPU_MEMORY "," R("example.com/gpu", "8")));
	fixture_add_node(
		&fixture, NODE("n1", "'cpu':'5000m','memory':'5000','example.com/gpu':'4'"));
	fixture_add_node(
		&fixture, NODE("n2", "'cpu':'5000m','memory':'5000','example.com/gpu':'4'"));
	ck_assert_int_eq(placement_score(&fixture, 2), 25);
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_node_resources_fit__hostile_allocatable_does_not_trap)
{
	const char *nodes[2] = {NODE("n1",
					"'cpu':'-1','memory':'-9223372036854775807','example.com/"
					"a':'9223372036854775807'"),
		NULL};
	const char *pod = POD(
		"'cpu':'1','memory':'9223372036854775807','example.com/a':'9223372036854775807'");
	struct fixture fixture;
	int64_t score;

	fixture_init_with(&fixture, &bt_node_resources_fit_plugin, NULL,
		STRATEGY("MostAllocated", CPU_MEMORY "," R("example.com/a", "1")));
	fixture_add_node(&fixture, nodes[0]);
	fixture_expect("most", fixture_score_alone(&fixture, pod, "n1", &score), "Success");
	fixture_finish(&fixture);
	fixture_init_with(&fixture, &bt_node_resources_fit_plugin, NULL,
		RATIO(CPU_MEMORY "," R("example.com/a", "1"), P("0", "10") "," P("100", "0")));
	fixture_add_node(&fixture, nodes[0]);
	fixture_expect("ratio", fixture_score_alone(&fixture, pod, "n1", &score), "Success");
	fixture_finish(&fixture);
}
END_TEST

static void check_normalize(
	const int64_t *raw, const int64_t *plain, const int64_t *reversed, uint32_t count)
{
	int64_t scores[4];

	for (int reverse = 0; reverse < 2; reverse++) {
		const int64_t *expected = reverse ? reversed : plain;

		memcpy(scores, raw, count * sizeof(*raw));
		bt_default_normalize(scores, count, reverse != 0);
		for (uint32_t i = 0; i < count; i++) {
			ck_assert_int_eq(scores[i], expected[i]);
		}
	}
}

START_TEST(test_default_normalize__edge_05_57_scales_to_the_largest)
{
	check_normalize((const int64_t[]){1, 2, 3, 4}, (const int64_t[]){25, 50, 75, 100},
		(const int64_t[]){75, 50, 25, 0}, 4);
	check_normalize((const int64_t[]){1000, 10, 20, 30}, (const int64_t[]){100, 1, 2, 3},
		(const int64_t[]){0, 99, 98, 97}, 4);
	check_normalize(
		(const int64_t[]){0, 0}, (const int64_t[]){0, 0}, (const int64_t[]){100, 100}, 2);
	check_normalize((const int64_t[]){1000, 1, 1, 1}, (const int64_t[]){100, 0, 0, 0},
		(const int64_t[]){0, 100, 100, 100}, 4);
	check_normalize((const int64_t[]){0, 1, 1, 1}, (const int64_t[]){0, 100, 100, 100},
		(const int64_t[]){100, 0, 0, 0}, 4);
}
END_TEST

BT_TEST_MAIN("node_resources_fit_score", test_node_resources_fit__edge_05_41_strategies,
	test_node_resources_fit__edge_05_42_defaults_of_containers_without_requests,
	test_node_resources_fit__edge_05_43_extended_resource,
	test_node_resources_fit__edge_05_44_entries_of_zero,
	test_node_resources_fit__edge_05_45_broken_line,
	test_node_resources_fit__edge_05_46_request_above_capacity,
	test_node_resources_fit__edge_05_47_resource_the_node_lacks,
	test_node_resources_fit__score_ignores_pod_level_requests,
	test_node_resources_fit__edge_05_51_edge_09_39_placement,
	test_node_resources_fit__hostile_allocatable_does_not_trap,
	test_default_normalize__edge_05_57_scales_to_the_largest)
