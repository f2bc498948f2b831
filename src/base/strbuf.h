/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_BASE_STRBUF_H
#define BT_BASE_STRBUF_H
/**
 * Growing text buffer. All-zero memory is an empty buffer. data is zero-terminated whenever it is
 * not NULL.
 */
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include "base/compiler.h"
#include "base/str.h"

struct bt_strbuf {
	char *data;
	size_t length;
	size_t capacity;
};

void bt_strbuf_finish(struct bt_strbuf *buffer);
/** The same for a secret: its memory is overwritten first. */
void bt_strbuf_finish_wiped(struct bt_strbuf *buffer);
/** Empties the buffer and keeps its memory. */
void bt_strbuf_reset(struct bt_strbuf *buffer);
/** bt_strbuf_reserve if there is no room. */
void bt_strbuf_grow(struct bt_strbuf *buffer, size_t extra);

/** Room for extra more bytes (and the terminator) without reallocation. */
BT_ALWAYS_INLINE void bt_strbuf_reserve(struct bt_strbuf *buffer, size_t extra)
{
	if (BT_UNLIKELY(extra >= buffer->capacity - buffer->length)) {
		bt_strbuf_grow(buffer, extra);
	}
}

static inline void bt_strbuf_append(struct bt_strbuf *buffer, const void *data, size_t length)
{
	if (length == 0) {
		return;
	}
	bt_strbuf_reserve(buffer, length);
	memcpy(buffer->data + buffer->length, data, length);
	buffer->length += length;
	buffer->data[buffer->length] = '\0';
}

static inline void bt_strbuf_append_char(struct bt_strbuf *buffer, char byte)
{
	bt_strbuf_reserve(buffer, 1);
	buffer->data[buffer->length++] = byte;
	buffer->data[buffer->length] = '\0';
}

void bt_strbuf_append_str(struct bt_strbuf *buffer, struct bt_str text);
void bt_strbuf_append_c(struct bt_strbuf *buffer, const char *zero_terminated);
/** Appends text with ASCII letters in lower case. */
void bt_strbuf_append_lower(struct bt_strbuf *buffer, struct bt_str text);
/** Appends 122 of these random bits as a UUID of version 4. */
void bt_strbuf_append_uuid(struct bt_strbuf *buffer, uint64_t high, uint64_t low);
BT_PRINTF(2, 3)
void bt_strbuf_printf(struct bt_strbuf *buffer, const char *format, ...);
BT_PRINTF(2, 0)
void bt_strbuf_vprintf(struct bt_strbuf *buffer, const char *format, va_list arguments);
/**
 * Go's %q for strings: double quotes, \" \\ \n \t \r \a \b \f \v, \xNN, \uNNNN, \UNNNNNNNN for
 * non-printable.
 */
void bt_strbuf_append_quoted(struct bt_strbuf *buffer, struct bt_str text);
/** The content, borrowed until the next change. Never absent: "" when empty. */
struct bt_str bt_strbuf_str(const struct bt_strbuf *buffer);
/** The content as zero-terminated text, borrowed until the next change. */
const char *bt_strbuf_c(const struct bt_strbuf *buffer);
/** Hand the content over as a zero-terminated, owned string; leaves an empty buffer. */
BT_MUST_USE char *bt_strbuf_steal(struct bt_strbuf *buffer);
#endif
