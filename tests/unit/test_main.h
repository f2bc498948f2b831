/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_TESTS_UNIT_TEST_MAIN_H
#define BT_TESTS_UNIT_TEST_MAIN_H
/**
 * A file of unit tests is one suite. At the end of the file:
 *
 *         BT_TEST_MAIN("str", test_str__empty, test_str__edge_03_zero_byte)
 *
 * All suites of a folder are linked into one program, whose main function is in test_main.c. A file
 * is added to the program by its name in the folder's meson.build.
 *
 * In loops of many thousand rounds write `if (wrong) ck_abort_msg(...)`: each ck_assert that passes
 * costs a system call. A START_TEST that is missing from the list is an unused variable, so the
 * file does not compile.
 */
#include <check.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/**
 * Number of seeds of a random test: builds with AddressSanitizer are slow and run a third. Needs
 * base/compiler.h.
 */
#define BT_TEST_SEEDS(count) (BT_HAVE_ASAN ? (count) / 3 : (count))

struct bt_test_suite {
	const char *name;
	const char *file;
	const TTest *const *tests;
	size_t test_count;
	struct bt_test_suite *next;
};

/** Adds the suite to the program; the suite must stay valid until the program ends. */
void bt_test_add_suite(struct bt_test_suite *suite);

#define BT_TEST_MAIN(suite_name, ...) \
	__attribute__((constructor)) static void bt_test_add_this_suite(void) \
	{ \
		const TTest *const tests[] = {__VA_ARGS__}; \
		static const TTest *kept[sizeof(tests) / sizeof(tests[0])]; \
		static struct bt_test_suite suite = { \
			(suite_name), __FILE__, kept, sizeof(kept) / sizeof(kept[0]), NULL}; \
		memcpy(kept, tests, sizeof(kept)); \
		bt_test_add_suite(&suite); \
	}
#endif
