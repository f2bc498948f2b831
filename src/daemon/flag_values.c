/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/flag_values.h"

#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/quantity.h"
#include "base/duration.h"
#include "base/error.h"
#include "base/flags.h"
#include "base/str.h"
#include "base/strbuf.h"
#include "config/gates.h"
#include "config/versions.h"

/** Comma separated values as Go's encoding/csv reads them: the syntax of lists in flags. */

static int refuse_csv(uint32_t column, const char *reason, struct berth_error *err)
{
	return bt_error_set(
		err, BERTH_ERR_INVALID, "parse error on line 1, column %u: %s", column + 1, reason);
}

/**
 * Parse one line and call take for each field, which is borrowed for the call. Returns 0 or
 * BERTH_ERR_INVALID; take was then called for the fields before the error.
 */
static int csv_split(struct bt_str line, void (*take)(void *context, struct bt_str field),
	void *context, struct berth_error *err)
{
	struct bt_strbuf field = {0};
	uint32_t at = 0;
	int code = 0;
	while (line.length > 0 && code == 0) {
		bt_strbuf_reset(&field);
		bool is_quoted = at < line.length && line.data[at] == '"';
		bool is_open = is_quoted;
		at += is_quoted;
		while (is_open && at < line.length) {
			char byte = line.data[at++];
			bool is_doubled = byte == '"' && at < line.length && line.data[at] == '"';
			at += is_doubled;
			if (byte != '"' || is_doubled) {
				bt_strbuf_append_char(&field, byte);
			} else if (at == line.length || line.data[at] == ',') {
				is_open = false;
			} else {
				break;
			}
		}
		if (is_open) {
			code = refuse_csv(at - 1, "extraneous or missing \" in quoted-field", err);
		}
		for (; !is_quoted && code == 0 && at < line.length && line.data[at] != ','; at++) {
			if (line.data[at] == '"') {
				code = refuse_csv(at, "bare \" in non-quoted-field", err);
			}
			bt_strbuf_append_char(&field, line.data[at]);
		}
		if (code == 0) {
			take(context, bt_strbuf_str(&field));
		}
		if (at++ >= line.length) {
			break;
		}
	}
	bt_strbuf_finish(&field);
	return code;
}

const struct bt_flag_row bt_flag_rows[BT_DAEMON_FLAG__COUNT] = {
#define BT_DAEMON_FLAG(upper, flag_name, letter, flag_section, flag_kind, value_name, value, text) \
	[BT_DAEMON_FLAG_##upper] = {flag_name, letter, BT_FLAG_SECTION_##flag_section, \
		BT_FLAG_KIND_##flag_kind, value, text},
#include "daemon/flags.def"
};

/** Set the error `strconv.ParseInt: parsing "x": invalid syntax`. */
static int refuse_number(
	const char *function, struct bt_str text, const char *reason, struct berth_error *err)
{
	struct bt_strbuf quoted = {0};
	bt_strbuf_append_quoted(&quoted, text);
	int code = bt_error_set(err, BERTH_ERR_INVALID, "strconv.%s: parsing %s: %s", function,
		bt_strbuf_c(&quoted), reason);
	bt_strbuf_finish(&quoted);
	return code;
}

/** Parse an integer from min to max as Go's strconv does; INT64_MIN is refused. */
static int parse_integer(const char *function, struct bt_str text, int64_t min, int64_t max,
	int64_t *out_number, struct berth_error *err)
{
	struct bt_str rest = text;
	bool negative = false;
	int64_t number = 0;
	bool overflow = false;
	if (min < 0 && text.length > 0 && (text.data[0] == '-' || text.data[0] == '+')) {
		negative = text.data[0] == '-';
		rest = bt_str_sub(text, 1, text.length);
	}
	unsigned base = 10;
	if (rest.length >= 2 && rest.data[0] == '0') {
		/* The prefix 0x, 0o, 0b or 0 selects the base. */
		char letter = rest.data[1] | 0x20;
		base = letter == 'x' ? 16 : letter == 'b' ? 2 : 8;
		bool has_letter = base != 8 || letter == 'o';
		rest = bt_str_sub(rest, has_letter ? 2 : 1, rest.length);
	}
	for (uint32_t i = 0; i < rest.length; i++) {
		int digit = bt_hex_value(rest.data[i]);
		if (digit < 0 || (unsigned)digit >= base) {
			return refuse_number(function, text, "invalid syntax", err);
		}
		overflow = overflow || BT_MUL_OVERFLOW(number, (int64_t)base, &number) ||
			BT_ADD_OVERFLOW(number, (int64_t)digit, &number);
	}
	if (rest.length == 0) {
		return refuse_number(function, text, "invalid syntax", err);
	}
	number = negative ? -number : number;
	if (overflow || number < min || number > max) {
		return refuse_number(function, text, "value out of range", err);
	}
	*out_number = number;
	return 0;
}

static int parse_bool(struct bt_str text, int64_t *out_number, struct berth_error *err)
{
	bool value;
	if (!bt_str_parse_bool(text, &value)) {
		return refuse_number("ParseBool", text, "invalid syntax", err);
	}
	*out_number = value;
	return 0;
}

static int parse_float(const char *text, float *out_real, struct berth_error *err)
{
	char *end;
	if (text[0] == '\0' || strchr(" \t\n\v\f\r", text[0]) != NULL) {
		return refuse_number("ParseFloat", bt_str_from(text), "invalid syntax", err);
	}
	errno = 0;
	float real = strtof(text, &end);
	if (*end != '\0') {
		return refuse_number("ParseFloat", bt_str_from(text), "invalid syntax", err);
	}
	if (errno == ERANGE && isinf(real)) {
		return refuse_number("ParseFloat", bt_str_from(text), "value out of range", err);
	}
	*out_real = real;
	return 0;
}

bool bt_comma_next(struct bt_str *text, struct bt_str *out_item)
{
	while (text->length > 0) {
		*out_item = bt_str_cut(text, ',');
		if (out_item->length > 0) {
			return true;
		}
	}
	return false;
}

static int check_vmodule(struct bt_str text, struct berth_error *err)
{
	struct bt_str item;
	int64_t level;
	while (bt_comma_next(&text, &item)) {
		int64_t equals = bt_str_find_char(item, '=');
		if (equals <= 0) {
			return bt_error_set_quoted(err, BERTH_ERR_INVALID, "", item,
				" does not have the pattern=N format");
		}
		item = bt_str_sub(item, (uint32_t)equals + 1, item.length);
		if (!bt_str_parse_int64(item, &level) || level < 0 || level > INT32_MAX) {
			return refuse_number("ParseUint", item, "invalid syntax", err);
		}
	}
	return 0;
}

static void take_text(void *context, struct bt_str field)
{
	struct bt_daemon_flag_value *value = context;
	struct bt_flag_entry entry = {.text = bt_arena_str(value->arena, field)};
	bt_vec_push(&value->list, entry);
}

static int add_ints(struct bt_daemon_flag_value *value, struct bt_str text, struct berth_error *err)
{
	while (text.length > 0) {
		struct bt_flag_entry entry = {0};
		int code = parse_integer("ParseInt", bt_str_cut(&text, ','), INT32_MIN, INT32_MAX,
			&entry.number, err);
		if (code != 0) {
			return code;
		}
		bt_vec_push(&value->list, entry);
	}
	return 0;
}

struct pair_list {
	struct bt_daemon_flag_value *value;
	struct bt_strbuf bad; /* the first entry without "=" */
};

static void take_pair(void *context, struct bt_str field)
{
	struct pair_list *pairs = context;
	struct bt_daemon_flag_value *value = pairs->value;
	int64_t equals = bt_str_find_char(field, '=');
	if (equals < 0) {
		if (pairs->bad.length == 0) {
			bt_strbuf_append_str(&pairs->bad, field);
			bt_strbuf_append_c(&pairs->bad, " must be formatted as key=value");
		}
		return;
	}
	struct bt_flag_entry entry = (struct bt_flag_entry){
		.text = bt_arena_str(value->arena, bt_str_sub(field, 0, (uint32_t)equals)),
		.second = bt_arena_str(
			value->arena, bt_str_sub(field, (uint32_t)equals + 1, field.length)),
	};
	for (uint32_t i = 0; i < value->list.count; i++) {
		if (bt_str_equal(value->list.items[i].text, entry.text)) {
			value->list.items[i] = entry;
			return;
		}
	}
	bt_vec_push(&value->list, entry);
}

/**
 * Add the pairs key=value. A text with one "=" is a single pair, whose value may contain commas; a
 * text with several "=" is a line of CSV.
 */
static int add_pairs(
	struct bt_daemon_flag_value *value, struct bt_str text, struct berth_error *err)
{
	struct pair_list pairs = {.value = value};
	int64_t equals = bt_str_find_char(text, '=');
	int code = 0;
	if (text.length == 0) {
		return 0;
	}
	if (equals >= 0 && bt_str_find_last_char(text, '=') != equals) {
		code = csv_split(text, take_pair, &pairs, err);
	} else {
		while (text.length > 0 && text.data[0] == '"') {
			text = bt_str_sub(text, 1, text.length);
		}
		while (text.length > 0 && text.data[text.length - 1] == '"') {
			text.length--;
		}
		take_pair(&pairs, text);
	}
	if (code == 0 && pairs.bad.length > 0) {
		code = bt_error_set(err, BERTH_ERR_INVALID, "%s", bt_strbuf_c(&pairs.bad));
	}
	bt_strbuf_finish(&pairs.bad);
	return code;
}

/** Check the syntax "cert,key" or "cert,key:name,name". */
static int check_sni(struct bt_str text, struct berth_error *err)
{
	struct bt_str names = text;
	struct bt_str files = bt_str_cut(&names, ':');
	struct bt_str name;
	int64_t comma = bt_str_find_char(files, ',');
	if (comma <= 0 || comma + 1 == files.length || bt_str_find_last_char(files, ',') != comma) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"expected comma separated certificate and key file paths");
	}
	if (names.data != NULL && !bt_comma_next(&names, &name)) {
		return bt_error_set(err, BERTH_ERR_INVALID, "empty names list is not allowed");
	}
	return 0;
}

static int set_by_kind(
	struct bt_daemon_flag_value *value, const char *text, struct berth_error *err)
{
	struct bt_str copy = bt_arena_str(value->arena, bt_str_from(text));
	struct bt_quantity quantity;
	value->text = copy;
	switch (value->row->kind) {
	case BT_FLAG_KIND_BOOL:
		return parse_bool(copy, &value->number, err);
	case BT_FLAG_KIND_STRING:
		return 0;
	case BT_FLAG_KIND_IP: {
		struct in6_addr v6;
		struct in_addr v4;
		char shown[INET6_ADDRSTRLEN];
		bool is_v4 = inet_pton(AF_INET, text, &v4) == 1;
		if (!is_v4 && inet_pton(AF_INET6, text, &v6) != 1) {
			return bt_error_set_quoted(err, BERTH_ERR_INVALID,
				"failed to parse IP: ", bt_str_from(text), "");
		}
		/* As in Go, an IPv4-mapped IPv6 address is the IPv4 address. */
		if (!is_v4 && IN6_IS_ADDR_V4MAPPED(&v6)) {
			is_v4 = true;
			memcpy(&v4, v6.s6_addr + 12, sizeof(v4));
		}
		value->text = bt_arena_str(value->arena,
			bt_str_from(inet_ntop(is_v4 ? AF_INET : AF_INET6,
				is_v4 ? (const void *)&v4 : &v6, shown, sizeof(shown))));
		return 0;
	}
	case BT_FLAG_KIND_INT:
		return parse_integer("ParseInt", copy, -INT64_MAX, INT64_MAX, &value->number, err);
	case BT_FLAG_KIND_INT32:
		return parse_integer("ParseInt", copy, INT32_MIN, INT32_MAX, &value->number, err);
	case BT_FLAG_KIND_LEVEL:
		return parse_integer("ParseUint", copy, 0, INT32_MAX, &value->number, err);
	case BT_FLAG_KIND_FLOAT32:
		return parse_float(text, &value->real, err);
	case BT_FLAG_KIND_DURATION:
		return bt_duration_parse(copy, &value->number, err);
	case BT_FLAG_KIND_QUANTITY:
		return bt_quantity_parse(copy, value->arena, &quantity, err);
	case BT_FLAG_KIND_STRINGS:
		return csv_split(copy, take_text, value, err);
	case BT_FLAG_KIND_INTS:
		return add_ints(value, copy, err);
	case BT_FLAG_KIND_SNI:
		take_text(value, copy);
		return check_sni(copy, err);
	case BT_FLAG_KIND_GATES:
	case BT_FLAG_KIND_VERSIONS:
		take_text(value, copy);
		return 0;
	case BT_FLAG_KIND_LABELS:
		return add_pairs(value, copy, err);
	case BT_FLAG_KIND_VMODULE:
		return check_vmodule(copy, err);
	case BT_FLAG_KIND_VERSION:
		/*
		 * --version=v... replaces the reported version. The replacement stays in the list
		 * even if a later --version selects what is printed.
		 */
		if (bt_str_has_prefix(copy, BT_STR("v"))) {
			int code = bt_versions_check_replacement(copy, err);
			value->list.count = 0;
			take_text(value, copy);
			value->number = 0;
			return code;
		}
		if (bt_str_equal_c(copy, "raw")) {
			value->number = 1;
			return 0;
		}
		return parse_bool(copy, &value->number, err);
	}
	return 0;
}

int bt_flag_value_set(struct bt_daemon_flag_value *value, const char *text, struct berth_error *err)
{
	if (!value->given) {
		value->list.count = 0; /* the first occurrence replaces the default */
	}
	value->given = true;
	return set_by_kind(value, text, err);
}

void bt_flag_values_init(struct bt_daemon_flag_value *values, struct bt_arena *arena)
{
	for (uint32_t i = 0; i < BT_DAEMON_FLAG__COUNT; i++) {
		const struct bt_flag_row *row = &bt_flag_rows[i];
		int code = 0;
		values[i] = (struct bt_daemon_flag_value){.row = row, .arena = arena};
		if (row->initial[0] != '\0') {
			code = set_by_kind(&values[i], row->initial, NULL);
		}
		BT_ASSERT(code == 0);
	}
}

void bt_flag_values_finish(struct bt_daemon_flag_value *values)
{
	for (uint32_t i = 0; i < BT_DAEMON_FLAG__COUNT; i++) {
		bt_vec_finish(&values[i].list);
	}
}

void bt_flag_value_write(const struct bt_daemon_flag_value *value, struct bt_strbuf *out)
{
	switch (value->row->kind) {
	case BT_FLAG_KIND_BOOL:
		bt_strbuf_append_c(out, value->number != 0 ? "true" : "false");
		return;
	case BT_FLAG_KIND_STRING:
	case BT_FLAG_KIND_IP:
	case BT_FLAG_KIND_QUANTITY:
	case BT_FLAG_KIND_VMODULE:
	case BT_FLAG_KIND_VERSION:
		bt_strbuf_append_str(out, value->text);
		return;
	case BT_FLAG_KIND_INT:
	case BT_FLAG_KIND_INT32:
	case BT_FLAG_KIND_LEVEL:
		bt_strbuf_printf(out, "%lld", (long long)value->number);
		return;
	case BT_FLAG_KIND_FLOAT32:
		bt_strbuf_printf(out, "%.7g", (double)value->real);
		return;
	case BT_FLAG_KIND_DURATION:
		bt_duration_format(value->number, out);
		return;
	case BT_FLAG_KIND_GATES:
		for (uint32_t i = 0; i < value->list.count; i++) {
			bt_strbuf_append_c(out, i > 0 ? "," : "");
			bt_strbuf_append_str(out, value->list.items[i].text);
		}
		return;
	case BT_FLAG_KIND_STRINGS:
	case BT_FLAG_KIND_INTS:
	case BT_FLAG_KIND_SNI:
	case BT_FLAG_KIND_VERSIONS:
	case BT_FLAG_KIND_LABELS:
		bt_strbuf_append_char(out, '[');
		for (uint32_t i = 0; i < value->list.count; i++) {
			const struct bt_flag_entry *entry = &value->list.items[i];
			bt_strbuf_append_c(out, i > 0 ? "," : "");
			if (value->row->kind == BT_FLAG_KIND_INTS) {
				bt_strbuf_printf(out, "%lld", (long long)entry->number);
			} else {
				bt_strbuf_append_str(out, entry->text);
			}
			if (value->row->kind == BT_FLAG_KIND_LABELS) {
				bt_strbuf_append_char(out, '=');
				bt_strbuf_append_str(out, entry->second);
			}
		}
		bt_strbuf_append_char(out, ']');
		return;
	}
}

static const char *const section_names[BT_FLAG_SECTION__COUNT] = {
	[BT_FLAG_SECTION_MISC] = "Misc",
	[BT_FLAG_SECTION_SERVING] = "Secure serving",
	[BT_FLAG_SECTION_AUTHENTICATION] = "Authentication",
	[BT_FLAG_SECTION_AUTHORIZATION] = "Authorization",
	[BT_FLAG_SECTION_DEPRECATED] = "Deprecated",
	[BT_FLAG_SECTION_ELECTION] = "Leader election",
	[BT_FLAG_SECTION_GATES] = "Feature gate",
	[BT_FLAG_SECTION_METRICS] = "Metrics",
	[BT_FLAG_SECTION_LOGS] = "Logs",
	[BT_FLAG_SECTION_GLOBAL] = "Global",
};

static const char *const kind_names[] = {
	[BT_FLAG_KIND_BOOL] = "",
	[BT_FLAG_KIND_STRING] = "string",
	[BT_FLAG_KIND_IP] = "ip",
	[BT_FLAG_KIND_INT] = "int",
	[BT_FLAG_KIND_INT32] = "int32",
	[BT_FLAG_KIND_LEVEL] = "Level",
	[BT_FLAG_KIND_FLOAT32] = "float32",
	[BT_FLAG_KIND_DURATION] = "duration",
	[BT_FLAG_KIND_QUANTITY] = "quantity",
	[BT_FLAG_KIND_STRINGS] = "strings",
	[BT_FLAG_KIND_INTS] = "ints",
	[BT_FLAG_KIND_SNI] = "namedCertKey",
	[BT_FLAG_KIND_GATES] = "gates",
	[BT_FLAG_KIND_VERSIONS] = "strings",
	[BT_FLAG_KIND_LABELS] = "stringToString",
	[BT_FLAG_KIND_VMODULE] = "pattern=N,...",
	[BT_FLAG_KIND_VERSION] = "version[=true]",
};

static const char intro[] =
	"Assigns pods to nodes, as the Kubernetes scheduler does: for each pod in its queue it\n"
	"finds the nodes on which the pod can run, ranks them, and binds the pod to one of the\n"
	"best. berth makes the same decisions as kube-scheduler v1.36.\n"
	"\n";

static void write_head(const struct bt_flag_row *row, struct bt_strbuf *out)
{
	if (row->shorthand != 0) {
		bt_strbuf_printf(out, "  -%c, --%s", row->shorthand, row->name);
	} else {
		bt_strbuf_printf(out, "      --%s", row->name);
	}
	if (kind_names[row->kind][0] != '\0') {
		bt_strbuf_printf(out, " %s", kind_names[row->kind]);
	}
}

struct gate_line {
	const char *name;
	enum bt_gate_stage stage;
	bool value;
};

BT_COMPARE(compare_gates, struct gate_line, strcmp(a->name, b->name))

/** Append the alpha and beta gates, sorted by name. */
static void write_gates(struct bt_strbuf *out)
{
	struct gate_line lines[BT_GATE__COUNT + 2] = {
		{"AllAlpha", BT_GATE_STAGE_ALPHA, false},
		{"AllBeta", BT_GATE_STAGE_BETA, false},
	};
	size_t count = 2;
	for (uint32_t i = 0; i < BT_GATE__COUNT; i++) {
		enum bt_gate gate = (enum bt_gate)i;
		struct bt_gate_state state = bt_gate_state_at(gate, BT_GATE_RELEASE_MINOR);
		if (state.stage <= BT_GATE_STAGE_BETA) {
			lines[count++] =
				(struct gate_line){bt_gate_name(gate), state.stage, state.value};
		}
	}
	qsort(lines, count, sizeof(lines[0]), compare_gates);
	for (size_t i = 0; i < count; i++) {
		bt_strbuf_printf(out, "        kube:%s=true|false (%s - default=%s)\n",
			lines[i].name, bt_gate_stage_name(lines[i].stage),
			lines[i].value ? "true" : "false");
	}
}

void bt_flags_write_help(bool with_intro, struct bt_strbuf *out)
{
	if (with_intro) {
		bt_strbuf_append_c(out, intro);
	}
	bt_strbuf_append_c(out, "Usage:\n  kube-scheduler [flags]\n");
	struct bt_strbuf head = {0};
	struct bt_strbuf text = {0};
	for (int section = 0; section < BT_FLAG_SECTION__COUNT; section++) {
		size_t widest = 0;
		for (uint32_t i = 0; i < BT_DAEMON_FLAG__COUNT; i++) {
			if ((int)bt_flag_rows[i].section == section) {
				bt_strbuf_reset(&head);
				write_head(&bt_flag_rows[i], &head);
				widest = BT_MAX(head.length, widest);
			}
		}
		/*
		 * A flag that is too long for the limited column gets a line of its own, so that
		 * the descriptions of the other flags have room.
		 */
		size_t column = widest + 3 < BT_HELP_TEXT_COLUMN ? widest + 3 : BT_HELP_TEXT_COLUMN;
		bt_strbuf_printf(out, "\n%s flags:\n\n", section_names[section]);
		for (uint32_t i = 0; i < BT_DAEMON_FLAG__COUNT; i++) {
			const struct bt_flag_row *row = &bt_flag_rows[i];
			const char *initial = row->initial;
			if ((int)row->section != section) {
				continue;
			}
			bt_strbuf_reset(&head);
			write_head(row, &head);
			bt_strbuf_reset(&text);
			bt_strbuf_append_c(&text, row->help);
			/* Defaults false, 0 and "" are not shown. */
			if (initial[0] != '\0' && strcmp(initial, "false") != 0 &&
				strcmp(initial, "0") != 0) {
				bool is_list = row->kind == BT_FLAG_KIND_STRINGS;
				const char *quote = row->kind == BT_FLAG_KIND_STRING ? "\"" : "";
				bt_strbuf_printf(&text, " (default %s%s%s)", is_list ? "[" : quote,
					initial, is_list ? "]" : quote);
			}
			bt_flags_help_row(bt_strbuf_c(&head), column, bt_strbuf_c(&text), out);
			if (row->kind == BT_FLAG_KIND_GATES) {
				write_gates(out);
			}
		}
	}
	bt_strbuf_finish(&text);
	bt_strbuf_finish(&head);
}
