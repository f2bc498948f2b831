/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_PLUGINS_COMMON_RESOURCE_SCORE_H
#define BT_PLUGINS_COMMON_RESOURCE_SCORE_H
/**
 * Inputs of the resource scorers: what of a configured resource a node has, what is used, what the
 * pod asks for. Spec: 05 section 11.4.
 */
#include <stdbool.h>
#include <stdint.h>

#include "api/resources.h"
#include "config/config.h"
#include "config/gates.h"
#include "framework/plugin.h"
#include "state/node_info.h"
#include "state/state.h"

enum bt_scored_kind {
	BT_SCORED_CPU,
	BT_SCORED_MEMORY,
	BT_SCORED_EPHEMERAL_STORAGE,
	BT_SCORED_SCALAR,
	BT_SCORED_UNTRACKED, /* pods, storage, ...: no node has any */
};

/** A configured resource. */
struct bt_scored_resource {
	struct bt_str name; /* borrowed from the arguments */
	int64_t weight;
	enum bt_scored_kind kind;
	uint32_t column; /* BT_SCORED_SCALAR: column of the node table, else UINT32_MAX */
	/** Where to look for devices behind it (spec 05 section 11.7); NULL: there can be none. */
	struct bt_dra *dra;
	const struct bt_handle *handle;
};

/** The configured list, in order. All-zero memory is the empty list. */
struct bt_scored_resources {
	struct bt_scored_resource *items; /* owned */
	uint32_t count;
};

void bt_scored_resources_init(struct bt_scored_resources *resources,
	const bt_resource_spec_list *list, const struct bt_handle *handle);
void bt_scored_resources_finish(struct bt_scored_resources *resources);

/** One value per configured resource, in milli for cpu; 0 for a name that is absent. In the arena.
 */
int64_t *bt_scored_resources_request(const struct bt_scored_resources *resources,
	const struct bt_resource_list *request, struct bt_arena *arena);

/**
 * Devices may stand behind something that the pod asks for: its scores then depend on more than the
 * node's row, and there is no column form. Changes with the device classes only.
 */
bool bt_scored_resources_need_devices(
	const struct bt_scored_resources *resources, const int64_t *requests);

/** A resource that takes part in a node's score. */
struct bt_score_entry {
	int64_t capacity; /* never 0 */
	int64_t used;
	int64_t requested; /* used plus the pod's */
	int64_t weight;
};

enum bt_score_usage {
	BT_SCORE_NON_ZERO,  /* NodeResourcesFit: cpu and memory as NonZeroRequested */
	BT_SCORE_REQUESTED, /* NodeResourcesBalancedAllocation */
};

/** Total and use of a resource on a node, without devices; both 0 when nodes have no such
 * resource. */
void bt_scored_resource_read(const struct bt_scored_resource *resource,
	const struct bt_node_info *node, enum bt_score_usage usage, int64_t *out_capacity,
	int64_t *out_used);
/** The entry of one resource on a node, devices included; false when it is absent. */
bool bt_score_entry_find(const struct bt_scored_resource *resource, int64_t pod_request,
	const struct bt_node_info *node, enum bt_score_usage usage,
	struct bt_score_entry *out_entry);

/** min(requested, capacity) * 100 / capacity: one resource of the MostAllocated strategy. Spec 05
 * section 11.5. */
int64_t bt_most_allocated_points(int64_t requested, int64_t capacity);

/** The gates that decide a pod's resource vector. */
struct bt_resource_gates bt_resource_gates_of(const struct bt_gates *gates);

/* --- Resource scores over many slots at once. Same answers as the integer formulas of spec 05
 * sections 11.5 and 12.3, computed in doubles so that the compiler can vectorise them: with all
 * amounts in [0, 2^44) every product and quotient here is below 2^52, and a correctly rounded
 * quotient of such integers truncates to the integer quotient. The caller takes the plain form when
 * the node table has wide values (node_table.h: has_wide_values) or the request is wide. --- */

/** Amounts from here on are "wide". */
#define BT_NARROW_AMOUNT_MAX (INT64_C(1) << 44)

/** One configured resource that takes part: columns by slot, the pod's request, the configured
 * weight (1..100). */
struct bt_resource_column {
	const int64_t *allocatable;
	const int64_t *used;
	const double *inverse; /* 1 / allocatable, 0 for 0 (node_table.h); NULL: nobody keeps it */
	int64_t request;
	int32_t weight;
};

/** One resource that NodeResourcesFit looks at: columns by slot, the pod's request (not 0), the bit
 * of a detail that says it is lacking. */
struct bt_lack_column {
	const int64_t *allocatable;
	const int64_t *requested;
	int64_t request;
	uint32_t bit;
};

/** Bit of a detail: even an empty node would lack something. */
#define BT_LACK_UNRESOLVABLE UINT32_C(1)

enum {
	BT_RESOURCE_COLUMNS_MAX = 16,
};

/** Every amount is in [0, BT_NARROW_AMOUNT_MAX). */
bool bt_requests_are_narrow(const int64_t *requests, uint32_t count);

/**
 * What score_fits_column of the resource plugins asks: with narrow amounts scores stay in their
 * range and the kernels are exact. Otherwise the plain form answers, which also knows the error
 * that absurd amounts cause upstream.
 */
static inline bool bt_score_amounts_are_narrow(
	const struct bt_state *state, const int64_t *requests, uint32_t count)
{
	return !state->nodes.has_wide_values && bt_requests_are_narrow(requests, count);
}

/**
 * The configured resources that take part for this pod (spec 05 section 11.4), as columns. false:
 * too many resources or large weights; score node by node. The caller knows that all amounts are
 * narrow (bt_score_amounts_are_narrow).
 */
bool bt_resource_columns_collect(const struct bt_scored_resources *resources,
	const int64_t *requests, const struct bt_state *state, enum bt_score_usage usage,
	struct bt_resource_column *out_columns, uint32_t *out_count);

/** The scoring loops, compiled for several instruction sets; same results from each. */
struct bt_resource_kernels {
	/** LeastAllocated (most = false) or MostAllocated. A node without the resource leaves it
	 * out of its sums. */
	void (*allocation)(const struct bt_resource_column *columns, uint32_t column_count,
		bool most, struct bt_slot_range range, int32_t *scores);
	/** How balanced the use of two resources is with the requests, 0 to 100. No list of slots.
	 */
	void (*balance)(const struct bt_resource_column columns[2], struct bt_slot_range range,
		int32_t *balances);
	/**
	 * NodeResourcesBalancedAllocation for at most two resources. before: the balance by slot
	 * without the requests; NULL: not known, as for a list of slots.
	 */
	void (*balanced)(const struct bt_resource_column *columns, uint32_t column_count,
		const int32_t *before, struct bt_slot_range range, int32_t *scores);
	/**
	 * What the nodes lack; any amounts. pods: numbers of pods (requested) and their limits
	 * (allocatable). false: nothing on any node.
	 */
	bool (*lack)(const struct bt_lack_column *pods, const struct bt_lack_column *columns,
		uint32_t column_count, struct bt_slot_range range, uint32_t *details);
};

extern const struct bt_resource_kernels bt_resource_kernels_plain;
/* Only with BT_HAVE_AVX2_KERNELS. */
extern const struct bt_resource_kernels bt_resource_kernels_avx2;
extern const struct bt_resource_kernels bt_resource_kernels_avx512;

/** The fastest table this processor runs. */
const struct bt_resource_kernels *bt_resource_kernels_for_cpu(void);
#endif
