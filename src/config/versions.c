/* SPDX-License-Identifier: Apache-2.0 */
#include "config/versions.h"

struct bt_versions bt_versions_default(void)
{
	return (struct bt_versions){
		.git_version = BT_STR(BT_KUBERNETES_VERSION),
		.release = {BT_KUBERNETES_MINOR, BT_KUBERNETES_MINOR - 1},
	};
}

struct bt_str bt_versions_binary(const struct bt_versions *versions)
{
	struct bt_str version = versions->git_version;
	return bt_str_has_prefix(version, BT_STR("v")) ? bt_str_sub(version, 1, version.length)
						       : version;
}

/**
 * Parses the number at the start of text and removes it from text. Returns false if there is no
 * digit, or more than 9 digits, or a leading zero.
 */
static bool take_number(struct bt_str *text, int *out_number)
{
	uint32_t digits = 0;
	int number = 0;
	while (digits < text->length && text->data[digits] >= '0' && text->data[digits] <= '9') {
		if (digits == 9) {
			return false;
		}
		number = number * 10 + (text->data[digits] - '0');
		digits++;
	}
	if (digits == 0 || (digits > 1 && text->data[0] == '0')) {
		return false;
	}
	*text = bt_str_sub(*text, digits, text->length);
	*out_number = number;
	return true;
}

static bool take_dot(struct bt_str *text)
{
	if (text->length == 0 || text->data[0] != '.') {
		return false;
	}
	*text = bt_str_sub(*text, 1, text->length);
	return true;
}

static int refuse_version(struct bt_str text, struct berth_error *err)
{
	return bt_error_set_quoted(err, BERTH_ERR_INVALID, "illegal version string ", text, "");
}

struct version_flag {
	const char *name; /* as in messages: "<name> 1.99 is not between ..." */
	struct bt_str given;
	bool is_given;
	int minor;
};

static int parse_flag(struct version_flag *flag, struct bt_str list, struct berth_error *err)
{
	while (list.length > 0) {
		struct bt_str item = bt_str_cut(&list, ',');
		struct bt_str text = item;
		struct bt_str component = bt_str_cut(&text, '=');
		if (item.length == 0) {
			continue;
		}
		if (text.data == NULL) {
			text = item;
			component = BT_STR("kube");
		}
		if (!bt_str_equal_c(component, "kube")) {
			return bt_error_set(err, BERTH_ERR_INVALID,
				"component not registered: %.*s", BT_STR_ARG(component));
		}
		if (flag->is_given) {
			return bt_error_set(err, BERTH_ERR_INVALID,
				"duplicate version flag, kube=%.*s and kube=%.*s",
				BT_STR_ARG(flag->given), BT_STR_ARG(text));
		}
		flag->is_given = true;
		flag->given = text;

		struct bt_str rest = text;
		int major;
		int patch;
		if (bt_str_has_prefix(rest, BT_STR("v"))) {
			rest = bt_str_sub(rest, 1, rest.length);
		}
		if (!take_number(&rest, &major) || !take_dot(&rest) ||
			!take_number(&rest, &flag->minor)) {
			return refuse_version(text, err);
		}
		if (take_dot(&rest) && take_number(&rest, &patch) && rest.length == 0) {
			return bt_error_set(err, BERTH_ERR_INVALID,
				"patch version not allowed, got: kube=%.*s", BT_STR_ARG(text));
		}
		if (rest.length > 0) {
			return refuse_version(text, err);
		}
		if (major != 1) {
			return bt_error_set(err, BERTH_ERR_INVALID,
				"%s %d.%d is not between [1.%d, 1.%d]", flag->name, major,
				flag->minor, BT_GATE_RELEASE_OLDEST_MINOR, BT_KUBERNETES_MINOR);
		}
	}
	return 0;
}

int bt_versions_set(struct bt_versions *versions, struct bt_str emulated,
	struct bt_str min_compatibility, struct berth_error *err)
{
	struct version_flag emulation = {.name = "emulation version"};
	struct version_flag minimum = {.name = "minCompatibilityVersion version"};
	int code = parse_flag(&emulation, emulated, err);
	if (code == 0) {
		code = parse_flag(&minimum, min_compatibility, err);
	}
	if (code != 0) {
		return code;
	}
	if (emulation.is_given) {
		int before = emulation.minor - 1;
		versions->release.emulated_minor = emulation.minor;
		versions->release.min_compatibility_minor = before < BT_GATE_RELEASE_OLDEST_MINOR
			? BT_GATE_RELEASE_OLDEST_MINOR
			: before;
	}
	if (minimum.is_given) {
		versions->release.min_compatibility_minor = minimum.minor;
	}
	return 0;
}

void bt_versions_validate(const struct bt_versions *versions, struct bt_config_errors *errors)
{
	const struct bt_gate_release *release = &versions->release;
	if (release->emulated_minor < BT_GATE_RELEASE_OLDEST_MINOR ||
		release->emulated_minor > BT_KUBERNETES_MINOR) {
		bt_config_errors_add(errors, NULL,
			"emulation version 1.%d is not between [1.%d, 1.%d.0]",
			release->emulated_minor, BT_GATE_RELEASE_OLDEST_MINOR, BT_KUBERNETES_MINOR);
	}
	if (release->min_compatibility_minor < BT_GATE_RELEASE_OLDEST_MINOR ||
		release->min_compatibility_minor > release->emulated_minor) {
		bt_config_errors_add(errors, NULL,
			"minCompatibilityVersion version 1.%d is not between [1.%d, 1.%d]",
			release->min_compatibility_minor, BT_GATE_RELEASE_OLDEST_MINOR,
			release->emulated_minor);
	}
}

/** Whether text is a valid SemVer suffix after the patch number: "-alpha.1", "+build.7" or both. */
static bool is_suffix(struct bt_str text)
{
	bool empty_part = true;
	if (text.length == 0) {
		return true;
	}
	if (text.data[0] != '-' && text.data[0] != '+') {
		return false;
	}
	for (uint32_t i = 1; i < text.length; i++) {
		char byte = text.data[i];
		bool ends_part = byte == '.' || byte == '+';
		if (ends_part && empty_part) {
			return false;
		}
		empty_part = ends_part;
		if (!ends_part && byte != '-' && !(byte >= '0' && byte <= '9') &&
			!(byte >= 'a' && byte <= 'z') && !(byte >= 'A' && byte <= 'Z')) {
			return false;
		}
	}
	return !empty_part;
}

int bt_versions_check_replacement(struct bt_str text, struct berth_error *err)
{
	static const struct bt_str built = BT_STR_INIT(BT_KUBERNETES_VERSION);
	struct bt_str rest = text;
	int number;
	bool parses = bt_str_has_prefix(text, BT_STR("v"));
	rest = bt_str_sub(rest, 1, rest.length);
	for (int part = 0; part < 3 && parses; part++) {
		parses = (part == 0 || take_dot(&rest)) && take_number(&rest, &number);
	}
	if (!parses || !is_suffix(rest)) {
		return refuse_version(text, err);
	}
	if (!bt_str_equal(bt_str_sub(text, 0, text.length - rest.length), built)) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"version %.*s is not %s, which this program was built as", BT_STR_ARG(text),
			BT_KUBERNETES_VERSION);
	}
	return 0;
}
