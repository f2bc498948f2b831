/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLI_PROCESSES_H
#define BT_CLI_PROCESSES_H
/**
 * Alternatives, each worked out by a copy of this process: the copy has all that was read so far,
 * shares its memory, and may change it.
 */
#include <stdint.h>

#include "base/str.h"
#include "base/strbuf.h"
#include "berth/error.h"

/** Copies at the same time. */
#define BT_PROCESSES_MAX 256

struct bt_processes {
	void *context;
	/** In the copy: append the answer to out. Returns an exit status; if that is not 0, a
	 * message was written. */
	int (*work)(void *context, uint32_t index, struct bt_strbuf *out);
	/** In this process, in the order of the ends. answer: borrowed for the call. */
	int (*take)(void *context, uint32_t index, struct bt_str answer, struct berth_error *err);
	/** For messages. */
	struct bt_str (*name)(const void *context, uint32_t index);
	const char *failed;   /* what to say of a copy that failed: "was not replayed" */
	const char *progress; /* NULL: none is shown */
	uint32_t items;       /* what progress counts, equal parts for each index; 0: the indexes */
	int64_t jobs;         /* copies at the same time; 0: one for each processor */
};

/** Work out 0 to count - 1. The first error ends all copies. No thread may run but this. */
BT_MUST_USE int bt_processes_run(
	const struct bt_processes *processes, uint32_t count, struct berth_error *err);
/** --jobs */
BT_MUST_USE int bt_processes_check_jobs(int64_t jobs, struct berth_error *err);
#endif
