/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>

#include "base/alloc.h"
#include "base/str.h"
#include "base/strbuf.h"
#include "berth/api.h"
#include "berth/str.h"
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

struct berth_str berth_str_from(const char *zero_terminated)
{
	return bt_str_from(zero_terminated);
}

bool berth_str_equal(struct berth_str a, struct berth_str b)
{
	return bt_str_equal(a, b);
}

bool berth_str_equal_c(struct berth_str a, const char *b)
{
	return bt_str_equal_c(a, b);
}

int berth_str_compare(struct berth_str a, struct berth_str b)
{
	return bt_str_compare(a, b);
}

const char *berth_version(void)
{
	return BT_VERSION;
}

const char *berth_kubernetes_version(void)
{
	return "v1.36";
}

void berth_set_hash_secret(uint64_t secret)
{
	bt_hash_set_secret(secret);
}
