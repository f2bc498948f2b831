/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/output.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "api/text_template.h"
#include "base/printable.h"
#include "codec/yaml.h"

#define JSON_INDENT 2

int bt_output_format_parse(const char *text, const char *formats, enum bt_output_format *out_format,
	struct berth_error *err)
{
	static const struct {
		const char *name;
		enum bt_output_format format;
	} known[] = {
		{"table", BT_OUTPUT_TABLE},
		{"text", BT_OUTPUT_TABLE},
		{"wide", BT_OUTPUT_WIDE},
		{"json", BT_OUTPUT_JSON},
		{"yaml", BT_OUTPUT_YAML},
		{"name", BT_OUTPUT_NAME},
	};
	struct bt_strbuf names = {0};
	while (*formats != '\0') {
		size_t length = strcspn(formats, "|");
		bool is_it = text == NULL ||
			(strlen(text) == length && memcmp(text, formats, length) == 0);
		for (size_t i = 0; i < BT_ARRAY_LENGTH(known) && is_it; i++) {
			if (strncmp(known[i].name, formats, length) == 0) {
				*out_format = known[i].format;
				bt_strbuf_finish(&names);
				return 0;
			}
		}
		bt_strbuf_append_c(&names, names.length != 0 ? ", " : "");
		bt_strbuf_append(&names, formats, length);
		formats += length + (formats[length] == '|');
	}
	int result = bt_error_set(
		err, BERTH_ERR_INVALID, "--output: %s is none of %s", text, bt_strbuf_c(&names));
	bt_strbuf_finish(&names);
	return result;
}

void bt_output_print(const struct bt_strbuf *text)
{
	(void)fwrite(bt_strbuf_c(text), 1, text->length, stdout);
}

int bt_output_flush(struct berth_error *err)
{
	static int reason; /* errno of the first failure; a later flush has nothing to write */
	errno = 0;
	if (fflush(stdout) != 0 && reason == 0) {
		reason = errno;
	}
	if (ferror(stdout) == 0 || reason == EPIPE) {
		return 0;
	}
	/*
	 * A reader that has closed the pipe is no error. A write without a flush may have failed
	 * before, so standard output is polled, too.
	 */
	struct pollfd out = {.fd = STDOUT_FILENO};
	return poll(&out, 1, 0) == 1 && (out.revents & POLLERR) != 0
		? 0
		: bt_error_set(err, BERTH_ERR_IO, "writing the output: %s",
			  reason != 0 ? strerror(reason) : "failed");
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
	struct bt_strbuf json = {0};
	bt_json_writer_init(&writer, &json, 0);
	write_json(answer, &writer);
	int result = bt_yaml_from_json(bt_strbuf_str(&json), out, err);
	bt_strbuf_finish(&json);
	return result;
}

/** --- texts for people --- */

/** Terminal widths below this are ignored as wrong. */
#define COLUMNS_MIN 20
#define COLUMNS_MAX 10000
/** Extra indentation of the continuation lines of a wrapped text. */
#define CONTINUATION_INDENT 2

#define BOLD "\033[1m"
#define RED "\033[31m"
#define GREEN "\033[32m"
#define YELLOW "\033[33m"
#define PLAIN "\033[0m"

uint32_t bt_output_columns(void)
{
	const char *text = getenv("COLUMNS");
	struct winsize size = {.ws_col = 0};
	int64_t columns = 0;
	if (isatty(STDOUT_FILENO) != 1) {
		return 0;
	}
	if (text == NULL || !bt_str_parse_int64(bt_str_from(text), &columns) || columns <= 0) {
		columns = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
	}
	return columns < COLUMNS_MIN ? 0 : columns > COLUMNS_MAX ? COLUMNS_MAX : (uint32_t)columns;
}

/** Process-wide, since a program prints one answer. */
static enum { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER } color;

int bt_output_set_color(const char *text, struct berth_error *err)
{
	if (text == NULL || strcmp(text, "auto") == 0) {
		color = COLOR_AUTO;
	} else if (strcmp(text, "always") == 0) {
		color = COLOR_ALWAYS;
	} else if (strcmp(text, "never") == 0) {
		color = COLOR_NEVER;
	} else {
		return bt_error_set(
			err, BERTH_ERR_INVALID, "--color: %s is none of auto, always, never", text);
	}
	return 0;
}

static uint32_t count_blanks(struct bt_str line, uint32_t from)
{
	uint32_t count = 0;
	while (from + count < line.length && line.data[from + count] == ' ') {
		count++;
	}
	return count;
}

static void wrap_line(struct bt_str line, uint32_t columns, struct bt_strbuf *out)
{
	uint32_t cell = count_blanks(line, 0); /* where the last cell begins */
	for (uint32_t i = cell; i + 2 < line.length; i++) {
		if (line.data[i] == ' ' && line.data[i + 1] == ' ' && line.data[i + 2] != ' ') {
			cell = i + 2;
		}
	}
	/* Continuation lines begin below the last cell, or below the text of "  1. text". */
	uint32_t indent = count_blanks(line, 0);
	uint32_t digits = indent;
	if (cell != indent) {
		indent = bt_printable_width(bt_str_sub(line, 0, cell));
	} else {
		while (digits < line.length && bt_is_digit(line.data[digits])) {
			digits++;
		}
		bool is_numbered = digits != indent && digits + 1 < line.length &&
			line.data[digits] == '.' && line.data[digits + 1] == ' ';
		indent = is_numbered ? digits + 2 : indent + CONTINUATION_INDENT;
	}
	uint32_t width = bt_printable_width(bt_str_sub(line, 0, cell));
	uint32_t gap = 0; /* blanks before the next word */
	struct bt_str last = bt_str_sub(line, cell, BT_STR_MAX);
	bool is_command = bt_str_has_prefix(last, BT_STR("kubectl ")) ||
		bt_str_has_prefix(last, BT_STR("or: kubectl "));
	if (bt_printable_width(line) <= columns || is_command) {
		bt_strbuf_append_str(out, line);
		return;
	}
	if (indent >
		columns / 3 * 2) { /* less than a third of the columns is left for the last cell */
		indent = count_blanks(line, 0) + CONTINUATION_INDENT;
	}
	bt_strbuf_append_str(out, bt_str_sub(line, 0, cell));
	for (uint32_t at = cell; at < line.length;) {
		uint32_t end = at;
		while (end < line.length && line.data[end] != ' ') {
			end++;
		}
		struct bt_str word = bt_str_sub(line, at, end - at);
		uint32_t word_width = bt_printable_width(word);
		if (gap != 0 && width + gap + word_width > columns) {
			bt_strbuf_append_char(out, '\n');
			width = 0;
			gap = indent;
		}
		for (uint32_t i = 0; i < gap; i++) {
			bt_strbuf_append_char(out, ' ');
		}
		bt_strbuf_append_str(out, word);
		width += gap + word_width;
		gap = count_blanks(line, end);
		at = end + gap;
	}
}

static void paint_line(struct bt_str line, struct bt_strbuf *out)
{
	static const struct {
		struct bt_str word; /* coloured at the start of a cell, which follows two blanks */
		const char *colour;
	} words[] = {
		{BT_STR_INIT("Scheduled"), GREEN},
		{BT_STR_INIT("Unschedulable"), RED},
		{BT_STR_INIT("SchedulerError"), RED},
		{BT_STR_INIT("SchedulingGated"), YELLOW},
		{BT_STR_INIT("Deleting"), YELLOW},
	};
	/* A heading, such as "POD NODE" or "Changes that would help:". */
	bool is_upper = line.length != 0;
	for (uint32_t i = 0; i < line.length && is_upper; i++) {
		is_upper = (line.data[i] >= 'A' && line.data[i] <= 'Z') || line.data[i] == ' ';
	}
	if (is_upper ||
		(line.length != 0 && line.data[0] != ' ' && line.data[line.length - 1] == ':')) {
		bt_strbuf_append_c(out, BOLD);
		bt_strbuf_append_str(out, line);
		bt_strbuf_append_c(out, PLAIN);
		return;
	}
	for (uint32_t i = 2; i < line.length; i++) {
		struct bt_str rest = bt_str_sub(line, i, BT_STR_MAX);
		if (line.data[i - 1] != ' ' || line.data[i - 2] != ' ') {
			continue;
		}
		for (size_t k = 0; k < BT_ARRAY_LENGTH(words); k++) {
			uint32_t length = words[k].word.length;
			if (bt_str_has_prefix(rest, words[k].word) &&
				(rest.length == length || rest.data[length] == ':' ||
					rest.data[length] == ',')) {
				bt_strbuf_append_str(out, bt_str_sub(line, 0, i));
				bt_strbuf_append_c(out, words[k].colour);
				bt_strbuf_append_str(out, words[k].word);
				bt_strbuf_append_c(out, PLAIN);
				bt_strbuf_append_str(out, bt_str_sub(rest, length, BT_STR_MAX));
				return;
			}
		}
	}
	bt_strbuf_append_str(out, line);
}

void bt_output_lay_out(struct bt_strbuf *text, uint32_t columns, bool coloured)
{
	struct bt_strbuf out = {0};
	struct bt_strbuf wrapped = {0};
	struct bt_str rest = bt_strbuf_str(text);
	if (columns == 0 && !coloured) {
		return;
	}
	while (rest.length != 0) {
		int64_t end = bt_str_find_char(rest, '\n');
		struct bt_str line = end < 0 ? rest : bt_str_sub(rest, 0, (uint32_t)end);
		rest = end < 0 ? BT_STR("") : bt_str_sub(rest, (uint32_t)end + 1, BT_STR_MAX);
		bt_strbuf_reset(&wrapped);
		if (columns != 0) {
			wrap_line(line, columns, &wrapped);
			line = bt_strbuf_str(&wrapped);
		}
		if (coloured) {
			paint_line(line, &out);
		} else {
			bt_strbuf_append_str(&out, line);
		}
		if (end >= 0) {
			bt_strbuf_append_char(&out, '\n');
		}
	}
	bt_strbuf_finish(&wrapped);
	bt_strbuf_finish(text);
	*text = out;
}

int bt_output_write(enum bt_output_format format, bt_output_write_text *write_text,
	bt_output_write_json *write_json, const void *answer, struct bt_strbuf *out,
	struct berth_error *err)
{
	if (format == BT_OUTPUT_JSON || format == BT_OUTPUT_YAML) {
		return bt_output_document(format, write_json, answer, out, err);
	}
	write_text(answer, format == BT_OUTPUT_WIDE, out);
	const char *no_color = getenv("NO_COLOR");
	const char *terminal = getenv("TERM");
	bool is_fit = isatty(STDOUT_FILENO) == 1 && (no_color == NULL || no_color[0] == '\0') &&
		terminal != NULL && terminal[0] != '\0' && strcmp(terminal, "dumb") != 0;
	bt_output_lay_out(
		out, bt_output_columns(), color == COLOR_ALWAYS || (color == COLOR_AUTO && is_fit));
	return 0;
}

/** --- tables --- */

static struct bt_str cell_at(const struct bt_table *table, uint32_t index)
{
	size_t start = index == 0 ? 0 : table->cell_ends.items[index - 1];
	size_t end = table->cell_ends.items[index];
	return (struct bt_str){bt_strbuf_c(&table->text) + start, (uint32_t)(end - start)};
}

void bt_table_begin(struct bt_table *table, const char *const *headings, uint32_t count)
{
	*table = (struct bt_table){0};
	for (uint32_t i = 0; i < count; i++) {
		table->column_count += headings[i] != NULL;
	}
	for (uint32_t i = 0; i < count; i++) {
		if (headings[i] != NULL) {
			bt_table_add_c(table, headings[i]);
		}
	}
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

void bt_table_add_cells(struct bt_table *table, const char *template_, ...)
{
	struct bt_strbuf text = {0};
	struct bt_str rest;
	va_list arguments;
	va_start(arguments, template_);
	bt_text_append_list(&text, template_, arguments);
	va_end(arguments);
	rest = bt_strbuf_str(&text);
	do {
		bt_strbuf_append_str(&table->text, bt_str_cut(&rest, '\t'));
		bt_table_end_cell(table);
	} while (rest.data != NULL);
	bt_strbuf_finish(&text);
}

void bt_table_write(struct bt_table *table, struct bt_strbuf *out)
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
	bt_table_finish(table);
}

void bt_table_finish(struct bt_table *table)
{
	bt_vec_finish(&table->cell_ends);
	bt_strbuf_finish(&table->text);
}

/** --- members of JSON objects --- */

void bt_json_write_member_usage(
	struct bt_json_writer *writer, struct bt_str name, int64_t requested, int64_t allocatable)
{
	bt_json_write(writer, "%s: {requested: %d, allocatable: %d}", name, requested, allocatable);
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
