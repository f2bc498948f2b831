/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_DAEMON_COMPLETE_OBJECT_H
#define BT_DAEMON_COMPLETE_OBJECT_H
/**
 * Objects that keep their JSON beside the fields that a scheduler reads: nodes and pods if the
 * configuration has extenders that get whole objects and may read any field; claims because they
 * are written back. Spec: 11b sections 5.1 and 9.2, 13 section 14.7.
 */
#include "api/object.h"
#include "base/strbuf.h"
#include "client/reflector.h"
#include "config/config.h"

/**
 * Return the codec of BT_KIND_NODE, BT_KIND_POD or BT_KIND_RESOURCE_CLAIM, which requests JSON.
 * Items are struct bt_object with `json`.
 */
const struct bt_reflector_codec *bt_complete_object_codec(enum bt_kind kind);

/** The kinds that the configured extenders get as whole objects. */
struct bt_complete_object_needs {
	bool pods;
	bool nodes;
};
struct bt_complete_object_needs bt_complete_object_needs(const struct bt_config *config);
#endif
