/* SPDX-License-Identifier: Apache-2.0 */
/** The scheduler's bindings, status patches, evictions and events. */
#include "api/identity.h"
#include "soak/world.h"

/** Checks a decision before its first write; further writes of the attempt are not checked. */
static void check_decision(struct bt_sim *sim, const struct bt_pod *pod, struct bt_str node_name)
{
	struct bt_strbuf complaint = {0};
	struct bt_sim_view view;
	/* Members of a group are not checked: they are decided together and bound one by one. */
	if (sim->is_decided || pod->spec.scheduling_group != NULL) {
		return;
	}
	sim->is_decided = true;
	bt_sim_view_of_scheduler(sim, &view);
	view.crowded = sim->excused.items;
	view.crowded_count = sim->excused.count;
	view.truth = &sim->store.objects;
	view.blurred = sim->excused_pools.items;
	view.blurred_count = sim->excused_pools.count;
	view.blurred_is_free = true;
	sim->report->decisions_checked++;
	if (!bt_sim_check_decision(&view, pod, node_name, &complaint)) {
		bt_sim_complain(sim, bt_strbuf_str(&complaint));
	}
	bt_sim_view_finish(&view);
	bt_strbuf_finish(&complaint);
}

/** --- nominations that the scheduler reports --- */

/** Record that the pod is nominated to this node from now on; "": to no node. */
static void note_nomination(
	struct bt_sim *sim, const struct bt_object_meta *meta, struct bt_str node_name)
{
	const struct bt_pod *known =
		bt_object_store_find(&sim->watch.mirror, BT_KIND_POD, meta->namespace_, meta->name);
	for (uint32_t i = 0; i < sim->nominated.count; i++) {
		if (bt_str_equal(sim->nominated.items[i], meta->uid)) {
			bt_vec_remove_swap(&sim->nominated, i);
			/* If the watch showed the nomination, it also shows its end. */
			if (known == NULL || known->status.nominated_node_name.length == 0) {
				sim->unseen_end_ns = sim->clock.now_ns;
			}
			break;
		}
	}
	if (node_name.length != 0) {
		bt_vec_push(&sim->nominated, bt_arena_str(&sim->texts, meta->uid));
	}
}

/**
 * Records that a nomination has ended without an event, if the watch shows the pod nominated to
 * another node: the pod is assumed on this node, and the scheduler ignores updates of assumed pods
 * (spec 03 section 10.3), or the patch that ends the nomination has failed.
 */
static void note_unseen_end(
	struct bt_sim *sim, const struct bt_object_meta *meta, struct bt_str node_name)
{
	const struct bt_pod *known =
		bt_object_store_find(&sim->watch.mirror, BT_KIND_POD, meta->namespace_, meta->name);
	if (known != NULL && known->status.nominated_node_name.length != 0 &&
		!bt_str_equal(known->status.nominated_node_name, node_name)) {
		sim->unseen_end_ns = sim->clock.now_ns;
	}
}

static int write_binding(void *context, const struct bt_pod_info *pod, struct bt_str node_name,
	struct berth_error *err)
{
	struct bt_sim *sim = context;
	sim->named_uid = bt_arena_str(&sim->texts, pod->uid);
	check_decision(sim, pod->object, node_name);
	note_unseen_end(sim, &pod->object->metadata, node_name);
	note_nomination(sim, &pod->object->metadata, BT_STR(""));
	struct bt_sim_write write = {.what = BT_SIM_WRITE_BINDING,
		.object = bt_object_create(BT_KIND_POD, pod->object),
		.node_name = node_name};
	int result = bt_sim_write(sim, &write, NULL, NULL, err);
	if (result == 0) {
		/* Count the version of the pod that the scheduler has. */
		struct bt_sim_binding binding = {
			bt_object_share(write.object), bt_arena_str(&sim->texts, node_name), false};
		bt_vec_push(&sim->bindings, binding);
		sim->report->bound++;
	}
	bt_sim_log(sim, "bind %.*s/%.*s (uid %.*s) to %.*s%s", BT_STR_ARG(pod->namespace_),
		BT_STR_ARG(pod->name), BT_STR_ARG(pod->uid), BT_STR_ARG(node_name),
		result == 0                          ? ""
			: result == BT_WRITE_PENDING ? ": no answer yet"
						     : ": failed");
	bt_object_release(write.object);
	return result;
}

static int write_status(void *context, const struct bt_pod *pod,
	const struct bt_pod_condition *condition, const struct bt_post_filter_result *nomination,
	struct berth_error *err)
{
	struct bt_sim *sim = context;
	const struct bt_str *node_name = NULL;
	if (nomination->present && nomination->mode == BT_NOMINATING_OVERRIDE) {
		node_name = &nomination->nominated_node_name;
	}
	if (condition == NULL && node_name != NULL && node_name->length != 0) {
		check_decision(sim, pod, *node_name);
		note_unseen_end(sim, &pod->metadata, *node_name);
	}
	if (condition != NULL && node_name != NULL) {
		note_nomination(sim, &pod->metadata, *node_name);
	}
	enum bt_sim_fault fault = bt_sim_draw_fault(sim);
	int result = 0;
	if (node_name != NULL || condition != NULL) {
		bt_sim_log(sim, "patch %.*s/%.*s nominated=%.*s %.*s",
			BT_STR_ARG(pod->metadata.namespace_), BT_STR_ARG(pod->metadata.name),
			node_name != NULL ? (int)node_name->length : 1,
			node_name != NULL && node_name->data != NULL ? node_name->data : "-",
			condition != NULL ? (int)condition->message.length : 0,
			condition != NULL && condition->message.data != NULL
				? condition->message.data
				: "");
	}
	if (fault == BT_SIM_WRITE_GOOD || fault == BT_SIM_WRITE_UNHEARD) {
		result = sim->writes.base.writer.patch_status(
			&sim->writes.base, pod, condition, nomination, err);
		bt_sim_store_flush(&sim->store);
	} else if (condition != NULL && node_name != NULL) {
		note_unseen_end(sim, &pod->metadata, *node_name);
	}
	if (fault != BT_SIM_WRITE_GOOD && result == 0) {
		result = bt_sim_fail_write(sim, "patch", err);
	}
	return result;
}

static int write_pod_group(void *context, const struct bt_pod_group *group,
	const struct bt_condition *condition, struct berth_error *err)
{
	struct bt_sim *sim = context;
	enum bt_sim_fault fault = bt_sim_draw_fault(sim);
	int result = 0;
	bt_sim_log(sim, "patch group %.*s/%.*s %.*s %.*s", BT_STR_ARG(group->metadata.namespace_),
		BT_STR_ARG(group->metadata.name), BT_STR_ARG(condition->status),
		BT_STR_ARG(condition->message));
	if (fault == BT_SIM_WRITE_GOOD || fault == BT_SIM_WRITE_UNHEARD) {
		result = sim->writes.base.writer.patch_pod_group(
			&sim->writes.base, group, condition, err);
		bt_sim_store_flush(&sim->store);
	}
	if (fault != BT_SIM_WRITE_GOOD && result == 0) {
		result = bt_sim_fail_write(sim, "patch group", err);
	}
	return result;
}

static void write_event(void *context, const struct bt_pod *pod, const char *type,
	const char *reason, const char *action, struct bt_str note BT_UNUSED)
{
	struct bt_sim *sim = context;
	if (strcmp(reason, "Preempted") != 0) {
		sim->named_uid = bt_arena_str(&sim->texts, pod->metadata.uid);
	}
	bt_sim_log(sim, "event %s %s %s %.*s/%.*s", type, reason, action,
		BT_STR_ARG(pod->metadata.namespace_), BT_STR_ARG(pod->metadata.name));
}

static void write_warning(void *context, struct bt_str line)
{
	bt_sim_log(context, "warning: %.*s", BT_STR_ARG(line));
}

/** --- preemption --- */

/** Write now, or later if preemption is asynchronous. */
static int write_for_preemption(
	struct bt_sim *sim, const struct bt_sim_late_write *write, struct berth_error *err)
{
	if (write->ticket.executor != NULL && bt_sim_chance(&sim->faults, 60)) {
		bt_sim_add_late_write(sim, write);
		return BT_PREEMPTION_PENDING;
	}
	enum bt_sim_fault fault = bt_sim_draw_fault(sim);
	int result = 0;
	if (fault == BT_SIM_WRITE_GOOD || fault == BT_SIM_WRITE_UNHEARD) {
		result = bt_sim_perform_late_write(sim, write, err);
	}
	if (fault != BT_SIM_WRITE_GOOD && result == 0) {
		result = bt_sim_fail_write(sim, "preemption", err);
	}
	return result;
}

static int patch_other(void *context, struct bt_preemption_ticket ticket, const struct bt_pod *pod,
	const struct bt_pod_condition *condition, const struct bt_post_filter_result *nomination,
	struct berth_error *err)
{
	struct bt_sim_late_write write = {
		.what = BT_SIM_LATE_PATCH,
		.ticket = ticket,
		.pod = bt_object_create(BT_KIND_POD, pod),
		.node_name = BT_STR(""),
		.has_condition = condition != NULL,
		.nomination = *nomination,
	};
	if (condition != NULL) {
		write.condition = *condition;
	}
	int result = write_for_preemption(context, &write, err);
	bt_object_release(write.pod);
	return result;
}

static void check_victim(struct bt_sim *sim, const struct bt_preemption_pod *victim)
{
	struct bt_strbuf complaint = {0};
	const struct bt_pod *pod = bt_object_store_find(
		&sim->watch.mirror, BT_KIND_POD, victim->namespace_, victim->name);
	bt_sim_log(
		sim, "evict %.*s/%.*s", BT_STR_ARG(victim->namespace_), BT_STR_ARG(victim->name));
	sim->report->evictions++;
	/* Later steps of a preemption may happen after the preemptor is gone. */
	if (sim->in_attempt && !sim->is_decided && !sim->has_groups && pod != NULL &&
		bt_str_equal(pod->metadata.uid, victim->uid) &&
		!bt_sim_check_victim(&sim->watch.mirror, pod, &complaint)) {
		bt_sim_complain(sim, bt_strbuf_str(&complaint));
	}
	bt_strbuf_finish(&complaint);
}

static int delete_victim(void *context, struct bt_preemption_ticket ticket,
	const struct bt_preemption_pod *victim, struct berth_error *err)
{
	struct bt_pod pod = {.metadata = {.namespace_ = victim->namespace_,
				     .name = victim->name,
				     .uid = victim->uid}};
	struct bt_sim_late_write write = {
		.what = BT_SIM_LATE_DELETE,
		.ticket = ticket,
		.pod = bt_object_create(BT_KIND_POD, &pod),
		.node_name = BT_STR(""),
	};
	check_victim(context, victim);
	int result = write_for_preemption(context, &write, err);
	bt_object_release(write.pod);
	return result;
}

struct bt_scheduler_writer bt_sim_writer(struct bt_sim *sim)
{
	bt_sim_connect_volumes(sim);
	bt_sim_connect_claims(sim);
	return (struct bt_scheduler_writer){
		.context = sim,
		.bind = write_binding,
		.patch_status = write_status,
		.patch_pod_group = write_pod_group,
		.event = write_event,
		.patch_other = patch_other,
		.delete_pod = delete_victim,
		.volumes = &sim->volumes,
		.claims = &sim->claims,
		.warn = write_warning,
	};
}
