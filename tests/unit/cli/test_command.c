/* SPDX-License-Identifier: Apache-2.0 */
/* Environment variables that commands read. */
/* For setenv and unsetenv. */
#define _POSIX_C_SOURCE 200809L
#include "cli/setup.h"

#include <stdlib.h>

#include "base/compiler.h"
#include "test_main.h"

/** Spec 05b section B9 */
START_TEST(test_command__edge_05b_18_max_pd_volumes)
{
	static const struct {
		const char *value;
		int64_t expected;
	} rows[] = {
		{"5", 5},
		{"-3", 0},
		{"0", 0},
		{"abc", 0},
		{"5 ", 0},
		{"", 0},
		{"99999999999999999999", 0},
	};

	(void)unsetenv("KUBE_MAX_PD_VOLS");
	ck_assert_int_eq(bt_setup_max_pd_volumes(), 0);
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		(void)setenv("KUBE_MAX_PD_VOLS", rows[i].value, 1);
		ck_assert_msg(bt_setup_max_pd_volumes() == rows[i].expected, "<%s>", rows[i].value);
	}
	(void)unsetenv("KUBE_MAX_PD_VOLS");
}
END_TEST

START_TEST(test_command__verify)
{
	static const struct {
		const char *value;
		bool expected;
	} rows[] = {{"1", true}, {"yes", true}, {"0", false}, {"", false}};

	(void)unsetenv("BERTH_VERIFY");
	ck_assert(!bt_setup_verify());
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		(void)setenv("BERTH_VERIFY", rows[i].value, 1);
		ck_assert_msg(bt_setup_verify() == rows[i].expected, "<%s>", rows[i].value);
	}
	(void)unsetenv("BERTH_VERIFY");
}
END_TEST

BT_TEST_MAIN("command", test_command__edge_05b_18_max_pd_volumes, test_command__verify)
