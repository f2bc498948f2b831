/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_PLUGINS_VOLUME_BINDER_H
#define BT_PLUGINS_VOLUME_BINDER_H
/**
 * The volume binder: which volumes a pod's claims can get on a node, and what must be written to
 * give them to it. An interface, so that tests of VolumeBinding can put another one in its place;
 * bt_volume_binder_create makes the real one. Each VolumeBinding instance has its own. Spec: 07
 * sections 6 to 9 and 16.3.
 */
#include "api/storage.h"
#include "base/error.h"
#include "framework/plugin.h"

/** Claims of a pod by what they need, pod volume order, repeats kept. Spec 07 section 6. Lives in
 * the arena of the cycle. */
struct bt_claim_list {
	const struct bt_persistent_volume_claim **items;
	uint32_t count;
};

struct bt_pod_volume_claims {
	struct bt_claim_list bound;
	struct bt_claim_list delayed;
	struct bt_claim_list immediate;
	void *work; /* the binder's own: what it found out about them in this cycle */
};

/** A volume for a claim. */
struct bt_static_binding {
	const struct bt_persistent_volume *volume;
	const struct bt_persistent_volume_claim *claim;
	struct bt_str resource_version; /* of the volume; of the write once it is written */
};

/** A claim whose volume is to be made. */
struct bt_dynamic_provision {
	const struct bt_persistent_volume_claim *claim;
	const struct bt_csi_storage_capacity
		*node_capacity; /* NULL: not limited, or assumed already */
};

/** Versions the API answered with, in the order of the lists; in the arena. */
struct bt_volume_writes {
	struct bt_str *volume_versions;
	struct bt_str *claim_versions;
	uint32_t done; /* volumes, then claims */
};

/** How far bind_pod_volumes got with a writer that answers later; zero memory: at its start. */
struct bt_volume_progress {
	struct bt_volume_writes writes;
	int64_t next_check_ns; /* 0: the writes are not done */
	int64_t deadline_ns;
};

/** What a pod needs on one node. */
struct bt_pod_volumes {
	struct bt_static_binding *static_bindings;
	uint32_t static_count;
	struct bt_dynamic_provision *dynamic_provisions;
	uint32_t dynamic_count;
	struct bt_volume_progress progress; /* of bind_pod_volumes */
};

/** Why a node cannot hold the pod's volumes: bits, in the order their reasons are given. */
enum bt_volume_conflict {
	BT_VOLUME_CONFLICT_NODE = 1,
	BT_VOLUME_CONFLICT_BIND = 2,
	BT_VOLUME_CONFLICT_SPACE = 4,
	BT_VOLUME_CONFLICT_NOT_EXIST = 8,
};

/** Operations of metric volume_scheduling_stage_error_total. */
enum bt_volume_stage {
	BT_VOLUME_STAGE_PREDICATE,
	BT_VOLUME_STAGE_ASSUME,
	BT_VOLUME_STAGE_BIND,
	BT_VOLUME_STAGE__COUNT,
};

struct bt_volume_binder;

struct bt_volume_binder_ops {
	void (*destroy)(struct bt_volume_binder *binder);
	/** Results live in the arena. Negative: the text becomes PreFilter's error. */
	int (*get_pod_volume_claims)(struct bt_volume_binder *binder, const struct bt_pod_info *pod,
		struct bt_arena *arena, struct bt_pod_volume_claims *out_claims,
		struct berth_error *err);
	/** *out_conflicts: bits; 0 with *out_volumes (in the arena; may be NULL) when the node will
	 * do. */
	int (*find_pod_volumes)(struct bt_volume_binder *binder, const struct bt_pod_info *pod,
		struct bt_pod_volume_claims *claims, const struct bt_node_info *node,
		struct bt_arena *arena, struct bt_pod_volumes **out_volumes,
		uint32_t *out_conflicts, struct berth_error *err);
	/** volumes then holds what was assumed, in the arena; on failure it is untouched and
	 * nothing is assumed. */
	int (*assume_pod_volumes)(struct bt_volume_binder *binder, const struct bt_pod_info *pod,
		struct bt_str node_name, struct bt_pod_volumes *volumes, struct bt_arena *arena,
		bool *out_all_bound, struct berth_error *err);
	void (*revert_assumed_pod_volumes)(
		struct bt_volume_binder *binder, const struct bt_pod_volumes *volumes);
	/**
	 * Write, and wait until everything is bound. BT_WRITE_PENDING: call again with the same
	 * arguments when a write was answered, or at volumes->progress.next_check_ns (0: an answer
	 * is all that is missing).
	 */
	int (*bind_pod_volumes)(struct bt_volume_binder *binder, const struct bt_pod_info *pod,
		struct bt_str node_name, struct bt_pod_volumes *volumes, struct bt_arena *arena,
		struct berth_error *err);
};

struct bt_volume_binder {
	const struct bt_volume_binder_ops *ops;
};

/** handle is borrowed for the binder's life. owned. */
BT_MUST_USE struct bt_volume_binder *bt_volume_binder_create(
	const struct bt_handle *handle, int64_t bind_timeout_seconds);
/** Failures so far. binder is one of bt_volume_binder_create. */
uint64_t bt_volume_binder_stage_errors(
	const struct bt_volume_binder *binder, enum bt_volume_stage stage);

#endif
