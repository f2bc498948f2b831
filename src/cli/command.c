/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "base/str.h"
#include "base/vec.h"
#include "cli/suggest.h"

/** The flag meant by an error's `unknown flag: --NAME`, or NULL. */
static const char *suggest_flag(
	const struct bt_flag *flags, uint32_t flag_count, const char *message)
{
	static const char unknown[] = "unknown flag: --";
	BT_VEC(const char *) names = {0};
	if (strncmp(message, unknown, sizeof(unknown) - 1) != 0) {
		return NULL;
	}
	for (uint32_t i = 0; i < flag_count; i++) {
		bt_vec_push(&names, flags[i].name);
	}
	const char *meant = bt_suggest(message + sizeof(unknown) - 1, names.items, names.count);
	bt_vec_finish(&names);
	return meant;
}

static char separator(const struct bt_command *command)
{
	return command->is_program ? '-' : ' ';
}

bool bt_command_parse(const struct bt_command *command, const struct bt_flag *flags,
	uint32_t flag_count, int argc, char **argv, struct bt_arguments *out_arguments,
	int *out_exit)
{
	struct berth_error err = BERTH_ERROR_INIT;
	bool help;
	if (command->visitor != NULL) {
		command->visitor->visit(command->visitor->context, flags, flag_count);
		*out_exit = BT_EXIT_OK;
		return false;
	}
	if (bt_flags_parse(flags, flag_count, argc, argv, out_arguments, &help, &err) < 0) {
		const char *meant = suggest_flag(flags, flag_count, berth_error_message(&err));
		int status = bt_command_fail(command, &err);
		if (meant != NULL) {
			(void)fprintf(stderr, "Did you mean --%s? ", meant);
		}
		(void)fprintf(stderr, "Run \"berth%c%s --help\" for its flags.\n",
			separator(command), command->name);
		*out_exit = status;
		return false;
	}
	if (help) {
		static const char no_finding[] = "  0  success\n"
						 "  2  the flags or what they name are wrong\n";
		struct bt_strbuf text = {0};
		bt_strbuf_printf(&text, "%s\n\nUsage:\n  %s\n\n%s\nFlags:\n", command->summary,
			command->usage, command->help);
		bt_flags_help(flags, flag_count, &text);
		bt_flags_help_row("  -h, --help", BT_HELP_TEXT_COLUMN, "show this text", &text);
		if (command->examples != NULL) {
			bt_strbuf_printf(&text, "\nExamples:\n%s", command->examples);
		}
		bt_strbuf_printf(&text, "\nExit status:\n%s",
			command->exit_status != NULL ? command->exit_status : no_finding);
		(void)fputs(bt_strbuf_c(&text), stdout);
		bt_strbuf_finish(&text);
		*out_exit = BT_EXIT_OK;
		return false;
	}
	return true;
}

void bt_command_visit_flags(
	const struct bt_command *command, const struct bt_command_visitor *visitor)
{
	struct bt_command visited = *command;
	visited.visitor = visitor;
	(void)visited.run(&visited, 0, NULL); /* bt_command_parse has nothing else to tell */
}

int bt_command_fail(const struct bt_command *command, struct berth_error *err)
{
	(void)fprintf(stderr, "berth%c%s: %s\n", separator(command), command->name,
		berth_error_message(err));
	berth_error_finish(err);
	return BT_EXIT_BAD_INPUT;
}

/** What a write failed with is forgotten once it is followed by others. */
static bool is_reader_gone(void)
{
	struct pollfd out = {.fd = STDOUT_FILENO};
	return errno == EPIPE || (poll(&out, 1, 0) == 1 && (out.revents & POLLERR) != 0);
}

int bt_command_main(int argc, char **argv, int (*run)(int argc, char **argv))
{
	/* A reader that goes away ("| head") shows as a failed write, which is looked at below. */
	struct sigaction ignore = {.sa_handler = SIG_IGN};
	(void)sigaction(SIGPIPE, &ignore, NULL); /* cannot fail for a valid signal */
	/* Names in files are anybody's choice: they must not be able to collide on purpose. */
	uint64_t secret;
	if (getrandom(&secret, sizeof(secret), 0) == (ssize_t)sizeof(secret)) {
		bt_hash_set_secret(secret);
	}
	int exit_status = run(argc, argv);
	errno = 0;
	bool failed = fflush(stdout) != 0;
	int reason = errno;
	if ((failed || ferror(stdout) != 0) && !is_reader_gone()) {
		(void)fprintf(stderr, "berth: writing the output: %s\n",
			reason != 0 ? strerror(reason) : "failed");
		return BT_EXIT_BAD_INPUT;
	}
	return exit_status;
}

bool bt_command_verify(void)
{
	const char *value = getenv("BERTH_VERIFY");
	return value != NULL && value[0] != '\0' && strcmp(value, "0") != 0;
}

int64_t bt_command_max_pd_volumes(void)
{
	const char *value = getenv("KUBE_MAX_PD_VOLS");
	int64_t number;
	if (value == NULL || value[0] == '\0') {
		return 0;
	}
	if (!bt_str_parse_int64(bt_str_from(value), &number) || number <= 0) {
		(void)fprintf(
			stderr, "berth: KUBE_MAX_PD_VOLS is ignored: not a positive number\n");
		return 0;
	}
	return number;
}

#define PROGRESS_DELAY_MS 300
#define PROGRESS_INTERVAL_MS 200

static int64_t now_ms(void)
{
	struct timespec now;
	(void)clock_gettime(CLOCK_MONOTONIC, &now); /* cannot fail for this clock */
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void bt_progress_start(struct bt_progress *progress, const char *what, bool only_terminal)
{
	*progress = (struct bt_progress){
		.what = what,
		.wanted = !only_terminal || isatty(STDERR_FILENO) == 1,
		.next_ms = now_ms() + PROGRESS_DELAY_MS,
	};
}

void bt_progress_show(void *context, uint32_t done, uint32_t total)
{
	struct bt_progress *progress = context;
	if (!progress->wanted) {
		return;
	}
	int64_t now = now_ms();
	if (now < progress->next_ms) {
		return;
	}
	if (total == 0) {
		(void)fprintf(stderr, "\r%s: %u", progress->what, done);
	} else {
		(void)fprintf(stderr, "\r%s: %u of %u (%u%%)", progress->what, done, total,
			(uint32_t)((uint64_t)done * 100 / total));
	}
	progress->next_ms = now + PROGRESS_INTERVAL_MS;
	progress->shown = true;
}

void bt_progress_end(struct bt_progress *progress)
{
	if (progress->shown) {
		(void)fputs("\r\033[K", stderr);
		progress->shown = false;
	}
}

void bt_warnings_take(void *context, const char *line)
{
	struct bt_warnings *warnings = context;
	if (++warnings->count <= BT_WARNINGS_SHOWN) {
		(void)fprintf(stderr, "berth %s: warning: %s\n", warnings->command->name, line);
	}
}

void bt_warnings_end(const struct bt_warnings *warnings)
{
	if (warnings->count > BT_WARNINGS_SHOWN) {
		(void)fprintf(stderr, "berth %s: and %u more warnings\n", warnings->command->name,
			warnings->count - BT_WARNINGS_SHOWN);
	}
}
