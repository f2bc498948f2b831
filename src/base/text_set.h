/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_BASE_TEXT_SET_H
#define BT_BASE_TEXT_SET_H
/**
 * A set of texts in order of insertion that finds the position of a text. Use this set for lists
 * whose length a client chooses, because comparing each text with all others would take quadratic
 * time. A few texts are searched linearly. All-zero memory is an empty set.
 */
#include <stdbool.h>

#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"

struct bt_text_set {
	BT_VEC(struct bt_str) items; /* borrowed texts */
	struct bt_map map;           /* last position of each text; empty while texts are few */
};

void bt_text_set_finish(struct bt_text_set *set);
/** Adds a text at the next position. false: the set has an equal text and is unchanged. */
bool bt_text_set_add(struct bt_text_set *set, struct bt_str text);
/** Adds a text at the next position, even if the set has an equal one. */
void bt_text_set_append(struct bt_text_set *set, struct bt_str text);
/** Returns the position of the last equal text, or BT_MAP_NONE. */
uint32_t bt_text_set_find(const struct bt_text_set *set, struct bt_str text);

static inline bool bt_text_set_has(const struct bt_text_set *set, struct bt_str text)
{
	return bt_text_set_find(set, text) != BT_MAP_NONE;
}
#endif
