/* SPDX-License-Identifier: Apache-2.0 */
/** Spec 02 section 3: the cycle state; also strings, arenas and the version. */
#include "berth/cycle_state.h"

#include <stddef.h>
#include <string.h>

#include "berth/api.h"

#include "test_main.h"

struct counter {
	struct berth_state_data base;
	int value;
};

static struct berth_state_data *clone_counter(
	const struct berth_state_data *data, struct berth_arena *arena)
{
	struct counter *copy = berth_arena_alloc(arena, sizeof(*copy));

	*copy = *(const struct counter *)(const void *)data;
	return &copy->base;
}

static int value_of(const struct berth_cycle_state *state, const char *key)
{
	struct berth_state_data *data = NULL;

	ck_assert_int_eq(berth_cycle_state_read(state, berth_str_from(key), &data, NULL), 0);
	return ((struct counter *)(void *)data)->value;
}

/* seed-map 001.5, 001.27, 001.28, 001.30, 001.31, 001.32, 001.39, 001.40 */
START_TEST(test_cycle_state__read_write_delete)
{
	struct berth_cycle_state *state = berth_cycle_state_create();
	struct berth_state_data *data = NULL;
	struct berth_error err = BERTH_ERROR_INIT;
	struct counter first = {.value = 1};
	struct counter second = {.value = 2};
	char key[] = "Plugin/data";

	ck_assert_int_eq(berth_cycle_state_read(state, BERTH_STR("Plugin/data"), &data, &err),
		BERTH_ERR_NOT_FOUND);
	ck_assert_str_eq(berth_error_message(&err), BERTH_TEXT_NOT_FOUND);
	ck_assert_str_eq(BERTH_TEXT_NOT_FOUND, "not found");
	berth_error_finish(&err);
	ck_assert_ptr_null(data);
	berth_cycle_state_write(state, berth_str_from(key), &first.base);
	memset(key, 'x', sizeof(key) - 1); /* the state keeps a copy of the key */
	ck_assert_int_eq(value_of(state, "Plugin/data"), 1);
	berth_cycle_state_write(state, BERTH_STR("Plugin/data"), &second.base);
	ck_assert_int_eq(value_of(state, "Plugin/data"), 2);
	berth_cycle_state_delete(state, BERTH_STR("Plugin/data"));
	berth_cycle_state_delete(state, BERTH_STR("Plugin/data"));
	ck_assert_int_eq(berth_cycle_state_read(state, BERTH_STR("Plugin/data"), &data, NULL),
		BERTH_ERR_NOT_FOUND);
	berth_cycle_state_destroy(state);
	berth_cycle_state_destroy(NULL);
}
END_TEST

/* seed-map 001.29, 001.41 */
START_TEST(test_cycle_state__clone_uses_each_datums_own)
{
	struct berth_cycle_state *state = berth_cycle_state_create();
	struct counter cloned = {{clone_counter}, 1};
	struct counter shared = {.value = 10};

	berth_cycle_state_write(state, BERTH_STR("cloned"), &cloned.base);
	berth_cycle_state_write(state, BERTH_STR("shared"), &shared.base);

	struct berth_cycle_state *clone = berth_cycle_state_clone(state);
	struct berth_cycle_state *again = berth_cycle_state_clone(clone);

	cloned.value = 2;
	shared.value = 20;
	ck_assert_int_eq(value_of(state, "cloned"), 2);
	ck_assert_int_eq(value_of(clone, "cloned"), 1);
	ck_assert_int_eq(value_of(again, "cloned"), 1);
	ck_assert_int_eq(value_of(clone, "shared"), 20);
	berth_cycle_state_delete(clone, BERTH_STR("cloned"));
	ck_assert_int_eq(value_of(state, "cloned"), 2);
	berth_cycle_state_destroy(again);
	berth_cycle_state_destroy(clone);
	berth_cycle_state_destroy(state);
	ck_assert_ptr_null(berth_cycle_state_clone(NULL));
}
END_TEST

/* seed-map 001.33 to 001.38, 001.138 */
START_TEST(test_cycle_state__locks_metrics_and_cancellation)
{
	struct berth_cycle_state *state = berth_cycle_state_create();

	berth_cycle_state_lock(state);
	berth_cycle_state_unlock(state);
	berth_cycle_state_rlock(state);
	berth_cycle_state_runlock(state);
	ck_assert(!berth_cycle_state_should_record_plugin_metrics(NULL));
	ck_assert(!berth_cycle_state_should_record_plugin_metrics(state));
	berth_cycle_state_set_record_plugin_metrics(state, true);
	ck_assert(berth_cycle_state_should_record_plugin_metrics(state));

	struct berth_cycle_state *clone = berth_cycle_state_clone(state);
	struct berth_cancel cancel = berth_cycle_state_cancel(state);

	ck_assert(berth_cycle_state_should_record_plugin_metrics(clone));
	ck_assert(!cancel.canceled);
	ck_assert_uint_eq(cancel.cause.length, 0);
	berth_cycle_state_wake_at(state, -5);
	berth_cycle_state_activate_pod(state, BERTH_STR("default"), BERTH_STR("web"));
	berth_cycle_state_destroy(clone);
	berth_cycle_state_destroy(state);
}
END_TEST

START_TEST(test_cycle_state__texts_and_arenas)
{
	struct berth_arena *arena = berth_arena_create();
	struct berth_str absent = berth_str_from(NULL);
	struct berth_str text = berth_arena_str(arena, BERTH_STR("abc"));

	ck_assert_ptr_null(absent.data);
	ck_assert(berth_str_equal(absent, BERTH_STR("")));
	ck_assert(berth_str_equal_c(text, "abc"));
	ck_assert_int_eq(text.data[3], '\0');
	ck_assert_int_lt(berth_str_compare(BERTH_STR("ab"), text), 0);
	ck_assert_int_gt(berth_str_compare(BERTH_STR("abd"), text), 0);
	ck_assert_int_eq(berth_str_compare(BERTH_STR("abc"), text), 0);

	unsigned char *bytes = berth_arena_alloc(arena, 64);

	for (int i = 0; i < 64; i++) {
		ck_assert_uint_eq(bytes[i], 0);
	}
	ck_assert(berth_str_equal_c(berth_arena_printf(arena, "%s-%d", "n", 7), "n-7"));
	berth_arena_destroy(arena);
	berth_arena_destroy(NULL);
}
END_TEST

START_TEST(test_cycle_state__version)
{
	char header[32];

	(void)snprintf(header, sizeof(header), "%d.%d.%d", BERTH_VERSION_MAJOR, BERTH_VERSION_MINOR,
		BERTH_VERSION_PATCH);
	ck_assert_str_eq(header, BT_TEST_VERSION);
	ck_assert_str_eq(berth_version(), BT_TEST_VERSION);
	ck_assert_str_eq(berth_kubernetes_version(), "v1.36");
}
END_TEST

BT_TEST_MAIN("lib_cycle_state", test_cycle_state__read_write_delete,
	test_cycle_state__clone_uses_each_datums_own,
	test_cycle_state__locks_metrics_and_cancellation, test_cycle_state__texts_and_arenas,
	test_cycle_state__version)
