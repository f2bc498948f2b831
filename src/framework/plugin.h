/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_FRAMEWORK_PLUGIN_H
#define BT_FRAMEWORK_PLUGIN_H
/**
 * The plugin contract. A plugin is a constant table of functions (struct bt_plugin_ops) and an
 * instance per profile. A plugin implements any subset of the extension points; the functions of
 * the other extension points are NULL. Spec: 02 section 4.
 *
 * Filter and Score get one pod and one node, which the plugin reads through node_info.h (the plain
 * form). A plugin may add a second table (struct bt_plugin_shortcuts) with column forms: functions
 * that compute the same results for many slots at once. If the results depend only on the pod's
 * shape and one node's row, the scheduling plan keeps them and updates them from the change log.
 * BERTH_VERIFY=1 compares both forms on every decision.
 *
 * All functions run on the scheduling thread, except column forms with columns_split. `pod` is
 * never NULL. Data that plugins put into the cycle is in cycle->arena.
 */
#include <stdbool.h>
#include <stdint.h>

#include "config/config.h"
#include "config/gates.h"
#include "framework/cycle_state.h"
#include "framework/status.h"
#include "state/change_log.h"
#include "state/node_info.h"
#include "state/pod_info.h"
#include "state/state.h"

#define BT_SCORE_MIN 0
#define BT_SCORE_MAX 100
#define BT_TOTAL_SCORE_MAX INT64_MAX

struct bt_framework; /* framework/framework.h */
struct bt_handle;
struct bt_pod_group;       /* api/types.h */
struct bt_pod_group_trial; /* framework/preemption.h */
struct bt_pod_lister;      /* framework/pod_lister.h */
struct bt_preemption_extender;
struct bt_preemption_writer;
struct bt_prng;
struct bt_waiting_pods; /* framework/waiting_pods.h */
struct bt_plugin_ops;

/** Base of every instance; first member of the plugin's instance structure. */
struct bt_plugin {
	const struct bt_plugin_ops *ops;
	uint16_t index; /* in framework->instances; set by the framework after create */
};

/** Instance of a plugin whose only state is the handle; first member of in-tree instances. */
struct bt_plain_plugin {
	struct bt_plugin base;
	const struct bt_handle *handle; /* borrowed for the life of the framework */
};

/** The write is in flight; a later call with the same arguments returns the result. */
#define BT_WRITE_PENDING 1

/** Where DefaultBinder sends bindings. The engine does no I/O itself. */
struct bt_binder {
	/**
	 * Binds the pod to the node. Returns 0, a negative code with err set to the API's error
	 * text, or BT_WRITE_PENDING: the write is in flight; repeat the call with the same
	 * arguments.
	 */
	int (*bind)(void *context, const struct bt_pod_info *pod, struct bt_str node_name,
		struct berth_error *err);
	void *context;
};

struct bt_persistent_volume;
struct bt_persistent_volume_claim;

/**
 * Functions that send the writes of VolumeBinding, and wait for the results. Spec 07 section 9.
 * Errors carry the API's text. *out_resource_version: resourceVersion in the API's answer, borrowed
 * until the next call. BT_WRITE_PENDING: the write is in flight; repeat the call with the same
 * arguments.
 */
struct bt_volume_writer {
	/**
	 * Writes the annotation pv.kubernetes.io/bound-by-controller and the claimRef of the
	 * volume, on condition that the resourceVersion in the API equals that of `volume`. Writes
	 * no claimRef if `volume` has none, which is the case if VolumeBinding is not enabled at
	 * Reserve. claim: the pod's claim.
	 */
	int (*bind_volume)(void *context, const struct bt_persistent_volume *volume,
		const struct bt_persistent_volume_claim *claim, struct bt_str *out_resource_version,
		struct berth_error *err);
	/**
	 * Writes the claim's annotation volume.kubernetes.io/selected-node, on condition that the
	 * resourceVersion in the API equals that of `claim`. node_name "": writes the claim without
	 * the annotation.
	 */
	int (*select_node)(void *context, const struct bt_persistent_volume_claim *claim,
		struct bt_str node_name, struct bt_str *out_resource_version,
		struct berth_error *err);
	/**
	 * Waits up to a second; meanwhile, the state gets the changes of the cluster. Returns 0, or
	 * a negative code if the binding must end; err then has the whole text of the failure
	 * ("binding volumes: context canceled"). If wait is NULL, PreBind returns Wait instead, and
	 * is called again.
	 */
	int (*wait)(void *context, const struct bt_pod_info *pod, struct berth_error *err);
	/** Whether the API still has the pod. NULL: VolumeBinding assumes that the pod exists. */
	bool (*pod_exists)(void *context, const struct bt_pod_info *pod);
	void *context;
};

struct bt_object;
struct bt_resource_claim;

/** The API refused a write because the object has changed (HTTP 409). */
#define BT_WRITE_CONFLICT 2

enum bt_claim_write {
	BT_CLAIM_WRITE_NEW,        /* POST; metadata has generateName and no name */
	BT_CLAIM_WRITE_FINALIZERS, /* PUT of the claim; only the finalizers change */
	BT_CLAIM_WRITE_STATUS,     /* PUT of the claim's status */
};

/**
 * Functions that send the writes of DynamicResources. Spec 12 sections 10 and 12 to 15. Each
 * function returns 0; a negative code or BT_WRITE_CONFLICT, with err set to the API's error text;
 * or BT_WRITE_PENDING: the write is in flight; repeat the call with equal arguments (a call with
 * other arguments discards the answer to the first call). *out_claim: the object in the API's
 * answer; the caller owns the reference.
 *
 * pod: the pod being scheduled. base: the API object from which claim was made; the write keeps the
 * fields in the JSON of base that our structures lack. must_end: the caller (PostFilter) cannot
 * repeat the call, so the function waits for the answer and never returns BT_WRITE_PENDING.
 */
struct bt_claim_writer {
	/** base NULL: only for BT_CLAIM_WRITE_NEW. */
	int (*write)(void *context, const struct bt_pod_info *pod, enum bt_claim_write what,
		const struct bt_object *base, const struct bt_resource_claim *claim, bool must_end,
		struct bt_object **out_claim, struct berth_error *err);
	int (*get)(void *context, const struct bt_pod_info *pod, struct bt_str namespace_,
		struct bt_str name, bool must_end, struct bt_object **out_claim,
		struct berth_error *err);
	/** DELETE of the claim with this uid. */
	int (*remove)(void *context, const struct bt_pod_info *pod,
		const struct bt_resource_claim *claim, bool must_end, struct berth_error *err);
	/**
	 * PATCH of the claim's status: removes this uid from reservedFor. Returns at once; the
	 * writer logs a failure.
	 */
	void (*unreserve)(void *context, const struct bt_pod_info *pod,
		const struct bt_resource_claim *claim, struct bt_str uid);
	/**
	 * PATCH of the pod's status: sends the differences between the two pods in
	 * extendedResourceClaimStatus and nodeAllocatableResourceClaimStatuses.
	 */
	int (*patch_pod_status)(void *context, const struct bt_pod_info *pod,
		const struct bt_pod_status *old_status, const struct bt_pod_status *new_status,
		bool must_end, struct berth_error *err);
	/**
	 * Set in replays: retries do not wait, because the clock does not advance during a step.
	 */
	bool retries_at_once;
	void *context;
};

/** Services for plugins outside of the tree; a NULL member is not available. */
struct bt_handle_services {
	void *context;
	/** Moves a pending pod to the active queue. */
	void (*activate)(void *context, struct bt_str namespace_, struct bt_str name);
	/** Records an event about a pod that is being scheduled. */
	void (*event)(void *context, const struct bt_pod_info *pod, const char *type,
		const char *reason, const char *action, struct bt_str note);
	/* Pointers that plugins get from the handle; the framework does not use these objects. */
	const void *client_set;
	const void *informer_factory;
	const void *volume_binder;
};

/**
 * The snapshot for plugins outside of the tree. In-tree plugins read the state, whose columns
 * include the pod of this cycle as soon as the pod is assumed; the snapshot does not include that
 * pod.
 */
struct bt_snapshot_view {
	const struct bt_state *state;
	const struct bt_pod_info *assumed; /* the pod to leave out; NULL: none */
	uint32_t assumed_slot;
};

/** Data and services for a plugin besides its arguments; valid for the life of the framework. */
struct bt_handle {
	struct bt_state *state;
	const struct bt_gates *gates;
	struct bt_framework *framework; /* for nested runners (preemption) */
	struct bt_str scheduler_name;
	const struct bt_binder *binder; /* NULL: every binding succeeds (simulation) */
	const struct bt_volume_writer
		*volume_writer; /* NULL: volumes count as bound once assumed (simulation) */
	/** NULL: the claim cache treats every write as done (simulation). */
	const struct bt_claim_writer *claim_writer;
	/** Newest versions of pods; NULL: the pods of the cycle and the state are the newest. */
	const struct bt_pod_lister *pods;
	/* Preemption. */
	const struct bt_preemption_writer *preemption_writer; /* NULL: preemption only decides */
	const struct bt_preemption_extender *preemption_extenders;
	uint32_t preemption_extender_count;
	struct bt_waiting_pods *waiting_pods; /* NULL: no pod waits on Permit */
	struct bt_prng *prng;                 /* NULL: the first of equal candidates wins */
	/**
	 * Node to choose among equally good preemption candidates, for replays of recorded runs.
	 * "": no node is preferred.
	 */
	struct bt_str preferred_node;
	/** If preferred_node is not among the best candidates, choose by name, not at random. */
	bool takes_first_by_name;
	int64_t now_ns; /* time of the owner's clock when the owner last called the engine */
	int64_t wall_offset_ns; /* now_ns plus this is the time of day */
	bool verify; /* BERTH_VERIFY=1: compare each column form's result with the plain form */
	/** KUBE_MAX_PD_VOLS, for the legacy volume counts (spec 05b B9); 0: not set. */
	int64_t max_pd_volumes;
	const struct bt_handle_services *services; /* NULL: none */
	/**
	 * Number of running calls (nested calls included) of plugins outside of the tree at points
	 * of the binding cycle. During these calls, the plugins must not read the snapshot.
	 */
	uint32_t binding_calls;
	struct bt_snapshot_view snapshot;
};

/** The nodes to which PreFilter narrows the search. Spec 02 section 2. */
struct bt_pre_filter_result {
	bool restricted;            /* false: all nodes; true: only the nodes in names */
	uint32_t count;             /* number of names; may be 0 */
	const struct bt_str *names; /* distinct; in the cycle's arena or the pod's memory */
};

enum bt_nominating_mode {
	BT_NOMINATING_NOOP,
	BT_NOMINATING_OVERRIDE,
};

struct bt_post_filter_result {
	bool present; /* false: upstream's nil result */
	enum bt_nominating_mode mode;
	struct bt_str nominated_node_name;
};

/** The status of one examined node. */
struct bt_node_status_entry {
	uint32_t slot;
	struct bt_status status;
};

/**
 * Statuses of a failed search over the whole list, stored by groups of nodes, so that nodes need
 * not be visited one by one. Borrowed from the cycle and its plan.
 */
struct bt_status_groups {
	uint32_t count;
	const struct bt_status *statuses; /* by group; never Success */
	const uint32_t *sizes;            /* number of nodes of each group; may be 0 */
	const uint16_t *group_of;         /* by place of the snapshot (state/places.h) */
	uint32_t start;                   /* list position where the search began */
};

/**
 * NodeToStatus: statuses of the examined nodes, and one status for all other nodes. Spec 02 section
 * 2.
 */
struct bt_node_statuses {
	BT_VEC(struct bt_node_status_entry) entries; /* in search order */
	struct bt_status absent;                     /* status of nodes without entry or group */
	/**
	 * If not NULL, the groups replace the entries. Read both forms through
	 * framework/node_statuses.h.
	 */
	const struct bt_status_groups *groups;
};

struct bt_pre_bind_pre_flight {
	bool allow_parallel;
};

/** A key and value of the pod's signature. Spec 02 section 6. */
struct bt_sign_fragment {
	struct bt_str key;
	struct bt_str value;
};

struct bt_sign_fragments {
	BT_VEC(struct bt_sign_fragment) items;
	struct bt_arena *arena;
};

/** A cluster event that a plugin registers. Spec 02 section 10; hints: spec 04. */
struct bt_cluster_event {
	struct bt_str resource;
	uint32_t action; /* bits of spec 02 section 10.1 */
};

/** The arguments of a queueing hint. */
struct bt_hint_call {
	struct bt_plugin *plugin;
	const struct bt_pod_info *pod;
	/* The decoded API object (struct bt_pod, bt_node, ...) before and after the event. */
	const void *old_object; /* NULL: added */
	const void *new_object; /* NULL: deleted */
	uint32_t registration;  /* index of the registration in the plugin's list */
	struct berth_error *err;
};

/**
 * QueueingHintFn: returns true for Queue and false for QueueSkip. On failure, the function sets
 * call->err, and the queue ignores the result and queues the pod.
 */
typedef bool (*bt_hint_function)(const struct bt_hint_call *call);

/**
 * The pod data that a hint reads in addition to the event's objects and the state; the largest
 * scope first. For an event about the pending pod itself (same uid), the queue ignores the scope
 * and runs the hint for that pod.
 */
enum bt_hint_scope {
	BT_HINT_SCOPE_POD,       /* all data of the pod */
	BT_HINT_SCOPE_LABELS,    /* shape, namespace and labels */
	BT_HINT_SCOPE_NAMESPACE, /* shape and namespace */
	BT_HINT_SCOPE_SHAPE,     /* the pod's shape */
};

struct bt_hint_wants;
struct bt_hint_offers;

/** Number of amounts in hint_needs and hint_limits. */
#define BT_HINT_NEEDS 2

struct bt_event_registration {
	struct bt_cluster_event event;
	bt_hint_function hint; /* NULL: the event always queues the pod */
};

struct bt_event_registrations {
	const struct bt_event_registration *items;
	uint32_t count;
};

#define BT_EVENTS(list) \
	{ \
		(list), BT_ARRAY_LENGTH(list) \
	}

/** A queue entry as passed to QueueSort. */
struct bt_queued_pod {
	const struct bt_pod_info *pod;
	int64_t timestamp_ns;
	int64_t initial_attempt_ns; /* first entry into the active queue; INT64_MIN = not yet */
	uint32_t attempts;
};

enum bt_normalize_kind {
	BT_NORMALIZE_NONE,            /* scores are final */
	BT_NORMALIZE_DEFAULT,         /* spec 05 section 3.8, reverse = false, max 100 */
	BT_NORMALIZE_DEFAULT_REVERSE, /* as BT_NORMALIZE_DEFAULT, with reverse = true */
	BT_NORMALIZE_CUSTOM,          /* ops->normalize_score */
};

/**
 * A property of nodes on which verdicts or scores depend. If traits of two cycles have equal
 * identities, a slot's value differs only if the slot had a change of a kind in `reads` between the
 * cycles.
 */
struct bt_node_trait {
	/**
	 * Equal for the same trait in another cycle. The first two words are the kind of the trait:
	 * traits that count pods of different selectors have the same kind.
	 */
	uint64_t identity[3];
	/**
	 * A count for each slot. On slots with count 0, all traits of the kind have the same value.
	 * NULL: there is no other trait of the kind.
	 */
	const struct bt_sparse_counts *counts;
	uint32_t reads;         /* bits of enum bt_change_kind: changes that may change a value */
	const uint32_t *values; /* by slot; NULL: call `value` */
	uint64_t (*value)(const void *context, uint32_t slot);
	/**
	 * Writes a number for each slot below slot_count. Slots with different values get different
	 * numbers; slots with equal values get equal numbers, unless there are very many values.
	 * NULL: call `value` for each slot.
	 */
	void (*column)(const void *context, uint32_t slot_count, uint32_t *values);
	const void *context; /* valid for the cycle */
};

/** Traits of one cycle; items is in the arena. */
struct bt_trait_list {
	struct bt_node_trait *items;
	uint32_t count;
	uint32_t capacity;
	struct bt_arena *arena;
};

/**
 * The slots of a column pass: the `count` slots from `first` on if slots is NULL, else the `count`
 * listed slots.
 */
struct bt_slot_range {
	const uint32_t *slots;
	uint32_t count;
	uint32_t first; /* 0 unless the plugin has columns_split */
};

/** The status of a node that Filter rejects for a fixed reason. */
struct bt_rejection {
	enum bt_status_code code;
	enum bt_reason reason;
};

/** Maximum number of rejections of a plugin. */
#define BT_REJECTIONS_MAX 3

struct bt_placement {
	struct bt_str name;
	const uint32_t *slots;
	uint32_t count;
};

/**
 * The optional second table of a plugin: column forms, which compute results for many nodes, pods
 * or events at once, and facts that let the engine call the plugin less often. The table never
 * changes a decision. A plugin without the table is called for one pod and one node at a time.
 */
struct bt_plugin_shortcuts {
	/* PreFilter and PreScore. */

	/**
	 * PreFilter and PreScore depend only on the pod's shape, the arguments and the state's
	 * symbols: the framework may run each once per shape and keep the data. Filter and Score
	 * must never change that data.
	 */
	bool pure;
	/**
	 * Whether the plugin is pure for this pod (for example, because the pod has no volumes).
	 * NULL: `pure` decides.
	 */
	bool (*is_pure_for)(struct bt_plugin *plugin, const struct bt_pod_info *pod);

	/* Queueing. */

	/**
	 * Whether PreEnqueue would now accept every pod of this shape; the queue can then move many
	 * pods without calling PreEnqueue for each. NULL: unknown.
	 */
	bool (*pre_enqueue_passes)(struct bt_plugin *plugin, const struct bt_shape *shape);
	/**
	 * Whether PreEnqueue would now reject, without an error, every pod with the shape and
	 * namespace of this pod. The queue then does not run PreEnqueue for every member of a large
	 * gang whenever a member is added. NULL: unknown.
	 */
	bool (*pre_enqueue_rejects)(struct bt_plugin *plugin, const struct bt_pod_info *pod);
	/**
	 * Whether PreEnqueue may start to accept a pod without any event. The periodic flush of
	 * unschedulable pods then runs PreEnqueue again for gated pods (spec 08 section 12).
	 */
	bool gate_opens_silently;
	/**
	 * Whether `less` orders pods by higher priority, then by earlier timestamp. The queue may
	 * then compare priorities and timestamps itself, without calling `less`.
	 */
	bool less_is_priority_then_time;
	/**
	 * The pod data that determines the result of every hint. Pods that agree in this data get
	 * the same result, so the queue runs a hint once for all of them.
	 */
	enum bt_hint_scope hint_scope;
	/**
	 * Returns the scope for one event and the pods of one shape. NULL: hint_scope holds for all
	 * events.
	 */
	enum bt_hint_scope (*hint_scope_of)(struct bt_plugin *plugin, const struct bt_shape *shape,
		const struct bt_cluster_event *event, const void *old_object,
		const void *new_object);
	/**
	 * hint_needs gives the amounts that a shape needs; hint_limits gives the largest needs that
	 * an event can satisfy. If a need exceeds its limit, every hint of the plugin returns Skip,
	 * so the queue does not run the hints. hint_limits returns false if the event has no
	 * limits. A plugin has both functions or neither. The queue does not use these functions
	 * for events about the pending pod itself.
	 */
	void (*hint_needs)(struct bt_plugin *plugin, const struct bt_shape *shape,
		int64_t out_needs[BT_HINT_NEEDS]);
	bool (*hint_limits)(struct bt_plugin *plugin, const struct bt_cluster_event *event,
		const void *old_object, const void *new_object, int64_t out_limits[BT_HINT_NEEDS]);
	/**
	 * hint_wants adds the marks (hint_marks.h) that a shape wants; hint_offers adds the marks
	 * that an event offers. If the event offers no mark that the shape wants, every hint of the
	 * plugin returns Skip, so the queue does not run the hints. hint_offers returns false if
	 * the event may help any shape. A plugin has both functions or neither. The queue does not
	 * use these functions for events about the pending pod itself.
	 */
	void (*hint_wants)(struct bt_plugin *plugin, const struct bt_shape *shape,
		struct bt_hint_wants *wants);
	bool (*hint_offers)(struct bt_plugin *plugin, const struct bt_cluster_event *event,
		const void *old_object, const void *new_object, struct bt_hint_offers *offers);
	/** Whether Sign refuses every pod: the engine then never calls Sign. NULL: false. */
	bool (*never_signs)(const struct bt_plugin *plugin);

	/* Column forms. */

	/**
	 * The column forms read the cycle's data instead of the plan's data, and run in every
	 * cycle. This flag is for plugins whose results depend on pods of other nodes, which the
	 * plugins count. Score then uses score_slots.
	 */
	bool columns_per_cycle;
	/**
	 * With columns_per_cycle: the plugin's data refers to no counters and is valid for the
	 * whole cycle.
	 */
	bool keeps_cycle_data;
	/**
	 * Column forms may run for several ranges of slots at once, on any threads, while the state
	 * does not change: each call writes only the entries of its range, and stores nothing in
	 * the state or the plugin's data.
	 */
	bool columns_split;

	/**
	 * Called on the scheduling thread before column passes over all slots: updates the data
	 * that the plugin keeps for every slot. Not called before passes over a list of slots. May
	 * be NULL.
	 */
	void (*prepare_columns)(struct bt_plugin *plugin, const struct bt_state *state);

	/* Column form of Filter; needs `pure` or `columns_per_cycle`. */

	/**
	 * Returns false if the detail of filter_column would need too many bits for this pod, so
	 * that the column form cannot be used. NULL: always true.
	 */
	bool (*filter_fits_column)(
		struct bt_plugin *plugin, const void *data, const struct bt_pod_info *pod);
	/** Kinds of node change (enum bt_change_kind) after which a slot's verdict may differ. */
	uint32_t filter_reads;
	/**
	 * Sets detail[slot] for every slot in range: 0 if the node passes, else a number of at most
	 * 24 bits, from which bt_plugin_detail_status makes the status that `filter` would return.
	 * data is the plugin's pre-filter data (NULL if the plugin has no PreFilter). Returns true
	 * after writing detail. If no slot of the range is rejected, filter_column may return false
	 * instead, without writing detail.
	 */
	bool (*filter_column)(struct bt_plugin *plugin, const void *data,
		const struct bt_pod_info *pod, const struct bt_state *state,
		struct bt_slot_range range, uint32_t *detail);
	/**
	 * With columns_per_cycle: filter_column may be called only for the representatives of
	 * cells, after cell_traits returned true in this cycle. Otherwise Filter runs node by node.
	 */
	bool filter_needs_cells;
	/** Without filter_detail_status, detail n stands for rejections[n - 1]. */
	struct bt_rejection rejections[BT_REJECTIONS_MAX];
	/** Returns the status for a detail, in the arena. NULL: see rejections. */
	struct bt_status (*filter_detail_status)(struct bt_plugin *plugin, const void *data,
		const struct bt_pod_info *pod, uint32_t detail, struct bt_arena *arena);

	/* Column form of Score; needs `pure`. Scores must be in [0, 2^31). */

	/**
	 * Returns data for the column form of a plugin without PreScore, made once per shape in the
	 * arena. NULL: the column form gets the pre-score data.
	 */
	const void *(*score_column_data)(
		struct bt_plugin *plugin, const struct bt_pod_info *pod, struct bt_arena *arena);
	/** Kinds of node change (enum bt_change_kind) after which a slot's raw score may differ. */
	uint32_t score_reads;
	/**
	 * Whether a node's raw score may change if only the number of the snapshot's nodes changes
	 * from count to other_count. NULL: never.
	 */
	bool (*score_reads_node_count)(struct bt_plugin *plugin, const void *data,
		const struct bt_pod_info *pod, const struct bt_state *state, uint32_t count,
		uint32_t other_count);
	/**
	 * Returns false if this pod's scores may be negative or too large for the column form; the
	 * plain form is used then. NULL: always true.
	 */
	bool (*score_fits_column)(
		struct bt_plugin *plugin, const void *data, const struct bt_pod_info *pod);
	/**
	 * Returns true if all nodes have the raw score *out_score, whatever their rows, until the
	 * pod's shape is released. May be NULL.
	 */
	bool (*score_is_constant)(struct bt_plugin *plugin, const void *data,
		const struct bt_pod_info *pod, const struct bt_state *state, int32_t *out_score);
	/**
	 * Writes the raw score of every slot in range; scores is indexed by slot. Returns false if
	 * all scores are 0; scores need not be written then.
	 */
	bool (*score_column)(struct bt_plugin *plugin, const void *data,
		const struct bt_pod_info *pod, const struct bt_state *state,
		struct bt_slot_range range, int32_t *scores);

	/**
	 * Whether PreScore would return Skip in this cycle for any set of feasible nodes: the
	 * engine can then decide from the plan's columns. Must be cheap. Called after PreFilter.
	 * NULL: unknown.
	 */
	bool (*pre_score_skips)(struct bt_plugin *plugin, const struct bt_cycle_state *cycle,
		const struct bt_pod_info *pod);

	/*
	 * Column form of Score for plugins with `columns_per_cycle`. The `data` of score_slots is
	 * the cycle's pre-score data, or the pre-filter data if the plugin has no PreScore. The
	 * `data` of score_fits_column is NULL.
	 */

	/** Writes raw scores of the feasible nodes; scores is indexed by position in slots. */
	void (*score_slots)(struct bt_plugin *plugin, const void *data,
		const struct bt_pod_info *pod, const struct bt_state *state, const uint32_t *slots,
		uint32_t count, int64_t *scores);
	/* Cells (sched/cells.h), with `columns_per_cycle`. */

	/**
	 * Adds the traits by which Filter, Score and NormalizeScore of this plugin distinguish
	 * nodes in this cycle: two nodes of the snapshot with equal traits get the same verdict and
	 * the same score. The engine then calls filter_column, score_slots and normalize_score for
	 * one node of each cell. Called once, after PreFilter succeeded and before PreScore; may
	 * store data in the cycle for pre_score_cells. Returns false if this pod cannot use cells.
	 * NULL: no pod can use cells.
	 */
	bool (*cell_traits)(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
		const struct bt_pod_info *pod, struct bt_trait_list *out);
	/**
	 * PreScore by cells: gives the result that pre_score gives for all nodes of the cells.
	 * slots: one node of each feasible cell; counts: number of nodes of each cell. NULL:
	 * pre_score does not read its slots, and is called with one slot per cell.
	 */
	struct bt_status (*pre_score_cells)(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
		const struct bt_pod_info *pod, const uint32_t *slots, const uint32_t *counts,
		uint32_t cell_count);

	/* Pod groups: the engine need not try each of the equal pods of a group. */

	/**
	 * For each slot of the range, lowers room[slot] to the number of pods of this shape that
	 * Filter accepts on the node one after the other, if nothing else changes on the node. The
	 * caller handles slots that filter_column rejects. If filter_room is NULL, the number is
	 * unlimited if filter_reads has no kind of change that pods cause, else unknown.
	 */
	void (*filter_room)(struct bt_plugin *plugin, const void *data,
		const struct bt_pod_info *pod, const struct bt_state *state,
		struct bt_slot_range range, uint32_t *room);
	/**
	 * Whether PostFilter would now reject the pod and change nothing, whatever the statuses of
	 * the nodes. NULL: unknown.
	 */
	bool (*post_filter_changes_nothing)(
		struct bt_plugin *plugin, const struct bt_pod_info *pod);
	/**
	 * Returns true if Permit rejects no member in the cycle of the pod's group: Permit returns
	 * Wait until *out_count further members are assumed, then Success. Returns false if this is
	 * unknown.
	 */
	bool (*permit_quorum)(
		struct bt_plugin *plugin, const struct bt_pod_info *pod, uint32_t *out_count);
	/** The result of score_placement does not depend on the pods' nodes in the placement. */
	bool placement_score_ignores_nodes;
};

/** The plugin: extension points under their Kubernetes names. */
struct bt_plugin_ops {
	const char *name; /* unique in a registry */

	/** Size of the instance, which begins with a struct bt_plain_plugin; 0: it is only this. */
	size_t size;
	/**
	 * Kind of the arguments; BT_ARGS_NONE: any kind. For arguments of another kind the error is
	 * `<args_error> <kind name>Args, got <type>` (spec 10 section 7.5), or, if args_error is
	 * NULL, `got args of type <type>, want *<kind name>Args`.
	 */
	enum bt_plugin_args_kind args_kind;
	const char *args_error;
	/**
	 * Initialises a zeroed instance; may be NULL. args: decoded, defaulted (config.h) and
	 * validated, kind BT_ARGS_NONE if there are none; borrowed for the life of the framework.
	 * Returns 0, or a negative code with err set, which is reported as `initializing plugin
	 * "<name>": <err>`; the instance is then destroyed.
	 */
	int (*init)(struct bt_plugin *plugin, const struct bt_plugin_args *args,
		struct berth_error *err);
	/**
	 * Creates the instance in place of the members above; may be NULL. create may set
	 * (*out_plugin)->ops to another table with the same name, which then has the functions of
	 * the plugin; if create leaves the pointer NULL, the plugin uses `ops`.
	 */
	int (*create)(const struct bt_plugin_ops *ops, const struct bt_plugin_args *args,
		const struct bt_handle *handle, struct bt_plugin **out_plugin,
		struct berth_error *err);
	const void *context;                       /* read by the plugin's functions */
	void (*destroy)(struct bt_plugin *plugin); /* NULL: frees the instance */
	/** The plugin's second table; NULL: the plugin has no second table. */
	const struct bt_plugin_shortcuts *shortcuts;

	/* Queueing */

	/** Returns Success, a rejection or Error. A rejection or an Error gates the pod. */
	struct bt_status (*pre_enqueue)(
		struct bt_plugin *plugin, const struct bt_pod_info *pod, struct bt_arena *arena);
	bool (*less)(struct bt_plugin *plugin, const struct bt_queued_pod *a,
		const struct bt_queued_pod *b);
	/**
	 * The events that every instance registers, if events_to_register is NULL. If items is
	 * NULL, too, the plugin gets the default events.
	 */
	struct bt_event_registrations events;
	/**
	 * Returns the events that this instance registers. *out_events is borrowed from the plugin.
	 */
	int (*events_to_register)(struct bt_plugin *plugin,
		const struct bt_event_registration **out_events, uint32_t *out_count,
		struct berth_error *err);
	/** Returns Success (fragments added), Unschedulable (not signable) or Error. */
	struct bt_status (*sign)(struct bt_plugin *plugin, const struct bt_pod_info *pod,
		struct bt_sign_fragments *out);

	/*
	 * Scheduling cycle. pre_filter returns Success, Skip, Unschedulable,
	 * UnschedulableAndUnresolvable or Error.
	 */
	struct bt_status (*pre_filter)(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
		const struct bt_pod_info *pod, struct bt_pre_filter_result *out_result);
	/**
	 * AddPod (step 1) and RemovePod (step -1): a what-if run adds the other pod to the node, or
	 * removes the other pod.
	 */
	struct bt_status (*pre_filter_change_pod)(struct bt_plugin *plugin,
		struct bt_cycle_state *cycle, const struct bt_pod_info *pod_to_schedule,
		const struct bt_pod_info *other, const struct bt_node_info *node, int64_t step);
	/**
	 * Copies the plugin's pre-filter data, so that pre_filter_change_pod can change the copy.
	 * NULL: pre_filter_change_pod never changes the data.
	 */
	void *(*clone_pre_filter_data)(const void *data, struct bt_arena *arena);
	/** Returns Success, a rejection or Error. Reads only the node passed in. */
	struct bt_status (*filter)(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
		const struct bt_pod_info *pod, const struct bt_node_info *node);
	/** Returns Success (the pod may become schedulable), a rejection or Error. */
	struct bt_status (*post_filter)(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
		const struct bt_pod_info *pod, const struct bt_node_statuses *statuses,
		struct bt_post_filter_result *out_result);
	/** slots: the feasible nodes. Returns Success or Skip; any other code is an error. */
	struct bt_status (*pre_score)(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
		const struct bt_pod_info *pod, const uint32_t *slots, uint32_t slot_count);
	/** Sets *out_score, the raw score. Returns Success; any other code is an error. */
	struct bt_status (*score)(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
		const struct bt_pod_info *pod, const struct bt_node_info *node, int64_t *out_score);
	enum bt_normalize_kind normalize;
	/**
	 * Rewrites the scores in place; scores[i] is the score of slots[i]. Only for
	 * BT_NORMALIZE_CUSTOM. If the plugin has score_slots, the function must not fail, and slots
	 * may have one node of each cell.
	 */
	struct bt_status (*normalize_score)(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
		const struct bt_pod_info *pod, const uint32_t *slots, int64_t *scores,
		uint32_t count);

	/* Called after a node is chosen; slot is the slot of the chosen node. */

	/**
	 * Sets in *status the fields of the assumed pod's status; memory is in the cycle's arena.
	 * Spec 03 section 4. Called only with gate DRANodeAllocatableResources.
	 */
	void (*assume_status)(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
		const struct bt_pod_info *pod, uint32_t slot, struct bt_pod_status *status);
	struct bt_status (*reserve)(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
		const struct bt_pod_info *pod, uint32_t slot);
	/** May be called several times, and may be called although reserve did not run. */
	void (*unreserve)(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
		const struct bt_pod_info *pod, uint32_t slot);
	/** Returns Success, Wait (at most *out_timeout_ns), a rejection or Error. */
	struct bt_status (*permit)(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
		const struct bt_pod_info *pod, uint32_t slot, int64_t *out_timeout_ns);

	/*
	 * Binding cycle. Functions must not block: pre_bind and bind return Wait instead, and are
	 * called again with the same arguments when an answer has arrived or at cycle->wake_ns (on
	 * the clock of handle->now_ns; the functions may lower wake_ns). The engine may stop
	 * calling at any time: unreserve is called then.
	 */
	struct bt_status (*pre_bind_pre_flight)(struct bt_plugin *plugin,
		struct bt_cycle_state *cycle, const struct bt_pod_info *pod, uint32_t slot,
		struct bt_pre_bind_pre_flight *out_result);
	struct bt_status (*pre_bind)(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
		const struct bt_pod_info *pod, uint32_t slot);
	struct bt_status (*bind)(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
		const struct bt_pod_info *pod, uint32_t slot);
	void (*post_bind)(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
		const struct bt_pod_info *pod, uint32_t slot);

	/* Pod groups. The functions return Success; any other code is a failure. */
	struct bt_status (*generate_placements)(struct bt_plugin *plugin, struct bt_arena *arena,
		struct bt_str group_namespace, struct bt_str group_name,
		const struct bt_placement *parent, const struct bt_placement **out_placements,
		uint32_t *out_count);
	struct bt_status (*score_placement)(struct bt_plugin *plugin, struct bt_arena *arena,
		const struct bt_placement *placement, const struct bt_pod_info *const *pods,
		uint32_t pod_count, int64_t *out_score);
	struct bt_status (*normalize_placement_scores)(
		struct bt_plugin *plugin, struct bt_arena *arena, int64_t *scores, uint32_t count);
	/**
	 * PodGroupPostFilter, spec 08 section 14. group: the PodGroup of the pods. trial: functions
	 * that try the removal of victims.
	 */
	struct bt_status (*pod_group_post_filter)(struct bt_plugin *plugin, struct bt_arena *arena,
		const struct bt_pod_group *group, const struct bt_pod_info *const *pods,
		uint32_t pod_count, const struct bt_pod_group_trial *trial);
};

/** Creates an instance. Errors: as for ops->init. */
BT_MUST_USE int bt_plugin_create(const struct bt_plugin_ops *ops, const struct bt_plugin_args *args,
	const struct bt_handle *handle, struct bt_plugin **out_plugin, struct berth_error *err);
void bt_plugin_destroy(struct bt_plugin *plugin);

/** Returns the plugin's second table, or a table of zeros if the plugin has no second table. */
static inline const struct bt_plugin_shortcuts *bt_shortcuts(const struct bt_plugin *plugin)
{
	static const struct bt_plugin_shortcuts none = {0};

	return plugin->ops->shortcuts != NULL ? plugin->ops->shortcuts : &none;
}

/** Returns the status of rejections[detail - 1]. */
static inline struct bt_status bt_plugin_rejection(const struct bt_plugin *plugin, uint32_t detail)
{
	const struct bt_rejection *rejection = &bt_shortcuts(plugin)->rejections[detail - 1];

	return bt_status_reason(rejection->code, rejection->reason);
}

/** Returns the status that a detail of filter_column stands for. data: as for filter_column. */
static inline struct bt_status bt_plugin_detail_status(struct bt_plugin *plugin, const void *data,
	const struct bt_pod_info *pod, uint32_t detail, struct bt_arena *arena)
{
	const struct bt_plugin_shortcuts *shortcuts = bt_shortcuts(plugin);

	return shortcuts->filter_detail_status != NULL
		? shortcuts->filter_detail_status(plugin, data, pod, detail, arena)
		: bt_plugin_rejection(plugin, detail);
}

/**
 * EventsToRegister: gets the events from ops->events_to_register, or ops->events if that function
 * is NULL. *out_events is borrowed from the plugin; NULL: the plugin gets the default events.
 */
BT_MUST_USE int bt_plugin_events_to_register(struct bt_plugin *plugin,
	const struct bt_event_registration **out_events, uint32_t *out_count,
	struct berth_error *err);
#endif
