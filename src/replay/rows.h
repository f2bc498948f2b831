/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_REPLAY_ROWS_H
#define BT_REPLAY_ROWS_H
/**
 * Rows of a table in a file, gzipped or not, one row on each line: comma-separated values (RFC
 * 4180) whose first line has the names of the columns, or JSON objects.
 */
#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "replay/import.h"

#define BT_ROWS_COLUMNS_MAX 64

struct bt_line_reader;

struct bt_rows {
	const char *path;         /* borrowed */
	struct bt_import *import; /* borrowed */
	struct bt_line_reader *lines;
	struct bt_arena header_arena;
	struct bt_arena arena; /* reset for each row */
	struct bt_str columns[BT_ROWS_COLUMNS_MAX];
	struct bt_str fields[BT_ROWS_COLUMNS_MAX];
	uint32_t column_count;
	const char *const *names; /* selected by bt_rows_select; borrowed */
	struct bt_str values[BT_ROWS_COLUMNS_MAX];
	uint32_t sources[BT_ROWS_COLUMNS_MAX]; /* index in columns; column_count: none */
	uint32_t name_count;
	bool is_json;
	struct bt_str
		first; /* JSON: the first row, read in advance; data NULL once it was returned */
};

/**
 * Opens the file. Errors name the file. path and import, which gets the defects, are borrowed.
 * *out_rows is owned.
 */
BT_MUST_USE int bt_rows_open(const char *path, struct bt_import *import, struct bt_rows **out_rows,
	struct berth_error *err);
/** NULL accepted. */
void bt_rows_close(struct bt_rows *rows);
/**
 * Returns whether there is a column of this name, or whether the first JSON object has this member.
 * The name "capacity.cpus" finds the member cpus of the inner object capacity, or a column
 * capacity.cpus or capacity_cpus.
 */
bool bt_rows_has(const struct bt_rows *rows, const char *name);
/** Selects the values to read from each row, at most BT_ROWS_COLUMNS_MAX; names are borrowed. */
void bt_rows_select(struct bt_rows *rows, const char *const *names, uint32_t count);
/**
 * Reads the next row. Malformed rows are left out, as defects. 1: *out_values has a value for each
 * selected name, borrowed until the next call; data is NULL if the value is missing or null. Arrays
 * are JSON text. 0: the end. Errors: the file cannot be read.
 */
BT_MUST_USE int bt_rows_next(
	struct bt_rows *rows, const struct bt_str **out_values, struct berth_error *err);
/** Counts a defect of the row returned last; see bt_import_add_defect. */
void bt_rows_add_defect(const struct bt_rows *rows, const char *reason, bool is_row_kept);
#endif
