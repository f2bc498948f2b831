/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLI_CONSOLE_H
#define BT_CLI_CONSOLE_H
/** Messages, progress and warnings that commands write. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/** Prints a text from a template (bt_text_append). Write errors are those of the stream. */
void bt_console_print(FILE *stream, const char *template_, ...);

/**
 * A progress line on standard error. It appears only if the work takes longer than a moment, is
 * updated in place, and is erased at the end.
 */
struct bt_progress {
	const char *task; /* "placing pods" */
	bool wanted;
	bool shown;
	int64_t next_ms;
};

/** Shows nothing unless standard error is a terminal. what: the task, borrowed. */
void bt_progress_start(struct bt_progress *progress, const char *what);
/**
 * Shows "placing pods: 1200 of 5000 (24%)"; cheap enough to call at every step. total 0: the total
 * is unknown. context: struct bt_progress.
 */
void bt_progress_show(void *context, uint32_t done, uint32_t total);
void bt_progress_end(struct bt_progress *progress);

/** Warnings of a command: the first ones are printed as lines, the others only counted. */

#define BT_WARNINGS_SHOWN 20

struct bt_warnings {
	const char *command; /* the command's name */
	uint32_t count;
};

/** Print "berth NAME: warning: LINE". context: struct bt_warnings; usable as bt_manifests.warn. */
void bt_warnings_take(void *context, const char *line);
void bt_warnings_end(const struct bt_warnings *warnings);
#endif
