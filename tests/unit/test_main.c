/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The main function of every unit test program.
 *
 *         test_api                     all suites
 *         test_api quantity            one suite: its name, or its file's name
 *         test_api quantity overflow   one test of it: its name, or the part behind "__"
 *
 * The last line is "N passed, N failed", which tools/run_tests.py adds up.
 */
#include "test_main.h"

#include <stdbool.h>

#define TIMEOUT_SECONDS 240

/** Sorted by name, so that all builds run them in the same order. */
static struct bt_test_suite *suites;

void bt_test_add_suite(struct bt_test_suite *suite)
{
	struct bt_test_suite **place = &suites;
	while (*place != NULL && strcmp((*place)->name, suite->name) < 0) {
		place = &(*place)->next;
	}
	suite->next = *place;
	*place = suite;
}

/**
 * Returns whether the argument names the suite. Both "quantity" (the suite's name) and
 * "test_quantity" (the file's name) select the suite in "../tests/unit/api/test_quantity.c".
 */
static bool is_wanted_suite(const struct bt_test_suite *suite, const char *wanted)
{
	const char *slash = strrchr(suite->file, '/');
	const char *file = slash != NULL ? slash + 1 : suite->file;
	size_t length = strlen(wanted);
	return strcmp(suite->name, wanted) == 0 ||
		(strncmp(file, wanted, length) == 0 && strcmp(file + length, ".c") == 0);
}

/**
 * Returns whether the list selects the test. wanted ends with NULL; an empty list selects every
 * test.
 */
static bool is_wanted_test(const TTest *test, char **wanted)
{
	const char *behind = strstr(test->name, "__");
	for (char **name = wanted; *name != NULL; name++) {
		if (strcmp(test->name, *name) == 0 ||
			(behind != NULL && strcmp(behind + 2, *name) == 0)) {
			return true;
		}
	}
	return *wanted == NULL;
}

static void run_suite(
	const struct bt_test_suite *suite, char **wanted_tests, int *passed, int *failed)
{
	Suite *check_suite = suite_create(suite->name);
	TCase *test_case = tcase_create(suite->name);
	int wanted = 0;

	tcase_set_timeout(test_case, TIMEOUT_SECONDS);
	for (size_t i = 0; i < suite->test_count; i++) {
		if (is_wanted_test(suite->tests[i], wanted_tests)) {
			tcase_add_test(test_case, suite->tests[i]);
			wanted++;
		}
	}
	suite_add_tcase(check_suite, test_case);
	SRunner *runner = srunner_create(check_suite);
	srunner_run_all(runner, CK_NORMAL);
	(void)fflush(stdout); /* tests of the next suite fork and must not inherit buffered text */
	int failed_here = srunner_ntests_failed(runner);
	int passed_here = srunner_ntests_run(runner) - failed_here;
	srunner_free(runner);
	*passed += passed_here;
	*failed += wanted - passed_here; /* a test that did not run has failed */
}

int main(int argc, char **argv)
{
	char *no_names[] = {NULL};
	int passed = 0;
	int failed = 0;

	for (const struct bt_test_suite *suite = suites; suite != NULL; suite = suite->next) {
		if (argc < 2 || is_wanted_suite(suite, argv[1])) {
			run_suite(suite, argc < 3 ? no_names : argv + 2, &passed, &failed);
		}
	}
	if (passed + failed == 0) {
		(void)fprintf(stderr, "no such test; suites:\n");
		for (const struct bt_test_suite *suite = suites; suite != NULL;
			suite = suite->next) {
			(void)fprintf(stderr, "  %s\n", suite->name);
		}
	}
	(void)printf("%d passed, %d failed\n", passed, failed);
	return failed == 0 && passed != 0 ? 0 : 1;
}
