/* SPDX-License-Identifier: Apache-2.0 */
/* memmem */
#define _GNU_SOURCE
#include "base/str.h"

/*
 * Arbitrary odd constants without structure (fractional digits of roots), so that every input bit
 * affects the hash.
 */
#define MIX_A UINT64_C(0x9e3779b97f4a7c15)
#define MIX_B UINT64_C(0xbb67ae8584caa73b)
#define MIX_C UINT64_C(0x3c6ef372fe94f82b)

static uint64_t hash_secret = UINT64_C(0xa54ff53a5f1d36f1);

static char to_lower(char byte)
{
	return byte >= 'A' && byte <= 'Z' ? (char)(byte - 'A' + 'a') : byte;
}

bool bt_str_equal_without_case(struct bt_str a, struct bt_str b)
{
	for (uint32_t i = 0; a.length == b.length && i < a.length; i++) {
		if (to_lower(a.data[i]) != to_lower(b.data[i])) {
			return false;
		}
	}
	return a.length == b.length;
}

bool bt_str_is_one_of(struct bt_str text, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (bt_str_equal_c(text, list[i])) {
			return true;
		}
	}
	return false;
}

bool bt_str_is_digits(struct bt_str text)
{
	for (uint32_t i = 0; i < text.length; i++) {
		if (!bt_is_digit(text.data[i])) {
			return false;
		}
	}
	return text.length != 0;
}

bool bt_str_is_visible(struct bt_str text, const char *except)
{
	for (uint32_t i = 0; i < text.length; i++) {
		unsigned char byte = (unsigned char)text.data[i];

		if (byte <= ' ' || byte >= 0x7f || strchr(except, byte) != NULL) {
			return false;
		}
	}
	return true;
}

bool bt_str_has_word(struct bt_str words, struct bt_str word)
{
	while (words.length != 0) {
		if (bt_str_equal(bt_str_cut(&words, ' '), word)) {
			return true;
		}
	}
	return false;
}

bool bt_str_matches_pattern(struct bt_str text, struct bt_str pattern)
{
	uint32_t p = 0;
	uint32_t t = 0;
	uint32_t star = UINT32_MAX;
	uint32_t behind = 0; /* end of the bytes that the "*" at `star` matches */
	while (t < text.length) {
		if (p < pattern.length && pattern.data[p] == '*') {
			star = p++;
			behind = t;
		} else if (p < pattern.length &&
			(pattern.data[p] == '?' || pattern.data[p] == text.data[t])) {
			p++;
			t++;
		} else if (star != UINT32_MAX) {
			p = star + 1;
			t = ++behind;
		} else {
			return false;
		}
	}
	while (p < pattern.length && pattern.data[p] == '*') {
		p++;
	}
	return p == pattern.length;
}

bool bt_str_has_prefix(struct bt_str text, struct bt_str prefix)
{
	return text.length >= prefix.length &&
		(prefix.length == 0 || memcmp(text.data, prefix.data, prefix.length) == 0);
}

bool bt_str_has_suffix(struct bt_str text, struct bt_str suffix)
{
	return text.length >= suffix.length &&
		(suffix.length == 0 ||
			memcmp(text.data + (text.length - suffix.length), suffix.data,
				suffix.length) == 0);
}

int64_t bt_str_find(struct bt_str text, struct bt_str needle)
{
	if (needle.length == 0 || text.length < needle.length) {
		return needle.length == 0 ? 0 : -1;
	}
	const char *found = memmem(text.data, text.length, needle.data, needle.length);
	return found != NULL ? found - text.data : -1;
}

int64_t bt_str_find_char(struct bt_str text, char needle)
{
	const char *found = text.length != 0 ? memchr(text.data, needle, text.length) : NULL;

	return found != NULL ? found - text.data : -1;
}

int64_t bt_str_find_last_char(struct bt_str text, char needle)
{
	for (int64_t i = (int64_t)text.length - 1; i >= 0; i--) {
		if (text.data[i] == needle) {
			return i;
		}
	}
	return -1;
}

struct bt_str bt_str_sub(struct bt_str text, uint32_t start, uint32_t length)
{
	if (text.data == NULL) {
		return text;
	}
	if (start > text.length) {
		start = text.length;
	}
	if (length > text.length - start) {
		length = text.length - start;
	}
	return (struct bt_str){text.data + start, length};
}

static bool is_in(const char *set, char byte)
{
	while (*set != '\0' && *set != byte) {
		set++;
	}
	return *set != '\0';
}

struct bt_str bt_str_trim(struct bt_str text, const char *set)
{
	while (text.length != 0 && is_in(set, text.data[0])) {
		text.data++;
		text.length--;
	}
	while (text.length != 0 && is_in(set, text.data[text.length - 1])) {
		text.length--;
	}
	return text;
}

struct bt_str bt_str_cut(struct bt_str *rest, char separator)
{
	struct bt_str whole = *rest;
	int64_t at = bt_str_find_char(whole, separator);

	if (at < 0) {
		*rest = (struct bt_str){0};
		return whole;
	}
	*rest = bt_str_sub(whole, (uint32_t)at + 1, BT_STR_MAX);
	return bt_str_sub(whole, 0, (uint32_t)at);
}

int bt_str_compare_qsort(const void *a, const void *b)
{
	return bt_str_compare(*(const struct bt_str *)a, *(const struct bt_str *)b);
}

int bt_indexed_str_compare_qsort(const void *a, const void *b)
{
	const struct bt_indexed_str *left = a;
	const struct bt_indexed_str *right = b;
	int order = bt_str_compare(left->text, right->text);

	return order != 0 ? order : BT_ORDER(left->index, right->index);
}

bool bt_str_parse_bool(struct bt_str text, bool *out_value)
{
	static const char *const words[2][6] = {
		{"0", "f", "F", "FALSE", "false", "False"},
		{"1", "t", "T", "TRUE", "true", "True"},
	};
	for (uint32_t value = 0; value < 2; value++) {
		if (bt_str_is_one_of(text, words[value], BT_ARRAY_LENGTH(words[value]))) {
			*out_value = value == 1;
			return true;
		}
	}
	return false;
}

bool bt_str_parse_int64(struct bt_str text, int64_t *out_value)
{
	bool negative = false;
	uint32_t i = 0;
	uint64_t value = 0;

	if (text.length != 0 && (text.data[0] == '-' || text.data[0] == '+')) {
		negative = text.data[0] == '-';
		i = 1;
	}
	if (i == text.length) {
		return false;
	}
	uint64_t limit = (uint64_t)INT64_MAX + (negative ? 1 : 0);
	for (; i < text.length; i++) {
		unsigned int digit = (unsigned int)(unsigned char)text.data[i] - '0';
		if (digit > 9 || value > (limit - digit) / 10) {
			return false;
		}
		value = value * 10 + digit;
	}
	/* Avoids overflow for INT64_MIN, whose absolute value does not fit. */
	*out_value = negative && value != 0 ? -(int64_t)(value - 1) - 1 : (int64_t)value;
	return true;
}

uint32_t bt_str_format_uint64(uint64_t value, char *out)
{
	char digits[20];
	uint32_t at = sizeof(digits);

	do {
		digits[--at] = (char)('0' + value % 10);
		value /= 10;
	} while (value != 0);
	memcpy(out, digits + at, sizeof(digits) - at);
	return (uint32_t)sizeof(digits) - at;
}

void bt_hash_set_secret(uint64_t secret)
{
	hash_secret = secret;
}

static uint64_t load_u64(const unsigned char *bytes)
{
	uint64_t word;

	memcpy(&word, bytes, sizeof(word));
	return word;
}

static uint64_t load_u32(const unsigned char *bytes)
{
	uint32_t word;

	memcpy(&word, bytes, sizeof(word));
	return word;
}

static uint64_t mix_hash(uint64_t a, uint64_t b)
{
	return bt_multiply_fold(a, b);
}

uint64_t bt_stable_hash(struct bt_str text)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	for (uint32_t i = 0; i < text.length; i++) {
		hash = (hash ^ (unsigned char)text.data[i]) * UINT64_C(0x100000001b3);
	}
	return hash;
}

uint64_t bt_hash_bytes(const void *data, size_t length, uint64_t seed)
{
	const unsigned char *bytes = data;
	uint64_t key = hash_secret ^ MIX_A;
	uint64_t hash = mix_hash(seed ^ hash_secret, MIX_B ^ length) ^ seed;
	uint64_t low = 0;
	uint64_t high = 0;
	size_t left = length;

	for (; left > 16; left -= 16) {
		hash = mix_hash(load_u64(bytes) ^ key, load_u64(bytes + 8) ^ hash) + (hash << 1);
		bytes += 16;
	}
	/*
	 * The last 0 to 16 bytes are read as two words. The words of short texts overlap; the
	 * length, which is hashed too, keeps such texts distinct.
	 */
	if (left >= 8) {
		low = load_u64(bytes);
		high = load_u64(bytes + left - 8);
	} else if (left >= 4) {
		low = load_u32(bytes);
		high = load_u32(bytes + left - 4);
	} else if (left > 0) {
		low = (uint64_t)bytes[0] << 16 | (uint64_t)bytes[left / 2] << 8 | bytes[left - 1];
	}
	hash = mix_hash(low ^ key, high ^ hash ^ MIX_C);
	return mix_hash(hash ^ MIX_B, key ^ length);
}

uint64_t bt_hash_u64(uint64_t hash, uint64_t value)
{
	return mix_hash(mix_hash(value ^ hash_secret ^ MIX_A, hash ^ MIX_C) ^ MIX_B, hash ^ MIX_A);
}
