/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/output.h"

#include <stdio.h>
#include <string.h>

#include "cluster/printable.h"
#if BT_HAVE_YAML
#include "codec/yaml.h"
#endif

#define JSON_INDENT 2

int bt_output_format_parse(const char *text, bool has_names, enum bt_output_format *out_format,
	struct berth_error *err)
{
	static const struct {
		const char *name;
		enum bt_output_format format;
	} formats[] = {
		{"table", BT_OUTPUT_TABLE},
		{"wide", BT_OUTPUT_WIDE},
		{"json", BT_OUTPUT_JSON},
		{"yaml", BT_OUTPUT_YAML},
		{"name", BT_OUTPUT_NAME},
	};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(formats); i++) {
		if (strcmp(formats[i].name, text) == 0 &&
			(has_names || formats[i].format != BT_OUTPUT_NAME)) {
			*out_format = formats[i].format;
			return 0;
		}
	}
	return bt_error_set(err, BERTH_ERR_INVALID,
		"--output: %s is none of table, wide, json, yaml%s", text,
		has_names ? ", name" : "");
}

void bt_output_print(const struct bt_strbuf *text)
{
	(void)fwrite(bt_strbuf_c(text), 1, text->length, stdout);
}

int bt_output_document(enum bt_output_format format, bt_output_write_json *write_json,
	const void *answer, struct bt_strbuf *out, struct berth_error *err)
{
	struct bt_json_writer writer;
	if (format == BT_OUTPUT_JSON) {
		bt_json_writer_init(&writer, out, JSON_INDENT);
		write_json(answer, &writer);
		bt_strbuf_append_char(out, '\n');
		return 0;
	}
#if BT_HAVE_YAML
	struct bt_strbuf json = {0};
	bt_json_writer_init(&writer, &json, 0);
	write_json(answer, &writer);
	int result = bt_yaml_from_json(bt_strbuf_str(&json), out, err);
	bt_strbuf_finish(&json);
	return result;
#else
	return bt_error_set(err, BERTH_ERR_INVALID, "this program was built without YAML");
#endif
}

/** --- tables --- */

static struct bt_str cell_at(const struct bt_table *table, uint32_t index)
{
	size_t start = index == 0 ? 0 : table->cell_ends.items[index - 1];
	size_t end = table->cell_ends.items[index];
	return (struct bt_str){bt_strbuf_c(&table->text) + start, (uint32_t)(end - start)};
}

void bt_table_end_cell(struct bt_table *table)
{
	bt_vec_push(&table->cell_ends, table->text.length);
	uint32_t index = table->cell_ends.count - 1;
	uint32_t column = index % table->column_count;
	uint32_t width = bt_printable_width(cell_at(table, index));
	if (width > table->widths[column]) {
		table->widths[column] = width;
	}
}

void bt_table_add(struct bt_table *table, struct bt_str cell)
{
	bt_printable_append(&table->text, cell);
	bt_table_end_cell(table);
}

void bt_table_add_c(struct bt_table *table, const char *cell)
{
	bt_table_add(table, bt_str_from(cell));
}

void bt_table_write(const struct bt_table *table, struct bt_strbuf *out)
{
	uint32_t pending_blanks = 0;
	for (uint32_t i = 0; i < table->cell_ends.count; i++) {
		uint32_t column = i % table->column_count;
		struct bt_str cell = cell_at(table, i);
		if (cell.length != 0) {
			for (uint32_t j = 0; j < pending_blanks; j++) {
				bt_strbuf_append_char(out, ' ');
			}
			pending_blanks = 0;
			bt_strbuf_append_str(out, cell);
		}
		pending_blanks += table->widths[column] - bt_printable_width(cell) + 2;
		if (column + 1 == table->column_count) {
			bt_strbuf_append_char(out, '\n');
			pending_blanks = 0;
		}
	}
}

void bt_table_finish(struct bt_table *table)
{
	bt_vec_finish(&table->cell_ends);
	bt_strbuf_finish(&table->text);
}

/** --- members of JSON objects --- */

void bt_json_write_member_int64(struct bt_json_writer *writer, const char *name, int64_t value)
{
	bt_json_write_name_c(writer, name);
	bt_json_write_int64(writer, value);
}

void bt_json_write_member_bool(struct bt_json_writer *writer, const char *name, bool value)
{
	bt_json_write_name_c(writer, name);
	bt_json_write_bool(writer, value);
}

void bt_json_write_member_time(
	struct bt_json_writer *writer, const char *name, const struct bt_time *time)
{
	struct bt_strbuf text = {0};
	if (time->set) {
		bt_time_format(time, &text);
	}
	bt_json_write_member(writer, name, bt_strbuf_str(&text));
	bt_strbuf_finish(&text);
}

void bt_json_begin_member_array(struct bt_json_writer *writer, const char *name)
{
	bt_json_write_name_c(writer, name);
	bt_json_begin_array(writer);
}

void bt_json_begin_member_object(struct bt_json_writer *writer, const char *name)
{
	bt_json_write_name_c(writer, name);
	bt_json_begin_object(writer);
}
