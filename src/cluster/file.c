/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/alloc.h"
#include "base/strbuf.h"

#define CHUNK_BYTES (1024 * 1024)

/**
 * SIGBUS: another process truncated a mapped file. Reading cannot continue, so the program ends
 * with an error message instead of a crash.
 */
static void report_shrunk_file(int signal_number)
{
	static const char text[] = "berth: an input file became shorter while it was read\n";
	(void)signal_number;
	ssize_t written = write(STDERR_FILENO, text, sizeof(text) - 1);
	(void)written; /* the process ends anyway */
	_exit(2);
}

static int system_error(struct berth_error *err)
{
	return bt_error_set(err, BERTH_ERR_IO, "%s", strerror(errno));
}

static int too_large(size_t bytes_max, struct berth_error *err)
{
	return bt_error_set(err, BERTH_ERR_TOO_LARGE, "more than %zu bytes", bytes_max);
}

/**
 * Checks why gzread stopped. length: the result of gzread, 0 or negative. Returns 0 if the stream
 * ended without an error, else BERTH_ERR_IO.
 */
static int stream_error(gzFile stream, int length, struct berth_error *err)
{
	int code = Z_OK;
	const char *text = gzerror(stream, &code);
	if (length == 0 && (code == Z_OK || code == Z_STREAM_END)) {
		return 0;
	}
	if (code == Z_ERRNO) {
		return system_error(err);
	}
	if (code == Z_BUF_ERROR) {
		return bt_error_set(err, BERTH_ERR_IO, "gzipped data ends too early");
	}
	/* zlib's message begins with the file name it was given: "<fd:3>: ...". */
	const char *colon = strstr(text, ">: ");
	return bt_error_set(
		err, BERTH_ERR_IO, "damaged gzipped data: %s", colon != NULL ? colon + 3 : text);
}

/** Reads gzipped or plain data (zlib passes plain data through). Closes the descriptor. */
static int read_stream(
	int descriptor, size_t bytes_max, struct bt_file *out_file, struct berth_error *err)
{
	gzFile stream = gzdopen(descriptor, "rb");
	if (stream == NULL) {
		(void)close(descriptor); /* read only: nothing can be lost */
		return bt_error_set(err, BERTH_ERR_IO, "cannot be opened as a stream");
	}
	(void)gzbuffer(stream, CHUNK_BYTES); /* only a hint */
	struct bt_strbuf text = {0};
	int result = 0;
	for (;;) {
		bt_strbuf_reserve(&text, CHUNK_BYTES);
		int length = gzread(stream, text.data + text.length, CHUNK_BYTES);
		if (length <= 0) {
			result = stream_error(stream, length, err);
			break;
		}
		text.length += (size_t)length;
		if (text.length > bytes_max) {
			result = too_large(bytes_max, err);
			break;
		}
	}
	(void)gzclose(stream); /* read only: nothing can be lost */
	if (result < 0) {
		bt_strbuf_finish(&text);
		return result;
	}
	*out_file = (struct bt_file){text.data, text.length, false};
	return 0;
}

int bt_file_read(
	const char *path, size_t bytes_max, struct bt_file *out_file, struct berth_error *err)
{
	int descriptor;
	if (strcmp(path, "-") == 0) {
		/*
		 * Use a copy: closing the stream closes its descriptor, and the next opened file
		 * would become standard input.
		 */
		descriptor = dup(STDIN_FILENO);
	} else {
		descriptor = open(path, O_RDONLY | O_CLOEXEC);
	}
	if (descriptor < 0) {
		return system_error(err);
	}
	struct stat status;
	unsigned char magic[2];
	int result = 0;
	size_t read_max = BT_MIN(bytes_max, BT_FILE_READ_BYTES_MAX);
	size_t mapped_max = BT_MIN(bytes_max, BT_FILE_MAPPED_BYTES_MAX);
	if (fstat(descriptor, &status) != 0) {
		result = system_error(err);
	} else if (S_ISDIR(status.st_mode)) {
		result = bt_error_set(err, BERTH_ERR_IO, "is a directory");
	} else if (!S_ISREG(status.st_mode) || status.st_size == 0 ||
		(pread(descriptor, magic, sizeof(magic), 0) == (ssize_t)sizeof(magic) &&
			magic[0] == 0x1f && magic[1] == 0x8b)) {
		/* Files whose size is 0 may still have content (/proc); 1f 8b: gzip. */
		return read_stream(descriptor, read_max, out_file, err);
	} else if ((uintmax_t)status.st_size > mapped_max) {
		result = too_large(mapped_max, err);
	} else {
		struct sigaction action = {.sa_handler = report_shrunk_file};
		size_t length = (size_t)status.st_size;
		(void)sigaction(SIGBUS, &action, NULL); /* cannot fail for a valid signal */
		void *data = mmap(NULL, length, PROT_READ, MAP_PRIVATE, descriptor, 0);
		if (data == MAP_FAILED) {
			result = system_error(err);
		} else {
			(void)posix_madvise(data, length, POSIX_MADV_SEQUENTIAL); /* only a hint */
			*out_file = (struct bt_file){data, length, true};
		}
	}
	(void)close(descriptor); /* read only: nothing can be lost */
	return result;
}

void bt_file_finish(struct bt_file *file)
{
	if (file->mapped) {
		/* Cannot fail for an existing mapping. */
		(void)munmap((void *)(uintptr_t)file->data, file->length);
	} else {
		bt_free((void *)(uintptr_t)file->data);
	}
	*file = (struct bt_file){"", 0, false};
}

#define LINE_CHUNK_BYTES (256 * 1024)
#define LINE_BYTES_MAX ((size_t)1 << 30)

struct bt_line_reader {
	gzFile file;
	char *path;
	struct bt_strbuf line;
	char *chunk;
	size_t chunk_length;
	size_t chunk_position;
	unsigned long number;
};

int bt_line_reader_open(
	const char *path, struct bt_line_reader **out_reader, struct berth_error *err)
{
	errno = 0;
	gzFile file = strcmp(path, "-") == 0 ? gzdopen(STDIN_FILENO, "rb") : gzopen(path, "rb");
	if (file == NULL) {
		return bt_error_set(err, BERTH_ERR_IO, "%s: %s", path,
			errno != 0 ? strerror(errno) : "cannot open");
	}
	(void)gzbuffer(file, LINE_CHUNK_BYTES); /* only a hint */
	struct bt_line_reader *reader = BT_NEW(struct bt_line_reader);
	reader->file = file;
	reader->path = bt_strndup(path, strlen(path));
	reader->chunk = bt_malloc(LINE_CHUNK_BYTES);
	*out_reader = reader;
	return 0;
}

void bt_line_reader_close(struct bt_line_reader *reader)
{
	if (reader == NULL) {
		return;
	}
	(void)gzclose(reader->file); /* read only: nothing can be lost */
	bt_strbuf_finish(&reader->line);
	bt_free(reader->chunk);
	bt_free(reader->path);
	bt_free(reader);
}

/** Reads one line, which may be blank; *out_more is false at the end. */
static int read_line(struct bt_line_reader *reader, bool *out_more, struct berth_error *err)
{
	bt_strbuf_reset(&reader->line);
	for (;;) {
		if (reader->chunk_position == reader->chunk_length) {
			int got = gzread(reader->file, reader->chunk, LINE_CHUNK_BYTES);
			if (got < 0) {
				int code;
				const char *text = gzerror(reader->file, &code);
				return bt_error_set(err, BERTH_ERR_IO, "%s: %s", reader->path,
					code == Z_ERRNO ? strerror(errno) : text);
			}
			reader->chunk_length = (size_t)got;
			reader->chunk_position = 0;
			if (got == 0) {
				*out_more = reader->line.length != 0;
				reader->number += *out_more;
				return 0;
			}
		}
		const char *start = reader->chunk + reader->chunk_position;
		size_t left = reader->chunk_length - reader->chunk_position;
		const char *end = memchr(start, '\n', left);
		size_t length = end != NULL ? (size_t)(end - start) : left;
		if (reader->line.length + length > LINE_BYTES_MAX) {
			return bt_error_set(err, BERTH_ERR_TOO_LARGE,
				"%s: line %lu is longer than %zu bytes", reader->path,
				reader->number + 1, LINE_BYTES_MAX);
		}
		bt_strbuf_append(&reader->line, start, length);
		reader->chunk_position += length + (end != NULL);
		if (end != NULL) {
			reader->number++;
			*out_more = true;
			return 0;
		}
	}
}

int bt_line_reader_next(struct bt_line_reader *reader, struct bt_str *out_line, bool *out_more,
	struct berth_error *err)
{
	bool more = true;
	do {
		int result = read_line(reader, &more, err);
		if (result < 0) {
			return result;
		}
	} while (more && bt_str_trim(bt_strbuf_str(&reader->line), " \t\r").length == 0);
	*out_line = bt_strbuf_str(&reader->line);
	*out_more = more;
	return 0;
}

bool bt_line_reader_is_cut(const struct bt_line_reader *reader)
{
	int code;
	(void)gzerror(reader->file, &code); /* only the code is needed */
	return code == Z_BUF_ERROR;
}

unsigned long bt_line_reader_number(const struct bt_line_reader *reader)
{
	return reader->number;
}
