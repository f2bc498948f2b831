/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Checks of devices: in the store after each change of a claim, in each allocation that the
 * scheduler writes, and at quiet moments.
 *
 * A pool is excused from the checks after a failed write, because the scheduler does not know which
 * devices are taken. The excuse ends at the next quiet moment. If a device was allocated twice, or
 * a failed write of a claim takes effect while the scheduler has given its device to another claim,
 * the excuse lasts for the rest of the round: the scheduler keeps allocated devices as a set (spec
 * 12 section 4.3), so the end of one allocation frees the device.
 */
#include "api/identity.h"
#include "dra/dra.h"
#include "soak/world.h"

static const struct bt_str everywhere = {NULL, 0};

typedef const struct bt_device_request_allocation_result device_result;

/** --- excuses --- */

static struct bt_sim_excused_pool *find_excuse(
	struct bt_sim *sim, struct bt_str driver, struct bt_str pool)
{
	for (uint32_t i = 0; i < sim->excused_pools.count; i++) {
		struct bt_sim_excused_pool *excused = &sim->excused_pools.items[i];
		if (bt_str_equal(excused->driver, driver) && bt_str_equal(excused->pool, pool)) {
			return excused;
		}
	}
	return NULL;
}

void bt_sim_excuse_devices(struct bt_sim *sim, const struct bt_resource_claim *claim)
{
	const struct bt_allocation_result *allocation = claim->status.allocation;
	for (uint32_t i = 0; allocation != NULL && i < allocation->devices.results.count; i++) {
		device_result *result = &allocation->devices.results.items[i];
		if (find_excuse(sim, result->driver, result->pool) == NULL) {
			struct bt_sim_excused_pool excused = {
				bt_arena_str(&sim->texts, result->driver),
				bt_arena_str(&sim->texts, result->pool), false};
			bt_vec_push(&sim->excused_pools, excused);
		}
	}
}

void bt_sim_spoil_devices(struct bt_sim *sim, const struct bt_resource_claim *claim)
{
	const struct bt_dra *dra = bt_scheduler_engine(sim->scheduler)->state->dra;
	const struct bt_allocation_result *allocation = claim->status.allocation;
	for (uint32_t i = 0; allocation != NULL && i < allocation->devices.results.count; i++) {
		device_result *result = &allocation->devices.results.items[i];
		struct bt_sim_excused_pool *excused =
			find_excuse(sim, result->driver, result->pool);
		uint32_t id =
			bt_device_ids_find(&dra->ids, result->driver, result->pool, result->device);
		if (excused != NULL && id != BT_DEVICE_NONE &&
			bt_allocated_is_dedicated(&dra->allocated, id)) {
			excused->is_spoiled = true;
		}
	}
}

/** --- no device is allocated twice --- */

/** The allocated devices of one pool. */
struct holdings {
	BT_VEC(device_result *) results;
};

static void collect(struct bt_object_store *objects, device_result *of, struct holdings *out)
{
	const struct bt_resource_claim *claim;
	uint32_t cursor = 0;
	while ((claim = bt_object_store_next(
			objects, BT_KIND_RESOURCE_CLAIM, everywhere, &cursor)) != NULL) {
		const struct bt_allocation_result *allocation = claim->status.allocation;
		for (uint32_t i = 0; allocation != NULL && i < allocation->devices.results.count;
			i++) {
			device_result *result = &allocation->devices.results.items[i];
			if (bt_str_equal(result->driver, of->driver) &&
				bt_str_equal(result->pool, of->pool) &&
				!result->admin_access.value) {
				bt_vec_push(&out->results, result);
			}
		}
	}
}

/** Returns the published device of the result; NULL: the device is not published at present. */
static const struct bt_device *find_device(struct bt_object_store *objects, device_result *result)
{
	const struct bt_resource_slice *slice;
	const struct bt_device *found = NULL;
	int64_t newest = -1;
	uint32_t cursor = 0;
	while ((slice = bt_object_store_next(
			objects, BT_KIND_RESOURCE_SLICE, everywhere, &cursor)) != NULL) {
		for (uint32_t i = 0; i < slice->spec.devices.count; i++) {
			if (bt_sim_is_device(result, slice, &slice->spec.devices.items[i]) &&
				slice->spec.pool.generation > newest) {
				found = &slice->spec.devices.items[i];
				newest = slice->spec.pool.generation;
			}
		}
	}
	return found;
}

/** The value of the only counter in a pool of kind PART. */
#define SLOTS 4

/** Return the complaint about the device of the result or about the pool; NULL: no complaint. */
static const char *find_trouble(struct bt_object_store *objects, device_result *of)
{
	struct holdings holdings = {0};
	uint32_t holders = 0;
	int64_t consumed = 0;
	int64_t slots = 0;
	collect(objects, of, &holdings);
	for (uint32_t i = 0; i < holdings.results.count; i++) {
		device_result *result = holdings.results.items[i];
		const struct bt_device *device = find_device(objects, result);
		if (bt_str_equal(result->device, of->device)) {
			holders++;
			consumed += bt_sim_consumed_by(result);
		}
		slots += device != NULL ? bt_sim_slots_of(device) : 0;
	}
	const struct bt_device *device = find_device(objects, of);
	bt_vec_finish(&holdings.results);
	if (of->share_id.length == 0 && !of->admin_access.value && holders > 1) {
		return "is allocated twice";
	}
	if (of->share_id.length != 0 && device != NULL && consumed > bt_sim_bandwidth_of(device)) {
		return "is shared by too many";
	}
	return slots > SLOTS ? "draws on a counter that is overdrawn" : NULL;
}

/** Check the devices of one claim. Returns false after appending a complaint. */
static bool check_claim(
	struct bt_sim *sim, const struct bt_resource_claim *claim, struct bt_strbuf *complaint)
{
	const struct bt_allocation_result *allocation = claim->status.allocation;
	for (uint32_t i = 0; allocation != NULL && i < allocation->devices.results.count; i++) {
		device_result *result = &allocation->devices.results.items[i];
		const char *trouble = find_trouble(&sim->store.objects, result);
		struct bt_sim_excused_pool *excused =
			find_excuse(sim, result->driver, result->pool);
		if (trouble != NULL && excused != NULL) {
			excused->is_spoiled = true;
		} else if (trouble != NULL) {
			bt_strbuf_printf(complaint, "device %.*s/%.*s/%.*s of claim %.*s/%.*s %s",
				BT_STR_ARG(result->driver), BT_STR_ARG(result->pool),
				BT_STR_ARG(result->device), BT_STR_ARG(claim->metadata.namespace_),
				BT_STR_ARG(claim->metadata.name), trouble);
			return false;
		}
	}
	return true;
}

void bt_sim_devices_changed(
	struct bt_sim *sim, const struct bt_object *old_object, const struct bt_object *new_object)
{
	struct bt_strbuf complaint = {0};
	if (new_object == NULL || new_object->kind != BT_KIND_RESOURCE_CLAIM) {
		return;
	}
	const struct bt_resource_claim *claim = new_object->value;
	bool is_new = claim->status.allocation != NULL &&
		(old_object == NULL ||
			((const struct bt_resource_claim *)old_object->value)->status.allocation ==
				NULL);
	sim->report->allocations += is_new;
	if (is_new && !check_claim(sim, claim, &complaint)) {
		bt_sim_complain(sim, bt_strbuf_str(&complaint));
	}
	bt_strbuf_finish(&complaint);
}

/** --- allocations that the scheduler writes: they must match the requests and the devices --- */

static bool is_for(const struct bt_device_request *request, uint32_t sub, struct bt_str name)
{
	struct bt_str base = bt_str_sub(name, 0, request->name.length);
	struct bt_str rest = bt_str_sub(name, request->name.length, name.length);
	return bt_str_equal(base, request->name) &&
		(request->exactly != NULL ? rest.length == 0
					  : rest.length != 0 && rest.data[0] == '/' &&
					bt_str_equal(bt_str_sub(rest, 1, rest.length),
						request->first_available.items[sub].name));
}

/**
 * Find the request or alternative that the result names ("r" or "r/sub"). Returns false if there is
 * none.
 */
static bool find_subrequest(const struct bt_resource_claim *claim, device_result *result,
	struct bt_sim_subrequest *out_subrequest)
{
	for (uint32_t i = 0; i < claim->spec.devices.requests.count; i++) {
		const struct bt_device_request *request = &claim->spec.devices.requests.items[i];
		uint32_t count = request->exactly != NULL ? 1 : request->first_available.count;
		for (uint32_t sub = 0; sub < count; sub++) {
			if (is_for(request, sub, result->request)) {
				*out_subrequest = bt_sim_subrequest_of(request, sub);
				return true;
			}
		}
	}
	return false;
}

static const char *find_mistake(struct bt_object_store *objects,
	const struct bt_resource_claim *claim, device_result *result,
	const struct bt_sim_subrequest *subrequest)
{
	const struct bt_device *device = find_device(objects, result);
	const struct bt_device_class *class_ = bt_object_store_find(
		objects, BT_KIND_DEVICE_CLASS, BT_STR(""), subrequest->class_name);
	uint32_t count = 0;
	for (uint32_t i = 0; i < claim->status.allocation->devices.results.count; i++) {
		device_result *other = &claim->status.allocation->devices.results.items[i];
		const struct bt_device *its = find_device(objects, other);
		count += bt_str_equal(other->request, result->request);
		if (other != result && bt_str_equal(other->driver, result->driver) &&
			bt_str_equal(other->device, result->device)) {
			return "has a device twice";
		}
		if (claim->spec.devices.constraints.count != 0 && its != NULL && device != NULL &&
			bt_sim_numa_of(its) != bt_sim_numa_of(device)) {
			return "has devices that do not match";
		}
	}
	if (device == NULL || class_ == NULL) {
		return "has a device or a device class that does not exist";
	}
	if (!bt_sim_subrequest_selects(subrequest, class_, result->driver, device)) {
		return "has a device that it did not request, or whose taint it does not tolerate";
	}
	if (subrequest->is_admin != result->admin_access.value ||
		bt_sim_is_shareable(device) != (result->share_id.length != 0)) {
		return "has another access than it requested";
	}
	if (bt_sim_is_shareable(device) &&
		bt_sim_consumed_by(result) !=
			(subrequest->bandwidth < 0 ? bt_sim_bandwidth_of(device)
						   : subrequest->bandwidth)) {
		return "has another bandwidth than it requested";
	}
	return !subrequest->is_all && count != subrequest->count ? "has another number of devices"
								 : NULL;
}

/** Whether the allocation has a device for each request of the claim. */
static bool is_complete(const struct bt_resource_claim *claim)
{
	bool complete = true;
	for (uint32_t i = 0; i < claim->spec.devices.requests.count; i++) {
		struct bt_str name = claim->spec.devices.requests.items[i].name;
		bool found = false;
		for (uint32_t k = 0; k < claim->status.allocation->devices.results.count; k++) {
			struct bt_str request =
				claim->status.allocation->devices.results.items[k].request;
			found = found || bt_str_equal(bt_str_sub(request, 0, name.length), name);
		}
		complete = complete && found;
	}
	return complete;
}

void bt_sim_devices_decided(struct bt_sim *sim, const struct bt_resource_claim *claim)
{
	struct bt_strbuf complaint = {0};
	const char *mistake = is_complete(claim) ? NULL : "has a request without devices";
	/* Check only within the attempt: later the cluster may differ from what the scheduler saw.
	 */
	if (!sim->in_attempt || sim->is_decided) {
		return;
	}
	for (uint32_t i = 0; mistake == NULL && i < claim->status.allocation->devices.results.count;
		i++) {
		device_result *result = &claim->status.allocation->devices.results.items[i];
		struct bt_sim_subrequest subrequest;
		mistake = find_subrequest(claim, result, &subrequest)
			? find_mistake(&sim->watch.mirror, claim, result, &subrequest)
			: "has devices for an unknown request";
	}
	if (mistake != NULL) {
		bt_strbuf_printf(&complaint, "claim %.*s/%.*s %s",
			BT_STR_ARG(claim->metadata.namespace_), BT_STR_ARG(claim->metadata.name),
			mistake);
		bt_sim_complain(sim, bt_strbuf_str(&complaint));
	}
	bt_strbuf_finish(&complaint);
}

/** --- pods on nodes --- */

/**
 * Whether the devices belong to the node. Pools of zones are not checked, because the node may have
 * moved to another zone.
 */
static bool is_near(const struct bt_resource_claim *claim, struct bt_str node_name)
{
	bool near = true;
	for (uint32_t i = 0; i < claim->status.allocation->devices.results.count; i++) {
		device_result *result = &claim->status.allocation->devices.results.items[i];
		near = near &&
			(bt_str_equal_c(result->driver, "fabric.example.com") ||
				bt_str_equal(result->pool, node_name));
	}
	return near;
}

/** Check the claims of a pod on a node. Returns false after appending a complaint. */
static bool check_pod(struct bt_sim *sim, const struct bt_pod *pod, struct bt_str node_name,
	struct bt_strbuf *complaint)
{
	const char *trouble = NULL;
	for (uint32_t i = 0; trouble == NULL && i < pod->spec.resource_claims.count; i++) {
		const struct bt_resource_claim *claim = bt_object_store_find(&sim->store.objects,
			BT_KIND_RESOURCE_CLAIM, pod->metadata.namespace_,
			bt_sim_claim_name(pod, &pod->spec.resource_claims.items[i]));
		if (claim == NULL) {
			trouble = "is not there";
		} else if (claim->status.allocation == NULL) {
			trouble = "has no devices";
		} else if (!bt_resource_claim_is_reserved_by(claim, pod->metadata.uid)) {
			trouble = "is not reserved for it";
		} else if (!is_near(claim, node_name)) {
			trouble = "has devices of another node";
		}
	}
	if (trouble == NULL || bt_sim_pod_is_excused(sim, pod->metadata.uid)) {
		return true;
	}
	bt_strbuf_printf(complaint, "pod %.*s/%.*s is on node %.*s, but one of its claims %s",
		BT_STR_ARG(pod->metadata.namespace_), BT_STR_ARG(pod->metadata.name),
		BT_STR_ARG(node_name), trouble);
	return false;
}

void bt_sim_devices_bound(struct bt_sim *sim, const struct bt_pod *pod, struct bt_str node_name)
{
	struct bt_strbuf complaint = {0};
	if (!check_pod(sim, pod, node_name, &complaint)) {
		bt_sim_complain(sim, bt_strbuf_str(&complaint));
	}
	bt_strbuf_finish(&complaint);
}

/** --- at quiet moments --- */

static bool check_reservations(
	struct bt_sim *sim, const struct bt_resource_claim *claim, struct bt_strbuf *complaint)
{
	for (uint32_t i = 0; i < claim->status.reserved_for.count; i++) {
		const struct bt_resource_claim_consumer_reference *consumer =
			&claim->status.reserved_for.items[i];
		const struct bt_pod *pod = bt_object_store_find(&sim->store.objects, BT_KIND_POD,
			claim->metadata.namespace_, consumer->name);
		bool is_there = pod != NULL && bt_str_equal(pod->metadata.uid, consumer->uid) &&
			!bt_pod_is_terminal(pod);
		if (!is_there ||
			(pod->spec.node_name.length == 0 &&
				!bt_sim_pod_is_excused(sim, consumer->uid))) {
			bt_strbuf_printf(complaint,
				"claim %.*s/%.*s is reserved for pod %.*s (uid %.*s), which is %s",
				BT_STR_ARG(claim->metadata.namespace_),
				BT_STR_ARG(claim->metadata.name), BT_STR_ARG(consumer->name),
				BT_STR_ARG(consumer->uid), is_there ? "on no node" : "gone");
			return false;
		}
	}
	return true;
}

static bool check_claims(struct bt_sim *sim, struct bt_strbuf *complaint)
{
	const struct bt_resource_claim *claim;
	uint32_t cursor = 0;
	while ((claim = bt_object_store_next(&sim->store.objects, BT_KIND_RESOURCE_CLAIM,
			everywhere, &cursor)) != NULL) {
		if (!check_claim(sim, claim, complaint) ||
			!check_reservations(sim, claim, complaint)) {
			return false;
		}
	}
	return true;
}

static bool check_pods(struct bt_sim *sim, struct bt_strbuf *complaint)
{
	const struct bt_pod *pod;
	uint32_t cursor = 0;
	while ((pod = bt_object_store_next(
			&sim->store.objects, BT_KIND_POD, everywhere, &cursor)) != NULL) {
		if (pod->spec.node_name.length != 0 && !bt_pod_is_terminal(pod) &&
			!check_pod(sim, pod, pod->spec.node_name, complaint)) {
			return false;
		}
	}
	return true;
}

static bool check_cache(struct bt_sim *sim, struct bt_strbuf *complaint)
{
	struct bt_dra *dra = bt_scheduler_engine(sim->scheduler)->state->dra;
	const struct bt_resource_claim *claim;
	uint32_t cursor = 0;
	if (dra->claims.in_flight.map.count != 0) {
		bt_strbuf_printf(complaint, "cache: %u allocations are in flight, should be none",
			dra->claims.in_flight.map.count);
		return false;
	}
	while ((claim = bt_object_store_next(&sim->store.objects, BT_KIND_RESOURCE_CLAIM,
			everywhere, &cursor)) != NULL) {
		const struct bt_object *latest = bt_claim_cache_find(
			&dra->claims, claim->metadata.namespace_, claim->metadata.name);
		if (latest == NULL ||
			!bt_str_equal(
				latest->meta->resource_version, claim->metadata.resource_version)) {
			struct bt_str version =
				latest == NULL ? BT_STR("missing") : latest->meta->resource_version;
			bt_strbuf_printf(complaint,
				"cache: version of claim %.*s/%.*s is %.*s, should be %.*s",
				BT_STR_ARG(claim->metadata.namespace_),
				BT_STR_ARG(claim->metadata.name), BT_STR_ARG(version),
				BT_STR_ARG(claim->metadata.resource_version));
			return false;
		}
	}
	return bt_dra_validate(dra, complaint);
}

bool bt_sim_claim_has_devices(const struct bt_sim *sim, const struct bt_object_meta *claim)
{
	const struct bt_dra *dra = bt_scheduler_engine(sim->scheduler)->state->dra;
	const struct bt_object *latest =
		bt_claim_cache_find(&dra->claims, claim->namespace_, claim->name);
	return latest != NULL &&
		((const struct bt_resource_claim *)latest->value)->status.allocation != NULL;
}

bool bt_sim_check_devices(struct bt_sim *sim, struct bt_strbuf *complaint)
{
	uint32_t kept = 0;
	if (!check_claims(sim, complaint) || !check_pods(sim, complaint) ||
		!check_cache(sim, complaint)) {
		return false;
	}
	for (uint32_t i = 0; i < sim->excused_pools.count; i++) {
		if (sim->excused_pools.items[i].is_spoiled) {
			sim->excused_pools.items[kept++] = sim->excused_pools.items[i];
		}
	}
	sim->excused_pools.count = kept;
	return true;
}
