/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BERTH_VOLUME_BINDER_H
#define BERTH_VOLUME_BINDER_H
/**
 * @file
 * The volume binder: finds the volumes that the claims of a pod can get on a node, and writes the
 * objects that bind them. SchedulerVolumeBinder. Spec 07 sections 6 to 9 and 16, upstream v1.36.
 *
 * Results live in the arena that a function takes, and are valid until the arena is reset or the
 * scheduler's objects change. In a scheduling cycle, use berth_cycle_state_arena().
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "berth/api.h"
#include "berth/error.h"
#include "berth/handle.h"
#include "berth/lister.h"
#include "berth/node_info.h"
#include "berth/plugin.h"
#include "berth/pod_info.h"
#include "berth/storage.h"
#include "berth/str.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Why a node cannot hold a pod's volumes, spec 07 section 13. */

/** ConflictReason. */
enum berth_conflict_reason {
	/** `node(s) didn't find available persistent volumes to bind` (VolumeBindingNoMatch). */
	BERTH_CONFLICT_REASON_BIND_CONFLICT,
	/**
	 * `node(s) didn't match PersistentVolume's node affinity` (VolumeNodeAffinityConflict);
	 * until v1.32 `node(s) had volume node affinity conflict`.
	 */
	BERTH_CONFLICT_REASON_NODE_CONFLICT,
	/** `node(s) did not have enough free storage`. */
	BERTH_CONFLICT_REASON_NOT_ENOUGH_SPACE,
	/** `node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)`. */
	BERTH_CONFLICT_REASON_PV_NOT_EXIST,
};

/** Number of reasons. */
#define BERTH_CONFLICT_REASONS_MAX 4

/** The text of the reason in messages to users. */
BERTH_API const char *berth_conflict_reason_text(enum berth_conflict_reason reason);

/** ConflictReasons: empty when the pod's volumes fit the node. */
struct berth_conflict_reasons {
	enum berth_conflict_reason items[BERTH_CONFLICT_REASONS_MAX]; /**< each at most once */
	uint32_t count;                                               /**< entries of items */
};

/** Len: the number of reasons. */
BERTH_API uint32_t berth_conflict_reasons_len(const struct berth_conflict_reasons *reasons);
/** Less: whether the text of reason @p i comes before the text of reason @p j in byte order. */
BERTH_API bool berth_conflict_reasons_less(
	const struct berth_conflict_reasons *reasons, uint32_t i, uint32_t j);
/** Swap: exchanges two reasons. */
BERTH_API void berth_conflict_reasons_swap(
	struct berth_conflict_reasons *reasons, uint32_t i, uint32_t j);

/* Decisions about a pod's claims. */

/** Claims; the list is in an arena. */
struct berth_pvc_list {
	const struct berth_pvc *const *items; /**< in the order of the pod's volumes */
	uint32_t count;                       /**< entries of items */
};

/** Volumes of one storage class. */
struct berth_class_volumes {
	struct berth_str storage_class;        /**< name of the class */
	const struct berth_pv *const *volumes; /**< with assumptions, unordered */
	uint32_t volume_count;                 /**< entries of volumes */
};

/** PodVolumeClaims: claims of a pod, sorted by their state (spec 07 section 6). */
struct berth_pod_volume_claims {
	struct berth_pvc_list bound;     /**< claims that have a volume */
	struct berth_pvc_list delayed;   /**< unbound; to be bound once the pod has a node */
	struct berth_pvc_list immediate; /**< unbound; their binding does not wait for a pod */
	const struct berth_class_volumes *volumes_by_class; /**< for the delayed claims */
	uint32_t class_count;                               /**< entries of volumes_by_class */
	/** Private data of the binder. NULL if the binder did not make this structure. */
	void *work;
};

/** BindingInfo: a claim and the volume to bind to it. */
struct berth_binding_info {
	const struct berth_pvc *claim; /**< the claim */
	const struct berth_pv *volume; /**< the volume */
};

/** StorageResource, in bytes. */
struct berth_storage_resource {
	int64_t requested; /**< by the claim */
	int64_t capacity;  /**< of the volume */
};

/** spec.storageClassName of the volume; the annotation is not read. */
BERTH_API struct berth_str berth_binding_info_storage_class_name(
	const struct berth_binding_info *binding);
/** The storage that the claim requests and the capacity of the volume. */
BERTH_API struct berth_storage_resource berth_binding_info_storage_resource(
	const struct berth_binding_info *binding);

/** DynamicProvision: a claim whose volume is to be provisioned. */
struct berth_dynamic_provision {
	const struct berth_pvc *claim; /**< the claim */
	/** The driver's report of free storage; NULL: not limited, or already assumed. */
	const struct berth_csi_storage_capacity *node_capacity;
};

/** PodVolumes: the volumes that a pod needs on one node. */
struct berth_pod_volumes {
	const struct berth_binding_info *static_bindings;         /**< existing volumes */
	uint32_t static_count;                                    /**< entries of static_bindings */
	const struct berth_dynamic_provision *dynamic_provisions; /**< volumes to provision */
	uint32_t dynamic_count; /**< entries of dynamic_provisions */
	/**
	 * After BERTH_VOLUMES_PENDING: call again at this time at the latest; 0: only after an
	 * answer to a write.
	 */
	int64_t next_check_ns;
	/** Private data of the binder. NULL if the binder did not make this structure. */
	void *work;
};

/* The binder. */

/** Result of berth_volume_binder_bind_pod_volumes(): not finished, call again. */
#define BERTH_VOLUMES_PENDING 1

struct berth_volume_binder;

/**
 * The functions of a binder; programs may supply their own. Each slot is documented at the function
 * of the same name below. Errors of a slot become errors of VolumeBinding's extension points. The
 * slots get_eligible_nodes (then all nodes are eligible) and destroy may be NULL.
 */
struct berth_volume_binder_ops {
	/** Releases the binder. */
	void (*destroy)(struct berth_volume_binder *binder);
	/** Sorts the claims of a pod by their state. */
	int (*get_pod_volume_claims)(struct berth_volume_binder *binder,
		const struct berth_pod_info *pod, struct berth_arena *arena,
		struct berth_pod_volume_claims *out_claims, struct berth_error *err);
	/** Narrows the nodes by the volumes of bound claims. */
	void (*get_eligible_nodes)(struct berth_volume_binder *binder,
		const struct berth_pvc_list *bound_claims, struct berth_arena *arena,
		struct berth_pre_filter_result *out_nodes);
	/** Finds the volumes for the pod on one node. */
	int (*find_pod_volumes)(struct berth_volume_binder *binder,
		const struct berth_pod_info *pod, struct berth_pod_volume_claims *claims,
		const struct berth_node_info *node, struct berth_arena *arena,
		struct berth_pod_volumes **out_volumes, struct berth_conflict_reasons *out_reasons,
		struct berth_error *err);
	/** Assumes the volumes. @p volumes may be NULL when find_pod_volumes returned none. */
	int (*assume_pod_volumes)(struct berth_volume_binder *binder,
		const struct berth_pod_info *pod, struct berth_str node_name,
		struct berth_pod_volumes *volumes, struct berth_arena *arena, bool *out_all_bound,
		struct berth_error *err);
	/** Reverts the assumptions. */
	void (*revert_assumed_pod_volumes)(
		struct berth_volume_binder *binder, const struct berth_pod_volumes *volumes);
	/**
	 * Writes the bindings and waits for them. @p volumes may be NULL when find_pod_volumes
	 * returned none.
	 */
	int (*bind_pod_volumes)(struct berth_volume_binder *binder,
		const struct berth_pod_info *pod, struct berth_str node_name,
		struct berth_pod_volumes *volumes, struct berth_arena *arena,
		struct berth_error *err);
};

/** Base of every binder; first member of the binder's structure. */
struct berth_volume_binder {
	const struct berth_volume_binder_ops *ops; /**< the functions of the binder */
};

/** CapacityCheck: listers for the check of free storage (spec 07 section 7.6). */
struct berth_capacity_check {
	struct berth_lister csi_driver_lister;           /**< const struct berth_csi_driver * */
	struct berth_lister csi_storage_capacity_lister; /**< ..._csi_storage_capacity * */
};

/**
 * Objects that a binder reads and functions that write: the API client and informers of
 * NewVolumeBinder. A lister without functions means the objects of the scheduler behind the handle.
 * The lister of pods shows whether the pod still exists while its volumes are bound. Leave the
 * member nodes zero to use the scheduler's nodes, for which berth_handle_lister() has no lister.
 */
struct berth_volume_binder_listers {
	struct berth_lister pods;            /**< const struct berth_pod *; only get is called */
	struct berth_lister nodes;           /**< const struct berth_node * */
	struct berth_lister csi_nodes;       /**< const struct berth_csi_node * */
	struct berth_lister pvcs;            /**< const struct berth_pvc * */
	struct berth_lister pvs;             /**< const struct berth_pv * */
	struct berth_lister storage_classes; /**< const struct berth_storage_class * */
	void *client_context;                /**< handed to the two functions below */
	/**
	 * Writes spec.claimRef (and the annotation bound-by-controller) of @p pv for @p claim. @p
	 * in_out_version: the version that the write depends on; receives the new version, borrowed
	 * until the next call. BERTH_VOLUMES_PENDING: not answered yet, call again. NULL: the
	 * engine's requests write the volume.
	 */
	int (*bind_volume)(void *client_context, const struct berth_pv *pv,
		const struct berth_pvc *claim, struct berth_str *in_out_version,
		struct berth_error *err);
	/**
	 * Writes the annotation volume.kubernetes.io/selected-node, by the rules of bind_volume.
	 * Set both functions or neither.
	 */
	int (*select_node)(void *client_context, const struct berth_pvc *claim,
		struct berth_str node_name, struct berth_str *in_out_version,
		struct berth_error *err);
};

/** Start from BERTH_VOLUME_BINDER_OPTIONS_INIT. */
struct berth_volume_binder_options {
	size_t size; /**< sizeof(struct berth_volume_binder_options) */
	/** How long bind_pod_volumes waits, rounded down to seconds. 0: it does not wait. */
	int64_t bind_timeout_ns;
};

/** The default timeout: ten minutes. */
#define BERTH_VOLUME_BINDER_OPTIONS_INIT \
	{ \
		sizeof(struct berth_volume_binder_options), INT64_C(600000000000) \
	}

/**
 * NewVolumeBinder: creates berth's binder, which uses the clock and the API requests of the handle.
 * NULL for @p listers or @p capacity_check: the scheduler's objects; NULL for @p options: the
 * defaults. The binder reads the caller's listers only in
 * berth_volume_binder_get_pod_volume_claims() and berth_volume_binder_bind_pod_volumes(), each time
 * all objects. owned: berth_volume_binder_destroy(), before the handle ends.
 */
BERTH_API struct berth_volume_binder *berth_volume_binder_create(const struct berth_handle *handle,
	const struct berth_volume_binder_listers *listers,
	const struct berth_capacity_check *capacity_check,
	const struct berth_volume_binder_options *options);
/** Calls the destroy function of the binder. NULL is accepted. */
BERTH_API void berth_volume_binder_destroy(struct berth_volume_binder *binder);

/**
 * GetPodVolumeClaims (spec 07 section 6). BERTH_ERR_NOT_FOUND: a claim does not exist; other errors
 * as in the spec. @p out_claims is valid for one cycle.
 */
BERTH_API int berth_volume_binder_get_pod_volume_claims(struct berth_volume_binder *binder,
	const struct berth_pod_info *pod, struct berth_arena *arena,
	struct berth_pod_volume_claims *out_claims, struct berth_error *err);
/**
 * GetEligibleNodes (spec 07 section 16.2): the nodes of the snapshot that the volumes of bound
 * claims admit; out_nodes->restricted is false when the volumes admit all nodes or a volume is
 * missing. Upstream has removed the function; here it is exact: find_pod_volumes returns
 * BERTH_CONFLICT_REASON_NODE_CONFLICT on every other node. O(nodes times claims).
 */
BERTH_API void berth_volume_binder_get_eligible_nodes(struct berth_volume_binder *binder,
	const struct berth_pvc_list *bound_claims, struct berth_arena *arena,
	struct berth_pre_filter_result *out_nodes);
/**
 * FindPodVolumes (spec 07 section 7). @p out_reasons: why the volumes do not fit the node; empty
 * when they fit, and then @p out_volumes (in the arena, may be NULL) is set.
 */
BERTH_API int berth_volume_binder_find_pod_volumes(struct berth_volume_binder *binder,
	const struct berth_pod_info *pod, struct berth_pod_volume_claims *claims,
	const struct berth_node_info *node, struct berth_arena *arena,
	struct berth_pod_volumes **out_volumes, struct berth_conflict_reasons *out_reasons,
	struct berth_error *err);
/**
 * AssumePodVolumes (spec 07 section 8). @p volumes receives the assumed objects. @p out_all_bound:
 * every claim is bound already, and nothing was assumed. On failure nothing is assumed.
 */
BERTH_API int berth_volume_binder_assume_pod_volumes(struct berth_volume_binder *binder,
	const struct berth_pod_info *pod, struct berth_str node_name,
	struct berth_pod_volumes *volumes, struct berth_arena *arena, bool *out_all_bound,
	struct berth_error *err);
/** RevertAssumedPodVolumes: drops the assumptions. */
BERTH_API void berth_volume_binder_revert_assumed_pod_volumes(
	struct berth_volume_binder *binder, const struct berth_pod_volumes *volumes);
/**
 * BindPodVolumes (spec 07 section 9): returns 0 when everything is bound, or BERTH_VOLUMES_PENDING:
 * call again with the same arguments when a write was answered, at the latest at
 * volumes->next_check_ns. The text of an error is `binding volumes: ...` or the text of the API's
 * error. Without API requests, volumes count as bound once they are assumed.
 */
BERTH_API int berth_volume_binder_bind_pod_volumes(struct berth_volume_binder *binder,
	const struct berth_pod_info *pod, struct berth_str node_name,
	struct berth_pod_volumes *volumes, struct berth_arena *arena, struct berth_error *err);

/** An operation of the metric volume_scheduling_stage_error_total. */
enum berth_volume_stage {
	BERTH_VOLUME_STAGE_PREDICATE, /**< find_pod_volumes */
	BERTH_VOLUME_STAGE_ASSUME,    /**< assume_pod_volumes */
	BERTH_VOLUME_STAGE_BIND,      /**< bind_pod_volumes */
};

/** Failures of a binder of berth_volume_binder_create() so far; 0 for other binders. */
BERTH_API uint64_t berth_volume_binder_stage_errors(
	const struct berth_volume_binder *binder, enum berth_volume_stage stage);

#ifdef __cplusplus
}
#endif
#endif
