/* SPDX-License-Identifier: Apache-2.0 */
#include "soak/view.h"

#include "api/storage.h"

static const struct bt_str everywhere = {NULL, 0};

/** --- placements --- */

void bt_sim_view_place(struct bt_sim_view *view, const struct bt_pod *pod, struct bt_str node_name)
{
	for (uint32_t i = 0; i < view->placed.count; i++) {
		if (bt_str_equal(view->placed.items[i].pod->metadata.uid, pod->metadata.uid)) {
			return;
		}
	}
	struct bt_sim_placed placed = {pod, node_name};
	bt_vec_push(&view->placed, placed);
}

void bt_sim_view_init(struct bt_sim_view *view, struct bt_object_store *objects)
{
	*view = (struct bt_sim_view){.objects = objects};
	const struct bt_pod *pod;
	uint32_t cursor = 0;
	while ((pod = bt_object_store_next(objects, BT_KIND_POD, everywhere, &cursor)) != NULL) {
		if (pod->spec.node_name.length != 0 && !bt_pod_is_terminal(pod)) {
			struct bt_sim_placed placed = {pod, pod->spec.node_name};
			bt_vec_push(&view->placed, placed);
		}
	}
}

void bt_sim_view_finish(struct bt_sim_view *view)
{
	bt_vec_finish(&view->placed);
}

const struct bt_node *bt_sim_view_node(const struct bt_sim_view *view, struct bt_str name)
{
	return bt_object_store_find(view->objects, BT_KIND_NODE, BT_STR(""), name);
}

static bool is_same(const struct bt_pod *a, const struct bt_pod *b)
{
	return bt_str_equal(a->metadata.uid, b->metadata.uid);
}

/** --- resources --- */

static int64_t amount(const struct bt_resource_list *list, struct bt_str resource)
{
	const struct bt_quantity *quantity = bt_resource_list_find(list, resource);
	if (quantity == NULL) {
		return 0;
	}
	return bt_str_equal_c(resource, "cpu") ? bt_quantity_milli(quantity)
					       : bt_quantity_value(quantity);
}

int64_t bt_sim_node_amount(const struct bt_node *node, struct bt_str resource)
{
	return amount(&node->status.allocatable, resource);
}

int64_t bt_sim_pod_request(const struct bt_pod *pod, struct bt_str resource)
{
	int64_t together = 0;
	int64_t largest = 0;
	for (uint32_t i = 0; i < pod->spec.containers.count; i++) {
		together += amount(&pod->spec.containers.items[i].resources.requests, resource);
	}
	for (uint32_t i = 0; i < pod->spec.init_containers.count; i++) {
		int64_t alone =
			amount(&pod->spec.init_containers.items[i].resources.requests, resource);
		largest = alone > largest ? alone : largest;
	}
	return (largest > together ? largest : together) + amount(&pod->spec.overhead, resource);
}

int64_t bt_sim_view_used(
	const struct bt_sim_view *view, struct bt_str node_name, struct bt_str resource)
{
	int64_t used = 0;
	for (uint32_t i = 0; i < view->placed.count; i++) {
		const struct bt_sim_placed *placed = &view->placed.items[i];
		if (bt_str_equal(placed->node_name, node_name)) {
			used += bt_str_equal_c(resource, "pods")
				? 1
				: bt_sim_pod_request(placed->pod, resource);
		}
	}
	return used;
}

/** Whether the node has room for the pod. Resources that the pod does not request do not count. */
static bool has_room(
	const struct bt_sim_view *view, const struct bt_pod *pod, const struct bt_node *node)
{
	const struct bt_str resources[] = {BT_STR("pods"), BT_STR("cpu"), BT_STR("memory"),
		BT_STR("ephemeral-storage"), BT_STR("example.com/gpu")};
	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(resources); i++) {
		int64_t wanted = i == 0 ? 1 : bt_sim_pod_request(pod, resources[i]);
		int64_t used = bt_sim_view_used(view, node->metadata.name, resources[i]);
		for (uint32_t k = 0; k < view->placed.count; k++) {
			const struct bt_sim_placed *placed = &view->placed.items[k];
			if (is_same(placed->pod, pod) &&
				bt_str_equal(placed->node_name, node->metadata.name)) {
				used -= wanted;
			}
		}
		if (wanted > 0 && used + wanted > bt_sim_node_amount(node, resources[i])) {
			return false;
		}
	}
	return true;
}

/** --- what the node requires of pods --- */

static bool tolerates(const struct bt_pod *pod, const struct bt_taint *taint)
{
	for (uint32_t i = 0; i < pod->spec.tolerations.count; i++) {
		const struct bt_toleration *toleration = &pod->spec.tolerations.items[i];
		bool any_value = bt_str_equal_c(toleration->operator_, "Exists");
		if ((toleration->effect.length == 0 ||
			    bt_str_equal(toleration->effect, taint->effect)) &&
			(bt_str_equal(toleration->key, taint->key) ||
				(toleration->key.length == 0 && any_value)) &&
			(any_value || bt_str_equal(toleration->value, taint->value))) {
			return true;
		}
	}
	return false;
}

static bool is_admitted(const struct bt_pod *pod, const struct bt_node *node)
{
	struct bt_taint cordon = {
		.key = BT_STR("node.kubernetes.io/unschedulable"), .effect = BT_STR("NoSchedule")};
	if (node->spec.unschedulable && !tolerates(pod, &cordon)) {
		return false;
	}
	for (uint32_t i = 0; i < node->spec.taints.count; i++) {
		const struct bt_taint *taint = &node->spec.taints.items[i];
		if (!bt_str_equal_c(taint->effect, "PreferNoSchedule") && !tolerates(pod, taint)) {
			return false;
		}
	}
	return true;
}

/** --- host ports: the workloads use TCP on all addresses --- */

static bool has_host_port(const struct bt_pod *pod, int32_t port)
{
	for (uint32_t i = 0; i < pod->spec.containers.count; i++) {
		const struct bt_container *container = &pod->spec.containers.items[i];
		for (uint32_t k = 0; k < container->ports.count; k++) {
			if (container->ports.items[k].host_port == port) {
				return true;
			}
		}
	}
	return false;
}

static bool ports_are_free(
	const struct bt_sim_view *view, const struct bt_pod *pod, const struct bt_node *node)
{
	for (uint32_t i = 0; i < view->crowded_count; i++) {
		if (bt_str_equal(view->crowded[i], node->metadata.name)) {
			return true;
		}
	}
	for (uint32_t i = 0; i < view->placed.count; i++) {
		const struct bt_sim_placed *placed = &view->placed.items[i];
		if (is_same(placed->pod, pod) ||
			!bt_str_equal(placed->node_name, node->metadata.name)) {
			continue;
		}
		for (uint32_t c = 0; c < placed->pod->spec.containers.count; c++) {
			const struct bt_container *container =
				&placed->pod->spec.containers.items[c];
			for (uint32_t k = 0; k < container->ports.count; k++) {
				int32_t port = container->ports.items[k].host_port;
				if (port != 0 && has_host_port(pod, port)) {
					return false;
				}
			}
		}
	}
	return true;
}

/** --- all checks --- */

enum bt_sim_fit bt_sim_view_fits(struct bt_sim_view *view, const struct bt_pod *pod,
	const struct bt_node *node, const char **out_reason)
{
	*out_reason = NULL;
	if (!is_admitted(pod, node)) {
		*out_reason = "the node is cordoned or has a taint that is not tolerated";
	} else if (!bt_sim_node_is_selected(pod, node)) {
		*out_reason = "node selector or node affinity";
	} else if (!ports_are_free(view, pod, node)) {
		*out_reason = "a host port is taken";
	} else if (!has_room(view, pod, node)) {
		*out_reason = "not enough room";
	} else if (!bt_sim_spread_allows(view, pod, node)) {
		*out_reason = "topology spread";
	} else if (!bt_sim_affinity_allows(view, pod, node)) {
		*out_reason = "pod affinity or anti-affinity";
	}
	if (*out_reason != NULL) {
		return BT_SIM_FITS_NOT;
	}
	enum bt_sim_fit volumes = bt_sim_volumes_fit(view, pod, node, out_reason);
	if (volumes == BT_SIM_FITS_NOT) {
		return volumes;
	}
	enum bt_sim_fit devices = bt_sim_devices_fit(view, pod, node, out_reason);
	return devices == BT_SIM_FITS ? volumes : devices;
}
