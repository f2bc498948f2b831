/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLIENT_REFLECTOR_STORE_H
#define BT_CLIENT_REFLECTOR_STORE_H
/**
 * Items by namespace and name; keys are read from the items, not kept. Items whose references can
 * rest do, as long as they are in the store. Private to the reflector.
 */
#include "base/map.h"
#include "base/vec.h"
#include "client/reflector.h"

/** Must not move once it has items. */
struct bt_reflector_store {
	const struct bt_reflector_codec *codec;
	BT_VEC(void *) items; /* owned */
	struct bt_map map;    /* key -> index */
	BT_VEC(void *) awake; /* references that keep items from resting until the end */
};

void bt_reflector_store_init(
	struct bt_reflector_store *store, const struct bt_reflector_codec *codec);
/** Also empties one that is used again: its memory is given back. */
void bt_reflector_store_finish(struct bt_reflector_store *store);

void *bt_reflector_store_find(
	const struct bt_reflector_store *store, struct bt_str namespace_, struct bt_str name);
#endif
