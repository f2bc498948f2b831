/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLI_OUTPUT_H
#define BT_CLI_OUTPUT_H
/** How commands write their answers: formats, tables, members of JSON objects. */
#include "api/time.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "berth/error.h"
#include "codec/json.h"

enum bt_output_format {
	BT_OUTPUT_TABLE,
	BT_OUTPUT_WIDE, /* a table with more columns: priority, requests, score, number of nodes
	                   that fit, other resources */
	BT_OUTPUT_JSON,
	BT_OUTPUT_YAML,
	BT_OUTPUT_NAME, /* "pod/NAMESPACE/NAME NODE" of each placed pod, then
	                   "evicted/NAMESPACE/NAME NODE pod/NAMESPACE/NAME" of each victim and its
	                   preemptor */
};

/**
 * Parse the value of --output. text NULL: the flag is absent. formats: the formats of the command,
 * as in "table|json"; the first one is the default. BERTH_ERR_INVALID: the message lists the
 * formats.
 */
BT_MUST_USE int bt_output_format_parse(const char *text, const char *formats,
	enum bt_output_format *out_format, struct berth_error *err);
/** --- texts for people --- */

/**
 * Parse the value of --color, which bt_output_write uses. text NULL: auto. BERTH_ERR_INVALID: not a
 * valid value.
 */
BT_MUST_USE int bt_output_set_color(const char *text, struct berth_error *err);
/**
 * Columns of the terminal at standard output: COLUMNS if set, else the width that the terminal
 * reports; 0: standard output is no terminal, or the width is unknown or below 20.
 */
uint32_t bt_output_columns(void);
/**
 * Wrap lines wider than columns (0: no limit) at blanks; continuation lines are indented to the
 * last cell of a table or to the text. Lines that begin with a command stay whole, so that they can
 * be copied. coloured: with colours for headings and for the fates of pods ("Unschedulable").
 */
void bt_output_lay_out(struct bt_strbuf *text, uint32_t columns, bool coloured);
/** Write to standard output; bt_output_flush reports write errors. */
void bt_output_print(const struct bt_strbuf *text);
/**
 * Flush standard output. Returns BERTH_ERR_IO if this or an earlier write failed. A reader that
 * closed the pipe is no error. err may be NULL: bt_command_main reports the error at the end.
 */
int bt_output_flush(struct berth_error *err);
/** Write the answer as one JSON value. */
typedef void bt_output_write_json(const void *answer, struct bt_json_writer *writer);
/** Append an answer in format BT_OUTPUT_JSON or BT_OUTPUT_YAML. */
BT_MUST_USE int bt_output_document(enum bt_output_format format, bt_output_write_json *write_json,
	const void *answer, struct bt_strbuf *out, struct berth_error *err);
/** Write the answer as text; wide: with the columns and rows of -o wide. */
typedef void bt_output_write_text(const void *answer, bool wide, struct bt_strbuf *out);
/** Append the answer in any format but BT_OUTPUT_NAME; a text is wrapped and coloured. */
BT_MUST_USE int bt_output_write(enum bt_output_format format, bt_output_write_text *write_text,
	bt_output_write_json *write_json, const void *answer, struct bt_strbuf *out,
	struct berth_error *err);

/** --- text in aligned columns --- */

#define BT_TABLE_COLUMNS_MAX 12

/**
 * A table begins with BT_TABLE_BEGIN or, if it has no headings, as all-zero memory with
 * column_count set.
 */
struct bt_table {
	uint32_t column_count;
	uint32_t widths[BT_TABLE_COLUMNS_MAX];
	BT_VEC(size_t) cell_ends; /* in text */
	struct bt_strbuf text;    /* all cells, one after another */
};

/** Begin a table with this row of headings; columns with a NULL heading are left out. */
#define BT_TABLE_BEGIN(table, ...) \
	bt_table_begin((table), (const char *const[]){__VA_ARGS__}, \
		(uint32_t)(sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *)))
void bt_table_begin(struct bt_table *table, const char *const *headings, uint32_t count);
/** End the current cell, whose text was appended to table->text. */
void bt_table_end_cell(struct bt_table *table);
/** Append a whole cell; escapes control bytes. */
void bt_table_add(struct bt_table *table, struct bt_str cell);
void bt_table_add_c(struct bt_table *table, const char *cell);
/**
 * Append cells from a template (bt_text_append), in which tabs separate them. Texts of the input
 * need %p, or %m.
 */
void bt_table_add_cells(struct bt_table *table, const char *template_, ...);
/**
 * Append the rows in order, two blanks between columns, none at the end of a line, and finish the
 * table.
 */
void bt_table_write(struct bt_table *table, struct bt_strbuf *out);
void bt_table_finish(struct bt_table *table);

/** --- members of JSON objects --- */

/** Write a member with this name and the value {"requested": ..., "allocatable": ...}. */
void bt_json_write_member_usage(
	struct bt_json_writer *writer, struct bt_str name, int64_t requested, int64_t allocatable);
/** Write the time as a string member, or "" if the time is not set. */
void bt_json_write_member_time(
	struct bt_json_writer *writer, const char *name, const struct bt_time *time);
#endif
