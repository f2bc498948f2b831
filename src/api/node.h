/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_API_NODE_H
#define BT_API_NODE_H
/** Nodes. Spec: 01 section 4.5. */
#include "api/types.h"

/** Returns true if bt_node_zone_key depends on the label. */
bool bt_node_is_zone_label(struct bt_str key);
/** Appends the zone key of the node order: region ":" NUL ":" zone, or "". Spec 01 section 4.5. */
void bt_node_zone_key(const struct bt_str_map *labels, struct bt_strbuf *out);
#endif
