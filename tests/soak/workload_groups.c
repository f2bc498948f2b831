/* SPDX-License-Identifier: Apache-2.0 */
/** Pod groups: apps whose pods are scheduled together, and the check of groups. Spec: 09. */
#include "api/identity.h"
#include "soak/world.h"

const char *bt_sim_group_gates(uint64_t seed)
{
	static const char *const gates[] = {
		"GenericWorkload=true,GangScheduling=true",
		"GenericWorkload=true,GangScheduling=true,WorkloadAwarePreemption=true",
		"GenericWorkload=true,GangScheduling=true,TopologyAwareWorkloadScheduling=true",
		("GenericWorkload=true,GangScheduling=true,WorkloadAwarePreemption=true,"
		 "TopologyAwareWorkloadScheduling=true"),
	};
	return seed % 2 != 0 ? gates[seed / 2 % BT_ARRAY_LENGTH(gates)] : "";
}

void bt_sim_design_group(struct bt_sim *sim, struct bt_sim_app *app)
{
	/*
	 * An app with claims gets no group, because members that share a claim could be bound to
	 * nodes without its devices (spec 12, case 8).
	 */
	if (!sim->has_groups || app->claim_count != 0 || !bt_sim_chance(&sim->changes, 50)) {
		return;
	}
	app->group = bt_arena_printf(&sim->texts, "g%u", app->serial);
	app->min_count = bt_sim_chance(&sim->changes, 80)
		? 1 + (uint32_t)bt_prng_below(&sim->changes, app->replicas)
		: 0;
	app->group_spec = bt_arena_printf(&sim->texts, "%s%s\"disruptionMode\":\"%s\"",
		bt_sim_chance(&sim->changes, 30) ? "\"schedulingConstraints\":{\"topology\":[{"
						   "\"key\":\"topology.kubernetes.io/zone\"}]},"
						 : "",
		sim->workload.has_preemption && bt_sim_chance(&sim->changes, 50)
			? "\"priorityClassName\":\"p2\","
			: "",
		bt_sim_chance(&sim->changes, 50) ? "PodGroup" : "Pod");
}

void bt_sim_create_group(struct bt_sim *sim, const struct bt_sim_app *app)
{
	struct bt_strbuf *json = &sim->workload.json;
	if (app->group.length == 0 ||
		bt_sim_store_find(&sim->store, BT_KIND_POD_GROUP, app->namespace_, app->group) !=
			NULL) {
		return;
	}
	bt_strbuf_reset(json);
	bt_strbuf_printf(json,
		"{\"apiVersion\":\"scheduling.k8s.io/v1alpha2\",\"kind\":\"PodGroup\",\"metadata\":"
		"{\"namespace\":\"%.*s\",\"name\":\"%.*s\"},\"spec\":{%.*s,\"schedulingPolicy\":{",
		BT_STR_ARG(app->namespace_), BT_STR_ARG(app->group), BT_STR_ARG(app->group_spec));
	if (app->min_count != 0) {
		bt_strbuf_printf(json, "\"gang\":{\"minCount\":%u}}}}", app->min_count);
	} else {
		bt_strbuf_append_c(json, "\"basic\":{}}}}");
	}
	bt_sim_log(sim, "group %.*s/%.*s of %u is created", BT_STR_ARG(app->namespace_),
		BT_STR_ARG(app->group), app->min_count);
	bt_sim_store_create(&sim->store, bt_strbuf_str(json));
}

/** --- check of groups --- */

static bool is_torn(const struct bt_sim *sim, struct bt_str namespace_, struct bt_str name)
{
	for (uint32_t i = 0; i < sim->torn_groups.count; i++) {
		const struct bt_sim_group_key *key = &sim->torn_groups.items[i];
		if (bt_str_equal(key->namespace_, namespace_) && bt_str_equal(key->name, name)) {
			return true;
		}
	}
	return false;
}

void bt_sim_group_lost_member(struct bt_sim *sim, const struct bt_pod *pod)
{
	if (pod->spec.scheduling_group == NULL) {
		return;
	}
	struct bt_str name = pod->spec.scheduling_group->pod_group_name;
	if (!is_torn(sim, pod->metadata.namespace_, name)) {
		struct bt_sim_group_key key = {bt_arena_str(&sim->texts, pod->metadata.namespace_),
			bt_arena_str(&sim->texts, name)};
		bt_vec_push(&sim->torn_groups, key);
	}
}

void bt_sim_group_changed(
	struct bt_sim *sim, const struct bt_object *old_object, const struct bt_object *new_object)
{
	const struct bt_object *object = new_object != NULL ? new_object : old_object;
	if (object->kind != BT_KIND_POD) {
		return;
	}
	const struct bt_pod *pod = object->value;
	if (new_object == NULL || pod->metadata.deletion_timestamp != NULL ||
		bt_pod_is_terminal(pod)) {
		bt_sim_group_lost_member(sim, pod);
	}
}

bool bt_sim_check_groups(struct bt_sim *sim, struct bt_strbuf *complaint)
{
	static const struct bt_str everywhere = {NULL, 0};
	const struct bt_pod_group *group;
	uint32_t cursor = 0;
	while ((group = bt_object_store_next(
			&sim->store.objects, BT_KIND_POD_GROUP, everywhere, &cursor)) != NULL) {
		const struct bt_object_meta *meta = &group->metadata;
		const struct bt_pod *pod;
		uint32_t pod_cursor = 0;
		int32_t bound = 0;
		bool is_excused = is_torn(sim, meta->namespace_, meta->name);
		while ((pod = bt_object_store_next(&sim->store.objects, BT_KIND_POD,
				meta->namespace_, &pod_cursor)) != NULL) {
			if (pod->spec.scheduling_group != NULL &&
				bt_str_equal(
					pod->spec.scheduling_group->pod_group_name, meta->name)) {
				bound += bt_pod_is_assigned(pod);
				is_excused |= bt_sim_pod_is_excused(sim, pod->metadata.uid);
			}
		}
		sim->report->whole_groups += !is_excused && bound != 0;
		if (group->spec.scheduling_policy.gang != NULL && !is_excused && bound != 0 &&
			bound < group->spec.scheduling_policy.gang->min_count) {
			bt_strbuf_printf(complaint,
				"group %.*s/%.*s: %d members are bound, but it needs %d",
				BT_STR_ARG(meta->namespace_), BT_STR_ARG(meta->name), bound,
				group->spec.scheduling_policy.gang->min_count);
			return false;
		}
	}
	return true;
}
