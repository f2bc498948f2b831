/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_TESTS_UNIT_METRICS_PROMTOOL_H
#define BT_TESTS_UNIT_METRICS_PROMTOOL_H
/** Runs promtool, Prometheus' check of a metrics text, if it is installed. */
#include <stdio.h>
#include <stdlib.h>

#include "base/str.h"
#include "base/strbuf.h"
#include "test_main.h"

/**
 * Fails the test if promtool cannot read the text. The build sets BERTH_TEST_PROMTOOL to promtool's
 * path; without the variable nothing is checked.
 */
static inline void bt_check_with_promtool(struct bt_str text)
{
	const char *promtool = getenv("BERTH_TEST_PROMTOOL");
	struct bt_strbuf command = {0};
	FILE *pipe;
	int status;

	if (promtool == NULL) {
		return;
	}
	bt_strbuf_printf(&command, "'%s' check metrics >/dev/null", promtool);
	pipe = popen(bt_strbuf_c(&command), "w");
	ck_assert_ptr_nonnull(pipe);
	ck_assert_uint_eq(fwrite(text.data, 1, text.length, pipe), text.length);
	status = pclose(pipe);
	ck_assert_int_eq(status, 0);
	bt_strbuf_finish(&command);
}
#endif
