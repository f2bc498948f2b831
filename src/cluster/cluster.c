/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/cluster.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "cluster/scheduler.h"
#include "server/event_expiry.h"

/** Runs at one virtual time, 400 writes each at most: more than any cluster needs that comes to
 * rest. */
#define RUNS_PER_TIME_MAX 100000

struct bt_cluster {
	struct bt_cluster_options options;
	struct bt_cluster_clock clock;
	struct bt_store *store;
	struct bt_api *api;
	struct bt_event_expiry *event_expiry;
	struct bt_controllers *controllers;
	struct bt_cluster_scheduler *scheduler; /* NULL: none */
	bool is_continued;
};

static int open_data_dir(struct bt_cluster *cluster, struct berth_error *err)
{
	const struct bt_cluster_options *options = &cluster->options;
	if (options->data_dir == NULL) {
		return bt_cluster_clock_start(
			&cluster->clock, options->time_scale, options->start_ns, NULL, err);
	}
	if (mkdir(options->data_dir, 0700) != 0 && errno != EEXIST) {
		return bt_error_set(err, BERTH_ERR_IO, "--data-dir: %s: %s", options->data_dir,
			strerror(errno));
	}
	struct bt_strbuf path = {0};
	bt_strbuf_printf(&path, "%s/store.db", options->data_dir);
	int result = bt_store_open(cluster->store, bt_strbuf_c(&path), err);
	if (result == 0) {
		bt_strbuf_reset(&path);
		bt_strbuf_printf(&path, "%s/clock", options->data_dir);
		result = bt_cluster_clock_start(&cluster->clock, options->time_scale,
			options->start_ns, bt_strbuf_c(&path), err);
	}
	bt_strbuf_finish(&path);
	for (uint32_t i = 0; i < bt_store_collection_count(cluster->store); i++) {
		cluster->is_continued =
			cluster->is_continued || bt_store_count(cluster->store, i) != 0;
	}
	return result < 0 ? bt_error_wrap(err, result, "--data-dir") : 0;
}

int bt_cluster_create(const struct bt_cluster_options *options, struct bt_cluster **out_cluster,
	struct berth_error *err)
{
	struct bt_cluster *cluster = BT_NEW(struct bt_cluster);
	const struct bt_controllers_options *controllers = &options->controllers;
	*cluster = (struct bt_cluster){.options = *options, .clock = BT_CLUSTER_CLOCK_INIT};
	if (options->config != NULL) {
		cluster->options.config = bt_config_ref(options->config);
	}
	cluster->store = bt_store_create(&bt_store_default_options);
	int result = open_data_dir(cluster, err);
	if (result < 0) {
		bt_cluster_destroy(cluster);
		return result;
	}
	struct bt_api_options api = {
		.store = cluster->store,
		.now_ns = bt_cluster_clock_now_ns,
		.clock_context = &cluster->clock,
		.seed = options->seed,
		.admit_service_account =
			bt_controllers_has(controllers, "serviceaccount-controller"),
		.admit_taint_nodes = bt_controllers_has(controllers, "node-lifecycle-controller"),
		.admit_storage_protection =
			bt_controllers_has(controllers, "persistentvolume-binder-controller") &&
			bt_controllers_has(
				controllers, "persistentvolumeclaim-protection-controller") &&
			bt_controllers_has(controllers, "persistentvolume-protection-controller"),
		.admit_pod_group_protection =
			bt_controllers_has(controllers, "podgroup-protection-controller"),
	};
	cluster->api = bt_api_create(&api);
	cluster->event_expiry = bt_event_expiry_create(cluster->api);
	*out_cluster = cluster;
	return 0;
}

void bt_cluster_destroy(struct bt_cluster *cluster)
{
	if (cluster == NULL) {
		return;
	}
	bt_cluster_scheduler_destroy(cluster->scheduler);
	bt_config_unref(cluster->options.config);
	bt_controllers_destroy(cluster->controllers);
	bt_event_expiry_destroy(cluster->event_expiry);
	bt_api_destroy(cluster->api);
	bt_store_destroy(cluster->store);
	bt_cluster_clock_finish(&cluster->clock);
	bt_free(cluster);
}

bool bt_cluster_is_continued(const struct bt_cluster *cluster)
{
	return cluster->is_continued;
}

int bt_cluster_start(struct bt_cluster *cluster, struct berth_error *err)
{
	const struct bt_cluster_options *options = &cluster->options;
	int result = bt_controllers_create(
		cluster->api, &options->controllers, &cluster->controllers, err);
	if (result == 0 && options->nodes.count != 0) {
		result = bt_controllers_add_nodes(cluster->controllers, &options->nodes, err);
	}
	if (result == 0 && options->config != NULL) {
		result = bt_cluster_scheduler_create(
			cluster->api, options->config, &options->engine, &cluster->scheduler, err);
	}
	return result;
}

int bt_cluster_run(struct bt_cluster *cluster, int64_t *out_next_ns, struct berth_error *err)
{
	int64_t next_ns =
		bt_controllers_run(cluster->controllers, bt_cluster_clock_now_ns(&cluster->clock));
	int64_t expiry_ns = bt_event_expiry_run(cluster->event_expiry);
	int64_t scheduler_ns = INT64_MAX;
	int result = 0;
	if (cluster->scheduler != NULL) {
		result = bt_cluster_scheduler_run(cluster->scheduler,
			bt_cluster_clock_now_ns(&cluster->clock), &scheduler_ns, err);
	}
	next_ns = expiry_ns < next_ns ? expiry_ns : next_ns;
	*out_next_ns = scheduler_ns < next_ns ? scheduler_ns : next_ns;
	return result;
}

/** Everything that is due now; *out_next_ns is later. */
static int run_due(struct bt_cluster *cluster, int64_t *out_next_ns, struct berth_error *err)
{
	int64_t now_ns = bt_cluster_clock_now_ns(&cluster->clock);
	for (uint32_t i = 0; i < RUNS_PER_TIME_MAX; i++) {
		uint64_t rv = bt_store_rv(cluster->store);
		int result = bt_cluster_run(cluster, out_next_ns, err);
		/* The scheduler's writes are changes for the controllers, and they come first. */
		if (result < 0 || (*out_next_ns > now_ns && bt_store_rv(cluster->store) == rv)) {
			return result;
		}
	}
	return bt_error_set(err, BERTH_ERR_TOO_LARGE,
		"the cluster does not come to rest: %d runs at the same time", RUNS_PER_TIME_MAX);
}

static bool has_work(const struct bt_cluster *cluster)
{
	return bt_controllers_have_work(cluster->controllers) ||
		(cluster->scheduler != NULL && bt_cluster_scheduler_has_work(cluster->scheduler));
}

static int run_virtual(
	struct bt_cluster *cluster, int64_t end_ns, bool until_idle, struct berth_error *err)
{
	for (;;) {
		int64_t next_ns;
		int result = run_due(cluster, &next_ns, err);
		if (result < 0 || (until_idle && !has_work(cluster))) {
			return result;
		}
		bt_cluster_clock_advance(&cluster->clock, next_ns < end_ns ? next_ns : end_ns);
		if (next_ns > end_ns) {
			return 1;
		}
	}
}

int bt_cluster_run_until_idle(struct bt_cluster *cluster, int64_t limit_ns, struct berth_error *err)
{
	return run_virtual(cluster, limit_ns, true, err);
}

int bt_cluster_run_until(struct bt_cluster *cluster, int64_t end_ns, struct berth_error *err)
{
	int result = run_virtual(cluster, end_ns, false, err);
	return result < 0 ? result : 0;
}

struct bt_api *bt_cluster_api(struct bt_cluster *cluster)
{
	return cluster->api;
}

struct bt_store *bt_cluster_store(struct bt_cluster *cluster)
{
	return cluster->store;
}

struct bt_controllers *bt_cluster_controllers(struct bt_cluster *cluster)
{
	return cluster->controllers;
}

struct bt_cluster_clock *bt_cluster_get_clock(struct bt_cluster *cluster)
{
	return &cluster->clock;
}

uint64_t bt_cluster_node_count(const struct bt_cluster *cluster)
{
	return bt_store_count(cluster->store,
		bt_resources_builtin(bt_api_resources(cluster->api), "", "nodes")->collection);
}
