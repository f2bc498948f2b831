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
	BT_OUTPUT_WIDE, /* with priority, requests, score, number of nodes that fit, other resources
	                 */
	BT_OUTPUT_JSON,
	BT_OUTPUT_YAML,
	BT_OUTPUT_NAME, /* "pod/NAMESPACE/NAME NODE" of each placed pod, then
	                   "evicted/NAMESPACE/NAME NODE pod/NAMESPACE/NAME" of each victim and its
	                   preemptor */
};

/**
 * What the flag --output says. text NULL: it was not given. formats: those of the command, as in
 * "table|json", the first one is the default. BERTH_ERR_INVALID names them.
 */
BT_MUST_USE int bt_output_format_parse(const char *text, const char *formats,
	enum bt_output_format *out_format, struct berth_error *err);
/** --- texts for people --- */

/** What --color says, for every bt_output_fit. text NULL: auto.
 * BERTH_ERR_INVALID: none of its values. */
BT_MUST_USE int bt_output_set_color(const char *text, struct berth_error *err);
/** Columns of the terminal that standard output is; 0: it is none, or does not say. COLUMNS goes
 * before what the terminal says. */
uint32_t bt_output_columns(void);
/** Lay out a text for standard output: nothing changes unless it is a terminal, or colours are
 * always wanted. */
void bt_output_fit(struct bt_strbuf *text);
/**
 * Wrap lines that are wider than columns (0: none) at blanks, their continuation under the last
 * cell of a table or behind the indentation. Lines that begin with a command stay whole, so that
 * they can be copied. coloured: paint headings and what became of pods.
 */
void bt_output_lay_out(struct bt_strbuf *text, uint32_t columns, bool coloured);
/** Append a word of a command line for a shell: in single quotes unless it is plain. */
void bt_output_append_quoted(struct bt_strbuf *out, struct bt_str word);
/** To standard output; that it could be written is looked at by main. */
void bt_output_print(const struct bt_strbuf *text);
/** Write the answer as one JSON value. */
typedef void bt_output_write_json(const void *answer, struct bt_json_writer *writer);
/**
 * Append an answer as BT_OUTPUT_JSON or BT_OUTPUT_YAML. BERTH_ERR_INVALID: YAML in a program built
 * without it.
 */
BT_MUST_USE int bt_output_document(enum bt_output_format format, bt_output_write_json *write_json,
	const void *answer, struct bt_strbuf *out, struct berth_error *err);

/** --- text in aligned columns --- */

#define BT_TABLE_COLUMNS_MAX 12

/** All-zero memory with column_count set, or BT_TABLE_BEGIN: an empty table. */
struct bt_table {
	uint32_t column_count;
	uint32_t widths[BT_TABLE_COLUMNS_MAX];
	BT_VEC(size_t) cell_ends; /* in text */
	struct bt_strbuf text;    /* all cells, one after another */
};

/** Begin a table with this row of headings; those that are NULL are left out, column included. */
#define BT_TABLE_BEGIN(table, ...) \
	bt_table_begin((table), (const char *const[]){__VA_ARGS__}, \
		(uint32_t)(sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *)))
void bt_table_begin(struct bt_table *table, const char *const *headings, uint32_t count);
/** Append to the present cell through table->text, then end it. */
void bt_table_end_cell(struct bt_table *table);
/** A whole cell; hostile bytes are shown escaped. */
void bt_table_add(struct bt_table *table, struct bt_str cell);
void bt_table_add_c(struct bt_table *table, const char *cell);
/** Rows in order, two blanks between columns, none at the end of a line. The table is finished. */
void bt_table_write(struct bt_table *table, struct bt_strbuf *out);
void bt_table_finish(struct bt_table *table);

/** --- members of JSON objects --- */

void bt_json_write_member_int64(struct bt_json_writer *writer, const char *name, int64_t value);
void bt_json_write_member_bool(struct bt_json_writer *writer, const char *name, bool value);
/** {"requested": ..., "allocatable": ...} */
void bt_json_write_member_usage(
	struct bt_json_writer *writer, struct bt_str name, int64_t requested, int64_t allocatable);
/** "" when it is not set. */
void bt_json_write_member_time(
	struct bt_json_writer *writer, const char *name, const struct bt_time *time);
#endif
