/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_PLUGINS_COMMON_RESOURCE_SCORE_H
#define BT_PLUGINS_COMMON_RESOURCE_SCORE_H
/**
 * Inputs of the resource scorers for each configured resource: the node's capacity, its use, and
 * the pod's request. Spec: 05 section 11.4.
 */
#include <stdbool.h>
#include <stdint.h>

#include "api/resources.h"
#include "config/config.h"
#include "config/gates.h"
#include "framework/plugin.h"
#include "state/node_info.h"
#include "state/state.h"

/** Kind of a resource that is no standard resource. */
enum {
	BT_SCORED_SCALAR = BT_STANDARD__COUNT,
	BT_SCORED_UNTRACKED, /* pods, storage, ...: not counted on any node */
};

/** A resource from the arguments of a plugin. */
struct bt_scored_resource {
	struct bt_str name; /* borrowed from the arguments */
	int64_t weight;
	uint32_t kind;   /* enum bt_standard_resource, BT_SCORED_SCALAR or BT_SCORED_UNTRACKED */
	uint32_t column; /* column of the node table for BT_SCORED_SCALAR, otherwise UINT32_MAX */
	/** Source of devices that provide the resource (spec 05 section 11.7); NULL: none. */
	struct bt_dra *dra;
	const struct bt_handle *handle;
};

/** The configured resources, in the order of the arguments. All-zero memory is an empty list. */
struct bt_scored_resources {
	struct bt_scored_resource *items; /* owned */
	uint32_t count;
};

void bt_scored_resources_init(struct bt_scored_resources *resources,
	const bt_resource_spec_list *list, const struct bt_handle *handle);

/**
 * Returns the request of each configured resource: in milli for cpu, else in bytes or units; 0 if
 * the request does not name the resource. The array is in the arena.
 */
int64_t *bt_scored_resources_request(const struct bt_scored_resources *resources,
	const struct bt_resource_list *request, struct bt_arena *arena);

/**
 * Whether a device class provides a requested resource. The pod's scores then depend on devices as
 * well as on the node's row, so the column form cannot be used. The result changes only with the
 * device classes.
 */
bool bt_scored_resources_need_devices(
	const struct bt_scored_resources *resources, const int64_t *requests);

/** A resource of one node that takes part in the score. */
struct bt_score_entry {
	int64_t capacity; /* never 0 */
	int64_t used;
	int64_t requested; /* used plus the pod's request */
	int64_t weight;
};

enum bt_score_usage {
	BT_SCORE_NON_ZERO,  /* for NodeResourcesFit: cpu and memory from NonZeroRequested */
	BT_SCORE_REQUESTED, /* for NodeResourcesBalancedAllocation */
};

/**
 * Get the capacity and the used amount of a resource on a node, without devices. Both are 0 if the
 * resource is untracked or no node has it.
 */
void bt_scored_resource_read(const struct bt_scored_resource *resource,
	const struct bt_node_info *node, enum bt_score_usage usage, int64_t *out_capacity,
	int64_t *out_used);
/**
 * Get the entry of one resource on a node, devices included. Returns false if the resource does not
 * count: the node has no capacity of the resource, or the pod does not request the resource and the
 * resource is scalar.
 */
bool bt_score_entry_find(const struct bt_scored_resource *resource, int64_t pod_request,
	const struct bt_node_info *node, enum bt_score_usage usage,
	struct bt_score_entry *out_entry);

/**
 * Returns min(requested, capacity) * 100 / capacity: points of one resource under MostAllocated.
 * Spec 05 section 11.5.
 */
int64_t bt_most_allocated_points(int64_t requested, int64_t capacity);

/**
 * Resources that a node lacks for a pod, as reasons in the order of the checks. Set arena, and set
 * capacity to the maximum number of reasons.
 */
struct bt_lacks {
	struct bt_arena *arena;
	uint32_t capacity;
	struct bt_str *reasons;
	uint32_t count;
	bool is_unresolvable; /* the node would lack a resource even without pods */
};

void bt_lacks_add(struct bt_lacks *lacks, struct bt_str reason, bool is_unresolvable);
/** Adds the reason if less than the request is free. A request of 0 always fits. */
void bt_lacks_check(struct bt_lacks *lacks, struct bt_str reason, int64_t request,
	int64_t allocatable, int64_t requested);
/** Checks the standard resources. */
void bt_lacks_check_standard(struct bt_lacks *lacks, const struct bt_node_info *node,
	const int64_t requests[BT_STANDARD__COUNT]);
/** Returns the status of the node; Success if nothing is lacking. */
struct bt_status bt_lacks_status(const struct bt_lacks *lacks);

/** Returns the values of the gates that affect the computation of a pod's resources. */
struct bt_resource_gates bt_resource_gates_of(const struct bt_gates *gates);

/*
 * --- Resource scores of many slots at once, with the results of the integer formulas of spec 05
 * sections 11.5 and 12.3. The kernels compute in doubles so that the compiler can vectorise them.
 * The results are exact: with all amounts in [0, 2^44) every product and quotient is below 2^52,
 * and a correctly rounded quotient of such integers truncates to the integer quotient. If the node
 * table has wide values (node_table.h: has_wide_values) or the request is wide, nodes must be
 * scored one by one. ---
 */

/** Amounts of at least this value are "wide". */
#define BT_NARROW_AMOUNT_MAX (INT64_C(1) << 44)

/**
 * A configured resource that takes part in the score: columns by slot, the pod's request, and the
 * configured weight (1..100).
 */
struct bt_resource_column {
	const int64_t *allocatable;
	const int64_t *used;
	const double *inverse; /* 1 / allocatable, 0 for 0 (node_table.h); NULL: not stored */
	int64_t request;
	int32_t weight;
};

/**
 * A resource that NodeResourcesFit checks: columns by slot, the pod's request (not 0), and its bit
 * in a detail.
 */
struct bt_lack_column {
	const int64_t *allocatable;
	const int64_t *requested;
	int64_t request;
	uint32_t bit;
};

/** Bit of a detail: the node would lack a resource even without pods. */
#define BT_LACK_UNRESOLVABLE UINT32_C(1)

enum {
	BT_RESOURCE_COLUMNS_MAX = 16,
};

/**
 * Whether the column forms of the resource plugins can be used, because the amounts of all nodes
 * and requests are narrow: scores then stay in range, and the kernels are exact. Otherwise nodes
 * are scored one by one, which also reports upstream's errors for huge amounts.
 */
bool bt_score_amounts_are_narrow(
	const struct bt_state *state, const int64_t *requests, uint32_t count);

/**
 * Collect the columns of the configured resources that count for this pod (spec 05 section 11.4).
 * out_columns has room for BT_RESOURCE_COLUMNS_MAX. Returns false if there are too many resources
 * or a weight is out of range; nodes must then be scored one by one. All amounts must be narrow
 * (bt_score_amounts_are_narrow).
 */
bool bt_resource_columns_collect(const struct bt_scored_resources *resources,
	const int64_t *requests, const struct bt_state *state, enum bt_score_usage usage,
	struct bt_resource_column *out_columns, uint32_t *out_count);

/** The scoring loops, compiled for several instruction sets with the same results. */
struct bt_resource_kernels {
	/**
	 * Scores of LeastAllocated, or of MostAllocated if `most`. The weighted mean of a node
	 * leaves out resources that the node does not have.
	 */
	void (*allocation)(const struct bt_resource_column *columns, uint32_t column_count,
		bool most, struct bt_slot_range range, int32_t *scores);
	/**
	 * Balance (0 to 100) of two resources after adding the requests. range must not be a list
	 * of slots.
	 */
	void (*balance)(const struct bt_resource_column columns[2], struct bt_slot_range range,
		int32_t *balances);
	/**
	 * Scores of NodeResourcesBalancedAllocation for at most two resources. before: by slot, the
	 * balance without the requests. NULL: the kernel computes that balance.
	 */
	void (*balanced)(const struct bt_resource_column *columns, uint32_t column_count,
		const int32_t *before, struct bt_slot_range range, int32_t *scores);
	/**
	 * Set the detail of each slot to the bits of the resources that the node lacks for the pod;
	 * 0: none. Amounts may be wide. pods: the numbers of pods (requested) and their limits
	 * (allocatable). Returns false if no node lacks anything.
	 */
	bool (*lack)(const struct bt_lack_column *pods, const struct bt_lack_column *columns,
		uint32_t column_count, struct bt_slot_range range, uint32_t *details);
};

extern const struct bt_resource_kernels bt_resource_kernels_plain;
/* Defined only with BT_HAVE_AVX2_KERNELS. */
extern const struct bt_resource_kernels bt_resource_kernels_avx2;
extern const struct bt_resource_kernels bt_resource_kernels_avx512;

/** Returns the fastest table that this processor can run. */
const struct bt_resource_kernels *bt_resource_kernels_for_cpu(void);
#endif
