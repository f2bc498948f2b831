/* SPDX-License-Identifier: Apache-2.0 */
#include "base/assert.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void bt_assert_failed(const char *condition, const char *file, int line)
{
	(void)fprintf(stderr, "berth: assertion failed: %s (%s:%d)\n", condition, file, line);
	abort();
}

void bt_panic(const char *format, ...)
{
	va_list arguments;

	(void)fputs("berth: ", stderr);
	va_start(arguments, format);
	(void)vfprintf(stderr, format, arguments);
	va_end(arguments);
	(void)fputc('\n', stderr);
	abort();
}
