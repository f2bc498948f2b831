/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLI_SNAPSHOT_FILE_H
#define BT_CLI_SNAPSHOT_FILE_H
/** Output that may be gzipped; a file appears whole or not at all. */
#include "base/error.h"
#include "base/str.h"
#include "base/strbuf.h"

struct bt_snapshot_file {
	const char *path;           /* NULL: standard output */
	struct bt_strbuf temporary; /* beside path; empty: written in place */
	void *stream;               /* gzFile; NULL: closed */
};

/**
 * path NULL: standard output. Something that is no regular file is written in place. A file that is
 * replaced hands its permissions on, unless is_private: that one is for its owner alone.
 */
BT_MUST_USE int bt_snapshot_file_open(const char *path, bool gzip, bool is_private,
	struct bt_snapshot_file *out_file, struct berth_error *err);
/** context: struct bt_snapshot_file. */
BT_MUST_USE int bt_snapshot_file_write(void *context, struct bt_str text, struct berth_error *err);
/** Everything is written, as far as the system says. */
BT_MUST_USE int bt_snapshot_file_close(struct bt_snapshot_file *file, struct berth_error *err);
/** After it was closed: now it is there. */
BT_MUST_USE int bt_snapshot_file_publish(struct bt_snapshot_file *file, struct berth_error *err);
/** What was not committed is removed. Zero memory accepted. */
void bt_snapshot_file_finish(struct bt_snapshot_file *file);

/**
 * While files are under way, signals that end the program wait: writing fails when there is one, so
 * that nothing is left behind.
 */
struct bt_snapshot_signals {
	uint32_t held; /* a bit for each that was not held before */
};
void bt_snapshot_signals_hold(struct bt_snapshot_signals *out_signals);
/** Does not return when one has come. */
void bt_snapshot_signals_let_go(const struct bt_snapshot_signals *signals);
#endif
