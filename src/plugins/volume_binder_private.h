/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_PLUGINS_VOLUME_BINDER_PRIVATE_H
#define BT_PLUGINS_VOLUME_BINDER_PRIVATE_H
/** Inside the volume binder: caches, the volumes of a class, and what a cycle computes once for all
 * nodes. */
#include "api/selector.h"
#include "plugins/assume_cache.h"
#include "plugins/common_volume.h"
#include "plugins/csi_translation.h"
#include "plugins/volume_binder.h"

/** Node affinity of a volume, parsed. Spec 07 section 2.7. */
struct bt_volume_affinity {
	bool restricted;
	struct bt_parsed_node_selector selector;
};

struct bt_volume_affinity bt_volume_affinity_parse(
	const struct bt_node_selector *required, struct bt_arena *arena);
bool bt_volume_affinity_matches(
	const struct bt_volume_affinity *affinity, const struct bt_str_map *labels);
/** The same; false with the text of upstream's error in the arena. */
bool bt_volume_affinity_check(const struct bt_volume_affinity *affinity,
	const struct bt_str_map *labels, struct bt_arena *arena, struct bt_str *out_text);
/**
 * Affinity of the volume as seen on a node with this CSINode (NULL: none): translated where the
 * plugin is migrated there. Spec 07 section 4.2.
 */
BT_MUST_USE int bt_volume_affinity_for_node(const struct bt_persistent_volume *volume,
	const struct bt_csi_node *csi_node, struct bt_arena *arena,
	struct bt_volume_affinity *out_affinity, struct berth_error *err);

/** A volume of the store, in the index by class. */
struct bt_class_volume {
	const struct bt_persistent_volume *stored;
	struct bt_str class_name;
	const struct bt_quantity *capacity;
	struct bt_volume_affinity affinity; /* without translation */
	bool parsed;
	uint64_t taken_in; /* round of matching that gave it to a claim */
};

/** Volumes in order of class, capacity, name. Valid while the store's version is this one. */
struct bt_class_index {
	bool built;
	uint64_t store_version;
	BT_VEC(struct bt_class_volume) volumes;
	struct bt_arena arena; /* parsed affinities */
};

struct bt_real_binder {
	struct bt_volume_binder base;
	const struct bt_handle *handle;
	struct bt_assume_cache volumes;
	struct bt_assume_cache claims;
	struct bt_class_index index;
	uint64_t match_round; /* of bt_match_static; the first is 1 */
	int64_t bind_timeout_seconds;
	uint64_t stage_errors[BT_VOLUME_STAGE__COUNT];
};

static inline struct bt_real_binder *bt_real_binder_of(struct bt_volume_binder *binder)
{
	return (struct bt_real_binder *)(void *)binder;
}

/** Volumes of the class in order of capacity and name; *out_count of them. Borrowed until the store
 * changes. */
struct bt_class_volume *bt_class_index_find(
	struct bt_real_binder *binder, struct bt_str class_name, uint32_t *out_count);
void bt_class_index_finish(struct bt_class_index *index);
const struct bt_volume_affinity *bt_class_volume_affinity(
	struct bt_class_index *index, struct bt_class_volume *volume);

/** The volume is reserved for the claim. Spec 07 section 7.4. */
bool bt_volume_is_for_claim(
	const struct bt_persistent_volume *volume, const struct bt_persistent_volume_claim *claim);

/* volume_binder_match.c, spec 07 sections 7.3 and 7.4. */

/** Volumes that would do for a claim somewhere: what does not depend on the node. Made when the
 * first node asks. */
struct bt_match_candidate {
	const struct bt_persistent_volume *volume; /* as assumed */
	struct bt_class_volume *entry;
};

struct bt_claim_match {
	const struct bt_persistent_volume_claim *claim;
	uint32_t first; /* match of the same claim that holds what follows; its own index, too */
	bool prepared;
	struct bt_match_candidate *reserved; /* for this claim, by name */
	uint32_t reserved_count;
	struct bt_match_candidate *candidates; /* in order of preference */
	uint32_t candidate_count;
	uint64_t round;    /* position is of this round */
	uint32_t position; /* candidates before it are taken, or out of reach */
};

/** A pod may name a claim many times: out_first[i] is the least k with claims[k] == claims[i]. */
void bt_claim_firsts(const struct bt_persistent_volume_claim *const *claims, uint32_t count,
	uint32_t *out_first, struct bt_arena *arena);
/** Matches for the claims, in the order of spec 07 section 7.3. */
void bt_claim_matches_init(struct bt_claim_match *matches,
	const struct bt_persistent_volume_claim *const *claims, uint32_t count,
	struct bt_arena *arena);
/**
 * Match each claim on the node: bindings receives the matched ones, rest those without a volume;
 * both have room for count.
 */
BT_MUST_USE int bt_match_static(struct bt_real_binder *binder, struct bt_claim_match *matches,
	uint32_t count, const struct bt_str_map *labels, struct bt_arena *arena,
	struct bt_static_binding *bindings, uint32_t *out_binding_count, uint32_t *rest,
	uint32_t *out_rest_count, struct berth_error *err);

/* volume_binder_provision.c, spec 07 sections 7.5 and 7.6. */

struct bt_topology_requirement {
	struct bt_str key;
	const bt_str_list *values;
};

struct bt_topology_term {
	struct bt_topology_requirement *items;
	uint32_t count; /* 0: matches nothing */
};

struct bt_capacity_pool {
	const struct bt_csi_storage_capacity *capacity;
	struct bt_selector topology;
};

/** What a claim that may be provisioned asks of a node. */
struct bt_provision_plan {
	const struct bt_persistent_volume_claim *claim;
	uint32_t first; /* plan of the same claim that holds what follows; its own index, too */
	bool prepared;
	bool impossible; /* no provisioner */
	struct bt_topology_term *topologies;
	uint32_t topology_count; /* 0: everywhere */
	bool needs_capacity;
	struct bt_capacity_pool *pools; /* large enough ones, by namespace and name */
	uint32_t pool_count;
};

enum bt_provision_answer {
	BT_PROVISION_POSSIBLE,
	BT_PROVISION_IMPOSSIBLE,
	BT_PROVISION_NO_SPACE,
};

BT_MUST_USE int bt_check_provision(struct bt_real_binder *binder, struct bt_provision_plan *plan,
	const struct bt_str_map *labels, struct bt_arena *arena,
	enum bt_provision_answer *out_answer, const struct bt_csi_storage_capacity **out_capacity,
	struct berth_error *err);

/* The operations: volume_binder_claims.c, _find.c, _assume.c, _bind.c. */
int bt_binder_get_pod_volume_claims(struct bt_volume_binder *base, const struct bt_pod_info *pod,
	struct bt_arena *arena, struct bt_pod_volume_claims *out_claims, struct berth_error *err);
int bt_binder_find_pod_volumes(struct bt_volume_binder *base, const struct bt_pod_info *pod,
	struct bt_pod_volume_claims *claims, const struct bt_node_info *node,
	struct bt_arena *arena, struct bt_pod_volumes **out_volumes, uint32_t *out_conflicts,
	struct berth_error *err);
int bt_binder_assume_pod_volumes(struct bt_volume_binder *base, const struct bt_pod_info *pod,
	struct bt_str node_name, struct bt_pod_volumes *volumes, struct bt_arena *arena,
	bool *out_all_bound, struct berth_error *err);
void bt_binder_revert_assumed_pod_volumes(
	struct bt_volume_binder *base, const struct bt_pod_volumes *volumes);
int bt_binder_bind_pod_volumes(struct bt_volume_binder *base, const struct bt_pod_info *pod,
	struct bt_str node_name, struct bt_pod_volumes *volumes, struct bt_arena *arena,
	struct berth_error *err);
#endif
