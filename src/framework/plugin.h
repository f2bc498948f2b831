/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_FRAMEWORK_PLUGIN_H
#define BT_FRAMEWORK_PLUGIN_H
/**
 * The plugin contract. A plugin is a constant table of functions (struct bt_plugin_ops) plus an
 * instance per profile; it implements any subset of the extension points (a NULL slot = the role is
 * not implemented). Spec: 02 section 4.
 *
 * That is all a plugin needs: one pod, one node, through node_info.h. A plugin whose verdict or
 * score is a pure function of the pod's shape and one node's row may add a second table (struct
 * bt_plugin_shortcuts) with column forms: the same answer over many slots at once, kept by the
 * scheduling plan and repaired from the change log. BERTH_VERIFY=1 compares the two on every
 * decision.
 *
 * All functions run on the scheduling thread. `pod` is never NULL. Data placed in the cycle lives
 * in cycle->arena.
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

struct bt_binding_pods;    /* framework/waiting_pods.h */
struct bt_framework;       /* framework/framework.h */
struct bt_pod_group;       /* api/types.h */
struct bt_pod_group_trial; /* framework/preemption.h */
struct bt_pod_lister;      /* framework/pod_lister.h */
struct bt_preemption_extender;
struct bt_preemption_writer;
struct bt_prng;
struct bt_waiting_pods; /* framework/waiting_pods.h */
struct bt_plugin_ops;

/** Base of every instance; first member of the plugin's own structure. */
struct bt_plugin {
	const struct bt_plugin_ops *ops;
	uint16_t index; /* in the framework's instance list; set by the framework after create */
};

/** The write is under way; the same call made again later tells how it ended. */
#define BT_WRITE_PENDING 1

/** Where DefaultBinder sends a binding. The engine does no I/O itself. */
struct bt_binder {
	/**
	 * Bind the pod to the node. Returns 0, a negative code with err set to the API's error
	 * text, or BT_WRITE_PENDING: no answer yet, ask again with the same arguments.
	 */
	int (*bind)(void *context, const struct bt_pod_info *pod, struct bt_str node_name,
		struct berth_error *err);
	void *context;
};

struct bt_persistent_volume;
struct bt_persistent_volume_claim;

/**
 * Where VolumeBinding sends its writes, and how it waits for their effect. Spec 07 section 9.
 * Errors carry the API's text. *out_resource_version: the version the API answered with, borrowed
 * until the next call. BT_WRITE_PENDING: no answer yet, ask again with the same arguments.
 */
struct bt_volume_writer {
	/**
	 * Write the volume's claimRef and annotation pv.kubernetes.io/bound-by-controller as far
	 * as it has them (no claimRef: VolumeBinding is not enabled at Reserve), on condition that
	 * the API has the volume in the resourceVersion given here. claim: the pod's claim.
	 */
	int (*bind_volume)(void *context, const struct bt_persistent_volume *volume,
		const struct bt_persistent_volume_claim *claim, struct bt_str *out_resource_version,
		struct berth_error *err);
	/**
	 * Write the claim's annotation volume.kubernetes.io/selected-node, on the same condition.
	 * node_name "": the claim has no such annotation and stays without it.
	 */
	int (*select_node)(void *context, const struct bt_persistent_volume_claim *claim,
		struct bt_str node_name, struct bt_str *out_resource_version,
		struct berth_error *err);
	/**
	 * Let a second pass and the state follow the cluster. Negative with err = the whole text of
	 * the failure when the pod need not wait any longer ("binding volumes: context canceled",
	 * or the cause of the cancellation). NULL: nothing blocks, VolumeBinding is asked again by
	 * the clock.
	 */
	int (*wait)(void *context, const struct bt_pod_info *pod, struct berth_error *err);
	/** The API still has the pod. NULL: it has. */
	bool (*pod_exists)(void *context, const struct bt_pod_info *pod);
	void *context;
};

struct bt_object;
struct bt_resource_claim;

/** The API refused a write because somebody else was there first (HTTP 409). */
#define BT_WRITE_CONFLICT 2

/**
 * Where DynamicResources sends its writes. Spec 12 sections 10 and 12 to 15. Each returns 0, a
 * negative code with err set to the API's error text, BT_WRITE_CONFLICT with err set likewise, or
 * BT_WRITE_PENDING: no answer yet, ask again with equal arguments (a call with others is another
 * one: the answer to the first is then nobody's). *out_claim: the object the API answered with, a
 * reference for the caller.
 *
 * pod: on whose behalf. base: the object of the API that claim was made from; what it has beyond
 * our structures (its json) stays in what is written. must_end: the caller cannot come back; the
 * answer is waited for (PostFilter) and never is BT_WRITE_PENDING.
 */
struct bt_claim_writer {
	/** PUT of the claim: its finalizers are what changes. */
	int (*update)(void *context, const struct bt_pod_info *pod, const struct bt_object *base,
		const struct bt_resource_claim *claim, bool must_end, struct bt_object **out_claim,
		struct berth_error *err);
	/** PUT of its status. */
	int (*update_status)(void *context, const struct bt_pod_info *pod,
		const struct bt_object *base, const struct bt_resource_claim *claim, bool must_end,
		struct bt_object **out_claim, struct berth_error *err);
	int (*get)(void *context, const struct bt_pod_info *pod, struct bt_str namespace_,
		struct bt_str name, bool must_end, struct bt_object **out_claim,
		struct berth_error *err);
	/** POST; metadata has generateName and no name. */
	int (*create)(void *context, const struct bt_pod_info *pod,
		const struct bt_resource_claim *claim, struct bt_object **out_claim,
		struct berth_error *err);
	/** DELETE of the claim with this uid. */
	int (*remove)(void *context, const struct bt_pod_info *pod,
		const struct bt_resource_claim *claim, bool must_end, struct berth_error *err);
	/** PATCH of its status: this uid is taken out of reservedFor. Nobody waits for the end; a
	 * failure is logged by the writer. */
	void (*unreserve)(void *context, const struct bt_pod_info *pod,
		const struct bt_resource_claim *claim, struct bt_str uid);
	/** PATCH of the pod's status: what differs between the two in
	 * extendedResourceClaimStatus and nodeAllocatableResourceClaimStatuses. */
	int (*patch_pod_status)(void *context, const struct bt_pod_info *pod,
		const struct bt_pod_status *old_status, const struct bt_pod_status *new_status,
		bool must_end, struct berth_error *err);
	/** What is tried again after a pause is tried again at once: the clock of a replay stands
	 * still. */
	bool retries_at_once;
	void *context;
};

/** What the engine's owner offers to plugins outside of the tree; NULL members: not offered. */
struct bt_handle_services {
	void *context;
	/** Move a pending pod to the active queue. */
	void (*activate)(void *context, struct bt_str namespace_, struct bt_str name);
	/** An event about a pod that is being scheduled. */
	void (*event)(void *context, const struct bt_pod_info *pod, const char *type,
		const char *reason, const char *action, struct bt_str note);
	/* Opaque here. */
	const void *client_set;
	const void *informer_factory;
	const void *volume_binder;
};

/**
 * The snapshot as plugins outside of the tree see it. In-tree plugins read the state, whose columns
 * have the pod of this cycle once it is assumed; a snapshot has not.
 */
struct bt_snapshot_view {
	const struct bt_state *state;
	const struct bt_pod_info *assumed; /* the pod to leave out; NULL: none */
	uint32_t assumed_slot;
};

/** What a plugin may use beyond its arguments; valid for the life of the framework. */
struct bt_handle {
	struct bt_state *state;
	const struct bt_gates *gates;
	struct bt_framework *framework; /* for nested runners (preemption) */
	struct bt_str scheduler_name;
	const struct bt_binder *binder; /* NULL: every binding succeeds (simulation) */
	const struct bt_volume_writer
		*volume_writer; /* NULL: volumes count as bound once assumed (simulation) */
	/** NULL: the claim cache takes every write as made (simulation). */
	const struct bt_claim_writer *claim_writer;
	const struct bt_pod_lister *pods; /* NULL: the versions in cycle and state are the newest */
	/* Preemption. */
	const struct bt_preemption_writer *preemption_writer; /* NULL: it only decides */
	const struct bt_preemption_extender *preemption_extenders;
	uint32_t preemption_extender_count;
	struct bt_waiting_pods *waiting_pods; /* NULL: no pod waits on Permit */
	struct bt_binding_pods *binding_pods; /* NULL: no pod is in PreBind */
	struct bt_prng *prng;                 /* NULL: where there is a choice, the first */
	/** Taken among equally good candidates of preemption; for replays of recorded runs. */
	struct bt_str preferred_node;
	/** The same by name, where no node is preferred. */
	bool takes_first_by_name;
	int64_t now_ns; /* the owner's clock at its last call */
	bool verify;    /* what is computed in a fast way is compared with the plain way */
	/** KUBE_MAX_PD_VOLS, for the legacy volume counts (spec 05b B9); 0 = not given. */
	int64_t max_pd_volumes;
	const struct bt_handle_services *services; /* NULL: none */
	/** Calls of the binding cycle that are under way: plugins outside of the tree must not read
	 * the snapshot in them. */
	uint32_t binding_calls;
	struct bt_snapshot_view snapshot;
};

/** PreFilter's narrowing. names NULL: all nodes. An empty non-NULL list means no node. Spec 02
 * section 2. */
struct bt_pre_filter_result {
	bool restricted;
	uint32_t count;
	const struct bt_str *names; /* distinct; in the cycle's arena or the pod's memory */
};

struct bt_node_score {
	uint32_t slot;
	int64_t score;
};

enum bt_nominating_mode {
	BT_NOMINATING_NOOP,
	BT_NOMINATING_OVERRIDE,
};

struct bt_post_filter_result {
	bool present;
	enum bt_nominating_mode mode;
	struct bt_str nominated_node_name;
};

/** Statuses of the nodes that were examined: explicit entries plus one for all others. Spec 02
 * section 2. */
struct bt_node_status_entry {
	uint32_t slot;
	struct bt_status status;
};

/**
 * Statuses of a search over the whole list that found nothing, by groups of nodes in place of
 * entries: nobody had to look at the nodes one by one. Borrowed from the cycle and its plan.
 */
struct bt_status_groups {
	uint32_t count;
	const struct bt_status *statuses; /* by group; none of them Success */
	const uint32_t *sizes;            /* nodes of the group; may be 0 */
	const uint16_t *group_of;         /* by position in the snapshot's list */
	uint32_t start;                   /* position where the search began: order of entries */
};

struct bt_node_statuses {
	BT_VEC(struct bt_node_status_entry) entries;
	struct bt_status absent;
	/** Not NULL: these in place of entries; framework/node_statuses.h answers for both. */
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

/** A cluster event a plugin wants to hear of. Spec 02 section 10; hints: spec 04. */
struct bt_cluster_event {
	struct bt_str resource;
	uint32_t action; /* bits of spec 02 section 10.1 */
};

enum bt_queueing_hint {
	BT_HINT_SKIP,
	BT_HINT_QUEUE,
};

/** old_object / new_object: the decoded API object (struct bt_pod, struct bt_node, ...), NULL when
 * there is none. */
typedef enum bt_queueing_hint (*bt_hint_function)(struct bt_plugin *plugin,
	const struct bt_pod_info *pod, const void *old_object, const void *new_object,
	struct berth_error *err);

/**
 * What a hint looks at besides the event's objects and what informers know, from everything to
 * little. Whether the event is about the pod itself (by uid) does not count: that pod is always
 * asked by itself.
 */
enum bt_hint_scope {
	BT_HINT_SCOPE_POD,       /* anything of the pod */
	BT_HINT_SCOPE_LABELS,    /* shape, namespace and labels */
	BT_HINT_SCOPE_NAMESPACE, /* shape and namespace */
	BT_HINT_SCOPE_SHAPE,     /* the pod's shape */
};

/** Numbers that hints compare before anything else. */
#define BT_HINT_NEEDS 2

struct bt_event_registration {
	struct bt_cluster_event event;
	bt_hint_function hint; /* NULL: always Queue */
};

struct bt_event_registrations {
	const struct bt_event_registration *items;
	uint32_t count;
};

#define BT_EVENTS(list) \
	{ \
		(list), BT_ARRAY_LENGTH(list) \
	}

/** A queue entry as QueueSort sees it. */
struct bt_queued_pod {
	const struct bt_pod_info *pod;
	int64_t timestamp_ns;
	int64_t initial_attempt_ns; /* first entry into the active queue; INT64_MIN = not yet */
	uint32_t attempts;
};

enum bt_normalize_kind {
	BT_NORMALIZE_NONE,            /* scores are final */
	BT_NORMALIZE_DEFAULT,         /* spec 05 section 3.8, reverse = false, max 100 */
	BT_NORMALIZE_DEFAULT_REVERSE, /* ... reverse = true */
	BT_NORMALIZE_CUSTOM,          /* ops->normalize_score */
};

/**
 * A property of nodes that verdicts or scores depend on. A slot's value depends on that slot alone,
 * and on nothing that is not in `reads`: a slot that has not changed keeps its value for as long as
 * the trait keeps its identity.
 */
struct bt_node_trait {
	uint64_t identity[3];   /* the same question in another cycle has the same */
	uint32_t reads;         /* enum bt_change_kind bits */
	const uint32_t *values; /* by slot; NULL: ask the function */
	uint64_t (*value)(const void *context, uint32_t slot);
	/**
	 * For all slots below slot_count numbers that tell the same slots apart, if not the same
	 * ones; when there are very many, some that the values do not. NULL: slot by slot.
	 */
	void (*column)(const void *context, uint32_t slot_count, uint32_t *values);
	const void *context; /* good for the cycle */
};

/** Traits of one cycle, in its arena. */
struct bt_trait_list {
	struct bt_node_trait *items;
	uint32_t count;
	uint32_t capacity;
	struct bt_arena *arena;
};

/** Which slots a column pass covers: count of them from `first` on when slots is NULL, else the
 * count listed ones. */
struct bt_slot_range {
	const uint32_t *slots;
	uint32_t count;
	uint32_t first; /* 0 unless the plugin has columns_split */
};

struct bt_placement {
	struct bt_str name;
	const uint32_t *slots;
	uint32_t count;
};

/**
 * The optional second table of a plugin: forms of its functions that answer for many nodes, pods or
 * events at once, and facts about them that let the engine ask less often. None of them changes a
 * decision; a plugin without the table is always asked one pod and one node at a time.
 */
struct bt_plugin_shortcuts {
	/* PreFilter and PreScore. */

	/**
	 * PreFilter and PreScore depend only on the pod's shape, the arguments and the state's
	 * symbols: the framework may run them once per shape and keep their data. Their data must
	 * then never be changed by Filter or Score.
	 */
	bool pure;
	/** Purity where it depends on the pod (no volumes: nothing else is looked at). NULL: `pure`
	 * decides. */
	bool (*is_pure_for)(struct bt_plugin *plugin, const struct bt_pod_info *pod);
	/* Queueing. */

	/**
	 * PreEnqueue would now let every pod of this shape pass: many that wake up at once need not
	 * be asked one by one. NULL: not known.
	 */
	bool (*pre_enqueue_passes)(struct bt_plugin *plugin, const struct bt_shape *shape);
	/**
	 * PreEnqueue would now reject this pod and every other of its shape and namespace, without
	 * an error: members of a large gang need not be asked one by one whenever one more comes.
	 * NULL: not known.
	 */
	bool (*pre_enqueue_rejects)(struct bt_plugin *plugin, const struct bt_pod_info *pod);
	/** The gate of PreEnqueue may open without an event: pods that waited too long ask it again
	 * (spec 08 section 12). */
	bool gate_opens_silently;
	/** less is: higher priority first, then earlier timestamp. The queue may then compare keys
	 * of its own. */
	bool less_is_priority_then_time;
	/** Pods that agree in this get the same answer from every hint: the queue asks once for all
	 * of them. */
	enum bt_hint_scope hint_scope;
	/** The same for one event and the pods of one shape. NULL: hint_scope holds for all. */
	enum bt_hint_scope (*hint_scope_of)(struct bt_plugin *plugin, const struct bt_shape *shape,
		const struct bt_cluster_event *event, const void *old_object,
		const void *new_object);
	/**
	 * What the hints compare first: numbers of a shape, and for an event the largest that it
	 * can help. To a pod with a number above the limit every hint of the plugin for this event
	 * says Skip; the queue then does not ask. false: this event has no such limits. Both or
	 * neither; hints must not be about the pod that the event is about.
	 */
	void (*hint_needs)(struct bt_plugin *plugin, const struct bt_shape *shape,
		int64_t out_needs[BT_HINT_NEEDS]);
	bool (*hint_limits)(struct bt_plugin *plugin, const struct bt_cluster_event *event,
		const void *old_object, const void *new_object, int64_t out_limits[BT_HINT_NEEDS]);
	/** Sign refuses every pod: the engine then asks no plugin. NULL: it does not. */
	bool (*never_signs)(const struct bt_plugin *plugin);

	/* Column forms. */

	/**
	 * The column forms take the data of the cycle instead of the plan's, and are run in every
	 * cycle: for plugins that depend on other nodes' pods and keep counters of them. Score then
	 * has the two functions at the end.
	 */
	bool columns_per_cycle;
	/** With columns_per_cycle: its data has no counters, and is good as long as the cycle. */
	bool keeps_cycle_data;
	/**
	 * The column forms may run for several parts of the slots at once, on any threads, while
	 * nothing changes: they write the entries of their range alone, and neither the state nor
	 * the plugin's data keeps anything of the call.
	 */
	bool columns_split;

	/* Column form of Filter; needs `pure` or `columns_per_cycle`. */

	/** false: this pod does not fit the column form (detail would need more bits). NULL: always
	 * true. */
	bool (*filter_fits_column)(
		struct bt_plugin *plugin, const void *data, const struct bt_pod_info *pod);
	/** Kinds of node change (enum bt_change_kind) after which a slot's verdict may differ. */
	uint32_t filter_reads;
	/**
	 * For every slot in range: *detail = 0 when the node passes, else a non-zero number (at
	 * most 24 bits) that filter_detail_status turns into the status the plain form would give.
	 * data is the plugin's pre-filter data (NULL when the plugin has no PreFilter). detail is
	 * indexed by slot. Returns false when no slot of the range is rejected; detail need not be
	 * written then.
	 */
	bool (*filter_column)(struct bt_plugin *plugin, const void *data,
		const struct bt_pod_info *pod, const struct bt_state *state,
		struct bt_slot_range range, uint32_t *detail);
	struct bt_status (*filter_detail_status)(struct bt_plugin *plugin, const void *data,
		const struct bt_pod_info *pod, uint32_t detail, struct bt_arena *arena);

	/* Column form of Score; needs `pure`. Scores must be in [0, 2^31). */

	/**
	 * Data for the column form of a plugin without PreScore, made once per shape in the arena.
	 * NULL: the pre-score data is passed.
	 */
	const void *(*score_column_data)(
		struct bt_plugin *plugin, const struct bt_pod_info *pod, struct bt_arena *arena);
	uint32_t score_reads;
	/** The score also depends on the number of nodes in the snapshot. */
	bool score_reads_node_count;
	/**
	 * false: this pod's scores do not fit the column form (negative, or too large); the plain
	 * form is used. NULL: always true.
	 */
	bool (*score_fits_column)(
		struct bt_plugin *plugin, const void *data, const struct bt_pod_info *pod);
	/**
	 * true: the raw score of every node is *out_score whatever its row, for as long as the
	 * pod's shape lives. May be NULL.
	 */
	bool (*score_is_constant)(struct bt_plugin *plugin, const void *data,
		const struct bt_pod_info *pod, const struct bt_state *state, int32_t *out_score);
	void (*score_column)(struct bt_plugin *plugin, const void *data,
		const struct bt_pod_info *pod, const struct bt_state *state,
		struct bt_slot_range range, int32_t *scores);

	/**
	 * PreScore would return Skip in this cycle whichever nodes are feasible; cheap. With it the
	 * whole decision can be made from the plan's columns. NULL: not known beforehand. Called
	 * after PreFilter.
	 */
	bool (*pre_score_skips)(struct bt_plugin *plugin, const struct bt_cycle_state *cycle,
		const struct bt_pod_info *pod);

	/* Column form of Score with `columns_per_cycle`: both take the cycle's pre-score data, of a
	 * plugin without PreScore its pre-filter data. score_fits_column is asked without data. */

	/** Raw scores of the feasible nodes; scores is indexed by position in slots. */
	void (*score_slots)(struct bt_plugin *plugin, const void *data,
		const struct bt_pod_info *pod, const struct bt_state *state, const uint32_t *slots,
		uint32_t count, int64_t *scores);
	/** Normalise them in place; slots may be one node for each cell (below). NULL: `normalize`
	 * says how. */
	void (*normalize_column)(struct bt_plugin *plugin, const void *data,
		const struct bt_state *state, const uint32_t *feasible_slots, uint32_t count,
		int64_t *scores);

	/* Cells (sched/cells.h), with `columns_per_cycle`. */

	/**
	 * Adds what tells nodes apart for Filter, Score and NormalizeScore of this plugin in this
	 * cycle: two nodes of the snapshot that agree in all the traits get the same verdict and
	 * the same score. The engine then asks filter_column, score_slots and normalize_column
	 * about one node of each cell. Called once, after PreFilter succeeded and before PreScore;
	 * may keep what it found in the cycle for pre_score_cells. false: no cells for this pod.
	 * NULL: never.
	 */
	bool (*cell_traits)(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
		const struct bt_pod_info *pod, struct bt_trait_list *out);
	/**
	 * PreScore by cells: what pre_score would make of all the nodes that the slots stand for.
	 * slots: one node of each feasible cell, counts: how many nodes the cell has. NULL:
	 * pre_score does not look at the slots at all and is called with these.
	 */
	struct bt_status (*pre_score_cells)(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
		const struct bt_pod_info *pod, const uint32_t *slots, const uint32_t *counts,
		uint32_t cell_count);

	/* Pod groups: what becomes of many equal pods, without trying each. */

	/**
	 * Lower room, indexed by slot, to the number of pods of this shape that Filter lets onto
	 * each slot of the range one after the other while nothing else changes there. Slots that
	 * filter_column rejects are the caller's business. NULL: not known, or not limited if
	 * filter_reads has nothing that pods change.
	 */
	void (*filter_room)(struct bt_plugin *plugin, const void *data,
		const struct bt_pod_info *pod, const struct bt_state *state,
		struct bt_slot_range range, uint32_t *room);
	/** PostFilter would now reject the pod and change nothing, whatever the nodes' statuses.
	 * NULL: not known. */
	bool (*post_filter_changes_nothing)(
		struct bt_plugin *plugin, const struct bt_pod_info *pod);
	/**
	 * In the cycle of the pod's group, Permit rejects no member: it answers Wait before this
	 * many members are assumed that are not yet, and Success from then on. false: not known.
	 */
	bool (*permit_quorum)(
		struct bt_plugin *plugin, const struct bt_pod_info *pod, uint32_t *out_count);
	/** score_placement does not look at which nodes the pods are on. */
	bool placement_score_ignores_nodes;
};

/** The plugin: its extension points under the names that they have in Kubernetes. */
struct bt_plugin_ops {
	const char *name; /* unique in a registry */

	/**
	 * New instance of the plugin that ops describes. args: decoded and defaulted (config.h),
	 * kind BT_ARGS_NONE when there are none; borrowed for the life of the framework. err:
	 * reported as `initializing plugin "<name>": <err>`. The instance may set another table
	 * (same name), which then decides which roles it has.
	 */
	int (*create)(const struct bt_plugin_ops *ops, const struct bt_plugin_args *args,
		const struct bt_handle *handle, struct bt_plugin **out_plugin,
		struct berth_error *err);
	const void *context; /* for create */
	void (*destroy)(struct bt_plugin *plugin);
	/** NULL: the plugin has none. */
	const struct bt_plugin_shortcuts *shortcuts;

	/* Queueing */
	struct bt_status (*pre_enqueue)(
		struct bt_plugin *plugin, const struct bt_pod_info *pod, struct bt_arena *arena);
	bool (*less)(struct bt_plugin *plugin, const struct bt_queued_pod *a,
		const struct bt_queued_pod *b);
	/** The events every instance registers; items NULL: see events_to_register. */
	struct bt_event_registrations events;
	/** Where the events depend on the instance. *out_events borrowed from the plugin. */
	int (*events_to_register)(struct bt_plugin *plugin,
		const struct bt_event_registration **out_events, uint32_t *out_count,
		struct berth_error *err);
	/** Success (fragments added), Unschedulable (not signable) or Error. */
	struct bt_status (*sign)(struct bt_plugin *plugin, const struct bt_pod_info *pod,
		struct bt_sign_fragments *out);

	/* Scheduling cycle. Success, Skip, Unschedulable, UnschedulableAndUnresolvable, Error. */
	struct bt_status (*pre_filter)(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
		const struct bt_pod_info *pod, struct bt_pre_filter_result *out_result);
	struct bt_status (*pre_filter_add_pod)(struct bt_plugin *plugin,
		struct bt_cycle_state *cycle, const struct bt_pod_info *pod_to_schedule,
		const struct bt_pod_info *pod_to_add, const struct bt_node_info *node);
	struct bt_status (*pre_filter_remove_pod)(struct bt_plugin *plugin,
		struct bt_cycle_state *cycle, const struct bt_pod_info *pod_to_schedule,
		const struct bt_pod_info *pod_to_remove, const struct bt_node_info *node);
	/** Copy of the plugin's pre-filter data that add_pod / remove_pod may change; NULL: the
	 * data is never changed. */
	void *(*clone_pre_filter_data)(const void *data, struct bt_arena *arena);
	/** Success, rejected or Error. Reads only the node passed in. */
	struct bt_status (*filter)(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
		const struct bt_pod_info *pod, const struct bt_node_info *node);
	struct bt_status (*post_filter)(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
		const struct bt_pod_info *pod, const struct bt_node_statuses *statuses,
		struct bt_post_filter_result *out_result);
	/** slots: the feasible nodes. Success, Skip, anything else is an error. */
	struct bt_status (*pre_score)(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
		const struct bt_pod_info *pod, const uint32_t *slots, uint32_t slot_count);
	struct bt_status (*score)(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
		const struct bt_pod_info *pod, const struct bt_node_info *node, int64_t *out_score);
	enum bt_normalize_kind normalize;
	/** BT_NORMALIZE_CUSTOM only. Rewrites the scores in place. */
	struct bt_status (*normalize_score)(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
		const struct bt_pod_info *pod, struct bt_node_score *scores, uint32_t count);

	/* After the choice. slot is the chosen node. */

	/** What the assumed pod's status says beyond the pod's own, in the cycle's arena: spec 03
	 * section 4. Only asked with gate DRANodeAllocatableResources. */
	void (*assume_status)(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
		const struct bt_pod_info *pod, uint32_t slot, struct bt_pod_status *status);
	struct bt_status (*reserve)(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
		const struct bt_pod_info *pod, uint32_t slot);
	/** Idempotent; may be called without its reserve having run. */
	void (*unreserve)(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
		const struct bt_pod_info *pod, uint32_t slot);
	struct bt_status (*permit)(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
		const struct bt_pod_info *pod, uint32_t slot, int64_t *out_timeout_ns);

	/*
	 * Binding cycle. What takes time must not block: pre_bind and bind then answer Wait, and
	 * are called again with the same arguments when an answer has arrived or the time
	 * cycle->wake_ns (handle->now_ns, set it lower as needed) has come. They may be given up at
	 * any time: unreserve says so.
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

	/* Pod groups. Success, anything else is a failure. */
	struct bt_status (*generate_placements)(struct bt_plugin *plugin, struct bt_arena *arena,
		struct bt_str group_namespace, struct bt_str group_name,
		const struct bt_placement *parent, const struct bt_placement **out_placements,
		uint32_t *out_count);
	struct bt_status (*score_placement)(struct bt_plugin *plugin, struct bt_arena *arena,
		const struct bt_placement *placement, const struct bt_pod_info *const *pods,
		uint32_t pod_count, int64_t *out_score);
	struct bt_status (*normalize_placement_scores)(
		struct bt_plugin *plugin, struct bt_arena *arena, int64_t *scores, uint32_t count);
	/** Spec 08 section 14. group: the pods' PodGroup; trial: how removals are tried out. */
	struct bt_status (*pod_group_post_filter)(struct bt_plugin *plugin, struct bt_arena *arena,
		const struct bt_pod_group *group, const struct bt_pod_info *const *pods,
		uint32_t pod_count, const struct bt_pod_group_trial *trial);
};

/** The plugin's second table, all zero where it has none. */
static inline const struct bt_plugin_shortcuts *bt_shortcuts(const struct bt_plugin *plugin)
{
	static const struct bt_plugin_shortcuts none = {0};

	return plugin->ops->shortcuts != NULL ? plugin->ops->shortcuts : &none;
}

/** One more trait; the list's arena. */
void bt_trait_list_add(struct bt_trait_list *list, const struct bt_node_trait *trait);
/** EventsToRegister: the plugin's events, fixed or asked for. The plugin has one of the two. */
BT_MUST_USE int bt_plugin_events_to_register(struct bt_plugin *plugin,
	const struct bt_event_registration **out_events, uint32_t *out_count,
	struct berth_error *err);
#endif
