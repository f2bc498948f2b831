/* SPDX-License-Identifier: Apache-2.0 */
/** Jobs: pods that run to their end, each counted once. Spec: 14b section 6.3. */
#include <inttypes.h>

#include "api/time.h"
#include "cluster/owners.h"
#include "cluster/pod_index.h"
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

/*
 * A finished pod is first written into status.uncountedTerminatedPods, then loses the finalizer,
 * then moves to the counters. So it is counted once, whenever the process ends.
 */

static bool job_untrack(
	struct bt_hub *hub, struct bt_jobs *self, struct bt_str pod_key, struct bt_arena *arena)
{
	struct bt_json_value *pod = bt_api_read(bt_hub_api(hub), self->pods, pod_key, arena);
	struct bt_json_value *patch = bt_json_new(arena, BT_JSON_OBJECT);
	struct bt_json_value *metadata = bt_json_ensure_object(arena, patch, "metadata");
	struct bt_json_value *finalizers;
	uint16_t code;

	if (pod == NULL) {
		return true;
	}
	finalizers = bt_json_clone(arena, bt_json_array_at(pod, "metadata.finalizers"), false);
	bt_json_remove_text(finalizers, BT_STR(BT_JOB_FINALIZER));
	bt_json_set_str(arena, metadata, "uid", bt_json_text_at(pod, "metadata.uid"));
	bt_json_set_value(arena, metadata, "finalizers", finalizers);
	code = bt_hub_patch(hub, self->pods, BT_SUBRESOURCE_NONE, pod_key, patch, arena, NULL);
	return code == 200 || code == 404;
}

/** Of an indexed job's pod "<job>-<index>-<random>"; -1: none. */
static int64_t job_index_of(const struct bt_job_pass *pass, const struct bt_indexed_pod *pod)
{
	struct bt_str name = bt_key_name(pod->key);
	struct bt_str job = bt_key_name(pass->key);
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
	struct bt_str text = bt_json_text_at(pass->job, "status.completedIndexes");

	pass->done_indexes =
		BT_ARENA_NEW_ARRAY(pass->arena, bool, (size_t)pass->completion_count + 1);
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
	copy = bt_arena_str(pass->arena, bt_strbuf_str(&text));
	bt_strbuf_finish(&text);
	return copy;
}

static int64_t count_indexes(const struct bt_job_pass *pass)
{
	int64_t count = 0;

	for (int64_t i = 0; i < pass->completion_count; i++) {
		count += pass->done_indexes[i];
	}
	return count;
}

/** Succeeded, failed, or removed before it ever ran. */
static bool is_finished(const struct bt_indexed_pod *pod)
{
	return pod->phase == BT_POD_SUCCEEDED || pod->phase == BT_POD_FAILED ||
		(pod->deleting && pod->node_name.length == 0);
}

static void note_result(struct bt_job_pass *pass, bool succeeded)
{
	uint64_t hash = bt_str_hash(pass->uid);
	struct bt_job_retry fresh = {.uid_hash = hash};
	uint32_t i = 0;

	while (i < pass->self->retries.count && pass->self->retries.items[i].uid_hash != hash) {
		i++;
	}
	if (i == pass->self->retries.count) {
		if (succeeded) {
			return;
		}
		bt_vec_push(&pass->self->retries, fresh);
	}
	if (succeeded) {
		bt_vec_remove_swap(&pass->self->retries, i);
		return;
	}
	pass->self->retries.items[i].failures++;
	pass->self->retries.items[i].last_ns = pass->now_ns;
}

/** Finished pods that are not in the lists yet; true: there were some. */
static bool list_finished(
	struct bt_job_pass *pass, struct bt_json_value *succeeded, struct bt_json_value *failed)
{
	const struct bt_indexed_pod *pod = bt_pod_index_of_owner(pass->hub, pass->uid);
	uint32_t added = 0;

	for (; pod != NULL && added < BT_JOB_BURST; pod = pod->next_of_owner) {
		bool success = pod->phase == BT_POD_SUCCEEDED;
		if (!pod->job_tracking || !is_finished(pod) ||
			bt_json_has_text(succeeded, pod->uid) ||
			bt_json_has_text(failed, pod->uid)) {
			continue;
		}
		note_result(pass, success);
		if (success && pass->indexed) {
			int64_t index = job_index_of(pass, pod);
			if (index >= 0) {
				pass->done_indexes[index] = true;
			}
		}
		bt_json_append(pass->arena, success ? succeeded : failed,
			bt_json_new_str(pass->arena, pod->uid));
		added++;
	}
	pass->more = pass->more || added == BT_JOB_BURST;
	return added != 0;
}

static bool write_lists(
	struct bt_job_pass *pass, struct bt_json_value *succeeded, struct bt_json_value *failed)
{
	struct bt_arena *arena = pass->arena;
	struct bt_json_value *patch = bt_json_new(arena, BT_JSON_OBJECT);
	struct bt_json_value *status = bt_json_ensure_object(arena, patch, "status");
	struct bt_json_value *lists =
		bt_json_ensure_object(arena, status, "uncountedTerminatedPods");

	bt_json_set_value(arena, lists, "succeeded", bt_json_clone(arena, succeeded, false));
	bt_json_set_value(arena, lists, "failed", bt_json_clone(arena, failed, false));
	if (pass->indexed) {
		bt_json_set_str(arena, status, "completedIndexes", job_indexes_text(pass));
	}
	return bt_hub_patch(pass->hub, pass->self->jobs, BT_SUBRESOURCE_STATUS, pass->key, patch,
		       arena, NULL) == 200;
}

/** Count finished pods, read succeeded and failed. */
static void job_count(struct bt_job_pass *pass)
{
	struct bt_json_value *succeeded = bt_json_clone(pass->arena,
		bt_json_array_at(pass->job, "status.uncountedTerminatedPods.succeeded"), false);
	struct bt_json_value *failed = bt_json_clone(pass->arena,
		bt_json_array_at(pass->job, "status.uncountedTerminatedPods.failed"), false);

	if (pass->indexed) {
		read_indexes(pass);
	}
	const struct bt_indexed_pod *first = bt_pod_index_of_owner(pass->hub, pass->uid);

	pass->active = bt_pod_index_active(pass->hub, pass->uid, pass->arena, &pass->active_count);
	for (uint32_t i = 0; i < pass->active_count; i++) {
		pass->ready += pass->active[i]->ready;
	}
	for (const struct bt_indexed_pod *pod = first; pod != NULL; pod = pod->next_of_owner) {
		pass->terminating += !bt_pod_is_active(pod) && !is_finished(pod);
	}
	pass->succeeded = bt_json_int64_at(pass->job, "status.succeeded", 0);
	pass->failed = bt_json_int64_at(pass->job, "status.failed", 0);
	if (list_finished(pass, succeeded, failed) && !write_lists(pass, succeeded, failed)) {
		pass->wrong = true;
		return;
	}
	/* All that are listed lose their finalizer. */
	for (const struct bt_indexed_pod *pod = first; pod != NULL; pod = pod->next_of_owner) {
		if (!pod->job_tracking || !is_finished(pod) ||
			!(bt_json_has_text(succeeded, pod->uid) ||
				bt_json_has_text(failed, pod->uid))) {
			continue;
		}
		if (!job_untrack(pass->hub, pass->self, pod->key, pass->arena)) {
			pass->wrong = true;
		}
	}
	if (pass->wrong) {
		/* They stay in the lists. */
		return;
	}
	pass->failed += failed->count;
	pass->succeeded = pass->indexed ? count_indexes(pass) : pass->succeeded + succeeded->count;
}

#define INDEX_NAME "batch.kubernetes.io/job-completion-index"

static void tell(
	struct bt_job_pass *pass, const char *type, const char *reason, struct bt_str message)
{
	bt_hub_event(
		pass->hub, "job-controller", pass->self->jobs, pass->job, type, reason, message);
}

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
static struct bt_json_value *build_pod(
	struct bt_job_pass *pass, int64_t index, struct bt_arena *scratch)
{
	struct bt_str job = bt_key_name(pass->key);
	struct bt_str prefix = bt_arena_printf(scratch, "%.*s-", BT_STR_ARG(job));
	struct bt_str index_text = bt_arena_printf(scratch, "%" PRId64, index);
	struct bt_json_value *owner =
		bt_controller_owner_reference(scratch, pass->self->jobs, pass->job);
	struct bt_json_value *pod;
	struct bt_json_value *metadata;

	if (index >= 0) {
		prefix = bt_arena_printf(scratch, "%.*s-%" PRId64 "-", BT_STR_ARG(job), index);
	}
	pod = bt_tree_from_template(
		scratch, bt_json_object_at(pass->job, "spec.template"), owner, prefix, true);
	metadata = bt_json_ensure_object(scratch, pod, "metadata");
	bt_json_append(scratch, bt_json_ensure_array(scratch, metadata, "finalizers"),
		bt_json_new_c(scratch, BT_JOB_FINALIZER));
	if (index >= 0) {
		struct bt_json_value *spec = bt_json_ensure_object(scratch, pod, "spec");
		bt_json_set_str(scratch, bt_json_ensure_object(scratch, metadata, "labels"),
			INDEX_NAME, index_text);
		bt_json_set_str(scratch, bt_json_ensure_object(scratch, metadata, "annotations"),
			INDEX_NAME, index_text);
		bt_json_set_str(
			scratch, spec, "hostname", bt_str_sub(prefix, 0, prefix.length - 1));
		add_index_variable(scratch, spec, "containers", index_text);
		add_index_variable(scratch, spec, "initContainers", index_text);
	}
	return pod;
}

static bool make_pod(struct bt_job_pass *pass, int64_t index)
{
	struct bt_arena scratch = {0};
	struct bt_json_value *pod = build_pod(pass, index, &scratch);
	struct bt_api_answer answer;
	bool made = bt_hub_create(pass->hub, pass->self->pods, bt_key_namespace(pass->key), pod,
			    &scratch, &answer) == 201;

	if (made) {
		struct bt_str key = bt_stored_key(answer.object);
		tell(pass, "Normal", "SuccessfulCreate",
			bt_arena_printf(
				&scratch, "Created pod: %.*s", BT_STR_ARG(bt_key_name(key))));
	} else {
		tell(pass, "Warning", "FailedCreate",
			bt_arena_printf(&scratch, "Error creating: %.*s",
				BT_STR_ARG(answer.failure.message)));
	}
	bt_api_answer_finish(&answer);
	bt_arena_finish(&scratch);
	return made;
}

/** Lowest indexes that are neither done nor under way. */
static bool *taken_indexes(struct bt_job_pass *pass)
{
	bool *taken = BT_ARENA_NEW_ARRAY(pass->arena, bool, (size_t)pass->completion_count + 1);

	for (int64_t i = 0; i < pass->completion_count; i++) {
		taken[i] = pass->done_indexes[i];
	}
	for (uint32_t i = 0; i < pass->active_count; i++) {
		int64_t index = job_index_of(pass, pass->active[i]);
		if (index >= 0) {
			taken[index] = true;
		}
	}
	return taken;
}

static void job_make_pods(struct bt_job_pass *pass, int64_t count)
{
	const bool *taken = pass->indexed ? taken_indexes(pass) : NULL;
	int64_t index = -1;

	pass->more = pass->more || count > BT_JOB_BURST;
	for (int64_t i = 0; i < count && i < BT_JOB_BURST; i++) {
		if (taken != NULL) {
			do {
				index++;
			} while (index < pass->completion_count && taken[index]);
			if (index >= pass->completion_count) {
				return;
			}
		}
		if (!make_pod(pass, index)) {
			pass->wrong = true;
			return;
		}
	}
}

static void job_remove_active(struct bt_job_pass *pass, int64_t count)
{
	bt_replicas_sort_for_deletion(
		pass->active, pass->active_count, pass->arena, pass->now_ns / BT_NS_PER_SECOND);
	pass->more = pass->more || count > BT_JOB_BURST;
	for (uint32_t i = 0; i < count && i < BT_JOB_BURST; i++) {
		const struct bt_indexed_pod *pod = pass->active[i];
		uint16_t code = bt_hub_delete(
			pass->hub, pass->self->pods, pod->key, -1, pod->uid, pass->arena);
		if (code != 200 && code != 404) {
			pass->wrong = true;
			continue;
		}
		tell(pass, "Normal", "SuccessfulDelete",
			bt_arena_printf(pass->arena, "Deleted pod: %.*s",
				BT_STR_ARG(bt_key_name(pod->key))));
	}
}

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
		succeeded = job_untrack(hub, self, pod_key, arena) && succeeded;
	}
	return succeeded;
}

/* --- one job --- */

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
		job_remove_active(pass, pass->active_count);
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
		job_remove_active(pass, pass->active_count);
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
		job_remove_active(pass, -missing);
		return;
	}
	at = retry_at(pass);
	if (missing > 0 && at > pass->now_ns) {
		bt_hub_enqueue_at(pass->hub, pass->key, at);
	} else if (missing > 0) {
		job_make_pods(pass, missing);
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
		bt_json_set_str(arena, status, "completedIndexes", job_indexes_text(pass));
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
		job_remove_active(pass, pass->active_count);
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

	job_count(&pass);
	if (pass.wrong) {
		return false;
	}
	/* No decision before all that finished are counted. */
	if (!pass.more && !finished && !bt_tree_is_deleting(pass.job)) {
		bring_in_order(&pass, suspended);
	} else if (!pass.more && finished && pass.active_count != 0) {
		job_remove_active(&pass, pass.active_count);
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
