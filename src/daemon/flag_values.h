/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_DAEMON_FLAG_VALUES_H
#define BT_DAEMON_FLAG_VALUES_H
/**
 * The daemon's flags as a table (flags.def), and their values by kind, parsed and shown as pflag
 * does. daemon/options.h interprets them. Spec: 11 section 4.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/strbuf.h"
#include "base/vec.h"

enum bt_daemon_flag {
#define BT_DAEMON_FLAG(upper, name, shorthand, section, kind, value_name, value, help) \
	BT_DAEMON_FLAG_##upper,
#include "daemon/flags.def"
	BT_DAEMON_FLAG__COUNT,
};

enum bt_flag_kind {
	BT_FLAG_KIND_BOOL,
	BT_FLAG_KIND_STRING,
	BT_FLAG_KIND_IP,
	BT_FLAG_KIND_INT,
	BT_FLAG_KIND_INT32,
	BT_FLAG_KIND_LEVEL, /* an int32 that is not negative */
	BT_FLAG_KIND_FLOAT32,
	BT_FLAG_KIND_DURATION,
	BT_FLAG_KIND_QUANTITY,
	BT_FLAG_KIND_STRINGS,  /* a line of CSV; repeated flags append to the list */
	BT_FLAG_KIND_INTS,     /* a line of CSV of int32; repeated flags append to the list */
	BT_FLAG_KIND_SNI,      /* one entry per occurrence */
	BT_FLAG_KIND_GATES,    /* one entry per occurrence; checked later */
	BT_FLAG_KIND_VERSIONS, /* one entry per occurrence; checked later */
	BT_FLAG_KIND_LABELS,   /* key=value; repeated flags add to the map */
	BT_FLAG_KIND_VMODULE,
	BT_FLAG_KIND_VERSION,
};

enum bt_flag_section {
	BT_FLAG_SECTION_MISC,
	BT_FLAG_SECTION_SERVING,
	BT_FLAG_SECTION_AUTHENTICATION,
	BT_FLAG_SECTION_AUTHORIZATION,
	BT_FLAG_SECTION_DEPRECATED,
	BT_FLAG_SECTION_ELECTION,
	BT_FLAG_SECTION_GATES,
	BT_FLAG_SECTION_METRICS,
	BT_FLAG_SECTION_LOGS,
	BT_FLAG_SECTION_GLOBAL,
	BT_FLAG_SECTION__COUNT,
};

struct bt_flag_row {
	const char *name;
	char shorthand; /* 0: no shorthand */
	enum bt_flag_section section;
	enum bt_flag_kind kind;
	const char *initial; /* the default, written as on the command line */
	const char *help;
};

extern const struct bt_flag_row bt_flag_rows[BT_DAEMON_FLAG__COUNT];

struct bt_flag_entry {
	struct bt_str text;   /* STRINGS, GATES, VERSIONS, VERSION; LABELS: the key */
	struct bt_str second; /* LABELS: the value */
	int64_t number;       /* INTS */
};

struct bt_daemon_flag_value {
	const struct bt_flag_row *row;
	struct bt_arena *arena;
	bool given;
	/** BOOL, INT, INT32, LEVEL, DURATION (nanoseconds); VERSION: 1 to print the version */
	int64_t number;
	float real;         /* FLOAT32 */
	struct bt_str text; /* the last occurrence */
	BT_VEC(struct bt_flag_entry) list;
};

/** Set values[BT_DAEMON_FLAG__COUNT] to the defaults. Texts are in arena. */
void bt_flag_values_init(struct bt_daemon_flag_value *values, struct bt_arena *arena);
void bt_flag_values_finish(struct bt_daemon_flag_value *values);
/** Apply one occurrence of the flag. Returns 0 or BERTH_ERR_INVALID with pflag's reason. */
BT_MUST_USE int bt_flag_value_set(
	struct bt_daemon_flag_value *value, const char *text, struct berth_error *err);
/** Append the value as pflag prints it. */
void bt_flag_value_write(const struct bt_daemon_flag_value *value, struct bt_strbuf *out);
/**
 * Append what --help shows: description, usage and the flags by section. with_intro false: without
 * the description.
 */
void bt_flags_write_help(bool with_intro, struct bt_strbuf *out);
/**
 * Remove the next comma-separated entry from text; empty entries are skipped. false: no entry is
 * left.
 */
bool bt_comma_next(struct bt_str *text, struct bt_str *out_item);
#endif
