/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/cluster.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "api/object.h"
#include "base/alloc.h"
#include "base/nanoseconds.h"
#include "cluster/file.h"
#include "cluster/typed.h"
#include "net/file_replace.h"
#include "net/jwt.h"
#include "sched/scheduler.h"
#include "server/api.h"
#include "server/event_expiry.h"

/** Maximum number of scheduling attempts in one run. Then controllers and clients get a turn. */
#define ATTEMPTS_PER_RUN 64
#define TOKEN_KEY_BYTES_MAX 65536
#define TICK_NS BT_NS_PER_SECOND
#define KIND_NONE UINT8_MAX

/** The kinds that the scheduler watches, in the order of its first list (spec 11b section 2). */
static const enum bt_kind watched[] = {
	BT_KIND_NAMESPACE,
	BT_KIND_NODE,
	BT_KIND_SERVICE,
	BT_KIND_REPLICATION_CONTROLLER,
	BT_KIND_REPLICA_SET,
	BT_KIND_STATEFUL_SET,
	BT_KIND_STORAGE_CLASS,
	BT_KIND_CSI_NODE,
	BT_KIND_CSI_DRIVER,
	BT_KIND_CSI_STORAGE_CAPACITY,
	BT_KIND_VOLUME_ATTACHMENT,
	BT_KIND_PERSISTENT_VOLUME,
	BT_KIND_PERSISTENT_VOLUME_CLAIM,
	BT_KIND_POD_DISRUPTION_BUDGET,
	BT_KIND_DEVICE_CLASS,
	BT_KIND_DEVICE_TAINT_RULE,
	BT_KIND_RESOURCE_SLICE,
	BT_KIND_RESOURCE_CLAIM,
	BT_KIND_POD_GROUP,
	BT_KIND_POD,
};

/**
 * Maximum number of runs at one virtual time. A cluster that needs more runs counts as never idle.
 */
#define RUNS_PER_TIME_MAX 1000000

/**
 * --- the scheduler: it observes the store's changes, and writes its decisions through the API like
 * every client ---
 */

/** Called inside a commit: only records the change. */
static void record_change(void *context, const struct bt_store_change *change)
{
	struct bt_cluster *cluster = context;
	if (change->collection >= cluster->kinds.count ||
		cluster->kinds.items[change->collection] == KIND_NONE) {
		return;
	}
	struct bt_store_change noted = *change;
	if (noted.before != NULL) {
		noted.before = bt_stored_share(noted.before);
	}
	noted.after = bt_stored_share(noted.after);
	bt_vec_push(&cluster->changes, noted);
}

static void release_change(struct bt_store_change *change)
{
	bt_stored_release(change->before);
	bt_stored_release(change->after);
}

/**
 * Returns NULL if the stored text cannot be decoded as this kind; then the scheduler does not see
 * the object.
 */
static struct bt_object *decode(enum bt_kind kind, const struct bt_stored *stored)
{
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_object *object = bt_typed_decode(kind, stored, &err);
	if (object == NULL) {
		(void)fprintf(stderr, "berth up: the scheduler cannot read an object: %s\n",
			berth_error_message(&err));
		berth_error_finish(&err);
	}
	return object;
}

static int observe(struct bt_cluster *cluster, enum bt_kind kind,
	const struct bt_store_change *change, int64_t now_ns, struct berth_error *err)
{
	struct bt_object *before = change->before != NULL ? decode(kind, change->before) : NULL;
	/* The scheduler observes a deletion with the last stored state as the old object. */
	struct bt_object *after =
		change->type != BT_CHANGE_DELETED ? decode(kind, change->after) : NULL;
	int result = 0;
	if (after != NULL && kind == BT_KIND_POD) {
		/* Pods share their equal parts through commons, which saves memory. */
		struct bt_object *kept = bt_object_create_pod(
			bt_object_value(after, BT_KIND_POD), NULL, &cluster->commons);
		bt_object_release(after);
		after = kept;
	}
	if (before != NULL || after != NULL) {
		result = bt_scheduler_observe(cluster->scheduler, before, after, now_ns, err);
	}
	bt_object_release(before);
	bt_object_release(after);
	return result;
}

/** --- start and end --- */

/**
 * Reads the key at path, or creates a key and stores it there, because clients and Secrets keep
 * tokens longer than the process lives. out: the key as PEM.
 */
static int open_token_key(const char *path, struct bt_strbuf *out, struct berth_error *err)
{
	struct bt_jwt_key *key = NULL;
	bool exists = access(path, F_OK) == 0;
	int result = 0;
	if (exists) {
		struct bt_file file;
		result = bt_file_read(path, TOKEN_KEY_BYTES_MAX, &file, err);
		if (result == 0) {
			bt_strbuf_append(out, file.data, file.length);
			bt_file_finish(&file);
		}
	}
	if (result == 0) {
		result = bt_jwt_key_create(bt_strbuf_str(out), &key, err);
	}
	if (result == 0 && !exists) {
		result = bt_jwt_key_write(key, out, err);
		int number = result == 0 ? bt_file_replace(path, 0600, bt_strbuf_str(out)) : 0;
		if (number != 0) {
			result = bt_error_set(err, BERTH_ERR_IO, "%s: %s", path, strerror(number));
		}
	}
	bt_jwt_key_destroy(key);
	return exists && result < 0 ? bt_error_wrap(err, result, "%s", path) : result;
}

static int open_data_dir(struct bt_cluster *cluster, struct berth_error *err)
{
	const struct bt_cluster_options *options = &cluster->options;
	if (options->data_dir == NULL) {
		return bt_cluster_clock_start(
			&cluster->clock, options->time_scale, options->start_ns, NULL, err);
	}
	struct bt_strbuf path = {0};
	char *folder = bt_strndup(options->data_dir, strlen(options->data_dir));
	int number = bt_make_folders(folder, 0700);
	int result = number == 0
		? 0
		: bt_error_set(err, BERTH_ERR_IO, "%s: %s", folder, strerror(number));
	bt_free(folder);
	if (result == 0) {
		bt_strbuf_printf(&path, "%s/store.db", options->data_dir);
		result = bt_store_open(cluster->store, bt_strbuf_c(&path), err);
	}
	if (result == 0) {
		bt_strbuf_reset(&path);
		bt_strbuf_printf(&path, "%s/clock", options->data_dir);
		result = bt_cluster_clock_start(&cluster->clock, options->time_scale,
			options->start_ns, bt_strbuf_c(&path), err);
	}
	if (result == 0) {
		bt_strbuf_reset(&path);
		bt_strbuf_printf(&path, "%s/sa.key", options->data_dir);
		result = open_token_key(bt_strbuf_c(&path), &cluster->token_key, err);
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
	*cluster = (struct bt_cluster){.options = *options, .clock.file = -1};
	if (options->config != NULL) {
		cluster->options.config = bt_config_ref(options->config);
	}
	struct bt_gates gates = options->gates != NULL ? *options->gates
		: options->config != NULL              ? options->config->gates
						       : bt_gates_default();
	cluster->options.gates = NULL;
	cluster->store = bt_store_create(&bt_store_default_options);
	int result = open_data_dir(cluster, err);
	if (result < 0) {
		bt_cluster_destroy(cluster);
		return result;
	}
	/*
	 * The API adds the protection finalizers to claims and volumes if all of these controllers
	 * run, because these remove them, or, as a kube-apiserver without controllers does, if none
	 * of them runs.
	 */
	static const char *const storage_controllers[] = {"persistentvolume-binder-controller",
		"persistentvolumeclaim-protection-controller",
		"persistentvolume-protection-controller"};
	size_t storage_count = 0;
	for (size_t i = 0; i < BT_ARRAY_LENGTH(storage_controllers); i++) {
		storage_count += bt_controllers_has(controllers, storage_controllers[i]);
	}
	struct bt_api_options api = {
		.store = cluster->store,
		.now_ns = bt_cluster_clock_now_ns,
		.clock_context = &cluster->clock,
		.seed = options->seed,
		.cpu_usage = options->cpu_usage,
		.memory_usage = options->memory_usage,
		.skip_validation = options->skip_validation,
		.admit_service_account =
			bt_controllers_has(controllers, "serviceaccount-controller"),
		.admit_taint_nodes = bt_controllers_has(controllers, "node-lifecycle-controller"),
		.admit_storage_protection = (storage_count == 0 ||
			storage_count == BT_ARRAY_LENGTH(storage_controllers)),
		.admit_pod_group_protection =
			bt_controllers_has(controllers, "podgroup-protection-controller"),
		.generic_workload = bt_gate_enabled(&gates, BT_GATE_GENERIC_WORKLOAD),
		.topology_aware_workload_scheduling =
			bt_gate_enabled(&gates, BT_GATE_TOPOLOGY_AWARE_WORKLOAD_SCHEDULING),
		.workload_aware_preemption =
			bt_gate_enabled(&gates, BT_GATE_WORKLOAD_AWARE_PREEMPTION),
		.dra_workload_resource_claims =
			bt_gate_enabled(&gates, BT_GATE_DRA_WORKLOAD_RESOURCE_CLAIMS),
		.workload_with_job = bt_gate_enabled(&gates, BT_GATE_WORKLOAD_WITH_JOB),
		.admit_token_volumes = options->admit_token_volumes,
		.has_rbac = options->has_rbac,
		.service_account_key =
			cluster->token_key.length != 0 ? bt_strbuf_c(&cluster->token_key) : NULL,
	};
	cluster->api = bt_api_create(&api);
	cluster->event_expiry = bt_event_expiry_create(
		cluster->api, options->event_ttl_ns != 0 ? options->event_ttl_ns : BT_EVENT_TTL_NS);
	*out_cluster = cluster;
	return 0;
}

void bt_cluster_destroy(struct bt_cluster *cluster)
{
	if (cluster == NULL) {
		return;
	}
	bt_store_off_change(cluster->store, cluster);
	bt_scheduler_destroy(cluster->scheduler);
	if (cluster->writes.api != NULL) {
		bt_cluster_writes_finish(&cluster->writes);
	}
	bt_vec_finish_each(&cluster->changes, release_change(each));
	bt_pod_commons_finish(&cluster->commons);
	bt_vec_finish(&cluster->kinds);
	bt_config_unref(cluster->options.config);
	bt_controllers_destroy(cluster->controllers);
	bt_event_expiry_destroy(cluster->event_expiry);
	bt_api_destroy(cluster->api);
	bt_store_destroy(cluster->store);
	bt_cluster_clock_finish(&cluster->clock);
	bt_strbuf_finish_wiped(&cluster->token_key);
	bt_free(cluster);
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
		int64_t now_ns = bt_api_now_ns(cluster->api);
		bt_cluster_writes_init(&cluster->writes, cluster->api);
		result = bt_scheduler_create(options->config, &options->engine,
			&cluster->writes.base.writer, &cluster->scheduler, err);
		cluster->writes.base.scheduler = cluster->scheduler;
		for (uint32_t i = 0; i < BT_ARRAY_LENGTH(watched) && result == 0; i++) {
			uint32_t collection =
				bt_typed_resource(cluster->api, watched[i])->collection;
			bt_vec_pad(&cluster->kinds, collection + 1, KIND_NONE);
			cluster->kinds.items[collection] = (uint8_t)watched[i];
			struct bt_store_walk walk =
				bt_store_walk_current(cluster->store, collection, BT_STR(""));
			struct bt_stored *stored;
			while (result == 0 && (stored = bt_store_walk_next(&walk, NULL)) != NULL) {
				struct bt_store_change change = {
					.rv = stored->rv, .type = BT_CHANGE_ADDED, .after = stored};
				result = observe(cluster, watched[i], &change, now_ns, err);
			}
			bt_store_walk_end(&walk);
		}
		bt_store_on_change(cluster->store, record_change, cluster);
		cluster->next_tick_ns = now_ns + TICK_NS;
	}
	return result;
}

int bt_cluster_run(struct bt_cluster *cluster, int64_t *out_next_ns, struct berth_error *err)
{
	int64_t next_ns =
		bt_controllers_run(cluster->controllers, bt_cluster_clock_now_ns(&cluster->clock));
	int64_t expiry_ns = bt_event_expiry_run(cluster->event_expiry);
	*out_next_ns = BT_MIN(expiry_ns, next_ns);
	if (cluster->scheduler == NULL) {
		return 0;
	}
	int64_t now_ns = bt_cluster_clock_now_ns(&cluster->clock);
	if (now_ns >= cluster->next_tick_ns) {
		/* The returned due time is not needed, because the tick runs every second. */
		(void)bt_event_recorder_tick(cluster->writes.base.events, now_ns);
		cluster->next_tick_ns = now_ns + TICK_NS;
	}
	int64_t attempt_ns = now_ns;
	for (uint32_t i = 0; i < ATTEMPTS_PER_RUN; i++) {
		int result = 0;
		/* Observing writes nothing, so the list does not grow meanwhile. */
		for (uint32_t j = 0; j < cluster->changes.count; j++) {
			struct bt_store_change *change = &cluster->changes.items[j];
			enum bt_kind kind = (enum bt_kind)cluster->kinds.items[change->collection];
			if (result == 0) {
				result = observe(cluster, kind, change, now_ns, err);
			}
			release_change(change);
		}
		cluster->changes.count = 0;
		if (result < 0) {
			return result;
		}
		struct bt_attempt attempt;
		attempt_ns = bt_scheduler_step(cluster->scheduler, now_ns, &attempt);
		if (attempt.outcome == BT_ATTEMPT_IDLE) {
			break;
		}
	}
	attempt_ns = BT_MIN(attempt_ns, cluster->next_tick_ns);
	*out_next_ns = BT_MIN(*out_next_ns, attempt_ns);
	return 0;
}

/** Does everything that is due now. *out_next_ns: the next due time, later than now. */
static int run_due(struct bt_cluster *cluster, int64_t *out_next_ns, struct berth_error *err)
{
	int64_t now_ns = bt_cluster_clock_now_ns(&cluster->clock);
	for (uint32_t i = 0; i < RUNS_PER_TIME_MAX; i++) {
		uint64_t rv = bt_store_rv(cluster->store);
		int result = bt_cluster_run(cluster, out_next_ns, err);
		/* After a write run again: the controllers must handle the scheduler's writes. */
		if (result < 0 || (*out_next_ns > now_ns && bt_store_rv(cluster->store) == rv)) {
			return result;
		}
	}
	return bt_error_set(err, BERTH_ERR_TOO_LARGE,
		"the cluster does not become idle: %d runs at the same time", RUNS_PER_TIME_MAX);
}

static int run_virtual(
	struct bt_cluster *cluster, int64_t end_ns, bool until_idle, struct berth_error *err)
{
	for (;;) {
		int64_t next_ns;
		int result = run_due(cluster, &next_ns, err);
		bool is_done = until_idle && cluster->changes.count == 0 &&
			!bt_controllers_have_work(cluster->controllers) &&
			!(cluster->scheduler != NULL && bt_scheduler_has_work(cluster->scheduler));
		if (result < 0 || is_done) {
			return result;
		}
		bt_cluster_clock_advance(&cluster->clock, BT_MIN(next_ns, end_ns));
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

uint64_t bt_cluster_node_count(const struct bt_cluster *cluster)
{
	return bt_store_count(
		cluster->store, bt_typed_resource(cluster->api, BT_KIND_NODE)->collection);
}
