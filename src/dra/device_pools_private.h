/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_DRA_DEVICE_POOLS_PRIVATE_H
#define BT_DRA_DEVICE_POOLS_PRIVATE_H
/**
 * Shared by the files of the pools and of the allocator. Spec: 12 sections 9.1 and 9.8.
 *
 * Slices, pools and published devices have numbers: their indexes in the vectors below. Free
 * numbers are reused. Two slices may publish the same device (an old and a new generation), so
 * verdicts belong to published devices ("rows") and not to device ids.
 *
 * Which part of a pool a node can use depends on the slices that are relevant to the node. Such a
 * part is a view. Nodes with the same relevant slices share the view. Views are made on demand and
 * dropped when a slice of the pool changes. Every node keeps the list of its views in the
 * allocator's order, and updates the list from the pools that have changed since the list was last
 * used.
 */
#include "api/selector.h"
#include "base/int128.h"
#include "base/strbuf.h"
#include "cel/cel.h"
#include "dra/device_pools.h"
#include "dra/dra.h"

#define BT_POOL_NONE UINT32_MAX

/** Nodes on which a slice or a single device can be used. Equal scopes are shared. */
enum bt_node_scope_kind {
	BT_NODE_SCOPE_NOWHERE, /* no node field is set */
	BT_NODE_SCOPE_EVERYWHERE,
	BT_NODE_SCOPE_NAME,
	BT_NODE_SCOPE_SELECTOR,
	BT_NODE_SCOPE_BROKEN, /* a selector that cannot be parsed */
};

struct bt_node_scope {
	enum bt_node_scope_kind kind;
	uint32_t ref_count; /* 0: free */
	uint64_t hash;
	bt_sym name;           /* NAME: reference held */
	struct bt_arena arena; /* memory of the fields below for SELECTOR and BROKEN */
	const struct bt_node_selector *selector;
	struct bt_parsed_node_selector parsed;
	struct bt_str problem;
	/**
	 * Result of the last match: `answer` is valid for the node in cached_slot as long as
	 * bt_device_pools.node_epoch equals cached_epoch.
	 */
	uint32_t cached_slot;
	uint64_t cached_epoch;
	bool answer;
};

struct bt_pool_slice {
	struct bt_object *object; /* reference held; NULL: free */
	uint64_t hash;            /* hash of the slice name */
	uint32_t pool;
	uint32_t scope; /* reference held */
	bool per_device;
	bool has_counters;     /* sharedCounters is not empty */
	BT_VEC(uint32_t) rows; /* rows of the slice's devices, in order */
};

enum {
	BT_DEVICE_SHAREABLE = 1 << 0,     /* may be allocated several times */
	BT_DEVICE_CAPACITY = 1 << 1,      /* has capacities, and the gate is on */
	BT_DEVICE_CAPACITY_FITS = 1 << 2, /* fits a request without capacity requests */
	BT_DEVICE_COUNTERS = 1 << 3,      /* consumes counters */
	BT_DEVICE_TAINTED = 1 << 4,       /* has a taint that blocks requests */
	BT_DEVICE_BINDING = 1 << 5,       /* bindingConditions is present, perhaps empty */
	BT_DEVICE_NEVER = 1 << 6,         /* has binding conditions, but their gate is off */
	BT_DEVICE_OWN_SCOPE = 1 << 7,     /* the slice has perDeviceNodeSelection */
};

struct bt_device_row {
	const struct bt_device *spec; /* in the slice's object; NULL: free */
	uint32_t id;                  /* reference held */
	uint32_t slice;
	/* If flags has BT_DEVICE_OWN_SCOPE: the scope of the device; reference held. */
	uint32_t scope;
	uint32_t flags;
	uint32_t next; /* next row with the same id; BT_DEVICE_NONE: the last */
};

enum bt_pool_state {
	BT_POOL_COMPLETE,
	BT_POOL_INCOMPLETE,
	BT_POOL_INVALID,
	BT_POOL_OBSOLETE, /* a newer generation exists */
	BT_POOL_BROKEN,   /* a node selector cannot be parsed */
};

struct bt_pool_device {
	uint32_t row;
	uint32_t id;
	uint32_t flags;
	uint32_t consumption; /* index in bt_pool_counters.consumers; BT_DEVICE_NONE: none */
};

struct bt_pool_counter {
	struct bt_str set;
	struct bt_str name;
	bt_int128 value;
	bt_int128 available; /* value minus what allocated devices consume */
	bt_int128 used;      /* used by devices taken in this call of the allocator */
};

struct bt_counter_use {
	uint32_t counter;
	bt_int128 amount;
};

struct bt_counter_consumer {
	uint32_t row;
	uint32_t id;
	uint32_t first; /* index of the first use in `uses` */
	uint32_t count;
};

/** Counters of a complete pool, for one set of slices. */
struct bt_pool_counters {
	uint64_t hash;
	BT_VEC(uint32_t) slices; /* ascending */
	BT_VEC(struct bt_str) set_names;
	BT_VEC(struct bt_pool_counter) counters;      /* sorted by set and name */
	BT_VEC(struct bt_counter_consumer) consumers; /* sorted by row */
	BT_VEC(struct bt_counter_use) uses;
	bool is_invalid;  /* a set exists twice, or a consumed set or counter is missing */
	bool is_fresh;    /* `available` is computed */
	uint64_t version; /* bt_allocated_pool_version when `available` was computed */
	uint64_t call;    /* the allocator call to which `used` belongs */
};

/** A pool as used by nodes to which exactly these slices are relevant. */
struct bt_pool_view {
	uint64_t hash;
	BT_VEC(uint32_t) slices; /* ascending; relevant slices of the highest generation */
	uint32_t pool;
	enum bt_pool_state state;
	bool is_binding;     /* some device has binding conditions; such views sort last */
	bool has_own_scopes; /* some device has a scope of its own */
	BT_VEC(struct bt_pool_device) devices;
	/** NULL unless partitions are on and the view is COMPLETE or, in some cases, INVALID. */
	struct bt_pool_counters *counters;
	uint32_t broken_scope;
	/**
	 * If BROKEN: row of the device whose selector cannot be parsed; BT_DEVICE_NONE: the
	 * selector of the slice cannot be parsed.
	 */
	uint32_t broken_row;
};

struct bt_pool {
	uint32_t id; /* in bt_dra.ids, reference held; BT_DEVICE_NONE: free */
	BT_VEC(uint32_t) slices;
	uint32_t shared_count; /* slices that nodes of any name may use */
	BT_VEC(struct bt_pool_view *) views;
	BT_VEC(struct bt_pool_counters *) counters;
	uint64_t mark; /* see bt_device_pools.mark */
};

/** Pools with a slice for one node name. */
struct bt_named_pools {
	bt_sym name; /* reference held; BT_SYM_NONE: free */
	uint64_t hash;
	BT_VEC(uint32_t) pools; /* the pool of each such slice, with repetitions */
};

struct bt_node_pool {
	uint32_t pool;
	const struct bt_pool_view *view;
};

/** A node's views in the allocator's order, without obsolete and empty views. */
struct bt_node_pools {
	BT_VEC(struct bt_node_pool) items;
	bt_sym name;
	uint64_t sequence; /* bt_device_pools.sequence when the list was last updated */
	bool is_known;
	bool has_problem;    /* some view is not complete */
	bool has_counters;   /* some device consumes counters */
	bool has_own_scopes; /* some device has a scope of its own */
	uint32_t device_count;
	uint64_t hash; /* hash of the list of views, to compare nodes quickly */
};

/** A compiled selector expression and its verdicts. */
struct bt_selector_program {
	char *text; /* owned; NULL: free */
	uint32_t length;
	uint64_t hash;
	struct bt_cel_program *program; /* NULL: compile error */
	char *problem;                  /* the compile error; owned */
	uint64_t *verdicts;             /* two bits for each row */
	uint32_t row_capacity;
	uint32_t known_count;
	uint64_t last_used; /* value of bt_device_pools.tick */
	size_t bytes;
};

/** Memory of a search, reused by each call of the allocator; unused between calls. */
struct bt_search_memory;
struct bt_allocation_columns; /* allocation_columns.c */

/**
 * Number of pool changes that nodes can apply one by one. After more changes, the list of a node is
 * made anew. A power of two.
 */
#define BT_POOL_CHANGES_MAX 256U

struct bt_device_pools {
	struct bt_dra *dra;
	/* gates */
	bool with_partitions;
	bool with_taints;
	bool with_binding;
	bool with_capacity;
	bool with_list_attributes;
	/* slices by name */
	BT_HASH_TABLE(struct bt_pool_slice) slices;
	/* published devices */
	BT_VEC(struct bt_device_row) rows;
	BT_VEC(uint32_t) free_rows;
	BT_VEC(uint32_t) row_of_id; /* by device id: first row; BT_DEVICE_NONE: none */
	/* pools */
	BT_VEC(struct bt_pool) pools;
	BT_VEC(uint32_t) free_pools;
	BT_VEC(uint32_t) pool_of_id;   /* by the pool's id in bt_dra.ids */
	BT_VEC(uint32_t) shared_pools; /* pools whose shared_count is not 0 */
	BT_HASH_TABLE(struct bt_named_pools) named;
	BT_HASH_TABLE(struct bt_node_scope) scopes;
	/* changes */
	uint32_t changed[BT_POOL_CHANGES_MAX]; /* ring of changed pools, by sequence */
	uint64_t sequence;
	uint64_t log_sequence;              /* position in the log of node changes */
	uint64_t node_epoch;                /* grows when nodes or their labels change */
	BT_VEC(struct bt_node_pools) nodes; /* by slot */
	uint64_t mark;                      /* mark of pools already visited in the current walk */
	/* programs */
	BT_HASH_TABLE(struct bt_selector_program) programs;
	size_t program_bytes;
	uint64_t tick;
	uint64_t drop_count; /* programs dropped so far */
	uint64_t evaluated;
	/* scratch */
	BT_VEC(uint32_t) relevant;
	BT_VEC(uint32_t) id_marks; /* by device id */
	uint32_t id_mark;
	struct bt_arena arena;
	struct bt_strbuf text;
	uint64_t call;        /* counts the calls of the allocator */
	uint64_t share_count; /* counter for share ids without a prng */
	struct bt_search_memory *search;
	struct bt_allocation_columns *columns; /* NULL: not used yet */
	/** Number of changes of pools whose shared_count is not 0. */
	uint64_t shared_version;
};

/* device_pools.c */

struct bt_str bt_pool_driver(const struct bt_device_pools *pools, uint32_t pool);
struct bt_str bt_pool_name(const struct bt_device_pools *pools, uint32_t pool);
/** Returns the index in `named`; BT_POOL_NONE: no slice has this node name. */
uint32_t bt_named_pools_find(const struct bt_device_pools *pools, bt_sym name);

/** Whether the node is in the scope; false for a BROKEN scope. */
bool bt_node_scope_matches(struct bt_device_pools *pools, uint32_t scope, uint32_t slot);

static inline const struct bt_resource_slice *bt_pool_slice_value(
	const struct bt_device_pools *pools, uint32_t slice)
{
	return pools->slices.items[slice].object->value;
}

/**
 * Returns the row of the device with this id. spec: the device's entry in the object of the slice.
 * BT_DEVICE_NONE: the entry is not published.
 */
uint32_t bt_device_rows_find(
	const struct bt_device_pools *pools, uint32_t id, const struct bt_device *spec);

/* device_views.c */

/** Apply new changes of nodes. Call this before reading the pools of nodes. */
void bt_device_pools_catch_up(struct bt_device_pools *pools);
/** Record a change of the pool: drop its views, so that nodes update their lists. */
void bt_device_pools_changed(struct bt_device_pools *pools, uint32_t pool);
/**
 * Log a change of the pool's devices, or of their allocation, for each node that a slice of the
 * pool names in spec.nodeName. Logs nothing if nodes of any name may use the pool.
 */
void bt_device_pools_log(struct bt_device_pools *pools, uint32_t pool);
void bt_pool_drop_views(struct bt_pool *pool);
/** Update and return the node's pools, borrowed until the next call or change. */
const struct bt_node_pools *bt_device_pools_repair(struct bt_device_pools *pools, uint32_t slot);
static inline const struct bt_node_pools *bt_device_pools_of_node(
	struct bt_device_pools *pools, uint32_t slot)
{
	if (slot < pools->nodes.count) {
		const struct bt_node_pools *node = &pools->nodes.items[slot];
		if (node->is_known && node->sequence == pools->sequence &&
			bt_sym_equal(node->name, pools->dra->state->nodes.rows[slot].name)) {
			return node;
		}
	}
	return bt_device_pools_repair(pools, slot);
}
/** Compute the node's pools from scratch. The caller frees the items. */
void bt_node_pools_compute(
	struct bt_device_pools *pools, uint32_t slot, struct bt_node_pools *out_node);
/**
 * Take the amounts that a device consumes from the pool's counters. Returns false and takes nothing
 * if too little is available: the allocated devices and the devices already taken in this call of
 * the allocator consume the rest. consumption: index of the device in consumers.
 */
bool bt_pool_counters_take(struct bt_device_pools *pools, uint32_t pool,
	struct bt_pool_counters *counters, uint32_t consumption);
void bt_pool_counters_release(struct bt_pool_counters *counters, uint32_t consumption);
/** Recompute the available amounts. */
void bt_pool_counters_refresh(
	const struct bt_device_pools *pools, uint32_t pool, struct bt_pool_counters *counters);

/* device_pools_validate.c */

/** Abort the process if a node's cached pools differ from recomputed ones. */
void bt_device_pools_verify_node(struct bt_device_pools *pools, uint32_t slot);

/* selectors.c */

/**
 * Returns the index of the expression's program, which is compiled if it is new. Marks the program
 * as used now.
 */
uint32_t bt_selector_intern(struct bt_device_pools *pools, struct bt_str expression);
/**
 * Evaluate a program on a row and cache the verdict. If limits->is_interrupted ends the evaluation,
 * returns BT_VERDICT_UNKNOWN and caches nothing.
 */
enum bt_verdict bt_selector_evaluate(struct bt_device_pools *pools, uint32_t program, uint32_t row,
	const struct bt_cel_limits *limits);
static inline enum bt_verdict bt_selector_known(
	const struct bt_selector_program *program, uint32_t row)
{
	return (enum bt_verdict)(program->verdicts[row >> 5] >> ((row & 31) * 2) & 3);
}
static inline enum bt_verdict bt_selector_verdict(struct bt_device_pools *pools, uint32_t program,
	uint32_t row, const struct bt_cel_limits *limits)
{
	const struct bt_selector_program *item = &pools->programs.items[program];
	if (row < item->row_capacity) {
		enum bt_verdict known = bt_selector_known(item, row);
		if (known != BT_VERDICT_UNKNOWN) {
			return known;
		}
	}
	return bt_selector_evaluate(pools, program, row, limits);
}
/**
 * Evaluate a program on a device without the cache. BT_VERDICT_ERROR: err has the text.
 * BT_VERDICT_UNKNOWN: limits->is_interrupted ended the evaluation.
 */
enum bt_verdict bt_selector_compute(struct bt_device_pools *pools,
	const struct bt_selector_program *program, struct bt_str driver,
	const struct bt_device *device, const struct bt_cel_limits *limits,
	struct berth_error *err);
/** Whether the cached verdict, if any, equals a recomputed one. */
bool bt_selector_verdict_is_valid(
	struct bt_device_pools *pools, const struct bt_selector_program *program, uint32_t row);
/** Drop the cached verdicts of a device that was changed or removed. */
void bt_selectors_forget_row(struct bt_device_pools *pools, uint32_t row);
void bt_selectors_finish(struct bt_device_pools *pools);

/* allocation_columns.c */
void bt_allocation_columns_destroy(struct bt_allocation_columns *columns);

/* allocator_search.c */
void bt_search_memory_destroy(struct bt_search_memory *memory);

/* device_totals.c; tests count its memory */

/** Devices of a class that a node can use. */
struct reached_devices {
	bool is_known;
	bool is_broken;    /* a selector fails: the total is 0 */
	uint64_t sequence; /* bt_device_pools.sequence when the entry was computed */
	uint64_t epoch;    /* bt_device_pools.node_epoch when the entry was computed */
	bt_sym node;
	BT_VEC(uint32_t) ids; /* a device published twice is listed twice */
};

struct class_totals {
	const struct bt_device_class *device_class; /* borrowed from the map of classes */
	struct reached_devices everywhere;
	int64_t allocated_everywhere;
	uint64_t allocated_version;           /* bt_allocated_devices.version when counted */
	BT_VEC(struct reached_devices) nodes; /* by slot, without the devices in `everywhere` */
};

struct bt_device_totals_cache {
	uint64_t class_version; /* bt_device_class_map.version for which the entries are valid */
	BT_VEC(struct class_totals) classes;
	BT_VEC(uint32_t) programs; /* scratch: programs of the current class */
};
#endif
