/* SPDX-License-Identifier: Apache-2.0 */
/** Changes of workloads: --scale, and the effect of --with manifests on running pods. */
#include "api/change.h"
#include "api/defaulting.h"
#include "api/deletion_order.h"
#include "api/types.h"
#include "planning/whatif_private.h"
#include "cluster/workload.h"

/** --- the pods of a workload --- */

/**
 * Active pods of a workload. The member `pod` of a candidate points to the struct
 * bt_manifests_object in work.
 */
struct workload_pods {
	BT_VEC(struct bt_deletion_candidate) list;
	int64_t now_seconds; /* used as the creation time of pods without creation time */
};

static uint32_t index_of(const struct bt_whatif *whatif, const struct bt_deletion_candidate *pod)
{
	const struct bt_manifests_object *object = pod->pod;
	return (uint32_t)(object - whatif->work.objects.items);
}

static void add_pod(struct bt_whatif *whatif, uint32_t index, struct workload_pods *pods)
{
	const struct bt_manifests_object *object = &whatif->work.objects.items[index];
	if (object->kind != BT_KIND_POD || whatif->marks.items[index].is_deleted) {
		return;
	}
	const struct bt_pod *pod = bt_object_value(object->object, BT_KIND_POD);
	if (!bt_pod_is_active(pod)) {
		return;
	}
	const struct bt_str *text = bt_str_map_find(
		&pod->metadata.annotations, BT_STR("controller.kubernetes.io/pod-deletion-cost"));
	int64_t cost;
	bool has_cost = text != NULL && bt_str_parse_int64(*text, &cost) && cost >= INT32_MIN &&
		cost <= INT32_MAX;
	struct bt_deletion_candidate entry = {
		.pod = object,
		.uid = object->uid,
		.node_name = pod->spec.node_name,
		.phase = bt_str_equal_c(pod->status.phase, "Pending")  ? BT_DELETION_PENDING
			: bt_str_equal_c(pod->status.phase, "Unknown") ? BT_DELETION_UNKNOWN
								       : BT_DELETION_OTHER,
		.deletion_cost = has_cost ? cost : 0,
		/* a pod without a creation time counts as new */
		.created_seconds = pod->metadata.creation_timestamp.set
			? pod->metadata.creation_timestamp.seconds
			: pods->now_seconds,
	};
	const struct bt_pod_condition *ready = bt_pod_find_condition(pod, BT_STR("Ready"));
	if (ready != NULL) {
		entry.ready = bt_str_equal_c(ready->status, "True");
		entry.ready_since_seconds = ready->last_transition_time.seconds;
	}
	bt_vec_push(&pods->list, entry);
}

/** Parts of a workload's pods. For a workload without ReplicaSets, all pods are new. */
enum part {
	PART_OLD, /* pods of a Deployment's old ReplicaSets */
	PART_NEW, /* pods of the newest ReplicaSet */
	PART_ALL,
};

/** Collects the pods of this part that the workload's controller counts. */
static void collect_pods(
	struct bt_whatif *whatif, uint32_t owner, enum part part, struct workload_pods *pods)
{
	struct bt_expansion walk = {.cluster = &whatif->work};
	bt_manifests_index_owners(&whatif->work);
	uint32_t newest = bt_expansion_newest_set(&walk, owner);
	BT_FOR_EACH_OWNED(&walk, owner, index)
	{
		if (part == PART_ALL || (part == PART_NEW) == (newest == BT_MANIFESTS_NONE)) {
			add_pod(whatif, index, pods);
		}
		if (whatif->work.objects.items[index].kind != BT_KIND_REPLICA_SET ||
			(part != PART_ALL && (part == PART_NEW) != (index == newest))) {
			continue;
		}
		BT_FOR_EACH_OWNED(&walk, index, inner)
		{
			add_pod(whatif, inner, pods);
		}
	}
}

/** --- selecting pods to delete --- */

/**
 * Returns the latest creation or condition time of the input, which stands for the current time.
 */
static int64_t newest_seconds(const struct bt_manifests *cluster)
{
	int64_t newest = 0;
	for (uint32_t i = 0; i < cluster->objects.count; i++) {
		const struct bt_manifests_object *object = &cluster->objects.items[i];
		int64_t seconds = object->object->meta->creation_timestamp.seconds;
		newest = seconds > newest ? seconds : newest;
		if (object->kind != BT_KIND_POD) {
			continue;
		}
		const struct bt_pod *pod = bt_object_value(object->object, BT_KIND_POD);
		for (uint32_t c = 0; c < pod->status.conditions.count; c++) {
			seconds = pod->status.conditions.items[c].last_transition_time.seconds;
			newest = seconds > newest ? seconds : newest;
		}
	}
	return newest;
}

uint32_t bt_whatif_find_workload(const struct bt_whatif *whatif,
	const struct bt_owner_reference *controller, struct bt_str namespace_)
{
	static const enum bt_kind kinds[] = {BT_KIND_DEPLOYMENT, BT_KIND_REPLICA_SET,
		BT_KIND_STATEFUL_SET, BT_KIND_REPLICATION_CONTROLLER};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(kinds); i++) {
		if (bt_str_equal_c(controller->kind, bt_kind_info(kinds[i])->name)) {
			return bt_whatif_find(whatif, kinds[i], namespace_, controller->name);
		}
	}
	return BT_MANIFESTS_NONE;
}

/** Deletes the pods that the controller of the changed workload at index would delete. */
static void shrink(struct bt_whatif *whatif, uint32_t index)
{
	const struct bt_object *object = whatif->work.objects.items[index].object;
	const struct bt_opt_i32 *replicas = bt_workload_replicas(object);
	if (replicas == NULL) {
		return;
	}
	int64_t count = replicas->present ? replicas->value : 1;
	if (object->kind == BT_KIND_STATEFUL_SET) {
		const struct bt_stateful_set *set = object->value;
		int64_t start = set->spec.ordinals != NULL ? set->spec.ordinals->start : 0;
		struct workload_pods pods = {0};
		collect_pods(whatif, index, PART_ALL, &pods);
		for (uint32_t i = 0; i < pods.list.count; i++) {
			uint32_t pod = index_of(whatif, &pods.list.items[i]);
			struct bt_str name = whatif->work.objects.items[pod].name;
			int64_t dash = bt_str_find_last_char(name, '-');
			int64_t ordinal;
			if (dash >= 0 &&
				bt_str_parse_int64(
					bt_str_sub(name, (uint32_t)dash + 1, name.length),
					&ordinal) &&
				ordinal >= start + count) {
				bt_whatif_mark_departed(whatif, pod, BT_DEPARTURE_SCALED_DOWN);
			}
		}
		bt_vec_finish(&pods.list);
	} else {
		/*
		 * Delete pods beyond `count`; missing pods are made when the workload is
		 * expanded. During a rollout the old pods go first, because the rollout deletes
		 * them anyway.
		 */
		int64_t now = newest_seconds(&whatif->work);
		struct workload_pods parts[] = {{.now_seconds = now}, {.now_seconds = now}};
		collect_pods(whatif, index, PART_OLD, &parts[0]);
		collect_pods(whatif, index, PART_NEW, &parts[1]);
		int64_t excess = (int64_t)parts[0].list.count + parts[1].list.count - count;
		for (size_t i = 0; i < BT_ARRAY_LENGTH(parts); i++) {
			if (excess > 0) {
				bt_deletion_order_sort(
					parts[i].list.items, parts[i].list.count, now);
			}
			for (uint32_t k = 0; k < parts[i].list.count && excess > 0; k++, excess--) {
				bt_whatif_mark_departed(whatif,
					index_of(whatif, &parts[i].list.items[k]),
					BT_DEPARTURE_SCALED_DOWN);
			}
			bt_vec_finish(&parts[i].list);
		}
	}
}

/** --- scaling --- */

static struct bt_object *copy_with_replicas(const struct bt_object *object, int64_t replicas)
{
	struct bt_arena arena = {0};
	char *copy = bt_object_copy_value(object, &arena);
	const struct bt_opt_i32 wanted = {true, (int32_t)replicas};
	ptrdiff_t place = (const char *)bt_workload_replicas(object) - (const char *)object->value;
	memcpy(copy + place, &wanted, sizeof(wanted));
	struct bt_object *made = bt_object_create(object->kind, copy);
	bt_arena_finish(&arena);
	return made;
}

int bt_whatif_scale(
	struct bt_whatif *whatif, const struct bt_whatif_change *change, struct berth_error *err)
{
	uint32_t index =
		bt_whatif_find(whatif, change->workload, change->namespace_, change->target);
	if (index == BT_MANIFESTS_NONE) {
		return bt_whatif_unknown(
			whatif, change->workload, change->namespace_, change->target, err);
	}
	if (whatif->marks.items[index].scaled) {
		return bt_error_set(
			err, BERTH_ERR_INVALID, "an earlier --scale scales this workload already");
	}
	const struct bt_manifests_object *object = &whatif->work.objects.items[index];
	const struct bt_owner_reference *controller = bt_object_controller(object->object->meta);
	if (controller != NULL && bt_str_equal_c(controller->kind, "Deployment") &&
		bt_whatif_find(whatif, BT_KIND_DEPLOYMENT, object->namespace_, controller->name) !=
			BT_MANIFESTS_NONE) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"the ReplicaSet belongs to a Deployment, which would undo the change: "
			"scale the Deployment");
	}
	struct bt_object *scaled = copy_with_replicas(object->object, change->count);
	bt_manifests_exchange(&whatif->work, index, scaled);
	if (scaled->kind == BT_KIND_DEPLOYMENT) {
		/*
		 * Resume a paused Deployment, because expansion makes no pods for a paused
		 * Deployment. In a cluster, a pause stops rollouts, but not scaling.
		 */
		struct bt_deployment copy = *(const struct bt_deployment *)scaled->value;
		copy.spec.paused = false;
		bt_manifests_exchange(&whatif->work, index, bt_object_create(scaled->kind, &copy));
	}
	/*
	 * Create the missing pods even if the cluster is live, because the workload's controller in
	 * that cluster has not seen the change.
	 */
	whatif->work.objects.items[index].pods_exist = false;
	whatif->marks.items[index].scaled = true;
	shrink(whatif, index);
	return 0;
}

/** --- manifests --- */

/** Returns whether the controller replaces pods after a change of the template. */
static bool rolls_out(const struct bt_object *object)
{
	const struct bt_str *strategy = NULL;
	if (object->kind == BT_KIND_DEPLOYMENT) {
		return !((const struct bt_deployment *)object->value)->spec.paused;
	}
	if (object->kind == BT_KIND_STATEFUL_SET) {
		strategy =
			&((const struct bt_stateful_set *)object->value)->spec.update_strategy.type;
	} else if (object->kind == BT_KIND_DAEMON_SET) {
		strategy =
			&((const struct bt_daemon_set *)object->value)->spec.update_strategy.type;
	}
	/* ReplicaSets and ReplicationControllers keep their pods. */
	return strategy != NULL && !bt_str_equal_c(*strategy, "OnDelete");
}

/** Returns whether two templates are equal for a scheduler, with defaults filled in. */
static bool same_template(struct bt_whatif *whatif, const struct bt_object *old_object,
	const struct bt_object *new_object)
{
	const struct bt_pod_template *old_template = bt_workload_template(old_object);
	const struct bt_pod_template *new_template = bt_workload_template(new_object);
	if (old_template == NULL || new_template == NULL) {
		return true;
	}
	struct bt_arena scratch = {0};
	struct bt_pod_spec old_spec = old_template->spec;
	struct bt_pod_spec new_spec = new_template->spec;
	bt_pod_spec_default(&old_spec, whatif->pod_level, &scratch);
	bt_pod_spec_default(&new_spec, whatif->pod_level, &scratch);
	bool same = bt_message_equal(&bt_pod_spec_message, &old_spec, &new_spec);
	bt_arena_finish(&scratch);
	return same &&
		bt_str_map_equal(&old_template->metadata.labels, &new_template->metadata.labels);
}

/**
 * Keeps what kubectl apply would keep of the old object although a manifest lacks it: the node of a
 * running pod, the volume of a claim, and the status.
 */
static void keep_rest(struct bt_whatif *whatif, uint32_t index, const struct bt_object *old_object)
{
	const struct bt_object *new_object = whatif->work.objects.items[index].object;
	struct bt_object *made = NULL;
	if (new_object->kind == BT_KIND_POD) {
		const struct bt_pod *had = old_object->value;
		struct bt_pod pod = *(const struct bt_pod *)new_object->value;
		if (pod.spec.node_name.length == 0 && bt_pod_is_active(had)) {
			pod.spec.node_name = had->spec.node_name;
			pod.status = had->status;
			made = bt_object_create(BT_KIND_POD, &pod);
		}
	} else if (new_object->kind == BT_KIND_NODE) {
		struct bt_node node = *(const struct bt_node *)new_object->value;
		if (node.status.allocatable.count == 0 && node.status.capacity.count == 0) {
			node.status = ((const struct bt_node *)old_object->value)->status;
			made = bt_object_create(BT_KIND_NODE, &node);
		}
	} else if (new_object->kind == BT_KIND_PERSISTENT_VOLUME_CLAIM) {
		const struct bt_persistent_volume_claim *had = old_object->value;
		struct bt_persistent_volume_claim claim =
			*(const struct bt_persistent_volume_claim *)new_object->value;
		if (claim.spec.volume_name.length == 0) {
			claim.metadata.uid = had->metadata.uid;
			claim.metadata.annotations = had->metadata.annotations;
			claim.spec.volume_name = had->spec.volume_name;
			claim.status = had->status;
			made = bt_object_create(BT_KIND_PERSISTENT_VOLUME_CLAIM, &claim);
		}
	}
	if (made != NULL) {
		bt_manifests_exchange(&whatif->work, index, made);
	}
}

static void take_replaced(
	struct bt_whatif *whatif, uint32_t index, const struct bt_object *old_object)
{
	struct bt_whatif_mark *mark = &whatif->marks.items[index];
	const struct bt_object *new_object = whatif->work.objects.items[index].object;
	bool was_gone = mark->is_deleted;
	bool is_budget = new_object->kind == BT_KIND_POD_DISRUPTION_BUDGET;
	*mark = (struct bt_whatif_mark){
		.scaled = mark->scaled, .budget = is_budget ? mark->budget : 0};
	if (was_gone) {
		return;
	}
	/*
	 * If the new object does not set spec.replicas, keeps the old value, which an autoscaler
	 * may have set.
	 */
	const struct bt_opt_i32 *wanted = bt_workload_replicas(new_object);
	const struct bt_opt_i32 *had = bt_workload_replicas(old_object);
	if (wanted != NULL && !wanted->present && had->present) {
		bt_manifests_exchange(
			&whatif->work, index, copy_with_replicas(new_object, had->value));
	}
	keep_rest(whatif, index, old_object);
	new_object = whatif->work.objects.items[index].object;
	if (rolls_out(new_object) && !same_template(whatif, old_object, new_object)) {
		/* The rollout of a changed template counts as finished: replace all pods. */
		struct workload_pods pods = {0};
		collect_pods(whatif, index, PART_ALL, &pods);
		for (uint32_t i = 0; i < pods.list.count; i++) {
			bt_whatif_mark_departed(whatif, index_of(whatif, &pods.list.items[i]),
				BT_DEPARTURE_REPLACED);
		}
		bt_vec_finish(&pods.list);
	} else {
		shrink(whatif, index);
	}
}

int bt_whatif_with(
	struct bt_whatif *whatif, const struct bt_whatif_change *change, struct berth_error *err)
{
	uint32_t count = whatif->work.objects.count;
	struct bt_object **old_objects = BT_NEW_ARRAY(struct bt_object *, count);
	for (uint32_t i = 0; i < count; i++) {
		old_objects[i] = bt_object_share(whatif->work.objects.items[i].object);
	}
	whatif->work.replaces = true; /* --with replaces objects */
	int result = bt_manifests_read(&whatif->work, change->text, err);
	whatif->work.replaces = false;
	bt_whatif_sync_marks(whatif);
	for (uint32_t i = 0; i < count && result == 0; i++) {
		if (whatif->work.objects.items[i].object != old_objects[i]) {
			take_replaced(whatif, i, old_objects[i]);
		}
	}
	if (result == 0) {
		/* Evict pods from nodes that got new taints or labels. */
		bool *changed = BT_NEW_ARRAY(bool, whatif->work.objects.count);
		const struct bt_object **old_nodes =
			BT_NEW_ARRAY(const struct bt_object *, whatif->work.objects.count);
		for (uint32_t i = 0; i < count; i++) {
			old_nodes[i] = old_objects[i]->kind == BT_KIND_NODE ? old_objects[i] : NULL;
			changed[i] = old_nodes[i] != NULL &&
				old_nodes[i] != whatif->work.objects.items[i].object;
		}
		bt_whatif_evict_intolerant(whatif, (const struct bt_object *const *)old_nodes);
		bt_whatif_evict_unselected(whatif, changed);
		bt_free(old_nodes);
		bt_free(changed);
	}
	for (uint32_t i = 0; i < count; i++) {
		bt_object_release(old_objects[i]);
	}
	bt_free(old_objects);
	return result;
}
