/* SPDX-License-Identifier: Apache-2.0 */
/** Reserve and Unreserve of DynamicResources. Spec: 12 section 12. */
#include "base/error.h"
#include "base/log.h"
#include "plugins/dynamic_resources.h"

/* --- Reserve --- */

/** What is in flight is its allocation: the finalizer comes with the writes of PreBind. */
static struct bt_object *allocated_claim(
	const struct bt_resource_claim *claim, const struct bt_allocation_result *allocation)
{
	struct bt_resource_claim allocated = *claim;

	allocated.status.allocation = allocation;
	return bt_object_create(BT_KIND_RESOURCE_CLAIM, &allocated);
}

/** One claim's devices are taken: others see them in use from now on. */
static int signal_claim(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	struct bt_dynamic_cycle *data, const struct bt_dynamic_node *node, uint32_t index,
	struct berth_error *err)
{
	struct bt_dynamic_resources *instance = bt_dynamic_resources_of(plugin);
	struct bt_dynamic_claim *claim = &data->claims[index];
	struct bt_allocation_result result;
	struct bt_object *object;
	int code = bt_dynamic_allocation(data, node, index, cycle->arena, &result, err);

	if (code != 0) {
		return code;
	}
	object = allocated_claim(claim->is_special ? &node->special->claim : claim->claim, &result);
	bt_claim_cache_signal(&instance->dra->claims, claim->uid, object);
	claim->is_signalled = true;
	claim->allocation = ((const struct bt_resource_claim *)object->value)->status.allocation;
	bt_cycle_state_keep(cycle, object);
	if (cycle->group != NULL) {
		bt_dynamic_group_add(
			bt_dynamic_group_of(plugin, cycle), claim->uid, cycle->group->arena);
	}
	return 0;
}

/** Without an entry of Filter only the special claim may be unallocated: others serve its
 * resources. */
static bool needs_no_devices(const struct bt_dynamic_cycle *data)
{
	for (uint32_t i = 0; i < data->user_count; i++) {
		if (!data->claims[i].was_allocated) {
			return false;
		}
	}
	return true;
}

struct bt_status bt_dynamic_reserve(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	BT_UNUSED const struct bt_pod_info *pod, uint32_t slot)
{
	struct bt_dynamic_cycle *data = bt_dynamic_cycle_of(plugin, cycle);
	const struct bt_dynamic_node *node;

	if (data == NULL) {
		return bt_dynamic_state_missing(cycle->arena);
	}
	if (data->unallocated_count == 0) {
		return BT_STATUS_OK;
	}
	node = slot < data->slot_count ? data->nodes[slot] : NULL;
	if (node == NULL) {
		return needs_no_devices(data)
			? BT_STATUS_OK
			: bt_status_error_text(
				  cycle->arena, BT_STR("claim allocation not found for node"));
	}
	for (uint32_t i = 0; i < data->count; i++) {
		struct berth_error err = BERTH_ERROR_INIT;

		if (bt_dynamic_is_wanted(&data->claims[i], node) &&
			signal_claim(plugin, cycle, data, node, i, &err) != 0) {
			return bt_status_from_error(cycle->arena, &err);
		}
	}
	return BT_STATUS_OK;
}

/* --- Unreserve --- */

/** What Reserve said is in flight is so no longer. Without a writer nothing comes from a watch:
 * what the cache was told to assume is all that there is. */
static void take_back(
	struct bt_plugin *plugin, struct bt_cycle_state *cycle, struct bt_dynamic_claim *claim)
{
	const struct bt_dynamic_resources *instance = bt_dynamic_resources_of(plugin);
	struct bt_claim_cache *claims = &instance->dra->claims;

	if (!claim->is_signalled) {
		return;
	}
	claim->is_signalled = false;
	if (bt_claim_cache_maybe_remove(claims, claim->uid, false)) {
		if (instance->base.handle->claim_writer != NULL) {
			bt_claim_cache_restore(
				claims, claim->object->meta->namespace_, claim->object->meta->name);
		}
		bt_dynamic_group_drop(bt_dynamic_group_of(plugin, cycle), claim->uid);
	}
}

/** The special claim is the pod's own: it goes with the attempt. */
static void undo_special(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, struct bt_dynamic_claim *claim)
{
	struct berth_error err = BERTH_ERROR_INIT;

	take_back(plugin, cycle, claim);
	if (claim->is_undone || bt_extended_is_in_memory(claim->claim)) {
		return;
	}
	claim->is_undone = true;
	if (bt_extended_delete(
		    bt_dynamic_resources_of(plugin), pod, claim->object, cycle->arena, &err) != 0) {
		BT_LOG_ERROR(berth_error_message(&err),
			"Failed to delete the claim for extended resources",
			BT_LOG_REF("pod", pod->namespace_, pod->name));
		berth_error_finish(&err);
	}
}

void bt_dynamic_unreserve(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, uint32_t slot)
{
	struct bt_dynamic_cycle *data = bt_dynamic_cycle_of(plugin, cycle);
	const struct bt_dynamic_node *node;

	if (data == NULL) {
		return;
	}
	for (uint32_t i = 0; i < data->count; i++) {
		bt_dynamic_end_write(plugin, cycle, pod, &data->claims[i]);
	}
	for (uint32_t i = 0; i < data->user_count; i++) {
		struct bt_dynamic_claim *claim = &data->claims[i];
		take_back(plugin, cycle, claim);
		if (!claim->is_undone && claim->claim->status.allocation != NULL &&
			bt_resource_claim_is_reserved_by(claim->claim, pod->uid)) {
			claim->is_undone = true;
			bt_dynamic_unreserve_claim(bt_dynamic_resources_of(plugin), pod,
				claim->claim, pod->uid, cycle->arena);
		}
	}
	if (data->count > data->user_count) {
		undo_special(plugin, cycle, pod, &data->claims[data->user_count]);
	}
	node = slot < data->slot_count ? data->nodes[slot] : NULL;
	if (node != NULL && node->demand != NULL) {
		bt_node_allocatable_clear(
			bt_dynamic_resources_of(plugin), pod, node->demand, cycle->arena);
	}
}
