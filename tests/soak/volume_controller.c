/* SPDX-License-Identifier: Apache-2.0 */
/** Stand-in for the volume controller and the provisioners. */
#include "api/storage.h"
#include "soak/world.h"

#define BIND_COMPLETED "pv.kubernetes.io/bind-completed"
#define SELECTED_NODE "volume.kubernetes.io/selected-node"

static bool has_annotation(const struct bt_object_meta *meta, const char *key)
{
	return bt_str_map_find(&meta->annotations, bt_str_from(key)) != NULL;
}

/** The annotations with one more, or without it; sorted, as they are decoded. */
static struct bt_str_map with_annotation(
	struct bt_sim *sim, const struct bt_str_map *map, const char *key, bool present)
{
	struct bt_str_map copy = {.present = true};
	struct bt_str_pair pair = {bt_str_from(key), BT_STR("yes")};
	copy.items = BT_ARENA_NEW_ARRAY(&sim->scratch, struct bt_str_pair, map->count + 1);
	for (uint32_t i = 0; i < map->count; i++) {
		int order = bt_str_compare(map->items[i].key, pair.key);
		if (order > 0 && present) {
			copy.items[copy.count++] = pair;
			present = false;
		}
		if (order != 0) {
			copy.items[copy.count++] = map->items[i];
		}
	}
	if (present) {
		copy.items[copy.count++] = pair;
	}
	return copy;
}

static void finish_binding(struct bt_sim *sim, const struct bt_persistent_volume_claim *claim,
	struct bt_str volume_name)
{
	struct bt_persistent_volume_claim bound = *claim;
	bt_arena_reset(&sim->scratch);
	bound.spec.volume_name = volume_name;
	bound.status.phase = BT_STR("Bound");
	bound.metadata.annotations =
		with_annotation(sim, &claim->metadata.annotations, BIND_COMPLETED, true);
	(void)bt_sim_store_replace(&sim->store, BT_KIND_PERSISTENT_VOLUME_CLAIM, &bound);
}

/** A volume was given to a claim: the claim's half of it. */
static void bind_claim(void *context, uint64_t uid)
{
	struct bt_sim *sim = context;
	bt_sim_action_done(sim);
	struct bt_object *object = bt_sim_store_by_uid(&sim->store, uid);
	if (object == NULL) {
		return;
	}
	const struct bt_persistent_volume *volume = object->value;
	const struct bt_object_reference *reference = volume->spec.claim_ref;
	struct bt_object *claim = reference == NULL
		? NULL
		: bt_sim_store_find(&sim->store, BT_KIND_PERSISTENT_VOLUME_CLAIM,
			  reference->namespace_, reference->name);
	if (claim == NULL) {
		/* The claim is gone: so is its volume. */
		(void)bt_sim_store_delete(
			&sim->store, BT_KIND_PERSISTENT_VOLUME, BT_STR(""), object->meta->name);
		return;
	}
	const struct bt_persistent_volume_claim *value = claim->value;
	if (value->spec.volume_name.length == 0) {
		struct bt_persistent_volume bound = *volume;
		bound.status.phase = BT_STR("Bound");
		struct bt_str name = bt_arena_str(&sim->texts, object->meta->name);
		(void)bt_sim_store_replace(&sim->store, BT_KIND_PERSISTENT_VOLUME, &bound);
		finish_binding(sim, value, name);
	}
}

static struct bt_str zone_of(struct bt_sim *sim, struct bt_str node_name)
{
	const struct bt_node *node =
		bt_object_store_find(&sim->store.objects, BT_KIND_NODE, BT_STR(""), node_name);
	const struct bt_str *zone = node == NULL
		? NULL
		: bt_str_map_find(&node->metadata.labels, BT_STR("topology.kubernetes.io/zone"));
	return zone != NULL ? *zone : BT_STR("");
}

/** A new volume for the claim, near the node that was chosen for it. */
static void provision(void *context, uint64_t uid)
{
	struct bt_sim *sim = context;
	bt_sim_action_done(sim);
	struct bt_object *object = bt_sim_store_by_uid(&sim->store, uid);
	if (object == NULL) {
		return;
	}
	const struct bt_persistent_volume_claim *claim = object->value;
	const struct bt_str *node_name =
		bt_str_map_find(&claim->metadata.annotations, bt_str_from(SELECTED_NODE));
	if (claim->spec.volume_name.length != 0) {
		return;
	}
	if (node_name != NULL && sim->has_faults && bt_sim_chance(&sim->times, 15)) {
		/* It cannot: another node, please. */
		struct bt_persistent_volume_claim refused = *claim;
		bt_arena_reset(&sim->scratch);
		refused.metadata.annotations =
			with_annotation(sim, &claim->metadata.annotations, SELECTED_NODE, false);
		bt_sim_log(sim, "provisioning of %.*s fails", BT_STR_ARG(object->meta->name));
		(void)bt_sim_store_replace(&sim->store, BT_KIND_PERSISTENT_VOLUME_CLAIM, &refused);
		return;
	}
	struct bt_str zone = node_name != NULL ? zone_of(sim, *node_name) : BT_STR("");
	struct bt_str name =
		bt_arena_printf(&sim->texts, "made-%u", (unsigned)sim->store.identities.count);
	bt_sim_workload_create_volume(sim, name, zone, claim);
	finish_binding(sim, claim, name);
}

static void drop_volume(void *context, uint64_t uid)
{
	struct bt_sim *sim = context;
	bt_sim_action_done(sim);
	struct bt_object *object = bt_sim_store_by_uid(&sim->store, uid);
	if (object != NULL) {
		(void)bt_sim_store_delete(
			&sim->store, BT_KIND_PERSISTENT_VOLUME, BT_STR(""), object->meta->name);
	}
}

static void claim_changed(
	struct bt_sim *sim, struct bt_object *old_object, struct bt_object *object)
{
	const struct bt_persistent_volume_claim *claim = object->value;
	const struct bt_storage_class *class_ = bt_object_store_find(&sim->store.objects,
		BT_KIND_STORAGE_CLASS, BT_STR(""), bt_persistent_volume_claim_class(claim));
	bool immediate = class_ != NULL && bt_str_equal_c(class_->volume_binding_mode, "Immediate");
	bool selected = has_annotation(object->meta, SELECTED_NODE) &&
		(old_object == NULL || !has_annotation(old_object->meta, SELECTED_NODE));
	if (claim->spec.volume_name.length == 0 &&
		(selected || (immediate && old_object == NULL))) {
		bt_sim_after(sim, bt_sim_between_ms(&sim->times, 200, 3000) * BT_SIM_MILLISECOND,
			provision, bt_sim_uid_of(object));
	}
}

static void claim_deleted(struct bt_sim *sim, const struct bt_persistent_volume_claim *claim)
{
	struct bt_object *volume = bt_sim_store_find(
		&sim->store, BT_KIND_PERSISTENT_VOLUME, BT_STR(""), claim->spec.volume_name);
	if (claim->spec.volume_name.length != 0 && volume != NULL) {
		bt_sim_after(sim, bt_sim_between_ms(&sim->times, 100, 3000) * BT_SIM_MILLISECOND,
			drop_volume, bt_sim_uid_of(volume));
	}
}

void bt_sim_volume_controller_changed(
	struct bt_sim *sim, struct bt_object *old_object, struct bt_object *new_object)
{
	enum bt_kind kind = new_object != NULL ? new_object->kind : old_object->kind;
	if (kind == BT_KIND_PERSISTENT_VOLUME_CLAIM) {
		if (new_object != NULL) {
			claim_changed(sim, old_object, new_object);
		} else {
			claim_deleted(sim, old_object->value);
		}
	}
	if (kind == BT_KIND_PERSISTENT_VOLUME && new_object != NULL) {
		const struct bt_persistent_volume *volume = new_object->value;
		if (volume->spec.claim_ref != NULL &&
			!bt_str_equal_c(volume->status.phase, "Bound")) {
			bt_sim_after(sim,
				bt_sim_between_ms(&sim->times, 50, 1500) * BT_SIM_MILLISECOND,
				bind_claim, bt_sim_uid_of(new_object));
		}
	}
}
