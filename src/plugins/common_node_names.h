/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_PLUGINS_COMMON_NODE_NAMES_H
#define BT_PLUGINS_COMMON_NODE_NAMES_H
/** The nodes that a required node affinity names by metadata.name. Spec: 05 section 9.2. */
#include <stdbool.h>
#include <stdint.h>

#include "api/meta.h"
#include "base/arena.h"

/** Sorted, distinct. */
struct bt_name_set {
	struct bt_str *items;
	uint32_t count;
};

/**
 * Union over all terms, parsable or not; false when some term does not name nodes, so that any node
 * may match. Texts are the selector's.
 */
bool bt_node_names_of_terms(const struct bt_node_selector *required, struct bt_arena *arena,
	struct bt_name_set *out_names);
#endif
