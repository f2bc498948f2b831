/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_BASE_ERROR_H
#define BT_BASE_ERROR_H
/** Making and wrapping operating errors. The contract is in include/berth/error.h. */
#include <stdarg.h>

#include "base/compiler.h"
#include "base/str.h"
#include "berth/error.h"

/**
 * Set err (asserts that it was empty) and return code, so that `return bt_error_set(err, ...)` is
 * the idiom. err may be NULL: then only code is returned. format must be a literal; hostile text
 * only as an argument.
 */
BT_PRINTF(3, 4)
int bt_error_set(struct berth_error *err, int code, const char *format, ...);
BT_PRINTF(3, 0)
int bt_error_set_v(struct berth_error *err, int code, const char *format, va_list arguments);

/** As bt_error_set with before, text as Go quotes it, and after. */
int bt_error_set_quoted(struct berth_error *err, int code, const char *before, struct bt_str text,
	const char *after);

/**
 * Prefix the message: "<prefix>: <message>". Nothing when err is NULL or empty. Returns the code in
 * err, or code.
 */
BT_PRINTF(3, 4)
int bt_error_wrap(struct berth_error *err, int code, const char *format, ...);

/**
 * Move the content of src (emptied) into dst (must be empty, or NULL to drop it). Returns src's
 * code.
 */
int bt_error_move(struct berth_error *dst, struct berth_error *src);
#endif
