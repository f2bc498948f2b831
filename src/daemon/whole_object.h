/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_DAEMON_WHOLE_OBJECT_H
#define BT_DAEMON_WHOLE_OBJECT_H
/**
 * Objects that keep the JSON they came in beside what a scheduler reads of them: for extenders,
 * which may read anything. Only used where the configuration has extenders that are sent such
 * objects. Spec: 11b sections 5.1 and 9.2.
 */
#include "api/object.h"
#include "base/strbuf.h"
#include "client/reflector.h"
#include "config/config.h"

/** Of BT_KIND_NODE or BT_KIND_POD; asks for JSON. Items are struct bt_object with `json`. */
const struct bt_reflector_codec *bt_whole_object_codec(enum bt_kind kind);

/** What extenders of the configuration are sent as whole objects. */
struct bt_whole_object_needs {
	bool pods;
	bool nodes;
};
struct bt_whole_object_needs bt_whole_object_needs(const struct bt_config *config);
#endif
