/* SPDX-License-Identifier: Apache-2.0 */
#include "api/resource_claim.h"

#include "api/meta.h"

const struct bt_pod_resource_claim_status *bt_pod_claim_status(
	const struct bt_pod *pod, struct bt_str entry_name)
{
	return BT_STR_FIND(&pod->status.resource_claim_statuses, name, entry_name);
}

struct bt_str bt_pod_claim_name(const struct bt_pod *pod, const struct bt_pod_resource_claim *entry)
{
	if (entry->resource_claim_name.data != NULL ||
		entry->resource_claim_template_name.data == NULL) {
		return entry->resource_claim_name;
	}
	const struct bt_pod_resource_claim_status *status = bt_pod_claim_status(pod, entry->name);
	return status != NULL ? status->resource_claim_name : BT_STR("");
}

struct bt_str bt_claim_owner_pod_uid(const struct bt_object_meta *claim)
{
	const struct bt_owner_reference *owner = bt_object_controller(claim);
	return owner != NULL && bt_str_equal_c(owner->kind, "Pod") ? owner->uid : BT_STR("");
}

bool bt_resource_claim_is_reserved_by(const struct bt_resource_claim *claim, struct bt_str uid)
{
	return BT_STR_FIND(&claim->status.reserved_for, uid, uid) != NULL;
}

bool bt_resource_claim_remove_user(
	struct bt_resource_claim *claim, struct bt_str uid, struct bt_arena *arena)
{
	const struct bt_resource_claim_consumer_reference *users = claim->status.reserved_for.items;
	uint32_t count = claim->status.reserved_for.count;
	struct bt_resource_claim_consumer_reference *left =
		BT_ARENA_NEW_ARRAY(arena, struct bt_resource_claim_consumer_reference, count);
	uint32_t left_count = 0;

	for (uint32_t i = 0; i < count; i++) {
		if (!bt_str_equal(users[i].uid, uid)) {
			left[left_count++] = users[i];
		}
	}
	claim->status.reserved_for.items = left;
	claim->status.reserved_for.count = left_count;
	return left_count != count;
}

void bt_resource_claim_remove_finalizer(struct bt_resource_claim *claim, struct bt_arena *arena)
{
	bt_str_list old = claim->metadata.finalizers;
	struct bt_str *kept = BT_ARENA_NEW_ARRAY(arena, struct bt_str, old.count);
	uint32_t count = 0;

	for (uint32_t i = 0; i < old.count; i++) {
		if (!bt_str_equal_c(old.items[i], BT_CLAIM_FINALIZER)) {
			kept[count++] = old.items[i];
		}
	}
	claim->metadata.finalizers = (bt_str_list){kept, count, count != 0};
}
