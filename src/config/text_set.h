/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CONFIG_TEXT_SET_H
#define BT_CONFIG_TEXT_SET_H
/**
 * Set of texts, to find repetitions in documents of any length. All-zero memory is an empty set.
 */
#include <stdbool.h>

#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"

struct bt_text_set {
	struct bt_map map;
	BT_VEC(struct bt_str) items; /* in order of insertion; text is borrowed */
};

/** Returns false when the set has an equal text already. */
bool bt_text_set_add(struct bt_text_set *set, struct bt_str text);
bool bt_text_set_has(const struct bt_text_set *set, struct bt_str text);
void bt_text_set_finish(struct bt_text_set *set);
#endif
