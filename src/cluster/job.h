/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLUSTER_JOB_H
#define BT_CLUSTER_JOB_H
/**
 * The parts of the job controller: job.c (what is done), job_count.c (finished pods, each counted
 * once), job_pods.c (making and removing pods). Spec: 14b section 6.3.
 */
#include "cluster/owners.h"
#include "cluster/pod_index.h"
#include "cluster/tree.h"

#define BT_JOB_FINALIZER "batch.kubernetes.io/job-tracking"
/** Pods made, removed or counted in one sync. */
#define BT_JOB_BURST 500
/** Completions of an indexed job, as upstream limits them. */
#define BT_JOB_INDEXES_MAX 100000

/** How often a job's pods failed in a row: retries wait. */
struct bt_job_retry {
	uint64_t uid_hash;
	uint32_t failures;
	int64_t last_ns;
};

struct bt_jobs {
	const struct bt_api_resource *jobs;
	const struct bt_api_resource *pods;
	/** Pods that carry our finalizer, by "ns/job": they outlive their job without us. */
	struct bt_groups tracked;
	BT_VEC(struct bt_job_retry) retries;
};

/** One sync. */
struct bt_job_pass {
	struct bt_jobs *self;
	struct bt_hub *hub;
	struct bt_arena *arena;
	struct bt_json_value *job;
	struct bt_str key;
	struct bt_str uid;
	struct bt_json_value *conditions; /* of the status to be written */
	bool indexed;
	bool *done_indexes;       /* of an indexed job: completion_count of them */
	int64_t completion_count; /* -1: any success completes it */
	int64_t parallelism;
	int64_t succeeded;
	int64_t failed;
	const struct bt_indexed_pod **active;
	uint32_t active_count;
	int64_t ready;
	int64_t terminating; /* deleting, not finished */
	int64_t now_ns;
	bool more;  /* another sync at once */
	bool wrong; /* a write did not succeed */
};

/** job_count.c: count what finished, read succeeded and failed. */
void bt_job_count(struct bt_job_pass *pass);
/** "0-2,5" */
struct bt_str bt_job_indexes_text(const struct bt_job_pass *pass);
/** Take our finalizer from the pod of the key. */
bool bt_job_untrack(
	struct bt_hub *hub, struct bt_jobs *self, struct bt_str pod_key, struct bt_arena *arena);
/** Of an indexed job's pod "<job>-<index>-<random>"; -1: none. */
int64_t bt_job_index_of(const struct bt_job_pass *pass, const struct bt_indexed_pod *pod);

/** job_pods.c */
void bt_job_make_pods(struct bt_job_pass *pass, int64_t count);
void bt_job_remove_active(struct bt_job_pass *pass, int64_t count);
#endif
