/* SPDX-License-Identifier: Apache-2.0 */
#include "test_main.h"

#include "cluster/tree.h"
#include "refusal.h"
#include "workload_world.h"

#define SET \
	"{'metadata':{'name':'web'},'spec':{'replicas':3,'selector':{'matchLabels':{'app':'web'}}" \
	"," \
	"'template':{'metadata':{'labels':{'app':'web'}}," \
	"'spec':{'containers':[{'name':'c','image':'i:1'}]}}}}"

START_TEST(test_replica_set__scales_up_and_counts)
{
	struct world world;

	world_init(&world);
	world_create(&world, "apps", "replicasets", SET, 201);
	world_settle(&world);
	ck_assert_uint_eq(world_active_pods(&world), 3);
	ck_assert_int_eq(
		world_int(&world, "apps", "replicasets", "default/web", "status.replicas"), 3);
	ck_assert_int_eq(
		world_int(&world, "apps", "replicasets", "default/web", "status.readyReplicas"), 3);
	ck_assert_int_eq(
		world_int(&world, "apps", "replicasets", "default/web", "status.availableReplicas"),
		3);
	ck_assert_int_eq(world_int(&world, "apps", "replicasets", "default/web",
				 "status.fullyLabeledReplicas"),
		3);
	ck_assert_uint_eq(world_list(&world, "", "events", NULL, NULL, NULL, 0), 3);
	world_finish(&world);
}
END_TEST

START_TEST(test_replica_set__edge_14b_24_ready_pod_stays)
{
	struct world world;
	struct bt_str keys[8];

	world_init(&world);
	world.hold_new_pods = true;
	world_create(&world, "apps", "replicasets", SET, 201);
	world_run(&world);
	ck_assert_uint_eq(world_list(&world, "", "pods", NULL, NULL, keys, 8), 3);
	/* One pod is unassigned, one runs, one is ready; scaling down keeps the ready pod. */
	world_create(&world, "", "pods",
		"{'metadata':{'name':'x'},'spec':{'containers':[{'name':'c','image':'i:1'}]}}",
		201);
	world.hold_new_pods = false;
	world_delete(&world, "", "pods", "default/x");
	world.hold_new_pods = true;
	world_set_pod(&world, keys[1].data, "Running", false);
	world_set_pod(&world, keys[2].data, "Running", true);
	world_patch(&world, "apps", "replicasets", "default/web", BT_SUBRESOURCE_NONE,
		"{'spec':{'replicas':1}}");
	world_settle(&world);
	ck_assert_uint_eq(world_active_pods(&world), 1);
	ck_assert_ptr_nonnull(world_get(&world, "", "pods", keys[2].data));
	world_finish(&world);
}
END_TEST

START_TEST(test_replica_set__edge_14b_25_failed_pod_is_replaced_not_removed)
{
	struct world world;
	struct bt_str keys[8];

	world_init(&world);
	world_create(&world, "apps", "replicasets", SET, 201);
	world_settle(&world);
	ck_assert_uint_eq(world_list(&world, "", "pods", NULL, NULL, keys, 8), 3);
	world_set_pod(&world, keys[0].data, "Failed", false);
	world_settle(&world);
	ck_assert_uint_eq(world_list(&world, "", "pods", NULL, NULL, keys, 8), 4);
	ck_assert_uint_eq(world_active_pods(&world), 3);
	world_finish(&world);
}
END_TEST

START_TEST(test_replica_set__adopts_and_releases_by_labels)
{
	struct world world;
	struct bt_str keys[8];

	world_init(&world);
	world_create(&world, "", "pods",
		"{'metadata':{'name':'mine','labels':{'app':'web'}},"
		"'spec':{'containers':[{'name':'c','image':'i:1'}]}}",
		201);
	world_create(&world, "apps", "replicasets", SET, 201);
	world_settle(&world);
	ck_assert_uint_eq(world_list(&world, "", "pods", NULL, NULL, keys, 8), 3);
	ck_assert_ptr_nonnull(
		bt_controller_owner_of(world_get(&world, "", "pods", "default/mine")));
	world_patch(&world, "", "pods", "default/mine", BT_SUBRESOURCE_NONE,
		"{'metadata':{'labels':{'app':'other'}}}");
	world_settle(&world);
	ck_assert_ptr_null(bt_controller_owner_of(world_get(&world, "", "pods", "default/mine")));
	ck_assert_uint_eq(world_list(&world, "", "pods", "app", "web", keys, 8), 3);
	world_finish(&world);
}
END_TEST

START_TEST(test_replica_set__refused_release_is_tried_again)
{
	struct world world;
	struct bt_str keys[8];

	world_init(&world);
	world_create(&world, "apps", "replicasets", SET, 201);
	world_settle(&world);
	ck_assert_uint_eq(world_list(&world, "", "pods", NULL, NULL, keys, 8), 3);
	const char *pod = bt_arena_str(&world.arena, keys[0]).data;
	refusal_begin(world.api, "", "pods", "UPDATE",
		"has(object.metadata.ownerReferences) && "
		"object.metadata.ownerReferences.size() > 0");
	world_patch(&world, "", "pods", pod, BT_SUBRESOURCE_NONE,
		"{'metadata':{'labels':{'app':'other'}}}");
	world_settle(&world);
	ck_assert_ptr_nonnull(bt_controller_owner_of(world_get(&world, "", "pods", pod)));
	refusal_end(world.api);
	world_advance(&world, 2000);
	world_settle(&world);
	ck_assert_ptr_null(bt_controller_owner_of(world_get(&world, "", "pods", pod)));
	ck_assert_uint_eq(world_list(&world, "", "pods", "app", "web", keys, 8), 3);
	world_finish(&world);
}
END_TEST

START_TEST(test_replica_set__refused_adoption_is_tried_again)
{
	struct world world;
	struct bt_str keys[8];

	world_init(&world);
	world_create(&world, "", "pods",
		"{'metadata':{'name':'mine','labels':{'app':'web'}},"
		"'spec':{'containers':[{'name':'c','image':'i:1'}]}}",
		201);
	world_advance(&world, 2000);
	refusal_begin(world.api, "", "pods", "UPDATE", "!has(object.metadata.ownerReferences)");
	world_create(&world, "apps", "replicasets", SET, 201);
	world_settle(&world);
	ck_assert_ptr_null(bt_controller_owner_of(world_get(&world, "", "pods", "default/mine")));
	refusal_end(world.api);
	world_advance(&world, 2000);
	world_settle(&world);
	ck_assert_ptr_nonnull(
		bt_controller_owner_of(world_get(&world, "", "pods", "default/mine")));
	ck_assert_uint_eq(world_list(&world, "", "pods", "app", "web", keys, 8), 3);
	world_finish(&world);
}
END_TEST

START_TEST(test_replica_set__min_ready_seconds_delay_availability)
{
	struct world world;

	world_init(&world);
	world_create(&world, "apps", "replicasets", SET, 201);
	world_patch(&world, "apps", "replicasets", "default/web", BT_SUBRESOURCE_NONE,
		"{'spec':{'minReadySeconds':10}}");
	world_settle(&world);
	ck_assert_int_eq(
		world_int(&world, "apps", "replicasets", "default/web", "status.readyReplicas"), 3);
	ck_assert_int_eq(
		world_int(&world, "apps", "replicasets", "default/web", "status.availableReplicas"),
		0);
	world_advance(&world, 10);
	world_settle(&world);
	ck_assert_int_eq(
		world_int(&world, "apps", "replicasets", "default/web", "status.availableReplicas"),
		3);
	world_finish(&world);
}
END_TEST

START_TEST(test_replica_set__refused_pods_are_reported_and_tried_again_later)
{
	struct world world;

	world_init(&world);
	/* Pods of this priority class cannot be created, since the class does not exist. */
	world_create(&world, "apps", "replicasets",
		"{'metadata':{'name':'web'},'spec':{'replicas':8,'selector':{'matchLabels':"
		"{'app':'web'}},'template':{'metadata':{'labels':{'app':'web'}},'spec':"
		"{'priorityClassName':'nope','containers':[{'name':'c','image':'i:1'}]}}}}",
		201);
	world_run(&world);
	ck_assert_uint_eq(world_active_pods(&world), 0);
	ck_assert(bt_str_equal_c(world_condition(&world, "apps", "replicasets", "default/web",
					 "ReplicaFailure", "reason"),
		"FailedCreate"));
	/*
	 * Two events for two failed creations: the first batch has one pod, and the status update
	 * causes a second attempt.
	 */
	ck_assert_uint_eq(world_list(&world, "", "events", NULL, NULL, NULL, 0), 2);
	ck_assert_int_gt(bt_controllers_run(world.controllers, world.now_ns), world.now_ns);
	world_create(&world, "scheduling.k8s.io", "priorityclasses",
		"{'metadata':{'name':'nope'},'value':5}", 201);
	world_advance(&world, 2000);
	world_settle(&world);
	ck_assert_uint_eq(world_active_pods(&world), 8);
	ck_assert(bt_str_equal_c(world_condition(&world, "apps", "replicasets", "default/web",
					 "ReplicaFailure", "reason"),
		""));
	world_finish(&world);
}
END_TEST

START_TEST(test_replica_set__many_pods_come_in_bursts)
{
	struct world world;

	world_init(&world);
	world_create(&world, "apps", "replicasets", SET, 201);
	world_patch(&world, "apps", "replicasets", "default/web", BT_SUBRESOURCE_NONE,
		"{'spec':{'replicas':1200}}");
	(void)bt_controllers_run(world.controllers, world.now_ns);
	ck_assert_uint_eq(world_list(&world, "", "pods", NULL, NULL, NULL, 0), 500);
	world_settle(&world);
	ck_assert_int_eq(
		world_int(&world, "apps", "replicasets", "default/web", "status.readyReplicas"),
		1200);
	/* Events of one object are limited: a burst of 25, then one every five minutes. */
	ck_assert_uint_eq(world_list(&world, "", "events", NULL, NULL, NULL, 0), 25);
	world_finish(&world);
}
END_TEST

START_TEST(test_replication_controller__keeps_its_number)
{
	struct world world;

	world_init(&world);
	world_create(&world, "", "replicationcontrollers",
		"{'metadata':{'name':'rc'},'spec':{'replicas':2,'selector':{'app':'rc'},"
		"'template':{'metadata':{'labels':{'app':'rc'}},"
		"'spec':{'containers':[{'name':'c','image':'i:1'}]}}}}",
		201);
	world_settle(&world);
	ck_assert_int_eq(world_int(&world, "", "replicationcontrollers", "default/rc",
				 "status.readyReplicas"),
		2);
	world_finish(&world);
}
END_TEST

START_TEST(test_replicas__order_of_deletion)
{
	const struct bt_indexed_pod rows[] = {
		/* In the order of deletion, first to last. */
		{.uid = BT_STR_INIT("a"), .node_name = BT_STR_INIT(""), .phase = BT_POD_RUNNING},
		{.uid = BT_STR_INIT("b"), .node_name = BT_STR_INIT("n"), .phase = BT_POD_PENDING},
		{.uid = BT_STR_INIT("c"), .node_name = BT_STR_INIT("n"), .phase = BT_POD_UNKNOWN},
		{.uid = BT_STR_INIT("d"), .node_name = BT_STR_INIT("n"), .phase = BT_POD_RUNNING},
		{.uid = BT_STR_INIT("e"),
			.node_name = BT_STR_INIT("m"),
			.phase = BT_POD_RUNNING,
			.ready = true,
			.deletion_cost = -5},
		{.uid = BT_STR_INIT("f"),
			.node_name = BT_STR_INIT("m"),
			.phase = BT_POD_RUNNING,
			.ready = true},
		{.uid = BT_STR_INIT("g"),
			.node_name = BT_STR_INIT("n"),
			.phase = BT_POD_RUNNING,
			.ready = true,
			.ready_since_seconds = 900},
		{.uid = BT_STR_INIT("h"),
			.node_name = BT_STR_INIT("o"),
			.phase = BT_POD_RUNNING,
			.ready = true,
			.restart_count = 3},
		{.uid = BT_STR_INIT("i"),
			.node_name = BT_STR_INIT("p"),
			.phase = BT_POD_RUNNING,
			.ready = true,
			.created_seconds = 990},
		{.uid = BT_STR_INIT("j"),
			.node_name = BT_STR_INIT("q"),
			.phase = BT_POD_RUNNING,
			.ready = true,
			.created_seconds = 500},
	};
	const struct bt_indexed_pod *pods[BT_ARRAY_LENGTH(rows)];
	struct bt_arena arena = {0};

	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		pods[(i * 7 + 3) % BT_ARRAY_LENGTH(rows)] = &rows[i];
	}
	bt_replicas_sort_for_deletion(pods, BT_ARRAY_LENGTH(rows), &arena, 1000);
	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		ck_assert_msg(pods[i] == &rows[i], "place %u: %.*s", i, BT_STR_ARG(pods[i]->uid));
	}
	bt_arena_finish(&arena);
}
END_TEST

BT_TEST_MAIN("replica_set", test_replica_set__scales_up_and_counts,
	test_replica_set__edge_14b_24_ready_pod_stays,
	test_replica_set__edge_14b_25_failed_pod_is_replaced_not_removed,
	test_replica_set__adopts_and_releases_by_labels,
	test_replica_set__refused_release_is_tried_again,
	test_replica_set__refused_adoption_is_tried_again,
	test_replica_set__min_ready_seconds_delay_availability,
	test_replica_set__refused_pods_are_reported_and_tried_again_later,
	test_replica_set__many_pods_come_in_bursts, test_replication_controller__keeps_its_number,
	test_replicas__order_of_deletion)
