/* SPDX-License-Identifier: Apache-2.0 */
/** DaemonSets: a pod on each node that fits. Spec: 14b section 6.3. */
#include <stdlib.h>

#include "api/node.h"
#include "api/pod.h"
#include "api/toleration.h"
#include "cluster/owners.h"
#include "cluster/revisions.h"
#include "cluster/tree.h"

/** Maximum number of pods that one sync creates or deletes. */
#define BT_DAEMON_BURST 250
/** A finished pod is replaced once it has this age. */
#define REPLACE_SECONDS 10
/** Maximum number of nodes that one sync reads. Reading a node takes about 10 us. */
#define NODE_READS_PER_SYNC 2000

/** The node's properties that decide about daemon pods: name, labels, taints. */
struct bt_daemon_node {
	struct bt_str name;    /* in bt_daemon_sets.names; absent: deleted */
	struct bt_arena arena; /* of labels and taints */
	uint32_t place;        /* index in bt_daemon_pass.places of the current sync */
	bool is_read;          /* false: the next sync reads labels and taints */
	struct bt_str_map labels;
	bt_taint_list taints;
};

/** An entry of the list of nodes in the order of their names. */
struct bt_daemon_order {
	struct bt_str name; /* of the node */
	uint32_t slot;
};

struct bt_daemon_sets {
	struct bt_groups revisions;
	struct bt_groups targets; /* unassigned pods, by the node that their affinity names */
	struct bt_groups names;   /* of the nodes, all in one group */
	struct bt_selector_table selectors;
	BT_VEC(struct bt_daemon_node) nodes;  /* by slot: entry of names */
	BT_VEC(struct bt_daemon_order) order; /* empty after nodes were added or deleted */
	bool has_unread;                      /* some node has is_read false */
};

struct bt_daemon_pod {
	const struct bt_indexed_pod *record;
	/**
	 * Index in `places` of the node that the pod is assigned to or requires; BT_GROUPS_NONE:
	 * there is no such node.
	 */
	uint32_t place;
};

struct bt_daemon_place {
	const struct bt_daemon_node *node;
	const struct bt_daemon_pod *pods; /* oldest first */
	uint32_t pod_count;
	bool should_run;  /* the node needs a daemon pod */
	bool should_stay; /* existing daemon pods may stay on the node */
};

struct bt_daemon_pass {
	struct bt_daemon_sets *self;
	struct bt_sync *sync;
	struct bt_arena *arena;          /* of sync */
	const struct bt_json_value *set; /* sync->object */
	struct bt_json_value *template_; /* spec.template with the tolerations of daemon pods */
	struct bt_revisions revisions;
	struct bt_str hash;
	struct bt_pod_spec spec; /* of template_ */
	struct bt_required_node_affinity affinity;
	struct bt_daemon_pod *pods; /* sorted by node (assigned or target), then by age */
	uint32_t pod_count;
	struct bt_daemon_place *places; /* by node name */
	uint32_t place_count;
	int64_t max_surge;
	int64_t min_ready_seconds;
	uint32_t writes;
};

/** Reads the DaemonSet's spec into the pass. Returns false if the template is not a valid pod. */
static bool daemon_read_spec(struct bt_daemon_pass *pass)
{
	static const struct {
		const char *key;
		const char *effect;
	} all[] = {
		{"node.kubernetes.io/not-ready", "NoExecute"},
		{"node.kubernetes.io/unreachable", "NoExecute"},
		{"node.kubernetes.io/disk-pressure", "NoSchedule"},
		{"node.kubernetes.io/memory-pressure", "NoSchedule"},
		{"node.kubernetes.io/pid-pressure", "NoSchedule"},
		{"node.kubernetes.io/unschedulable", "NoSchedule"},
		/* Last: only with hostNetwork. */
		{"node.kubernetes.io/network-unavailable", "NoSchedule"},
	};
	const struct bt_json_value *template_ = bt_json_object_at(pass->set, "spec.template");
	struct bt_arena *arena = pass->arena;

	pass->template_ = bt_json_clone(arena, template_, false);
	struct bt_json_value *spec = bt_json_ensure_object(arena, pass->template_, "spec");
	struct bt_json_value *tolerations = bt_json_ensure_array(arena, spec, "tolerations");
	size_t count = BT_ARRAY_LENGTH(all) - !bt_json_bool_at(spec, "hostNetwork", false);
	for (size_t i = 0; i < count; i++) {
		/* The toleration replaces one of the same key and effect. */
		for (uint32_t k = 0; k < tolerations->count; k++) {
			const struct bt_json_value *old = tolerations->elements[k];
			if (bt_str_equal_c(bt_json_text_at(old, "key"), all[i].key) &&
				bt_str_equal_c(bt_json_text_at(old, "effect"), all[i].effect)) {
				bt_json_remove_at(tolerations, k);
				break;
			}
		}
		bt_json_put(arena, tolerations, "[{key: %c, operator: 'Exists', effect: %c}]",
			all[i].key, all[i].effect);
	}
	if (!bt_tree_decode(arena, spec, &bt_pod_spec_message, &pass->spec)) {
		return false;
	}
	pass->affinity = bt_required_node_affinity_parse(&pass->spec, pass->arena);
	pass->hash = pass->revisions.items[pass->revisions.update].hash;
	pass->min_ready_seconds = bt_json_int64_at(pass->set, "spec.minReadySeconds", 0);
	pass->max_surge = bt_tree_scaled(
		bt_json_find_path(pass->set, "spec.updateStrategy.rollingUpdate.maxSurge"),
		(int32_t)pass->self->names.by_key.count, true);
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

	/* Replace the required terms by a single term, which names the node. */
	bt_json_put(&scratch, pod,
		"{metadata: {labels: {controller-revision-hash: %s, pod-template-generation: %s}}, "
		"spec: {affinity: {nodeAffinity: "
		"{requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: %v}}}}}",
		pass->hash, generation.length != 0 ? generation : BT_STR("1"),
		bt_json_put(&scratch, NULL,
			"[{matchFields: [{key: 'metadata.name', operator: 'In', values: [%s]}]}]",
			node));
	pass->writes++;
	if (!bt_sync_create_pods(pass->sync, pod, 1, NULL)) {
		/* Further creates in this sync would fail as well. */
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
		bt_replicas_is_available(pass->sync, pod, pass->min_ready_seconds);
}

/**
 * Finds the node's pod of the current template and its pod of an older template. *out_new,
 * *out_old: NULL if there is no such pod. Pods that are being deleted do not count.
 */
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

/** Replaces pods of an older template, as many as the strategy allows. */
static void update(struct bt_daemon_pass *pass)
{
	const struct bt_json_value *rolling =
		bt_json_object_at(pass->set, "spec.updateStrategy.rollingUpdate");
	const struct bt_indexed_pod *new_pod;
	const struct bt_indexed_pod *old_pod;
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
	int64_t max_unavailable =
		bt_tree_scaled(bt_json_find(rolling, "maxUnavailable"), desired, true);
	for (uint32_t i = 0; i < pass->place_count &&
		pass->writes < bt_hub_burst(pass->sync->hub, BT_DAEMON_BURST);
		i++) {
		const struct bt_daemon_place *place = &pass->places[i];

		find_pods(pass, place, &new_pod, &old_pod);
		if (old_pod == NULL || !place->should_run) {
			continue;
		}
		if (pass->max_surge == 0) {
			/*
			 * Delete an unavailable old pod at once, an available old pod only if
			 * enough pods stay available.
			 */
			bool available = is_available(pass, old_pod);
			if (!available || unavailable < max_unavailable) {
				unavailable += available;
				remove_pod(pass, old_pod);
			}
		} else if (is_available(pass, new_pod)) {
			remove_pod(pass, old_pod);
		} else if (new_pod == NULL &&
			(!is_available(pass, old_pod) || both < pass->max_surge)) {
			/*
			 * With maxSurge the old pod stays until a new pod on the same node is
			 * available.
			 */
			both++;
			make_pod(pass, place->node->name);
		}
	}
}

/* --- nodes --- */

/** Reads changed nodes, at most NODE_READS_PER_SYNC. Returns whether all changed nodes are read. */
static bool read_nodes(struct bt_daemon_pass *pass)
{
	struct bt_daemon_sets *self = pass->self;
	struct bt_arena arena = {0};
	uint32_t count = 0;
	bool is_done = true;

	for (uint32_t i = 0; self->has_unread && i < self->nodes.count; i++) {
		struct bt_daemon_node *node = &self->nodes.items[i];
		struct bt_node decoded = {.metadata = {.generation = 0}};

		if (node->name.data == NULL || node->is_read) {
			continue;
		}
		if (count++ == NODE_READS_PER_SYNC) {
			is_done = false;
			break;
		}
		const struct bt_json_value *object =
			bt_hub_read(pass->sync->hub, BT_HUB_NODES, node->name, &arena);

		struct bt_json_value *part =
			bt_json_put(&arena, NULL, "{metadata: {labels: %t}, spec: {taints: %t}}",
				bt_json_object_at(object, "metadata.labels"),
				bt_json_array_at(object, "spec.taints"));
		bt_arena_finish(&node->arena);
		bt_arena_init(&node->arena, 512);
		node->is_read = true;
		node->labels = (struct bt_str_map){0};
		node->taints = (bt_taint_list){0};
		if (bt_tree_decode(&node->arena, part, &bt_node_message, &decoded)) {
			node->labels = decoded.metadata.labels;
			node->taints = decoded.spec.taints;
		}
		bt_arena_reset(&arena);
	}
	bt_arena_finish(&arena);
	self->has_unread = self->has_unread && !is_done;
	return is_done;
}

/** Returns the node named by the affinity term that the controller added, or "". */
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
		if (!bt_str_equal_c(bt_json_text_at(observed->owner, "kind"), "DaemonSet")) {
			return;
		}
		/* Assigned pods need no target: the pod index finds them by node. */
		if (observed->type == BT_CHANGE_DELETED ||
			bt_json_text_at(observed->after, "spec.nodeName").length != 0) {
			bt_groups_remove(&self->targets, observed->key);
		} else {
			bt_groups_set(&self->targets, observed->key, target_of(observed->after));
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
	uint32_t slot = bt_groups_find(&self->names, observed->key);
	if (observed->type != BT_CHANGE_DELETED) {
		/*
		 * The next sync of a DaemonSet reads the node, so node changes cost little while
		 * there are no DaemonSets.
		 */
		self->has_unread = true;
		if (slot == BT_GROUPS_NONE) {
			slot = bt_groups_set(&self->names, observed->key, BT_STR(""));
			struct bt_daemon_node node = {.name = bt_groups_key(&self->names, slot)};

			bt_vec_put(&self->nodes, slot, node);
			self->order.count = 0;
		}
		self->nodes.items[slot].is_read = false;
	} else if (slot != BT_GROUPS_NONE) {
		bt_arena_finish(&self->nodes.items[slot].arena);
		self->nodes.items[slot] = (struct bt_daemon_node){0};
		bt_groups_remove(&self->names, observed->key);
		self->order.count = 0;
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

	bt_vec_finish_each(&self->nodes, bt_arena_finish(&each->arena));
	bt_vec_finish(&self->order);
}

/* --- sync of one DaemonSet --- */

BT_COMPARE(compare_pods, struct bt_daemon_pod,
	BT_ORDER_BY(BT_ORDER(a->place, b->place),
		BT_ORDER(a->record->created_seconds, b->record->created_seconds),
		bt_str_compare(a->record->key, b->record->key)))

static void evaluate_node(struct bt_daemon_pass *pass, const struct bt_daemon_node *node,
	struct bt_daemon_place *place)
{
	const struct bt_pod_spec *spec = &pass->spec;
	bool execute_only = true;

	place->node = node;
	if ((spec->node_name.length != 0 && !bt_str_equal(spec->node_name, node->name)) ||
		!bt_required_node_affinity_matches(
			&pass->affinity, node->name, &node->labels, pass->arena, NULL)) {
		return;
	}
	place->should_run = true;
	for (uint32_t i = 0; i < node->taints.count; i++) {
		const struct bt_taint *taint = &node->taints.items[i];
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

/** Fills places with the nodes in the order of their names, and with each node's pods. */
static void collect_places(struct bt_daemon_pass *pass, const struct bt_indexed_pod *first)
{
	struct bt_daemon_sets *self = pass->self;
	uint32_t count = 0;
	uint32_t at = 0;

	if (self->order.count != self->names.by_key.count) {
		for (uint32_t i = 0; i < self->nodes.count; i++) {
			struct bt_daemon_order entry = {self->nodes.items[i].name, i};
			if (entry.name.data != NULL) {
				bt_vec_push(&self->order, entry);
			}
		}
		qsort(self->order.items, self->order.count, sizeof(*self->order.items),
			bt_str_compare_qsort);
	}
	pass->place_count = self->order.count;
	pass->places = BT_ARENA_NEW_ARRAY(pass->arena, struct bt_daemon_place, pass->place_count);
	for (uint32_t i = 0; i < pass->place_count; i++) {
		struct bt_daemon_node *node = &self->nodes.items[self->order.items[i].slot];

		node->place = i;
		evaluate_node(pass, node, &pass->places[i]);
	}
	for (const struct bt_indexed_pod *pod = first; pod != NULL;
		pod = pod->next[BT_PODS_OF_OWNER]) {
		count++;
	}
	pass->pods = BT_ARENA_NEW_ARRAY(pass->arena, struct bt_daemon_pod, count);
	for (const struct bt_indexed_pod *pod = first; pod != NULL;
		pod = pod->next[BT_PODS_OF_OWNER]) {
		uint32_t slot = bt_groups_find(&self->names,
			pod->node_name.length != 0 ? pod->node_name
						   : bt_groups_of(&self->targets, pod->key));

		pass->pods[pass->pod_count++] = (struct bt_daemon_pod){pod,
			slot != BT_GROUPS_NONE ? self->nodes.items[slot].place : BT_GROUPS_NONE};
	}
	qsort(pass->pods, pass->pod_count, sizeof(*pass->pods), compare_pods);
	for (uint32_t i = 0; i < pass->place_count; i++) {
		struct bt_daemon_place *place = &pass->places[i];

		place->pods = &pass->pods[at];
		for (; at < pass->pod_count && pass->pods[at].place == i; at++) {
			place->pod_count++;
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
			/* Keep the oldest pod. */
			remove_pod(pass, pod);
		}
	}
	if (place->should_run && place->pod_count == 0) {
		make_pod(pass, place->node->name);
	}
}

static void write_status(struct bt_daemon_pass *pass)
{
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
			available +=
				bt_replicas_is_available(pass->sync, pod, pass->min_ready_seconds);
		}
		updated += bt_str_equal(pod->hash, pass->hash);
	}
	bt_sync_write_status(pass->sync,
		bt_json_put(pass->arena, NULL,
			"{currentNumberScheduled: %d, numberMisscheduled: %d, "
			"desiredNumberScheduled: %d, numberReady: %d, observedGeneration: %d, "
			"updatedNumberScheduled: %d, numberAvailable: %d, numberUnavailable: %d, "
			"collisionCount?: %d}",
			current, misscheduled, desired, ready,
			bt_json_int64_at(pass->set, "metadata.generation", 0), updated, available,
			desired - available, pass->revisions.collision_count));
}

static bool sync(struct bt_sync *sync)
{
	struct bt_daemon_sets *self = sync->data;
	struct bt_daemon_pass pass = {
		.self = self, .sync = sync, .arena = sync->arena, .set = sync->object};
	uint32_t burst = bt_hub_burst(sync->hub, BT_DAEMON_BURST);

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
	if (!read_nodes(&pass)) {
		bt_hub_enqueue(sync->hub, sync->key);
		return true;
	}
	collect_places(
		&pass, bt_pod_index_of_owner(sync->hub, bt_json_text_at(pass.set, "metadata.uid")));
	if (!bt_tree_is_deleting(pass.set)) {
		/*
		 * Delete unassigned pods whose target node is gone, because no other controller
		 * deletes them.
		 */
		for (uint32_t i = 0; i < pass.pod_count; i++) {
			const struct bt_daemon_pod *pod = &pass.pods[i];
			if (pod->record->node_name.length == 0 && !pod->record->deleting &&
				pod->place == BT_GROUPS_NONE) {
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
	for (uint32_t i = 0; i < pass.revisions.count; i++) {
		struct bt_revision *revision = &pass.revisions.items[i];
		for (uint32_t n = 0; n < pass.pod_count && !revision->is_used; n++) {
			revision->is_used = bt_str_equal(pass.pods[n].record->hash, revision->hash);
		}
	}
	bt_revisions_clean_up(sync, &pass.revisions);
	return true;
}

const struct bt_controller_ops bt_daemon_set_controller = {
	.watches = BT_WATCH(BT_HUB_DAEMON_SETS) | BT_WATCH(BT_HUB_PODS) | BT_WATCH(BT_HUB_NODES) |
		BT_WATCH(BT_HUB_REVISIONS),
	.object = BT_HUB_DAEMON_SETS,
	.data_bytes = sizeof(struct bt_daemon_sets),
	.group_count = 3,
	.has_selectors = true,
	.finish = finish,
	.observe = observe,
	.sync = sync,
};
