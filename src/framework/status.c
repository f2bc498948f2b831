/* SPDX-License-Identifier: Apache-2.0 */
#include "framework/status.h"

#include <stdarg.h>
#include <stddef.h>

#include "base/assert.h"

const struct bt_str bt_reason_texts[BT_REASON__COUNT] = {
#define BT_REASON(name, text) [BT_REASON_##name] = BT_STR_INIT(text),
#include "framework/reasons.def"
#undef BT_REASON
};

const char *bt_status_code_name(enum bt_status_code code)
{
	static const char *const names[] = {
		[BT_STATUS_SUCCESS] = "Success",
		[BT_STATUS_ERROR] = "Error",
		[BT_STATUS_UNSCHEDULABLE] = "Unschedulable",
		[BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE] = "UnschedulableAndUnresolvable",
		[BT_STATUS_WAIT] = "Wait",
		[BT_STATUS_SKIP] = "Skip",
		[BT_STATUS_PENDING] = "Pending",
	};
	return code < BT_ARRAY_LENGTH(names) ? names[code] : "";
}

struct bt_status bt_status_text(
	enum bt_status_code code, struct bt_arena *arena, struct bt_str text)
{
	struct bt_str *reasons = BT_ARENA_NEW(arena, struct bt_str);

	*reasons = bt_arena_str(arena, text);
	return (struct bt_status){.code = (uint8_t)code, .reason_count = 1, .reasons = reasons};
}

struct bt_status bt_status_printf(
	enum bt_status_code code, struct bt_arena *arena, const char *format, ...)
{
	struct bt_strbuf buffer = {0};
	va_list arguments;

	va_start(arguments, format);
	bt_strbuf_vprintf(&buffer, format, arguments);
	va_end(arguments);
	struct bt_status status = bt_status_text(code, arena, bt_strbuf_str(&buffer));
	bt_strbuf_finish(&buffer);
	return status;
}

struct bt_status bt_status_error_text(struct bt_arena *arena, struct bt_str text)
{
	return (struct bt_status){
		.code = BT_STATUS_ERROR,
		.has_error = true,
		.error_text = bt_arena_str(arena, text),
	};
}

struct bt_status bt_status_from_error(struct bt_arena *arena, struct berth_error *err)
{
	struct bt_status status =
		bt_status_error_text(arena, bt_str_from(berth_error_message(err)));

	berth_error_finish(err);
	return status;
}

void bt_status_append_reason(struct bt_status *status, struct bt_arena *arena, struct bt_str reason)
{
	uint32_t count = status->reason_count;

	BT_ASSERT(count < UINT32_MAX);
	struct bt_str *reasons = BT_ARENA_NEW_ARRAY(arena, struct bt_str, (size_t)count + 1);
	if (count > 0) {
		memcpy(reasons, status->reasons, count * sizeof(*reasons));
	}
	reasons[count] = bt_arena_str(arena, reason);
	status->reasons = reasons;
	status->reason_count = count + 1;
}

uint32_t bt_status_all_reason_count(const struct bt_status *status)
{
	return status->reason_count + (status->has_error ? 1 : 0);
}

struct bt_str bt_status_all_reason_at(const struct bt_status *status, uint32_t index)
{
	if (status->has_error) {
		if (index == 0) {
			return status->error_text;
		}
		index--;
	}
	BT_ASSERT(index < status->reason_count);
	return status->reasons[index];
}

void bt_status_message(const struct bt_status *status, struct bt_strbuf *out)
{
	uint32_t count = bt_status_all_reason_count(status);

	for (uint32_t i = 0; i < count; i++) {
		if (i > 0) {
			bt_strbuf_append_c(out, ", ");
		}
		bt_strbuf_append_str(out, bt_status_all_reason_at(status, i));
	}
}

struct bt_str bt_status_message_str(const struct bt_status *status, struct bt_arena *arena)
{
	struct bt_strbuf buffer = {0};

	if (bt_status_all_reason_count(status) == 1) {
		return bt_status_all_reason_at(status, 0);
	}
	bt_status_message(status, &buffer);
	return bt_arena_take_strbuf(arena, &buffer);
}

bool bt_status_as_error(
	const struct bt_status *status, struct bt_arena *arena, struct bt_str *out_text)
{
	switch ((enum bt_status_code)status->code) {
	case BT_STATUS_SUCCESS:
	case BT_STATUS_WAIT:
	case BT_STATUS_SKIP:
		return false;
	case BT_STATUS_ERROR:
	case BT_STATUS_UNSCHEDULABLE:
	case BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE:
	case BT_STATUS_PENDING:
		break;
	}
	*out_text = status->has_error ? status->error_text : bt_status_message_str(status, arena);
	return true;
}

bool bt_status_equal(const struct bt_status *a, const struct bt_status *b)
{
	if (a->code == BT_STATUS_SUCCESS && b->code == BT_STATUS_SUCCESS) {
		return true;
	}
	if (a->code != b->code || a->plugin != b->plugin || a->has_error != b->has_error ||
		a->reason_count != b->reason_count) {
		return false;
	}
	if (a->has_error && !bt_str_equal(a->error_text, b->error_text)) {
		return false;
	}
	for (uint32_t i = 0; i < a->reason_count; i++) {
		if (!bt_str_equal(a->reasons[i], b->reasons[i])) {
			return false;
		}
	}
	return true;
}

struct bt_status bt_status_copy(const struct bt_status *status, struct bt_arena *arena)
{
	struct bt_status copy = *status;

	if (status->has_error) {
		copy.error_text = bt_arena_str(arena, status->error_text);
	}
	if (status->reason_count > 0) {
		struct bt_str *reasons =
			BT_ARENA_NEW_ARRAY(arena, struct bt_str, status->reason_count);

		for (uint32_t i = 0; i < status->reason_count; i++) {
			reasons[i] = bt_arena_str(arena, status->reasons[i]);
		}
		copy.reasons = reasons;
	}
	return copy;
}
