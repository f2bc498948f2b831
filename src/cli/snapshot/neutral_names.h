/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLI_NEUTRAL_NAMES_H
#define BT_CLI_NEUTRAL_NAMES_H
/**
 * Neutral texts in place of names, such that nothing that is decided by comparing or joining names
 * changes: a text is cut into words (runs of letters and digits), and each word has one neutral
 * word wherever it occurs. So equal texts stay equal, a name that is made of others (claims of
 * pods, "domain/name") still is, and the order of names is kept. What everybody knows ("default",
 * kubernetes.io/hostname) and short numbers stay; long numbers become others of the same order;
 * UUIDs and IPv4 addresses count as one word.
 *
 * First every text is collected, then all are settled, then they are renamed.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/strbuf.h"
#include "base/vec.h"

struct bt_neutral_word {
	struct bt_str original; /* in the arena */
	uint32_t code;          /* once settled: its place among all of its sort */
	bool is_number;
};

struct bt_neutral_names {
	BT_VEC(struct bt_neutral_word) words;
	struct bt_map map; /* original -> words */
	struct bt_arena arena;
	struct bt_str prefix; /* of neutral words */
	uint32_t width;       /* digits behind it */
};

void bt_neutral_names_init(struct bt_neutral_names *names);
void bt_neutral_names_finish(struct bt_neutral_names *names);
/** A word of the API. */
bool bt_neutral_names_is_term(struct bt_str text);
/** is_term: where the API has words of its own (cpu, ReplicaSet), which stay. */
void bt_neutral_names_collect(struct bt_neutral_names *names, struct bt_str text, bool is_term);
/** No text may be collected any more. */
void bt_neutral_names_settle(struct bt_neutral_names *names);
/** The neutral text for one that was collected, with the same is_term; lies in the arena. */
struct bt_str bt_neutral_names_rename(const struct bt_neutral_names *names, struct bt_str text,
	bool is_term, struct bt_arena *arena);
/** Append a JSON object: neutral word -> original one, and a newline. */
void bt_neutral_names_append_map(const struct bt_neutral_names *names, struct bt_strbuf *out);
#endif
