/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/yaml_scalar.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/nanoseconds.h"

/** Longer texts are never numbers. */
#define NUMBER_BYTES_MAX 1024
/** Longer texts are not in `words`. */
#define WORD_BYTES_MAX 5

/** Words that are no strings, each in the three spellings that YAML accepts. */
static const struct word {
	const char *spellings[3];
	enum bt_yaml_kind kind;
	bool boolean;
	double number;
} words[] = {
	{{"", "", ""}, BT_YAML_NULL, false, 0},
	{{"~", "~", "~"}, BT_YAML_NULL, false, 0},
	{{"null", "Null", "NULL"}, BT_YAML_NULL, false, 0},
	{{"y", "Y", "Y"}, BT_YAML_BOOL, true, 0},
	{{"yes", "Yes", "YES"}, BT_YAML_BOOL, true, 0},
	{{"true", "True", "TRUE"}, BT_YAML_BOOL, true, 0},
	{{"on", "On", "ON"}, BT_YAML_BOOL, true, 0},
	{{"n", "N", "N"}, BT_YAML_BOOL, false, 0},
	{{"no", "No", "NO"}, BT_YAML_BOOL, false, 0},
	{{"false", "False", "FALSE"}, BT_YAML_BOOL, false, 0},
	{{"off", "Off", "OFF"}, BT_YAML_BOOL, false, 0},
	{{".nan", ".NaN", ".NAN"}, BT_YAML_FLOAT, false, (double)NAN},
	{{".inf", ".Inf", ".INF"}, BT_YAML_FLOAT, false, (double)INFINITY},
	{{"+.inf", "+.Inf", "+.INF"}, BT_YAML_FLOAT, false, (double)INFINITY},
	{{"-.inf", "-.Inf", "-.INF"}, BT_YAML_FLOAT, false, -(double)INFINITY},
};

/**
 * Parses sign, prefix and digits, as Go's ParseInt with base 0. Returns false if the text is not an
 * integer.
 */
static bool resolve_integer(const char *plain, struct bt_yaml_scalar *out)
{
	const char *p = plain;
	bool negative = *p == '-';
	bool plus = *p == '+';
	if (negative || plus) {
		p++;
	}
	unsigned int base = 10;
	if (p[0] == '0' && p[1] != '\0') {
		char mark = (char)(p[1] | 0x20);
		bool prefixed = p[2] != '\0' && (mark == 'x' || mark == 'o' || mark == 'b');
		base = !prefixed ? 8 : mark == 'x' ? 16 : mark == 'o' ? 8 : 2;
		p += prefixed ? 2 : 1;
	}
	if (*p == '\0') {
		return false;
	}
	uint64_t magnitude = 0;
	bool overflow = false;
	for (const char *digits = p; *digits != '\0'; digits++) {
		int digit = bt_hex_value(*digits);
		if (digit < 0 || (unsigned int)digit >= base) {
			return false;
		}
		overflow = BT_MUL_OVERFLOW(magnitude, base, &magnitude) || overflow;
		overflow = BT_ADD_OVERFLOW(magnitude, (unsigned int)digit, &magnitude) || overflow;
	}
	overflow = overflow || (negative && magnitude > (uint64_t)1 << 63) ||
		(plus && magnitude > INT64_MAX);
	if (!overflow) {
		out->kind = BT_YAML_INT;
		out->negative = negative && magnitude != 0;
		out->magnitude = magnitude;
		return true;
	}
	if (base == 10) {
		/* JSON does not limit numbers: keep the digits */
		out->kind = BT_YAML_BIG_INT;
		bt_strbuf_append_c(&out->text, plus ? p : plain);
		return true;
	}
	return false;
}

static bool resolve_float(const char *plain, const char *end, struct bt_yaml_scalar *out)
{
	/* [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)? */
	const char *p = plain;

	p += *p == '-' || *p == '+';
	bool has_digits = bt_is_digit(*p);
	p = bt_skip_digits(p, end);
	if (*p == '.') {
		p++;
		has_digits = has_digits || bt_is_digit(*p);
		p = bt_skip_digits(p, end);
	}
	if (!has_digits) {
		return false;
	}
	if (*p == 'e' || *p == 'E') {
		p++;
		p += *p == '-' || *p == '+';
		if (!bt_is_digit(*p)) {
			return false;
		}
		p = bt_skip_digits(p, end);
	}
	if (p != end) {
		return false;
	}
	double number = strtod(plain, NULL);
	if (!isfinite(number)) {
		/* out of range: Go does not accept it as a number */
		return false;
	}
	out->kind = BT_YAML_FLOAT;
	out->number = number;
	return true;
}

/**
 * Reads at most max digits at *p, moves *p behind them and returns their value; -1 if there are
 * fewer than min digits.
 */
static int read_digits(const char **p, const char *end, int min, int max)
{
	int value = 0;
	int count = 0;
	while (*p < end && count < max && bt_is_digit(**p)) {
		value = value * 10 + (**p - '0');
		(*p)++;
		count++;
	}
	return count < min ? -1 : value;
}

static bool take(const char **p, const char *end, char c)
{
	if (*p == end || **p != c) {
		return false;
	}
	(*p)++;
	return true;
}

static bool is_zone(const char *p, const char *end)
{
	if (take(&p, end, 'Z')) {
		return p == end;
	}
	if (!take(&p, end, '+') && !take(&p, end, '-')) {
		return false;
	}
	int hours = read_digits(&p, end, 2, 2);
	bool colon = take(&p, end, ':');
	int minutes = read_digits(&p, end, 2, 2);
	return colon && hours >= 0 && hours <= 24 && minutes >= 0 && minutes < 60 && p == end;
}

/**
 * Returns true for a date such as "2001-1-2", also with a time: "2001-1-2T15:4:5.9Z" or
 * "2001-1-2 15:4:5.9".
 */
static bool is_timestamp(struct bt_str text)
{
	const char *p = text.data;
	const char *end = p + text.length;
	int year = read_digits(&p, end, 4, 4);
	if (year < 0 || !take(&p, end, '-')) {
		return false;
	}
	int month = read_digits(&p, end, 1, 2);
	if (month < 1 || month > 12 || !take(&p, end, '-')) {
		return false;
	}
	int day = read_digits(&p, end, 1, 2);
	if (day < 1 || day > bt_days_in_month(year, month)) {
		return false;
	}
	if (p == end) {
		return true;
	}
	bool zoned = *p == 'T' || *p == 't';
	if (!zoned && *p != ' ') {
		return false;
	}
	p++;
	int hours = read_digits(&p, end, 1, 2);
	bool first_colon = take(&p, end, ':');
	int minutes = read_digits(&p, end, 1, 2);
	bool second_colon = take(&p, end, ':');
	int seconds = read_digits(&p, end, 1, 2);
	if (!first_colon || !second_colon || hours < 0 || hours > 23 || minutes < 0 ||
		minutes > 59 || seconds < 0 || seconds > 59) {
		return false;
	}
	if (take(&p, end, '.')) {
		if (p == end || !bt_is_digit(*p)) {
			return false;
		}
		p = bt_skip_digits(p, end);
	}
	return zoned ? is_zone(p, end) : p == end;
}

void bt_yaml_resolve(struct bt_str text, struct bt_yaml_scalar *out)
{
	*out = (struct bt_yaml_scalar){.kind = BT_YAML_STRING};
	/*
	 * This runs for every name and value, and rarely finds a word; most texts differ in the
	 * first letter from all words.
	 */
	for (size_t i = 0; text.length <= WORD_BYTES_MAX && i < BT_ARRAY_LENGTH(words); i++) {
		if (text.length == 0 ||
			(words[i].spellings[0][0] == (text.data[0] | 0x20) &&
				bt_str_is_one_of(text, words[i].spellings, 3))) {
			out->kind = words[i].kind;
			out->boolean = words[i].boolean;
			out->number = words[i].number;
			return;
		}
	}
	char first = text.data[0];
	bool number = bt_is_digit(first) || first == '+' || first == '-' || first == '.';
	if (!number || text.length > NUMBER_BYTES_MAX) {
		return;
	}
	if (is_timestamp(text)) {
		out->kind = BT_YAML_TIMESTAMP;
		return;
	}
	/* underscores are allowed anywhere after the first byte, except in ".5" */
	char plain[NUMBER_BYTES_MAX + 1];
	uint32_t length = 0;
	for (uint32_t i = 0; i < text.length; i++) {
		if (text.data[i] == '\0') {
			return;
		}
		if (text.data[i] != '_' || first == '.') {
			plain[length++] = text.data[i];
		}
	}
	plain[length] = '\0';
	if (first == '.' || !resolve_integer(plain, out)) {
		(void)resolve_float(
			plain, plain + length, out); /* if it fails, out stays a string */
	}
}

void bt_yaml_scalar_finish(struct bt_yaml_scalar *scalar)
{
	bt_strbuf_finish(&scalar->text);
}

bool bt_yaml_is_base60(struct bt_str text)
{
	/* [-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)? */
	const char *p = text.data;
	const char *end = p + text.length;
	if (p < end && (*p == '-' || *p == '+')) {
		p++;
	}
	if (p == end || !bt_is_digit(*p)) {
		return false;
	}
	while (p < end && (bt_is_digit(*p) || *p == '_')) {
		p++;
	}
	bool groups = false;
	while (take(&p, end, ':')) {
		int value = read_digits(&p, end, 1, 2);
		if (value < 0 || value > 59) {
			return false;
		}
		groups = true;
	}
	if (take(&p, end, '.')) {
		while (p < end && (bt_is_digit(*p) || *p == '_')) {
			p++;
		}
	}
	return groups && p == end;
}
