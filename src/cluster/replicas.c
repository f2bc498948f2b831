/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/replicas.h"

#include "api/deletion_order.h"
#include "base/arena.h"
#include "base/vec.h"
#include "cluster/owners.h"
#include "cluster/tree.h"

struct replicas_kind {
	const char *group;
	const char *resource;
	const char *component; /* of events */
	bool selector_is_map;
};

static enum bt_deletion_phase phase_of(const struct bt_indexed_pod *pod)
{
	switch (pod->phase) {
	case BT_POD_PENDING:
		return BT_DELETION_PENDING;
	case BT_POD_UNKNOWN:
		return BT_DELETION_UNKNOWN;
	case BT_POD_RUNNING:
	case BT_POD_SUCCEEDED:
	case BT_POD_FAILED:
		break;
	}
	return BT_DELETION_OTHER;
}

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
			.phase = phase_of(pods[i]),
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

bool bt_replicas_is_available(const struct bt_indexed_pod *pod, int64_t min_ready_seconds,
	int64_t now_seconds, int64_t *out_wait_until)
{
	int64_t available_at = pod->ready_since_seconds + min_ready_seconds;

	if (!pod->ready) {
		return false;
	}
	if (min_ready_seconds == 0 || available_at <= now_seconds) {
		return true;
	}
	if (out_wait_until != NULL && available_at < *out_wait_until) {
		*out_wait_until = available_at;
	}
	return false;
}

/** Creations or deletions of one sync. */
#define BURST 500

/** A pod whose labels changed so that its owner no longer selects it. */
struct stray {
	char *owner_key; /* owned */
	char *pod_key;   /* owned */
};

struct replicas {
	const struct replicas_kind *kind;
	const struct bt_api_resource *resource;
	const struct bt_api_resource *pods;
	struct bt_selector_table selectors;
	BT_VEC(struct stray) strays;
};

/** One sync. */
struct pass {
	struct replicas *self;
	struct bt_hub *hub;
	struct bt_arena *arena;
	const struct bt_json_value *set; /* the object that is brought in order */
	struct bt_str key;
	struct bt_str uid;
	struct bt_json_value *owner_reference;
	const struct bt_indexed_pod **pods; /* active ones */
	uint32_t pod_count;
	int64_t now_ns;
	int64_t wait_until_seconds;
	const char *failure_reason; /* NULL: none */
	struct bt_str failure_message;
};

static void *create(struct bt_hub *hub, const struct replicas_kind *kind)
{
	struct replicas *self = BT_NEW(struct replicas);
	const struct bt_resources *resources = bt_api_resources(bt_hub_api(hub));

	self->kind = kind;
	self->resource = bt_resources_builtin(resources, kind->group, kind->resource);
	self->pods = bt_resources_builtin(resources, "", "pods");
	bt_selector_table_init(&self->selectors);
	return self;
}

static void free_stray(struct stray *stray)
{
	bt_free(stray->owner_key);
	bt_free(stray->pod_key);
}

static void destroy(void *data)
{
	struct replicas *self = data;

	for (uint32_t i = 0; i < self->strays.count; i++) {
		free_stray(&self->strays.items[i]);
	}
	bt_vec_finish(&self->strays);
	bt_selector_table_finish(&self->selectors);
	bt_free(self);
}

/* --- changes --- */

static void note_stray(struct replicas *self, const struct bt_observed *observed)
{
	const struct bt_json_value *owner = bt_controller_owner_of(observed->after);
	const struct bt_json_value *labels = bt_json_object_at(observed->after, "metadata.labels");
	const struct bt_selector_entry *entry;
	struct bt_arena arena = {0};
	struct stray stray;
	struct bt_str key;

	if (!bt_str_equal_c(bt_json_text_at(owner, "kind"), self->resource->kind) ||
		bt_json_equal(labels, bt_json_object_at(observed->before, "metadata.labels"))) {
		return;
	}
	key = bt_api_key(&arena, bt_key_namespace(observed->key), bt_json_text_at(owner, "name"));
	entry = bt_selector_table_find(&self->selectors, key);
	if (entry != NULL && !bt_tree_matches(&arena, &entry->selector, labels)) {
		stray.owner_key = bt_strndup(key.data, key.length);
		stray.pod_key = bt_strndup(observed->key.data, observed->key.length);
		bt_vec_push(&self->strays, stray);
	}
	bt_arena_finish(&arena);
}

static void observe(void *data, struct bt_hub *hub, const struct bt_observed *observed)
{
	struct replicas *self = data;

	if (observed->resource == self->resource) {
		bt_owners_observe(hub, observed, &self->selectors, self->kind->selector_is_map);
		return;
	}
	bt_owners_enqueue(hub, observed, self->resource->kind, &self->selectors);
	if (observed->type == BT_CHANGE_MODIFIED) {
		note_stray(self, observed);
	}
}

/* --- whose pods are whose --- */

static bool is_selected(struct pass *pass, const struct bt_json_value *pod)
{
	const struct bt_selector_entry *entry =
		bt_selector_table_find(&pass->self->selectors, pass->key);
	return entry != NULL &&
		bt_tree_matches(
			pass->arena, &entry->selector, bt_json_object_at(pod, "metadata.labels"));
}

static void release_strays(struct pass *pass)
{
	struct replicas *self = pass->self;

	for (uint32_t i = self->strays.count; i > 0; i--) {
		struct stray stray = self->strays.items[i - 1];
		const struct bt_json_value *pod;

		if (!bt_str_equal_c(pass->key, stray.owner_key)) {
			continue;
		}
		bt_vec_remove_swap(&self->strays, i - 1);
		pod = bt_api_read(
			bt_hub_api(pass->hub), self->pods, bt_str_from(stray.pod_key), pass->arena);
		if (pod != NULL && !is_selected(pass, pod)) {
			(void)bt_tree_release(pass->hub, self->pods, pod, pass->uid, pass->arena);
		}
		free_stray(&stray);
	}
}

/* --- their number --- */

static void tell(struct pass *pass, const char *type, const char *reason, struct bt_str message)
{
	bt_hub_event(pass->hub, pass->self->kind->component, pass->self->resource, pass->set, type,
		reason, message);
}

/** One pod; false when it could not be. scratch is used up. */
static bool create_pod(struct pass *pass, struct bt_arena *scratch)
{
	struct bt_str name = bt_key_name(pass->key);
	struct bt_str prefix = bt_arena_printf(scratch, "%.*s-", BT_STR_ARG(name));
	struct bt_json_value *pod = bt_tree_from_template(scratch,
		bt_json_object_at(pass->set, "spec.template"), pass->owner_reference, prefix, true);
	struct bt_api_answer answer;
	bool created = bt_hub_create(pass->hub, pass->self->pods, bt_key_namespace(pass->key), pod,
			       scratch, &answer) == 201;

	if (created) {
		struct bt_str key = bt_stored_key(answer.object);
		tell(pass, "Normal", "SuccessfulCreate",
			bt_arena_printf(
				scratch, "Created pod: %.*s", BT_STR_ARG(bt_key_name(key))));
	} else {
		pass->failure_reason = "FailedCreate";
		pass->failure_message = bt_arena_str(pass->arena, answer.failure.message);
		tell(pass, "Warning", "FailedCreate",
			bt_arena_printf(scratch, "Error creating: %.*s",
				BT_STR_ARG(answer.failure.message)));
	}
	bt_api_answer_finish(&answer);
	return created;
}

static bool bring_in_order(struct pass *pass)
{
	int64_t wanted = bt_json_int64_at(pass->set, "spec.replicas", 1);
	int64_t need = wanted - pass->pod_count;

	if (bt_tree_is_deleting(pass->set)) {
		return true;
	}
	if (need > 0) {
		/* Batches of 1, 2, 4 ...: when creating cannot work, it is not tried for all of
		 * them. */
		uint32_t count = need < BURST ? (uint32_t)need : BURST;
		struct bt_arena scratch = {0};
		bool succeeded = true;

		for (uint32_t batch = 1; count > 0 && succeeded; batch *= 2) {
			batch = batch < count ? batch : count;
			for (uint32_t i = 0; i < batch; i++) {
				succeeded = create_pod(pass, &scratch) && succeeded;
				bt_arena_reset(&scratch);
			}
			count -= batch;
		}
		bt_arena_finish(&scratch);
		return succeeded;
	}
	if (need < 0) {
		uint32_t count = -need < BURST ? (uint32_t)-need : BURST;
		struct bt_arena scratch = {0};
		bool succeeded = true;

		bt_replicas_sort_for_deletion(
			pass->pods, pass->pod_count, pass->arena, pass->now_ns / BT_NS_PER_SECOND);
		for (uint32_t i = 0; i < count; i++) {
			const struct bt_indexed_pod *pod = pass->pods[i];
			uint16_t code = bt_hub_delete(
				pass->hub, pass->self->pods, pod->key, -1, pod->uid, &scratch);
			if (code == 200 || code == 404) {
				tell(pass, "Normal", "SuccessfulDelete",
					bt_arena_printf(&scratch, "Deleted pod: %.*s",
						BT_STR_ARG(bt_key_name(pod->key))));
			} else {
				succeeded = false;
				pass->failure_reason = "FailedDelete";
				pass->failure_message = BT_STR("deleting a pod failed");
			}
			bt_arena_reset(&scratch);
		}
		bt_arena_finish(&scratch);
		return succeeded;
	}
	return true;
}

/* --- status --- */

static struct bt_json_value *counters(struct pass *pass)
{
	uint64_t labels =
		bt_label_bits(bt_json_object_at(pass->set, "spec.template.metadata.labels"));
	int64_t min_ready = bt_json_int64_at(pass->set, "spec.minReadySeconds", 0);
	int64_t fully_labeled = 0;
	int64_t ready = 0;
	int64_t available = 0;
	struct bt_json_value *status = bt_json_new(pass->arena, BT_JSON_OBJECT);

	for (uint32_t i = 0; i < pass->pod_count; i++) {
		const struct bt_indexed_pod *pod = pass->pods[i];
		fully_labeled += (pod->label_bits & labels) == labels;
		ready += pod->ready;
		available += bt_replicas_is_available(
			pod, min_ready, pass->now_ns / BT_NS_PER_SECOND, &pass->wait_until_seconds);
	}
	bt_json_set_int64(pass->arena, status, "replicas", pass->pod_count);
	bt_json_set_int64(pass->arena, status, "fullyLabeledReplicas", fully_labeled);
	bt_json_set_int64(pass->arena, status, "readyReplicas", ready);
	bt_json_set_int64(pass->arena, status, "availableReplicas", available);
	bt_json_set_int64(pass->arena, status, "observedGeneration",
		bt_json_int64_at(pass->set, "metadata.generation", 0));
	return status;
}

static bool write_status(struct pass *pass, struct bt_json_value *status)
{
	struct bt_json_value *conditions =
		bt_json_clone(pass->arena, bt_json_array_at(pass->set, "status.conditions"), false);

	if (pass->failure_reason != NULL) {
		struct bt_tree_condition condition = {
			.type = "ReplicaFailure",
			.status = "True",
			.reason = pass->failure_reason,
			.message = pass->failure_message,
		};
		(void)bt_tree_set_condition(
			pass->arena, conditions, &condition, false, pass->now_ns);
	} else {
		bt_tree_drop_condition(conditions, "ReplicaFailure");
	}
	bt_json_set_value(pass->arena, status, "conditions", conditions);
	return bt_tree_write_status(
		pass->hub, pass->self->resource, pass->set, status, pass->arena);
}

static bool sync(
	void *data, struct bt_hub *hub, struct bt_str key, struct bt_arena *arena, int64_t now_ns)
{
	struct replicas *self = data;
	struct pass pass = {
		.self = self,
		.hub = hub,
		.arena = arena,
		.key = key,
		.now_ns = now_ns,
		.wait_until_seconds = INT64_MAX,
	};
	struct bt_json_value *status;
	bool succeeded;

	pass.set = bt_api_read(bt_hub_api(hub), self->resource, key, arena);
	pass.uid = bt_json_text_at(pass.set, "metadata.uid");
	release_strays(&pass);
	if (pass.set == NULL) {
		return true;
	}
	pass.owner_reference = bt_controller_owner_reference(arena, self->resource, pass.set);
	if (!bt_tree_is_deleting(pass.set) &&
		bt_owners_adopt_pods(
			hub, &self->selectors, key, pass.owner_reference, NULL, arena)) {
		/* The change brings this key back. */
		return true;
	}
	pass.pods = bt_pod_index_active(hub, pass.uid, arena, &pass.pod_count);
	status = counters(&pass);
	succeeded = bring_in_order(&pass);
	succeeded = write_status(&pass, status) && succeeded;
	if (pass.wait_until_seconds != INT64_MAX) {
		bt_hub_enqueue_at(hub, key, bt_ns_of_seconds(pass.wait_until_seconds));
	}
	return succeeded;
}

/* --- ReplicaSets and ReplicationControllers (spec 14b section 6.1) --- */

static const struct replicas_kind replica_set_kind = {
	.group = "apps",
	.resource = "replicasets",
	.component = "replicaset-controller",
};

static void *create_replica_set(struct bt_hub *hub)
{
	return create(hub, &replica_set_kind);
}

static const char *const replica_set_resources[] = {"apps/replicasets", "pods", NULL};

const struct bt_controller_ops bt_replica_set_controller = {
	.name = "replicaset-controller",
	.resources = replica_set_resources,
	.create = create_replica_set,
	.destroy = destroy,
	.observe = observe,
	.sync = sync,
};

static const struct replicas_kind replication_kind = {
	.group = "",
	.resource = "replicationcontrollers",
	.component = "replication-controller",
	.selector_is_map = true,
};

static void *create_replication(struct bt_hub *hub)
{
	return create(hub, &replication_kind);
}

static const char *const replication_resources[] = {"replicationcontrollers", "pods", NULL};

const struct bt_controller_ops bt_replication_controller = {
	.name = "replicationcontroller-controller",
	.resources = replication_resources,
	.create = create_replication,
	.destroy = destroy,
	.observe = observe,
	.sync = sync,
};
