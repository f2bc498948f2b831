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
#include "config/config.h"

/**
 * Decode a node, a pod or a claim as an object with `json`, which has no kind, apiVersion and,
 * except for nodes, managedFields. For bt_reflector_options.decode_json.
 */
BT_MUST_USE int bt_complete_object_decode(enum bt_kind kind, struct bt_str json,
	struct bt_object **out_object, struct berth_error *err);

/** The kinds that the configured extenders get as whole objects. */
struct bt_complete_object_needs {
	bool pods;
	bool nodes;
};
struct bt_complete_object_needs bt_complete_object_needs(const struct bt_config *config);
#endif
