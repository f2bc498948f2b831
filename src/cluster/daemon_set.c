/* SPDX-License-Identifier: Apache-2.0 */
/** DaemonSets: a pod for each node that fits. Spec: 14b section 6.3. */
#include <stdlib.h>

#include "api/node.h"
#include "api/pod.h"
#include "api/toleration.h"
#include "cluster/owners.h"
#include "cluster/replicas.h"
#include "cluster/revisions.h"
#include "cluster/tree.h"

/** Writes of pods in one sync. */
#define BT_DAEMON_BURST 250
/** A failed pod is replaced at most that often. */
#define REPLACE_SECONDS 10

struct bt_daemon_node {
	struct bt_arena arena;
	struct bt_str name;
	struct bt_node node; /* labels and taints only */
};

struct bt_daemon_sets {
	struct bt_selector_table selectors;
	struct bt_groups revisions;
	BT_VEC(struct bt_daemon_node *) nodes; /* by name */
	struct bt_groups targets;              /* unassigned pods by the node they are meant for */
};

struct bt_daemon_pod {
	const struct bt_indexed_pod *record;
	struct bt_str target;
};

/** A node in one sync. */
struct bt_daemon_place {
	const struct bt_daemon_node *node;
	const struct bt_daemon_pod *pods; /* oldest first */
	uint32_t pod_count;
	bool should_run;
	bool should_stay;
};

/** One sync. */
struct bt_daemon_pass {
	struct bt_daemon_sets *self;
	struct bt_sync *sync;
	struct bt_arena *arena;          /* of sync */
	const struct bt_json_value *set; /* sync->object */
	struct bt_json_value *template_; /* with the tolerations every daemon has */
	struct bt_revisions revisions;
	struct bt_str hash;
	struct bt_pod_spec spec; /* of template_ */
	struct bt_required_node_affinity affinity;
	struct bt_daemon_pod *pods; /* by target, then age */
	uint32_t pod_count;
	struct bt_daemon_place *places; /* by node name */
	uint32_t place_count;
	int64_t max_surge;
	int64_t min_ready_seconds;
	uint32_t writes;
};

struct tolerated {
	const char *key;
	const char *effect;
};

static void add_toleration(struct bt_arena *arena, struct bt_json_value *tolerations,
	const struct tolerated *tolerated)
{
	struct bt_json_value *toleration;

	for (uint32_t i = 0; i < tolerations->count; i++) {
		const struct bt_json_value *old = tolerations->elements[i];
		if (bt_str_equal_c(bt_json_text_at(old, "key"), tolerated->key) &&
			bt_str_equal_c(bt_json_text_at(old, "effect"), tolerated->effect)) {
			bt_json_remove_at(tolerations, i);
			break;
		}
	}
	toleration = bt_json_new(arena, BT_JSON_OBJECT);
	bt_json_set_c(arena, toleration, "key", tolerated->key);
	bt_json_set_c(arena, toleration, "operator", "Exists");
	bt_json_set_c(arena, toleration, "effect", tolerated->effect);
	bt_json_append(arena, tolerations, toleration);
}

/** false: the template makes no pod. */
static bool daemon_read_spec(struct bt_daemon_pass *pass)
{
	static const struct tolerated all[] = {
		{"node.kubernetes.io/not-ready", "NoExecute"},
		{"node.kubernetes.io/unreachable", "NoExecute"},
		{"node.kubernetes.io/disk-pressure", "NoSchedule"},
		{"node.kubernetes.io/memory-pressure", "NoSchedule"},
		{"node.kubernetes.io/pid-pressure", "NoSchedule"},
		{"node.kubernetes.io/unschedulable", "NoSchedule"},
	};
	static const struct tolerated network = {
		"node.kubernetes.io/network-unavailable", "NoSchedule"};
	const struct bt_json_value *template_ = bt_json_object_at(pass->set, "spec.template");
	struct bt_arena *arena = pass->arena;
	struct bt_json_value *spec;
	struct bt_json_value *tolerations;

	pass->template_ = bt_json_clone(arena, template_, false);
	spec = bt_json_ensure_object(arena, pass->template_, "spec");
	tolerations = bt_json_ensure_array(arena, spec, "tolerations");
	for (size_t i = 0; i < BT_ARRAY_LENGTH(all); i++) {
		add_toleration(arena, tolerations, &all[i]);
	}
	if (bt_json_bool_at(spec, "hostNetwork", false)) {
		add_toleration(arena, tolerations, &network);
	}
	if (!bt_tree_decode(arena, spec, &bt_pod_spec_message, &pass->spec)) {
		return false;
	}
	pass->affinity = bt_required_node_affinity_parse(&pass->spec, pass->arena);
	pass->hash = pass->revisions.items[pass->revisions.update].hash;
	pass->min_ready_seconds = bt_json_int64_at(pass->set, "spec.minReadySeconds", 0);
	pass->max_surge = bt_tree_scaled(
		bt_json_find_path(pass->set, "spec.updateStrategy.rollingUpdate.maxSurge"),
		(int32_t)pass->self->nodes.count, true);
	return true;
}

/* --- pods --- */

static void make_pod(struct bt_daemon_pass *pass, struct bt_str node)
{
	struct bt_arena scratch = {0};
	struct bt_str name = bt_key_name(pass->sync->key);
	struct bt_str generation =
		bt_tree_annotation(pass->set, "deprecated.daemonset.template.generation");
	struct bt_json_value *pod = bt_tree_from_template(&scratch, pass->template_,
		bt_sync_owner_reference(pass->sync, &scratch),
		bt_arena_printf(&scratch, "%.*s-", BT_STR_ARG(name)), true);
	struct bt_json_value *labels = bt_tree_ensure(&scratch, pod, "metadata.labels");
	struct bt_json_value *terms = bt_json_new(&scratch, BT_JSON_ARRAY);
	struct bt_json_value *term = bt_json_new(&scratch, BT_JSON_OBJECT);
	struct bt_json_value *field = bt_json_new(&scratch, BT_JSON_OBJECT);

	bt_json_set_str(&scratch, labels, "controller-revision-hash", pass->hash);
	bt_json_set_str(&scratch, labels, "pod-template-generation",
		generation.length != 0 ? generation : BT_STR("1"));
	/* One term, which names the node, replaces the required terms. */
	bt_json_set_c(&scratch, field, "key", "metadata.name");
	bt_json_set_c(&scratch, field, "operator", "In");
	bt_json_append(&scratch, bt_json_ensure_array(&scratch, field, "values"),
		bt_json_new_str(&scratch, node));
	bt_json_append(&scratch, bt_json_ensure_array(&scratch, term, "matchFields"), field);
	bt_json_append(&scratch, terms, term);
	bt_json_set_value(&scratch,
		bt_tree_ensure(&scratch, pod,
			"spec.affinity.nodeAffinity."
			"requiredDuringSchedulingIgnoredDuringExecution"),
		"nodeSelectorTerms", terms);
	pass->writes++;
	if (!bt_sync_create_pods(pass->sync, pod, 1, NULL)) {
		/* The others would fail as well. */
		pass->writes = UINT32_MAX;
	}
	bt_arena_finish(&scratch);
}

static void remove_pod(struct bt_daemon_pass *pass, const struct bt_indexed_pod *pod)
{
	pass->writes++;
	(void)bt_sync_delete_pod(pass->sync, pod);
}

/* --- the rolling update --- */

static bool is_available(struct bt_daemon_pass *pass, const struct bt_indexed_pod *pod)
{
	return pod != NULL && !pod->deleting &&
		bt_replicas_is_available(pod, pass->min_ready_seconds, pass->sync->now_seconds,
			&pass->sync->wait_until_seconds);
}

/** The node's pods of the present and of an older template; deleting ones do not count. */
static void find_pods(const struct bt_daemon_pass *pass, const struct bt_daemon_place *place,
	const struct bt_indexed_pod **out_new, const struct bt_indexed_pod **out_old)
{
	*out_new = NULL;
	*out_old = NULL;
	for (uint32_t i = 0; i < place->pod_count; i++) {
		const struct bt_indexed_pod *pod = place->pods[i].record;
		if (pod->deleting) {
			continue;
		}
		if (bt_str_equal(pod->hash, pass->hash)) {
			*out_new = pod;
		} else {
			*out_old = pod;
		}
	}
}

/** Bring pods of an older template to the present one, as many as the strategy allows. */
static void update(struct bt_daemon_pass *pass)
{
	const struct bt_json_value *rolling =
		bt_json_object_at(pass->set, "spec.updateStrategy.rollingUpdate");
	const struct bt_indexed_pod *new_pod;
	const struct bt_indexed_pod *old_pod;
	int64_t max_unavailable;
	int64_t unavailable = 0;
	int64_t both = 0;
	int32_t desired = 0;

	if (bt_str_equal_c(bt_json_text_at(pass->set, "spec.updateStrategy.type"), "OnDelete")) {
		return;
	}
	for (uint32_t i = 0; i < pass->place_count; i++) {
		find_pods(pass, &pass->places[i], &new_pod, &old_pod);
		both += new_pod != NULL && old_pod != NULL;
		if (pass->places[i].should_run) {
			desired++;
			unavailable += !is_available(pass, new_pod) && !is_available(pass, old_pod);
		}
	}
	pass->max_surge = bt_tree_scaled(bt_json_find(rolling, "maxSurge"), desired, true);
	max_unavailable = bt_tree_scaled(bt_json_find(rolling, "maxUnavailable"), desired, true);
	for (uint32_t i = 0; i < pass->place_count &&
		pass->writes < bt_hub_burst(pass->sync->hub, BT_DAEMON_BURST);
		i++) {
		const struct bt_daemon_place *place = &pass->places[i];

		find_pods(pass, place, &new_pod, &old_pod);
		if (old_pod == NULL || !place->should_run) {
			continue;
		}
		if (pass->max_surge == 0) {
			/* Old pods that are of no use go at once, others as long as enough are
			 * left. */
			bool available = is_available(pass, old_pod);
			if (!available || unavailable < max_unavailable) {
				unavailable += available;
				remove_pod(pass, old_pod);
			}
		} else if (is_available(pass, new_pod)) {
			remove_pod(pass, old_pod);
		} else if (new_pod == NULL &&
			(!is_available(pass, old_pod) || both < pass->max_surge)) {
			/* The new pod comes beside the old one, which goes when the new one is
			 * available. */
			both++;
			make_pod(pass, place->node->name);
		}
	}
}

/* --- nodes --- */

/** The first one that does not come before the name. */
static uint32_t place_of_node(const struct bt_daemon_sets *self, struct bt_str name)
{
	uint32_t low = 0;

	for (uint32_t high = self->nodes.count; low < high;) {
		uint32_t middle = low + (high - low) / 2;
		if (bt_str_compare(self->nodes.items[middle]->name, name) < 0) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low;
}

static bool has_node(const struct bt_daemon_sets *self, struct bt_str name)
{
	uint32_t place = place_of_node(self, name);
	return place < self->nodes.count && bt_str_equal(self->nodes.items[place]->name, name);
}

static void destroy_node(struct bt_daemon_node *node)
{
	bt_arena_finish(&node->arena);
	bt_free(node);
}

static void forget_node(struct bt_daemon_sets *self, struct bt_str name)
{
	uint32_t place = place_of_node(self, name);

	if (place < self->nodes.count && bt_str_equal(self->nodes.items[place]->name, name)) {
		destroy_node(self->nodes.items[place]);
		bt_vec_remove_ordered(&self->nodes, place);
	}
}

/** Only what decides about pods is kept. */
static void keep_node(
	struct bt_daemon_sets *self, struct bt_str name, const struct bt_json_value *object)
{
	struct bt_daemon_node *node = BT_NEW(struct bt_daemon_node);
	struct bt_json_value *part = bt_json_new(&node->arena, BT_JSON_OBJECT);
	struct bt_json_value *metadata = bt_json_ensure_object(&node->arena, part, "metadata");
	uint32_t place;

	bt_json_set_value(&node->arena, metadata, "labels",
		bt_json_clone(&node->arena, bt_json_object_at(object, "metadata.labels"), true));
	bt_json_set_value(&node->arena, bt_json_ensure_object(&node->arena, part, "spec"), "taints",
		bt_json_clone(&node->arena, bt_json_array_at(object, "spec.taints"), true));
	node->name = bt_arena_str(&node->arena, name);
	if (!bt_tree_decode(&node->arena, part, &bt_node_message, &node->node)) {
		destroy_node(node);
		return;
	}
	forget_node(self, name);
	bt_vec_push(&self->nodes, node);
	for (place = self->nodes.count - 1;
		place > 0 && bt_str_compare(self->nodes.items[place - 1]->name, name) > 0;
		place--) {
		self->nodes.items[place] = self->nodes.items[place - 1];
	}
	self->nodes.items[place] = node;
}

/** The node named by the term the controller put in; "" without. */
static struct bt_str target_of(const struct bt_json_value *pod)
{
	const struct bt_json_value *terms = bt_json_array_at(pod,
		"spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution."
		"nodeSelectorTerms");

	for (uint32_t i = 0; i < terms->count; i++) {
		const struct bt_json_value *fields =
			bt_json_array_at(terms->elements[i], "matchFields");
		for (uint32_t j = 0; j < fields->count; j++) {
			const struct bt_json_value *values =
				bt_json_array_at(fields->elements[j], "values");
			if (values->count == 1 &&
				bt_str_equal_c(bt_json_text_at(fields->elements[j], "key"),
					"metadata.name") &&
				values->elements[0]->type == BT_JSON_STRING) {
				return values->elements[0]->text;
			}
		}
	}
	return BT_STR("");
}

static void observe(void *data, struct bt_hub *hub, const struct bt_observed *observed)
{
	struct bt_daemon_sets *self = data;
	const struct bt_json_value *owner = bt_controller_owner_of(observed->after);

	if (observed->kind == BT_HUB_DAEMON_SETS) {
		bt_owners_observe(hub, observed, &self->selectors, false);
		return;
	}
	if (observed->kind == BT_HUB_REVISIONS) {
		bt_revisions_observe(&self->revisions, hub, observed, "DaemonSet");
		return;
	}
	if (observed->kind == BT_HUB_PODS) {
		bt_owners_enqueue(hub, observed, "DaemonSet", &self->selectors);
		if (!bt_str_equal_c(bt_json_text_at(owner, "kind"), "DaemonSet")) {
			return;
		}
		/* The index knows where assigned pods are. */
		if (observed->type == BT_CHANGE_DELETED ||
			bt_json_text_at(observed->after, "spec.nodeName").length != 0) {
			bt_groups_remove(&self->targets, observed->key);
		} else {
			bt_groups_put(&self->targets, observed->key, target_of(observed->after));
		}
		return;
	}
	if (observed->type == BT_CHANGE_MODIFIED &&
		bt_json_equal(bt_json_object_at(observed->before, "metadata.labels"),
			bt_json_object_at(observed->after, "metadata.labels")) &&
		bt_json_equal(bt_json_array_at(observed->before, "spec.taints"),
			bt_json_array_at(observed->after, "spec.taints"))) {
		return;
	}
	if (observed->type == BT_CHANGE_DELETED) {
		forget_node(self, observed->key);
	} else {
		keep_node(self, observed->key, observed->after);
	}
	for (uint32_t i = 0; i < self->selectors.entries.count; i++) {
		if (self->selectors.entries.items[i] != NULL) {
			bt_hub_enqueue(hub, self->selectors.entries.items[i]->key);
		}
	}
}

static void finish(void *data)
{
	struct bt_daemon_sets *self = data;

	for (uint32_t i = 0; i < self->nodes.count; i++) {
		destroy_node(self->nodes.items[i]);
	}
	bt_vec_finish(&self->nodes);
	bt_selector_table_finish(&self->selectors);
	bt_groups_finish(&self->targets);
	bt_groups_finish(&self->revisions);
}

/* --- one set --- */

static int compare_pods(const void *left, const void *right)
{
	const struct bt_daemon_pod *a = left;
	const struct bt_daemon_pod *b = right;
	int order = bt_str_compare(a->target, b->target);

	if (order == 0) {
		order = (a->record->created_seconds > b->record->created_seconds) -
			(a->record->created_seconds < b->record->created_seconds);
	}
	return order != 0 ? order : bt_str_compare(a->record->key, b->record->key);
}

static void judge_node(struct bt_daemon_pass *pass, const struct bt_daemon_node *node,
	struct bt_daemon_place *place)
{
	const struct bt_pod_spec *spec = &pass->spec;
	bool execute_only = true;

	place->node = node;
	if ((spec->node_name.length != 0 && !bt_str_equal(spec->node_name, node->name)) ||
		!bt_required_node_affinity_matches(&pass->affinity, node->name,
			&node->node.metadata.labels, pass->arena, NULL)) {
		return;
	}
	place->should_run = true;
	for (uint32_t i = 0; i < node->node.spec.taints.count; i++) {
		const struct bt_taint *taint = &node->node.spec.taints.items[i];
		if (!bt_taint_in_filter(taint, BT_TAINT_HARD) ||
			bt_tolerations_tolerate(&spec->tolerations, taint, false)) {
			continue;
		}
		place->should_run = false;
		if (bt_str_equal_c(taint->effect, "NoExecute")) {
			execute_only = false;
		}
	}
	place->should_stay = execute_only;
}

/** Nodes and the pods meant for them. */
static void collect_places(struct bt_daemon_pass *pass)
{
	struct bt_daemon_sets *self = pass->self;
	uint32_t at = 0;

	pass->place_count = self->nodes.count;
	pass->places = BT_ARENA_NEW_ARRAY(pass->arena, struct bt_daemon_place, pass->place_count);
	for (uint32_t i = 0; i < pass->place_count; i++) {
		struct bt_daemon_place *place = &pass->places[i];
		judge_node(pass, self->nodes.items[i], place);
		while (at < pass->pod_count &&
			bt_str_compare(pass->pods[at].target, place->node->name) < 0) {
			at++;
		}
		place->pods = &pass->pods[at];
		while (at < pass->pod_count &&
			bt_str_equal(pass->pods[at].target, place->node->name)) {
			place->pod_count++;
			at++;
		}
	}
}

static void manage_place(struct bt_daemon_pass *pass, const struct bt_daemon_place *place)
{
	struct bt_sync *sync = pass->sync;
	const struct bt_indexed_pod *kept = NULL;

	for (uint32_t i = 0; i < place->pod_count; i++) {
		const struct bt_indexed_pod *pod = place->pods[i].record;
		int64_t due = pod->created_seconds + REPLACE_SECONDS;
		struct bt_str name = bt_key_name(pod->key);

		if (pod->deleting) {
			continue;
		}
		if (!place->should_stay) {
			remove_pod(pass, pod);
		} else if (bt_pod_is_over(pod) && due > sync->now_seconds) {
			bt_hub_enqueue_at(sync->hub, sync->key, bt_ns_of_seconds(due));
		} else if (bt_pod_is_over(pod)) {
			bt_sync_event(sync, "Warning", "FailedDaemonPod",
				"Found failed daemon pod %.*s on node %.*s, will try to kill it",
				BT_STR_ARG(name), BT_STR_ARG(pod->node_name));
			remove_pod(pass, pod);
		} else if (kept == NULL) {
			kept = pod;
		} else if (bt_str_equal(kept->hash, pod->hash) || pass->max_surge == 0) {
			/* The oldest stays. */
			remove_pod(pass, pod);
		}
	}
	if (place->should_run && place->pod_count == 0) {
		make_pod(pass, place->node->name);
	}
}

static void write_status(struct bt_daemon_pass *pass)
{
	struct bt_arena *arena = pass->arena;
	struct bt_json_value *status = bt_json_new(arena, BT_JSON_OBJECT);
	int64_t desired = 0;
	int64_t current = 0;
	int64_t misscheduled = 0;
	int64_t ready = 0;
	int64_t available = 0;
	int64_t updated = 0;

	for (uint32_t i = 0; i < pass->place_count; i++) {
		const struct bt_daemon_place *place = &pass->places[i];
		const struct bt_indexed_pod *pod =
			place->pod_count != 0 ? place->pods[0].record : NULL;
		if (!place->should_run) {
			misscheduled += pod != NULL;
			continue;
		}
		desired++;
		if (pod == NULL) {
			continue;
		}
		current++;
		if (pod->ready) {
			ready++;
			available += bt_replicas_is_available(pod, pass->min_ready_seconds,
				pass->sync->now_seconds, &pass->sync->wait_until_seconds);
		}
		updated += bt_str_equal(pod->hash, pass->hash);
	}
	bt_json_set_int64(arena, status, "currentNumberScheduled", current);
	bt_json_set_int64(arena, status, "numberMisscheduled", misscheduled);
	bt_json_set_int64(arena, status, "desiredNumberScheduled", desired);
	bt_json_set_int64(arena, status, "numberReady", ready);
	bt_json_set_int64(arena, status, "observedGeneration",
		bt_json_int64_at(pass->set, "metadata.generation", 0));
	bt_json_set_int64(arena, status, "updatedNumberScheduled", updated);
	bt_json_set_int64(arena, status, "numberAvailable", available);
	bt_json_set_int64(arena, status, "numberUnavailable", desired - available);
	if (pass->revisions.collision_count != 0) {
		bt_json_set_int64(arena, status, "collisionCount", pass->revisions.collision_count);
	}
	bt_sync_write_status(pass->sync, status);
}

static bool sync(struct bt_sync *sync)
{
	struct bt_daemon_sets *self = sync->data;
	struct bt_daemon_pass pass = {
		.self = self, .sync = sync, .arena = sync->arena, .set = sync->object};
	const struct bt_indexed_pod *record;
	uint32_t burst = bt_hub_burst(sync->hub, BT_DAEMON_BURST);
	uint32_t count = 0;
	bool *is_used;

	if (bt_selector_table_find(&self->selectors, sync->key) == NULL ||
		bt_owners_adopt_pods(sync, &self->selectors, NULL, NULL)) {
		return true;
	}
	if (!bt_revisions_read(
		    sync, &self->revisions, "controller-revision-hash", &pass.revisions)) {
		return false;
	}
	if (!daemon_read_spec(&pass)) {
		return true;
	}
	record = bt_pod_index_of_owner(sync->hub, bt_json_text_at(pass.set, "metadata.uid"));
	for (const struct bt_indexed_pod *pod = record; pod != NULL; pod = pod->next_of_owner) {
		count++;
	}
	pass.pods = BT_ARENA_NEW_ARRAY(sync->arena, struct bt_daemon_pod, count);
	for (; record != NULL; record = record->next_of_owner) {
		struct bt_str target = record->node_name.length != 0
			? record->node_name
			: bt_groups_of(&self->targets, record->key);
		pass.pods[pass.pod_count++] = (struct bt_daemon_pod){record, target};
	}
	qsort(pass.pods, pass.pod_count, sizeof(*pass.pods), compare_pods);
	collect_places(&pass);
	if (!bt_tree_is_deleting(pass.set)) {
		/* Delete unassigned pods of nodes that are gone: no other controller does. */
		for (uint32_t i = 0; i < pass.pod_count; i++) {
			const struct bt_daemon_pod *pod = &pass.pods[i];
			if (pod->record->node_name.length == 0 && !pod->record->deleting &&
				!has_node(self, pod->target)) {
				remove_pod(&pass, pod->record);
			}
		}
		for (uint32_t i = 0; i < pass.place_count && pass.writes < burst; i++) {
			manage_place(&pass, &pass.places[i]);
		}
		if (pass.writes == 0) {
			update(&pass);
		}
	}
	write_status(&pass);
	is_used = BT_ARENA_NEW_ARRAY(sync->arena, bool, (size_t)pass.revisions.count + 1);
	for (uint32_t i = 0; i < pass.revisions.count; i++) {
		for (uint32_t n = 0; n < pass.pod_count && !is_used[i]; n++) {
			is_used[i] = bt_str_equal(
				pass.pods[n].record->hash, pass.revisions.items[i].hash);
		}
	}
	bt_revisions_clean_up(sync, &pass.revisions, is_used);
	return true;
}

const struct bt_controller_ops bt_daemon_set_controller = {
	.name = "daemonset-controller",
	.watches = BT_WATCH(BT_HUB_DAEMON_SETS) | BT_WATCH(BT_HUB_PODS) | BT_WATCH(BT_HUB_NODES) |
		BT_WATCH(BT_HUB_REVISIONS),
	.object = BT_HUB_DAEMON_SETS,
	.data_bytes = sizeof(struct bt_daemon_sets),
	.finish = finish,
	.observe = observe,
	.sync = sync,
};
