/* SPDX-License-Identifier: Apache-2.0 */
#include "base/printable.h"

#include <string.h>

#include "base/unicode.h"

void bt_printable_append(struct bt_strbuf *out, struct bt_str text)
{
	for (uint32_t i = 0; i < text.length;) {
		uint32_t rune = 0;
		uint32_t length = bt_utf8_decode(text.data + i, text.length - i, &rune);
		if (length == 0) {
			bt_strbuf_printf(out, "\\x%02x", (unsigned int)(unsigned char)text.data[i]);
			length = 1;
		} else if (bt_unicode_is_print(rune)) {
			bt_strbuf_append(out, text.data + i, length);
		} else {
			if (rune == '\n') {
				bt_strbuf_append_c(out, "\\n");
			} else if (rune == '\t') {
				bt_strbuf_append_c(out, "\\t");
			} else if (rune < 0x80) {
				bt_strbuf_printf(out, "\\x%02x", rune);
			} else if (rune <= 0xffff) {
				bt_strbuf_printf(out, "\\u%04x", rune);
			} else {
				bt_strbuf_printf(out, "\\U%08x", rune);
			}
		}
		i += length;
	}
}

void bt_printable_append_name(struct bt_strbuf *out, struct bt_str namespace_, struct bt_str name)
{
	bt_printable_append(out, namespace_);
	bt_strbuf_append_char(out, '/');
	bt_printable_append(out, name);
}

void bt_printable_append_word(struct bt_strbuf *out, struct bt_str word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789-_./:=@%+,";
	uint32_t plain_length = 0;
	while (plain_length < word.length &&
		memchr(plain, word.data[plain_length], sizeof(plain) - 1) != NULL) {
		plain_length++;
	}
	if (word.length != 0 && plain_length == word.length) {
		bt_strbuf_append_str(out, word);
		return;
	}
	bt_strbuf_append_char(out, '\'');
	for (uint32_t i = 0; i < word.length; i++) {
		if (word.data[i] == '\'') {
			bt_strbuf_append_c(out, "'\\''");
		} else {
			bt_strbuf_append_char(out, word.data[i]);
		}
	}
	bt_strbuf_append_char(out, '\'');
}

uint32_t bt_printable_width(struct bt_str text)
{
	uint32_t width = 0;
	for (uint32_t i = 0; i < text.length; i++) {
		width += !bt_unicode_is_continuation(text.data[i]);
	}
	return width;
}
