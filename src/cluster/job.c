/* SPDX-License-Identifier: Apache-2.0 */
/** Jobs: pods that run to their end, each counted once. Spec: 14b section 6.3. */
#include <inttypes.h>

#include "api/time.h"
#include "cluster/owners.h"
#include "cluster/replicas.h"
#include "cluster/tree.h"
#include "server/condition.h"

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
	/** Pods that carry our finalizer, by "ns/job": they outlive their job without us. */
	struct bt_groups tracked;
	BT_VEC(struct bt_job_retry) retries;
};

/** One sync. */
struct bt_job_pass {
	struct bt_jobs *self;
	struct bt_sync *sync;
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
	bool more;           /* another sync at once */
};

/*
 * A finished pod is first written into status.uncountedTerminatedPods, then loses the finalizer,
 * then moves to the counters. So it is counted once, whenever the process ends.
 */

static void untrack(struct bt_sync *sync, struct bt_str pod_key)
{
	struct bt_json_value *pod = bt_hub_read(sync->hub, BT_HUB_PODS, pod_key, sync->arena);

	if (pod != NULL &&
		!bt_hub_drop_finalizer(sync->hub, sync->hub->kinds[BT_HUB_PODS], pod,
			BT_JOB_FINALIZER, sync->arena)) {
		sync->failed = true;
	}
}

/** Of an indexed job's pod "<job>-<index>-<random>"; -1: none. */
static int64_t job_index_of(const struct bt_job_pass *pass, const struct bt_indexed_pod *pod)
{
	struct bt_str name = bt_key_name(pod->key);
	struct bt_str job = bt_key_name(pass->sync->key);
	int64_t dash;
	int64_t index;

	if (name.length <= job.length + 1 || !bt_str_has_prefix(name, job)) {
		return -1;
	}
	name = bt_str_sub(name, job.length + 1, name.length);
	dash = bt_str_find_char(name, '-');
	if (dash <= 0 || !bt_str_parse_int64(bt_str_sub(name, 0, (uint32_t)dash), &index) ||
		index < 0 || index >= pass->completion_count) {
		return -1;
	}
	return index;
}

static void read_indexes(struct bt_job_pass *pass)
{
	struct bt_str text = bt_json_text_at(pass->sync->object, "status.completedIndexes");

	pass->done_indexes =
		BT_ARENA_NEW_ARRAY(pass->sync->arena, bool, (size_t)pass->completion_count + 1);
	while (text.length != 0) {
		int64_t comma = bt_str_find_char(text, ',');
		struct bt_str part = bt_str_sub(text, 0, comma < 0 ? text.length : (uint32_t)comma);
		int64_t dash = bt_str_find_char(part, '-');
		int64_t first = -1;
		int64_t last = -1;

		text = comma < 0 ? BT_STR("") : bt_str_sub(text, (uint32_t)comma + 1, text.length);
		(void)bt_str_parse_int64(
			bt_str_sub(part, 0, dash < 0 ? part.length : (uint32_t)dash), &first);
		last = first;
		if (dash >= 0) {
			(void)bt_str_parse_int64(
				bt_str_sub(part, (uint32_t)dash + 1, part.length), &last);
		}
		for (int64_t i = first; i >= 0 && i <= last && i < pass->completion_count; i++) {
			pass->done_indexes[i] = true;
		}
	}
}

/** "0-2,5" */
static struct bt_str job_indexes_text(const struct bt_job_pass *pass)
{
	struct bt_strbuf text = {0};
	struct bt_str copy;

	for (int64_t i = 0; i < pass->completion_count; i++) {
		int64_t end = i;
		if (!pass->done_indexes[i]) {
			continue;
		}
		while (end + 1 < pass->completion_count && pass->done_indexes[end + 1]) {
			end++;
		}
		bt_strbuf_printf(&text, "%s%" PRId64, text.length != 0 ? "," : "", i);
		if (end > i) {
			bt_strbuf_printf(&text, "%s%" PRId64, end > i + 1 ? "-" : ",", end);
		}
		i = end;
	}
	copy = bt_arena_str(pass->sync->arena, bt_strbuf_str(&text));
	bt_strbuf_finish(&text);
	return copy;
}

/** Succeeded, failed, or removed before it ever ran. */
static bool is_finished(const struct bt_indexed_pod *pod)
{
	return bt_pod_is_over(pod) || (pod->deleting && pod->node_name.length == 0);
}

static struct bt_job_retry *find_retry(struct bt_jobs *self, struct bt_str uid)
{
	uint64_t hash = bt_str_hash(uid);

	for (uint32_t i = 0; i < self->retries.count; i++) {
		if (self->retries.items[i].uid_hash == hash) {
			return &self->retries.items[i];
		}
	}
	return NULL;
}

static void forget_retry(struct bt_jobs *self, struct bt_str uid)
{
	const struct bt_job_retry *retry = find_retry(self, uid);

	if (retry != NULL) {
		bt_vec_remove_swap(&self->retries, (uint32_t)(retry - self->retries.items));
	}
}

static void note_failure(struct bt_job_pass *pass)
{
	struct bt_job_retry *retry = find_retry(pass->self, pass->uid);
	struct bt_job_retry fresh = {.uid_hash = bt_str_hash(pass->uid)};

	if (retry == NULL) {
		bt_vec_push(&pass->self->retries, fresh);
		retry = &pass->self->retries.items[pass->self->retries.count - 1];
	}
	retry->failures++;
	retry->last_ns = pass->sync->now_ns;
}

/** Count finished pods, read succeeded and failed. */
static void count_pods(struct bt_job_pass *pass)
{
	struct bt_sync *sync = pass->sync;
	struct bt_arena *arena = sync->arena;
	struct bt_json_value *succeeded =
		bt_tree_copy_array(arena, sync->object, "status.uncountedTerminatedPods.succeeded");
	struct bt_json_value *failed =
		bt_tree_copy_array(arena, sync->object, "status.uncountedTerminatedPods.failed");
	const struct bt_indexed_pod *first = bt_pod_index_of_owner(sync->hub, pass->uid);
	uint32_t added = 0;

	if (pass->indexed) {
		read_indexes(pass);
	}
	pass->active = bt_pod_index_active(sync->hub, pass->uid, arena, &pass->active_count);
	for (uint32_t i = 0; i < pass->active_count; i++) {
		pass->ready += pass->active[i]->ready;
	}
	pass->succeeded = bt_json_int64_at(sync->object, "status.succeeded", 0);
	pass->failed = bt_json_int64_at(sync->object, "status.failed", 0);
	/* Finished pods that are not in the lists yet are added. */
	for (const struct bt_indexed_pod *pod = first; pod != NULL; pod = pod->next_of_owner) {
		bool success = pod->phase == BT_POD_SUCCEEDED;
		int64_t index;

		pass->terminating += !bt_pod_is_active(pod) && !is_finished(pod);
		if (!pod->job_tracking || !is_finished(pod) || added == BT_JOB_BURST ||
			bt_json_has_text(succeeded, pod->uid) ||
			bt_json_has_text(failed, pod->uid)) {
			continue;
		}
		if (success) {
			forget_retry(pass->self, pass->uid);
		} else {
			note_failure(pass);
		}
		index = success && pass->indexed ? job_index_of(pass, pod) : -1;
		if (index >= 0) {
			pass->done_indexes[index] = true;
		}
		bt_json_append(
			arena, success ? succeeded : failed, bt_json_new_str(arena, pod->uid));
		added++;
	}
	pass->more = added == BT_JOB_BURST;
	if (added != 0) {
		struct bt_json_value *patch = bt_json_new(arena, BT_JSON_OBJECT);
		struct bt_json_value *status = bt_json_ensure_object(arena, patch, "status");
		struct bt_json_value *lists =
			bt_json_ensure_object(arena, status, "uncountedTerminatedPods");

		bt_json_set_value(
			arena, lists, "succeeded", bt_json_clone(arena, succeeded, false));
		bt_json_set_value(arena, lists, "failed", bt_json_clone(arena, failed, false));
		if (pass->indexed) {
			bt_json_set_str(arena, status, "completedIndexes", job_indexes_text(pass));
		}
		if (bt_hub_patch(sync->hub, sync->resource, BT_SUBRESOURCE_STATUS, sync->key, patch,
			    arena) != 200) {
			sync->failed = true;
			return;
		}
	}
	/* All that are listed lose their finalizer. */
	for (const struct bt_indexed_pod *pod = first; pod != NULL; pod = pod->next_of_owner) {
		if (pod->job_tracking && is_finished(pod) &&
			(bt_json_has_text(succeeded, pod->uid) ||
				bt_json_has_text(failed, pod->uid))) {
			untrack(sync, pod->key);
		}
	}
	if (sync->failed) {
		/* They stay in the lists. */
		return;
	}
	pass->failed += failed->count;
	pass->succeeded += succeeded->count;
	if (pass->indexed) {
		pass->succeeded = 0;
		for (int64_t i = 0; i < pass->completion_count; i++) {
			pass->succeeded += pass->done_indexes[i];
		}
	}
}

#define INDEX_NAME "batch.kubernetes.io/job-completion-index"

static void add_index_variable(
	struct bt_arena *arena, struct bt_json_value *spec, const char *member, struct bt_str index)
{
	struct bt_json_value *containers = bt_json_find(spec, member);

	for (uint32_t i = 0; containers != NULL && i < containers->count; i++) {
		struct bt_json_value *entry = bt_json_new(arena, BT_JSON_OBJECT);
		if (containers->elements[i]->type != BT_JSON_OBJECT) {
			continue;
		}
		bt_json_set_c(arena, entry, "name", "JOB_COMPLETION_INDEX");
		bt_json_set_str(arena, entry, "value", index);
		bt_json_append(
			arena, bt_json_ensure_array(arena, containers->elements[i], "env"), entry);
	}
}

/** index -1: the job has none. */
static bool make_pod(struct bt_job_pass *pass, int64_t index)
{
	struct bt_sync *sync = pass->sync;
	struct bt_arena scratch = {0};
	struct bt_str job = bt_key_name(sync->key);
	struct bt_str index_text = bt_arena_printf(&scratch, "%" PRId64, index);
	struct bt_str prefix = index < 0
		? bt_arena_printf(&scratch, "%.*s-", BT_STR_ARG(job))
		: bt_arena_printf(&scratch, "%.*s-%" PRId64 "-", BT_STR_ARG(job), index);
	struct bt_json_value *pod =
		bt_tree_from_template(&scratch, bt_json_object_at(sync->object, "spec.template"),
			bt_sync_owner_reference(sync, &scratch), prefix, true);
	struct bt_json_value *metadata = bt_json_ensure_object(&scratch, pod, "metadata");
	bool made;

	bt_json_append(&scratch, bt_json_ensure_array(&scratch, metadata, "finalizers"),
		bt_json_new_c(&scratch, BT_JOB_FINALIZER));
	if (index >= 0) {
		struct bt_json_value *spec = bt_json_ensure_object(&scratch, pod, "spec");
		bt_json_set_str(&scratch, bt_json_ensure_object(&scratch, metadata, "labels"),
			INDEX_NAME, index_text);
		bt_json_set_str(&scratch, bt_json_ensure_object(&scratch, metadata, "annotations"),
			INDEX_NAME, index_text);
		bt_json_set_str(
			&scratch, spec, "hostname", bt_str_sub(prefix, 0, prefix.length - 1));
		add_index_variable(&scratch, spec, "containers", index_text);
		add_index_variable(&scratch, spec, "initContainers", index_text);
	}
	made = bt_sync_create_pod(sync, pod, &scratch, NULL);
	bt_arena_finish(&scratch);
	return made;
}

static void make_pods(struct bt_job_pass *pass, int64_t count)
{
	bool *taken = NULL;
	int64_t index = -1;

	if (pass->indexed) {
		taken = BT_ARENA_NEW_ARRAY(
			pass->sync->arena, bool, (size_t)pass->completion_count + 1);
		memcpy(taken, pass->done_indexes, (size_t)pass->completion_count * sizeof(bool));
		for (uint32_t i = 0; i < pass->active_count; i++) {
			int64_t under_way = job_index_of(pass, pass->active[i]);
			if (under_way >= 0) {
				taken[under_way] = true;
			}
		}
	}
	pass->more = pass->more || count > BT_JOB_BURST;
	for (int64_t i = 0; i < count && i < BT_JOB_BURST; i++) {
		if (taken != NULL) {
			/* The lowest index that is neither done nor under way. */
			do {
				index++;
			} while (index < pass->completion_count && taken[index]);
			if (index >= pass->completion_count) {
				return;
			}
		}
		if (!make_pod(pass, index)) {
			return;
		}
	}
}

static void remove_active(struct bt_job_pass *pass, int64_t count)
{
	struct bt_sync *sync = pass->sync;

	bt_replicas_sort_for_deletion(
		pass->active, pass->active_count, sync->arena, sync->now_seconds);
	pass->more = pass->more || count > BT_JOB_BURST;
	for (uint32_t i = 0; i < count && i < BT_JOB_BURST; i++) {
		(void)bt_sync_delete_pod(sync, pass->active[i]);
	}
}

#define RETRY_FIRST_NS (INT64_C(10) * BT_NS_PER_SECOND)
#define RETRY_MAX_NS (INT64_C(600) * BT_NS_PER_SECOND)

static void finish(void *data)
{
	struct bt_jobs *self = data;

	bt_groups_finish(&self->tracked);
	bt_vec_finish(&self->retries);
}

static void observe(void *data, struct bt_hub *hub, const struct bt_observed *observed)
{
	struct bt_jobs *self = data;

	if (observed->kind == BT_HUB_PODS) {
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
		forget_retry(self, bt_json_text_at(observed->after, "metadata.uid"));
	}
	bt_hub_enqueue(hub, observed->key);
}

/* --- one job --- */

static void set_condition(struct bt_job_pass *pass, const char *type, const char *status,
	const char *reason, struct bt_str message)
{
	struct bt_tree_condition condition = {type, status, reason, message};

	(void)bt_tree_set_condition(
		pass->sync->arena, pass->conditions, &condition, false, pass->sync->now_ns);
}

static bool is_condition(const struct bt_job_pass *pass, const char *type)
{
	return bt_condition_is(pass->conditions, type, "True");
}

/** Why the job has failed; NULL: it has not. */
static const char *failure_of(struct bt_job_pass *pass, struct bt_str *out_message)
{
	struct bt_sync *sync = pass->sync;
	int64_t limit = bt_json_int64_at(sync->object, "spec.backoffLimit", 6);
	int64_t deadline = bt_json_int64_at(sync->object, "spec.activeDeadlineSeconds", -1);
	int64_t start = bt_tree_seconds(sync->object, "status.startTime");
	bool restarting = bt_str_equal_c(
		bt_json_text_at(sync->object, "spec.template.spec.restartPolicy"), "OnFailure");
	int64_t restarts = 0;

	for (uint32_t i = 0; i < pass->active_count; i++) {
		restarts += pass->active[i]->restart_count;
	}
	if (pass->failed > limit ||
		(restarting && (limit > 0 ? restarts >= limit : limit == 0 && restarts > 0))) {
		*out_message = BT_STR("Job has reached the specified backoff limit");
		return "BackoffLimitExceeded";
	}
	if (deadline >= 0 && deadline < INT32_MAX && start != 0) {
		int64_t due = bt_ns_of_seconds(start + deadline);
		if (due <= sync->now_ns) {
			*out_message = BT_STR("Job was active longer than specified deadline");
			return "DeadlineExceeded";
		}
		bt_hub_enqueue_at(sync->hub, sync->key, due);
	}
	return NULL;
}

/** Write the condition target; once pods have gone also the final one. Returns whether it was
 * written. */
static bool end_job(struct bt_job_pass *pass, const char *target, const char *final,
	const char *reason, struct bt_str message)
{
	set_condition(pass, target, "True", reason, message);
	if (pass->active_count != 0) {
		remove_active(pass, pass->active_count);
	} else if (pass->terminating == 0) {
		set_condition(pass, final, "True", reason, message);
		return true;
	}
	return false;
}

static void fail(struct bt_job_pass *pass, const char *reason, struct bt_str message)
{
	if (end_job(pass, "FailureTarget", "Failed", reason, message)) {
		bt_sync_event(pass->sync, "Warning", reason, "%.*s", BT_STR_ARG(message));
	}
}

static void manage(struct bt_job_pass *pass)
{
	struct bt_sync *sync = pass->sync;
	const struct bt_job_retry *retry = find_retry(pass->self, pass->uid);
	int64_t wanted = pass->parallelism;
	int64_t left = pass->completion_count - pass->succeeded;
	int64_t missing;
	int64_t at = 0;

	if (pass->completion_count >= 0) {
		wanted = wanted < left ? wanted : left;
	} else if (pass->succeeded > 0 && wanted > pass->active_count) {
		wanted = pass->active_count;
	}
	missing = wanted - pass->active_count;
	if (missing < 0) {
		remove_active(pass, -missing);
		return;
	}
	if (retry != NULL) {
		/* Pods are made again some time after failures. */
		int64_t wait = RETRY_FIRST_NS << (retry->failures < 8 ? retry->failures - 1 : 7);
		at = retry->last_ns + (wait < RETRY_MAX_NS ? wait : RETRY_MAX_NS);
	}
	if (missing > 0 && at > sync->now_ns) {
		bt_hub_enqueue_at(sync->hub, sync->key, at);
	} else if (missing > 0) {
		make_pods(pass, missing);
	}
}

static void write_status(struct bt_job_pass *pass, bool suspended)
{
	struct bt_arena *arena = pass->sync->arena;
	const struct bt_json_value *job = pass->sync->object;
	struct bt_json_value *status = bt_json_new(arena, BT_JSON_OBJECT);
	struct bt_json_value *lists =
		bt_json_ensure_object(arena, status, "uncountedTerminatedPods");
	struct bt_str now = bt_time_text(arena, pass->sync->now_ns);

	if (suspended) {
		bt_json_set_value(arena, status, "startTime", bt_json_new(arena, BT_JSON_NULL));
	} else if (bt_json_text_at(job, "status.startTime").length == 0 ||
		bt_condition_is(bt_json_array_at(job, "status.conditions"), "Suspended", "True")) {
		bt_json_set_str(arena, status, "startTime", now);
	}
	if (is_condition(pass, "Complete") &&
		bt_json_text_at(job, "status.completionTime").length == 0) {
		bt_json_set_str(arena, status, "completionTime", now);
	}
	bt_json_set_int64(arena, status, "active", pass->active_count);
	bt_json_set_int64(arena, status, "ready", pass->ready);
	bt_json_set_int64(arena, status, "terminating", pass->terminating);
	bt_json_set_int64(arena, status, "succeeded", pass->succeeded);
	bt_json_set_int64(arena, status, "failed", pass->failed);
	bt_json_set_value(arena, lists, "succeeded", bt_json_new(arena, BT_JSON_NULL));
	bt_json_set_value(arena, lists, "failed", bt_json_new(arena, BT_JSON_NULL));
	if (pass->indexed) {
		bt_json_set_str(arena, status, "completedIndexes", job_indexes_text(pass));
	}
	bt_json_set_value(arena, status, "conditions", pass->conditions);
	bt_sync_write_status(pass->sync, status);
}

static void bring_in_order(struct bt_job_pass *pass, bool suspended)
{
	struct bt_sync *sync = pass->sync;
	struct bt_str message = BT_STR("");
	const struct bt_json_value *target = bt_condition_find(pass->conditions, "FailureTarget");
	const char *reason = failure_of(pass, &message);

	if (is_condition(pass, "SuccessCriteriaMet") ||
		(pass->completion_count < 0 ? pass->succeeded > 0 && pass->active_count == 0
					    : pass->succeeded >= pass->completion_count)) {
		if (end_job(pass, "SuccessCriteriaMet", "Complete", "CompletionsReached",
			    BT_STR("Reached expected number of succeeded pods"))) {
			bt_sync_event(sync, "Normal", "Completed", "Job completed");
		}
	} else if (target != NULL && reason == NULL) {
		fail(pass, "BackoffLimitExceeded", bt_json_text_at(target, "message"));
	} else if (reason != NULL) {
		fail(pass, reason, message);
	} else if (suspended) {
		if (!is_condition(pass, "Suspended")) {
			bt_sync_event(sync, "Normal", "Suspended", "Job suspended");
		}
		set_condition(pass, "Suspended", "True", "JobSuspended", BT_STR("Job suspended"));
		remove_active(pass, pass->active_count);
	} else {
		if (is_condition(pass, "Suspended")) {
			set_condition(
				pass, "Suspended", "False", "JobResumed", BT_STR("Job resumed"));
			bt_sync_event(sync, "Normal", "Resumed", "Job resumed");
		}
		manage(pass);
	}
}

static bool sync(struct bt_sync *sync)
{
	const struct bt_json_value *job = sync->object;
	struct bt_job_pass pass = {
		.self = sync->data,
		.sync = sync,
		.uid = bt_json_text_at(job, "metadata.uid"),
		.conditions = bt_tree_copy_array(sync->arena, job, "status.conditions"),
		.indexed = bt_str_equal_c(bt_json_text_at(job, "spec.completionMode"), "Indexed"),
		.completion_count = bt_json_int64_at(job, "spec.completions", -1),
		.parallelism = bt_json_int64_at(job, "spec.parallelism", 1),
	};
	bool suspended = bt_json_bool_at(job, "spec.suspend", false);
	bool finished = is_condition(&pass, "Complete") || is_condition(&pass, "Failed");

	bt_hub_cancel_delay(sync->hub, sync->key);
	/* Pods that wait for a job that is gone (or was replaced). */
	BT_GROUPS_EACH (&pass.self->tracked, sync->key, at) {
		struct bt_str pod_key = bt_groups_key(&pass.self->tracked, at);
		const struct bt_indexed_pod *record = bt_pod_index_find(sync->hub, pod_key);

		if (record != NULL && !bt_str_equal(record->owner_uid, pass.uid)) {
			untrack(sync, pod_key);
		}
	}
	if (sync->failed || job == NULL ||
		(pass.indexed &&
			(pass.completion_count < 0 ||
				pass.completion_count > BT_JOB_INDEXES_MAX))) {
		return true;
	}
	count_pods(&pass);
	if (sync->failed) {
		return false;
	}
	/* No decision before all that finished are counted. */
	if (!pass.more && !finished && !bt_tree_is_deleting(job)) {
		bring_in_order(&pass, suspended);
	} else if (!pass.more && finished && pass.active_count != 0) {
		remove_active(&pass, pass.active_count);
	}
	write_status(&pass, suspended && !finished);
	if (pass.more) {
		bt_hub_enqueue(sync->hub, sync->key);
	}
	return true;
}

const struct bt_controller_ops bt_job_controller = {
	.name = "job-controller",
	.watches = BT_WATCH(BT_HUB_JOBS) | BT_WATCH(BT_HUB_PODS),
	.object = BT_HUB_JOBS,
	.syncs_gone = true,
	.data_bytes = sizeof(struct bt_jobs),
	.finish = finish,
	.observe = observe,
	.sync = sync,
};

/* --- finished jobs that are to go after a while --- */

static void observe_finished(
	BT_UNUSED void *data, struct bt_hub *hub, const struct bt_observed *observed)
{
	if (observed->type != BT_CHANGE_DELETED &&
		bt_json_int64_at(observed->after, "spec.ttlSecondsAfterFinished", -1) >= 0) {
		bt_hub_enqueue(hub, observed->key);
	}
}

static bool sync_finished(struct bt_sync *sync)
{
	const struct bt_json_value *job = sync->object;
	const struct bt_json_value *conditions = bt_json_array_at(job, "status.conditions");
	int64_t seconds = bt_json_int64_at(job, "spec.ttlSecondsAfterFinished", -1);
	const char *type = bt_condition_is(conditions, "Complete", "True") ? "Complete" : "Failed";
	int64_t due;

	if (seconds < 0 || bt_tree_is_deleting(job) || !bt_condition_is(conditions, type, "True")) {
		return true;
	}
	due = bt_ns_of_seconds(seconds +
		bt_tree_seconds(bt_condition_find(conditions, type), "lastTransitionTime"));
	if (due > sync->now_ns) {
		bt_hub_enqueue_at(sync->hub, sync->key, due);
		return true;
	}
	return bt_hub_is_done(bt_hub_delete(sync->hub, sync->resource, sync->key, -1,
		bt_json_text_at(job, "metadata.uid"), sync->arena));
}

const struct bt_controller_ops bt_ttl_after_finished_controller = {
	.name = "ttl-after-finished-controller",
	.watches = BT_WATCH(BT_HUB_JOBS),
	.object = BT_HUB_JOBS,
	.observe = observe_finished,
	.sync = sync_finished,
};
