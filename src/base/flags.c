/* SPDX-License-Identifier: Apache-2.0 */
#include "base/flags.h"

#include <string.h>

#include "base/str.h"

struct parse {
	const struct bt_flag *flags;
	uint32_t flag_count;
	void *options;
	int argc;
	char **argv;
	int next;
	struct berth_error *err;
};

/** Compares names; an underscore equals a dash. */
static bool name_equals(const char *name, struct bt_str given)
{
	if (strlen(name) != given.length) {
		return false;
	}
	for (uint32_t i = 0; i < given.length; i++) {
		char byte = given.data[i] == '_' ? '-' : given.data[i];
		if (name[i] != byte) {
			return false;
		}
	}
	return true;
}

static int set_flag_error(const struct parse *parse, const struct bt_flag *flag, const char *value,
	const char *reason)
{
	struct bt_strbuf text = {0};
	bt_strbuf_append_c(&text, "invalid argument ");
	bt_strbuf_append_quoted(&text, bt_str_from(value));
	bt_strbuf_append_c(&text, " for \"");
	if (flag->shorthand != 0) {
		bt_strbuf_printf(&text, "-%c, ", flag->shorthand);
	}
	bt_strbuf_printf(&text, "--%s\" flag: %s", flag->name, reason);
	return bt_error_take(parse->err, BERTH_ERR_INVALID, &text);
}

/** Stores the value of a flag in the options. value NULL: the argument is --name alone. */
static int store(const struct parse *parse, const struct bt_flag *flag, const char *value)
{
	void *target = (char *)parse->options + flag->offset;
	int64_t number;
	switch (flag->type) {
	case BT_FLAG_BOOL:
		if (!bt_str_parse_bool(bt_str_from(value != NULL ? value : "true"), target)) {
			return set_flag_error(parse, flag, value, "must be true or false");
		}
		return 0;
	case BT_FLAG_STRING:
		*(const char **)target = value;
		return 0;
	case BT_FLAG_INT:
		if (!bt_str_parse_int64(bt_str_from(value), &number)) {
			return set_flag_error(parse, flag, value, "must be an integer");
		}
		*(int64_t *)target = number;
		return 0;
	case BT_FLAG_STRINGS:
		bt_vec_push(&((struct bt_arguments *)target)->list, value);
		return 0;
	case BT_FLAG_SETTER:
	case BT_FLAG_OPTIONAL: {
		struct berth_error reason = BERTH_ERROR_INIT;
		int code = (*(bt_flag_set_fn **)target)(parse->options, flag, value, &reason);
		if (code < 0) {
			code = set_flag_error(parse, flag, value != NULL ? value : "",
				berth_error_message(&reason));
			berth_error_finish(&reason);
		}
		return code;
	}
	}
	return 0;
}

bool bt_flag_is_complete(const struct bt_flag *flag)
{
	return flag->type == BT_FLAG_BOOL || flag->type == BT_FLAG_OPTIONAL;
}

/**
 * Stores the value of a flag: from "=value", from the next argument, or none. Returns false if a
 * required value is missing.
 */
static bool take_value(
	struct parse *parse, const struct bt_flag *flag, const char *inline_value, int *out_result)
{
	if (inline_value == NULL && !bt_flag_is_complete(flag)) {
		if (parse->next == parse->argc) {
			return false;
		}
		inline_value = parse->argv[parse->next++];
	}
	*out_result = store(parse, flag, inline_value);
	return true;
}

static int parse_long(struct parse *parse, const char *argument, bool *out_help)
{
	const char *name = argument + 2;
	const char *equals = strchr(name, '=');
	struct bt_str given = {
		name, (uint32_t)(equals != NULL ? (size_t)(equals - name) : strlen(name))};
	if (given.length == 0 || given.data[0] == '-') {
		return bt_error_set(parse->err, BERTH_ERR_INVALID, "bad flag syntax: %s", argument);
	}
	for (uint32_t i = 0; i < parse->flag_count; i++) {
		if (name_equals(parse->flags[i].name, given)) {
			int result;
			return take_value(parse, &parse->flags[i],
				       equals != NULL ? equals + 1 : NULL, &result)
				? result
				: bt_error_set(parse->err, BERTH_ERR_INVALID,
					  "flag needs an argument: %s", argument);
		}
	}
	if (name_equals("help", given)) {
		*out_help = true;
		return 0;
	}
	return bt_error_set(
		parse->err, BERTH_ERR_INVALID, "unknown flag: --%.*s", BT_STR_ARG(given));
}

/**
 * Handles one shorthand letter of an argument. Sets *out_done if the remainder of the argument was
 * the value of the flag.
 */
static int parse_letter(struct parse *parse, const char *argument, const char *letter,
	bool *out_help, bool *out_done)
{
	const struct bt_flag *flag = NULL;
	const char *rest = letter[1] == '=' ? letter + 2 : letter[1] != '\0' ? letter + 1 : NULL;
	int result;
	*out_done = false;
	for (uint32_t i = 0; i < parse->flag_count && flag == NULL; i++) {
		flag = parse->flags[i].shorthand == *letter ? &parse->flags[i] : NULL;
	}
	if (flag == NULL && *letter == 'h') {
		*out_help = true;
		return 0;
	}
	if (flag == NULL) {
		return bt_error_set(parse->err, BERTH_ERR_INVALID,
			"unknown shorthand flag: '%c' in %s", *letter, argument);
	}
	if (bt_flag_is_complete(flag) && letter[1] != '=') {
		return store(parse, flag, NULL);
	}
	*out_done = true;
	return take_value(parse, flag, rest, &result)
		? result
		: bt_error_set(parse->err, BERTH_ERR_INVALID, "flag needs an argument: '%c' in %s",
			  *letter, argument);
}

int bt_flags_parse(const struct bt_flag *flags, uint32_t flag_count, void *options, int argc,
	char **argv, struct bt_arguments *out_arguments, bool *out_help, struct berth_error *err)
{
	struct parse parse = {flags, flag_count, options, argc, argv, 0, err};
	bool only_arguments = false;
	*out_help = false;
	while (parse.next < argc) {
		char *argument = argv[parse.next++];
		int result = 0;
		if (only_arguments || argument[0] != '-' || argument[1] == '\0') {
			bt_vec_push(&out_arguments->list, argument);
		} else if (strcmp(argument, "--") == 0) {
			only_arguments = true;
		} else if (argument[1] == '-') {
			result = parse_long(&parse, argument, out_help);
		} else {
			bool done = false;
			for (const char *at = argument + 1; *at != '\0' && result == 0 && !done;
				at++) {
				result = parse_letter(&parse, argument, at, out_help, &done);
			}
		}
		if (result < 0) {
			return result;
		}
	}
	return 0;
}

void bt_flags_finish(const struct bt_flag *flags, uint32_t flag_count, void *options)
{
	for (uint32_t i = 0; i < flag_count; i++) {
		if (flags[i].type == BT_FLAG_STRINGS) {
			struct bt_arguments *arguments =
				(void *)((char *)options + flags[i].offset);
			bt_vec_finish(&arguments->list);
		}
	}
}

void bt_flags_help_row(
	const char *head, size_t text_column, const char *text, struct bt_strbuf *out)
{
	size_t column = strlen(head);
	bool starts_line = true;
	bt_strbuf_append_c(out, head);
	while (*text != '\0') {
		size_t length = strcspn(text, " ");
		bool is_full = starts_line ? column + 2 > text_column
					   : column + 1 + length > BT_HELP_COLUMNS;
		if (is_full) {
			bt_strbuf_append_char(out, '\n');
			column = 0;
		}
		size_t gap = column < text_column ? text_column - column : 1;
		bt_strbuf_printf(out, "%*s%.*s", (int)gap, "", (int)length, text);
		column += gap + length;
		starts_line = false;
		text += length;
		text += strspn(text, " ");
	}
	bt_strbuf_append_char(out, '\n');
}

void bt_flags_help(const struct bt_flag *flags, uint32_t flag_count, struct bt_strbuf *out)
{
	for (uint32_t i = 0; i < flag_count; i++) {
		const struct bt_flag *flag = &flags[i];
		struct bt_strbuf head = {0};
		if (flag->shorthand != 0) {
			bt_strbuf_printf(&head, "  -%c, --%s", flag->shorthand, flag->name);
		} else {
			bt_strbuf_printf(&head, "      --%s", flag->name);
		}
		if (flag->value_name != NULL) {
			bt_strbuf_printf(&head, bt_flag_is_complete(flag) ? "[=%s]" : " %s",
				flag->value_name);
		}
		bt_flags_help_row(bt_strbuf_c(&head), BT_HELP_TEXT_COLUMN, flag->help, out);
		bt_strbuf_finish(&head);
	}
}
