/* SPDX-License-Identifier: Apache-2.0 */
#include "server/failure.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/strbuf.h"
#include "codec/json_edit.h"

/** Largest number of errors reported for one object; a hostile object may have many more. */
#define FIELD_ERRORS_MAX 100
/** Longest part of an invalid value in a message. */
#define SHOWN_VALUE_BYTES_MAX 2000

struct bt_str bt_failure_vprintf(struct bt_arena *arena, const char *format, va_list arguments)
{
	struct bt_strbuf buffer = {0};
	bt_strbuf_vprintf(&buffer, format, arguments);
	return bt_arena_take_strbuf(arena, &buffer);
}

struct bt_str bt_failure_quoted(struct bt_arena *arena, struct bt_str text)
{
	struct bt_strbuf quoted = {0};
	bt_strbuf_append_quoted(&quoted, text);
	return bt_arena_take_strbuf(arena, &quoted);
}

struct bt_json_value *bt_failure_document(const struct bt_failure *failure, struct bt_arena *arena)
{
	struct bt_json_value *status = bt_json_put(arena, NULL,
		"{kind: 'Status', apiVersion: 'v1', metadata: {continue?: %s}, status: 'Failure',"
		" message?: %s, reason: %c}",
		failure->continue_token, failure->message, failure->reason);
	struct bt_json_value *details =
		bt_json_put(arena, NULL, "{name?: %s, group?: %s, kind?: %s, uid?: %s}",
			failure->name, failure->group, failure->kind, failure->uid);
	for (const struct bt_failure_cause *cause = failure->causes; cause != NULL;
		cause = cause->next) {
		bt_json_put(arena, details, "{causes: [%v]}",
			bt_json_put(arena, NULL, "{reason?: %c, message?: %s, field?: %s}",
				cause->reason, cause->message, cause->field));
	}
	bt_json_put(
		arena, details, "{retryAfterSeconds?: %d}", (int64_t)failure->retry_after_seconds);
	if (details->count != 0 ||
		(failure->reason != NULL &&
			(failure->code == 404 || failure->code == 405 || failure->code == 422))) {
		bt_json_set_value(arena, status, "details", details);
	}
	bt_json_set_int64(arena, status, "code", failure->code);
	return status;
}

bool bt_fail(struct bt_failure *out, struct bt_arena *arena, uint16_t code, const char *reason,
	const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	*out = (struct bt_failure){.code = code,
		.reason = reason,
		.message = bt_failure_vprintf(arena, format, arguments)};
	va_end(arguments);
	return false;
}

bool bt_fail_about(struct bt_failure *out, struct bt_arena *arena,
	const struct bt_api_resource *resource, struct bt_str name, uint16_t code,
	const char *reason, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	*out = (struct bt_failure){.code = code,
		.reason = reason,
		.message = bt_failure_vprintf(arena, format, arguments),
		.name = name,
		.group = bt_str_from(resource->group),
		.kind = bt_str_from(resource->name)};
	va_end(arguments);
	return false;
}

bool bt_fail_not_found(struct bt_failure *out, struct bt_arena *arena,
	const struct bt_api_resource *resource, struct bt_str name)
{
	struct bt_str qualified = bt_resource_qualified(resource, arena);
	return bt_fail_about(out, arena, resource, name, 404, "NotFound", "%.*s \"%.*s\" not found",
		BT_STR_ARG(qualified), BT_STR_ARG(name));
}

bool bt_fail_conflict(struct bt_failure *out, struct bt_arena *arena,
	const struct bt_api_resource *resource, struct bt_str name, struct bt_str text)
{
	struct bt_str qualified = bt_resource_qualified(resource, arena);
	return bt_fail_about(out, arena, resource, name, 409, "Conflict",
		"Operation cannot be fulfilled on %.*s \"%.*s\": %.*s", BT_STR_ARG(qualified),
		BT_STR_ARG(name), BT_STR_ARG(text));
}

bool bt_fail_forbidden(struct bt_failure *out, struct bt_arena *arena,
	const struct bt_api_resource *resource, struct bt_str name, struct bt_str text)
{
	struct bt_str qualified = bt_resource_qualified(resource, arena);
	if (name.length != 0) {
		qualified = bt_arena_printf(
			arena, "%.*s \"%.*s\"", BT_STR_ARG(qualified), BT_STR_ARG(name));
	}
	return bt_fail_about(out, arena, resource, name, 403, "Forbidden",
		"%.*s is forbidden: %.*s", BT_STR_ARG(qualified), BT_STR_ARG(text));
}

/** --- validation --- */

static const struct {
	const char *reason;
	const char *words;
	bool hides_value; /* the message does not show the value */
} error_types[] = {
	[BT_FIELD_REQUIRED] = {"FieldValueRequired", "Required value", true},
	[BT_FIELD_INVALID] = {"FieldValueInvalid", "Invalid value", false},
	[BT_FIELD_NOT_SUPPORTED] = {"FieldValueNotSupported", "Unsupported value", false},
	[BT_FIELD_FORBIDDEN] = {"FieldValueForbidden", "Forbidden", true},
	[BT_FIELD_DUPLICATE] = {"FieldValueDuplicate", "Duplicate value", false},
	[BT_FIELD_TOO_LONG] = {"FieldValueTooLong", "Too long", true},
	[BT_FIELD_TOO_MANY] = {"FieldValueTooMany", "Too many", false},
	[BT_FIELD_NOT_FOUND] = {"FieldValueNotFound", "Not found", false},
};

void bt_field_errors_add(struct bt_field_errors *errors, enum bt_field_error_type type,
	struct bt_str field, const struct bt_json_value *value, const char *format, ...)
{
	if (errors->count >= FIELD_ERRORS_MAX) {
		return;
	}
	struct bt_field_error *error = BT_ARENA_NEW(errors->arena, struct bt_field_error);
	va_list arguments;
	va_start(arguments, format);
	error->type = type;
	error->field = field;
	error->detail = bt_failure_vprintf(errors->arena, format, arguments);
	va_end(arguments);
	if (value != NULL && !error_types[type].hides_value) {
		struct bt_strbuf buffer = {0};
		if (value->type == BT_JSON_STRING) {
			bt_strbuf_append_quoted(
				&buffer, bt_str_sub(value->text, 0, SHOWN_VALUE_BYTES_MAX));
		} else {
			struct bt_json_writer writer;
			bt_json_writer_init(&writer, &buffer, 0);
			writer.escape_html = false;
			bt_json_write_value(&writer, value);
		}
		error->value = bt_arena_str(errors->arena,
			bt_str_sub(bt_strbuf_str(&buffer), 0, SHOWN_VALUE_BYTES_MAX * 2));
		bt_strbuf_finish(&buffer);
	}
	if (errors->last == NULL) {
		errors->last = &errors->first;
	}
	*errors->last = error;
	errors->last = &error->next;
	errors->count++;
}

bool bt_fail_invalid(struct bt_failure *out, struct bt_arena *arena, struct bt_str group,
	struct bt_str kind, struct bt_str name, const struct bt_field_errors *errors)
{
	struct bt_strbuf text = {0};
	struct bt_failure_cause *causes = NULL;
	struct bt_failure_cause **last = &causes;
	uint32_t reported_count = 0;
	for (const struct bt_field_error *error = errors->first; error != NULL;
		error = error->next) {
		struct bt_failure_cause *cause = BT_ARENA_NEW(arena, struct bt_failure_cause);
		/* spec 14b section 5 */
		bool is_choice = error->type == BT_FIELD_NOT_SUPPORTED && error->detail.length != 0;
		cause->reason = error_types[error->type].reason;
		cause->message = bt_arena_printf(arena, "%s%s%.*s%s%s%.*s",
			error_types[error->type].words, error->value.length != 0 ? ": " : "",
			BT_STR_ARG(error->value), error->detail.length != 0 ? ": " : "",
			is_choice ? "supported values: " : "", BT_STR_ARG(error->detail));
		cause->field = error->field;
		/* the message shows equal errors only once; the causes have all of them */
		bool is_new = true;
		for (const struct bt_failure_cause *reported = causes; reported != NULL && is_new;
			reported = reported->next) {
			is_new = !bt_str_equal(reported->field, cause->field) ||
				!bt_str_equal(reported->message, cause->message);
		}
		*last = cause;
		last = &cause->next;
		if (!is_new) {
			continue;
		}
		if (reported_count++ != 0) {
			bt_strbuf_append_c(&text, ", ");
		}
		bt_strbuf_append_str(&text, error->field);
		bt_strbuf_append_c(&text, ": ");
		bt_strbuf_append_str(&text, cause->message);
	}
	const char *dot = group.length != 0 ? "." : "";
	const char *open = reported_count > 1 ? "[" : "";
	const char *close = reported_count > 1 ? "]" : "";
	struct bt_str all = bt_strbuf_str(&text);
	(void)bt_fail(out, arena, 422, "Invalid", "%.*s%s%.*s \"%.*s\" is invalid: %s%.*s%s",
		BT_STR_ARG(kind), dot, BT_STR_ARG(group), BT_STR_ARG(name), open, BT_STR_ARG(all),
		close);
	bt_strbuf_finish(&text);
	out->name = name;
	out->group = group;
	out->kind = kind;
	out->causes = causes;
	return false;
}
