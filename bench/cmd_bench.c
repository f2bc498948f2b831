/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "bench/bench_perf.h"
#include "bench/bench_report.h"
#include "bench/bench_suite.h"
#include "cli/command.h"

/**
 * The maximum number of pods and of nodes. No cluster has more, and berth's 32-bit numbers of pods
 * and nodes cannot overflow.
 */
#define COUNT_MAX 100000000
#define NOT_GIVEN INT64_MIN

struct options {
	struct bt_command_line line;
	const char *workload;
	int64_t nodes;
	int64_t bound;
	int64_t pending;
	int64_t seed;
	int64_t changes;
	const char *write;
	int64_t repeat;
	bool preempt;
	bool verify;
	int64_t verify_pods;
	bool suite;
	bool quick;
	struct bt_arguments only;
	const char *scheduler_perf;
};

static int check_count(const char *flag, int64_t value, int64_t least, struct berth_error *err)
{
	if (value >= least && value <= COUNT_MAX) {
		return 0;
	}
	if (value < least) {
		return bt_error_set(err, BERTH_ERR_INVALID, "--%s: must be at least %lld", flag,
			(long long)least);
	}
	return bt_error_set(err, BERTH_ERR_INVALID, "--%s: must be at most %d", flag, COUNT_MAX);
}

static int check_counts(const struct options *options, struct berth_error *err)
{
	const struct {
		const char *flag;
		int64_t value;
		int64_t least;
	} counts[] = {
		{"repeat", options->repeat != NOT_GIVEN ? options->repeat : 1, 1},
		{"nodes", options->nodes, 0},
		{"bound", options->bound, 0},
		{"pending", options->pending, 0},
		{"seed", options->seed, 0},
		{"changes", options->changes, 0},
		{"verify-pods", options->verify_pods, 0},
	};
	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(counts); i++) {
		int result = check_count(counts[i].flag, counts[i].value, counts[i].least, err);
		if (result < 0) {
			return result;
		}
	}
	if (options->nodes == 0 && options->bound != 0) {
		return bt_error_set(
			err, BERTH_ERR_INVALID, "--bound: bound pods need nodes (--nodes)");
	}
	return 0;
}

static int find_workload(
	const char *name, const struct bt_bench_workload **out_workload, struct berth_error *err)
{
	struct bt_strbuf names = {0};
	const struct bt_bench_workload *workload;
	*out_workload = bt_bench_workload_find(name);
	if (*out_workload != NULL) {
		return 0;
	}
	for (uint32_t i = 0; (workload = bt_bench_workload_at(i)) != NULL; i++) {
		bt_strbuf_printf(&names, "%s%s", i != 0 ? ", " : "", workload->name);
	}
	int result = bt_error_set(
		err, BERTH_ERR_INVALID, "--workload: %s is none of %s", name, bt_strbuf_c(&names));
	bt_strbuf_finish(&names);
	return result;
}

/** The run that the flags describe, without a file. */
static struct bt_bench_run run_of(
	const struct options *options, const struct bt_bench_workload *workload)
{
	return (struct bt_bench_run){
		.setup = &options->line.setup,
		.source = {.workload = workload,
			.node_count = (uint32_t)options->nodes,
			.bound_count = (uint32_t)options->bound,
			.pending_count = (uint32_t)options->pending,
			.seed = (uint64_t)options->seed},
		.preempt = options->preempt || (workload != NULL && workload->preempts),
		.changes = (uint32_t)options->changes,
		.check = options->verify || options->verify_pods != 0,
		.check_pods = (uint32_t)options->verify_pods,
	};
}

/** --- writing a workload --- */

static void write_objects(const struct bt_bench_source *source, uint32_t count,
	void (*append)(const struct bt_bench_source *source, uint32_t index, struct bt_strbuf *out),
	FILE *file)
{
	struct bt_strbuf line = {0};
	for (uint32_t i = 0; i < count && ferror(file) == 0; i++) {
		append(source, i, &line);
		bt_strbuf_append_char(&line, '\n');
		(void)fwrite(line.data, 1, line.length, file); /* ferror reports failures */
		bt_strbuf_reset(&line);
	}
	bt_strbuf_finish(&line);
}

static int write_workload(
	const struct bt_bench_source *source, const char *path, struct berth_error *err)
{
	bool to_stdout = strcmp(path, "-") == 0;
	FILE *file = to_stdout ? stdout : fopen(path, "w");
	if (file == NULL) {
		return bt_error_set(err, BERTH_ERR_IO, "--write: %s: %s", path, strerror(errno));
	}
	write_objects(source, source->node_count, bt_bench_write_node, file);
	write_objects(source, bt_bench_extra_count(source), bt_bench_write_extra, file);
	write_objects(
		source, source->bound_count + source->pending_count, bt_bench_write_pod, file);
	if (to_stdout) {
		return 0; /* bt_command_main reports a failed write */
	}
	bool failed = ferror(file) != 0;
	failed = fclose(file) != 0 || failed;
	return failed ? bt_error_set(err, BERTH_ERR_IO, "--write: %s: cannot write", path) : 0;
}

/** --- measuring --- */

static int run_repeatedly(
	const struct options *options, const struct bt_bench_run *run, struct berth_error *err)
{
	int64_t count = options->repeat != NOT_GIVEN ? options->repeat : 1;
	for (int64_t i = 0; i < count; i++) {
		struct bt_bench_result measured;
		struct bt_strbuf line = {0};
		int result = bt_bench_run(run, &measured, err);
		if (result < 0) {
			return result;
		}
		bt_bench_write_line(run, &measured, &line);
		(void)printf("%s\n", bt_strbuf_c(&line));
		(void)bt_output_flush(NULL); /* bt_command_main reports a failed write */
		bt_strbuf_finish(&line);
	}
	return 0;
}

static int run_workload(const struct options *options, const struct bt_arguments *arguments,
	struct berth_error *err)
{
	const struct bt_bench_workload *workload;
	if (arguments->list.count != 0) {
		return bt_error_set(err, BERTH_ERR_INVALID, "--workload: takes no file, got %s",
			arguments->list.items[0]);
	}
	int result = find_workload(options->workload, &workload, err);
	if (result < 0) {
		return result;
	}
	struct bt_bench_run run = run_of(options, workload);
	return options->write != NULL ? write_workload(&run.source, options->write, err)
				      : run_repeatedly(options, &run, err);
}

static int run_files(const struct options *options, const struct bt_arguments *arguments,
	struct berth_error *err)
{
	int result = 0;
	if (arguments->list.count == 0) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"needs a file or --workload (see \"berth bench --help\")");
	}
	for (uint32_t i = 0; i < arguments->list.count && result == 0; i++) {
		struct bt_bench_run run = run_of(options, NULL);
		run.path = arguments->list.items[i];
		result = run_repeatedly(options, &run, err);
	}
	return result;
}

static int run_suite(
	struct options *options, const struct bt_arguments *arguments, struct berth_error *err)
{
	if (arguments->list.count != 0) {
		return bt_error_set(err, BERTH_ERR_INVALID, "--suite: takes no file, got %s",
			arguments->list.items[0]);
	}
	if (options->line.setup.percentage < 0) {
		options->line.setup.percentage = 100;
	}
	struct bt_bench_suite_options suite = {
		.setup = &options->line.setup,
		.only = &options->only,
		.repeat = options->repeat != NOT_GIVEN ? options->repeat : 0,
		.seed = options->seed,
		.changes = options->changes,
		.check_pods = options->verify_pods,
		.check = options->verify || options->verify_pods != 0,
		.quick = options->quick,
		.json = options->line.format == BT_OUTPUT_JSON,
	};
	return bt_bench_suite(&suite, err);
}

static int run_scheduler_perf(const struct options *options, const struct bt_arguments *arguments,
	bool *out_below, struct berth_error *err)
{
	if (arguments->list.count != 0) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"--scheduler-perf: takes no other file, got %s", arguments->list.items[0]);
	}
	struct bt_perf_options perf = {
		.setup = &options->line.setup,
		.path = options->scheduler_perf,
		.only = &options->only,
		.repeat = options->repeat != NOT_GIVEN ? options->repeat : 1,
		.check = options->verify,
	};
	return bt_perf_run_file(&perf, out_below, err);
}

/** Refuse flags that do not apply to the chosen way of measuring. */
static int check(void *context, struct berth_error *err)
{
	const struct options *options = context;
	if (options->quick && !options->suite) {
		return bt_error_set(err, BERTH_ERR_INVALID, "--quick: needs --suite");
	}
	if (options->only.list.count != 0 && !options->suite && options->scheduler_perf == NULL) {
		return bt_error_set(
			err, BERTH_ERR_INVALID, "--only: needs --suite or --scheduler-perf");
	}
	if (options->write != NULL && options->workload == NULL) {
		return bt_error_set(err, BERTH_ERR_INVALID, "--write: needs --workload");
	}
	if (options->verify_pods != 0 && options->scheduler_perf != NULL) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"--verify-pods: --scheduler-perf verifies all pods, with --verify");
	}
	if (options->suite + (options->workload != NULL) + (options->scheduler_perf != NULL) > 1) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"--suite, --workload and --scheduler-perf exclude each other");
	}
	if (options->suite && options->line.setup.threads != 1) {
		return bt_error_set(
			err, BERTH_ERR_INVALID, "--threads: --suite measures one thread");
	}
	bool to_file = options->write != NULL && strcmp(options->write, "-") != 0;
	int result = bt_command_check_output(
		&options->line, "write", to_file ? options->write : NULL, NULL, err);
	return result == 0 ? check_counts(options, err) : result;
}

static int run(void *context, struct bt_strbuf *out BT_UNUSED, struct berth_error *err)
{
	struct options *options = context;
	bool below = false;
	const struct bt_arguments *arguments = &options->line.arguments;
	int result;
	if (options->suite) {
		result = run_suite(options, arguments, err);
	} else if (options->scheduler_perf != NULL) {
		result = run_scheduler_perf(options, arguments, &below, err);
	} else {
		result = options->workload != NULL ? run_workload(options, arguments, err)
						   : run_files(options, arguments, err);
	}
	return result < 0 ? result : below ? BT_EXIT_FINDING : BT_EXIT_OK;
}

static const struct bt_flag flags[] = {
	{"workload", 'w', BT_FLAG_STRING, offsetof(struct options, workload), "WORKLOAD",
		"a built-in workload instead of a file"},
	{"nodes", 0, BT_FLAG_INT, offsetof(struct options, nodes), "N",
		"nodes of the workload (default 5000)"},
	{"bound", 0, BT_FLAG_INT, offsetof(struct options, bound), "N",
		"pods of the workload that have a node from the start (default 5000)"},
	{"pending", 0, BT_FLAG_INT, offsetof(struct options, pending), "N",
		"pods of the workload to be scheduled (default 2000)"},
	{"seed", 0, BT_FLAG_INT, offsetof(struct options, seed), "N",
		"seed of the random parts of the workload (default 7)"},
	{"changes", 0, BT_FLAG_INT, offsetof(struct options, changes), "N",
		"churn: number of changes before each pod (default 2)"},
	{"write", 0, BT_FLAG_STRING, offsetof(struct options, write), "FILE",
		"write the workload as JSON lines (-: standard output) and measure "
		"nothing"},
	{"repeat", 0, BT_FLAG_INT, offsetof(struct options, repeat), "N",
		"measure N times, each time on a newly loaded cluster"},
	{"preempt", 0, BT_FLAG_BOOL, offsetof(struct options, preempt), NULL,
		"remove the victims of pods that do not fit, and try those pods again"},
	{"verify", 0, BT_FLAG_BOOL, offsetof(struct options, verify), NULL,
		"run again with the plain forms of the plugins; all decisions must be the same"},
	{"verify-pods", 0, BT_FLAG_INT, offsetof(struct options, verify_pods), "N",
		"as --verify, with the first N pending pods only"},
	{"suite", 0, BT_FLAG_BOOL, offsetof(struct options, suite), NULL,
		"measure a fixed list of workloads and print a report"},
	{"quick", 0, BT_FLAG_BOOL, offsetof(struct options, quick), NULL,
		"with --suite: a tenth of all sizes, one run each"},
	{"scheduler-perf", 0, BT_FLAG_STRING, offsetof(struct options, scheduler_perf), "FILE",
		"run the workloads of a scheduler_perf file"},
	{"only", 0, BT_FLAG_STRINGS, offsetof(struct options, only), "NAME,...",
		"with --suite: only these measurements or workloads; with "
		"--scheduler-perf: "
		"TEST or TEST/WORKLOAD"},
	{"output", 'o', BT_FLAG_STRING, offsetof(struct bt_command_line, format_name), "table|json",
		"with --suite: output format (default table)"},
	BT_SETUP_FLAGS,
};

static const struct options defaults = {
	.nodes = 5000,
	.bound = 5000,
	.pending = 2000,
	.seed = 7,
	.changes = 2,
	.repeat = NOT_GIVEN,
};

static const char *workload_at(uint32_t index, const char **out_summary)
{
	const struct bt_bench_workload *workload = bt_bench_workload_at(index);
	*out_summary = workload != NULL ? workload->summary : NULL;
	return workload != NULL ? workload->name : NULL;
}

const struct bt_command bt_command_bench = {
	.name = "bench",
	.group = BT_COMMAND_MEASURE,
	.summary = "Measure how many pods the scheduler places in a second.",
	.usage = "berth bench FILE... | --workload WORKLOAD | --suite | --scheduler-perf FILE "
		 "[FLAGS]",
	.arguments = "FILE",
	.help = "There are four kinds of measurements:\n"
		"\n"
		"  FILE              a snapshot, or JSON lines with one API object each. Pods\n"
		"                    without a spec.nodeName are scheduled in the order of the\n"
		"                    file after all other objects were loaded. Each pod is\n"
		"                    assumed on its node before the next one is scheduled.\n"
		"  --workload NAME   like FILE, with generated objects: --nodes, --bound (pods\n"
		"                    that have a node), --pending (pods to be scheduled).\n"
		"                    --write writes them to a file.\n"
		"  --suite           a fixed list of workloads and sizes, each in its own\n"
		"                    process: a table (or JSON) with the median of five runs,\n"
		"                    memory, the ratio to upstream, machine and commit.\n"
		"  --scheduler-perf  a workload file of upstream's scheduler_perf, with the\n"
		"                    scheduler's queue.\n"
		"\n"
		"Workloads:\n"
		"  basic         pods of one shape\n"
		"  nodeaffinity  required node affinity for two of three zones\n"
		"  taints        every third node has a taint with effect PreferNoSchedule\n"
		"  hetero        four sizes of nodes, 2,000 apps with random requests\n"
		"  spread, prefspread              hard or soft spreading over ten zones\n"
		"  affinity, antiaffinity          required, by zone or by host\n"
		"  prefaffinity, prefantiaffinity  preferred, by host\n"
		"  mixed         a random mix of the above\n"
		"  preemption    pending pods preempt bound pods of lower priority\n"
		"  nominated     as basic, while nominated pods keep room on 300 nodes\n"
		"  churn         between pods, other pods end, and nodes are added, changed and\n"
		"                removed\n"
		"  backlog       pending pods of 100 shapes that do not fit; each node that is\n"
		"                added then fits one of these pods\n"
		"  gated         scheduling gates are removed one after the other\n"
		"  services      500 services, spread by the default constraints\n"
		"  daemonsets    each pod requires one node by its name\n"
		"  devices       eight devices on each node; each pod claims one device\n"
		"  large         objects with many labels, containers, volumes and taints\n"
		"  gangs         gangs of 64 pods that are placed together or not at all\n"
		"  racks         gangs of 512 pods, each within one rack of 50 nodes\n"
		"  worst         no two pods are alike, and between two pods a label changes on\n"
		"                every node\n"
		"\n"
		"Each run prints one line of JSON. \"seconds\" is the time for decisions and for\n"
		"changes of the cluster between them; \"cpu_seconds\" is the same in processor\n"
		"time, for machines with other load; \"load_seconds\" is the time to generate or\n"
		"read and decode all objects. \"decisions\" is a digest of pod and node of each\n"
		"decision: equal digests mean equal decisions. With --verify a second run makes\n"
		"each decision also with the plain forms of the plugins, and must have the same\n"
		"digest.\n"
		"\n"
		"With --preempt a pod that fits on no node preempts: its victims are removed at\n"
		"once, and the pod is tried again. The line then also has \"preempted\" (pods\n"
		"placed after preemption), \"victims\" and \"preemptions_per_s\".\n",
	.examples =
		"  berth bench -w spread --repeat 5 --percentage-of-nodes-to-score 100\n"
		"  berth bench -w churn --pending 20000 --changes 10 --verify-pods 500\n"
		"  berth bench -w basic --nodes 1000000 --bound 0 --pending 1000000\n"
		"  berth bench -w mixed --write mixed.jsonl && berth bench mixed.jsonl\n"
		"  berth bench --suite --verify -o json > suite.json\n"
		"  berth bench --suite --quick --only spread,million\n"
		"  berth bench --scheduler-perf examples/scheduler-perf/performance-config.yaml\n",
	.exit_status = "  0  everything was measured\n"
		       "  1  a workload of a scheduler_perf file is below its threshold\n"
		       "  2  the flags or files are wrong, a workload of a scheduler_perf file\n"
		       "     failed, or --verify found a difference\n",
	.flags = flags,
	.flag_count = BT_ARRAY_LENGTH(flags),
	.has_setup = true,
	.options_bytes = sizeof(struct options),
	.defaults = &defaults,
	.check = check,
	.run = run,
	.workload_at = workload_at,
};
