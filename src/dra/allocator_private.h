/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_DRA_ALLOCATOR_PRIVATE_H
#define BT_DRA_ALLOCATOR_PRIVATE_H
/**
 * What the files of the allocator share. allocator_prepare.c prepares a list of claims once: names
 * become classes and programs, what is wrong in itself is worded. allocator_search.c searches on a
 * node, allocator_take.c gives devices and takes them back, allocator_result.c words what was
 * found.
 */
#include "dra/allocator.h"
#include "dra/device_pools_private.h"

/** Devices of one claim. */
#define BT_CLAIM_DEVICES_MAX 32

/** A request without alternatives, or one alternative: what spec 12 section 9 calls q. */
struct bt_option {
	uint32_t claim;
	uint32_t request;   /* of the claim */
	struct bt_str base; /* name of the request */
	struct bt_str sub;  /* of the alternative; absent: there are none */
	const struct bt_device_class *device_class;
	const struct bt_device_selector *selectors; /* of the request */
	const struct bt_device_toleration *tolerations;
	uint32_t toleration_count;
	const struct bt_resource_list *capacity; /* requests; NULL: none */
	uint32_t *programs;                      /* of the class, then of the request */
	uint32_t class_program_count;
	uint32_t program_count;
	bool is_admin;
	bool wants_all;
	int64_t count;           /* ExactCount: num */
	struct bt_str problem;   /* first thing that is wrong with it; absent: nothing */
	const bool *constraints; /* by constraint of the claim: does it apply */
	bool leaves_traces; /* one that does is distinct: trying in vain changes what it knows */
	/** All, on the node under way: its devices begin here in bt_search_memory.all_devices. */
	uint32_t all_first;
};

struct bt_prepared_request {
	uint32_t first_option;
	uint32_t option_count;
	bool has_alternatives;
};

/** State of a constraint while a search is under way. */
struct bt_prepared_constraint {
	const struct bt_device_constraint *spec;
	bool is_match;
	/* match */
	uint32_t count;
	const struct bt_device_attribute *value;
	/* distinct: by request of the claim; NULL: nothing remembered */
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

/** A list of claims; in the allocator's arena. */
struct bt_prepared {
	const struct bt_resource_claim **claims;
	uint32_t count;
	struct bt_prepared_claim *items;
	struct bt_prepared_request *requests;
	struct bt_option *options;
	uint32_t option_count;
	uint64_t drop_count; /* of programs, when they were interned */
	bool has_constraints;
	bool needs_walk;  /* the validation pass has something to do on every node */
	bool is_ordinary; /* see bt_prepared_is_ordinary */
};

struct bt_allocator {
	struct bt_device_pools *pools;
	struct bt_allocator_options options;
	struct bt_arena *arena;
	struct bt_prepared *prepared; /* of the last list of claims; NULL: none yet */
};

struct bt_chosen_device {
	uint32_t row;
	const struct bt_option *option;
};

/** A solution: devices in the order in which they were allocated, by claim. */
struct bt_allocation_choice {
	const struct bt_prepared *prepared;
	uint32_t slot;
	uint32_t device_count;
	struct bt_chosen_device devices[];
};

/** A device being allocated. */
struct bt_taken_device {
	uint32_t row;
	uint32_t id;
	uint32_t flags;
	uint32_t consumption;
	const struct bt_option *option;
	const struct bt_pool_view *view;
	uint32_t own; /* shareable: index of its sums in bt_search_memory.own */
};

/** A place where the search can go on. */
struct bt_search_frame {
	uint32_t claim;
	uint32_t request;
	uint32_t option;   /* alternatives: the one under way */
	bool is_choice;    /* among alternatives */
	bool all_too_many; /* of the alternatives so far */
	bool has_taken;    /* its device is the last one taken */
	int64_t number;    /* of devices of the request before this one */
	uint32_t view;     /* where the next device is looked for */
	uint32_t device;
};

/** Capacity that this call has given to shares of a device. */
struct bt_own_capacity {
	uint32_t id;
	uint32_t share_count; /* 0: free */
	uint32_t first;       /* of amounts: one for each capacity */
	/** "capInUse": a share may consume nothing; what is given back down to nothing ends it. */
	bool is_consuming;
};

struct bt_all_device {
	const struct bt_pool_view *view;
	const struct bt_pool_device *device;
};

struct bt_search_memory {
	BT_VEC(struct bt_search_frame) frames;
	BT_VEC(struct bt_taken_device) taken;
	BT_VEC(uint32_t) taken_counts; /* by device id: dedicated, in this call */
	BT_VEC(uint32_t) claim_counts; /* by claim: devices taken */
	BT_VEC(struct bt_all_device) all_devices;
	BT_VEC(struct bt_own_capacity) own;
	BT_VEC(bt_int128) own_amounts;
};

/** A search on one node. */
struct bt_search {
	struct bt_allocator *allocator;
	struct bt_device_pools *pools;
	struct bt_search_memory *memory;
	const struct bt_prepared *prepared;
	const struct bt_node_pools *node;
	uint32_t slot;
	uint32_t steps;       /* since the search was asked whether it is over */
	bool has_backtracked; /* something was tried in vain */
	bool is_over;
	struct berth_error *err;
};

enum bt_search_result {
	BT_SEARCH_NO,
	BT_SEARCH_YES,
	BT_SEARCH_TOO_MANY,
	BT_SEARCH_ERROR, /* search->err, or search->is_over */
};

/* allocator_prepare.c */

/** What is known of these claims; the same list again costs a few comparisons. */
struct bt_prepared *bt_prepared_of(struct bt_allocator *allocator,
	const struct bt_resource_claim *const *claims, uint32_t count);
/** "r" or "r/s". */
struct bt_str bt_option_name(const struct bt_option *option, struct bt_arena *arena);
/** The requests of a constraint, or of a configuration, name this one (full: bt_option_name). */
bool bt_names_option(const bt_str_list *names, const struct bt_option *option, struct bt_str full);

/* allocator.c */

/** A call of the allocator: claims prepared, nothing taken. */
void bt_search_begin(struct bt_search *search, struct bt_allocator *allocator, uint32_t slot,
	const struct bt_resource_claim *const *claims, uint32_t count, struct berth_error *err);

/** One device for one claim, and nothing else is asked for. */
bool bt_prepared_is_ordinary(const struct bt_prepared *prepared);
enum bt_quick_answer {
	BT_QUICK_UNKNOWN, /* the search must tell */
	BT_QUICK_FOUND,
	BT_QUICK_NONE,
};

/* allocator_take.c */

/** Spec 12 section 9.5. */
enum bt_search_result bt_search_select(struct bt_search *search, const struct bt_option *option,
	const struct bt_pool_device *device);
/** Spec 12 section 9.7, against the snapshot and this call. */
bool bt_search_capacity_fits(const struct bt_search *search, const struct bt_option *option,
	const struct bt_pool_device *device);
/** Spec 12 section 9.4: the device is not to be looked at for this request. */
bool bt_search_is_busy(const struct bt_search *search, const struct bt_option *option,
	const struct bt_pool_device *device);
bool bt_search_is_tolerated(const struct bt_search *search, const struct bt_option *option,
	const struct bt_pool_device *device);
/** The match constraints that have a value would take the device. */
bool bt_search_may_match(const struct bt_search *search, const struct bt_option *option,
	const struct bt_pool_device *device);
/** Spec 12 section 9.6. YES, NO or, with must, ERROR. */
enum bt_search_result bt_search_take(struct bt_search *search, const struct bt_option *option,
	const struct bt_pool_view *view, const struct bt_pool_device *device, bool must);
/** The last one taken. */
void bt_search_give_back(struct bt_search *search);

/* allocator_search.c */

/** true once the owner has said so; asks it now and then. */
bool bt_search_is_over(struct bt_search *search);
enum bt_search_result bt_search_validate(struct bt_search *search);
enum bt_search_result bt_search_run(struct bt_search *search);
#endif
