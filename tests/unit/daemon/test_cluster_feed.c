/* SPDX-License-Identifier: Apache-2.0 */
/* The API server's collections reach the scheduler; SIGUSR2 compares the cache with them. */
#include "daemon/cluster_feed.h"

#include <string.h>

#include "base/log.h"
#include "base/prng.h"
#include "daemon/daemon_private.h"
#include "test_main.h"
#include "writes_world.h"

struct feed_world {
	struct writes_world base;
	struct bt_prng prng;
	struct bt_cluster_feed *feed;
	struct bt_strbuf log; /* structured lines: "<message> <key>=<texts>" */
	uint32_t synced;
	uint32_t failed;
	uint32_t listed;
};

static const char node_list[] =
	"{\"kind\":\"NodeList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"9\"},"
	"\"items\":[{\"metadata\":{\"name\":\"n1\",\"uid\":\"un1\",\"resourceVersion\":\"3\"},"
	"\"status\":{\"allocatable\":{\"cpu\":\"4\",\"memory\":\"8Gi\",\"pods\":\"10\","
	"\"ex.com/b\":\"2\",\"ex.com/a\":\"1\"}}}]}";

static const char pod_list[] =
	"{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"9\"},"
	"\"items\":["
	"{\"metadata\":{\"name\":\"mine\",\"namespace\":\"d\",\"uid\":\"u-mine\","
	"\"resourceVersion\":\"4\"},\"spec\":{\"schedulerName\":\"default-scheduler\","
	"\"containers\":[{\"name\":\"c\"}]},\"status\":{\"phase\":\"Pending\"}},"
	"{\"metadata\":{\"name\":\"other\",\"namespace\":\"d\",\"uid\":\"u-other\","
	"\"resourceVersion\":\"5\"},\"spec\":{\"schedulerName\":\"another\","
	"\"containers\":[{\"name\":\"c\"}]},\"status\":{\"phase\":\"Pending\"}},"
	"{\"metadata\":{\"name\":\"bound\",\"namespace\":\"d\",\"uid\":\"u-bound\","
	"\"resourceVersion\":\"6\"},\"spec\":{\"schedulerName\":\"default-scheduler\","
	"\"nodeName\":\"n1\",\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{"
	"\"cpu\":\"250m\",\"ex.com/a\":\"1\"}}}]},\"status\":{\"phase\":\"Running\"}}]}";

static const char empty_list[] =
	"{\"kind\":\"List\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"9\"},"
	"\"items\":[]}";

static void answer(
	void *context, const struct scripted_request *request, struct scripted_answer *out_answer)
{
	struct feed_world *world = context;
	if (strstr(request->path, "watch=true") != NULL) {
		out_answer->hangs = true;
		return;
	}
	world->listed++;
	out_answer->body = bt_str_from(empty_list);
	if (strncmp(request->path, "/api/v1/nodes?", 14) == 0) {
		out_answer->body = bt_str_from(node_list);
	} else if (strncmp(request->path, "/api/v1/pods?", 13) == 0) {
		out_answer->body = bt_str_from(pod_list);
	}
}

static void note_synced(void *context)
{
	struct feed_world *world = context;
	world->synced++;
}

static void note_failed(void *context, struct berth_error *err BT_UNUSED)
{
	struct feed_world *world = context;
	world->failed++;
}

static int64_t now_of(void *context)
{
	const struct feed_world *world = context;
	return world->base.now_ns;
}

static void init(struct feed_world *world, const char *gates)
{
	struct writes_world_options options = {.answer = answer, .context = world, .gates = gates};
	*world = (struct feed_world){0};
	writes_world_init(&world->base, &options);
	bt_prng_init(&world->prng, 1);
	struct bt_cluster_feed_options feed = {
		.client = world->base.client,
		.loop = world->base.loop,
		.prng = &world->prng,
		.scheduler = world->base.scheduler,
		.gates = &world->base.config->gates,
		.now_ns = now_of,
		.context = world,
		.synced = note_synced,
		.failed = note_failed,
	};
	world->feed = bt_cluster_feed_create(&feed);
}

static void finish(struct feed_world *world)
{
	bt_cluster_feed_destroy(world->feed);
	writes_world_finish(&world->base);
	bt_strbuf_finish(&world->log);
}

static void turn(struct feed_world *world)
{
	struct berth_error err = BERTH_ERROR_INIT;
	ck_assert_int_eq(bt_loop_turn(world->base.loop, WORLD_SECOND / 50, &err), 0);
}

static void run_until_synced(struct feed_world *world)
{
	for (uint32_t i = 0; i < 500 && world->synced == 0; i++) {
		turn(world);
	}
	ck_assert_uint_eq(world->synced, 1);
	ck_assert(bt_cluster_feed_is_synced(world->feed));
}

static uint32_t count_nodes(const struct feed_world *world)
{
	return bt_scheduler_engine(world->base.scheduler)->state->node_entry_count;
}

START_TEST(test_cluster_feed__all_kinds_are_listed_and_watched)
{
	struct feed_world world;
	init(&world, NULL);
	turn(&world);
	ck_assert_uint_eq(world.listed, 0);
	bt_cluster_feed_start(world.feed);
	run_until_synced(&world);
	ck_assert_uint_eq(world.listed, 18);
	ck_assert_uint_eq(count_nodes(&world), 1);
	ck_assert(bt_queue_can_pop(bt_scheduler_queue(world.base.scheduler)));
	const char *log = writes_world_log(&world.base);
	ck_assert_ptr_nonnull(strstr(log,
		"GET /api/v1/pods?fieldSelector=status.phase%21%3DSucceeded%2C"
		"status.phase%21%3DFailed&limit=500&resourceVersion=0"));
	ck_assert_ptr_nonnull(strstr(log, "GET /apis/storage.k8s.io/v1/csinodes?"));
	ck_assert_ptr_nonnull(strstr(log, "GET /apis/policy/v1/poddisruptionbudgets?"));
	ck_assert_ptr_null(strstr(log, "podgroups"));
	ck_assert_ptr_null(strstr(log, "devicetaintrules"));
	ck_assert_ptr_null(bt_cluster_feed_reflector(world.feed, BT_KIND_POD_GROUP));
	ck_assert_uint_eq(
		bt_reflector_count(bt_cluster_feed_reflector(world.feed, BT_KIND_POD)), 3);
	finish(&world);
}
END_TEST

START_TEST(test_cluster_feed__gates)
{
	struct feed_world world;
	init(&world, "DRADeviceTaintRules=true,GenericWorkload=true");
	bt_cluster_feed_start(world.feed);
	run_until_synced(&world);
	const char *log = writes_world_log(&world.base);
	ck_assert_ptr_nonnull(strstr(log, "GET /apis/scheduling.k8s.io/v1alpha2/podgroups?"));
	ck_assert_ptr_nonnull(strstr(log, "GET /apis/resource.k8s.io/v1beta2/devicetaintrules?"));
	finish(&world);
}
END_TEST

START_TEST(test_cluster_feed__changes_are_kept_while_held)
{
	struct feed_world world;
	init(&world, NULL);
	bt_cluster_feed_start(world.feed);
	bt_cluster_feed_hold(world.feed);
	bt_cluster_feed_hold(world.feed);
	for (uint32_t i = 0; i < 500 && world.listed < 18; i++) {
		turn(&world);
	}
	for (uint32_t i = 0; i < 10; i++) {
		turn(&world);
	}
	ck_assert_uint_eq(count_nodes(&world), 0);
	ck_assert_uint_eq(world.synced, 0);
	bt_cluster_feed_release(world.feed);
	ck_assert_uint_eq(count_nodes(&world), 0);
	bt_cluster_feed_release(world.feed);
	ck_assert_uint_eq(count_nodes(&world), 1);
	ck_assert_uint_eq(world.synced, 1);
	finish(&world);
}
END_TEST

/** --- SIGUSR2 --- */

static bool everything(void *context BT_UNUSED, const char *file BT_UNUSED, int verbosity)
{
	return verbosity <= 3;
}

static void write_record(void *context, const struct bt_log_record *record)
{
	struct feed_world *world = context;
	bt_strbuf_append_str(&world->log, record->message);
	for (uint32_t i = 0; i < record->pair_count; i++) {
		const struct bt_log_pair *pair = &record->pairs[i];
		bt_strbuf_printf(&world->log, " %s=", pair->key);
		bt_strbuf_append_str(&world->log, pair->text);
		for (uint32_t j = 0; j < pair->text_count; j++) {
			bt_strbuf_printf(&world->log, "[%.*s]", BT_STR_ARG(pair->texts[j]));
		}
	}
	bt_strbuf_append_char(&world->log, '\n');
}

static void listen(struct feed_world *world)
{
	struct bt_log_sink sink = {world, everything, write_record};
	bt_log_set_sink(&sink);
	bt_log_set_verbosity_max(3);
}

START_TEST(test_dump__edge_11_46_pod_of_another_scheduler)
{
	struct feed_world world;
	init(&world, NULL);
	bt_cluster_feed_start(world.feed);
	run_until_synced(&world);
	listen(&world);
	bt_daemon_compare_cache(world.base.scheduler,
		bt_cluster_feed_reflector(world.feed, BT_KIND_NODE),
		bt_cluster_feed_reflector(world.feed, BT_KIND_POD));
	bt_log_set_sink(NULL);
	ck_assert_str_eq(bt_strbuf_c(&world.log),
		"Cache comparer started\n"
		"Cache mismatch missedPods=[u-other] redundantPods=\n"
		"Cache comparer finished\n");
	finish(&world);
}
END_TEST

START_TEST(test_dump__edge_03b_36_redundant_node)
{
	struct feed_world world;
	init(&world, NULL);
	bt_cluster_feed_start(world.feed);
	run_until_synced(&world);
	/* A node that exists only through its pod counts as cached. */
	writes_world_observe(&world.base, BT_KIND_POD,
		"{'metadata':{'name':'late','namespace':'wire','uid':'u-late'},"
		"'spec':{'nodeName':'foobar','containers':[{'name':'c'}]}}");
	listen(&world);
	bt_daemon_compare_cache(world.base.scheduler,
		bt_cluster_feed_reflector(world.feed, BT_KIND_NODE),
		bt_cluster_feed_reflector(world.feed, BT_KIND_POD));
	bt_log_set_sink(NULL);
	ck_assert_str_eq(bt_strbuf_c(&world.log),
		"Cache comparer started\n"
		"Cache mismatch missedNodes= redundantNodes=[foobar]\n"
		"Cache mismatch missedPods=[u-other] redundantPods=[u-late]\n"
		"Cache comparer finished\n");
	finish(&world);
}
END_TEST

START_TEST(test_dump__nodes_that_only_the_cache_has)
{
	struct feed_world world;
	init(&world, NULL);
	writes_world_node(&world.base, "b");
	writes_world_node(&world.base, "a");
	listen(&world);
	bt_daemon_compare_cache(world.base.scheduler, NULL, NULL);
	bt_log_set_sink(NULL);
	ck_assert_str_eq(bt_strbuf_c(&world.log),
		"Cache comparer started\n"
		"Cache mismatch missedNodes= redundantNodes=[a][b]\n"
		"Cache comparer finished\n");
	finish(&world);
}
END_TEST

START_TEST(test_dump__texts)
{
	struct feed_world world;
	init(&world, NULL);
	bt_cluster_feed_start(world.feed);
	run_until_synced(&world);
	listen(&world);
	bt_daemon_dump_cache(world.base.scheduler);
	bt_log_set_sink(NULL);
	ck_assert_str_eq(bt_strbuf_c(&world.log),
		"Dump of cached NodeInfo nodes=Node name: n1\n"
		"Deleted: false\n"
		"Requested Resources: &{MilliCPU:250 Memory:0 EphemeralStorage:0 "
		"AllowedPodNumber:0 ScalarResources:map[ex.com/a:1]}\n"
		"Allocatable Resources:&{MilliCPU:4000 Memory:8589934592 EphemeralStorage:0 "
		"AllowedPodNumber:10 ScalarResources:map[ex.com/a:1 ex.com/b:2]}\n"
		"Scheduled Pods(number: 1):\n"
		"name: bound, namespace: d, uid: u-bound, phase: Running, nominated node: \n"
		"\n"
		"Dump of scheduling queue summary=activeQ:1; backoffQ:0; unschedulablePods:0 "
		"pods=name: mine, namespace: d, uid: u-mine, phase: Pending, nominated node: \n"
		"\n");
	finish(&world);
}
END_TEST

START_TEST(test_cluster_feed__what_is_waited_for)
{
	struct feed_world world;
	struct bt_strbuf types = {0};
	init(&world, NULL);
	ck_assert_uint_eq(bt_cluster_feed_list_unsynced(world.feed, &types), 0);
	bt_cluster_feed_start(world.feed);
	ck_assert_uint_eq(bt_cluster_feed_list_unsynced(world.feed, &types), 18);
	ck_assert_ptr_nonnull(
		strstr(bt_strbuf_c(&types), "*v1.Node *v1.Namespace *v1.Pod *v1.Service "));
	bt_strbuf_reset(&types);
	run_until_synced(&world);
	ck_assert_uint_eq(bt_cluster_feed_list_unsynced(world.feed, &types), 0);
	ck_assert_uint_eq(types.length, 0);
	bt_strbuf_finish(&types);
	finish(&world);
}
END_TEST

BT_TEST_MAIN("cluster_feed", test_cluster_feed__what_is_waited_for,
	test_cluster_feed__all_kinds_are_listed_and_watched, test_cluster_feed__gates,
	test_cluster_feed__changes_are_kept_while_held,
	test_dump__edge_11_46_pod_of_another_scheduler, test_dump__edge_03b_36_redundant_node,
	test_dump__nodes_that_only_the_cache_has, test_dump__texts)
