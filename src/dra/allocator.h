/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_DRA_ALLOCATOR_H
#define BT_DRA_ALLOCATOR_H
/**
 * The structured allocator: devices for the unallocated claims of one pod on one node, the first
 * solution in upstream's order. Spec: 12 section 9.
 *
 * What does not depend on the pod (pools of a node, order of devices, verdicts of selectors) comes
 * from dra/device_pools.h and is kept from cycle to cycle.
 */
#include "api/resource_claim.h"
#include "base/arena.h"
#include "base/prng.h"
#include "dra/dra.h"
#include "state/node_info.h"

/** One cycle's questions. Memory: the cycle's arena. The dra must not change while it is used. */
struct bt_allocator;

struct bt_allocator_options {
	/** Random ids of shares; NULL: drawn from fixed numbers. */
	struct bt_prng *prng;
	/** Asked now and then during a search: true gives it up. NULL: never. */
	bool (*is_over)(void *context);
	void *context;
	/** Compare what is kept with what is computed anew (BERTH_VERIFY=1). */
	bool verify;
};

struct bt_allocator *bt_allocator_create(
	struct bt_dra *dra, const struct bt_allocator_options *options, struct bt_arena *arena);

enum bt_allocation_outcome {
	BT_ALLOCATION_FOUND,
	BT_ALLOCATION_NONE,
	BT_ALLOCATION_INVALID_POOL, /* none, and some pool of the node is invalid */
	BT_ALLOCATION_OVER,         /* is_over said so; err: "filter operation aborted: <cause>" is
	                               the caller's to word */
	BT_ALLOCATION_ERROR,        /* err has the text of spec 12 sections 9.1 to 9.9 */
};

/** A solution in little memory: devices, not yet their texts. */
struct bt_allocation_choice;

/**
 * claims: those to allocate, in order (the special claim of extended resources may differ from node
 * to node). *out_choice: in the arena of the allocator; NULL unless FOUND.
 */
enum bt_allocation_outcome bt_allocator_allocate(struct bt_allocator *allocator,
	const struct bt_node_info *node, const struct bt_resource_claim *const *claims,
	uint32_t count, const struct bt_allocation_choice **out_choice, struct berth_error *err);

/** The subrequest that was selected (its index), or UINT32_MAX: request r of claim c has none. */
uint32_t bt_allocation_choice_subrequest(
	const struct bt_allocation_choice *choice, uint32_t claim, uint32_t request);
/**
 * status.allocation of claim c as it will be written (spec 12 section 9.9), made in the arena. It
 * borrows from claims, classes and slices: copy it (bt_object_create does) before any of them may
 * change.
 */
BT_MUST_USE int bt_allocation_choice_result(const struct bt_allocator *allocator,
	const struct bt_allocation_choice *choice, uint32_t claim, struct bt_arena *arena,
	struct bt_allocation_result *out_result, struct berth_error *err);

/** Why a request found as many devices as it did on a node: for explanations. */
struct bt_request_report {
	struct bt_str claim;   /* "namespace/name" */
	struct bt_str request; /* "r", "r/s" */
	struct bt_str device_class;
	bool wants_all;
	uint32_t wanted;
	uint32_t considered; /* devices of the node's pools */
	uint32_t usable;     /* of them: for this request taken alone */
	/* The others, each counted at the first thing that speaks against it. */
	uint32_t in_use;          /* by other claims; the selectors would have it */
	uint32_t class_refused;   /* a selector of the class is false */
	uint32_t request_refused; /* a selector of the request is */
	uint32_t other_node;      /* perDeviceNodeSelection */
	uint32_t tainted;
	uint32_t no_capacity;
	uint32_t no_counters;
	uint32_t unsupported; /* has binding conditions, which are switched off */
	/** The selector that refused most, and the taint that did; "" for none. Borrowed. */
	struct bt_str selector;
	struct bt_str taint;
	struct bt_str error; /* a selector failed; in the arena */
};

struct bt_allocation_report {
	struct bt_request_report *requests;
	uint32_t count;
	uint32_t incomplete_pools;
	uint32_t invalid_pools;
	/** Every request alone finds enough: it is the constraints, or that they want the same. */
	bool is_joint;
};

/** The same question as allocate, for people; in the arena. */
void bt_allocator_report(struct bt_allocator *allocator, const struct bt_node_info *node,
	const struct bt_resource_claim *const *claims, uint32_t count, struct bt_arena *arena,
	struct bt_allocation_report *out_report);
#endif
