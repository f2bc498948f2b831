/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BERTH_ENGINE_H
#define BERTH_ENGINE_H
/**
 * @file
 * The scheduler as a library: object changes go in, decisions and writes come out. Spec 03 and 04,
 * upstream v1.36.
 *
 * The owner of the engine passes changes of the cluster to it (berth_engine_put(),
 * berth_engine_delete()), calls berth_engine_step() until the function returns false, carries out
 * the writes of the engine (berth_engine_take_request()), reports their results
 * (berth_engine_answer()), and calls berth_engine_step() again at berth_engine_next_deadline_ns().
 * The effect of a write on an object is a change, too, which the owner must pass to the engine. A
 * whole scheduler is examples/tiny_sched.c.
 *
 * Times are nanoseconds on the owner's clock, which must not go back. One thread at a time may use
 * an engine.
 *
 * @code{.c}
 * static void schedule_all(struct berth_engine *engine, int64_t now_ns)
 * {
 *     struct berth_decision decision;
 *     struct berth_request request;
 *
 *     while (berth_engine_step(engine, now_ns, &decision)) {
 *         bool failed = decision.outcome == BERTH_DECISION_FAILED;
 *
 *         printf("%.*s: %.*s\n", BERTH_STR_ARG(decision.pod_name),
 *             BERTH_STR_ARG(failed ? decision.message : decision.node_name));
 *         while (berth_engine_take_request(engine, &request)) {
 *             struct berth_answer done = {0};
 *
 *             berth_engine_answer(engine, request.id, &done);
 *         }
 *     }
 * }
 * @endcode
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "berth/api.h"
#include "berth/config.h"
#include "berth/error.h"
#include "berth/node_info.h"
#include "berth/object.h"
#include "berth/pod_info.h"
#include "berth/registry.h"
#include "berth/str.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A scheduler with its queue and its view of the cluster. Opaque. */
struct berth_engine;

/** How to choose among several equally good nodes; upstream's choice is racy. */
enum berth_tie_policy {
	BERTH_TIE_HEAP, /**< upstream's node heap over the search order (spec 03 section 7) */
	BERTH_TIE_FIRST_BY_NAME, /**< the first name in byte order, for tests */
	BERTH_TIE_RANDOM,        /**< uniform, from the seed */
};

/** Receives lines that upstream logs as errors. The line is borrowed for the call. */
typedef void (*berth_warn_fn)(void *context, struct berth_str line);

/**
 * Receives lines that upstream logs only if its verbosity is at least @p verbosity (0: always), for
 * example that an extender was skipped. The line is borrowed for the call.
 */
typedef void (*berth_log_fn)(void *context, int verbosity, struct berth_str line);

/* Extenders: transport of their requests. Spec 11b section 9. */

/** tlsConfig of an extender; data takes precedence over files. */
struct berth_extender_tls {
	bool insecure;                /**< the server's certificate is not verified */
	struct berth_str server_name; /**< server name to verify; "": the URL's host */
	struct berth_str cert_file;   /**< client certificate */
	struct berth_str key_file;    /**< private key of cert_file */
	struct berth_str ca_file;     /**< trusted certificate authorities */
	struct berth_str cert_data;   /**< in place of cert_file */
	struct berth_str key_data;    /**< in place of key_file */
	struct berth_str ca_data;     /**< in place of ca_file */
};

/** A request to an extender. Borrowed for the call. */
struct berth_extender_request {
	struct berth_str url;                 /**< urlPrefix and verb */
	struct berth_str body;                /**< JSON */
	int64_t timeout_ns;                   /**< for the whole exchange */
	bool enable_https;                    /**< enableHTTPS */
	const struct berth_extender_tls *tls; /**< NULL: no tlsConfig */
};

/** The response of an extender. */
struct berth_extender_response {
	int status;            /**< HTTP status; anything but 200 is an error */
	struct berth_str body; /**< must live as long as the arena; JSON if the status is 200 */
};

/** Sends requests to extenders; see berth_engine_options.extender_transport. */
struct berth_extender_transport {
	/**
	 * Sends the body by POST as Content-Type application/json. Returns 0 with the response,
	 * whatever its HTTP status, or a negative code with err set if there is no response. May
	 * block; must not use the engine.
	 */
	int (*post)(void *context, const struct berth_extender_request *request,
		struct berth_arena *arena, struct berth_extender_response *out_response,
		struct berth_error *err);
	void *context; /**< handed to post; must outlive the engine */
};

/** Start from BERTH_ENGINE_OPTIONS_INIT. */
struct berth_engine_options {
	size_t size;                      /**< sizeof(struct berth_engine_options) */
	enum berth_tie_policy tie_policy; /**< choice among equally good nodes */
	uint64_t seed;                    /**< seed of all random choices */
	/**
	 * Compute every decision twice, by two implementations, and abort if the results differ.
	 */
	bool verify;
	/** Replaces the configured percentageOfNodesToScore when not negative. */
	int32_t percentage_of_nodes_to_score;
	/** Registry of out-of-tree plugins; NULL: no such plugins. Must outlive the engine. */
	const struct berth_registry *registry;
	berth_warn_fn warn; /**< may be NULL */
	void *warn_context; /**< handed to warn */
	berth_log_fn log;   /**< may be NULL */
	void *log_context;  /**< handed to log */
	/** Sends requests to the configuration's extenders; NULL: extenders are ignored. Copied. */
	const struct berth_extender_transport *extender_transport;
};

/** The defaults. */
#define BERTH_ENGINE_OPTIONS_INIT \
	{ \
		sizeof(struct berth_engine_options), BERTH_TIE_HEAP, 0, false, -1, 0, 0, 0, 0, 0, \
			0 \
	}

/**
 * Creates an engine with the profiles of the configuration. The engine takes a reference to @p
 * config. @p options NULL: the defaults. @p out_engine is owned: berth_engine_destroy(). Errors
 * have upstream's texts (spec 02 sections 8.4 and 9).
 */
BERTH_API BERTH_MUST_USE int berth_engine_create(struct berth_config *config,
	const struct berth_engine_options *options, struct berth_engine **out_engine,
	struct berth_error *err);
/** Releases the engine; drops requests without an answer. NULL is accepted. */
BERTH_API void berth_engine_destroy(struct berth_engine *engine);

/* Changes. */

/**
 * Adds an object, or replaces the version that the engine has. Objects of kinds that the scheduler
 * does not read are ignored. Terminal pods count as deleted. The engine takes a reference to the
 * object. BERTH_ERR_INTERNAL: the changes contradict each other ("Scheduler cache is corrupted
 * ..."); upstream would end the process.
 */
BERTH_API BERTH_MUST_USE int berth_engine_put(struct berth_engine *engine,
	struct berth_object *object, int64_t now_ns, struct berth_error *err);
/**
 * Removes the object of this kind, namespace and name, whatever its version; unknown objects are
 * ignored. Errors as in berth_engine_put().
 */
BERTH_API BERTH_MUST_USE int berth_engine_delete(struct berth_engine *engine,
	const struct berth_object *object, int64_t now_ns, struct berth_error *err);

/* Scheduling. */

/** How an attempt to schedule a pod ended. */
enum berth_decision_outcome {
	BERTH_DECISION_BOUND,   /**< the binding was written */
	BERTH_DECISION_WAITING, /**< a node is reserved; Permit, a volume or an answer is pending */
	BERTH_DECISION_FAILED,  /**< reason and message say why */
	BERTH_DECISION_SKIPPED, /**< the pod is being deleted or is already assumed */
};

/**
 * The result of one scheduling attempt. Texts are borrowed until the next call of
 * berth_engine_step().
 */
struct berth_decision {
	enum berth_decision_outcome outcome; /**< how the attempt ended */
	struct berth_str pod_namespace;      /**< of the pod */
	struct berth_str pod_name;           /**< of the pod */
	struct berth_str node_name;          /**< bound, waiting: the node */
	/** Failed: "Unschedulable" or "SchedulerError", as in the condition PodScheduled. */
	struct berth_str reason;
	struct berth_str message; /**< failed: message of the condition */
};

/**
 * Runs what is due at @p now_ns, then starts or finishes one scheduling attempt. Returns false when
 * nothing is left to do before the next change, answer or deadline; @p out_decision (may be NULL)
 * is then untouched.
 */
BERTH_API bool berth_engine_step(
	struct berth_engine *engine, int64_t now_ns, struct berth_decision *out_decision);
/** Time at which to call berth_engine_step() again if nothing changes; INT64_MAX: never. */
BERTH_API int64_t berth_engine_next_deadline_ns(const struct berth_engine *engine);

/*
 * Writes. The engine writes no ResourceClaims: it assumes allocations and reservations in memory
 * until berth_engine_put() passes a newer version of the claim.
 * The claim that it makes for a pod's extended resources exists in memory only, until the pod is
 * deleted.
 */

/** A write that the owner of the engine must send to the API server. */
enum berth_request_kind {
	/** POST pods/NAME/binding with target node_name. */
	BERTH_REQUEST_BIND,
	/**
	 * PATCH pods/NAME/status: set the condition (when has_condition) and nominatedNodeName
	 * (when has_nominated_node_name; "" clears the name).
	 */
	BERTH_REQUEST_PATCH_STATUS,
	/** DELETE pods/NAME: a victim of preemption, with the pod's own grace period. */
	BERTH_REQUEST_DELETE_POD,
	/** POST an event about the pod: type, reason, action, note. No answer is expected. */
	BERTH_REQUEST_EVENT,
	/**
	 * PUT persistentvolumes/NAME: set claimRef to the request's claim (of kind
	 * PersistentVolumeClaim) and, when bound_by_controller, the annotation
	 * pv.kubernetes.io/bound-by-controller=yes. The write must fail if the volume's
	 * resourceVersion is no longer resource_version.
	 */
	BERTH_REQUEST_BIND_VOLUME,
	/**
	 * PUT persistentvolumeclaims/NAME: set the annotation volume.kubernetes.io/selected-node to
	 * node_name. The write must fail if the claim's resourceVersion is no longer
	 * resource_version.
	 */
	BERTH_REQUEST_SELECT_NODE,
	/**
	 * PATCH podgroups/NAME/status of scheduling.k8s.io/v1alpha2: set the condition
	 * (gate GenericWorkload).
	 */
	BERTH_REQUEST_PATCH_POD_GROUP,
};

/** A condition to write to a pod or a PodGroup (spec 01 section 4.3, 09 section 2). */
struct berth_pod_condition {
	struct berth_str type;       /**< "PodScheduled", "DisruptionTarget", "PodGroupScheduled" */
	struct berth_str status;     /**< "True" or "False" */
	struct berth_str reason;     /**< e.g. "Unschedulable" */
	struct berth_str message;    /**< for people */
	int64_t observed_generation; /**< metadata.generation that the scheduler saw */
};

/** Reference to a PersistentVolumeClaim. */
struct berth_claim_reference {
	struct berth_str claim_namespace;  /**< metadata.namespace */
	struct berth_str claim_name;       /**< metadata.name */
	berth_uid uid;                     /**< metadata.uid */
	struct berth_str resource_version; /**< metadata.resourceVersion */
};

/**
 * A write. Its texts are valid until berth_engine_answer(); those of an event, until the next
 * berth_engine_take_request().
 */
struct berth_request {
	uint64_t id;                          /**< for berth_engine_answer(); never 0 */
	enum berth_request_kind kind;         /**< decides which members are set */
	struct berth_str object_namespace;    /**< of the object to write; "" for volumes */
	struct berth_str object_name;         /**< of the object to write */
	berth_uid uid;                        /**< of the object to write */
	struct berth_str node_name;           /**< bind, select node */
	bool has_condition;                   /**< patches: set the condition */
	struct berth_pod_condition condition; /**< patch status, patch pod group */
	bool has_nominated_node_name;         /**< patch status: set the name */
	struct berth_str nominated_node_name; /**< patch status; "" clears it */
	struct berth_str event_type;          /**< "Normal" or "Warning" */
	struct berth_str event_reason; /**< "Scheduled", "FailedScheduling", "Preempted", ... */
	struct berth_str event_action; /**< "Binding", "Scheduling", "Preempting", ... */
	struct berth_str event_note;   /**< at most 1024 bytes */
	struct berth_claim_reference claim; /**< bind volume */
	bool bound_by_controller;           /**< bind volume */
	struct berth_str resource_version;  /**< bind volume, select node */
};

/**
 * Takes the oldest pending write; false if no write is pending. Take all writes after each step.
 */
BERTH_API bool berth_engine_take_request(
	struct berth_engine *engine, struct berth_request *out_request);

/** How a write ended. */
struct berth_answer {
	/**
	 * BERTH_OK, BERTH_ERR_NOT_FOUND (the object no longer exists), or another negative code.
	 */
	int code;
	struct berth_str message; /**< failed: the API's error text, which users see */
	/** Volumes and claims: metadata.resourceVersion in the server's answer. */
	struct berth_str resource_version;
};

/**
 * Reports the result of a request; texts of @p answer are copied. Events need no answer. Unknown
 * ids are ignored.
 */
BERTH_API void berth_engine_answer(
	struct berth_engine *engine, uint64_t id, const struct berth_answer *answer);

/* Queries. */

/** State of a pod in the scheduler. */
enum berth_pod_place {
	BERTH_PLACE_UNKNOWN,       /**< not known, terminal, or pending for another scheduler */
	BERTH_PLACE_ACTIVE,        /**< in the active queue */
	BERTH_PLACE_BACKOFF,       /**< waits for the end of the backoff */
	BERTH_PLACE_UNSCHEDULABLE, /**< rejected; waits for an event that its plugins registered */
	BERTH_PLACE_GATED,         /**< a PreEnqueue plugin keeps the pod out of the queue */
	BERTH_PLACE_BINDING,       /**< a node is reserved; not bound yet */
	BERTH_PLACE_BOUND,         /**< on its node */
};

/** Name of a place: "active", "backoff", "unschedulable", ... */
BERTH_API const char *berth_pod_place_string(enum berth_pod_place place);

/** Why a pod waits. Lists and texts are in the arena of the call. */
struct berth_pod_wait {
	enum berth_pod_place place; /**< state of the pod */
	struct berth_str node_name; /**< binding, bound: the node */
	uint32_t attempts;          /**< of a queued pod so far; 0 for other pods */
	/** When a queued pod last entered the queue; BERTH_TIME_UNSET for other pods. */
	int64_t timestamp_ns;
	int64_t backoff_until_ns;            /**< backoff; BERTH_TIME_UNSET otherwise */
	const struct berth_str *rejected_by; /**< plugins that rejected the pod */
	uint32_t rejected_by_count;          /**< entries of rejected_by */
	struct berth_str gated_by;           /**< gated: the plugin */
	struct berth_str message; /**< of the last failed attempt; "" when there was none */
};

/** Describes the state of a pod, found by name. */
BERTH_API void berth_engine_pod_wait(struct berth_engine *engine, struct berth_str pod_namespace,
	struct berth_str pod_name, struct berth_arena *arena, struct berth_pod_wait *out_wait);
/** Number of queued pods in a state (ACTIVE to GATED; 0 for other states). */
BERTH_API uint32_t berth_engine_queued_count(
	const struct berth_engine *engine, enum berth_pod_place place);

/** Called for each queued pod; false ends the walk. */
typedef bool (*berth_queued_pod_visit_fn)(
	void *context, const struct berth_queued_pod *pod, enum berth_pod_place place);
/** Visits all queued pods, in the places ACTIVE to GATED. */
BERTH_API void berth_engine_for_each_queued(
	const struct berth_engine *engine, berth_queued_pod_visit_fn visit, void *context);
/** Number of nodes. */
BERTH_API uint32_t berth_engine_node_count(const struct berth_engine *engine);
/**
 * Returns a node with its pods, assumed pods included, or NULL for an unknown node. The result
 * lives in the arena and is valid until the next change or step.
 */
BERTH_API const struct berth_node_info *berth_engine_node_info(
	struct berth_engine *engine, struct berth_str node_name, struct berth_arena *arena);

#ifdef __cplusplus
}
#endif
#endif
