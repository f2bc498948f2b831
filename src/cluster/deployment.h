/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLUSTER_DEPLOYMENT_H
#define BT_CLUSTER_DEPLOYMENT_H
/**
 * The parts of the deployment controller: deployment.c (whose sets are whose, what is done, the
 * status), deployment_rollout.c (the new set, its revision, from old sets to the new one, old ones
 * beyond the limit). Spec: 14b section 6.2.
 */
#include "cluster/tree.h"

#define BT_LABEL_TEMPLATE_HASH "pod-template-hash"
#define BT_ANNOTATION_REVISION "deployment.kubernetes.io/revision"
#define BT_ANNOTATION_HISTORY "deployment.kubernetes.io/revision-history"
#define BT_ANNOTATION_DESIRED "deployment.kubernetes.io/desired-replicas"
#define BT_ANNOTATION_MAX "deployment.kubernetes.io/max-replicas"

/** A ReplicaSet of the deployment, as far as the rollout reads it. Numbers follow our writes. */
struct bt_rollout_set {
	struct bt_json_value *object;
	struct bt_str key;
	struct bt_str name;
	struct bt_str uid;
	int64_t created_seconds;
	int64_t revision;
	int64_t replicas; /* spec */
	int64_t status_replicas;
	int64_t ready;
	int64_t available;
};

/** One sync. */
struct bt_rollout {
	struct bt_hub *hub;
	struct bt_arena *arena;
	const struct bt_api_resource *deployments;
	const struct bt_api_resource *sets;
	struct bt_str key;
	struct bt_json_value *deployment;
	struct bt_json_value *conditions; /* of the status to be written */
	int64_t collision_count;
	int64_t now_ns;
	int64_t replicas;    /* spec.replicas */
	int64_t surge;       /* 0 with Recreate */
	int64_t unavailable; /* likewise */
	bool recreate;
	bool failed;                     /* a write did not succeed: try again */
	struct bt_rollout_set *new_set;  /* NULL: not made yet */
	struct bt_rollout_set *old_sets; /* oldest first */
	uint32_t old_count;
};

/** --- deployment.c --- */

void bt_rollout_event(
	struct bt_rollout *rollout, const char *type, const char *reason, struct bt_str message);
void bt_rollout_read_set(
	struct bt_rollout *rollout, struct bt_rollout_set *set, struct bt_json_value *object);

/** --- deployment_rollout.c --- */

/** Pick the new set out of old_sets; with create make it when there is none. */
void bt_rollout_find_new_set(struct bt_rollout *rollout, bool create);
void bt_rollout_clean_up(struct bt_rollout *rollout);

void bt_rollout_recreate(struct bt_rollout *rollout);
void bt_rollout_roll(struct bt_rollout *rollout);
/** The number in spec changed while sets of several revisions have pods: in proportion. */
void bt_rollout_scale(struct bt_rollout *rollout);
bool bt_rollout_needs_scale(const struct bt_rollout *rollout);

bool bt_rollout_is_complete(const struct bt_rollout *rollout);
/** Progressing: True, or with paused and resumed Unknown. */
void bt_rollout_set_progressing(
	struct bt_rollout *rollout, const char *status, const char *reason, struct bt_str message);
#endif
