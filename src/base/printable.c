/* SPDX-License-Identifier: Apache-2.0 */
#include "base/printable.h"

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

uint32_t bt_printable_width(struct bt_str text)
{
	uint32_t width = 0;
	for (uint32_t i = 0; i < text.length; i++) {
		width += !bt_unicode_is_continuation(text.data[i]);
	}
	return width;
}
