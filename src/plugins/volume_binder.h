/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_PLUGINS_VOLUME_BINDER_H
#define BT_PLUGINS_VOLUME_BINDER_H
/**
 * The volume binder finds volumes for a pod's claims on a node and binds them. The volume binder is
 * an interface, so that tests of VolumeBinding can replace the binder; bt_volume_binder_create
 * makes the real binder. Each VolumeBinding instance has a binder. Spec: 07 sections 6 to 9 and
 * 16.3.
 */
#include "api/storage.h"
#include "base/error.h"
#include "framework/plugin.h"

/**
 * Claims of one kind (bound, delayed, immediate; spec 07 section 6), in the order of the pod's
 * volumes, with repetitions. The memory is in the cycle's arena.
 */
struct bt_claim_list {
	const struct bt_persistent_volume_claim **items;
	uint32_t count;
};

struct bt_pod_volume_claims {
	struct bt_claim_list bound;
	struct bt_claim_list delayed;
	struct bt_claim_list immediate;
	void *work; /* private data of the binder for this cycle */
};

/** An existing volume for a claim. */
struct bt_static_binding {
	const struct bt_persistent_volume *volume;
	const struct bt_persistent_volume_claim *claim;
	/** Version of the volume. After the write: version of the written object. */
	struct bt_str resource_version;
};

/** A claim for which a volume must be provisioned. */
struct bt_dynamic_provision {
	const struct bt_persistent_volume_claim *claim;
	const struct bt_csi_storage_capacity
		*node_capacity; /* NULL: no limit, or the claim is assumed already */
};

/**
 * Resource versions of the written objects, in the order of the binding and provision lists. In the
 * arena.
 */
struct bt_volume_writes {
	struct bt_str *volume_versions;
	struct bt_str *claim_versions;
	uint32_t done; /* number of writes done: volumes first, then claims */
};

/** Progress of bind_pod_volumes if writes are asynchronous; zero memory: not started. */
struct bt_volume_progress {
	struct bt_volume_writes writes;
	int64_t next_check_ns; /* 0: the writes are not complete */
	int64_t deadline_ns;
};

/** Volumes and provisions that a pod needs on one node. */
struct bt_pod_volumes {
	struct bt_static_binding *static_bindings;
	uint32_t static_count;
	struct bt_dynamic_provision *dynamic_provisions;
	uint32_t dynamic_count;
	struct bt_volume_progress progress; /* progress of bind_pod_volumes */
};

/** Reasons why a node cannot provide the pod's volumes: bits, in the order of the messages. */
enum bt_volume_conflict {
	BT_VOLUME_CONFLICT_NODE = 1,
	BT_VOLUME_CONFLICT_BIND = 2,
	BT_VOLUME_CONFLICT_SPACE = 4,
	BT_VOLUME_CONFLICT_NOT_EXIST = 8,
};
/** Number of conflicts, and their reasons in statuses, by bit. */
#define BT_VOLUME_CONFLICTS 4
extern const enum bt_reason bt_volume_conflict_reasons[BT_VOLUME_CONFLICTS];

/** Label values of the metric volume_scheduling_stage_error_total. */
enum bt_volume_stage {
	BT_VOLUME_STAGE_PREDICATE,
	BT_VOLUME_STAGE_ASSUME,
	BT_VOLUME_STAGE_BIND,
	BT_VOLUME_STAGE__COUNT,
};

struct bt_volume_binder;

struct bt_volume_binder_ops {
	void (*destroy)(struct bt_volume_binder *binder);
	/**
	 * Sort the claims of the pod into the three lists, in the arena. Returns 0 or a negative
	 * code; err then becomes PreFilter's error.
	 */
	int (*get_pod_volume_claims)(struct bt_volume_binder *binder, const struct bt_pod_info *pod,
		struct bt_arena *arena, struct bt_pod_volume_claims *out_claims,
		struct berth_error *err);
	/**
	 * Find volumes for the claims on the node. *out_conflicts: bits of bt_volume_conflict; 0 if
	 * the node is suitable. *out_volumes: the volumes (in the arena) if the node is suitable;
	 * may be NULL. Returns 0 or a negative code; err then becomes Filter's error.
	 */
	int (*find_pod_volumes)(struct bt_volume_binder *binder, const struct bt_pod_info *pod,
		struct bt_pod_volume_claims *claims, const struct bt_node_info *node,
		struct bt_arena *arena, struct bt_pod_volumes **out_volumes,
		uint32_t *out_conflicts, struct berth_error *err);
	/**
	 * Assume the bindings and provisions in volumes. On success volumes has the assumed
	 * objects, which are in the arena. If all claims of the pod are bound already, sets
	 * *out_all_bound and changes nothing. On failure volumes is unchanged and nothing is
	 * assumed.
	 */
	int (*assume_pod_volumes)(struct bt_volume_binder *binder, const struct bt_pod_info *pod,
		struct bt_str node_name, struct bt_pod_volumes *volumes, struct bt_arena *arena,
		bool *out_all_bound, struct berth_error *err);
	void (*revert_assumed_pod_volumes)(
		struct bt_volume_binder *binder, const struct bt_pod_volumes *volumes);
	/**
	 * Write the assumed objects and wait until all claims are bound. Returns BT_WRITE_PENDING
	 * if the caller must call again with the same arguments: after an answer, or at
	 * volumes->progress.next_check_ns (0: only after an answer).
	 */
	int (*bind_pod_volumes)(struct bt_volume_binder *binder, const struct bt_pod_info *pod,
		struct bt_str node_name, struct bt_pod_volumes *volumes, struct bt_arena *arena,
		struct berth_error *err);
};

struct bt_volume_binder {
	const struct bt_volume_binder_ops *ops;
};

/**
 * Create the real binder. handle is borrowed for the life of the binder. The caller owns the result
 * and frees it with ops->destroy.
 */
BT_MUST_USE struct bt_volume_binder *bt_volume_binder_create(
	const struct bt_handle *handle, int64_t bind_timeout_seconds);
/**
 * Returns the number of failures of the stage so far. binder must come from
 * bt_volume_binder_create.
 */
uint64_t bt_volume_binder_stage_errors(
	const struct bt_volume_binder *binder, enum bt_volume_stage stage);

#endif
