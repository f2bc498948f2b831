/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SCHEMA_FIELD_SET_PRIVATE_H
#define BT_SCHEMA_FIELD_SET_PRIVATE_H
/** What makes sets of texts (field_set.c) and of objects (field_walk.c). */
#include "schema/field_set.h"

/** A set without members, and room for so many children. */
struct bt_field_set *bt_field_set_new(
	struct bt_arena *arena, char kind, struct bt_str text, uint32_t room);
/** The set, or NULL, the empty one. */
const struct bt_field_set *bt_field_set_or_empty(const struct bt_field_set *set);
#endif
