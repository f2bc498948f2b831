/* SPDX-License-Identifier: Apache-2.0 */
#include "api/text_template.h"

#include <string.h>

#include "base/assert.h"
#include "base/printable.h"

struct text_writer {
	struct bt_strbuf *out;
	va_list arguments;
	int64_t number; /* the last number */
};

/** Appends the arguments of a conversion. Returns whether they are neither "" nor 0 nor false. */
static bool append_argument(struct text_writer *writer, char conversion)
{
	struct bt_strbuf *out = writer->out;
	struct bt_str text = {NULL, 0};
	switch (conversion) {
	case 's':
		text = va_arg(writer->arguments, struct bt_str);
		bt_strbuf_append_str(out, text);
		return text.length != 0;
	case 'p':
		text = va_arg(writer->arguments, struct bt_str);
		bt_printable_append(out, text);
		return text.length != 0;
	case 'm':
		text = va_arg(writer->arguments, struct bt_str);
		bt_printable_append_name(out, text, va_arg(writer->arguments, struct bt_str));
		return text.length != 0;
	case 'w':
		text = va_arg(writer->arguments, struct bt_str);
		bt_printable_append_word(out, text);
		return text.length != 0;
	case 'c':
		text = bt_str_from(va_arg(writer->arguments, const char *));
		bt_strbuf_append_str(out, text);
		return text.length != 0;
	case '?':
		return va_arg(writer->arguments, int) != 0;
	case 'a':
		text = va_arg(writer->arguments, struct bt_str);
		writer->number = va_arg(writer->arguments, int64_t);
		bt_amount_append_of(out, text, writer->number,
			va_arg(writer->arguments, enum bt_amount_rounding));
		return writer->number != 0;
	case 'u':
	case 'n':
		writer->number = va_arg(writer->arguments, uint32_t);
		break;
	case 'i':
		writer->number = va_arg(writer->arguments, int32_t);
		break;
	default:
		BT_ASSERT(conversion == 'd' || conversion == 'N');
		writer->number = va_arg(writer->arguments, int64_t);
		break;
	}
	if (conversion == 'n' || conversion == 'N') {
		bt_amount_append_count(out, writer->number);
	} else {
		bt_strbuf_printf(out, "%lld", (long long)writer->number);
	}
	return writer->number != 0;
}

void bt_text_append_list(struct bt_strbuf *out, const char *template_, va_list arguments)
{
	struct text_writer writer = {.out = out};
	size_t start = 0;       /* length of the text before the "[" */
	bool is_inside = false; /* behind a "[" */
	bool is_first = false;  /* the next argument decides about the text behind the "[" */
	bool is_kept = true;
	va_copy(writer.arguments, arguments);
	for (const char *at = template_; *at != '\0';) {
		char byte = *at++;
		if (byte == '%' && *at != '%') {
			bool is_given = append_argument(&writer, *at++);
			is_kept = is_first ? is_given : is_kept;
			is_first = false;
		} else if (byte == '{') {
			/* "one|many}" */
			const char *bar = strchr(at, '|');
			const char *end = strchr(at, '}');
			BT_ASSERT(bar != NULL && bar < end);
			const char *word = writer.number == 1 ? at : bar + 1;
			bt_strbuf_append(
				out, word, (size_t)((writer.number == 1 ? bar : end) - word));
			at = end + 1;
		} else if (byte == '[' && *at != '[') {
			BT_ASSERT(!is_inside);
			start = out->length;
			is_inside = true;
			is_first = true;
		} else if (byte == ']' && is_inside) {
			BT_ASSERT(!is_first);
			is_inside = false;
			if (!is_kept && out->length != start) {
				out->length = start;
				out->data[start] = '\0';
			}
		} else {
			bt_strbuf_append_char(out, byte);
			at += byte == '%' || byte == '[';
		}
	}
	BT_ASSERT(!is_inside);
	va_end(writer.arguments);
}

void bt_text_append(struct bt_strbuf *out, const char *template_, ...)
{
	va_list arguments;
	va_start(arguments, template_);
	bt_text_append_list(out, template_, arguments);
	va_end(arguments);
}

int bt_text_error(struct berth_error *err, int code, const char *template_, ...)
{
	struct bt_strbuf text = {0};
	va_list arguments;
	va_start(arguments, template_);
	bt_text_append_list(&text, template_, arguments);
	va_end(arguments);
	return bt_error_take(err, code, &text);
}
