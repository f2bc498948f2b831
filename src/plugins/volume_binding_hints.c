/* SPDX-License-Identifier: Apache-2.0 */
/* Queueing hints of VolumeBinding. Spec: 07 section 12. */
#include "plugins/common_plugin.h"
#include "plugins/common_volume.h"
#include "plugins/volume_binding.h"

static bool same_values(const bt_str_list *a, const bt_str_list *b)
{
	if (a->count != b->count) {
		return false;
	}
	for (uint32_t i = 0; i < a->count; i++) {
		if (!bt_str_equal(a->items[i], b->items[i])) {
			return false;
		}
	}
	return true;
}

static bool same_term(
	const struct bt_topology_selector_term *a, const struct bt_topology_selector_term *b)
{
	if (a->match_label_expressions.count != b->match_label_expressions.count) {
		return false;
	}
	for (uint32_t i = 0; i < a->match_label_expressions.count; i++) {
		if (!bt_str_equal(a->match_label_expressions.items[i].key,
			    b->match_label_expressions.items[i].key) ||
			!same_values(&a->match_label_expressions.items[i].values,
				&b->match_label_expressions.items[i].values)) {
			return false;
		}
	}
	return true;
}

/** Absent and empty lists are equal. */
static bool same_topologies(const struct bt_storage_class *a, const struct bt_storage_class *b)
{
	if (a->allowed_topologies.count != b->allowed_topologies.count) {
		return false;
	}
	for (uint32_t i = 0; i < a->allowed_topologies.count; i++) {
		if (!same_term(&a->allowed_topologies.items[i], &b->allowed_topologies.items[i])) {
			return false;
		}
	}
	return true;
}

static enum bt_queueing_hint after_storage_class_change(BT_UNUSED struct bt_plugin *plugin,
	BT_UNUSED const struct bt_pod_info *pod, const void *old_object, const void *new_object,
	BT_UNUSED struct berth_error *err)
{
	return old_object == NULL || !same_topologies(old_object, new_object) ? BT_HINT_QUEUE
									      : BT_HINT_SKIP;
}

static enum bt_queueing_hint after_claim_change(BT_UNUSED struct bt_plugin *plugin,
	const struct bt_pod_info *pod, BT_UNUSED const void *old_object, const void *new_object,
	BT_UNUSED struct berth_error *err)
{
	const struct bt_persistent_volume_claim *claim = new_object;

	return bt_pod_uses_claim(pod, &claim->metadata, true) ? BT_HINT_QUEUE : BT_HINT_SKIP;
}

static enum bt_queueing_hint after_csi_node_change(BT_UNUSED struct bt_plugin *plugin,
	BT_UNUSED const struct bt_pod_info *pod, const void *old_object, const void *new_object,
	BT_UNUSED struct berth_error *err)
{
	const struct bt_csi_node *old_node = old_object;
	const struct bt_csi_node *new_node = new_object;
	const struct bt_str *old_value;
	const struct bt_str *new_value;

	if (old_node == NULL) {
		return BT_HINT_QUEUE;
	}
	old_value =
		bt_str_map_find(&old_node->metadata.annotations, BT_ANNOTATION_MIGRATED_PLUGINS);
	new_value =
		bt_str_map_find(&new_node->metadata.annotations, BT_ANNOTATION_MIGRATED_PLUGINS);
	return bt_str_equal(old_value != NULL ? *old_value : BT_STR(""),
		       new_value != NULL ? *new_value : BT_STR(""))
		? BT_HINT_SKIP
		: BT_HINT_QUEUE;
}

static bool checks_capacity(const struct bt_csi_driver *driver)
{
	return driver->spec.storage_capacity.present && driver->spec.storage_capacity.value;
}

/** Upstream quirk, spec 07 section 12: only inline volumes of the driver count, not those behind
 * claims. */
static enum bt_queueing_hint after_csi_driver_change(BT_UNUSED struct bt_plugin *plugin,
	const struct bt_pod_info *pod, const void *old_object, const void *new_object,
	BT_UNUSED struct berth_error *err)
{
	const struct bt_csi_driver *old_driver = old_object;
	const struct bt_csi_driver *new_driver = new_object;
	const struct bt_pod_spec *spec = bt_plugin_pod_spec(pod);

	if (old_driver == NULL || !checks_capacity(old_driver) || checks_capacity(new_driver)) {
		return BT_HINT_SKIP;
	}
	for (uint32_t i = 0; i < spec->volumes.count; i++) {
		const struct bt_inline_csi_volume_source *csi = spec->volumes.items[i].csi;

		if (csi != NULL && bt_str_equal(csi->driver, new_driver->metadata.name)) {
			return BT_HINT_QUEUE;
		}
	}
	return BT_HINT_SKIP;
}

static const struct bt_quantity *limit_of(const struct bt_csi_storage_capacity *capacity)
{
	return capacity->maximum_volume_size != NULL ? capacity->maximum_volume_size
						     : capacity->capacity;
}

static enum bt_queueing_hint after_capacity_change(BT_UNUSED struct bt_plugin *plugin,
	BT_UNUSED const struct bt_pod_info *pod, const void *old_object, const void *new_object,
	BT_UNUSED struct berth_error *err)
{
	const struct bt_quantity *old_limit;
	const struct bt_quantity *new_limit;

	if (old_object == NULL) {
		return BT_HINT_QUEUE;
	}
	old_limit = limit_of(old_object);
	new_limit = limit_of(new_object);
	return new_limit != NULL &&
			(old_limit == NULL ||
				bt_quantity_value(new_limit) > bt_quantity_value(old_limit))
		? BT_HINT_QUEUE
		: BT_HINT_SKIP;
}

const struct bt_event_registration bt_volume_binding_events[] = {
	{{BT_RESOURCE_STORAGE_CLASS, BT_ACTION_ADD | BT_ACTION_UPDATE}, after_storage_class_change},
	{{BT_RESOURCE_PERSISTENT_VOLUME_CLAIM, BT_ACTION_ADD | BT_ACTION_UPDATE},
		after_claim_change},
	{{BT_RESOURCE_PERSISTENT_VOLUME, BT_ACTION_ADD | BT_ACTION_UPDATE}, NULL},
	{{BT_RESOURCE_NODE, BT_ACTION_ADD | BT_ACTION_UPDATE_NODE_LABEL}, NULL},
	{{BT_RESOURCE_CSI_NODE, BT_ACTION_ADD | BT_ACTION_UPDATE}, after_csi_node_change},
	{{BT_RESOURCE_CSI_DRIVER, BT_ACTION_UPDATE}, after_csi_driver_change},
	{{BT_RESOURCE_CSI_STORAGE_CAPACITY, BT_ACTION_ADD | BT_ACTION_UPDATE},
		after_capacity_change},
};
const uint32_t bt_volume_binding_event_count = (uint32_t)BT_ARRAY_LENGTH(bt_volume_binding_events);

enum bt_hint_scope bt_volume_binding_hint_scope(BT_UNUSED struct bt_plugin *plugin,
	const struct bt_shape *shape, const struct bt_cluster_event *event,
	BT_UNUSED const void *old_object, BT_UNUSED const void *new_object)
{
	static const struct bt_str claim = BT_RESOURCE_PERSISTENT_VOLUME_CLAIM;

	return bt_str_equal(event->resource, claim) ? bt_claim_hint_scope(shape)
						    : BT_HINT_SCOPE_SHAPE;
}
