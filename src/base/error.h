/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_BASE_ERROR_H
#define BT_BASE_ERROR_H
/**
 * Creation and wrapping of errors of type struct berth_error. The contract is in
 * include/berth/error.h.
 */
#include <stdarg.h>

#include "base/compiler.h"
#include "base/strbuf.h"
#include "berth/error.h"

/** Sets err and returns code. Pass untrusted text only as an argument, never in the format. */
#define bt_error_set berth_error_set
BT_PRINTF(3, 0)
int bt_error_set_v(struct berth_error *err, int code, const char *format, va_list arguments);

/** Like bt_error_set; the message is "<before><quoted text><after>", with text quoted as by Go. */
int bt_error_set_quoted(struct berth_error *err, int code, const char *before, struct bt_str text,
	const char *after);
/** Like bt_error_set with the buffer's text as the message; frees the buffer. */
int bt_error_take(struct berth_error *err, int code, struct bt_strbuf *message);

/**
 * Prefixes the message: "<prefix>: <message>". Returns the code in err. If err is NULL or
 * empty, changes nothing and returns the argument `code`.
 */
BT_PRINTF(3, 4)
int bt_error_wrap(struct berth_error *err, int code, const char *format, ...);

/**
 * Moves the content of src into dst and leaves src empty. dst must be empty, or NULL to drop the
 * content. Returns src's code.
 */
int bt_error_move(struct berth_error *dst, struct berth_error *src);
#endif
