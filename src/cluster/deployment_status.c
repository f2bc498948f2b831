/* SPDX-License-Identifier: Apache-2.0 */
#include "api/time.h"
#include "cluster/deployment.h"
#include "server/condition.h"

struct counters {
	int64_t replicas;
	int64_t updated;
	int64_t ready;
	int64_t available;
	int64_t wanted; /* by the specs of all sets */
};

static void add_set(struct counters *counters, const struct bt_rollout_set *set)
{
	counters->replicas += set->status_replicas;
	counters->ready += set->ready;
	counters->available += set->available;
	counters->wanted += set->replicas;
}

static struct counters count(const struct bt_rollout *rollout)
{
	struct counters counters = {.replicas = 0};

	for (uint32_t i = 0; i < rollout->old_count; i++) {
		add_set(&counters, &rollout->old_sets[i]);
	}
	if (rollout->new_set != NULL) {
		add_set(&counters, rollout->new_set);
		counters.updated = rollout->new_set->status_replicas;
	}
	return counters;
}

static bool is_complete(const struct bt_rollout *rollout, const struct counters *counters)
{
	return counters->updated == rollout->replicas && counters->replicas == rollout->replicas &&
		counters->available == rollout->replicas;
}

bool bt_rollout_is_complete(const struct bt_rollout *rollout)
{
	struct counters counters = count(rollout);
	return is_complete(rollout, &counters);
}

void bt_rollout_set_progressing(
	struct bt_rollout *rollout, const char *status, const char *reason, struct bt_str message)
{
	struct bt_tree_condition condition = {"Progressing", status, reason, message};
	struct bt_json_value *entry;

	if (!bt_tree_set_condition(
		    rollout->arena, rollout->conditions, &condition, true, rollout->now_ns) &&
		bt_str_equal_c(bt_str_from(status), "True")) {
		/* Once more the same progress: the deadline counts from now. */
		entry = bt_condition_find(rollout->conditions, "Progressing");
		bt_json_set_str(rollout->arena, entry, "lastUpdateTime",
			bt_time_text(rollout->arena, rollout->now_ns));
		bt_json_set_str(rollout->arena, entry, "message", message);
	}
}

/** Something moved since the status that is stored. */
static bool has_progressed(const struct bt_rollout *rollout, const struct counters *counters)
{
	const struct bt_json_value *old = bt_json_object_at(rollout->deployment, "status");
	int64_t updated = bt_json_int64_at(old, "updatedReplicas", 0);
	int64_t others = bt_json_int64_at(old, "replicas", 0) - updated;

	return counters->updated > updated || counters->replicas - counters->updated < others ||
		counters->ready > bt_json_int64_at(old, "readyReplicas", 0) ||
		counters->available > bt_json_int64_at(old, "availableReplicas", 0);
}

/** "ReplicaSet \"x\"" or "Deployment \"y\"". */
static struct bt_str subject(const struct bt_rollout *rollout)
{
	if (rollout->new_set != NULL) {
		return bt_arena_printf(
			rollout->arena, "ReplicaSet \"%.*s\"", BT_STR_ARG(rollout->new_set->name));
	}
	return bt_arena_printf(
		rollout->arena, "Deployment \"%.*s\"", BT_STR_ARG(bt_key_name(rollout->key)));
}

static void watch_progress(struct bt_rollout *rollout, const struct counters *counters)
{
	int64_t deadline =
		bt_json_int64_at(rollout->deployment, "spec.progressDeadlineSeconds", INT32_MAX);
	const struct bt_json_value *current = bt_condition_find(rollout->conditions, "Progressing");
	struct bt_str reason = bt_json_text_at(current, "reason");
	bool was_complete = bt_str_equal_c(reason, "NewReplicaSetAvailable");
	struct bt_str what = subject(rollout);
	int64_t due;

	if (deadline == INT32_MAX) {
		bt_tree_drop_condition(rollout->conditions, "Progressing");
		return;
	}
	if (was_complete && counters->replicas == counters->updated) {
		return;
	}
	if (is_complete(rollout, counters)) {
		bt_rollout_set_progressing(rollout, "True", "NewReplicaSetAvailable",
			bt_arena_printf(rollout->arena, "%.*s has successfully progressed.",
				BT_STR_ARG(what)));
		return;
	}
	if (has_progressed(rollout, counters)) {
		bt_rollout_set_progressing(rollout, "True", "ReplicaSetUpdated",
			bt_arena_printf(rollout->arena, "%.*s is progressing.", BT_STR_ARG(what)));
		current = bt_condition_find(rollout->conditions, "Progressing");
	}
	if (current == NULL || was_complete || bt_str_equal_c(reason, "ProgressDeadlineExceeded") ||
		bt_json_bool_at(rollout->deployment, "spec.paused", false)) {
		return;
	}
	due = bt_ns_of_seconds(bt_tree_seconds(current, "lastUpdateTime") + deadline + 1);
	if (due > rollout->now_ns) {
		bt_hub_enqueue_at(rollout->hub, rollout->key, due);
		return;
	}
	bt_rollout_set_progressing(rollout, "False", "ProgressDeadlineExceeded",
		bt_arena_printf(
			rollout->arena, "%.*s has timed out progressing.", BT_STR_ARG(what)));
}

/** What keeps a set from making its pods is told here as well. */
static void copy_failure(struct bt_rollout *rollout)
{
	const struct bt_json_value *failure = NULL;
	struct bt_tree_condition condition = {.type = "ReplicaFailure", .status = "True"};

	if (rollout->new_set != NULL) {
		failure = bt_condition_find(
			bt_json_array_at(rollout->new_set->object, "status.conditions"),
			"ReplicaFailure");
	}
	for (uint32_t i = 0; failure == NULL && i < rollout->old_count; i++) {
		failure = bt_condition_find(
			bt_json_array_at(rollout->old_sets[i].object, "status.conditions"),
			"ReplicaFailure");
	}
	if (failure == NULL) {
		bt_tree_drop_condition(rollout->conditions, "ReplicaFailure");
		return;
	}
	condition.reason = bt_str_equal_c(bt_json_text_at(failure, "reason"), "FailedDelete")
		? "FailedDelete"
		: "FailedCreate";
	condition.message = bt_json_text_at(failure, "message");
	(void)bt_tree_set_condition(
		rollout->arena, rollout->conditions, &condition, true, rollout->now_ns);
}

void bt_rollout_write_status(struct bt_rollout *rollout)
{
	struct bt_arena *arena = rollout->arena;
	struct bt_json_value *status = bt_json_new(arena, BT_JSON_OBJECT);
	struct counters counters = count(rollout);
	int64_t unavailable = counters.wanted - counters.available;

	bool enough = counters.available >= rollout->replicas - rollout->unavailable;
	struct bt_tree_condition condition = {
		.type = "Available",
		.status = enough ? "True" : "False",
		.reason = enough ? "MinimumReplicasAvailable" : "MinimumReplicasUnavailable",
		.message = enough ? BT_STR("Deployment has minimum availability.")
				  : BT_STR("Deployment does not have minimum availability."),
	};

	(void)bt_tree_set_condition(
		rollout->arena, rollout->conditions, &condition, true, rollout->now_ns);
	watch_progress(rollout, &counters);
	copy_failure(rollout);
	bt_json_set_int64(arena, status, "observedGeneration",
		bt_json_int64_at(rollout->deployment, "metadata.generation", 0));
	bt_json_set_int64(arena, status, "replicas", counters.replicas);
	bt_json_set_int64(arena, status, "updatedReplicas", counters.updated);
	bt_json_set_int64(arena, status, "readyReplicas", counters.ready);
	bt_json_set_int64(arena, status, "availableReplicas", counters.available);
	bt_json_set_int64(arena, status, "unavailableReplicas", unavailable > 0 ? unavailable : 0);
	if (rollout->collision_count != 0) {
		bt_json_set_int64(arena, status, "collisionCount", rollout->collision_count);
	}
	bt_json_set_value(arena, status, "conditions", rollout->conditions);
	if (!bt_tree_write_status(
		    rollout->hub, rollout->deployments, rollout->deployment, status, arena)) {
		rollout->failed = true;
	}
}
