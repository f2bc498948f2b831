/* SPDX-License-Identifier: Apache-2.0 */
#include "berth/str.h"

#include <stdarg.h>

#include "base/alloc.h"
#include "base/strbuf.h"
#include "lib/convert.h"

struct berth_arena *berth_arena_create(void)
{
	return berth_arena_of(BT_NEW(struct bt_arena));
}

void berth_arena_destroy(struct berth_arena *arena)
{
	if (arena == NULL) {
		return;
	}
	bt_arena_finish(bt_arena_of(arena));
	bt_free(arena);
}

void berth_arena_reset(struct berth_arena *arena)
{
	bt_arena_reset(bt_arena_of(arena));
}

void *berth_arena_alloc(struct berth_arena *arena, size_t size)
{
	return bt_arena_calloc(bt_arena_of(arena), 1, size);
}

struct berth_str berth_arena_str(struct berth_arena *arena, struct berth_str text)
{
	return bt_arena_str(bt_arena_of(arena), text);
}

struct berth_str berth_arena_printf(struct berth_arena *arena, const char *format, ...)
{
	struct bt_strbuf buffer = {0};
	va_list arguments;

	va_start(arguments, format);
	bt_strbuf_vprintf(&buffer, format, arguments);
	va_end(arguments);

	struct berth_str text = bt_arena_str(bt_arena_of(arena), bt_strbuf_str(&buffer));
	bt_strbuf_finish(&buffer);
	return text;
}
