/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "soak/sim.h"

#define SEEDS_MAX INT64_C(1000000000)

struct options {
	struct bt_command_line line;
	int64_t seeds;
	int64_t first_seed;
	int64_t minutes;
	int64_t hash_secret; /* -1: random */
	const char *faults;
	const char *log_path;
	bool verify;
	enum bt_sim_faults fault_level;
};

struct totals {
	int64_t passed;
	int64_t failed;
	uint64_t attempts;
	uint64_t bound;
	uint64_t allocations;
	uint64_t failed_writes;
	uint64_t relists;
	uint64_t checks;
	uint64_t whole_groups;
	uint64_t evictions;
};

/**
 * The message that a crash prints. It is formatted before each history, because a signal handler
 * must not format.
 */
static char last_words[256];

static void print_crash(int number)
{
	/* There is no way to report a failed write. */
	if (write(STDERR_FILENO, last_words, strlen(last_words)) < 0) {
		_exit(BT_EXIT_BAD_INPUT);
	}
	(void)raise(number); /* SA_RESETHAND restored the default action */
}

static void listen_for_crashes(void)
{
	static const int numbers[] = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE};
	struct sigaction action = {.sa_handler = print_crash, .sa_flags = (int)SA_RESETHAND};
	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(numbers); i++) {
		(void)sigaction(numbers[i], &action, NULL); /* cannot fail for these */
	}
}

static void prepare_last_words(const struct options *options, uint64_t seed)
{
	(void)snprintf(last_words, sizeof(last_words),
		"seed %llu: crashed\nrun it again: berth-soak --seeds 1 --first-seed %llu "
		"--minutes "
		"%lld --faults %s --log soak.log%s\n",
		(unsigned long long)seed, (unsigned long long)seed, (long long)options->minutes,
		options->faults, options->verify ? " --verify" : "");
}

static void write_line(void *context, struct bt_str line)
{
	FILE *file = context;
	(void)fprintf(file, "%.*s\n", BT_STR_ARG(line)); /* errors show when the file is closed */
}

static bool parse_faults(const char *text, enum bt_sim_faults *out_faults)
{
	static const char *const names[] = {"none", "some", "all"};
	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(names); i++) {
		if (strcmp(text, names[i]) == 0) {
			*out_faults = (enum bt_sim_faults)i;
			return true;
		}
	}
	return false;
}

static int check(void *context, struct berth_error *err)
{
	struct options *options = context;
	options->verify = options->verify || options->line.setup.verify;
	if (options->seeds < 1 || options->seeds > SEEDS_MAX || options->first_seed < 0) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"--seeds: must be at least 1; --first-seed: must not be negative");
	}
	if (options->minutes < 1 || options->minutes > BT_SIM_MINUTES_MAX) {
		return bt_error_set(
			err, BERTH_ERR_INVALID, "--minutes: must be 1 to %d", BT_SIM_MINUTES_MAX);
	}
	if (!parse_faults(options->faults, &options->fault_level)) {
		return bt_error_set(err, BERTH_ERR_INVALID, "--faults: must be none, some or all");
	}
	return 0;
}

static void add(struct totals *totals, const struct bt_sim_report *report)
{
	totals->attempts += report->attempts;
	totals->bound += report->bound;
	totals->allocations += report->allocations;
	totals->failed_writes += report->failed_writes;
	totals->relists += report->relists;
	totals->checks += report->checks;
	totals->evictions += report->evictions;
	totals->whole_groups += report->whole_groups;
}

static void print_failure(
	const struct options *options, uint64_t seed, const struct bt_sim_report *report)
{
	(void)printf("seed %llu: %s\nrun it again: berth-soak --seeds 1 --first-seed %llu "
		     "--minutes %lld --faults %s --log soak.log%s\n",
		(unsigned long long)seed, bt_strbuf_c(&report->complaint), (unsigned long long)seed,
		(long long)options->minutes, options->faults, options->verify ? " --verify" : "");
	(void)fflush(stdout); /* bt_command_main reports a failed write */
}

static int run_seeds(
	const struct options *options, FILE *log, struct totals *totals, struct berth_error *err)
{
	listen_for_crashes();
	bool shows_progress = isatty(STDERR_FILENO) != 0;
	for (int64_t i = 0; i < options->seeds; i++) {
		struct bt_sim_options sim = {
			.seed = (uint64_t)(options->first_seed + i),
			.minutes = options->minutes,
			.faults = options->fault_level,
			.verify = options->verify,
			.log = log != NULL ? write_line : NULL,
			.log_context = log,
		};
		struct bt_sim_report report;
		prepare_last_words(options, sim.seed);
		if (log != NULL) {
			(void)fprintf(log, "seed %llu\n", (unsigned long long)sim.seed);
		}
		int result = bt_sim_run(&sim, &report, err);
		if (result < 0) {
			bt_sim_report_finish(&report);
			return result;
		}
		add(totals, &report);
		if (report.complaint.length != 0) {
			totals->failed++;
			print_failure(options, sim.seed, &report);
		} else {
			totals->passed++;
		}
		bt_sim_report_finish(&report);
		if (shows_progress) {
			(void)fprintf(stderr, "\r%lld of %lld", (long long)(i + 1),
				(long long)options->seeds);
		}
	}
	if (shows_progress) {
		(void)fputs("\r", stderr);
	}
	return 0;
}

static int run(void *context, struct bt_strbuf *out, struct berth_error *err)
{
	const struct options *options = context;
	struct totals totals = {0};
	FILE *log = NULL;
	int result = 0;
	if (options->hash_secret >= 0) {
		bt_hash_set_secret((uint64_t)options->hash_secret);
	}
	if (options->log_path != NULL) {
		log = fopen(options->log_path, "w");
		if (log == NULL) {
			return bt_error_set(
				err, BERTH_ERR_IO, "%s: %s", options->log_path, strerror(errno));
		}
	}
	result = run_seeds(options, log, &totals, err);
	if (log != NULL) {
		bool broken = ferror(log) != 0;
		if ((fclose(log) != 0 || broken) && result == 0) {
			result = bt_error_set(
				err, BERTH_ERR_IO, "%s: cannot be written", options->log_path);
		}
	}
	if (result < 0) {
		return result;
	}
	bt_strbuf_printf(out,
		"%llu attempts, %llu bindings, %llu device allocations, %llu evictions, %llu "
		"failed writes, %llu relists, %llu quiet moments, %llu whole groups\n",
		(unsigned long long)totals.attempts, (unsigned long long)totals.bound,
		(unsigned long long)totals.allocations, (unsigned long long)totals.evictions,
		(unsigned long long)totals.failed_writes, (unsigned long long)totals.relists,
		(unsigned long long)totals.checks, (unsigned long long)totals.whole_groups);
	bt_strbuf_printf(out, "%lld passed, %lld failed\n", (long long)totals.passed,
		(long long)totals.failed);
	return totals.failed == 0 ? BT_EXIT_OK : BT_EXIT_FINDING;
}

static const struct bt_flag flags[] = {
	{"seeds", 0, BT_FLAG_INT, offsetof(struct options, seeds), "N",
		"number of histories (default 20)"},
	{"first-seed", 0, BT_FLAG_INT, offsetof(struct options, first_seed), "S",
		"seed of the first history; each next history adds 1 (default 1)"},
	{"minutes", 0, BT_FLAG_INT, offsetof(struct options, minutes), "M",
		"simulated minutes of changes in each history (default 10)"},
	{"faults", 0, BT_FLAG_STRING, offsetof(struct options, faults), "none|some|all",
		"how many writes fail and watches break (default some)"},
	{"log", 0, BT_FLAG_STRING, offsetof(struct options, log_path), "FILE",
		"write a log of all events; the same for the same seed"},
	{"hash-secret", 0, BT_FLAG_INT, offsetof(struct options, hash_secret), "N",
		"secret of the hashes (default random); the log must not depend on it"},
	{"verify", 0, BT_FLAG_BOOL, offsetof(struct options, verify), NULL,
		"make every decision also with the plain plugins; stop at a difference (slow)"},
};

static const struct options defaults = {
	.seeds = 20, .first_seed = 1, .minutes = 10, .hash_secret = -1, .faults = "some"};

static const struct bt_command command_soak = {
	.name = "soak",
	.is_program = true,
	.summary = "Run the scheduler in simulated clusters and look for mistakes.",
	.usage = "berth-soak [FLAGS]",
	.help = "Each seed is one history in virtual time: nodes, devices and pods are created,\n"
		"changed and deleted, watches are late and break, and writes of the scheduler\n"
		"fail. Checkers compare the scheduler with the API's objects: no node is\n"
		"over-committed, no device is allocated twice, each pod is bound at most once,\n"
		"no pod that fits waits when the cluster is quiet, the cache equals the store,\n"
		"and no deleted object is kept. The first complaint ends a history.\n",
	.examples = "  berth-soak --seeds 1000 --minutes 10 --faults all\n",
	.exit_status = "  0  no history had a complaint\n"
		       "  1  some histories had a complaint; their seeds are printed\n"
		       "  2  the flags are wrong, or the log cannot be written\n",
	.flags = flags,
	.flag_count = BT_ARRAY_LENGTH(flags),
	.no_arguments = "the program takes none",
	.options_bytes = sizeof(struct options),
	.defaults = &defaults,
	.check = check,
	.run = run,
};

static int run_program(int argc, char **argv)
{
	return bt_command_run(&command_soak, argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
	return bt_command_main(argc, argv, run_program);
}
