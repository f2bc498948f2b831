/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/suggest.h"
#include "base/alloc.h"
#include "base/duration.h"
#include "base/str.h"
#include "base/vec.h"

static int check(struct bt_command_line *line, struct berth_error *err)
{
	const struct bt_command *command = line->command;
	int result = 0;
	if (command->no_arguments != NULL && line->arguments.list.count != 0) {
		return bt_error_set(err, BERTH_ERR_INVALID, "unexpected argument %s: %s",
			line->arguments.list.items[0], command->no_arguments);
	}
	if (command->check != NULL) {
		result = command->check(line, err);
	}
	if (result == 0) {
		result = bt_output_set_color(line->color, err);
	}
	for (uint32_t i = 0; i < command->flag_count && result == 0; i++) {
		const struct bt_flag *flag = &command->flags[i];
		if (flag->offset == offsetof(struct bt_command_line, format_name)) {
			result = bt_output_format_parse(
				line->format_name, flag->value_name, &line->format, err);
		}
	}
	if (result == 0 && command->has_source) {
		bt_source_choose(&line->source);
	}
	return result == 0 && command->has_setup ? bt_setup_start(command->name, &line->setup, err)
						 : result;
}

int bt_command_run(const struct bt_command *command, int argc, char **argv)
{
	if (command->main != NULL) {
		return command->main(argc, argv);
	}
	struct berth_error err = BERTH_ERROR_INIT;
	size_t bytes = command->options_bytes != 0 ? command->options_bytes
						   : sizeof(struct bt_command_line);
	struct bt_command_line *line = bt_calloc(1, bytes);
	bool help = false;
	int exit_status = BT_EXIT_OK;
	if (command->defaults != NULL) {
		memcpy(line, command->defaults, bytes);
	}
	line->command = command;
	line->setup = (struct bt_setup)BT_SETUP_INIT;
	line->setup.verify = bt_setup_verify();
	line->warnings.command = command->name;
	bt_manifests_init(&line->cluster);
	line->cluster.warn = bt_warnings_take;
	line->cluster.warn_context = &line->warnings;
	if (bt_flags_parse(command->flags, command->flag_count, line, argc, argv, &line->arguments,
		    &help, &err) < 0) {
		static const char unknown[] = "unknown flag: --";
		const char *message = berth_error_message(&err);
		const char *meant = NULL;
		if (strncmp(message, unknown, sizeof(unknown) - 1) == 0) {
			BT_VEC(const char *) names = {0};
			for (uint32_t i = 0; i < command->flag_count; i++) {
				bt_vec_push(&names, command->flags[i].name);
			}
			meant = bt_suggest(message + sizeof(unknown) - 1, names.items, names.count);
			bt_vec_finish(&names);
		}
		exit_status = bt_command_fail(command, &err);
		if (meant != NULL) {
			(void)fprintf(stderr, "Did you mean --%s? ", meant);
		}
		(void)fprintf(stderr, "Run \"berth%c%s --help\" for its flags.\n",
			command->is_program ? '-' : ' ', command->name);
	} else if (help) {
		static const char no_finding[] =
			"  0  success\n"
			"  2  the flags, or the files that they name, are wrong\n";
		struct bt_strbuf text = {0};
		bt_strbuf_printf(&text, "%s\n\nUsage:\n  %s\n\n%s\nFlags:\n", command->summary,
			command->usage, command->help);
		bt_flags_help(command->flags, command->flag_count, &text);
		bt_flags_help_row("  -h, --help", BT_HELP_TEXT_COLUMN, "show this text", &text);
		if (command->examples != NULL) {
			bt_strbuf_printf(&text, "\nExamples:\n%s", command->examples);
		}
		bt_strbuf_printf(&text, "\nExit status:\n%s",
			command->exit_status != NULL ? command->exit_status : no_finding);
		bt_output_print(&text);
		bt_strbuf_finish(&text);
	} else {
		struct bt_strbuf out = {0};
		int result = check(line, &err);
		if (result == 0) {
			result = command->run(line, &out, &err);
		}
		if (result >= 0) {
			bt_output_print(&out);
		}
		bt_strbuf_finish(&out);
		bt_warnings_end(&line->warnings);
		exit_status = result < 0 ? bt_command_fail(command, &err) : result;
	}
	if (command->finish != NULL) {
		command->finish(line);
	}
	bt_flags_finish(command->flags, command->flag_count, line);
	bt_vec_finish(&line->arguments.list);
	bt_manifests_finish(&line->cluster);
	bt_setup_finish(&line->setup);
	bt_arena_finish(&line->arena);
	bt_free(line);
	return exit_status;
}

int bt_command_read_duration(const char *flag, const char *text, bool may_be_zero, int64_t *out_ns,
	struct berth_error *err)
{
	int64_t duration_ns = 0;
	if (text == NULL) {
		return 0;
	}
	int result = bt_duration_parse(bt_str_from(text), &duration_ns, err);
	if (result == 0 && (duration_ns < 0 || (duration_ns == 0 && !may_be_zero))) {
		result = bt_error_set(err, BERTH_ERR_INVALID,
			may_be_zero ? "must not be negative" : "must be longer than nothing");
	}
	if (result < 0) {
		return bt_error_wrap(err, result, "--%s", flag);
	}
	*out_ns = duration_ns;
	return 0;
}

bool bt_is_same_file(const char *one, const char *other)
{
	struct stat status;
	struct stat of_other;
	return one != NULL && other != NULL && stat(one, &status) == 0 &&
		stat(other, &of_other) == 0 && S_ISREG(status.st_mode) &&
		status.st_dev == of_other.st_dev && status.st_ino == of_other.st_ino;
}

int bt_command_check_output(const struct bt_command_line *line, const char *flag, const char *path,
	const char *other, struct berth_error *err)
{
	const struct bt_arguments *const lists[] = {&line->arguments, &line->source.files};
	if (path != NULL && strcmp(path, "-") == 0) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"--%s: name a file; standard output has the answer", flag);
	}
	bool is_read = bt_is_same_file(path, other) ||
		bt_is_same_file(path, line->source.kubeconfig) ||
		bt_is_same_file(path, line->setup.config_path);
	for (size_t i = 0; i < BT_ARRAY_LENGTH(lists); i++) {
		for (uint32_t k = 0; k < lists[i]->list.count && !is_read; k++) {
			is_read = bt_is_same_file(path, lists[i]->list.items[k]);
		}
	}
	return is_read ? bt_error_set(err, BERTH_ERR_INVALID,
				 "--%s: %s is a file that this command reads; name another file",
				 flag, path)
		       : 0;
}

int bt_command_fail(const struct bt_command *command, struct berth_error *err)
{
	(void)fprintf(stderr, "berth%c%s: %s\n", command->is_program ? '-' : ' ', command->name,
		berth_error_message(err));
	berth_error_finish(err);
	return BT_EXIT_BAD_INPUT;
}

int bt_command_main(int argc, char **argv, int (*run)(int argc, char **argv))
{
	/* A reader that exits ("| head") must show as a failed write, not as SIGPIPE. */
	struct sigaction ignore = {.sa_handler = SIG_IGN};
	(void)sigaction(SIGPIPE, &ignore, NULL); /* cannot fail for a valid signal */
	/* Names come from untrusted files: a random secret prevents chosen hash collisions. */
	uint64_t secret;
	if (getrandom(&secret, sizeof(secret), 0) == (ssize_t)sizeof(secret)) {
		bt_hash_set_secret(secret);
	}
	struct berth_error err = BERTH_ERROR_INIT;
	int exit_status = run(argc, argv);
	/* A command that failed has printed a message already. */
	if (bt_output_flush(&err) < 0 && exit_status != BT_EXIT_BAD_INPUT) {
		(void)fprintf(stderr, "berth: %s\n", berth_error_message(&err));
		exit_status = BT_EXIT_BAD_INPUT;
	}
	berth_error_finish(&err);
	return exit_status;
}

void bt_simulation_place(struct bt_simulation *simulation, uint32_t count, const char *what)
{
	struct bt_progress progress;
	bt_progress_start(&progress, what);
	simulation->progress = bt_progress_show;
	simulation->progress_context = &progress;
	bt_simulation_run(simulation, count);
	bt_progress_end(&progress);
	simulation->progress = NULL;
}

int bt_simulation_answer(struct bt_command_line *line, bt_simulation_answer_fn *answer,
	struct bt_strbuf *out, struct berth_error *err)
{
	struct bt_simulation simulation;
	int result = bt_simulation_init(
		&simulation, &line->cluster, bt_setup_scheduler, &line->setup, err);
	if (result == 0) {
		result = bt_source_read(&line->source, &line->cluster, err);
		if (result == 0) {
			result = answer(line, &simulation, out, err);
		}
		bt_simulation_finish(&simulation);
	}
	return result;
}
