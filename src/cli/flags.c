/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/flags.h"

#include <string.h>

#include "base/str.h"

struct parse {
	const struct bt_flag *flags;
	uint32_t flag_count;
	int argc;
	char **argv;
	int next;
	struct berth_error *err;
};

/** Equal when underscores count as dashes. */
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

static bool parse_bool(const char *text, bool *out_value)
{
	static const char *const yes[] = {"1", "t", "T", "true", "TRUE", "True"};
	static const char *const no[] = {"0", "f", "F", "false", "FALSE", "False"};
	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(yes); i++) {
		if (strcmp(text, yes[i]) == 0 || strcmp(text, no[i]) == 0) {
			*out_value = strcmp(text, yes[i]) == 0;
			return true;
		}
	}
	return false;
}

static int store(const struct parse *parse, const struct bt_flag *flag, const char *value)
{
	int64_t number;
	switch (flag->type) {
	case BT_FLAG_BOOL:
		if (!parse_bool(value, flag->target)) {
			return bt_error_set(parse->err, BERTH_ERR_INVALID,
				"invalid argument \"%s\" for \"--%s\" flag: must be true or false",
				value, flag->name);
		}
		return 0;
	case BT_FLAG_STRING:
		*(const char **)flag->target = value;
		return 0;
	case BT_FLAG_INT:
		if (!bt_str_parse_int64(bt_str_from(value), &number)) {
			return bt_error_set(parse->err, BERTH_ERR_INVALID,
				"invalid argument \"%s\" for \"--%s\" flag: must be an integer",
				value, flag->name);
		}
		*(int64_t *)flag->target = number;
		return 0;
	case BT_FLAG_STRINGS:
		bt_vec_push(&((struct bt_arguments *)flag->target)->list, value);
		return 0;
	}
	return 0;
}

/** The value behind a flag: inline, or the next argument; booleans default to true. */
static int take_value(struct parse *parse, const struct bt_flag *flag, const char *inline_value,
	const char *shown)
{
	if (inline_value != NULL) {
		return store(parse, flag, inline_value);
	}
	if (flag->type == BT_FLAG_BOOL) {
		return store(parse, flag, "true");
	}
	if (parse->next >= parse->argc) {
		return bt_error_set(
			parse->err, BERTH_ERR_INVALID, "flag needs an argument: %s", shown);
	}
	return store(parse, flag, parse->argv[parse->next++]);
}

static int parse_long(struct parse *parse, const char *argument, bool *out_help)
{
	const char *name = argument + 2;
	const char *equals = strchr(name, '=');
	struct bt_str given = {
		name, (uint32_t)(equals != NULL ? (size_t)(equals - name) : strlen(name))};
	for (uint32_t i = 0; i < parse->flag_count; i++) {
		if (name_equals(parse->flags[i].name, given)) {
			return take_value(parse, &parse->flags[i],
				equals != NULL ? equals + 1 : NULL, argument);
		}
	}
	if (name_equals("help", given)) {
		*out_help = true;
		return 0;
	}
	return bt_error_set(
		parse->err, BERTH_ERR_INVALID, "unknown flag: --%.*s", BT_STR_ARG(given));
}

static int parse_short(struct parse *parse, const char *argument, bool *out_help)
{
	for (const char *letter = argument + 1; *letter != '\0'; letter++) {
		const struct bt_flag *flag = NULL;
		for (uint32_t i = 0; i < parse->flag_count; i++) {
			if (parse->flags[i].shorthand == *letter) {
				flag = &parse->flags[i];
			}
		}
		if (flag == NULL && *letter == 'h') {
			*out_help = true;
			continue;
		}
		if (flag == NULL) {
			return bt_error_set(parse->err, BERTH_ERR_INVALID,
				"unknown shorthand flag: '%c' in %s", *letter, argument);
		}
		if (flag->type == BT_FLAG_BOOL && letter[1] != '=') {
			*(bool *)flag->target = true;
			continue;
		}
		const char *value = letter[1] == '\0' ? NULL : letter + 1;
		return take_value(
			parse, flag, value != NULL && *value == '=' ? value + 1 : value, argument);
	}
	return 0;
}

int bt_flags_parse(const struct bt_flag *flags, uint32_t flag_count, int argc, char **argv,
	struct bt_arguments *out_arguments, bool *out_help, struct berth_error *err)
{
	struct parse parse = {flags, flag_count, argc, argv, 0, err};
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
			result = parse_short(&parse, argument, out_help);
		}
		if (result < 0) {
			return result;
		}
	}
	return 0;
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
			bt_strbuf_printf(&head, " %s", flag->value_name);
		}
		bt_strbuf_printf(out, "%-40s %s\n", bt_strbuf_c(&head), flag->help);
		bt_strbuf_finish(&head);
	}
}
