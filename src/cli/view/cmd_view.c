/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/nanoseconds.h"
#include "cli/command.h"
#include "cli/listen.h"
#include "cli/replay/replay_run.h"
#include "cli/up/up_identity.h"
#include "cli/view/view.h"
#include "client/live.h"
#include "net/clock.h"
#include "net/loop.h"

#define FORGET_INTERVAL_NS (60 * BT_NS_PER_SECOND)
#define TOKEN_BYTES 16

struct options {
	struct bt_command_line line;
	struct bt_listen listen;
	const char *history_text;
	int64_t history_ns;
	bool allow_changes;
	bool replays;
};

struct run {
	struct options *options;
	struct bt_view_page view;
	struct bt_up_identity identity;
	struct bt_strbuf percentage;
	struct bt_strbuf threads;
	struct bt_live *live; /* NULL: files are served */
	bool stop;
};

static void take_signal(void *context, int number BT_UNUSED)
{
	struct run *run = context;
	run->stop = true;
	bt_loop_stop(run->view.loop);
}

static int64_t remove_old_history(void *context, int64_t now_ns)
{
	struct run *run = context;
	bt_history_remove_before(&run->view.history, bt_clock_wall_ns() - run->options->history_ns);
	return now_ns + FORGET_INTERVAL_NS;
}

/** --- sources of objects --- */

static void take_change(void *context, struct bt_object *old_object, struct bt_object *new_object)
{
	struct run *run = context;
	bt_history_take(&run->view.history, bt_clock_wall_ns(), old_object, new_object);
}

/** Nothing to do: the list after a gap brings the missed changes. */
static void ignore_gap(BT_UNUSED void *context, BT_UNUSED enum bt_kind kind,
	BT_UNUSED int64_t length_ns, BT_UNUSED bool is_list)
{
}

static void warn(void *context, const char *line)
{
	struct run *run = context;
	bt_warnings_take(&run->options->line.warnings, line);
}

/** Returns the last component of a path. */
static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash != NULL && slash[1] != '\0' ? slash + 1 : path;
}

static void take_replayed(void *context, const struct bt_object *old_object,
	struct bt_object *new_object, int64_t time_ns)
{
	struct run *run = context;
	bt_history_take(&run->view.history, time_ns, old_object, new_object);
}

/**
 * Replays the recordings as "berth replay" with the same flags does, and adds all changes to the
 * history.
 */
static int replay_recordings(struct run *run, struct berth_error *err)
{
	struct bt_command_line *line = &run->options->line;
	struct bt_replay_request request = {
		.is_compared = line->setup.config_path == NULL,
		.sink = {.context = run, .changed = take_replayed},
	};
	struct bt_replay_answer answer;
	int result = bt_replay_request_check(&request, &line->arguments, err);
	if (result == 0) {
		result = bt_setup_start(line->command->name, &line->setup, err);
	}
	if (result == 0) {
		result = bt_replay_answer_find(
			&request, &line->setup, &line->warnings, &answer, err);
		run->view.history.from_ns = answer.counts.start_ns;
		run->view.history.to_ns = answer.counts.end_ns;
		bt_replay_answer_finish(&answer);
	}
	return result;
}

static bool is_live(const struct options *options)
{
	return options->line.arguments.list.count == 0 &&
		options->line.source.files.list.count +
			options->line.source.kustomizations.list.count ==
		0;
}

static int read_kept(struct run *run, struct berth_error *err)
{
	const struct bt_arguments *recordings = &run->options->line.arguments;
	if (recordings->list.count == 0) {
		const struct bt_arguments *files = &run->options->line.source.files;
		/* The history borrows the texts of the cluster for the whole run. */
		struct bt_manifests *cluster = &run->options->line.cluster;
		int result = bt_source_read(&run->options->line.source, cluster, err);
		if (result == 0) {
			result = bt_history_take_files(&run->view.history, cluster, err);
		}
		if (result == 0) {
			bt_strbuf_append_c(&run->view.source,
				files->list.count != 0 ? base_name(files->list.items[0]) : "");
			if (files->list.count > 1) {
				bt_strbuf_printf(
					&run->view.source, " and %u more", files->list.count - 1);
			}
		}
		return result;
	}
	bt_strbuf_append_c(&run->view.source, base_name(recordings->list.items[0]));
	return run->options->replays
		? replay_recordings(run, err)
		: bt_history_read_recordings(&run->view.history, recordings, err);
}

/** --- serving --- */

static void add_flags(struct bt_arguments *out, const char *name, const struct bt_arguments *values)
{
	for (uint32_t i = 0; i < values->list.count; i++) {
		bt_vec_push(&out->list, name);
		bt_vec_push(&out->list, values->list.items[i]);
	}
}

/** Collect the flags that make other commands use the scheduler and cluster of this command. */
static void collect_flags(struct run *run)
{
	const struct options *options = run->options;
	const struct bt_setup *setup = &options->line.setup;
	const struct bt_source *source = &options->line.source;
	add_flags(&run->view.flags, "--feature-gates", &setup->feature_gates);
	add_flags(&run->view.flags, "--plugin", &setup->plugins);
	add_flags(&run->view.flags, "--plugin-dir", &setup->plugin_folders);
	add_flags(&run->view.source_flags, "-f", &source->files);
	add_flags(&run->view.source_flags, "-k", &source->kustomizations);
	if (source->recursive) {
		bt_vec_push(&run->view.source_flags.list, "-R");
	}
	if (setup->config_path != NULL) {
		bt_vec_push(&run->view.flags.list, "--config");
		bt_vec_push(&run->view.flags.list, setup->config_path);
	}
	if (setup->ignore_extenders) {
		bt_vec_push(&run->view.flags.list, "--ignore-extenders");
	}
	if (setup->strict_feature_gates) {
		bt_vec_push(&run->view.flags.list, "--strict-feature-gates");
	}
	if (setup->percentage >= 0) {
		bt_strbuf_printf(&run->percentage, "--percentage-of-nodes-to-score=%" PRId64,
			setup->percentage);
		bt_vec_push(&run->view.flags.list, bt_strbuf_c(&run->percentage));
	}
	if (setup->threads != 1) {
		bt_strbuf_printf(&run->threads, "--threads=%" PRId64, setup->threads);
		bt_vec_push(&run->view.flags.list, bt_strbuf_c(&run->threads));
	}
	/* With files, the commands that answer read no events of the cluster. */
	struct bt_arguments *live = is_live(options) ? &run->view.flags : &run->view.source_flags;
	if (source->kubeconfig != NULL && (source->kubeconfig[0] != '\0' || !is_live(options))) {
		bt_vec_push(&live->list, "--kubeconfig");
		bt_vec_push(&live->list, source->kubeconfig);
	}
	if (source->context != NULL) {
		bt_vec_push(&live->list, "--context");
		bt_vec_push(&live->list, source->context);
	}
}

static int start_server(struct run *run, struct berth_error *err)
{
	const struct options *options = run->options;
	const struct bt_listen *listen = &options->listen;
	bool is_plain = bt_listen_is_loopback(listen) && listen->certificate_path == NULL;
	const struct bt_up_identity_options identity = {
		.is_plain = is_plain,
		.listen = listen,
		.now_seconds = bt_clock_wall_ns() / BT_NS_PER_SECOND,
	};
	struct bt_view_page *view = &run->view;
	collect_flags(run);
	int result = bt_up_identity_create(&identity, &run->identity, err);
	if (result == 0 && is_plain) {
		result = bt_random_hex(TOKEN_BYTES, &run->identity.token, err);
	}
	if (result < 0) {
		return result;
	}
	view->is_recording = options->line.arguments.list.count != 0;
	view->address = listen->address;
	view->port = listen->port;
	view->certificate_pem = is_plain ? NULL : bt_strbuf_c(&run->identity.server.certificate);
	view->key_pem = is_plain ? NULL : bt_strbuf_c(&run->identity.server.key);
	view->token = bt_strbuf_c(&run->identity.token);
	view->state = is_live(options) ? "live"
		: options->replays     ? "a replay"
		: view->is_recording   ? "a recording"
				       : "from files";
	if (options->allow_changes) {
		view->client = bt_live_client(run->live);
	}
	result = bt_view_server_start(view, err);
	if (result == 0) {
		struct bt_strbuf url = {0};
		bt_listen_append_url(listen, is_plain, bt_http_server_port(view->http), &url);
		(void)printf("berth view: %s\n"
			     "\n"
			     "  %s/#token=%s\n"
			     "\n"
			     "Ctrl-C ends it; %s.\n",
			bt_strbuf_c(&run->view.source), bt_strbuf_c(&url),
			bt_strbuf_c(&run->identity.token),
			options->allow_changes ? "whoever has the link can change the cluster"
					       : "nothing is written to the cluster");
		bt_strbuf_finish(&url);
		return bt_output_flush(err); /* without the link, the page cannot be opened */
	}
	return bt_error_wrap(err, result, "--listen");
}

static int run_server(struct run *run, struct berth_error *err)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP, 0};
	bool live = is_live(run->options);
	int result = 0;
	bt_history_init(&run->view.history, bt_clock_wall_ns());
	if (live) {
		const struct bt_source *source = &run->options->line.source;
		result = bt_live_open(source->kubeconfig, source->context, &run->live, err);
		if (result == 0) {
			run->view.loop = bt_live_loop(run->live);
			bt_strbuf_printf(&run->view.source, "%s%s%s", bt_live_context(run->live),
				bt_live_context(run->live)[0] != '\0' ? ", " : "",
				bt_live_server(run->live));
		}
	} else {
		result = bt_loop_create(&run->view.loop, err);
	}
	if (result == 0) {
		result = bt_loop_on_signals(run->view.loop, signals, take_signal, run, err);
	}
	if (result == 0) {
		if (live) {
			const struct bt_live_watch_sink sink = {run, take_change, ignore_gap, warn};
			run->view.watch = bt_live_watch_create(run->live, &sink);
			result = bt_live_watch_sync(run->view.watch, &run->stop, err);
			run->view.history.from_ns = bt_clock_wall_ns();
			bt_loop_add_worker(run->view.loop, remove_old_history, run);
		} else {
			result = read_kept(run, err);
		}
	}
	if (result == 0 && !run->stop) {
		result = start_server(run, err);
	}
	if (result == 0 && !run->stop) {
		result = bt_loop_run(run->view.loop, err);
	}
	return result;
}

/** --- the command line --- */

static int check(void *context, struct berth_error *err)
{
	struct options *options = context;
	const struct bt_arguments *arguments = &options->line.arguments;
	if (arguments->list.count != 0 &&
		(options->line.source.files.list.count != 0 ||
			options->line.source.kustomizations.list.count != 0 ||
			options->line.source.kubeconfig != NULL ||
			options->line.source.context != NULL)) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"either recordings, or a cluster with -f, -k or --kubeconfig");
	}
	if (options->allow_changes && !is_live(options)) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"--allow-changes: only a live cluster can be changed");
	}
	if (options->replays && arguments->list.count == 0) {
		return bt_error_set(
			err, BERTH_ERR_INVALID, "--replay: there is no recording to replay");
	}
	int result = bt_listen_check(&options->listen, 0, err);
	if (result == 0) {
		result = bt_command_read_duration(
			"history", options->history_text, false, &options->history_ns, err);
	}
	if (arguments->list.count == 0) {
		bt_source_choose(&options->line.source);
	}
	return result;
}

static int run_view(void *context, struct bt_strbuf *out BT_UNUSED, struct berth_error *err)
{
	struct run run = {.options = context};
	int result = run_server(&run, err);

	bt_view_server_finish(&run.view);
	bt_questions_finish(&run.view);
	bt_view_changes_finish(&run.view);
	bt_history_finish(&run.view.history);
	bt_up_identity_finish(&run.identity);
	bt_strbuf_finish(&run.view.source);
	bt_vec_finish(&run.view.flags.list);
	bt_vec_finish(&run.view.source_flags.list);
	bt_strbuf_finish(&run.percentage);
	bt_strbuf_finish(&run.threads);
	if (is_live(run.options)) {
		bt_live_watch_destroy(run.view.watch);
		bt_live_close(run.live);
	} else {
		bt_loop_destroy(run.view.loop);
	}

	return result;
}

static const struct bt_flag flags[] = {
	BT_SOURCE_FLAGS,
	{"listen", 0, BT_FLAG_STRING, offsetof(struct options, listen.text), "ADDRESS:PORT",
		"address of the server, with TLS unless it is loopback (default 127.0.0.1, any "
		"free port)"},
	{"tls-cert-file", 0, BT_FLAG_STRING, offsetof(struct options, listen.certificate_path),
		"FILE", "serving certificate, PEM (default: a new one, if TLS is needed)"},
	{"tls-private-key-file", 0, BT_FLAG_STRING, offsetof(struct options, listen.key_path),
		"FILE", "key of the serving certificate"},
	{"allow-changes", 0, BT_FLAG_BOOL, offsetof(struct options, allow_changes), NULL,
		"let the page scale, drain and create, with the rights of the kubeconfig's user"},
	{"history", 0, BT_FLAG_STRING, offsetof(struct options, history_text), "DURATION",
		"how long the page keeps the past of a live cluster (default 1h)"},
	{"replay", 0, BT_FLAG_BOOL, offsetof(struct options, replays), NULL,
		"show the decisions of \"berth replay\" with --config instead of the recorded "
		"ones"},
	BT_SETUP_FLAGS,
};

static const struct options defaults = {.listen = {.text = "127.0.0.1:0"}, .history_text = "1h"};

const struct bt_command bt_command_view = {
	.name = "view",
	.group = BT_COMMAND_ASK,
	.summary = "Show a cluster on a page in the browser.",
	.usage = "berth view [RECORDING... | -f FILE|DIR|- ... | --kubeconfig FILE] [FLAGS]",
	.arguments = "FILE",
	.help = "Serves a page on this machine and prints a link to it. The page shows the\n"
		"nodes as tiles, coloured by their use; the pending pods with their reasons;\n"
		"the effect of changes; how many more pods fit; and the last hour, or the whole\n"
		"recording or replay. A live cluster is followed with lists and watches;\n"
		"nothing is written to it without --allow-changes.\n"
		"\n"
		"The link contains a token; without it the server shows nothing about the\n"
		"cluster.\n",
	.examples = "  # The cluster that kubectl talks to\n"
		    "  berth view\n"
		    "\n"
		    "  berth view -f dump.yaml --listen 127.0.0.1:8080\n"
		    "\n"
		    "  # What happened on Monday\n"
		    "  berth view monday.berthrec\n"
		    "\n"
		    "  # What would have happened with nodes packed tightly\n"
		    "  berth view monday.berthrec --replay --config most-allocated.yaml\n",
	.exit_status = "  0  a signal ended the server (SIGINT, SIGTERM)\n"
		       "  2  the input or the flags are wrong, or the address is in use\n",
	.flags = flags,
	.flag_count = BT_ARRAY_LENGTH(flags),
	.options_bytes = sizeof(struct options),
	.defaults = &defaults,
	.check = check,
	.run = run_view,
};
