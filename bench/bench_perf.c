/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/bench_perf.h"

#include <stdio.h>

#include "bench/bench_report.h"
#include "cli/output.h"

/** Whether `only` is empty or has the name "TEST" or "TEST/WORKLOAD" of this workload. */
static bool is_wanted(const struct bt_arguments *only, const struct bt_perf_test *test,
	const struct bt_perf_workload *workload)
{
	struct bt_strbuf full = {0};
	bool wanted = only->list.count == 0;
	bt_strbuf_printf(&full, "%.*s/%.*s", BT_STR_ARG(test->name), BT_STR_ARG(workload->name));
	for (uint32_t i = 0; i < only->list.count && !wanted; i++) {
		struct bt_str rest = bt_str_from(only->list.items[i]);
		while (rest.data != NULL && !wanted) {
			struct bt_str name = bt_str_cut(&rest, ',');
			wanted = bt_str_equal(name, test->name) ||
				bt_str_equal(name, bt_strbuf_str(&full));
		}
	}
	bt_strbuf_finish(&full);
	return wanted;
}

static void write_line(const struct bt_perf_options *options, const struct bt_perf_test *test,
	const struct bt_perf_workload *workload, const struct bt_perf_result *result)
{
	struct bt_strbuf line = {0};
	struct bt_json_writer writer;
	char digest[24];
	double rate = bt_bench_rate(result->pod_count, result->seconds);
	bt_json_writer_init(&writer, &line, 0);
	bt_json_begin_object(&writer);
	bt_json_write_member_c(&writer, "file", options->path);
	bt_json_write_member(&writer, "test", test->name);
	bt_json_write_member(&writer, "workload", workload->name);
	bt_bench_write_number(&writer, "nodes", result->node_count, 0);
	bt_bench_write_number(&writer, "measured", result->pod_count, 0);
	bt_bench_write_number(&writer, "scheduled", result->bound_count, 0);
	bt_bench_write_number(&writer, "failed_attempts", result->failed_count, 0);
	bt_bench_write_number(&writer, "victims", result->victim_count, 0);
	bt_bench_write_number(&writer, "seconds", result->seconds, 6);
	bt_bench_write_number(&writer, "pods_per_s", rate, 0);
	bt_bench_write_number(&writer, "cpu_seconds", result->cpu_seconds, 6);
	bt_bench_write_number(&writer, "load_seconds", result->load_seconds, 3);
	if (workload->threshold > 0) {
		bt_bench_write_number(&writer, "threshold", workload->threshold, 0);
	}
	(void)snprintf(digest, sizeof(digest), "%016llx", (unsigned long long)result->decisions);
	bt_json_write_member_c(&writer, "decisions", digest);
	bt_json_write_member_c(&writer, "verify",
		options->setup->verify   ? "inline"
			: options->check ? "agreed"
					 : "off");
	bt_bench_write_origin(&writer, options->setup->threads);
	bt_json_end_object(&writer);
	(void)printf("%s\n", bt_strbuf_c(&line));
	(void)bt_output_flush(NULL); /* bt_command_main reports a failed write */
	bt_strbuf_finish(&line);
}

static int check(const struct bt_perf_options *options, const struct bt_perf_file *file,
	const struct bt_perf_test *test, const struct bt_perf_workload *workload,
	const struct bt_perf_result *timed, struct berth_error *err)
{
	struct bt_setup setup = *options->setup;
	struct bt_perf_result result;
	setup.verify = true;
	int code = bt_perf_run(file, test, workload, &setup, NULL, &result, err);
	if (code == 0 && result.decisions != timed->decisions) {
		return bt_error_set(err, BERTH_ERR_STATE, "the verifying run decided otherwise");
	}
	return code;
}

static int run_workload(const struct bt_perf_options *options, const struct bt_perf_file *file,
	const struct bt_perf_test *test, const struct bt_perf_workload *workload, bool *below,
	struct berth_error *err)
{
	for (int64_t i = 0; i < options->repeat; i++) {
		struct bt_perf_result measured;
		int result =
			bt_perf_run(file, test, workload, options->setup, NULL, &measured, err);
		if (result == 0 && options->check) {
			result = check(options, file, test, workload, &measured, err);
		}
		if (result < 0) {
			return bt_error_wrap(err, result, "%s: test case %.*s: workload %.*s",
				options->path, BT_STR_ARG(test->name), BT_STR_ARG(workload->name));
		}
		write_line(options, test, workload, &measured);
		*below = *below ||
			bt_bench_rate(measured.pod_count, measured.seconds) < workload->threshold;
	}
	return 0;
}

/** Whether the test case or one of its workloads is selected. */
static bool is_test_wanted(const struct bt_arguments *only, const struct bt_perf_test *test)
{
	bool wanted = only->list.count == 0;
	for (uint32_t i = 0; i < only->list.count && !wanted; i++) {
		struct bt_str rest = bt_str_from(only->list.items[i]);
		while (rest.data != NULL && !wanted) {
			struct bt_str name = bt_str_cut(&rest, ',');
			wanted = bt_str_equal(bt_str_cut(&name, '/'), test->name);
		}
	}
	return wanted;
}

/** The number of workloads that ran, and the failures. */
struct tally {
	uint32_t count;
	uint32_t failed_count;
	bool below;
};

static void fail(struct tally *tally, struct berth_error *err)
{
	(void)fprintf(stderr, "berth bench: %s\n", berth_error_message(err));
	berth_error_finish(err);
	tally->count++;
	tally->failed_count++;
}

static void run_test(const struct bt_perf_options *options, const struct bt_perf_file *file,
	const struct bt_perf_test *test, struct tally *tally)
{
	for (uint32_t k = 0; k < test->workload_count; k++) {
		const struct bt_perf_workload *workload = &test->workloads[k];
		struct berth_error err = BERTH_ERROR_INIT;
		if (!is_wanted(options->only, test, workload)) {
			continue;
		}
		if (run_workload(options, file, test, workload, &tally->below, &err) < 0) {
			fail(tally, &err);
		} else {
			tally->count++;
		}
	}
}

static int run_wanted(const struct bt_perf_options *options, struct bt_perf_file *file,
	struct tally *tally, struct berth_error *err)
{
	for (uint32_t i = 0; i < file->test_count; i++) {
		struct bt_perf_test *test = &file->tests[i];
		if (test->error.code == 0) {
			run_test(options, file, test, tally);
		} else if (is_test_wanted(options->only, test)) {
			(void)bt_error_wrap(&test->error, test->error.code, "%s", options->path);
			fail(tally, &test->error);
		}
	}
	if (tally->count == 0) {
		return bt_error_set(err, BERTH_ERR_INVALID, "%s: no workload of that name (--only)",
			options->path);
	}
	return tally->failed_count == 0
		? 0
		: bt_error_set(err, BERTH_ERR_INVALID, "%s: %u of %u failed", options->path,
			  tally->failed_count, tally->count);
}

int bt_perf_run_file(
	const struct bt_perf_options *options, bool *out_below, struct berth_error *err)
{
	struct bt_perf_file file;
	struct tally tally = {.count = 0};
	int result = bt_perf_file_read(options->path, &file, err);
	if (result == 0) {
		result = run_wanted(options, &file, &tally, err);
		bt_perf_file_finish(&file);
	}
	*out_below = tally.below;
	return result;
}
