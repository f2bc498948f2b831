/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLUSTER_FILE_H
#define BT_CLUSTER_FILE_H
/** Input files, plain or gzipped: a whole file in memory, or line by line. */
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/strbuf.h"

/** Maximum number of bytes of a mapped file. */
#define BT_FILE_MAPPED_BYTES_MAX ((size_t)UINT32_MAX)
/** Maximum number of bytes of a pipe or an unpacked gzipped file, which must be held in memory. */
#define BT_FILE_READ_BYTES_MAX ((size_t)2 << 30)

/**
 * A whole file: regular files are mapped, pipes and gzipped files are read. The bytes are not
 * zero-terminated.
 */
struct bt_file {
	const char *data; /* never NULL */
	size_t length;
	bool mapped;
};

/**
 * Reads a file; path "-": standard input. Messages do not contain the path: "no such file or
 * directory". Returns 0, BERTH_ERR_IO or BERTH_ERR_TOO_LARGE (more than bytes_max, or than the
 * limits above).
 */
BT_MUST_USE int bt_file_read(
	const char *path, size_t bytes_max, struct bt_file *out_file, struct berth_error *err);
void bt_file_finish(struct bt_file *file);

/** Lines of a text file. */
struct bt_line_reader;

/**
 * Opens a file; path "-": standard input. Returns 0 or BERTH_ERR_IO. Messages begin with the path.
 */
BT_MUST_USE int bt_line_reader_open(
	const char *path, struct bt_line_reader **out_reader, struct berth_error *err);
/** NULL accepted. */
void bt_line_reader_close(struct bt_line_reader *reader);
/**
 * Reads the next line that is not blank, without the newline. *out_line is borrowed until the next
 * call; *out_more is false at the end. Lines longer than 1 GiB are refused (BERTH_ERR_TOO_LARGE).
 */
BT_MUST_USE int bt_line_reader_next(struct bt_line_reader *reader, struct bt_str *out_line,
	bool *out_more, struct berth_error *err);
/** At the end: returns whether gzipped data ended too early. */
bool bt_line_reader_is_cut(const struct bt_line_reader *reader);
/** Returns the 1-based number of the line returned last. */
unsigned long bt_line_reader_number(const struct bt_line_reader *reader);
#endif
