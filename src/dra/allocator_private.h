/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_DRA_ALLOCATOR_PRIVATE_H
#define BT_DRA_ALLOCATOR_PRIVATE_H
/**
 * Shared by the files of the allocator. allocator_prepare.c prepares a list of claims once: it
 * resolves names to classes and programs, and formats errors that do not depend on the node.
 * allocator_search.c searches on a node, allocator_take.c takes devices and gives them back, and
 * allocator_result.c builds status.allocation.
 */
#include "dra/allocator.h"
#include "dra/device_pools_private.h"

#define BT_CLAIM_DEVICES_MAX 32

/**
 * A request without alternatives, or an alternative (subrequest) of a request. Spec 12 section 9
 * calls it q.
 */
struct bt_option {
	uint32_t claim;
	uint32_t request;   /* index in the claim */
	struct bt_str base; /* name of the request */
	struct bt_str sub;  /* name of the subrequest; absent: no alternatives */
	const struct bt_device_class *device_class;
	const struct bt_device_selector *selectors; /* selectors of the request */
	const struct bt_device_toleration *tolerations;
	uint32_t toleration_count;
	const struct bt_resource_list *capacity; /* capacity requests; NULL: none */
	uint32_t *programs;                      /* programs of the class, then of the request */
	uint32_t class_program_count;
	uint32_t program_count;
	bool is_admin;
	bool needs_all;
	int64_t count;           /* ExactCount: the requested count; All: set on each node */
	struct bt_str problem;   /* first error of the request; absent: none */
	const bool *constraints; /* by constraint of the claim: whether it applies; NULL: none */
	/** A distinctAttribute constraint applies; its state changes even if a try fails. */
	bool has_distinct;
	/**
	 * If needs_all: index in bt_search_memory.all_devices of the option's first device on the
	 * current node.
	 */
	uint32_t all_first;
};

struct bt_prepared_request {
	uint32_t first_option;
	uint32_t option_count;
	bool has_alternatives;
};

/** State of a constraint during a search. */
struct bt_prepared_constraint {
	const struct bt_device_constraint *spec;
	bool is_match;
	/* matchAttribute: number of taken devices, and their common value */
	uint32_t count;
	const struct bt_device_attribute *value;
	/* distinctAttribute: value by index of the claim's requests; NULL: no value yet */
	const struct bt_device_attribute **seen;
	uint32_t seen_count;
};

struct bt_prepared_claim {
	const struct bt_resource_claim *claim;
	struct bt_str key; /* "namespace/name" */
	uint32_t first_request;
	uint32_t request_count;
	struct bt_prepared_constraint *constraints;
	uint32_t constraint_count;
	struct bt_str constraint_problem; /* absent: none */
};

/** A prepared list of claims, in the allocator's arena. */
struct bt_prepared {
	const struct bt_resource_claim **claims;
	uint32_t count;
	struct bt_prepared_claim *items;
	struct bt_prepared_request *requests;
	struct bt_option *options;
	uint32_t option_count;
	uint64_t drop_count; /* bt_device_pools.drop_count when the programs were interned */
	bool has_constraints;
	bool needs_check; /* the validation pass must run on every node */
};

struct bt_allocator {
	struct bt_device_pools *pools;
	struct bt_allocator_options options;
	struct bt_arena *arena;
	struct bt_prepared *prepared; /* the last list of claims; NULL: none yet */
};

struct bt_chosen_device {
	uint32_t row;
	const struct bt_option *option;
};

/** A solution: the devices of all claims, in the order in which they were taken. */
struct bt_allocation_choice {
	const struct bt_prepared *prepared;
	uint32_t slot;
	uint32_t device_count;
	struct bt_chosen_device devices[];
};

struct bt_taken_device {
	uint32_t row;
	uint32_t id;
	uint32_t flags;
	uint32_t consumption;
	const struct bt_option *option;
	const struct bt_pool_view *view;
	uint32_t own; /* shareable: index in bt_search_memory.own */
};

/** A position that the search can backtrack to. */
struct bt_search_frame {
	uint32_t claim;
	uint32_t request;
	uint32_t option;   /* index of the option; backtracking moves on to the next alternative */
	bool is_choice;    /* the request has alternatives */
	bool all_too_many; /* all alternatives tried so far gave TOO_MANY */
	bool has_taken;    /* the last taken device belongs to this frame */
	int64_t number;    /* number of devices that earlier frames took for the request */
	uint32_t view;     /* view and device: where to look for the next device */
	uint32_t device;
};

/** Capacity that shares of a device have consumed in this call of the allocator. */
struct bt_own_capacity {
	uint32_t id;
	uint32_t share_count; /* 0: free */
	uint32_t first;       /* index of the first capacity's amount in own_amounts */
	/**
	 * "capInUse" of spec 12. Taking a share of a device with capacities sets the flag, even if
	 * the share consumes an amount of 0. Giving back a share clears the flag if all amounts are
	 * then 0.
	 */
	bool is_consuming;
};

struct bt_all_device {
	const struct bt_pool_view *view;
	const struct bt_pool_device *device;
};

struct bt_search_memory {
	BT_VEC(struct bt_search_frame) frames;
	BT_VEC(struct bt_taken_device) taken;
	/** By device id: how often this call of the allocator took the whole device. */
	BT_VEC(uint32_t) taken_counts;
	BT_VEC(uint32_t) claim_counts; /* by claim: number of devices taken */
	BT_VEC(struct bt_all_device) all_devices;
	BT_VEC(struct bt_own_capacity) own;
	BT_VEC(bt_int128) own_amounts;
};

struct bt_search {
	struct bt_allocator *allocator;
	struct bt_device_pools *pools;
	struct bt_search_memory *memory;
	const struct bt_prepared *prepared;
	const struct bt_node_pools *node;
	uint32_t slot;
	uint32_t steps;       /* steps since the last poll of is_over */
	bool has_backtracked; /* a branch of the search has failed */
	bool is_over;
	struct berth_error *err;
};

enum bt_search_result {
	BT_SEARCH_NO,
	BT_SEARCH_YES,
	BT_SEARCH_TOO_MANY,
	BT_SEARCH_ERROR, /* see search->err or search->is_over */
};

/* allocator_prepare.c */

/**
 * Returns the prepared form of these claims. The last result is cached, so asking for the same list
 * again costs only a few comparisons.
 */
struct bt_prepared *bt_prepared_of(struct bt_allocator *allocator,
	const struct bt_resource_claim *const *claims, uint32_t count);
/** Returns the name of the option, "request" or "request/subrequest", in the arena. */
struct bt_str bt_option_name(const struct bt_option *option, struct bt_arena *arena);
/**
 * Whether the `requests` list of a constraint or configuration names the option. full: the result
 * of bt_option_name.
 */
bool bt_names_option(const bt_str_list *names, const struct bt_option *option, struct bt_str full);

/* allocator.c */

/**
 * Start a call of the allocator: prepare the claims and get the pools of the node. No device is
 * taken yet.
 */
void bt_search_begin(struct bt_search *search, struct bt_allocator *allocator, uint32_t slot,
	const struct bt_resource_claim *const *claims, uint32_t count, struct berth_error *err);

/* allocator_take.c */

/**
 * Evaluate the selectors of the option and the device's own node selection: spec 12 section 9.5.
 * Returns YES, NO or ERROR.
 */
enum bt_search_result bt_search_select(struct bt_search *search, const struct bt_option *option,
	const struct bt_pool_device *device);
/**
 * Whether the free capacity of the device is enough for the option. Capacity that is consumed by
 * allocated shares, or by shares taken in this call of the allocator, is not free. Spec 12 section
 * 9.7.
 */
bool bt_search_capacity_fits(const struct bt_search *search, const struct bt_option *option,
	const struct bt_pool_device *device);
/** Whether the request must skip the device because it is in use. Spec 12 section 9.4. */
bool bt_search_is_busy(const struct bt_search *search, const struct bt_option *option,
	const struct bt_pool_device *device);
bool bt_search_is_tolerated(const struct bt_search *search, const struct bt_option *option,
	const struct bt_pool_device *device);
/**
 * Whether every match constraint that applies to the request accepts the device, given the value
 * that the devices taken so far have. A constraint does not accept a device without the attribute.
 */
bool bt_search_may_match(const struct bt_search *search, const struct bt_option *option,
	const struct bt_pool_device *device);
/**
 * Take a device: spec 12 section 9.6. Returns YES, or NO if the device cannot be taken. With
 * `must`, returns ERROR if a constraint rejects the device.
 */
enum bt_search_result bt_search_take(struct bt_search *search, const struct bt_option *option,
	const struct bt_pool_view *view, const struct bt_pool_device *device, bool must);
/** Give back the device that was taken last. */
void bt_search_release_device(struct bt_search *search);

/* allocator_search.c */

/** The validation pass (spec 12 section 9.3): YES or ERROR. */
enum bt_search_result bt_search_validate(struct bt_search *search);
/** The search. YES: memory->taken has the devices; otherwise NO, TOO_MANY or ERROR. */
enum bt_search_result bt_search_run(struct bt_search *search);

/* allocation_columns.c; tests count its memory */

/** Number of hashes of recently requested claims. */
#define RECENT_MAX 256U
/** Maximum number of groups of nodes with the same pools; a power of two. */
#define GROUPS_MAX 64U

struct column {
	struct bt_allocation_column base;
	/* The claims to allocate. */
	uint64_t hash;
	struct bt_arena arena; /* memory of claims */
	struct bt_device_claim *claims;
	uint32_t claim_count;
	BT_VEC(struct bt_object *) classes; /* by option; references held; NULL: no class */
	/* The outcomes. */
	uint32_t *values;
	uint32_t slot_count;                       /* length of values and groups */
	BT_VEC(struct bt_node_allocation) answers; /* the first one is FOUND with score 0 */
	uint64_t log_sequence;
	uint64_t shared_version;    /* bt_device_pools.shared_version at the last refresh */
	uint64_t allocated_version; /* bt_allocated_devices.version at the last refresh */
	uint64_t last_used;
	/*
	 * Groups of nodes with the same pools. Valid only if every node is in a group (is_grouped).
	 */
	bool is_grouped;
	uint64_t pool_sequence;        /* bt_device_pools.sequence when the groups were made */
	uint32_t *groups;              /* by slot: index in first_of */
	uint32_t first_of[GROUPS_MAX]; /* a slot of each group; BT_SLOT_NONE: unused group */
};

struct bt_allocation_columns {
	BT_VEC(struct column *) items;
	/*
	 * Hashes of recent requests without a column. A new hash replaces the oldest one, not one
	 * with equal bits, because the bits depend on the secret of the process.
	 */
	uint64_t recent[RECENT_MAX];
	uint32_t recent_next; /* modulo RECENT_MAX: index of the oldest hash */
	uint64_t serial;
	uint64_t tick;
};
#endif
