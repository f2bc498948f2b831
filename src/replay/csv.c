/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/csv.h"

#include "base/alloc.h"
#include "base/strbuf.h"
#include "cluster/file.h"

struct bt_csv {
	const char *path; /* borrowed */
	struct bt_line_reader *lines;
	struct bt_arena header_arena;
	struct bt_arena arena; /* of one row */
	struct bt_str columns[BT_CSV_COLUMNS_MAX];
	struct bt_str fields[BT_CSV_COLUMNS_MAX];
	uint32_t column_count;
};

/** A value in quotes; *line: what follows them. false: they do not end. */
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

/** Number of values, 0 if the row is malformed. */
static uint32_t split(struct bt_str line, struct bt_arena *arena, struct bt_str *fields)
{
	uint32_t count = 0;
	if (line.length != 0 && line.data[line.length - 1] == '\r') {
		line.length--;
	}
	for (;;) {
		int64_t comma;
		if (count == BT_CSV_COLUMNS_MAX) {
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

int bt_csv_open(const char *path, struct bt_csv **out_csv, struct berth_error *err)
{
	struct bt_line_reader *lines;
	struct bt_str line = {0};
	bool more = false;
	int result = bt_line_reader_open(path, &lines, err);
	if (result < 0) {
		return result;
	}
	struct bt_csv *csv = BT_NEW(struct bt_csv);
	csv->path = path;
	csv->lines = lines;
	bt_arena_init(&csv->header_arena, 0);
	bt_arena_init(&csv->arena, 0);
	result = bt_line_reader_next(lines, &line, &more, err);
	if (result == 0 && more) {
		line = bt_arena_str(&csv->header_arena, line);
		csv->column_count = split(line, &csv->header_arena, csv->columns);
	}
	if (result == 0 && csv->column_count == 0) {
		result = bt_error_set(err, BERTH_ERR_INVALID,
			"%s: is no table: its first line must name the columns, with commas "
			"between them",
			path);
	}
	if (result < 0) {
		bt_csv_close(csv);
		return result;
	}
	*out_csv = csv;
	return 0;
}

void bt_csv_close(struct bt_csv *csv)
{
	if (csv != NULL) {
		bt_line_reader_close(csv->lines);
		bt_arena_finish(&csv->header_arena);
		bt_arena_finish(&csv->arena);
		bt_free(csv);
	}
}

const char *bt_csv_path(const struct bt_csv *csv)
{
	return csv->path;
}

int bt_csv_column(const struct bt_csv *csv, const char *name)
{
	for (uint32_t i = 0; i < csv->column_count; i++) {
		if (bt_str_equal_c(csv->columns[i], name)) {
			return (int)i;
		}
	}
	return -1;
}

int bt_csv_next(struct bt_csv *csv, const struct bt_str **out_fields, struct berth_error *err)
{
	struct bt_str line;
	bool more;
	int result = bt_line_reader_next(csv->lines, &line, &more, err);
	if (result < 0 || !more) {
		return result;
	}
	bt_arena_reset(&csv->arena);
	*out_fields =
		split(line, &csv->arena, csv->fields) == csv->column_count ? csv->fields : NULL;
	return 1;
}

unsigned long bt_csv_line(const struct bt_csv *csv)
{
	return bt_line_reader_number(csv->lines);
}
