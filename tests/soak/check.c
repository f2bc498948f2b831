/* SPDX-License-Identifier: Apache-2.0 */
/** Checks of decisions, nodes, victims and waiting pods. */
#include "soak/check.h"

#include "api/identity.h"

static const struct bt_str everywhere = {NULL, 0};

static void name_pod(const struct bt_pod *pod, struct bt_strbuf *complaint)
{
	bt_strbuf_printf(complaint, "pod %.*s/%.*s (uid %.*s)",
		BT_STR_ARG(pod->metadata.namespace_), BT_STR_ARG(pod->metadata.name),
		BT_STR_ARG(pod->metadata.uid));
}

/** --- decisions --- */

static bool is_bound_once(const struct bt_sim_view *view, const struct bt_pod *pod,
	struct bt_str node_name, struct bt_strbuf *complaint)
{
	for (uint32_t i = 0; i < view->placed.count; i++) {
		const struct bt_sim_placed *placed = &view->placed.items[i];
		if (bt_str_equal(placed->pod->metadata.uid, pod->metadata.uid)) {
			name_pod(pod, complaint);
			bt_strbuf_printf(complaint,
				" is bound to %.*s, but is known to be on %.*s already",
				BT_STR_ARG(node_name), BT_STR_ARG(placed->node_name));
			return false;
		}
	}
	return true;
}

bool bt_sim_check_decision(struct bt_sim_view *view, const struct bt_pod *pod,
	struct bt_str node_name, struct bt_strbuf *complaint)
{
	const struct bt_node *node = bt_sim_view_node(view, node_name);
	const char *reason = "there is no such node";
	if (!is_bound_once(view, pod, node_name, complaint)) {
		return false;
	}
	if (node != NULL && bt_sim_view_fits(view, pod, node, &reason) != BT_SIM_FITS_NOT) {
		return true;
	}
	name_pod(pod, complaint);
	bt_strbuf_printf(complaint, " is put on node %.*s, but: %s", BT_STR_ARG(node_name), reason);
	return false;
}

/** --- nodes --- */

bool bt_sim_check_nodes(struct bt_sim_view *view,
	bool (*is_excused)(void *context, struct bt_str node_name), void *context,
	struct bt_strbuf *complaint)
{
	const struct bt_str resources[] = {BT_STR("pods"), BT_STR("cpu"), BT_STR("memory"),
		BT_STR("ephemeral-storage"), BT_STR("example.com/gpu")};
	const struct bt_node *node;
	uint32_t cursor = 0;
	while ((node = bt_object_store_next(view->objects, BT_KIND_NODE, everywhere, &cursor)) !=
		NULL) {
		for (uint32_t i = 0; i < BT_ARRAY_LENGTH(resources); i++) {
			int64_t used = bt_sim_view_used(view, node->metadata.name, resources[i]);
			int64_t has = bt_sim_node_amount(node, resources[i]);
			if (used > has && !is_excused(context, node->metadata.name)) {
				bt_strbuf_printf(complaint,
					"node %.*s is over-committed: %lld of %.*s, has %lld",
					BT_STR_ARG(node->metadata.name), (long long)used,
					BT_STR_ARG(resources[i]), (long long)has);
				return false;
			}
		}
	}
	return true;
}

/** --- victims --- */

static bool waits(const struct bt_pod *pod)
{
	return pod->spec.node_name.length == 0 && !bt_pod_is_terminal(pod) &&
		pod->metadata.deletion_timestamp == NULL;
}

static bool may_preempt(const struct bt_pod *pod)
{
	return !bt_str_equal(pod->spec.preemption_policy, BT_STR("Never"));
}

bool bt_sim_check_victim(
	struct bt_object_store *objects, const struct bt_pod *victim, struct bt_strbuf *complaint)
{
	const struct bt_pod *pod;
	uint32_t cursor = 0;
	while ((pod = bt_object_store_next(objects, BT_KIND_POD, everywhere, &cursor)) != NULL) {
		if (waits(pod) && may_preempt(pod) &&
			bt_pod_priority(pod) > bt_pod_priority(victim)) {
			return true;
		}
	}
	name_pod(victim, complaint);
	bt_strbuf_append_c(
		complaint, " is removed by preemption, but no pending pod has a higher priority");
	return false;
}

/** --- waiting pods --- */

/** Add the pods that are nominated to the node and whose priority is at least that of the pod. */
static void add_nominated(struct bt_sim_view *view, const struct bt_sim_pending *pending,
	const struct bt_pod *pod, struct bt_str node_name)
{
	for (uint32_t i = 0; i < pending->nominated_count; i++) {
		const struct bt_sim_placed *nominated = &pending->nominated[i];
		if (bt_str_equal(nominated->node_name, node_name) &&
			bt_pod_priority(nominated->pod) >= bt_pod_priority(pod) &&
			!bt_str_equal(nominated->pod->metadata.uid, pod->metadata.uid)) {
			bt_sim_view_place(view, nominated->pod, node_name);
		}
	}
}

static void remove_less_important(
	struct bt_sim_view *view, const struct bt_pod *pod, struct bt_str node_name)
{
	uint32_t kept = 0;
	for (uint32_t i = 0; i < view->placed.count; i++) {
		const struct bt_sim_placed *placed = &view->placed.items[i];
		if (!bt_str_equal(placed->node_name, node_name) ||
			bt_pod_priority(placed->pod) >= bt_pod_priority(pod)) {
			view->placed.items[kept++] = *placed;
		}
	}
	view->placed.count = kept;
}

/**
 * Whether the pod fits on the node both with and without the nominated pods. preempting: pods of
 * lower priority are removed from the node first.
 */
static bool fits_on(struct bt_object_store *objects, const struct bt_sim_pending *pending,
	const struct bt_pod *pod, const struct bt_node *node, bool preempting)
{
	bool fits = true;
	for (int with_nominated = 0; fits && with_nominated < 2; with_nominated++) {
		struct bt_sim_view view;
		const char *reason;
		bt_sim_view_init(&view, objects);
		view.blurred = pending->blurred;
		view.blurred_count = pending->blurred_count;
		view.may_free = true;
		if (preempting) {
			remove_less_important(&view, pod, node->metadata.name);
		}
		if (with_nominated != 0) {
			add_nominated(&view, pending, pod, node->metadata.name);
		}
		fits = bt_sim_view_fits(&view, pod, node, &reason) == BT_SIM_FITS;
		bt_sim_view_finish(&view);
	}
	return fits;
}

static bool find_place(struct bt_object_store *objects, const struct bt_sim_pending *pending,
	const struct bt_pod *pod, bool preempting, struct bt_str *out_node_name)
{
	const struct bt_node *node;
	uint32_t cursor = 0;
	while ((node = bt_object_store_next(objects, BT_KIND_NODE, everywhere, &cursor)) != NULL) {
		if (fits_on(objects, pending, pod, node, preempting)) {
			*out_node_name = node->metadata.name;
			return true;
		}
	}
	return false;
}

/** The scheduler says that the pod waits for claims: checks that at least one of its claims is
 * missing. */
static bool lacks_claims(
	struct bt_object_store *objects, const struct bt_pod *pod, struct bt_strbuf *complaint)
{
	if (!bt_sim_claims_are_there(objects, pod)) {
		return true;
	}
	name_pod(pod, complaint);
	bt_strbuf_append_c(complaint, " has its claims, but no event has ended its wait for them");
	return false;
}

static bool check_waiting(struct bt_object_store *objects, const struct bt_sim_pending *pending,
	const struct bt_pod *pod, struct bt_strbuf *complaint)
{
	enum bt_sim_wait wait = pending->wait_of(pending->context, pod);
	struct bt_str node_name;
	if (wait == BT_SIM_WAIT_NOWHERE) {
		name_pod(pod, complaint);
		bt_strbuf_append_c(complaint, " is pending, but in no queue");
		return false;
	}
	if (pod->spec.scheduling_group != NULL) {
		return true; /* groups are not checked: a group fits as a whole or not at all */
	}
	bool gated = pod->spec.scheduling_gates.count != 0;
	if (!gated && wait == BT_SIM_WAIT_CLAIM) {
		return lacks_claims(objects, pod, complaint);
	}
	if (gated != (wait == BT_SIM_WAIT_GATE) && (gated || pending->is_final)) {
		name_pod(pod, complaint);
		bt_strbuf_printf(complaint,
			gated ? " has a gate, but is not held back by it"
			      : " has no gate, but is held back");
		return false;
	}
	if (gated || wait == BT_SIM_WAIT_CLOCK ||
		(wait != BT_SIM_WAIT_EVENT && !pending->is_final)) {
		return true;
	}
	if (find_place(objects, pending, pod, false, &node_name)) {
		name_pod(pod, complaint);
		bt_strbuf_printf(complaint, " is pending although it fits on node %.*s%s",
			BT_STR_ARG(node_name),
			wait == BT_SIM_WAIT_EVENT ? "; no event woke it up" : "");
		return false;
	}
	if (pending->is_final && may_preempt(pod) &&
		find_place(objects, pending, pod, true, &node_name)) {
		name_pod(pod, complaint);
		bt_strbuf_printf(complaint, " is pending although it could preempt on node %.*s",
			BT_STR_ARG(node_name));
		return false;
	}
	return true;
}

bool bt_sim_check_pending(struct bt_object_store *objects, const struct bt_sim_pending *pending,
	struct bt_strbuf *complaint)
{
	const struct bt_pod *pod;
	uint32_t cursor = 0;
	while ((pod = bt_object_store_next(objects, BT_KIND_POD, everywhere, &cursor)) != NULL) {
		if (waits(pod) && pending->is_ours(pending->context, pod) &&
			!check_waiting(objects, pending, pod, complaint)) {
			return false;
		}
	}
	return true;
}
