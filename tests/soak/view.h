/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SOAK_VIEW_H
#define BT_SOAK_VIEW_H
/**
 * Naive model of what a node can take: plain loops over all objects, written from the spec and not
 * from the scheduler, so that the two can be compared. Knows what the simulator's workloads use.
 */
#include "api/node.h"
#include "api/pod.h"
#include "base/vec.h"
#include "state/object_store.h"

/** A pool of devices whose allocations the scheduler need not know. */
struct bt_sim_excused_pool {
	struct bt_str driver;
	struct bt_str pool;
	bool is_spoiled; /* devices were given twice: who knows which are free now */
};

/** A pod and the node it counts on; node_name may differ from what its object says. */
struct bt_sim_placed {
	const struct bt_pod *pod;
	struct bt_str node_name;
};

/** Who is where, according to somebody. Everything is borrowed. */
struct bt_sim_view {
	struct bt_object_store *objects; /* nodes, claims, volumes, classes */
	BT_VEC(struct bt_sim_placed) placed;
	/**
	 * Nodes where others may have put two pods with the same host port. A cache keeps a set of
	 * ports (spec 01b section 7), so there the first of the two who leaves frees it: taken
	 * ports do not count on these.
	 */
	const struct bt_str *crowded;
	uint32_t crowded_count;
	/** What the API has by now: claims for devices that differ there may be known in their
	 * newer form, too. NULL: nothing is newer. */
	struct bt_object_store *truth;
	/** Pools of which nobody can say who knows of which allocation: their devices are all free,
	 * or none is. */
	const struct bt_sim_excused_pool *blurred;
	uint32_t blurred_count;
	bool blurred_is_free;
	/** A claim that is allocated elsewhere, in vain, is given back for the pod's sake. */
	bool may_free;
};

/** Every pod of objects that has a node and is not terminal. */
void bt_sim_view_init(struct bt_sim_view *view, struct bt_object_store *objects);
void bt_sim_view_finish(struct bt_sim_view *view);
/** Count the pod on a node, unless its uid is there already. */
void bt_sim_view_place(struct bt_sim_view *view, const struct bt_pod *pod, struct bt_str node_name);

enum bt_sim_fit {
	BT_SIM_FITS,
	BT_SIM_FITS_NOT,    /* *out_reason says why */
	BT_SIM_FIT_UNKNOWN, /* it hangs on volumes or devices that are on their way */
};

/** The pod itself does not count, should it be placed. */
enum bt_sim_fit bt_sim_view_fits(struct bt_sim_view *view, const struct bt_pod *pod,
	const struct bt_node *node, const char **out_reason);

/** --- parts, each in a file of its own --- */

/** Sum of what the pods on a node ask for; resource "pods" counts them. */
int64_t bt_sim_view_used(
	const struct bt_sim_view *view, struct bt_str node_name, struct bt_str resource);
/** Of one pod; cpu in milli units, others in units. */
int64_t bt_sim_pod_request(const struct bt_pod *pod, struct bt_str resource);
int64_t bt_sim_node_amount(const struct bt_node *node, struct bt_str resource);
bool bt_sim_selector_matches(
	const struct bt_label_selector *selector, const struct bt_str_map *labels);
/** nodeSelector and required node affinity. */
bool bt_sim_node_is_selected(const struct bt_pod *pod, const struct bt_node *node);
bool bt_sim_spread_allows(
	struct bt_sim_view *view, const struct bt_pod *pod, const struct bt_node *node);
bool bt_sim_affinity_allows(
	struct bt_sim_view *view, const struct bt_pod *pod, const struct bt_node *node);
enum bt_sim_fit bt_sim_volumes_fit(struct bt_sim_view *view, const struct bt_pod *pod,
	const struct bt_node *node, const char **out_reason);
enum bt_sim_fit bt_sim_devices_fit(struct bt_sim_view *view, const struct bt_pod *pod,
	const struct bt_node *node, const char **out_reason);
/** All claims for devices that the pod names are there and may be used by it. */
bool bt_sim_claims_are_there(struct bt_object_store *objects, const struct bt_pod *pod);
/** The claim of an entry of spec.resourceClaims; "": none yet. */
struct bt_str bt_sim_claim_name(
	const struct bt_pod *pod, const struct bt_pod_resource_claim *entry);
const struct bt_node *bt_sim_view_node(const struct bt_sim_view *view, struct bt_str name);
#endif
