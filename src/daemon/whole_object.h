/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_DAEMON_WHOLE_OBJECT_H
#define BT_DAEMON_WHOLE_OBJECT_H
/**
 * Objects that keep the JSON they came in beside what a scheduler reads of them: nodes and pods for
 * extenders, which may read anything, where the configuration has extenders that are sent such
 * objects; claims because they are written back. Spec: 11b sections 5.1 and 9.2, 13 section 14.7.
 */
#include "api/object.h"
#include "base/strbuf.h"
#include "client/reflector.h"
#include "config/config.h"

/** Of BT_KIND_NODE, BT_KIND_POD or BT_KIND_RESOURCE_CLAIM; asks for JSON. Items are struct
 * bt_object with `json`. */
const struct bt_reflector_codec *bt_whole_object_codec(enum bt_kind kind);

/** What extenders of the configuration are sent as whole objects. */
struct bt_whole_object_needs {
	bool pods;
	bool nodes;
};
struct bt_whole_object_needs bt_whole_object_needs(const struct bt_config *config);
#endif
