/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_TESTS_UNIT_QUEUE_HINT_ROWS_H
#define BT_TESTS_UNIT_QUEUE_HINT_ROWS_H
/** Tables of hints: events, and the hint that a plugin must return for each. */
#include "framework/cluster_event.h"
#include "plugins/fixture.h"
#include "test_main.h"

struct hint_row {
	const char *name;
	const char *resource; /* see fixture_hint */
	uint32_t action;
	const char *pod; /* the rejected pod */
	const char *old_json;
	const char *new_json;
	enum fixture_hint expected;
};

#define HINT_Q FIXTURE_QUEUE
#define HINT_S FIXTURE_SKIP

static inline void check_hints_in(
	struct fixture *fixture, const struct hint_row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		enum fixture_hint got = fixture_hint(fixture, rows[i].resource, rows[i].action,
			fixture_pending(fixture, rows[i].pod), rows[i].old_json, rows[i].new_json,
			NULL);

		ck_assert_msg(got == rows[i].expected, "%s: got %d, expected %d", rows[i].name,
			(int)got, (int)rows[i].expected);
	}
}

static inline void check_hints_with(const struct bt_plugin_ops *ops, const char *gates,
	const char *args, const struct hint_row *rows, size_t count)
{
	struct fixture fixture;

	fixture_init_with(&fixture, ops, gates, args);
	check_hints_in(&fixture, rows, count);
	fixture_finish(&fixture);
}

#define CHECK_HINTS(ops, rows) check_hints_with((ops), NULL, NULL, (rows), BT_ARRAY_LENGTH(rows))
#endif
