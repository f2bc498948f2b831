/* SPDX-License-Identifier: Apache-2.0 */
#include "dra/trial.h"

void bt_dra_trial_begin(struct bt_dra_trial *trial, struct bt_dra *dra)
{
	*trial = (struct bt_dra_trial){.dra = dra};
	if (dra != NULL) {
		trial->listener = dra->claims.listener;
		dra->claims.listener = (struct bt_claim_listener){NULL, NULL};
	}
}

bool bt_claim_without_pod(const struct bt_resource_claim *claim, struct bt_str pod_uid,
	struct bt_arena *arena, struct bt_resource_claim *out_claim)
{
	*out_claim = *claim;
	if (!bt_resource_claim_drop_user(out_claim, pod_uid, arena)) {
		return false;
	}
	if (out_claim->status.reserved_for.count == 0) {
		out_claim->status = (struct bt_resource_claim_status){0};
	}
	return true;
}

/** It is in the cache with this version: assuming another of the same cannot fail. */
static void put(struct bt_dra_trial *trial, struct bt_object *claim)
{
	struct berth_error err = BERTH_ERROR_INIT;
	int result = bt_claim_cache_assume(&trial->dra->claims, claim, &err);

	BT_ASSERT(result == 0);
	berth_error_finish(&err);
	(void)result; /* asserted */
}

bool bt_dra_trial_release(
	struct bt_dra_trial *trial, struct bt_object *claim, struct bt_str pod_uid)
{
	const struct bt_resource_claim *was = bt_object_value(claim, BT_KIND_RESOURCE_CLAIM);
	struct bt_arena arena = {0};
	struct bt_resource_claim now;

	if (bt_claim_without_pod(was, pod_uid, &arena, &now)) {
		if (bt_allocated_has_history(&trial->dra->allocated)) {
			bt_arena_finish(&arena);
			return false;
		}
		struct bt_object *object = bt_object_create(BT_KIND_RESOURCE_CLAIM, &now);

		bt_vec_push(&trial->claims, bt_object_share(claim));
		put(trial, object);
		bt_object_release(object);
	}
	bt_arena_finish(&arena);
	return true;
}

bool bt_dra_trial_take_pod(struct bt_dra_trial *trial, struct bt_str pod_uid)
{
	bool possible = true;
	uint32_t cursor = 0;
	struct bt_object *claim;

	/* Assuming leaves every claim at its place in the cache. */
	while (trial->dra != NULL && possible &&
		(claim = bt_claim_cache_next(&trial->dra->claims, &cursor)) != NULL) {
		possible = !bt_resource_claim_is_reserved_by(
				   bt_object_value(claim, BT_KIND_RESOURCE_CLAIM), pod_uid) ||
			bt_dra_trial_release(trial, claim, pod_uid);
	}
	return possible;
}

void bt_dra_trial_end(struct bt_dra_trial *trial)
{
	/* The last change first: a claim may have lost several pods. */
	for (uint32_t i = trial->claims.count; i-- > 0;) {
		put(trial, trial->claims.items[i]);
		bt_object_release(trial->claims.items[i]);
	}
	/* There was none when the first one was taken away, and all are back in place. */
	if (trial->claims.count != 0 && bt_allocated_has_history(&trial->dra->allocated)) {
		bt_bitset_clear(&trial->dra->allocated.history);
		trial->dra->allocated.history_count = 0;
	}
	bt_vec_finish(&trial->claims);
	if (trial->dra != NULL) {
		trial->dra->claims.listener = trial->listener;
	}
}
