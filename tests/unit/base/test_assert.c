/* SPDX-License-Identifier: Apache-2.0 */
#include "base/assert.h"

#include <signal.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "test_main.h"

/*
 * Runs action in a child process; returns the signal that ends the process, or 0 if action returns.
 */
static int signal_of(void (*action)(void))
{
	pid_t child = fork();
	int status = 0;

	ck_assert_int_ge(child, 0);
	if (child == 0) {
		(void)close(STDERR_FILENO);
		action();
		_exit(0);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void assert_true(void)
{
	BT_ASSERT(1 + 1 == 2);
}

static void assert_false(void)
{
	BT_ASSERT(1 + 1 == 3);
}

static void panic(void)
{
	bt_panic("number %d", 1);
}

static void set_error_twice(void)
{
	struct berth_error err = BERTH_ERROR_INIT;

	(void)bt_error_set(&err, BERTH_ERR_IO, "first");
	(void)bt_error_set(&err, BERTH_ERR_IO, "second");
}

static void set_error_to_success(void)
{
	(void)bt_error_set(NULL, BERTH_OK, "fine");
}

static void overflow_calloc(void)
{
	bt_free(bt_calloc(SIZE_MAX / 2, 3));
}

static void overflow_realloc(void)
{
	bt_free(bt_realloc_array(NULL, SIZE_MAX / 4, 8));
}

static void arena_over_limit(void)
{
	struct bt_arena arena = {0};

	(void)!bt_arena_alloc(&arena, BT_ARENA_ALLOCATION_MAX + 1);
}

static void arena_overflow(void)
{
	struct bt_arena arena = {0};

	(void)!bt_arena_calloc(&arena, SIZE_MAX / 2, 4);
}

static void strbuf_over_limit(void)
{
	struct bt_strbuf buffer = {0};

	bt_strbuf_reserve(&buffer, SIZE_MAX - 1);
}

static void vec_over_limit(void)
{
	(void)bt_vec_grown_capacity(5, UINT64_C(1) << 32);
}

START_TEST(test_assert__broken_states_abort)
{
	static const struct {
		const char *name;
		void (*action)(void);
		int signal;
	} rows[] = {
		{"true condition", assert_true, 0},
		{"false condition", assert_false, SIGABRT},
		{"panic", panic, SIGABRT},
		{"error set twice", set_error_twice, SIGABRT},
		{"error set to success", set_error_to_success, SIGABRT},
		{"calloc overflow", overflow_calloc, SIGABRT},
		{"realloc overflow", overflow_realloc, SIGABRT},
		{"arena over limit", arena_over_limit, SIGABRT},
		{"arena overflow", arena_overflow, SIGABRT},
		{"strbuf over limit", strbuf_over_limit, SIGABRT},
		{"vec over limit", vec_over_limit, SIGABRT},
	};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		int got = signal_of(rows[i].action);
		ck_assert_msg(got == rows[i].signal, "%s: signal %d", rows[i].name, got);
	}
}
END_TEST

BT_TEST_MAIN("assert", test_assert__broken_states_abort)
