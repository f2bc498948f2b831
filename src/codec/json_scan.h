/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CODEC_JSON_SCAN_H
#define BT_CODEC_JSON_SCAN_H
/**
 * Inner loops of the JSON reader: find the next byte of a string that needs special treatment. Each
 * loop has two versions, plain C (8 bytes per step) and SSE2 (16 bytes per step); BT_CODEC_PLAIN_C
 * selects plain C everywhere. Neither version reads at or beyond `end`. Private to src/codec and
 * its tests.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/compiler.h"
#include "base/error.h"
#include "base/str.h"
#include "codec/json.h"

#if defined(__SSE2__)
#define BT_JSON_SCAN_HAS_SSE2 1
#include <emmintrin.h>
#else
#define BT_JSON_SCAN_HAS_SSE2 0
#endif

#define BT_JSON_EACH_BYTE(value) (UINT64_C(0x0101010101010101) * (uint64_t)(value))

BT_ALWAYS_INLINE uint64_t bt_json_load8(const char *p)
{
	uint64_t word;
	memcpy(&word, p, sizeof(word));
	return word;
}

/** The bytes that stop a scan; each value includes the bytes of the previous values. */
enum bt_json_attention {
	BT_JSON_ATTENTION_SYNTAX, /* '"', '\\' and control characters */
	BT_JSON_ATTENTION_HIGH,   /* every byte that is not ASCII */
	BT_JSON_ATTENTION_HTML,   /* '<', '>' and '&' */
};

BT_ALWAYS_INLINE bool bt_json_is_special(char byte, enum bt_json_attention attention)
{
	unsigned char c = (unsigned char)byte;
	return c == '"' || c == '\\' || c < 0x20 ||
		(attention >= BT_JSON_ATTENTION_HIGH && c >= 0x80) ||
		(attention >= BT_JSON_ATTENTION_HTML && (c == '<' || c == '>' || c == '&'));
}

/**
 * Returns whether one of the 8 bytes of `word` is special. The bit trick can flag additional bytes
 * above a special byte, but flags none if no byte is special. The result is therefore independent
 * of byte order.
 */
BT_ALWAYS_INLINE bool bt_json_has_special8(uint64_t word, enum bt_json_attention attention)
{
	uint64_t quote = word ^ BT_JSON_EACH_BYTE('"');
	uint64_t backslash = word ^ BT_JSON_EACH_BYTE('\\');
	uint64_t hit = (quote - BT_JSON_EACH_BYTE(1)) & ~quote;
	hit |= (backslash - BT_JSON_EACH_BYTE(1)) & ~backslash;
	hit |= (word - BT_JSON_EACH_BYTE(0x20)) & ~word;
	if (attention >= BT_JSON_ATTENTION_HIGH) {
		hit |= word;
	}
	if (attention >= BT_JSON_ATTENTION_HTML) {
		/* '<' and '>' differ in one bit only */
		uint64_t angle = (word | BT_JSON_EACH_BYTE(2)) ^ BT_JSON_EACH_BYTE('>');
		uint64_t ampersand = word ^ BT_JSON_EACH_BYTE('&');
		hit |= (angle - BT_JSON_EACH_BYTE(1)) & ~angle;
		hit |= (ampersand - BT_JSON_EACH_BYTE(1)) & ~ampersand;
	}
	return (hit & BT_JSON_EACH_BYTE(0x80)) != 0;
}

BT_ALWAYS_INLINE const char *bt_json_scan_plain(
	const char *p, const char *end, enum bt_json_attention attention)
{
	while (end - p >= 8 && !bt_json_has_special8(bt_json_load8(p), attention)) {
		p += 8;
	}
	while (p < end && !bt_json_is_special(*p, attention)) {
		p++;
	}
	return p;
}

#if BT_JSON_SCAN_HAS_SSE2
BT_ALWAYS_INLINE const char *bt_json_scan_sse2(
	const char *p, const char *end, enum bt_json_attention attention)
{
	const __m128i quote = _mm_set1_epi8('"');
	const __m128i backslash = _mm_set1_epi8('\\');
	while (end - p >= 16) {
		__m128i chunk = _mm_loadu_si128((const __m128i *)(const void *)p);
		__m128i hit = _mm_or_si128(
			_mm_cmpeq_epi8(chunk, quote), _mm_cmpeq_epi8(chunk, backslash));
		if (attention >= BT_JSON_ATTENTION_HIGH) {
			/* signed comparison: bytes from 0x80 are negative and also below ' ' */
			hit = _mm_or_si128(hit, _mm_cmplt_epi8(chunk, _mm_set1_epi8(0x20)));
		} else {
			hit = _mm_or_si128(hit,
				_mm_cmpeq_epi8(_mm_min_epu8(chunk, _mm_set1_epi8(0x1f)), chunk));
		}
		if (attention >= BT_JSON_ATTENTION_HTML) {
			__m128i angle = _mm_or_si128(chunk, _mm_set1_epi8(2));
			hit = _mm_or_si128(hit, _mm_cmpeq_epi8(angle, _mm_set1_epi8('>')));
			hit = _mm_or_si128(hit, _mm_cmpeq_epi8(chunk, _mm_set1_epi8('&')));
		}
		unsigned int mask = (unsigned int)_mm_movemask_epi8(hit);
		if (mask != 0) {
			return p + BT_CTZ64(mask);
		}
		p += 16;
	}
	while (p < end && !bt_json_is_special(*p, attention)) {
		p++;
	}
	return p;
}
#endif

/** Returns the first special byte at or after p, or end. attention is a constant in every call. */
BT_ALWAYS_INLINE const char *bt_json_scan(
	const char *p, const char *end, enum bt_json_attention attention)
{
#if BT_JSON_SCAN_HAS_SSE2 && !defined(BT_CODEC_PLAIN_C)
	return bt_json_scan_sse2(p, end, attention);
#else
	return bt_json_scan_plain(p, end, attention);
#endif
}

BT_ALWAYS_INLINE bool bt_json_is_space(char byte)
{
	return byte == ' ' || byte == '\n' || byte == '\t' || byte == '\r';
}

BT_ALWAYS_INLINE const char *bt_json_skip_space(const char *p, const char *end)
{
	if (BT_LIKELY(p < end && (unsigned char)*p > ' ')) {
		return p;
	}
	for (;;) {
		/* indented documents have long runs of blanks */
		while (end - p >= 8 && bt_json_load8(p) == BT_JSON_EACH_BYTE(' ')) {
			p += 8;
		}
		if (p == end || !bt_json_is_space(*p)) {
			return p;
		}
		p++;
	}
}

/**
 * Reads the string at p if it is plain ASCII without escapes, the usual case. Returns the position
 * behind the string; NULL if the caller must read the string with its escapes.
 */
BT_ALWAYS_INLINE const char *bt_json_plain_string(
	const char *p, const char *end, struct bt_str *out_text)
{
	const char *start = p + 1;
	const char *stop = bt_json_scan(start, end, BT_JSON_ATTENTION_HIGH);
	if (stop == end || *stop != '"' || stop - start > BT_JSON_STRING_BYTES_MAX) {
		return NULL;
	}
	*out_text = (struct bt_str){start, (uint32_t)(stop - start)};
	return stop + 1;
}

/**
 * Reads `"name":` at p, and the comma before the name unless is_first. Returns the position behind
 * the colon; NULL if the name is not plain ASCII, which is rare, or if the input at p is not such a
 * name and colon.
 */
BT_ALWAYS_INLINE const char *bt_json_plain_name(
	const char *p, const char *end, bool is_first, struct bt_str *out_name)
{
	if (!is_first) {
		if (p == end || *p != ',') {
			return NULL;
		}
		p = bt_json_skip_space(p + 1, end);
	}
	if (p == end || *p != '"') {
		return NULL;
	}
	p = bt_json_plain_string(p, end, out_name);
	if (p == NULL) {
		return NULL;
	}
	p = bt_json_skip_space(p, end);
	return p != end && *p == ':' ? p + 1 : NULL;
}

/** A string as written in the input, between its quotes. */
struct bt_json_raw_string {
	const char *data;
	size_t length;
	bool plain; /* no escapes and valid UTF-8: the value equals these bytes */
};

/** Like bt_json_next_member, but *out_name is the name as written in the input. */
BT_MUST_USE int bt_json_next_raw_member(struct bt_json_reader *reader, bool *first, bool *out_more,
	struct bt_json_raw_string *out_name, struct berth_error *err);
/**
 * Unescapes a string's source, whose grammar was checked. Returns the number of bytes of the value;
 * also writes the bytes to out unless out is NULL.
 */
size_t bt_json_unescape(const char *raw, size_t length, char *out);
/**
 * Sets the position to `at` and fails with BERTH_ERR_SYNTAX: "invalid character 'x' <context>", or
 * "unexpected end of JSON input" if `at` is the end.
 */
BT_COLD int bt_json_fault(struct bt_json_reader *reader, const char *at, const char *context,
	struct berth_error *err);

/**
 * The token scanners take a position and return the position behind the token, or NULL with a note
 * of the error; bt_json_fault turns the note into an error.
 */
struct bt_json_fault_note {
	const char *at;
	const char *context;
};

static inline const char *bt_json_note(
	struct bt_json_fault_note *fault, const char *at, const char *context)
{
	fault->at = at;
	fault->context = context;
	return NULL;
}

/** p is at the backslash. */
const char *bt_json_scan_escape(const char *p, const char *end, struct bt_json_fault_note *fault);
/** p is at a digit or minus. */
const char *bt_json_scan_number(const char *p, const char *end, struct bt_json_fault_note *fault);
/** p is at the first letter of "null", "true" or "false". */
const char *bt_json_scan_literal(const char *p, const char *end, struct bt_json_fault_note *fault);
#endif
