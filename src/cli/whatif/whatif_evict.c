/* SPDX-License-Identifier: Apache-2.0 */
/** Pods that have to leave. */
#include "api/identity.h"
#include "api/selector.h"
#include "api/toleration.h"
#include "api/types.h"
#include "cli/whatif/whatif_private.h"

static void set_gone(struct bt_whatif *whatif, uint32_t index, enum bt_departure departure)
{
	struct bt_whatif_mark *mark = &whatif->marks.items[index];
	mark->gone = true;
	mark->departure = (uint8_t)departure;
}

/** The pod comes back under its name, or does not. */
static void evict(struct bt_whatif *whatif, uint32_t index, enum bt_departure departure)
{
	struct bt_whatif_mark *mark = &whatif->marks.items[index];
	const struct bt_pod *pod =
		bt_object_value(whatif->work.objects.items[index].object, BT_KIND_POD);
	if (bt_pod_is_terminating(pod)) {
		set_gone(whatif, index, BT_DEPARTURE_TERMINATING);
		return;
	}
	if (bt_pod_keeper_of(pod) == BT_KEEPER_NOBODY && !whatif->recreate_bare) {
		set_gone(whatif, index, departure);
		mark->lost = true;
		return;
	}
	struct bt_pod copy = bt_pod_recreated(pod);
	bt_manifests_exchange(&whatif->work, index, bt_object_create(BT_KIND_POD, &copy));
	mark->departure = (uint8_t)departure;
}

/** Index of the pod's node when it is one of the selected, else BT_MANIFESTS_NONE. */
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
	bt_whatif_list_budgets(whatif);
	for (uint32_t i = 0; i < whatif->work.objects.count && result == 0; i++) {
		const struct bt_pod *pod = bt_whatif_running_pod(whatif, i);
		if (pod == NULL || selected_node(whatif, pod, selected) == BT_MANIFESTS_NONE) {
			continue;
		}
		enum bt_pod_keeper keeper = bt_pod_keeper_of(pod);
		if (keeper != BT_KEEPER_DAEMON_SET && keeper != BT_KEEPER_NODE) {
			result = bt_whatif_ask_budgets(whatif, i, err);
			evict(whatif, i, BT_DEPARTURE_DRAINED);
		}
	}
	return result;
}

void bt_whatif_remove_pods(struct bt_whatif *whatif, const bool *selected)
{
	for (uint32_t i = 0; i < whatif->work.objects.count; i++) {
		const struct bt_pod *pod = bt_whatif_running_pod(whatif, i);
		if (pod == NULL || selected_node(whatif, pod, selected) == BT_MANIFESTS_NONE) {
			continue;
		}
		enum bt_pod_keeper keeper = bt_pod_keeper_of(pod);
		if (keeper == BT_KEEPER_DAEMON_SET || keeper == BT_KEEPER_NODE) {
			set_gone(whatif, i, BT_DEPARTURE_NODE_REMOVED);
		} else {
			evict(whatif, i, BT_DEPARTURE_NODE_REMOVED);
		}
	}
}

static bool tolerates(
	const struct bt_whatif *whatif, const struct bt_pod *pod, const struct bt_taint *taint)
{
	for (uint32_t i = 0; i < pod->spec.tolerations.count; i++) {
		const struct bt_toleration *toleration = &pod->spec.tolerations.items[i];
		/* One that tolerates it for a while only has to go as well. */
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

/** The pod may stay for all that is new on its node. */
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
		if (node == BT_MANIFESTS_NONE || old_nodes[node] == NULL ||
			may_stay(whatif, pod, bt_object_value(old_nodes[node], BT_KIND_NODE),
				bt_object_value(
					whatif->work.objects.items[node].object, BT_KIND_NODE))) {
			continue;
		}
		if (bt_pod_keeper_of(pod) == BT_KEEPER_DAEMON_SET) {
			set_gone(whatif, i, BT_DEPARTURE_TAINTED);
		} else {
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
	struct bt_arena scratch;
	bt_arena_init(&scratch, 0);
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
			set_gone(whatif, i, BT_DEPARTURE_UNSELECTED);
		}
	}
}
