/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLIENT_REFLECTOR_JSON_H
#define BT_CLIENT_REFLECTOR_JSON_H
/** Objects as a reflector keeps them when all of their JSON matters, and not their kind. */
#include "client/reflector.h"
#include "codec/json.h"

/** Immutable and shared. */
struct bt_json_item {
	uint32_t references;
	struct bt_arena arena; /* of all of it */
	struct bt_object_meta meta;
	struct bt_json_value *document;
};

/** Items are struct bt_json_item. */
extern const struct bt_reflector_codec bt_reflector_json_codec;

/** NULL accepted. */
struct bt_json_item *bt_json_item_share(struct bt_json_item *item);
/** NULL accepted. */
void bt_json_item_release(struct bt_json_item *item);
#endif
