/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_API_NODE_H
#define BT_API_NODE_H
/** Node, as far as a scheduler reads it. Spec: 01 section 4.5. */
#include "api/meta.h"
#include "api/quantity.h"

struct bt_taint {
	struct bt_str key;
	struct bt_str value;
	struct bt_str effect;
	const struct bt_time *time_added;
};

typedef BT_LIST(struct bt_taint) bt_taint_list;

struct bt_node_spec {
	bool unschedulable;
	bt_taint_list taints;
};

struct bt_node_condition {
	struct bt_str type;
	struct bt_str status;
};

struct bt_container_image {
	bt_str_list names;
	int64_t size_bytes;
};

struct bt_node_status {
	struct bt_resource_list capacity;
	struct bt_resource_list allocatable;
	BT_LIST(struct bt_node_condition) conditions;
	BT_LIST(struct bt_container_image) images;
	bt_str_list declared_features;
};

struct bt_node {
	struct bt_object_meta metadata;
	struct bt_node_spec spec;
	struct bt_node_status status;
};

extern const struct bt_message bt_node_message;
extern const struct bt_message bt_taint_message;

/** bt_node_zone_key looks at the label. */
bool bt_node_is_zone_label(struct bt_str key);
/** Zone key of the node order: region ":" NUL ":" zone, or "". Spec 01 section 4.5. */
void bt_node_zone_key(const struct bt_str_map *labels, struct bt_strbuf *out);
#endif
