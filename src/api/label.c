/* SPDX-License-Identifier: Apache-2.0 */
#include "api/label.h"

#include "api/selector.h"

#define NAME_PATTERN "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
#define SUBDOMAIN_PATTERN "[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*"
/* upstream also has two spaces before each "or" */
#define NAME_RULE \
	"must consist of alphanumeric characters, '-', '_' or '.', and must start and end with " \
	"an " \
	"alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for " \
	"validation is '" NAME_PATTERN "')"

const char bt_dns1123_label_rule[] =
	"a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and "
	"must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex "
	"used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const char bt_dns1123_subdomain_rule[] =
	"a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
	"'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex "
	"used for validation is "
	"'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const char bt_dns1035_label_rule[] =
	"a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "
	"alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or "
	"'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";

static bool is_alphanumeric(char c)
{
	return bt_is_letter(c) || bt_is_digit(c);
}

bool bt_label_name_matches(struct bt_str name)
{
	if (name.length == 0 || !is_alphanumeric(name.data[0]) ||
		!is_alphanumeric(name.data[name.length - 1])) {
		return false;
	}
	for (uint32_t i = 1; i + 1 < name.length; i++) {
		char c = name.data[i];

		if (!is_alphanumeric(c) && c != '-' && c != '_' && c != '.') {
			return false;
		}
	}
	return true;
}

bool bt_label_prefix_matches(struct bt_str prefix)
{
	/* parts must begin and end with an alphanumeric character; the start counts as a '.' */
	char previous = '.';

	for (uint32_t i = 0; i < prefix.length; i++) {
		char c = prefix.data[i];

		if (c == '.' || c == '-') {
			if (previous == '.' || (c == '.' && previous == '-')) {
				return false;
			}
		} else if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))) {
			return false;
		}
		previous = c;
	}
	return previous != '.' && previous != '-';
}

bool bt_dns1123_label_is_valid(struct bt_str name)
{
	return name.length <= BT_LABEL_NAME_MAX && bt_label_prefix_matches(name) &&
		bt_str_find_char(name, '.') < 0;
}

/** Splits a key at its only "/"; false if there are several. Without "/", *out_prefix is absent. */
static bool split_key(struct bt_str key, struct bt_str *out_prefix, struct bt_str *out_name)
{
	int64_t slash = bt_str_find_char(key, '/');

	*out_prefix = (struct bt_str){NULL, 0};
	*out_name = key;
	if (slash < 0) {
		return true;
	}
	*out_prefix = bt_str_sub(key, 0, (uint32_t)slash);
	*out_name = bt_str_sub(key, (uint32_t)slash + 1, key.length);
	return bt_str_find_char(*out_name, '/') < 0;
}

bool bt_label_key_is_valid(struct bt_str key)
{
	struct bt_str prefix;
	struct bt_str name;

	if (!split_key(key, &prefix, &name) || name.length > BT_LABEL_NAME_MAX ||
		!bt_label_name_matches(name)) {
		return false;
	}
	return name.length == key.length ||
		(prefix.length <= BT_LABEL_PREFIX_MAX && bt_label_prefix_matches(prefix));
}

bool bt_label_value_is_valid(struct bt_str value)
{
	return value.length == 0 ||
		(value.length <= BT_LABEL_NAME_MAX && bt_label_name_matches(value));
}

void bt_label_key_errors(
	struct bt_str key, struct bt_arena *arena, struct bt_error_list *out_errors)
{
	struct bt_str prefix;
	struct bt_str name;

	if (!split_key(key, &prefix, &name)) {
		bt_error_list_add(out_errors, arena,
			BT_STR("a valid label key " NAME_RULE
			       " with an optional DNS subdomain prefix and '/' (e.g. "
			       "'example.com/MyName')"));
		return;
	}
	if (name.length != key.length && prefix.length == 0) {
		bt_error_list_add(out_errors, arena, BT_STR("prefix part must be non-empty"));
	} else if (name.length != key.length) {
		if (prefix.length > BT_LABEL_PREFIX_MAX) {
			bt_error_list_add(out_errors, arena,
				BT_STR("prefix part must be no more than 253 bytes"));
		}
		if (!bt_label_prefix_matches(prefix)) {
			bt_error_list_add(out_errors, arena,
				BT_STR("prefix part a lowercase RFC 1123 subdomain must consist of "
				       "lower case alphanumeric "
				       "characters, '-' or '.', and must start and end with an "
				       "alphanumeric character (e.g. "
				       "'example.com', regex used for validation is "
				       "'" SUBDOMAIN_PATTERN "')"));
		}
	}
	if (name.length == 0) {
		bt_error_list_add(out_errors, arena, BT_STR("name part must be non-empty"));
	} else if (name.length > BT_LABEL_NAME_MAX) {
		bt_error_list_add(
			out_errors, arena, BT_STR("name part must be no more than 63 bytes"));
	}
	if (!bt_label_name_matches(name)) {
		bt_error_list_add(out_errors, arena, BT_STR("name part " NAME_RULE));
	}
}

void bt_label_value_errors(
	struct bt_str value, struct bt_arena *arena, struct bt_error_list *out_errors)
{
	if (value.length > BT_LABEL_NAME_MAX) {
		bt_error_list_add(out_errors, arena, BT_STR("must be no more than 63 bytes"));
	}
	if (value.length != 0 && !bt_label_name_matches(value)) {
		bt_error_list_add(out_errors, arena,
			BT_STR("a valid label must be an empty string or consist of alphanumeric "
			       "characters, '-', '_' or '.', "
			       "and must start and end with an alphanumeric character (e.g. "
			       "'MyValue',  or 'my_value',  or "
			       "'12345', regex used for validation is '(" NAME_PATTERN ")?')"));
	}
}
