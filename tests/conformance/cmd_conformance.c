/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/command.h"
#include "conformance/conformance.h"
#include "cluster/file.h"

/** Differences shown unless --show says otherwise. */
#define SHOWN_DEFAULT 5

struct options {
	struct bt_command_line line;
	const char *skip_text;
	int64_t show;
	bool answer;
	bool explain;
	struct bt_conformance_skip skip;
};

struct tally {
	unsigned long passed;
	unsigned long failed;
	struct bt_explain_tally explained;
	int result; /* of the last case; negative if the line is not a case: see `error` */
	char error[1024];
};

static void split_skip(struct options *options)
{
	struct bt_str text = bt_str_from(options->skip_text);
	uint32_t count = 1;
	for (uint32_t i = 0; i < text.length; i++) {
		count += text.data[i] == ',';
	}
	struct bt_str *members = BT_ARENA_NEW_ARRAY(&options->line.arena, struct bt_str, count);
	uint32_t found = 0;
	for (uint32_t start = 0; start < text.length;) {
		struct bt_str rest = bt_str_sub(text, start, text.length);
		int64_t comma = bt_str_find_char(rest, ',');
		uint32_t length = comma < 0 ? rest.length : (uint32_t)comma;
		members[found++] = bt_str_sub(rest, 0, length);
		start += length + 1;
	}
	options->skip = (struct bt_conformance_skip){members, found};
}

/**
 * Compares an answer with the recorded answer. `complaints` has lines about explanations and
 * verification, or is "". A case with differences or complaints fails.
 */
static int compare_case(const struct options *options, struct bt_arena *arena, struct bt_str answer,
	struct bt_str complaints, const struct bt_json_value *expected, struct tally *tally,
	struct berth_error *err)
{
	struct bt_json_value *got = NULL;
	int result = bt_json_parse(arena, answer, false, &got, err);
	if (result < 0) {
		return result;
	}
	if (!bt_str_equal(bt_json_find_str(expected, "name"), bt_json_find_str(got, "name"))) {
		struct bt_str ours = bt_json_find_str(got, "name");
		struct bt_str theirs = bt_json_find_str(expected, "name");
		return bt_error_set(err, BERTH_ERR_INVALID,
			"case %.*s does not belong to answer %.*s", BT_STR_ARG(ours),
			BT_STR_ARG(theirs));
	}
	struct bt_strbuf difference = {0};
	if (bt_conformance_compare(expected, got, &options->skip, &difference) &&
		complaints.length == 0) {
		tally->passed++;
	} else {
		tally->failed++;
		if (tally->failed <= (unsigned long)options->show) {
			(void)printf("%.*s\n%s%.*s", BT_STR_ARG(bt_json_find_str(got, "name")),
				bt_strbuf_c(&difference), BT_STR_ARG(complaints));
		}
	}
	bt_strbuf_finish(&difference);
	return 0;
}

/** Reads the recorded answer of the next case. With --answer, sets *out_line to "". */
static int next_expected(const struct options *options, struct bt_line_reader *reader,
	struct bt_str *out_line, struct berth_error *err)
{
	bool more;
	*out_line = BT_STR("");
	if (options->answer) {
		return 0;
	}
	int result = bt_line_reader_next(reader, out_line, &more, err);
	if (result == 0 && !more) {
		result = bt_error_set(err, BERTH_ERR_INVALID, "fewer answers than cases");
	}
	return result;
}

static int run_case(const struct options *options, struct bt_str case_json,
	struct bt_str expected_json, struct tally *tally, struct berth_error *err)
{
	struct bt_arena arena;
	bt_arena_init(&arena, 0);
	struct bt_strbuf answer = {0};
	struct bt_strbuf complaints = {0};
	struct bt_json_value *expected = NULL;
	int result =
		options->answer ? 0 : bt_json_parse(&arena, expected_json, true, &expected, err);
	if (result == 0 && options->explain) {
		result = bt_conformance_explain(case_json, expected, bt_setup_verify(),
			&tally->explained, &complaints, &answer, err);
	} else if (result == 0) {
		result = bt_conformance_answer(
			case_json, expected, bt_setup_verify(), &complaints, &answer, err);
	}
	if (result == 0 && options->answer) {
		(void)printf("%s\n", bt_strbuf_c(&answer));
		(void)fprintf(stderr, "%s", bt_strbuf_c(&complaints));
		tally->failed += complaints.length != 0;
	} else if (result == 0) {
		result = compare_case(options, &arena, bt_strbuf_str(&answer),
			bt_strbuf_str(&complaints), expected, tally, err);
	}
	bt_strbuf_finish(&complaints);
	bt_strbuf_finish(&answer);
	bt_arena_finish(&arena);
	return result;
}

static void report_death(
	const struct options *options, struct bt_str case_json, int status, struct tally *tally)
{
	struct bt_arena arena;
	bt_arena_init(&arena, 0);
	struct bt_json_value *value = NULL;
	/* An invalid line must not end the process. */
	int result = bt_json_parse(&arena, case_json, false, &value, NULL);
	struct bt_str name = result == 0 ? bt_json_find_str(value, "name") : BT_STR("");
	FILE *file = options->answer ? stderr : stdout;
	tally->failed++;
	(void)fprintf(file, "%.*s\n  the process that ran the case died: %s %d\n", BT_STR_ARG(name),
		WIFSIGNALED(status) ? "signal" : "status",
		WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	bt_arena_finish(&arena);
}

/**
 * Runs the case in the child process, and writes the tally to `file`, the write end of a pipe. The
 * write does not block, because the tally fits into the buffer of the pipe.
 */
BT_NORETURN static void run_and_exit(const struct options *options, struct bt_str case_json,
	struct bt_str expected_json, struct tally *tally, int file)
{
	struct berth_error err = BERTH_ERROR_INIT;
	tally->result = run_case(options, case_json, expected_json, tally, &err);
	if (tally->result < 0) {
		(void)snprintf(tally->error, sizeof(tally->error), "%s", berth_error_message(&err));
	}
	(void)fflush(stdout);
	_exit(write(file, tally, sizeof(*tally)) == (ssize_t)sizeof(*tally) ? 0 : 1);
}

/**
 * Runs a case in a child process. A failed verification or assertion ends the child, and counts as
 * one failed case.
 */
static int run_case_apart(const struct options *options, struct bt_str case_json,
	struct bt_str expected_json, struct tally *tally, struct berth_error *err)
{
	struct tally after;
	int status = 0;
	int ends[2];
	if (pipe(ends) != 0) {
		return bt_error_set(err, BERTH_ERR_IO, "pipe: %s", strerror(errno));
	}
	(void)fflush(stdout);
	pid_t child = fork();
	if (child == 0) {
		run_and_exit(options, case_json, expected_json, tally, ends[1]);
	}
	(void)close(ends[1]);
	ssize_t got = child < 0 ? -1 : read(ends[0], &after, sizeof(after));
	(void)close(ends[0]);
	if (child < 0 || waitpid(child, &status, 0) < 0) {
		return bt_error_set(err, BERTH_ERR_IO, "a process for a case: %s", strerror(errno));
	}
	if (got != (ssize_t)sizeof(after)) {
		report_death(options, case_json, status, tally);
		return 0;
	}
	*tally = after;
	return after.result < 0 ? bt_error_set(err, after.result, "%s", after.error) : 0;
}

/** Fails if the file has more answers than cases: such answers belong to other cases. */
static int check_no_more(
	const struct options *options, struct bt_line_reader *expected, struct berth_error *err)
{
	struct bt_str line;
	bool more = false;
	int result = options->answer ? 0 : bt_line_reader_next(expected, &line, &more, err);
	if (result == 0 && more) {
		result = bt_error_set(err, BERTH_ERR_INVALID, "more answers than cases");
	}
	return result;
}

static int run_cases(const struct options *options, struct bt_line_reader *cases,
	struct bt_line_reader *expected, struct tally *tally, struct berth_error *err)
{
	for (;;) {
		struct bt_str line;
		bool more;
		int result = bt_line_reader_next(cases, &line, &more, err);
		if (result == 0 && !more) {
			result = check_no_more(options, expected, err);
		}
		if (result < 0 || !more) {
			return result;
		}
		struct bt_str answer;
		result = next_expected(options, expected, &answer, err);
		if (result == 0) {
			result = run_case_apart(options, line, answer, tally, err);
		}
		if (result < 0) {
			return bt_error_wrap(err, result, "line %lu", bt_line_reader_number(cases));
		}
	}
}

static int run(void *context, struct bt_strbuf *out, struct berth_error *err)
{
	struct options *options = context;
	const struct bt_arguments *arguments = &options->line.arguments;
	struct bt_line_reader *cases = NULL;
	struct bt_line_reader *expected = NULL;
	struct tally tally = {.passed = 0};
	split_skip(options);
	int result = bt_line_reader_open(arguments->list.items[0], &cases, err);
	if (result == 0 && !options->answer) {
		result = bt_line_reader_open(arguments->list.items[1], &expected, err);
	}
	if (result == 0) {
		result = run_cases(options, cases, expected, &tally, err);
	}
	bt_line_reader_close(cases);
	bt_line_reader_close(expected);
	if (result < 0) {
		return result;
	}
	if (options->explain) {
		bt_strbuf_printf(out,
			"%" PRIu64 " pods explained, %" PRIu64 " proposals, none for %" PRIu64
			" pods\n",
			tally.explained.pods, tally.explained.proposals,
			tally.explained.without_proposal);
	}
	if (!options->answer) {
		bt_strbuf_printf(out, "%lu passed, %lu failed\n", tally.passed, tally.failed);
	}
	return tally.failed == 0 ? BT_EXIT_OK : BT_EXIT_FINDING;
}

static int check(void *context, struct berth_error *err)
{
	const struct options *options = context;
	if (options->answer && options->explain) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"--explain compares with EXPECTED and cannot be combined with --answer\n"
			"Usage: %s",
			options->line.command->usage);
	}
	return options->line.arguments.list.count == (options->answer ? 1U : 2U)
		? 0
		: bt_error_set(err, BERTH_ERR_INVALID, "needs %s\nUsage: %s",
			  options->answer ? "the file CASES" : "two files, CASES and EXPECTED",
			  options->line.command->usage);
}

static const struct bt_flag flags[] = {
	{"skip", 0, BT_FLAG_STRING, offsetof(struct options, skip_text), "FIELD,...",
		"members of a result that are not compared"},
	{"show", 0, BT_FLAG_INT, offsetof(struct options, show), "N",
		"differences to print (default 5)"},
	{"answer", 0, BT_FLAG_BOOL, offsetof(struct options, answer), NULL,
		"print berth's answers as JSON lines instead of comparing; takes CASES only"},
	{"explain", 0, BT_FLAG_BOOL, offsetof(struct options, explain), NULL,
		"also explain every pod, and try every proposed change"},
};

static const struct options defaults = {.skip_text = "", .show = SHOWN_DEFAULT};

static const struct bt_command command_conformance = {
	.name = "conformance",
	.is_program = true,
	.summary = "Compare decisions with recorded answers of upstream's scheduling framework.",
	.usage = "berth-conformance CASES [EXPECTED] [FLAGS]",
	.arguments = "FILE",
	.help = "Runs every case of CASES and compares each member of its results with EXPECTED; "
		"both\n"
		"are JSON lines, gzipped or not. The first differences are printed; the last line\n"
		"is \"N passed, N failed\". With BERTH_VERIFY=1 the column results are checked\n"
		"against the plain plugins as well. Each case runs in a separate process; if the\n"
		"process dies, the case has failed.\n",
	.examples = "  berth-conformance cases.jsonl.gz expected.jsonl.gz --show 20\n"
		    "  berth-conformance cases.jsonl --answer > answers.jsonl\n",
	.exit_status = "  0  all cases passed\n"
		       "  1  some cases failed, or with --answer: verification found a difference\n"
		       "  2  the flags are wrong or a file cannot be read\n",
	.flags = flags,
	.flag_count = BT_ARRAY_LENGTH(flags),
	.options_bytes = sizeof(struct options),
	.defaults = &defaults,
	.check = check,
	.run = run,
};

static int run_program(int argc, char **argv)
{
	return bt_command_run(&command_conformance, argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
	return bt_command_main(argc, argv, run_program);
}
