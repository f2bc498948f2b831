/* SPDX-License-Identifier: Apache-2.0 */
/** Turns changes of objects into updates of cache and queue. Spec 03 section 10. */
#include <stdio.h>

#include "api/identity.h"
#include "base/log.h"
#include "framework/cluster_event.h"
#include "framework/events.h"
#include "sched/scheduler_private.h"
#include "state/pod_groups.h"
#include "dra/dra.h"

static const struct bt_str resource_assigned_pod = BT_RESOURCE_ASSIGNED_POD;
static const struct bt_str resource_unschedulable_pod = BT_RESOURCE_UNSCHEDULABLE_POD;
static const struct bt_str resource_node = BT_RESOURCE_NODE;

static void log_pod(const char *message, const struct bt_object *pod)
{
	BT_LOG_INFO(3, message, BT_LOG_REF("pod", pod->meta->namespace_, pod->meta->name));
}

static void move_all(struct bt_scheduler *scheduler, struct bt_str resource, uint32_t action,
	struct bt_object *old_object, struct bt_object *new_object,
	const struct bt_queue_check *check, int64_t now_ns)
{
	struct bt_cluster_event event = {resource, action};
	bt_queue_move_all_to_active_or_backoff_queue(
		scheduler->queue, &event, old_object, new_object, check, now_ns);
}

/**
 * Observe the time that handling an event took. started_ns: by the metrics' clock. Spec 04 (hints)
 * section 4.6.
 */
static void event_handled(const struct bt_scheduler *scheduler, struct bt_str resource,
	uint32_t action, int64_t started_ns)
{
	char label[96];
	if (scheduler->metrics == NULL) {
		return;
	}
	(void)snprintf(
		label, sizeof(label), "%.*s%s", BT_STR_ARG(resource), bt_action_name(action));
	bt_metrics_observe_since(scheduler->metrics, BT_FAMILY_EVENT_HANDLING, label, started_ns);
}

/**
 * Requeue pods for each of the changes of an object. started_ns: when the update of the object in
 * the cache began, by the metrics' clock.
 */
static void move_by_changes(struct bt_scheduler *scheduler, struct bt_str resource,
	const struct bt_change_events *events, struct bt_object *old_object,
	struct bt_object *new_object, int64_t started_ns, int64_t now_ns)
{
	int64_t cached_ns = bt_metrics_now(scheduler->metrics) - started_ns;
	for (uint32_t i = 0; i < events->count; i++) {
		int64_t pass_started_ns = bt_metrics_now(scheduler->metrics);
		move_all(scheduler, resource, events->actions[i], old_object, new_object, NULL,
			now_ns);
		event_handled(scheduler, resource, events->actions[i], pass_started_ns - cached_ns);
	}
}

void bt_scheduler_announce_freed(struct bt_scheduler *scheduler, struct bt_object *pod,
	struct bt_str node_name, const struct bt_queue_check *check, int64_t now_ns)
{
	struct bt_pod placed = *(const struct bt_pod *)pod->value;
	struct bt_object *object = bt_object_share(pod);
	if (!bt_pod_is_assigned(&placed) && node_name.length != 0) {
		/*
		 * The object has no node, because the pod was only assumed. Set the node: queueing
		 * hints ignore the deletion of a pod without a node.
		 */
		bt_object_release(object);
		placed.spec.node_name = node_name;
		object = bt_object_create(BT_KIND_POD, &placed);
	}
	move_all(scheduler, resource_assigned_pod, BT_ACTION_DELETE, object, NULL, check, now_ns);
	bt_object_release(object);
}

/**
 * If the cache is corrupted, passes the error on to the caller. Passes any other error to warn and
 * returns 0.
 */
static int cache_result(struct bt_scheduler *scheduler, int result, struct berth_error *failure,
	struct berth_error *err)
{
	if (result == BERTH_ERR_INTERNAL) {
		return bt_error_move(err, failure);
	}
	if (result < 0) {
		bt_scheduler_warn(scheduler, failure);
	}
	return 0;
}

/** --- assigned pods: spec 03 section 10.2 --- */

static int add_pod_to_cache(struct bt_scheduler *scheduler, struct bt_object *pod, int64_t now_ns,
	struct berth_error *err)
{
	int64_t started_ns = bt_metrics_now(scheduler->metrics);
	struct berth_error failure = BERTH_ERROR_INIT;
	log_pod("Add event for scheduled pod", pod);
	int result = bt_state_add_pod(scheduler->engine->state, pod->value, &failure);
	result = cache_result(scheduler, result, &failure, err);
	move_all(scheduler, resource_assigned_pod, BT_ACTION_ADD, NULL, pod, NULL, now_ns);
	event_handled(scheduler, resource_assigned_pod, BT_ACTION_ADD, started_ns);
	return result;
}

/**
 * Name of the node to which the cache assigns the pod, in scheduler->scratch. "": the cache does
 * not have the pod.
 */
static struct bt_str node_name_of_cached(
	struct bt_scheduler *scheduler, const struct bt_object *pod)
{
	const struct bt_state *state = scheduler->engine->state;
	uint32_t id = bt_state_find_pod(state, pod->meta->uid);
	if (id == BT_POD_NONE) {
		return BT_STR("");
	}
	return bt_arena_str(&scheduler->scratch,
		bt_node_table_name(&state->nodes, bt_state_pod_at(state, id)->node));
}

static int delete_pod_from_cache(struct bt_scheduler *scheduler, struct bt_object *pod,
	int64_t now_ns, struct berth_error *err)
{
	int64_t started_ns = bt_metrics_now(scheduler->metrics);
	struct bt_state *state = scheduler->engine->state;
	struct berth_error failure = BERTH_ERROR_INIT;
	struct bt_str node_name = node_name_of_cached(scheduler, pod);
	log_pod("Delete event for scheduled pod", pod);
	int result = bt_state_remove_pod(state, pod->value, &failure);
	result = cache_result(scheduler, result, &failure, err);
	bt_scheduler_announce_freed(scheduler, pod, node_name, NULL, now_ns);
	event_handled(scheduler, resource_assigned_pod, BT_ACTION_DELETE, started_ns);
	return result;
}

/** --- unassigned pods of the profiles: spec 03 sections 10.3 and 10.4 --- */

static bool is_responsible_for_pod(
	const struct bt_scheduler *scheduler, const struct bt_object *pod)
{
	const struct bt_pod *value = pod->value;
	return bt_engine_profile(scheduler->engine, value->spec.scheduler_name) != NULL;
}

/**
 * An assumed pod is being deleted or was deleted. If the pod waits on Permit, the pod is rejected.
 * Otherwise the cache forgets the pod at once, and the pod's binding continues.
 */
static void drop_assumed(struct bt_scheduler *scheduler, struct bt_object *pod, int64_t now_ns)
{
	struct bt_state *state = scheduler->engine->state;
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_pod assumed = *(const struct bt_pod *)pod->value;
	assumed.spec.node_name = node_name_of_cached(scheduler, pod);
	if (assumed.spec.node_name.length == 0) {
		return;
	}
	if (!bt_waiting_pods_reject(&scheduler->waiting, pod->meta->uid) &&
		bt_state_forget_pod(state, &assumed, &err) < 0) {
		bt_scheduler_warn(scheduler, &err);
	}
	bt_scheduler_announce_freed(scheduler, pod, assumed.spec.node_name, NULL, now_ns);
}

/**
 * The pod's nomination ended: requeue the pods whose priority is at most this pod's priority,
 * because the reserved room on the node is free again.
 */
static void announce_nomination_end(
	struct bt_scheduler *scheduler, struct bt_object *pod, int64_t now_ns)
{
	struct bt_queue_check check = {
		.has_priority_max = true, .priority_max = bt_pod_priority(pod->value)};
	bt_scheduler_announce_freed(scheduler, pod, BT_STR(""), &check, now_ns);
}

static struct bt_str nominated_node(const struct bt_object *pod)
{
	return ((const struct bt_pod *)pod->value)->status.nominated_node_name;
}

static void delete_pod_from_scheduling_queue(
	struct bt_scheduler *scheduler, struct bt_object *pod, bool binding, int64_t now_ns)
{
	int64_t started_ns = bt_metrics_now(scheduler->metrics);
	log_pod("Delete event for unscheduled pod", pod);
	bt_queue_delete(scheduler->queue, pod);
	if (!binding) {
		bt_pod_groups_remove_pending(scheduler->engine->state, pod->value);
		if (bt_scheduler_has_assumed(scheduler, pod->value)) {
			drop_assumed(scheduler, pod, now_ns);
		} else if (nominated_node(pod).length != 0) {
			announce_nomination_end(scheduler, pod, now_ns);
		}
	}
	event_handled(scheduler, resource_unschedulable_pod, BT_ACTION_DELETE, started_ns);
}

/** --- pods: spec 03 section 10.1 --- */

static int update_pod(struct bt_scheduler *scheduler, struct bt_object *old_pod,
	struct bt_object *new_pod, int64_t now_ns, struct berth_error *err)
{
	if (bt_pod_is_assigned(old_pod->value)) {
		int64_t started_ns = bt_metrics_now(scheduler->metrics);
		struct berth_error failure = BERTH_ERROR_INIT;
		bt_api_calls_sync(&scheduler->calls, new_pod);
		int result = bt_state_update_pod(
			scheduler->engine->state, old_pod->value, new_pod->value, &failure);
		result = cache_result(scheduler, result, &failure, err);
		struct bt_change_events events = bt_pod_change_events(old_pod->value,
			new_pod->value, &scheduler->change_gates, &scheduler->scratch);
		move_by_changes(scheduler, resource_assigned_pod, &events, old_pod, new_pod,
			started_ns, now_ns);
		event_handled(scheduler, resource_assigned_pod, BT_ACTION_UPDATE, started_ns);
		return result;
	}
	if (bt_pod_is_assigned(new_pod->value)) {
		int result = add_pod_to_cache(scheduler, new_pod, now_ns, err);
		if (is_responsible_for_pod(scheduler, old_pod)) {
			delete_pod_from_scheduling_queue(scheduler, old_pod, true, now_ns);
		}
		return result;
	}
	if (is_responsible_for_pod(scheduler, old_pod)) {
		int64_t started_ns = bt_metrics_now(scheduler->metrics);
		if (!bt_str_equal(
			    old_pod->meta->resource_version, new_pod->meta->resource_version)) {
			bt_api_calls_sync(&scheduler->calls, new_pod);
			if (bt_scheduler_has_assumed(scheduler, new_pod->value)) {
				if (new_pod->meta->deletion_timestamp != NULL &&
					old_pod->meta->deletion_timestamp == NULL) {
					drop_assumed(scheduler, new_pod, now_ns);
				}
			} else {
				bt_queue_update(scheduler->queue, old_pod, new_pod, now_ns);
				if (nominated_node(old_pod).length != 0 &&
					!bt_str_equal(
						nominated_node(old_pod), nominated_node(new_pod))) {
					announce_nomination_end(scheduler, old_pod, now_ns);
				}
			}
			if (scheduler->metrics != NULL) {
				event_handled(scheduler, resource_unschedulable_pod,
					BT_ACTION_UPDATE, started_ns);
				struct bt_change_events events =
					bt_pod_change_events(old_pod->value, new_pod->value,
						&scheduler->change_gates, &scheduler->scratch);
				for (uint32_t i = 0; i < events.count; i++) {
					if (events.actions[i] != BT_ACTION_UPDATE) {
						event_handled(scheduler, resource_unschedulable_pod,
							events.actions[i], started_ns);
					}
				}
			}
		}
	}
	return 0;
}

static int observe_pod(struct bt_scheduler *scheduler, struct bt_object *old_pod,
	struct bt_object *new_pod, int64_t now_ns, struct berth_error *err)
{
	/* A terminal pod counts as deleted: spec 01 section 5.17. */
	old_pod = old_pod != NULL && bt_pod_is_terminal(old_pod->value) ? NULL : old_pod;
	new_pod = new_pod != NULL && bt_pod_is_terminal(new_pod->value) ? NULL : new_pod;
	if (old_pod != NULL && new_pod != NULL &&
		!bt_str_equal(old_pod->meta->uid, new_pod->meta->uid)) {
		/*
		 * The pod was deleted and recreated while the watch was interrupted (spec 13
		 * section 13.4). Without this branch, the data about the old pod would stay
		 * forever.
		 */
		int result = observe_pod(scheduler, old_pod, NULL, now_ns, err);
		return result < 0 ? result : observe_pod(scheduler, NULL, new_pod, now_ns, err);
	}
	if (new_pod != NULL) {
		bt_object_store_put(&scheduler->pods, bt_object_share(new_pod));
		if (old_pod != NULL) {
			return update_pod(scheduler, old_pod, new_pod, now_ns, err);
		}
		if (bt_pod_is_assigned(new_pod->value)) {
			return add_pod_to_cache(scheduler, new_pod, now_ns, err);
		}
		if (is_responsible_for_pod(scheduler, new_pod)) {
			int64_t started_ns = bt_metrics_now(scheduler->metrics);
			log_pod("Add event for unscheduled pod", new_pod);
			bt_pod_groups_add_pending(scheduler->engine->state, new_pod->value);
			bt_queue_add(scheduler->queue, new_pod, now_ns);
			if (scheduler->announces_pending) {
				move_all(scheduler, resource_unschedulable_pod, BT_ACTION_ADD, NULL,
					new_pod, NULL, now_ns);
			}
			event_handled(
				scheduler, resource_unschedulable_pod, BT_ACTION_ADD, started_ns);
		}
	}
	if (new_pod != NULL || old_pod == NULL) {
		return 0;
	}
	(void)bt_object_store_delete(&scheduler->pods, BT_KIND_POD, old_pod->meta->namespace_,
		old_pod->meta->name); /* absent if the pod was terminal when it was added */
	if (bt_pod_is_assigned(old_pod->value)) {
		return delete_pod_from_cache(scheduler, old_pod, now_ns, err);
	}
	if (is_responsible_for_pod(scheduler, old_pod)) {
		delete_pod_from_scheduling_queue(scheduler, old_pod, false, now_ns);
	}
	return 0;
}

/** --- other kinds --- */

/**
 * Requeue pods by the change of an object. Ignores kinds without events that a plugin can register
 * for.
 */
static void move_by_kind(struct bt_scheduler *scheduler, struct bt_object *old_object,
	struct bt_object *new_object, int64_t started_ns, int64_t now_ns)
{
	static const struct {
		enum bt_kind kind;
		struct bt_str resource;
	} rows[] = {
		{BT_KIND_PERSISTENT_VOLUME, BT_RESOURCE_PERSISTENT_VOLUME},
		{BT_KIND_PERSISTENT_VOLUME_CLAIM, BT_RESOURCE_PERSISTENT_VOLUME_CLAIM},
		{BT_KIND_STORAGE_CLASS, BT_RESOURCE_STORAGE_CLASS},
		{BT_KIND_CSI_NODE, BT_RESOURCE_CSI_NODE},
		{BT_KIND_CSI_DRIVER, BT_RESOURCE_CSI_DRIVER},
		{BT_KIND_CSI_STORAGE_CAPACITY, BT_RESOURCE_CSI_STORAGE_CAPACITY},
		{BT_KIND_VOLUME_ATTACHMENT, BT_RESOURCE_VOLUME_ATTACHMENT},
		{BT_KIND_RESOURCE_CLAIM, BT_RESOURCE_RESOURCE_CLAIM},
		{BT_KIND_RESOURCE_SLICE, BT_RESOURCE_RESOURCE_SLICE},
		{BT_KIND_DEVICE_CLASS, BT_RESOURCE_DEVICE_CLASS},
		{BT_KIND_POD_GROUP, BT_RESOURCE_POD_GROUP},
	};
	enum bt_kind kind = new_object != NULL ? new_object->kind : old_object->kind;
	uint32_t i = 0;
	while (i < BT_ARRAY_LENGTH(rows) && rows[i].kind != kind) {
		i++;
	}
	if (i == BT_ARRAY_LENGTH(rows)) {
		return;
	}
	uint32_t action = BT_ACTION_UPDATE;
	if (old_object == NULL) {
		action = BT_ACTION_ADD;
	} else if (new_object == NULL) {
		action = BT_ACTION_DELETE;
	}
	move_all(scheduler, rows[i].resource, action, old_object, new_object, NULL, now_ns);
	event_handled(scheduler, rows[i].resource, action, started_ns);
}

/**
 * --- devices: changes of the claim cache, assumptions included (spec 12 sections 4.1 and 16), and
 * of slices patched by taint rules (4.5) ---
 */

static void device_state_changed(
	void *context, struct bt_object *old_object, struct bt_object *new_object)
{
	struct bt_scheduler *scheduler = context;
	struct bt_device_change change = {
		.old_object = old_object != NULL ? bt_object_share(old_object) : NULL,
		.new_object = new_object != NULL ? bt_object_share(new_object) : NULL,
	};
	bt_vec_push(&scheduler->device_changes, change);
}

void bt_scheduler_listen_to_devices(struct bt_scheduler *scheduler)
{
	struct bt_dra *dra = scheduler->engine->state->dra;
	if (dra != NULL) {
		dra->claims.listener = (struct bt_claim_listener){
			.changed = device_state_changed, .context = scheduler};
		dra->patched_slice_listener = (struct bt_patched_slice_listener){
			.changed = device_state_changed, .context = scheduler};
	}
}

void bt_scheduler_announce_devices(struct bt_scheduler *scheduler, int64_t now_ns)
{
	for (uint32_t i = 0; i < scheduler->device_changes.count; i++) {
		const struct bt_device_change *change = &scheduler->device_changes.items[i];
		move_by_kind(scheduler, change->old_object, change->new_object,
			bt_metrics_now(scheduler->metrics), now_ns);
	}
	bt_scheduler_drop_device_changes(scheduler);
}

void bt_scheduler_drop_device_changes(struct bt_scheduler *scheduler)
{
	for (uint32_t i = 0; i < scheduler->device_changes.count; i++) {
		bt_object_release(scheduler->device_changes.items[i].old_object);
		bt_object_release(scheduler->device_changes.items[i].new_object);
	}
	scheduler->device_changes.count = 0;
}

/** --- the watch --- */

int bt_scheduler_observe_lost(struct bt_scheduler *scheduler, struct bt_object *last_known,
	int64_t now_ns, struct berth_error *err)
{
	if (last_known->kind != BT_KIND_POD) {
		return bt_scheduler_observe(scheduler, last_known, NULL, now_ns, err);
	}
	bt_arena_reset(&scheduler->scratch);
	bt_object_store_pack_all(&scheduler->pods);
	bt_scheduler_set_now(scheduler, now_ns);
	(void)bt_object_store_delete(&scheduler->pods, BT_KIND_POD, last_known->meta->namespace_,
		last_known->meta->name); /* absent if the pod was terminal */
	/*
	 * The object last_known may be older than the pod's binding, so remove the pod from cache
	 * and queue.
	 */
	int result = delete_pod_from_cache(scheduler, last_known, now_ns, err);
	if (is_responsible_for_pod(scheduler, last_known)) {
		delete_pod_from_scheduling_queue(scheduler, last_known, false, now_ns);
	}
	return result;
}

int bt_scheduler_observe(struct bt_scheduler *scheduler, struct bt_object *old_object,
	struct bt_object *new_object, int64_t now_ns, struct berth_error *err)
{
	enum bt_kind kind = new_object != NULL ? new_object->kind : old_object->kind;
	int result = 0;
	bt_arena_reset(&scheduler->scratch);
	bt_object_store_pack_all(&scheduler->pods);
	bt_scheduler_set_now(scheduler, now_ns);
	if (kind == BT_KIND_POD) {
		result = observe_pod(scheduler, old_object, new_object, now_ns, err);
	} else if (kind != BT_KIND_NODE) {
		int64_t started_ns = bt_metrics_now(scheduler->metrics);
		struct bt_object_store *objects = &scheduler->engine->state->objects;
		if (new_object != NULL) {
			bt_object_store_put(objects, bt_object_share(new_object));
		} else {
			(void)bt_object_store_delete(objects, kind, old_object->meta->namespace_,
				old_object->meta->name); /* may be absent already */
		}
		bt_scheduler_announce_devices(scheduler, now_ns);
		if (kind != BT_KIND_RESOURCE_CLAIM || scheduler->engine->state->dra == NULL) {
			move_by_kind(scheduler, old_object, new_object, started_ns, now_ns);
		}
	} else if (old_object == NULL) {
		int64_t started_ns = bt_metrics_now(scheduler->metrics);
		BT_LOG_INFO(3, "Add event for node", BT_LOG_STR("node", new_object->meta->name));
		bt_state_add_node(scheduler->engine->state, new_object->value);
		move_all(scheduler, resource_node, BT_ACTION_ADD, NULL, new_object, NULL, now_ns);
		event_handled(scheduler, resource_node, BT_ACTION_ADD, started_ns);
	} else if (new_object == NULL) {
		int64_t started_ns = bt_metrics_now(scheduler->metrics);
		struct berth_error failure = BERTH_ERROR_INIT;
		BT_LOG_INFO(3, "Delete event for node", BT_LOG_STR("node", old_object->meta->name));
		move_all(
			scheduler, resource_node, BT_ACTION_DELETE, old_object, NULL, NULL, now_ns);
		if (bt_state_remove_node(scheduler->engine->state, old_object->value, &failure) <
			0) {
			bt_scheduler_warn(scheduler, &failure);
		}
		event_handled(scheduler, resource_node, BT_ACTION_DELETE, started_ns);
	} else {
		int64_t started_ns = bt_metrics_now(scheduler->metrics);
		bt_state_update_node(
			scheduler->engine->state, old_object->value, new_object->value);
		struct bt_change_events events = bt_node_change_events(old_object->value,
			new_object->value, &scheduler->change_gates, &scheduler->scratch);
		move_by_changes(scheduler, resource_node, &events, old_object, new_object,
			started_ns, now_ns);
	}
	return result;
}
