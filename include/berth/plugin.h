/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BERTH_PLUGIN_H
#define BERTH_PLUGIN_H
/**
 * @file
 * Plugins written outside of berth. A plugin is a constant table of functions and one instance per
 * profile; it implements any subset of the extension points: a NULL slot means that the role is not
 * implemented. Spec 02 section 4, upstream v1.36.
 *
 * All functions are called on the scheduling thread. `pod`, `node` and what is reached through them
 * are valid for the call. Texts of statuses and data of the cycle live in
 * berth_cycle_state_arena(). With BERTH_VERIFY=1 every decision is computed twice, so PreEnqueue to
 * Score must not count their calls.
 *
 * @code{.c}
 * static struct berth_status filter(struct berth_plugin *plugin,
 *     struct berth_cycle_state *state, const struct berth_pod_info *pod,
 *     const struct berth_node_info *node)
 * {
 *     if (berth_node_info_pod_count(node) < 10) {
 *         return BERTH_STATUS_SUCCESS;
 *     }
 *     return berth_status_reason(berth_cycle_state_arena(state), BERTH_CODE_UNSCHEDULABLE,
 *         "node(s) had ten pods");
 * }
 *
 * static const struct berth_plugin_ops ops = {
 *     .size = sizeof(ops), .name = "TenPods", .filter = filter};
 *
 * static int create(void *context, const struct berth_raw_args *args,
 *     const struct berth_handle *handle, struct berth_plugin **out_plugin,
 *     struct berth_error *err)
 * {
 *     static struct berth_plugin plugin = {&ops};
 *
 *     *out_plugin = &plugin;
 *     return BERTH_OK;
 * }
 *
 * static const struct berth_plugin_descriptor plugins[] = {{"TenPods", create, NULL}};
 *
 * const struct berth_plugin_module berth_plugin_module = {
 *     BERTH_PLUGIN_ABI_VERSION, "ten pods", plugins, 1};
 * @endcode
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "berth/api.h"
#include "berth/config.h"
#include "berth/cycle_state.h"
#include "berth/error.h"
#include "berth/handle.h"
#include "berth/node_info.h"
#include "berth/object.h"
#include "berth/pod_info.h"
#include "berth/status.h"
#include "berth/str.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Largest score of a plugin after normalising (spec 02 section 2). */
#define BERTH_MAX_NODE_SCORE INT64_C(100)
/** Smallest score of a plugin after normalising. */
#define BERTH_MIN_NODE_SCORE INT64_C(0)
/** Bound of a weighted total; weights that could exceed it are refused. */
#define BERTH_MAX_TOTAL_SCORE INT64_MAX

/** Metric of the durations of plugin calls; sampled (spec 02 section 14). */
#define BERTH_METRIC_PLUGIN_EXECUTION_DURATION "scheduler_plugin_execution_duration_seconds"

struct berth_plugin_ops;

/** Base of every instance; first member of the plugin's own structure. */
struct berth_plugin {
	const struct berth_plugin_ops *ops; /**< set by the factory */
};

/** Score of a node. */
struct berth_node_score {
	struct berth_str name; /**< of the node */
	int64_t score;         /**< raw, then normalised */
};

/** One entry per scored node, in the order of the node list. */
struct berth_node_score_list {
	struct berth_node_score *items; /**< the plugin may change the scores, not the names */
	uint32_t count;                 /**< entries */
};

/** PreFilter's narrowing: only these nodes are looked at (spec 02 section 2). */
struct berth_pre_filter_result {
	bool restricted; /**< false: all nodes; true with a count of 0: no node */
	uint32_t count;  /**< entries of names */
	/** Distinct; in the arena of the cycle or the pod's memory. */
	const struct berth_str *names;
};

/** What a PostFilter wants done with status.nominatedNodeName. */
enum berth_nominating_mode {
	BERTH_NOMINATING_NOOP,     /**< keep what the pod has */
	BERTH_NOMINATING_OVERRIDE, /**< set it; "" clears it */
};

/** PostFilterResult (spec 02 section 2). */
struct berth_post_filter_result {
	bool present;                         /**< false: no result */
	enum berth_nominating_mode mode;      /**< what to do */
	struct berth_str nominated_node_name; /**< in the arena of the cycle */
};

/** What can happen to an object, as bits (spec 02 section 10.1). */
enum berth_action {
	BERTH_ACTION_ADD = 1,                            /**< it was added */
	BERTH_ACTION_DELETE = 2,                         /**< it was deleted */
	BERTH_ACTION_UPDATE_NODE_ALLOCATABLE = 4,        /**< status.allocatable */
	BERTH_ACTION_UPDATE_NODE_LABEL = 8,              /**< labels of a node */
	BERTH_ACTION_UPDATE_NODE_TAINT = 16,             /**< taints, spec.unschedulable */
	BERTH_ACTION_UPDATE_NODE_CONDITION = 32,         /**< status.conditions */
	BERTH_ACTION_UPDATE_NODE_ANNOTATION = 64,        /**< annotations of a node */
	BERTH_ACTION_UPDATE_NODE_DECLARED_FEATURE = 128, /**< status.declaredFeatures */
	BERTH_ACTION_UPDATE_POD_LABEL = 256,             /**< labels of a pod */
	BERTH_ACTION_UPDATE_POD_SCALE_DOWN = 512,        /**< it requests less */
	BERTH_ACTION_UPDATE_POD_TOLERATION = 1024,       /**< tolerations */
	BERTH_ACTION_UPDATE_POD_GATES_ELIMINATED = 2048, /**< no scheduling gate is left */
	BERTH_ACTION_UPDATE_POD_GENERATED_CLAIM = 4096,  /**< resource claims were generated */
	BERTH_ACTION_UPDATE = 8188,                      /**< every update bit */
	BERTH_ACTION_ALL = 8191,                         /**< every bit */
};

/** A cluster event (spec 02 section 10.1). */
struct berth_cluster_event {
	struct berth_str resource; /**< "Pod", "Node", "storage.k8s.io/CSINode", ..., "*" */
	uint32_t action;           /**< bits of enum berth_action */
};

/** Whether an event may make a rejected pod schedulable. */
enum berth_queueing_hint {
	BERTH_QUEUEING_HINT_SKIP,  /**< it cannot */
	BERTH_QUEUEING_HINT_QUEUE, /**< it may: the pod is tried again */
};

/**
 * @p old_object and @p new_object: const struct berth_pod * for events of pods, const struct
 * berth_node * for nodes, and so on; NULL when there is none. An error counts as QUEUE.
 */
typedef enum berth_queueing_hint (*berth_queueing_hint_fn)(struct berth_plugin *plugin,
	const struct berth_pod_info *pod, const void *old_object, const void *new_object,
	struct berth_error *err);

/** Events with hints that one plugin may register. */
#define BERTH_HINTS_MAX 32

/** An event that can make a pod schedulable that the plugin rejected. */
struct berth_event_registration {
	struct berth_cluster_event event; /**< which */
	berth_queueing_hint_fn hint;      /**< NULL: always QUEUE */
};

/** Collects the parts of a pod's signature (spec 02 section 6). Opaque. */
struct berth_sign_fragments;
/**
 * Adds what the plugin's verdicts and scores depend on; two pods with equal signatures get equal
 * answers. Key and value (any text) are copied.
 */
BERTH_API void berth_sign_fragments_add(
	struct berth_sign_fragments *fragments, struct berth_str key, struct berth_str value);

/** Nodes that a pod group might be placed on together (spec 02 section 5.15). */
struct berth_placement {
	struct berth_str name;              /**< unique among the group's placements */
	const struct berth_str *node_names; /**< nodes of the snapshot */
	uint32_t node_count;                /**< entries of node_names */
};

/** QueueSort's comparison: a comes before b. */
typedef bool (*berth_less_fn)(struct berth_plugin *plugin, const struct berth_queued_pod *a,
	const struct berth_queued_pod *b);

/** PreFilterExtensions: how PreFilter's data follows hypothetical changes (spec 02 section 5.2). */
struct berth_pre_filter_extensions {
	/** As if @p pod_to_add ran on the node, too. Success, anything else is an error. */
	struct berth_status (*add_pod)(struct berth_plugin *plugin, struct berth_cycle_state *state,
		const struct berth_pod_info *pod_to_schedule,
		const struct berth_pod_info *pod_to_add, const struct berth_node_info *node);
	/** As if @p pod_to_remove were gone from the node. Success, anything else is an error. */
	struct berth_status (*remove_pod)(struct berth_plugin *plugin,
		struct berth_cycle_state *state, const struct berth_pod_info *pod_to_schedule,
		const struct berth_pod_info *pod_to_remove, const struct berth_node_info *node);
};

/** ScoreExtensions (spec 02 section 5.7). */
struct berth_score_extensions {
	/** Rewrites all scores of the plugin into 0..100. Success, anything else is an error. */
	struct berth_status (*normalize_score)(struct berth_plugin *plugin,
		struct berth_cycle_state *state, const struct berth_pod_info *pod,
		struct berth_node_score_list *scores);
};

/** How raw scores become scores of 0..100 for a plugin without score_extensions. */
enum berth_normalize {
	BERTH_NORMALIZE_NONE, /**< they are already */
	/** DefaultNormalizeScore: the best feasible node gets 100, others in proportion. */
	BERTH_NORMALIZE_DEFAULT,
	BERTH_NORMALIZE_DEFAULT_REVERSE, /**< 100 less that: small raw scores are better */
};

/** Parts of a node that a score is made of, as bits. */
enum berth_reads {
	BERTH_READS_PODS = 1,        /**< requested resources, number of pods */
	BERTH_READS_PORTS = 2,       /**< used host ports */
	BERTH_READS_ALLOCATABLE = 4, /**< allocatable resources */
	BERTH_READS_LABELS = 8,      /**< labels */
	BERTH_READS_TAINTS = 16,     /**< taints and spec.unschedulable */
	BERTH_READS_IMAGES = 32,     /**< images */
	BERTH_READS_NAME = 128,      /**< its name, which never changes */
};

/**
 * The plugin's functions; constant, and alive as long as the plugin. Slots that are not needed stay
 * NULL. Codes other than the ones a slot names count as errors.
 */
struct berth_plugin_ops {
	size_t size; /**< sizeof(struct berth_plugin_ops): what the plugin was compiled with */
	/** Unique; the key in the registry and in the configuration. */
	const char *name;
	/** Ends the instance. NULL: nothing is released. */
	void (*destroy)(struct berth_plugin *plugin);

	/** PreEnqueue: may the pod enter the queue? Success or a rejection (spec 02 section 5.16).
	 */
	struct berth_status (*pre_enqueue)(struct berth_plugin *plugin,
		const struct berth_pod_info *pod, struct berth_arena *arena);
	/** QueueSort: the order of the active queue; a profile has exactly one (spec 04-queue 4).
	 */
	berth_less_fn less;
	/**
	 * EventsToRegister: after which events a pod that this plugin rejected is tried again. The
	 * list is the plugin's. NULL slot: after any (spec 02 section 10.2).
	 */
	int (*events_to_register)(struct berth_plugin *plugin,
		const struct berth_event_registration **out_events, uint32_t *out_count,
		struct berth_error *err);
	/**
	 * SignPod: Success (fragments were added, or none matter), Unschedulable: this pod's
	 * answers must not be reused, Error. NULL: no pod's answers are (spec 02 section 6).
	 */
	struct berth_status (*sign)(struct berth_plugin *plugin, const struct berth_pod_info *pod,
		struct berth_sign_fragments *fragments);

	/**
	 * PreFilter, once before the filters: Success, Skip (no Filter for this pod), a rejection
	 * of the pod, Error (spec 02 section 5.1). @p out_result is empty on entry: all nodes.
	 */
	struct berth_status (*pre_filter)(struct berth_plugin *plugin,
		struct berth_cycle_state *state, const struct berth_pod_info *pod,
		struct berth_pre_filter_result *out_result);
	/** Offered by a PreFilter plugin whose data depends on other pods; else NULL. */
	const struct berth_pre_filter_extensions *pre_filter_extensions;
	/**
	 * Filter: can the pod run on the node as it is handed in, whatever the snapshot says?
	 * Success, a rejection, Error (spec 02 section 5.3).
	 */
	struct berth_status (*filter)(struct berth_plugin *plugin, struct berth_cycle_state *state,
		const struct berth_pod_info *pod, const struct berth_node_info *node);
	/**
	 * PostFilter, when no node fits: Success (room was made), Unschedulable (it was not),
	 * UnschedulableAndUnresolvable (no other plugin is tried), Error (spec 02 section 5.5).
	 */
	struct berth_status (*post_filter)(struct berth_plugin *plugin,
		struct berth_cycle_state *state, const struct berth_pod_info *pod,
		const struct berth_node_to_status *statuses,
		struct berth_post_filter_result *out_result);
	/** PreScore, once over the feasible nodes: Success, Skip (no Score), Error. */
	struct berth_status (*pre_score)(struct berth_plugin *plugin,
		struct berth_cycle_state *state, const struct berth_pod_info *pod,
		const struct berth_node_info *const *nodes, uint32_t node_count);
	/** Score: raw score of a feasible node; after normalising 0..100. Success, Error. */
	struct berth_status (*score)(struct berth_plugin *plugin, struct berth_cycle_state *state,
		const struct berth_pod_info *pod, const struct berth_node_info *node,
		int64_t *out_score);
	/** Offered by a Score plugin whose raw scores are not in 0..100; else NULL. */
	const struct berth_score_extensions *score_extensions;

	/** Reserve: claims in the plugin's memory, once a node is chosen. Failure undoes all. */
	struct berth_status (*reserve)(struct berth_plugin *plugin, struct berth_cycle_state *state,
		const struct berth_pod_info *pod, struct berth_str node_name);
	/** Undoes reserve. Idempotent; may be called without its reserve having run. */
	void (*unreserve)(struct berth_plugin *plugin, struct berth_cycle_state *state,
		const struct berth_pod_info *pod, struct berth_str node_name);
	/**
	 * Permit: Success, Wait (with a timeout, at most 15 minutes), a rejection, Error (spec 02
	 * section 5.9). A pod that waits is reached through berth_handle_get_waiting_pod().
	 */
	struct berth_status (*permit)(struct berth_plugin *plugin, struct berth_cycle_state *state,
		const struct berth_pod_info *pod, struct berth_str node_name,
		int64_t *out_timeout_ns);

	/**
	 * PreBindPreFlight: Success, Skip (no PreBind), Error. *out_allow_parallel: PreBind may run
	 * beside others (spec 02 section 5.10).
	 */
	struct berth_status (*pre_bind_pre_flight)(struct berth_plugin *plugin,
		struct berth_cycle_state *state, const struct berth_pod_info *pod,
		struct berth_str node_name, bool *out_allow_parallel);
	/**
	 * PreBind: work before the binding. Must not block: Wait means "not finished", and the call
	 * is repeated with the same arguments when something happened or the time given to
	 * berth_cycle_state_wake_at() has come. It may be given up at any time: unreserve says so.
	 */
	struct berth_status (*pre_bind)(struct berth_plugin *plugin,
		struct berth_cycle_state *state, const struct berth_pod_info *pod,
		struct berth_str node_name);
	/** Bind: Success, Skip (the next plugin binds), Wait as in pre_bind, Error. */
	struct berth_status (*bind)(struct berth_plugin *plugin, struct berth_cycle_state *state,
		const struct berth_pod_info *pod, struct berth_str node_name);
	/** PostBind: the pod is bound. */
	void (*post_bind)(struct berth_plugin *plugin, struct berth_cycle_state *state,
		const struct berth_pod_info *pod, struct berth_str node_name);

	/**
	 * PlacementGenerate: parts of @p parent that the pod group might fit into. Results live in
	 * the arena. Success, anything else is a failure (spec 02 section 5.15).
	 */
	struct berth_status (*generate_placements)(struct berth_plugin *plugin,
		struct berth_arena *arena, struct berth_str group_namespace,
		struct berth_str group_name, const struct berth_placement *parent,
		const struct berth_placement **out_placements, uint32_t *out_count);
	/** PlacementScore: raw score of a placement in which these pods found nodes. */
	struct berth_status (*score_placement)(struct berth_plugin *plugin,
		struct berth_arena *arena, const struct berth_placement *placement,
		const struct berth_pod_info *const *pods, uint32_t pod_count, int64_t *out_score);
	/** Rewrites the placement scores in place into 0..100. */
	struct berth_status (*normalize_placement_scores)(struct berth_plugin *plugin,
		struct berth_arena *arena, int64_t *scores, uint32_t count);

	/** How raw scores are normalised; score_extensions, where they are, count instead. */
	enum berth_normalize normalize;
	/**
	 * Bits of enum berth_reads: a promise that makes scoring many times faster. Score is a
	 * function of the pod's spec (not of its name, labels or annotations), of the plugin's
	 * arguments and of these parts of the node; it answers Success with a raw score in
	 * 0..2^31-1 (0..100 with BERTH_NORMALIZE_NONE; what lies outside is cut), and does not use
	 * the cycle state but for its arena. Answers are then kept, and asked for again only for
	 * nodes that changed. 0: no promise. Without effect with pre_filter, pre_score or
	 * score_extensions. BERTH_VERIFY=1 ends the process when a kept score is not what score
	 * would say.
	 */
	uint32_t score_reads;
};

/** The plugin's name: ops->name. */
BERTH_API const char *berth_plugin_name(const struct berth_plugin *plugin);

/* Arguments: pluginConfig[].args of a profile. Spec 02 section 7. */

/** What the structure has at a field's offset. */
enum berth_args_type {
	BERTH_ARGS_STR,      /**< struct berth_str */
	BERTH_ARGS_BOOL,     /**< bool */
	BERTH_ARGS_INT32,    /**< int32_t */
	BERTH_ARGS_INT64,    /**< int64_t */
	BERTH_ARGS_FLOAT,    /**< float */
	BERTH_ARGS_DURATION, /**< int64_t nanoseconds, written as "1m30s" */
	BERTH_ARGS_STR_LIST, /**< struct berth_args_list of struct berth_str */
	BERTH_ARGS_OBJECT,   /**< the structure of `schema`, in place */
	BERTH_ARGS_LIST,     /**< struct berth_args_list of structures of `schema` */
};

/** A list; the elements are in the arena. */
struct berth_args_list {
	void *items;    /**< the first element */
	uint32_t count; /**< elements */
	bool present;   /**< the arguments name the list, even if it is empty */
};

struct berth_args_schema;

/** One member of a JSON object. */
struct berth_args_field {
	const char *name;                       /**< in the document, case-sensitive */
	enum berth_args_type type;              /**< what lies at offset */
	size_t offset;                          /**< offsetof in the structure */
	const struct berth_args_schema *schema; /**< BERTH_ARGS_OBJECT and _LIST; else NULL */
};

/** One JSON object and its structure. */
struct berth_args_schema {
	const char *type_name;                 /**< in messages: "CustomScoreArgs" */
	size_t size;                           /**< of the structure */
	const struct berth_args_field *fields; /**< in any order */
	uint32_t field_count;                  /**< entries of fields, at most 64 */
	bool strict;                           /**< unknown and repeated names are errors */
};

/** Objects may lie this deep in each other. */
#define BERTH_ARGS_DEPTH_MAX 16

/**
 * DecodeInto: JSON or YAML arguments into the structure @p into, which holds the defaults of what
 * may be absent. No arguments: nothing happens. Texts and lists are placed in @p arena.
 * BERTH_ERR_INVALID: "json: cannot unmarshal string into Go struct field CustomScoreArgs.weight of
 * type int32", "want args of type runtime.Unknown, got *config.NodeAffinityArgs", "not supported
 * content type text/plain"; BERTH_ERR_SYNTAX; BERTH_ERR_TOO_LARGE. After an error the content of
 * @p into is undefined.
 */
BERTH_API BERTH_MUST_USE int berth_plugin_args_decode_into(const struct berth_raw_args *args,
	const struct berth_args_schema *schema, struct berth_arena *arena, void *into,
	struct berth_error *err);

/**
 * PluginFactory: makes the instance of a profile. @p args (never NULL) and @p handle are borrowed
 * for the life of the instance. 0 with *out_plugin set, its ops included; or a negative code with
 * the reason in err, which the start reports as `initializing plugin "<name>": <err>`.
 */
typedef int (*berth_plugin_factory_fn)(void *context, const struct berth_raw_args *args,
	const struct berth_handle *handle, struct berth_plugin **out_plugin,
	struct berth_error *err);

/** Version of the interface between berth and shared objects with plugins. */
#define BERTH_PLUGIN_ABI_VERSION 1

/** A plugin that a shared object brings. */
struct berth_plugin_descriptor {
	const char *name;               /**< unique in the registry */
	berth_plugin_factory_fn create; /**< makes an instance */
	void *context;                  /**< handed to create */
};

/** What a shared object brings. */
struct berth_plugin_module {
	uint32_t abi_version; /**< BERTH_PLUGIN_ABI_VERSION; stays the first member for ever */
	const char *name;     /**< of the module, for messages */
	const struct berth_plugin_descriptor *plugins; /**< plugin_count entries */
	uint32_t plugin_count;                         /**< at least 1 */
};

/**
 * The one symbol a shared object with plugins must export: it defines
 * `BERTH_API const struct berth_plugin_module berth_plugin_module = {...};`. The library itself has
 * no such symbol.
 */
extern BERTH_API const struct berth_plugin_module berth_plugin_module;

#ifdef __cplusplus
}
#endif
#endif
