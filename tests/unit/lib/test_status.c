/* SPDX-License-Identifier: Apache-2.0 */
#include "berth/status.h"

#include "test_main.h"

/* seed 001.7 to 001.14 */
START_TEST(test_status__codes_have_upstream_numbers_and_names)
{
	static const char *const names[] = {"Success", "Error", "Unschedulable",
		"UnschedulableAndUnresolvable", "Wait", "Skip", "Pending"};
	static const enum berth_code codes[] = {BERTH_CODE_SUCCESS, BERTH_CODE_ERROR,
		BERTH_CODE_UNSCHEDULABLE, BERTH_CODE_UNSCHEDULABLE_AND_UNRESOLVABLE,
		BERTH_CODE_WAIT, BERTH_CODE_SKIP, BERTH_CODE_PENDING};

	for (int i = 0; i < 7; i++) {
		ck_assert_int_eq(codes[i], i);
		ck_assert_str_eq(berth_code_string(codes[i]), names[i]);
	}
}
END_TEST

BT_TEST_MAIN("lib_status", test_status__codes_have_upstream_numbers_and_names)
