/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_PLUGINS_DYNAMIC_RESOURCES_H
#define BT_PLUGINS_DYNAMIC_RESOURCES_H
/**
 * Between the files of the DynamicResources plugin: what it keeps of a pod's cycle, and its parts.
 * Spec: 12 sections 5 to 16.
 *
 * Everything of the cycle is in the cycle's arena or kept by it: a binding may be held for minutes
 * while others change the claim cache.
 */
#include "api/selector.h"
#include "base/prng.h"
#include "dra/allocator.h"
#include "dra/dra.h"
#include "framework/plugin.h"
#include "plugins/common_plugin.h"

/** The instance. */
struct bt_dynamic_resources {
	struct bt_plain_plugin base;
	struct bt_dra *dra;        /* of the state */
	int64_t filter_timeout_ns; /* 0: none */
	int64_t binding_timeout_ns;
	struct bt_prng share_ids;
	bool has_share_ids; /* share_ids is seeded */
};

static inline struct bt_dynamic_resources *bt_dynamic_resources_of(const struct bt_plugin *plugin)
{
	return (struct bt_dynamic_resources *)(uintptr_t)plugin;
}

/** One entry of spec.resourceClaims that has a claim. */
struct bt_resolved_claim {
	struct bt_object *claim; /* borrowed from the claim cache */
	uint32_t entry;          /* index in spec.resourceClaims */
};

/** The name of the claim behind an entry; absent: it needs none. *out_generated: made from a
 * template. */
BT_MUST_USE int bt_dynamic_entry_name(const struct bt_pod *pod,
	const struct bt_pod_resource_claim *entry, struct bt_str *out_name, bool *out_generated,
	struct berth_error *err);
/**
 * The claims of a pod, in the order of its entries; claims has room for each entry. Errors have the
 * whole text. pod: as the API has it (its status counts).
 */
BT_MUST_USE int bt_dynamic_resolve(const struct bt_dynamic_resources *instance,
	const struct bt_pod *pod, struct bt_resolved_claim *claims, uint32_t *out_count,
	struct berth_error *err);
/** Whom the claim of an entry is reserved for: the pod, or its group. */
BT_MUST_USE int bt_dynamic_binding(const struct bt_dynamic_resources *instance,
	const struct bt_pod *pod, uint32_t entry,
	struct bt_resource_claim_consumer_reference *out_reference, struct berth_error *err);
/** It has the pod, or its group where the gate for it is on. */
bool bt_dynamic_is_reserved_for(const struct bt_dynamic_resources *instance,
	const struct bt_resource_claim *claim, const struct bt_pod *pod);

struct bt_extended_resources;  /* dynamic_resources_extended.c */
struct bt_extended_node_claim; /* below */
struct bt_node_allocatable;    /* dynamic_resources_node_allocatable.c */

/** What the next call of PreBind does for a claim. Spec 12 section 13.1. */
enum bt_claim_step {
	BT_CLAIM_STEP_START,
	BT_CLAIM_STEP_CREATE, /* the special claim only */
	BT_CLAIM_STEP_GET,
	BT_CLAIM_STEP_FINALIZER,
	BT_CLAIM_STEP_STATUS,
	BT_CLAIM_STEP_ASSUME,
	BT_CLAIM_STEP_PATCH_POD, /* the special claim only */
	BT_CLAIM_STEP_DONE,
};

struct bt_claim_bind {
	enum bt_claim_step step;
	uint32_t conflicts;
	int64_t wake_ns;    /* nothing is to be done before */
	int64_t give_up_ns; /* BT_CLAIM_STEP_ASSUME */
	/** What the API had when the attempt began, or answered since: kept by the cycle. */
	struct bt_object *base;
	const struct bt_resource_claim *sent; /* of the call under way; in the arena */
	bool is_written;
	int failure; /* of the attempts, reported after BT_CLAIM_STEP_ASSUME; 0: none */
	struct bt_str failure_text;
};

/** A claim of the pod; the special claim of extended resources comes last. */
struct bt_dynamic_claim {
	/** The latest that this cycle has seen or written, so that Unreserve knows what there is to
	 * undo. Kept by the cycle. */
	struct bt_object *object;
	const struct bt_resource_claim *claim; /* of object */
	/** As PreFilter found it ("namespace/name" without one, from a file): the key of what is in
	 * flight. */
	struct bt_str uid;
	bool is_special;
	bool was_allocated;       /* status.allocation was set when PreFilter looked */
	bool has_selector;        /* of that allocation */
	bool is_unavailable_here; /* on the node that Filter looks at */
	bool is_unavailable;      /* on some node: PostFilter may take it back */
	bool is_signalled;        /* by Reserve, and not taken back */
	bool is_undone;           /* Unreserve wrote what there was to write */
	struct bt_parsed_node_selector selector;
	/** Decided for another pod in this pod group's cycle; NULL: not. Borrowed up to Reserve. */
	const struct bt_allocation_result *pending;
	struct bt_resource_claim_consumer_reference reference;
	/** Decided by Reserve, for PreBind to write; NULL: nothing is. Kept by the cycle. */
	const struct bt_allocation_result *allocation;
	struct bt_claim_bind bind;
};

/** What Filter found for a node. */
struct bt_dynamic_node {
	/** Devices of the unallocated claims without a pending allocation, in order; NULL: there
	 * are none. */
	const struct bt_allocation_choice *choice;
	const struct bt_extended_node_claim *special; /* NULL: none on this node */
	const struct bt_node_allocatable *demand;     /* NULL: none (section 15) */
};

/** When Filter of a node is to give up. */
struct bt_filter_limit {
	const struct bt_handle *handle;
	const struct bt_cycle_state *cycle; /* its cancellation */
	int64_t deadline_ns;                /* by the clock of the metrics; 0: none */
	uint32_t questions_left;            /* without a clock; 0: no limit */
	bool is_timed_out;
};

/** Data of the cycle, from PreFilter on; in its arena. Clones share it. */
struct bt_dynamic_cycle {
	struct bt_dynamic_claim *claims;
	uint32_t count;
	uint32_t user_count;                   /* without the special one */
	uint32_t unallocated_count;            /* of all of them */
	bool has_alternatives;                 /* some request has firstAvailable */
	struct bt_allocator *allocator;        /* NULL: everything is allocated */
	const struct bt_resource_claim **todo; /* room for one question to it */
	struct bt_filter_limit limit;
	struct bt_extended_resources *extended; /* NULL: no special claim */
	uint32_t slot_count;
	struct bt_dynamic_node **nodes; /* by slot; NULL: Filter has not passed it */
	/* PreBind */
	bool is_patched;      /* section 15.3 */
	bool waits;           /* for binding conditions */
	int64_t wait_ends_ns; /* by the handle's clock */
	int64_t next_poll_ns;
	int64_t wait_started_ns; /* by the clock of the metrics */
};

/** NULL: PreFilter has not run. */
static inline struct bt_dynamic_cycle *bt_dynamic_cycle_of(
	const struct bt_plugin *plugin, const struct bt_cycle_state *cycle)
{
	return cycle->pre_filter_data[plugin->index];
}

/** Take another object for the claim's; consumed. */
void bt_dynamic_claim_set(
	struct bt_dynamic_claim *claim, struct bt_cycle_state *cycle, struct bt_object *object);
/** It is to be allocated on this node: not allocated before, and for the special claim: asked for
 * there. */
bool bt_dynamic_is_wanted(const struct bt_dynamic_claim *claim, const struct bt_dynamic_node *node);

/** Claims in flight that were decided in this pod group's cycle, by uid; in the group's arena. */
struct bt_dynamic_group {
	struct bt_str *uids;
	uint32_t count;
	uint32_t capacity;
};

/** NULL: not in a pod group's cycle. Made at the first call. */
struct bt_dynamic_group *bt_dynamic_group_of(
	const struct bt_plugin *plugin, struct bt_cycle_state *cycle);
void bt_dynamic_group_add(
	struct bt_dynamic_group *group, struct bt_str uid, struct bt_arena *arena);
/** group may be NULL. */
void bt_dynamic_group_drop(struct bt_dynamic_group *group, struct bt_str uid);

/* Spec: 12 sections 8, 10 and 11. */
struct bt_status bt_dynamic_filter(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const struct bt_node_info *node);
struct bt_status bt_dynamic_score(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const struct bt_node_info *node, int64_t *out_score);
/** The same for many nodes; data: of the cycle. */
void bt_dynamic_score_slots(struct bt_plugin *plugin, const void *data,
	const struct bt_pod_info *pod, const struct bt_state *state, const uint32_t *slots,
	uint32_t count, int64_t *scores);
/** What claim index, unallocated and wanted there, gets on a node that has passed. */
BT_MUST_USE int bt_dynamic_allocation(const struct bt_dynamic_cycle *data,
	const struct bt_dynamic_node *node, uint32_t index, struct bt_arena *arena,
	struct bt_allocation_result *out_result, struct berth_error *err);
/** For the allocator: struct bt_filter_limit. */
bool bt_dynamic_filter_is_over(void *context);

/** Spec 12 section 10. */
struct bt_status bt_dynamic_post_filter(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const struct bt_node_statuses *statuses,
	struct bt_post_filter_result *out_result);

/* Spec: 12 sections 12 and 13.1. */
struct bt_status bt_dynamic_reserve(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, uint32_t slot);
void bt_dynamic_unreserve(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, uint32_t slot);

/** Spec 12 section 13.1. */
struct bt_status bt_dynamic_pre_bind(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, uint32_t slot);

/* --- dynamic_resources_wait.c: what is written. As struct bt_claim_writer says; without a writer
 * the write counts as made. --- */

/** PUT of a claim: its finalizers. base: see struct bt_claim_writer. */
BT_MUST_USE int bt_dynamic_write_claim(const struct bt_dynamic_resources *instance,
	const struct bt_pod_info *pod, const struct bt_object *base,
	const struct bt_resource_claim *claim, struct bt_object **out_claim,
	struct berth_error *err);
/** PUT of its status. */
BT_MUST_USE int bt_dynamic_write_status(const struct bt_dynamic_resources *instance,
	const struct bt_pod_info *pod, const struct bt_object *base,
	const struct bt_resource_claim *claim, struct bt_object **out_claim,
	struct berth_error *err);
/** PUT of a status without allocation; waits for the answer. */
BT_MUST_USE int bt_dynamic_deallocate(const struct bt_dynamic_resources *instance,
	const struct bt_pod_info *pod, const struct bt_object *claim, struct berth_error *err);
/**
 * PreBind was canceled while the claim's status was being written: its end is waited for, so that
 * devices are not given to others that the claim gets after all, and Unreserve knows what to undo.
 */
void bt_dynamic_end_write(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, struct bt_dynamic_claim *claim);
/** PATCH that takes a uid out of reservedFor. */
void bt_dynamic_unreserve_claim(const struct bt_dynamic_resources *instance,
	const struct bt_pod_info *pod, const struct bt_resource_claim *claim, struct bt_str uid,
	struct bt_arena *arena);
bool bt_dynamic_has_finalizer(const struct bt_resource_claim *claim);
/** claim: a copy that owns nothing; its new list is in the arena. */
void bt_dynamic_add_finalizer(struct bt_resource_claim *claim, struct bt_arena *arena);

/* --- dynamic_resources_wait.c: device binding conditions, spec 12 sections 13 (steps 3 to 6) and
 * 13.2; only asked with the gates for them --- */

/** BC of spec 12 section 2. */
bool bt_dynamic_binds_conditions(const struct bt_plugin *plugin);
/** Negative: a device failed, err says which. */
BT_MUST_USE int bt_dynamic_is_ready(
	const struct bt_resource_claim *claim, bool *out_ready, struct berth_error *err);
/** Of a claim that is not ready. */
bool bt_dynamic_is_timed_out(
	const struct bt_dynamic_resources *instance, const struct bt_resource_claim *claim);
/** Wait until the devices of all claims are ready: 0, negative, or BT_WRITE_PENDING. */
BT_MUST_USE int bt_dynamic_wait(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, uint32_t slot, struct berth_error *err);

/** What a node claim asks for, and which container gets it (14.3). Spec: 12 section 14. */
struct bt_extended_node_claim {
	/** The special claim with its requests; with name and uid of memory. */
	struct bt_resource_claim claim;
	BT_LIST(struct bt_container_extended_resource_request) mappings;
};

/** Some request of pods of this shape is one that a class stands behind now (14.1). */
bool bt_extended_is_wanted(
	const struct bt_dynamic_resources *instance, const struct bt_shape *shape);
/** PreFilter: NULL without special claim. In the arena. */
struct bt_extended_resources *bt_extended_begin(const struct bt_dynamic_resources *instance,
	const struct bt_pod_info *pod, struct bt_arena *arena);
/**
 * The special claim: a stale one of the claim cache, or one made in memory (name
 * `<extended-resources>`). A reference for the caller.
 */
struct bt_object *bt_extended_claim(const struct bt_extended_resources *extended);
/** It is only in memory. */
bool bt_extended_is_in_memory(const struct bt_resource_claim *claim);
/**
 * Filter (14.2): UnschedulableAndUnresolvable, or the node's claim. *out_claim NULL: a device
 * plugin serves everything there, and the pod has no claims of its own. With such claims the node's
 * claim has no requests then, and PreBind fails (section 21, D10).
 */
struct bt_status bt_extended_for_node(const struct bt_dynamic_resources *instance,
	struct bt_extended_resources *extended, const struct bt_pod_info *pod,
	const struct bt_node_info *node, bool has_user_claims, struct bt_arena *arena,
	const struct bt_extended_node_claim **out_claim);
/**
 * PreBind (14.4): create it, with the error text and counter of 14.4. 0, negative, or
 * BT_WRITE_PENDING. *out_claim: a reference for the caller. Without a writer the object store gets
 * it.
 */
BT_MUST_USE int bt_extended_create(const struct bt_dynamic_resources *instance,
	const struct bt_pod_info *pod, const struct bt_extended_node_claim *node_claim,
	struct bt_object **out_claim, struct berth_error *err);
/** PreBind (14.5): likewise. */
BT_MUST_USE int bt_extended_patch_pod(const struct bt_dynamic_resources *instance,
	const struct bt_pod_info *pod, const struct bt_extended_node_claim *node_claim,
	struct bt_str claim_name, struct bt_arena *arena, struct berth_error *err);
/** PostFilter, Unreserve (14.6): waits for the end, retries included. */
BT_MUST_USE int bt_extended_delete(const struct bt_dynamic_resources *instance,
	const struct bt_pod_info *pod, struct bt_object *claim, struct bt_arena *arena,
	struct berth_error *err);

/* --- node allocatable resources: dynamic_resources_node_allocatable.c, spec 12 section 15; only
 * called with the gate DRANodeAllocatableResources --- */

/** 15.1, for an allocated claim. */
struct bt_status bt_node_allocatable_check_sharing(const struct bt_dynamic_resources *instance,
	const struct bt_pod_info *pod, const struct bt_resource_claim *claim,
	const struct bt_node_info *node, struct bt_arena *arena);
/** A claim that is allocated in this cycle, as it would be. */
struct bt_new_allocation {
	const struct bt_dynamic_claim *claim;
	const struct bt_allocation_result *allocation;
};
/** 15.2; *out_demand NULL: none. */
struct bt_status bt_node_allocatable_check(const struct bt_dynamic_resources *instance,
	const struct bt_pod_info *pod, const struct bt_node_info *node,
	const struct bt_new_allocation *allocations, uint32_t count, struct bt_arena *arena,
	const struct bt_node_allocatable **out_demand);
/** 15.3: the assumed pod's status on the node. */
void bt_dynamic_assume_status(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, uint32_t slot, struct bt_pod_status *status);
/** 15.3 in PreBind: 0, negative with the whole text, or BT_WRITE_PENDING. */
BT_MUST_USE int bt_node_allocatable_patch(const struct bt_dynamic_resources *instance,
	const struct bt_pod_info *pod, const struct bt_node_allocatable *demand,
	struct bt_arena *arena, struct berth_error *err);
/** 15.3 in Unreserve. */
void bt_node_allocatable_clear(const struct bt_dynamic_resources *instance,
	const struct bt_pod_info *pod, const struct bt_node_allocatable *demand,
	struct bt_arena *arena);

#endif
