/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_PLUGINS_DYNAMIC_RESOURCES_H
#define BT_PLUGINS_DYNAMIC_RESOURCES_H
/**
 * Shared by the files of the DynamicResources plugin: its cycle data and its parts. Spec: 12
 * sections 5 to 16. Where a comment names a section but no spec, the section is in spec 12.
 *
 * The cycle data is in the arena of the cycle, and the cycle holds references to the objects,
 * because a binding may take minutes while the claim cache changes.
 */
#include "api/selector.h"
#include "base/prng.h"
#include "dra/allocator.h"
#include "dra/dra.h"
#include "framework/plugin.h"
#include "plugins/common_plugin.h"

/** An instance of the plugin. */
struct bt_dynamic_resources {
	struct bt_plain_plugin base;
	struct bt_dra *dra;        /* borrowed from the state */
	int64_t filter_timeout_ns; /* 0: no timeout */
	int64_t binding_timeout_ns;
};

static inline struct bt_dynamic_resources *bt_dynamic_resources_of(const struct bt_plugin *plugin)
{
	return (struct bt_dynamic_resources *)(uintptr_t)plugin;
}

/** An entry of spec.resourceClaims and its claim. */
struct bt_resolved_claim {
	struct bt_object *claim; /* borrowed from the claim cache */
	uint32_t entry;          /* index in spec.resourceClaims */
};

/**
 * Get the name of an entry's claim. *out_name is absent if the entry needs no claim.
 * *out_generated: the claim is made from a template. Fails if a generated claim is not in the pod's
 * status yet.
 */
BT_MUST_USE int bt_dynamic_entry_name(const struct bt_pod *pod,
	const struct bt_pod_resource_claim *entry, struct bt_str *out_name, bool *out_generated,
	struct berth_error *err);
/**
 * Find the claims of a pod, in the order of its entries. `claims` needs room for one claim per
 * entry. Errors have the complete text. pod: the API object, because its status is read.
 */
BT_MUST_USE int bt_dynamic_resolve(const struct bt_dynamic_resources *instance,
	const struct bt_pod *pod, struct bt_resolved_claim *claims, uint32_t *out_count,
	struct berth_error *err);
/**
 * Get the consumer that an entry's claim is reserved for: the pod or its group. entry: index in
 * spec.resourceClaims; UINT32_MAX: the special claim, which is reserved for the pod. Fails if the
 * pod's group does not exist.
 */
BT_MUST_USE int bt_dynamic_binding(const struct bt_dynamic_resources *instance,
	const struct bt_pod *pod, uint32_t entry,
	struct bt_resource_claim_consumer_reference *out_reference, struct berth_error *err);
/**
 * Whether the claim is reserved for the pod or, if the gate DRAWorkloadResourceClaims is on, for
 * its group.
 */
bool bt_dynamic_is_reserved_for(const struct bt_dynamic_resources *instance,
	const struct bt_resource_claim *claim, const struct bt_pod *pod);

struct bt_extended_resources;  /* dynamic_resources_extended.c */
struct bt_extended_node_claim; /* defined below */
struct bt_node_allocatable;    /* dynamic_resources_node_allocatable.c */

/** Next step of PreBind for a claim. Spec 12 section 13.1. */
enum bt_claim_step {
	BT_CLAIM_STEP_START,
	BT_CLAIM_STEP_CREATE, /* special claim only */
	BT_CLAIM_STEP_GET,
	BT_CLAIM_STEP_FINALIZER,
	BT_CLAIM_STEP_STATUS,
	BT_CLAIM_STEP_ASSUME,
	BT_CLAIM_STEP_PATCH_POD, /* special claim only */
	BT_CLAIM_STEP_DONE,
};

struct bt_claim_bind {
	enum bt_claim_step step;
	uint32_t conflicts;
	int64_t wake_ns;    /* earliest time of the next step */
	int64_t give_up_ns; /* end of BT_CLAIM_STEP_ASSUME */
	/**
	 * The claim as the API server has it, at the start of the attempt or from the last answer.
	 * The cycle holds the reference.
	 */
	struct bt_object *base;
	/** The object that the call in flight writes; in the arena. */
	const struct bt_resource_claim *sent;
	bool is_written;
	int failure; /* last error code, reported after BT_CLAIM_STEP_ASSUME; 0: none */
	struct bt_str failure_text;
};

/** A claim of the pod; the special claim for extended resources is the last one. */
struct bt_dynamic_claim {
	/**
	 * The latest version that this cycle has read or written, which Unreserve needs to undo the
	 * writes. The cycle holds the reference.
	 */
	struct bt_object *object;
	const struct bt_resource_claim *claim; /* value of object */
	/**
	 * Key of the claim among the claims in flight: its uid, or "namespace/name" if it has no
	 * uid (claims from a file).
	 */
	struct bt_str uid;
	bool is_special;
	bool was_allocated;       /* PreFilter found status.allocation set */
	bool has_selector;        /* the allocation has a node selector */
	bool is_unavailable_here; /* unavailable on the node of the current Filter call */
	bool is_unavailable;      /* unavailable on some node, so PostFilter may deallocate it */
	bool is_signalled;        /* the claim cache has the allocation as in flight */
	bool is_undone;           /* Unreserve has undone the writes */
	struct bt_parsed_node_selector selector;
	/**
	 * Allocation of the claim for another pod of the same pod group cycle; NULL: none. Borrowed
	 * until Reserve.
	 */
	const struct bt_allocation_result *pending;
	struct bt_resource_claim_consumer_reference reference;
	/** Allocation that Reserve has chosen and PreBind writes; NULL: none. Kept by the cycle. */
	const struct bt_allocation_result *allocation;
	struct bt_claim_bind bind;
};

/** Result of Filter for a node. */
struct bt_dynamic_node {
	/**
	 * Devices of the unallocated claims without a pending allocation, in order; NULL if there
	 * is no such claim.
	 */
	const struct bt_allocation_choice *choice;
	uint32_t score; /* of the alternatives in choice */
	/** The special claim on the node; NULL: the node does not need the special claim. */
	const struct bt_extended_node_claim *special;
	/** needed node resources; NULL: none (spec 12 section 15) */
	const struct bt_node_allocatable *demand;
};

/** Limit of the search for devices in one Filter call. */
struct bt_filter_limit {
	const struct bt_handle *handle;
	int64_t timeout_ns;                 /* limit of one search; 0: no limit */
	const struct bt_cycle_state *cycle; /* read to see whether the cycle is cancelled */
	int64_t deadline_ns;                /* on the clock of the metrics; 0: no deadline */
	uint32_t steps_left;                /* limit of steps if there is no clock; 0: no limit */
	bool is_timed_out;
};

/** Cycle data from PreFilter on, in the cycle's arena. Clones of the cycle share the data. */
struct bt_dynamic_cycle {
	struct bt_dynamic_claim *claims;
	uint32_t count;
	uint32_t user_count;            /* number of claims, except the special claim */
	uint32_t unallocated_count;     /* unallocated claims, including the special claim */
	bool has_alternatives;          /* some request uses firstAvailable */
	struct bt_allocator *allocator; /* NULL: all claims are allocated */
	/** Room for the claims argument of an allocator call. */
	const struct bt_resource_claim **todo;
	struct bt_filter_limit limit;
	struct bt_extended_resources *extended; /* NULL: no special claim */
	/**
	 * Filter's outcomes for all nodes, or NULL. If column is set, `last` has the result of the
	 * last node that passed Filter, the results of other nodes are not kept, and `nodes` is not
	 * used.
	 */
	const struct bt_allocation_column *column;
	struct bt_dynamic_node last;
	uint32_t last_slot; /* slot of `last`; BT_SLOT_NONE: no node has passed Filter */
	uint32_t slot_count;
	struct bt_dynamic_node **nodes; /* by slot; NULL: no node has passed Filter */
	/* Used by PreBind. */
	bool is_patched;      /* the pod's status is patched (spec 12 section 15.3) */
	bool waits;           /* PreBind waits for binding conditions */
	int64_t wait_ends_ns; /* on the handle's clock */
	int64_t next_poll_ns;
	int64_t wait_started_ns; /* on the clock of the metrics */
};

/** Returns the cycle data; NULL if PreFilter has not run. */
static inline struct bt_dynamic_cycle *bt_dynamic_cycle_of(
	const struct bt_plugin *plugin, const struct bt_cycle_state *cycle)
{
	return cycle->pre_filter_data[plugin->index];
}

/**
 * Returns Filter's result for a node. Returns NULL if the node has not passed Filter. If `column`
 * is set, returns NULL also for all nodes except the last node that passed Filter.
 */
static inline const struct bt_dynamic_node *bt_dynamic_node_of(
	const struct bt_dynamic_cycle *data, uint32_t slot)
{
	if (data->column != NULL) {
		return data->last_slot == slot ? &data->last : NULL;
	}
	return data->nodes != NULL && slot < data->slot_count ? data->nodes[slot] : NULL;
}

/** Replace the claim's object. Takes over the caller's reference to object. */
void bt_dynamic_claim_set(
	struct bt_dynamic_claim *claim, struct bt_cycle_state *cycle, struct bt_object *object);
/**
 * Whether the claim must be allocated on this node: the claim has no allocation yet and, if it is
 * the special claim, the node needs the special claim.
 */
bool bt_dynamic_is_wanted(const struct bt_dynamic_claim *claim, const struct bt_dynamic_node *node);

/**
 * Keys (bt_dynamic_claim.uid) of the claims in flight that were allocated in this pod group's
 * cycle. Memory: the arena of the group's cycle.
 */
struct bt_dynamic_group {
	struct bt_str *items;
	uint32_t count;
	uint32_t capacity;
};

/**
 * Returns the group data of the cycle, created at the first call; NULL if the cycle is not part of
 * a pod group's cycle.
 */
struct bt_dynamic_group *bt_dynamic_group_of(
	const struct bt_plugin *plugin, struct bt_cycle_state *cycle);
void bt_dynamic_group_add(
	struct bt_dynamic_group *group, struct bt_str uid, struct bt_arena *arena);
/** Remove the key uid, if present. group may be NULL. */
void bt_dynamic_group_drop(struct bt_dynamic_group *group, struct bt_str uid);

/* Filter and Score. Spec: 12 sections 8 and 11. */
struct bt_status bt_dynamic_filter(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const struct bt_node_info *node);
struct bt_status bt_dynamic_score(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const struct bt_node_info *node, int64_t *out_score);
/** bt_dynamic_score for many nodes. data: the cycle data. scores[i] is the score of slots[i]. */
void bt_dynamic_score_slots(struct bt_plugin *plugin, const void *data,
	const struct bt_pod_info *pod, const struct bt_state *state, const uint32_t *slots,
	uint32_t count, int64_t *scores);
/* Cells (framework/plugin.h): Filter and Score by a column of the allocator. */
bool bt_dynamic_cell_traits(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, struct bt_trait_list *out);
bool bt_dynamic_filter_column(struct bt_plugin *plugin, const void *data,
	const struct bt_pod_info *pod, const struct bt_state *state, struct bt_slot_range range,
	uint32_t *detail);
/**
 * Get the allocation of claim `index`, which must be unallocated and wanted, on a node that has
 * passed Filter. share_ids: as in bt_allocation_choice_result.
 */
BT_MUST_USE int bt_dynamic_allocation(const struct bt_dynamic_cycle *data,
	const struct bt_dynamic_node *node, uint32_t index, struct bt_prng *share_ids,
	struct bt_arena *arena, struct bt_allocation_result *out_result, struct berth_error *err);
/** Limit callbacks for the allocator. context: struct bt_filter_limit. */
void bt_dynamic_filter_begin(void *context);
bool bt_dynamic_filter_is_over(void *context);

/** PostFilter. Spec 12 section 10. */
struct bt_status bt_dynamic_post_filter(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const struct bt_node_statuses *statuses,
	struct bt_post_filter_result *out_result);

/* Reserve and Unreserve. Spec: 12 section 12. */
struct bt_status bt_dynamic_reserve(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, uint32_t slot);
void bt_dynamic_unreserve(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, uint32_t slot);

/** PreBind. Spec: 12 section 13.1. */
struct bt_status bt_dynamic_pre_bind(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, uint32_t slot);

/*
 * --- dynamic_resources_wait.c: writes, with the semantics of struct bt_claim_writer. Without a
 * writer, a write succeeds at once. ---
 */

/** PUT the claim with an empty status, and wait for the answer. */
BT_MUST_USE int bt_dynamic_deallocate(const struct bt_dynamic_resources *instance,
	const struct bt_pod_info *pod, const struct bt_object *claim, struct berth_error *err);
/** PATCH the claim to remove a uid from reservedFor. Does not wait for the answer. */
void bt_dynamic_unreserve_claim(const struct bt_dynamic_resources *instance,
	const struct bt_pod_info *pod, const struct bt_resource_claim *claim, struct bt_str uid,
	struct bt_arena *arena);

/*
 * --- dynamic_resources_wait.c: device binding conditions, spec 12 sections 13 (steps 3 to 6) and
 * 13.2; only called if the gates for binding conditions are on ---
 */

/** Whether PreBind waits for binding conditions: condition BC of spec 12 section 2. */
bool bt_dynamic_binds_conditions(const struct bt_plugin *plugin);
/**
 * Set *out_ready to whether all devices of the claim are ready. Returns a negative code if a device
 * failed; err has the reason.
 */
BT_MUST_USE int bt_dynamic_is_ready(
	const struct bt_resource_claim *claim, bool *out_ready, struct berth_error *err);
/** Whether the binding timeout of a claim that is not ready has passed. */
bool bt_dynamic_is_timed_out(
	const struct bt_dynamic_resources *instance, const struct bt_resource_claim *claim);
/**
 * Wait until the devices of all claims are ready. Returns 0, a negative code, or BT_WRITE_PENDING.
 */
BT_MUST_USE int bt_dynamic_wait(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, uint32_t slot, struct berth_error *err);

/**
 * The special claim on one node: its requests, and the containers that use them (section 14.3).
 * Spec: 12 section 14.
 */
struct bt_extended_node_claim {
	/** The special claim with its requests. It has the name and uid of the in-memory claim. */
	struct bt_resource_claim claim;
	BT_LIST(struct bt_container_extended_resource_request) mappings;
};

/** Whether a device class provides a resource that pods of this shape request (section 14.1). */
bool bt_extended_is_wanted(
	const struct bt_dynamic_resources *instance, const struct bt_shape *shape);
/**
 * Create the data of the special claim, for PreFilter; NULL if the pod needs no special claim.
 * Memory: the arena.
 */
struct bt_extended_resources *bt_extended_begin(const struct bt_dynamic_resources *instance,
	const struct bt_pod_info *pod, struct bt_arena *arena);
/**
 * Returns the special claim, with a reference that the caller must release: the existing claim from
 * the claim cache, or a new one in memory with the name `<extended-resources>`.
 */
struct bt_object *bt_extended_claim(const struct bt_extended_resources *extended);
/** Whether the claim exists only in memory. */
bool bt_extended_is_in_memory(const struct bt_resource_claim *claim);
/**
 * Step of Filter (section 14.2): find the special claim for the node. has_user_claims: whether the
 * pod has claims of its own. Returns Success and sets *out_claim, or returns
 * UnschedulableAndUnresolvable. If device plugins of the node provide all resources, the pod needs
 * no devices on the node: *out_claim is then NULL or, with has_user_claims, a claim without
 * requests, with which PreBind fails (section 21, D10).
 */
struct bt_status bt_extended_for_node(struct bt_extended_resources *extended,
	const struct bt_pod_info *pod, const struct bt_node_info *node, bool has_user_claims,
	struct bt_arena *arena, const struct bt_extended_node_claim **out_claim);
/**
 * Step of PreBind (section 14.4): create the claim, and count the attempt in the metrics. Returns
 * 0, a negative code, or BT_WRITE_PENDING. *out_claim: a new reference. Without a writer, the claim
 * goes to the object store and nothing is counted.
 */
BT_MUST_USE int bt_extended_create(const struct bt_dynamic_resources *instance,
	const struct bt_pod_info *pod, const struct bt_extended_node_claim *node_claim,
	struct bt_object **out_claim, struct berth_error *err);
/**
 * Step of PreBind (section 14.5): patch the pod's status. Returns 0, a negative code, or
 * BT_WRITE_PENDING.
 */
BT_MUST_USE int bt_extended_patch_pod(const struct bt_dynamic_resources *instance,
	const struct bt_pod_info *pod, const struct bt_extended_node_claim *node_claim,
	struct bt_str claim_name, struct berth_error *err);
/**
 * Step of PostFilter and Unreserve (section 14.6): delete the claim. Waits for the end of the
 * deletion, retries included.
 */
BT_MUST_USE int bt_extended_delete(const struct bt_dynamic_resources *instance,
	const struct bt_pod_info *pod, struct bt_object *claim, struct bt_arena *arena,
	struct berth_error *err);

/* --- node allocatable resources: dynamic_resources_node_allocatable.c, spec 12 section 15; only
 * called with the gate DRANodeAllocatableResources --- */

/**
 * Section 15.1: returns UnschedulableAndUnresolvable if another pod on the node uses the allocated
 * claim.
 */
struct bt_status bt_node_allocatable_check_sharing(const struct bt_dynamic_resources *instance,
	const struct bt_pod_info *pod, const struct bt_resource_claim *claim,
	const struct bt_node_info *node, struct bt_arena *arena);
/** An allocation made in this cycle. */
struct bt_new_allocation {
	const struct bt_dynamic_claim *claim;
	const struct bt_allocation_result *allocation;
};
/**
 * Section 15.2: check in Filter that the node has the resources that the allocations need.
 * *out_demand: the needed resources. NULL: the allocations need no resources of the node.
 */
struct bt_status bt_node_allocatable_check(const struct bt_dynamic_resources *instance,
	const struct bt_pod_info *pod, const struct bt_node_info *node,
	const struct bt_new_allocation *allocations, uint32_t count, struct bt_arena *arena,
	const struct bt_node_allocatable **out_demand);
/** Section 15.3: add the statuses of the claims to the status of the assumed pod. */
void bt_dynamic_assume_status(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, uint32_t slot, struct bt_pod_status *status);
/**
 * Section 15.3 in PreBind: patch the pod's status. Returns 0, a negative code with the complete
 * text, or BT_WRITE_PENDING.
 */
BT_MUST_USE int bt_node_allocatable_patch(const struct bt_dynamic_resources *instance,
	const struct bt_pod_info *pod, const struct bt_node_allocatable *demand,
	struct berth_error *err);
/** Section 15.3 in Unreserve: remove the resources from the pod's status. */
void bt_node_allocatable_clear(const struct bt_dynamic_resources *instance,
	const struct bt_pod_info *pod, const struct bt_node_allocatable *demand);

#endif
