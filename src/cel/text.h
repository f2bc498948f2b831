/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CEL_TEXT_H
#define BT_CEL_TEXT_H
/** Strings of the language: indexes and lengths count code points, a byte that is no UTF-8 counting
 * as one. Spec: 12b section 9. */
#include "base/error.h"
#include "base/strbuf.h"
#include "cel/function.h"

uint32_t bt_cel_text_length(struct bt_str text);
/** Bytes of the code point at this offset, which is within the text. */
uint32_t bt_cel_text_step(struct bt_str text, uint32_t offset);
/** Offset of a code point; the length in bytes for one at or behind the end. */
uint32_t bt_cel_text_offset(struct bt_str text, uint64_t index);

/** ceil(length * tenths / 10) units, and the work of looking at all of it; false: too much. */
bool bt_cel_charge_text(struct bt_cel_evaluation *evaluation, struct bt_str text, uint64_t tenths);
/** One unit, and the work of looking at all of the text. */
bool bt_cel_charge_call(struct bt_cel_evaluation *evaluation, struct bt_str text);

/** An error value of err's message; err is finished. */
struct bt_cel_value bt_cel_fail_error(
	struct bt_cel_evaluation *evaluation, struct berth_error *err);
/** The error "<before><text><after>"; for texts of users, which may be long. */
struct bt_cel_value bt_cel_fail_text(struct bt_cel_evaluation *evaluation, const char *before,
	struct bt_str text, const char *after);
/** err: "<before><text as Go quotes it><after>". Returns BERTH_ERR_INVALID. */
int bt_cel_refuse(
	struct berth_error *err, const char *before, struct bt_str text, const char *after);
/** Before bt_str_find: at worst its work is the product of the lengths. */
bool bt_cel_charge_search(
	struct bt_cel_evaluation *evaluation, struct bt_str text, struct bt_str part);

/** A text that grows, bounded as everything in an evaluation. */
struct bt_cel_output {
	struct bt_cel_evaluation *evaluation;
	struct bt_strbuf buffer;
};

/** false: too much; nothing was appended, and nothing more is to be done. */
bool bt_cel_output_append(struct bt_cel_output *output, struct bt_str text);
/** Ends the output: a string in the arena, or what stopped the evaluation. */
struct bt_cel_value bt_cel_output_finish(struct bt_cel_output *output);
/** functions_format.c: as %s of format prints it, within a list. */
bool bt_cel_output_value(struct bt_cel_output *output, const struct bt_cel_value *value);
/** functions_convert.c: a bool, int or uint; false: another kind. */
bool bt_cel_scalar_print(const struct bt_cel_value *value, struct bt_strbuf *out);
/** functions_convert.c: "5400s", "0.5s" */
void bt_cel_duration_print(int64_t duration_ns, struct bt_strbuf *out);
/** functions_time.c: RFC 3339, UTC, nanoseconds if any. */
void bt_cel_timestamp_print(const struct bt_cel_timestamp *timestamp, struct bt_strbuf *out);
#endif
