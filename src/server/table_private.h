/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SERVER_TABLE_PRIVATE_H
#define BT_SERVER_TABLE_PRIVATE_H
/** Shared by table.c and table_custom.c. */
#include "base/strbuf.h"
#include "codec/json_edit.h"
#include "server/table.h"

/** Summary of the states of a pod's containers. */
struct bt_pod_summary {
	struct bt_strbuf status;
	uint32_t total;
	uint32_t ready;
	int64_t restarts;
	bool restarted; /* restarted_at is set */
	int64_t restarted_at;
};

/** The current row. */
struct bt_table_row {
	const struct bt_json_value *object;
	int64_t now_ns;
	struct bt_arena *arena;
	struct bt_json_writer *writer;
	const char *path; /* path of the current column */
	const char *fallback;
	struct bt_strbuf text; /* of the current cell */
	struct bt_pod_summary pod;
};

/** A row of bt_table_columns. A row with a group starts a table; the other rows are its columns. */
struct bt_table_column {
	const char *group;  /* group of the table's resource; NULL: a column */
	const char *name;   /* name of the column or of the table's resource */
	const char *type;   /* "string", "integer", "boolean", "date" */
	const char *format; /* "name" or "" */
	const char *description;
	int32_t priority; /* 1: only with -o wide */
	/** Appends the cell's text to row->text, which is empty before. */
	void (*append)(struct bt_table_row *row);
	const char *path;     /* usually the path of the cell's value */
	const char *fallback; /* shown if the text is empty; NULL: "" */
	/** Instead of append: writes a number or bool. */
	void (*write)(struct bt_table_row *row);
};

/** All tables; the last row has a group but no name. */
extern const struct bt_table_column bt_table_columns[];

/** Appends a duration as kubectl shows it: "5m30s", "3h", "2d". */
void bt_table_append_duration(struct bt_strbuf *out, int64_t seconds);
/** Appends the time since `time` (RFC 3339) to row->text; nothing if `time` is not valid. */
void bt_table_append_since(struct bt_table_row *row, struct bt_str time);

/** --- custom resources --- */

/** Returns additionalPrinterColumns of the definition's version, or an empty array. */
const struct bt_json_value *bt_table_custom_columns(const struct bt_api_resource *resource);
void bt_table_write_custom_columns(
	const struct bt_api_resource *resource, struct bt_json_writer *writer);
void bt_table_write_custom_cells(const struct bt_api_resource *resource, struct bt_table_row *row);
/**
 * Finds the first value at a simple JSONPath: .a.b, ['a'], [0], [*], [?(@.type=="Ready")]; with or
 * without braces. NULL: no value, or the path has another form.
 */
const struct bt_json_value *bt_table_json_path(
	const struct bt_json_value *object, struct bt_str path);
#endif
