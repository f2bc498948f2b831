/* SPDX-License-Identifier: Apache-2.0 */
/** CronJobs: creates a Job at each time of a schedule. Spec: 14b section 6.3. */
#include <inttypes.h>
#include <stdlib.h>

#include "api/time.h"
#include "cluster/owners.h"
#include "cluster/tree.h"
#include "server/condition.h"
#include "server/cron.h"

struct run {
	struct bt_tree_order order; /* creation time, key */
	struct bt_json_value *job;
	struct bt_str uid;
	bool complete;
	bool failed;
};

struct pass {
	struct bt_sync *sync;
	struct run *runs; /* oldest first */
	uint32_t run_count;
	struct bt_json_value *active; /* status.active as it will be written */
	struct bt_str last_schedule;
	struct bt_str last_success;
};

static void observe(void *data, struct bt_hub *hub, const struct bt_observed *observed)
{
	struct bt_groups *owned = data; /* keys of Jobs by their owner's uid */

	if (observed->kind == BT_HUB_CRON_JOBS) {
		bt_hub_enqueue(hub, observed->key);
	} else {
		bt_owners_group(owned, observed);
		bt_owners_enqueue(hub, observed, "CronJob", NULL);
	}
}

/* --- existing jobs --- */

static void collect_runs(struct pass *pass)
{
	struct bt_arena *arena = pass->sync->arena;
	struct bt_str uid = bt_json_text_at(pass->sync->object, "metadata.uid");
	uint32_t count;
	struct bt_json_value **jobs =
		bt_sync_read_group(pass->sync, BT_HUB_JOBS, pass->sync->data, uid, &count);

	pass->runs = BT_ARENA_NEW_ARRAY(arena, struct run, count);
	for (uint32_t i = 0; i < count; i++) {
		const struct bt_json_value *conditions =
			bt_json_array_at(jobs[i], "status.conditions");

		pass->runs[pass->run_count++] = (struct run){
			.order = {bt_tree_seconds(jobs[i], "metadata.creationTimestamp"),
				bt_tree_key(arena, jobs[i])},
			.job = jobs[i],
			.uid = bt_json_text_at(jobs[i], "metadata.uid"),
			.complete = bt_condition_is(conditions, "Complete", "True"),
			.failed = bt_condition_is(conditions, "Failed", "True"),
		};
	}
	qsort(pass->runs, pass->run_count, sizeof(*pass->runs), bt_tree_compare_ordered);
}

static struct run *find_run(struct pass *pass, struct bt_str uid)
{
	uint32_t index = BT_STR_INDEX(pass->runs, pass->run_count, uid, uid);

	return index < pass->run_count ? &pass->runs[index] : NULL;
}

/** Returns false and sets sync->failed if the delete failed. */
static bool remove_job(struct pass *pass, const struct run *run)
{
	struct bt_sync *sync = pass->sync;

	if (!bt_sync_delete(sync, BT_HUB_JOBS, run->order.name, run->uid)) {
		return false;
	}
	bt_sync_event(sync, "Normal", "SuccessfulDelete", "Deleted job %.*s",
		BT_STR_ARG(bt_key_name(run->order.name)));
	return true;
}

/**
 * Deletes the oldest finished Jobs beyond the history limit. complete true: deletes complete Jobs;
 * false: deletes failed Jobs.
 */
static void clean_history(struct pass *pass, bool complete, int64_t limit)
{
	int64_t count = 0;

	for (uint32_t i = 0; i < pass->run_count; i++) {
		count += complete ? pass->runs[i].complete : pass->runs[i].failed;
	}
	for (uint32_t i = 0; i < pass->run_count && count > limit; i++) {
		if (complete ? pass->runs[i].complete : pass->runs[i].failed) {
			(void)remove_job(pass, &pass->runs[i]);
			count--;
		}
	}
}

/* --- the next job --- */

/** zone_text: the time in the zone of the CronJob. */
static void start(struct pass *pass, int64_t time, struct bt_str zone_text)
{
	struct bt_sync *sync = pass->sync;
	struct bt_arena *arena = sync->arena;
	struct bt_str name = bt_arena_printf(
		arena, "%.*s-%" PRId64, BT_STR_ARG(bt_key_name(sync->key)), time / 60);
	struct bt_json_value *job =
		bt_tree_from_template(arena, bt_json_object_at(sync->object, "spec.jobTemplate"),
			bt_sync_owner_reference(sync, arena), name, false);
	struct bt_str time_text = bt_time_text(arena, bt_ns_of_seconds(time));
	struct bt_api_answer answer;

	bt_json_put(arena, job,
		"{metadata: {annotations: {batch.kubernetes.io/cronjob-scheduled-timestamp: %s}}}",
		zone_text);
	(void)bt_hub_create(
		sync->hub, BT_HUB_JOBS, bt_key_namespace(sync->key), job, arena, &answer);
	if (answer.code == 201) {
		job = bt_hub_read(sync->hub, BT_HUB_JOBS, bt_stored_key(answer.object), arena);
		bt_sync_event(
			sync, "Normal", "SuccessfulCreate", "Created job %.*s", BT_STR_ARG(name));
		bt_json_append(arena, pass->active,
			bt_controller_reference(arena, sync->hub->kinds[BT_HUB_JOBS], job));
		pass->last_schedule = time_text;
	} else if (answer.code == 409) {
		/*
		 * Conflict: a Job with this name exists. The name contains the time, so the Job of
		 * this time exists already.
		 */
		pass->last_schedule = time_text;
	} else {
		sync->failed = true;
		bt_sync_event(sync, "Warning", "FailedCreate", "Error creating job: %.*s",
			BT_STR_ARG(answer.failure.message));
	}
	bt_api_answer_finish(&answer);
}

static void keep_schedule(struct pass *pass)
{
	struct bt_sync *sync = pass->sync;
	struct bt_str text = bt_json_text_at(sync->object, "spec.schedule");
	struct bt_str policy = bt_json_text_at(sync->object, "spec.concurrencyPolicy");
	int64_t deadline = bt_json_int64_at(sync->object, "spec.startingDeadlineSeconds", -1);
	int64_t from = bt_tree_seconds(sync->object, "status.lastScheduleTime");
	struct bt_str zone_name = bt_json_text_at(sync->object, "spec.timeZone");
	struct bt_cron_zone zone = {0};
	struct bt_cron cron;

	if (!bt_cron_parse(text, &cron)) {
		bt_sync_event(sync, "Warning", "UnparseableSchedule", "unparseable schedule: %.*s",
			BT_STR_ARG(text));
		return;
	}
	if (zone_name.length != 0 && !bt_cron_zone_read(zone_name, &zone)) {
		bt_sync_event(sync, "Warning", "UnknownTimeZone", "invalid timeZone: \"%.*s\"",
			BT_STR_ARG(zone_name));
		return;
	}
	if (from == 0) {
		from = bt_tree_seconds(sync->object, "metadata.creationTimestamp");
	}
	int64_t next = bt_cron_next(&cron, &zone, sync->now_seconds);
	if (next != 0) {
		bt_hub_enqueue_periodic(sync->hub, sync->key, bt_ns_of_seconds(next));
	}
	int64_t due =
		from < sync->now_seconds ? bt_cron_last(&cron, &zone, from, sync->now_seconds) : 0;
	struct bt_str due_text = bt_cron_time_text(sync->arena, &zone, due);
	bt_cron_zone_finish(&zone);
	if (due == 0) {
		return;
	}
	if (deadline >= 0 && deadline < INT32_MAX && due + deadline < sync->now_seconds) {
		bt_sync_event(sync, "Warning", "MissSchedule",
			"Missed scheduled time to start a job: %.*s",
			BT_STR_ARG(bt_time_text(sync->arena, bt_ns_of_seconds(due))));
		return;
	}
	if (bt_str_equal_c(policy, "Forbid") && pass->active->count != 0) {
		bt_sync_event(sync, "Normal", "JobAlreadyActive",
			"Not starting job because prior execution is running and concurrency "
			"policy is Forbid");
		return;
	}
	while (bt_str_equal_c(policy, "Replace") && pass->active->count != 0) {
		uint32_t last = pass->active->count - 1;
		const struct run *run =
			find_run(pass, bt_json_text_at(pass->active->elements[last], "uid"));
		if (run != NULL && !remove_job(pass, run)) {
			return;
		}
		bt_json_remove_at(pass->active, last);
	}
	start(pass, due, due_text);
}

static bool sync(struct bt_sync *sync)
{
	const struct bt_json_value *cron_job = sync->object;
	struct bt_arena *arena = sync->arena;
	struct pass pass = {
		.sync = sync,
		.active = bt_tree_copy_array(arena, cron_job, "status.active"),
		.last_schedule = bt_json_text_at(cron_job, "status.lastScheduleTime"),
		.last_success = bt_json_text_at(cron_job, "status.lastSuccessfulTime"),
	};

	if (bt_tree_is_deleting(cron_job)) {
		return true;
	}
	collect_runs(&pass);
	/* Remove from status.active the Jobs that ended or were deleted. */
	for (uint32_t i = pass.active->count; i > 0; i--) {
		const struct bt_json_value *reference = pass.active->elements[i - 1];
		struct bt_str name = bt_json_text_at(reference, "name");
		const struct run *run = find_run(&pass, bt_json_text_at(reference, "uid"));

		if (run != NULL && !run->complete && !run->failed) {
			continue;
		}
		bt_json_remove_at(pass.active, i - 1);
		if (run == NULL) {
			bt_sync_event(sync, "Normal", "MissingJob", "Active job went missing: %.*s",
				BT_STR_ARG(name));
		} else {
			bt_sync_event(sync, "Normal", "SawCompletedJob",
				"Saw completed job: %.*s, condition: %s", BT_STR_ARG(name),
				run->complete ? "Complete" : "Failed");
		}
	}
	for (uint32_t i = 0; i < pass.run_count; i++) {
		struct bt_str ended = bt_json_text_at(pass.runs[i].job, "status.completionTime");
		/* Comparing the texts compares the times, because all have the same format. */
		if (pass.runs[i].complete && bt_str_compare(ended, pass.last_success) > 0) {
			pass.last_success = ended;
		}
	}
	clean_history(
		&pass, true, bt_json_int64_at(cron_job, "spec.successfulJobsHistoryLimit", 3));
	clean_history(&pass, false, bt_json_int64_at(cron_job, "spec.failedJobsHistoryLimit", 1));
	if (!bt_json_bool_at(cron_job, "spec.suspend", false)) {
		keep_schedule(&pass);
	}
	bt_sync_write_status(sync,
		bt_json_put(arena, NULL,
			"{active: %v, lastScheduleTime?: %s, lastSuccessfulTime?: %s}", pass.active,
			pass.last_schedule, pass.last_success));
	return true;
}

const struct bt_controller_ops bt_cron_job_controller = {
	.watches = BT_WATCH(BT_HUB_CRON_JOBS) | BT_WATCH(BT_HUB_JOBS),
	.object = BT_HUB_CRON_JOBS,
	.group_count = 1,
	.observe = observe,
	.sync = sync,
};
