/* SPDX-License-Identifier: Apache-2.0 */
#include "test_main.h"

#include "cluster/tree.h"
#include "workload_world.h"

#define KEY "default/web"
#define DEPLOYMENT(strategy) \
	"{'metadata':{'name':'web'},'spec':{'replicas':3," strategy \
	"'selector':{'matchLabels':{'app':'web'}}," \
	"'template':{'metadata':{'labels':{'app':'web'}}," \
	"'spec':{'containers':[{'name':'c','image':'i:1'}]}}}}"
#define IMAGE(name) \
	"{'spec':{'template':{'spec':{'containers':[{'name':'c','image':'" name "'}]}}}}"

static int64_t number(struct world *world, const char *path)
{
	return world_int(world, "apps", "deployments", KEY, path);
}

static struct bt_str condition(struct world *world, const char *type, const char *member)
{
	return world_condition(world, "apps", "deployments", KEY, type, member);
}

static void check_complete(struct world *world, int64_t replicas)
{
	ck_assert_int_eq(number(world, "status.replicas"), replicas);
	ck_assert_int_eq(number(world, "status.updatedReplicas"), replicas);
	ck_assert_int_eq(number(world, "status.readyReplicas"), replicas);
	ck_assert_int_eq(number(world, "status.availableReplicas"), replicas);
	ck_assert_int_eq(number(world, "status.unavailableReplicas"), 0);
	ck_assert_int_eq(
		number(world, "status.observedGeneration"), number(world, "metadata.generation"));
	ck_assert(bt_str_equal_c(
		condition(world, "Progressing", "reason"), "NewReplicaSetAvailable"));
	ck_assert(bt_str_equal_c(
		condition(world, "Available", "reason"), "MinimumReplicasAvailable"));
}

START_TEST(test_deployment__makes_a_set_and_reports)
{
	struct world world;
	struct bt_str sets[4];
	const struct bt_json_value *set;

	world_init(&world);
	world_create(&world, "apps", "deployments", DEPLOYMENT(""), 201);
	world_settle(&world);
	check_complete(&world, 3);
	ck_assert_uint_eq(world_list(&world, "apps", "replicasets", NULL, NULL, sets, 4), 1);
	set = world_get(&world, "apps", "replicasets", sets[0].data);
	ck_assert(
		bt_str_equal_c(bt_tree_annotation(set, "deployment.kubernetes.io/revision"), "1"));
	ck_assert(bt_str_equal_c(
		bt_tree_annotation(set, "deployment.kubernetes.io/desired-replicas"), "3"));
	ck_assert(bt_str_equal_c(
		bt_tree_annotation(set, "deployment.kubernetes.io/max-replicas"), "4"));
	ck_assert(bt_str_has_suffix(sets[0], bt_tree_label(set, "pod-template-hash")));
	ck_assert(bt_str_equal_c(bt_tree_annotation(world_get(&world, "apps", "deployments", KEY),
					 "deployment.kubernetes.io/revision"),
		"1"));
	world_finish(&world);
}
END_TEST

static void check_bounds(struct world *world)
{
	int64_t active = world_active_pods(world);
	int64_t ready = world_ready_pods(world);

	ck_assert_msg(active <= world->most, "%d pods", (int)active);
	ck_assert_msg(ready >= world->least, "%d ready pods", (int)ready);
}

START_TEST(test_deployment__edge_14b_26_rolls_by_a_quarter)
{
	struct world world;
	struct bt_str sets[4];

	world_init(&world);
	world_create(&world, "apps", "deployments", DEPLOYMENT(""), 201);
	world_settle(&world);
	world.most = 4;
	world.least = 3;
	world.check = check_bounds;
	world_patch(&world, "apps", "deployments", KEY, BT_SUBRESOURCE_NONE, IMAGE("i:2"));
	world_settle(&world);
	check_complete(&world, 3);
	ck_assert_uint_eq(world_list(&world, "apps", "replicasets", NULL, NULL, sets, 4), 2);
	ck_assert_uint_eq(world_active_pods(&world), 3);
	ck_assert(bt_str_equal_c(bt_tree_annotation(world_get(&world, "apps", "deployments", KEY),
					 "deployment.kubernetes.io/revision"),
		"2"));
	world_finish(&world);
}
END_TEST

START_TEST(test_deployment__no_surge_then_some_are_missing)
{
	struct world world;

	world_init(&world);
	world_create(&world, "apps", "deployments",
		DEPLOYMENT("'strategy':{'type':'RollingUpdate','rollingUpdate':"
			   "{'maxSurge':0,'maxUnavailable':2}},"),
		201);
	world_settle(&world);
	world.most = 3;
	world.least = 1;
	world.check = check_bounds;
	world_patch(&world, "apps", "deployments", KEY, BT_SUBRESOURCE_NONE, IMAGE("i:2"));
	world_settle(&world);
	check_complete(&world, 3);
	world_finish(&world);
}
END_TEST

static void check_one_revision(struct world *world)
{
	struct bt_str keys[16];
	uint32_t count = world_list(world, "", "pods", NULL, NULL, keys, 16);
	struct bt_str first = BT_STR("");

	for (uint32_t i = 0; i < count; i++) {
		struct bt_str hash = bt_tree_label(
			world_get(world, "", "pods", keys[i].data), "pod-template-hash");
		first = i == 0 ? hash : first;
		ck_assert(bt_str_equal(first, hash));
	}
}

START_TEST(test_deployment__recreate_waits_for_old_pods_to_go)
{
	struct world world;

	world_init(&world);
	world_create(
		&world, "apps", "deployments", DEPLOYMENT("'strategy':{'type':'Recreate'},"), 201);
	world_settle(&world);
	world.check = check_one_revision;
	world_patch(&world, "apps", "deployments", KEY, BT_SUBRESOURCE_NONE, IMAGE("i:2"));
	world_settle(&world);
	check_complete(&world, 3);
	world_finish(&world);
}
END_TEST

START_TEST(test_deployment__undo_reuses_the_old_set)
{
	struct world world;
	struct bt_str sets[4];
	struct bt_str history = BT_STR("");

	world_init(&world);
	world_create(&world, "apps", "deployments", DEPLOYMENT(""), 201);
	world_settle(&world);
	world_patch(&world, "apps", "deployments", KEY, BT_SUBRESOURCE_NONE, IMAGE("i:2"));
	world_settle(&world);
	world_patch(&world, "apps", "deployments", KEY, BT_SUBRESOURCE_NONE, IMAGE("i:1"));
	world_settle(&world);
	check_complete(&world, 3);
	ck_assert_uint_eq(world_list(&world, "apps", "replicasets", NULL, NULL, sets, 4), 2);
	for (uint32_t i = 0; i < 2; i++) {
		const struct bt_json_value *set =
			world_get(&world, "apps", "replicasets", sets[i].data);
		if (bt_str_equal_c(
			    bt_tree_annotation(set, "deployment.kubernetes.io/revision"), "3")) {
			history = bt_tree_annotation(
				set, "deployment.kubernetes.io/revision-history");
			ck_assert_int_eq(bt_json_int64_at(set, "spec.replicas", 0), 3);
		}
	}
	ck_assert(bt_str_equal_c(history, "1"));
	world_finish(&world);
}
END_TEST

START_TEST(test_deployment__scales_up_and_down)
{
	struct world world;

	world_init(&world);
	world_create(&world, "apps", "deployments", DEPLOYMENT(""), 201);
	world_settle(&world);
	world_patch(&world, "apps", "deployments", KEY, BT_SUBRESOURCE_NONE,
		"{'spec':{'replicas':10}}");
	world_settle(&world);
	check_complete(&world, 10);
	world_patch(
		&world, "apps", "deployments", KEY, BT_SUBRESOURCE_NONE, "{'spec':{'replicas':0}}");
	world_settle(&world);
	ck_assert_uint_eq(world_active_pods(&world), 0);
	ck_assert_int_eq(number(&world, "status.replicas"), 0);
	world_finish(&world);
}
END_TEST

START_TEST(test_deployment__scales_in_proportion_during_a_rollout)
{
	struct world world;

	world_init(&world);
	world_create(&world, "apps", "deployments", DEPLOYMENT(""), 201);
	world_patch(&world, "apps", "deployments", KEY, BT_SUBRESOURCE_NONE,
		"{'spec':{'replicas':10}}");
	world_settle(&world);
	world.hold_new_pods = true;
	world_patch(&world, "apps", "deployments", KEY, BT_SUBRESOURCE_NONE, IMAGE("i:2"));
	world_settle(&world);
	/* maxSurge is 3, maxUnavailable is 2: eight old pods and five new pods. */
	ck_assert_int_eq(number(&world, "status.replicas"), 13);
	ck_assert_int_eq(number(&world, "status.updatedReplicas"), 5);
	world_patch(&world, "apps", "deployments", KEY, BT_SUBRESOURCE_NONE,
		"{'spec':{'replicas':20}}");
	world_settle(&world);
	ck_assert_int_eq(number(&world, "status.replicas"), 25);
	ck_assert_int_ge(number(&world, "status.updatedReplicas"), 9);
	world.hold_new_pods = false;
	world_settle(&world);
	check_complete(&world, 20);
	world_finish(&world);
}
END_TEST

START_TEST(test_deployment__deadline_exceeded)
{
	struct world world;

	world_init(&world);
	world.hold_new_pods = true;
	world_create(
		&world, "apps", "deployments", DEPLOYMENT("'progressDeadlineSeconds':60,"), 201);
	world_settle(&world);
	ck_assert(bt_str_equal_c(condition(&world, "Progressing", "status"), "True"));
	ck_assert(bt_str_equal_c(condition(&world, "Available", "status"), "False"));
	world_advance(&world, 62);
	world_settle(&world);
	ck_assert(bt_str_equal_c(condition(&world, "Progressing", "status"), "False"));
	ck_assert(bt_str_equal_c(
		condition(&world, "Progressing", "reason"), "ProgressDeadlineExceeded"));
	world.hold_new_pods = false;
	world_settle(&world);
	check_complete(&world, 3);
	world_finish(&world);
}
END_TEST

START_TEST(test_deployment__paused_does_not_roll)
{
	struct world world;
	struct bt_str sets[4];

	world_init(&world);
	world_create(&world, "apps", "deployments", DEPLOYMENT(""), 201);
	world_settle(&world);
	world_patch(&world, "apps", "deployments", KEY, BT_SUBRESOURCE_NONE,
		"{'spec':{'paused':true}}");
	world_patch(&world, "apps", "deployments", KEY, BT_SUBRESOURCE_NONE, IMAGE("i:2"));
	world_settle(&world);
	ck_assert_uint_eq(world_list(&world, "apps", "replicasets", NULL, NULL, sets, 4), 1);
	ck_assert(bt_str_equal_c(condition(&world, "Progressing", "reason"), "DeploymentPaused"));
	world_patch(&world, "apps", "deployments", KEY, BT_SUBRESOURCE_NONE,
		"{'spec':{'paused':null}}");
	world_settle(&world);
	check_complete(&world, 3);
	world_finish(&world);
}
END_TEST

START_TEST(test_deployment__history_is_limited)
{
	static const char *const images[] = {
		IMAGE("i:2"), IMAGE("i:3"), IMAGE("i:4"), IMAGE("i:5")};
	struct world world;
	struct bt_str sets[8];

	world_init(&world);
	world_create(&world, "apps", "deployments", DEPLOYMENT("'revisionHistoryLimit':2,"), 201);
	world_settle(&world);
	for (size_t i = 0; i < BT_ARRAY_LENGTH(images); i++) {
		world_advance(&world, 5);
		world_patch(&world, "apps", "deployments", KEY, BT_SUBRESOURCE_NONE, images[i]);
		world_settle(&world);
	}
	ck_assert_uint_eq(world_list(&world, "apps", "replicasets", NULL, NULL, sets, 8), 3);
	world_finish(&world);
}
END_TEST

BT_TEST_MAIN("deployment", test_deployment__makes_a_set_and_reports,
	test_deployment__edge_14b_26_rolls_by_a_quarter,
	test_deployment__no_surge_then_some_are_missing,
	test_deployment__recreate_waits_for_old_pods_to_go,
	test_deployment__undo_reuses_the_old_set, test_deployment__scales_up_and_down,
	test_deployment__scales_in_proportion_during_a_rollout, test_deployment__deadline_exceeded,
	test_deployment__paused_does_not_roll, test_deployment__history_is_limited)
