/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLUSTER_CONTROLLER_H
#define BT_CLUSTER_CONTROLLER_H
/**
 * What a controller is: it names the resources it watches, enqueues keys when they change, and
 * brings one key in order at a time. The hub calls it, keeps its keys in a queue without
 * repetitions, and delays those that failed (5 ms doubling to 1000 s, as upstream's): hub.c
 * (changes, turns, writes, events), hub_queue.c (what is due), pod_index.c, sync.c (what several
 * controllers do with objects).
 *
 * A run is made of turns: each controller with keys that are due gets, in the order of
 * controllers.def, one sync for each key that waited when its turn began. So whatever one
 * controller does to many objects is looked at by the others once, not once per object.
 */
#include "base/heap.h"
#include "base/map.h"
#include "base/vec.h"
#include "cluster/controllers.h"
#include "cluster/groups.h"

/** --- pods --- */

/**
 * What controllers ask about pods again and again, kept for every pod in a small record, found by
 * key, controller, node and namespace, so that no object is parsed to count replicas. The hub keeps
 * it current before it calls controllers.
 */
enum bt_pod_phase {
	BT_POD_PENDING,
	BT_POD_RUNNING,
	BT_POD_SUCCEEDED,
	BT_POD_FAILED,
	BT_POD_UNKNOWN,
};

struct bt_indexed_pod {
	struct bt_str key; /* "ns/name" */
	struct bt_str uid;
	struct bt_str owner_uid; /* of the controller; "" without */
	struct bt_str node_name; /* "" while unassigned */
	struct bt_str hash;      /* label pod-template-hash or controller-revision-hash */
	enum bt_pod_phase phase;
	bool ready;
	bool deleting;
	int32_t restart_count;
	int32_t deletion_cost;
	int64_t created_seconds;
	int64_t ready_since_seconds;
	uint64_t label_bits; /* bt_label_bits of the labels */
	bool job_tracking;   /* has the finalizer batch.kubernetes.io/job-tracking */

	struct bt_indexed_pod *next_of_owner; /* lists of the index */
	struct bt_indexed_pod *previous_of_owner;
	struct bt_indexed_pod *next_on_node;
	struct bt_indexed_pod *previous_on_node;
	uint32_t slot;
};

/** --- the hub --- */

/** Syncs and writes of one run, some 2 ms: clients are served in between, one request of each
 * connection. */
#define BT_HUB_WORK_PER_RUN 64
/** Changes that one run looks at. No key is synced before all of them are seen. */
#define BT_HUB_NOTES_PER_RUN 512
#define BT_HUB_CONTROLLERS_MAX 64

struct bt_controller_ops;

/** The resources that controllers read, write or watch. */
enum bt_hub_kind {
	BT_HUB_OTHER, /* any other resource */
	BT_HUB_PODS,
	BT_HUB_NODES,
	BT_HUB_NAMESPACES,
	BT_HUB_VOLUMES,       /* persistentvolumes */
	BT_HUB_VOLUME_CLAIMS, /* persistentvolumeclaims */
	BT_HUB_EVENTS,
	BT_HUB_SERVICE_ACCOUNTS,
	BT_HUB_QUOTAS,       /* resourcequotas */
	BT_HUB_REPLICATIONS, /* replicationcontrollers */
	BT_HUB_REPLICA_SETS,
	BT_HUB_DEPLOYMENTS,
	BT_HUB_STATEFUL_SETS,
	BT_HUB_DAEMON_SETS,
	BT_HUB_JOBS,
	BT_HUB_CRON_JOBS,
	BT_HUB_BUDGETS, /* poddisruptionbudgets */
	BT_HUB_LEASES,
	BT_HUB_STORAGE_CLASSES,
	BT_HUB_CSI_NODES,
	BT_HUB_CLAIMS,          /* resourceclaims */
	BT_HUB_CLAIM_TEMPLATES, /* resourceclaimtemplates */
	BT_HUB_POD_GROUPS,
	BT_HUB_WORKLOADS,
	BT_HUB_SERVICES,
	BT_HUB_ENDPOINTS,
	BT_HUB_SLICES, /* endpointslices */
	BT_HUB_CONFIG_MAPS,
	BT_HUB_REVISIONS,   /* controllerrevisions */
	BT_HUB_AUTOSCALERS, /* horizontalpodautoscalers */
	BT_HUB_CLUSTER_ROLES,
	BT_HUB_SECRETS,
	BT_HUB_SIGNING_REQUESTS, /* certificatesigningrequests */
	BT_HUB_KIND_COUNT,
};

/** A change that was committed and not yet looked at. */
struct bt_hub_note {
	enum bt_change_type type;
	uint32_t collection;
	struct bt_stored *before; /* shared; NULL: added */
	struct bt_stored *after;  /* shared */
	struct bt_api_trees trees; /* of pods that a sync patched: in sync_arena */
};

/** A key that is ready, waits for its time, or has failed before. */
struct bt_hub_item {
	char *key; /* owned; NULL: a free slot */
	uint32_t key_length;
	uint32_t controller;
	uint32_t next; /* in the controller's ready list, or of the free slots */
	uint32_t failures;
	bool ready;
	bool running;
	bool periodic; /* delayed by bt_hub_enqueue_periodic only */
};

struct bt_hub_queue {
	BT_VEC(struct bt_hub_item) items;
	uint32_t first_free;
	struct bt_map by_key;
	struct bt_heap delayed; /* by time, then order of arrival */
	int64_t next_sequence;
	/* By controller: list of ready items. */
	uint32_t first[BT_HUB_CONTROLLERS_MAX];
	uint32_t last[BT_HUB_CONTROLLERS_MAX];
	uint32_t ready_count[BT_HUB_CONTROLLERS_MAX];
};

/** A controller that is switched on. */
struct bt_hub_member {
	const struct bt_controller_ops *ops;
	void *data; /* owned; NULL: it has none */
	struct bt_user user;
	char *user_name; /* owned */
};

/** The controllers that watch a collection. */
struct bt_hub_interest {
	bool known;
	enum bt_hub_kind kind;
	uint64_t members; /* a bit each */
	const struct bt_api_resource *resource;
};

struct bt_pod_index {
	BT_VEC(struct bt_indexed_pod *) records; /* by slot; NULL: free */
	BT_VEC(uint32_t) free_slots;
	struct bt_map by_key;
	struct bt_map by_owner; /* value: slot of the list's first record */
	struct bt_map by_node;
};

/** Events told before, so that repeated ones count up. A ring: the oldest is forgotten. */
#define BT_HUB_EVENTS_REMEMBERED 1024
#define BT_HUB_EVENT_SOURCES 4096

struct bt_hub_event_memory {
	uint64_t hash;
	char *key; /* "ns/name" of the Event; owned */
	int64_t count;
};

/** How many events one object has left: 25 at once, then one in five minutes, as upstream. */
struct bt_hub_event_source {
	uint64_t hash;
	int64_t tokens_milli;
	int64_t updated_ns;
};

struct bt_hub {
	struct bt_api *api;                                     /* borrowed */
	struct bt_store *store;                                 /* borrowed */
	const struct bt_api_resource *kinds[BT_HUB_KIND_COUNT]; /* by enum bt_hub_kind */
	struct bt_controllers_options options;
	char **names; /* owned copies behind options.names */
	int64_t now_ns;
	uint32_t work; /* of this run */
	bool is_running;  /* bt_controllers_run is on the stack */
	bool keeps_trees; /* notes of pods that are taken now get their trees */

	uint32_t member_count;
	struct bt_hub_member members[BT_HUB_CONTROLLERS_MAX];
	uint32_t current;   /* the member that is being called */
	uint32_t turn_left; /* syncs of its turn */

	BT_VEC(struct bt_hub_note) notes;
	uint32_t next_note; /* earlier ones were looked at and released */
	BT_VEC(struct bt_hub_interest) interests; /* by collection */
	uint64_t interests_generation;

	struct bt_hub_queue queue;
	struct bt_pod_index pods;
	struct bt_hub_event_memory *events;
	uint32_t next_event;
	struct bt_hub_event_source *event_sources; /* by hash, the later one wins */
	int64_t last_event_stamp;

	struct bt_arena note_arena;
	struct bt_arena sync_arena;
	struct bt_arena event_arena;
};

struct bt_controllers {
	struct bt_hub hub;
};

/** --- hub.c --- */

struct bt_controller_row {
	const char *name;
	const struct bt_controller_ops *ops;
};

/** The rows of controllers.def; a name of NULL ends them. */
extern const struct bt_controller_row bt_controller_rows[];
BT_MUST_USE int bt_controllers_check_names(
	const struct bt_controllers_options *options, struct berth_error *err);

/** --- hub_queue.c --- */

void bt_hub_queue_init(struct bt_hub_queue *queue);
void bt_hub_queue_finish(struct bt_hub_queue *queue);
void bt_hub_queue_add(struct bt_hub_queue *queue, uint32_t controller, struct bt_str key);
void bt_hub_queue_add_at(
	struct bt_hub_queue *queue, uint32_t controller, struct bt_str key, int64_t at_ns);
void bt_hub_queue_add_periodic(
	struct bt_hub_queue *queue, uint32_t controller, struct bt_str key, int64_t at_ns);
/** The key is being synced: bt_hub_queue_done forgets it if it is not added again. */
void bt_hub_queue_cancel_delay(struct bt_hub_queue *queue, uint32_t controller, struct bt_str key);
/** A key is ready or delayed that is neither periodic nor retried at the longest delay. */
bool bt_hub_queue_has_work(const struct bt_hub_queue *queue);
/** Make ready what is due. */
void bt_hub_queue_promote(struct bt_hub_queue *queue, int64_t now_ns);
/** Take the first ready item of the controller, which must have one; it is running until done. */
uint32_t bt_hub_queue_take(struct bt_hub_queue *queue, uint32_t controller);
/** Its sync has ended. */
void bt_hub_queue_done(struct bt_hub_queue *queue, uint32_t item, bool succeeded, int64_t now_ns);
/** When the first delayed item is due; INT64_MAX: there is none. */
int64_t bt_hub_queue_next_due(const struct bt_hub_queue *queue);

/** --- pod_index.c --- */

void bt_pod_index_finish(struct bt_pod_index *index);
void bt_pod_index_observe(struct bt_pod_index *index, enum bt_change_type type, struct bt_str key,
	const struct bt_json_value *pod);

/** --- controllers --- */

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
	uint64_t watches;
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

#define BT_WATCH(kind) (UINT64_C(1) << (kind))
#define BT_WATCH_ALL UINT64_MAX

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

/** out_answer may be NULL; its object is NULL for a pod that went to options.pods. */
uint16_t bt_hub_create(struct bt_hub *hub, enum bt_hub_kind kind, struct bt_str namespace_,
	struct bt_json_value *object, struct bt_arena *arena, struct bt_api_answer *out_answer);
/** Hand a pod to options.pods, and let the controllers observe it. repeated: as of bt_pod_taker. */
uint16_t bt_hub_hand_over_pod(struct bt_hub *hub, struct bt_str namespace_,
	struct bt_json_value *pod, bool repeated, struct bt_arena *arena);
/** Pods that one sync creates at most. */
static inline uint32_t bt_hub_burst(const struct bt_hub *hub, uint32_t burst)
{
	return hub->options.pods.take != NULL ? UINT32_MAX : burst;
}
/** A merge patch of the object, or of its subresource. */
uint16_t bt_hub_patch(struct bt_hub *hub, const struct bt_api_resource *resource,
	enum bt_subresource subresource, struct bt_str key, struct bt_json_value *patch,
	struct bt_arena *arena);
uint16_t bt_hub_update(struct bt_hub *hub, const struct bt_api_resource *resource,
	enum bt_subresource subresource, struct bt_str key, struct bt_json_value *object,
	struct bt_arena *arena);
/** As bt_hub_delete with the object's own grace and another propagation. */
uint16_t bt_hub_delete_dependent(struct bt_hub *hub, const struct bt_api_resource *resource,
	struct bt_str key, enum bt_propagation propagation, struct bt_str uid,
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
/** Create count pods in its namespace, with events. false: *out_failure, in sync->arena, says why
 * not all; it may be NULL. */
bool bt_sync_create_pods(struct bt_sync *sync, const struct bt_json_value *pod, uint32_t count,
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

/** --- the index of pods: pod_index.c --- */

/** Succeeded or failed. */
static inline bool bt_pod_is_over(const struct bt_indexed_pod *record)
{
	return record->phase == BT_POD_SUCCEEDED || record->phase == BT_POD_FAILED;
}

/** Not deleting, neither succeeded nor failed. */
static inline bool bt_pod_is_active(const struct bt_indexed_pod *record)
{
	return !record->deleting && !bt_pod_is_over(record);
}

/**
 * A few bits for each label (an object of texts): when an object has all labels of a selector, it
 * has all of the selector's bits. So most objects are told apart without parsing them.
 */
uint64_t bt_label_bits(const struct bt_json_value *labels);

/** NULL: no such pod. Borrowed until the hub observes the next change. */
const struct bt_indexed_pod *bt_pod_index_find(const struct bt_hub *hub, struct bt_str key);
/** First of the pods whose controller has this uid; go on with next_of_owner. */
const struct bt_indexed_pod *bt_pod_index_of_owner(const struct bt_hub *hub, struct bt_str uid);
/** The active pods whose controller has this uid. */
const struct bt_indexed_pod **bt_pod_index_active(
	const struct bt_hub *hub, struct bt_str uid, struct bt_arena *arena, uint32_t *out_count);
/** First of the namespace's pods that no controller owns; go on with next_of_owner. */
const struct bt_indexed_pod *bt_pod_index_orphans(
	const struct bt_hub *hub, struct bt_str namespace_);
/** First of the pods assigned to the node; go on with next_on_node. */
const struct bt_indexed_pod *bt_pod_index_on_node(const struct bt_hub *hub, struct bt_str node);

/** --- job_workload.c --- */

struct bt_job_groups {
	struct bt_groups workloads;  /* by "ns/name" of spec.controllerRef */
	struct bt_groups pod_groups; /* by "ns/name" of the Workload they refer to */
};

/** A Workload or a PodGroup changed. */
void bt_job_groups_observe(struct bt_job_groups *groups, const struct bt_observed *observed);

/**
 * Gate WorkloadWithJob: the PodGroup of the Job that is synced, if its pods are a gang; made, with
 * its Workload, as long as the Job has no pods. *out_name "": its pods are scheduled one by one.
 * false: it could not be made, try again.
 */
bool bt_job_ensure_pod_group(struct bt_sync *sync, const struct bt_job_groups *groups,
	bool has_pods, struct bt_str *out_name);

/** --- all of them --- */

#define BT_CONTROLLER(name, ops) extern const struct bt_controller_ops ops;
#include "cluster/controllers.def"
#undef BT_CONTROLLER
#endif
