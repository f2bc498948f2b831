/* SPDX-License-Identifier: Apache-2.0 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "api/quantity.h"
#include "base/nanoseconds.h"
#include "cli/command.h"
#include "client/live.h"
#include "net/certificate.h"
#include "net/clock.h"
#include "net/loop.h"
#include "replay/recorder.h"

/** Interval of writes. Together with BT_RECORDER_WINDOW_NS, kill -9 loses less than a second. */
#define WORK_INTERVAL_NS INT64_C(400000000)
/**
 * Shorter interruptions of a watch are not recorded as gaps, because any network may delay changes
 * by this much.
 */
#define GAP_MIN_NS BT_NS_PER_SECOND
#define RECORDING_NAME_BYTES 4

struct options {
	struct bt_command_line line;
	const char *output_path;
	const char *duration_text;
	const char *rotate_age_text;
	const char *rotate_size_text;
	bool strip_names;
	bool no_gzip;
	int64_t duration_ns; /* 0: until a signal */
	int64_t rotate_age_ns;
	uint64_t rotate_bytes;
};

struct run {
	struct options *options;
	struct bt_live *live;
	struct bt_live_watch *watch;
	struct bt_recorder *recorder; /* NULL: the initial lists are being read */
	struct bt_progress progress;
	struct berth_error err;
	int result;
	int64_t due_ns; /* time of the next write */
	int64_t end_ns; /* INT64_MAX: until a signal */
	bool stop;
};

static int64_t now_ns(const struct run *run)
{
	return bt_loop_now_ns(bt_live_loop(run->live));
}

/** --- events of the watches --- */

static void take_change(void *context, struct bt_object *old_object, struct bt_object *new_object)
{
	struct run *run = context;
	if (run->recorder != NULL) {
		bt_recorder_take(run->recorder, now_ns(run), old_object, new_object);
	}
}

static void take_gap(void *context, enum bt_kind kind, int64_t length_ns, bool is_list)
{
	struct run *run = context;
	if (run->recorder != NULL && (is_list || length_ns >= GAP_MIN_NS)) {
		bt_recorder_take_gap(run->recorder, now_ns(run), kind, length_ns);
	}
}

static void warn(void *context, const char *line)
{
	struct run *run = context;
	bt_progress_end(&run->progress);
	bt_warnings_take(&run->options->line.warnings, line);
}

static void visit_objects(
	void *cluster, void (*visit)(void *context, const struct bt_object *object), void *context)
{
	bt_live_watch_for_each(cluster, visit, context);
}

/** --- the run --- */

static void take_signal(void *context, int number BT_UNUSED)
{
	struct run *run = context;
	run->stop = true;
	bt_loop_stop(bt_live_loop(run->live));
}

static int64_t flush_due_lines(void *context, int64_t now)
{
	struct run *run = context;
	struct bt_recorder_counts counts = bt_recorder_count(run->recorder);
	if (run->result == 0 && now >= run->due_ns) {
		run->result = bt_recorder_flush(run->recorder, now, &run->err);
		run->due_ns = now + WORK_INTERVAL_NS;
	}
	if (run->result < 0 || now >= run->end_ns) {
		bt_loop_stop(bt_live_loop(run->live));
		return INT64_MAX;
	}
	bt_progress_show(&run->progress,
		counts.changes < UINT32_MAX ? (uint32_t)counts.changes : UINT32_MAX, 0);
	return run->due_ns < run->end_ns ? run->due_ns : run->end_ns;
}

static int record(struct run *run, struct berth_error *err)
{
	const struct options *options = run->options;
	struct bt_loop *loop = bt_live_loop(run->live);
	static const int signals[] = {SIGINT, SIGTERM, 0};
	const struct bt_live_watch_sink sink = {run, take_change, take_gap, warn};
	struct bt_strbuf name = {0};
	run->watch = bt_live_watch_create(run->live, &sink);
	int result = bt_random_hex(RECORDING_NAME_BYTES, &name, err);
	if (result == 0) {
		result = bt_loop_on_signals(loop, signals, take_signal, run, err);
	}
	if (result == 0) {
		result = bt_live_watch_sync(run->watch, &run->stop, err);
	}
	if (result == 0 && !run->stop) {
		const struct bt_recorder_options recorder = {
			.path = options->output_path,
			.is_gzipped = !options->no_gzip,
			.strip_names = options->strip_names,
			.rotate_bytes = options->rotate_bytes,
			.rotate_ns = options->rotate_age_ns,
			.recording = bt_strbuf_c(&name),
			.wall_ns = bt_clock_wall_ns,
			.for_each_object = visit_objects,
			.cluster = run->watch,
		};
		result = bt_recorder_create(&recorder, now_ns(run), &run->recorder, err);
		if (result == 0 && bt_recorder_count(run->recorder).by_parts != 0) {
			warn(run,
				"--strip-names: selector expressions of devices look at parts of "
				"texts (matches, substring and the like); with neutral names the "
				"answer may differ");
		}
	}
	if (result == 0 && !run->stop) {
		run->end_ns =
			options->duration_ns != 0 ? now_ns(run) + options->duration_ns : INT64_MAX;
		bt_loop_add_worker(loop, flush_due_lines, run);
		bt_progress_start(&run->progress, "changes recorded");
		result = bt_loop_run(loop, err);
		bt_progress_end(&run->progress);
	}
	if (result == 0 && run->result < 0) {
		(void)bt_error_move(err, &run->err);
		result = run->result;
	}
	if (result == 0 && run->recorder != NULL) {
		result = bt_recorder_end(run->recorder, err);
	}

	bt_strbuf_finish(&name);
	return result;
}

static int run(void *context, struct bt_strbuf *out BT_UNUSED, struct berth_error *err)
{
	struct options *options = context;
	struct run run = {.options = options, .err = BERTH_ERROR_INIT};
	struct sigaction ignore = {.sa_handler = SIG_IGN};
	(void)sigaction(SIGXFSZ, &ignore, NULL); /* writing beyond RLIMIT_FSIZE returns an error */
	const struct bt_source *source = &options->line.source;
	int result = bt_live_open(source->kubeconfig != NULL ? source->kubeconfig : "",
		source->context, &run.live, err);
	if (result == 0) {
		result = record(&run, err);
	}
	if (run.recorder != NULL) {
		struct bt_recorder_counts counts = bt_recorder_count(run.recorder);
		/* Keep standard output free for the recording. */
		FILE *stream = strcmp(options->output_path, "-") == 0 ? stderr : stdout;
		bool has_bytes = counts.bytes != 0;
		bool has_changes = has_bytes && counts.changes != 0;
		uint64_t change_bytes = counts.bytes - counts.start_bytes;
		bt_console_print(stream,
			"%c: %u {object|objects}, %d {change|changes}, %u {gap|gaps}[; %d bytes]"
			"[%?, %d a change][, in %u files]\n",
			options->output_path, counts.objects, (int64_t)counts.changes, counts.gaps,
			(int64_t)counts.bytes, has_changes,
			has_changes ? (int64_t)(change_bytes / counts.changes) : 0,
			has_bytes && counts.parts > 1 ? counts.parts : 0);
	}
	bt_recorder_destroy(run.recorder);
	bt_live_watch_destroy(run.watch);
	bt_live_close(run.live);
	berth_error_finish(&run.err);
	return result;
}

/** --- the command line --- */

static int check(void *context, struct berth_error *err)
{
	struct options *options = context;
	if (options->output_path == NULL) {
		return bt_error_set(err, BERTH_ERR_INVALID, "name the recording: -o FILE.berthrec");
	}
	bool is_stdout = strcmp(options->output_path, "-") == 0;
	if (is_stdout && !options->no_gzip && isatty(STDOUT_FILENO) == 1) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"a recording is gzipped, and standard output is a terminal: name a file, "
			"or add --no-gzip");
	}
	if (is_stdout && (options->rotate_age_text != NULL || options->rotate_size_text != NULL)) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"--rotate-age, --rotate-size: standard output has no parts; name a file "
			"with -o");
	}
	int result = bt_command_read_duration(
		"for", options->duration_text, false, &options->duration_ns, err);
	if (result == 0) {
		result = bt_command_read_duration("rotate-age", options->rotate_age_text, false,
			&options->rotate_age_ns, err);
	}
	if (result < 0 || options->rotate_size_text == NULL) {
		return result;
	}
	struct bt_quantity quantity;
	result = bt_quantity_parse(
		bt_str_from(options->rotate_size_text), &options->line.arena, &quantity, err);
	int64_t bytes = result == 0 ? bt_quantity_value(&quantity) : 0;
	if (result == 0 && bytes <= 0) {
		result = bt_error_set(err, BERTH_ERR_INVALID, "must be more than nothing");
	}
	options->rotate_bytes = (uint64_t)bytes;
	return result < 0 ? bt_error_wrap(err, result, "--rotate-size") : 0;
}

static const struct bt_flag flags[] = {
	{"kubeconfig", 0, BT_FLAG_STRING, offsetof(struct options, line.source.kubeconfig), "FILE",
		"record the cluster of this kubeconfig; nothing is written to it (default: "
		"$KUBECONFIG, ~/.kube/config)"},
	{"context", 0, BT_FLAG_STRING, offsetof(struct options, line.source.context), "NAME",
		"context of the kubeconfig (default: its current one)"},
	{"output", 'o', BT_FLAG_STRING, offsetof(struct options, output_path), "FILE|-",
		"file to write, which must not exist"},
	{"for", 0, BT_FLAG_STRING, offsetof(struct options, duration_text), "DURATION",
		"time to record, such as 30m or 24h (default: until SIGINT or SIGTERM)"},
	{"rotate-age", 0, BT_FLAG_STRING, offsetof(struct options, rotate_age_text), "DURATION",
		"begin a new file after this time"},
	{"rotate-size", 0, BT_FLAG_STRING, offsetof(struct options, rotate_size_text), "QUANTITY",
		"begin a new file at this size, such as 100M"},
	{"strip-names", 0, BT_FLAG_BOOL, offsetof(struct options, strip_names), NULL,
		"replace all names by neutral ones"},
	{"no-gzip", 0, BT_FLAG_BOOL, offsetof(struct options, no_gzip), NULL,
		"write plain JSON lines"},
};

const struct bt_command bt_command_record = {
	.name = "record",
	.group = BT_COMMAND_ASK,
	.summary = "Record the changes of a cluster, for replay.",
	.usage = "berth record -o FILE.berthrec [--kubeconfig FILE] [FLAGS]",
	.help = "Writes the part of a cluster that a scheduler reads, as \"berth snapshot\" does,\n"
		"and then each change with its time, until a signal ends berth. The server gets\n"
		"only requests for lists and watches. A watch that breaks is resumed; if\n"
		"changes may have been missed, the recording contains the gap.\n"
		"\n"
		"The file can be used at any time: if berth is killed, at most the last second\n"
		"is missing.\n",
	.examples = "  # A day of the cluster that kubectl uses, in files of an hour\n"
		    "  berth record --for 24h --rotate-age 1h -o monday.berthrec\n"
		    "\n"
		    "  # To share: without names\n"
		    "  berth record --kubeconfig ~/.kube/config --strip-names -o load.berthrec\n",
	.exit_status = "  0  the recording is complete\n"
		       "  2  the flags or the server are wrong, or the file cannot be written\n",
	.flags = flags,
	.flag_count = BT_ARRAY_LENGTH(flags),
	.no_arguments = "the output is named with -o",
	.options_bytes = sizeof(struct options),
	.check = check,
	.run = run,
};
