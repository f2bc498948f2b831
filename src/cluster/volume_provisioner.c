/* SPDX-License-Identifier: Apache-2.0 */
/** Simulates the CSI provisioner of every driver. Spec: 14b section 6.4. */
#include "cluster/persistent_volume.h"

/** Claims. */
struct provisioner {
	struct bt_groups due;           /* by due time in nanoseconds */
	struct bt_groups without_class; /* claims whose class is missing, by its name */
};

static void observe(void *data, struct bt_hub *hub, const struct bt_observed *observed)
{
	struct provisioner *self = data;

	if (observed->kind == BT_HUB_STORAGE_CLASSES) {
		bt_hub_enqueue_group(hub, &self->without_class, observed->key);
	} else if (observed->type == BT_CHANGE_DELETED) {
		bt_groups_remove(&self->due, observed->key);
		bt_groups_remove(&self->without_class, observed->key);
	} else if (bt_tree_annotation(observed->after, BT_PV_PROVISIONER).length != 0 &&
		bt_json_text_at(observed->after, "spec.volumeName").length == 0) {
		bt_hub_enqueue(hub, observed->key);
	}
}

/* --- topology --- */

static bool term_allows(const struct bt_json_value *term, const struct bt_json_value *labels)
{
	const struct bt_json_value *list = bt_json_array_at(term, "matchLabelExpressions");

	for (uint32_t i = 0; i < list->count; i++) {
		const struct bt_json_value *label =
			bt_json_get(labels, bt_json_text_at(list->elements[i], "key"));
		const struct bt_json_value *values = bt_json_array_at(list->elements[i], "values");

		if (label == NULL || !bt_json_has_text(values, label->text)) {
			return false;
		}
	}
	return true;
}

static void add_requirement(struct bt_arena *arena, struct bt_json_value *expressions,
	struct bt_str key, const struct bt_json_value *values)
{
	bt_json_put(arena, expressions, "[{key: %s, operator: 'In', values: %t}]", key, values);
}

/**
 * Returns the node affinity of the volume: the selected node's values of the driver's topology
 * keys; without a selected node, the first topology that the class allows. NULL: the node
 * does not exist, or the class does not allow the node.
 */
static struct bt_json_value *requirements(
	struct bt_sync *sync, const struct bt_json_value *class_, struct bt_str node_name)
{
	struct bt_arena *arena = sync->arena;
	struct bt_json_value *expressions = bt_json_new(arena, BT_JSON_ARRAY);
	const struct bt_json_value *terms = bt_json_array_at(class_, "allowedTopologies");
	struct bt_str driver_name = bt_tree_annotation(sync->object, BT_PV_PROVISIONER);
	const struct bt_json_value *labels;
	const struct bt_json_value *drivers;
	bool is_allowed = terms->count == 0;

	if (node_name.length == 0) {
		const struct bt_json_value *list = bt_json_array_at(
			terms->count != 0 ? terms->elements[0] : NULL, "matchLabelExpressions");

		for (uint32_t i = 0; i < list->count; i++) {
			add_requirement(arena, expressions,
				bt_json_text_at(list->elements[i], "key"),
				bt_json_array_at(list->elements[i], "values"));
		}
		return expressions;
	}
	const struct bt_json_value *node = bt_hub_read(sync->hub, BT_HUB_NODES, node_name, arena);
	labels = bt_json_object_at(node, "metadata.labels");
	for (uint32_t i = 0; i < terms->count && !is_allowed; i++) {
		is_allowed = term_allows(terms->elements[i], labels);
	}
	if (node == NULL || !is_allowed) {
		return NULL;
	}
	drivers = bt_json_array_at(
		bt_hub_read(sync->hub, BT_HUB_CSI_NODES, node_name, arena), "spec.drivers");
	for (uint32_t i = 0; i < drivers->count; i++) {
		const struct bt_json_value *driver = drivers->elements[i];
		const struct bt_json_value *keys = bt_json_array_at(driver, "topologyKeys");

		for (uint32_t j = 0; j < keys->count &&
			bt_str_equal(bt_json_text_at(driver, "name"), driver_name);
			j++) {
			struct bt_str key = keys->elements[j]->text;
			const struct bt_json_value *label = bt_json_get(labels, key);

			if (label != NULL) {
				add_requirement(arena, expressions, key,
					bt_json_put(arena, NULL, "[%s]", label->text));
			}
		}
	}
	return expressions;
}

/* --- the volume --- */

static bool sync(struct bt_sync *sync)
{
	struct provisioner *self = sync->data;
	const struct bt_json_value *claim = sync->object;
	struct bt_arena *arena = sync->arena;
	struct bt_str class_name = bt_pv_class_of(claim);
	struct bt_str node = bt_tree_annotation(claim, BT_PV_SELECTED_NODE);
	struct bt_str name = bt_arena_printf(
		arena, "pvc-%.*s", BT_STR_ARG(bt_json_text_at(claim, "metadata.uid")));
	int64_t due;

	if (bt_tree_annotation(claim, BT_PV_PROVISIONER).length == 0 ||
		bt_tree_is_deleting(claim) ||
		bt_json_text_at(claim, "spec.volumeName").length != 0) {
		return true;
	}
	const struct bt_json_value *class_ = bt_pv_read_class(sync->hub, class_name, arena);
	bt_groups_remove(&self->without_class, sync->key);
	if (class_ == NULL) {
		bt_groups_set(&self->without_class, sync->key, class_name);
	}
	if (class_ == NULL || (node.length == 0 && bt_pv_waits_for_consumer(class_))) {
		bt_groups_remove(&self->due, sync->key);
		return true;
	}
	if (!bt_groups_number(&self->due, sync->key, &due)) {
		due = sync->now_ns + sync->hub->options.provision_delay_ns;
		bt_groups_set_number(&self->due, sync->key, due);
	}
	if (due > sync->now_ns) {
		bt_hub_enqueue_at(sync->hub, sync->key, due);
		return true;
	}
	bt_groups_remove(&self->due, sync->key);
	struct bt_json_value *expressions = requirements(sync, class_, node);
	if (expressions == NULL) {
		bt_sync_event(sync, "Warning", "ProvisioningFailed",
			"failed to provision volume with StorageClass \"%.*s\": node \"%.*s\" is "
			"not in allowed topologies",
			BT_STR_ARG(class_name), BT_STR_ARG(node));
		/* Ask the scheduler for another node. */
		return bt_sync_patch(sync, BT_HUB_VOLUME_CLAIMS, sync->key,
			       bt_json_put(arena, NULL,
				       "{metadata: {annotations: {" BT_PV_SELECTED_NODE
				       ": null}}}")) == 200;
	}
	struct bt_str driver = bt_tree_annotation(claim, BT_PV_PROVISIONER);
	struct bt_str policy = bt_json_text_at(class_, "reclaimPolicy");
	struct bt_json_value *volume = bt_json_put(arena, NULL,
		"{metadata: {name: %s, annotations: {" BT_PV_PROVISIONED_BY ": %s}}, "
		"spec: {csi: {driver: %s, volumeHandle: %s}, accessModes: %t, capacity: %t}}",
		name, driver, driver, name, bt_json_array_at(claim, "spec.accessModes"),
		bt_json_object_at(claim, "spec.resources.requests"));
	struct bt_json_value *spec = bt_json_find(volume, "spec");

	bt_pv_set_claim_reference(arena, spec, claim);
	if (expressions->count != 0) {
		bt_json_put(arena, spec,
			"{nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: %v}]}}}",
			expressions);
	}
	bt_json_put(arena, spec,
		"{persistentVolumeReclaimPolicy: %s, storageClassName: %s, volumeMode: %s}",
		policy.length != 0 ? policy : BT_STR("Delete"), bt_pv_class_of(claim),
		bt_json_text_at(claim, "spec.volumeMode"));
	uint16_t code = bt_hub_create(sync->hub, BT_HUB_VOLUMES, BT_STR(""), volume, arena, NULL);
	if (code == 201) {
		bt_sync_event(sync, "Normal", "ProvisioningSucceeded",
			"Successfully provisioned volume %.*s", BT_STR_ARG(name));
	}
	return code == 201 || code == 409;
}

const struct bt_controller_ops bt_volume_provisioner_ops = {
	.component = "berth-provisioner",
	.watches = BT_WATCH(BT_HUB_VOLUME_CLAIMS) | BT_WATCH(BT_HUB_STORAGE_CLASSES),
	.object = BT_HUB_VOLUME_CLAIMS,
	.group_count = 2,
	.observe = observe,
	.sync = sync,
};
