/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLUSTER_CONTROLLER_H
#define BT_CLUSTER_CONTROLLER_H
/**
 * What a controller is: it names the resources it watches, enqueues keys when they change, and
 * brings one key in order at a time. The hub (hub.c) calls it, keeps its keys in a queue without
 * repetitions, and delays those that failed (5 ms doubling to 1000 s, as upstream's).
 */
#include "cluster/groups.h"
#include "cluster/hub.h"

/** One change, parsed once for all controllers. Everything is borrowed for the call. */
struct bt_observed {
	enum bt_hub_kind kind;
	const struct bt_api_resource *resource;
	enum bt_change_type type;
	struct bt_str key;
	const struct bt_json_value *before; /* NULL: added */
	const struct bt_json_value *after;  /* of a deletion: the last state */
};

/** One look at one key. */
struct bt_sync {
	struct bt_hub *hub;
	void *data;             /* the controller's */
	struct bt_arena *arena; /* reset afterwards */
	struct bt_str key;
	const struct bt_api_resource *resource; /* of object; NULL: keys name no objects */
	struct bt_json_value *object;
	int64_t now_ns;
	int64_t now_seconds;
	/** The hub enqueues the key for this time; INT64_MAX: it does not. */
	int64_t wait_until_seconds;
	bool failed; /* a write did not succeed: the key is tried again */
};

struct bt_controller_ops {
	const char *name;      /* "replicaset-controller" */
	const char *component; /* of events; NULL: name */
	/** A bit for each enum bt_hub_kind that observe gets, BT_WATCH_ALL for every resource. */
	uint32_t watches;
	/** What keys name: sync gets the object, and is not called when there is none.
	 * BT_HUB_OTHER: keys are something else. */
	enum bt_hub_kind object;
	bool syncs_gone; /* sync is called without object, too */
	/** Of the controller's data, which is zeroed; 0: it has none. */
	size_t data_bytes;
	/** NULL: zeros will do. */
	void (*init)(void *data, struct bt_hub *hub);
	/** Free what data refers to; NULL: nothing. */
	void (*finish)(void *data);
	/** A change of a resource that is watched (what exists at the start comes as added): call
	 * bt_hub_enqueue for the keys that need a look. */
	void (*observe)(void *data, struct bt_hub *hub, const struct bt_observed *observed);
	/** Bring one key in order. false, or sync->failed: try again later. */
	bool (*sync)(struct bt_sync *sync);
};

#define BT_WATCH(kind) (UINT32_C(1) << (kind))
#define BT_WATCH_ALL UINT32_MAX

/** --- the queue of the controller that is being called --- */

/** Sync the key (copied) now. Repetitions are one. */
void bt_hub_enqueue(struct bt_hub *hub, struct bt_str key);
/** Not before that time; an earlier one wins. */
void bt_hub_enqueue_at(struct bt_hub *hub, struct bt_str key, int64_t at_ns);
/** The same for work that comes back while nothing changes: bt_controllers_have_work leaves it
 * out. */
void bt_hub_enqueue_periodic(struct bt_hub *hub, struct bt_str key, int64_t at_ns);
/** Cancel the delay of the key. A sync that computes the next time from the object calls this
 * first, so that a deadline that no longer applies does not wake the key. */
void bt_hub_cancel_delay(struct bt_hub *hub, struct bt_str key);
/** Sync all keys of the group. */
void bt_hub_enqueue_group(struct bt_hub *hub, const struct bt_groups *groups, struct bt_str group);
/** Sync "<namespace of key>/<name of owner>" if the owner is of this kind. */
void bt_hub_enqueue_owner(
	struct bt_hub *hub, struct bt_str key, const struct bt_json_value *owner, const char *kind);

/** --- reads --- */

/** As bt_api_read. */
struct bt_json_value *bt_hub_read(
	const struct bt_hub *hub, enum bt_hub_kind kind, struct bt_str key, struct bt_arena *arena);
bool bt_hub_exists(const struct bt_hub *hub, enum bt_hub_kind kind, struct bt_str key);

/** --- writes; each returns the answer's code --- */

/** out_answer may be NULL. */
uint16_t bt_hub_create(struct bt_hub *hub, enum bt_hub_kind kind, struct bt_str namespace_,
	struct bt_json_value *object, struct bt_arena *arena, struct bt_api_answer *out_answer);
/** A merge patch of the object, or of its subresource. */
uint16_t bt_hub_patch(struct bt_hub *hub, const struct bt_api_resource *resource,
	enum bt_subresource subresource, struct bt_str key, struct bt_json_value *patch,
	struct bt_arena *arena);
uint16_t bt_hub_update(struct bt_hub *hub, const struct bt_api_resource *resource,
	enum bt_subresource subresource, struct bt_str key, struct bt_json_value *object,
	struct bt_arena *arena);
/** grace_seconds -1: the object's own. uid: precondition, absent: none. */
uint16_t bt_hub_delete(struct bt_hub *hub, const struct bt_api_resource *resource,
	struct bt_str key, int64_t grace_seconds, struct bt_str uid, struct bt_arena *arena);
/** The write succeeded, or its object is gone. */
static inline bool bt_hub_is_done(uint16_t code)
{
	return code == 200 || code == 404;
}
/** Take the finalizer out of the object, if it is there. */
bool bt_hub_drop_finalizer(struct bt_hub *hub, const struct bt_api_resource *resource,
	const struct bt_json_value *object, const char *finalizer, struct bt_arena *arena);
/** A core/v1 Event about an object; a repeated one counts up. Texts are copied. */
void bt_hub_event(struct bt_hub *hub, const char *component, const struct bt_api_resource *resource,
	const struct bt_json_value *object, const char *type, const char *reason,
	struct bt_str message);

/** --- the object that is synced --- */

/** An event about it. */
BT_PRINTF(4, 5)
void bt_sync_event(
	struct bt_sync *sync, const char *type, const char *reason, const char *format, ...);
/** Patch its status with these members, unless they are there. */
void bt_sync_write_status(struct bt_sync *sync, struct bt_json_value *status);
/** As bt_controller_owner_reference, in the arena. */
struct bt_json_value *bt_sync_owner_reference(const struct bt_sync *sync, struct bt_arena *arena);
/** Create a pod in its namespace, with an event. false: *out_failure, in sync->arena, says why not;
 * it may be NULL. */
bool bt_sync_create_pod(struct bt_sync *sync, struct bt_json_value *pod, struct bt_arena *scratch,
	struct bt_str *out_failure);
/** Delete one of its pods, with an event. false: it failed, as sync->failed says. */
bool bt_sync_delete_pod(struct bt_sync *sync, const struct bt_indexed_pod *pod);

/** --- parts of objects --- */

/** metadata.ownerReferences' entry with controller true, or NULL. */
const struct bt_json_value *bt_controller_owner_of(const struct bt_json_value *object);
/** {apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true} */
struct bt_json_value *bt_controller_owner_reference(struct bt_arena *arena,
	const struct bt_api_resource *resource, const struct bt_json_value *owner);
/** {kind, namespace, name, uid, apiVersion, resourceVersion} */
struct bt_json_value *bt_controller_reference(struct bt_arena *arena,
	const struct bt_api_resource *resource, const struct bt_json_value *object);
/** The object at a dotted path below value, made as far as it is absent. */
struct bt_json_value *bt_tree_ensure(
	struct bt_arena *arena, struct bt_json_value *value, const char *dotted_path);
/** A copy of the array at the path, which may be changed. */
struct bt_json_value *bt_tree_copy_array(
	struct bt_arena *arena, const struct bt_json_value *value, const char *dotted_path);
/** The pod has succeeded or failed. */
bool bt_tree_is_over(const struct bt_json_value *pod);
/** The entry of an array of objects whose member has this text, or NULL. */
struct bt_json_value *bt_tree_find(
	const struct bt_json_value *array, const char *member, struct bt_str text);

/** --- all of them --- */

#define BT_CONTROLLER(name, ops) extern const struct bt_controller_ops ops;
#include "cluster/controllers.def"
#undef BT_CONTROLLER
#endif
