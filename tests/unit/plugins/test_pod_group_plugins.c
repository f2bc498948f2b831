/* SPDX-License-Identifier: Apache-2.0 */
/** PodGroupPodsCount and TopologyPlacementGenerator. */
#include "fixture.h"
#include "plugins/common_pod_group.h"
#include "test_main.h"

#define NODE(name, labels) "{'metadata':{'name':'" name "','labels':{" labels "}}}"
#define MEMBER(node) "{'spec':{'nodeName':'" node "','schedulingGroup':{'podGroupName':'g'}}}"

static const char *normalize(struct fixture *fixture, int64_t *scores, uint32_t count)
{
	return fixture_status_text(fixture,
		fixture->plugin->ops->normalize_placement_scores(
			fixture->plugin, &fixture->arena, scores, count));
}

START_TEST(test_pod_group_pods_count__edge_05_58_edge_09_37_normalised_counts)
{
	int64_t three[] = {10, 50, 110};
	int64_t four[] = {100, 101, 102, 11};
	int64_t equal[] = {50, 50};
	int64_t none[] = {0, 0};
	struct fixture fixture;

	fixture_init(&fixture, &bt_pod_group_pods_count_plugin);
	fixture_expect("three", normalize(&fixture, three, 3), "Success");
	ck_assert_mem_eq(three, ((const int64_t[]){9, 45, 100}), sizeof(three));
	fixture_expect("four", normalize(&fixture, four, 4), "Success");
	ck_assert_mem_eq(four, ((const int64_t[]){98, 99, 100, 10}), sizeof(four));
	fixture_expect("equal", normalize(&fixture, equal, 2), "Success");
	ck_assert_mem_eq(equal, ((const int64_t[]){100, 100}), sizeof(equal));
	fixture_expect("none", normalize(&fixture, none, 2),
		"Error: no pods from pod group are assigned to any of the candidate placements");
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_pod_group_pods_count__edge_09_38_counts_scheduled_and_proposed)
{
	struct fixture fixture;
	const struct bt_pod_info *pods[2];
	struct bt_placement placement = {.name = BT_STR("p")};
	int64_t score = -1;
	struct bt_status status;

	fixture_init(&fixture, &bt_pod_group_pods_count_plugin);
	fixture_add_node(&fixture, NODE("n", ""));
	fixture_add_pod(&fixture, MEMBER("n"));
	fixture_add_pod(&fixture, MEMBER("n"));
	struct bt_pod assumed = *fixture_pending(&fixture, MEMBER(""))->object;
	assumed.spec.node_name = BT_STR("n");
	ck_assert_int_eq(bt_state_assume_pod(fixture.state, &assumed, NULL), 0);
	ck_assert_int_eq(bt_state_refresh_snapshot(fixture.state, NULL), 0);
	fixture_add_pod(&fixture,
		"{'metadata':{'namespace':'x'},'spec':{'nodeName':'n','schedulingGroup':{'"
		"podGroupName':'g'}}}");
	fixture_add_pod(
		&fixture, "{'spec':{'nodeName':'n','schedulingGroup':{'podGroupName':'h'}}}");
	fixture_add_pod(&fixture, "{'spec':{'nodeName':'n'}}");
	pods[0] = fixture_pending(&fixture, MEMBER(""));
	pods[1] = fixture_pending(&fixture, MEMBER(""));
	status = fixture.plugin->ops->score_placement(
		fixture.plugin, &fixture.arena, &placement, pods, 2, &score);
	ck_assert_str_eq(fixture_status_text(&fixture, status), "Success");
	ck_assert_int_eq(score, 5);
	fixture_finish(&fixture);
}
END_TEST

/** Returns placements of group default/g by label "zone" over the given nodes, as "z1:a,b z2:c". */
static const char *placements(struct fixture *fixture, const char *const *names, uint32_t count)
{
	uint32_t *slots = BT_ARENA_NEW_ARRAY(&fixture->arena, uint32_t, count);
	struct bt_placement parent = {.slots = slots, .count = count};
	const struct bt_placement *found = NULL;
	struct bt_strbuf text = {0};
	uint32_t found_count = 0;
	struct bt_status status;
	struct bt_str result;

	for (uint32_t i = 0; i < count; i++) {
		slots[i] = fixture_slot(fixture, names[i]);
	}
	status = bt_pod_group_topology_placements(fixture->state, BT_STR("zone"), BT_STR("default"),
		BT_STR("g"), &parent, &fixture->arena, &found, &found_count);
	if (!bt_status_is_success(&status)) {
		return fixture_status_text(fixture, status);
	}
	for (uint32_t i = 0; i < found_count; i++) {
		bt_strbuf_printf(&text, "%s%.*s:", i > 0 ? " " : "", BT_STR_ARG(found[i].name));
		for (uint32_t k = 0; k < found[i].count; k++) {
			bt_strbuf_printf(&text, "%s%.*s", k > 0 ? "," : "",
				BT_STR_ARG(bt_node_table_name(
					&fixture->state->nodes, found[i].slots[k])));
		}
	}
	result = bt_arena_str(&fixture->arena, bt_strbuf_str(&text));
	bt_strbuf_finish(&text);
	return result.data;
}

static void init_zones(struct fixture *fixture)
{
	fixture_init(fixture, &bt_topology_placement_generator_plugin);
	fixture_add_node(fixture, NODE("a", "'zone':'z1'"));
	fixture_add_node(fixture, NODE("b", "'zone':'z2'"));
	fixture_add_node(fixture, NODE("c", "'zone':'z1'"));
	fixture_add_node(fixture, NODE("d", ""));
	fixture_add_node(fixture, NODE("e", "'zone':'z3'"));
	(void)fixture_pending(fixture, MEMBER("")); /* the group is known by its member pods */
}

START_TEST(test_topology_placement_generator__edge_05_59_edge_09_32_34_domains)
{
	static const char *const parent[] = {"b", "c", "a", "d"};
	struct fixture fixture;

	init_zones(&fixture);
	fixture_expect("by zone", placements(&fixture, parent, 4), "z1:c,a z2:b");
	fixture_add_pod(&fixture, MEMBER("b"));
	fixture_expect("a member is in z2", placements(&fixture, parent, 4), "z2:b");
	fixture_finish(&fixture);

	init_zones(&fixture);
	fixture_add_pod(&fixture, MEMBER("a"));
	fixture_add_pod(&fixture, MEMBER("c"));
	fixture_expect("two are in z1", placements(&fixture, parent, 4), "z1:c,a");
	fixture_finish(&fixture);

	init_zones(&fixture);
	fixture_add_pod(&fixture, MEMBER("a"));
	fixture_add_pod(&fixture, MEMBER("b"));
	fixture_expect("two domains", placements(&fixture, parent, 4),
		"Error: cannot determine domain for already scheduled pods: more than 1 domain "
		"found for pod group: z1, z2");
	fixture_finish(&fixture);

	init_zones(&fixture);
	fixture_add_pod(&fixture, MEMBER("e"));
	fixture_expect("nothing left", placements(&fixture, parent, 4), "");
	fixture_finish(&fixture);

	init_zones(&fixture);
	fixture_add_pod(&fixture,
		"{'metadata':{'name':'p'},'spec':{'nodeName':'d','schedulingGroup':{'podGroupName':"
		"'g'}}}");
	fixture_expect("no label", placements(&fixture, parent, 4),
		"Error: cannot determine domain for already scheduled pods: no topology domain "
		"found for pod default/p");
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_topology_placement_generator__edge_09_34_pod_on_an_unknown_node)
{
	static const char *const parent[] = {"a"};
	struct fixture fixture;

	init_zones(&fixture);
	fixture_add_pod(&fixture,
		"{'metadata':{'name':'p'},'spec':{'nodeName':'gone','schedulingGroup':{'"
		"podGroupName':'g'}}}");
	fixture_expect("unknown node", placements(&fixture, parent, 1),
		"Error: cannot determine domain for already scheduled pods: getting node for pod "
		"default/p: "
		"nodeinfo not found for node name \"gone\"");
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_topology_placement_generator__unknown_group)
{
	struct fixture fixture;
	struct bt_placement parent = {0};
	const struct bt_placement *found = NULL;
	uint32_t count = 0;

	init_zones(&fixture);
	fixture_expect("no such object",
		fixture_status_text(&fixture,
			fixture.plugin->ops->generate_placements(fixture.plugin, &fixture.arena,
				BT_STR("default"), BT_STR("g"), &parent, &found, &count)),
		"Error: podgroup.scheduling.k8s.io \"g\" not found");
	fixture_finish(&fixture);
}
END_TEST

BT_TEST_MAIN("pod_group_plugins",
	test_pod_group_pods_count__edge_05_58_edge_09_37_normalised_counts,
	test_pod_group_pods_count__edge_09_38_counts_scheduled_and_proposed,
	test_topology_placement_generator__edge_05_59_edge_09_32_34_domains,
	test_topology_placement_generator__edge_09_34_pod_on_an_unknown_node,
	test_topology_placement_generator__unknown_group)
