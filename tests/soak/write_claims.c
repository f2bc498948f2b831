/* SPDX-License-Identifier: Apache-2.0 */
/** What DynamicResources writes of claims, and what an API server makes of it. Spec: 12 sections
 * 10, 12 and 13. */
#include "api/resource_claim.h"
#include "soak/world.h"

/** --- the server --- */

/** What the API server does not let a status become. */
static const char *wrong_status(
	const struct bt_resource_claim *old_claim, const struct bt_resource_claim *claim)
{
	const struct bt_resource_claim_status *status = &claim->status;
	if (old_claim->status.allocation != NULL && status->allocation != NULL &&
		!bt_message_equal(&bt_allocation_result_message, old_claim->status.allocation,
			status->allocation)) {
		return "status.allocation: field is immutable";
	}
	if (status->allocation == NULL && status->reserved_for.count != 0) {
		return "status.reservedFor: may not be specified when allocation is not set";
	}
	for (uint32_t i = 0; i < status->reserved_for.count; i++) {
		for (uint32_t k = 0; k < i; k++) {
			if (bt_str_equal(status->reserved_for.items[i].uid,
				    status->reserved_for.items[k].uid)) {
				return "status.reservedFor: duplicate value";
			}
		}
	}
	return NULL;
}

static int refuse(const struct bt_object_meta *meta, const char *why, struct berth_error *err)
{
	return bt_error_set(err, BERTH_ERR_STATE, "resourceclaims.resource.k8s.io \"%.*s\": %s",
		BT_STR_ARG(meta->name), why);
}

static int conflict(const struct bt_object_meta *meta, struct berth_error *err)
{
	(void)refuse(meta, "the object has been modified", err);
	return BT_WRITE_CONFLICT;
}

static int put(struct bt_sim *sim, const struct bt_sim_write *write,
	const struct bt_resource_claim *stored, struct berth_error *err)
{
	const struct bt_resource_claim *wanted = write->object->value;
	struct bt_resource_claim changed = *stored;
	if (!bt_str_equal(stored->metadata.resource_version, wanted->metadata.resource_version)) {
		return conflict(&stored->metadata, err);
	}
	if (write->what == BT_SIM_WRITE_CLAIM) {
		changed.metadata.finalizers = wanted->metadata.finalizers;
	} else if (wrong_status(stored, wanted) != NULL) {
		return refuse(&stored->metadata, wrong_status(stored, wanted), err);
	} else {
		changed.status = wanted->status;
	}
	(void)bt_sim_store_replace(&sim->store, BT_KIND_RESOURCE_CLAIM, &changed);
	return 0;
}

static void unreserve_stored(
	struct bt_sim *sim, const struct bt_resource_claim *stored, struct bt_str pod_uid)
{
	struct bt_resource_claim left = *stored;
	bt_arena_reset(&sim->scratch);
	if (bt_resource_claim_drop_user(&left, pod_uid, &sim->scratch)) {
		(void)bt_sim_store_replace(&sim->store, BT_KIND_RESOURCE_CLAIM, &left);
	}
}

int bt_sim_store_claim(struct bt_sim *sim, const struct bt_sim_write *write,
	struct bt_object **out_object, struct berth_error *err)
{
	const struct bt_object_meta *meta = write->object->meta;
	struct bt_object *stored = bt_sim_store_find(
		&sim->store, BT_KIND_RESOURCE_CLAIM, meta->namespace_, meta->name);
	int result = 0;
	if (stored == NULL) {
		return refuse(meta, "not found", err);
	}
	if (write->what != BT_SIM_READ_CLAIM && !bt_str_equal(stored->meta->uid, meta->uid)) {
		return conflict(meta, err);
	}
	if (write->what == BT_SIM_WRITE_UNRESERVE) {
		unreserve_stored(sim, stored->value, write->pod_uid);
	} else if (write->what != BT_SIM_READ_CLAIM) {
		result = put(sim, write, stored->value, err);
	}
	if (result == 0) {
		*out_object = bt_object_share(bt_sim_store_find(
			&sim->store, BT_KIND_RESOURCE_CLAIM, meta->namespace_, meta->name));
	}
	return result;
}

/** --- the scheduler's side --- */

static int write_claim(struct bt_sim *sim, struct bt_sim_write write,
	const struct bt_resource_claim *claim, struct bt_object **out_claim,
	struct berth_error *err)
{
	write.object = bt_object_create(BT_KIND_RESOURCE_CLAIM, claim);
	int result = bt_sim_write(sim, &write, out_claim, err);
	bt_object_release(write.object);
	return result;
}

static int update(void *context, const struct bt_pod_info *pod,
	const struct bt_object *base BT_UNUSED, const struct bt_resource_claim *claim,
	bool must_end, struct bt_object **out_claim, struct berth_error *err)
{
	struct bt_sim_write write = {
		.what = BT_SIM_WRITE_CLAIM, .pod_uid = pod->uid, .must_end = must_end};
	bt_sim_log(context, "claim %.*s is protected for %.*s", BT_STR_ARG(claim->metadata.name),
		BT_STR_ARG(pod->name));
	return write_claim(context, write, claim, out_claim, err);
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

static int update_status(void *context, const struct bt_pod_info *pod, const struct bt_object *base,
	const struct bt_resource_claim *claim, bool must_end, struct bt_object **out_claim,
	struct berth_error *err)
{
	struct bt_sim *sim = context;
	struct bt_sim_write write = {
		.what = BT_SIM_WRITE_CLAIM_STATUS, .pod_uid = pod->uid, .must_end = must_end};
	log_status(sim, pod, claim);
	if (((const struct bt_resource_claim *)base->value)->status.allocation == NULL) {
		bt_sim_devices_decided(sim, claim);
	}
	int result = write_claim(sim, write, claim, out_claim, err);
	if (result != 0 && claim->status.allocation == NULL) {
		sim->freed_ns = sim->clock.now_ns; /* nobody hears that they were to be free */
	}
	return result;
}

static int get(void *context, const struct bt_pod_info *pod, struct bt_str namespace_,
	struct bt_str name, bool must_end, struct bt_object **out_claim, struct berth_error *err)
{
	struct bt_sim_write write = {
		.what = BT_SIM_READ_CLAIM, .pod_uid = pod->uid, .must_end = must_end};
	struct bt_resource_claim claim = {.metadata = {.namespace_ = namespace_, .name = name}};
	return write_claim(context, write, &claim, out_claim, err);
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
	/* It may be tried again before a watch has shown that, and count on the reservation. */
	bt_sim_excuse_pod(sim, uid);
	bt_sim_write_blindly(sim, &write);
	bt_object_release(write.object);
}

/** Nobody asks for extended resources that are devices: no claims are made or removed, and pods'
 * statuses stay as they are. */
void bt_sim_connect_claims(struct bt_sim *sim)
{
	sim->claims = (struct bt_claim_writer){
		.context = sim,
		.update = update,
		.update_status = update_status,
		.get = get,
		.unreserve = unreserve,
	};
}
