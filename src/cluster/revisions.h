/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLUSTER_REVISIONS_H
#define BT_CLUSTER_REVISIONS_H
/** ControllerRevisions: the templates that a StatefulSet or DaemonSet had. Spec: 14b section 6.3.
 */
#include "cluster/tree.h"

struct bt_revision {
	const struct bt_json_value *object;
	struct bt_str name;
	struct bt_str hash; /* the end of its name */
	int64_t number;
};

struct bt_revisions {
	struct bt_revision *items; /* by number */
	uint32_t count;
	uint32_t update; /* the one of spec.template */
	int64_t collision_count;
};

/** Revisions by the uid of their owner; the owner of a changed one is enqueued. */
void bt_revisions_observe(struct bt_groups *owned, struct bt_hub *hub,
	const struct bt_observed *observed, const char *kind);
/** Read the revisions of the synced object into the sync's arena; the one of its template is made,
 * or becomes the newest. hash_label: of revisions, with their hash. false: try again. */
BT_MUST_USE bool bt_revisions_read(struct bt_sync *sync, const struct bt_groups *owned,
	const char *hash_label, struct bt_revisions *out_revisions);
/** NULL: there is none of this name. */
const struct bt_revision *bt_revisions_find(
	const struct bt_revisions *revisions, struct bt_str name);
/** The pod template that a revision holds. */
struct bt_json_value *bt_revision_template(
	struct bt_arena *arena, const struct bt_revision *revision);
/** Delete the oldest beyond spec.revisionHistoryLimit, but for those that is_used (of each) marks.
 */
void bt_revisions_clean_up(
	struct bt_sync *sync, const struct bt_revisions *revisions, const bool *is_used);
#endif
