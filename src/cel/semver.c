/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/strbuf.h"
#include "cel/function.h"
#include "cel/text.h"

/* Semantic versions. Spec: 12b section 9.8. */

/** Whether the text consists of letters, digits and hyphens. */
static bool is_identifier(struct bt_str text)
{
	for (uint32_t i = 0; i < text.length; i++) {
		char c = text.data[i];

		if (!bt_is_digit(c) && !bt_is_letter(c) && c != '-') {
			return false;
		}
	}
	return true;
}

static bool has_leading_zero(struct bt_str text)
{
	return text.length > 1 && text.data[0] == '0';
}

/** Parses digits (possibly none) with the errors of Go's strconv.ParseUint. */
static int parse_uint(struct bt_str text, uint64_t *out, struct berth_error *err)
{
	static const char function[] = "strconv.ParseUint: parsing ";

	if (bt_cel_parse_digits(text, out)) {
		return 0;
	}
	return bt_error_set_quoted(err, BERTH_ERR_INVALID, function, text,
		text.length == 0 ? ": invalid syntax" : ": value out of range");
}

/**
 * Parses a number without leading zeros. The error message begins with `characters` if the text has
 * other characters than digits, and with `zeroes` if it has leading zeros.
 */
static int parse_number(struct bt_str text, const char *characters, const char *zeroes,
	uint64_t *out, struct berth_error *err)
{
	if (text.length != 0 && !bt_str_is_digits(text)) {
		return bt_error_set_quoted(err, BERTH_ERR_INVALID, characters, text, "");
	}
	if (has_leading_zero(text)) {
		return bt_error_set_quoted(err, BERTH_ERR_INVALID, zeroes, text, "");
	}
	return parse_uint(text, out, err);
}

/**
 * Checks every dot-separated part of a prerelease or of build metadata; an empty text has one empty
 * part, which is an error.
 */
static int check_parts(struct bt_str text, bool is_prerelease, struct berth_error *err)
{
	struct bt_str rest = text;
	uint64_t number;

	do {
		struct bt_str part = bt_str_cut(&rest, '.');

		if (part.length == 0) {
			return bt_error_set(err, BERTH_ERR_INVALID,
				is_prerelease ? "Prerelease is empty" : "Build meta data is empty");
		}
		if (is_prerelease && bt_str_is_digits(part)) {
			if (has_leading_zero(part)) {
				return bt_error_set_quoted(err, BERTH_ERR_INVALID,
					"Numeric PreRelease version must not contain leading "
					"zeroes ",
					part, "");
			}
			int code = parse_uint(part, &number, err);
			if (code != 0) {
				return code;
			}
		} else if (!is_identifier(part)) {
			return bt_error_set_quoted(err, BERTH_ERR_INVALID,
				is_prerelease ? "Invalid character(s) found in prerelease "
					      : "Invalid character(s) found in build meta data ",
				part, "");
		}
	} while (rest.data != NULL);
	return 0;
}

static int parse_strict(
	struct bt_str text, struct bt_cel_semver *out_version, struct berth_error *err)
{
	struct bt_cel_semver version = {.text = text};
	struct bt_str rest = text;

	if (text.length == 0) {
		return bt_error_set(err, BERTH_ERR_INVALID, "Version string empty");
	}
	struct bt_str major = bt_str_cut(&rest, '.');
	struct bt_str minor = rest.data != NULL ? bt_str_cut(&rest, '.') : rest;
	if (rest.data == NULL) {
		return bt_error_set(err, BERTH_ERR_INVALID, "No Major.Minor.Patch elements found");
	}
	version.build = rest;
	version.prerelease = bt_str_cut(&version.build, '+');
	struct bt_str patch = bt_str_cut(&version.prerelease, '-');
	bool has_prerelease = version.prerelease.data != NULL;
	bool has_build = version.build.data != NULL;
	int code = parse_number(major, "Invalid character(s) found in major number ",
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
		code = check_parts(version.prerelease, true, err);
	}
	if (code == 0 && has_build) {
		code = check_parts(version.build, false, err);
	}
	if (code == 0) {
		*out_version = version;
	}
	return code;
}

/** Normalises a version, for example "v1.02" to "1.2.0". */
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
		/* drop leading zeros, but keep the last zero if no digit follows */
		struct bt_str part = last;
		if (last.length > 1) {
			while (part.length != 0 && part.data[0] == '0') {
				part = bt_str_sub(part, 1, part.length);
			}
			if (part.length == 0 || !bt_is_digit(part.data[0])) {
				bt_strbuf_append_char(out, '0');
			}
		}
		bt_strbuf_append_str(out, part);
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

	if (!is_normalised) {
		return parse_strict(text, out_version, err);
	}
	int code = normalise(text, &buffer, err);
	if (code == 0) {
		code = parse_strict(bt_arena_str(arena, bt_strbuf_str(&buffer)), out_version, err);
	}
	bt_strbuf_finish(&buffer);
	return code;
}

int bt_cel_semver_compare(const struct bt_cel_semver *a, const struct bt_cel_semver *b)
{
	const uint64_t numbers[3][2] = {
		{a->major, b->major}, {a->minor, b->minor}, {a->patch, b->patch}};
	struct bt_str left = a->prerelease;
	struct bt_str right = b->prerelease;

	for (int i = 0; i < 3; i++) {
		if (numbers[i][0] != numbers[i][1]) {
			return numbers[i][0] < numbers[i][1] ? -1 : 1;
		}
	}
	if (left.length == 0 || right.length == 0) {
		return (left.length == 0) - (right.length == 0);
	}
	while (left.data != NULL && right.data != NULL) {
		struct bt_str left_part = bt_str_cut(&left, '.');
		struct bt_str right_part = bt_str_cut(&right, '.');
		bool left_is_number = bt_str_is_digits(left_part);

		if (left_is_number != bt_str_is_digits(right_part)) {
			return left_is_number ? -1 : 1;
		}
		if (left_is_number && left_part.length != right_part.length) {
			/* The longer number is larger, because numbers have no leading zeros. */
			return left_part.length < right_part.length ? -1 : 1;
		}
		int order = bt_str_compare(left_part, right_part);
		if (order != 0) {
			return order < 0 ? -1 : 1;
		}
	}
	return (left.data != NULL) - (right.data != NULL);
}

/* Functions of semantic versions. Spec: 12b section 9.8. */

/**
 * Returns the second argument of semver() and isSemver(): whether to normalise. Without this
 * argument returns false.
 */
static bool is_normalised(const struct bt_cel_call *call)
{
	return call->count > 1 && call->arguments[1].boolean;
}

struct bt_cel_value bt_cel_fn_semver(const struct bt_cel_call *call)
{
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_cel_semver version;
	int code = bt_cel_semver_parse(call->arguments[0].text, is_normalised(call),
		call->evaluation->arena, &version, &err);

	return bt_cel_answer_parsed(call, code, &err, BT_CEL_SEMVER, &version, sizeof(version));
}

/** A number too large for an int wraps around, as in upstream's conversion. */
struct bt_cel_value bt_cel_fn_semver_part(const struct bt_cel_call *call)
{
	const struct bt_cel_semver *version = call->arguments[0].semver;
	enum bt_cel_variant part = call->overload->variant;

	return bt_cel_int((int64_t)(part == BT_CEL_VARIANT_MAJOR ? version->major
			: part == BT_CEL_VARIANT_MINOR           ? version->minor
								 : version->patch));
}

struct bt_cel_value bt_cel_fn_semver_compare(const struct bt_cel_call *call)
{
	const struct bt_cel_semver *left = call->arguments[0].semver;
	int order = bt_cel_semver_compare(left, call->arguments[1].semver);

	if (!bt_cel_charge_call(call->evaluation, left->prerelease)) {
		return call->evaluation->stop;
	}
	return bt_cel_answer_order(call, order);
}
