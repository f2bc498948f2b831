/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/base64.h"

#include <string.h>

static uint32_t skip_breaks(struct bt_str text, uint32_t at)
{
	while (at < text.length && (text.data[at] == '\n' || text.data[at] == '\r')) {
		at++;
	}
	return at;
}

static int set_base64_error(uint64_t at, struct berth_error *err)
{
	return bt_error_set(err, BERTH_ERR_INVALID, "illegal base64 data at input byte %llu",
		(unsigned long long)at);
}

/*
 * Checks the final padding; `at` is behind the first '='. digits: number of digits in the last
 * group.
 */
static int check_padding(struct bt_str text, uint32_t at, uint32_t digits, struct berth_error *err)
{
	if (digits < 2) {
		return set_base64_error((uint64_t)at - 1, err);
	}
	if (digits == 2) {
		at = skip_breaks(text, at);
		if (at == text.length) {
			return set_base64_error(at, err);
		}
		if (text.data[at] != '=') {
			return set_base64_error((uint64_t)at - 1, err);
		}
		at++;
	}
	at = skip_breaks(text, at);
	return at < text.length ? set_base64_error(at, err) : 0;
}

int bt_base64_decode(struct bt_str text, struct bt_arena *arena, struct bt_str *out_bytes,
	struct berth_error *err)
{
	char *bytes = bt_arena_alloc_bytes(arena, (size_t)text.length / 4 * 3 + 4);
	uint32_t count = 0;
	uint32_t digits = 0;
	uint32_t group = 0;

	for (uint32_t at = 0; at < text.length; at++) {
		int value;
		if (text.data[at] >= 'A' && text.data[at] <= 'Z') {
			value = text.data[at] - 'A';
		} else if (text.data[at] >= 'a' && text.data[at] <= 'z') {
			value = text.data[at] - 'a' + 26;
		} else if (bt_is_digit(text.data[at])) {
			value = text.data[at] - '0' + 52;
		} else {
			value = text.data[at] == '+' ? 62 : text.data[at] == '/' ? 63 : -1;
		}
		if (text.data[at] == '\n' || text.data[at] == '\r') {
			continue;
		}
		if (value < 0 && text.data[at] == '=') {
			int code = check_padding(text, at + 1, digits, err);
			if (code != 0) {
				return code;
			}
			bytes[count++] = (char)(unsigned char)(group >> (digits == 2 ? 4 : 10));
			if (digits == 3) {
				bytes[count++] = (char)(unsigned char)(group >> 2);
			}
			digits = 0;
			break;
		}
		if (value < 0) {
			return set_base64_error(at, err);
		}
		group = group << 6 | (uint32_t)value;
		if (++digits == 4) {
			bytes[count++] = (char)(unsigned char)(group >> 16);
			bytes[count++] = (char)(unsigned char)(group >> 8);
			bytes[count++] = (char)(unsigned char)group;
			digits = 0;
			group = 0;
		}
	}
	if (digits != 0) {
		return set_base64_error((uint64_t)text.length - digits, err);
	}
	*out_bytes = (struct bt_str){bytes, count};
	return 0;
}

/** Appends the digits of all bytes, without padding. Returns the number of digits. */
static uint32_t encode(struct bt_str bytes, const char *digits, struct bt_strbuf *out)
{
	size_t start = out->length;
	uint32_t word = 0;
	uint32_t bits = 0;
	for (uint32_t i = 0; i < bytes.length; i++) {
		word = word << 8 | (uint8_t)bytes.data[i];
		for (bits += 8; bits >= 6; bits -= 6) {
			bt_strbuf_append_char(out, digits[word >> (bits - 6) & 63]);
		}
	}
	if (bits != 0) {
		bt_strbuf_append_char(out, digits[word << (6 - bits) & 63]);
	}
	return (uint32_t)(out->length - start);
}

void bt_base64_encode(struct bt_str bytes, struct bt_strbuf *out)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	uint32_t count = encode(bytes, digits, out);
	bt_strbuf_append(out, "==", -count % 4);
}

static const char url_alphabet[] =
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

bool bt_base64_url_decode(struct bt_str text, struct bt_arena *arena, struct bt_str *out_bytes)
{
	char *bytes = bt_arena_alloc_bytes(arena, (size_t)text.length + 1);
	uint32_t length = 0;
	uint32_t word = 0;
	uint32_t bits = 0;
	for (uint32_t i = 0; i < text.length; i++) {
		const char *at = text.data[i] != '\0' ? strchr(url_alphabet, text.data[i]) : NULL;
		if (at == NULL) {
			return false;
		}
		word = word << 6 | (uint32_t)(at - url_alphabet);
		bits += 6;
		if (bits >= 8) {
			bits -= 8;
			bytes[length++] = (char)(word >> bits & 0xff);
		}
	}
	if (bits >= 6 || (word & ((1u << bits) - 1)) != 0) {
		return false; /* another text encodes the same bytes */
	}
	*out_bytes = (struct bt_str){bytes, length};
	return true;
}

void bt_base64_url_encode(struct bt_str bytes, struct bt_strbuf *out)
{
	(void)encode(bytes, url_alphabet, out); /* URLs take no padding */
}
