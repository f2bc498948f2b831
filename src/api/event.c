/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Notes of events. Upstream passes the text as a format string, without arguments, to a formatting
 * function, so % sequences appear as Go prints missing arguments. Spec 03 section 9, 11b section
 * 8.3.
 */
#include "api/event.h"
#include <string.h>

#include "base/unicode.h"

#define NOTE_CUT BT_STR(" ...")

/** Go's limit of width and precision. */
#define NUMBER_MAX 1000000

/** Skips "[n]", the index of an argument. *found: set to true if there is an index. */
static uint32_t skip_index(struct bt_str text, uint32_t at, bool *found)
{
	if (at >= text.length || text.data[at] != '[') {
		return at;
	}
	*found = true;
	for (uint32_t i = at + 1; i < text.length; i++) {
		if (text.data[i] == ']') {
			return i + 1;
		}
	}
	return at + 1;
}

/**
 * Skips a width or precision, which is digits or "*". "*" takes the number from an argument, but
 * there are no arguments, so the text `problem` is appended for "*".
 */
static uint32_t format_size(
	struct bt_str text, uint32_t at, const char *problem, struct bt_strbuf *out)
{
	uint32_t number = 0;

	if (at < text.length && text.data[at] == '*') {
		bt_strbuf_append_c(out, problem);
		return at + 1;
	}
	/* skip the digits; after a number above Go's limit, skip the whole text */
	while (at < text.length && bt_is_digit(text.data[at])) {
		number = number * 10 + (uint32_t)(text.data[at++] - '0');
		if (number > NUMBER_MAX) {
			return text.length;
		}
	}
	return at;
}

static void format(struct bt_str text, struct bt_strbuf *out)
{
	for (uint32_t at = 0; at < text.length;) {
		const char *percent = memchr(text.data + at, '%', text.length - at);
		uint32_t end = percent != NULL ? (uint32_t)(percent - text.data) : text.length;
		bt_strbuf_append(out, text.data + at, end - at);
		if (percent == NULL) {
			return;
		}
		/* format the text after the percent sign */
		bool indexed = false;
		uint32_t rune;
		at = end + 1;
		while (at < text.length && memchr("#0+- ", text.data[at], 5) != NULL) {
			at++;
		}
		at = skip_index(text, at, &indexed);
		at = format_size(text, at, "%!(BADWIDTH)", out);
		if (at < text.length && text.data[at] == '.') {
			at = skip_index(text, at + 1, &indexed);
			at = format_size(text, at, "%!(BADPREC)", out);
		}
		at = skip_index(text, at, &indexed);
		if (at >= text.length) {
			bt_strbuf_append_c(out, "%!(NOVERB)");
			return;
		}
		uint32_t length = bt_utf8_decode(text.data + at, text.length - at, &rune);
		if (text.data[at] == '%') {
			bt_strbuf_append_char(out, '%');
			at++;
			continue;
		}
		bt_strbuf_append_c(out, "%!");
		if (length != 0) {
			bt_strbuf_append(out, text.data + at, length);
		} else {
			bt_strbuf_append_c(out, "\xef\xbf\xbd"); /* U+FFFD */
		}
		bt_strbuf_append_c(out, indexed ? "(BADINDEX)" : "(MISSING)");
		at += length != 0 ? length : 1;
	}
}

void bt_event_note(struct bt_str message, struct bt_strbuf *out)
{
	if (message.length <= BT_EVENT_NOTE_BYTES_MAX) {
		format(message, out);
		return;
	}
	/*
	 * No character is cut: a part of a character would be sent as U+FFFD, whose bytes could
	 * make the note too long for the API server.
	 */
	struct bt_strbuf cut = {0};
	bt_strbuf_append(&cut, message.data,
		bt_utf8_cut(message.data, BT_EVENT_NOTE_BYTES_MAX - NOTE_CUT.length));
	bt_strbuf_append_str(&cut, NOTE_CUT);
	format(bt_strbuf_str(&cut), out);
	bt_strbuf_finish(&cut);
}
