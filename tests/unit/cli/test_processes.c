/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/processes.h"

#include <sys/resource.h>

#include "base/error.h"
#include "test_main.h"

START_TEST(test_processes__no_file_descriptor_left)
{
	struct berth_error err = BERTH_ERROR_INIT;
	struct rlimit before;
	int end;
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
	struct rlimit none = {.rlim_cur = 0, .rlim_max = before.rlim_max};
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
	pid_t process = bt_process_fork(&end, &err);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
	ck_assert_int_eq(process, BERTH_ERR_IO);
	ck_assert_str_eq(berth_error_message(&err), "cannot start a process: Too many open files");
	berth_error_finish(&err);
}
END_TEST

BT_TEST_MAIN("processes", test_processes__no_file_descriptor_left)
