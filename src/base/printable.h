/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_BASE_PRINTABLE_H
#define BT_BASE_PRINTABLE_H
/**
 * Makes text from input files safe for a terminal: the text must not move the cursor, change
 * colours or hide characters.
 */
#include "base/strbuf.h"

/** Appends text; bytes that are not printable are escaped as \n, \t, \x1b, \u202e ... */
void bt_printable_append(struct bt_strbuf *out, struct bt_str text);
/** Appends "NAMESPACE/NAME". */
void bt_printable_append_name(struct bt_strbuf *out, struct bt_str namespace_, struct bt_str name);
/** Appends a word of a shell command line: in single quotes unless it is plain. Escapes nothing. */
void bt_printable_append_word(struct bt_strbuf *out, struct bt_str word);
/** Returns the width of UTF-8 text in columns, counting one column per code point. */
uint32_t bt_printable_width(struct bt_str text);
#endif
