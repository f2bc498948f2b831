/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_BASE_PRINTABLE_H
#define BT_BASE_PRINTABLE_H
/** Text from input files on a terminal: it must not move the cursor, change colours or hide itself.
 */
#include "base/strbuf.h"

/** Appends text; bytes that do not print appear as \n, \t, \x1b, \u202e ... */
void bt_printable_append(struct bt_strbuf *out, struct bt_str text);
/** "NAMESPACE/NAME". */
void bt_printable_append_name(struct bt_strbuf *out, struct bt_str namespace_, struct bt_str name);
/** Columns that the UTF-8 text takes, one a code point. */
uint32_t bt_printable_width(struct bt_str text);
#endif
