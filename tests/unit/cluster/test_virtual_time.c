/* SPDX-License-Identifier: Apache-2.0 */
#include "test_main.h"

#include "cluster.h"

#include "base/nanoseconds.h"
#include "base/strbuf.h"
#include "codec/json_edit.h"

#define MINUTE_NS (60 * BT_NS_PER_SECOND)
#define POD_SPEC \
	"'spec':{'containers':[{'name':'c','image':'i:1','resources':{'requests':{'cpu':'1'}}}]}"
#define DEPLOYMENT \
	"{'metadata':{'name':'web'},'spec':{'replicas':3,'selector':{'matchLabels':{'a':'b'}}," \
	"'template':{'metadata':{'labels':{'a':'b'}}," POD_SPEC "}}}"

/** Makes a whole cluster: 3 nodes, all controllers, a scheduler. */
static void init(struct cluster *cluster, uint64_t seed)
{
	static const struct bt_api_request no_options = BT_API_REQUEST_INIT;
	struct bt_gates gates = bt_gates_default();
	struct bt_cluster_options options = {
		.start_ns = INT64_C(1795262400000000000),
		.controllers = bt_controllers_default_options,
		.nodes = {3, 0, "8", "32Gi", "110", "node-"},
		.engine = BT_ENGINE_OPTIONS_INIT,
		.seed = seed,
	};
	struct berth_error err = BERTH_ERROR_INIT;

	options.engine.seed = seed;
	options.engine.verify = true;
	options.config = bt_config_create_default(&gates);
	*cluster = (struct cluster){.api = {.request = no_options}};
	int result = bt_cluster_create(&options, &cluster->cluster, &err);
	ck_assert_msg(result == 0, "%s", berth_error_message(&err));
	result = bt_cluster_start(cluster->cluster, &err);
	ck_assert_msg(result == 0, "%s", berth_error_message(&err));
	bt_config_unref(options.config);
	cluster->controllers = cluster->cluster->controllers;
	cluster->api.api = cluster->cluster->api;
	cluster->api.store = cluster->cluster->store;
	/* Create the service account "default" first: pods are refused without it. */
	ck_assert_int_eq(bt_cluster_run_until_idle(cluster->cluster, INT64_MAX, NULL), 0);
}

/**
 * Runs until the cluster is idle or limit_ns has passed; the run must return expected. Returns the
 * virtual time that passed.
 */
static int64_t settle(struct cluster *cluster, int64_t limit_ns, int expected)
{
	struct berth_error err = BERTH_ERROR_INIT;
	int64_t before_ns = bt_api_now_ns(cluster->api.api);
	int result = bt_cluster_run_until_idle(cluster->cluster, before_ns + limit_ns, &err);
	ck_assert_msg(result >= 0, "%s", berth_error_message(&err));
	ck_assert_int_eq(result, expected);
	return bt_api_now_ns(cluster->api.api) - before_ns;
}

/** Counts the pods of the phase that are bound to a node. */
static uint32_t count_bound(struct cluster *cluster, const char *phase)
{
	const struct bt_api_resource *pods =
		bt_resources_builtin(bt_api_resources(cluster->api.api), "", "pods");
	struct bt_store_walk walk;
	uint32_t count = 0;
	walk = bt_store_walk_current(cluster->api.store, pods->collection, BT_STR(""));
	for (const struct bt_stored *stored; (stored = bt_store_walk_next(&walk, NULL)) != NULL;) {
		const struct bt_json_value *pod = bt_api_parse_stored(stored, &cluster->api.arena);
		count += bt_json_text_at(pod, "spec.nodeName").length != 0 &&
			bt_str_equal_c(bt_json_text_at(pod, "status.phase"), phase);
	}
	bt_store_walk_end(&walk);
	return count;
}

START_TEST(test_virtual_time__deployment_runs)
{
	struct cluster cluster;
	init(&cluster, 1);
	cluster_create(&cluster, "deployments.apps", "default/", DEPLOYMENT);
	int64_t took_ns = settle(&cluster, 10 * MINUTE_NS, 0);
	ck_assert_uint_eq(count_bound(&cluster, "Running"), 3);
	ck_assert_str_eq(cluster_json(&cluster, "deployments.apps", "default/web",
				 "status.availableReplicas"),
		"3");
	/* The pods start after one second; renewing leases does not count as activity. */
	ck_assert_int_ge(took_ns, BT_NS_PER_SECOND);
	ck_assert_int_eq(settle(&cluster, 10 * MINUTE_NS, 0), 0);
	cluster_finish(&cluster);
}
END_TEST

START_TEST(test_virtual_time__job_completes)
{
	struct cluster cluster;
	init(&cluster, 1);
	cluster_create(&cluster, "jobs.batch", "default/",
		"{'metadata':{'name':'j'},'spec':{'completions':4,'parallelism':2,'template':{"
		"'metadata':{'annotations':{'berth.dev/run-time':'90s'}},"
		"'spec':{'restartPolicy':'Never','containers':[{'name':'c','image':'i:1'}]}}}}");
	int64_t took_ns = settle(&cluster, 10 * MINUTE_NS, 0);
	ck_assert_str_eq(cluster_condition(&cluster, "jobs.batch", "default/j", "Complete"),
		"True/CompletionsReached");
	ck_assert_uint_eq(count_bound(&cluster, "Succeeded"), 4);
	ck_assert_int_ge(took_ns, 180 * BT_NS_PER_SECOND);
	cluster_finish(&cluster);
}
END_TEST

START_TEST(test_virtual_time__limit_comes_first)
{
	struct cluster cluster;
	init(&cluster, 1);
	cluster_create(&cluster, "jobs.batch", "default/",
		"{'metadata':{'name':'j'},'spec':{'template':{"
		"'metadata':{'annotations':{'berth.dev/run-time':'1h'}},"
		"'spec':{'restartPolicy':'Never','containers':[{'name':'c','image':'i:1'}]}}}}");
	ck_assert_int_eq(settle(&cluster, 10 * MINUTE_NS, 1), 10 * MINUTE_NS);
	ck_assert_uint_eq(count_bound(&cluster, "Running"), 1);
	ck_assert_int_eq(settle(&cluster, 100 * MINUTE_NS, 0) / MINUTE_NS, 50);
	ck_assert_uint_eq(count_bound(&cluster, "Succeeded"), 1);
	cluster_finish(&cluster);
}
END_TEST

START_TEST(test_virtual_time__stateful_set_gets_volumes)
{
	struct cluster cluster;
	init(&cluster, 1);
	cluster_create(&cluster, "storageclasses.storage.k8s.io", "",
		"{'metadata':{'name':'fast'},'provisioner':'disk.example.com',"
		"'volumeBindingMode':'WaitForFirstConsumer'}");
	cluster_create(&cluster, "statefulsets.apps", "default/",
		"{'metadata':{'name':'db'},'spec':{'replicas':2,'serviceName':'db',"
		"'selector':{'matchLabels':{'a':'b'}},'template':{'metadata':{'labels':{'a':'b'}},"
		"'spec':{'containers':[{'name':'c','image':'i:1'}]}},"
		"'volumeClaimTemplates':[{'metadata':{'name':'data'},'spec':{"
		"'storageClassName':'fast','accessModes':['ReadWriteOnce'],"
		"'resources':{'requests':{'storage':'1Gi'}}}}]}}");
	(void)settle(&cluster, 10 * MINUTE_NS, 0);
	ck_assert_uint_eq(count_bound(&cluster, "Running"), 2);
	ck_assert_str_eq(cluster_text(&cluster, "persistentvolumeclaims", "default/data-db-1",
				 "status.phase"),
		"Bound");
	const char *volume = cluster_text(
		&cluster, "persistentvolumeclaims", "default/data-db-1", "spec.volumeName");
	ck_assert_str_eq(
		cluster_text(&cluster, "persistentvolumes", volume, "status.phase"), "Bound");
	cluster_finish(&cluster);
}
END_TEST

START_TEST(test_virtual_time__ends_with_pods_that_fit_nowhere_and_cron_jobs)
{
	struct cluster cluster;
	init(&cluster, 1);
	cluster_create(&cluster, "pods", "default/",
		"{'metadata':{'name':'huge'},'spec':{'containers':[{'name':'c','image':'i:1',"
		"'resources':{'requests':{'cpu':'99'}}}]}}");
	cluster_create(&cluster, "cronjobs.batch", "default/",
		"{'metadata':{'name':'nightly'},'spec':{'schedule':'0 3 * * *','jobTemplate':{"
		"'spec':{'template':{'spec':{'restartPolicy':'Never',"
		"'containers':[{'name':'c','image':'i:1'}]}}}}}}");
	ck_assert_int_lt(settle(&cluster, 10 * MINUTE_NS, 0), MINUTE_NS);
	ck_assert_str_eq(cluster_condition(&cluster, "pods", "default/huge", "PodScheduled"),
		"False/Unschedulable");
	/* A run until a given time also does periodic work. */
	int64_t now_ns = bt_api_now_ns(cluster.api.api);
	ck_assert_int_eq(
		bt_cluster_run_until(cluster.cluster, now_ns + 24 * 60 * MINUTE_NS, NULL), 0);
	ck_assert_int_eq(bt_api_now_ns(cluster.api.api), now_ns + 24 * 60 * MINUTE_NS);
	ck_assert_uint_eq(count_bound(&cluster, "Succeeded"), 1);
	cluster_finish(&cluster);
}
END_TEST

/**
 * Runs a Deployment in a cluster with this seed; returns all objects of the store as one text,
 * which the caller frees.
 */
static char *dump(uint64_t seed)
{
	struct cluster cluster;
	struct bt_strbuf text = {0};
	init(&cluster, seed);
	cluster_create(&cluster, "deployments.apps", "default/", DEPLOYMENT);
	(void)settle(&cluster, 10 * MINUTE_NS, 0);
	for (uint32_t i = 0; i < bt_store_collection_count(cluster.api.store); i++) {
		struct bt_store_walk walk = bt_store_walk_current(cluster.api.store, i, BT_STR(""));
		for (const struct bt_stored *stored;
			(stored = bt_store_walk_next(&walk, NULL)) != NULL;) {
			bt_strbuf_append_str(&text, bt_stored_text(stored));
			bt_strbuf_append_char(&text, '\n');
		}
		bt_store_walk_end(&walk);
	}
	cluster_finish(&cluster);
	return bt_strbuf_steal(&text);
}

START_TEST(test_virtual_time__same_seed_same_bytes)
{
	char *first = dump(7);
	char *again = dump(7);
	char *other = dump(8);
	ck_assert_uint_gt(strlen(first), 10000);
	ck_assert_str_eq(first, again);
	ck_assert_str_ne(first, other);
	bt_free(first);
	bt_free(again);
	bt_free(other);
}
END_TEST

START_TEST(test_virtual_time__new_autoscaler_waits_before_it_scales_down)
{
	struct cluster cluster;
	init(&cluster, 1);
	cluster_create(&cluster, "deployments.apps", "default/", DEPLOYMENT);
	cluster_patch(&cluster, "namespaces", "default",
		"{'metadata':{'annotations':{'berth.dev/external-metrics':'queue=1'}}}");
	cluster_create(&cluster, "horizontalpodautoscalers.autoscaling", "default/",
		"{'metadata':{'name':'h'},'spec':{'scaleTargetRef':{'apiVersion':'apps/v1','kind':"
		"'Deployment','name':'web'},'maxReplicas':5,'metrics':[{'type':'External',"
		"'external':{'metric':{'name':'queue'},'target':{'type':'AverageValue',"
		"'averageValue':'1'}}}]}}");
	cluster_run(&cluster, INT64_C(295) * 1000);
	ck_assert_str_eq(
		cluster_json(&cluster, "deployments.apps", "default/web", "spec.replicas"), "3");
	ck_assert_str_eq(cluster_condition(&cluster, "horizontalpodautoscalers.autoscaling",
				 "default/h", "AbleToScale"),
		"True/ScaleDownStabilized");
	cluster_run(&cluster, INT64_C(20) * 1000);
	ck_assert_str_eq(
		cluster_json(&cluster, "deployments.apps", "default/web", "spec.replicas"), "1");
	cluster_finish(&cluster);
}
END_TEST

START_TEST(test_virtual_time__a_slow_clock_reaches_no_far_time)
{
	const struct bt_cluster_clock clock = {.start_monotonic_ns = 5, .scale = 1e-10};
	ck_assert_int_eq(bt_cluster_clock_monotonic_of(&clock, 0), 6);
	ck_assert_int_eq(bt_cluster_clock_monotonic_of(&clock, 60 * MINUTE_NS), INT64_MAX);
}
END_TEST

BT_TEST_MAIN("virtual_time", test_virtual_time__deployment_runs, test_virtual_time__job_completes,
	test_virtual_time__limit_comes_first, test_virtual_time__stateful_set_gets_volumes,
	test_virtual_time__ends_with_pods_that_fit_nowhere_and_cron_jobs,
	test_virtual_time__same_seed_same_bytes,
	test_virtual_time__new_autoscaler_waits_before_it_scales_down,
	test_virtual_time__a_slow_clock_reaches_no_far_time)
