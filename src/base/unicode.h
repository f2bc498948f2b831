/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_BASE_UNICODE_H
#define BT_BASE_UNICODE_H
/** UTF-8 decoding and the Unicode properties that parsers and quoting need. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * Decodes the UTF-8 sequence at the start of bytes. Returns the length of the sequence, 1 to 4, and
 * its code point; returns 0 and leaves out_rune untouched if the sequence is truncated, overlong, a
 * surrogate, above U+10FFFF, invalid or empty.
 */
uint32_t bt_utf8_decode(const char *bytes, size_t length, uint32_t *out_rune);
/** Whether byte is the second or a later byte of a UTF-8 sequence. */
static inline bool bt_unicode_is_continuation(char byte)
{
	return ((unsigned char)byte & 0xc0) == 0x80;
}
/**
 * Where to cut UTF-8 text to at most `length` bytes, between two sequences. The text is longer, so
 * bytes[length] exists.
 */
uint32_t bt_utf8_cut(const char *bytes, uint32_t length);
/** Whether bytes consist of valid UTF-8 sequences only. */
bool bt_utf8_is_valid(const char *bytes, size_t length);
/** Encodes a code point that is no surrogate; returns the length of the sequence. */
uint32_t bt_utf8_encode(uint32_t rune, char out[4]);

/**
 * Go's unicode.IsPrint, by Unicode 15.0: true for letters, marks, numbers, punctuation and symbols;
 * U+0020 is the only printable space.
 */
bool bt_unicode_is_print(uint32_t rune);
#endif
