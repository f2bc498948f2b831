/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_TESTS_UNIT_TEST_MAIN_H
#define BT_TESTS_UNIT_TEST_MAIN_H
/**
 * The main function of a unit test program. At the end of the file:
 *
 *         BT_TEST_MAIN("str", test_str__empty, test_str__edge_03_zero_byte)
 *
 * In loops of many thousand rounds write `if (wrong) ck_abort_msg(...)`: each ck_assert that passes
 * costs a system call. A START_TEST that is missing from the list is an unused variable, hence does
 * not compile.
 */
#include <check.h>
#include <stddef.h>
#include <stdio.h>

static int bt_test_run(const char *suite_name, const TTest *const *tests, size_t test_count)
{
	Suite *suite = suite_create(suite_name);
	TCase *test_case = tcase_create(suite_name);
	SRunner *runner;
	int ran;
	int failed;

	tcase_set_timeout(test_case, 240);
	for (size_t i = 0; i < test_count; i++) {
		tcase_add_test(test_case, tests[i]);
	}
	suite_add_tcase(suite, test_case);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	ran = srunner_ntests_run(runner);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	/* tools/run_tests.py adds these lines up. */
	(void)printf("%d passed, %d failed\n", ran - failed, failed);
	return failed == 0 && ran == (int)test_count ? 0 : 1;
}

#define BT_TEST_MAIN(suite_name, ...) \
	int main(void) \
	{ \
		const TTest *const tests[] = {__VA_ARGS__}; \
		return bt_test_run((suite_name), tests, sizeof(tests) / sizeof(tests[0])); \
	}
#endif
