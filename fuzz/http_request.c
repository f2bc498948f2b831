/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests of any kind through the HTTP front, without sockets. A request is a request line ("POST
 * /api/v1/... application/json"), header lines, an empty line and the body. Lines "%%" separate the
 * requests, which share one server.
 */
#include <stddef.h>
#include <stdint.h>

#include "base/assert.h"
#include "front_fixture.h"

#define REQUESTS_MAX 16
#define INPUT_BYTES_MAX 65536

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Returns the text before the next separator, and removes both from *rest. */
static struct bt_str cut(struct bt_str *rest, struct bt_str separator)
{
	int64_t at = bt_str_find(*rest, separator);
	struct bt_str part = at < 0 ? *rest : bt_str_sub(*rest, 0, (uint32_t)at);
	*rest = at < 0 ? BT_STR("")
		       : bt_str_sub(*rest, (uint32_t)at + separator.length, BT_STR_MAX);
	return part;
}

static void ask(struct front_fixture *fixture, struct bt_arena *arena, struct bt_str request)
{
	struct bt_str head = cut(&request, BT_STR("\n\n"));
	struct bt_str line = cut(&head, BT_STR("\n"));
	struct bt_str method = bt_arena_str(arena, cut(&line, BT_STR(" ")));
	struct bt_str target = bt_arena_str(arena, cut(&line, BT_STR(" ")));
	struct bt_str headers = bt_arena_str(arena, head);
	fixture->headers = headers.data;
	fixture->now_ns += INT64_C(1000000000);
	uint16_t code = front_ask(fixture, method.data != NULL ? method.data : "",
		target.data != NULL ? target.data : "", request);
	BT_ASSERT(code == 0 || (code >= 200 && code < 600));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct front_fixture fixture;
	struct bt_arena arena = {0};
	if (size == 0 || size > INPUT_BYTES_MAX) {
		return 0;
	}
	struct bt_str rest = {(const char *)data, (uint32_t)size};
	front_fixture_init(&fixture, NULL);
	for (int i = 0; i < REQUESTS_MAX && rest.length != 0; i++) {
		ask(&fixture, &arena, cut(&rest, BT_STR("\n%%\n")));
	}
	front_fixture_finish(&fixture);
	bt_arena_finish(&arena);
	return 0;
}
