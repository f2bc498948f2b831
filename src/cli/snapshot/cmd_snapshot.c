/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "api/text_template.h"
#include "base/error.h"
#include "base/str.h"
#include "base/strbuf.h"
#include "cli/command.h"
#include "cli/source.h"
#include "cluster/snapshot.h"

/** An output file, optionally gzipped; it appears complete or not at all. */
struct snapshot_file {
	const char *path;           /* NULL: standard output */
	struct bt_strbuf temporary; /* path of the temporary file; empty: written in place */
	void *stream;               /* gzFile; NULL: closed */
};

#define CHUNK_BYTES 131072

static int failed(const struct snapshot_file *file, int number, struct berth_error *err)
{
	return bt_error_set(err, BERTH_ERR_IO, "writing %s: %s",
		file->path != NULL ? file->path : "standard output",
		number != 0 ? strerror(number) : "failed");
}

/**
 * path NULL: standard output. Anything but a regular file is written in place. A replaced file
 * keeps its permissions, unless is_private: then only the owner can read it.
 */
static int snapshot_file_open(const char *path, bool gzip, bool is_private,
	struct snapshot_file *out_file, struct berth_error *err)
{
	*out_file = (struct snapshot_file){.path = path};
	struct stat status;
	bool is_there = path != NULL && stat(path, &status) == 0;
	int descriptor;
	if (path == NULL) {
		descriptor = dup(STDOUT_FILENO);
	} else if (is_there && !S_ISREG(status.st_mode)) {
		/* Write to a device or a pipe in place, because a rename would replace it. */
		descriptor = open(path, O_WRONLY | O_CLOEXEC);
	} else {
		mode_t mode = is_private ? S_IRUSR | S_IWUSR : 0666;
		bt_strbuf_printf(&out_file->temporary, "%s.%ld.tmp", path, (long)getpid());
		descriptor = open(bt_strbuf_c(&out_file->temporary),
			O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
		if (descriptor < 0) {
			bt_strbuf_reset(&out_file->temporary); /* there is no file to remove */
		} else if (is_there && !is_private) {
			/* failure leaves the default permissions */
			(void)fchmod(descriptor, status.st_mode & 0777);
		}
	}
	if (descriptor < 0) {
		return failed(out_file, errno, err);
	}
	/* "T" is zlib's mode for output without compression. */
	out_file->stream = gzdopen(descriptor, gzip ? "wb6" : "wbT");
	if (out_file->stream == NULL) {
		(void)close(descriptor); /* nothing was written */
		return failed(out_file, ENOMEM, err);
	}
	(void)gzbuffer(out_file->stream, CHUNK_BYTES); /* failure only makes writing slower */
	return 0;
}

/** --- signals --- */

static const int ending_signals[] = {SIGHUP, SIGINT, SIGTERM};

/** --- writing --- */

static int snapshot_file_write(void *context, struct bt_str text, struct berth_error *err)
{
	struct snapshot_file *file = context;
	sigset_t pending;
	(void)sigpending(&pending);
	for (size_t i = 0; i < BT_ARRAY_LENGTH(ending_signals); i++) {
		if (sigismember(&pending, ending_signals[i]) == 1) {
			return failed(file, EINTR, err);
		}
	}
	errno = 0;
	return text.length != 0 && gzwrite(file->stream, text.data, text.length) <= 0
		? failed(file, errno, err)
		: 0;
}

/** Flush and close the stream; reports delayed write errors. */
static int snapshot_file_close(struct snapshot_file *file, struct berth_error *err)
{
	errno = 0;
	int code = gzclose(file->stream);
	file->stream = NULL;
	return code != Z_OK ? failed(file, errno, err) : 0;
}

/** Rename the closed temporary file to its final name. */
static int snapshot_file_publish(struct snapshot_file *file, struct berth_error *err)
{
	if (file->temporary.length != 0 && rename(bt_strbuf_c(&file->temporary), file->path) != 0) {
		return failed(file, errno, err);
	}
	bt_strbuf_reset(&file->temporary);
	return 0;
}

/** Remove a file that was not published. Accepts zero memory. */
static void snapshot_file_finish(struct snapshot_file *file)
{
	if (file->stream != NULL) {
		(void)gzclose(file->stream); /* errors do not matter, since the file is removed */
	}
	if (file->temporary.length != 0) {
		(void)unlink(bt_strbuf_c(&file->temporary)); /* errors cannot be handled here */
	}
	bt_strbuf_finish(&file->temporary);
	*file = (struct snapshot_file){0};
}

struct options {
	struct bt_command_line line;
	const char *output_path; /* NULL: standard output */
	const char *map_path;    /* NULL: the mapping is not written */
	bool strip_names;
	bool no_gzip;
};

/** --- the run --- */

/** Write the snapshot and the map. Neither file gets its final name before both are complete. */
static int write_both(const struct options *options, struct bt_manifests *cluster,
	struct bt_snapshot_stream *stream, struct snapshot_file *snapshot,
	struct snapshot_file *map, struct berth_error *err)
{
	const char *map_path = options->map_path;
	int result = snapshot_file_open(options->output_path,
		!options->no_gzip &&
			(options->output_path == NULL ||
				bt_str_has_suffix(
					bt_str_from(options->output_path), BT_STR(".gz"))),
		false, snapshot, err);
	if (result == 0 && map_path != NULL) {
		bool gzip = bt_str_has_suffix(bt_str_from(map_path), BT_STR(".gz"));
		result = snapshot_file_open(map_path, gzip, true, map, err);
	}
	if (result == 0) {
		result = bt_snapshot_write(cluster, stream, snapshot_file_write, snapshot, err);
	}
	if (result == 0 && map_path != NULL) {
		struct bt_strbuf text = {0};
		bt_neutral_names_append_map(&stream->names, &text);
		result = snapshot_file_write(map, bt_strbuf_str(&text), err);
		if (result == 0) {
			result = snapshot_file_close(map, err);
		}
		bt_strbuf_finish(&text);
	}
	if (result == 0) {
		result = snapshot_file_close(snapshot, err);
	}
	if (result == 0 && map_path != NULL) {
		result = snapshot_file_publish(map, err);
	}
	return result == 0 ? snapshot_file_publish(snapshot, err) : result;
}

static int run(void *context, struct bt_strbuf *out, struct berth_error *err)
{
	struct options *options = context;
	struct bt_manifests *cluster = &options->line.cluster;
	uint32_t node_count = 0;
	uint32_t pod_count = 0;
	int result = bt_source_read(&options->line.source, cluster, err);
	if (result < 0) {
		return result;
	}
	for (uint32_t i = 0; i < cluster->objects.count; i++) {
		node_count += cluster->objects.items[i].kind == BT_KIND_NODE;
		pod_count += cluster->objects.items[i].kind == BT_KIND_POD;
	}
	if (cluster->policies.count != 0) {
		bt_manifests_warn(cluster,
			"LimitRanges, ResourceQuotas and RuntimeClasses are left out; they have no "
			"effect on the pods of the snapshot");
	}
	struct bt_snapshot_stream *stream = bt_snapshot_stream_create(options->strip_names);
	struct snapshot_file snapshot = {0};
	struct snapshot_file map = {0};
	bool may_leave_something = options->output_path != NULL || options->map_path != NULL;
	/*
	 * While files are written, block the signals that end the program. A pending signal makes
	 * writing fail, so that temporary files are removed. held: the signals that were not
	 * blocked before. The calls for signal sets cannot fail.
	 */
	sigset_t held;
	sigset_t before;
	(void)sigemptyset(&held);
	for (size_t i = 0; i < BT_ARRAY_LENGTH(ending_signals) && may_leave_something; i++) {
		struct sigaction action;
		if (sigaction(ending_signals[i], NULL, &action) == 0 &&
			action.sa_handler == SIG_DFL) {
			(void)sigaddset(&held, ending_signals[i]);
		}
	}
	(void)pthread_sigmask(SIG_BLOCK, &held, &before);
	for (size_t i = 0; i < BT_ARRAY_LENGTH(ending_signals); i++) {
		if (sigismember(&before, ending_signals[i]) == 1) {
			(void)sigdelset(&held, ending_signals[i]);
		}
	}
	result = write_both(options, cluster, stream, &snapshot, &map, err);
	snapshot_file_finish(&map);
	snapshot_file_finish(&snapshot);
	bt_snapshot_stream_destroy(stream);
	(void)pthread_sigmask(SIG_UNBLOCK, &held, NULL); /* a pending signal ends the program */
	if (result == 0 && options->output_path != NULL) {
		bt_text_append(out,
			"%c: %u {node|nodes}, %u {pod|pods}, %u {object|objects} in all\n",
			options->output_path, node_count, pod_count, cluster->objects.count);
	}
	return result;
}

/** --- the command line --- */

static int check(void *context, struct berth_error *err)
{
	struct options *options = context;
	const char *map = options->map_path;
	if (map != NULL && !options->strip_names) {
		return bt_error_set(
			err, BERTH_ERR_INVALID, "--map: there is none without --strip-names");
	}
	if (map != NULL && strcmp(map, "-") == 0) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"--map: name a file; whoever has it can undo --strip-names");
	}
	if (map != NULL && options->output_path != NULL &&
		(strcmp(map, options->output_path) == 0 ||
			bt_is_same_file(map, options->output_path))) {
		return bt_error_set(
			err, BERTH_ERR_INVALID, "--map: %s is the output; name another file", map);
	}
	int result =
		map != NULL ? bt_command_check_output(&options->line, "map", map, NULL, err) : 0;
	if (result < 0) {
		return result;
	}
	/* The file of -f may be replaced: the snapshot has all that commands read from it. */
	if (bt_is_same_file(options->output_path, options->line.source.kubeconfig)) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"--output: %s is the kubeconfig; name another file", options->output_path);
	}
	if (options->output_path != NULL && strcmp(options->output_path, "-") == 0) {
		options->output_path = NULL;
	}
	if (options->output_path == NULL && !options->no_gzip && isatty(STDOUT_FILENO) == 1) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"a snapshot is gzipped, and standard output is a terminal: add > "
			"cluster.json.gz, -o FILE or --no-gzip");
	}
	return 0;
}

static const struct bt_flag flags[] = {
	BT_SOURCE_FLAGS,
	{"output", 'o', BT_FLAG_STRING, offsetof(struct options, output_path), "FILE|-",
		"file to write, gzipped if its name ends with .gz (default -, gzipped)"},
	{"no-gzip", 0, BT_FLAG_BOOL, offsetof(struct options, no_gzip), NULL, "write plain JSON"},
	{"strip-names", 0, BT_FLAG_BOOL, offsetof(struct options, strip_names), NULL,
		"replace all names by neutral ones"},
	{"map", 0, BT_FLAG_STRING, offsetof(struct options, map_path), "FILE",
		"with --strip-names: write each name and its neutral name to this file"},
};

const struct bt_command bt_command_snapshot = {
	.name = "snapshot",
	.group = BT_COMMAND_ASK,
	.summary =
		"Write a cluster to a file that every command reads, with real or neutral names.",
	.usage = "berth snapshot --kubeconfig FILE [FLAGS] > cluster.json.gz",
	.help = "Writes the part of a cluster that a scheduler reads as one JSON List: nodes,\n"
		"pods, the objects that pods refer to, and their owners. The list contains no\n"
		"environment variables, commands or secrets, and only those annotations that\n"
		"decisions depend on. With -f it converts files, for example an earlier dump.\n"
		"\n"
		"With --strip-names each name is replaced by a neutral one, the same in all\n"
		"places, so that all decisions stay the same.\n",
	.examples =
		"  # The cluster that kubectl uses, into a file; then a question about it\n"
		"  berth snapshot --kubeconfig ~/.kube/config -o cluster.json.gz\n"
		"  berth simulate -f cluster.json.gz -f new-deployment.yaml\n"
		"\n"
		"  # To share: without names, and the mapping of names stays here\n"
		"  berth snapshot --kubeconfig ~/.kube/config --strip-names --map names.json \\\n"
		"    -o stripped.json.gz\n",
	.exit_status = "  0  the snapshot was written\n"
		       "  2  the input, the server or the flags are wrong\n",
	.flags = flags,
	.flag_count = BT_ARRAY_LENGTH(flags),
	.no_arguments = "files are named with -f, the output with -o",
	.has_source = true,
	.options_bytes = sizeof(struct options),
	.check = check,
	.run = run,
};
