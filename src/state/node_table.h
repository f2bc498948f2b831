/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_STATE_NODE_TABLE_H
#define BT_STATE_NODE_TABLE_H
/**
 * The node table. A node is a slot number, and the data of the hot path are arrays indexed by slot
 * (columns). Every slot below slot_count has a value in every column; unused slots have zeros and
 * are not in the snapshot. Spec of a node's aggregate (upstream's NodeInfo): 01b section 9, 03b
 * section 3.
 */
#include <stdbool.h>
#include <stdint.h>

#include "api/node.h"
#include "api/resources.h"
#include "base/bitset.h"
#include "base/strbuf.h"
#include "base/symbol.h"
#include "base/hash_table.h"

#define BT_SLOT_NONE UINT32_MAX

/**
 * A scalar resource (extended, hugepages, ...) with two columns. The index of a name never changes.
 */
struct bt_scalar_column {
	bt_sym name;
	/*
	 * allocatable and requested point to the table's shared zeros while all amounts are 0, so
	 * only the table may write.
	 */
	int64_t *allocatable;
	int64_t *requested;
	uint32_t allocatable_count; /* number of slots with a value other than 0 */
	uint32_t requested_count;
};

/**
 * Values of a label key on all slots, for keys that selectors use: values[slot] is an index in
 * dictionary; 0: the label is absent (dictionary[0] is unused). The table updates all columns when
 * it sets a node.
 *
 * An index keeps its meaning while rebuild_count is unchanged. When more than 2 x slot_count + 64
 * entries are unused, a node change rebuilds the dictionary. Code that keeps an index beyond one
 * cycle must compare rebuild_count.
 */
struct bt_label_column {
	bt_sym key;
	uint32_t *values;              /* shared zeros while no slot has the label; read-only */
	BT_VEC(bt_sym) dictionary;     /* holds references; entries are reused only by a rebuild */
	BT_VEC(uint32_t) value_counts; /* slots per dictionary entry */
	struct bt_map index;           /* symbol -> dictionary index */
	uint32_t present_count;        /* slots with the label, ghosts included */
	uint32_t live_count;           /* dictionary entries that some slot has */
	uint32_t rebuild_count;
	uint64_t change_count; /* increased whenever the value of a slot changes */
};

struct bt_label_pair {
	bt_sym key;
	bt_sym value;
};

/** A label key that nodes have. The rows of these nodes hold references to the key's symbol. */
struct bt_label_key {
	bt_sym key;
	uint32_t slot_count; /* 0: the entry is free */
};

/** A used host port triple; stored once even if several pods use it. Spec 01b section 7. */
struct bt_used_port {
	bt_sym ip;
	bt_sym protocol;
	int32_t port;
};

/**
 * An image of a node; node_count is from the node's last snapshot refresh (spec 03b section 5.4).
 */
struct bt_node_image {
	uint32_t image; /* index in the image table */
	uint32_t node_count;
};

struct bt_claim_ref {
	bt_sym claim; /* "namespace/name" */
	uint32_t count;
};

/**
 * Taint lists are shared: nodes with equal lists have the same entry. Entry 0 is the empty list.
 */
struct bt_taint_set {
	struct bt_arena arena;
	bt_taint_list taints; /* items is NULL if the entry is free */
	uint32_t ref_count;
	uint64_t hash;
};

/**
 * The fields of a node that are not in columns. The fields that node updates and refreshes of the
 * snapshot read come first, because rows are seldom in the processor's cache.
 */
struct bt_node_row {
	bt_sym name;
	bt_sym zone_key;
	bt_sym conditions;                   /* made by bt_node_conditions_digest */
	bt_sym prefer_avoid_pods;            /* value of the annotation, for spec 05b B8 */
	struct bt_str_map labels;            /* sorted; text lives in the symbol table */
	struct bt_label_pair *label_symbols; /* same order as labels, in the same memory */
	char *uid;                           /* owned; not shared, so no symbol */
	uint32_t uid_length;
	int64_t generation;    /* unique; changes with every change of the node */
	bt_sym order_zone;     /* if in_order: the zone with the slot */
	bool in_use;           /* the slot has a name; other slots are free */
	bool in_cache;         /* the cache has an entry: real, imaginary or ghost */
	bool has_node;         /* a node object is set */
	bool in_snapshot;      /* in the snapshot's list */
	bool in_order;         /* the node order has the slot */
	bool changed;          /* in the snapshot's list of changed slots */
	bool nameless;         /* in the snapshot's list of names to drop */
	bool in_affinity_list; /* in the snapshot's affinity list */
	bool in_anti_affinity_list;
	/* In the order of status.images, without repeated names. */
	BT_VEC(struct bt_node_image) images;
	uint64_t images_version; /* version of the image table when the node counts were read */
	BT_VEC(uint32_t) pods_with_affinity;
	BT_VEC(uint32_t) pods_with_required_anti_affinity;
	BT_VEC(uint32_t) pods;              /* pod ids; removal moves the last id into the gap */
	BT_VEC(struct bt_used_port) ports;  /* ascending by port, protocol and ip symbol */
	BT_VEC(struct bt_claim_ref) claims; /* ascending by claim symbol */
	/* Extended resources of which the node lists an amount of 0: indices of scalar columns. */
	BT_VEC(uint32_t) zero_scalars;
	uint64_t instance; /* unique; set when the name enters the snapshot */
};

struct bt_node_table {
	uint32_t slot_count;    /* slots ever used */
	uint32_t slot_capacity; /* multiple of 64 */
	/* Columns. */
	int64_t *allocatable[BT_STANDARD__COUNT];
	int64_t *allocatable_pods;
	int64_t *requested[BT_STANDARD__COUNT];
	int64_t *non_zero[BT_NON_ZERO_COUNT];
	int64_t *pod_count;
	double *inverse[BT_NON_ZERO_COUNT]; /* 1 / allocatable; 0 if that is not positive */
	uint32_t *taint_set;
	uint8_t *unschedulable;
	uint8_t *declared_features; /* bit i: registered feature i (spec 05 section 14) */
	BT_VEC(struct bt_scalar_column) scalars;
	BT_VEC(struct bt_label_column *) label_columns;
	struct bt_map scalar_index;                    /* name symbol -> index in scalars */
	struct bt_map label_column_index;              /* key symbol -> index in label_columns */
	BT_HASH_TABLE(struct bt_label_key) label_keys; /* by key symbol */
	uint64_t label_key_epoch;                      /* increased when nodes get a new key */
	int64_t *zero_amounts; /* slot_capacity zeros for columns without values */
	uint32_t *zero_values;
	/**
	 * Whether an amount in a column has ever been negative or at least 2^44. If so, kernels
	 * that otherwise compute in doubles use exact integers. The flag does not cover the amounts
	 * of pods that are not on a node: check these amounts separately.
	 */
	bool has_wide_values;
	/* Rows, names, shared lists. */
	struct bt_node_row *rows;
	struct bt_map names;        /* name symbol -> slot */
	uint32_t last_updated_slot; /* guess for the next update */
	BT_VEC(uint32_t) free_slots;
	BT_HASH_TABLE(struct bt_taint_set) taint_sets;
	struct bt_symbol_table *symbols;
};

/** Returns the index of a scalar resource's column, which is created if the name is new. */
uint32_t bt_node_table_scalar(struct bt_node_table *table, struct bt_str name);
/** Returns the index of a scalar resource's column, or UINT32_MAX if there is no column. */
uint32_t bt_node_table_find_scalar(const struct bt_node_table *table, struct bt_str name);
/**
 * Returns the column of a label key, created and filled if the key is new. A column lives as long
 * as the table, because plans, cells and cycles refer to columns. Users may name any number of
 * keys, so call this function only for keys that nodes have (bt_state_label_column).
 */
const struct bt_label_column *bt_node_table_label_column(
	struct bt_node_table *table, struct bt_str key);
/** Whether some slot has the label. */
bool bt_node_table_has_label_key(const struct bt_node_table *table, bt_sym key);
/** Index of a value in the dictionary; 0: not found. value may be BT_SYM_NONE. */
uint32_t bt_label_column_find(const struct bt_label_column *column, bt_sym value);
/** Whether no two slots have the same value, so that every domain of the key is one node. */
static inline bool bt_label_column_is_unique(const struct bt_label_column *column)
{
	return column->live_count == column->present_count;
}
/** Returns the slot in use with this node name, or BT_SLOT_NONE. */
uint32_t bt_node_table_find(const struct bt_node_table *table, struct bt_str name);
uint32_t bt_node_table_find_symbol(const struct bt_node_table *table, bt_sym name);
struct bt_str bt_node_table_name(const struct bt_node_table *table, uint32_t slot);
struct bt_node_amounts {
	int64_t requested;
	int64_t allocatable;
};
/** The amounts of one resource, by slot; valid until the table changes. */
struct bt_amount_columns {
	const int64_t *requested;
	const int64_t *allocatable;
};
/** Returns the columns of a resource by name; zeros if the table does not have the resource. */
struct bt_amount_columns bt_node_table_columns(
	const struct bt_node_table *table, struct bt_str resource);
static inline struct bt_node_amounts bt_amounts_at(struct bt_amount_columns columns, uint32_t slot)
{
	return (struct bt_node_amounts){columns.requested[slot], columns.allocatable[slot]};
}
const bt_taint_list *bt_node_table_taints(const struct bt_node_table *table, uint32_t slot);

/*
 * Digest of a node's status.conditions: the six types that legacy predicates read (spec 05b B1,
 * B2), in list order with repetitions, two characters each: type and status. Nodes with the same
 * digest share one symbol (bt_node_row.conditions).
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
#define BT_CONDITION_UNKNOWN 'U' /* also for any other text */

/** Append the digest of a node's conditions to out. */
void bt_node_conditions_digest(const struct bt_node_status *status, struct bt_strbuf *out);
#endif
