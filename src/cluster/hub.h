/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLUSTER_HUB_H
#define BT_CLUSTER_HUB_H
/**
 * The hub calls the controllers: hub.c (changes, turns, writes, events), hub_queue.c (what is due),
 * pod_index.c. What a controller is: controller.h.
 *
 * A run is made of turns: each controller with keys that are due gets, in the order of
 * controllers.def, one sync for each key that waited when its turn began. So whatever one
 * controller does to many objects is looked at by the others once, not once per object.
 */
#include "base/heap.h"
#include "base/map.h"
#include "base/vec.h"
#include "cluster/controllers.h"
#include "cluster/pod_index.h"

/** Syncs and writes of one run, so that clients are served in between. */
#define BT_HUB_WORK_PER_RUN 400
#define BT_HUB_CONTROLLERS_MAX 64

struct bt_controller_ops; /* controller.h */

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
	BT_HUB_KIND_COUNT,
};

/** A change that was committed and not yet looked at. */
struct bt_hub_note {
	enum bt_change_type type;
	uint32_t collection;
	struct bt_stored *before; /* shared; NULL: added */
	struct bt_stored *after;  /* shared */
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

	uint32_t member_count;
	struct bt_hub_member members[BT_HUB_CONTROLLERS_MAX];
	uint32_t current;   /* the member that is being called */
	uint32_t turn_left; /* syncs of its turn */

	BT_VEC(struct bt_hub_note) notes;
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

void bt_pod_index_init(struct bt_pod_index *index);
void bt_pod_index_finish(struct bt_pod_index *index);
void bt_pod_index_observe(struct bt_pod_index *index, enum bt_change_type type, struct bt_str key,
	const struct bt_json_value *pod);

#endif
