/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLI_COMMAND_H
#define BT_CLI_COMMAND_H
/**
 * Subcommands: one folder each, listed in main.c. A command is a description (struct bt_command);
 * bt_command_run does what all commands have in common. Test programs such as "berth-soak" use the
 * same description, with is_program set.
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
	BT_EXIT_FINDING = 1,   /* the command worked, but pods stay pending or cases failed */
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
 * Flags and input that all commands share: the first member of a command's options. bt_command_run
 * fills in and releases this struct.
 */
struct bt_command_line {
	const struct bt_command *command;
	struct bt_arguments arguments; /* arguments that are no flags */
	struct bt_setup setup;         /* BT_SETUP_FLAGS */
	struct bt_source source;       /* BT_SOURCE_FLAGS */
	struct bt_manifests cluster;   /* initialised empty, for bt_source_read; its warnings go to
	                                  standard error */
	const char *format_name;       /* BT_OUTPUT_FLAG */
	enum bt_output_format format;
	const char *color; /* BT_COLOR_FLAG */
	struct bt_warnings warnings;
	struct bt_arena arena; /* for check and run */
};

/** The rows of a command's flag table for the fields above. */
#define BT_SOURCE_FLAGS BT_SOURCE_FLAGS_AT(offsetof(struct bt_command_line, source))
#define BT_SETUP_FLAGS BT_SETUP_FLAGS_AT(offsetof(struct bt_command_line, setup))
/** BT_SETUP_FLAGS_AT without --config. */
#define BT_SETUP_OTHER_FLAGS BT_SETUP_OTHER_FLAGS_AT(offsetof(struct bt_command_line, setup))
/** formats: "table|wide|json|yaml", the first one is the default. */
#define BT_OUTPUT_FLAG(formats) \
	{ \
		"output", 'o', BT_FLAG_STRING, offsetof(struct bt_command_line, format_name), \
			formats, "output format (default table)" \
	}

#define BT_COLOR_FLAG \
	{ \
		"color", 0, BT_FLAG_STRING, offsetof(struct bt_command_line, color), \
			"auto|always|never", \
			"colours in the output (default auto: on terminals without NO_COLOR)" \
	}

/**
 * Help consists of summary, usage, help, flags, examples and exit status, in this order; its lines
 * have at most BT_HELP_COLUMNS columns.
 */
struct bt_command {
	const char *name;
	bool is_program; /* the program "berth-NAME", no subcommand of berth */
	enum bt_command_group group;
	const char *summary;     /* one line */
	const char *usage;       /* "berth NAME ..." */
	const char *arguments;   /* value_name of the arguments, for completion; NULL: the command
	                            takes none */
	const char *help;        /* paragraphs, each line with its newline */
	const char *examples;    /* indented by two; "#" lines describe the commands that follow */
	const char *exit_status; /* lines like " 0 all pods were placed"; NULL: a standard text for
	                            0 and 2 */
	const struct bt_flag *flags;
	uint32_t flag_count;
	/** Text after "unexpected argument X: ". NULL: `check` validates the arguments. */
	const char *no_arguments;
	bool has_source; /* bt_source_choose is called before run */
	bool has_setup;  /* bt_setup_start is called before run */
	/**
	 * Size of the options struct, which begins with struct bt_command_line; 0: the options are
	 * only that struct.
	 */
	size_t options_bytes;
	const void *defaults; /* the options before flags are read; NULL: all zero */
	/** Validates flags and arguments. NULL: any values are valid. */
	int (*check)(void *options, struct berth_error *err);
	/** Returns the exit status, or a negative error; then `out` is not printed. */
	int (*run)(void *options, struct bt_strbuf *out, struct berth_error *err);
	/**
	 * Releases the options, also after errors. NULL: only lists of repeated flags are released.
	 */
	void (*finish)(void *options);
	/**
	 * Runs the whole command, including its flags and messages. NULL: bt_command_run does that.
	 */
	int (*main)(int argc, char **argv);
	/**
	 * Completes flags whose value_name is WORKLOAD: returns the name at index, NULL after the
	 * last one. NULL: the command has no such flag.
	 */
	const char *(*workload_at)(uint32_t index, const char **out_summary);
};

extern const struct bt_command bt_command_simulate;
extern const struct bt_command bt_command_capacity;
extern const struct bt_command bt_command_snapshot;
extern const struct bt_command bt_command_compare;
extern const struct bt_command bt_command_completion;
/** Defined in bench/. */
extern const struct bt_command bt_command_bench;
extern const struct bt_command bt_command_explain;
extern const struct bt_command bt_command_pending;
extern const struct bt_command bt_command_import;
extern const struct bt_command bt_command_replay;
extern const struct bt_command bt_command_record;
extern const struct bt_command bt_command_scheduler;
extern const struct bt_command bt_command_up;
extern const struct bt_command bt_command_view;
extern const struct bt_command bt_command_whatif;

/**
 * Parse the duration of a flag ("for", without dashes). text NULL: the flag is absent, and *out_ns
 * keeps its value. Negative durations are refused; 0, too, unless may_be_zero.
 */
BT_MUST_USE int bt_command_read_duration(const char *flag, const char *text, bool may_be_zero,
	int64_t *out_ns, struct berth_error *err);
/** Whether both paths lead to the same regular file. NULL: no file. */
bool bt_is_same_file(const char *one, const char *other);
/**
 * Refuse "-", and an output file that the command reads: as an argument, as `other` (NULL: none),
 * or for -f, --kubeconfig or --config. flag: without dashes. path NULL: there is no output file.
 */
BT_MUST_USE int bt_command_check_output(const struct bt_command_line *line, const char *flag,
	const char *path, const char *other, struct berth_error *err);
/**
 * Read the flags, check, run, print the answer or the error. argv: the arguments after the
 * command's name. Returns the exit status.
 */
int bt_command_run(const struct bt_command *command, int argc, char **argv);
/**
 * Loads and runs a simulation whose cluster has been read, and appends the answer to out. options:
 * the command's options struct. Returns the exit status, or a negative error.
 */
typedef int bt_simulation_answer_fn(const void *options, struct bt_simulation *simulation,
	struct bt_strbuf *out, struct berth_error *err);
/**
 * Create the simulation with its scheduler, read the cluster, and call `answer`. line: the first
 * member of the options struct that `answer` gets. Returns the result of `answer`, or an earlier
 * error.
 */
BT_MUST_USE int bt_simulation_answer(struct bt_command_line *line, bt_simulation_answer_fn *answer,
	struct bt_strbuf *out, struct berth_error *err);
/** Completes a line for shells, see completion/complete.c. Returns the exit status, always 0. */
int bt_complete_run(
	const struct bt_command *const *commands, size_t command_count, int argc, char **argv);
/** Schedule the first count pods of the simulation. what: title of the progress line. */
void bt_simulation_place(struct bt_simulation *simulation, uint32_t count, const char *what);
/**
 * Print "berth NAME: message" (is_program: "berth-NAME: ") to standard error and finish the error.
 * Returns BT_EXIT_BAD_INPUT.
 */
int bt_command_fail(const struct bt_command *command, struct berth_error *err);
/**
 * The body of every main: ignores SIGPIPE, sets a random secret for hashes, calls run, and flushes
 * standard output. Returns the exit status of run, or BT_EXIT_BAD_INPUT with a message if the
 * output could not be written. A reader that closed the pipe is no error.
 */
int bt_command_main(int argc, char **argv, int (*run)(int argc, char **argv));
#endif
