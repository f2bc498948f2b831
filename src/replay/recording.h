/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_REPLAY_RECORDING_H
#define BT_REPLAY_RECORDING_H
/**
 * Reading and writing recordings: what happened in a cluster, line by line. The format is described
 * in docs/recordings.md.
 */
#include <stdbool.h>
#include <stdint.h>

#include "api/object.h"
#include "base/error.h"
#include "base/strbuf.h"

#define BT_RECORDING_VERSION 1
#define BT_RECORDING_LINE_BYTES_MAX ((uint32_t)64 << 20)
/** Of the start since 1970, of times and of durations, about 95 years: the sum of all three fits
 * int64 nanoseconds. */
#define BT_RECORDING_SECONDS_MAX INT64_C(3000000000)

struct bt_recording_header {
	int64_t start_ns;        /* since 1970 */
	uint32_t object_count;   /* lines that follow and are the cluster at the start */
	struct bt_str source;    /* "" */
	struct bt_str recording; /* what its parts have in common; "" */
	uint32_t part;           /* from 1 */
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
	enum bt_kind kind;        /* all but END */
	struct bt_str namespace_; /* CHANGE, DELETE; "" for kinds without namespaces */
	struct bt_str name;       /* CHANGE, DELETE */
	struct bt_str json;       /* ADD: the object; CHANGE: the merge patch */
	int64_t duration_ns;      /* ADD: how long a pod runs, -1: not known; GAP: its length */
	bool is_start;            /* ADD: part of the cluster at the start */
};

/** --- reading --- */

struct bt_recording_reader;

/**
 * Open a recording, gzipped or not, and read its first line. path "-" reads standard input. Errors
 * name the file, and the line where there is one. *out_reader is owned.
 */
BT_MUST_USE int bt_recording_open(
	const char *path, struct bt_recording_reader **out_reader, struct berth_error *err);
/** NULL accepted. */
void bt_recording_close(struct bt_recording_reader *reader);
/** Texts are borrowed from the reader. */
const struct bt_recording_header *bt_recording_header(const struct bt_recording_reader *reader);
/**
 * The next line. 1: *out_line is set; its texts are borrowed until the next call. 0: the end.
 * Lines about kinds that no scheduler reads are left out. Errors: a line that is none
 * (BERTH_ERR_SYNTAX, BERTH_ERR_INVALID: also a time before that of the line above), a file that
 * cannot be read (BERTH_ERR_IO).
 */
BT_MUST_USE int bt_recording_next(struct bt_recording_reader *reader,
	struct bt_recording_line *out_line, struct berth_error *err);
/** At the end: the last line said so. false: the recording was cut off, in the middle of a line or
 * of the compressed data perhaps. */
bool bt_recording_is_complete(const struct bt_recording_reader *reader);
/** "FILE: line N", of the line returned last. */
void bt_recording_describe(const struct bt_recording_reader *reader, struct bt_strbuf *out);

/** --- writing --- */

struct bt_recording_writer;

/**
 * Create the file, which must not exist, and write the first line. path "-" is standard output.
 * *out_writer is owned.
 */
BT_MUST_USE int bt_recording_create(const char *path, bool is_gzipped,
	const struct bt_recording_header *header, struct bt_recording_writer **out_writer,
	struct berth_error *err);
/**
 * Append a line: lines stay in memory until a flush, or until there are many. line->json is one
 * JSON value without newlines.
 */
BT_MUST_USE int bt_recording_append(struct bt_recording_writer *writer,
	const struct bt_recording_line *line, struct berth_error *err);
/** Hand everything to the system, such that a reader of the file can read it: what was flushed
 * survives the end of the process. */
BT_MUST_USE int bt_recording_flush(struct bt_recording_writer *writer, struct berth_error *err);
/** Compressed bytes so far, as of the last flush; 0 of a pipe. */
uint64_t bt_recording_size(const struct bt_recording_writer *writer);
/** Flush and close; is_complete: with the line that says so. The writer is gone in any case. */
BT_MUST_USE int bt_recording_finish(
	struct bt_recording_writer *writer, bool is_complete, struct berth_error *err);
#endif
