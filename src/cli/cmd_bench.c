/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>

#include "api/object.h"
#include "cli/command.h"
#include "cli/eviction.h"
#include "cli/line_reader.h"
#include "cli/setup.h"

struct options {
	struct bt_setup setup;
	int64_t repeat;
	bool preempt;
};

/** One run: a cluster loaded from the file, and the pods to be placed on it. */
struct bench {
	struct bt_engine *engine;
	BT_VEC(struct bt_object *) pending; /* in file order */
	uint32_t node_count;
	uint32_t bound_count;
	uint32_t scheduled_count;
	uint32_t failed_count;
	uint32_t preempted_count; /* scheduled after the victims had gone */
	uint32_t victim_count;
	double load_seconds;
	double seconds;
};

static double now_seconds(void)
{
	struct timespec now;
	(void)clock_gettime(CLOCK_MONOTONIC, &now); /* cannot fail for this clock */
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double peak_rss_mb(void)
{
	struct rusage usage;
	(void)getrusage(RUSAGE_SELF, &usage); /* cannot fail for this argument */
	return (double)usage.ru_maxrss / 1024.0;
}

static int take_pod(struct bench *bench, struct bt_object *object, struct berth_error *err)
{
	const struct bt_pod *pod = bt_object_value(object, BT_KIND_POD);
	int result = 0;
	if (bt_pod_is_terminal(pod)) {
		bt_object_release(object);
		return 0;
	}
	if (pod->spec.node_name.length == 0) {
		bt_vec_push(&bench->pending, object);
		return 0;
	}
	result = bt_state_add_pod(bench->engine->state, pod, err);
	bench->bound_count++;
	bt_object_release(object);
	return result;
}

static int take_line(struct bench *bench, struct bt_str line, struct berth_error *err)
{
	struct bt_object *object = NULL;
	int result = bt_object_decode(line, &object, err);
	if (result < 0) {
		return result;
	}
	if (object->kind == BT_KIND_POD) {
		return take_pod(bench, object, err);
	}
	if (object->kind == BT_KIND_NODE) {
		bt_state_add_node(bench->engine->state, bt_object_value(object, BT_KIND_NODE));
		bench->node_count++;
		bt_object_release(object);
		return 0;
	}
	bt_object_store_put(&bench->engine->state->objects, object);
	return 0;
}

static int load(struct bench *bench, const char *path, struct berth_error *err)
{
	struct bt_line_reader *reader;
	int result = bt_line_reader_open(path, &reader, err);
	if (result < 0) {
		return result;
	}
	for (;;) {
		struct bt_str line;
		bool more;
		result = bt_line_reader_next(reader, &line, &more, err);
		if (result < 0 || !more) {
			break;
		}
		result = take_line(bench, line, err);
		if (result < 0) {
			result = bt_error_wrap(
				err, result, "%s: line %lu", path, bt_line_reader_number(reader));
			break;
		}
	}
	bt_line_reader_close(reader);
	return result;
}

static bool try_to_place(
	struct bench *bench, const struct bt_pod_info *info, struct bt_schedule_result *result)
{
	bt_engine_schedule(bench->engine, result->framework, info, result);
	return result->outcome == BT_OUTCOME_SCHEDULED &&
		bt_engine_place(bench->engine, info, result);
}

/** The victims of a failed attempt leave, and the pod is tried again on the node it was promised.
 */
static bool preempt(
	struct bench *bench, struct bt_pod_info *info, struct bt_schedule_result *result)
{
	uint32_t victim_count = bt_eviction_run(bench->engine, info, result, NULL, NULL);
	if (victim_count == 0) {
		return false;
	}
	bench->victim_count += victim_count;
	if (result->nomination.present) {
		/* The table's text: the result's own goes with the cycle. */
		const struct bt_node_table *nodes = &bench->engine->state->nodes;
		uint32_t slot = bt_node_table_find(nodes, result->nomination.nominated_node_name);
		info->nominated_node_name = bt_node_table_name(nodes, slot);
	}
	bool placed = try_to_place(bench, info, result);
	bench->preempted_count += placed;
	return placed;
}

/** What the timed section does for one pod: intern its shape, decide, assume. */
static void schedule(struct bench *bench, const struct bt_pod *pod, bool may_preempt)
{
	struct bt_engine *engine = bench->engine;
	struct bt_framework *framework = bt_engine_profile(engine, pod->spec.scheduler_name);
	if (framework == NULL) {
		bench->failed_count++;
		return;
	}
	struct bt_pod_info info;
	struct bt_schedule_result result = {.framework = framework};
	bt_pod_info_init_pending(engine->state, pod, &info);
	if (try_to_place(bench, &info, &result) ||
		(may_preempt && preempt(bench, &info, &result))) {
		bench->scheduled_count++;
	} else {
		bench->failed_count++;
	}
	bt_pod_info_finish_pending(engine->state, &info);
}

static void finish(struct bench *bench)
{
	for (uint32_t i = 0; i < bench->pending.count; i++) {
		bt_object_release(bench->pending.items[i]);
	}
	bt_vec_finish(&bench->pending);
	bt_engine_destroy(bench->engine);
}

static int run_once(const struct options *options, const char *path, struct bench *bench,
	struct berth_error *err)
{
	double start = now_seconds();
	int result = bt_setup_engine(&options->setup, &bench->engine, err);
	if (result == 0) {
		result = load(bench, path, err);
	}
	if (result < 0) {
		return result;
	}
	double loaded = now_seconds();
	for (uint32_t i = 0; i < bench->pending.count; i++) {
		schedule(bench, bt_object_value(bench->pending.items[i], BT_KIND_POD),
			options->preempt);
	}
	bench->seconds = now_seconds() - loaded;
	bench->load_seconds = loaded - start;
	return 0;
}

static double rate(uint32_t count, double seconds)
{
	return seconds > 0.0 ? (double)count / seconds : 0.0;
}

static void print(const struct options *options, const struct bench *bench, const char *path)
{
	struct bt_strbuf line = {0};
	struct bt_json_writer writer;
	bt_json_writer_init(&writer, &line, 0);
	bt_json_begin_object(&writer);
	bt_json_write_name_c(&writer, "file");
	bt_json_write_c(&writer, path);
	bt_strbuf_printf(&line, ",\"nodes\":%u,\"bound\":%u,\"scheduled\":%u,\"failed\":%u",
		bench->node_count, bench->bound_count, bench->scheduled_count, bench->failed_count);
	if (options->preempt) {
		bt_strbuf_printf(&line,
			",\"preempted\":%u,\"victims\":%u,\"preemptions_per_s\":%.0f",
			bench->preempted_count, bench->victim_count,
			rate(bench->preempted_count, bench->seconds));
	}
	bt_strbuf_printf(&line,
		",\"seconds\":%.6f,\"pods_per_s\":%.0f,\"load_seconds\":%.3f,\"peak_rss_mb\":%.1f",
		bench->seconds, rate(bench->pending.count, bench->seconds), bench->load_seconds,
		peak_rss_mb());
	bt_json_end_object(&writer);
	(void)printf("%s\n", bt_strbuf_c(&line));
	(void)fflush(stdout); /* failures show at the end of the program */
	bt_strbuf_finish(&line);
}

static int run_repeatedly(
	const struct bt_command *command, const struct options *options, const char *path)
{
	for (int64_t i = 0; i < options->repeat; i++) {
		struct berth_error err = BERTH_ERROR_INIT;
		struct bench bench = {0};
		int result = run_once(options, path, &bench, &err);
		if (result == 0) {
			print(options, &bench, path);
		}
		finish(&bench);
		if (result < 0) {
			return bt_command_fail(command, &err);
		}
	}
	return BT_EXIT_OK;
}

static int check_usage(const struct options *options, const struct bt_arguments *arguments,
	struct berth_error *err)
{
	if (arguments->list.count != 1) {
		return bt_error_set(
			err, BERTH_ERR_INVALID, "needs one file (see \"berth bench --help\")");
	}
	if (options->repeat < 1) {
		return bt_error_set(err, BERTH_ERR_INVALID, "--repeat: must be at least 1");
	}
	return 0;
}

static int run(const struct bt_command *command, int argc, char **argv)
{
	struct options options = {.setup = BT_SETUP_INIT, .repeat = 1};
	struct bt_arguments arguments = {0};
	const struct bt_flag flags[] = {
		BT_SETUP_FLAGS(&options.setup),
		{"repeat", 0, BT_FLAG_INT, &options.repeat, "N",
			"measure N times, each on a freshly loaded cluster"},
		{"preempt", 0, BT_FLAG_BOOL, &options.preempt, NULL,
			"remove the victims of pods that do not fit, and try those pods again"},
		{"verify", 0, BT_FLAG_BOOL, &options.setup.verify, NULL,
			"recompute every decision the plain way and stop at a difference (slow)"},
	};
	int exit_status;
	if (bt_command_parse(
		    command, flags, BT_ARRAY_LENGTH(flags), argc, argv, &arguments, &exit_status)) {
		struct berth_error err = BERTH_ERROR_INIT;
		options.setup.verify = options.setup.verify || bt_command_verify();
		if (check_usage(&options, &arguments, &err) < 0 ||
			bt_setup_load_plugins(&options.setup, &err) < 0) {
			exit_status = bt_command_fail(command, &err);
		} else {
			exit_status = run_repeatedly(command, &options, arguments.list.items[0]);
		}
	}
	bt_setup_finish(&options.setup);
	bt_vec_finish(&arguments.list);
	return exit_status;
}

const struct bt_command bt_command_bench = {
	.name = "bench",
	.summary = "Measure how many pods a second are placed.",
	.usage = "berth bench FILE.jsonl[.gz] [FLAGS]",
	.help = "FILE holds one API object a line. Pods without a spec.nodeName are scheduled in "
		"file "
		"order when everything\n"
		"else is loaded, each assumed on its node before the next. One JSON line is "
		"printed a run:\n"
		"load_seconds covers reading and decoding, seconds only the decisions.\n"
		"\n"
		"With --preempt a pod that fits nowhere preempts: its victims are removed at once, "
		"the "
		"pod is tried again,\n"
		"and the line has preempted (pods placed that way), victims and "
		"preemptions_per_s.\n"
		"\n"
		"Examples:\n"
		"  bench/generate.py basic 5000 5000 2000 > basic.jsonl\n"
		"  berth bench basic.jsonl --repeat 5 --percentage-of-nodes-to-score 100\n"
		"  bench/generate.py preemption 5000 20000 500 > full.jsonl\n"
		"  berth bench full.jsonl --preempt --repeat 5 --percentage-of-nodes-to-score "
		"100\n",
	.run = run,
};
