/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLUSTER_CLUSTER_H
#define BT_CLUSTER_CLUSTER_H
/**
 * One cluster in memory: the API server's store and verbs, the controllers, an agent for each node,
 * and the scheduler, on one clock. `berth up` serves it over HTTP; other commands run it in virtual
 * time until it is idle. One thread. Spec: 14, 14b.
 *
 * Order of the calls:
 * - bt_cluster_create creates the store and the API server.
 * - bt_cluster_load (load.h) stores the initial objects.
 * - bt_cluster_start starts the controllers, the node agents and the scheduler.
 * - bt_cluster_run does a bounded amount of work; call it again and again. In virtual time,
 *   bt_cluster_run_until_idle does all the work instead.
 */
#include "api/pod_common.h"
#include "base/vec.h"
#include "cluster/clock.h"
#include "cluster/controllers.h"
#include "cluster/load.h"
#include "cluster/writes.h"
#include "sched/scheduler.h"
#include "server/api.h"

struct bt_cluster_options {
	/**
	 * Folder that keeps the store and the clock between runs; created if missing. NULL: memory
	 * only.
	 */
	const char *data_dir;
	/** Cluster seconds per second of the machine; 0: virtual time, which moves only by
	 * bt_cluster_run_until_idle and bt_cluster_run_until. */
	double time_scale;
	/** Start of virtual time, nanoseconds since 1970. */
	int64_t start_ns;
	/** Names are borrowed until bt_cluster_start. */
	struct bt_controllers_options controllers;
	struct bt_node_template nodes;
	/** The cluster takes a reference to the config. NULL: the cluster has no scheduler. */
	struct bt_config *config;
	/**
	 * Gates of the API and the controllers, borrowed for bt_cluster_create. NULL: the gates of
	 * config, or the defaults without config.
	 */
	const struct bt_gates *gates;
	struct bt_engine_options engine;
	/** Pods need their ServiceAccount and mount its token, as on a real API server. */
	bool admit_token_volumes;
	/** Authorize clients with RBAC; false: every user may do everything. */
	bool has_rbac;
	/** Seed of uids, generated names and the controllers' random choices. */
	uint64_t seed;
	/** Nanoseconds from the last write of an Event to its deletion; 0: an hour. */
	int64_t event_ttl_ns;
	/** As in struct bt_api_options. Borrowed. */
	const char *cpu_usage;
	const char *memory_usage;
	bool skip_validation; /* as in struct bt_api_options */
};

/** Callers only read members. */
struct bt_cluster {
	struct bt_store *store;
	struct bt_api *api;
	struct bt_hub *controllers; /* NULL before bt_cluster_start */
	struct bt_cluster_clock clock;
	/** The data folder had objects already, so bt_cluster_load would mix two clusters. */
	bool is_continued;
	/** Private from here. */
	struct bt_cluster_options options;
	struct bt_event_expiry *event_expiry;
	struct bt_scheduler
		*scheduler; /* NULL: there is no scheduler, and the following members are empty */
	struct bt_cluster_writes writes;
	BT_VEC(uint8_t) kinds; /* enum bt_kind of each collection; KIND_NONE: not watched */
	/** Changes that the scheduler has not observed yet, with references to the objects. */
	BT_VEC(struct bt_store_change) changes;
	struct bt_pod_commons commons;
	int64_t next_tick_ns;
	/**
	 * The key that signs the tokens of ServiceAccounts, kept in the data folder; empty without
	 * a data folder.
	 */
	struct bt_strbuf token_key;
};

BT_MUST_USE int bt_cluster_create(const struct bt_cluster_options *options,
	struct bt_cluster **out_cluster, struct berth_error *err);
/** NULL accepted. */
void bt_cluster_destroy(struct bt_cluster *cluster);
/**
 * Starts the controllers, adds the nodes of the options, and starts the scheduler, which first
 * observes every stored object. An error names the option that is wrong.
 */
BT_MUST_USE int bt_cluster_start(struct bt_cluster *cluster, struct berth_error *err);
/**
 * Lets the controllers, the event expiry and the scheduler do a bounded amount of due work.
 * *out_next_ns: when to call again at the latest, in cluster time; if not later than now, more work
 * is due. After an error the process must end, because the scheduler's cache is corrupted.
 */
BT_MUST_USE int bt_cluster_run(
	struct bt_cluster *cluster, int64_t *out_next_ns, struct berth_error *err);
/**
 * In virtual time: runs, and moves the clock from one due time to the next, until only periodic
 * work is left: leases, event expiry, schedules of CronJobs, flushes of unschedulable pods, retries
 * of controllers at their longest delay. Returns 0 then, or 1 when the next due time is after
 * limit_ns; the clock then stands at limit_ns. BERTH_ERR_*: an error of bt_cluster_run, or the
 * cluster never becomes idle.
 */
BT_MUST_USE int bt_cluster_run_until_idle(
	struct bt_cluster *cluster, int64_t limit_ns, struct berth_error *err);
/**
 * In virtual time: does everything that is due up to end_ns. Afterwards the clock stands at end_ns.
 */
BT_MUST_USE int bt_cluster_run_until(
	struct bt_cluster *cluster, int64_t end_ns, struct berth_error *err);

uint64_t bt_cluster_node_count(const struct bt_cluster *cluster);
#endif
