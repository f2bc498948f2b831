/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLI_PROGRESS_H
#define BT_CLI_PROGRESS_H
/**
 * One line on standard error that tells how far long work has come: it appears after a moment, is
 * renewed in place, and goes when the work is done.
 */
#include <stdbool.h>
#include <stdint.h>

struct bt_progress {
	const char *what; /* "placing pods" */
	bool wanted;
	bool shown;
	int64_t next_ms;
};

/** only_terminal: nothing is shown where standard error is no terminal. */
void bt_progress_start(struct bt_progress *progress, const char *what, bool only_terminal);
/** "placing pods: 1200 of 5000 (24%)"; cheap enough for every step. total 0: not known. context:
 * struct bt_progress. */
void bt_progress_show(void *context, uint32_t done, uint32_t total);
void bt_progress_end(struct bt_progress *progress);
#endif
