/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_STATE_STATE_H
#define BT_STATE_STATE_H
/**
 * Cluster state: nodes, assigned and assumed pods, and shared data. Implements upstream's scheduler
 * cache (spec 03b): the state machine of pods, imaginary and ghost nodes, node order, image states,
 * and the per-cycle snapshot. A state belongs to one thread and has no locks.
 */
#include <stdbool.h>
#include <stdint.h>

#include "api/node.h"
#include "api/pod.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "base/strbuf.h"
#include "base/symbol.h"
#include "base/vec.h"
#include "state/change_log.h"
#include "state/node_table.h"
#include "state/object_store.h"
#include "state/places.h"
#include "state/shape.h"

/* The zone tree: the list of nodes round-robin over zones. Spec: 03b section 6. */

struct bt_zone {
	bt_sym key;             /* reference held */
	BT_VEC(uint32_t) slots; /* in order of addition */
};

/** A node was added to or removed from a zone. */
struct bt_order_change {
	uint32_t slot;
	uint32_t zone; /* index in zones */
	uint32_t row;  /* index in the zone's slots */
	bool joined;   /* true: added at the end of the zone; false: removed */
};

struct bt_node_order {
	BT_VEC(struct bt_zone) zones; /* in order of first appearance */
	uint32_t count;
	struct bt_symbol_table *symbols;
	/** Changes since the last update of the snapshot's list, in order. */
	BT_VEC(struct bt_order_change) changes;
	bool changes_lost; /* zones were added or removed, or there were too many changes */
};

void bt_node_order_finish(struct bt_node_order *order);
/** Append a slot that is in no zone to this zone: O(zones). */
void bt_node_order_append(struct bt_node_order *order, uint32_t slot, bt_sym zone_key);
/**
 * Remove the slot from its zone. Fails with BERTH_ERR_NOT_FOUND and `node "<name>" in group "<zone
 * key>" was not found`; node_name is only for this message.
 */
BT_MUST_USE int bt_node_order_remove(struct bt_node_order *order, uint32_t slot, bt_sym zone_key,
	struct bt_str node_name, struct berth_error *err);
/** Write order->count slots, round-robin over zones. O(count + zones). */
void bt_node_order_list(const struct bt_node_order *order, uint32_t *out_slots);

#define BT_POD_NONE UINT32_MAX

struct bt_dra; /* dra/dra.h */

/** Interned label sets: pods with equal labels share a set. */
struct bt_label_set {
	struct bt_str_map labels; /* text in the symbol table */
	struct bt_label_pair *symbols;
	uint32_t ref_count;
	uint64_t hash;
	uint32_t last_shape; /* shape id of the last pending pod with these labels, as a guess */
};

struct bt_label_set_table {
	BT_HASH_TABLE(struct bt_label_set) sets;
	struct bt_symbol_table *symbols;
};

void bt_label_set_table_finish(struct bt_label_set_table *table);
/**
 * Returns the id of the set of these labels (sorted by key, as decoded), with a reference. Pointers
 * into `sets` are valid until the next call.
 */
uint32_t bt_label_set_ref_map(struct bt_label_set_table *table, const struct bt_str_map *labels);
void bt_label_set_ref(struct bt_label_set_table *table, uint32_t id);
void bt_label_set_unref(struct bt_label_set_table *table, uint32_t id);

/**
 * Uid and name of a cached pod. They are not symbols, because a symbol for a text that only one pod
 * has needs more memory.
 */
struct bt_pod_identity {
	uint32_t uid_length;
	uint32_t name_length;
	char text[]; /* uid, name */
};

/** A cached pod. Objects of bound pods are not kept: the identity, shape and labels are enough. */
struct bt_pod_record {
	struct bt_pod_identity *identity; /* owned */
	bt_sym namespace_;
	bt_sym nominated_node; /* status.nominatedNodeName */
	uint32_t shape;
	uint32_t label_set;
	uint32_t node; /* slot */
	int32_t priority;
	int64_t start_seconds; /* status.startTime; INT64_MIN = not set */
	uint32_t position;     /* index in its node's list of pods */
	bool assumed;
	bool terminating : 1;
	bool preempted : 1; /* terminating because of preemption (spec 08 section 6) */
	bool mirror : 1;    /* of a static pod: if the pod is deleted, its kubelet makes it again */
	bool in_use;
	bool snapshot_only; /* assumed in the snapshot only (spec 03b section 7.3) */
};

_Static_assert(sizeof(struct bt_pod_record) == 48, "a bound pod costs one record");

/** Borrowed until the record is removed or an update changes uid or name. */
static inline struct bt_str bt_pod_record_uid(const struct bt_pod_record *record)
{
	return (struct bt_str){record->identity->text, record->identity->uid_length};
}

/** Borrowed like bt_pod_record_uid. */
static inline struct bt_str bt_pod_record_name(const struct bt_pod_record *record)
{
	const struct bt_pod_identity *identity = record->identity;

	return (struct bt_str){identity->text + identity->uid_length, identity->name_length};
}

struct bt_pod_table {
	BT_VEC(struct bt_pod_record) records;
	BT_VEC(uint32_t) free_ids;
	struct bt_map by_uid; /* uid -> pod id; without snapshot_only pods */
	uint32_t count;
	uint32_t assumed_count;
};

/** The cluster-wide record of an image name. Spec 03b section 5.4. */
struct bt_image {
	bt_sym name;
	int64_t size_bytes;
	uint32_t node_count; /* number of nodes that have the image now */
	uint64_t mark;       /* for the image table only */
};

struct bt_image_table {
	BT_HASH_TABLE(struct bt_image) images; /* node_count == 0: the entry is free */
	uint64_t version;                      /* increased when any node_count or size changes */
	uint64_t mark;
};

/**
 * A node of a placement. `instance` (see bt_node_row) shows whether the name still belongs to the
 * same node.
 */
struct bt_placement_node {
	struct bt_str name;
	uint32_t slot;
	uint64_t instance;
};

/** Lists of the snapshot, written at first use. */
struct bt_snapshot_lists {
	bool is_written;          /* slots and positions are valid */
	bool affinity_is_written; /* affinity and anti_affinity are valid */
	uint32_t *slots;          /* in list order */
	uint32_t *positions;      /* by slot; valid for slots in the snapshot */
	uint32_t capacity;
	BT_VEC(uint32_t) affinity;      /* slots with in_affinity_list, in list order */
	BT_VEC(uint32_t) anti_affinity; /* slots with in_anti_affinity_list, in list order */
};

/**
 * The snapshot: the slots that a cycle sees, and their order. Aggregates of nodes are read from the
 * columns, which do not change during a cycle. Spec 03b section 7.
 */
struct bt_snapshot {
	struct bt_places places;         /* of the listed nodes */
	uint32_t count;                  /* number of listed nodes */
	struct bt_snapshot_lists *lists; /* owned; use bt_snapshot_list and the like */
	struct bt_bitset listed;         /* slots with in_snapshot */
	struct bt_bitset affinity_slots; /* slots with in_affinity_list */
	uint32_t affinity_count;         /* number of bits in affinity_slots */
	uint64_t log_sequence;           /* change log position of the last refresh */
	uint64_t refresh_count;          /* number of refreshes */
	BT_VEC(uint32_t) changed_slots;  /* changed since the last refresh, without repetitions */
	/* Slots with bt_snapshot_has_name; usually equal to `listed`. */
	struct bt_bitset names;
	uint32_t name_count; /* number of bits in names */
	/* Slots of removed nodes that are still in `names`. */
	BT_VEC(uint32_t) nameless;
	uint64_t next_instance;
	BT_VEC(uint32_t) assumed_pods;    /* ids of snapshot_only pods */
	BT_VEC(uint32_t) placement_slots; /* in the placement's order */
	bool has_placement;
};

struct bt_state {
	struct bt_symbol_table symbols;
	struct bt_node_table nodes;
	struct bt_shape_table shapes;
	struct bt_label_set_table label_sets;
	struct bt_pod_table pods;
	struct bt_image_table images;
	struct bt_node_order order;
	struct bt_snapshot snapshot;
	struct bt_change_log log;
	struct bt_object_store objects;             /* all kinds except pods and nodes */
	struct bt_domain_counters *domain_counters; /* domain_counter.h; NULL: not used yet */
	struct bt_affinity_index *affinity_index;   /* affinity_index.h; NULL: not used yet */
	struct bt_pod_index *pod_index;             /* pod_index.h; NULL: not used yet */
	struct bt_pod_groups *pod_groups;           /* pod_groups.h; NULL: the gate is off */
	/** dra/dra.h, from a higher layer; NULL: not used yet. */
	struct bt_dra *dra;
	void (*destroy_dra)(struct bt_dra *dra);
	/** Used claims, with the number of the snapshot's nodes whose pods use the claim. */
	BT_HASH_TABLE(struct bt_claim_ref) used_claims; /* by symbol; count 0: free */
	int64_t next_generation;
	uint32_t node_entry_count;   /* cache entries: real, imaginary and ghost nodes */
	uint32_t affinity_pod_count; /* number of pods in all pods_with_affinity lists */
	struct bt_resource_gates gates;
	bool gate_declared_features; /* NodeDeclaredFeatures */
	struct bt_arena scratch;     /* memory of one operation */
	struct bt_strbuf text;       /* memory of one operation */
	/**
	 * Receives lines that upstream logs as errors: disagreements between caller and cache that
	 * do not fail an operation. NULL: the lines are dropped.
	 */
	void (*warn)(void *context, struct bt_str line);
	void *warn_context;
};

/** Write slots and positions of snapshot->lists. Only while places are not in list order. */
void bt_snapshot_write_list(const struct bt_snapshot *snapshot);
/**
 * The slots in list order; borrowed until the next refresh. The first call after nodes were added
 * or removed writes the list.
 */
static inline const uint32_t *bt_snapshot_list(const struct bt_snapshot *snapshot)
{
	if (snapshot->places.in_list_order) {
		return snapshot->places.slot_at;
	}
	if (!snapshot->lists->is_written) {
		bt_snapshot_write_list(snapshot);
	}
	return snapshot->lists->slots;
}
/**
 * By slot, the position in bt_snapshot_list; valid for slots in the snapshot. Borrowed until the
 * next refresh.
 */
static inline const uint32_t *bt_snapshot_positions(const struct bt_snapshot *snapshot)
{
	if (snapshot->places.in_list_order) {
		return snapshot->places.place_of;
	}
	if (!snapshot->lists->is_written) {
		bt_snapshot_write_list(snapshot);
	}
	return snapshot->lists->positions;
}
/** A number that orders the snapshot's nodes as the list does, without writing the list. */
static inline uint64_t bt_snapshot_order(const struct bt_snapshot *snapshot, uint32_t slot)
{
	uint32_t place = snapshot->places.place_of[slot];
	return snapshot->places.in_list_order ? bt_point(place, 0)
					      : bt_places_point_of(&snapshot->places, place);
}
/**
 * Writes the members affinity and anti_affinity of the snapshot's lists if they are not valid, and
 * returns the lists. The members have the nodes that have pods with affinity, and the nodes that
 * have pods with required anti-affinity. Borrowed until the next refresh.
 */
const struct bt_snapshot_lists *bt_snapshot_affinity_lists(const struct bt_state *state);

/** Whether the snapshot has the slot's name. */
static inline bool bt_snapshot_has_name(const struct bt_snapshot *snapshot, uint32_t slot)
{
	return bt_bitset_get(&snapshot->names, slot);
}

struct bt_state_options {
	struct bt_resource_gates resource_gates;
	bool declared_features;
	bool pod_groups; /* gate GenericWorkload */
};

struct bt_state *bt_state_create(const struct bt_state_options *options);
void bt_state_destroy(struct bt_state *state);

/*
 * Pods: spec 03b section 4. Errors E0 to E8 have the codes BERTH_ERR_INVALID (E0), BERTH_ERR_STATE
 * or BERTH_ERR_NOT_FOUND.
 */

/** Assume the pod on the node in spec.nodeName. */
BT_MUST_USE int bt_state_assume_pod(
	struct bt_state *state, const struct bt_pod *pod, struct berth_error *err);
/**
 * As bt_state_assume_pod, but faster, for a pod whose shape and label set are known, on the node of
 * `slot`. The state takes references to shape and label_set.
 */
BT_MUST_USE int bt_state_assume_shaped(struct bt_state *state, const struct bt_pod *pod,
	uint32_t shape, uint32_t label_set, uint32_t slot, struct berth_error *err);
BT_MUST_USE int bt_state_forget_pod(
	struct bt_state *state, const struct bt_pod *pod, struct berth_error *err);
BT_MUST_USE int bt_state_add_pod(
	struct bt_state *state, const struct bt_pod *pod, struct berth_error *err);
/**
 * If the new pod's node is not the cached pod's node, upstream prints "... Scheduler cache is
 * corrupted ..." and exits. Here the function fails with BERTH_ERR_INTERNAL and upstream's text,
 * and the caller decides. bt_state_remove_pod does the same, unless the pod to remove has no node.
 */
BT_MUST_USE int bt_state_update_pod(struct bt_state *state, const struct bt_pod *old_pod,
	const struct bt_pod *new_pod, struct berth_error *err);
BT_MUST_USE int bt_state_remove_pod(
	struct bt_state *state, const struct bt_pod *pod, struct berth_error *err);
/** Returns the id of the cached pod with this uid, or BT_POD_NONE. The caller makes message E8. */
uint32_t bt_state_find_pod(const struct bt_state *state, struct bt_str uid);
/** Fails with error E0 if the uid is empty; otherwise sets *out_assumed. */
BT_MUST_USE int bt_state_is_assumed_pod(const struct bt_state *state, const struct bt_pod *pod,
	bool *out_assumed, struct berth_error *err);
static inline const struct bt_pod_record *bt_state_pod_at(
	const struct bt_state *state, uint32_t pod_id)
{
	return &state->pods.records.items[pod_id];
}

/* Nodes: spec 03b section 5. */

void bt_state_add_node(struct bt_state *state, const struct bt_node *node);
/**
 * Reads nothing from old_node but its zone, as the old zone of upstream's tree.update(old, new).
 * old_node NULL: the old zone is that of the cached node.
 */
void bt_state_update_node(
	struct bt_state *state, const struct bt_node *old_node, const struct bt_node *new_node);
BT_MUST_USE int bt_state_remove_node(
	struct bt_state *state, const struct bt_node *node, struct berth_error *err);

/* Snapshot: spec 03b section 7.2. */

/**
 * Refresh the snapshot at the start of a cycle. The cost depends on the changes since the last
 * refresh. BERTH_ERR_STATE: the snapshot was inconsistent and was rebuilt.
 */
BT_MUST_USE int bt_state_refresh_snapshot(struct bt_state *state, struct berth_error *err);
/**
 * Returns the slot of a node of the snapshot, or BT_SLOT_NONE. The caller makes the text `nodeinfo
 * not found for node name "<n>"`.
 */
uint32_t bt_state_snapshot_find(const struct bt_state *state, struct bt_str node_name);
#define BT_IMAGE_NONE UINT32_MAX
/** Returns the index of an image name in state->images; BT_IMAGE_NONE: no node has the image. */
uint32_t bt_state_find_image(const struct bt_state *state, struct bt_str name);
/** Whether a pod in the snapshot uses the claim "namespace/name". */
bool bt_state_is_claim_used(const struct bt_state *state, struct bt_str claim_key);

/**
 * Consumers of a node-allocatable resource claim: pods whose status names the claim (spec 03b
 * section 3, gate DRANodeAllocatableResources). The first function returns the number of consumers
 * on the slot, the second whether pod_id is a consumer.
 */
uint32_t bt_state_claim_consumer_count(const struct bt_state *state, uint32_t slot,
	struct bt_str claim_namespace, struct bt_str claim_name);
bool bt_state_is_claim_consumer(const struct bt_state *state, uint32_t pod_id,
	struct bt_str claim_namespace, struct bt_str claim_name);

/* Changes during a pod group cycle: spec 03b section 7.3. */

/**
 * Count the pod on the node in its spec.nodeName, in the snapshot only. The used claims and the
 * affinity lists (struct bt_snapshot_lists) do not change. BERTH_ERR_INVALID: no uid.
 * BERTH_ERR_STATE: the pod is already assumed in the snapshot.
 */
BT_MUST_USE int bt_snapshot_assume_pod(
	struct bt_state *state, const struct bt_pod *pod, struct berth_error *err);
/**
 * As bt_snapshot_assume_pod, for a pod with known shape and label set, on this slot. Takes
 * references to shape and label_set. The pod must not be assumed in the snapshot already; this is
 * not checked, because a search would cost too much.
 */
BT_MUST_USE int bt_snapshot_assume_shaped(struct bt_state *state, const struct bt_pod *pod,
	uint32_t shape, uint32_t label_set, uint32_t slot, struct berth_error *err);
/**
 * Undo bt_snapshot_assume_pod. Error: `assumed pod "<uid>" not found in the snapshot`
 * (BERTH_ERR_NOT_FOUND).
 */
BT_MUST_USE int bt_snapshot_forget_pod(
	struct bt_state *state, const struct bt_pod *pod, struct berth_error *err);
/** A listed node, for making placements. Its name is borrowed until the next refresh. */
struct bt_placement_node bt_snapshot_placement_node(const struct bt_state *state, uint32_t slot);
/**
 * Replace the placement. No placement is set if `count` is the number of the snapshot's nodes, or
 * if a node is not in the snapshot (BERTH_ERR_NOT_FOUND) or was replaced (BERTH_ERR_STATE).
 */
BT_MUST_USE int bt_snapshot_assume_placement(struct bt_state *state,
	const struct bt_placement_node *nodes, uint32_t count, struct berth_error *err);
void bt_snapshot_forget_placement(struct bt_state *state);
/**
 * Gets the slots of the placement or, without a placement, of the snapshot's list. *out_slots is
 * borrowed until the next change. Returns the number of slots.
 */
uint32_t bt_snapshot_placement_slots(const struct bt_state *state, const uint32_t **out_slots);
/** Returns the number of slots that bt_snapshot_placement_slots returns. */
static inline uint32_t bt_snapshot_placement_count(const struct bt_state *state)
{
	return state->snapshot.has_placement ? state->snapshot.placement_slots.count
					     : state->snapshot.count;
}

/*
 * Temporary changes of nodes and pods, to find out what the scheduler would decide. Ending the
 * trial restores everything that decisions may depend on: nodes and pods, the order of nodes, zones
 * and pods, and the snapshot's image counts. Nothing else may change the state during a trial.
 */

/** Saved data of a node: the data that adding the node's pods again does not restore. */
struct bt_trial_slot {
	uint32_t slot;
	const struct bt_node *node; /* restored at the end; NULL: the node was not changed */
	BT_VEC(uint32_t) pods;
	BT_VEC(uint32_t) pods_with_affinity;
	BT_VEC(uint32_t) pods_with_required_anti_affinity;
	bt_host_port_list ports; /* texts are in the trial's arena */
	uint32_t *image_counts;
	uint64_t images_version;
};

struct bt_state_trial {
	struct bt_state *state;
	struct bt_arena arena;
	BT_VEC(struct bt_trial_slot) slots;
	BT_VEC(uint32_t) slot_at; /* by slot: index in slots + 1; 0: none */
	BT_VEC(uint32_t) pods;    /* taken pods, in order */
	struct bt_bitset away;    /* by pod: taken and not returned */
	bool in_snapshot;
};

/** Start a trial; refreshes the snapshot. After a failure, do not call bt_state_trial_end. */
BT_MUST_USE int bt_state_trial_begin(
	struct bt_state_trial *trial, struct bt_state *state, struct berth_error *err);
/**
 * Replace everything of the node except its name, its images and its position in the order. The
 * node must be in the snapshot. was: the node as last put into the state, borrowed until the end of
 * the trial.
 */
void bt_state_trial_set_node(struct bt_state_trial *trial, uint32_t slot, const struct bt_node *was,
	const struct bt_node *now);
/**
 * Remove a pod that is on a node of the snapshot, as if the pod had never been there: ports that
 * the pod shares with other pods of the node stay used. The next refresh of the snapshot shows the
 * changes of bt_state_trial_set_node and bt_state_trial_take_pod.
 */
void bt_state_trial_take_pod(struct bt_state_trial *trial, uint32_t pod_id);
/** Undo all changes and refresh the snapshot. Frees the trial even if the refresh fails. */
BT_MUST_USE int bt_state_trial_end(struct bt_state_trial *trial, struct berth_error *err);

/**
 * Start a trial within the cycle of a pod group that preempts. In this trial,
 * bt_state_trial_take_pod removes pods from the snapshot only, as upstream does with copies of
 * nodes: ports shared with other pods are removed too, used claims and pod groups still count the
 * pod, and changes are visible at once. The cycle may assume and forget pods in the snapshot during
 * the trial. Spec: 08 section 14.
 */
void bt_snapshot_trial_begin(struct bt_state_trial *trial, struct bt_state *state);
/** Add a taken pod again, at the end of its node's pods. */
void bt_snapshot_trial_return_pod(struct bt_state_trial *trial, uint32_t pod_id);
void bt_snapshot_trial_end(struct bt_state_trial *trial);
#endif
