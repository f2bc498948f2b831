/* SPDX-License-Identifier: Apache-2.0 */
#include "api/deletion_order.h"
#include "base/arena.h"
#include "base/vec.h"
#include "cluster/owners.h"
#include "cluster/tree.h"

void bt_replicas_sort_for_deletion(const struct bt_indexed_pod **pods, uint32_t count,
	struct bt_arena *arena, int64_t now_seconds)
{
	struct bt_deletion_candidate *candidates =
		BT_ARENA_NEW_ARRAY(arena, struct bt_deletion_candidate, count);

	for (uint32_t i = 0; i < count; i++) {
		candidates[i] = (struct bt_deletion_candidate){
			.pod = pods[i],
			.uid = pods[i]->uid,
			.node_name = pods[i]->node_name,
			.phase = pods[i]->phase == BT_POD_PENDING  ? BT_DELETION_PENDING
				: pods[i]->phase == BT_POD_UNKNOWN ? BT_DELETION_UNKNOWN
								   : BT_DELETION_OTHER,
			.ready = pods[i]->ready,
			.restart_count = pods[i]->restart_count,
			.deletion_cost = pods[i]->deletion_cost,
			.ready_since_seconds = pods[i]->ready_since_seconds,
			.created_seconds = pods[i]->created_seconds,
		};
	}
	bt_deletion_order_sort(candidates, count, now_seconds);
	for (uint32_t i = 0; i < count; i++) {
		pods[i] = candidates[i].pod;
	}
}

bool bt_replicas_is_available(
	struct bt_sync *sync, const struct bt_indexed_pod *pod, int64_t min_ready_seconds)
{
	int64_t available_at = pod->ready_since_seconds + min_ready_seconds;

	if (!pod->ready) {
		return false;
	}
	if (min_ready_seconds == 0 || available_at <= sync->now_seconds) {
		return true;
	}
	sync->wait_until_seconds = BT_MIN(sync->wait_until_seconds, available_at);
	return false;
}

/** Maximum number of pods that one sync creates or deletes. */
#define BURST 500

static void observe(void *data, struct bt_hub *hub, const struct bt_observed *observed)
{
	enum bt_hub_kind kind = hub->members[hub->current].ops->object;

	if (observed->kind == kind) {
		bt_owners_observe(hub, observed, data, kind == BT_HUB_REPLICATIONS);
	} else {
		bt_owners_enqueue(hub, observed, hub->kinds[kind]->kind, data);
	}
}

/* --- one ReplicaSet or ReplicationController --- */

/**
 * Creates or deletes pods to reach spec.replicas: at most BURST in one sync, except that a pod
 * taker gets all missing pods at once. Returns the reason of a failure and sets *out_message, or
 * returns NULL.
 */
static const char *scale_to_spec(struct bt_sync *sync, const struct bt_indexed_pod **pods,
	uint32_t count, struct bt_str *out_message)
{
	int64_t need = bt_json_int64_at(sync->object, "spec.replicas", 1) - count;
	struct bt_str name = bt_key_name(sync->key);
	const char *reason = NULL;
	uint32_t left;

	if (need > 0) {
		struct bt_str prefix = bt_arena_printf(sync->arena, "%.*s-", BT_STR_ARG(name));
		const struct bt_json_value *pod = bt_tree_from_template(sync->arena,
			bt_json_object_at(sync->object, "spec.template"),
			bt_sync_owner_reference(sync, sync->arena), prefix, true);
		uint32_t burst = bt_hub_burst(sync->hub, BURST);

		/* Create in batches of 1, 2, 4 ..., so that few creates fail if all would fail. */
		left = (uint32_t)BT_MIN(need, burst);
		for (uint32_t batch = 1; left > 0 && reason == NULL; batch *= 2) {
			batch = BT_MIN(batch, left);
			if (!bt_sync_create_pods(sync, pod, batch, out_message)) {
				reason = "FailedCreate";
			}
			left -= batch;
		}
	} else if (need < 0) {
		left = -need < BURST ? (uint32_t)-need : BURST;
		bt_replicas_sort_for_deletion(pods, count, sync->arena, sync->now_seconds);
		for (uint32_t i = 0; i < left; i++) {
			if (!bt_sync_delete_pod(sync, pods[i])) {
				reason = "FailedDelete";
				*out_message = BT_STR("deleting a pod failed");
			}
		}
	}
	return reason;
}

static bool sync(struct bt_sync *sync)
{
	struct bt_arena *arena = sync->arena;
	const struct bt_json_value *set = sync->object;
	uint64_t labels = bt_label_bits(bt_json_object_at(set, "spec.template.metadata.labels"));
	int64_t min_ready = bt_json_int64_at(set, "spec.minReadySeconds", 0);
	struct bt_tree_condition failure = {.type = "ReplicaFailure", .status = "True"};
	struct bt_json_value *conditions = bt_tree_copy_array(arena, set, "status.conditions");
	uint32_t count;
	int64_t fully_labeled = 0;
	int64_t ready = 0;
	int64_t available = 0;

	if (set == NULL || bt_owners_adopt_pods(sync, sync->data, NULL, NULL)) {
		/* The change of an adopted pod enqueues this key again. */
		return true;
	}
	const struct bt_indexed_pod **pods =
		bt_pod_index_active(sync->hub, bt_json_text_at(set, "metadata.uid"), arena, &count);
	for (uint32_t i = 0; i < count; i++) {
		fully_labeled += (pods[i]->label_bits & labels) == labels;
		ready += pods[i]->ready;
		available += bt_replicas_is_available(sync, pods[i], min_ready);
	}
	if (!bt_tree_is_deleting(set)) {
		failure.reason = scale_to_spec(sync, pods, count, &failure.message);
	}
	if (failure.reason != NULL) {
		(void)bt_tree_set_condition(arena, conditions, &failure, false, sync->now_ns);
	} else {
		bt_json_remove_with(conditions, "type", BT_STR("ReplicaFailure"));
	}
	bt_sync_write_status(sync,
		bt_json_put(arena, NULL,
			"{replicas: %d, fullyLabeledReplicas: %d, readyReplicas: %d, "
			"availableReplicas: %d, observedGeneration: %d, conditions: %v}",
			(int64_t)count, fully_labeled, ready, available,
			bt_json_int64_at(set, "metadata.generation", 0), conditions));
	return true;
}

const struct bt_controller_ops bt_replica_set_controller = {
	.watches = BT_WATCH(BT_HUB_REPLICA_SETS) | BT_WATCH(BT_HUB_PODS),
	.object = BT_HUB_REPLICA_SETS,
	.syncs_gone = true,
	.has_selectors = true,
	.observe = observe,
	.sync = sync,
};

const struct bt_controller_ops bt_replication_controller = {
	.component = "replication-controller",
	.watches = BT_WATCH(BT_HUB_REPLICATIONS) | BT_WATCH(BT_HUB_PODS),
	.object = BT_HUB_REPLICATIONS,
	.syncs_gone = true,
	.has_selectors = true,
	.observe = observe,
	.sync = sync,
};
