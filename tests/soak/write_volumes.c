/* SPDX-License-Identifier: Apache-2.0 */
/** Writes of VolumeBinding, and its wait for volumes. Spec: 07 section 9, 13 section 14.6. */
#include "api/storage.h"
#include "soak/world.h"

static int write_object(struct bt_sim *sim, struct bt_sim_write write, enum bt_kind kind,
	const void *value, struct bt_str *out_resource_version, struct berth_error *err)
{
	write.object = bt_object_create(kind, value);
	int result = bt_sim_write(sim, &write, NULL, out_resource_version, err);
	bt_object_release(write.object);
	return result;
}

static int bind_volume(void *context, const struct bt_persistent_volume *volume,
	const struct bt_persistent_volume_claim *claim, struct bt_str *out_resource_version,
	struct berth_error *err)
{
	/* Writes for two claims may name the same volume: the claim's uid tells them apart. */
	struct bt_sim_write write = {.what = BT_SIM_WRITE_VOLUME, .node_name = claim->metadata.uid};
	bt_sim_log(context, "volume %.*s for claim %.*s", BT_STR_ARG(volume->metadata.name),
		BT_STR_ARG(claim->metadata.name));
	return write_object(
		context, write, BT_KIND_PERSISTENT_VOLUME, volume, out_resource_version, err);
}

static int select_node(void *context, const struct bt_persistent_volume_claim *claim,
	struct bt_str node_name, struct bt_str *out_resource_version, struct berth_error *err)
{
	struct bt_sim_write write = {.what = BT_SIM_WRITE_SELECTED_NODE, .node_name = node_name};
	bt_sim_log(context, "claim %.*s is to be provisioned for node %.*s",
		BT_STR_ARG(claim->metadata.name), BT_STR_ARG(node_name));
	return write_object(
		context, write, BT_KIND_PERSISTENT_VOLUME_CLAIM, claim, out_resource_version, err);
}

static int wait_a_second(
	void *context, const struct bt_pod_info *pod BT_UNUSED, struct berth_error *err)
{
	struct bt_sim *sim = context;
	/*
	 * The scheduler binds the pod even if the cluster changes during the wait, so the decision
	 * must not be checked after the wait.
	 */
	sim->is_decided = true;
	bt_sim_run_until(sim, sim->clock.now_ns + BT_SIM_SECOND);
	return sim->failed ? bt_error_set(err, BERTH_ERR_STATE, "binding volumes: context canceled")
			   : 0;
}

static bool pod_exists(void *context, const struct bt_pod_info *pod)
{
	struct bt_sim *sim = context;
	const struct bt_pod *known =
		bt_object_store_find(&sim->watch.mirror, BT_KIND_POD, pod->namespace_, pod->name);
	return known != NULL && bt_str_equal(known->metadata.uid, pod->uid);
}

void bt_sim_connect_volumes(struct bt_sim *sim)
{
	sim->volumes = (struct bt_volume_writer){
		.context = sim,
		.bind_volume = bind_volume,
		.select_node = select_node,
		.wait = sim->is_asynchronous ? NULL : wait_a_second,
		.pod_exists = pod_exists,
	};
}
