/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_STATE_NODE_TABLE_H
#define BT_STATE_NODE_TABLE_H
/**
 * The node table: a node is a slot number; what the hot path reads are arrays indexed by slot.
 * Every slot below slot_count has a value in every column; a slot that is not in use has zeros and
 * is in no snapshot. The aggregate (upstream's NodeInfo): spec 01b section 9, 03b section 3.
 */
#include <stdbool.h>
#include <stdint.h>

#include "api/node.h"
#include "api/resources.h"
#include "base/bitset.h"
#include "base/map.h"
#include "base/strbuf.h"
#include "base/symbol.h"
#include "base/vec.h"

#define BT_SLOT_NONE UINT32_MAX

/** One scalar resource (extended, hugepages, ...): two columns. Once a name was seen its index
 * stays. */
struct bt_scalar_column {
	bt_sym name;
	/* Both point to the table's shared zeros while every amount is 0: read only outside the
	 * table. */
	int64_t *allocatable;
	int64_t *requested;
	uint32_t allocatable_count; /* slots with a value other than 0 */
	uint32_t requested_count;
};

/**
 * Values of one label key over all slots, for keys that some selector uses: values[slot] is an
 * index into dictionary, 0 = label absent (dictionary[0] is unused). Kept up to date by the table.
 *
 * An index keeps its meaning while rebuild_count stays the same: when more than 2 x slot_count + 64
 * entries are used by no slot any more, a node change rebuilds the dictionary from the live ones.
 * Whoever keeps an index beyond one cycle compares rebuild_count.
 */
struct bt_label_column {
	bt_sym key;
	uint32_t *values; /* the table's shared zeros while no slot has the label: read only outside
	                     the table */
	BT_VEC(bt_sym) dictionary; /* holds references; entries are not reused between rebuilds */
	BT_VEC(uint32_t) value_counts; /* slots per dictionary entry */
	struct bt_map index;           /* symbol -> dictionary index */
	uint32_t present_count;        /* slots that have the label, ghosts included */
	uint32_t live_count;           /* dictionary entries with a slot */
	uint32_t rebuild_count;
};

struct bt_label_pair {
	bt_sym key;
	bt_sym value;
};

/** A label key that nodes have; they hold its symbol. */
struct bt_label_key {
	bt_sym key;
	uint32_t slot_count; /* 0: free */
};

/** An occupied host port triple. Spec 01b section 7: a set, not a multiset. */
struct bt_used_port {
	bt_sym ip;
	bt_sym protocol;
	int32_t port;
};

/** An image of a node; node_count is the value at the node's last snapshot refresh (spec 03b
 * section 5.4). */
struct bt_node_image {
	uint32_t image; /* index in the image table */
	uint32_t node_count;
};

struct bt_claim_ref {
	bt_sym claim; /* "namespace/name" */
	uint32_t count;
};

/** Taint lists are hash-consed: nodes with equal lists share one entry. 0 is the empty list. */
struct bt_taint_set {
	struct bt_arena arena;
	bt_taint_list taints; /* NULL items when free */
	uint32_t ref_count;
	uint64_t hash;
};

/** The parts of a node that no column pass reads. */
struct bt_node_row {
	bt_sym name;
	bt_sym uid;
	bt_sym zone_key;
	bt_sym conditions;                   /* digest: bt_node_conditions_digest */
	bt_sym prefer_avoid_pods;            /* annotation of that name, for spec 05b B8 */
	struct bt_str_map labels;            /* sorted; text lives in the symbol table */
	struct bt_label_pair *label_symbols; /* same order as labels */
	BT_VEC(struct bt_node_image) images; /* list order, first occurrence of a name only */
	BT_VEC(struct bt_used_port) ports;   /* ascending by port, protocol and ip symbol */
	BT_VEC(uint32_t) pods;               /* pod ids; removal moves the last into the gap */
	BT_VEC(uint32_t) pods_with_affinity;
	BT_VEC(uint32_t) pods_with_required_anti_affinity;
	BT_VEC(struct bt_claim_ref) claims; /* ascending by claim symbol */
	uint64_t images_version; /* of the image table when node_count values were taken */
	int64_t generation;      /* fresh at every change, never repeated */
	uint64_t instance;       /* fresh when the name enters the snapshot */
	bt_sym order_zone;       /* in_order: the zone of the node order that lists the slot */
	bool in_use;             /* the slot has a name; all others are free */
	bool in_cache;           /* the cache has an entry: real, imaginary or ghost */
	bool has_node;           /* a node object is set */
	bool in_snapshot;        /* listed by the snapshot */
	bool in_order;
	bool changed;          /* waits in the snapshot's list of changed slots */
	bool nameless;         /* waits in the snapshot's list of names to drop */
	bool in_affinity_list; /* of the snapshot */
	bool in_anti_affinity_list;
};

struct bt_node_table {
	uint32_t slot_count;    /* slots ever used; columns have slot_capacity entries */
	uint32_t slot_capacity; /* multiple of 64 */
	/* columns */
	int64_t *allocatable_cpu_milli;
	int64_t *allocatable_memory_bytes;
	int64_t *allocatable_ephemeral_bytes;
	int64_t *allocatable_pods;
	int64_t *requested_cpu_milli;
	int64_t *requested_memory_bytes;
	int64_t *requested_ephemeral_bytes;
	int64_t *non_zero_cpu_milli;
	int64_t *non_zero_memory_bytes;
	int64_t *pod_count;
	double *inverse_cpu;    /* 1 / allocatable_cpu_milli, 0 where that is not above 0 */
	double *inverse_memory; /* likewise */
	uint32_t *taint_set;
	uint8_t *unschedulable;
	uint8_t *declared_features; /* bit i: registered feature i (spec 05 section 14) */
	BT_VEC(struct bt_scalar_column) scalars;
	BT_VEC(struct bt_label_column *) label_columns;
	struct bt_map scalar_index;       /* name symbol -> index in scalars */
	struct bt_map label_column_index; /* key symbol -> index in label_columns */
	BT_VEC(struct bt_label_key) label_keys;
	BT_VEC(uint32_t) free_label_keys;
	struct bt_map label_key_index; /* key symbol -> index in label_keys */
	uint64_t label_key_epoch;      /* grows when nodes get a key that none had */
	int64_t *zero_amounts;         /* slot_capacity zeros behind columns without a value */
	uint32_t *zero_values;
	/**
	 * true once any amount in a column was negative or at least 2^44: kernels that compute in
	 * doubles then take their exact integer form. Never cleared. Amounts of a pod that is on no
	 * node are the kernel's own business.
	 */
	bool has_wide_values;
	/* rows, names, shared parts */
	struct bt_node_row *rows;
	struct bt_map names;        /* name symbol -> slot */
	uint32_t last_updated_slot; /* a guess for the next one */
	BT_VEC(uint32_t) free_slots;
	BT_VEC(struct bt_taint_set) taint_sets;
	struct bt_map taint_set_index;
	BT_VEC(uint32_t) free_taint_sets;
	struct bt_symbol_table *symbols;
};

/** Column of a scalar resource, created when the name is new. */
uint32_t bt_node_table_scalar(struct bt_node_table *table, struct bt_str name);
/** Index of an existing column, or UINT32_MAX. */
uint32_t bt_node_table_find_scalar(const struct bt_node_table *table, struct bt_str name);
/**
 * Column of a label key, created and filled when the key is new. It lives as long as the table:
 * plans, cells and cycles of others name columns. Users can name keys without end: ask for those
 * only that nodes have (bt_state_label_column).
 */
const struct bt_label_column *bt_node_table_label_column(
	struct bt_node_table *table, struct bt_str key);
/** Some slot has the label. */
bool bt_node_table_has_label_key(const struct bt_node_table *table, bt_sym key);
/** Index of a value in the dictionary; 0: it is not there. value may be BT_SYM_NONE. */
uint32_t bt_label_column_find(const struct bt_label_column *column, bt_sym value);
/** No two slots share a value: every domain of the key is one node. */
static inline bool bt_label_column_is_unique(const struct bt_label_column *column)
{
	return column->live_count == column->present_count;
}
/** Slot of a node name the cache or the snapshot knows, or BT_SLOT_NONE. */
uint32_t bt_node_table_find(const struct bt_node_table *table, struct bt_str name);
struct bt_str bt_node_table_name(const struct bt_node_table *table, uint32_t slot);
struct bt_node_amounts {
	int64_t requested;
	int64_t allocatable;
};
/** Of one resource by its name; zeros if the table does not know it. */
struct bt_node_amounts bt_node_table_amounts(
	const struct bt_node_table *table, uint32_t slot, struct bt_str resource);
const bt_taint_list *bt_node_table_taints(const struct bt_node_table *table, uint32_t slot);

/*
 * What is kept of a node's status.conditions: the six types that legacy predicates read (spec 05b
 * B1, B2), in list order, repeats included, two characters each: type, then status. Nodes with the
 * same conditions share the text as a symbol.
 */

/** First character: the type. Other types are left out. */
#define BT_CONDITION_READY 'R'
#define BT_CONDITION_OUT_OF_DISK 'O'
#define BT_CONDITION_NETWORK_UNAVAILABLE 'N'
#define BT_CONDITION_MEMORY_PRESSURE 'M'
#define BT_CONDITION_DISK_PRESSURE 'D'
#define BT_CONDITION_PID_PRESSURE 'P'

/** Second character: the status. */
#define BT_CONDITION_TRUE 'T'
#define BT_CONDITION_FALSE 'F'
#define BT_CONDITION_UNKNOWN 'U' /* and any other text */

/** Append the digest of a node's conditions to out. */
void bt_node_conditions_digest(const struct bt_node_status *status, struct bt_strbuf *out);
#endif
