/* SPDX-License-Identifier: Apache-2.0 */
/* explicit_bzero */
#define _DEFAULT_SOURCE
#include "base/strbuf.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/unicode.h"

#define CAPACITY_MIN ((size_t)64)

void bt_strbuf_finish(struct bt_strbuf *buffer)
{
	bt_free(buffer->data);
	*buffer = (struct bt_strbuf){0};
}

void bt_strbuf_finish_wiped(struct bt_strbuf *buffer)
{
	if (buffer->data != NULL) {
		explicit_bzero(buffer->data, buffer->capacity);
	}
	bt_strbuf_finish(buffer);
}

void bt_strbuf_reset(struct bt_strbuf *buffer)
{
	buffer->length = 0;
	if (buffer->data != NULL) {
		buffer->data[0] = '\0';
	}
}

void bt_strbuf_grow(struct bt_strbuf *buffer, size_t extra)
{
	size_t capacity = buffer->capacity;

	if (BT_UNLIKELY(extra >= BT_STR_MAX || buffer->length + extra >= BT_STR_MAX)) {
		bt_panic("text buffer of %zu bytes cannot grow by %zu", buffer->length, extra);
	}
	size_t needed = buffer->length + extra + 1;
	capacity = capacity < CAPACITY_MIN ? CAPACITY_MIN : capacity * 2;
	if (capacity < needed) {
		capacity = needed;
	}
	buffer->data = bt_realloc_array(buffer->data, capacity, 1);
	buffer->capacity = capacity;
	buffer->data[buffer->length] = '\0';
}

void bt_strbuf_append_str(struct bt_strbuf *buffer, struct bt_str text)
{
	bt_strbuf_append(buffer, text.data, text.length);
}

void bt_strbuf_set(struct bt_strbuf *buffer, struct bt_str text)
{
	bt_strbuf_reset(buffer);
	bt_strbuf_append_str(buffer, text);
}

void bt_strbuf_append_c(struct bt_strbuf *buffer, const char *zero_terminated)
{
	bt_strbuf_append(buffer, zero_terminated, strlen(zero_terminated));
}

void bt_strbuf_append_lower(struct bt_strbuf *buffer, struct bt_str text)
{
	for (uint32_t i = 0; i < text.length; i++) {
		char byte = text.data[i];
		bt_strbuf_append_char(
			buffer, byte >= 'A' && byte <= 'Z' ? (char)(byte - 'A' + 'a') : byte);
	}
}

void bt_strbuf_append_errno(struct bt_strbuf *buffer, int number)
{
	struct bt_str text = bt_str_from(strerror(number));
	/* Go's texts equal those of libc, but begin with a lower-case letter. */
	uint32_t lowered = text.length > 1 && text.data[1] >= 'a' && text.data[1] <= 'z' ? 1 : 0;

	bt_strbuf_append_lower(buffer, bt_str_sub(text, 0, lowered));
	bt_strbuf_append_str(buffer, bt_str_sub(text, lowered, text.length));
}

void bt_strbuf_append_uuid(struct bt_strbuf *buffer, uint64_t high, uint64_t low)
{
	high = (high & ~UINT64_C(0xf000)) | 0x4000;             /* version 4 */
	low = (low & ~(UINT64_C(3) << 62)) | UINT64_C(1) << 63; /* RFC 9562 variant */
	for (int i = 0; i < 32; i++) {
		uint64_t word = i < 16 ? high : low;
		if (i == 8 || i == 12 || i == 16 || i == 20) {
			bt_strbuf_append_char(buffer, '-');
		}
		bt_strbuf_append_char(buffer, "0123456789abcdef"[word >> (60 - 4 * (i % 16)) & 15]);
	}
}

void bt_strbuf_printf(struct bt_strbuf *buffer, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	bt_strbuf_vprintf(buffer, format, arguments);
	va_end(arguments);
}

void bt_strbuf_vprintf(struct bt_strbuf *buffer, const char *format, va_list arguments)
{
	va_list again;

	/* The first attempt usually has enough room; if not, vsnprintf returns the exact length. */
	bt_strbuf_reserve(buffer, 0);
	size_t room = buffer->capacity - buffer->length;
	va_copy(again, arguments);
	int length = vsnprintf(buffer->data + buffer->length, room, format, arguments);
	if (length < 0) {
		bt_panic("text cannot be formatted: %s", format);
	}
	if ((size_t)length >= room) {
		bt_strbuf_reserve(buffer, (size_t)length);
		(void)vsnprintf(buffer->data + buffer->length, (size_t)length + 1, format, again);
	}
	va_end(again);
	buffer->length += (size_t)length;
}

void bt_strbuf_append_quoted(struct bt_strbuf *buffer, struct bt_str text)
{
	static const char escaped[] = "\"\\\a\b\f\n\r\t\v";
	static const char letters[] = "\"\\abfnrtv";
	uint32_t i = 0;

	bt_strbuf_append_char(buffer, '"');
	while (i < text.length) {
		unsigned char byte = (unsigned char)text.data[i];
		const char *escape = memchr(escaped, byte, sizeof(escaped) - 1);
		uint32_t rune;
		uint32_t size = bt_utf8_decode(text.data + i, text.length - i, &rune);

		if (escape != NULL) {
			bt_strbuf_append_char(buffer, '\\');
			bt_strbuf_append_char(buffer, letters[escape - escaped]);
			size = 1;
		} else if (size == 0) {
			bt_strbuf_printf(buffer, "\\x%02x", (unsigned int)byte);
			size = 1;
		} else if (bt_unicode_is_print(rune)) {
			bt_strbuf_append(buffer, text.data + i, size);
		} else {
			if (rune < 0x80) {
				bt_strbuf_printf(buffer, "\\x%02x", (unsigned int)rune);
			} else if (rune < 0x10000) {
				bt_strbuf_printf(buffer, "\\u%04x", (unsigned int)rune);
			} else {
				bt_strbuf_printf(buffer, "\\U%08x", (unsigned int)rune);
			}
		}
		i += size;
	}
	bt_strbuf_append_char(buffer, '"');
}

struct bt_str bt_strbuf_str(const struct bt_strbuf *buffer)
{
	return (struct bt_str){bt_strbuf_c(buffer), (uint32_t)buffer->length};
}

const char *bt_strbuf_c(const struct bt_strbuf *buffer)
{
	return buffer->data != NULL ? buffer->data : "";
}

char *bt_strbuf_steal(struct bt_strbuf *buffer)
{
	bt_strbuf_reserve(buffer, 0);
	char *text = buffer->data;
	*buffer = (struct bt_strbuf){0};
	return text;
}
