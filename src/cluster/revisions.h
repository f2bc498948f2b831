/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLUSTER_REVISIONS_H
#define BT_CLUSTER_REVISIONS_H
/**
 * ControllerRevisions: the former and current templates of a StatefulSet or DaemonSet. Spec: 14b
 * section 6.3.
 */
#include "cluster/tree.h"

struct bt_revision {
	struct bt_tree_order order;
	const struct bt_json_value *object;
	struct bt_str hash; /* suffix of the revision's name */
	bool is_used;       /* set by the caller: pods of this revision exist */
};

struct bt_revisions {
	struct bt_revision *items; /* sorted by the numbers stored before this sync */
	uint32_t count;
	uint32_t update; /* index of the revision of spec.template */
	int64_t collision_count;
};

/** Groups revisions by their owner's uid, and enqueues the owner of a changed revision. */
void bt_revisions_observe(struct bt_groups *owned, struct bt_hub *hub,
	const struct bt_observed *observed, const char *kind);
/**
 * Reads the revisions of the synced object into the sync's arena. If the object's template has no
 * revision, one is created; if an older revision equals the template, that revision becomes the
 * newest. hash_label: the label with the revision's hash. Returns false if the sync must be tried
 * again.
 */
BT_MUST_USE bool bt_revisions_read(struct bt_sync *sync, const struct bt_groups *owned,
	const char *hash_label, struct bt_revisions *out_revisions);
/** Returns the pod template that a revision holds. */
struct bt_json_value *bt_revision_template(
	struct bt_arena *arena, const struct bt_revision *revision);
/**
 * Deletes the oldest revisions beyond spec.revisionHistoryLimit, except the update revision and the
 * revisions with is_used.
 */
void bt_revisions_clean_up(struct bt_sync *sync, const struct bt_revisions *revisions);
#endif
