/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_BASE_FLAGS_H
#define BT_BASE_FLAGS_H
/**
 * Command-line flags as Go's pflag reads them: --name=value, --name value, -f value, -fvalue;
 * booleans take no separate value; underscores in names equal dashes; no abbreviations; "--" ends
 * the flags; "-" is an argument.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "base/vec.h"

enum bt_flag_type {
	BT_FLAG_BOOL,     /* bool */
	BT_FLAG_STRING,   /* const char *: borrowed from argv */
	BT_FLAG_INT,      /* int64_t */
	BT_FLAG_STRINGS,  /* struct bt_arguments: repeated flag */
	BT_FLAG_SETTER,   /* bt_flag_set_fn *: parses any other kind of value */
	BT_FLAG_OPTIONAL, /* as BT_FLAG_SETTER; for --name alone, text is NULL */
};

struct bt_flag;

/** Called for each occurrence. text is borrowed from argv. err: the reason why text is invalid. */
typedef int bt_flag_set_fn(
	void *options, const struct bt_flag *flag, const char *text, struct berth_error *err);

/** Values of a repeated flag. */
struct bt_arguments {
	BT_VEC(const char *) list; /* borrowed from argv */
};

struct bt_flag {
	const char *name; /* without dashes */
	char shorthand;   /* 0: none */
	enum bt_flag_type type;
	size_t offset; /* offset of the value in the options */
	/**
	 * For help and completion; NULL for booleans. "|" separates alternatives: words in capitals
	 * are placeholders (FILE, DIR, N), other words are literal ("on|off").
	 */
	const char *value_name;
	const char *help;
};

/**
 * Parses argv[0..argc) into options, a structure with the members that flags describes. Arguments
 * that are no flags go to out_arguments. BERTH_ERR_INVALID with pflag's messages (`unknown flag:
 * --x`, `flag needs an argument: --x`, ...). --help or -h sets *out_help (never an error).
 */
BT_MUST_USE int bt_flags_parse(const struct bt_flag *flags, uint32_t flag_count, void *options,
	int argc, char **argv, struct bt_arguments *out_arguments, bool *out_help,
	struct berth_error *err);
/** Releases the lists of repeated flags. */
void bt_flags_finish(const struct bt_flag *flags, uint32_t flag_count, void *options);
/** Whether the flag may be given as --name alone; a value then requires the form --name=value. */
bool bt_flag_is_complete(const struct bt_flag *flag);
/** Width of help texts in columns. */
#define BT_HELP_COLUMNS 100
/** Column at which the explanations of flags begin. */
#define BT_HELP_TEXT_COLUMN 41
/** Appends one line per flag, with aligned explanations. */
void bt_flags_help(const struct bt_flag *flags, uint32_t flag_count, struct bt_strbuf *out);
/**
 * Appends a head, an explanation that begins at text_column and is wrapped between words, and a
 * newline. If the head is longer than text_column, the explanation begins on the next line.
 */
void bt_flags_help_row(
	const char *head, size_t text_column, const char *text, struct bt_strbuf *out);
#endif
