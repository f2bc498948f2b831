/* SPDX-License-Identifier: Apache-2.0 */
/** What budgets allow to be disrupted. Spec: 14b section 6.7. */
#include "base/map.h"
#include "cluster/pod_index.h"
#include "cluster/owners.h"
#include "cluster/tree.h"
#include "server/condition.h"

/** A pod that is meant to go counts as gone for so long. */
#define DISRUPTED_NS (120 * BT_NS_PER_SECOND)

struct disruption {
	const struct bt_api_resource *pods;
	const struct bt_api_resource *budgets;
	const struct bt_api_resource *replica_sets;
	const struct bt_api_resource *deployments;
	struct bt_selector_table selectors;
};

/** One look at one budget. */
struct pass {
	struct disruption *self;
	struct bt_hub *hub;
	struct bt_str key;
	const struct bt_json_value *budget;
	struct bt_arena *arena;
	int64_t now_ns;
	int32_t pods;                    /* that match */
	int32_t healthy;                 /* of them */
	int32_t scale;                   /* of their controllers */
	BT_VEC(struct bt_str) owners;    /* uids of controllers that are counted */
	struct bt_json_value *forgotten; /* entries of disruptedPods to drop */
	int64_t next_ns;                 /* when another one is */
};

static void *create(struct bt_hub *hub)
{
	const struct bt_resources *resources = bt_api_resources(bt_hub_api(hub));
	struct disruption *self = BT_NEW(struct disruption);

	self->pods = bt_resources_builtin(resources, "", "pods");
	self->budgets = bt_resources_builtin(resources, "policy", "poddisruptionbudgets");
	self->replica_sets = bt_resources_builtin(resources, "apps", "replicasets");
	self->deployments = bt_resources_builtin(resources, "apps", "deployments");
	bt_selector_table_init(&self->selectors);
	return self;
}

static void destroy(void *data)
{
	struct disruption *self = data;

	bt_selector_table_finish(&self->selectors);
	bt_free(self);
}

static void enqueue(void *context, struct bt_str key)
{
	bt_hub_enqueue(context, key);
}

static void enqueue_matches(struct disruption *self, struct bt_hub *hub, struct bt_str key,
	const struct bt_json_value *pod)
{
	bt_selector_table_match(&self->selectors, bt_key_namespace(key),
		bt_json_object_at(pod, "metadata.labels"), enqueue, hub);
}

static void observe(void *data, struct bt_hub *hub, const struct bt_observed *observed)
{
	struct disruption *self = data;

	if (observed->resource == self->pods) {
		enqueue_matches(self, hub, observed->key, observed->after);
		if (observed->type == BT_CHANGE_MODIFIED &&
			!bt_json_equal(bt_json_object_at(observed->before, "metadata.labels"),
				bt_json_object_at(observed->after, "metadata.labels"))) {
			enqueue_matches(self, hub, observed->key, observed->before);
		}
		return;
	}
	if (observed->resource != self->budgets) {
		if (observed->type != BT_CHANGE_MODIFIED ||
			bt_json_int64_at(observed->before, "spec.replicas", 0) !=
				bt_json_int64_at(observed->after, "spec.replicas", 0)) {
			/* All budgets of a namespace: the scale of a controller has changed. */
			struct bt_str namespace_ = bt_key_namespace(observed->key);
			const struct bt_groups *groups = &self->selectors.namespaces;
			uint32_t entry = bt_groups_first(groups, namespace_);

			for (; entry != BT_GROUPS_NONE; entry = bt_groups_next(groups, entry)) {
				bt_hub_enqueue(hub, bt_groups_key(groups, entry));
			}
		}
		return;
	}
	if (observed->type == BT_CHANGE_DELETED) {
		bt_selector_table_remove(&self->selectors, observed->key);
		return;
	}
	if (observed->before == NULL ||
		!bt_json_equal(bt_json_object_at(observed->before, "spec.selector"),
			bt_json_object_at(observed->after, "spec.selector"))) {
		bt_selector_table_put(&self->selectors, observed->key,
			bt_json_object_at(observed->after, "spec.selector"), false);
	}
	bt_hub_enqueue(hub, observed->key);
}

/* --- scales --- */

static const struct bt_json_value *read_owner(struct pass *pass,
	const struct bt_json_value *reference, const struct bt_api_resource **out_resource)
{
	struct bt_api *api = bt_hub_api(pass->hub);
	const struct bt_json_value *owner;

	*out_resource = bt_resources_find_kind(bt_api_resources(api),
		bt_json_text_at(reference, "apiVersion"), bt_json_text_at(reference, "kind"));
	if (*out_resource == NULL) {
		return NULL;
	}
	owner = bt_api_read(api, *out_resource,
		bt_api_key(pass->arena, bt_key_namespace(pass->key),
			bt_json_text_at(reference, "name")),
		pass->arena);
	return bt_str_equal(
		       bt_json_text_at(owner, "metadata.uid"), bt_json_text_at(reference, "uid"))
		? owner
		: NULL;
}

/** Add the scale of the pod's controller, a ReplicaSet's Deployment in its place; each once. */
static void count_scale(struct pass *pass, const struct bt_json_value *pod)
{
	const struct bt_json_value *reference = bt_controller_owner_of(pod);
	const struct bt_api_resource *resource;
	const struct bt_json_value *owner;
	struct bt_str uid = bt_json_text_at(reference, "uid");
	int64_t scale;

	for (uint32_t i = 0; i < pass->owners.count; i++) {
		if (bt_str_equal(pass->owners.items[i], uid)) {
			return;
		}
	}
	if (reference == NULL) {
		return;
	}
	bt_vec_push(&pass->owners, bt_arena_str(pass->arena, uid));
	owner = read_owner(pass, reference, &resource);
	if (owner == NULL) {
		return;
	}
	reference = bt_controller_owner_of(owner);
	if (resource == pass->self->replica_sets && reference != NULL) {
		uid = bt_json_text_at(reference, "uid");
		for (uint32_t i = 0; i < pass->owners.count; i++) {
			if (bt_str_equal(pass->owners.items[i], uid)) {
				return;
			}
		}
		bt_vec_push(&pass->owners, uid);
		owner = read_owner(pass, reference, &resource);
	}
	scale = bt_json_int64_at(owner, "spec.replicas", 0);
	if (scale > 0 && scale <= INT32_MAX - pass->scale) {
		pass->scale += (int32_t)scale;
	}
}

/* --- pods --- */

/** In status.disruptedPods, and still to be counted as gone. */
static bool is_disrupted(struct pass *pass, struct bt_str name)
{
	const struct bt_json_value *disrupted =
		bt_json_object_at(pass->budget, "status.disruptedPods");

	return bt_json_get(disrupted, name) != NULL && bt_json_get(pass->forgotten, name) == NULL;
}

static void count_pod(struct pass *pass, const struct bt_stored *stored,
	const struct bt_selector_entry *selector, struct bt_arena *scratch)
{
	const struct bt_indexed_pod *record = bt_pod_index_find(pass->hub, bt_stored_key(stored));
	const struct bt_json_value *pod;

	if (record == NULL || (record->label_bits & selector->bits) != selector->bits ||
		record->phase == BT_POD_SUCCEEDED || record->phase == BT_POD_FAILED) {
		return;
	}
	pod = bt_api_parse_stored(stored, scratch);
	if (!bt_tree_matches(
		    scratch, &selector->selector, bt_json_object_at(pod, "metadata.labels"))) {
		return;
	}
	pass->pods++;
	pass->healthy += record->ready && !record->deleting &&
		!is_disrupted(pass, bt_key_name(bt_stored_key(stored)));
	count_scale(pass, pod);
}

static void count_pods(struct pass *pass)
{
	const struct bt_selector_entry *selector =
		bt_selector_table_find(&pass->self->selectors, pass->key);
	struct bt_str prefix =
		bt_arena_printf(pass->arena, "%.*s/", BT_STR_ARG(bt_key_namespace(pass->key)));
	struct bt_arena scratch = {0};
	struct bt_store_walk walk;
	const struct bt_stored *stored;

	if (selector == NULL ||
		bt_store_walk_begin(bt_api_store(bt_hub_api(pass->hub)),
			pass->self->pods->collection, 0, prefix, BT_STR(""), &walk, NULL) != 0) {
		return;
	}
	while ((stored = bt_store_walk_next(&walk, NULL)) != NULL) {
		count_pod(pass, stored, selector, &scratch);
		bt_arena_reset(&scratch);
	}
	bt_store_walk_end(&walk);
	bt_arena_finish(&scratch);
}

/* --- the budget --- */

static bool write_status(struct pass *pass, int32_t expected, int32_t desired)
{
	struct bt_arena *arena = pass->arena;
	struct bt_json_value *status = bt_json_new(arena, BT_JSON_OBJECT);
	struct bt_json_value *conditions =
		bt_json_clone(arena, bt_json_array_at(pass->budget, "status.conditions"), false);
	int64_t generation = bt_json_int64_at(pass->budget, "metadata.generation", 0);
	int32_t allowed = expected > 0 && pass->healthy > desired ? pass->healthy - desired : 0;
	struct bt_tree_condition condition = {
		.type = "DisruptionAllowed",
		.status = allowed > 0 ? "True" : "False",
		.reason = allowed > 0 ? "SufficientPods" : "InsufficientPods",
		.message = BT_STR(""),
	};

	(void)bt_tree_set_condition(arena, conditions, &condition, false, pass->now_ns);
	bt_json_set_int64(arena, bt_condition_find(conditions, condition.type),
		"observedGeneration", generation);
	bt_json_set_value(arena, status, "conditions", conditions);
	bt_json_set_int64(arena, status, "currentHealthy", pass->healthy);
	bt_json_set_int64(arena, status, "desiredHealthy", desired);
	bt_json_set_int64(arena, status, "disruptionsAllowed", allowed);
	bt_json_set_int64(arena, status, "expectedPods", expected);
	bt_json_set_int64(arena, status, "observedGeneration", generation);
	if (pass->forgotten->count != 0) {
		bt_json_set_value(arena, status, "disruptedPods", pass->forgotten);
	}
	return bt_tree_write_status(pass->hub, pass->self->budgets, pass->budget, status, arena);
}

static bool sync(
	void *data, struct bt_hub *hub, struct bt_str key, struct bt_arena *arena, int64_t now_ns)
{
	struct pass pass = {
		.self = data,
		.hub = hub,
		.key = key,
		.arena = arena,
		.now_ns = now_ns,
		.next_ns = INT64_MAX,
	};
	int32_t expected;
	int32_t desired;

	pass.budget = bt_api_read(bt_hub_api(hub), pass.self->budgets, key, arena);
	if (pass.budget == NULL) {
		return true;
	}
	/* Entries whose pod is gone or goes, or that are too old. */
	const struct bt_json_value *disrupted =
		bt_json_object_at(pass.budget, "status.disruptedPods");

	pass.forgotten = bt_json_new(pass.arena, BT_JSON_OBJECT);
	for (uint32_t i = 0; i < disrupted->count; i++) {
		const struct bt_json_member *member = &disrupted->members[i];
		const struct bt_indexed_pod *pod = bt_pod_index_find(
			pass.hub, bt_api_key(pass.arena, bt_key_namespace(pass.key), member->name));
		struct bt_json_value *entry = bt_json_new(pass.arena, BT_JSON_OBJECT);
		int64_t until;

		bt_json_set_value(pass.arena, entry, "at", member->value);
		until = bt_tree_seconds(entry, "at") * BT_NS_PER_SECOND + DISRUPTED_NS;
		if (pod == NULL || pod->deleting || until <= pass.now_ns) {
			bt_json_set(pass.arena, pass.forgotten, member->name,
				bt_json_new(pass.arena, BT_JSON_NULL));
		} else if (until < pass.next_ns) {
			pass.next_ns = until;
		}
	}
	count_pods(&pass);
	bt_vec_finish(&pass.owners);
	const struct bt_json_value *unavailable =
		bt_json_find_path(pass.budget, "spec.maxUnavailable");
	const struct bt_json_value *available = bt_json_find_path(pass.budget, "spec.minAvailable");

	expected = pass.pods;
	desired = 0;
	if (unavailable != NULL) {
		int32_t most = bt_tree_scaled(unavailable, pass.scale, true);
		expected = pass.scale;
		desired = pass.scale > most ? pass.scale - most : 0;
	} else if (available != NULL && available->type == BT_JSON_STRING) {
		expected = pass.scale;
		desired = bt_tree_scaled(available, pass.scale, true);
	} else {
		desired = bt_tree_scaled(available, pass.pods, true);
	}
	if (pass.next_ns != INT64_MAX) {
		bt_hub_enqueue_at(hub, key, pass.next_ns);
	}
	return write_status(&pass, expected, desired);
}

static const char *const watched[] = {"policy/poddisruptionbudgets", "pods", "apps/deployments",
	"apps/replicasets", "apps/statefulsets", "replicationcontrollers", NULL};

const struct bt_controller_ops bt_disruption_ops = {
	.name = "disruption-controller",
	.resources = watched,
	.create = create,
	.destroy = destroy,
	.observe = observe,
	.sync = sync,
};
