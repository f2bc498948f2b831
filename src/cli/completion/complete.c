/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/completion/complete.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "cli/completion/complete_private.h"

void bt_complete_offer(struct bt_complete *complete, const struct bt_complete_word *word,
	struct bt_str candidate, const char *description)
{
	size_t length = strlen(word->text);
	if (candidate.length < length || memcmp(candidate.data, word->text, length) != 0) {
		return;
	}
	bt_strbuf_append_str(&complete->out, word->prefix);
	bt_strbuf_append_str(&complete->out, candidate);
	bt_strbuf_append_c(&complete->out, word->suffix != NULL ? word->suffix : "");
	if (description[0] != '\0') {
		bt_strbuf_printf(&complete->out, "\t%s", description);
	}
	bt_strbuf_append_char(&complete->out, '\n');
}

void bt_complete_tell_shell(struct bt_complete *complete, const char *instruction)
{
	bt_strbuf_printf(&complete->out, "%s\n", instruction);
}

/** --- commands --- */

static void offer_commands(struct bt_complete *complete)
{
	struct bt_complete_word word = {.text = complete->current};
	for (size_t i = 0; i < complete->command_count; i++) {
		bt_complete_offer(complete, &word, bt_str_from(complete->commands[i]->name),
			complete->commands[i]->summary);
	}
}

/** --- what the words before say --- */

struct flag_table {
	const struct bt_flag *flags;
	uint32_t count;
};

static const struct bt_flag *find_long(const struct flag_table *table, struct bt_str name)
{
	for (uint32_t i = 0; i < table->count; i++) {
		if (bt_str_equal_c(name, table->flags[i].name)) {
			return &table->flags[i];
		}
	}
	return NULL;
}

static const struct bt_flag *find_short(const struct flag_table *table, char letter)
{
	for (uint32_t i = 0; i < table->count; i++) {
		if (table->flags[i].shorthand == letter) {
			return &table->flags[i];
		}
	}
	return NULL;
}

static void take_value(struct bt_complete *complete, const struct bt_flag *flag, const char *value)
{
	if (strcmp(flag->name, "filename") == 0) {
		bt_vec_push(&complete->files.list, value);
	} else if (strcmp(flag->name, "namespace") == 0) {
		complete->namespace_ = value;
	}
}

static void take_long(
	struct bt_complete *complete, const struct flag_table *table, const char *word)
{
	const char *equals = strchr(word, '=');
	size_t length = equals != NULL ? (size_t)(equals - word) : strlen(word);
	const struct bt_flag *flag =
		find_long(table, (struct bt_str){word + 2, (uint32_t)length - 2});
	if (flag == NULL) {
		return;
	}
	bt_vec_push(&complete->given, flag);
	if (equals != NULL) {
		take_value(complete, flag, equals + 1);
	} else if (!bt_flag_is_complete(flag)) {
		complete->waiting = flag;
	}
}

static void take_short(
	struct bt_complete *complete, const struct flag_table *table, const char *word)
{
	for (const char *letter = word + 1; *letter != '\0'; letter++) {
		const struct bt_flag *flag = find_short(table, *letter);
		if (flag == NULL) {
			return;
		}
		bt_vec_push(&complete->given, flag);
		if (!bt_flag_is_complete(flag)) {
			const char *value = letter[1] == '=' ? letter + 2 : letter + 1;
			if (*value != '\0') {
				take_value(complete, flag, value);
			} else {
				complete->waiting = flag;
			}
			return;
		}
	}
}

static void take_word(
	struct bt_complete *complete, const struct flag_table *table, const char *word)
{
	const struct bt_flag *waiting = complete->waiting;
	complete->waiting = NULL;
	if (waiting != NULL) {
		take_value(complete, waiting, word);
	} else if (complete->only_arguments || word[0] != '-' || word[1] == '\0') {
		return;
	} else if (strcmp(word, "--") == 0) {
		complete->only_arguments = true;
	} else if (word[1] == '-') {
		take_long(complete, table, word);
	} else {
		take_short(complete, table, word);
	}
}

/** --- the word itself --- */

static bool may_come_again(const struct bt_complete *complete, const struct bt_flag *flag)
{
	if (flag->type == BT_FLAG_STRINGS || flag->type == BT_FLAG_SETTER) {
		return true;
	}
	for (uint32_t i = 0; i < complete->given.count; i++) {
		if (complete->given.items[i] == flag) {
			return false;
		}
	}
	return true;
}

static void offer_flags(struct bt_complete *complete, const struct flag_table *table)
{
	struct bt_complete_word word = {.text = complete->current};
	struct bt_strbuf name = {0};
	for (uint32_t i = 0; i < table->count; i++) {
		const struct bt_flag *flag = &table->flags[i];
		if (may_come_again(complete, flag)) {
			bt_strbuf_reset(&name);
			bt_strbuf_printf(&name, "--%s", flag->name);
			bt_complete_offer(complete, &word, bt_strbuf_str(&name), flag->help);
		}
	}
	bt_strbuf_finish(&name);
	if (find_long(table, BT_STR("help")) == NULL) {
		bt_complete_offer(complete, &word, BT_STR("--help"), "show how to use it");
	}
}

/** A flag and, in the same word, its value or the beginning of it: "--output=ta", "-ota". */
static bool complete_inline_value(struct bt_complete *complete, const struct flag_table *table)
{
	const char *current = complete->current;
	const struct bt_flag *flag;
	const char *value;
	if (current[1] == '\0') {
		return false;
	}
	if (current[1] == '-') {
		const char *equals = strchr(current, '=');
		if (equals == NULL) {
			return false;
		}
		struct bt_str name = {current + 2, (uint32_t)(equals - current) - 2};
		flag = find_long(table, name);
		value = equals + 1;
	} else {
		flag = find_short(table, current[1]);
		value = current + 2 + (current[2] == '=');
		if (flag != NULL && (bt_flag_is_complete(flag) || current[2] == '\0')) {
			flag = NULL;
		}
	}
	if (flag == NULL || flag->value_name == NULL) {
		return false;
	}
	struct bt_complete_word word = {
		.prefix = {current, (uint32_t)(value - current)}, .text = value};
	bt_complete_value(complete, &word, flag->value_name);
	return true;
}

static void visit(void *context, const struct bt_flag *flags, uint32_t flag_count)
{
	struct bt_complete *complete = context;
	const struct flag_table table = {flags, flag_count};
	for (uint32_t i = 0; i < complete->words.list.count; i++) {
		take_word(complete, &table, complete->words.list.items[i]);
	}
	if (complete->waiting != NULL) {
		struct bt_complete_word word = {.text = complete->current};
		if (complete->waiting->value_name != NULL) {
			bt_complete_value(complete, &word, complete->waiting->value_name);
		}
	} else if (complete->only_arguments || complete->current[0] != '-') {
		struct bt_complete_word word = {.text = complete->current};
		if (complete->command->arguments != NULL) {
			bt_complete_value(complete, &word, complete->command->arguments);
		} else if (!complete->only_arguments) {
			offer_flags(complete, &table);
		}
	} else if (!complete_inline_value(complete, &table)) {
		offer_flags(complete, &table);
	}
}

/** --- all of it --- */

static void complete_line(struct bt_complete *complete, int argc, char **argv)
{
	complete->current = argc > 0 ? argv[argc - 1] : "";
	if (argc <= 1) {
		struct bt_complete_word word = {.text = complete->current};
		offer_commands(complete);
		bt_complete_offer(complete, &word, BT_STR("help"), "Explain a command.");
		if (complete->current[0] == '-') {
			bt_complete_offer(complete, &word, BT_STR("--help"), "list the commands");
			bt_complete_offer(
				complete, &word, BT_STR("--version"), "print the version");
		}
		return;
	}
	if (strcmp(argv[0], "help") == 0) {
		if (argc == 2) {
			offer_commands(complete);
		}
		return;
	}
	for (int i = 1; i < argc - 1; i++) {
		bt_vec_push(&complete->words.list, argv[i]);
	}
	for (size_t i = 0; i < complete->command_count; i++) {
		if (strcmp(complete->commands[i]->name, argv[0]) == 0) {
			const struct bt_command_visitor visitor = {visit, complete};
			complete->command = complete->commands[i];
			bt_command_visit_flags(complete->command, &visitor);
		}
	}
}

int bt_complete_run(
	const struct bt_command *const *commands, size_t command_count, int argc, char **argv)
{
	struct bt_complete complete = {.commands = commands, .command_count = command_count};
	complete_line(&complete, argc, argv);
	(void)fputs(bt_strbuf_c(&complete.out), stdout); /* main looks at the stream */
	bt_strbuf_finish(&complete.out);
	bt_vec_finish(&complete.words.list);
	bt_vec_finish(&complete.files.list);
	bt_vec_finish(&complete.given);
	return BT_EXIT_OK;
}
