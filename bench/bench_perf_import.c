/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Converts a workload of a scheduler_perf file to a recording of all changes of objects, with their
 * times.
 */
#include "bench/bench_perf.h"
#include "replay/change_import.h"

struct perf_import {
	struct bt_change_import changes;
	int64_t start_ns;
};

/** Record an eviction by the scheduler, which differs from a deletion by the workload. */
static int append_eviction(struct perf_import *perf, const struct bt_object *pod, int64_t now_ns,
	struct berth_error *err)
{
	const struct bt_recording_line line = {
		.event = BT_RECORDING_CHANGE,
		.kind = BT_KIND_POD,
		.time_ns = now_ns - perf->start_ns,
		.namespace_ = pod->meta->namespace_,
		.name = pod->meta->name,
		.json = BT_STR("{\"status\":{\"conditions\":[{\"type\":\"DisruptionTarget\","
			       "\"status\":\"True\",\"reason\":\"PreemptionByScheduler\"}]}}"),
		.duration_ns = -1,
	};
	return bt_import_append(perf->changes.import, &line, err);
}

static int observe(void *context, const struct bt_living_change *change, struct berth_error *err)
{
	struct perf_import *perf = context;
	int result = change->is_preempted
		? append_eviction(perf, change->old_object, change->now_ns, err)
		: 0;
	return result == 0 ? bt_change_import_take(&perf->changes, change->now_ns - perf->start_ns,
				     change->old_object, change->new_object, err)
			   : result;
}

/**
 * Sets the error for a name that matches `count` workloads instead of one. If no name was given,
 * `wanted` is NULL. The message lists all workloads.
 */
static int cannot_choose(const struct bt_perf_file *file, const char *wanted, uint32_t count,
	struct berth_error *err)
{
	struct bt_strbuf names = {0};
	for (uint32_t i = 0; i < file->test_count; i++) {
		const struct bt_perf_test *test = &file->tests[i];
		for (uint32_t k = 0; k < test->workload_count; k++) {
			bt_strbuf_printf(&names, "%s%.*s/%.*s", names.length != 0 ? ", " : "",
				BT_STR_ARG(test->name), BT_STR_ARG(test->workloads[k].name));
		}
	}
	int result = wanted == NULL
		? bt_error_set(err, BERTH_ERR_INVALID,
			  "%s: name one of its workloads with --workload: %s", file->path,
			  bt_strbuf_c(&names))
		: bt_error_set(err, BERTH_ERR_INVALID,
			  "--workload %s: %s has %u such workloads; name one of these: %s", wanted,
			  file->path, count, bt_strbuf_c(&names));
	bt_strbuf_finish(&names);
	return result;
}

/**
 * Finds the only workload that matches `wanted`: "TEST/WORKLOAD", "TEST" for a test case with one
 * workload, or NULL for a file with one workload.
 */
static int choose(struct bt_perf_file *file, const char *wanted, struct bt_perf_test **out_test,
	const struct bt_perf_workload **out_workload, struct berth_error *err)
{
	struct bt_str workload_name = bt_str_from(wanted);
	struct bt_str test_name = bt_str_cut(&workload_name, '/');
	uint32_t count = 0;
	for (uint32_t i = 0; i < file->test_count; i++) {
		struct bt_perf_test *test = &file->tests[i];
		if (wanted != NULL && !bt_str_equal(test->name, test_name)) {
			continue;
		}
		if (wanted != NULL && test->error.code != 0) {
			return bt_error_move(err, &test->error);
		}
		for (uint32_t k = 0; k < test->workload_count; k++) {
			if (workload_name.length == 0 ||
				bt_str_equal(test->workloads[k].name, workload_name)) {
				*out_test = test;
				*out_workload = &test->workloads[k];
				count++;
			}
		}
	}
	return count == 1 ? 0 : cannot_choose(file, wanted, count, err);
}

static int run_workload(struct bt_import *import, const struct bt_perf_file *file,
	const struct bt_perf_test *test, const struct bt_perf_workload *workload,
	struct berth_error *err)
{
	struct perf_import perf = {.start_ns = import->start_ns};
	const struct bt_living_observer observer = {observe, &perf};
	struct bt_setup setup = BT_SETUP_INIT;
	struct bt_perf_result ran;
	bt_change_import_init(&perf.changes, import);
	int result = bt_setup_start("import", &setup, err);
	if (result == 0) {
		result = bt_perf_run(file, test, workload, &setup, &observer, &ran, err);
	}
	if (result == 0) {
		result = bt_change_import_begin(&perf.changes, err);
	}
	if (result < 0) {
		result = bt_error_wrap(err, result, "%s: test case %.*s: workload %.*s", file->path,
			BT_STR_ARG(test->name), BT_STR_ARG(workload->name));
	} else {
		bt_import_extend(import, ran.end_ns - perf.start_ns);
	}
	bt_setup_finish(&setup);
	bt_change_import_finish(&perf.changes);
	return result;
}

int bt_import_scheduler_perf(
	struct bt_import *import, const struct bt_import_request *request, struct berth_error *err)
{
	struct bt_perf_file file;
	struct bt_perf_test *test = NULL;
	const struct bt_perf_workload *workload = NULL;
	if (request->path_count != 1) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"name one file: a workload is a recording of its own");
	}
	int result = bt_perf_file_read(request->paths[0], &file, err);
	if (result < 0) {
		return result;
	}
	result = choose(&file, request->workload, &test, &workload, err);
	if (result == 0) {
		result = run_workload(import, &file, test, workload, err);
	}
	bt_perf_file_finish(&file);
	return result;
}
