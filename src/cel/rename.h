/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CEL_RENAME_H
#define BT_CEL_RENAME_H
/**
 * Renames fields, variables and string literals of an expression. Keywords, functions, fields that
 * every device has (device.driver), numbers and amounts stay; comments are dropped. The caller must
 * know whether the meaning stays the same: it does for comparisons of whole texts, but not always
 * for functions on parts of texts.
 */
#include <stdbool.h>

#include "base/arena.h"
#include "base/strbuf.h"

struct bt_cel_renaming {
	/**
	 * Returns the new text for a name. If the expression names an attribute or capacity
	 * together with its domain, as in device.attributes["domain"].name, then name is
	 * "domain/name". The new text must have the same number of slashes. Borrowed until the
	 * arena ends.
	 */
	struct bt_str (*rename)(void *context, struct bt_str name, struct bt_arena *arena);
	/**
	 * Returns a regular expression that matches the renamed form of every text for which the
	 * call of `function` (startsWith, endsWith or contains) with the argument `part` is true.
	 * Absent: unknown; the call stays, and has_parts is set.
	 */
	struct bt_str (*find_texts)(
		void *context, struct bt_str function, struct bt_str part, struct bt_arena *arena);
	void *context;
	bool has_parts; /* out: the result contains a function that depends on parts of texts */
};

/**
 * Appends the renamed expression to out. false: the source is not a valid sequence of tokens;
 * nothing is appended.
 */
bool bt_cel_rename(struct bt_str source, struct bt_cel_renaming *renaming, struct bt_arena *arena,
	struct bt_strbuf *out);
#endif
