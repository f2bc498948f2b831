/* SPDX-License-Identifier: Apache-2.0 */
#include "planning/capacity.h"
#include "cli_test.h"

#define NODE(name, cpu) \
	"---\napiVersion: v1\nkind: Node\nmetadata: {name: " name "}\n" \
	"status: {capacity: {cpu: '" cpu "', memory: 8Gi, pods: '10'}}\n"
#define WEB \
	"---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: shop}\n" \
	"spec: {replicas: 2, template: {metadata: {labels: {app: web}}, spec: {containers: " \
	"[{name: " \
	"c, resources: {requests: {cpu: 500m}}}]}}}\n"
#define LONE \
	"---\napiVersion: v1\nkind: Pod\nmetadata: {name: lone, namespace: shop}\n" \
	"spec: {containers: [{name: c, resources: {requests: {cpu: '1'}}}]}\n"

/** A cluster, and a capacity question with its answer. */
struct fixture {
	struct bt_manifests cluster;
	struct bt_capacity_specs specs;
	struct bt_setup setup;
	struct bt_capacity_answer answer;
};

static void start(struct fixture *fixture, const char *text)
{
	const struct bt_setup setup = BT_SETUP_INIT;
	*fixture = (struct fixture){.setup = setup};
	bt_manifests_init(&fixture->cluster);
	fixture->specs = (struct bt_capacity_specs){.cluster = &fixture->cluster};
	read_text(&fixture->cluster, text);
}

static void like(struct fixture *fixture, const char *name)
{
	struct berth_error err = BERTH_ERROR_INIT;
	int result = bt_capacity_specs_like(&fixture->specs, name, &err);
	ck_assert_msg(result == 0, "%s", berth_error_message(&err));
}

static int ask(struct fixture *fixture, uint32_t max, struct berth_error *err)
{
	const struct bt_capacity_question question = {
		.cluster = &fixture->cluster,
		.create = bt_setup_scheduler,
		.create_context = &fixture->setup,
		.specs = fixture->specs.list.items,
		.spec_count = fixture->specs.list.count,
		.max = max,
	};
	return bt_capacity_compute(&question, &fixture->answer, err);
}

static void finish(struct fixture *fixture)
{
	bt_capacity_answer_finish(&fixture->answer);
	bt_capacity_specs_finish(&fixture->specs);
	bt_manifests_finish(&fixture->cluster);
	bt_setup_finish(&fixture->setup);
}

START_TEST(test_capacity__counts_copies_by_node)
{
	struct fixture fixture;
	struct berth_error err = BERTH_ERROR_INIT;
	start(&fixture, NODE("n2", "1") NODE("n1", "2") WEB);
	like(&fixture, "deployment/web");
	uint32_t objects = fixture.cluster.objects.count;
	ck_assert_int_eq(ask(&fixture, 100, &err), 0);
	const struct bt_capacity_member *member = &fixture.answer.members[0];
	ck_assert_uint_eq(member->copies, 6);
	ck_assert(bt_str_equal_c(fixture.answer.nodes[0].name, "n1"));
	ck_assert_uint_eq(member->on_nodes[0], 4);
	ck_assert_uint_eq(member->on_nodes[1], 2);
	ck_assert_str_eq(member->stop.type, "Unschedulable");
	ck_assert(bt_str_has_prefix(
		member->stop.message, BT_STR("0/2 nodes are available: 2 Insufficient cpu.")));
	ck_assert(bt_str_equal_c(member->stop.hint, "cpu: less than 500m is left on 2 of 2 nodes"));
	ck_assert_uint_eq(member->stop.reasons.count, 1);
	ck_assert_uint_eq(member->stop.reasons.items[0].node_count, 2);
	ck_assert_int_eq(fixture.answer.totals[1].after, 3000);
	/*
	 * The question must not change the cluster, so a second question gets the answer for the
	 * same cluster.
	 */
	ck_assert_uint_eq(fixture.cluster.objects.count, objects);
	bt_capacity_answer_finish(&fixture.answer);
	ck_assert_int_eq(ask(&fixture, 5, &err), 0);
	ck_assert_uint_eq(fixture.answer.copies, 5);
	ck_assert_str_eq(fixture.answer.members[0].stop.type, "LimitReached");
	finish(&fixture);
}
END_TEST

START_TEST(test_capacity__a_mix_takes_turns)
{
	struct fixture fixture;
	struct berth_error err = BERTH_ERROR_INIT;
	start(&fixture, NODE("n1", "4") WEB LONE);
	like(&fixture, "deployment/web");
	like(&fixture, "lone");
	ck_assert_int_eq(bt_capacity_specs_weigh(&fixture.specs, "web=3", &err), 0);
	ck_assert_int_eq(ask(&fixture, 100, &err), 0);
	/*
	 * 4 cpus hold one round (3 pods of 500m and one pod of 1 cpu) and the 3 pods of 500m of the
	 * next round. Then the node is full.
	 */
	ck_assert_uint_eq(fixture.answer.members[0].copies, 6);
	ck_assert_uint_eq(fixture.answer.members[1].copies, 1);
	ck_assert_uint_eq(fixture.answer.round_count, 1);
	ck_assert_uint_eq(fixture.answer.members[1].stop.total, 7);
	finish(&fixture);
}
END_TEST

START_TEST(test_capacity__the_same_workload_twice_is_no_mix)
{
	struct fixture fixture;
	struct berth_error err = BERTH_ERROR_INIT;
	start(&fixture, NODE("n1", "4") WEB);
	like(&fixture, "deploy/web");
	like(&fixture, "deployment/shop/web");
	ck_assert_int_eq(ask(&fixture, 100, &err), BERTH_ERR_INVALID);
	ck_assert_str_eq(berth_error_message(&err),
		"two pod specs of a mix are the same Deployment: give it a larger weight instead");
	berth_error_finish(&err);
	finish(&fixture);
}
END_TEST

START_TEST(test_capacity__a_cluster_without_nodes)
{
	struct fixture fixture;
	struct berth_error err = BERTH_ERROR_INIT;
	start(&fixture, WEB);
	like(&fixture, "deployment/web");
	ck_assert_int_eq(ask(&fixture, 100, &err), BERTH_ERR_NOT_FOUND);
	ck_assert_str_eq(berth_error_message(&err),
		"the cluster has no nodes: name files that have some with -f");
	berth_error_finish(&err);
	finish(&fixture);
}
END_TEST

BT_TEST_MAIN("capacity", test_capacity__counts_copies_by_node, test_capacity__a_mix_takes_turns,
	test_capacity__the_same_workload_twice_is_no_mix, test_capacity__a_cluster_without_nodes)
