/* SPDX-License-Identifier: Apache-2.0 */
/** Evictions: pods that have to leave their nodes. */
#include "api/identity.h"
#include "api/selector.h"
#include "api/toleration.h"
#include "api/types.h"
#include "base/text_set.h"
#include "cluster/controllers.h"
#include "planning/whatif_private.h"

/** --- disruption budgets. Spec: 14 section 17, 14b section 6.7 --- */

/** Maximum number of pairs of pod and budget that all drains together examine. */
#define CHECKS_MAX 500000000

/**
 * Returns whether the pod is ready. A pod without any conditions counts as ready if it has a node
 * and is not pending, because hand-written manifests have no conditions.
 */
static bool is_healthy(const struct bt_pod *pod)
{
	const struct bt_pod_condition *ready = bt_pod_find_condition(pod, BT_STR("Ready"));
	if (ready != NULL) {
		return bt_str_equal_c(ready->status, "True");
	}
	return pod->status.conditions.count == 0 && bt_pod_is_assigned(pod) &&
		!bt_str_equal_c(pod->status.phase, "Pending");
}

static int count_check(struct bt_whatif *whatif, struct berth_error *err)
{
	return ++whatif->budget_checks <= CHECKS_MAX
		? 0
		: bt_error_set(err, BERTH_ERR_TOO_LARGE,
			  "more than %d pairs of PodDisruptionBudget and pod would have to be "
			  "checked",
			  CHECKS_MAX);
}

/** --- disruptions allowed by a budget without status --- */

/**
 * Returns how much the pod adds to the number of expected pods. The first pod of a workload adds
 * the workload's replicas, and the other pods of the workload add 0. A pod whose controller is
 * missing in the input adds 1, and a pod without a controller adds 0.
 */
static int64_t scale_of(
	const struct bt_whatif *whatif, const struct bt_pod *pod, struct bt_text_set *owners)
{
	const struct bt_manifests_object *objects = whatif->work.objects.items;
	const struct bt_owner_reference *controller = bt_object_controller(&pod->metadata);
	struct bt_str namespace_ =
		pod->metadata.namespace_.length != 0 ? pod->metadata.namespace_ : BT_STR("default");
	uint32_t owner = controller != NULL
		? bt_whatif_find_workload(whatif, controller, namespace_)
		: BT_MANIFESTS_NONE;
	if (owner == BT_MANIFESTS_NONE) {
		return controller != NULL;
	}
	if (objects[owner].kind == BT_KIND_REPLICA_SET) {
		controller = bt_object_controller(objects[owner].object->meta);
		uint32_t above = controller != NULL
			? bt_whatif_find_workload(whatif, controller, namespace_)
			: BT_MANIFESTS_NONE;
		owner = above != BT_MANIFESTS_NONE ? above : owner;
	}
	if (!bt_text_set_add(owners, objects[owner].uid)) {
		return 0;
	}
	const struct bt_opt_i32 *replicas = bt_workload_replicas(objects[owner].object);
	return replicas == NULL ? 0 : replicas->present ? replicas->value : 1;
}

/** Returns the first budget of the namespace; `next` continues the list. UINT32_MAX: no budget. */
static uint32_t first_budget(const struct bt_whatif *whatif, struct bt_str namespace_)
{
	uint64_t hash = bt_str_hash(namespace_);
	BT_MAP_EACH (&whatif->budget_map, hash, index) {
		if (bt_str_equal(whatif->budgets.items[index].namespace_, namespace_)) {
			return index;
		}
	}
	return UINT32_MAX;
}

/** --- budgets of the cluster --- */

/**
 * Reads the allowed disruptions from the budget's status, or computes them if the status is empty.
 * Called before the first eviction of a covered pod, because an eviction changes what the
 * computation counts.
 */
static int read_status(
	struct bt_whatif *whatif, struct bt_whatif_budget *budget, struct berth_error *err)
{
	const struct bt_pod_disruption_budget *value = budget->object->value;
	struct bt_pod_disruption_budget_status status = value->status;
	if (status.disruptions_allowed == 0 && status.current_healthy == 0 &&
		status.desired_healthy == 0 && status.expected_pods == 0) {
		/* Compute the status from the pods and workloads of the input. */
		struct bt_text_set owners = {0};
		int64_t pods = 0;
		int64_t scale = 0;
		int32_t healthy = 0;
		int result = 0;
		uint32_t first =
			whatif->budgets.items[first_budget(whatif, budget->namespace_)].first_pod;
		for (uint32_t i = first; i != BT_MANIFESTS_NONE && result == 0;
			i = whatif->pod_next[i]) {
			const struct bt_pod *pod = whatif->work.objects.items[i].object->value;
			result = count_check(whatif, err);
			if (whatif->marks.items[i].is_deleted || bt_pod_is_terminal(pod) ||
				!bt_selector_matches(budget->selector, &pod->metadata.labels)) {
				continue;
			}
			pods++;
			healthy += is_healthy(pod) && !bt_pod_is_terminating(pod);
			scale += scale_of(whatif, pod, &owners);
		}
		bt_text_set_finish(&owners);

		if (result < 0) {
			return result;
		}
		status = bt_disruption_status(&value->spec, pods, scale, healthy);
	}
	budget->allowed = status.disruptions_allowed;
	budget->is_met =
		status.desired_healthy > 0 && status.current_healthy >= status.desired_healthy;
	return 0;
}

/** Updates the budget from its object, which --with may have replaced. */
static void take_object(
	struct bt_whatif *whatif, struct bt_whatif_budget *budget, struct bt_object *object)
{
	const struct bt_pod_disruption_budget *value = object->value;
	bt_object_release(budget->object);
	budget->object = bt_object_share(object);
	budget->selector = BT_ARENA_NEW(&whatif->arena, struct bt_selector);
	budget->is_read = false;
	if (bt_selector_from_label_selector(
		    value->spec.selector, &whatif->arena, budget->selector, NULL) < 0) {
		budget->selector->nothing = true;
	}
}

/** --- evictions --- */

/**
 * Counts the eviction of the pod at index in the budgets that cover the pod. Fails if too many
 * pairs of pod and budget were examined.
 */
static int count_in_budgets(struct bt_whatif *whatif, uint32_t index, struct berth_error *err)
{
	const struct bt_manifests_object *object = &whatif->work.objects.items[index];
	const struct bt_pod *pod = object->object->value;
	struct bt_whatif_budget *first = NULL;
	/* Budgets do not apply to pods that never ran or are being deleted. */
	uint32_t next =
		(!bt_pod_is_terminating(pod) && !bt_str_equal_c(pod->status.phase, "Pending"))
		? first_budget(whatif, object->namespace_)
		: UINT32_MAX;
	while (next != UINT32_MAX) {
		struct bt_whatif_budget *budget = &whatif->budgets.items[next];
		const struct bt_pod_disruption_budget *value = budget->object->value;
		next = budget->next;
		int result = count_check(whatif, err);
		if (result == 0 && !bt_selector_matches(budget->selector, &pod->metadata.labels)) {
			continue;
		}
		if (result == 0 && !budget->is_read) {
			result = read_status(whatif, budget, err);
		}
		if (result < 0) {
			return result;
		}
		budget->is_read = true;
		budget->evictions++;
		/*
		 * Evicting a pod that is not ready uses up no disruption if enough pods are
		 * healthy, or if the budget's unhealthyPodEvictionPolicy is AlwaysAllow.
		 */
		bool is_free = !is_healthy(pod) &&
			(budget->is_met ||
				bt_str_equal_c(
					value->spec.unhealthy_pod_eviction_policy, "AlwaysAllow"));
		budget->taken += !is_free;
		budget->held += !is_free &&
			budget->taken > (budget->allowed > 0 ? (uint32_t)budget->allowed : 0);
		budget->shared += first != NULL;
		if (first == NULL) {
			first = budget;
			whatif->marks.items[index].budget =
				1 + (uint32_t)(budget - whatif->budgets.items);
		} else if (!whatif->marks.items[index].is_shared) {
			whatif->marks.items[index].is_shared = true;
			first->shared++;
		}
	}
	return 0;
}

void bt_whatif_mark_departed(struct bt_whatif *whatif, uint32_t index, enum bt_departure departure)
{
	struct bt_whatif_mark *mark = &whatif->marks.items[index];
	mark->is_deleted = true;
	mark->departure = (uint8_t)departure;
}

/**
 * Evicts the pod, which becomes pending under the same name or is deleted. Pods of DaemonSets and
 * mirror pods are deleted.
 */
static void evict(struct bt_whatif *whatif, uint32_t index, enum bt_departure departure)
{
	struct bt_whatif_mark *mark = &whatif->marks.items[index];
	const struct bt_pod *pod =
		bt_object_value(whatif->work.objects.items[index].object, BT_KIND_POD);
	enum bt_pod_keeper keeper = bt_pod_keeper_of(pod);
	if (keeper == BT_KEEPER_DAEMON_SET || keeper == BT_KEEPER_NODE) {
		bt_whatif_mark_departed(whatif, index, departure);
		return;
	}
	if (bt_pod_is_terminating(pod)) {
		bt_whatif_mark_departed(whatif, index, BT_DEPARTURE_TERMINATING);
		return;
	}
	if (keeper == BT_KEEPER_NONE && !whatif->recreate_bare) {
		bt_whatif_mark_departed(whatif, index, departure);
		mark->lost = true;
		return;
	}
	struct bt_pod copy = bt_pod_recreated(pod);
	bt_manifests_exchange(&whatif->work, index, bt_object_create(BT_KIND_POD, &copy));
	mark->departure = (uint8_t)departure;
}

/** Returns the index of the pod's node if the node is selected, else BT_MANIFESTS_NONE. */
static uint32_t selected_node(
	const struct bt_whatif *whatif, const struct bt_pod *pod, const bool *selected)
{
	uint32_t node =
		bt_manifests_find(&whatif->work, BT_KIND_NODE, BT_STR(""), pod->spec.node_name);
	return node != BT_MANIFESTS_NONE && selected[node] ? node : BT_MANIFESTS_NONE;
}

/** --- drained, removed, tainted --- */

int bt_whatif_drain_pods(struct bt_whatif *whatif, const bool *selected, struct berth_error *err)
{
	int result = 0;
	/* Read the budgets that were added or replaced since an earlier drain. */
	for (uint32_t i = 0; i < whatif->work.objects.count; i++) {
		const struct bt_manifests_object *object = &whatif->work.objects.items[i];
		struct bt_whatif_mark *mark = &whatif->marks.items[i];
		if (object->kind != BT_KIND_POD_DISRUPTION_BUDGET) {
			continue;
		}
		if (mark->budget == 0) {
			struct bt_whatif_budget entry = {
				.namespace_ = bt_arena_str(&whatif->arena, object->namespace_),
				.name = bt_arena_str(&whatif->arena, object->name),
				.next = UINT32_MAX,
			};
			take_object(whatif, &entry, object->object);
			uint32_t first = first_budget(whatif, entry.namespace_);
			uint32_t index = whatif->budgets.count;
			if (first != UINT32_MAX) {
				entry.next = whatif->budgets.items[first].next;
				whatif->budgets.items[first].next = index;
			}
			bt_vec_push(&whatif->budgets, entry);
			if (first == UINT32_MAX) {
				bt_map_insert(
					&whatif->budget_map, bt_str_hash(entry.namespace_), index);
			}
			mark->budget = whatif->budgets.count;
		} else if (whatif->budgets.items[mark->budget - 1].object != object->object) {
			take_object(
				whatif, &whatif->budgets.items[mark->budget - 1], object->object);
		}
	}
	/*
	 * Links the pods of each namespace that has budgets into a list. The first budget of the
	 * namespace has the head of the list.
	 */
	bt_free(whatif->pod_next);
	whatif->pod_next = BT_NEW_ARRAY(uint32_t, whatif->work.objects.count);
	for (uint32_t i = 0; i < whatif->budgets.count; i++) {
		whatif->budgets.items[i].first_pod = BT_MANIFESTS_NONE;
	}
	for (uint32_t i = 0; i < whatif->work.objects.count; i++) {
		const struct bt_manifests_object *object = &whatif->work.objects.items[i];
		uint32_t budget = object->kind == BT_KIND_POD
			? first_budget(whatif, object->namespace_)
			: UINT32_MAX;
		if (budget != UINT32_MAX) {
			whatif->pod_next[i] = whatif->budgets.items[budget].first_pod;
			whatif->budgets.items[budget].first_pod = i;
		}
	}
	for (uint32_t i = 0; i < whatif->work.objects.count && result == 0; i++) {
		const struct bt_pod *pod = bt_whatif_running_pod(whatif, i);
		if (pod == NULL || selected_node(whatif, pod, selected) == BT_MANIFESTS_NONE) {
			continue;
		}
		enum bt_pod_keeper keeper = bt_pod_keeper_of(pod);
		if (keeper != BT_KEEPER_DAEMON_SET && keeper != BT_KEEPER_NODE) {
			result = count_in_budgets(whatif, i, err);
			evict(whatif, i, BT_DEPARTURE_DRAINED);
		}
	}
	return result;
}

void bt_whatif_remove_pods(struct bt_whatif *whatif, const bool *selected)
{
	for (uint32_t i = 0; i < whatif->work.objects.count; i++) {
		const struct bt_pod *pod = bt_whatif_running_pod(whatif, i);
		if (pod != NULL && selected_node(whatif, pod, selected) != BT_MANIFESTS_NONE) {
			evict(whatif, i, BT_DEPARTURE_NODE_REMOVED);
		}
	}
}

static bool tolerates(
	const struct bt_whatif *whatif, const struct bt_pod *pod, const struct bt_taint *taint)
{
	for (uint32_t i = 0; i < pod->spec.tolerations.count; i++) {
		const struct bt_toleration *toleration = &pod->spec.tolerations.items[i];
		/* A toleration with tolerationSeconds only delays the eviction. */
		if (!toleration->toleration_seconds.present &&
			bt_toleration_tolerates(toleration, taint, whatif->taint_comparison)) {
			return true;
		}
	}
	return false;
}

static bool has_taint(const struct bt_node *node, const struct bt_taint *taint)
{
	for (uint32_t i = 0; i < node->spec.taints.count; i++) {
		const struct bt_taint *other = &node->spec.taints.items[i];
		if (bt_str_equal(other->key, taint->key) &&
			bt_str_equal(other->value, taint->value) &&
			bt_str_equal(other->effect, taint->effect)) {
			return true;
		}
	}
	return false;
}

/** Returns whether the pod tolerates all NoExecute taints that its node did not have before. */
static bool may_stay(const struct bt_whatif *whatif, const struct bt_pod *pod,
	const struct bt_node *old_node, const struct bt_node *new_node)
{
	for (uint32_t i = 0; i < new_node->spec.taints.count; i++) {
		const struct bt_taint *taint = &new_node->spec.taints.items[i];
		if (bt_str_equal_c(taint->effect, "NoExecute") && !has_taint(old_node, taint) &&
			!tolerates(whatif, pod, taint)) {
			return false;
		}
	}
	return true;
}

void bt_whatif_evict_intolerant(struct bt_whatif *whatif, const struct bt_object *const *old_nodes)
{
	for (uint32_t i = 0; i < whatif->work.objects.count; i++) {
		const struct bt_pod *pod = bt_whatif_running_pod(whatif, i);
		if (pod == NULL || bt_pod_keeper_of(pod) == BT_KEEPER_NODE) {
			continue;
		}
		uint32_t node =
			bt_whatif_find(whatif, BT_KIND_NODE, BT_STR(""), pod->spec.node_name);
		if (node != BT_MANIFESTS_NONE && old_nodes[node] != NULL &&
			!may_stay(whatif, pod, bt_object_value(old_nodes[node], BT_KIND_NODE),
				bt_object_value(
					whatif->work.objects.items[node].object, BT_KIND_NODE))) {
			evict(whatif, i, BT_DEPARTURE_TAINTED);
		}
	}
}

/** --- DaemonSets --- */

static bool selects(struct bt_whatif *whatif, uint32_t set_index, uint32_t node_index)
{
	const struct bt_daemon_set *set =
		bt_object_value(whatif->work.objects.items[set_index].object, BT_KIND_DAEMON_SET);
	const struct bt_manifests_object *node = &whatif->work.objects.items[node_index];
	struct bt_arena scratch = {0};
	struct bt_required_node_affinity affinity =
		bt_required_node_affinity_parse(&set->spec.template_.spec, &scratch);
	bool matches = bt_required_node_affinity_matches(
		&affinity, node->name, &node->object->meta->labels, &scratch, NULL);
	bt_arena_finish(&scratch);
	return matches;
}

void bt_whatif_evict_unselected(struct bt_whatif *whatif, const bool *selected)
{
	for (uint32_t i = 0; i < whatif->work.objects.count; i++) {
		const struct bt_pod *pod = bt_whatif_running_pod(whatif, i);
		uint32_t node =
			pod != NULL ? selected_node(whatif, pod, selected) : BT_MANIFESTS_NONE;
		if (node == BT_MANIFESTS_NONE || bt_pod_keeper_of(pod) != BT_KEEPER_DAEMON_SET) {
			continue;
		}
		uint32_t set = bt_whatif_find(whatif, BT_KIND_DAEMON_SET,
			whatif->work.objects.items[i].namespace_,
			bt_object_controller(&pod->metadata)->name);
		if (set != BT_MANIFESTS_NONE && !selects(whatif, set, node)) {
			bt_whatif_mark_departed(whatif, i, BT_DEPARTURE_UNSELECTED);
		}
	}
}
