/* SPDX-License-Identifier: Apache-2.0 */
/** Kubelets and the collection of pods whose node is gone. */
#include "api/identity.h"
#include "soak/world.h"

static struct bt_object *find_pod(struct bt_sim *sim, uint64_t uid)
{
	bt_sim_action_done(sim);
	struct bt_object *object = bt_sim_store_by_uid(&sim->store, uid);
	return object != NULL && object->kind == BT_KIND_POD ? object : NULL;
}

static bool node_exists(struct bt_sim *sim, struct bt_str name)
{
	return bt_sim_store_find(&sim->store, BT_KIND_NODE, BT_STR(""), name) != NULL;
}

static void set_phase(struct bt_sim *sim, const struct bt_pod *pod, struct bt_str phase)
{
	struct bt_pod changed = *pod;
	struct bt_time now = {sim->clock.now_ns / BT_SIM_SECOND, 0, true};
	changed.status.phase = phase;
	if (changed.status.start_time == NULL) {
		changed.status.start_time = &now;
	}
	(void)bt_sim_store_replace(&sim->store, BT_KIND_POD, &changed);
}

static void remove_pod(void *context, uint64_t uid)
{
	struct bt_sim *sim = context;
	struct bt_object *pod = find_pod(sim, uid);
	if (pod != NULL) {
		(void)bt_sim_store_delete(
			&sim->store, BT_KIND_POD, pod->meta->namespace_, pod->meta->name);
	}
}

static void complete(void *context, uint64_t uid)
{
	struct bt_sim *sim = context;
	struct bt_object *object = find_pod(sim, uid);
	if (object == NULL) {
		return;
	}
	const struct bt_pod *pod = object->value;
	if (!bt_pod_is_terminal(pod) && node_exists(sim, pod->spec.node_name)) {
		set_phase(sim, pod,
			bt_sim_chance(&sim->times, 90) ? BT_STR("Succeeded") : BT_STR("Failed"));
		bt_sim_after(sim, bt_sim_between_ms(&sim->times, 2000, 15000) * BT_SIM_MILLISECOND,
			remove_pod, uid);
	}
}

static void start(void *context, uint64_t uid)
{
	struct bt_sim *sim = context;
	struct bt_object *object = find_pod(sim, uid);
	if (object == NULL) {
		return;
	}
	const struct bt_pod *pod = object->value;
	if (pod->metadata.deletion_timestamp != NULL || bt_pod_is_terminal(pod) ||
		!node_exists(sim, pod->spec.node_name)) {
		return;
	}
	const struct bt_str *kind = bt_str_map_find(&pod->metadata.labels, BT_STR("kind"));
	bool is_job = kind != NULL && bt_str_equal_c(*kind, "job");
	set_phase(sim, pod, BT_STR("Running"));
	if (is_job) {
		bt_sim_after(sim, bt_sim_between_ms(&sim->times, 3000, 30000) * BT_SIM_MILLISECOND,
			complete, uid);
	}
}

static void collect_pods_of(struct bt_sim *sim, struct bt_str node_name)
{
	const struct bt_pod *pod;
	uint32_t cursor = 0;
	while ((pod = bt_object_store_next(&sim->store.objects, BT_KIND_POD,
			(struct bt_str){NULL, 0}, &cursor)) != NULL) {
		int64_t uid;
		if (bt_str_equal(pod->spec.node_name, node_name) &&
			bt_str_parse_int64(pod->metadata.uid, &uid)) {
			bt_sim_after(sim,
				bt_sim_between_ms(&sim->times, 1000, 15000) * BT_SIM_MILLISECOND,
				remove_pod, (uint64_t)uid);
		}
	}
}

/** A pod came to a node, or has to leave it. */
static void pod_changed(struct bt_sim *sim, const struct bt_pod *old_pod, struct bt_object *object)
{
	const struct bt_pod *pod = object->value;
	uint64_t uid = bt_sim_uid_of(object);
	bool was_bound = old_pod != NULL && old_pod->spec.node_name.length != 0;
	bool was_ending = old_pod != NULL && old_pod->metadata.deletion_timestamp != NULL;
	if (pod->spec.node_name.length == 0) {
		return;
	}
	if (!was_bound) {
		bool is_lost = !node_exists(sim, pod->spec.node_name);
		bt_sim_after(sim,
			(is_lost ? bt_sim_between_ms(&sim->times, 2000, 15000)
				 : bt_sim_between_ms(&sim->times, 100, 2500)) *
				BT_SIM_MILLISECOND,
			is_lost ? remove_pod : start, uid);
	}
	if (pod->metadata.deletion_timestamp != NULL && !was_ending) {
		bt_sim_after(sim, bt_sim_between_ms(&sim->times, 50, 8000) * BT_SIM_MILLISECOND,
			remove_pod, uid);
	}
}

void bt_sim_kubelet_changed(
	struct bt_sim *sim, struct bt_object *old_object, struct bt_object *new_object)
{
	if (new_object != NULL && new_object->kind == BT_KIND_POD) {
		pod_changed(sim, old_object != NULL ? old_object->value : NULL, new_object);
	}
	if (new_object == NULL && old_object->kind == BT_KIND_NODE) {
		collect_pods_of(sim, old_object->meta->name);
	}
}
