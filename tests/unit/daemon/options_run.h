/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_TESTS_UNIT_DAEMON_OPTIONS_RUN_H
#define BT_TESTS_UNIT_DAEMON_OPTIONS_RUN_H
/** Runs command lines and captures their output. */
#include <stdlib.h>

#include "base/alloc.h"
#include "capture.h"
#include "daemon/options.h"

struct run {
	enum bt_options_next next;
	char output[32768];
	char error[32768];
	struct bt_daemon_options options;
};

/**
 * Parses the command line and captures its output. argv ends with NULL. The caller ends every run
 * with finish_run.
 */
static inline void parse_argv(struct run *run, const char *const *argv)
{
	struct capture output;
	struct capture error;
	char *copies[64] = {0};
	int argc = 0;
	for (; argv[argc] != NULL; argc++) {
		ck_assert_int_lt(argc, 63);
		copies[argc] = bt_strndup(argv[argc], strlen(argv[argc]));
	}
	begin_capture(&output, STDOUT_FILENO);
	begin_capture(&error, STDERR_FILENO);
	run->next = bt_daemon_options_parse(argc, copies, &run->options);
	end_capture(&error, run->error, sizeof(run->error));
	end_capture(&output, run->output, sizeof(run->output));
	for (int i = 0; i < argc; i++) {
		bt_free(copies[i]); /* options keep no pointer into argv */
	}
}

#define PARSE(run, ...) parse_argv((run), (const char *const[]){__VA_ARGS__, NULL})

static inline void finish_run(struct run *run)
{
	bt_daemon_options_finish(&run->options);
}

/** Asserts that the command line is refused, with exactly this text after the log line's header. */
#define EXPECT_FAILED(message, ...) \
	do { \
		static struct run run_; \
		PARSE(&run_, __VA_ARGS__); \
		expect_failed(&run_, "] \"command failed\" err=" message "\n"); \
	} while (0)

/** Asserts that standard error ends with this text and standard output is empty. */
static inline void expect_failed(struct run *run, const char *end)
{
	size_t length = strlen(run->error);
	ck_assert_int_eq(run->next, BT_OPTIONS_EXIT_FAILURE);
	ck_assert_msg(length >= strlen(end) && strcmp(run->error + length - strlen(end), end) == 0,
		"got %s\nwant %s", run->error, end);
	ck_assert_str_eq(run->output, "");
	finish_run(run);
}

/** Asserts that the command line is accepted and prints nothing to standard output. */
#define ACCEPT(run, ...) \
	do { \
		PARSE((run), __VA_ARGS__); \
		ck_assert_msg((run)->next == BT_OPTIONS_GO_ON, "%s", (run)->error); \
		ck_assert_str_eq((run)->output, ""); \
	} while (0)
#endif
