/* SPDX-License-Identifier: Apache-2.0 */
#include "cel/text.h"

#include <string.h>

#include "base/unicode.h"

/** Work of quoting one byte. */
#define QUOTE_WORK 4

uint32_t bt_cel_text_step(struct bt_str text, uint32_t offset)
{
	uint32_t rune;

	if ((unsigned char)text.data[offset] < 0x80) {
		return 1;
	}
	uint32_t size = bt_utf8_decode(text.data + offset, text.length - offset, &rune);
	return size != 0 ? size : 1;
}

uint32_t bt_cel_text_length(struct bt_str text)
{
	uint32_t length = 0;

	for (uint32_t i = 0; i < text.length; i += bt_cel_text_step(text, i)) {
		length++;
	}
	return length;
}

uint32_t bt_cel_text_offset(struct bt_str text, uint64_t index)
{
	uint32_t offset = 0;

	while (index > 0 && offset < text.length) {
		offset += bt_cel_text_step(text, offset);
		index--;
	}
	return offset;
}

bool bt_cel_charge_text(struct bt_cel_evaluation *evaluation, struct bt_str text, uint64_t tenths)
{
	return bt_cel_charge_work(evaluation, text.length) &&
		bt_cel_charge_tenths(evaluation, bt_cel_text_length(text), tenths);
}

bool bt_cel_charge_call(struct bt_cel_evaluation *evaluation, struct bt_str text)
{
	return bt_cel_charge_work(evaluation, text.length) && bt_cel_charge(evaluation, 1);
}

struct bt_cel_value bt_cel_fail_error(struct bt_cel_evaluation *evaluation, struct berth_error *err)
{
	const char *message = berth_error_message(err);
	struct bt_cel_value result = bt_cel_charge_work(evaluation, strlen(message) * QUOTE_WORK)
		? bt_cel_fail(evaluation, "%s", message)
		: evaluation->stop;

	berth_error_finish(err);
	return result;
}

struct bt_cel_value bt_cel_answer_parsed(const struct bt_cel_call *call, int code,
	struct berth_error *err, enum bt_cel_kind kind, const void *content, size_t size)
{
	if (call->overload->variant == BT_CEL_VARIANT_TEST) {
		berth_error_finish(err);
		return bt_cel_bool(code == 0);
	}
	return code == 0 ? bt_cel_box(call->evaluation, kind, content, size)
			 : bt_cel_fail_error(call->evaluation, err);
}

bool bt_cel_parse_digits(struct bt_str text, uint64_t *out_value)
{
	*out_value = 0;
	for (uint32_t i = 0; i < text.length; i++) {
		if (!bt_is_digit(text.data[i]) ||
			BT_MUL_OVERFLOW(*out_value, UINT64_C(10), out_value) ||
			BT_ADD_OVERFLOW(*out_value, (uint64_t)(text.data[i] - '0'), out_value)) {
			return false;
		}
	}
	return text.length != 0;
}

bool bt_cel_charge_search(
	struct bt_cel_evaluation *evaluation, struct bt_str text, struct bt_str part)
{
	return bt_cel_charge_work(evaluation, (uint64_t)text.length * part.length + text.length);
}

bool bt_cel_output_append(struct bt_cel_output *output, struct bt_str text)
{
	/*
	 * This allocation always fails, because it needs twice the memory limit: the evaluation
	 * stops.
	 */
	if (text.length + output->buffer.length > BT_CEL_MEMORY_MAX) {
		return bt_cel_alloc(output->evaluation, 2, BT_CEL_MEMORY_MAX) != NULL;
	}
	if (!bt_cel_charge_work(output->evaluation, (uint64_t)text.length + 1)) {
		return false;
	}
	bt_strbuf_append_str(&output->buffer, text);
	return true;
}

struct bt_cel_value bt_cel_output_finish(struct bt_cel_output *output)
{
	struct bt_cel_evaluation *evaluation = output->evaluation;
	struct bt_cel_value result = evaluation->stop;
	size_t length = output->buffer.length;
	char *bytes;

	if (!bt_cel_is_error(&result)) {
		bytes = bt_cel_alloc(evaluation, length, 1);
		result = evaluation->stop;
		if (bytes != NULL) {
			memcpy(bytes, bt_strbuf_c(&output->buffer), length);
			result = bt_cel_string((struct bt_str){bytes, (uint32_t)length});
		}
	}
	bt_strbuf_finish(&output->buffer);
	return result;
}
