/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>

#include "api/time.h"
#include "base/duration.h"
#include "base/shortest.h"
#include "base/unicode.h"
#include "cel/function.h"
#include "cel/text.h"

/*
 * Conversions, and the functions `type` and `dyn`. These functions check the kinds of arguments
 * themselves. Spec: 12b section 9.1.
 */

/** 0001-01-01T00:00:00Z, the zero time. */
#define ZERO_SECONDS INT64_C(-62135596800)

static struct bt_cel_value conversion_error(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *value, enum bt_cel_kind target)
{
	return bt_cel_fail(evaluation, "type conversion error from '%s' to '%s'",
		bt_cel_kind_name(value->kind), bt_cel_kind_name(target));
}

struct bt_cel_value bt_cel_fn_type(const struct bt_cel_call *call)
{
	/* Runtime types have no element types. */
	static const struct bt_cel_type containers[] = {
		[BT_CEL_LIST] = {.kind = BT_CEL_LIST},
		[BT_CEL_MAP] = {.kind = BT_CEL_MAP},
		[BT_CEL_TYPE] = {.kind = BT_CEL_TYPE},
		[BT_CEL_OPTIONAL] = {.kind = BT_CEL_OPTIONAL},
	};
	struct bt_cel_value result = {.kind = BT_CEL_TYPE};
	enum bt_cel_kind kind = call->arguments[0].kind;

	kind = kind == BT_CEL_DEVICE ? BT_CEL_MAP : kind;
	result.type = kind == BT_CEL_LIST || kind == BT_CEL_MAP || kind == BT_CEL_TYPE ||
			kind == BT_CEL_OPTIONAL
		? &containers[kind]
		: &bt_cel_types[kind];
	return result;
}

struct bt_cel_value bt_cel_fn_dyn(const struct bt_cel_call *call)
{
	return call->arguments[0];
}

struct bt_cel_value bt_cel_fn_to_bool(const struct bt_cel_call *call)
{
	const struct bt_cel_value *value = &call->arguments[0];

	if (value->kind == BT_CEL_BOOL) {
		return *value;
	}
	bool boolean;
	if (value->kind == BT_CEL_STRING && bt_str_parse_bool(value->text, &boolean)) {
		return bt_cel_bool(boolean);
	}
	return conversion_error(call->evaluation, value, BT_CEL_BOOL);
}

struct bt_cel_value bt_cel_fn_to_int(const struct bt_cel_call *call)
{
	struct bt_cel_evaluation *evaluation = call->evaluation;
	const struct bt_cel_value *value = &call->arguments[0];

	switch ((int)value->kind) {
	case BT_CEL_INT:
	case BT_CEL_DURATION:
		return bt_cel_int(value->integer);
	case BT_CEL_TIMESTAMP:
		return bt_cel_int(value->timestamp.seconds);
	case BT_CEL_UINT:
		return value->uinteger <= INT64_MAX ? bt_cel_int((int64_t)value->uinteger)
						    : bt_cel_error(BT_STR("integer overflow"));
	case BT_CEL_DOUBLE:
		/* As upstream, refuse -2^63, too, although an int can hold it. */
		return value->real > -0x1p63 && value->real < 0x1p63
			? bt_cel_int((int64_t)value->real)
			: bt_cel_error(BT_STR("integer overflow"));
	case BT_CEL_STRING: {
		int64_t number;

		if (!bt_cel_charge_work(evaluation, value->text.length)) {
			return evaluation->stop;
		}
		return bt_str_parse_int64(value->text, &number)
			? bt_cel_int(number)
			: conversion_error(evaluation, value, BT_CEL_INT);
	}
	default:
		return conversion_error(evaluation, value, BT_CEL_INT);
	}
}

struct bt_cel_value bt_cel_fn_to_uint(const struct bt_cel_call *call)
{
	struct bt_cel_evaluation *evaluation = call->evaluation;
	const struct bt_cel_value *value = &call->arguments[0];
	const struct bt_str overflow = BT_STR("unsigned integer overflow");

	switch ((int)value->kind) {
	case BT_CEL_UINT:
		return *value;
	case BT_CEL_INT:
		return value->integer >= 0 ? bt_cel_uint((uint64_t)value->integer)
					   : bt_cel_error(overflow);
	case BT_CEL_DOUBLE:
		return value->real >= 0 && value->real < 0x1p64 ? bt_cel_uint((uint64_t)value->real)
								: bt_cel_error(overflow);
	case BT_CEL_STRING: {
		uint64_t number;

		if (!bt_cel_charge_work(evaluation, value->text.length)) {
			return evaluation->stop;
		}
		return bt_cel_parse_digits(value->text, &number)
			? bt_cel_uint(number)
			: conversion_error(evaluation, value, BT_CEL_UINT);
	}
	default:
		return conversion_error(evaluation, value, BT_CEL_UINT);
	}
}

/** Syntax: [sign] digits [. digits] [exponent], or a word for infinity or NaN. */
static bool is_double(struct bt_str text)
{
	const char *end = text.data + text.length;
	const char *p = text.data;

	p += p < end && (*p == '+' || *p == '-');
	struct bt_str word = {p, (uint32_t)(end - p)};
	if (bt_str_equal_without_case(word, BT_STR("inf")) ||
		bt_str_equal_without_case(word, BT_STR("infinity")) ||
		bt_str_equal_without_case(text, BT_STR("nan"))) {
		return true;
	}
	const char *start = p;
	p = bt_skip_digits(p, end);
	bool has_digits = p != start;
	if (p < end && *p == '.') {
		start = ++p;
		p = bt_skip_digits(p, end);
		has_digits = has_digits || p != start;
	}
	if (has_digits && p < end && (*p == 'e' || *p == 'E')) {
		p++;
		p += p < end && (*p == '+' || *p == '-');
		start = p;
		p = bt_skip_digits(p, end);
		has_digits = p != start;
	}
	return has_digits && p == end;
}

struct bt_cel_value bt_cel_fn_to_double(const struct bt_cel_call *call)
{
	struct bt_cel_evaluation *evaluation = call->evaluation;
	const struct bt_cel_value *value = &call->arguments[0];

	switch ((int)value->kind) {
	case BT_CEL_DOUBLE:
		return *value;
	case BT_CEL_INT:
		return bt_cel_double((double)value->integer);
	case BT_CEL_UINT:
		return bt_cel_double((double)value->uinteger);
	case BT_CEL_STRING: {
		struct bt_strbuf copy = {NULL, 0, 0};

		if (!bt_cel_charge_work(evaluation, value->text.length)) {
			return evaluation->stop;
		}
		if (!is_double(value->text)) {
			return conversion_error(evaluation, value, BT_CEL_DOUBLE);
		}
		bt_strbuf_append_str(&copy, value->text);
		double number = strtod(bt_strbuf_c(&copy), NULL);
		bool is_finite_text = strpbrk(bt_strbuf_c(&copy), "nN") == NULL;
		bt_strbuf_finish(&copy);
		if (isinf(number) && is_finite_text) {
			return conversion_error(evaluation, value, BT_CEL_DOUBLE);
		}
		return bt_cel_double(number);
	}
	default:
		return conversion_error(evaluation, value, BT_CEL_DOUBLE);
	}
}

void bt_cel_duration_print(int64_t duration_ns, struct bt_strbuf *out)
{
	/* Print the seconds as a double, as upstream does: digits after about the 15th are lost. */
	int64_t whole = duration_ns / BT_NS_PER_SECOND;
	double seconds = (double)whole + (double)(duration_ns % BT_NS_PER_SECOND) / 1e9;
	struct bt_shortest shortest;

	if (duration_ns == 0) {
		bt_strbuf_append_c(out, "0s");
		return;
	}
	if (seconds < 0) {
		bt_strbuf_append_char(out, '-');
	}
	bt_shortest_digits(fabs(seconds), &shortest);
	bt_shortest_append_fixed(out, &shortest);
	bt_strbuf_append_char(out, 's');
}

bool bt_cel_scalar_print(const struct bt_cel_value *value, struct bt_strbuf *out)
{
	switch ((int)value->kind) {
	case BT_CEL_BOOL:
		bt_strbuf_append_c(out, value->boolean ? "true" : "false");
		return true;
	case BT_CEL_INT:
		bt_strbuf_printf(out, "%lld", (long long)value->integer);
		return true;
	case BT_CEL_UINT:
		bt_strbuf_printf(out, "%llu", (unsigned long long)value->uinteger);
		return true;
	default:
		return false;
	}
}

struct bt_cel_value bt_cel_fn_to_string(const struct bt_cel_call *call)
{
	struct bt_cel_evaluation *evaluation = call->evaluation;
	const struct bt_cel_value *value = &call->arguments[0];
	struct bt_cel_output output = {.evaluation = evaluation};

	if (value->kind == BT_CEL_BYTES) {
		if (!bt_cel_charge_work(evaluation, value->text.length) ||
			!bt_cel_charge_tenths(evaluation, value->text.length, 1)) {
			return evaluation->stop;
		}
		return bt_utf8_is_valid(value->text.data, value->text.length)
			? bt_cel_string(value->text)
			: bt_cel_error(BT_STR("invalid UTF-8 in bytes, cannot convert to string"));
	}
	if (!bt_cel_charge(evaluation, 1)) {
		return evaluation->stop;
	}
	if (value->kind == BT_CEL_STRING) {
		return *value;
	}
	switch ((int)value->kind) {
	case BT_CEL_DOUBLE:
		bt_shortest_append_general(&output.buffer, value->real);
		break;
	case BT_CEL_TIMESTAMP:
		bt_cel_timestamp_print(&value->timestamp, &output.buffer);
		break;
	case BT_CEL_DURATION:
		bt_cel_duration_print(value->integer, &output.buffer);
		break;
	case BT_CEL_IP:
		bt_cel_ip_print(value->ip, &output.buffer);
		break;
	case BT_CEL_CIDR:
		bt_cel_cidr_print(value->cidr, &output.buffer);
		break;
	default:
		if (!bt_cel_scalar_print(value, &output.buffer)) {
			return conversion_error(evaluation, value, BT_CEL_STRING);
		}
		break;
	}
	return bt_cel_output_finish(&output);
}

struct bt_cel_value bt_cel_fn_to_bytes(const struct bt_cel_call *call)
{
	struct bt_cel_evaluation *evaluation = call->evaluation;
	struct bt_cel_value result = call->arguments[0];

	if (result.kind == BT_CEL_STRING) {
		result.kind = BT_CEL_BYTES;
		return bt_cel_charge_text(evaluation, result.text, 1) ? result : evaluation->stop;
	}
	if (!bt_cel_charge(evaluation, 1)) {
		return evaluation->stop;
	}
	return result.kind == BT_CEL_BYTES
		? result
		: conversion_error(evaluation, &call->arguments[0], BT_CEL_BYTES);
}

struct bt_cel_value bt_cel_fn_to_duration(const struct bt_cel_call *call)
{
	const struct bt_cel_value *value = &call->arguments[0];
	struct bt_cel_value result = {.kind = BT_CEL_DURATION};

	if (value->kind == BT_CEL_DURATION) {
		return *value;
	}
	if (value->kind != BT_CEL_STRING ||
		!bt_cel_charge_work(call->evaluation, value->text.length) ||
		bt_duration_parse(value->text, &result.integer, NULL) != 0) {
		return conversion_error(call->evaluation, value, BT_CEL_DURATION);
	}
	return result;
}

struct bt_cel_value bt_cel_fn_to_timestamp(const struct bt_cel_call *call)
{
	const struct bt_cel_value *value = &call->arguments[0];
	struct bt_time time;

	if (value->kind == BT_CEL_TIMESTAMP) {
		return *value;
	}
	if (value->kind == BT_CEL_INT) {
		return bt_cel_timestamp(value->integer, 0);
	}
	if (value->kind != BT_CEL_STRING ||
		!bt_cel_charge_work(call->evaluation, value->text.length) ||
		bt_time_parse(value->text, &time, NULL) != 0) {
		return conversion_error(call->evaluation, value, BT_CEL_TIMESTAMP);
	}
	return bt_cel_timestamp(time.set ? time.seconds : ZERO_SECONDS, time.nanoseconds);
}
