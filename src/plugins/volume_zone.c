/* SPDX-License-Identifier: Apache-2.0 */
/**
 * VolumeZone (PreFilter, Filter): zone and region labels of bound volumes must match the node's
 * labels. Spec: 07b section 3.
 */
#include "api/change.h"
#include "plugins/common_plugin.h"
#include "plugins/common_sign.h"
#include "plugins/common_volume.h"
#include "plugins/in_tree.h"

/** The labels to check, in the order in which constraints are made. */
static const struct bt_str topology_keys[] = {
	BT_LABEL_BETA_ZONE,
	BT_LABEL_BETA_REGION,
	BT_LABEL_ZONE,
	BT_LABEL_REGION,
};

/** ga_keys[i] is the label to check if the node lacks the label topology_keys[i]. */
static const struct bt_str ga_keys[] = {
	BT_LABEL_ZONE,
	BT_LABEL_REGION,
	BT_LABEL_ZONE,
	BT_LABEL_REGION,
};

/** A constraint: the node's label topology_keys[key] must have one of the values. */
struct constraint {
	uint32_t key;       /* index in topology_keys */
	bt_str_list values; /* sorted, without duplicates */
};

struct zone_data {
	struct constraint *items;
	uint32_t count;
};

/**
 * Make the constraints of a volume, at most one for each key. Returns the number of constraints.
 */
static uint32_t constraints_of(const struct bt_persistent_volume *volume, struct bt_arena *arena,
	struct constraint out_constraints[BT_ARRAY_LENGTH(topology_keys)])
{
	uint32_t count = 0;

	for (uint32_t key = 0; key < BT_ARRAY_LENGTH(topology_keys); key++) {
		const struct bt_str *value =
			bt_str_map_find(&volume->metadata.labels, topology_keys[key]);

		if (value == NULL) {
			continue;
		}
		out_constraints[count] = (struct constraint){key, bt_zones_of_label(*value, arena)};
		/* Ignore a label with an empty part; the empty part sorts first. */
		count += out_constraints[count].values.items[0].length != 0;
	}
	return count;
}

static bool is_pure_for(BT_UNUSED struct bt_plugin *plugin, const struct bt_pod_info *pod)
{
	return !bt_pod_has_claims(bt_plugin_pod_spec(pod), false);
}

static struct bt_status unresolvable(struct bt_arena *arena, struct bt_str text)
{
	return bt_status_text(BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE, arena, text);
}

/** Make PreFilter's data. Returns Skip if the pod has no constraints. */
static struct bt_status find_constraints(const struct bt_plugin *plugin,
	const struct bt_pod_info *pod, struct bt_arena *arena, struct zone_data **out_data)
{
	const struct bt_pod_spec *spec = bt_plugin_pod_spec(pod);
	const struct bt_state *state = bt_plugin_handle(plugin)->state;

	if (!bt_pod_has_claims(spec, false)) {
		return bt_status_code_only(BT_STATUS_SKIP);
	}
	struct zone_data *data = BT_ARENA_NEW(arena, struct zone_data);
	data->items = BT_ARENA_NEW_ARRAY(arena, struct constraint,
		((size_t)spec->volumes.count + 1) * BT_ARRAY_LENGTH(topology_keys));
	for (uint32_t i = 0; i < spec->volumes.count; i++) {
		const struct bt_pvc_volume_source *source =
			spec->volumes.items[i].persistent_volume_claim;

		if (source == NULL) {
			continue;
		}
		if (source->claim_name.length == 0) {
			return unresolvable(arena, BT_STR("PersistentVolumeClaim had no name"));
		}
		const struct bt_persistent_volume_claim *claim =
			bt_find_claim(state, pod->namespace_, source->claim_name);
		if (claim == NULL) {
			return unresolvable(arena,
				bt_not_found_text(
					arena, "persistentvolumeclaim", source->claim_name));
		}
		if (claim->spec.volume_name.length == 0) {
			/*
			 * An unbound claim passes only if its class has volumeBindingMode
			 * WaitForFirstConsumer.
			 */
			struct bt_str class_name = bt_persistent_volume_claim_class(claim);

			if (class_name.length == 0) {
				return bt_status_printf(BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE,
					arena,
					"PersistentVolumeClaim had no pv name and storageClass "
					"name");
			}
			const struct bt_storage_class *storage_class =
				bt_find_storage_class(state, class_name);
			if (storage_class == NULL) {
				return unresolvable(arena,
					bt_not_found_text(
						arena, "storageclass.storage.k8s.io", class_name));
			}
			if (storage_class->volume_binding_mode.data == NULL) {
				return bt_status_printf(BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE,
					arena,
					"VolumeBindingMode not set for StorageClass \"%.*s\"",
					BT_STR_ARG(class_name));
			}
			if (!bt_str_equal(storage_class->volume_binding_mode,
				    BT_WAIT_FOR_FIRST_CONSUMER)) {
				return unresolvable(arena, BT_STR("PersistentVolume had no name"));
			}
			continue;
		}
		const struct bt_persistent_volume *volume =
			bt_find_volume(state, claim->spec.volume_name);
		if (volume == NULL) {
			return unresolvable(arena,
				bt_not_found_text(
					arena, "persistentvolume", claim->spec.volume_name));
		}
		data->count += constraints_of(volume, arena, &data->items[data->count]);
	}
	*out_data = data;
	return data->count != 0 ? BT_STATUS_OK : bt_status_code_only(BT_STATUS_SKIP);
}

static struct bt_status pre_filter(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, BT_UNUSED struct bt_pre_filter_result *out_result)
{
	struct zone_data *data = NULL;
	struct bt_status status = find_constraints(plugin, pod, cycle->arena, &data);

	if (bt_status_is_success(&status)) {
		cycle->pre_filter_data[plugin->index] = data;
	}
	return status;
}

static struct bt_status filter(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const struct bt_node_info *node)
{
	const struct bt_str_map *labels = bt_node_info_labels(node);
	const struct zone_data *data = cycle->pre_filter_data[plugin->index];

	if (bt_plugin_pod_spec(pod)->volumes.count == 0) {
		return BT_STATUS_OK;
	}
	if (data == NULL) {
		struct zone_data *found = NULL;
		struct bt_status status = find_constraints(plugin, pod, cycle->arena, &found);

		if (!bt_status_is_success(&status)) {
			return status.code == BT_STATUS_SKIP ? BT_STATUS_OK : status;
		}
		data = found;
	}
	/* A node without any of the labels fits. */
	bool has_label = false;
	for (uint32_t key = 0; key < BT_ARRAY_LENGTH(topology_keys); key++) {
		has_label |= bt_str_map_find(labels, topology_keys[key]) != NULL;
	}
	for (uint32_t i = 0; has_label && i < data->count; i++) {
		const struct constraint *constraint = &data->items[i];
		const struct bt_str *value =
			bt_str_map_find(labels, topology_keys[constraint->key]);

		if (value == NULL) {
			value = bt_str_map_find(labels, ga_keys[constraint->key]);
		}
		if (value == NULL || !bt_str_list_has(&constraint->values, *value)) {
			return bt_status_reason(BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE,
				BT_REASON_VOLUME_ZONE_CONFLICT);
		}
	}
	return BT_STATUS_OK;
}

/* Queueing hints. Spec: 07b section 3.5. */
static bool after_storage_class_added(const struct bt_hint_call *call)
{
	const struct bt_storage_class *storage_class = call->new_object;

	return bt_str_equal(storage_class->volume_binding_mode, BT_WAIT_FOR_FIRST_CONSUMER);
}

static bool after_volume_change(const struct bt_hint_call *call)
{
	const struct bt_persistent_volume *old_volume = call->old_object;
	const struct bt_persistent_volume *new_volume = call->new_object;
	struct constraint before[BT_ARRAY_LENGTH(topology_keys)];
	struct constraint after[BT_ARRAY_LENGTH(topology_keys)];
	struct bt_arena arena = {0};

	if (old_volume == NULL) {
		return true;
	}
	uint32_t count = constraints_of(old_volume, &arena, before);
	bool same = count == constraints_of(new_volume, &arena, after) &&
		(count == 0 || bt_str_equal(old_volume->metadata.name, new_volume->metadata.name));

	for (uint32_t i = 0; same && i < count; i++) {
		same = before[i].key == after[i].key &&
			bt_str_list_equal(&before[i].values, &after[i].values);
	}
	bt_arena_finish(&arena);
	return !same;
}

static const struct bt_event_registration events[] = {
	{{BT_RESOURCE_STORAGE_CLASS, BT_ACTION_ADD}, after_storage_class_added},
	{{BT_RESOURCE_NODE, BT_ACTION_ADD | BT_ACTION_UPDATE_NODE_LABEL}, NULL},
	{{BT_RESOURCE_PERSISTENT_VOLUME_CLAIM, BT_ACTION_ADD | BT_ACTION_UPDATE},
		bt_hint_if_names_claim},
	{{BT_RESOURCE_PERSISTENT_VOLUME, BT_ACTION_ADD | BT_ACTION_UPDATE}, after_volume_change},
};

static const struct bt_plugin_shortcuts shortcuts = {
	.is_pure_for = is_pure_for,
	.hint_scope = BT_HINT_SCOPE_NAMESPACE,
};

const struct bt_plugin_ops bt_volume_zone_plugin = {
	.name = "VolumeZone",
	.shortcuts = &shortcuts,
	.events = BT_EVENTS(events),
	.sign = bt_sign_volume_plugin,
	.pre_filter = pre_filter,
	.filter = filter,
};
