/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_STATE_STATE_H
#define BT_STATE_STATE_H
/**
 * Cluster state: nodes, assigned and assumed pods, and what is shared between them. Implements
 * upstream's scheduler cache (spec 03b): state machine of pods, imaginary and ghost nodes, node
 * order, image states, and the per-cycle snapshot. One thread owns it; nothing is locked.
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

/* The zone tree: nodes listed round-robin over zones. Spec: 03b section 6. */

struct bt_zone {
	bt_sym key;             /* reference held */
	BT_VEC(uint32_t) slots; /* in order of addition */
};

/** A node that joined the end of a zone, or left its row there. */
struct bt_order_change {
	uint32_t slot;
	uint32_t zone; /* index */
	uint32_t row;
	bool joined;
};

struct bt_node_order {
	BT_VEC(struct bt_zone) zones; /* in order of first appearance */
	uint32_t count;
	struct bt_symbol_table *symbols;
	/** What changed since the snapshot's list was last brought up to date, in turn. */
	BT_VEC(struct bt_order_change) changes;
	bool changes_lost; /* zones came or went, or there were too many changes */
};

void bt_node_order_init(struct bt_node_order *order, struct bt_symbol_table *symbols);
void bt_node_order_finish(struct bt_node_order *order);
/** Append to its zone; nothing when it is there already. */
void bt_node_order_add(struct bt_node_order *order, uint32_t slot, bt_sym zone_key);
/** node_name only for the message `node "<name>" in group "<zone key>" was not found`
 * (BERTH_ERR_NOT_FOUND). */
BT_MUST_USE int bt_node_order_remove(struct bt_node_order *order, uint32_t slot, bt_sym zone_key,
	struct bt_str node_name, struct berth_error *err);
/** Write count slots, round-robin over zones. O(count + zones). */
void bt_node_order_list(const struct bt_node_order *order, uint32_t *out_slots);

#define BT_POD_NONE UINT32_MAX

struct bt_dra; /* dra/dra.h */

/** Interned label sets: pods with equal labels share one. */
struct bt_label_set {
	struct bt_str_map labels; /* text in the symbol table */
	struct bt_label_pair *symbols;
	uint32_t ref_count;
	uint64_t hash;
	uint32_t last_shape; /* of a pending pod with these labels: a guess for the next one */
};

struct bt_label_set_table {
	struct bt_map map;
	BT_VEC(struct bt_label_set) sets;
	BT_VEC(uint32_t) free_ids;
	struct bt_symbol_table *symbols;
};

void bt_label_set_table_finish(struct bt_label_set_table *table);
/**
 * The set of these labels (sorted by key, as decoded), one reference taken. Pointers into `sets`
 * are good until the next call.
 */
uint32_t bt_label_set_ref_map(struct bt_label_set_table *table, const struct bt_str_map *labels);
void bt_label_set_ref(struct bt_label_set_table *table, uint32_t id);
void bt_label_set_unref(struct bt_label_set_table *table, uint32_t id);

/** A pod that the cache holds. Full objects of bound pods are not kept: identity, shape and labels
 * say everything. */
struct bt_pod_record {
	bt_sym uid;
	bt_sym name;
	bt_sym namespace_;
	bt_sym nominated_node; /* status.nominatedNodeName */
	uint32_t shape;
	uint32_t label_set;
	uint32_t node; /* slot */
	int32_t priority;
	int64_t start_seconds; /* status.startTime; INT64_MIN = not set */
	uint32_t position;     /* in its node's list of pods */
	bool assumed;
	bool terminating : 1;
	bool preempted : 1; /* terminating, and preemption is why (spec 08 section 6) */
	bool in_use;
	bool snapshot_only; /* assumed in the snapshot, unknown to the cache (spec 03b section 7.3)
	                     */
};

_Static_assert(sizeof(struct bt_pod_record) == 48, "a bound pod costs one record");

struct bt_pod_table {
	BT_VEC(struct bt_pod_record) records;
	BT_VEC(uint32_t) free_ids;
	/**
	 * Pod id by uid symbol. An array beats a hash index: symbols of new pods are neighbours,
	 * and a lookup has found the symbol already.
	 */
	BT_VEC(uint32_t) by_uid;
	uint32_t count;
	uint32_t assumed_count;
};

/** Cluster-wide record of an image name. Spec 03b section 5.4. */
struct bt_image {
	bt_sym name;
	int64_t size_bytes;
	uint32_t node_count; /* nodes holding it now */
	uint64_t mark;       /* private to the image table */
};

struct bt_image_table {
	struct bt_map map;
	BT_VEC(struct bt_image) images; /* node_count == 0: free */
	BT_VEC(uint32_t) free_ids;
	uint64_t version; /* grows whenever any node_count or size changes */
	uint64_t mark;
};

/** A node of a placement: instance tells a stale view of the name from the snapshot's
 * (bt_node_row). */
struct bt_placement_node {
	struct bt_str name;
	uint32_t slot;
	uint64_t instance;
};

/** What the snapshot lists, written when somebody asks for it. */
struct bt_snapshot_lists {
	bool is_written;          /* slots and positions; not used while places are in list order */
	bool affinity_is_written; /* affinity and anti_affinity */
	uint32_t *slots;          /* in list order */
	uint32_t *positions;      /* by slot; only meaningful for slots in the snapshot */
	uint32_t capacity;
	BT_VEC(uint32_t) affinity;      /* slots with in_affinity_list, list order */
	BT_VEC(uint32_t) anti_affinity; /* slots with in_anti_affinity_list, list order */
};

/**
 * The snapshot: which slots a cycle sees and in which order. Node aggregates are read from the
 * columns, which do not change during a cycle. Spec 03b section 7.
 */
struct bt_snapshot {
	struct bt_places places;         /* of the nodes that are listed */
	uint32_t count;                  /* nodes that are listed */
	struct bt_snapshot_lists *lists; /* owned; read by bt_snapshot_list and the like */
	struct bt_bitset listed;         /* slots with in_snapshot */
	struct bt_bitset affinity_slots; /* those of them with in_affinity_list */
	uint32_t affinity_count;         /* of affinity_slots */
	uint64_t log_sequence;           /* change log position of the last refresh */
	uint64_t refresh_count;          /* how often it was refreshed */
	BT_VEC(uint32_t) changed_slots;  /* touched since the last refresh, each once */
	struct bt_bitset names;    /* slots found by name; differs from the list only while caches
	                              disagree */
	uint32_t name_count;       /* of names */
	BT_VEC(uint32_t) nameless; /* slots whose node was seen to be gone, name not dropped yet */
	uint64_t next_instance;
	BT_VEC(uint32_t) assumed_pods;    /* pod ids, snapshot_only */
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
	struct bt_object_store objects;             /* everything but pods and nodes */
	struct bt_domain_counters *domain_counters; /* domain_counter.h; NULL: nobody has asked */
	struct bt_affinity_index *affinity_index;   /* affinity_index.h; likewise */
	struct bt_pod_index *pod_index;             /* pod_index.h; likewise */
	struct bt_pod_groups *pod_groups;           /* pod_groups.h; NULL: the gate is off */
	/** dra/dra.h, of a layer above; NULL: nobody has asked. */
	struct bt_dra *dra;
	void (*destroy_dra)(struct bt_dra *dra);
	size_t (*dra_memory_bytes)(const struct bt_dra *dra);
	struct bt_map used_claims; /* cluster-wide PVC references: key symbol -> counter index */
	BT_VEC(struct bt_claim_ref)
	used_claim_counts; /* count: nodes of the snapshot whose pods use the claim */
	int64_t next_generation;
	uint32_t node_entry_count;       /* cache entries: real, imaginary, ghost */
	uint32_t affinity_pod_count;     /* pods in some row's pods_with_affinity */
	struct bt_resource_gates gates;
	bool gate_declared_features;                     /* NodeDeclaredFeatures */
	struct bt_arena scratch;                         /* of one operation */
	struct bt_strbuf text;                           /* likewise */
	void (*warn)(void *context, struct bt_str line); /* NULL: nobody listens */
	void *warn_context;
};

/** Brings snapshot->lists up to date. */
void bt_snapshot_write_list(const struct bt_snapshot *snapshot);
/** The slots in list order; borrowed until the next refresh. The first call after nodes came or
 * went writes the list. */
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
/** Positions in that list by slot, only meaningful for slots in the snapshot; likewise. */
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
/** Orders the snapshot's nodes as its list does, without writing it. */
static inline uint64_t bt_snapshot_order(const struct bt_snapshot *snapshot, uint32_t slot)
{
	uint32_t place = snapshot->places.place_of[slot];
	return snapshot->places.in_list_order ? bt_point(place, 0)
					      : bt_places_point_of(&snapshot->places, place);
}
/** The same of the node at this position of the list. */
static inline uint64_t bt_snapshot_order_at(const struct bt_snapshot *snapshot, uint32_t position)
{
	return snapshot->places.in_list_order ? bt_point(position, 0)
					      : bt_places_point_at(&snapshot->places, position);
}
/** The lists of nodes with pods that have affinity or required anti-affinity; likewise. */
const struct bt_snapshot_lists *bt_snapshot_affinity_lists(const struct bt_state *state);

/** Whether the slot's name is one the snapshot knows. */
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
/** Where lines go that upstream logs as errors: disagreements between caller and cache that do not
 * fail an operation. */
void bt_state_set_warn(
	struct bt_state *state, void (*warn)(void *context, struct bt_str line), void *context);

/* Pods: spec 03b section 4. Errors E0-E8 are BERTH_ERR_INVALID (E0), BERTH_ERR_STATE or
 * BERTH_ERR_NOT_FOUND. */

/** The pod must carry spec.nodeName = the chosen node. */
BT_MUST_USE int bt_state_assume_pod(
	struct bt_state *state, const struct bt_pod *pod, struct berth_error *err);
/**
 * Fast form of assume for a pod whose shape and label set are known already: same rules, same
 * errors. References to shape and label set are taken by the state itself.
 */
BT_MUST_USE int bt_state_assume_shaped(struct bt_state *state, const struct bt_pod *pod,
	uint32_t shape, uint32_t label_set, uint32_t slot, struct berth_error *err);
BT_MUST_USE int bt_state_forget_pod(
	struct bt_state *state, const struct bt_pod *pod, struct berth_error *err);
BT_MUST_USE int bt_state_add_pod(
	struct bt_state *state, const struct bt_pod *pod, struct berth_error *err);
/**
 * Upstream ends the process when old and new name different nodes ("Scheduler cache is corrupted");
 * this returns BERTH_ERR_INTERNAL with that text and leaves the decision to the caller. Same for
 * remove_pod's node rule.
 */
BT_MUST_USE int bt_state_update_pod(struct bt_state *state, const struct bt_pod *old_pod,
	const struct bt_pod *new_pod, struct berth_error *err);
BT_MUST_USE int bt_state_remove_pod(
	struct bt_state *state, const struct bt_pod *pod, struct berth_error *err);
/** Pod id by uid, or BT_POD_NONE. Message E8 is the caller's when it needs one. */
uint32_t bt_state_find_pod(const struct bt_state *state, struct bt_str uid);
/** E0 for an empty uid; *out_assumed otherwise. */
BT_MUST_USE int bt_state_is_assumed_pod(const struct bt_state *state, const struct bt_pod *pod,
	bool *out_assumed, struct berth_error *err);
static inline const struct bt_pod_record *bt_state_pod_at(
	const struct bt_state *state, uint32_t pod_id)
{
	return &state->pods.records.items[pod_id];
}

/* Nodes: spec 03b section 5. */

void bt_state_add_node(struct bt_state *state, const struct bt_node *node);
/** old_node may be NULL; only its zone matters (upstream's tree.update(old, new)). */
void bt_state_update_node(
	struct bt_state *state, const struct bt_node *old_node, const struct bt_node *new_node);
BT_MUST_USE int bt_state_remove_node(
	struct bt_state *state, const struct bt_node *node, struct berth_error *err);
/** Entries (ghosts and imaginary nodes included), pods over all entries. */
uint32_t bt_state_node_count(const struct bt_state *state);
uint32_t bt_state_pod_count(const struct bt_state *state);

/* Snapshot: spec 03b section 7.2. */

/** Refresh at the start of a cycle. Cost: the changes since the last one. BERTH_ERR_STATE: the
 * inconsistency error. */
BT_MUST_USE int bt_state_refresh_snapshot(struct bt_state *state, struct berth_error *err);
/** Slot in the snapshot, or BT_SLOT_NONE (`nodeinfo not found for node name "<n>"` is the caller's
 * text). */
uint32_t bt_state_snapshot_find(const struct bt_state *state, struct bt_str node_name);
/** "namespace/name" is used by some pod in the snapshot. */
bool bt_state_is_claim_used(const struct bt_state *state, struct bt_str claim_key);

/**
 * Pods of a node whose status names this node-allocatable resource claim (spec 03b section 3, gate
 * DRANodeAllocatableResources): how many, and whether pod_id is one of them.
 */
uint32_t bt_state_claim_consumer_count(const struct bt_state *state, uint32_t slot,
	struct bt_str claim_namespace, struct bt_str claim_name);
bool bt_state_is_claim_consumer(const struct bt_state *state, uint32_t pod_id,
	struct bt_str claim_namespace, struct bt_str claim_name);

/* Changes inside a pod group cycle: spec 03b section 7.3. */

/**
 * Count the pod on its spec.nodeName in the snapshot only. The lists of nodes with affinity pods
 * and the used claims stay as they are. BERTH_ERR_INVALID without uid, BERTH_ERR_STATE when it is
 * assumed there already.
 */
BT_MUST_USE int bt_snapshot_assume_pod(
	struct bt_state *state, const struct bt_pod *pod, struct berth_error *err);
/** The same for a pod whose shape and label set are known, on the node of this slot; references to
 * both are taken. */
BT_MUST_USE int bt_snapshot_assume_shaped(struct bt_state *state, const struct bt_pod *pod,
	uint32_t shape, uint32_t label_set, uint32_t slot, struct berth_error *err);
/** `assumed pod "<key>" not found in the snapshot` (BERTH_ERR_NOT_FOUND). */
BT_MUST_USE int bt_snapshot_forget_pod(
	struct bt_state *state, const struct bt_pod *pod, struct berth_error *err);
/** View of a listed slot, to build placements from; its name is borrowed until the next refresh. */
struct bt_placement_node bt_snapshot_placement_node(const struct bt_state *state, uint32_t slot);
/** As many nodes as the snapshot lists: no placement is set. On an error none is set either. */
BT_MUST_USE int bt_snapshot_assume_placement(struct bt_state *state,
	const struct bt_placement_node *nodes, uint32_t count, struct berth_error *err);
void bt_snapshot_forget_placement(struct bt_state *state);
/** Slots of the placement, or all of the snapshot's list without one; *out_slots is borrowed until
 * the next change. */
uint32_t bt_snapshot_placement_slots(const struct bt_state *state, const uint32_t **out_slots);
/** Their number. */
static inline uint32_t bt_snapshot_placement_count(const struct bt_state *state)
{
	return state->snapshot.has_placement ? state->snapshot.placement_slots.count
					     : state->snapshot.count;
}
/** `node "<n>" not found in placement` (BERTH_ERR_NOT_FOUND); without placement every listed node
 * is found. */
BT_MUST_USE int bt_snapshot_find_in_placement(const struct bt_state *state, struct bt_str node_name,
	uint32_t *out_slot, struct berth_error *err);

/** Bytes of heap memory held, by a walk over all structures. */
size_t bt_state_memory_bytes(const struct bt_state *state);

/*
 * Changes of nodes and pods for a moment, to see what the scheduler would make of them. Ending the
 * trial takes them back so that nothing is left that a decision could depend on: not only what
 * nodes and pods are, but also the order of nodes, zones and pods, and what the snapshot knows of
 * images. While it lasts, nothing else may change the state.
 */

/** What a node had that adding everything again would not give back. */
struct bt_trial_slot {
	uint32_t slot;
	const struct bt_node *node; /* set at the end; NULL: the node was left alone */
	BT_VEC(uint32_t) pods;
	BT_VEC(uint32_t) pods_with_affinity;
	BT_VEC(uint32_t) pods_with_required_anti_affinity;
	bt_host_port_list ports; /* texts are the symbol table's */
	uint32_t *image_counts;
	uint64_t images_version;
};

struct bt_state_trial {
	struct bt_state *state;
	struct bt_arena arena;
	BT_VEC(struct bt_trial_slot) slots;
	BT_VEC(uint32_t) slot_at; /* by slot: its index in slots, plus 1; 0: none */
	BT_VEC(uint32_t) pods;    /* taken away, each once, in this order */
	struct bt_bitset away;    /* by pod: those that have not come back */
	bool in_snapshot;
};

/** Refreshes the snapshot. On failure nothing is to be ended. */
BT_MUST_USE int bt_state_trial_begin(
	struct bt_state_trial *trial, struct bt_state *state, struct berth_error *err);
/**
 * The node, which is in the snapshot, becomes another: everything but its name, images and place in
 * the order of nodes. was: the node as it was put into the state, borrowed until the end.
 */
void bt_state_trial_set_node(struct bt_state_trial *trial, uint32_t slot, const struct bt_node *was,
	const struct bt_node *now);
/**
 * The pod, which is on a node of the snapshot, does not count any more: as if it had never been
 * there, so that other pods keep ports they share with it. It must be there.
 */
void bt_state_trial_take_pod(struct bt_state_trial *trial, uint32_t pod_id);
/** What bt_state_trial_set_node and _take_pod did is seen by the next cycle only after this. */
BT_MUST_USE int bt_state_trial_show(struct bt_state_trial *trial, struct berth_error *err);
BT_MUST_USE int bt_state_trial_end(struct bt_state_trial *trial, struct berth_error *err);

/**
 * The trial of a pod group that preempts, within its cycle: bt_state_trial_take_pod takes pods out
 * of the snapshot only, as upstream does with its copies of nodes. So the pod takes along ports
 * that it shares with others, claims and groups keep it, and changes show at once. Pods are assumed
 * and forgotten in between. Spec: 08 section 14.
 */
void bt_snapshot_trial_begin(struct bt_state_trial *trial, struct bt_state *state);
/** A pod that was taken counts again, after the other pods of its node. */
void bt_snapshot_trial_return_pod(struct bt_state_trial *trial, uint32_t pod_id);
void bt_snapshot_trial_end(struct bt_state_trial *trial);
#endif
