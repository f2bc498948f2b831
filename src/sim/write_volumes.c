/* SPDX-License-Identifier: Apache-2.0 */
/** What VolumeBinding writes, and its waiting. Spec: 07 section 9, 13 section 14.6. */
#include "api/storage.h"
#include "sim/world.h"

/** The object as the API has it, if it is still of the version that the scheduler saw. */
static struct bt_object *find_current(struct bt_sim *sim, enum bt_kind kind,
	const struct bt_object_meta *seen, struct berth_error *err)
{
	struct bt_object *object =
		bt_sim_store_find(&sim->store, kind, seen->namespace_, seen->name);
	if (object == NULL) {
		(void)bt_error_set(err, BERTH_ERR_NOT_FOUND, "%s \"%.*s\" not found",
			bt_kind_info(kind)->resource, BT_STR_ARG(seen->name));
		return NULL;
	}
	if (!bt_str_equal(object->meta->resource_version, seen->resource_version)) {
		(void)bt_error_set(err, BERTH_ERR_STATE,
			"Operation cannot be fulfilled on %s \"%.*s\": the object has been "
			"modified; please apply your changes to the latest version and try again",
			bt_kind_info(kind)->resource, BT_STR_ARG(seen->name));
		return NULL;
	}
	return object;
}

static int replace(struct bt_sim *sim, enum bt_kind kind, const void *value,
	struct bt_str *out_resource_version, struct berth_error *err)
{
	enum bt_sim_fault fault = bt_sim_draw_fault(sim);
	if (fault == BT_SIM_WRITE_GOOD || fault == BT_SIM_WRITE_UNHEARD) {
		struct bt_object *object = bt_sim_store_replace(&sim->store, kind, value);
		*out_resource_version = bt_arena_str(&sim->texts, object->meta->resource_version);
	}
	return fault == BT_SIM_WRITE_GOOD ? 0 : bt_sim_fail_write(sim, "volume write", err);
}

static int bind_volume(void *context, const struct bt_persistent_volume *volume,
	const struct bt_persistent_volume_claim *claim, struct bt_str *out_resource_version,
	struct berth_error *err)
{
	struct bt_sim *sim = context;
	bt_sim_log(sim, "volume %.*s for claim %.*s", BT_STR_ARG(volume->metadata.name),
		BT_STR_ARG(claim->metadata.name));
	if (find_current(sim, BT_KIND_PERSISTENT_VOLUME, &volume->metadata, err) == NULL) {
		return BERTH_ERR_STATE;
	}
	return replace(sim, BT_KIND_PERSISTENT_VOLUME, volume, out_resource_version, err);
}

static int select_node(void *context, const struct bt_persistent_volume_claim *claim,
	struct bt_str node_name, struct bt_str *out_resource_version, struct berth_error *err)
{
	struct bt_sim *sim = context;
	bt_sim_log(sim, "claim %.*s is to be provisioned for node %.*s",
		BT_STR_ARG(claim->metadata.name), BT_STR_ARG(node_name));
	if (find_current(sim, BT_KIND_PERSISTENT_VOLUME_CLAIM, &claim->metadata, err) == NULL) {
		return BERTH_ERR_STATE;
	}
	return replace(sim, BT_KIND_PERSISTENT_VOLUME_CLAIM, claim, out_resource_version, err);
}

static int wait_a_second(
	void *context, const struct bt_pod_info *pod BT_UNUSED, struct berth_error *err)
{
	struct bt_sim *sim = context;
	/* Whatever changes now, the binding is to be tried: the API has the last word. */
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
		.wait = wait_a_second,
		.pod_exists = pod_exists,
	};
}
