/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/job.h"

#include "api/time.h"
#include "server/condition.h"

#include <inttypes.h>

#define RETRY_FIRST_NS (INT64_C(10) * BT_NS_PER_SECOND)
#define RETRY_MAX_NS (INT64_C(600) * BT_NS_PER_SECOND)

static void *create(struct bt_hub *hub)
{
	struct bt_jobs *self = BT_NEW(struct bt_jobs);
	const struct bt_resources *resources = bt_api_resources(bt_hub_api(hub));

	self->jobs = bt_resources_builtin(resources, "batch", "jobs");
	self->pods = bt_resources_builtin(resources, "", "pods");
	bt_groups_init(&self->tracked);
	return self;
}

static void destroy(void *data)
{
	struct bt_jobs *self = data;

	bt_groups_finish(&self->tracked);
	bt_vec_finish(&self->retries);
	bt_free(self);
}

/* --- changes --- */

static void observe(void *data, struct bt_hub *hub, const struct bt_observed *observed)
{
	struct bt_jobs *self = data;

	if (observed->resource == self->pods) {
		const struct bt_json_value *owner = bt_controller_owner_of(observed->after);
		const struct bt_indexed_pod *record = bt_pod_index_find(hub, observed->key);
		struct bt_arena arena = {0};

		bt_owners_enqueue(hub, observed, "Job", NULL);
		if (record == NULL || !record->job_tracking) {
			bt_groups_remove(&self->tracked, observed->key);
		} else if (bt_str_equal_c(bt_json_text_at(owner, "kind"), "Job")) {
			bt_groups_put(&self->tracked, observed->key,
				bt_api_key(&arena, bt_key_namespace(observed->key),
					bt_json_text_at(owner, "name")));
		}
		bt_arena_finish(&arena);
		return;
	}
	if (observed->type == BT_CHANGE_DELETED) {
		struct bt_str uid = bt_json_text_at(observed->after, "metadata.uid");
		uint64_t hash = bt_str_hash(uid);

		for (uint32_t i = self->retries.count; i > 0; i--) {
			if (self->retries.items[i - 1].uid_hash == hash) {
				bt_vec_remove_swap(&self->retries, i - 1);
			}
		}
	}
	bt_hub_enqueue(hub, observed->key);
}

/** Pods that wait for a job that is gone (or was replaced). */
static bool untrack_orphans(struct bt_jobs *self, struct bt_hub *hub, struct bt_str key,
	struct bt_str uid, struct bt_arena *arena)
{
	bool succeeded = true;

	for (uint32_t at = bt_groups_first(&self->tracked, key); at != BT_GROUPS_NONE;
		at = bt_groups_next(&self->tracked, at)) {
		struct bt_str pod_key = bt_groups_key(&self->tracked, at);
		const struct bt_indexed_pod *record = bt_pod_index_find(hub, pod_key);
		if (record == NULL || bt_str_equal(record->owner_uid, uid)) {
			continue;
		}
		succeeded = bt_job_untrack(hub, self, pod_key, arena) && succeeded;
	}
	return succeeded;
}

/* --- one job --- */

static void tell(
	struct bt_job_pass *pass, const char *type, const char *reason, struct bt_str message)
{
	bt_hub_event(
		pass->hub, "job-controller", pass->self->jobs, pass->job, type, reason, message);
}

static void set_condition(struct bt_job_pass *pass, const char *type, const char *status,
	const char *reason, struct bt_str message)
{
	struct bt_tree_condition condition = {type, status, reason, message};

	(void)bt_tree_set_condition(pass->arena, pass->conditions, &condition, false, pass->now_ns);
}

static bool is_condition(const struct bt_job_pass *pass, const char *type)
{
	return bt_condition_is(pass->conditions, type, "True");
}

static int64_t restarts_of(const struct bt_job_pass *pass)
{
	int64_t restarts = 0;

	for (uint32_t i = 0; i < pass->active_count; i++) {
		restarts += pass->active[i]->restart_count;
	}
	return restarts;
}

/** Why the job has failed; NULL: it has not. */
static const char *failure_of(struct bt_job_pass *pass, struct bt_str *out_message)
{
	int64_t limit = bt_json_int64_at(pass->job, "spec.backoffLimit", 6);
	int64_t deadline = bt_json_int64_at(pass->job, "spec.activeDeadlineSeconds", -1);
	int64_t start = bt_tree_seconds(pass->job, "status.startTime");
	bool restarting = bt_str_equal_c(
		bt_json_text_at(pass->job, "spec.template.spec.restartPolicy"), "OnFailure");

	if (pass->failed > limit || (restarting && limit > 0 && restarts_of(pass) >= limit) ||
		(restarting && limit == 0 && restarts_of(pass) > 0)) {
		*out_message = BT_STR("Job has reached the specified backoff limit");
		return "BackoffLimitExceeded";
	}
	if (deadline >= 0 && deadline < INT32_MAX && start != 0) {
		int64_t due = bt_ns_of_seconds(start + deadline);
		if (due <= pass->now_ns) {
			*out_message = BT_STR("Job was active longer than specified deadline");
			return "DeadlineExceeded";
		}
		bt_hub_enqueue_at(pass->hub, pass->key, due);
	}
	return NULL;
}

/** Pods go first, then the final condition is written. */
static void fail(struct bt_job_pass *pass, const char *reason, struct bt_str message)
{
	set_condition(pass, "FailureTarget", "True", reason, message);
	if (pass->active_count != 0) {
		bt_job_remove_active(pass, pass->active_count);
	} else if (pass->terminating == 0) {
		set_condition(pass, "Failed", "True", reason, message);
		tell(pass, "Warning", reason, message);
	}
}

static void complete(struct bt_job_pass *pass)
{
	struct bt_str message = BT_STR("Reached expected number of succeeded pods");

	set_condition(pass, "SuccessCriteriaMet", "True", "CompletionsReached", message);
	if (pass->active_count != 0) {
		bt_job_remove_active(pass, pass->active_count);
	} else if (pass->terminating == 0) {
		set_condition(pass, "Complete", "True", "CompletionsReached", message);
		tell(pass, "Normal", "Completed", BT_STR("Job completed"));
	}
}

/** When pods may be made again after failures. */
static int64_t retry_at(const struct bt_job_pass *pass)
{
	uint64_t hash = bt_str_hash(pass->uid);

	for (uint32_t i = 0; i < pass->self->retries.count; i++) {
		const struct bt_job_retry *retry = &pass->self->retries.items[i];
		if (retry->uid_hash == hash) {
			uint32_t doublings = retry->failures < 8 ? retry->failures - 1 : 7;
			int64_t wait = RETRY_FIRST_NS << doublings;
			return retry->last_ns + (wait < RETRY_MAX_NS ? wait : RETRY_MAX_NS);
		}
	}
	return 0;
}

static void manage(struct bt_job_pass *pass)
{
	int64_t wanted = pass->parallelism;
	int64_t left = pass->completion_count - pass->succeeded;
	int64_t missing;
	int64_t at;

	if (pass->completion_count >= 0) {
		wanted = wanted < left ? wanted : left;
	} else if (pass->succeeded > 0 && wanted > pass->active_count) {
		wanted = pass->active_count;
	}
	missing = wanted - pass->active_count;
	if (missing < 0) {
		bt_job_remove_active(pass, -missing);
		return;
	}
	at = retry_at(pass);
	if (missing > 0 && at > pass->now_ns) {
		bt_hub_enqueue_at(pass->hub, pass->key, at);
	} else if (missing > 0) {
		bt_job_make_pods(pass, missing);
	}
}

static bool write_status(struct bt_job_pass *pass, bool suspended)
{
	struct bt_arena *arena = pass->arena;
	struct bt_json_value *status = bt_json_new(arena, BT_JSON_OBJECT);
	struct bt_json_value *lists =
		bt_json_ensure_object(arena, status, "uncountedTerminatedPods");
	bool started = bt_json_text_at(pass->job, "status.startTime").length != 0;
	bool was_suspended = bt_condition_is(
		bt_json_array_at(pass->job, "status.conditions"), "Suspended", "True");

	if (suspended) {
		bt_json_set_value(arena, status, "startTime", bt_json_new(arena, BT_JSON_NULL));
	} else if (!started || was_suspended) {
		bt_json_set_str(arena, status, "startTime", bt_time_text(arena, pass->now_ns));
	}
	if (is_condition(pass, "Complete") &&
		bt_json_text_at(pass->job, "status.completionTime").length == 0) {
		bt_json_set_str(arena, status, "completionTime", bt_time_text(arena, pass->now_ns));
	}
	bt_json_set_int64(arena, status, "active", pass->active_count);
	bt_json_set_int64(arena, status, "ready", pass->ready);
	bt_json_set_int64(arena, status, "terminating", pass->terminating);
	bt_json_set_int64(arena, status, "succeeded", pass->succeeded);
	bt_json_set_int64(arena, status, "failed", pass->failed);
	bt_json_set_value(arena, lists, "succeeded", bt_json_new(arena, BT_JSON_NULL));
	bt_json_set_value(arena, lists, "failed", bt_json_new(arena, BT_JSON_NULL));
	if (pass->indexed) {
		bt_json_set_str(arena, status, "completedIndexes", bt_job_indexes_text(pass));
	}
	bt_json_set_value(arena, status, "conditions", pass->conditions);
	return bt_tree_write_status(pass->hub, pass->self->jobs, pass->job, status, arena);
}

static void bring_in_order(struct bt_job_pass *pass, bool suspended)
{
	struct bt_str message = BT_STR("");
	const struct bt_json_value *target = bt_condition_find(pass->conditions, "FailureTarget");
	const char *reason = failure_of(pass, &message);

	if (is_condition(pass, "SuccessCriteriaMet") ||
		(pass->completion_count < 0 ? pass->succeeded > 0 && pass->active_count == 0
					    : pass->succeeded >= pass->completion_count)) {
		complete(pass);
	} else if (target != NULL && reason == NULL) {
		fail(pass, "BackoffLimitExceeded", bt_json_text_at(target, "message"));
	} else if (reason != NULL) {
		fail(pass, reason, message);
	} else if (suspended) {
		if (!is_condition(pass, "Suspended")) {
			tell(pass, "Normal", "Suspended", BT_STR("Job suspended"));
		}
		set_condition(pass, "Suspended", "True", "JobSuspended", BT_STR("Job suspended"));
		bt_job_remove_active(pass, pass->active_count);
	} else {
		if (is_condition(pass, "Suspended")) {
			set_condition(
				pass, "Suspended", "False", "JobResumed", BT_STR("Job resumed"));
			tell(pass, "Normal", "Resumed", BT_STR("Job resumed"));
		}
		manage(pass);
	}
}

static bool sync(
	void *data, struct bt_hub *hub, struct bt_str key, struct bt_arena *arena, int64_t now_ns)
{
	struct bt_jobs *self = data;
	struct bt_job_pass pass = {
		.self = self,
		.hub = hub,
		.arena = arena,
		.key = key,
		.now_ns = now_ns,
	};

	bt_hub_cancel_delay(hub, key);
	pass.job = bt_api_read(bt_hub_api(hub), self->jobs, key, arena);
	pass.uid = bt_json_text_at(pass.job, "metadata.uid");
	if (!untrack_orphans(self, hub, key, pass.uid, arena)) {
		return false;
	}
	if (pass.job == NULL) {
		return true;
	}
	pass.conditions =
		bt_json_clone(arena, bt_json_array_at(pass.job, "status.conditions"), false);
	pass.indexed = bt_str_equal_c(bt_json_text_at(pass.job, "spec.completionMode"), "Indexed");
	pass.completion_count = bt_json_int64_at(pass.job, "spec.completions", -1);
	pass.parallelism = bt_json_int64_at(pass.job, "spec.parallelism", 1);
	if (pass.indexed &&
		(pass.completion_count < 0 || pass.completion_count > BT_JOB_INDEXES_MAX)) {
		return true;
	}
	bool suspended = bt_json_bool_at(pass.job, "spec.suspend", false);
	bool finished = is_condition(&pass, "Complete") || is_condition(&pass, "Failed");

	bt_job_count(&pass);
	if (pass.wrong) {
		return false;
	}
	/* No decision before all that finished are counted. */
	if (!pass.more && !finished && !bt_tree_is_deleting(pass.job)) {
		bring_in_order(&pass, suspended);
	} else if (!pass.more && finished && pass.active_count != 0) {
		bt_job_remove_active(&pass, pass.active_count);
	}
	if (!write_status(&pass, suspended && !finished)) {
		return false;
	}
	if (pass.more) {
		bt_hub_enqueue(pass.hub, pass.key);
	}
	return !pass.wrong;
}

static const char *const resources[] = {"batch/jobs", "pods", NULL};

const struct bt_controller_ops bt_job_controller = {
	.name = "job-controller",
	.resources = resources,
	.create = create,
	.destroy = destroy,
	.observe = observe,
	.sync = sync,
};

/* --- finished jobs that are to go after a while --- */

static void observe_finished(void *data, struct bt_hub *hub, const struct bt_observed *observed)
{
	(void)data;
	if (observed->type != BT_CHANGE_DELETED &&
		bt_json_int64_at(observed->after, "spec.ttlSecondsAfterFinished", -1) >= 0) {
		bt_hub_enqueue(hub, observed->key);
	}
}

static bool sync_finished(
	void *data, struct bt_hub *hub, struct bt_str key, struct bt_arena *arena, int64_t now_ns)
{
	const struct bt_api_resource *jobs =
		bt_resources_builtin(bt_api_resources(bt_hub_api(hub)), "batch", "jobs");
	const struct bt_json_value *job = bt_api_read(bt_hub_api(hub), jobs, key, arena);
	const struct bt_json_value *conditions = bt_json_array_at(job, "status.conditions");
	int64_t seconds = bt_json_int64_at(job, "spec.ttlSecondsAfterFinished", -1);
	const char *type = bt_condition_is(conditions, "Complete", "True") ? "Complete" : "Failed";
	int64_t due;
	uint16_t code;

	(void)data;
	if (job == NULL || seconds < 0 || bt_tree_is_deleting(job) ||
		!bt_condition_is(conditions, type, "True")) {
		return true;
	}
	due = bt_ns_of_seconds(seconds +
		bt_tree_seconds(bt_condition_find(conditions, type), "lastTransitionTime"));
	if (due > now_ns) {
		bt_hub_enqueue_at(hub, key, due);
		return true;
	}
	code = bt_hub_delete(hub, jobs, key, -1, bt_json_text_at(job, "metadata.uid"), arena);
	return code == 200 || code == 404;
}

static const char *const finished_resources[] = {"batch/jobs", NULL};

const struct bt_controller_ops bt_ttl_after_finished_controller = {
	.name = "ttl-after-finished-controller",
	.resources = finished_resources,
	.observe = observe_finished,
	.sync = sync_finished,
};
