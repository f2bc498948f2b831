/* SPDX-License-Identifier: Apache-2.0 */
/** What changes of nodes and pods mean for the devices of nodes and the claims of pods. */
#include "api/types.h"
#include "cli/pod_claims.h"
#include "cli/whatif/whatif_private.h"

static const struct bt_resource_slice *slice_at(const struct bt_whatif *whatif, uint32_t index)
{
	const struct bt_manifests_object *object = &whatif->work.objects.items[index];
	return object->kind == BT_KIND_RESOURCE_SLICE
		? bt_object_value(object->object, BT_KIND_RESOURCE_SLICE)
		: NULL;
}

/** --- new nodes --- */

void bt_whatif_slices_collect(
	const struct bt_whatif *whatif, struct bt_str node_name, struct bt_whatif_slices *out)
{
	for (uint32_t i = 0; i < whatif->work.objects.count; i++) {
		const struct bt_resource_slice *slice = slice_at(whatif, i);
		if (slice != NULL && bt_str_equal(slice->spec.node_name, node_name)) {
			bt_vec_push(
				&out->list, bt_object_share(whatif->work.objects.items[i].object));
		}
	}
}

void bt_whatif_slices_release(struct bt_whatif_slices *slices)
{
	for (uint32_t i = 0; i < slices->list.count; i++) {
		bt_object_release(slices->list.items[i]);
	}
	bt_vec_finish(&slices->list);
}

/** A name that no slice has. */
static struct bt_str free_name(
	struct bt_whatif *whatif, struct bt_str slice_name, struct bt_str node_name)
{
	struct bt_str name = bt_arena_printf(
		&whatif->arena, "%.*s-%.*s", BT_STR_ARG(slice_name), BT_STR_ARG(node_name));
	while (bt_manifests_find(&whatif->work, BT_KIND_RESOURCE_SLICE, BT_STR(""), name) !=
		BT_MANIFESTS_NONE) {
		name = bt_arena_printf(&whatif->arena, "%.*s-", BT_STR_ARG(name));
	}
	return name;
}

int bt_whatif_add_slices(struct bt_whatif *whatif, const struct bt_whatif_change *change,
	const struct bt_whatif_slices *slices, struct bt_str node_name, struct berth_error *err)
{
	int result = 0;
	for (uint32_t i = 0; i < slices->list.count && result == 0; i++) {
		const struct bt_resource_slice *model =
			bt_object_value(slices->list.items[i], BT_KIND_RESOURCE_SLICE);
		struct bt_resource_slice slice = *model;
		slice.metadata = (struct bt_object_meta){
			.name = free_name(whatif, model->metadata.name, node_name),
			.labels = model->metadata.labels,
		};
		slice.spec.node_name = node_name;
		/* Drivers name the pool of a node after it; whatever it is called, it is the node's
		 * own. */
		slice.spec.pool.name = bt_str_equal(model->spec.pool.name, model->spec.node_name)
			? node_name
			: bt_arena_printf(&whatif->arena, "%.*s-%.*s",
				  BT_STR_ARG(model->spec.pool.name), BT_STR_ARG(node_name));
		result = bt_whatif_put(whatif, change, BT_KIND_RESOURCE_SLICE, &slice, err);
	}
	return result;
}

/** --- what is left --- */

void bt_whatif_drop_slices(const struct bt_whatif *whatif, bool *gone)
{
	for (uint32_t i = 0; i < whatif->work.objects.count; i++) {
		const struct bt_resource_slice *slice = slice_at(whatif, i);
		uint32_t node = slice != NULL && slice->spec.node_name.length != 0
			? bt_manifests_find(
				  &whatif->work, BT_KIND_NODE, BT_STR(""), slice->spec.node_name)
			: BT_MANIFESTS_NONE;
		if (node != BT_MANIFESTS_NONE && whatif->marks.items[node].gone) {
			gone[i] = true;
		}
	}
}

void bt_whatif_release_claims(const struct bt_whatif *whatif, struct bt_manifests *cluster)
{
	struct bt_text_set uids = {0};
	for (uint32_t i = 0; i < whatif->work.objects.count; i++) {
		const struct bt_manifests_object *object = &whatif->work.objects.items[i];
		if (object->kind == BT_KIND_POD &&
			whatif->marks.items[i].departure != BT_DEPARTURE_NONE) {
			(void)bt_text_set_add(&uids, object->uid); /* all have their own */
		}
	}
	bt_pod_claims_release_all(cluster, &uids);
	bt_text_set_finish(&uids);
}
