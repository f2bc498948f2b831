/* SPDX-License-Identifier: Apache-2.0 */
#include "test_main.h"

#include "cluster/tree.h"
#include "workload_world.h"

#define KEY "default/db"
#define SET(more) \
	"{'metadata':{'name':'db'},'spec':{'replicas':3,'serviceName':'db'," more \
	"'selector':{'matchLabels':{'app':'db'}}," \
	"'template':{'metadata':{'labels':{'app':'db'}}," \
	"'spec':{'containers':[{'name':'c','image':'i:1'}]}}}}"

static int64_t number(struct world *world, const char *path)
{
	return world_int(world, "apps", "statefulsets", KEY, path);
}

START_TEST(test_stateful_set__starts_in_order)
{
	struct world world;
	const struct bt_json_value *pod;

	world_init(&world);
	world_create(&world, "apps", "statefulsets", SET(""), 201);
	world_run(&world);
	ck_assert_uint_eq(world_active_pods(&world), 1);
	pod = world_get(&world, "", "pods", "default/db-0");
	ck_assert(bt_str_equal_c(bt_tree_label(pod, "statefulset.kubernetes.io/pod-name"), "db-0"));
	ck_assert(bt_str_equal_c(bt_tree_label(pod, "apps.kubernetes.io/pod-index"), "0"));
	ck_assert(bt_str_equal_c(bt_json_text_at(pod, "spec.hostname"), "db-0"));
	ck_assert(bt_str_equal_c(bt_json_text_at(pod, "spec.subdomain"), "db"));
	for (uint32_t i = 1; i < 3; i++) {
		ck_assert(world_agent(&world));
		world_run(&world);
		ck_assert_uint_eq(world_active_pods(&world), i + 1);
	}
	world_settle(&world);
	ck_assert_int_eq(number(&world, "status.readyReplicas"), 3);
	ck_assert_int_eq(number(&world, "status.currentReplicas"), 3);
	ck_assert_int_eq(number(&world, "status.updatedReplicas"), 3);
	world_finish(&world);
}
END_TEST

START_TEST(test_stateful_set__edge_14b_28_pending_pod_holds_up_higher_ones)
{
	struct world world;

	world_init(&world);
	world.hold_new_pods = true;
	world_create(&world, "apps", "statefulsets", SET(""), 201);
	world_settle(&world);
	world_advance(&world, 3600);
	world_settle(&world);
	ck_assert_uint_eq(world_active_pods(&world), 1);
	world_finish(&world);
}
END_TEST

START_TEST(test_stateful_set__parallel_starts_all)
{
	struct world world;

	world_init(&world);
	world.hold_new_pods = true;
	world_create(&world, "apps", "statefulsets", SET("'podManagementPolicy':'Parallel',"), 201);
	world_settle(&world);
	ck_assert_uint_eq(world_active_pods(&world), 3);
	world_finish(&world);
}
END_TEST

START_TEST(test_stateful_set__scales_down_from_the_highest)
{
	struct world world;

	world_init(&world);
	world_create(&world, "apps", "statefulsets", SET(""), 201);
	world_settle(&world);
	world_patch(&world, "apps", "statefulsets", KEY, BT_SUBRESOURCE_NONE,
		"{'spec':{'replicas':1}}");
	world_run(&world);
	/* Pods are deleted one at a time. */
	ck_assert_uint_eq(world_active_pods(&world), 2);
	ck_assert(!bt_tree_is_deleting(world_get(&world, "", "pods", "default/db-1")));
	world_settle(&world);
	ck_assert_uint_eq(world_list(&world, "", "pods", NULL, NULL, NULL, 0), 1);
	ck_assert_ptr_nonnull(world_get(&world, "", "pods", "default/db-0"));
	world_finish(&world);
}
END_TEST

START_TEST(test_stateful_set__failed_pod_comes_back_under_its_name)
{
	struct world world;
	struct bt_str uid;

	world_init(&world);
	world_create(&world, "apps", "statefulsets", SET(""), 201);
	world_settle(&world);
	uid = bt_json_text_at(world_get(&world, "", "pods", "default/db-1"), "metadata.uid");
	world_set_pod(&world, "default/db-1", "Failed", false);
	world_settle(&world);
	ck_assert_int_eq(number(&world, "status.readyReplicas"), 3);
	ck_assert(!bt_str_equal(uid,
		bt_json_text_at(world_get(&world, "", "pods", "default/db-1"), "metadata.uid")));
	world_finish(&world);
}
END_TEST

static void check_one_missing(struct world *world)
{
	ck_assert_uint_ge(world_ready_pods(world), 2);
}

START_TEST(test_stateful_set__updates_from_the_highest_to_the_partition)
{
	struct world world;
	struct bt_str old_hash;

	world_init(&world);
	world_create(&world, "apps", "statefulsets",
		SET("'updateStrategy':{'type':'RollingUpdate','rollingUpdate':{'partition':1}},"),
		201);
	world_settle(&world);
	old_hash = bt_json_text_at(
		world_get(&world, "apps", "statefulsets", KEY), "status.currentRevision");
	world.check = check_one_missing;
	world_patch(&world, "apps", "statefulsets", KEY, BT_SUBRESOURCE_NONE,
		"{'spec':{'template':{'spec':{'containers':[{'name':'c','image':'i:2'}]}}}}");
	world_settle(&world);
	ck_assert_int_eq(number(&world, "status.updatedReplicas"), 2);
	ck_assert(bt_str_equal(old_hash,
		bt_tree_label(world_get(&world, "", "pods", "default/db-0"),
			"controller-revision-hash")));
	world_patch(&world, "apps", "statefulsets", KEY, BT_SUBRESOURCE_NONE,
		"{'spec':{'updateStrategy':{'rollingUpdate':{'partition':0}}}}");
	world_settle(&world);
	ck_assert_int_eq(number(&world, "status.updatedReplicas"), 3);
	ck_assert(bt_str_equal(bt_json_text_at(world_get(&world, "apps", "statefulsets", KEY),
				       "status.currentRevision"),
		bt_json_text_at(
			world_get(&world, "apps", "statefulsets", KEY), "status.updateRevision")));
	world_finish(&world);
}
END_TEST

START_TEST(test_stateful_set__makes_claims_first)
{
	struct world world;
	const struct bt_json_value *claim;
	const struct bt_json_value *volumes;

	world_init(&world);
	world_create(&world, "apps", "statefulsets",
		SET("'volumeClaimTemplates':[{'metadata':{'name':'data'},'spec':{'accessModes':"
		    "['ReadWriteOnce'],'resources':{'requests':{'storage':'1Gi'}}}}],"),
		201);
	world_settle(&world);
	ck_assert_uint_eq(
		world_list(&world, "", "persistentvolumeclaims", "app", "db", NULL, 0), 3);
	claim = world_get(&world, "", "persistentvolumeclaims", "default/data-db-1");
	ck_assert_ptr_nonnull(claim);
	volumes = bt_json_array_at(world_get(&world, "", "pods", "default/db-1"), "spec.volumes");
	ck_assert_uint_eq(volumes->count, 1);
	ck_assert(bt_str_equal_c(
		bt_json_text_at(volumes->elements[0], "persistentVolumeClaim.claimName"),
		"data-db-1"));
	world_finish(&world);
}
END_TEST

START_TEST(test_stateful_set__claim_that_is_lost_before_its_pod_runs)
{
	struct world world;

	world_init(&world);
	world.hold_new_pods = true;
	world_create(&world, "apps", "statefulsets",
		SET("'volumeClaimTemplates':[{'metadata':{'name':'data'},'spec':{'accessModes':"
		    "['ReadWriteOnce'],'resources':{'requests':{'storage':'1Gi'}}}}],"),
		201);
	world_run(&world);
	world_patch(&world, "", "persistentvolumeclaims", "default/data-db-0", BT_SUBRESOURCE_NONE,
		"{'metadata':{'finalizers':null}}");
	world_delete(&world, "", "persistentvolumeclaims", "default/data-db-0");
	world_run(&world);
	ck_assert_ptr_null(world_get(&world, "", "persistentvolumeclaims", "default/data-db-0"));
	/* The claim is created again when the scheduler has reported the pod as unschedulable. */
	world_patch(&world, "", "pods", "default/db-0", BT_SUBRESOURCE_STATUS,
		"{'status':{'conditions':[{'type':'PodScheduled','status':'False'}]}}");
	world_run(&world);
	ck_assert_ptr_nonnull(world_get(&world, "", "persistentvolumeclaims", "default/data-db-0"));
	world_finish(&world);
}
END_TEST

START_TEST(test_stateful_set__label_of_deployments_is_no_revision)
{
	struct world world;

	world_init(&world);
	world_create(&world, "apps", "statefulsets",
		"{'metadata':{'name':'db'},'spec':{'replicas':3,'serviceName':'db',"
		"'selector':{'matchLabels':{'app':'db'}},'template':{'metadata':{'labels':{"
		"'app':'db','pod-template-hash':'x'}},"
		"'spec':{'containers':[{'name':'c','image':'i:1'}]}}}}",
		201);
	world_settle(&world);
	ck_assert_int_eq(number(&world, "status.readyReplicas"), 3);
	ck_assert_int_eq(number(&world, "status.updatedReplicas"), 3);
	world_finish(&world);
}
END_TEST

BT_TEST_MAIN("stateful_set", test_stateful_set__starts_in_order,
	test_stateful_set__label_of_deployments_is_no_revision,
	test_stateful_set__edge_14b_28_pending_pod_holds_up_higher_ones,
	test_stateful_set__parallel_starts_all, test_stateful_set__scales_down_from_the_highest,
	test_stateful_set__failed_pod_comes_back_under_its_name,
	test_stateful_set__updates_from_the_highest_to_the_partition,
	test_stateful_set__makes_claims_first,
	test_stateful_set__claim_that_is_lost_before_its_pod_runs)
