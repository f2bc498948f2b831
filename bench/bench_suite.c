/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/bench_suite.h"

#include <stdio.h>
#include <stdlib.h>

#include "api/text_template.h"
#include "base/alloc.h"
#include "bench/bench_child.h"
#include "bench/bench_machine.h"
#include "bench/bench_report.h"
#include "cli/output.h"

#define RUNS 5

struct row {
	const char *name;
	const char *workload;
	uint32_t nodes;
	uint32_t bound;
	uint32_t pending;
	uint32_t runs_max;   /* maximum number of runs; 0: as many as --repeat says */
	uint32_t check_pods; /* number that --verify compares */
	uint32_t quick;      /* --quick divides the numbers of objects by quick; 0: by 10 */
};

/** Two rows: upstream's measured size, and the same size with ten times the pending pods. */
#define BOTH(workload) \
	{workload "-2k", workload, 5000, 5000, 2000, 0, 2000, 0}, \
	{ \
		workload "-20k", workload, 5000, 5000, 20000, 0, 2000, 0 \
	}
#define GROWTH(workload) \
	{workload "-50k-nodes", workload, 50000, 50000, 20000, 0, 50, 0}, \
	{ \
		workload "-500k-nodes", workload, 500000, 500000, 20000, 0, 5, 100 \
	}

static const struct row rows[] = {
	BOTH("basic"),
	BOTH("nodeaffinity"),
	BOTH("taints"),
	BOTH("hetero"),
	BOTH("spread"),
	BOTH("prefspread"),
	BOTH("affinity"),
	{"antiaffinity-2k", "antiaffinity", 5000, 5000, 2000, 0, 2000, 0},
	{"antiaffinity-4k", "antiaffinity", 5000, 5000, 4000, 0, 2000, 0}, /* one per node */
	BOTH("prefaffinity"),
	BOTH("prefantiaffinity"),
	BOTH("mixed"),
	{"preemption", "preemption", 5000, 20000, 500, 0, 100, 0},
	BOTH("services"),
	BOTH("daemonsets"),
	{"devices", "devices", 1000, 0, 5000, 0, 500, 0},
	{"devices-5k-nodes", "devices", 5000, 5000, 20000, 0, 100, 0},
	{"large", "large", 5000, 5000, 2000, 0, 200, 0},
	{"gated", "gated", 5000, 5000, 20000, 0, 1000, 0},
	{"churn", "churn", 5000, 5000, 20000, 0, 1000, 0},
	{"gangs-100k", "gangs", 5000, 5000, 102400, 0, 1024, 0},
	{"racks-256k", "racks", 5000, 5000, 256000, 0, 512, 0},
	{"nominated", "nominated", 5000, 5000, 20000, 0, 200, 0},
	{"worst", "worst", 5000, 5000, 2000, 0, 200, 0},
	{"backlog", "backlog", 5000, 5000, 100000, 0, 1000, 0},
	GROWTH("basic"),
	GROWTH("spread"),
	{"million", "basic", 1000000, 0, 1000000, 1, 2, 100},
};

/** Pods per second of the scheduling cycle of Kubernetes v1.36.2; see bench/README.md. */
static const struct {
	const char *name;
	uint32_t pods_per_s;
} upstream[] = {
	{"basic-2k", 301},
	{"nodeaffinity-2k", 331},
	{"hetero-2k", 201},
	{"prefaffinity-2k", 138},
	{"prefspread-2k", 132},
	{"spread-2k", 99},
	{"antiaffinity-2k", 71},
	{"affinity-2k", 62},
};

/** The result of one row. */
struct outcome {
	const struct row *row;
	struct bt_bench_run run;
	struct bt_bench_result median; /* the run with the median rate */
	uint32_t run_count;
	double rate_min;
	double rate_max;
	double peak_rss_mb; /* maximum of all runs */
};

/** Returns upstream's pods per second; 0: upstream was not measured at this size. */
static uint32_t upstream_of(const struct outcome *outcome)
{
	const struct row *row = outcome->row;
	if (outcome->run.source.node_count != row->nodes) {
		return 0;
	}
	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(upstream); i++) {
		if (bt_str_equal_c(bt_str_from(upstream[i].name), row->name)) {
			return upstream[i].pods_per_s;
		}
	}
	return 0;
}

static double rate_of(const struct bt_bench_result *result)
{
	return bt_bench_rate(result->pending_count, result->seconds);
}

/** --- selection of rows --- */

static bool is_named(const struct row *row, struct bt_str name)
{
	return bt_str_equal_c(name, row->name) || bt_str_equal_c(name, row->workload);
}

/** Takes the next name from the lists of the arguments. Returns false if no name is left. */
static bool next_name(const struct bt_arguments *only, uint32_t *list, struct bt_str *rest,
	struct bt_str *out_name)
{
	while (rest->data == NULL) {
		if (*list == only->list.count) {
			return false;
		}
		*rest = bt_str_from(only->list.items[(*list)++]);
	}
	*out_name = bt_str_cut(rest, ',');
	return true;
}

static bool is_wanted(const struct bt_arguments *only, const struct row *row)
{
	uint32_t list = 0;
	struct bt_str rest = {NULL, 0};
	struct bt_str name;
	while (next_name(only, &list, &rest, &name)) {
		if (is_named(row, name)) {
			return true;
		}
	}
	return only->list.count == 0;
}

static int check_names(const struct bt_arguments *only, struct berth_error *err)
{
	uint32_t list = 0;
	struct bt_str rest = {NULL, 0};
	struct bt_str name;
	while (next_name(only, &list, &rest, &name)) {
		bool found = false;
		for (uint32_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
			found = found || is_named(&rows[i], name);
		}
		if (found) {
			continue;
		}
		struct bt_strbuf names = {0};
		for (uint32_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
			bt_strbuf_printf(&names, "%s%s", i != 0 ? ", " : "", rows[i].name);
		}
		int result = bt_error_set(err, BERTH_ERR_INVALID,
			"--only: %.*s is none of the suite's measurements or their workloads: %s",
			BT_STR_ARG(name), bt_strbuf_c(&names));
		bt_strbuf_finish(&names);
		return result;
	}
	return 0;
}

/** --- measuring --- */

static struct bt_bench_run run_of(
	const struct bt_bench_suite_options *options, const struct row *row)
{
	uint32_t divisor = !options->quick ? 1 : row->quick != 0 ? row->quick : 10;
	const struct bt_bench_workload *workload = bt_bench_workload_find(row->workload);
	return (struct bt_bench_run){
		.setup = options->setup,
		.source = {.workload = workload,
			.node_count = row->nodes / divisor,
			.bound_count = row->bound / divisor,
			.pending_count = row->pending / divisor,
			.seed = (uint64_t)options->seed},
		.preempt = workload->preempts,
		.changes = (uint32_t)options->changes,
		.check = options->check,
		.check_pods =
			options->check_pods != 0 ? (uint32_t)options->check_pods : row->check_pods,
	};
}

static int compare_results(const void *a, const void *b)
{
	double left = rate_of(a);
	double right = rate_of(b);
	return BT_ORDER(left, right);
}

/**
 * Combines the results of all runs of a row. Fails if two runs made different decisions, because
 * decisions must depend on the seed alone.
 */
static int summarise(
	struct outcome *outcome, struct bt_bench_result *results, struct berth_error *err)
{
	uint32_t count = outcome->run_count;
	uint32_t checked_count = results[0].checked_count;
	for (uint32_t i = 1; i < count; i++) {
		if (results[i].decisions != results[0].decisions) {
			return bt_error_set(err, BERTH_ERR_STATE, "two runs decided differently");
		}
	}
	for (uint32_t i = 0; i < count; i++) {
		if (results[i].peak_rss_mb > outcome->peak_rss_mb) {
			outcome->peak_rss_mb = results[i].peak_rss_mb;
		}
	}
	qsort(results, count, sizeof(results[0]), compare_results);
	outcome->rate_min = rate_of(&results[0]);
	outcome->rate_max = rate_of(&results[count - 1]);
	outcome->median = results[count / 2];
	outcome->median.checked_count = checked_count;
	return 0;
}

static int measure(const struct bt_bench_suite_options *options, const struct row *row,
	struct outcome *outcome, struct berth_error *err)
{
	uint32_t count = options->repeat != 0 ? (uint32_t)options->repeat
		: options->quick              ? 1
					      : RUNS;
	if (row->runs_max != 0 && count > row->runs_max) {
		count = row->runs_max;
	}
	*outcome = (struct outcome){.row = row, .run = run_of(options, row), .run_count = count};
	struct bt_bench_result *results = bt_calloc(count, sizeof(results[0]));
	int result = 0;
	(void)fprintf(stderr, "%-20s", row->name);
	for (uint32_t i = 0; i < count && result == 0; i++) {
		struct bt_bench_run run = outcome->run;
		run.check = run.check && i == 0; /* summarise compares the others */
		result = bt_bench_run_in_child(&run, &results[i], err);
		(void)fprintf(stderr, " %.0f", result == 0 ? rate_of(&results[i]) : 0.0);
	}
	(void)fprintf(stderr, "%s\n", result == 0 ? " pods/s" : " failed");
	if (result == 0) {
		result = summarise(outcome, results, err);
	}
	bt_free(results);
	return result < 0 ? bt_error_wrap(err, result, "%s", row->name) : 0;
}

/** --- reports --- */

static void write_outcome(struct bt_json_writer *writer, const struct outcome *outcome)
{
	struct bt_bench_result shown = outcome->median;
	uint32_t theirs = upstream_of(outcome);
	shown.peak_rss_mb = outcome->peak_rss_mb;
	bt_json_begin_object(writer);
	bt_json_write_member_c(writer, "name", outcome->row->name);
	bt_bench_write_members(writer, &outcome->run, &shown);
	bt_bench_write_number(writer, "runs", outcome->run_count, 0);
	bt_bench_write_number(writer, "pods_per_s_min", outcome->rate_min, 0);
	bt_bench_write_number(writer, "pods_per_s_max", outcome->rate_max, 0);
	if (theirs != 0) {
		bt_bench_write_number(writer, "upstream_pods_per_s", theirs, 0);
		bt_bench_write_number(
			writer, "ratio", rate_of(&outcome->median) / (double)theirs, 1);
	}
	bt_json_end_object(writer);
}

static void write_json(const struct outcome *outcomes, uint32_t count, struct bt_strbuf *out)
{
	struct bt_json_writer writer;
	bt_json_writer_init(&writer, out, 2);
	bt_json_begin_object(&writer);
	bt_bench_write_origin(&writer, 1);
	bt_json_write_name_c(&writer, "measurements");
	bt_json_begin_array(&writer);
	for (uint32_t i = 0; i < count; i++) {
		write_outcome(&writer, &outcomes[i]);
	}
	bt_json_end_array(&writer);
	bt_json_end_object(&writer);
	bt_strbuf_append_char(out, '\n');
}

static void append_note(const struct outcome *outcome, struct bt_strbuf *out)
{
	const struct bt_bench_result *result = &outcome->median;
	const char *separator = "";
	if (result->failed_count != 0) {
		bt_text_append(out, "%u {attempt|attempts} failed", result->failed_count);
		separator = ", ";
	}
	if (outcome->run.preempt) {
		bt_text_append(out, "%c%u {victim|victims}", separator, result->victim_count);
		separator = ", ";
	}
	if (result->change_count != 0) {
		bt_strbuf_printf(out, "%s%.2f us a change, %.0f decisions/s", separator,
			result->change_seconds * 1e6 / (double)result->change_count,
			bt_bench_rate((uint64_t)result->scheduled_count + result->failed_count,
				result->seconds - result->change_seconds));
		separator = ", ";
	}
	if (result->event_count != 0) {
		bt_strbuf_printf(out,
			"%splaced %.2f ms (%.2f of the processor) after the event, %.0f bytes a "
			"pod",
			separator, result->event_ms, result->event_cpu_ms,
			result->waiting_pod_bytes);
		separator = ", ";
	}
	if (outcome->run.check) {
		bt_strbuf_printf(out, "%s%u verified", separator, result->checked_count);
	}
}

static void add_number(struct bt_table *table, double value, const char *suffix)
{
	bt_strbuf_printf(&table->text, "%.0f%s", value, suffix);
	bt_table_end_cell(table);
}

static void add_row(struct bt_table *table, const struct outcome *outcome)
{
	const struct bt_bench_result *result = &outcome->median;
	uint32_t theirs = upstream_of(outcome);
	bt_table_add_c(table, outcome->row->name);
	add_number(table, result->node_count, "");
	add_number(table, result->bound_count, "");
	add_number(table, result->pending_count, "");
	add_number(table, rate_of(result), "");
	bt_strbuf_printf(&table->text, "%.0f-%.0f", outcome->rate_min, outcome->rate_max);
	bt_table_end_cell(table);
	add_number(table, bt_bench_rate(result->pending_count, result->cpu_seconds), "");
	add_number(table, outcome->peak_rss_mb, "");
	if (theirs != 0) {
		add_number(table, theirs, "");
		add_number(table, rate_of(result) / theirs, "x");
	} else {
		bt_table_add_c(table, "-");
		bt_table_add_c(table, "-");
	}
	append_note(outcome, &table->text);
	bt_table_end_cell(table);
}

static void write_table(const struct outcome *outcomes, uint32_t count, struct bt_strbuf *out)
{
	struct bt_bench_machine machine;
	struct bt_table table;
	bt_bench_machine_init(&machine);
	bt_strbuf_printf(out, "%s, %u cores, %llu MB, %s; commit %s, %s; one thread\n\n",
		bt_strbuf_c(&machine.cpu), machine.cores,
		(unsigned long long)(machine.memory_bytes >> 20), machine.system, bt_bench_commit(),
		bt_bench_compiler());
	bt_bench_machine_finish(&machine);
	BT_TABLE_BEGIN(&table, "NAME", "NODES", "BOUND", "PENDING", "PODS/S", "MIN-MAX", "/CPU S",
		"RSS MB", "UPSTREAM", "RATIO", "NOTES");
	for (uint32_t i = 0; i < count; i++) {
		add_row(&table, &outcomes[i]);
	}
	bt_table_write(&table, out);
}

int bt_bench_suite(const struct bt_bench_suite_options *options, struct berth_error *err)
{
	struct outcome outcomes[BT_ARRAY_LENGTH(rows)];
	uint32_t count = 0;
	int result = check_names(options->only, err);
	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(rows) && result == 0; i++) {
		if (is_wanted(options->only, &rows[i])) {
			result = measure(options, &rows[i], &outcomes[count++], err);
		}
	}
	if (result < 0) {
		return result;
	}
	struct bt_strbuf report = {0};
	(options->json ? write_json : write_table)(outcomes, count, &report);
	(void)fputs(bt_strbuf_c(&report), stdout); /* bt_command_main reports a failed write */
	bt_strbuf_finish(&report);
	return 0;
}
