/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_REPLAY_RECORDING_H
#define BT_REPLAY_RECORDING_H
/**
 * Reads and writes recordings: the changes of a cluster, line by line. docs/recordings.md describes
 * the format.
 */
#include <stdbool.h>
#include <stdint.h>

#include "api/object.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/strbuf.h"

#define BT_RECORDING_VERSION 1
#define BT_RECORDING_LINE_BYTES_MAX ((uint32_t)64 << 20)
/**
 * Limit in seconds, about 95 years, for the start time (since 1970), the times of lines, and
 * durations. The sum of three such values fits int64 nanoseconds.
 */
#define BT_RECORDING_SECONDS_MAX INT64_C(3000000000)

struct bt_recording_header {
	int64_t start_ns;        /* since 1970 */
	uint32_t object_count;   /* number of following lines that are the cluster at the start */
	struct bt_str source;    /* "": not given */
	struct bt_str recording; /* id that all parts have in common; "": not given */
	uint32_t part;           /* number of the part; the first is 1 */
};

enum bt_recording_event {
	BT_RECORDING_ADD,
	BT_RECORDING_CHANGE,
	BT_RECORDING_DELETE,
	BT_RECORDING_GAP,
	BT_RECORDING_END,
};

struct bt_recording_line {
	enum bt_recording_event event;
	int64_t time_ns;          /* since the start of the recording */
	enum bt_kind kind;        /* not set for END */
	struct bt_str namespace_; /* CHANGE, DELETE; "" for kinds without namespaces */
	struct bt_str name;       /* CHANGE, DELETE */
	struct bt_str json;       /* ADD: the object; CHANGE: the merge patch */
	int64_t duration_ns;      /* ADD: how long a pod runs, -1: not known; GAP: its length */
	bool is_start;            /* ADD: part of the cluster at the start */
};

/** --- reading --- */

struct bt_line_reader;

struct bt_recording_reader {
	char *path;
	struct bt_line_reader *lines;
	struct bt_recording_header header; /* the first line; texts are in header_arena */
	struct bt_arena header_arena;
	struct bt_arena arena;     /* reset for each line */
	int64_t time_ns;           /* of the previous line */
	uint32_t start_count;      /* number of lines of the start that were not read yet */
	unsigned long line_number; /* of the line returned last */
	/**
	 * After the last line: whether that line marked the recording as complete. false: the
	 * recording was cut off, for example in the middle of a line or of compressed data.
	 */
	bool is_complete;
	bool is_cut; /* the file ends without the last line of a complete recording */
};

/**
 * Opens a recording, gzipped or not, and reads its first line. path "-" reads standard input.
 * Errors name the file, and the line if there is one. *out_reader is owned.
 */
BT_MUST_USE int bt_recording_open(
	const char *path, struct bt_recording_reader **out_reader, struct berth_error *err);
/** NULL accepted. */
void bt_recording_close(struct bt_recording_reader *reader);
/**
 * Reads the next line. 1: *out_line is set; its texts are borrowed until the next call. 0: the end.
 * Lines of kinds that the scheduler does not read are skipped. BERTH_ERR_SYNTAX, BERTH_ERR_INVALID:
 * the line is invalid, or its time is before that of the previous line. BERTH_ERR_IO: the file
 * cannot be read.
 */
BT_MUST_USE int bt_recording_next(struct bt_recording_reader *reader,
	struct bt_recording_line *out_line, struct berth_error *err);
/** Appends "FILE: line N", of the line returned last. */
void bt_recording_describe(const struct bt_recording_reader *reader, struct bt_strbuf *out);

/** --- writing --- */

struct bt_recording_writer;

/**
 * Creates the file, which must not exist, and writes the first line. path "-" is standard output.
 * *out_writer is owned.
 */
BT_MUST_USE int bt_recording_create(const char *path, bool is_gzipped,
	const struct bt_recording_header *header, struct bt_recording_writer **out_writer,
	struct berth_error *err);
/**
 * Appends a line. Lines stay in memory until a flush, or until there are many. line->json is one
 * JSON value without newlines.
 */
BT_MUST_USE int bt_recording_append(struct bt_recording_writer *writer,
	const struct bt_recording_line *line, struct berth_error *err);
/**
 * Flushes all lines to the file in a form that a reader can decompress. Flushed lines survive the
 * end of the process.
 */
BT_MUST_USE int bt_recording_flush(struct bt_recording_writer *writer, struct berth_error *err);
/** Returns the compressed bytes as of the last flush; 0 for a pipe. */
uint64_t bt_recording_size(const struct bt_recording_writer *writer);
/** Closes the file after an error, which is reported already. NULL accepted. */
void bt_recording_abandon(struct bt_recording_writer *writer);
/**
 * Flushes and closes the file. is_complete: before that, writes the line that marks the recording
 * as complete. Frees the writer even on errors. *out_bytes (may be NULL): size of the file; 0 for a
 * pipe.
 */
BT_MUST_USE int bt_recording_finish(struct bt_recording_writer *writer, bool is_complete,
	uint64_t *out_bytes, struct berth_error *err);
#endif
