/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/strbuf.h"
#include "cel/function.h"
#include "cel/text.h"

/* Semantic versions. Spec: 12b section 9.8. */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_numeric(struct bt_str text)
{
	for (uint32_t i = 0; i < text.length; i++) {
		if (!is_digit(text.data[i])) {
			return false;
		}
	}
	return true;
}

static bool has_leading_zero(struct bt_str text)
{
	return text.length > 1 && text.data[0] == '0';
}

/** Letters, digits and hyphens. */
static bool is_identifier(struct bt_str text)
{
	for (uint32_t i = 0; i < text.length; i++) {
		char c = text.data[i];

		if (!is_digit(c) && !(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') &&
			c != '-') {
			return false;
		}
	}
	return true;
}

/** Digits only, maybe none, as Go's strconv.ParseUint takes them. */
static int parse_uint(struct bt_str text, uint64_t *out, struct berth_error *err)
{
	static const char function[] = "strconv.ParseUint: parsing ";
	uint64_t value = 0;

	if (text.length == 0) {
		return bt_cel_refuse(err, function, text, ": invalid syntax");
	}
	for (uint32_t i = 0; i < text.length; i++) {
		uint64_t digit = (uint64_t)(text.data[i] - '0');

		if (BT_MUL_OVERFLOW(value, UINT64_C(10), &value) ||
			BT_ADD_OVERFLOW(value, digit, &value)) {
			return bt_cel_refuse(err, function, text, ": value out of range");
		}
	}
	*out = value;
	return 0;
}

/** characters, zeroes: what is said in front of a bad number. */
static int parse_number(struct bt_str text, const char *characters, const char *zeroes,
	uint64_t *out, struct berth_error *err)
{
	if (!is_numeric(text)) {
		return bt_cel_refuse(err, characters, text, "");
	}
	if (has_leading_zero(text)) {
		return bt_cel_refuse(err, zeroes, text, "");
	}
	return parse_uint(text, out, err);
}

static int check_prerelease(struct bt_str part, struct berth_error *err)
{
	uint64_t number;

	if (part.length == 0) {
		return bt_error_set(err, BERTH_ERR_INVALID, "Prerelease is empty");
	}
	if (is_numeric(part)) {
		if (has_leading_zero(part)) {
			return bt_cel_refuse(err,
				"Numeric PreRelease version must not contain leading zeroes ", part,
				"");
		}
		return parse_uint(part, &number, err);
	}
	if (!is_identifier(part)) {
		return bt_cel_refuse(err, "Invalid character(s) found in prerelease ", part, "");
	}
	return 0;
}

static int check_build(struct bt_str part, struct berth_error *err)
{
	if (part.length == 0) {
		return bt_error_set(err, BERTH_ERR_INVALID, "Build meta data is empty");
	}
	if (!is_identifier(part)) {
		return bt_cel_refuse(
			err, "Invalid character(s) found in build meta data ", part, "");
	}
	return 0;
}

/** Every part between dots; an empty text is one empty part. */
static int check_parts(struct bt_str text, int (*check)(struct bt_str, struct berth_error *),
	struct berth_error *err)
{
	struct bt_str rest = text;

	for (;;) {
		int code = check(bt_str_cut(&rest, '.'), err);

		if (code != 0 || rest.data == NULL) {
			return code;
		}
	}
}

static int parse_strict(
	struct bt_str text, struct bt_cel_semver *out_version, struct berth_error *err)
{
	struct bt_cel_semver version = {.text = text};
	struct bt_str rest = text;
	struct bt_str major;
	struct bt_str minor;
	struct bt_str patch;
	bool has_prerelease;
	bool has_build;
	int code;

	if (text.length == 0) {
		return bt_error_set(err, BERTH_ERR_INVALID, "Version string empty");
	}
	major = bt_str_cut(&rest, '.');
	minor = rest.data != NULL ? bt_str_cut(&rest, '.') : rest;
	if (rest.data == NULL) {
		return bt_error_set(err, BERTH_ERR_INVALID, "No Major.Minor.Patch elements found");
	}
	version.build = rest;
	version.prerelease = bt_str_cut(&version.build, '+');
	patch = bt_str_cut(&version.prerelease, '-');
	has_prerelease = version.prerelease.data != NULL;
	has_build = version.build.data != NULL;
	code = parse_number(major, "Invalid character(s) found in major number ",
		"Major number must not contain leading zeroes ", &version.major, err);
	if (code == 0) {
		code = parse_number(minor, "Invalid character(s) found in minor number ",
			"Minor number must not contain leading zeroes ", &version.minor, err);
	}
	if (code == 0) {
		code = parse_number(patch, "Invalid character(s) found in patch number ",
			"Patch number must not contain leading zeroes ", &version.patch, err);
	}
	if (code == 0 && has_prerelease) {
		code = check_parts(version.prerelease, check_prerelease, err);
	}
	if (code == 0 && has_build) {
		code = check_parts(version.build, check_build, err);
	}
	if (code == 0) {
		*out_version = version;
	}
	return code;
}

/** Without leading zeros; one stays where nothing or something else than a digit would. */
static void append_without_zeros(struct bt_strbuf *out, struct bt_str part)
{
	struct bt_str rest = part;

	if (part.length > 1) {
		while (rest.length != 0 && rest.data[0] == '0') {
			rest = bt_str_sub(rest, 1, rest.length);
		}
		if (rest.length == 0 || !is_digit(rest.data[0])) {
			bt_strbuf_append_char(out, '0');
		}
	}
	bt_strbuf_append_str(out, rest);
}

/** "v1.02" as "1.2.0" */
static int normalise(struct bt_str text, struct bt_strbuf *out, struct berth_error *err)
{
	struct bt_str rest = text;
	struct bt_str last;
	uint32_t count = 0;

	if (rest.length != 0 && rest.data[0] == 'v') {
		rest = bt_str_sub(rest, 1, rest.length);
	}
	do {
		last = count < 2 ? bt_str_cut(&rest, '.') : rest;
		bt_strbuf_append_c(out, count != 0 ? "." : "");
		append_without_zeros(out, last);
		count++;
	} while (count < 3 && rest.data != NULL);
	if (count < 3 && (bt_str_find_char(last, '+') >= 0 || bt_str_find_char(last, '-') >= 0)) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"short version cannot contain PreRelease/Build meta data");
	}
	for (; count < 3; count++) {
		bt_strbuf_append_c(out, ".0");
	}
	return 0;
}

int bt_cel_semver_parse(struct bt_str text, bool is_normalised, struct bt_arena *arena,
	struct bt_cel_semver *out_version, struct berth_error *err)
{
	struct bt_strbuf buffer = {NULL, 0, 0};
	int code;

	if (!is_normalised) {
		return parse_strict(text, out_version, err);
	}
	code = normalise(text, &buffer, err);
	if (code == 0) {
		code = parse_strict(bt_arena_str(arena, bt_strbuf_str(&buffer)), out_version, err);
	}
	bt_strbuf_finish(&buffer);
	return code;
}

static int compare_numbers(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int compare_identifiers(struct bt_str a, struct bt_str b)
{
	bool a_is_number = is_numeric(a);
	bool b_is_number = is_numeric(b);
	int order;

	if (a_is_number != b_is_number) {
		return a_is_number ? -1 : 1;
	}
	if (a_is_number && a.length != b.length) {
		return a.length < b.length ? -1 : 1; /* there are no leading zeros */
	}
	order = bt_str_compare(a, b);
	return (order > 0) - (order < 0);
}

static int compare_prereleases(struct bt_str a, struct bt_str b)
{
	if (a.length == 0 || b.length == 0) {
		return (a.length == 0) - (b.length == 0);
	}
	while (a.data != NULL && b.data != NULL) {
		int order = compare_identifiers(bt_str_cut(&a, '.'), bt_str_cut(&b, '.'));

		if (order != 0) {
			return order;
		}
	}
	return (a.data != NULL) - (b.data != NULL);
}

int bt_cel_semver_compare(const struct bt_cel_semver *a, const struct bt_cel_semver *b)
{
	int order = compare_numbers(a->major, b->major);

	order = order != 0 ? order : compare_numbers(a->minor, b->minor);
	order = order != 0 ? order : compare_numbers(a->patch, b->patch);
	return order != 0 ? order : compare_prereleases(a->prerelease, b->prerelease);
}

/* Functions of semantic versions. Spec: 12b section 9.8. */

/** semver(text[, is_normalised]) */
static int parse(struct bt_cel_evaluation *evaluation, const struct bt_cel_value *arguments,
	uint32_t count, struct bt_cel_semver *out, struct berth_error *err)
{
	return bt_cel_semver_parse(
		arguments[0].text, count > 1 && arguments[1].boolean, evaluation->arena, out, err);
}

struct bt_cel_value bt_cel_fn_semver(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *arguments, uint32_t count, struct bt_cel_regex *regex BT_UNUSED)
{
	struct bt_cel_value result = {.kind = BT_CEL_SEMVER};
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_cel_semver *version;

	if (!bt_cel_charge_text(evaluation, arguments[0].text, 1)) {
		return evaluation->stop;
	}
	version = bt_cel_alloc(evaluation, 1, sizeof(*version));
	if (version == NULL) {
		return evaluation->stop;
	}
	if (parse(evaluation, arguments, count, version, &err) != 0) {
		return bt_cel_fail_error(evaluation, &err);
	}
	result.semver = version;
	return result;
}

struct bt_cel_value bt_cel_fn_is_semver(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *arguments, uint32_t count, struct bt_cel_regex *regex BT_UNUSED)
{
	struct bt_cel_semver version;

	if (!bt_cel_charge_text(evaluation, arguments[0].text, 1)) {
		return evaluation->stop;
	}
	return bt_cel_bool(parse(evaluation, arguments, count, &version, NULL) == 0);
}

/** Numbers beyond int wrap, as upstream's conversion does. */
static struct bt_cel_value number(struct bt_cel_evaluation *evaluation, uint64_t value)
{
	return bt_cel_charge(evaluation, 1) ? bt_cel_int((int64_t)value) : evaluation->stop;
}

struct bt_cel_value bt_cel_fn_semver_major(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *arguments, uint32_t count BT_UNUSED,
	struct bt_cel_regex *regex BT_UNUSED)
{
	return number(evaluation, arguments[0].semver->major);
}

struct bt_cel_value bt_cel_fn_semver_minor(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *arguments, uint32_t count BT_UNUSED,
	struct bt_cel_regex *regex BT_UNUSED)
{
	return number(evaluation, arguments[0].semver->minor);
}

struct bt_cel_value bt_cel_fn_semver_patch(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *arguments, uint32_t count BT_UNUSED,
	struct bt_cel_regex *regex BT_UNUSED)
{
	return number(evaluation, arguments[0].semver->patch);
}

static bool compare(
	struct bt_cel_evaluation *evaluation, const struct bt_cel_value *arguments, int *out_order)
{
	*out_order = bt_cel_semver_compare(arguments[0].semver, arguments[1].semver);
	return bt_cel_charge_work(evaluation, arguments[0].semver->prerelease.length) &&
		bt_cel_charge(evaluation, 1);
}

struct bt_cel_value bt_cel_fn_semver_is_greater_than(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *arguments, uint32_t count BT_UNUSED,
	struct bt_cel_regex *regex BT_UNUSED)
{
	int order;

	return compare(evaluation, arguments, &order) ? bt_cel_bool(order > 0) : evaluation->stop;
}

struct bt_cel_value bt_cel_fn_semver_is_less_than(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *arguments, uint32_t count BT_UNUSED,
	struct bt_cel_regex *regex BT_UNUSED)
{
	int order;

	return compare(evaluation, arguments, &order) ? bt_cel_bool(order < 0) : evaluation->stop;
}

struct bt_cel_value bt_cel_fn_semver_compare_to(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *arguments, uint32_t count BT_UNUSED,
	struct bt_cel_regex *regex BT_UNUSED)
{
	int order;

	return compare(evaluation, arguments, &order) ? bt_cel_int(order) : evaluation->stop;
}
