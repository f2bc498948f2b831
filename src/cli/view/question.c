/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/nanoseconds.h"
#include "base/printable.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/processes.h"
#include "cli/source.h"
#include "cli/view/view.h"
#include "net/loop.h"

/**
 * A question runs a command in a child process, with the history as of the fork: a slow or large
 * answer does not block the server, and the child's memory is freed when the child ends.
 */

#define RUNNING_MAX 2
#define WAITING_MAX 32
#define SECONDS_MAX 60
#define ARGUMENTS_MAX 64
#define FILES_MAX 8
/** Time of a question about the current state, before the end of versions that have not ended. */
#define NOW_NS (INT64_MAX - 1)
/** Delimiter of here-documents. */
#define TEXT_END "EOF"

/** A command that the page may run, and its allowed flags. */
struct question_command {
	const struct bt_command *command;
	/**
	 * Flags separated by blanks. "--flag": the next argument is the value. "--flag=": a switch.
	 * "--flag<": the value is a text of the request, which the command reads as a file.
	 */
	const char *flags;
};

static const struct question_command question_commands[] = {
	{&bt_command_explain, "--namespace --proposals --after-queue="},
	{&bt_command_pending, "--namespace --proposals"},
	{&bt_command_whatif,
		"--drain --remove --add --cordon --uncordon --taint --label --scale --with< "
		"--new-config< --from-scratch= --recreate-bare-pods= --preempt="},
	{&bt_command_capacity, "--like --namespace --max --exclude-nodes --after-queue= --pod<"},
};

/** A text that the command reads as a file. */
struct question_file {
	const char *flag;
	struct bt_str text;
};

struct bt_question {
	uint32_t number;
	bt_question_answered *answered; /* NULL: the question was cancelled */
	void *context;
	struct bt_arena arena;
	const struct question_command *entry;
	const char *arguments[ARGUMENTS_MAX];
	uint32_t argument_count;
	struct question_file files[FILES_MAX];
	uint32_t file_count;
	int64_t at_ns;
	/* Set once the question runs. */
	pid_t pid;
	int output;
	FILE *messages;
	struct bt_loop_source *source;
	struct bt_strbuf text;
	struct bt_view_page *view;
};

static void end_process(struct bt_question *question, int *out_status)
{
	*out_status = 0;
	if (question->pid != 0) {
		bt_loop_remove_fd(question->view->loop, question->source);
		(void)close(question->output);
		while (waitpid(question->pid, out_status, 0) < 0 && errno == EINTR) {
		}
		question->pid = 0;
	}
}

static void destroy(struct bt_question *question)
{
	int status;
	if (question->pid != 0) {
		(void)kill(question->pid, SIGKILL);
	}
	end_process(question, &status);
	if (question->messages != NULL) {
		(void)fclose(question->messages);
	}
	bt_strbuf_finish(&question->text);
	bt_arena_finish(&question->arena);
	bt_free(question);
}

void bt_questions_finish(struct bt_view_page *view)
{
	bt_vec_finish_each(&view->questions, destroy(*each));
}

/** --- requests --- */

/** Returns the marker after the flag in the command's list: ' ', '=' or '<'; 0: not listed. */
static char find_flag(const struct question_command *asked, struct bt_str name)
{
	struct bt_str rest = bt_str_from(asked->flags);
	while (rest.length != 0) {
		struct bt_str word = bt_str_cut(&rest, ' ');
		char last = word.data[word.length - 1];
		bool is_marked = last == '=' || last == '<';
		if (bt_str_equal(bt_str_sub(word, 0, word.length - is_marked), name)) {
			return is_marked ? last : ' ';
		}
	}
	return 0;
}

/**
 * Read the command, then its flags and values. Refuses flags that question_commands does not list,
 * such as flags that read or write files.
 */
static int read_arguments(
	struct bt_question *question, const struct bt_json_value *list, struct berth_error *err)
{
	bool is_value = false;
	if (list == NULL || list->type != BT_JSON_ARRAY || list->count == 0 ||
		list->count > ARGUMENTS_MAX) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"arguments: a list of 1 to %d texts is needed", ARGUMENTS_MAX);
	}
	for (uint32_t i = 0; i < list->count; i++) {
		struct bt_str text = list->elements[i]->text;
		if (list->elements[i]->type != BT_JSON_STRING || text.length == 0 ||
			memchr(text.data, 0, text.length) != NULL) {
			return bt_error_set(
				err, BERTH_ERR_INVALID, "arguments[%u]: must be a text", i);
		}
		for (uint32_t c = 0; c < BT_ARRAY_LENGTH(question_commands) && i == 0; c++) {
			if (bt_str_equal_c(text, question_commands[c].command->name)) {
				question->entry = &question_commands[c];
			}
		}
		if (question->entry == NULL) {
			return bt_error_set(
				err, BERTH_ERR_INVALID, "%.*s cannot be asked", BT_STR_ARG(text));
		}
		bool is_flag = i != 0 && !is_value && bt_str_has_prefix(text, BT_STR("-"));
		char type = is_flag ? find_flag(question->entry, text) : ' ';
		if (is_flag && type != ' ' && type != '=') {
			return bt_error_set(err, BERTH_ERR_INVALID, "%s: %.*s cannot be asked",
				question->entry->command->name, BT_STR_ARG(text));
		}
		is_value = is_flag && type == ' ';
		question->arguments[question->argument_count++] =
			bt_arena_printf(&question->arena, "%.*s", BT_STR_ARG(text)).data;
	}
	/* Otherwise the flag would take the next one, which run_child adds, as its value. */
	return is_value ? bt_error_set(err, BERTH_ERR_INVALID, "%s: %s needs a value",
				  question->entry->command->name,
				  question->arguments[question->argument_count - 1])
			: 0;
}

static int read_question(
	struct bt_question *question, struct bt_str request, struct berth_error *err)
{
	struct bt_json_value *root;
	int result = bt_json_parse(&question->arena, request, false, &root, err);
	if (result < 0) {
		return result;
	}
	const struct bt_json_value *at = bt_json_find(root, "at");
	int64_t at_ms = 0;
	if (at != NULL &&
		(at->type != BT_JSON_NUMBER || !bt_json_number_int64(at->text, &at_ms) ||
			at_ms < 0 || at_ms > INT64_MAX / BT_NS_PER_MS)) {
		return bt_error_set(err, BERTH_ERR_INVALID, "at: not a time in milliseconds");
	}
	question->at_ns = at != NULL ? at_ms * BT_NS_PER_MS : NOW_NS;
	result = read_arguments(question, bt_json_find(root, "arguments"), err);
	if (result < 0) {
		return result;
	}
	const struct bt_json_value *list = bt_json_find(root, "files");
	uint32_t count = list != NULL && list->type == BT_JSON_ARRAY ? list->count : 0;
	if (count > FILES_MAX) {
		return bt_error_set(err, BERTH_ERR_INVALID, "files: at most %d", FILES_MAX);
	}
	for (uint32_t i = 0; i < count; i++) {
		struct bt_str flag = bt_json_find_str(list->elements[i], "flag");
		struct bt_str text = bt_json_find_str(list->elements[i], "text");
		if (find_flag(question->entry, flag) != '<') {
			return bt_error_set(err, BERTH_ERR_INVALID, "files: %.*s takes no text",
				BT_STR_ARG(flag));
		}
		question->files[question->file_count++] = (struct question_file){
			bt_arena_printf(&question->arena, "%.*s", BT_STR_ARG(flag)).data,
			bt_arena_str(&question->arena, text)};
	}
	return 0;
}

/** --- the child process --- */

static int load_cluster(const void *context, struct bt_manifests *cluster, struct berth_error *err)
{
	const struct bt_question *question = context;
	return bt_history_fill(&question->view->history, question->at_ns, cluster, err);
}

static BT_NORETURN void run_child(struct bt_question *question, int output)
{
	char *argv[ARGUMENTS_MAX + 2 * FILES_MAX + 256];
	int argc = 0;
	struct bt_source_provider provider = {load_cluster, question};
	(void)alarm(SECONDS_MAX);
	(void)dup2(output, STDOUT_FILENO);
	(void)dup2(fileno(question->messages), STDERR_FILENO);
	for (uint32_t i = 1; i < question->argument_count; i++) {
		argv[argc++] = (char *)question->arguments[i];
	}
	argv[argc++] = (char *)"--output=json";
	for (uint32_t i = 0; i < question->view->flags.list.count && argc < 256; i++) {
		argv[argc++] = (char *)question->view->flags.list.items[i];
	}
	for (uint32_t i = 0; i < question->file_count; i++) {
		const struct question_file *asked = &question->files[i];
		FILE *file = tmpfile();
		if (file == NULL ||
			fwrite(asked->text.data, 1, asked->text.length, file) !=
				asked->text.length ||
			fflush(file) != 0) {
			(void)fprintf(stderr, "berth: no room for a temporary file: %s\n",
				strerror(errno));
			_exit(BT_EXIT_BAD_INPUT);
		}
		rewind(file);
		argv[argc++] = (char *)asked->flag;
		argv[argc++] =
			(char *)bt_arena_printf(&question->arena, "/proc/self/fd/%d", fileno(file))
				.data;
	}
	argv[argc] = NULL;
	bt_source_provide(&provider);
	int status = bt_command_run(question->entry->command, argc, argv);
	if (fflush(stdout) != 0 || fflush(stderr) != 0) {
		status = BT_EXIT_BAD_INPUT;
	}
	_exit(status);
}

/** --- answers --- */

static void append_word(struct bt_strbuf *out, const char *word)
{
	bt_strbuf_append_char(out, ' ');
	bt_printable_append_word(out, bt_str_from(word));
}

static void write_answer(struct bt_question *question, int status, struct bt_strbuf *out)
{
	struct bt_strbuf line = {0};
	struct bt_strbuf messages = {0};
	struct bt_json_writer json;
	char buffer[4096];
	size_t length;
	bool is_exited = WIFEXITED(status);
	rewind(question->messages);
	while ((length = fread(buffer, 1, sizeof(buffer), question->messages)) != 0) {
		bt_strbuf_append(&messages, buffer, length);
	}
	if (!is_exited && WTERMSIG(status) == SIGALRM) {
		bt_strbuf_printf(&messages, "no answer within %d seconds\n", SECONDS_MAX);
	} else if (!is_exited) { /* for example because memory ran out */
		bt_strbuf_printf(&messages, "signal %d ended the command\n", WTERMSIG(status));
	}

	bt_json_writer_init(&json, out, 0);
	bt_json_write(
		&json, "{exitStatus: %i", (is_exited ? WEXITSTATUS(status) : BT_EXIT_BAD_INPUT));
	if (!question->view->is_recording && question->at_ns == NOW_NS) {
		bt_strbuf_printf(&line, "berth %s", question->entry->command->name);
		for (uint32_t i = 1; i < question->argument_count; i++) {
			append_word(&line, question->arguments[i]);
		}
		/*
		 * A single text is passed on standard input, so that the shown command line can be
		 * copied.
		 */
		bool is_inline = question->file_count == 1;
		struct bt_str rest = question->files[0].text;
		while (is_inline &&
			rest.length != 0) { /* no line may end the here-document early */
			is_inline = !bt_str_equal_c(bt_str_cut(&rest, '\n'), TEXT_END);
		}
		for (uint32_t i = 0; i < question->file_count; i++) {
			bt_strbuf_printf(&line, " %s %s", question->files[i].flag,
				is_inline ? "/dev/stdin" : "FILE");
		}
		for (uint32_t i = 0; i < question->view->source_flags.list.count; i++) {
			append_word(&line, question->view->source_flags.list.items[i]);
		}
		for (uint32_t i = 0; i < question->view->flags.list.count; i++) {
			append_word(&line, question->view->flags.list.items[i]);
		}
		if (is_inline) {
			struct bt_str text = question->files[0].text;
			bool is_ended = bt_str_has_suffix(text, BT_STR("\n"));
			bt_strbuf_printf(&line, " <<'" TEXT_END "'\n%.*s%s" TEXT_END "\n",
				BT_STR_ARG(text), is_ended ? "" : "\n");
		}
		bt_json_write_member(&json, "commandLine", bt_strbuf_str(&line));
	}
	bt_json_write_member(&json, "messages", bt_strbuf_str(&messages));
	bool has_output =
		is_exited && WEXITSTATUS(status) <= BT_EXIT_FINDING && question->text.length != 0;
	if (has_output) {
		bt_json_write(&json, "output: %r", bt_strbuf_str(&question->text));
	}
	bt_json_end_object(&json);
	bt_strbuf_finish(&line);
	bt_strbuf_finish(&messages);
}

static void start_waiting(struct bt_view_page *view);

static void take_output(void *context)
{
	struct bt_question *question = context;
	struct bt_view_page *view = question->view;
	char buffer[65536];
	ssize_t length = read(question->output, buffer, sizeof(buffer));
	if (length > 0) {
		bt_strbuf_append(&question->text, buffer, (size_t)length);
		return;
	}
	if (length < 0 && (errno == EINTR || errno == EAGAIN)) {
		return;
	}
	int status;
	struct bt_strbuf answer = {0};
	end_process(question, &status);
	for (uint32_t i = 0; i < view->questions.count; i++) {
		if (view->questions.items[i] == question) {
			bt_vec_remove_ordered(&view->questions, i);
			break;
		}
	}
	if (question->answered != NULL) {
		write_answer(question, status, &answer);
		question->answered(question->context, &answer, NULL);
	}
	bt_strbuf_finish(&answer);
	destroy(question);
	start_waiting(view);
}

static int start(struct bt_question *question, struct berth_error *err)
{
	int end;
	question->messages = tmpfile();
	if (question->messages == NULL) {
		return bt_error_set(
			err, BERTH_ERR_IO, "no room for a temporary file: %s", strerror(errno));
	}
	pid_t pid = bt_process_fork(&end, err);
	if (pid < 0) {
		return pid;
	}
	if (pid == 0) {
		run_child(question, end);
	}
	question->pid = pid;
	question->output = end;
	(void)fcntl(end, F_SETFD, FD_CLOEXEC);
	return bt_loop_add_fd(
		question->view->loop, end, take_output, question, &question->source, err);
}

static void start_waiting(struct bt_view_page *view)
{
	for (uint32_t i = 0; i < view->questions.count && i < RUNNING_MAX;) {
		struct bt_question *question = view->questions.items[i];
		struct berth_error err = BERTH_ERROR_INIT;
		if (question->pid == 0 && start(question, &err) < 0) {
			bt_vec_remove_ordered(&view->questions, i);
			if (question->answered != NULL) {
				question->answered(
					question->context, NULL, berth_error_message(&err));
			}
			destroy(question);
			berth_error_finish(&err);
			continue;
		}
		i++;
	}
}

int bt_question_start(struct bt_view_page *view, struct bt_str request,
	bt_question_answered *answered, void *context, uint32_t *out_number,
	struct berth_error *err)
{
	if (view->questions.count >= WAITING_MAX) {
		return bt_error_set(
			err, BERTH_ERR_TOO_LARGE, "too many questions wait already: ask again");
	}
	struct bt_question *question = BT_NEW(struct bt_question);
	question->number = ++view->last_question;
	question->answered = answered;
	question->context = context;
	question->view = view;
	int result = read_question(question, request, err);
	if (result < 0) {
		destroy(question);
		return result;
	}
	*out_number = question->number;
	bt_vec_push(&view->questions, question);
	start_waiting(view);
	return 0;
}

void bt_question_cancel(struct bt_view_page *view, uint32_t number)
{
	for (uint32_t i = 0; i < view->questions.count; i++) {
		struct bt_question *question = view->questions.items[i];
		if (question->number != number) {
			continue;
		}
		question->answered = NULL;
		if (question->pid != 0) {
			(void)kill(question->pid,
				SIGKILL); /* the question is removed when its output ends */
		} else {
			bt_vec_remove_ordered(&view->questions, i);
			destroy(question);
		}
		return;
	}
}
