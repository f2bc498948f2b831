/* SPDX-License-Identifier: Apache-2.0 */
#include "plugins/common_volume.h"

#include <stdlib.h>
#include <string.h>

#include "api/selector.h"
#include "plugins/common_plugin.h"

bool bt_pod_has_claims(const struct bt_pod_spec *spec, bool with_ephemeral)
{
	for (uint32_t i = 0; i < spec->volumes.count; i++) {
		if (spec->volumes.items[i].persistent_volume_claim != NULL ||
			(with_ephemeral && spec->volumes.items[i].ephemeral != NULL)) {
			return true;
		}
	}
	return false;
}

bool bt_volume_claim_of(const struct bt_pod_info *pod, const struct bt_volume *volume,
	struct bt_arena *arena, struct bt_volume_claim *out_claim)
{
	if (volume->persistent_volume_claim != NULL) {
		*out_claim = (struct bt_volume_claim){
			volume->persistent_volume_claim->claim_name, false};
		return true;
	}
	if (volume->ephemeral != NULL) {
		*out_claim = (struct bt_volume_claim){
			bt_arena_printf(arena, "%.*s-%.*s", BT_STR_ARG(pod->name),
				BT_STR_ARG(volume->name)),
			true,
		};
		return true;
	}
	return false;
}

bool bt_pod_uses_claim(
	const struct bt_pod_info *pod, const struct bt_object_meta *claim, bool with_ephemeral)
{
	const struct bt_pod_spec *spec = bt_plugin_pod_spec(pod);

	if (!bt_str_equal(pod->namespace_, claim->namespace_)) {
		return false;
	}
	for (uint32_t i = 0; i < spec->volumes.count; i++) {
		const struct bt_volume *volume = &spec->volumes.items[i];

		if (volume->persistent_volume_claim != NULL) {
			if (bt_str_equal(
				    volume->persistent_volume_claim->claim_name, claim->name)) {
				return true;
			}
		} else if (with_ephemeral && volume->ephemeral != NULL &&
			/* the name is "<pod>-<volume>" */
			(uint64_t)claim->name.length ==
				(uint64_t)pod->name.length + 1 + volume->name.length &&
			bt_str_has_prefix(claim->name, pod->name) &&
			claim->name.data[pod->name.length] == '-' &&
			bt_str_has_suffix(claim->name, volume->name)) {
			return true;
		}
	}
	return false;
}

bool bt_hint_if_uses_claim(const struct bt_hint_call *call)
{
	const struct bt_persistent_volume_claim *claim = call->new_object;

	return bt_pod_uses_claim(call->pod, &claim->metadata, true);
}

bool bt_hint_if_names_claim(const struct bt_hint_call *call)
{
	const struct bt_persistent_volume_claim *claim = call->new_object;

	return bt_pod_uses_claim(call->pod, &claim->metadata, false);
}

enum bt_hint_scope bt_claim_hint_scope(const struct bt_shape *shape)
{
	const struct bt_pod_spec *spec = &bt_shape_pod(shape)->spec;

	for (uint32_t i = 0; i < spec->volumes.count; i++) {
		if (spec->volumes.items[i].ephemeral != NULL) {
			return BT_HINT_SCOPE_POD;
		}
	}
	return BT_HINT_SCOPE_NAMESPACE;
}

bool bt_pod_owns_claim(
	const struct bt_pod_info *pod, const struct bt_persistent_volume_claim *claim)
{
	const struct bt_owner_reference *owner = bt_object_controller(&claim->metadata);

	return bt_str_equal(pod->namespace_, claim->metadata.namespace_) && owner != NULL &&
		bt_str_equal(owner->uid, pod->uid);
}

struct bt_str bt_claim_not_owned_text(const struct bt_pod_info *pod,
	const struct bt_persistent_volume_claim *claim, struct bt_arena *arena)
{
	return bt_arena_printf(arena,
		"PVC %.*s/%.*s was not created for pod %.*s/%.*s (pod is not owner)",
		BT_STR_ARG(claim->metadata.namespace_), BT_STR_ARG(claim->metadata.name),
		BT_STR_ARG(pod->namespace_), BT_STR_ARG(pod->name));
}

bool bt_claim_is_fully_bound(const struct bt_persistent_volume_claim *claim)
{
	return claim->spec.volume_name.length != 0 &&
		bt_str_map_find(&claim->metadata.annotations, BT_ANNOTATION_BIND_COMPLETED) != NULL;
}

const struct bt_str *bt_claim_selected_node(const struct bt_persistent_volume_claim *claim)
{
	return bt_str_map_find(&claim->metadata.annotations, BT_ANNOTATION_SELECTED_NODE);
}

const struct bt_quantity *bt_claim_request(const struct bt_persistent_volume_claim *claim)
{
	return bt_resource_list_find(&claim->spec.resources.requests, BT_STORAGE_RESOURCE);
}

const struct bt_quantity *bt_volume_capacity(const struct bt_persistent_volume *volume)
{
	static const struct bt_quantity zero;
	const struct bt_quantity *capacity =
		bt_resource_list_find(&volume->spec.capacity, BT_STORAGE_RESOURCE);

	return capacity != NULL ? capacity : &zero;
}

bt_str_list bt_zones_of_label(struct bt_str value, struct bt_arena *arena)
{
	struct bt_error_list parts = {0};
	bt_str_list zones = {0};
	int64_t at;

	do {
		at = bt_str_find(value, BT_STR("__"));
		bt_arena_push(arena, &parts,
			bt_str_trim(
				at < 0 ? value : bt_str_sub(value, 0, (uint32_t)at), BT_STR_SPACE));
		if (at >= 0) {
			value = bt_str_sub(value, (uint32_t)at + 2, value.length);
		}
	} while (at >= 0);
	qsort(parts.items, parts.count, sizeof(*parts.items), bt_str_compare_qsort);
	zones.items = parts.items;
	zones.present = true;
	for (uint32_t i = 0; i < parts.count; i++) {
		if (i == 0 || !bt_str_equal(zones.items[zones.count - 1], parts.items[i])) {
			zones.items[zones.count++] = parts.items[i];
		}
	}
	return zones;
}

bool bt_claim_is_exclusive(const struct bt_persistent_volume_claim *claim)
{
	return bt_str_list_has(&claim->spec.access_modes, BT_STR("ReadWriteOncePod"));
}

const struct bt_quantity *bt_storage_capacity_limit(const struct bt_csi_storage_capacity *capacity)
{
	return capacity->maximum_volume_size != NULL ? capacity->maximum_volume_size
						     : capacity->capacity;
}

void bt_volume_set_reset(struct bt_volume_set *set)
{
	set->items.count = 0;
	bt_map_reset(&set->map);
}

void bt_volume_set_finish(struct bt_volume_set *set)
{
	bt_vec_finish(&set->items);
	bt_map_finish(&set->map);
}

bool bt_volume_set_has(const struct bt_volume_set *set, const struct bt_unique_volume *volume)
{
	BT_MAP_EACH (&set->map, volume->hash, index) {
		const struct bt_unique_volume *other = &set->items.items[index];

		if (bt_str_equal(other->driver, volume->driver) &&
			bt_str_equal(other->handle, volume->handle) &&
			(other->claim_namespace.data != NULL) ==
				(volume->claim_namespace.data != NULL) &&
			bt_str_equal(other->claim_namespace, volume->claim_namespace)) {
			return true;
		}
	}
	return false;
}

void bt_volume_set_add(struct bt_volume_set *set, struct bt_unique_volume volume)
{
	volume.hash = bt_hash_bytes(volume.handle.data, volume.handle.length,
		bt_hash_bytes(volume.claim_namespace.data, volume.claim_namespace.length,
			bt_str_hash(volume.driver)));
	if (!bt_volume_set_has(set, &volume)) {
		bt_vec_push(&set->items, volume);
		bt_map_insert(&set->map, volume.hash, set->items.count - 1);
	}
}
