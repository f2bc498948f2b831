/* SPDX-License-Identifier: Apache-2.0 */
#include "base/unicode.h"

#include "base/compiler.h"

struct rune_range {
	uint32_t first;
	uint32_t last;
};

/* Ranges from U+0080 on that are not printable; sorted, without overlap. */
static const struct rune_range unprintable[] = {
#include "base/unicode_unprintable.inc"
};

static uint32_t payload_bits(char byte)
{
	return (unsigned char)byte & 0x3f;
}

uint32_t bt_utf8_decode(const char *bytes, size_t length, uint32_t *out_rune)
{
	uint32_t rune;

	if (length == 0) {
		return 0;
	}
	unsigned char lead = (unsigned char)bytes[0];
	if (lead < 0x80) {
		*out_rune = lead;
		return 1;
	}
	if (lead < 0xc2 || length < 2 || !bt_unicode_is_continuation(bytes[1])) {
		return 0;
	}
	if (lead < 0xe0) {
		*out_rune = (lead & UINT32_C(0x1f)) << 6 | payload_bits(bytes[1]);
		return 2;
	}
	if (length < 3 || !bt_unicode_is_continuation(bytes[2])) {
		return 0;
	}
	if (lead < 0xf0) {
		rune = (lead & UINT32_C(0x0f)) << 12 | payload_bits(bytes[1]) << 6 |
			payload_bits(bytes[2]);
		if (rune < 0x800 || (rune >= 0xd800 && rune <= 0xdfff)) {
			return 0;
		}
		*out_rune = rune;
		return 3;
	}
	if (lead > 0xf4 || length < 4 || !bt_unicode_is_continuation(bytes[3])) {
		return 0;
	}
	rune = (lead & UINT32_C(0x07)) << 18 | payload_bits(bytes[1]) << 12 |
		payload_bits(bytes[2]) << 6 | payload_bits(bytes[3]);
	if (rune < 0x10000 || rune > 0x10ffff) {
		return 0;
	}
	*out_rune = rune;
	return 4;
}

uint32_t bt_utf8_cut(const char *bytes, uint32_t length)
{
	/* A sequence has at most three continuation bytes; text with more is not UTF-8. */
	for (int i = 0; i < 3 && length > 0 && bt_unicode_is_continuation(bytes[length]); i++) {
		length--;
	}
	return length;
}

bool bt_utf8_is_valid(const char *bytes, size_t length)
{
	for (size_t i = 0; i < length;) {
		uint32_t rune;
		uint32_t size = bt_utf8_decode(bytes + i, length - i, &rune);

		if (size == 0) {
			return false;
		}
		i += size;
	}
	return true;
}

uint32_t bt_utf8_encode(uint32_t rune, char out[4])
{
	if (rune < 0x80) {
		out[0] = (char)rune;
		return 1;
	}
	if (rune < 0x800) {
		out[0] = (char)(0xc0 | rune >> 6);
		out[1] = (char)(0x80 | (rune & 0x3f));
		return 2;
	}
	if (rune < 0x10000) {
		out[0] = (char)(0xe0 | rune >> 12);
		out[1] = (char)(0x80 | (rune >> 6 & 0x3f));
		out[2] = (char)(0x80 | (rune & 0x3f));
		return 3;
	}
	out[0] = (char)(0xf0 | rune >> 18);
	out[1] = (char)(0x80 | (rune >> 12 & 0x3f));
	out[2] = (char)(0x80 | (rune >> 6 & 0x3f));
	out[3] = (char)(0x80 | (rune & 0x3f));
	return 4;
}

bool bt_unicode_is_print(uint32_t rune)
{
	size_t low = 0;
	size_t high = BT_ARRAY_LENGTH(unprintable);

	if (rune < 0x80) {
		return rune >= 0x20 && rune < 0x7f;
	}
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (rune > unprintable[middle].last) {
			low = middle + 1;
		} else if (rune < unprintable[middle].first) {
			high = middle;
		} else {
			return false;
		}
	}
	return rune <= 0x10ffff;
}
