/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_REPLAY_CSV_H
#define BT_REPLAY_CSV_H
/** Tables as comma-separated values (RFC 4180), a row on each line, columns named by the first. */
#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

#define BT_CSV_COLUMNS_MAX 64

struct bt_csv;

/** The file may be gzipped. Errors name it. path is borrowed. *out_csv is owned. */
BT_MUST_USE int bt_csv_open(const char *path, struct bt_csv **out_csv, struct berth_error *err);
/** NULL accepted. */
void bt_csv_close(struct bt_csv *csv);
const char *bt_csv_path(const struct bt_csv *csv);
/** Index of a column, or -1. */
int bt_csv_column(const struct bt_csv *csv, const char *name);
/**
 * The next row. 1: *out_fields are its values, as many as there are columns, borrowed until the
 * next call; NULL: the row has another number of values. 0: the end. Errors: the file cannot be
 * read.
 */
BT_MUST_USE int bt_csv_next(
	struct bt_csv *csv, const struct bt_str **out_fields, struct berth_error *err);
/** Line of the row returned last. */
unsigned long bt_csv_line(const struct bt_csv *csv);
#endif
