/* SPDX-License-Identifier: Apache-2.0 */
#include "test_main.h"

#include "cluster/tree.h"
#include "server/cron.h"
#include "workload_world.h"

#define KEY "default/work"
#define JOB(more) \
	"{'metadata':{'name':'work'},'spec':{" more "'template':{'spec':{" \
	"'restartPolicy':'Never','containers':[{'name':'c','image':'i:1'}]}}}}"

static int64_t number(struct world *world, const char *path)
{
	return world_int(world, "batch", "jobs", KEY, path);
}

static struct bt_str condition(struct world *world, const char *type, const char *member)
{
	return world_condition(world, "batch", "jobs", KEY, type, member);
}

/** Sets the phase of at most count running pods, which ends the pods; returns their number. */
static uint32_t end_pods(struct world *world, const char *phase, uint32_t count)
{
	struct bt_str keys[2048];
	uint32_t all = world_list(world, "", "pods", NULL, NULL, keys, 2048);
	uint32_t ended = 0;

	for (uint32_t i = 0; i < all && ended < count; i++) {
		const struct bt_json_value *pod = world_get(world, "", "pods", keys[i].data);
		if (bt_str_equal_c(bt_json_text_at(pod, "status.phase"), "Running")) {
			world_set_pod(world, keys[i].data, phase, false);
			ended++;
		}
	}
	return ended;
}

START_TEST(test_job__edge_14b_29_three_completions_two_at_a_time)
{
	struct world world;
	struct bt_str keys[4];
	const struct bt_json_value *pod;

	world_init(&world);
	world_create(&world, "batch", "jobs", JOB("'completions':3,'parallelism':2,"), 201);
	world_settle(&world);
	ck_assert_uint_eq(world_active_pods(&world), 2);
	ck_assert_int_eq(number(&world, "status.active"), 2);
	ck_assert_int_eq(number(&world, "status.ready"), 2);
	ck_assert_uint_eq(world_list(&world, "", "pods", NULL, NULL, keys, 4), 2);
	pod = world_get(&world, "", "pods", keys[0].data);
	ck_assert(bt_str_equal_c(bt_tree_label(pod, "batch.kubernetes.io/job-name"), "work"));
	ck_assert_uint_eq(bt_json_array_at(pod, "metadata.finalizers")->count, 1);
	ck_assert_uint_eq(end_pods(&world, "Succeeded", 2), 2);
	world_settle(&world);
	ck_assert_uint_eq(world_active_pods(&world), 1);
	ck_assert_int_eq(number(&world, "status.succeeded"), 2);
	ck_assert_uint_eq(end_pods(&world, "Succeeded", 1), 1);
	world_settle(&world);
	ck_assert_int_eq(number(&world, "status.succeeded"), 3);
	ck_assert_int_eq(number(&world, "status.active"), 0);
	ck_assert(bt_str_equal_c(condition(&world, "Complete", "status"), "True"));
	ck_assert(bt_str_equal_c(condition(&world, "SuccessCriteriaMet", "status"), "True"));
	ck_assert_uint_ne(
		bt_json_text_at(world_get(&world, "batch", "jobs", KEY), "status.completionTime")
			.length,
		0);
	/* Finished pods remain, without the controller's finalizer. */
	ck_assert_uint_eq(world_list(&world, "", "pods", NULL, NULL, keys, 4), 3);
	pod = world_get(&world, "", "pods", keys[0].data);
	ck_assert_uint_eq(bt_json_array_at(pod, "metadata.finalizers")->count, 0);
	world_finish(&world);
}
END_TEST

START_TEST(test_job__fails_beyond_the_limit_and_waits_between)
{
	struct world world;

	world_init(&world);
	world_create(&world, "batch", "jobs", JOB("'backoffLimit':2,"), 201);
	world_settle(&world);
	for (int64_t wait = 10, i = 1; i <= 2; i++, wait *= 2) {
		ck_assert_uint_eq(end_pods(&world, "Failed", 1), 1);
		world_settle(&world);
		ck_assert_int_eq(number(&world, "status.failed"), i);
		ck_assert_uint_eq(world_active_pods(&world), 0);
		world_advance(&world, wait - 1);
		world_settle(&world);
		ck_assert_uint_eq(world_active_pods(&world), 0);
		world_advance(&world, 1);
		world_settle(&world);
		ck_assert_uint_eq(world_active_pods(&world), 1);
	}
	ck_assert_uint_eq(end_pods(&world, "Failed", 1), 1);
	world_settle(&world);
	ck_assert(bt_str_equal_c(condition(&world, "Failed", "reason"), "BackoffLimitExceeded"));
	ck_assert(bt_str_equal_c(condition(&world, "FailureTarget", "status"), "True"));
	world_finish(&world);
}
END_TEST

START_TEST(test_job__many_at_once_are_each_counted)
{
	struct world world;

	world_init(&world);
	world_create(&world, "batch", "jobs", JOB("'completions':1200,'parallelism':1200,"), 201);
	world_settle(&world);
	ck_assert_int_eq(number(&world, "status.active"), 1200);
	ck_assert_uint_eq(end_pods(&world, "Succeeded", 1100), 1100);
	world_settle(&world);
	ck_assert_int_eq(number(&world, "status.succeeded"), 1100);
	ck_assert_int_eq(number(&world, "status.active"), 100);
	ck_assert_uint_eq(end_pods(&world, "Succeeded", 100), 100);
	world_settle(&world);
	ck_assert_int_eq(number(&world, "status.succeeded"), 1200);
	ck_assert(bt_str_equal_c(condition(&world, "Complete", "status"), "True"));
	world_finish(&world);
}
END_TEST

START_TEST(test_job__indexes_are_each_done_once)
{
	struct world world;

	world_init(&world);
	world_create(&world, "batch", "jobs",
		JOB("'completionMode':'Indexed','completions':4,'parallelism':3,"), 201);
	world_settle(&world);
	ck_assert_uint_eq(end_pods(&world, "Succeeded", 1), 1);
	world_settle(&world);
	ck_assert(bt_str_equal_c(
		bt_json_text_at(world_get(&world, "batch", "jobs", KEY), "status.completedIndexes"),
		"0"));
	ck_assert_uint_eq(end_pods(&world, "Succeeded", 3), 3);
	world_settle(&world);
	ck_assert(bt_str_equal_c(
		bt_json_text_at(world_get(&world, "batch", "jobs", KEY), "status.completedIndexes"),
		"0-3"));
	ck_assert(bt_str_equal_c(condition(&world, "Complete", "status"), "True"));
	world_finish(&world);
}
END_TEST

/** Returns a part of an object as JSON with ' for ". */
static const char *part(struct world *world, const char *group, const char *resource,
	const char *key, const char *path)
{
	const struct bt_json_value *value =
		bt_json_find_path(world_get(world, group, resource, key), path);
	struct bt_strbuf text = {0};
	struct bt_json_writer writer;
	char *copy;

	bt_json_writer_init(&writer, &text, 0);
	bt_json_write_value(&writer, value);
	copy = bt_arena_alloc_bytes(&world->arena, text.length + 1);
	for (uint32_t i = 0; i < text.length; i++) {
		copy[i] = (char)(text.data[i] == '"' ? '\'' : text.data[i]);
	}
	copy[text.length] = '\0';
	bt_strbuf_finish(&text);
	return copy;
}

#define SCHEDULING "scheduling.k8s.io"
#define GANG "'completionMode':'Indexed','completions':3,'parallelism':3,"

START_TEST(test_job__gang_has_a_workload_and_a_group)
{
	struct world world;
	struct bt_str workload;
	struct bt_str group;
	struct bt_str pods[4];

	world_init_gangs(&world);
	world_create(&world, "batch", "jobs", JOB(GANG), 201);
	world_settle(&world);
	ck_assert_uint_eq(world_list(&world, SCHEDULING, "workloads", NULL, NULL, &workload, 1), 1);
	ck_assert_uint_eq(world_list(&world, SCHEDULING, "podgroups", NULL, NULL, &group, 1), 1);
	ck_assert_str_eq(part(&world, SCHEDULING, "workloads", workload.data, "spec"),
		"{'controllerRef':{'apiGroup':'batch','kind':'Job','name':'work'},"
		"'podGroupTemplates':[{'name':'workers','schedulingPolicy':{'gang':{"
		"'minCount':3}}}]}");
	ck_assert_str_eq(part(&world, SCHEDULING, "podgroups", group.data, "spec.schedulingPolicy"),
		"{'gang':{'minCount':3}}");
	ck_assert(
		bt_str_equal(bt_json_text_at(world_get(&world, SCHEDULING, "podgroups", group.data),
				     "spec.podGroupTemplateRef.workload.workloadName"),
			bt_str_sub(workload, 8, workload.length)));
	ck_assert_uint_eq(bt_json_array_at(world_get(&world, SCHEDULING, "podgroups", group.data),
				  "metadata.ownerReferences")
				  ->count,
		2);
	ck_assert_uint_eq(world_list(&world, "", "pods", NULL, NULL, pods, 4), 3);
	for (uint32_t i = 0; i < 3; i++) {
		ck_assert(bt_str_equal(bt_json_text_at(world_get(&world, "", "pods", pods[i].data),
					       "spec.schedulingGroup.podGroupName"),
			bt_str_sub(group, 8, group.length)));
	}
	/* A replacement pod joins the existing PodGroup. */
	ck_assert_uint_eq(end_pods(&world, "Failed", 1), 1);
	world_settle(&world);
	world_advance(&world, 60);
	world_settle(&world);
	ck_assert_uint_eq(world_list(&world, "", "pods", NULL, NULL, pods, 4), 4);
	for (uint32_t i = 0; i < 4; i++) {
		ck_assert(bt_str_equal(bt_json_text_at(world_get(&world, "", "pods", pods[i].data),
					       "spec.schedulingGroup.podGroupName"),
			bt_str_sub(group, 8, group.length)));
	}
	ck_assert_uint_eq(world_list(&world, SCHEDULING, "podgroups", NULL, NULL, NULL, 0), 1);
	world_finish(&world);
}
END_TEST

START_TEST(test_job__other_shapes_are_no_gangs)
{
	static const char *const shapes[] = {
		JOB("'completionMode':'Indexed','completions':4,'parallelism':3,"),
		JOB("'completionMode':'Indexed','completions':1,'parallelism':1,"),
		JOB("'completions':3,'parallelism':3,"),
	};
	struct world world;

	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(shapes); i++) {
		world_init_gangs(&world);
		world_create(&world, "batch", "jobs", shapes[i], 201);
		world_settle(&world);
		ck_assert_uint_gt(world_list(&world, "", "pods", NULL, NULL, NULL, 0), 0);
		ck_assert_uint_eq(
			world_list(&world, SCHEDULING, "workloads", NULL, NULL, NULL, 0), 0);
		world_finish(&world);
	}
}
END_TEST

START_TEST(test_job__makes_its_own_workload_once_the_user_deleted_theirs)
{
	struct world world;
	struct bt_str names[2];

	world_init_gangs(&world);
	world_create(&world, SCHEDULING, "workloads",
		"{'metadata':{'name':'mine','namespace':'default'},'spec':{'controllerRef':{"
		"'apiGroup':'batch','kind':'Job','name':'work'},'podGroupTemplates':[{'name':'t',"
		"'schedulingPolicy':{'gang':{'minCount':2}}}]}}",
		201);
	world_settle(&world);
	world_delete(&world, SCHEDULING, "workloads", "default/mine");
	world_create(&world, "batch", "jobs", JOB(GANG), 201);
	world_settle(&world);
	ck_assert_uint_eq(world_list(&world, SCHEDULING, "workloads", NULL, NULL, names, 2), 1);
	ck_assert(bt_str_has_prefix(names[0], BT_STR("default/work-")));
	ck_assert_uint_eq(world_list(&world, SCHEDULING, "podgroups", NULL, NULL, names, 2), 1);
	ck_assert_str_eq(
		part(&world, SCHEDULING, "podgroups", names[0].data, "spec.schedulingPolicy"),
		"{'gang':{'minCount':3}}");
	world_finish(&world);
}
END_TEST

START_TEST(test_job__takes_the_workload_of_a_user)
{
	struct world world;
	struct bt_str group;

	world_init_gangs(&world);
	world_create(&world, SCHEDULING, "workloads",
		"{'metadata':{'name':'mine','namespace':'default'},'spec':{'controllerRef':{"
		"'apiGroup':'batch','kind':'Job','name':'work'},'podGroupTemplates':[{'name':'t',"
		"'schedulingPolicy':{'gang':{'minCount':2}}}]}}",
		201);
	world_create(&world, "batch", "jobs", JOB(GANG), 201);
	world_settle(&world);
	ck_assert_uint_eq(world_list(&world, SCHEDULING, "workloads", NULL, NULL, NULL, 0), 1);
	ck_assert_uint_eq(world_list(&world, SCHEDULING, "podgroups", NULL, NULL, &group, 1), 1);
	ck_assert_str_eq(part(&world, SCHEDULING, "podgroups", group.data, "spec.schedulingPolicy"),
		"{'gang':{'minCount':2}}");
	ck_assert(bt_str_has_prefix(group, BT_STR("default/mine-t-")));
	world_finish(&world);
}
END_TEST

START_TEST(test_job__ambiguous_workloads_make_no_gang)
{
	struct world world;
	struct bt_str pods[3];

	world_init_gangs(&world);
	for (uint32_t i = 0; i < 2; i++) {
		world_create(&world, SCHEDULING, "workloads",
			i == 0 ? "{'metadata':{'name':'a','namespace':'default'},'spec':{"
				 "'controllerRef':{'apiGroup':'batch','kind':'Job','name':'work'},"
				 "'podGroupTemplates':[{'name':'t','schedulingPolicy':{'basic':{"
				 "}}}]}}"
			       : "{'metadata':{'name':'b','namespace':'default'},'spec':{"
				 "'controllerRef':{'apiGroup':'batch','kind':'Job','name':'work'},"
				 "'podGroupTemplates':[{'name':'t','schedulingPolicy':{'basic':{"
				 "}}}]}}",
			201);
	}
	world_create(&world, "batch", "jobs", JOB(GANG), 201);
	world_settle(&world);
	ck_assert_uint_eq(world_list(&world, SCHEDULING, "podgroups", NULL, NULL, NULL, 0), 0);
	ck_assert_uint_eq(world_list(&world, "", "pods", NULL, NULL, pods, 3), 3);
	ck_assert_ptr_null(bt_json_find_path(
		world_get(&world, "", "pods", pods[0].data), "spec.schedulingGroup"));
	world_finish(&world);
}
END_TEST

START_TEST(test_job__suspended_has_no_pods)
{
	struct world world;

	world_init(&world);
	world_create(&world, "batch", "jobs", JOB("'suspend':true,"), 201);
	world_settle(&world);
	ck_assert_uint_eq(world_active_pods(&world), 0);
	ck_assert(bt_str_equal_c(condition(&world, "Suspended", "status"), "True"));
	ck_assert(bt_str_equal(condition(&world, "Suspended", "lastProbeTime"),
		condition(&world, "Suspended", "lastTransitionTime")));
	world_patch(
		&world, "batch", "jobs", KEY, BT_SUBRESOURCE_NONE, "{'spec':{'suspend':false}}");
	world_settle(&world);
	ck_assert_uint_eq(world_active_pods(&world), 1);
	ck_assert(bt_str_equal_c(condition(&world, "Suspended", "status"), "False"));
	world_finish(&world);
}
END_TEST

START_TEST(test_job__deadline_and_time_to_live)
{
	struct world world;

	world_init(&world);
	world_create(&world, "batch", "jobs",
		JOB("'activeDeadlineSeconds':30,'ttlSecondsAfterFinished':5,"), 201);
	world_settle(&world);
	world_advance(&world, 30);
	world_settle(&world);
	ck_assert(bt_str_equal_c(condition(&world, "Failed", "reason"), "DeadlineExceeded"));
	ck_assert_uint_eq(world_active_pods(&world), 0);
	world_advance(&world, 5);
	world_settle(&world);
	ck_assert_ptr_null(world_get(&world, "batch", "jobs", KEY));
	world_finish(&world);
}
END_TEST

START_TEST(test_job__pods_of_a_deleted_job_can_go)
{
	struct world world;
	struct bt_str keys[4];

	world_init(&world);
	world_create(&world, "batch", "jobs", JOB(""), 201);
	world_settle(&world);
	ck_assert_uint_eq(world_list(&world, "", "pods", NULL, NULL, keys, 4), 1);
	world_delete(&world, "batch", "jobs", KEY);
	world_delete(&world, "", "pods", keys[0].data);
	world_settle(&world);
	ck_assert_uint_eq(world_list(&world, "", "pods", NULL, NULL, keys, 4), 0);
	world_finish(&world);
}
END_TEST

START_TEST(test_cron_job__makes_jobs_on_time)
{
	struct world world;
	struct bt_str jobs[8];

	world_init(&world);
	/* 2027-01-15T08:00:00Z */
	world_create(&world, "batch", "cronjobs",
		"{'metadata':{'name':'tick'},'spec':{'schedule':'*/10 * * * *',"
		"'concurrencyPolicy':'Forbid','jobTemplate':{'spec':{'template':{'spec':"
		"{'restartPolicy':'Never','containers':[{'name':'c','image':'i:1'}]}}}}}}",
		201);
	world_settle(&world);
	ck_assert_uint_eq(world_list(&world, "batch", "jobs", NULL, NULL, jobs, 8), 0);
	world_advance(&world, 600);
	world_settle(&world);
	ck_assert_uint_eq(world_list(&world, "batch", "jobs", NULL, NULL, jobs, 8), 1);
	ck_assert(bt_str_equal_c(jobs[0], "default/tick-30000010"));
	/* concurrencyPolicy Forbid: no new job while a job runs. */
	world_advance(&world, 600);
	world_settle(&world);
	ck_assert_uint_eq(world_list(&world, "batch", "jobs", NULL, NULL, jobs, 8), 1);
	for (uint32_t i = 0; i < 5; i++) {
		ck_assert_uint_eq(end_pods(&world, "Succeeded", 1), 1);
		world_settle(&world);
		world_advance(&world, 600);
		world_settle(&world);
	}
	/* Three finished jobs and one running job. */
	ck_assert_uint_eq(world_list(&world, "batch", "jobs", NULL, NULL, jobs, 8), 4);
	ck_assert_uint_eq(bt_json_array_at(world_get(&world, "batch", "cronjobs", "default/tick"),
				  "status.active")
				  ->count,
		1);
	world_finish(&world);
}
END_TEST

START_TEST(test_cron__next_times)
{
	/* 2027-01-15T08:00:00Z, a Friday. */
	const int64_t start = INT64_C(1800000000);
	static const struct {
		const char *schedule;
		int64_t wait; /* -1: no schedule */
	} rows[] = {
		{"* * * * *", 60},
		{"*/15 * * * *", 900},
		{"5 8 * * *", 300},
		{"0 8 * * *", 86400},
		{"0 9-17/4 * * MON-FRI", 3600},
		{"0 0 * * sun", 144000},
		{"0 0 1 feb *", 1440000},
		{"0 0 1 * 0", 144000},
		{"30 8,9 * * *", 1800},
		{"@hourly", 3600},
		{"@daily", 57600},
		{"@every 1h30m", 5400},
		{"@every 1.5h", 5400},
		{"@every 2500ms", 2},
		{"0 0 31 2 *", -2},
		{"", -1},
		{"* * * *", -1},
		{"60 * * * *", -1},
		{"* * * * * *", -1},
		{"5-1 * * * *", -1},
		{"*/0 * * * *", -1},
		{"a * * * *", -1},
		{"1, * * * *", -1},
		{"@never", -1},
		{"@every 0s", -1},
	};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct bt_cron cron;
		bool parsed = bt_cron_parse(bt_str_from(rows[i].schedule), &cron);
		int64_t next;
		ck_assert_msg(parsed == (rows[i].wait != -1), "%s", rows[i].schedule);
		if (!parsed) {
			continue;
		}
		next = bt_cron_next(&cron, &(const struct bt_cron_zone){0}, start);
		ck_assert_msg(next == (rows[i].wait == -2 ? 0 : start + rows[i].wait), "%s: %lld",
			rows[i].schedule, (long long)(next - start));
	}
}
END_TEST

START_TEST(test_cron__last_of_a_long_pause)
{
	const int64_t now = INT64_C(1800000000) + 59;
	const struct bt_cron_zone utc = {0};
	struct bt_cron cron;

	ck_assert(bt_cron_parse(BT_STR("* * * * *"), &cron));
	ck_assert_int_eq(bt_cron_last(&cron, &utc, 0, now), INT64_C(1800000000));
	ck_assert(bt_cron_parse(BT_STR("0 0 1 1 *"), &cron));
	ck_assert_int_eq(bt_cron_last(&cron, &utc, 0, now), INT64_C(1798761600));
	ck_assert_int_eq(bt_cron_last(&cron, &utc, INT64_C(1798761600), now), 0);
}
END_TEST

START_TEST(test_cron__zones)
{
	/*
	 * The zone is one hour ahead of UTC. It is two hours ahead from 01:00 UTC of the second day
	 * to 01:00 UTC of the third day.
	 */
	static int64_t from[] = {86400 + 3600, 2 * 86400 + 3600};
	static int32_t offsets[] = {7200, 3600};
	const struct bt_cron_zone zone = {2, from, offsets, 3600};
	static const struct {
		const char *schedule;
		int64_t after;
		int64_t next;
	} rows[] = {
		{"0 12 * * *", 0, 11 * 3600},
		{"0 12 * * *", 86400, 86400 + 10 * 3600},
		{"0 12 * * *", 2 * 86400 + 3600, 2 * 86400 + 11 * 3600},
		/*
	         * 02:30 does not exist on the second day, so the schedule fires at 03:30; 02:30
	         * occurs twice on the third day, and the schedule fires only the first time.
	         */
		{"30 2 * * *", 86400, 86400 + 5400},
		{"30 2 * * *", 86400 + 5400, 2 * 86400 + 1800},
		{"30 2 * * *", 2 * 86400 + 1800, 3 * 86400 + 5400},
	};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct bt_cron cron;

		ck_assert(bt_cron_parse(bt_str_from(rows[i].schedule), &cron));
		ck_assert_msg(bt_cron_next(&cron, &zone, rows[i].after) == rows[i].next,
			"row %zu: %lld", i, (long long)bt_cron_next(&cron, &zone, rows[i].after));
	}
}
END_TEST

START_TEST(test_cron__texts_of_times)
{
	static const struct {
		int32_t offset;
		const char *text;
	} rows[] = {
		{0, "2027-01-15T08:00:00Z"},
		{32400, "2027-01-15T17:00:00+09:00"},
		{-12600, "2027-01-15T04:30:00-03:30"},
	};
	struct bt_arena arena = {0};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		const struct bt_cron_zone zone = {.first = rows[i].offset};
		struct bt_str text = bt_cron_time_text(&arena, &zone, INT64_C(1800000000));

		ck_assert_msg(bt_str_equal_c(text, rows[i].text), "%s", text.data);
	}
	bt_arena_finish(&arena);
}
END_TEST

START_TEST(test_cron_job__annotation_has_the_time_in_the_zone)
{
	struct bt_cron_zone zone;
	struct world world;

	if (!bt_cron_zone_read(BT_STR("Asia/Tokyo"), &zone)) {
		return; /* this machine has no time zone database */
	}
	bt_cron_zone_finish(&zone);
	world_init(&world);
	world_create(&world, "batch", "cronjobs",
		"{'metadata':{'name':'tick'},'spec':{'schedule':'*/10 * * * *',"
		"'timeZone':'Asia/Tokyo','jobTemplate':{'spec':{'template':{'spec':"
		"{'restartPolicy':'Never','containers':[{'name':'c','image':'i:1'}]}}}}}}",
		201);
	world_settle(&world);
	world_advance(&world, 600);
	world_settle(&world);
	struct bt_str text =
		bt_tree_annotation(world_get(&world, "batch", "jobs", "default/tick-30000010"),
			"batch.kubernetes.io/cronjob-scheduled-timestamp");
	ck_assert_msg(bt_str_equal_c(text, "2027-01-15T17:10:00+09:00"), "%s", text.data);
	ck_assert(bt_str_equal_c(
		bt_json_text_at(world_get(&world, "batch", "cronjobs", "default/tick"),
			"status.lastScheduleTime"),
		"2027-01-15T08:10:00Z"));
	world_finish(&world);
}
END_TEST

START_TEST(test_cron__names_of_zones)
{
	static const char *const bad[] = {
		"", "No/Where", "../../etc/passwd", "/etc/passwd", "Europe/../UTC", "UTC\n"};
	struct bt_cron_zone zone;

	for (size_t i = 0; i < BT_ARRAY_LENGTH(bad); i++) {
		ck_assert_msg(!bt_cron_zone_read(bt_str_from(bad[i]), &zone), "%s", bad[i]);
	}
}
END_TEST

BT_TEST_MAIN("job", test_job__edge_14b_29_three_completions_two_at_a_time,
	test_job__fails_beyond_the_limit_and_waits_between, test_job__many_at_once_are_each_counted,
	test_job__indexes_are_each_done_once, test_job__gang_has_a_workload_and_a_group,
	test_job__other_shapes_are_no_gangs,
	test_job__makes_its_own_workload_once_the_user_deleted_theirs,
	test_job__takes_the_workload_of_a_user, test_job__ambiguous_workloads_make_no_gang,
	test_job__suspended_has_no_pods, test_job__deadline_and_time_to_live,
	test_job__pods_of_a_deleted_job_can_go, test_cron_job__makes_jobs_on_time,
	test_cron__next_times, test_cron__last_of_a_long_pause, test_cron__zones,
	test_cron__names_of_zones, test_cron__texts_of_times,
	test_cron_job__annotation_has_the_time_in_the_zone)
