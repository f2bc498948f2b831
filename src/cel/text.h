/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CEL_TEXT_H
#define BT_CEL_TEXT_H
/**
 * Strings of the language: indexes and lengths count code points; a byte of invalid UTF-8 counts as
 * one code point. Spec: 12b section 9.
 */
#include "base/error.h"
#include "base/strbuf.h"
#include "cel/function.h"

uint32_t bt_cel_text_length(struct bt_str text);
/** Number of bytes of the code point at this offset, which must be within the text. */
uint32_t bt_cel_text_step(struct bt_str text, uint32_t offset);
/** Byte offset of a code point; the length of the text if index is at or after its end. */
uint32_t bt_cel_text_offset(struct bt_str text, uint64_t index);

/**
 * Charges ceil(length * tenths / 10) units (length in code points) and the work of reading the
 * text; false: limit exceeded.
 */
bool bt_cel_charge_text(struct bt_cel_evaluation *evaluation, struct bt_str text, uint64_t tenths);
/** Charges one unit and the work of reading the text; false: limit exceeded. */
bool bt_cel_charge_call(struct bt_cel_evaluation *evaluation, struct bt_str text);

/** Makes an error value from err's message and finishes err. */
struct bt_cel_value bt_cel_fail_error(
	struct bt_cel_evaluation *evaluation, struct berth_error *err);
/**
 * Returns the result of a function that parses its first argument. code, err: result of the parser;
 * finishes err. content: the parsed value, of this kind and size. For the variant TEST, returns
 * whether the parser succeeded.
 */
struct bt_cel_value bt_cel_answer_parsed(const struct bt_cel_call *call, int code,
	struct berth_error *err, enum bt_cel_kind kind, const void *content, size_t size);
/** Parses a number that has only digits, at least one. false: another text, or beyond 64 bits. */
bool bt_cel_parse_digits(struct bt_str text, uint64_t *out_value);
/**
 * Call before bt_str_find: charges the worst-case work of the search, the product of the lengths.
 * false: limit exceeded.
 */
bool bt_cel_charge_search(
	struct bt_cel_evaluation *evaluation, struct bt_str text, struct bt_str part);

/** A growing text, bounded by the limits of the evaluation. */
struct bt_cel_output {
	struct bt_cel_evaluation *evaluation;
	struct bt_strbuf buffer;
};

/** Appends a text. false: limit exceeded; nothing was appended, and the caller must stop. */
bool bt_cel_output_append(struct bt_cel_output *output, struct bt_str text);
/** Ends the output: returns a string in the arena, or the error that stopped the evaluation. */
struct bt_cel_value bt_cel_output_finish(struct bt_cel_output *output);
/** functions_format.c: appends a value as %s of string.format prints it within a list. */
bool bt_cel_output_value(struct bt_cel_output *output, const struct bt_cel_value *value);
/** functions_convert.c: appends a bool, int or uint; false: another kind. */
bool bt_cel_scalar_print(const struct bt_cel_value *value, struct bt_strbuf *out);
/** functions_convert.c: appends a duration, for example "5400s" or "0.5s". */
void bt_cel_duration_print(int64_t duration_ns, struct bt_strbuf *out);
/**
 * functions_time.c: appends a timestamp in the format of RFC 3339, in UTC, with a fraction only if
 * it is not 0.
 */
void bt_cel_timestamp_print(const struct bt_cel_timestamp *timestamp, struct bt_strbuf *out);
/** functions_time.c: makes a timestamp, or the error `timestamp overflow`. */
struct bt_cel_value bt_cel_timestamp(int64_t seconds, int32_t nanoseconds);
#endif
