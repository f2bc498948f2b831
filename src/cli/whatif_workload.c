/* SPDX-License-Identifier: Apache-2.0 */
/** Changes of workloads: --scale, and what a manifest of --with does to pods that run. */
#include <stdlib.h>

#include "api/defaulting.h"
#include "api/workload.h"
#include "cli/whatif_private.h"
#include "cli/workload_private.h"

/** --- the pods of a workload --- */

struct ranked_pod {
	uint32_t index;
	const struct bt_pod *pod;
	bool ready;
	struct bt_time ready_since;
	int64_t deletion_cost;
	uint32_t ready_on_node; /* how many of the list are ready on its node, this one included */
};

struct ranked_pods {
	BT_VEC(struct ranked_pod) list;
};

static void add_pod(struct bt_whatif *whatif, uint32_t index, struct ranked_pods *pods)
{
	struct ranked_pod entry = {.index = index};
	if (whatif->marks.items[index].gone) {
		return;
	}
	entry.pod = bt_object_value(whatif->work.objects.items[index].object, BT_KIND_POD);
	if (!bt_pod_is_active(entry.pod)) {
		return;
	}
	for (uint32_t i = 0; i < entry.pod->status.conditions.count; i++) {
		const struct bt_pod_condition *condition = &entry.pod->status.conditions.items[i];
		if (bt_str_equal_c(condition->type, "Ready")) {
			entry.ready = bt_str_equal_c(condition->status, "True");
			entry.ready_since = condition->last_transition_time;
		}
	}
	const struct bt_str *cost = bt_str_map_find(&entry.pod->metadata.annotations,
		BT_STR("controller.kubernetes.io/pod-deletion-cost"));
	if (cost != NULL && !bt_str_parse_int64(*cost, &entry.deletion_cost)) {
		entry.deletion_cost = 0;
	}
	bt_vec_push(&pods->list, entry);
}

/** Those that the workload's controller counts; of a Deployment those of its ReplicaSets. */
static void collect_pods(struct bt_whatif *whatif, uint32_t owner, struct ranked_pods *pods)
{
	struct bt_expansion walk = {.cluster = &whatif->work};
	bt_cluster_index_owners(&whatif->work);
	BT_FOR_EACH_OWNED(&walk, owner, index)
	{
		enum bt_kind kind = whatif->work.objects.items[index].kind;
		if (kind == BT_KIND_POD) {
			add_pod(whatif, index, pods);
		} else if (kind == BT_KIND_REPLICA_SET) {
			BT_FOR_EACH_OWNED(&walk, index, inner)
			{
				if (whatif->work.objects.items[inner].kind == BT_KIND_POD) {
					add_pod(whatif, inner, pods);
				}
			}
		}
	}
}

static void drop_pod(struct bt_whatif *whatif, uint32_t index, enum bt_departure departure)
{
	whatif->marks.items[index].gone = true;
	whatif->marks.items[index].departure = (uint8_t)departure;
}

/** --- which pods go first --- */

static int phase_rank(const struct bt_pod *pod)
{
	if (bt_str_equal_c(pod->status.phase, "Pending")) {
		return 0;
	}
	return bt_str_equal_c(pod->status.phase, "Unknown") ? 1 : 2;
}

static int compare_numbers(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

/** As a ReplicaSet ranks them: those that go first come first. */
static int compare_ranked(const void *left, const void *right)
{
	const struct ranked_pod *a = left;
	const struct ranked_pod *b = right;
	int order = (a->pod->spec.node_name.length != 0) - (b->pod->spec.node_name.length != 0);
	if (order == 0) {
		order = phase_rank(a->pod) - phase_rank(b->pod);
	}
	if (order == 0) {
		order = (int)a->ready - (int)b->ready;
	}
	if (order == 0) {
		order = compare_numbers(a->deletion_cost, b->deletion_cost);
	}
	if (order == 0) {
		order = compare_numbers(b->ready_on_node, a->ready_on_node);
	}
	if (order == 0 && a->ready) {
		order = bt_time_compare(&b->ready_since, &a->ready_since);
	}
	if (order == 0) {
		order = bt_time_compare(
			&b->pod->metadata.creation_timestamp, &a->pod->metadata.creation_timestamp);
	}
	/* Among equals the one that stands last in the input goes. */
	return order != 0 ? order : compare_numbers(b->index, a->index);
}

static int compare_by_node(const void *left, const void *right)
{
	const struct ranked_pod *a = left;
	const struct ranked_pod *b = right;
	return bt_str_compare(a->pod->spec.node_name, b->pod->spec.node_name);
}

static void count_on_nodes(struct ranked_pods *pods)
{
	struct ranked_pod *items = pods->list.items;
	uint32_t count = pods->list.count;
	qsort(items, count, sizeof(items[0]), compare_by_node);
	for (uint32_t first = 0, end = 0; first < count; first = end) {
		uint32_t ready = 0;
		for (end = first; end < count && compare_by_node(&items[end], &items[first]) == 0;
			end++) {
			ready += items[end].ready;
		}
		for (uint32_t i = first; i < end; i++) {
			items[i].ready_on_node = ready;
		}
	}
}

/** Down to this many; what is missing is made when the workload is expanded. */
static void shrink_replicas(struct bt_whatif *whatif, uint32_t owner, int64_t replicas)
{
	struct ranked_pods pods = {0};
	collect_pods(whatif, owner, &pods);
	if (pods.list.count > replicas) {
		count_on_nodes(&pods);
		qsort(pods.list.items, pods.list.count, sizeof(pods.list.items[0]), compare_ranked);
		for (uint32_t i = 0; i < pods.list.count - (uint32_t)replicas; i++) {
			drop_pod(whatif, pods.list.items[i].index, BT_DEPARTURE_SCALED_DOWN);
		}
	}
	bt_vec_finish(&pods.list);
}

/** Pods NAME-N beyond the last one that is wanted. */
static void shrink_stateful_set(struct bt_whatif *whatif, uint32_t owner, int64_t end)
{
	struct ranked_pods pods = {0};
	collect_pods(whatif, owner, &pods);
	for (uint32_t i = 0; i < pods.list.count; i++) {
		struct bt_str name = whatif->work.objects.items[pods.list.items[i].index].name;
		int64_t dash = bt_str_find_last_char(name, '-');
		int64_t ordinal;
		if (dash >= 0 &&
			bt_str_parse_int64(
				bt_str_sub(name, (uint32_t)dash + 1, name.length), &ordinal) &&
			ordinal >= end) {
			drop_pod(whatif, pods.list.items[i].index, BT_DEPARTURE_SCALED_DOWN);
		}
	}
	bt_vec_finish(&pods.list);
}

/** After a change of the workload at index: pods that its controller would take away. */
static void shrink(struct bt_whatif *whatif, uint32_t index)
{
	const struct bt_object *object = whatif->work.objects.items[index].object;
	struct bt_opt_i32 replicas;
	if (object->kind == BT_KIND_STATEFUL_SET) {
		const struct bt_stateful_set *set = object->value;
		int64_t start = set->spec.ordinals != NULL ? set->spec.ordinals->start : 0;
		replicas = set->spec.replicas;
		shrink_stateful_set(whatif, index, start + (replicas.present ? replicas.value : 1));
		return;
	}
	if (object->kind == BT_KIND_DEPLOYMENT) {
		replicas = ((const struct bt_deployment *)object->value)->spec.replicas;
	} else if (object->kind == BT_KIND_REPLICA_SET) {
		replicas = ((const struct bt_replica_set *)object->value)->spec.replicas;
	} else if (object->kind == BT_KIND_REPLICATION_CONTROLLER) {
		replicas = ((const struct bt_replication_controller *)object->value)->spec.replicas;
	} else {
		return;
	}
	shrink_replicas(whatif, index, replicas.present ? replicas.value : 1);
}

/** --- scaling --- */

static struct bt_object *rescaled(const struct bt_object *object, int64_t replicas)
{
	struct bt_opt_i32 wanted = {true, (int32_t)replicas};
	if (object->kind == BT_KIND_DEPLOYMENT) {
		struct bt_deployment copy = *(const struct bt_deployment *)object->value;
		copy.spec.replicas = wanted;
		copy.spec.paused = false; /* that stops rollouts, not scaling */
		return bt_object_create(object->kind, &copy);
	}
	if (object->kind == BT_KIND_REPLICA_SET) {
		struct bt_replica_set copy = *(const struct bt_replica_set *)object->value;
		copy.spec.replicas = wanted;
		return bt_object_create(object->kind, &copy);
	}
	if (object->kind == BT_KIND_STATEFUL_SET) {
		struct bt_stateful_set copy = *(const struct bt_stateful_set *)object->value;
		copy.spec.replicas = wanted;
		return bt_object_create(object->kind, &copy);
	}
	struct bt_replication_controller copy =
		*(const struct bt_replication_controller *)object->value;
	copy.spec.replicas = wanted;
	return bt_object_create(object->kind, &copy);
}

int bt_whatif_scale(
	struct bt_whatif *whatif, const struct bt_whatif_change *change, struct berth_error *err)
{
	uint32_t index =
		bt_whatif_find(whatif, change->workload, change->namespace_, change->target);
	if (index == BT_CLUSTER_NONE) {
		return bt_whatif_unknown(
			whatif, change->workload, change->namespace_, change->target, err);
	}
	if (whatif->marks.items[index].scaled) {
		return bt_error_set(
			err, BERTH_ERR_INVALID, "an earlier --scale scales this workload already");
	}
	const struct bt_cluster_object *object = &whatif->work.objects.items[index];
	const struct bt_owner_reference *controller = bt_object_controller(object->object->meta);
	if (controller != NULL && bt_str_equal_c(controller->kind, "Deployment") &&
		bt_whatif_find(whatif, BT_KIND_DEPLOYMENT, object->namespace_, controller->name) !=
			BT_CLUSTER_NONE) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"the ReplicaSet belongs to a Deployment, which would set it back: scale "
			"the Deployment");
	}
	bt_cluster_exchange(&whatif->work, index, rescaled(object->object, change->count));
	/* Also of a live cluster: its controller is yet to see this. */
	whatif->work.objects.items[index].pods_exist = false;
	whatif->marks.items[index].scaled = true;
	shrink(whatif, index);
	return 0;
}

/** --- manifests --- */

static const struct bt_pod_template *template_of(const struct bt_object *object)
{
	if (object->kind == BT_KIND_DEPLOYMENT) {
		return &((const struct bt_deployment *)object->value)->spec.template_;
	}
	if (object->kind == BT_KIND_REPLICA_SET) {
		return &((const struct bt_replica_set *)object->value)->spec.template_;
	}
	if (object->kind == BT_KIND_STATEFUL_SET) {
		return &((const struct bt_stateful_set *)object->value)->spec.template_;
	}
	if (object->kind == BT_KIND_DAEMON_SET) {
		return &((const struct bt_daemon_set *)object->value)->spec.template_;
	}
	return NULL;
}

/** Equal for a scheduler, once the defaults are filled in. */
static bool same_template(struct bt_whatif *whatif, const struct bt_object *old_object,
	const struct bt_object *new_object)
{
	const struct bt_pod_template *old_template = template_of(old_object);
	const struct bt_pod_template *new_template = template_of(new_object);
	if (old_template == NULL || new_template == NULL) {
		return true;
	}
	struct bt_arena scratch;
	bt_arena_init(&scratch, 0);
	struct bt_pod_spec old_spec = old_template->spec;
	struct bt_pod_spec new_spec = new_template->spec;
	bt_pod_spec_default(&old_spec, whatif->pod_level, &scratch);
	bt_pod_spec_default(&new_spec, whatif->pod_level, &scratch);
	bool same = bt_message_equal(&bt_pod_spec_message, &old_spec, &new_spec);
	bt_arena_finish(&scratch);
	const struct bt_str_map *a = &old_template->metadata.labels;
	const struct bt_str_map *b = &new_template->metadata.labels;
	same = same && a->count == b->count;
	for (uint32_t i = 0; same && i < a->count; i++) {
		same = bt_str_equal(a->items[i].key, b->items[i].key) &&
			bt_str_equal(a->items[i].value, b->items[i].value);
	}
	return same;
}

/** The rollout of another template is over: its pods are there, all others are gone. */
static void roll_out(struct bt_whatif *whatif, uint32_t owner)
{
	struct ranked_pods pods = {0};
	collect_pods(whatif, owner, &pods);
	for (uint32_t i = 0; i < pods.list.count; i++) {
		drop_pod(whatif, pods.list.items[i].index, BT_DEPARTURE_REPLACED);
	}
	bt_vec_finish(&pods.list);
}

static void take_replaced(
	struct bt_whatif *whatif, uint32_t index, const struct bt_object *old_object)
{
	struct bt_whatif_mark *mark = &whatif->marks.items[index];
	const struct bt_object *new_object = whatif->work.objects.items[index].object;
	bool was_gone = mark->gone;
	*mark = (struct bt_whatif_mark){.scaled = mark->scaled};
	if (was_gone) {
		return;
	}
	if (!same_template(whatif, old_object, new_object)) {
		roll_out(whatif, index);
	} else {
		shrink(whatif, index);
	}
}

/** From nodes that came with new taints. count: of old_objects. */
static void evict_intolerant(
	struct bt_whatif *whatif, struct bt_object *const *old_objects, uint32_t count)
{
	const struct bt_object **old_nodes =
		BT_NEW_ARRAY(const struct bt_object *, whatif->work.objects.count);
	for (uint32_t i = 0; i < count; i++) {
		old_nodes[i] = old_objects[i]->kind == BT_KIND_NODE ? old_objects[i] : NULL;
	}
	bt_whatif_evict_intolerant(whatif, (const struct bt_object *const *)old_nodes);
	bt_free(old_nodes);
}

int bt_whatif_with(
	struct bt_whatif *whatif, const struct bt_whatif_change *change, struct berth_error *err)
{
	uint32_t count = whatif->work.objects.count;
	struct bt_object **old_objects = BT_NEW_ARRAY(struct bt_object *, count);
	for (uint32_t i = 0; i < count; i++) {
		old_objects[i] = bt_object_share(whatif->work.objects.items[i].object);
	}
	whatif->work.replaces = true; /* that is what the file is for */
	int result = bt_cluster_read(&whatif->work, change->text, err);
	whatif->work.replaces = false;
	bt_whatif_sync_marks(whatif);
	for (uint32_t i = 0; i < count && result == 0; i++) {
		if (whatif->work.objects.items[i].object != old_objects[i]) {
			take_replaced(whatif, i, old_objects[i]);
		}
	}
	if (result == 0) {
		evict_intolerant(whatif, old_objects, count);
	}
	for (uint32_t i = 0; i < count; i++) {
		bt_object_release(old_objects[i]);
	}
	bt_free(old_objects);
	return result;
}
