/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_BASE_STR_H
#define BT_BASE_STR_H
/**
 * Text by pointer and length. Text may contain any bytes, zero included, and need not be
 * zero-terminated. data == NULL means "absent" where a field is nullable, and equals "" everywhere
 * else.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "berth/str.h"

#include "base/compiler.h"

/**
 * The same type as the public berth_str, so that text needs no conversion at the library's
 * boundary.
 */
#define bt_str berth_str

#define BT_STR_MAX UINT32_MAX

/** Classes of ASCII bytes, independent of the locale. */
static inline bool bt_is_digit(char byte)
{
	return byte >= '0' && byte <= '9';
}

static inline bool bt_is_letter(char byte)
{
	return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
}

/** Returns the first position up to end that has no digit. */
static inline const char *bt_skip_digits(const char *position, const char *end)
{
	while (position < end && bt_is_digit(*position)) {
		position++;
	}
	return position;
}

/** Returns -1 if byte is not a hexadecimal digit. */
static inline int bt_hex_value(char byte)
{
	if (bt_is_digit(byte)) {
		return byte - '0';
	}
	byte = (char)(byte | 0x20);
	return byte >= 'a' && byte <= 'f' ? byte - 'a' + 10 : -1;
}

/** Text of a string literal. */
#define BT_STR(literal) ((struct bt_str){"" literal, (uint32_t)(sizeof(literal) - 1)})
/** Initialiser for static data, where a compound literal is not constant. */
#define BT_STR_INIT(literal) \
	{ \
		"" literal, (uint32_t)(sizeof(literal) - 1) \
	}
/** Arguments for "%.*s". */
#define BT_STR_ARG(text) (int)(text).length, ((text).data != NULL ? (text).data : "")

static inline struct bt_str bt_str_from(const char *zero_terminated)
{
	struct bt_str text = {zero_terminated, 0};
	if (zero_terminated != NULL) {
		text.length = (uint32_t)strlen(zero_terminated);
	}
	return text;
}

static inline bool bt_str_equal(struct bt_str a, struct bt_str b)
{
	return a.length == b.length && (a.length == 0 || memcmp(a.data, b.data, a.length) == 0);
}

static inline bool bt_str_equal_c(struct bt_str a, const char *b)
{
	return bt_str_equal(a, bt_str_from(b));
}

/**
 * Returns the index of the first of `count` structures of this size whose struct bt_str at `offset`
 * equals text; `count` if there is none.
 */
static inline uint32_t bt_str_search(
	const void *items, size_t size, size_t offset, uint32_t count, struct bt_str text)
{
	uint32_t i = 0;
	while (i < count &&
		!bt_str_equal(*(const struct bt_str *)(const void *)((const char *)items +
				      i * size + offset),
			text)) {
		i++;
	}
	return i;
}
/** Returns the index of the first item whose member equals text; `count` if there is none. */
#define BT_STR_INDEX(items, count, member, text) \
	bt_str_search(items, sizeof(*(items)), offsetof(BT_TYPEOF(*(items)), member), count, text)

/** Like bt_str_search, but returns a pointer to the structure; NULL if there is none. */
static inline void *bt_str_search_item(
	const void *items, size_t size, size_t offset, uint32_t count, struct bt_str text)
{
	uint32_t i = bt_str_search(items, size, offset, count, text);
	return i < count ? (char *)(uintptr_t)items + i * size : NULL;
}
/** Returns the first item of the list whose member equals text; NULL if there is none. */
#define BT_STR_FIND(list, member, text) \
	((BT_TYPEOF(*(list)->items) *)bt_str_search_item((list)->items, sizeof(*(list)->items), \
		offsetof(BT_TYPEOF(*(list)->items), member), (list)->count, text))

/** Whether one of the items is the text. */
static inline bool bt_str_is_among(struct bt_str text, const struct bt_str *items, uint32_t count)
{
	return bt_str_search(items, sizeof(*items), 0, count, text) < count;
}

/** Compares by bytes; a prefix comes before the longer text. */
static inline int bt_str_compare(struct bt_str a, struct bt_str b)
{
	uint32_t common = a.length < b.length ? a.length : b.length;
	int order = common != 0 ? memcmp(a.data, b.data, common) : 0;
	if (order != 0) {
		return order;
	}
	return BT_ORDER(a.length, b.length);
}

/** Compares without regard to the case of ASCII letters. */
bool bt_str_equal_without_case(struct bt_str a, struct bt_str b);
bool bt_str_is_one_of(struct bt_str text, const char *const *list, size_t count);
/** Whether the text is not empty and has decimal digits only. */
bool bt_str_is_digits(struct bt_str text);
/** Whether the text has only visible ASCII bytes, and none of the bytes in `except`. */
bool bt_str_is_visible(struct bt_str text, const char *except);
/** Whether word is one of words, which are separated by blanks. */
bool bt_str_has_word(struct bt_str words, struct bt_str word);
/** Whether the text matches the pattern: "*" stands for any bytes, "?" for exactly one byte. */
bool bt_str_matches_pattern(struct bt_str text, struct bt_str pattern);
bool bt_str_has_prefix(struct bt_str text, struct bt_str prefix);
bool bt_str_has_suffix(struct bt_str text, struct bt_str suffix);
/** Returns the offset of the first occurrence, or -1. An empty needle is found at 0. */
int64_t bt_str_find(struct bt_str text, struct bt_str needle);
int64_t bt_str_find_char(struct bt_str text, char needle);
int64_t bt_str_find_last_char(struct bt_str text, char needle);
/** Returns a part of text; start and length are clamped to the text. */
struct bt_str bt_str_sub(struct bt_str text, uint32_t start, uint32_t length);
/** For the argument `set` of bt_str_trim: the ASCII white space of Go's strings.TrimSpace. */
#define BT_STR_SPACE " \t\n\v\f\r"
/** Returns text without the leading and trailing bytes that `set` (zero-terminated) contains. */
struct bt_str bt_str_trim(struct bt_str text, const char *set);
/**
 * Returns the text before the first separator, or all text if there is no separator. *rest becomes
 * the text after the separator, with data NULL if there was none.
 */
struct bt_str bt_str_cut(struct bt_str *rest, char separator);
/**
 * qsort comparison of struct bt_str elements, or of structures whose first member is the bt_str
 * key.
 */
int bt_str_compare_qsort(const void *a, const void *b);

/** A text and its position in a list, for sorts that keep the order of equal texts. */
struct bt_indexed_str {
	struct bt_str text;
	uint32_t index;
};
/** For qsort of bt_indexed_str: compares the texts, then the indexes. */
int bt_indexed_str_compare_qsort(const void *a, const void *b);
/** Parses a boolean as Go's ParseBool: 1, t, T, true, TRUE, True, 0, f, F, false, FALSE, False. */
bool bt_str_parse_bool(struct bt_str text, bool *out_value);
/**
 * Parses a base-10 int64 as Go's strconv.ParseInt(s, 10, 64): optional sign, digits only, in range.
 * Returns false if text is invalid.
 */
bool bt_str_parse_int64(struct bt_str text, int64_t *out_value);
/**
 * Writes base-10 digits without a terminator; out has room for 20 bytes. Returns the number of
 * digits.
 */
uint32_t bt_str_format_uint64(uint64_t value, char *out);

/**
 * Sets the secret of all hashes. Because the secret is unknown to users, they cannot choose names
 * that cause collisions. A daemon sets a random secret before the first hash is computed. Hashes
 * differ between machines and runs, so they must never affect output.
 */
void bt_hash_set_secret(uint64_t secret);
uint64_t bt_hash_bytes(const void *data, size_t length, uint64_t seed);
/**
 * FNV-1a hash, the same on every machine and in every run. Do not use the hash for tables with
 * untrusted keys.
 */
uint64_t bt_stable_hash(struct bt_str text);
/** Mixes an integer into a running hash. */
uint64_t bt_hash_u64(uint64_t hash, uint64_t value);
static inline uint64_t bt_str_hash(struct bt_str text)
{
	return bt_hash_bytes(text.data, text.length, 0);
}

/** Returns the hash of an object's namespace and name. */
static inline uint64_t bt_hash_name(struct bt_str namespace_, struct bt_str name)
{
	return bt_hash_bytes(name.data, name.length, bt_str_hash(namespace_));
}

/** Compares nullable texts: an absent text (NULL data) differs from the empty text. */
static inline bool bt_str_nullable_equal(struct bt_str a, struct bt_str b)
{
	return (a.data == NULL) == (b.data == NULL) && bt_str_equal(a, b);
}
#endif
