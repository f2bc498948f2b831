/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/rows.h"

#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/strbuf.h"
#include "cluster/file.h"
#include "codec/json.h"

/**
 * Reads the quoted value at the start of *line, and moves *line behind the value. Returns false if
 * the closing quote is missing.
 */
static bool read_quoted(struct bt_str *line, struct bt_arena *arena, struct bt_str *out_field)
{
	struct bt_strbuf text = {0};
	uint32_t at = 1;
	for (; at < line->length; at++) {
		if (line->data[at] == '"') {
			if (at + 1 == line->length || line->data[at + 1] != '"') {
				break;
			}
			at++;
		}
		bt_strbuf_append_char(&text, line->data[at]);
	}
	bool is_closed = at < line->length;
	*out_field = bt_arena_str(arena, bt_strbuf_str(&text));
	*line = bt_str_sub(*line, at + 1, line->length);
	bt_strbuf_finish(&text);
	return is_closed;
}

/**
 * Splits a line of comma-separated values. Returns the number of values, or 0 if the line is
 * malformed.
 */
static uint32_t split(struct bt_str line, struct bt_arena *arena, struct bt_str *fields)
{
	uint32_t count = 0;
	if (line.length != 0 && line.data[line.length - 1] == '\r') {
		line.length--;
	}
	for (;;) {
		int64_t comma;
		if (count == BT_ROWS_COLUMNS_MAX) {
			return 0;
		}
		if (line.length != 0 && line.data[0] == '"') {
			if (!read_quoted(&line, arena, &fields[count])) {
				return 0;
			}
			comma = line.length == 0 ? -1 : 0;
			if (comma == 0 && line.data[0] != ',') {
				return 0;
			}
		} else {
			comma = bt_str_find_char(line, ',');
			fields[count] = comma < 0 ? line : bt_str_sub(line, 0, (uint32_t)comma);
		}
		count++;
		if (comma < 0) {
			return count;
		}
		line = bt_str_sub(line, (uint32_t)comma + 1, line.length);
	}
}

/** --- JSON rows --- */

/** Reads the members of an object; path: the dotted path of the object. */
static int read_members(
	struct bt_rows *rows, struct bt_json_reader *json, struct bt_str path, bool is_inner)
{
	struct bt_str name;
	int result;
	BT_JSON_EACH_MEMBER (json, &rows->arena, name, result, NULL) {
		enum bt_json_type type = BT_JSON_NULL;
		bool leads_on = false;
		if (is_inner) {
			name = bt_arena_printf(
				&rows->arena, "%.*s.%.*s", BT_STR_ARG(path), BT_STR_ARG(name));
		}
		uint32_t index = 0;
		while (index < rows->name_count && !bt_str_equal_c(name, rows->names[index])) {
			index++;
		}
		/* Enter "capacity" if the name "capacity.cpus" is selected. */
		for (uint32_t i = 0; i < rows->name_count; i++) {
			struct bt_str wanted = bt_str_from(rows->names[i]);
			leads_on = leads_on ||
				(name.length < wanted.length && wanted.data[name.length] == '.' &&
					bt_str_has_prefix(wanted, name));
		}
		result = bt_json_peek(json, &type, NULL);
		if (result < 0) {
			break;
		}
		if (index < rows->name_count && type == BT_JSON_STRING) {
			result = bt_json_read_string(
				json, &rows->arena, &rows->values[index], NULL, NULL);
		} else if (index < rows->name_count) {
			result = bt_json_skip(json, &rows->values[index], NULL);
			if (type == BT_JSON_NULL) {
				rows->values[index] = (struct bt_str){NULL, 0};
			}
		} else if (leads_on && !is_inner && type == BT_JSON_OBJECT) {
			result = read_members(rows, json, name, true);
		} else {
			result = bt_json_skip(json, NULL, NULL);
		}
	}
	return result;
}

/** --- rows of both formats --- */

int bt_rows_open(const char *path, struct bt_import *import, struct bt_rows **out_rows,
	struct berth_error *err)
{
	struct bt_line_reader *lines;
	struct bt_str line = {0};
	bool more = false;
	int result = bt_line_reader_open(path, &lines, err);
	if (result < 0) {
		return result;
	}
	struct bt_rows *rows = BT_NEW(struct bt_rows);
	rows->path = path;
	rows->import = import;
	rows->lines = lines;
	result = bt_line_reader_next(lines, &line, &more, err);
	if (result == 0 && more) {
		line = bt_arena_str(&rows->header_arena, line);
		rows->is_json = line.length != 0 && line.data[0] == '{';
		if (rows->is_json) {
			rows->first = line;
		} else {
			rows->column_count = split(line, &rows->header_arena, rows->columns);
		}
	}
	if (result == 0 && !rows->is_json && rows->column_count == 0) {
		result = bt_error_set(err, BERTH_ERR_INVALID,
			"%s: is no table: its first line must name the columns, with commas "
			"between them, or be a JSON object",
			path);
	}
	if (result < 0) {
		bt_rows_close(rows);
		return result;
	}
	*out_rows = rows;
	return 0;
}

void bt_rows_close(struct bt_rows *rows)
{
	if (rows != NULL) {
		bt_line_reader_close(rows->lines);
		bt_arena_finish(&rows->header_arena);
		bt_arena_finish(&rows->arena);
		bt_free(rows);
	}
}

/**
 * Returns whether the name selects the column. "capacity.cpus" also selects a column capacity_cpus,
 * because many databases allow no dots.
 */
static bool is_column(struct bt_str column, struct bt_str name)
{
	bool is_equal = column.length == name.length;
	for (uint32_t i = 0; is_equal && i < column.length; i++) {
		is_equal = column.data[i] == name.data[i] ||
			(column.data[i] == '_' && name.data[i] == '.');
	}
	return is_equal;
}

static uint32_t find_column(const struct bt_rows *rows, const char *name)
{
	uint32_t i = 0;
	while (i < rows->column_count && !is_column(rows->columns[i], bt_str_from(name))) {
		i++;
	}
	return i;
}

bool bt_rows_has(const struct bt_rows *rows, const char *name)
{
	if (!rows->is_json) {
		return find_column(rows, name) < rows->column_count;
	}
	struct bt_arena arena = {0};
	struct bt_json_value *value = NULL;
	bool has = bt_json_parse(&arena, rows->first, false, &value, NULL) == 0 &&
		bt_json_find_path(value, name) != NULL;
	bt_arena_finish(&arena);
	return has;
}

void bt_rows_select(struct bt_rows *rows, const char *const *names, uint32_t count)
{
	BT_ASSERT(count <= BT_ROWS_COLUMNS_MAX);
	rows->names = names;
	rows->name_count = count;
	for (uint32_t i = 0; i < count; i++) {
		rows->sources[i] = find_column(rows, names[i]);
	}
}

/** Reads the values of a line of the table. Returns what is wrong with the line, or NULL. */
static const char *read_line(struct bt_rows *rows, struct bt_str line)
{
	bt_arena_reset(&rows->arena);
	if (rows->is_json) {
		struct bt_json_reader json;
		bt_json_reader_init(&json, line);
		memset(rows->values, 0, sizeof(rows->values));
		return read_members(rows, &json, BT_STR(""), false) == 0 &&
				bt_json_expect_end(&json, NULL) == 0
			? NULL
			: "the line is no JSON object";
	}
	if (split(line, &rows->arena, rows->fields) != rows->column_count) {
		return "the row has more or fewer values than there are columns";
	}
	for (uint32_t i = 0; i < rows->name_count; i++) {
		struct bt_str value = rows->sources[i] < rows->column_count
			? rows->fields[rows->sources[i]]
			: BT_STR("");
		rows->values[i] = value.length != 0 ? value : (struct bt_str){NULL, 0};
	}
	return NULL;
}

int bt_rows_next(struct bt_rows *rows, const struct bt_str **out_values, struct berth_error *err)
{
	for (;;) {
		struct bt_str line = rows->first;
		bool more = true;
		rows->first = (struct bt_str){NULL, 0};
		int result =
			line.data != NULL ? 0 : bt_line_reader_next(rows->lines, &line, &more, err);
		if (result == 0 && !more && bt_line_reader_is_cut(rows->lines)) {
			result = bt_error_set(
				err, BERTH_ERR_IO, "%s: gzipped data ends too early", rows->path);
		}
		if (result < 0 || !more) {
			return result;
		}
		const char *flaw = read_line(rows, line);
		if (flaw == NULL) {
			*out_values = rows->values;
			return 1;
		}
		bt_rows_add_defect(rows, flaw, false);
	}
}

void bt_rows_add_defect(const struct bt_rows *rows, const char *reason, bool is_row_kept)
{
	bt_import_add_defect(
		rows->import, rows->path, bt_line_reader_number(rows->lines), reason, is_row_kept);
}
