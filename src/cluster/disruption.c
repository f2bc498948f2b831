/* SPDX-License-Identifier: Apache-2.0 */
/** PodDisruptionBudgets: computes how many disruptions are allowed. Spec: 14b section 6.7. */
#include "cluster/owners.h"
#include "cluster/tree.h"
#include "server/condition.h"

/** A pod with an entry in status.disruptedPods counts as unhealthy for this long. */
#define DISRUPTED_SECONDS 120

struct pass {
	struct bt_sync *sync;
	int32_t pods;                    /* matching pods */
	int32_t healthy;                 /* matching pods that are healthy */
	int32_t scale;                   /* sum of the scales of the pods' controllers */
	struct bt_text_set owners;       /* uids of counted controllers */
	struct bt_json_value *forgotten; /* entries of disruptedPods to drop */
};

static void observe(void *data, struct bt_hub *hub, const struct bt_observed *observed)
{
	struct bt_selector_table *selectors = data;
	struct bt_str namespace_ = bt_key_namespace(observed->key);
	const struct bt_json_value *labels = bt_json_object_at(observed->after, "metadata.labels");
	const struct bt_json_value *before = bt_json_object_at(observed->before, "metadata.labels");

	if (observed->kind == BT_HUB_BUDGETS) {
		bt_owners_observe(hub, observed, selectors, false);
	} else if (observed->kind == BT_HUB_PODS) {
		bt_selector_table_enqueue(selectors, hub, namespace_, labels, hub->now_ns);
		if (observed->type == BT_CHANGE_MODIFIED && !bt_json_equal(before, labels)) {
			bt_selector_table_enqueue(selectors, hub, namespace_, before, hub->now_ns);
		}
	} else if (observed->type != BT_CHANGE_MODIFIED ||
		bt_json_int64_at(observed->before, "spec.replicas", 0) !=
			bt_json_int64_at(observed->after, "spec.replicas", 0)) {
		/* A controller's scale has changed: enqueue all budgets of its namespace. */
		bt_hub_enqueue_group(hub, &selectors->namespaces, namespace_);
	}
}

/* --- scales --- */

/** Records that the controller is counted. Returns false if the controller was already counted. */
static bool add_owner(struct pass *pass, struct bt_str uid)
{
	bool is_new = !bt_text_set_has(&pass->owners, uid);

	if (is_new) {
		bt_text_set_append(&pass->owners, bt_arena_str(pass->sync->arena, uid));
	}
	return is_new;
}

static const struct bt_json_value *read_owner(struct pass *pass,
	const struct bt_json_value *reference, const struct bt_api_resource **out_resource)
{
	const struct bt_sync *sync = pass->sync;
	const struct bt_json_value *owner = bt_hub_read_reference(
		sync->hub, reference, bt_key_namespace(sync->key), sync->arena, out_resource);

	return bt_str_equal(
		       bt_json_text_at(owner, "metadata.uid"), bt_json_text_at(reference, "uid"))
		? owner
		: NULL;
}

/* --- pods --- */

static void count_pod(
	void *context, const struct bt_indexed_pod *record, const struct bt_json_value *pod)
{
	struct pass *pass = context;
	struct bt_str name = bt_key_name(record->key);

	if (bt_pod_is_over(record)) {
		return;
	}
	pass->pods++;
	pass->healthy += record->ready && !record->deleting &&
		(bt_json_get(bt_json_object_at(pass->sync->object, "status.disruptedPods"), name) ==
				NULL ||
			bt_json_get(pass->forgotten, name) != NULL);
	/*
	 * Add the scale of the pod's controller, or of the Deployment that owns the pod's
	 * ReplicaSet. Each controller counts once.
	 */
	const struct bt_json_value *reference = bt_controller_owner_of(pod);
	const struct bt_api_resource *resource;

	if (reference == NULL || !add_owner(pass, bt_json_text_at(reference, "uid"))) {
		return;
	}
	const struct bt_json_value *owner = read_owner(pass, reference, &resource);
	reference = bt_controller_owner_of(owner);
	if (reference != NULL && resource == pass->sync->hub->kinds[BT_HUB_REPLICA_SETS]) {
		if (!add_owner(pass, bt_json_text_at(reference, "uid"))) {
			return;
		}
		owner = read_owner(pass, reference, &resource);
	}
	const char *path = owner != NULL
		? bt_resource_scale_path(resource, "specReplicasPath", pass->sync->arena)
		: "";
	int64_t scale = bt_json_int64_at(owner, path[0] != '\0' ? path : "spec.replicas", 0);
	if (scale > 0 && scale <= INT32_MAX - pass->scale) {
		pass->scale += (int32_t)scale;
	}
}

/* --- the budget --- */

struct bt_pod_disruption_budget_status bt_disruption_status(
	const struct bt_pod_disruption_budget_spec *spec, int64_t pods, int64_t scale,
	int32_t healthy)
{
	bool has_max = spec->max_unavailable != NULL;
	const struct bt_int_or_string *limit =
		has_max ? spec->max_unavailable : spec->min_available;
	int64_t total = has_max || (limit != NULL && limit->is_string) ? scale : pods;
	int32_t expected = (int32_t)BT_MIN(total, INT32_MAX);
	int32_t part = 0;

	if (limit != NULL && bt_int_or_string_scaled(limit, expected, true, &part, NULL) != 0) {
		part = 0;
	}
	int64_t desired = has_max ? (int64_t)expected - part : part;
	desired = desired < 0 ? 0 : desired < INT32_MAX ? desired : INT32_MAX;
	return (struct bt_pod_disruption_budget_status){
		.disruptions_allowed =
			expected > 0 && healthy > desired ? healthy - (int32_t)desired : 0,
		.current_healthy = healthy,
		.desired_healthy = (int32_t)desired,
		.expected_pods = expected,
	};
}

static bool sync(struct bt_sync *sync)
{
	const struct bt_selector_entry *entry = bt_selector_table_find(sync->data, sync->key);
	struct bt_arena *arena = sync->arena;
	struct bt_json_value *conditions =
		bt_tree_copy_array(arena, sync->object, "status.conditions");
	int64_t generation = bt_json_int64_at(sync->object, "metadata.generation", 0);
	struct pass pass = {.sync = sync};
	struct bt_int_or_string unavailable;
	struct bt_int_or_string available;
	const struct bt_pod_disruption_budget_spec spec = {
		.max_unavailable = bt_tree_int_or_string(
			bt_json_find_path(sync->object, "spec.maxUnavailable"), &unavailable),
		.min_available = bt_tree_int_or_string(
			bt_json_find_path(sync->object, "spec.minAvailable"), &available),
	};

	/* Drop entries whose pod is deleted or being deleted, or that are too old. */
	const struct bt_json_value *disrupted =
		bt_json_object_at(sync->object, "status.disruptedPods");
	pass.forgotten = bt_json_new(arena, BT_JSON_OBJECT);
	for (uint32_t i = 0; i < disrupted->count; i++) {
		const struct bt_json_member *member = &disrupted->members[i];
		const struct bt_indexed_pod *pod = bt_pod_index_find(
			sync->hub, bt_api_key(arena, bt_key_namespace(sync->key), member->name));
		int64_t until = DISRUPTED_SECONDS +
			bt_tree_seconds(bt_json_put(arena, NULL, "{at: %v}", member->value), "at");
		if (pod == NULL || pod->deleting || bt_ns_of_seconds(until) <= sync->now_ns) {
			bt_json_set(arena, pass.forgotten, member->name,
				bt_json_new(arena, BT_JSON_NULL));
		} else {
			sync->wait_until_seconds = BT_MIN(sync->wait_until_seconds, until);
		}
	}
	if (entry != NULL) {
		bt_owners_visit_selected(sync, &entry->selector, entry->bits, count_pod, &pass);
	}
	bt_text_set_finish(&pass.owners);
	struct bt_pod_disruption_budget_status status =
		bt_disruption_status(&spec, pass.pods, pass.scale, pass.healthy);
	int64_t allowed = status.disruptions_allowed;
	struct bt_tree_condition condition = {
		.type = "DisruptionAllowed",
		.status = allowed > 0 ? "True" : "False",
		.reason = allowed > 0 ? "SufficientPods" : "InsufficientPods",
		.message = BT_STR(""),
	};
	(void)bt_tree_set_condition(arena, conditions, &condition, false, sync->now_ns);
	bt_json_set_int64(arena, bt_condition_find(conditions, condition.type),
		"observedGeneration", generation);
	bt_sync_write_status(sync,
		bt_json_put(arena, NULL,
			"{conditions: %v, currentHealthy: %d, desiredHealthy: %d, "
			"disruptionsAllowed: %d, expectedPods: %d, observedGeneration: %d, "
			"disruptedPods?: %v}",
			conditions, (int64_t)status.current_healthy,
			(int64_t)status.desired_healthy, allowed, (int64_t)status.expected_pods,
			generation, pass.forgotten));
	return true;
}

const struct bt_controller_ops bt_disruption_ops = {
	.watches = BT_WATCH(BT_HUB_BUDGETS) | BT_WATCH(BT_HUB_PODS) | BT_WATCH(BT_HUB_DEPLOYMENTS) |
		BT_WATCH(BT_HUB_REPLICA_SETS) | BT_WATCH(BT_HUB_STATEFUL_SETS) |
		BT_WATCH(BT_HUB_REPLICATIONS),
	.object = BT_HUB_BUDGETS,
	.has_selectors = true,
	.observe = observe,
	.sync = sync,
};
