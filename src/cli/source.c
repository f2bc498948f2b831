/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/source.h"

#include <errno.h>
#include <spawn.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#if BT_HAVE_DAEMON
#include <stdio.h>

#include "cli/live.h"
#include "cli/command.h"
#endif

int bt_source_check(
	struct bt_source *source, const struct bt_command *command, struct berth_error *err)
{
#if BT_HAVE_DAEMON
	(void)command;
	if (source->context != NULL && source->kubeconfig == NULL) {
		source->kubeconfig = "";
	}
	if (source->files.list.count == 0 && source->kustomizations.list.count == 0 &&
		source->kubeconfig == NULL) {
		source->kubeconfig = "";
		source->is_default = true;
	}
	(void)err;
	return 0;
#else
	if (source->kubeconfig != NULL || source->context != NULL) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"--kubeconfig: this program was built without a client of API servers");
	}
	return source->files.list.count + source->kustomizations.list.count != 0
		? 0
		: bt_error_set(err, BERTH_ERR_INVALID,
			  "no input: name files with -f (see \"berth %s --help\")", command->name);
#endif
}

#if BT_HAVE_DAEMON
/** --- the server --- */

struct live_reading {
	struct bt_manifests *cluster;
	uint32_t source;
	struct bt_progress progress;
	char what[64];
};

static int take(void *context, struct bt_object *object, struct berth_error *err)
{
	struct live_reading *reading = context;
	return bt_manifests_take_live(reading->cluster, reading->source, object, err);
}

static void warn(void *context, const char *line)
{
	const struct live_reading *reading = context;
	bt_manifests_warn(reading->cluster, "%s", line);
}

static void show_progress(void *context, const char *resource, uint32_t count)
{
	struct live_reading *reading = context;
	(void)snprintf(reading->what, sizeof(reading->what), "reading %s", resource);
	bt_progress_show(&reading->progress, count, 0);
}

static int read_server(
	const struct bt_source *source, struct bt_manifests *cluster, struct berth_error *err)
{
	struct live_reading reading = {.cluster = cluster, .what = "reading"};
	const struct bt_live_sink sink = {&reading, take, warn, show_progress};
	struct bt_live *live;
	int result = bt_live_open(source->kubeconfig, source->context, &live, err);
	if (result < 0) {
		if (source->is_default && result == BERTH_ERR_NOT_FOUND) {
			berth_error_finish(err);
			return bt_error_set(err, BERTH_ERR_INVALID,
				"no input: name files with -f, or a cluster with --kubeconfig; "
				"neither KUBECONFIG nor ~/.kube/config names one");
		}
		return result;
	}
	if (source->is_default) {
		const char *context = bt_live_context(live);
		(void)fprintf(stderr, "berth: reading %s%s%s%s\n",
			context[0] != '\0' ? "context " : "", context,
			context[0] != '\0' ? ", " : "", bt_live_server(live));
	}
	reading.source = bt_manifests_add_source(cluster, bt_live_server(live));
	bt_progress_start(&reading.progress, reading.what, true);
	result = bt_live_read(live, &sink, err);
	bt_progress_end(&reading.progress);
	bt_live_close(live);
	return result;
}
#endif

/** --- kustomizations --- */

extern char **environ;

#define KUSTOMIZE_BYTES_MAX ((size_t)256 << 20)

/** Everything that the program prints; its standard error is ours. */
static int read_output(int descriptor, struct bt_strbuf *out)
{
	char buffer[65536];
	for (;;) {
		ssize_t count = read(descriptor, buffer, sizeof(buffer));
		if (count < 0 && errno == EINTR) {
			continue;
		}
		if (count <= 0) {
			return count < 0 ? errno : 0;
		}
		bt_strbuf_append(out, buffer, (size_t)count);
		if (out->length > KUSTOMIZE_BYTES_MAX) {
			return EFBIG;
		}
	}
}

/** kubectl knows kustomizations, and is at hand where they are written. */
static int read_kustomization(
	const char *folder, struct bt_manifests *cluster, struct berth_error *err)
{
	char program[] = "kubectl";
	char verb[] = "kustomize";
	char end_of_flags[] = "--";
	char *arguments[] = {program, verb, end_of_flags, (char *)(uintptr_t)folder, NULL};
	posix_spawn_file_actions_t actions;
	struct bt_strbuf text = {0};
	int ends[2];
	pid_t child = 0;
	int status = 0;
	if (pipe(ends) != 0) {
		return bt_error_set(err, BERTH_ERR_IO, "-k %s: %s", folder, strerror(errno));
	}
	int number = posix_spawn_file_actions_init(&actions);
	number = number != 0 ? number : posix_spawn_file_actions_addclose(&actions, ends[0]);
	number = number != 0 ? number
			     : posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
	number = number != 0 ? number : posix_spawn_file_actions_addclose(&actions, ends[1]);
	number = number != 0 ? number
			     : posix_spawnp(&child, program, &actions, NULL, arguments, environ);
	(void)posix_spawn_file_actions_destroy(&actions);
	(void)close(ends[1]);
	bool is_missing = number == ENOENT;
	if (number == 0) {
		number = read_output(ends[0], &text);
		(void)close(ends[0]); /* kubectl ends if it still writes */
		while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
		}
	} else {
		(void)close(ends[0]);
	}
	int result = 0;
	if (is_missing) {
		result = bt_error_set(err, BERTH_ERR_INVALID,
			"-k %s: there is no kubectl on the PATH to read kustomizations with; write "
			"\"kubectl "
			"kustomize %s\" into a file elsewhere, and read it with -f",
			folder, folder);
	} else if (number != 0) {
		result = bt_error_set(err, BERTH_ERR_IO, "-k %s: kubectl kustomize: %s", folder,
			strerror(number));
	} else if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
		result = bt_error_set(
			err, BERTH_ERR_INVALID, "-k %s: kubectl kustomize failed", folder);
	} else {
		result = bt_manifests_read_text(cluster, folder, bt_strbuf_str(&text), err);
	}
	bt_strbuf_finish(&text);
	return result;
}

int bt_source_read(
	const struct bt_source *source, struct bt_manifests *cluster, struct berth_error *err)
{
	int result = 0;
#if BT_HAVE_DAEMON
	if (source->kubeconfig != NULL) {
		result = read_server(source, cluster, err);
	}
#endif
	cluster->input.recursive = source->recursive;
	for (uint32_t i = 0; i < source->files.list.count && result == 0; i++) {
		result = bt_manifests_read(cluster, source->files.list.items[i], err);
	}
	for (uint32_t i = 0; i < source->kustomizations.list.count && result == 0; i++) {
		result = read_kustomization(source->kustomizations.list.items[i], cluster, err);
	}
	if (result == 0 && cluster->objects.count == 0) {
		const char *only =
			source->files.list.count == 1 ? source->files.list.items[0] : "the input";
		result = bt_error_set(err, BERTH_ERR_INVALID,
			"%s: no objects that a scheduler reads: Nodes, Pods, workloads",
			strcmp(only, "-") == 0 ? "standard input" : only);
	}
	return result;
}

void bt_source_finish(struct bt_source *source)
{
	bt_vec_finish(&source->files.list);
	bt_vec_finish(&source->kustomizations.list);
}
