/* SPDX-License-Identifier: Apache-2.0 */
/** From changes of everything but pods and nodes to the object store and the queue. Spec 03 section
 * 10.5. */
#include "dra/dra.h"
#include "framework/cluster_event.h"
#include "sched/scheduler_private.h"

/** Resource name of the events of other kinds; absent: nobody can register for it. */
static struct bt_str event_resource(enum bt_kind kind)
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
	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		if (rows[i].kind == kind) {
			return rows[i].resource;
		}
	}
	return (struct bt_str){NULL, 0};
}

static void tell(struct bt_scheduler *scheduler, struct bt_object *old_object,
	struct bt_object *new_object, int64_t started_ns, int64_t now_ns)
{
	enum bt_kind kind = new_object != NULL ? new_object->kind : old_object->kind;
	struct bt_cluster_event event = {event_resource(kind), BT_ACTION_UPDATE};
	if (event.resource.data == NULL) {
		return;
	}
	if (old_object == NULL) {
		event.action = BT_ACTION_ADD;
	} else if (new_object == NULL) {
		event.action = BT_ACTION_DELETE;
	}
	bt_queue_move(scheduler->queue, &event, old_object, new_object, NULL, now_ns);
	bt_scheduler_event_handled(scheduler, event.resource, event.action, started_ns);
}

/**
 * --- devices: what the claim cache says, assumptions included (spec 12 sections 4.1 and 16), and
 * slices that rules of taints change (4.5) ---
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
		tell(scheduler, change->old_object, change->new_object,
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

void bt_scheduler_observe_other(struct bt_scheduler *scheduler, struct bt_object *old_object,
	struct bt_object *new_object, int64_t now_ns)
{
	int64_t started_ns = bt_metrics_now(scheduler->metrics);
	struct bt_object_store *objects = &scheduler->engine->state->objects;
	enum bt_kind kind = new_object != NULL ? new_object->kind : old_object->kind;
	if (new_object != NULL) {
		bt_object_store_put(objects, bt_object_share(new_object));
	} else {
		(void)bt_object_store_delete(objects, kind, old_object->meta->namespace_,
			old_object->meta->name); /* absent already: nothing to undo */
	}
	bt_scheduler_announce_devices(scheduler, now_ns);
	if (kind != BT_KIND_RESOURCE_CLAIM || scheduler->engine->state->dra == NULL) {
		tell(scheduler, old_object, new_object, started_ns, now_ns);
	}
}
