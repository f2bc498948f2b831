/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BERTH_PLUGIN_H
#define BERTH_PLUGIN_H
/**
 * @file
 * Out-of-tree plugins. A plugin is a constant table of functions and one instance per profile; it
 * implements any subset of the extension points: a NULL slot means that the plugin does not
 * implement the extension point. Spec 02 section 4, upstream v1.36.
 *
 * All functions are called on the scheduling thread. `pod`, `node` and the objects reached through
 * them are valid for the call. Data of the cycle and texts of statuses live in
 * berth_cycle_state_arena(). With BERTH_VERIFY=1 every decision is computed twice, so the results
 * of PreEnqueue to Score must not depend on how often they are called.
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
/**
 * Largest weighted total of a node's scores; a configuration with weights that allow a larger total
 * is refused.
 */
#define BERTH_MAX_TOTAL_SCORE INT64_MAX

/** Metric with the durations of plugin calls, which are sampled (spec 02 section 14). */
#define BERTH_METRIC_PLUGIN_EXECUTION_DURATION "scheduler_plugin_execution_duration_seconds"

struct berth_plugin_ops;

/** Base of every plugin instance; first member of the plugin's structure. */
struct berth_plugin {
	const struct berth_plugin_ops *ops; /**< set by the factory */
};

/** Score of a node. */
struct berth_node_score {
	struct berth_str name; /**< name of the node */
	int64_t score;         /**< raw, then normalised */
};

/** One entry per scored node, in the order of the node list. */
struct berth_node_score_list {
	struct berth_node_score *items; /**< the plugin may change the scores, not the names */
	uint32_t count;                 /**< entries */
};

/** PreFilterResult: restricts the nodes that Filter examines (spec 02 section 2). */
struct berth_pre_filter_result {
	bool restricted; /**< false: all nodes; true with a count of 0: no node */
	uint32_t count;  /**< entries of names */
	/** Distinct names; in the arena of the cycle or in the memory of the pod. */
	const struct berth_str *names;
};

/** How PostFilter changes status.nominatedNodeName. */
enum berth_nominating_mode {
	BERTH_NOMINATING_NOOP,     /**< keep the pod's value */
	BERTH_NOMINATING_OVERRIDE, /**< set the value; "" clears it */
};

/** PostFilterResult (spec 02 section 2). */
struct berth_post_filter_result {
	bool present;                         /**< false: no result */
	enum berth_nominating_mode mode;      /**< how status.nominatedNodeName changes */
	struct berth_str nominated_node_name; /**< for OVERRIDE; in the arena of the cycle */
};

/** Changes of an object, as bits (spec 02 section 10.1). */
enum berth_action {
	BERTH_ACTION_ADD = 1,                            /**< the object was added */
	BERTH_ACTION_DELETE = 2,                         /**< the object was deleted */
	BERTH_ACTION_UPDATE_NODE_ALLOCATABLE = 4,        /**< status.allocatable */
	BERTH_ACTION_UPDATE_NODE_LABEL = 8,              /**< labels of a node */
	BERTH_ACTION_UPDATE_NODE_TAINT = 16,             /**< taints, spec.unschedulable */
	BERTH_ACTION_UPDATE_NODE_CONDITION = 32,         /**< status.conditions */
	BERTH_ACTION_UPDATE_NODE_ANNOTATION = 64,        /**< annotations of a node */
	BERTH_ACTION_UPDATE_NODE_DECLARED_FEATURE = 128, /**< status.declaredFeatures */
	BERTH_ACTION_UPDATE_POD_LABEL = 256,             /**< labels of a pod */
	BERTH_ACTION_UPDATE_POD_SCALE_DOWN = 512,        /**< the pod requests less */
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
	BERTH_QUEUEING_HINT_SKIP, /**< the event cannot make the pod schedulable */
	/** The event may make the pod schedulable: the pod is tried again. */
	BERTH_QUEUEING_HINT_QUEUE,
};

/**
 * Decides whether an event may make @p pod schedulable. @p old_object and @p new_object: const
 * struct berth_pod * for events of pods, const struct berth_node * for events of nodes, and so on;
 * @p old_object is NULL for added, @p new_object for deleted objects. If the function sets @p err,
 * the result counts as QUEUE.
 */
typedef enum berth_queueing_hint (*berth_queueing_hint_fn)(struct berth_plugin *plugin,
	const struct berth_pod_info *pod, const void *old_object, const void *new_object,
	struct berth_error *err);

/** Maximum number of events with a hint that one plugin may register. */
#define BERTH_HINTS_MAX 32

/** An event after which a pod that the plugin rejected may be schedulable. */
struct berth_event_registration {
	struct berth_cluster_event event; /**< the event */
	berth_queueing_hint_fn hint;      /**< NULL: always QUEUE */
};

/** Collects the parts of a pod's signature (spec 02 section 6). Opaque. */
struct berth_sign_fragments;
/**
 * Adds a value that the plugin's verdicts and scores depend on; pods with equal signatures get
 * equal verdicts and scores. Key and value (any text) are copied.
 */
BERTH_API void berth_sign_fragments_add(
	struct berth_sign_fragments *fragments, struct berth_str key, struct berth_str value);

/** Placement: nodes on which a pod group might run together (spec 02 section 5.15). */
struct berth_placement {
	struct berth_str name;              /**< unique among the placements of the group */
	const struct berth_str *node_names; /**< nodes of the snapshot */
	uint32_t node_count;                /**< entries of node_names */
};

/** Less of QueueSort: whether @p a comes before @p b. */
typedef bool (*berth_less_fn)(struct berth_plugin *plugin, const struct berth_queued_pod *a,
	const struct berth_queued_pod *b);

/** PreFilterExtensions: update PreFilter's data for hypothetical changes (spec 02 section 5.2). */
struct berth_pre_filter_extensions {
	/**
	 * Updates the data as if @p pod_to_add ran on the node, too. Returns Success; any other
	 * code is an error.
	 */
	struct berth_status (*add_pod)(struct berth_plugin *plugin, struct berth_cycle_state *state,
		const struct berth_pod_info *pod_to_schedule,
		const struct berth_pod_info *pod_to_add, const struct berth_node_info *node);
	/**
	 * Updates the data as if @p pod_to_remove had left the node. Returns Success; any other
	 * code is an error.
	 */
	struct berth_status (*remove_pod)(struct berth_plugin *plugin,
		struct berth_cycle_state *state, const struct berth_pod_info *pod_to_schedule,
		const struct berth_pod_info *pod_to_remove, const struct berth_node_info *node);
};

/** ScoreExtensions (spec 02 section 5.7). */
struct berth_score_extensions {
	/**
	 * Rewrites all scores of the plugin into 0..100. Returns Success; any other code is an
	 * error.
	 */
	struct berth_status (*normalize_score)(struct berth_plugin *plugin,
		struct berth_cycle_state *state, const struct berth_pod_info *pod,
		struct berth_node_score_list *scores);
};

/** How to normalise raw scores to 0..100 for a plugin without score_extensions. */
enum berth_normalize {
	BERTH_NORMALIZE_NONE, /**< raw scores are in 0..100 */
	/** DefaultNormalizeScore: the best feasible node gets 100, others in proportion. */
	BERTH_NORMALIZE_DEFAULT,
	/** 100 minus the score of BERTH_NORMALIZE_DEFAULT: small raw scores are better. */
	BERTH_NORMALIZE_DEFAULT_REVERSE,
};

/** Parts of a node that a score depends on, as bits. */
enum berth_reads {
	BERTH_READS_PODS = 1,        /**< requested resources, number of pods */
	BERTH_READS_PORTS = 2,       /**< used host ports */
	BERTH_READS_ALLOCATABLE = 4, /**< allocatable resources */
	BERTH_READS_LABELS = 8,      /**< labels */
	BERTH_READS_TAINTS = 16,     /**< taints and spec.unschedulable */
	BERTH_READS_IMAGES = 32,     /**< images */
	BERTH_READS_NAME = 128,      /**< the name, which never changes */
};

/**
 * The plugin's functions; constant, valid as long as the plugin. A slot is NULL if the plugin does
 * not need the function. The comment of a slot lists the codes that the function may return; any
 * other code counts as an error.
 */
struct berth_plugin_ops {
	size_t size; /**< sizeof(struct berth_plugin_ops) when the plugin was compiled */
	/** Name of the plugin: unique, the key in the registry and in the configuration. */
	const char *name;
	/** Releases the instance. NULL: there is nothing to release. */
	void (*destroy)(struct berth_plugin *plugin);

	/**
	 * PreEnqueue: whether the pod may enter the queue. Success or a rejection (spec 02 section
	 * 5.16).
	 */
	struct berth_status (*pre_enqueue)(struct berth_plugin *plugin,
		const struct berth_pod_info *pod, struct berth_arena *arena);
	/**
	 * QueueSort: the order of the active queue; a profile has exactly one QueueSort plugin
	 * (spec 04-queue 4).
	 */
	berth_less_fn less;
	/**
	 * EventsToRegister: the events after which a pod that this plugin rejected is tried again.
	 * The plugin owns the list. NULL slot: any event (spec 02 section 10.2).
	 */
	int (*events_to_register)(struct berth_plugin *plugin,
		const struct berth_event_registration **out_events, uint32_t *out_count,
		struct berth_error *err);
	/**
	 * SignPod: adds the values that the plugin's verdicts and scores depend on, so that pods
	 * with equal signatures share verdicts. Success, Unschedulable (verdicts for this pod must
	 * not be reused), Error. NULL: verdicts are not reused for any pod (spec 02 section 6).
	 */
	struct berth_status (*sign)(struct berth_plugin *plugin, const struct berth_pod_info *pod,
		struct berth_sign_fragments *fragments);

	/**
	 * PreFilter, once before the filters: Success, Skip (the plugin's Filter is not called for
	 * this pod), a rejection of the pod, Error (spec 02 section 5.1). @p out_result is empty on
	 * entry, which means that all nodes are allowed.
	 */
	struct berth_status (*pre_filter)(struct berth_plugin *plugin,
		struct berth_cycle_state *state, const struct berth_pod_info *pod,
		struct berth_pre_filter_result *out_result);
	/** Set by a PreFilter plugin whose data depends on other pods; else NULL. */
	const struct berth_pre_filter_extensions *pre_filter_extensions;
	/**
	 * Filter: whether the pod can run on @p node, which may be a hypothetical node and differ
	 * from the snapshot. Success, a rejection, Error (spec 02 section 5.3).
	 */
	struct berth_status (*filter)(struct berth_plugin *plugin, struct berth_cycle_state *state,
		const struct berth_pod_info *pod, const struct berth_node_info *node);
	/**
	 * PostFilter, when no node fits: Success (the pod may fit now), Unschedulable (the pod
	 * still does not fit), UnschedulableAndUnresolvable (no other plugin is tried), Error (spec
	 * 02 section 5.5).
	 */
	struct berth_status (*post_filter)(struct berth_plugin *plugin,
		struct berth_cycle_state *state, const struct berth_pod_info *pod,
		const struct berth_node_to_status *statuses,
		struct berth_post_filter_result *out_result);
	/**
	 * PreScore, once over the feasible nodes: Success, Skip (the plugin's Score is not called),
	 * Error.
	 */
	struct berth_status (*pre_score)(struct berth_plugin *plugin,
		struct berth_cycle_state *state, const struct berth_pod_info *pod,
		const struct berth_node_info *const *nodes, uint32_t node_count);
	/** Score: raw score of a feasible node; 0..100 after normalising. Success, Error. */
	struct berth_status (*score)(struct berth_plugin *plugin, struct berth_cycle_state *state,
		const struct berth_pod_info *pod, const struct berth_node_info *node,
		int64_t *out_score);
	/** Set by a Score plugin that normalises its raw scores itself; else NULL. */
	const struct berth_score_extensions *score_extensions;

	/**
	 * Reserve: updates the plugin's own state once a node is chosen. Success, a rejection,
	 * Error. If a plugin fails, unreserve is called for all plugins.
	 */
	struct berth_status (*reserve)(struct berth_plugin *plugin, struct berth_cycle_state *state,
		const struct berth_pod_info *pod, struct berth_str node_name);
	/** Unreserve: reverts Reserve, which may not have run. Must be idempotent. */
	void (*unreserve)(struct berth_plugin *plugin, struct berth_cycle_state *state,
		const struct berth_pod_info *pod, struct berth_str node_name);
	/**
	 * Permit: Success, Wait (with a timeout, at most 15 minutes), a rejection, Error (spec 02
	 * section 5.9). berth_handle_get_waiting_pod() finds the waiting pod.
	 */
	struct berth_status (*permit)(struct berth_plugin *plugin, struct berth_cycle_state *state,
		const struct berth_pod_info *pod, struct berth_str node_name,
		int64_t *out_timeout_ns);

	/**
	 * PreBindPreFlight: Success, Skip (the plugin's PreBind is not called), Error.
	 * *out_allow_parallel: the plugin's PreBind may run in parallel with that of other plugins
	 * (spec 02 section 5.10).
	 */
	struct berth_status (*pre_bind_pre_flight)(struct berth_plugin *plugin,
		struct berth_cycle_state *state, const struct berth_pod_info *pod,
		struct berth_str node_name, bool *out_allow_parallel);
	/**
	 * PreBind: work before the binding. Success, Wait, a rejection, Error. Must not block: Wait
	 * means "not finished"; the call is repeated with the same arguments after an event, or at
	 * the time that berth_cycle_state_wake_at() set. If the binding is canceled in the
	 * meantime, unreserve is called instead.
	 */
	struct berth_status (*pre_bind)(struct berth_plugin *plugin,
		struct berth_cycle_state *state, const struct berth_pod_info *pod,
		struct berth_str node_name);
	/**
	 * Bind: Success, Skip (the next Bind plugin is called), Wait as in pre_bind, a rejection,
	 * Error.
	 */
	struct berth_status (*bind)(struct berth_plugin *plugin, struct berth_cycle_state *state,
		const struct berth_pod_info *pod, struct berth_str node_name);
	/** PostBind: runs after the pod is bound. */
	void (*post_bind)(struct berth_plugin *plugin, struct berth_cycle_state *state,
		const struct berth_pod_info *pod, struct berth_str node_name);

	/**
	 * PlacementGenerate: proposes subsets of @p parent on which the pod group might fit.
	 * Results live in the arena. Returns Success; any other code is a failure (spec 02 section
	 * 5.15).
	 */
	struct berth_status (*generate_placements)(struct berth_plugin *plugin,
		struct berth_arena *arena, struct berth_str group_namespace,
		struct berth_str group_name, const struct berth_placement *parent,
		const struct berth_placement **out_placements, uint32_t *out_count);
	/**
	 * PlacementScore: raw score of a placement; @p pods are the pods of the group that got
	 * nodes in the placement. Returns Success; any other code is a failure.
	 */
	struct berth_status (*score_placement)(struct berth_plugin *plugin,
		struct berth_arena *arena, const struct berth_placement *placement,
		const struct berth_pod_info *const *pods, uint32_t pod_count, int64_t *out_score);
	/**
	 * Rewrites the placement scores in place into 0..100. Returns Success; any other code is a
	 * failure.
	 */
	struct berth_status (*normalize_placement_scores)(struct berth_plugin *plugin,
		struct berth_arena *arena, int64_t *scores, uint32_t count);

	/** How to normalise raw scores; ignored when score_extensions is set. */
	enum berth_normalize normalize;
	/**
	 * Bits of enum berth_reads: a promise that makes scoring many times faster, because the
	 * framework keeps scores and calls score() only for nodes that changed. 0: no promise. The
	 * plugin promises that score() depends only on the pod's spec (not on the pod's name,
	 * labels or annotations), on the plugin's arguments and on these parts of the node; that
	 * score() uses only the arena of the cycle state; and that score() returns Success with a
	 * raw score in 0..2^31-1 (0..100 with BERTH_NORMALIZE_NONE; other values are clipped).
	 * Ignored if pre_filter, pre_score or score_extensions is set. BERTH_VERIFY=1 aborts when a
	 * kept score differs from a computed score.
	 */
	uint32_t score_reads;
};

/** The plugin's name: ops->name. */
BERTH_API const char *berth_plugin_name(const struct berth_plugin *plugin);

/* Arguments: pluginConfig[].args of a profile. Spec 02 section 7. */

/** Type of a member of the structure that the arguments are decoded into. */
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

/** A decoded list; the elements are in the arena. */
struct berth_args_list {
	void *items;    /**< the first element */
	uint32_t count; /**< elements */
	bool present;   /**< the arguments contain the list, even if it is empty */
};

struct berth_args_schema;

/** One member of a JSON object. */
struct berth_args_field {
	const char *name;          /**< key in the document, case-sensitive */
	enum berth_args_type type; /**< type of the member at offset */
	size_t offset;             /**< offsetof the member in the structure */
	/** For BERTH_ARGS_OBJECT and BERTH_ARGS_LIST; else NULL. */
	const struct berth_args_schema *schema;
};

/** Maps a JSON object to a structure. */
struct berth_args_schema {
	const char *type_name;                 /**< name in messages: "CustomScoreArgs" */
	size_t size;                           /**< size of the structure */
	const struct berth_args_field *fields; /**< in any order */
	uint32_t field_count;                  /**< entries of fields, at most 64 */
	bool strict;                           /**< unknown and repeated names are errors */
};

/** Maximum nesting depth of objects. */
#define BERTH_ARGS_DEPTH_MAX 16

/**
 * DecodeInto: decodes JSON or YAML arguments into the structure @p into. Members that are absent
 * from the arguments stay unchanged, so set the defaults first. Texts and lists are placed in
 * @p arena. BERTH_ERR_INVALID: "json: cannot unmarshal string into Go struct field
 * CustomScoreArgs.weight of type int32", "want args of type runtime.Unknown, got
 * *config.NodeAffinityArgs", "not supported content type text/plain"; BERTH_ERR_SYNTAX;
 * BERTH_ERR_TOO_LARGE; BERTH_ERR_INTERNAL: the schema is not valid. After an error the content of
 * @p into is undefined.
 */
BERTH_API BERTH_MUST_USE int berth_plugin_args_decode_into(const struct berth_raw_args *args,
	const struct berth_args_schema *schema, struct berth_arena *arena, void *into,
	struct berth_error *err);

/**
 * PluginFactory: creates the plugin instance of a profile. @p args (never NULL) and @p handle are
 * borrowed for the life of the instance. Returns 0 with *out_plugin and its ops set, or a negative
 * code with the reason in err, which berth_engine_create() reports as `initializing plugin
 * "<name>": <err>`.
 */
typedef int (*berth_plugin_factory_fn)(void *context, const struct berth_raw_args *args,
	const struct berth_handle *handle, struct berth_plugin **out_plugin,
	struct berth_error *err);

/** Version of the interface between berth and shared objects with plugins. */
#define BERTH_PLUGIN_ABI_VERSION 1

/** A plugin of a shared object. */
struct berth_plugin_descriptor {
	const char *name;               /**< unique in the registry */
	berth_plugin_factory_fn create; /**< creates an instance */
	void *context;                  /**< handed to create */
};

/** The plugins of a shared object. */
struct berth_plugin_module {
	uint32_t abi_version; /**< BERTH_PLUGIN_ABI_VERSION; first member in all versions */
	const char *name;     /**< name of the module, for people; berth does not use it */
	const struct berth_plugin_descriptor *plugins; /**< plugin_count entries */
	uint32_t plugin_count;                         /**< at least 1 */
};

/**
 * The one symbol that a shared object with plugins must export: it defines `BERTH_API const struct
 * berth_plugin_module berth_plugin_module = {...};`. The library itself does not define the symbol.
 */
extern BERTH_API const struct berth_plugin_module berth_plugin_module;

#ifdef __cplusplus
}
#endif
#endif
