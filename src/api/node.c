/* SPDX-License-Identifier: Apache-2.0 */
#include "api/node.h"

#include "api/field_rows.h"

static const struct bt_field taint_rows[] = {
	BT_ROW_STR_ALWAYS(bt_taint, key, "key", 1),
	BT_ROW_STR(bt_taint, value, "value", 2),
	BT_ROW_STR_ALWAYS(bt_taint, effect, "effect", 3),
	BT_ROW_TIME_NULLABLE(bt_taint, time_added, "timeAdded", 4),
};
const struct bt_message bt_taint_message = BT_MESSAGE(bt_taint, "Taint", taint_rows);

static const struct bt_field node_spec_rows[] = {
	BT_ROW_BOOL(bt_node_spec, unschedulable, "unschedulable", 4),
	BT_ROW_MSG_LIST(bt_node_spec, taints, "taints", 5, bt_taint, bt_taint_message),
};
static const struct bt_message node_spec_message =
	BT_MESSAGE(bt_node_spec, "NodeSpec", node_spec_rows);

static const struct bt_field node_condition_rows[] = {
	BT_ROW_STR_ALWAYS(bt_node_condition, type, "type", 1),
	BT_ROW_STR_ALWAYS(bt_node_condition, status, "status", 2),
};
static const struct bt_message node_condition_message =
	BT_MESSAGE(bt_node_condition, "NodeCondition", node_condition_rows);

static const struct bt_field container_image_rows[] = {
	BT_ROW_STR_LIST(bt_container_image, names, "names", 1),
	BT_ROW_I64(bt_container_image, size_bytes, "sizeBytes", 2),
};
static const struct bt_message container_image_message =
	BT_MESSAGE(bt_container_image, "ContainerImage", container_image_rows);

static const struct bt_field node_status_rows[] = {
	BT_ROW_QTY_MAP(bt_node_status, capacity, "capacity", 1),
	BT_ROW_QTY_MAP(bt_node_status, allocatable, "allocatable", 2),
	BT_ROW_MSG_LIST(bt_node_status, conditions, "conditions", 4, bt_node_condition,
		node_condition_message),
	BT_ROW_MSG_LIST(
		bt_node_status, images, "images", 8, bt_container_image, container_image_message),
	BT_ROW_STR_LIST(bt_node_status, declared_features, "declaredFeatures", 14),
};
static const struct bt_message node_status_message =
	BT_MESSAGE(bt_node_status, "NodeStatus", node_status_rows);

static const struct bt_field node_rows[] = {
	BT_ROW_MSG(bt_node, metadata, "metadata", 1, bt_object_meta, bt_object_meta_message),
	BT_ROW_MSG(bt_node, spec, "spec", 2, bt_node_spec, node_spec_message),
	BT_ROW_MSG(bt_node, status, "status", 3, bt_node_status, node_status_message),
};
const struct bt_message bt_node_message = BT_MESSAGE(bt_node, "Node", node_rows);

#define OLD_REGION BT_STR("failure-domain.beta.kubernetes.io/region")
#define OLD_ZONE BT_STR("failure-domain.beta.kubernetes.io/zone")
#define REGION BT_STR("topology.kubernetes.io/region")
#define ZONE BT_STR("topology.kubernetes.io/zone")

/** Value of the first of the two labels that exists, even if it is empty; "" when neither does. */
static struct bt_str first_label(
	const struct bt_str_map *labels, struct bt_str key, struct bt_str fallback_key)
{
	const struct bt_str *value = bt_str_map_find(labels, key);

	if (value == NULL) {
		value = bt_str_map_find(labels, fallback_key);
	}
	return value != NULL ? *value : BT_STR("");
}

bool bt_node_is_zone_label(struct bt_str key)
{
	return bt_str_equal(key, ZONE) || bt_str_equal(key, REGION) ||
		bt_str_equal(key, OLD_ZONE) || bt_str_equal(key, OLD_REGION);
}

void bt_node_zone_key(const struct bt_str_map *labels, struct bt_strbuf *out)
{
	struct bt_str region = first_label(labels, OLD_REGION, REGION);
	struct bt_str zone = first_label(labels, OLD_ZONE, ZONE);

	if (region.length == 0 && zone.length == 0) {
		return;
	}
	bt_strbuf_append_str(out, region);
	bt_strbuf_append(out, ":\0:", 3);
	bt_strbuf_append_str(out, zone);
}
