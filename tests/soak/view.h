/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SOAK_VIEW_H
#define BT_SOAK_VIEW_H
/**
 * A plain model of which pods fit on a node: loops over all objects, written from the specification
 * and not from the scheduler. The checkers compare the scheduler with this model. The model
 * supports the features that the workloads use.
 */
#include "api/node.h"
#include "api/pod.h"
#include "base/vec.h"
#include "state/object_store.h"

/** A pool whose allocations the scheduler may not know. */
struct bt_sim_excused_pool {
	struct bt_str driver;
	struct bt_str pool;
	bool is_spoiled; /* a device was allocated twice: the free devices are unknown */
};

/** A pod and the node on which the checker counts it. spec.nodeName of the pod may still be empty.
 */
struct bt_sim_placed {
	const struct bt_pod *pod;
	struct bt_str node_name;
};

/** Placements of pods from one point of view. Everything is borrowed. */
struct bt_sim_view {
	struct bt_object_store *objects; /* nodes, claims, volumes, classes */
	BT_VEC(struct bt_sim_placed) placed;
	/**
	 * Names of nodes where another scheduler may have put two pods with the same host port.
	 * Host ports are not checked on these nodes: the scheduler's cache keeps a set of ports
	 * (spec 01b section 7), so the port is free in the cache when the first of the two pods
	 * is gone.
	 */
	const struct bt_str *crowded;
	uint32_t crowded_count;
	/**
	 * The current objects of the API. If a ResourceClaim differs from the one in `objects`, the
	 * scheduler may know either version. NULL: `objects` is current.
	 */
	struct bt_object_store *truth;
	/**
	 * Pools whose allocations are possibly unknown to the scheduler. blurred_is_free: count all
	 * devices of these pools as free; otherwise count them as taken.
	 */
	const struct bt_sim_excused_pool *blurred;
	uint32_t blurred_count;
	bool blurred_is_free;
	/** Whether an unused claim that is allocated on other nodes may be deallocated for the pod.
	 */
	bool may_free;
};

/** Place every non-terminal pod in `objects` that has a node. */
void bt_sim_view_init(struct bt_sim_view *view, struct bt_object_store *objects);
void bt_sim_view_finish(struct bt_sim_view *view);
/** Count the pod on a node, unless the view already has a pod with this uid. */
void bt_sim_view_place(struct bt_sim_view *view, const struct bt_pod *pod, struct bt_str node_name);

enum bt_sim_fit {
	BT_SIM_FITS,
	BT_SIM_FITS_NOT,    /* *out_reason has the reason */
	BT_SIM_FIT_UNKNOWN, /* depends on volumes or devices that are changing */
};

/** Whether the pod fits on the node. If the view has placed the pod, the pod itself does not count.
 */
enum bt_sim_fit bt_sim_view_fits(struct bt_sim_view *view, const struct bt_pod *pod,
	const struct bt_node *node, const char **out_reason);

/** --- parts, one file each --- */

/** Returns the sum of the requests of the node's pods; for resource "pods" the number of pods. */
int64_t bt_sim_view_used(
	const struct bt_sim_view *view, struct bt_str node_name, struct bt_str resource);
/** Returns the request of one pod: cpu in thousandths, other resources in whole units. */
int64_t bt_sim_pod_request(const struct bt_pod *pod, struct bt_str resource);
int64_t bt_sim_node_amount(const struct bt_node *node, struct bt_str resource);
bool bt_sim_selector_matches(
	const struct bt_label_selector *selector, const struct bt_str_map *labels);
/** Whether nodeSelector and required node affinity select the node. */
bool bt_sim_node_is_selected(const struct bt_pod *pod, const struct bt_node *node);
bool bt_sim_spread_allows(
	struct bt_sim_view *view, const struct bt_pod *pod, const struct bt_node *node);
bool bt_sim_affinity_allows(
	struct bt_sim_view *view, const struct bt_pod *pod, const struct bt_node *node);
enum bt_sim_fit bt_sim_volumes_fit(struct bt_sim_view *view, const struct bt_pod *pod,
	const struct bt_node *node, const char **out_reason);
enum bt_sim_fit bt_sim_devices_fit(struct bt_sim_view *view, const struct bt_pod *pod,
	const struct bt_node *node, const char **out_reason);
/** Whether all ResourceClaims of the pod exist, and the pod may use them. */
bool bt_sim_claims_are_there(struct bt_object_store *objects, const struct bt_pod *pod);
/** Returns the name of the claim for an entry of spec.resourceClaims; "": no claim exists yet. */
struct bt_str bt_sim_claim_name(
	const struct bt_pod *pod, const struct bt_pod_resource_claim *entry);
const struct bt_node *bt_sim_view_node(const struct bt_sim_view *view, struct bt_str name);
#endif
