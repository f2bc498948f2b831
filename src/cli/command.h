/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLI_COMMAND_H
#define BT_CLI_COMMAND_H
/**
 * Subcommands: one folder each, listed in main.c. A test program that takes flags as they do
 * ("berth-soak") is a command, too: is_program.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/flags.h"

/** Exit statuses. */
enum bt_exit {
	BT_EXIT_OK = 0,
	BT_EXIT_FINDING =
		1, /* the work was done; its answer is "no" (pods pending, cases failed) */
	BT_EXIT_BAD_INPUT = 2, /* flags, files or their content are wrong */
};

/** What a command is for: the headings of "berth help". */
enum bt_command_group {
	BT_COMMAND_ASK, /* questions about a cluster */
	BT_COMMAND_RUN,
	BT_COMMAND_MEASURE,
	BT_COMMAND_OTHER,
	BT_COMMAND_GROUP__COUNT,
};

/** Gets the flags of a command, which are borrowed for the call. */
struct bt_command_visitor {
	void (*visit)(void *context, const struct bt_flag *flags, uint32_t flag_count);
	void *context;
};

/**
 * Help is made of it in this order: summary, usage, help, flags, examples, exit status; its lines
 * have at most BT_HELP_COLUMNS columns.
 */
struct bt_command {
	const char *name;
	bool is_program; /* the program "berth-NAME", no subcommand of berth */
	enum bt_command_group group;
	const char *summary;     /* one line */
	const char *usage;       /* "berth NAME ..." */
	const char *arguments;   /* what is no flag, as bt_flag.value_name; NULL: takes none */
	const char *help;        /* paragraphs, each line with its newline; for bt_command_parse */
	const char *examples;    /* indented by two; "#" lines say what the next ones do */
	const char *exit_status; /* lines "  0  everything was placed"; NULL: 0 and 2 */
	int (*run)(const struct bt_command *command, int argc, char **argv);
	/**
	 * Completion of flags whose value_name is WORKLOAD: the name at index, NULL behind the last
	 * one. NULL: the command has no such flag.
	 */
	const char *(*workload_at)(uint32_t index, const char **out_summary);
	/** NULL in every command of the program. In a copy made by bt_command_visit_flags:
	 * bt_command_parse hands the flags to it instead of reading any. */
	const struct bt_command_visitor *visitor;
};

extern const struct bt_command bt_command_simulate;
extern const struct bt_command bt_command_capacity;
extern const struct bt_command bt_command_snapshot;
extern const struct bt_command bt_command_compare;
extern const struct bt_command bt_command_completion;
/** In bench/. */
extern const struct bt_command bt_command_bench;
extern const struct bt_command bt_command_explain;
extern const struct bt_command bt_command_pending;
extern const struct bt_command bt_command_import;
extern const struct bt_command bt_command_replay;
/** These two only where BT_HAVE_DAEMON is 1. */
extern const struct bt_command bt_command_record;
extern const struct bt_command bt_command_scheduler;
extern const struct bt_command bt_command_up;
extern const struct bt_command bt_command_view;
extern const struct bt_command bt_command_whatif;

/**
 * Parse flags for a command. true: go on. false: *out_exit is what to return (help was printed, or
 * the flags are wrong and a message was).
 */
bool bt_command_parse(const struct bt_command *command, const struct bt_flag *flags,
	uint32_t flag_count, int argc, char **argv, struct bt_arguments *out_arguments,
	int *out_exit);
/** Hand the flags of a command to a visitor; the command does nothing else. */
void bt_command_visit_flags(
	const struct bt_command *command, const struct bt_command_visitor *visitor);
/** "berth NAME: message" on standard error, "berth-NAME: " for is_program; the error is finished.
 * Returns BT_EXIT_BAD_INPUT. */
int bt_command_fail(const struct bt_command *command, struct berth_error *err);
/**
 * What every main does: ignores SIGPIPE, draws the secret of hashes, calls run, and flushes
 * standard output. Returns the exit status of run, or BT_EXIT_BAD_INPUT with a message if the
 * output could not be written.
 */
int bt_command_main(int argc, char **argv, int (*run)(int argc, char **argv));
/** BERTH_VERIFY=1 is set. */
bool bt_command_verify(void);
/** KUBE_MAX_PD_VOLS, 0 when it is not set; what is no positive number is ignored with a warning. */
int64_t bt_command_max_pd_volumes(void);

/**
 * One line on standard error that tells how far long work has come: it appears after a moment, is
 * renewed in place, and goes when the work is done.
 */

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

/** Warnings of a command on standard error: the first ones as lines, of the rest their number. */

#define BT_WARNINGS_SHOWN 20

struct bt_warnings {
	const struct bt_command *command;
	uint32_t count;
};

/** "berth NAME: warning: LINE". context: struct bt_warnings; fits struct bt_manifests's warn. */
void bt_warnings_take(void *context, const char *line);
void bt_warnings_end(const struct bt_warnings *warnings);
#endif
