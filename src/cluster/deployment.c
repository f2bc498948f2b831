/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/deployment.h"

#include <stdlib.h>

#include "api/time.h"
#include "cluster/owners.h"
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

static void rollout_write_status(struct bt_rollout *rollout)
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

struct deployments {
	const struct bt_api_resource *deployments;
	const struct bt_api_resource *sets;
	/** Keys of ReplicaSets by the uid of their owner, those without one by "/" and namespace.
	 */
	struct bt_groups owned;
	struct bt_selector_table selectors;
};

static void *create(struct bt_hub *hub)
{
	struct deployments *self = BT_NEW(struct deployments);
	const struct bt_resources *resources = bt_api_resources(bt_hub_api(hub));

	self->deployments = bt_resources_builtin(resources, "apps", "deployments");
	self->sets = bt_resources_builtin(resources, "apps", "replicasets");
	bt_groups_init(&self->owned);
	bt_selector_table_init(&self->selectors);
	return self;
}

static void destroy(void *data)
{
	struct deployments *self = data;

	bt_groups_finish(&self->owned);
	bt_selector_table_finish(&self->selectors);
	bt_free(self);
}

/* --- changes --- */

static void observe_set(
	struct deployments *self, struct bt_hub *hub, const struct bt_observed *observed)
{
	const struct bt_json_value *owner = bt_controller_owner_of(observed->after);
	struct bt_strbuf group = {0};

	bt_owners_enqueue(hub, observed, "Deployment", &self->selectors);
	if (observed->type == BT_CHANGE_DELETED) {
		bt_groups_remove(&self->owned, observed->key);
		return;
	}
	if (owner == NULL) {
		bt_strbuf_append_char(&group, '/');
	}
	bt_strbuf_append_str(&group,
		owner != NULL ? bt_json_text_at(owner, "uid") : bt_key_namespace(observed->key));
	bt_groups_put(&self->owned, observed->key, bt_strbuf_str(&group));
	bt_strbuf_finish(&group);
}

/** Recreate waits for the last pod of the old sets to go. */
static void observe_pod(
	struct deployments *self, struct bt_hub *hub, const struct bt_observed *observed)
{
	const struct bt_json_value *owner = bt_controller_owner_of(observed->after);
	struct bt_arena arena = {0};
	struct bt_observed set = {.type = BT_CHANGE_ADDED};

	if (observed->type != BT_CHANGE_DELETED ||
		!bt_str_equal_c(bt_json_text_at(owner, "kind"), "ReplicaSet")) {
		return;
	}
	set.key =
		bt_api_key(&arena, bt_key_namespace(observed->key), bt_json_text_at(owner, "name"));
	set.after = bt_api_read(bt_hub_api(hub), self->sets, set.key, &arena);
	if (set.after != NULL) {
		bt_owners_enqueue(hub, &set, "Deployment", NULL);
	}
	bt_arena_finish(&arena);
}

static void observe(void *data, struct bt_hub *hub, const struct bt_observed *observed)
{
	struct deployments *self = data;

	if (observed->resource == self->sets) {
		observe_set(self, hub, observed);
	} else if (observed->resource != self->deployments) {
		observe_pod(self, hub, observed);
	} else {
		bt_owners_observe(hub, observed, &self->selectors, false);
	}
}

/* --- one deployment --- */

void bt_rollout_event(
	struct bt_rollout *rollout, const char *type, const char *reason, struct bt_str message)
{
	bt_hub_event(rollout->hub, "deployment-controller", rollout->deployments,
		rollout->deployment, type, reason, message);
}

void bt_rollout_read_set(
	struct bt_rollout *rollout, struct bt_rollout_set *set, struct bt_json_value *object)
{
	int64_t revision = 0;

	(void)bt_str_parse_int64(bt_tree_annotation(object, BT_ANNOTATION_REVISION), &revision);
	*set = (struct bt_rollout_set){
		.object = object,
		.key = bt_tree_key(rollout->arena, object),
		.name = bt_json_text_at(object, "metadata.name"),
		.uid = bt_json_text_at(object, "metadata.uid"),
		.created_seconds = bt_tree_seconds(object, "metadata.creationTimestamp"),
		.revision = revision,
		.replicas = bt_json_int64_at(object, "spec.replicas", 1),
		.status_replicas = bt_json_int64_at(object, "status.replicas", 0),
		.ready = bt_json_int64_at(object, "status.readyReplicas", 0),
		.available = bt_json_int64_at(object, "status.availableReplicas", 0),
	};
}

static int compare_age(const void *left, const void *right)
{
	const struct bt_rollout_set *a = left;
	const struct bt_rollout_set *b = right;

	if (a->created_seconds != b->created_seconds) {
		return a->created_seconds < b->created_seconds ? -1 : 1;
	}
	return bt_str_compare(a->name, b->name);
}

/** Sets without owner that are selected become ours. */
static void adopt(struct deployments *self, struct bt_rollout *rollout)
{
	const struct bt_selector_entry *entry =
		bt_selector_table_find(&self->selectors, rollout->key);
	struct bt_str namespace_ = bt_key_namespace(rollout->key);
	struct bt_str group = bt_arena_printf(rollout->arena, "/%.*s", BT_STR_ARG(namespace_));
	uint32_t at = bt_groups_first(&self->owned, group);

	for (; entry != NULL && at != BT_GROUPS_NONE; at = bt_groups_next(&self->owned, at)) {
		struct bt_json_value *set = bt_api_read(bt_hub_api(rollout->hub), self->sets,
			bt_groups_key(&self->owned, at), rollout->arena);
		if (set == NULL || bt_tree_is_deleting(set) ||
			bt_controller_owner_of(set) != NULL ||
			!bt_tree_matches(rollout->arena, &entry->selector,
				bt_json_object_at(set, "metadata.labels"))) {
			continue;
		}
		(void)bt_tree_adopt(rollout->hub, self->sets, set,
			bt_controller_owner_reference(
				rollout->arena, self->deployments, rollout->deployment),
			rollout->arena);
	}
}

static void read_strategy(struct bt_rollout *rollout)
{
	const struct bt_json_value *deployment = rollout->deployment;
	int32_t total;

	rollout->replicas = bt_json_int64_at(deployment, "spec.replicas", 1);
	total = rollout->replicas < INT32_MAX ? (int32_t)rollout->replicas : INT32_MAX;
	rollout->recreate =
		bt_str_equal_c(bt_json_text_at(deployment, "spec.strategy.type"), "Recreate");
	if (rollout->recreate) {
		return;
	}
	rollout->surge = bt_tree_scaled(
		bt_json_find_path(deployment, "spec.strategy.rollingUpdate.maxSurge"), total, true);
	rollout->unavailable = bt_tree_scaled(
		bt_json_find_path(deployment, "spec.strategy.rollingUpdate.maxUnavailable"), total,
		false);
	if (rollout->surge == 0 && rollout->unavailable == 0) {
		/* Else nothing would ever move. */
		rollout->unavailable = 1;
	}
	if (rollout->unavailable > rollout->replicas) {
		rollout->unavailable = rollout->replicas;
	}
}

/** Paused and resumed are told by the condition, so that the deadline does not run meanwhile. */
static void note_pause(struct bt_rollout *rollout, bool paused)
{
	struct bt_str reason =
		bt_json_text_at(bt_condition_find(rollout->conditions, "Progressing"), "reason");
	bool was_paused = bt_str_equal_c(reason, "DeploymentPaused");

	if (bt_json_find_path(rollout->deployment, "spec.progressDeadlineSeconds") == NULL ||
		bt_str_equal_c(reason, "ProgressDeadlineExceeded")) {
		return;
	}
	if (paused && !was_paused) {
		bt_rollout_set_progressing(
			rollout, "Unknown", "DeploymentPaused", BT_STR("Deployment is paused"));
	} else if (!paused && was_paused) {
		bt_rollout_set_progressing(
			rollout, "Unknown", "DeploymentResumed", BT_STR("Deployment is resumed"));
	}
}

static bool sync(
	void *data, struct bt_hub *hub, struct bt_str key, struct bt_arena *arena, int64_t now_ns)
{
	struct deployments *self = data;
	struct bt_rollout rollout = {
		.hub = hub,
		.arena = arena,
		.deployments = self->deployments,
		.sets = self->sets,
		.key = key,
		.now_ns = now_ns,
	};

	bt_hub_cancel_delay(hub, key);
	rollout.deployment = bt_api_read(bt_hub_api(hub), self->deployments, key, arena);
	if (rollout.deployment == NULL || bt_selector_table_find(&self->selectors, key) == NULL) {
		return true;
	}
	rollout.conditions = bt_json_clone(
		arena, bt_json_array_at(rollout.deployment, "status.conditions"), false);
	rollout.collision_count = bt_json_int64_at(rollout.deployment, "status.collisionCount", 0);
	read_strategy(&rollout);
	if (!bt_tree_is_deleting(rollout.deployment)) {
		adopt(self, &rollout);
	}
	struct bt_str uid = bt_json_text_at(rollout.deployment, "metadata.uid");
	uint32_t count = 0;
	uint32_t at;

	for (at = bt_groups_first(&self->owned, uid); at != BT_GROUPS_NONE;
		at = bt_groups_next(&self->owned, at)) {
		count++;
	}
	/* One more, should the new set be made. */
	rollout.old_sets = BT_ARENA_NEW_ARRAY(rollout.arena, struct bt_rollout_set, count + 1);
	for (at = bt_groups_first(&self->owned, uid); at != BT_GROUPS_NONE;
		at = bt_groups_next(&self->owned, at)) {
		struct bt_json_value *set = bt_api_read(bt_hub_api(rollout.hub), self->sets,
			bt_groups_key(&self->owned, at), rollout.arena);
		if (set != NULL &&
			bt_str_equal(bt_json_text_at(bt_controller_owner_of(set), "uid"), uid)) {
			bt_rollout_read_set(&rollout, &rollout.old_sets[rollout.old_count++], set);
		}
	}
	qsort(rollout.old_sets, rollout.old_count, sizeof(*rollout.old_sets), compare_age);
	bool paused = bt_json_bool_at(rollout.deployment, "spec.paused", false);

	note_pause(&rollout, paused);
	if (bt_tree_is_deleting(rollout.deployment)) {
		bt_rollout_find_new_set(&rollout, false);
	} else if (paused) {
		bt_rollout_find_new_set(&rollout, false);
		bt_rollout_scale(&rollout);
		bt_rollout_clean_up(&rollout);
	} else {
		bt_rollout_find_new_set(&rollout, false);
		if (bt_rollout_needs_scale(&rollout)) {
			bt_rollout_scale(&rollout);
		} else if (rollout.recreate) {
			bt_rollout_recreate(&rollout);
		} else {
			bt_rollout_roll(&rollout);
		}
	}
	rollout_write_status(&rollout);
	return !rollout.failed;
}

static const char *const resources[] = {"apps/deployments", "apps/replicasets", "pods", NULL};

const struct bt_controller_ops bt_deployment_controller = {
	.name = "deployment-controller",
	.resources = resources,
	.create = create,
	.destroy = destroy,
	.observe = observe,
	.sync = sync,
};
