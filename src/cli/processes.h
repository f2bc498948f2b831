/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLI_PROCESSES_H
#define BT_CLI_PROCESSES_H
/**
 * Runs a function for several indexes, each in a forked copy of this process. A copy has all data
 * that was read before the fork, and its changes do not affect the other copies.
 */
#include <stdint.h>
#include <sys/types.h>

#include "base/str.h"
#include "base/strbuf.h"
#include "berth/error.h"

/**
 * Fork this process, with a pipe from the copy to this process. In this process: returns the id of
 * the copy, and *out_end is the read end; or returns BERTH_ERR_IO. In the copy: returns 0, and
 * *out_end is the write end. The copy is killed when this process ends.
 */
BT_MUST_USE pid_t bt_process_fork(int *out_end, struct berth_error *err);

/** Limit of copies at the same time. */
#define BT_PROCESSES_MAX 256

struct bt_processes {
	void *context;
	/**
	 * Runs in the copy: appends the answer to out. Returns an exit status; if it is not 0, the
	 * function has printed a message.
	 */
	int (*work)(void *context, uint32_t index, struct bt_strbuf *out);
	/**
	 * Runs in this process, in the order in which the copies end. answer: borrowed for the
	 * call. Returns 0 or a negative error, which ends the run.
	 */
	int (*take)(void *context, uint32_t index, struct bt_str answer, struct berth_error *err);
	/** Returns the name of an index for messages. */
	struct bt_str (*name)(const void *context, uint32_t index);
	const char *failed;   /* how messages say that a copy failed: "was not replayed" */
	const char *progress; /* title of the progress line; NULL: none */
	uint32_t items; /* total shown by the progress line, divided equally among the indexes; 0:
	                   number of indexes */
	int64_t jobs;   /* copies at the same time; 0: one for each processor */
};

/**
 * Call `work` for the indexes 0 to count - 1. The first error ends all copies. No other thread may
 * run.
 */
BT_MUST_USE int bt_processes_run(
	const struct bt_processes *processes, uint32_t count, struct berth_error *err);
/** Refuses a negative --jobs. */
BT_MUST_USE int bt_processes_check_jobs(int64_t jobs, struct berth_error *err);
#endif
