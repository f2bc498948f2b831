/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLI_COMMAND_H
#define BT_CLI_COMMAND_H
/** Subcommands: one file each, listed in main.c. */
#include <stdbool.h>

#include "base/error.h"
#include "base/flags.h"

/** Exit statuses. */
enum bt_exit {
	BT_EXIT_OK = 0,
	BT_EXIT_FINDING =
		1, /* the work was done; its answer is "no" (pods pending, cases failed) */
	BT_EXIT_BAD_INPUT = 2, /* flags, files or their content are wrong */
};

struct bt_command {
	const char *name;
	const char *summary; /* one line */
	const char *usage;   /* "berth NAME ..." */
	const char *help;    /* paragraphs behind the usage line; for bt_command_parse */
	int (*run)(const struct bt_command *command, int argc, char **argv);
};

extern const struct bt_command bt_command_simulate;
extern const struct bt_command bt_command_soak;
extern const struct bt_command bt_command_conformance;
extern const struct bt_command bt_command_bench;
/** Only where BT_HAVE_DAEMON is 1. */
extern const struct bt_command bt_command_scheduler;
/** Only where BT_HAVE_SERVER is 1. */
extern const struct bt_command bt_command_up;
extern const struct bt_command bt_command_version;

/**
 * Parse flags for a command. true: go on. false: *out_exit is what to return (help was printed, or
 * the flags are wrong and a message was).
 */
bool bt_command_parse(const struct bt_command *command, const struct bt_flag *flags,
	uint32_t flag_count, int argc, char **argv, struct bt_arguments *out_arguments,
	int *out_exit);
/** "berth NAME: message" on standard error; the error is finished. Returns BT_EXIT_BAD_INPUT. */
int bt_command_fail(const struct bt_command *command, struct berth_error *err);
/** BERTH_VERIFY=1 is set. */
bool bt_command_verify(void);
/** KUBE_MAX_PD_VOLS, 0 when it is not set; what is no positive number is ignored with a warning. */
int64_t bt_command_max_pd_volumes(void);
#endif
