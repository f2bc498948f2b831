/* SPDX-License-Identifier: Apache-2.0 */
/** Writes of DynamicResources. Spec: 12 sections 10, 12 and 13. */
#include "api/resource_claim.h"
#include "soak/world.h"

/** Write or read a claim. base: the scheduler's version of the claim; NULL for reads. */
static int write_claim(struct bt_sim *sim, struct bt_sim_write write, const struct bt_object *base,
	const struct bt_resource_claim *claim, struct bt_object **out_claim,
	struct berth_error *err)
{
	write.object = bt_object_create(BT_KIND_RESOURCE_CLAIM, claim);
	write.base = base != NULL ? bt_object_create(BT_KIND_RESOURCE_CLAIM, base->value) : NULL;
	int result = bt_sim_write(sim, &write, out_claim, NULL, err);
	bt_object_release(write.base);
	bt_object_release(write.object);
	return result;
}

static void log_status(
	struct bt_sim *sim, const struct bt_pod_info *pod, const struct bt_resource_claim *claim)
{
	const struct bt_allocation_result *allocation = claim->status.allocation;
	bt_sim_log(sim, "claim %.*s for %.*s: %u users, %s", BT_STR_ARG(claim->metadata.name),
		BT_STR_ARG(pod->name), claim->status.reserved_for.count,
		allocation == NULL ? "no devices" : "devices");
	for (uint32_t i = 0; allocation != NULL && i < allocation->devices.results.count; i++) {
		const struct bt_device_request_allocation_result *result =
			&allocation->devices.results.items[i];
		bt_sim_log(sim, "  %.*s: %.*s/%.*s/%.*s%s", BT_STR_ARG(result->request),
			BT_STR_ARG(result->driver), BT_STR_ARG(result->pool),
			BT_STR_ARG(result->device),
			result->admin_access.value ? ", admin access" : "");
	}
}

static int update(void *context, const struct bt_pod_info *pod, enum bt_claim_write what,
	const struct bt_object *base, const struct bt_resource_claim *claim, bool must_end,
	struct bt_object **out_claim, struct berth_error *err)
{
	struct bt_sim *sim = context;
	struct bt_sim_write write = {
		.what = BT_SIM_WRITE_CLAIM, .pod_uid = pod->uid, .must_end = must_end};
	if (what == BT_CLAIM_WRITE_FINALIZERS) {
		bt_sim_log(sim, "claim %.*s is protected for %.*s",
			BT_STR_ARG(claim->metadata.name), BT_STR_ARG(pod->name));
		return write_claim(sim, write, base, claim, out_claim, err);
	}
	write.what = BT_SIM_WRITE_CLAIM_STATUS;
	log_status(sim, pod, claim);
	if (((const struct bt_resource_claim *)base->value)->status.allocation == NULL) {
		bt_sim_devices_decided(sim, claim);
	}
	int result = write_claim(sim, write, base, claim, out_claim, err);
	if (result != 0 && claim->status.allocation == NULL) {
		sim->freed_ns = sim->clock.now_ns; /* no event reports free devices */
	}
	return result;
}

static int get(void *context, const struct bt_pod_info *pod, struct bt_str namespace_,
	struct bt_str name, bool must_end, struct bt_object **out_claim, struct berth_error *err)
{
	struct bt_sim_write write = {
		.what = BT_SIM_READ_CLAIM, .pod_uid = pod->uid, .must_end = must_end};
	struct bt_resource_claim claim = {.metadata = {.namespace_ = namespace_, .name = name}};
	return write_claim(context, write, NULL, &claim, out_claim, err);
}

static void unreserve(void *context, const struct bt_pod_info *pod,
	const struct bt_resource_claim *claim, struct bt_str uid)
{
	struct bt_sim *sim = context;
	struct bt_sim_write write = {.what = BT_SIM_WRITE_UNRESERVE,
		.object = bt_object_create(BT_KIND_RESOURCE_CLAIM, claim),
		.pod_uid = uid};
	bt_sim_log(sim, "claim %.*s is taken from %.*s", BT_STR_ARG(claim->metadata.name),
		BT_STR_ARG(pod->name));
	/*
	 * The scheduler may try the pod again before a watch shows this write, and rely on the
	 * reservation that the write removes.
	 */
	bt_sim_excuse_pod(sim, uid);
	bt_sim_write_blindly(sim, &write);
	bt_object_release(write.object);
}

/**
 * The workloads have no extended resources backed by devices, so the functions for their claims and
 * pod statuses are missing.
 */
void bt_sim_connect_claims(struct bt_sim *sim)
{
	sim->claims = (struct bt_claim_writer){
		.context = sim,
		.write = update,
		.get = get,
		.unreserve = unreserve,
	};
}
