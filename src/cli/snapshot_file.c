/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/snapshot_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define CHUNK_BYTES 131072

static const char *name_of(const struct bt_snapshot_file *file)
{
	return file->path != NULL ? file->path : "standard output";
}

static int failed(const struct bt_snapshot_file *file, int number, struct berth_error *err)
{
	return bt_error_set(err, BERTH_ERR_IO, "writing %s: %s", name_of(file),
		number != 0 ? strerror(number) : "failed");
}

/** A device or a pipe must not be replaced by a file. */
static bool is_special(const char *path)
{
	struct stat status;
	return stat(path, &status) == 0 && !S_ISREG(status.st_mode);
}

static int open_descriptor(struct bt_snapshot_file *file)
{
	if (file->path == NULL) {
		return dup(STDOUT_FILENO);
	}
	if (is_special(file->path)) {
		return open(file->path, O_WRONLY | O_CLOEXEC);
	}
	bt_strbuf_printf(&file->temporary, "%s.%ld.tmp", file->path, (long)getpid());
	int descriptor =
		open(bt_strbuf_c(&file->temporary), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (descriptor < 0) {
		bt_strbuf_reset(&file->temporary); /* nothing to remove */
	}
	return descriptor;
}

int bt_snapshot_file_open(
	const char *path, bool gzip, struct bt_snapshot_file *out_file, struct berth_error *err)
{
	*out_file = (struct bt_snapshot_file){.path = path};
	int descriptor = open_descriptor(out_file);
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

int bt_snapshot_file_write(void *context, struct bt_str text, struct berth_error *err)
{
	struct bt_snapshot_file *file = context;
	errno = 0;
	return text.length != 0 && gzwrite(file->stream, text.data, text.length) <= 0
		? failed(file, errno, err)
		: 0;
}

int bt_snapshot_file_commit(struct bt_snapshot_file *file, struct berth_error *err)
{
	errno = 0;
	int code = gzclose(file->stream);
	file->stream = NULL;
	if (code != Z_OK) {
		return failed(file, errno, err);
	}
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
