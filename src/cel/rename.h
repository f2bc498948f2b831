/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CEL_RENAME_H
#define BT_CEL_RENAME_H
/**
 * An expression with other names: of fields and variables, and what string literals say. Words of
 * the language, functions, what every device has (device.driver), numbers and amounts stay;
 * comments go. Whether it then means the same is for the caller to know: comparing whole texts
 * does, looking at parts of them need not.
 */
#include <stdbool.h>

#include "base/arena.h"
#include "base/strbuf.h"

struct bt_cel_renaming {
	/**
	 * The other text for a name, "domain/name" where an attribute or a capacity of a device is
	 * written with both; as many slashes must be in it. Borrowed until the arena's end.
	 */
	struct bt_str (*rename)(void *context, struct bt_str name, struct bt_arena *arena);
	/**
	 * A regular expression for the other texts of all those that a text of a device may be and
	 * of which startsWith, endsWith or contains (function) is true with part. Absent: not to be
	 * told.
	 */
	struct bt_str (*find_texts)(
		void *context, struct bt_str function, struct bt_str part, struct bt_arena *arena);
	void *context;
	bool has_parts; /* out: some function looks at parts of texts, and they are not told */
};

/** Append it to out. false: the source is no sequence of tokens, and nothing is appended. */
bool bt_cel_rename(struct bt_str source, struct bt_cel_renaming *renaming, struct bt_arena *arena,
	struct bt_strbuf *out);
#endif
