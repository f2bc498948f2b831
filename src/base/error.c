/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/strbuf.h"

static bool is_empty(const struct berth_error *err)
{
	return err->code == BERTH_OK && err->message == NULL;
}

void berth_error_finish(struct berth_error *err)
{
	if (err == NULL) {
		return;
	}
	bt_free(err->message);
	err->message = NULL;
	err->code = BERTH_OK;
}

const char *berth_error_message(const struct berth_error *err)
{
	return err != NULL && err->message != NULL ? err->message : "";
}

int berth_error_set(struct berth_error *err, int code, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	(void)bt_error_set_v(err, code, format, arguments);
	va_end(arguments);
	return code;
}

int bt_error_take(struct berth_error *err, int code, struct bt_strbuf *message)
{
	(void)bt_error_set(err, code, "%s", bt_strbuf_c(message));
	bt_strbuf_finish(message);
	return code;
}

int bt_error_set_v(struct berth_error *err, int code, const char *format, va_list arguments)
{
	struct bt_strbuf message = {0};

	BT_ASSERT(code < BERTH_OK);
	if (err == NULL) {
		return code;
	}
	BT_ASSERT(is_empty(err));
	bt_strbuf_vprintf(&message, format, arguments);
	err->code = code;
	err->message = bt_strbuf_steal(&message);
	return code;
}

int bt_error_set_quoted(struct berth_error *err, int code, const char *before, struct bt_str text,
	const char *after)
{
	struct bt_strbuf quoted = {0};

	bt_strbuf_append_quoted(&quoted, text);
	code = bt_error_set(err, code, "%s%s%s", before, bt_strbuf_c(&quoted), after);
	bt_strbuf_finish(&quoted);
	return code;
}

int bt_error_wrap(struct berth_error *err, int code, const char *format, ...)
{
	struct bt_strbuf message = {0};
	va_list arguments;

	if (err == NULL || is_empty(err)) {
		return code;
	}
	va_start(arguments, format);
	bt_strbuf_vprintf(&message, format, arguments);
	va_end(arguments);
	bt_strbuf_append_c(&message, ": ");
	bt_strbuf_append_c(&message, berth_error_message(err));
	bt_free(err->message);
	err->message = bt_strbuf_steal(&message);
	return err->code;
}

int bt_error_move(struct berth_error *dst, struct berth_error *src)
{
	int code = src->code;

	BT_ASSERT(dst != src);
	if (dst == NULL) {
		berth_error_finish(src);
		return code;
	}
	BT_ASSERT(is_empty(dst));
	*dst = *src;
	*src = (struct berth_error)BERTH_ERROR_INIT;
	return code;
}
