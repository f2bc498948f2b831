/* SPDX-License-Identifier: Apache-2.0 */
#include "api/node.h"

#define OLD_REGION BT_STR("failure-domain.beta.kubernetes.io/region")
#define OLD_ZONE BT_STR("failure-domain.beta.kubernetes.io/zone")
#define REGION BT_STR("topology.kubernetes.io/region")
#define ZONE BT_STR("topology.kubernetes.io/zone")

/** Returns the value of the label `key`, else of `fallback_key`, else "". Empty values count. */
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
