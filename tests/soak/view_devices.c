/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Claims and devices, by brute force: every way to choose devices is tried. Spec: 12 sections 6 to
 * 9.
 */
#include "base/assert.h"
#include "soak/devices.h"
#include "soak/view.h"

/** The maximum of claims per pod; the workloads use fewer. */
#define CLAIMS_MAX 4

static const struct bt_str everywhere = {NULL, 0};

/** --- claims of a pod --- */

struct bt_str bt_sim_claim_name(const struct bt_pod *pod, const struct bt_pod_resource_claim *entry)
{
	if (entry->resource_claim_name.length != 0) {
		return entry->resource_claim_name;
	}
	for (uint32_t i = 0; i < pod->status.resource_claim_statuses.count; i++) {
		const struct bt_pod_resource_claim_status *status =
			&pod->status.resource_claim_statuses.items[i];
		if (bt_str_equal(status->name, entry->name)) {
			return status->resource_claim_name;
		}
	}
	return BT_STR("");
}

/** Returns NULL if the claim does not exist, is being deleted, or was made for another pod. */
static const struct bt_resource_claim *find_claim(struct bt_object_store *objects,
	const struct bt_pod *pod, const struct bt_pod_resource_claim *entry)
{
	const struct bt_resource_claim *claim = bt_object_store_find(objects,
		BT_KIND_RESOURCE_CLAIM, pod->metadata.namespace_, bt_sim_claim_name(pod, entry));
	if (claim == NULL || claim->metadata.deletion_timestamp != NULL) {
		return NULL;
	}
	const struct bt_owner_reference *owner = bt_object_controller(&claim->metadata);
	bool is_made = entry->resource_claim_name.length == 0;
	return !is_made || (owner != NULL && bt_str_equal(owner->uid, pod->metadata.uid)) ? claim
											  : NULL;
}

bool bt_sim_claims_are_there(struct bt_object_store *objects, const struct bt_pod *pod)
{
	bool good = true;
	for (uint32_t i = 0; i < pod->spec.resource_claims.count; i++) {
		good = good &&
			find_claim(objects, pod, &pod->spec.resource_claims.items[i]) != NULL;
	}
	return good;
}

/** --- devices of the node --- */

struct seen {
	const struct bt_resource_slice *slice;
	const struct bt_device *device;
	int64_t counter;  /* value of the counter of its pool; -1: the pool has no counter */
	bool is_held;     /* an existing claim has the whole device */
	int64_t consumed; /* what existing claims consume of the device's capacity */
};

/** A device chosen in this search. */
struct taken {
	uint32_t device;
	uint32_t claim;
	bool is_admin;
	int64_t consumed;
};

struct search {
	struct bt_sim_view *view;
	const struct bt_node *node;
	BT_VEC(struct seen) devices;
	const struct bt_resource_claim *claims[CLAIMS_MAX];
	uint32_t claim_count;
	BT_VEC(struct taken) taken;
};

/** Whether the node selector of a slice or of an allocation matches the node. */
static bool selects(const struct bt_node_selector *selector, const struct bt_node *node)
{
	struct bt_node_affinity wrapped = {.required = selector};
	struct bt_affinity outer = {.node_affinity = &wrapped};
	struct bt_pod stand_in = {.spec = {.affinity = &outer}};
	return bt_sim_node_is_selected(&stand_in, node);
}

static bool reaches(const struct bt_resource_slice *slice, const struct bt_node *node)
{
	return slice->spec.node_name.length != 0
		? bt_str_equal(slice->spec.node_name, node->metadata.name)
		: slice->spec.node_selector != NULL && selects(slice->spec.node_selector, node);
}

static bool same_pool(const struct bt_resource_slice *a, const struct bt_resource_slice *b)
{
	return bt_str_equal(a->spec.driver, b->spec.driver) &&
		bt_str_equal(a->spec.pool.name, b->spec.pool.name);
}

/** Whether the slice has the newest generation of its pool, and the pool is complete. */
static bool is_usable(struct bt_object_store *objects, const struct bt_resource_slice *slice)
{
	const struct bt_resource_slice *other;
	uint32_t cursor = 0;
	int64_t count = 0;
	while ((other = bt_object_store_next(
			objects, BT_KIND_RESOURCE_SLICE, everywhere, &cursor)) != NULL) {
		if (same_pool(slice, other)) {
			if (other->spec.pool.generation > slice->spec.pool.generation) {
				return false;
			}
			count += other->spec.pool.generation == slice->spec.pool.generation;
		}
	}
	return count == slice->spec.pool.resource_slice_count;
}

static int64_t counter_of(struct bt_object_store *objects, const struct bt_resource_slice *slice)
{
	const struct bt_resource_slice *other;
	uint32_t cursor = 0;
	while ((other = bt_object_store_next(
			objects, BT_KIND_RESOURCE_SLICE, everywhere, &cursor)) != NULL) {
		if (same_pool(slice, other) && other->spec.shared_counters.count != 0) {
			return bt_quantity_value(&other->spec.shared_counters.items[0]
							  .counters.items[0]
							  .value.value);
		}
	}
	return -1;
}

static bool is_blurred(const struct bt_sim_view *view, const struct bt_resource_slice *slice)
{
	for (uint32_t i = 0; i < view->blurred_count; i++) {
		if (bt_str_equal(view->blurred[i].driver, slice->spec.driver) &&
			bt_str_equal(view->blurred[i].pool, slice->spec.pool.name)) {
			return true;
		}
	}
	return false;
}

/** Whether the search allocates this claim. */
static bool is_sought(const struct search *search, const struct bt_resource_claim *claim)
{
	bool sought = false;
	for (uint32_t i = 0; i < search->claim_count; i++) {
		sought = sought || search->claims[i] == claim;
	}
	return sought;
}

/** Sets seen->is_held and seen->consumed from the existing claims that use the device. */
static void add_holders(const struct search *search, struct seen *seen)
{
	const struct bt_sim_view *view = search->view;
	const struct bt_resource_claim *claim;
	uint32_t cursor = 0;
	if (is_blurred(view, seen->slice)) {
		seen->is_held = !view->blurred_is_free;
		seen->consumed = view->blurred_is_free ? 0 : INT32_MAX;
		return;
	}
	while ((claim = bt_object_store_next(
			view->objects, BT_KIND_RESOURCE_CLAIM, everywhere, &cursor)) != NULL) {
		const struct bt_allocation_result *allocation = claim->status.allocation;
		if (is_sought(search, claim)) {
			continue; /* the search may replace the claim's allocation */
		}
		for (uint32_t i = 0; allocation != NULL && i < allocation->devices.results.count;
			i++) {
			const struct bt_device_request_allocation_result *result =
				&allocation->devices.results.items[i];
			if (!bt_sim_is_device(result, seen->slice, seen->device) ||
				result->admin_access.value) {
				continue;
			}
			seen->is_held = seen->is_held || result->share_id.length == 0;
			seen->consumed += bt_sim_consumed_by(result);
		}
	}
}

static void look_around(struct search *search)
{
	struct bt_object_store *objects = search->view->objects;
	const struct bt_resource_slice *slice;
	uint32_t cursor = 0;
	while ((slice = bt_object_store_next(
			objects, BT_KIND_RESOURCE_SLICE, everywhere, &cursor)) != NULL) {
		if (!reaches(slice, search->node) || !is_usable(objects, slice)) {
			continue;
		}
		for (uint32_t i = 0; i < slice->spec.devices.count; i++) {
			struct seen seen = {.slice = slice,
				.device = &slice->spec.devices.items[i],
				.counter = counter_of(objects, slice)};
			add_holders(search, &seen);
			bt_vec_push(&search->devices, seen);
		}
	}
}

/** --- may the device be allocated? --- */

/**
 * Whether this search has chosen the device for the claim with index for_claim; UINT32_MAX: for any
 * claim.
 */
static bool is_taken(const struct search *search, uint32_t device, uint32_t for_claim)
{
	for (uint32_t i = 0; i < search->taken.count; i++) {
		if (search->taken.items[i].device == device &&
			(for_claim == UINT32_MAX || search->taken.items[i].claim == for_claim)) {
			return true;
		}
	}
	return false;
}

static bool has_counter_left(const struct search *search, const struct seen *wanted)
{
	int64_t used = bt_sim_slots_of(wanted->device);
	for (uint32_t i = 0; i < search->devices.count; i++) {
		const struct seen *seen = &search->devices.items[i];
		if (same_pool(seen->slice, wanted->slice) &&
			(seen->is_held || is_taken(search, i, UINT32_MAX))) {
			used += bt_sim_slots_of(seen->device);
		}
	}
	return wanted->counter < 0 || used <= wanted->counter;
}

/** How much capacity of a shared device the subrequest takes; -1: not enough is left. */
static int64_t share_of(
	const struct search *search, uint32_t index, const struct bt_sim_subrequest *subrequest)
{
	const struct seen *seen = &search->devices.items[index];
	int64_t all = bt_sim_bandwidth_of(seen->device);
	int64_t wanted = subrequest->bandwidth < 0 ? all : subrequest->bandwidth;
	int64_t used = seen->consumed;
	for (uint32_t i = 0; i < search->taken.count; i++) {
		const struct taken *taken = &search->taken.items[i];
		used += taken->device == index ? taken->consumed : 0;
	}
	return used + wanted <= all ? wanted : -1;
}

/**
 * Whether the device satisfies the constraint of the claim, if the claim has a constraint. All
 * devices of the claim must have the same numa attribute.
 */
static bool is_matched(const struct search *search, uint32_t claim, const struct bt_device *device)
{
	int64_t numa = bt_sim_numa_of(device);
	if (search->claims[claim]->spec.devices.constraints.count == 0) {
		return true;
	}
	for (uint32_t i = 0; i < search->taken.count; i++) {
		const struct taken *taken = &search->taken.items[i];
		if (taken->claim == claim &&
			bt_sim_numa_of(search->devices.items[taken->device].device) != numa) {
			return false;
		}
	}
	return numa >= 0;
}

static bool take(struct search *search, uint32_t claim, uint32_t index,
	const struct bt_sim_subrequest *subrequest)
{
	const struct seen *seen = &search->devices.items[index];
	struct taken taken = {index, claim, subrequest->is_admin, 0};
	if (bt_sim_is_shareable(seen->device)) {
		taken.consumed = share_of(search, index, subrequest);
		if (taken.consumed < 0) {
			return false;
		}
	} else if (subrequest->is_admin ? is_taken(search, index, claim)
					: seen->is_held || is_taken(search, index, UINT32_MAX)) {
		return false;
	}
	if (!has_counter_left(search, seen) || !is_matched(search, claim, seen->device)) {
		return false;
	}
	bt_vec_push(&search->taken, taken);
	return true;
}

/** --- the search --- */

static bool find_rest(struct search *search, uint32_t claim, uint32_t request);

static bool is_selected_by(const struct search *search, const struct bt_sim_subrequest *subrequest,
	uint32_t index, bool by_taint)
{
	const struct seen *seen = &search->devices.items[index];
	const struct bt_device_class *class_ = bt_object_store_find(
		search->view->objects, BT_KIND_DEVICE_CLASS, BT_STR(""), subrequest->class_name);
	struct bt_device bare = *seen->device;
	if (!by_taint) {
		bare.taints.count = 0;
	}
	return class_ != NULL &&
		bt_sim_subrequest_selects(subrequest, class_, seen->slice->spec.driver, &bare);
}

/**
 * Chooses `count` devices with an index of at least `first`, then continues with the next request.
 * Returns false if no choice leads to a solution.
 */
static bool find_some(struct search *search, uint32_t claim, uint32_t request,
	const struct bt_sim_subrequest *subrequest, uint32_t count, uint32_t first)
{
	if (count == 0) {
		return find_rest(search, claim, request + 1);
	}
	for (uint32_t i = first; i < search->devices.count; i++) {
		if (!is_selected_by(search, subrequest, i, true) ||
			!take(search, claim, i, subrequest)) {
			continue;
		}
		if (find_some(search, claim, request, subrequest, count - 1, i + 1)) {
			return true;
		}
		search->taken.count--;
	}
	return false;
}

/** Allocation mode All: each selected device must be available, tainted ones included. */
static bool find_all(struct search *search, uint32_t claim, uint32_t request,
	const struct bt_sim_subrequest *subrequest)
{
	uint32_t before = search->taken.count;
	bool good = true;
	for (uint32_t i = 0; good && i < search->devices.count; i++) {
		if (is_selected_by(search, subrequest, i, false)) {
			good = is_selected_by(search, subrequest, i, true) &&
				take(search, claim, i, subrequest);
		}
	}
	if (good && search->taken.count != before && find_rest(search, claim, request + 1)) {
		return true;
	}
	search->taken.count = before;
	return false;
}

static bool find_rest(struct search *search, uint32_t claim, uint32_t request)
{
	if (claim == search->claim_count) {
		return true;
	}
	const struct bt_device_claim *devices = &search->claims[claim]->spec.devices;
	if (request == devices->requests.count) {
		return find_rest(search, claim + 1, 0);
	}
	const struct bt_device_request *wanted = &devices->requests.items[request];
	uint32_t alternatives = wanted->exactly != NULL ? 1 : wanted->first_available.count;
	for (uint32_t sub = 0; sub < alternatives; sub++) {
		struct bt_sim_subrequest subrequest = bt_sim_subrequest_of(wanted, sub);
		if (subrequest.is_all ? find_all(search, claim, request, &subrequest)
				      : find_some(search, claim, request, &subrequest,
						subrequest.count, 0)) {
			return true;
		}
	}
	return false;
}

/** --- all claims --- */

/** Every device class that a request names must exist, even in alternatives that are not used. */
static bool classes_are_there(const struct bt_sim_view *view, const struct bt_resource_claim *claim)
{
	for (uint32_t i = 0; i < claim->spec.devices.requests.count; i++) {
		const struct bt_device_request *request = &claim->spec.devices.requests.items[i];
		uint32_t count = request->exactly != NULL ? 1 : request->first_available.count;
		for (uint32_t sub = 0; sub < count; sub++) {
			struct bt_sim_subrequest subrequest = bt_sim_subrequest_of(request, sub);
			if (bt_object_store_find(view->objects, BT_KIND_DEVICE_CLASS, BT_STR(""),
				    subrequest.class_name) == NULL) {
				return false;
			}
		}
	}
	return true;
}

static bool is_newer(const struct bt_sim_view *view, const struct bt_resource_claim *claim)
{
	const struct bt_resource_claim *now = view->truth == NULL
		? claim
		: bt_object_store_find(view->truth, BT_KIND_RESOURCE_CLAIM,
			  claim->metadata.namespace_, claim->metadata.name);
	return now == NULL ||
		!bt_str_equal(now->metadata.resource_version, claim->metadata.resource_version);
}

static bool is_used_by_none_but(const struct bt_resource_claim *claim, const struct bt_pod *pod)
{
	return claim->status.reserved_for.count == 0 ||
		(claim->status.reserved_for.count == 1 &&
			bt_str_equal(claim->status.reserved_for.items[0].uid, pod->metadata.uid));
}

/** Collect the claims that need an allocation. */
static enum bt_sim_fit look_at_claims(
	struct search *search, const struct bt_pod *pod, const char **out_reason)
{
	enum bt_sim_fit fit = BT_SIM_FITS;
	for (uint32_t i = 0; i < pod->spec.resource_claims.count; i++) {
		const struct bt_resource_claim *claim =
			find_claim(search->view->objects, pod, &pod->spec.resource_claims.items[i]);
		if (claim == NULL) {
			*out_reason = "a claim for devices is missing";
			return BT_SIM_FITS_NOT;
		}
		const struct bt_allocation_result *allocation = claim->status.allocation;
		if (is_newer(search->view, claim)) {
			fit = BT_SIM_FIT_UNKNOWN;
			continue;
		}
		if (allocation != NULL &&
			(allocation->node_selector == NULL ||
				selects(allocation->node_selector, search->node))) {
			continue;
		}
		if (allocation != NULL &&
			(!search->view->may_free || !is_used_by_none_but(claim, pod))) {
			*out_reason = "the devices of a claim are on another node";
			return BT_SIM_FITS_NOT;
		}
		if (!classes_are_there(search->view, claim)) {
			*out_reason = "a device class is missing";
			return BT_SIM_FITS_NOT;
		}
		BT_ASSERT(search->claim_count < CLAIMS_MAX);
		search->claims[search->claim_count++] = claim;
	}
	return fit;
}

enum bt_sim_fit bt_sim_devices_fit(struct bt_sim_view *view, const struct bt_pod *pod,
	const struct bt_node *node, const char **out_reason)
{
	struct search search = {.view = view, .node = node};
	if (pod->spec.resource_claims.count == 0) {
		return BT_SIM_FITS;
	}
	enum bt_sim_fit fit = look_at_claims(&search, pod, out_reason);
	if (fit != BT_SIM_FITS_NOT && search.claim_count != 0) {
		look_around(&search);
		if (!find_rest(&search, 0, 0)) {
			*out_reason = "the node has no devices for a claim";
			fit = BT_SIM_FITS_NOT;
		}
	}
	bt_vec_finish(&search.devices);
	bt_vec_finish(&search.taken);
	return fit;
}
