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
/** Like bt_strbuf_finish, for secrets: overwrites the memory before freeing it. */
void bt_strbuf_finish_wiped(struct bt_strbuf *buffer);
/** Empties the buffer and keeps its memory. */
void bt_strbuf_reset(struct bt_strbuf *buffer);
/** Slow path of bt_strbuf_reserve: enlarges the buffer. */
void bt_strbuf_grow(struct bt_strbuf *buffer, size_t extra);

/** Reserves room for `extra` more bytes and the terminator. */
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
/** Replaces the content by text, which must not be a part of the buffer. */
void bt_strbuf_set(struct bt_strbuf *buffer, struct bt_str text);
void bt_strbuf_append_c(struct bt_strbuf *buffer, const char *zero_terminated);
/** Appends text with ASCII letters in lower case. */
void bt_strbuf_append_lower(struct bt_strbuf *buffer, struct bt_str text);
/** Appends the text of an errno value as Go words it: "permission denied". */
void bt_strbuf_append_errno(struct bt_strbuf *buffer, int number);
/** Appends a UUID of version 4, made from 122 of the random bits in high and low. */
void bt_strbuf_append_uuid(struct bt_strbuf *buffer, uint64_t high, uint64_t low);
BT_PRINTF(2, 3)
void bt_strbuf_printf(struct bt_strbuf *buffer, const char *format, ...);
BT_PRINTF(2, 0)
void bt_strbuf_vprintf(struct bt_strbuf *buffer, const char *format, va_list arguments);
/**
 * Appends text as Go's %q for strings: double quotes, \" \\ \n \t \r \a \b \f \v, \xNN, \uNNNN,
 * \UNNNNNNNN for non-printable characters.
 */
void bt_strbuf_append_quoted(struct bt_strbuf *buffer, struct bt_str text);
/** Returns the content, borrowed until the next change; "" when empty, never absent. */
struct bt_str bt_strbuf_str(const struct bt_strbuf *buffer);
/** Returns the content as zero-terminated text, borrowed until the next change. */
const char *bt_strbuf_c(const struct bt_strbuf *buffer);
/**
 * Returns the content as a zero-terminated string, which the caller owns, and leaves the buffer
 * empty.
 */
BT_MUST_USE char *bt_strbuf_steal(struct bt_strbuf *buffer);
#endif
