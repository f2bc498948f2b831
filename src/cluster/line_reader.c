/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/line_reader.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/alloc.h"

#define CHUNK_BYTES (256 * 1024)
#define LINE_BYTES_MAX ((size_t)1 << 30)

struct bt_line_reader {
	gzFile file;
	char *path;
	struct bt_strbuf line;
	char *chunk;
	size_t chunk_length;
	size_t chunk_position;
	unsigned long number;
	bool at_end;
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
	(void)gzbuffer(file, CHUNK_BYTES); /* only a hint */
	struct bt_line_reader *reader = BT_NEW(struct bt_line_reader);
	reader->file = file;
	reader->path = bt_strndup(path, strlen(path));
	reader->chunk = bt_malloc(CHUNK_BYTES);
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

static int fill_chunk(struct bt_line_reader *reader, struct berth_error *err)
{
	int length = gzread(reader->file, reader->chunk, CHUNK_BYTES);
	if (length < 0) {
		int code;
		const char *text = gzerror(reader->file, &code);
		return bt_error_set(err, BERTH_ERR_IO, "%s: %s", reader->path,
			code == Z_ERRNO ? strerror(errno) : text);
	}
	reader->chunk_length = (size_t)length;
	reader->chunk_position = 0;
	reader->at_end = length == 0;
	return 0;
}

/** One line, blank or not; false in *out_more at the end. */
static int read_line(struct bt_line_reader *reader, bool *out_more, struct berth_error *err)
{
	bt_strbuf_reset(&reader->line);
	for (;;) {
		if (reader->chunk_position == reader->chunk_length) {
			int result = fill_chunk(reader, err);
			if (result < 0) {
				return result;
			}
			if (reader->at_end) {
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

static bool is_blank(struct bt_str line)
{
	for (uint32_t i = 0; i < line.length; i++) {
		if (line.data[i] != ' ' && line.data[i] != '\t' && line.data[i] != '\r') {
			return false;
		}
	}
	return true;
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
	} while (more && is_blank(bt_strbuf_str(&reader->line)));
	*out_line = bt_strbuf_str(&reader->line);
	*out_more = more;
	return 0;
}

unsigned long bt_line_reader_number(const struct bt_line_reader *reader)
{
	return reader->number;
}
