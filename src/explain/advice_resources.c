/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Advice for NodeResourcesFit: which resources are missing. Advice for NodePorts: which host ports
 * are taken, and by which pods.
 */
#include "api/resources.h"
#include "explain/advice.h"

/** Amounts of one resource on one node: cpu in milli, other resources in bytes or units. */
struct need {
	struct bt_str resource;
	int64_t request;
	int64_t allocatable;
	int64_t used;
};

/**
 * Adds a hint and remedies if the resource is missing. Very large requests can make the node's sum
 * of requests wrap around; the subtraction wraps in the same way, so the result agrees with the
 * filter.
 */
static void advise_need(struct bt_advice *advice, const struct need *need)
{
	int64_t free = (int64_t)((uint64_t)need->allocatable - (uint64_t)need->used);
	int64_t missing;
	int64_t enlarged;

	if (need->request <= free) {
		return;
	}
	/* Give up if an amount exceeds INT64_MAX, which no node can have. */
	if (BT_SUB_OVERFLOW(need->request, free, &missing) ||
		BT_ADD_OVERFLOW(need->allocatable, missing, &enlarged)) {
		advice->is_final = true;
		return;
	}
	/*
	 * Examples: "needs 250m more cpu", "has only 15.91 of 16 cpu in all", "has no
	 * example.com/gpu".
	 */
	if (need->allocatable <= 0) {
		bt_advice_hint(advice, "has no %s", need->resource);
	} else if (need->request > need->allocatable) {
		bt_advice_hint(advice, "has only %a of %a %s in all", need->resource,
			need->allocatable, BT_AMOUNT_DOWN, need->resource, need->request,
			BT_AMOUNT_UP, need->resource);
	} else {
		bt_advice_hint(advice, "needs %a more %s", need->resource, missing, BT_AMOUNT_UP,
			need->resource);
	}
	advice->is_too_small = advice->is_too_small || need->request > need->allocatable;
	bt_advice_add(advice,
		&(struct bt_remedy){.kind = BT_REMEDY_FREE_RESOURCE,
			.node = bt_arena_str(advice->arena, bt_node_info_name(advice->node)),
			.resource = bt_arena_str(advice->arena, need->resource),
			.amount = missing});
	advice->distance += need->allocatable > 0 ? (double)missing / (double)need->allocatable
						  : 1 + (double)missing / 1e18;
	/* Propose to lower the request only if more than 0 remains. */
	int64_t requested = bt_remedy_requested_of(advice->pod->object, need->resource);

	if (missing >= requested) {
		return;
	}
	bt_advice_add_of_pod(advice,
		&(struct bt_remedy){.kind = BT_REMEDY_LOWER_REQUEST,
			.resource = bt_arena_str(advice->arena, need->resource),
			.amount = missing});
	advice->pod_distance += (double)missing / (double)requested;
}

/** Returns the pod's requests, which are computed once per cycle. */
static const struct bt_resource *request_of(struct bt_advice *advice)
{
	static const struct bt_str key = BT_STR_INIT("explain/NodeResourcesFit");
	struct bt_resource *request;
	void *known;

	if (bt_cycle_state_read(advice->cycle, key, &known, NULL) == 0) {
		return known;
	}
	request = BT_ARENA_NEW(advice->cycle->arena, struct bt_resource);
	*request = bt_pod_fit_request(bt_shape_pod(advice->pod->shape),
		&advice->engine->state->shapes.gates, advice->cycle->arena);
	bt_cycle_state_write(advice->cycle, key, request, NULL);
	return request;
}

static const struct bt_str insufficient = BT_STR_INIT("Insufficient ");

/**
 * Returns the scalar resource that the reason at `index` names ("Insufficient example.com/gpu"), or
 * "" if the reason names no scalar resource.
 */
static struct bt_str resource_of(const struct bt_status *status, uint32_t index)
{
	struct bt_str reason = bt_status_all_reason_at(status, index);
	struct bt_str name = bt_str_has_prefix(reason, insufficient)
		? bt_str_sub(reason, insufficient.length, BT_STR_MAX)
		: BT_STR("");

	return bt_resource_is_scalar(name) ? name : BT_STR("");
}

static void advise_resources(struct bt_advice *advice)
{
	const struct bt_resource *request;

	if (advice->node == NULL) {
		advice->is_final = true;
		return;
	}
	request = request_of(advice);
	const struct bt_node_info *node = advice->node;
	struct bt_remedy room;

	if (node->pod_count >= node->allocatable_pods) {
		bt_advice_hint(advice, "already runs %d of %d {pod|pods}", node->pod_count,
			node->allocatable_pods);
		room = (struct bt_remedy){.kind = BT_REMEDY_FREE_RESOURCE,
			.node = bt_arena_str(advice->arena, bt_node_info_name(node)),
			.resource = BT_STR("pods"),
			.amount = node->pod_count + 1 - node->allocatable_pods};
		bt_advice_add(advice, &room);
		/* No change of the pod helps, so pod_remedies also gets the change of the node. */
		bt_advice_add_of_pod(advice, &room);
		advice->distance += node->allocatable_pods > 0
			? (double)(node->pod_count + 1 - node->allocatable_pods) /
				(double)node->allocatable_pods
			: 1;
	}
	/* Add remedies for the missing standard resources; a request of 0 always fits. */
	int64_t requests[BT_STANDARD__COUNT];

	bt_resource_get_standard(request, requests);
	for (uint32_t i = 0; i < BT_STANDARD__COUNT; i++) {
		const struct need need = {bt_standard_names[i], requests[i], node->allocatable[i],
			node->requested[i]};

		if (need.request > 0) {
			advise_need(advice, &need);
		}
	}
	/*
	 * Only scalar resources that the reasons name are missing; other scalar resources are
	 * ignored or left to extenders. The requests and the reasons are both sorted by resource
	 * name.
	 */
	uint32_t reason_count = bt_status_all_reason_count(advice->status);
	uint32_t reason = 0;

	for (uint32_t i = 0; i < request->scalar_count && !advice->is_final; i++) {
		const struct bt_scalar_resource *scalar = &request->scalars[i];

		while (reason < reason_count &&
			bt_str_compare(resource_of(advice->status, reason), scalar->name) < 0) {
			reason++;
		}
		if (reason < reason_count &&
			bt_str_equal(resource_of(advice->status, reason), scalar->name)) {
			uint32_t column = bt_node_table_find_scalar(
				&advice->engine->state->nodes, scalar->name);

			advise_need(advice,
				&(struct need){scalar->name, scalar->value,
					bt_node_info_scalar_allocatable(advice->node, column),
					bt_node_info_scalar_requested(advice->node, column)});
		}
	}
	/* Lowering requests helps only if the requests of all missing resources can be lowered. */
	bt_advice_close_pod_remedies(advice,
		advice->pod_distance > 0 && advice->pod_remedies.count == advice->remedies.count);
}

static void advise_ports(struct bt_advice *advice)
{
	const struct bt_shape *shape = advice->pod->shape;

	if (advice->node == NULL) {
		advice->is_final = true;
		return;
	}
	for (uint32_t i = 0; i < shape->host_ports.count && !advice->is_final; i++) {
		if (bt_node_info_port_conflicts(advice->node, &shape->host_ports.items[i])) {
			const struct bt_host_port *wanted = &shape->host_ports.items[i];
			struct bt_pod_info holder = {.pod_id = BT_POD_NONE};
			uint32_t count = 0;

			for (uint32_t k = 0; k < bt_node_info_pod_count(advice->node); k++) {
				struct bt_pod_info pod;

				bt_node_info_pod_at(advice->node, k, &pod);
				bool conflicts = false;
				for (uint32_t n = 0; n < pod.shape->host_ports.count && !conflicts;
					n++) {
					conflicts = bt_host_port_conflicts(
						wanted, &pod.shape->host_ports.items[n]);
				}
				if (conflicts && count++ == 0) {
					holder = pod;
				}
			}
			const struct bt_remedy drop = {.kind = BT_REMEDY_DROP_HOST_PORT,
				.amount = wanted->port,
				.value = bt_arena_str(advice->arena, wanted->protocol)};

			if (count == 0) {
				bt_advice_hint(advice, "host port %i/%s is taken", wanted->port,
					wanted->protocol);
			} else if (count == 1) {
				bt_advice_hint(advice, "host port %i/%s is taken by %s/%s",
					wanted->port, wanted->protocol, holder.namespace_,
					holder.name);
			} else {
				bt_advice_hint(advice, "host port %i/%s is taken by %u pods",
					wanted->port, wanted->protocol, count);
			}
			/*
			 * A nominated pod does not run on the node yet, so removing the pod frees
			 * nothing.
			 */
			if (count == 1 && holder.pod_id != BT_POD_NONE &&
				bt_advice_is_removable(advice->engine->state, holder.pod_id)) {
				bt_advice_remove_pod(advice, holder.pod_id);
				bt_advice_add_of_pod(advice, &drop);
			} else {
				bt_advice_add(advice, &drop);
				bt_advice_add_of_pod(advice, &drop);
				advice->distance += 0.5;
			}
		}
	}
}

const struct bt_adviser bt_advisers_resources[] = {
	{"NodePorts", advise_ports},
	{"NodeResourcesFit", advise_resources},
	{NULL, NULL},
};
