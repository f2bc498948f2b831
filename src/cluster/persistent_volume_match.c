/* SPDX-License-Identifier: Apache-2.0 */
/** Choosing a volume for a claim, and binding the two. Spec: 14b section 6.4. */
#include "api/quantity.h"
#include "api/time.h"
#include "cluster/persistent_volume.h"

static bool read_storage(
	const struct bt_json_value *amounts, struct bt_arena *arena, struct bt_quantity *out)
{
	struct bt_str text = bt_tree_text(amounts, "storage");
	return text.length != 0 && bt_quantity_parse(text, arena, out, NULL) == 0;
}

/** Every mode that the claim asks for. */
static bool has_modes(const struct bt_json_value *volume, const struct bt_json_value *claim)
{
	const struct bt_json_value *offered = bt_json_array_at(volume, "spec.accessModes");
	const struct bt_json_value *wanted = bt_json_array_at(claim, "spec.accessModes");

	for (uint32_t i = 0; i < wanted->count; i++) {
		if (!bt_json_has_text(offered, wanted->elements[i]->text)) {
			return false;
		}
	}
	return true;
}

static bool is_selected(const struct bt_json_value *volume, const struct bt_json_value *claim,
	struct bt_arena *arena)
{
	const struct bt_json_value *selector = bt_json_find_path(claim, "spec.selector");
	struct bt_selector parsed;

	if (selector == NULL || selector->count == 0) {
		return true;
	}
	return bt_tree_selector(arena, selector, false, &parsed) &&
		bt_tree_matches(arena, &parsed, bt_json_object_at(volume, "metadata.labels"));
}

/** *out_capacity is only set when it fits. */
static bool fits(const struct bt_json_value *volume, const struct bt_json_value *claim,
	struct bt_arena *arena, struct bt_quantity *out_capacity)
{
	struct bt_quantity capacity;
	struct bt_quantity request = {0};

	(void)read_storage(bt_json_object_at(claim, "spec.resources.requests"), arena, &request);
	if (bt_tree_is_deleting(volume) ||
		!read_storage(bt_json_object_at(volume, "spec.capacity"), arena, &capacity) ||
		bt_quantity_compare(&capacity, &request) < 0 || !has_modes(volume, claim) ||
		!bt_str_equal(bt_json_text_at(volume, "spec.volumeMode"),
			bt_json_text_at(claim, "spec.volumeMode")) ||
		!is_selected(volume, claim, arena)) {
		return false;
	}
	*out_capacity = capacity;
	return true;
}

/** A volume whose claimRef names this claim, without another one's uid. */
static struct bt_str pre_bound(struct bt_binder_pass *pass, const struct bt_json_value *claim)
{
	struct bt_str uid = bt_json_text_at(claim, "metadata.uid");
	uint32_t entry = bt_groups_first(&pass->self->claimed, pass->key);

	for (; entry != BT_GROUPS_NONE; entry = bt_groups_next(&pass->self->claimed, entry)) {
		struct bt_str key = bt_groups_key(&pass->self->claimed, entry);
		const struct bt_json_value *volume =
			bt_api_read(bt_hub_api(pass->hub), pass->self->volumes, key, pass->arena);
		struct bt_str named = bt_json_text_at(volume, "spec.claimRef.uid");
		struct bt_quantity capacity;

		if (volume == NULL || bt_tree_is_deleting(volume) ||
			(named.length != 0 && !bt_str_equal(named, uid))) {
			continue;
		}
		if (named.length != 0 || fits(volume, claim, pass->arena, &capacity)) {
			return bt_arena_str(pass->arena, key);
		}
	}
	return BT_STR("");
}

struct bt_str bt_binder_choose(
	struct bt_binder_pass *pass, const struct bt_json_value *claim, bool any)
{
	struct bt_str best = pre_bound(pass, claim);
	struct bt_quantity least = {0};
	struct bt_arena scratch = {0};
	uint32_t entry;

	if (best.length != 0 || !any) {
		return best;
	}
	entry = bt_groups_first(&pass->self->available, bt_pv_class_of(claim));
	for (; entry != BT_GROUPS_NONE; entry = bt_groups_next(&pass->self->available, entry)) {
		struct bt_str key = bt_groups_key(&pass->self->available, entry);
		const struct bt_json_value *volume =
			bt_api_read(bt_hub_api(pass->hub), pass->self->volumes, key, &scratch);
		struct bt_quantity capacity;
		int order;

		if (volume != NULL && bt_json_find_path(volume, "spec.claimRef") == NULL &&
			fits(volume, claim, &scratch, &capacity)) {
			order = best.length != 0 ? bt_quantity_compare(&capacity, &least) : -1;
			if (order < 0 || (order == 0 && bt_str_compare(key, best) < 0)) {
				struct bt_str text = bt_tree_text(
					bt_json_object_at(volume, "spec.capacity"), "storage");
				best = bt_arena_str(pass->arena, key);
				if (bt_quantity_parse(bt_arena_str(pass->arena, text), pass->arena,
					    &least, NULL) != 0) {
					least = (struct bt_quantity){0};
				}
			}
		}
		bt_arena_reset(&scratch);
	}
	bt_arena_finish(&scratch);
	return best;
}

/* --- binding --- */

static bool patch(struct bt_binder_pass *pass, const struct bt_api_resource *resource,
	struct bt_str key, struct bt_json_value *document)
{
	return bt_hub_patch(pass->hub, resource, BT_SUBRESOURCE_NONE, key, document, pass->arena,
		       NULL) == 200;
}

static bool claim_volume(struct bt_binder_pass *pass, const struct bt_json_value *claim,
	const struct bt_json_value *volume)
{
	struct bt_arena *arena = pass->arena;
	const struct bt_json_value *before = bt_json_find_path(volume, "spec.claimRef");
	struct bt_str uid = bt_json_text_at(claim, "metadata.uid");
	struct bt_json_value *document;
	struct bt_json_value *reference;

	if (bt_str_equal(bt_json_text_at(before, "uid"), uid)) {
		return true;
	}
	document = bt_json_new(arena, BT_JSON_OBJECT);
	if (before == NULL) {
		struct bt_json_value *metadata = bt_json_ensure_object(arena, document, "metadata");
		bt_json_set_c(arena, bt_json_ensure_object(arena, metadata, "annotations"),
			BT_PV_BOUND_BY_CONTROLLER, "yes");
	}
	reference = bt_json_ensure_object(
		arena, bt_json_ensure_object(arena, document, "spec"), "claimRef");
	bt_json_set_c(arena, reference, "apiVersion", "v1");
	bt_json_set_c(arena, reference, "kind", "PersistentVolumeClaim");
	bt_json_set_str(arena, reference, "name", bt_json_text_at(claim, "metadata.name"));
	bt_json_set_str(
		arena, reference, "namespace", bt_json_text_at(claim, "metadata.namespace"));
	bt_json_set_str(arena, reference, "resourceVersion",
		bt_json_text_at(claim, "metadata.resourceVersion"));
	bt_json_set_str(arena, reference, "uid", uid);
	return patch(pass, pass->self->volumes, bt_json_text_at(volume, "metadata.name"), document);
}

static bool name_volume(struct bt_binder_pass *pass, const struct bt_json_value *claim,
	const struct bt_json_value *volume)
{
	struct bt_arena *arena = pass->arena;
	bool chosen = bt_json_text_at(claim, "spec.volumeName").length == 0;
	struct bt_json_value *document;
	struct bt_json_value *metadata;
	struct bt_json_value *annotations;

	if (!chosen && bt_tree_annotation(claim, BT_PV_BIND_COMPLETED).length != 0) {
		return true;
	}
	document = bt_json_new(arena, BT_JSON_OBJECT);
	metadata = bt_json_ensure_object(arena, document, "metadata");
	annotations = bt_json_ensure_object(arena, metadata, "annotations");
	bt_json_set_c(arena, annotations, BT_PV_BIND_COMPLETED, "yes");
	if (chosen) {
		bt_json_set_c(arena, annotations, BT_PV_BOUND_BY_CONTROLLER, "yes");
		bt_json_set_str(arena, bt_json_ensure_object(arena, document, "spec"), "volumeName",
			bt_json_text_at(volume, "metadata.name"));
	}
	return patch(pass, pass->self->claims, pass->key, document);
}

bool bt_binder_bind(struct bt_binder_pass *pass, const struct bt_json_value *claim,
	const struct bt_json_value *volume)
{
	struct bt_arena *arena = pass->arena;
	struct bt_json_value *volume_status = bt_json_new(arena, BT_JSON_OBJECT);
	struct bt_json_value *status = bt_json_new(arena, BT_JSON_OBJECT);

	if (!claim_volume(pass, claim, volume)) {
		return false;
	}
	if (!bt_str_equal_c(bt_json_text_at(volume, "status.phase"), "Bound")) {
		bt_json_set_c(arena, volume_status, "phase", "Bound");
		bt_json_set_str(arena, volume_status, "lastPhaseTransitionTime",
			bt_time_text(arena, pass->now_ns));
		if (!bt_tree_write_status(
			    pass->hub, pass->self->volumes, volume, volume_status, arena)) {
			return false;
		}
	}
	if (!name_volume(pass, claim, volume)) {
		return false;
	}
	bt_json_set_c(arena, status, "phase", "Bound");
	bt_json_set_value(arena, status, "accessModes",
		bt_json_clone(arena, bt_json_array_at(volume, "spec.accessModes"), false));
	bt_json_set_value(arena, status, "capacity",
		bt_json_clone(arena, bt_json_object_at(volume, "spec.capacity"), false));
	return bt_tree_write_status(pass->hub, pass->self->claims, claim, status, arena);
}
