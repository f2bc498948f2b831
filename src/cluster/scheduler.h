/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLUSTER_SCHEDULER_H
#define BT_CLUSTER_SCHEDULER_H
/**
 * The scheduler beside an API server in the same process: the store's changes go in, and what it
 * decides is written through the API, under the same rules as everybody's writes.
 */
#include "sched/scheduler.h"
#include "server/api.h"

struct bt_cluster_scheduler;

/**
 * Everything in the store is observed first. api: borrowed; config: a reference is taken.
 * BERTH_ERR_*: the configuration's profiles cannot be built.
 */
BT_MUST_USE int bt_cluster_scheduler_create(struct bt_api *api, struct bt_config *config,
	const struct bt_engine_options *options, struct bt_cluster_scheduler **out_scheduler,
	struct berth_error *err);
void bt_cluster_scheduler_destroy(struct bt_cluster_scheduler *up);
/**
 * Observe what changed and try pods, a bounded number of them. *out_next_ns: when to be called
 * again at the latest, in the cluster's time. An error: the scheduler's cache is corrupted, the
 * process must end.
 */
BT_MUST_USE int bt_cluster_scheduler_run(struct bt_cluster_scheduler *up, int64_t now_ns,
	int64_t *out_next_ns, struct berth_error *err);
/** After a run: changes are not observed yet, or bt_scheduler_has_work. */
bool bt_cluster_scheduler_has_work(const struct bt_cluster_scheduler *up);
#endif
