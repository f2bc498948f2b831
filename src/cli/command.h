/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLI_COMMAND_H
#define BT_CLI_COMMAND_H
/**
 * Subcommands: one folder each, listed in main.c. A command is a description; bt_command_run does
 * what all have in common. A test program that takes flags as they do ("berth-soak") is a command,
 * too: is_program.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/flags.h"
#include "cli/console.h"
#include "cli/output.h"
#include "cli/setup.h"
#include "cli/source.h"
#include "cluster/manifests.h"
#include "cluster/simulation.h"

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

/**
 * What is read for every command and handed to it: the first member of its options.
 * bt_command_run makes and releases it.
 */
struct bt_command_line {
	const struct bt_command *command;
	struct bt_arguments arguments; /* what is no flag */
	struct bt_setup setup;         /* BT_SETUP_FLAGS */
	struct bt_source source;       /* BT_SOURCE_FLAGS */
	struct bt_manifests cluster;   /* empty, for bt_source_read; its warnings are printed */
	const char *format_name;       /* BT_OUTPUT_FLAG */
	enum bt_output_format format;
	const char *color; /* BT_COLOR_FLAG */
	struct bt_warnings warnings;
};

/** The rows of a command's flag table for the fields above. */
#define BT_SOURCE_FLAGS BT_SOURCE_FLAGS_AT(offsetof(struct bt_command_line, source))
#define BT_SETUP_FLAGS BT_SETUP_FLAGS_AT(offsetof(struct bt_command_line, setup))
/** All of them but --config. */
#define BT_SETUP_OTHER_FLAGS BT_SETUP_OTHER_FLAGS_AT(offsetof(struct bt_command_line, setup))
/** formats: "table|wide|json|yaml", the first one is the default. */
#define BT_OUTPUT_FLAG(formats) \
	{ \
		"output", 'o', BT_FLAG_STRING, offsetof(struct bt_command_line, format_name), \
			formats, "how the answer is written (default table)" \
	}

#define BT_COLOR_FLAG \
	{ \
		"color", 0, BT_FLAG_STRING, offsetof(struct bt_command_line, color), \
			"auto|always|never", \
			"colour the answer (default auto: on terminals without NO_COLOR)" \
	}

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
	const char *help;        /* paragraphs, each line with its newline */
	const char *examples;    /* indented by two; "#" lines say what the next ones do */
	const char *exit_status; /* lines "  0  everything was placed"; NULL: 0 and 2 */
	const struct bt_flag *flags;
	uint32_t flag_count;
	/** What is said behind "unexpected argument X: ". NULL: check looks at the arguments. */
	const char *no_arguments;
	bool has_source; /* bt_source_check is called before run */
	bool has_setup;  /* bt_setup_start is called before run */
	/** Of its options, which begin with struct bt_command_line; 0: they are that alone. */
	size_t options_bytes;
	const void *defaults; /* its options before flags are read; NULL: all zero */
	/** What is wrong with the values of flags and arguments; NULL: nothing can be. */
	int (*check)(void *options, struct berth_error *err);
	/** Returns the exit status, or a negative error; out is printed in the first case. */
	int (*run)(void *options, struct bt_strbuf *out, struct berth_error *err);
	/** Called in any case; NULL: there is nothing to release but lists of repeated flags. */
	void (*finish)(void *options);
	/** Reads its flags itself, and does everything else, too; NULL: it does not. */
	int (*main)(int argc, char **argv);
	/**
	 * Completion of flags whose value_name is WORKLOAD: the name at index, NULL behind the last
	 * one. NULL: the command has no such flag.
	 */
	const char *(*workload_at)(uint32_t index, const char **out_summary);
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

/** Read the duration that a flag ("for", without dashes) was given; text NULL: it was not, and
 * *out_ns stays. Negative durations are refused, 0 unless may_be_zero. */
BT_MUST_USE int bt_command_read_duration(const char *flag, const char *text, bool may_be_zero,
	int64_t *out_ns, struct berth_error *err);
/** Read the flags, check, run, print the answer or the error. Returns the exit status. */
int bt_command_run(const struct bt_command *command, int argc, char **argv);
/**
 * Load the simulation, which has its cluster already, and append the answer to out. options: of the
 * command. Returns the exit status, or a negative error.
 */
typedef int bt_simulation_answer_fn(const void *options, struct bt_simulation *simulation,
	struct bt_strbuf *out, struct berth_error *err);
/** Make the scheduler, read the cluster, let answer find out. line: options that begin with it. */
BT_MUST_USE int bt_simulation_ask(struct bt_command_line *line, bt_simulation_answer_fn *answer,
	struct bt_strbuf *out, struct berth_error *err);
/** "berth NAME: message" on standard error, "berth-NAME: " for is_program; the error is finished.
 * Returns BT_EXIT_BAD_INPUT. */
int bt_command_fail(const struct bt_command *command, struct berth_error *err);
/**
 * What every main does: ignores SIGPIPE, draws the secret of hashes, calls run, and flushes
 * standard output. Returns the exit status of run, or BT_EXIT_BAD_INPUT with a message if the
 * output could not be written.
 */
int bt_command_main(int argc, char **argv, int (*run)(int argc, char **argv));
#endif
