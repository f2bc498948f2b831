/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_BASE_UNICODE_H
#define BT_BASE_UNICODE_H
/** The little knowledge of UTF-8 and Unicode that readers and quoting need. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * Length of the UTF-8 sequence at the start of bytes, 1 to 4, and its code point; 0 (out_rune
 * untouched) when there is none: truncated, overlong, a surrogate, above U+10FFFF, or length 0.
 */
uint32_t bt_utf8_decode(const char *bytes, size_t length, uint32_t *out_rune);
/** A byte of a sequence behind its first. */
static inline bool bt_unicode_is_continuation(char byte)
{
	return ((unsigned char)byte & 0xc0) == 0x80;
}
/** Nothing but such sequences. */
bool bt_utf8_is_valid(const char *bytes, size_t length);
/** The sequence of a code point that is no surrogate; returns its length. */
uint32_t bt_utf8_encode(uint32_t rune, char out[4]);

/**
 * Go's unicode.IsPrint, by Unicode 15.0: letters, marks, numbers, punctuation, symbols, and of the
 * spaces only U+0020.
 */
bool bt_unicode_is_print(uint32_t rune);
#endif
