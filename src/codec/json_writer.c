/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/json.h"

#include <math.h>

#include "base/assert.h"
#include "base/shortest.h"
#include "base/unicode.h"
#include "codec/json_scan.h"

void bt_json_writer_init(struct bt_json_writer *writer, struct bt_strbuf *out, uint32_t indent)
{
	*writer = (struct bt_json_writer){.out = out, .indent = indent, .escape_html = true};
}

static void new_line(struct bt_json_writer *writer)
{
	if (writer->indent == 0) {
		return;
	}
	bt_strbuf_append_char(writer->out, '\n');
	for (uint64_t i = 0; i < (uint64_t)writer->indent * writer->depth; i++) {
		bt_strbuf_append_char(writer->out, ' ');
	}
}

/** Writes the comma and line break before a name, or before a value that is not behind a name. */
BT_ALWAYS_INLINE void begin_item(struct bt_json_writer *writer)
{
	if (writer->after_name) {
		writer->after_name = false;
		return;
	}
	if (writer->need_comma) {
		bt_strbuf_append_char(writer->out, ',');
	}
	if (writer->indent != 0 && writer->depth != 0) {
		new_line(writer);
	}
}

static void write_token(struct bt_json_writer *writer, const char *token, size_t length)
{
	begin_item(writer);
	bt_strbuf_append(writer->out, token, length);
	writer->need_comma = true;
}

void bt_json_write_null(struct bt_json_writer *writer)
{
	write_token(writer, "null", 4);
}

void bt_json_write_bool(struct bt_json_writer *writer, bool value)
{
	write_token(writer, value ? "true" : "false", value ? 4 : 5);
}

void bt_json_write_uint64(struct bt_json_writer *writer, uint64_t value)
{
	char digits[20];
	write_token(writer, digits, bt_str_format_uint64(value, digits));
}

void bt_json_write_int64(struct bt_json_writer *writer, int64_t value)
{
	char text[21] = "-";
	uint32_t sign = value < 0 ? 1 : 0;
	uint64_t amount = value < 0 ? -(uint64_t)value : (uint64_t)value;
	write_token(writer, text, sign + bt_str_format_uint64(amount, text + sign));
}

void bt_json_write_double(struct bt_json_writer *writer, double value)
{
	if (!isfinite(value)) {
		/* JSON cannot represent these numbers */
		bt_json_write_null(writer);
		return;
	}
	struct bt_strbuf text = {NULL, 0, 0};
	if (signbit(value)) {
		bt_strbuf_append_char(&text, '-');
		value = -value;
	}
	if (value > 0) {
		struct bt_shortest shortest;
		bt_shortest_digits(value, &shortest);
		if (value < 1e-6 || value >= 1e21) {
			bt_shortest_append_exponent(&text, &shortest, 1);
		} else {
			bt_shortest_append_fixed(&text, &shortest);
		}
	} else {
		bt_strbuf_append_char(&text, '0');
	}
	write_token(writer, bt_strbuf_c(&text), text.length);
	bt_strbuf_finish(&text);
}

/** Writes the special character at p; returns the number of source bytes consumed. */
static size_t write_escaped(struct bt_json_writer *writer, const char *p, const char *end)
{
	static const char hex[] = "0123456789abcdef";
	unsigned char c = (unsigned char)*p;
	struct bt_strbuf *out = writer->out;
	if (c >= 0x80) {
		uint32_t rune;
		uint32_t length = bt_utf8_decode(p, (size_t)(end - p), &rune);
		if (length == 0) {
			bt_strbuf_append(out, "\\ufffd", 6);
			writer->has_replaced = true;
			return 1;
		}
		/* U+2028 and U+2029 are line ends in JavaScript */
		if (rune == 0x2028 || rune == 0x2029) {
			bt_strbuf_append(out, rune == 0x2028 ? "\\u2028" : "\\u2029", 6);
		} else {
			bt_strbuf_append(out, p, length);
		}
		return length;
	}
	char escape[6] = {'\\', 0, '0', '0', 0, 0};
	size_t length = 2;
	switch (c) {
	case '"':
	case '\\':
		escape[1] = (char)c;
		break;
	case '\b':
		escape[1] = 'b';
		break;
	case '\f':
		escape[1] = 'f';
		break;
	case '\n':
		escape[1] = 'n';
		break;
	case '\r':
		escape[1] = 'r';
		break;
	case '\t':
		escape[1] = 't';
		break;
	default:
		escape[1] = 'u';
		escape[4] = hex[c >> 4];
		escape[5] = hex[c & 15];
		length = 6;
		break;
	}
	bt_strbuf_append(out, escape, length);
	return 1;
}

/** Bytes of the longest step of bt_json_scan. */
#define SCAN_STEP_BYTES 16

BT_ALWAYS_INLINE const char *scan(
	const struct bt_json_writer *writer, const char *p, const char *end)
{
	return writer->escape_html ? bt_json_scan(p, end, BT_JSON_ATTENTION_HTML)
				   : bt_json_scan(p, end, BT_JSON_ATTENTION_HIGH);
}

/** Writes the rest of a text, which begins with a special character. */
BT_NOINLINE
static void write_special(struct bt_json_writer *writer, const char *p, const char *end)
{
	while (p < end) {
		p += write_escaped(writer, p, end);
		const char *run_end = scan(writer, p, end);
		bt_strbuf_append(writer->out, p, (size_t)(run_end - p));
		p = run_end;
	}
	bt_strbuf_reserve(writer->out, 3);
}

/** Writes a text in quotes and, if it is a name, the colon behind it. */
static void write_quoted(struct bt_json_writer *writer, struct bt_str text, bool is_name)
{
	struct bt_strbuf *out = writer->out;
	begin_item(writer);
	bt_strbuf_reserve(out, (size_t)text.length + 3 + SCAN_STEP_BYTES);
	/*
	 * Most texts are short and need no escapes: copy the text and its closing quote, and scan
	 * the copy in blocks.
	 */
	char *copy = out->data + out->length;
	*copy++ = '"';
	if (text.length != 0) {
		memcpy(copy, text.data, text.length);
	}
	copy[text.length] = '"';
	size_t plain = (size_t)(scan(writer, copy, copy + text.length + SCAN_STEP_BYTES) - copy);
	out->length += 1 + plain;
	if (BT_UNLIKELY(plain != text.length)) {
		write_special(writer, text.data + plain, text.data + text.length);
	}
	char *end = out->data + out->length;
	*end++ = '"';
	if (is_name) {
		*end++ = ':';
		if (writer->indent != 0) {
			*end++ = ' ';
		}
	}
	*end = '\0';
	out->length = (size_t)(end - out->data);
	writer->after_name = is_name;
	writer->need_comma = true;
}

void bt_json_write_str(struct bt_json_writer *writer, struct bt_str text)
{
	write_quoted(writer, text, false);
}

void bt_json_write_c(struct bt_json_writer *writer, const char *zero_terminated)
{
	bt_json_write_str(writer, bt_str_from(zero_terminated));
}

void bt_json_write_raw(struct bt_json_writer *writer, struct bt_str json)
{
	write_token(writer, json.data, json.length);
}

static void begin_container(struct bt_json_writer *writer, char open)
{
	begin_item(writer);
	bt_strbuf_append_char(writer->out, open);
	writer->depth++;
	writer->need_comma = false;
}

static void end_container(struct bt_json_writer *writer, char close)
{
	BT_ASSERT(writer->depth > 0 && !writer->after_name);
	writer->depth--;
	/* need_comma is still false if the container is empty: "[]" stays on one line */
	if (writer->need_comma) {
		new_line(writer);
	}
	bt_strbuf_append_char(writer->out, close);
	writer->need_comma = true;
}

void bt_json_begin_array(struct bt_json_writer *writer)
{
	begin_container(writer, '[');
}

void bt_json_end_array(struct bt_json_writer *writer)
{
	end_container(writer, ']');
}

void bt_json_begin_object(struct bt_json_writer *writer)
{
	begin_container(writer, '{');
}

void bt_json_end_object(struct bt_json_writer *writer)
{
	end_container(writer, '}');
}

void bt_json_write_name(struct bt_json_writer *writer, struct bt_str name)
{
	BT_ASSERT(writer->depth > 0 && !writer->after_name);
	write_quoted(writer, name, true);
}

void bt_json_write_name_c(struct bt_json_writer *writer, const char *name)
{
	bt_json_write_name(writer, bt_str_from(name));
}

void bt_json_begin_member_object(struct bt_json_writer *writer, const char *name)
{
	bt_json_write_name_c(writer, name);
	bt_json_begin_object(writer);
}

void bt_json_begin_member_array(struct bt_json_writer *writer, const char *name)
{
	bt_json_write_name_c(writer, name);
	bt_json_begin_array(writer);
}

void bt_json_write_member(struct bt_json_writer *writer, const char *name, struct bt_str text)
{
	bt_json_write_name_c(writer, name);
	bt_json_write_str(writer, text);
}

void bt_json_write_member_c(struct bt_json_writer *writer, const char *name, const char *text)
{
	bt_json_write_member(writer, name, bt_str_from(text));
}

void bt_json_write_member_int64(struct bt_json_writer *writer, const char *name, int64_t value)
{
	bt_json_write_name_c(writer, name);
	bt_json_write_int64(writer, value);
}

void bt_json_write_value(struct bt_json_writer *writer, const struct bt_json_value *value)
{
	switch (value->type) {
	case BT_JSON_NULL:
		bt_json_write_null(writer);
		break;
	case BT_JSON_BOOL:
		bt_json_write_bool(writer, value->boolean);
		break;
	case BT_JSON_NUMBER:
		bt_json_write_raw(writer, value->text);
		break;
	case BT_JSON_STRING:
		bt_json_write_str(writer, value->text);
		break;
	case BT_JSON_ARRAY:
		bt_json_begin_array(writer);
		for (uint32_t i = 0; i < value->count; i++) {
			bt_json_write_value(writer, value->elements[i]);
		}
		bt_json_end_array(writer);
		break;
	case BT_JSON_OBJECT:
		bt_json_begin_object(writer);
		for (uint32_t i = 0; i < value->count; i++) {
			write_quoted(writer, value->members[i].name, true);
			bt_json_write_value(writer, value->members[i].value);
		}
		bt_json_end_object(writer);
		break;
	case BT_JSON__COUNT:
		BT_ASSERT(false);
		break;
	}
}

void bt_json_format(const struct bt_json_value *value, struct bt_strbuf *out)
{
	struct bt_json_writer writer;

	bt_json_writer_init(&writer, out, 0);
	bt_json_write_value(&writer, value);
}
