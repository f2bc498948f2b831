/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_PLUGINS_VOLUME_BINDER_PRIVATE_H
#define BT_PLUGINS_VOLUME_BINDER_PRIVATE_H
/**
 * Private to the volume binder: caches, the index of volumes by class, and the parsed node affinity
 * of volumes.
 */
#include "api/selector.h"
#include "plugins/assume_cache.h"
#include "plugins/common_volume.h"
#include "plugins/csi_translation.h"
#include "plugins/volume_binder.h"

/**
 * Node affinity of a volume, parsed. If not `restricted`, the volume fits every node. Spec 07
 * section 2.7.
 */
struct bt_volume_affinity {
	bool restricted;
	struct bt_parsed_node_selector selector;
};

struct bt_volume_affinity bt_volume_affinity_parse(
	const struct bt_node_selector *required, struct bt_arena *arena);
bool bt_volume_affinity_matches(
	const struct bt_volume_affinity *affinity, const struct bt_str_map *labels);
/**
 * Get the affinity of the volume for a node with this CSINode (NULL if the node has none). The
 * affinity is translated to CSI if the volume's plugin is migrated on the node; fails if the
 * translation fails. Spec 07 section 4.2.
 */
BT_MUST_USE int bt_volume_affinity_for_node(const struct bt_persistent_volume *volume,
	const struct bt_csi_node *csi_node, struct bt_arena *arena,
	struct bt_volume_affinity *out_affinity, struct berth_error *err);

/** Entry of a stored volume in the index by class. */
struct bt_class_volume {
	const struct bt_persistent_volume *stored;
	struct bt_str class_name;
	const struct bt_quantity *capacity;
	struct bt_volume_affinity affinity; /* not translated */
	bool parsed;
	uint64_t taken_in; /* value of match_round in which a claim took the volume */
};

/**
 * Volumes ordered by class, capacity and name. Valid while the store of volumes has store_version.
 */
struct bt_class_index {
	bool built;
	uint64_t store_version;
	BT_VEC(struct bt_class_volume) volumes;
	struct bt_arena arena; /* memory of parsed affinities */
};

struct bt_real_binder {
	struct bt_volume_binder base;
	const struct bt_handle *handle;
	struct bt_assume_cache volumes;
	struct bt_assume_cache claims;
	struct bt_class_index index;
	uint64_t match_round; /* incremented for each node that is matched */
	int64_t bind_timeout_seconds;
	uint64_t stage_errors[BT_VOLUME_STAGE__COUNT];
};

static inline struct bt_real_binder *bt_real_binder_of(struct bt_volume_binder *binder)
{
	return (struct bt_real_binder *)(void *)binder;
}

/**
 * Returns the volumes of the class, ordered by capacity and name. *out_count: number of these
 * volumes. Borrowed until the store changes.
 */
struct bt_class_volume *bt_class_index_find(
	struct bt_real_binder *binder, struct bt_str class_name, uint32_t *out_count);
const struct bt_volume_affinity *bt_class_volume_affinity(
	struct bt_class_index *index, struct bt_class_volume *volume);

/** Whether the volume is reserved for the claim. Spec 07 section 7.4. */
bool bt_volume_is_for_claim(
	const struct bt_persistent_volume *volume, const struct bt_persistent_volume_claim *claim);

/* Operations of the binder, in volume_binder.c and volume_binder_find.c. */
int bt_binder_get_pod_volume_claims(struct bt_volume_binder *base, const struct bt_pod_info *pod,
	struct bt_arena *arena, struct bt_pod_volume_claims *out_claims, struct berth_error *err);
int bt_binder_find_pod_volumes(struct bt_volume_binder *base, const struct bt_pod_info *pod,
	struct bt_pod_volume_claims *claims, const struct bt_node_info *node,
	struct bt_arena *arena, struct bt_pod_volumes **out_volumes, uint32_t *out_conflicts,
	struct berth_error *err);
#endif
