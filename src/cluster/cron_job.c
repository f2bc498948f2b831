/* SPDX-License-Identifier: Apache-2.0 */
/** CronJobs: a Job at each time of a schedule. Spec: 14b section 6.3. Schedules are in UTC. */
#include <inttypes.h>
#include <stdlib.h>

#include "api/time.h"
#include "cluster/cron.h"
#include "cluster/owners.h"
#include "cluster/tree.h"
#include "server/condition.h"

struct cron_jobs {
	const struct bt_api_resource *cron_jobs;
	const struct bt_api_resource *jobs;
	struct bt_groups owned; /* keys of Jobs by their owner's uid */
};

struct run {
	struct bt_json_value *job;
	struct bt_str key;
	struct bt_str uid;
	int64_t created_seconds;
	bool complete;
	bool failed;
};

/** One sync. */
struct pass {
	struct cron_jobs *self;
	struct bt_hub *hub;
	struct bt_arena *arena;
	struct bt_json_value *cron_job;
	struct bt_str key;
	struct run *runs; /* oldest first */
	uint32_t run_count;
	struct bt_json_value *active; /* of the status to be written */
	struct bt_str last_schedule;
	struct bt_str last_success;
	int64_t now_seconds;
	bool failed;
};

static void *create(struct bt_hub *hub)
{
	struct cron_jobs *self = BT_NEW(struct cron_jobs);
	const struct bt_resources *resources = bt_api_resources(bt_hub_api(hub));

	self->cron_jobs = bt_resources_builtin(resources, "batch", "cronjobs");
	self->jobs = bt_resources_builtin(resources, "batch", "jobs");
	bt_groups_init(&self->owned);
	return self;
}

static void destroy(void *data)
{
	struct cron_jobs *self = data;

	bt_groups_finish(&self->owned);
	bt_free(self);
}

static void observe(void *data, struct bt_hub *hub, const struct bt_observed *observed)
{
	struct cron_jobs *self = data;
	const struct bt_json_value *owner;

	if (observed->resource == self->cron_jobs) {
		bt_hub_enqueue(hub, observed->key);
		return;
	}
	owner = bt_controller_owner_of(observed->after);
	if (observed->type == BT_CHANGE_DELETED || owner == NULL) {
		bt_groups_remove(&self->owned, observed->key);
	} else {
		bt_groups_put(&self->owned, observed->key, bt_json_text_at(owner, "uid"));
	}
	bt_owners_enqueue(hub, observed, "CronJob", NULL);
}

static void tell(struct pass *pass, const char *type, const char *reason, struct bt_str message)
{
	bt_hub_event(pass->hub, "cronjob-controller", pass->self->cron_jobs, pass->cron_job, type,
		reason, message);
}

/* --- its jobs --- */

static int compare_runs(const void *left, const void *right)
{
	const struct run *a = left;
	const struct run *b = right;

	if (a->created_seconds != b->created_seconds) {
		return a->created_seconds < b->created_seconds ? -1 : 1;
	}
	return bt_str_compare(a->key, b->key);
}

static void collect(struct pass *pass)
{
	struct bt_str uid = bt_json_text_at(pass->cron_job, "metadata.uid");
	const struct bt_groups *owned = &pass->self->owned;
	uint32_t count = 0;
	uint32_t at;

	for (at = bt_groups_first(owned, uid); at != BT_GROUPS_NONE;
		at = bt_groups_next(owned, at)) {
		count++;
	}
	pass->runs = BT_ARENA_NEW_ARRAY(pass->arena, struct run, count);
	for (at = bt_groups_first(owned, uid); at != BT_GROUPS_NONE;
		at = bt_groups_next(owned, at)) {
		struct run *run = &pass->runs[pass->run_count];
		const struct bt_json_value *conditions;
		run->key = bt_arena_str(pass->arena, bt_groups_key(owned, at));
		run->job =
			bt_api_read(bt_hub_api(pass->hub), pass->self->jobs, run->key, pass->arena);
		if (run->job == NULL) {
			continue;
		}
		conditions = bt_json_array_at(run->job, "status.conditions");
		run->uid = bt_json_text_at(run->job, "metadata.uid");
		run->created_seconds = bt_tree_seconds(run->job, "metadata.creationTimestamp");
		run->complete = bt_condition_is(conditions, "Complete", "True");
		run->failed = bt_condition_is(conditions, "Failed", "True");
		pass->run_count++;
	}
	qsort(pass->runs, pass->run_count, sizeof(*pass->runs), compare_runs);
}

static struct run *find_run(struct pass *pass, struct bt_str uid)
{
	for (uint32_t i = 0; i < pass->run_count; i++) {
		if (bt_str_equal(pass->runs[i].uid, uid)) {
			return &pass->runs[i];
		}
	}
	return NULL;
}

static void remove_job(struct pass *pass, const struct run *run)
{
	uint16_t code =
		bt_hub_delete(pass->hub, pass->self->jobs, run->key, -1, run->uid, pass->arena);

	if (code != 200 && code != 404) {
		pass->failed = true;
		return;
	}
	tell(pass, "Normal", "SuccessfulDelete",
		bt_arena_printf(
			pass->arena, "Deleted job %.*s", BT_STR_ARG(bt_key_name(run->key))));
}

/** Oldest first, until as many are left as the limit says. */
static void clean_history(struct pass *pass, bool complete, int64_t limit)
{
	int64_t count = 0;

	for (uint32_t i = 0; i < pass->run_count; i++) {
		count += complete ? pass->runs[i].complete : pass->runs[i].failed;
	}
	for (uint32_t i = 0; i < pass->run_count && count > limit; i++) {
		if (complete ? pass->runs[i].complete : pass->runs[i].failed) {
			remove_job(pass, &pass->runs[i]);
			count--;
		}
	}
}

/* --- the next one --- */

static void start(struct pass *pass, int64_t time)
{
	struct bt_arena *arena = pass->arena;
	struct bt_str name = bt_arena_printf(
		arena, "%.*s-%" PRId64, BT_STR_ARG(bt_key_name(pass->key)), time / 60);
	struct bt_json_value *job =
		bt_tree_from_template(arena, bt_json_object_at(pass->cron_job, "spec.jobTemplate"),
			bt_controller_owner_reference(arena, pass->self->cron_jobs, pass->cron_job),
			name, false);
	struct bt_json_value *reference = bt_json_new(arena, BT_JSON_OBJECT);
	struct bt_str time_text = bt_time_text(arena, bt_ns_of_seconds(time));
	struct bt_api_answer answer;
	const struct bt_json_value *made;

	bt_json_set_str(arena,
		bt_json_ensure_object(
			arena, bt_json_ensure_object(arena, job, "metadata"), "annotations"),
		"batch.kubernetes.io/cronjob-scheduled-timestamp", time_text);
	(void)bt_hub_create(
		pass->hub, pass->self->jobs, bt_key_namespace(pass->key), job, arena, &answer);
	if (answer.code != 201) {
		/* The name tells the time: it was made already. */
		pass->failed = answer.code != 409;
		if (pass->failed) {
			tell(pass, "Warning", "FailedCreate",
				bt_arena_printf(arena, "Error creating job: %.*s",
					BT_STR_ARG(answer.failure.message)));
		} else {
			pass->last_schedule = time_text;
		}
		bt_api_answer_finish(&answer);
		return;
	}
	made = bt_api_read(
		bt_hub_api(pass->hub), pass->self->jobs, bt_stored_key(answer.object), arena);
	bt_api_answer_finish(&answer);
	tell(pass, "Normal", "SuccessfulCreate",
		bt_arena_printf(arena, "Created job %.*s", BT_STR_ARG(name)));
	bt_json_set_c(arena, reference, "kind", "Job");
	bt_json_set_str(arena, reference, "namespace", bt_key_namespace(pass->key));
	bt_json_set_str(arena, reference, "name", name);
	bt_json_set_str(arena, reference, "uid", bt_json_text_at(made, "metadata.uid"));
	bt_json_set_c(arena, reference, "apiVersion", "batch/v1");
	bt_json_set_str(arena, reference, "resourceVersion",
		bt_json_text_at(made, "metadata.resourceVersion"));
	bt_json_append(arena, pass->active, reference);
	pass->last_schedule = time_text;
}

/** What the policy says about jobs that still run; false: no new one. */
static bool make_room(struct pass *pass)
{
	struct bt_str policy = bt_json_text_at(pass->cron_job, "spec.concurrencyPolicy");

	if (bt_str_equal_c(policy, "Forbid") && pass->active->count != 0) {
		tell(pass, "Normal", "JobAlreadyActive",
			BT_STR("Not starting job because prior execution is running and "
			       "concurrency "
			       "policy is Forbid"));
		return false;
	}
	while (bt_str_equal_c(policy, "Replace") && pass->active->count != 0) {
		uint32_t last = pass->active->count - 1;
		const struct run *run =
			find_run(pass, bt_json_text_at(pass->active->elements[last], "uid"));
		if (run != NULL) {
			remove_job(pass, run);
		}
		bt_json_remove_at(pass->active, last);
	}
	return true;
}

static void keep_schedule(struct pass *pass)
{
	struct bt_str text = bt_json_text_at(pass->cron_job, "spec.schedule");
	int64_t deadline = bt_json_int64_at(pass->cron_job, "spec.startingDeadlineSeconds", -1);
	int64_t from = bt_tree_seconds(pass->cron_job, "status.lastScheduleTime");
	struct bt_cron cron;
	int64_t due;
	int64_t next;

	if (!bt_cron_parse(text, &cron)) {
		tell(pass, "Warning", "UnparseableSchedule",
			bt_arena_printf(
				pass->arena, "unparseable schedule: %.*s", BT_STR_ARG(text)));
		return;
	}
	if (from == 0) {
		from = bt_tree_seconds(pass->cron_job, "metadata.creationTimestamp");
	}
	next = bt_cron_next(&cron, pass->now_seconds);
	if (next != 0) {
		bt_hub_enqueue_periodic(pass->hub, pass->key, bt_ns_of_seconds(next));
	}
	due = from < pass->now_seconds ? bt_cron_last(&cron, from, pass->now_seconds) : 0;
	if (due == 0) {
		return;
	}
	if (deadline >= 0 && deadline < INT32_MAX && due + deadline < pass->now_seconds) {
		tell(pass, "Warning", "MissSchedule",
			bt_arena_printf(pass->arena, "Missed scheduled time to start a job: %.*s",
				BT_STR_ARG(bt_time_text(pass->arena, bt_ns_of_seconds(due)))));
		return;
	}
	if (make_room(pass)) {
		start(pass, due);
	}
}

static bool write_status(struct pass *pass)
{
	struct bt_json_value *status = bt_json_new(pass->arena, BT_JSON_OBJECT);

	bt_json_set_value(pass->arena, status, "active", pass->active);
	if (pass->last_schedule.length != 0) {
		bt_json_set_str(pass->arena, status, "lastScheduleTime", pass->last_schedule);
	}
	if (pass->last_success.length != 0) {
		bt_json_set_str(pass->arena, status, "lastSuccessfulTime", pass->last_success);
	}
	return bt_tree_write_status(
		pass->hub, pass->self->cron_jobs, pass->cron_job, status, pass->arena);
}

static bool sync(
	void *data, struct bt_hub *hub, struct bt_str key, struct bt_arena *arena, int64_t now_ns)
{
	struct pass pass = {
		.self = data,
		.hub = hub,
		.arena = arena,
		.key = key,
		.now_seconds = now_ns / BT_NS_PER_SECOND,
	};

	pass.cron_job = bt_api_read(bt_hub_api(hub), pass.self->cron_jobs, key, arena);
	if (pass.cron_job == NULL || bt_tree_is_deleting(pass.cron_job)) {
		return true;
	}
	pass.active = bt_json_clone(arena, bt_json_array_at(pass.cron_job, "status.active"), false);
	pass.last_schedule = bt_json_text_at(pass.cron_job, "status.lastScheduleTime");
	pass.last_success = bt_json_text_at(pass.cron_job, "status.lastSuccessfulTime");
	collect(&pass);
	/* Jobs that ended, or are gone, are no longer active. */
	for (uint32_t i = pass.active->count; i > 0; i--) {
		const struct bt_json_value *reference = pass.active->elements[i - 1];
		struct bt_str name = bt_json_text_at(reference, "name");
		const struct run *run = find_run(&pass, bt_json_text_at(reference, "uid"));

		if (run != NULL && !run->complete && !run->failed) {
			continue;
		}
		bt_json_remove_at(pass.active, i - 1);
		if (run == NULL) {
			tell(&pass, "Normal", "MissingJob",
				bt_arena_printf(pass.arena, "Active job went missing: %.*s",
					BT_STR_ARG(name)));
			continue;
		}
		tell(&pass, "Normal", "SawCompletedJob",
			bt_arena_printf(pass.arena, "Saw completed job: %.*s, condition: %s",
				BT_STR_ARG(name), run->complete ? "Complete" : "Failed"));
	}
	for (uint32_t i = 0; i < pass.run_count; i++) {
		struct bt_str ended = bt_json_text_at(pass.runs[i].job, "status.completionTime");
		/* Texts of one form compare as the times do. */
		if (pass.runs[i].complete && bt_str_compare(ended, pass.last_success) > 0) {
			pass.last_success = ended;
		}
	}
	clean_history(
		&pass, true, bt_json_int64_at(pass.cron_job, "spec.successfulJobsHistoryLimit", 3));
	clean_history(
		&pass, false, bt_json_int64_at(pass.cron_job, "spec.failedJobsHistoryLimit", 1));
	if (!bt_json_bool_at(pass.cron_job, "spec.suspend", false)) {
		keep_schedule(&pass);
	}
	return write_status(&pass) && !pass.failed;
}

static const char *const resources[] = {"batch/cronjobs", "batch/jobs", NULL};

const struct bt_controller_ops bt_cron_job_controller = {
	.name = "cronjob-controller",
	.resources = resources,
	.create = create,
	.destroy = destroy,
	.observe = observe,
	.sync = sync,
};
