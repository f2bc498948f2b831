/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/pod_claims.h"

#include "dra/dra.h"

static bool was_made_for(const struct bt_object_meta *claim, const struct bt_text_set *pod_uids)
{
	struct bt_str uid = bt_claim_owner_pod_uid(claim);
	return uid.length != 0 && bt_text_set_has(pod_uids, uid);
}

/**
 * Returns a copy of the claim without these pods in reservedFor; NULL: the claim is reserved for
 * none of them.
 */
static struct bt_object *without_users(
	const struct bt_resource_claim *claim, const struct bt_text_set *pod_uids)
{
	struct bt_resource_claim left = *claim;
	struct bt_arena arena = {0};
	struct bt_object *object = NULL;
	bool has_changed = false;
	for (uint32_t i = 0; i < claim->status.reserved_for.count; i++) {
		struct bt_str uid = claim->status.reserved_for.items[i].uid;
		struct bt_resource_claim before = left;
		has_changed |= bt_text_set_has(pod_uids, uid) &&
			bt_claim_without_pod(&before, uid, &arena, &left);
	}
	if (has_changed) {
		/* A claim without resourceVersion counts as newer than the scheduler's copy. */
		left.metadata.resource_version = BT_STR("");
		object = bt_object_create(BT_KIND_RESOURCE_CLAIM, &left);
	}
	bt_arena_finish(&arena);
	return object;
}

void bt_pod_claims_release(struct bt_state *state, struct bt_str pod_uid, bool keeps_made)
{
	BT_VEC(struct bt_object *) deleted = {0};
	BT_VEC(struct bt_object *) changed = {0};
	struct bt_text_set uids = {0};
	struct bt_object *claim;
	uint32_t cursor = 0;
	if (state->dra == NULL) {
		return; /* no claim was loaded */
	}
	(void)bt_text_set_add(&uids, pod_uid);
	while ((claim = bt_claim_cache_next(&state->dra->claims, &cursor)) != NULL) {
		struct bt_object *left = NULL;
		if (!keeps_made && was_made_for(claim->meta, &uids)) {
			bt_vec_push(&deleted, bt_object_share(claim));
		} else if ((left = without_users(bt_object_value(claim, BT_KIND_RESOURCE_CLAIM),
				    &uids)) != NULL) {
			bt_vec_push(&changed, left);
		}
	}
	for (uint32_t i = 0; i < deleted.count; i++) {
		const struct bt_object_meta *meta = deleted.items[i]->meta;
		/* Every claim of the cache is in the store, so this cannot fail. */
		(void)bt_object_store_delete(
			&state->objects, BT_KIND_RESOURCE_CLAIM, meta->namespace_, meta->name);
		bt_object_release(deleted.items[i]);
	}
	for (uint32_t i = 0; i < changed.count; i++) {
		bt_object_store_put(&state->objects, changed.items[i]);
	}
	bt_vec_finish(&deleted);
	bt_vec_finish(&changed);
	bt_text_set_finish(&uids);
}

void bt_pod_claims_release_all(struct bt_manifests *cluster, const struct bt_text_set *pod_uids)
{
	for (uint32_t i = 0; i < cluster->objects.count && pod_uids->items.count != 0; i++) {
		const struct bt_manifests_object *object = &cluster->objects.items[i];
		if (object->kind != BT_KIND_RESOURCE_CLAIM) {
			continue;
		}
		const struct bt_resource_claim *claim =
			bt_object_value(object->object, BT_KIND_RESOURCE_CLAIM);
		/* The claim without owner, users and devices. */
		struct bt_resource_claim orphan = {
			.metadata = {.name = claim->metadata.name,
				.namespace_ = claim->metadata.namespace_,
				.uid = claim->metadata.uid},
			.spec = claim->spec,
		};
		struct bt_object *left = was_made_for(&claim->metadata, pod_uids)
			? bt_object_create(BT_KIND_RESOURCE_CLAIM, &orphan)
			: without_users(claim, pod_uids);
		if (left != NULL) {
			bt_manifests_exchange(cluster, i, left);
		}
	}
}
