/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/snapshot/snapshot_file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define CHUNK_BYTES 131072

static int failed(const struct bt_snapshot_file *file, int number, struct berth_error *err)
{
	return bt_error_set(err, BERTH_ERR_IO, "writing %s: %s",
		file->path != NULL ? file->path : "standard output",
		number != 0 ? strerror(number) : "failed");
}

static int open_descriptor(struct bt_snapshot_file *file, bool is_private)
{
	struct stat status;
	if (file->path == NULL) {
		return dup(STDOUT_FILENO);
	}
	bool is_there = stat(file->path, &status) == 0;
	if (is_there && !S_ISREG(status.st_mode)) {
		/* A device or a pipe must not be replaced by a file. */
		return open(file->path, O_WRONLY | O_CLOEXEC);
	}
	mode_t mode = is_private ? S_IRUSR | S_IWUSR : 0666;
	bt_strbuf_printf(&file->temporary, "%s.%ld.tmp", file->path, (long)getpid());
	int descriptor =
		open(bt_strbuf_c(&file->temporary), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
	if (descriptor < 0) {
		bt_strbuf_reset(&file->temporary); /* nothing to remove */
	} else if (is_there && !is_private) {
		(void)fchmod(descriptor, status.st_mode & 0777); /* its own would do */
	}
	return descriptor;
}

int bt_snapshot_file_open(const char *path, bool gzip, bool is_private,
	struct bt_snapshot_file *out_file, struct berth_error *err)
{
	*out_file = (struct bt_snapshot_file){.path = path};
	int descriptor = open_descriptor(out_file, is_private);
	if (descriptor < 0) {
		return failed(out_file, errno, err);
	}
	/* Transparent writing is zlib's word for none of its own. */
	out_file->stream = gzdopen(descriptor, gzip ? "wb6" : "wbT");
	if (out_file->stream == NULL) {
		(void)close(descriptor); /* nothing was written */
		return failed(out_file, ENOMEM, err);
	}
	(void)gzbuffer(out_file->stream, CHUNK_BYTES); /* only a hint */
	return 0;
}

/** --- signals --- */

static const int ending_signals[] = {SIGHUP, SIGINT, SIGTERM};

void bt_snapshot_signals_hold(struct bt_snapshot_signals *out_signals)
{
	sigset_t held;
	sigset_t before;
	(void)sigemptyset(&held); /* cannot fail, as all below */
	for (size_t i = 0; i < BT_ARRAY_LENGTH(ending_signals); i++) {
		struct sigaction action;
		if (sigaction(ending_signals[i], NULL, &action) == 0 &&
			action.sa_handler == SIG_DFL) {
			(void)sigaddset(&held, ending_signals[i]);
		}
	}
	(void)pthread_sigmask(SIG_BLOCK, &held, &before);
	out_signals->held = 0;
	for (size_t i = 0; i < BT_ARRAY_LENGTH(ending_signals); i++) {
		if (sigismember(&held, ending_signals[i]) == 1 &&
			sigismember(&before, ending_signals[i]) == 0) {
			out_signals->held |= 1U << i;
		}
	}
}

void bt_snapshot_signals_let_go(const struct bt_snapshot_signals *signals)
{
	sigset_t held;
	(void)sigemptyset(&held);
	for (size_t i = 0; i < BT_ARRAY_LENGTH(ending_signals); i++) {
		if ((signals->held & 1U << i) != 0) {
			(void)sigaddset(&held, ending_signals[i]);
		}
	}
	(void)pthread_sigmask(SIG_UNBLOCK, &held, NULL);
}

static bool has_signal(void)
{
	sigset_t pending;
	bool found = false;
	(void)sigpending(&pending);
	for (size_t i = 0; i < BT_ARRAY_LENGTH(ending_signals); i++) {
		found = found || sigismember(&pending, ending_signals[i]) == 1;
	}
	return found;
}

/** --- writing --- */

int bt_snapshot_file_write(void *context, struct bt_str text, struct berth_error *err)
{
	struct bt_snapshot_file *file = context;
	if (has_signal()) {
		return failed(file, EINTR, err);
	}
	errno = 0;
	return text.length != 0 && gzwrite(file->stream, text.data, text.length) <= 0
		? failed(file, errno, err)
		: 0;
}

int bt_snapshot_file_close(struct bt_snapshot_file *file, struct berth_error *err)
{
	errno = 0;
	int code = gzclose(file->stream);
	file->stream = NULL;
	return code != Z_OK ? failed(file, errno, err) : 0;
}

int bt_snapshot_file_publish(struct bt_snapshot_file *file, struct berth_error *err)
{
	if (file->temporary.length != 0 && rename(bt_strbuf_c(&file->temporary), file->path) != 0) {
		return failed(file, errno, err);
	}
	bt_strbuf_reset(&file->temporary);
	return 0;
}

void bt_snapshot_file_finish(struct bt_snapshot_file *file)
{
	if (file->stream != NULL) {
		(void)gzclose(file->stream); /* it is thrown away */
	}
	if (file->temporary.length != 0) {
		(void)unlink(bt_strbuf_c(&file->temporary)); /* nothing more can be done */
	}
	bt_strbuf_finish(&file->temporary);
	*file = (struct bt_snapshot_file){0};
}
