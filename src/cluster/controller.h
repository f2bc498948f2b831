/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLUSTER_CONTROLLER_H
#define BT_CLUSTER_CONTROLLER_H
/**
 * The interface of controllers. A controller names the resources it watches, enqueues keys when
 * one of these resources changes, and syncs one key at a time. The hub calls the controllers, keeps
 * for each controller a queue that has a key only once, and delays keys whose sync failed (5 ms
 * doubling to 1000 s, as upstream). Files: hub.c (changes, turns, writes, events), hub_queue.c
 * (which keys are due), pod_index.c, sync.c (operations that several controllers use).
 *
 * A run is made of turns, in the order of controllers.def. In its turn, a controller syncs each key
 * that was due when the turn began. When one controller writes many dependents of an object, the
 * other controllers therefore sync that object once, not once per dependent.
 */
#include "base/fifo.h"
#include "base/heap.h"
#include "base/map.h"
#include "base/vec.h"
#include "cluster/controllers.h"
#include "cluster/groups.h"

/** --- pods --- */

/**
 * The index of pods has a small record (bt_indexed_pod) for every pod, with the properties that
 * controllers read often, so that no object is parsed to count replicas. Records are found by key,
 * controller, node and namespace. The hub updates a record before it calls controllers.
 */

enum bt_pod_phase {
	BT_POD_PENDING,
	BT_POD_RUNNING,
	BT_POD_SUCCEEDED,
	BT_POD_FAILED,
	BT_POD_UNKNOWN,
};

/**
 * Kinds of lists of pods. Every pod is in one list of the kind BT_PODS_OF_OWNER, where "owner"
 * means the entry of ownerReferences with controller true. An assigned pod is also in one list of
 * the kind BT_PODS_ON_NODE.
 */
enum bt_pod_list {
	BT_PODS_OF_OWNER, /* the pods of one owner, or the pods of one namespace that have no owner
	                   */
	BT_PODS_ON_NODE,
	BT_POD_LIST_COUNT,
};

struct bt_indexed_pod {
	struct bt_str key; /* "ns/name" */
	struct bt_str uid;
	struct bt_str owner_uid; /* uid of the owner (the ReplicaSet, Job, ...); "": no owner */
	struct bt_str node_name; /* "" while unassigned */
	struct bt_str hash;      /* label controller-revision-hash */
	enum bt_pod_phase phase;
	bool ready;
	bool deleting;
	int32_t restart_count;
	int32_t deletion_cost;
	int64_t created_seconds;
	int64_t ready_since_seconds;
	uint64_t label_bits; /* bt_label_bits of the labels */
	bool job_tracking;   /* has the finalizer batch.kubernetes.io/job-tracking */

	struct bt_indexed_pod *next[BT_POD_LIST_COUNT];
	struct bt_indexed_pod *previous[BT_POD_LIST_COUNT];
	uint32_t slot;
};

/** --- the hub --- */

/**
 * If more than BT_HUB_BACKLOG keys are ready, a run ends after BT_HUB_WORK_PER_RUN syncs and writes
 * (about 2 ms): between two runs the server handles one request of each connection, so long runs
 * would slow clients down. Otherwise a run ends after BT_HUB_BACKLOG syncs and writes, so that the
 * scheduler of a small cluster does not see the controllers' work half done.
 */
#define BT_HUB_WORK_PER_RUN 64
#define BT_HUB_BACKLOG 400
/**
 * Maximum number of changes that one run handles. No key is synced before all changes are handled.
 */
#define BT_HUB_NOTES_PER_RUN 512
#define BT_HUB_CONTROLLERS_MAX 64

struct bt_controller_ops;
struct bt_observed;

/** The resources that controllers read, write or watch. */
enum bt_hub_kind {
	BT_HUB_OTHER, /* any other resource */
#define BT_HUB_KIND(kind, group, name) kind,
#include "cluster/hub_kinds.def"
#undef BT_HUB_KIND
	BT_HUB_KIND_COUNT,
};

/** A committed change that the controllers have not observed yet. */
struct bt_hub_note {
	enum bt_change_type type;
	uint32_t collection;
	struct bt_stored *before; /* shared; NULL: added */
	struct bt_stored *after;  /* shared */
	/**
	 * If a sync patched a pod: the pod before and after, parsed, in sync_arena. Otherwise
	 * empty.
	 */
	struct bt_api_trees trees;
};

/** A key that is ready, is delayed, or has failed before. */
struct bt_hub_item {
	char *key; /* owned; NULL: a free slot */
	uint32_t key_length;
	uint32_t controller;
	uint32_t failures;
	bool ready;
	bool periodic; /* the delay comes from bt_hub_enqueue_periodic only */
};

struct bt_hub_queue {
	BT_VEC(struct bt_hub_item) items;
	BT_VEC(uint32_t) free_slots;
	struct bt_map by_key;
	struct bt_heap delayed; /* by time, then order of arrival */
	int64_t next_sequence;
	BT_FIFO(uint32_t) ready[BT_HUB_CONTROLLERS_MAX]; /* by index in bt_hub.members */
};

/** An enabled controller. */
struct bt_hub_member {
	const char *name; /* as in controllers.def */
	const struct bt_controller_ops *ops;
	void *data; /* owned; NULL: the controller has no data */
	struct bt_user user;
	char *user_name; /* owned */
};

/** The controllers that watch a collection. */
struct bt_hub_interest {
	bool known; /* the other fields are set */
	enum bt_hub_kind kind;
	uint64_t members; /* one bit for each watching member, by index in bt_hub.members */
	const struct bt_api_resource *resource;
};

struct bt_pod_index {
	BT_VEC(struct bt_indexed_pod *) records; /* by slot; NULL: free */
	BT_VEC(uint32_t) free_slots;
	struct bt_map by_key;
	struct bt_map lists[BT_POD_LIST_COUNT]; /* value: slot of the list's first record */
};

/**
 * The hub remembers recent events, so that a repeated event increases the count of the stored
 * Event. The memory is a ring: a new event replaces the oldest.
 */
#define BT_HUB_EVENTS_REMEMBERED 1024
/** Number of slots of the hash table of rate limits (struct bt_hub_event_source). */
#define BT_HUB_EVENT_SOURCES 4096

struct bt_hub_event_memory {
	uint64_t hash;
	char *key; /* "ns/name" of the Event; owned */
	int64_t count;
};

/**
 * Rate limit of a component's events about one object: 25 at once, then one in five minutes, as
 * upstream.
 */
struct bt_hub_event_source {
	uint64_t hash;        /* of the component and the object's uid */
	int64_t tokens_milli; /* thousandths of an event */
	int64_t updated_ns;
};

struct bt_hub {
	struct bt_api *api;                                     /* borrowed */
	struct bt_store *store;                                 /* borrowed */
	const struct bt_api_resource *kinds[BT_HUB_KIND_COUNT]; /* by enum bt_hub_kind */
	struct bt_controllers_options options; /* names: only during bt_controllers_create */
	int64_t now_ns;
	uint32_t work;    /* syncs and writes of this run */
	bool is_running;  /* bt_controllers_run is on the stack */
	bool keeps_trees; /* notes of pod changes keep the trees of the current write */
	const struct bt_json_value *known; /* for the next request (struct bt_api_request) */

	uint32_t member_count;
	struct bt_hub_member members[BT_HUB_CONTROLLERS_MAX];
	uint32_t current;   /* the member whose turn it is */
	uint32_t turn_left; /* syncs that are left of this turn */

	BT_VEC(struct bt_hub_note) notes;
	uint32_t next_note; /* index of the first note that is not observed yet */
	BT_VEC(struct bt_hub_interest) interests; /* by collection */
	uint64_t interests_generation;

	struct bt_hub_queue queue;
	struct bt_pod_index pods;
	struct bt_hub_event_memory *events;
	uint32_t next_event;
	struct bt_hub_event_source
		*event_sources; /* by hash; on a collision the newer entry replaces the older */
	int64_t last_event_stamp;

	struct bt_arena note_arena;
	struct bt_arena sync_arena;
	struct bt_arena event_arena;
};

/** --- hub.c --- */

struct bt_controller_row {
	const char *name;
	const struct bt_controller_ops *ops;
};

/** One row for each controller in controllers.def. A row whose name is NULL ends the array. */
extern const struct bt_controller_row bt_controller_rows[];

/** --- hub_queue.c --- */

void bt_hub_queue_finish(struct bt_hub_queue *queue);
/**
 * Returns whether a key is ready, or is delayed for another reason than periodic work or a retry at
 * the longest delay.
 */
bool bt_hub_queue_has_work(const struct bt_hub_queue *queue);
/** Ends the delay of every item that is due: the item becomes ready. */
void bt_hub_queue_promote(struct bt_hub_queue *queue, int64_t now_ns);
/**
 * Takes the first ready item of the controller, which must have one; the item stays until
 * bt_hub_queue_done.
 */
uint32_t bt_hub_queue_take(struct bt_hub_queue *queue, uint32_t controller);
/** Ends the sync of a taken item. succeeded false: the key is delayed and tried again. */
void bt_hub_queue_done(struct bt_hub_queue *queue, uint32_t item, bool succeeded, int64_t now_ns);
/** Returns when the first delayed item is due; INT64_MAX: no item is delayed. */
int64_t bt_hub_queue_next_due(const struct bt_hub_queue *queue);

/** --- pod_index.c --- */

void bt_pod_index_finish(struct bt_pod_index *index);
void bt_pod_index_observe(struct bt_pod_index *index, const struct bt_observed *observed);

/** --- controllers --- */

/** One change, parsed once for all controllers. Every pointer is borrowed for the call. */
struct bt_observed {
	enum bt_hub_kind kind;
	const struct bt_api_resource *resource;
	enum bt_change_type type;
	struct bt_str key;
	const struct bt_json_value *before; /* NULL: added */
	const struct bt_json_value *after;  /* of a deletion: the last state */
	/** bt_controller_owner_of `before` and `after`. */
	const struct bt_json_value *owner_before;
	const struct bt_json_value *owner;
};

/** One sync of one key. */
struct bt_sync {
	struct bt_hub *hub;
	void *data;             /* the controller's data */
	struct bt_arena *arena; /* reset after the sync */
	struct bt_str key;
	const struct bt_api_resource *resource; /* of `object`; NULL: keys name no objects */
	struct bt_json_value *object;
	int64_t now_ns;
	int64_t now_seconds;
	/** The hub enqueues the key for this time; INT64_MAX: no time. */
	int64_t wait_until_seconds;
	bool failed; /* a write failed: the key is tried again */
};

struct bt_controller_ops {
	/** Component of the controller's events; NULL: the controller's name. */
	const char *component;
	/** A bit for each enum bt_hub_kind whose changes `observe` receives, or BT_WATCH_ALL. */
	uint64_t watches;
	/**
	 * The kind of the objects that keys name. The hub reads the object for sync, and does not
	 * call sync if no object is stored. BT_HUB_OTHER: keys do not name objects of one kind.
	 */
	enum bt_hub_kind object;
	bool syncs_gone; /* sync is also called, with object NULL, if no object is stored */
	/** The data begins with this number of struct bt_groups, which the hub frees. */
	uint32_t group_count;
	/** A struct bt_selector_table follows the groups; the hub frees the table, too. */
	bool has_selectors;
	/** Size of the data, which begins zeroed; 0: the data is only the groups and the table. */
	size_t data_bytes;
	/** Called once after data is allocated. NULL: zeroed data needs no initialisation. */
	void (*init)(void *data, struct bt_hub *hub);
	/** Frees the other memory that data refers to. NULL: nothing to free. */
	void (*finish)(void *data);
	/**
	 * Handles a change of a watched resource: calls bt_hub_enqueue for each key to sync.
	 * Objects that exist at the start are reported as added.
	 */
	void (*observe)(void *data, struct bt_hub *hub, const struct bt_observed *observed);
	/** Syncs one key. Returning false or setting sync->failed tries the key again later. */
	bool (*sync)(struct bt_sync *sync);
};

#define BT_WATCH(kind) (UINT64_C(1) << (kind))
#define BT_WATCH_ALL UINT64_MAX

/** --- the queue of the controller that is being called --- */

/** Enqueues the key (copied), which is due at once. A key that is queued already is synced once. */
void bt_hub_enqueue(struct bt_hub *hub, struct bt_str key);
/** Enqueues the key for the time at_ns. If the key is delayed already, the earlier time counts. */
void bt_hub_enqueue_at(struct bt_hub *hub, struct bt_str key, int64_t at_ns);
/** As bt_hub_enqueue_at, for periodic work, which bt_controllers_have_work does not count. */
void bt_hub_enqueue_periodic(struct bt_hub *hub, struct bt_str key, int64_t at_ns);
/**
 * Cancels the delay of the key. A sync that computes the next time from the object calls this
 * first, so that a deadline that no longer applies does not start a sync.
 */
void bt_hub_cancel_delay(struct bt_hub *hub, struct bt_str key);
/** Enqueues all keys of the group. */
void bt_hub_enqueue_group(struct bt_hub *hub, const struct bt_groups *groups, struct bt_str group);
/** Enqueues "<namespace of key>/<name of owner>" if the owner is of this kind. */
void bt_hub_enqueue_owner(
	struct bt_hub *hub, struct bt_str key, const struct bt_json_value *owner, const char *kind);

/** --- reads --- */

/** As bt_api_read. */
struct bt_json_value *bt_hub_read(
	const struct bt_hub *hub, enum bt_hub_kind kind, struct bt_str key, struct bt_arena *arena);
bool bt_hub_exists(const struct bt_hub *hub, enum bt_hub_kind kind, struct bt_str key);

/**
 * Reads the object that a reference {apiVersion, kind, name} of an object in this namespace names;
 * NULL: there is none. *out_resource (may be NULL): its resource; NULL: the kind is not served.
 */
struct bt_json_value *bt_hub_read_reference(const struct bt_hub *hub,
	const struct bt_json_value *reference, struct bt_str namespace_, struct bt_arena *arena,
	const struct bt_api_resource **out_resource);
/**
 * Reads the objects of a group into the sync's arena; keys without a stored object are left out.
 * The array has room for one more object.
 */
struct bt_json_value **bt_sync_read_group(struct bt_sync *sync, enum bt_hub_kind kind,
	const struct bt_groups *groups, struct bt_str group, uint32_t *out_count);

/** --- writes; each returns the HTTP status code of the answer --- */

/**
 * Creates the object. out_answer (may be NULL): out_answer->object is NULL for a pod that went to
 * options.pods.
 */
uint16_t bt_hub_create(struct bt_hub *hub, enum bt_hub_kind kind, struct bt_str namespace_,
	struct bt_json_value *object, struct bt_arena *arena, struct bt_api_answer *out_answer);
/**
 * Hands a pod to options.pods, sets the name and uid that the taker returns, and lets the
 * controllers observe the pod. repeated: as in bt_pod_taker. Returns 201, or the code of a failure.
 */
uint16_t bt_hub_take_pod(struct bt_hub *hub, struct bt_str namespace_, struct bt_json_value *pod,
	bool repeated, struct bt_arena *arena);
/** Returns how many pods one sync may create: burst pods, or any number if a pod taker is set. */
static inline uint32_t bt_hub_burst(const struct bt_hub *hub, uint32_t burst)
{
	return hub->options.pods.take != NULL ? UINT32_MAX : burst;
}
/** Applies a merge patch to the object, or to its subresource. */
uint16_t bt_hub_patch(struct bt_hub *hub, const struct bt_api_resource *resource,
	enum bt_subresource subresource, struct bt_str key, struct bt_json_value *patch,
	struct bt_arena *arena);
/** Replaces the object, or its subresource. */
uint16_t bt_hub_update(struct bt_hub *hub, const struct bt_api_resource *resource,
	enum bt_subresource subresource, struct bt_str key, struct bt_json_value *object,
	struct bt_arena *arena);
/**
 * Deletes the object. grace_seconds -1: the object's default grace period. uid: the delete fails if
 * the object has another uid; absent: the uid is not checked.
 */
uint16_t bt_hub_delete(struct bt_hub *hub, const struct bt_api_resource *resource,
	struct bt_str key, int64_t grace_seconds, enum bt_propagation propagation,
	struct bt_str uid, struct bt_arena *arena);
/**
 * code: the result of a patch, update or delete. Returns whether the write succeeded or the object
 * is gone.
 */
static inline bool bt_hub_is_done(uint16_t code)
{
	return code == 200 || code == 404;
}
/** Removes the finalizer from the object, if present. Returns false if the write failed. */
bool bt_sync_remove_finalizer(struct bt_sync *sync, const struct bt_api_resource *resource,
	const struct bt_json_value *object, const char *finalizer);
/**
 * Writes a core/v1 Event about an object; a repeated event increases the count of the stored Event.
 * Writes nothing if the rate limit is used up, or if options.pods has a pod taker. Texts are
 * copied.
 */
void bt_hub_event(struct bt_hub *hub, const char *component, const struct bt_api_resource *resource,
	const struct bt_json_value *object, const char *type, const char *reason,
	struct bt_str message);

/** --- functions for the object that is synced --- */

/** Writes an Event about the synced object. */
BT_PRINTF(4, 5)
void bt_sync_event(
	struct bt_sync *sync, const char *type, const char *reason, const char *format, ...);
/**
 * Patches the object's status with these members, unless the status has them already. Sets
 * sync->failed if the write fails.
 */
void bt_sync_write_status(struct bt_sync *sync, struct bt_json_value *status);
/**
 * Patches the object's status with these members. Returns false if the write must be tried again;
 * true also if the object no longer exists.
 */
bool bt_sync_patch_status(struct bt_sync *sync, struct bt_json_value *status);
/** Applies a merge patch to any object, also of another kind. Returns the answer's code. */
uint16_t bt_sync_patch(struct bt_sync *sync, enum bt_hub_kind kind, struct bt_str key,
	struct bt_json_value *patch);
/**
 * Deletes an object with its default grace period. uid: as in bt_hub_delete. Returns false and sets
 * sync->failed if the delete failed.
 */
bool bt_sync_delete(
	struct bt_sync *sync, enum bt_hub_kind kind, struct bt_str key, struct bt_str uid);
/** Returns a reference to the synced object as an owner; see bt_controller_owner_reference. */
struct bt_json_value *bt_sync_owner_reference(const struct bt_sync *sync, struct bt_arena *arena);
/**
 * Creates count copies of pod in the object's namespace, with events. Returns false and sets
 * sync->failed if not all were created. *out_failure (may be NULL): the message of the last create
 * that the API refused, in sync->arena; unchanged if the API refused none.
 */
bool bt_sync_create_pods(struct bt_sync *sync, const struct bt_json_value *pod, uint32_t count,
	struct bt_str *out_failure);
/**
 * Deletes one of the object's pods, with an event. Returns false and sets sync->failed if the
 * delete failed.
 */
bool bt_sync_delete_pod(struct bt_sync *sync, const struct bt_indexed_pod *pod);

/** --- members of objects --- */

/** Returns the entry of metadata.ownerReferences with controller true, or NULL. */
const struct bt_json_value *bt_controller_owner_of(const struct bt_json_value *object);
/** Returns {apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true}. */
struct bt_json_value *bt_controller_owner_reference(struct bt_arena *arena,
	const struct bt_api_resource *resource, const struct bt_json_value *owner);
/** Returns {kind, namespace, name, uid, apiVersion, resourceVersion}. */
struct bt_json_value *bt_controller_reference(struct bt_arena *arena,
	const struct bt_api_resource *resource, const struct bt_json_value *object);
/** Returns a copy of the array at the path; the caller may change the copy. */
struct bt_json_value *bt_tree_copy_array(
	struct bt_arena *arena, const struct bt_json_value *value, const char *dotted_path);
/** Returns whether the pod has succeeded or failed. */
bool bt_tree_is_over(const struct bt_json_value *pod);

/** --- the index of pods: pod_index.c --- */

/** Returns whether the pod has succeeded or failed. */
static inline bool bt_pod_is_over(const struct bt_indexed_pod *record)
{
	return record->phase == BT_POD_SUCCEEDED || record->phase == BT_POD_FAILED;
}

/** Returns whether the pod is neither deleting nor over. */
static inline bool bt_indexed_pod_is_active(const struct bt_indexed_pod *record)
{
	return !record->deleting && !bt_pod_is_over(record);
}

/**
 * Returns a few bits for each label. An object that has all labels of a selector has all of the
 * selector's bits, so a missing bit proves, without parsing, that the object does not match.
 */
uint64_t bt_label_bits(const struct bt_json_value *labels);

/**
 * Returns the pod's record, borrowed until the hub observes the next change; NULL: there is no pod
 * with this key.
 */
const struct bt_indexed_pod *bt_pod_index_find(const struct bt_hub *hub, struct bt_str key);
/**
 * Returns the first pod whose controller has this uid, or NULL; next[BT_PODS_OF_OWNER] continues
 * the list.
 */
const struct bt_indexed_pod *bt_pod_index_of_owner(const struct bt_hub *hub, struct bt_str uid);
/** Returns the active pods whose controller has this uid; the array is in the arena. */
const struct bt_indexed_pod **bt_pod_index_active(
	const struct bt_hub *hub, struct bt_str uid, struct bt_arena *arena, uint32_t *out_count);
/**
 * Returns the first pod without a controller in the namespace of the object with this key, or NULL;
 * next[BT_PODS_OF_OWNER] continues the list.
 */
const struct bt_indexed_pod *bt_pod_index_orphans(const struct bt_hub *hub, struct bt_str key);
/**
 * Returns the first pod assigned to the node, or NULL; next[BT_PODS_ON_NODE] continues the list.
 */
const struct bt_indexed_pod *bt_pod_index_on_node(const struct bt_hub *hub, struct bt_str node);

/** --- replicas.c --- */

/** Sorts active pods of one owner so that the pods to delete first come first. */
void bt_replicas_sort_for_deletion(const struct bt_indexed_pod **pods, uint32_t count,
	struct bt_arena *arena, int64_t now_seconds);
/**
 * Returns whether the pod has been ready for min_ready_seconds. sync->wait_until_seconds is lowered
 * to the time when a ready pod will be available.
 */
bool bt_replicas_is_available(
	struct bt_sync *sync, const struct bt_indexed_pod *pod, int64_t min_ready_seconds);

/** --- resource_claim_controller.c; spec: 14b section 6.8, 12 section 3.3 --- */

/**
 * Finds the name of the claim that an entry of the pod's spec.resourceClaims uses. *out_name "":
 * the entry needs no claim. Returns false if the claim is not created yet.
 */
bool bt_claim_of_entry(const struct bt_json_value *pod, const struct bt_json_value *entry,
	struct bt_str *out_name);
/** Returns whether the claim has an allocation. claim: may be NULL. */
bool bt_claim_is_allocated(const struct bt_json_value *claim);
/** Returns whether status.reservedFor has this uid. */
bool bt_claim_is_reserved(const struct bt_json_value *claim, struct bt_str uid);

/** --- job_workload.c --- */

struct bt_job_groups {
	struct bt_groups workloads;  /* by "ns/name" of spec.controllerRef */
	struct bt_groups pod_groups; /* by "ns/name" of the Workload that PodGroups refer to */
};

/** Call it when a Workload or a PodGroup changed. */
void bt_job_groups_observe(struct bt_job_groups *groups, const struct bt_observed *observed);

/**
 * Gate WorkloadWithJob: finds the PodGroup of the synced Job, if the Job's pods are a gang. While
 * the Job has no pods, a missing PodGroup and its Workload are created. *out_name "": the pods are
 * scheduled one by one. Returns false if the PodGroup could not be created and the sync must be
 * tried again.
 */
bool bt_job_ensure_pod_group(struct bt_sync *sync, const struct bt_job_groups *groups,
	bool has_pods, struct bt_str *out_name);

/** --- the rows of controllers.def --- */

#define BT_CONTROLLER(name, ops) extern const struct bt_controller_ops ops;
#include "cluster/controllers.def"
#undef BT_CONTROLLER
#endif
