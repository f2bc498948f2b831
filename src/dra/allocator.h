/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_DRA_ALLOCATOR_H
#define BT_DRA_ALLOCATOR_H
/**
 * The structured allocator: finds devices for the unallocated claims of a pod on a node. The result
 * is the first solution in upstream's order. Spec: 12 section 9.
 *
 * Data that does not depend on the pod (pools of a node, order of devices, verdicts of selectors)
 * comes from dra/device_pools.h and is cached between cycles.
 */
#include "api/resource_claim.h"
#include "base/arena.h"
#include "base/prng.h"
#include "dra/dra.h"
#include "state/node_info.h"

/**
 * The allocator of one scheduling cycle, in the cycle's arena. The struct bt_dra must not change
 * while the allocator is in use.
 */
struct bt_allocator;

struct bt_allocator_options {
	/** Called before a search on a node. May be NULL. */
	void (*begin)(void *context);
	/** Polled during a search; true aborts the search. NULL: never abort. */
	bool (*is_over)(void *context);
	void *context;
	/** Compare cached values with recomputed ones (BERTH_VERIFY=1). */
	bool verify;
};

struct bt_allocator *bt_allocator_create(
	struct bt_dra *dra, const struct bt_allocator_options *options, struct bt_arena *arena);

enum bt_allocation_outcome {
	BT_ALLOCATION_FOUND,
	BT_ALLOCATION_NONE,
	BT_ALLOCATION_INVALID_POOL, /* no solution, and some pool of the node is invalid */
	BT_ALLOCATION_OVER,         /* is_over returned true; err is not set */
	BT_ALLOCATION_ERROR,        /* err has the text of spec 12 sections 9.1 to 9.9 */
};

/** A solution in compact form: rows of devices, without status.allocation. */
struct bt_allocation_choice;

/** Outcome of allocating a list of claims on one node. */
struct bt_node_allocation {
	enum bt_allocation_outcome outcome;
	/**
	 * FOUND: sum of the scores of the alternatives (firstAvailable) that were chosen in all
	 * claims (spec 12 section 11); else 0.
	 */
	uint32_t score;
};

/**
 * Allocate the claims on the node in this slot, in the order of the list. The list may differ
 * between nodes, because each node has its own special claim for extended resources. *out_choice:
 * in the arena of the allocator; NULL unless the outcome is FOUND. out_choice may be NULL.
 */
struct bt_node_allocation bt_allocator_allocate(struct bt_allocator *allocator, uint32_t slot,
	const struct bt_resource_claim *const *claims, uint32_t count,
	const struct bt_allocation_choice **out_choice, struct berth_error *err);

/**
 * Make status.allocation of a claim (spec 12 section 9.9) in the arena. claim: index in the list of
 * claims. share_ids: source of random share ids; NULL: ids come from a fixed sequence. Returns 0 or
 * BERTH_ERR_INVALID. The result borrows from claims, classes and slices: copy it (bt_object_create
 * does) before any of them may change.
 */
BT_MUST_USE int bt_allocation_choice_result(const struct bt_allocator *allocator,
	const struct bt_allocation_choice *choice, uint32_t claim, struct bt_prng *share_ids,
	struct bt_arena *arena, struct bt_allocation_result *out_result, struct berth_error *err);

/**
 * Outcome of allocating a list of claims on every node. Columns are kept between cycles. Lists of
 * claims with equal requests, constraints and classes share a column. An update usually searches
 * only nodes with a change of a kind in BT_ALLOCATION_COLUMN_READS. All nodes are updated if a pool
 * that nodes of any name may use has changed, or if too many nodes have changed.
 */
struct bt_allocation_column {
	/*
	 * As long as `serial` and `version` do not change, the value of a slot changes only if the
	 * state's log has a change of that slot.
	 */
	uint64_t serial;
	uint64_t version;
	/** By slot: index in answers. Values of slots outside the snapshot have no meaning. */
	const uint32_t *values;
	const struct bt_node_allocation *answers;
	uint32_t failure_count; /* nodes with the outcome OVER or ERROR */
};

#define BT_ALLOCATION_COLUMN_READS (BT_CHANGE_DEVICES | BT_CHANGE_LABELS | BT_CHANGE_EXISTENCE)

/**
 * Returns the column of these claims for the current snapshot, borrowed until the next call.
 * Returns NULL if equal claims were not requested recently: a column would then cost more than it
 * saves.
 */
const struct bt_allocation_column *bt_allocation_column_get(struct bt_allocator *allocator,
	const struct bt_resource_claim *const *claims, uint32_t count);

/**
 * How many devices of a node a request can use, and why it cannot use the other devices; for
 * explanations.
 */
struct bt_request_report {
	struct bt_str claim;   /* "namespace/name" */
	struct bt_str request; /* "request" or "request/subrequest" */
	struct bt_str device_class;
	bool needs_all;
	uint32_t wanted;
	uint32_t considered; /* devices of the node's pools */
	uint32_t usable;     /* devices that the request can get if taken alone */
	/*
	 * The devices that are not usable, each counted under the first check that rejects it. A
	 * device on which a selector fails with an error is not counted, unless it is in use and
	 * needs_all is false: then `in_use` counts it.
	 */
	uint32_t in_use;          /* held by other claims; no selector is false */
	uint32_t class_refused;   /* a selector of the class is false */
	uint32_t request_refused; /* a selector of the request is false */
	uint32_t other_node;      /* perDeviceNodeSelection excludes the node */
	uint32_t tainted;
	uint32_t no_capacity;
	uint32_t no_counters;
	uint32_t unsupported; /* has binding conditions, but their gate is off */
	/**
	 * The selector and the taint that reject the largest number of devices; "" for none. The
	 * selector is borrowed, the taint is in the arena.
	 */
	struct bt_str selector;
	struct bt_str taint;
	struct bt_str error; /* error of the request or of a failing selector; "" for none */
};

struct bt_allocation_report {
	struct bt_request_report *requests;
	uint32_t count;
	uint32_t incomplete_pools;
	uint32_t invalid_pools;
	/**
	 * Each request taken alone finds enough devices, so constraints or competition among the
	 * requests make the allocation fail.
	 */
	bool is_joint;
};

/** Explain the outcome of bt_allocator_allocate. The report is in the arena. */
void bt_allocator_report(struct bt_allocator *allocator, const struct bt_node_info *node,
	const struct bt_resource_claim *const *claims, uint32_t count, struct bt_arena *arena,
	struct bt_allocation_report *out_report);
#endif
