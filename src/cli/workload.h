/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLI_WORKLOAD_H
#define BT_CLI_WORKLOAD_H
/**
 * Expansion: the pods that controllers would create for the workloads of a cluster, those that
 * exist already taken off. What a cluster draws at random (endings of names) or computes in ways of
 * its own (hashes of templates, revisions) is made up from the names, the same in every run.
 *
 * - Deployment: NAME-TEMPLATEHASH-XXXXX, owned by the ReplicaSet NAME-TEMPLATEHASH
 * - ReplicaSet, ReplicationController: NAME-XXXXX; nothing for a ReplicaSet whose Deployment is
 * there
 * - StatefulSet: NAME-0, NAME-1, ... from spec.ordinals.start
 * - DaemonSet: NAME-XXXXX, one for each node that it matches, bound to it by affinity
 * - Job: NAME-XXXXX, or NAME-INDEX-XXXXX when indexed; nothing once finished
 * - CronJob: one run, as Job NAME-00000000, unless an unfinished one is there
 *
 * Paused and suspended workloads make no pods.
 */
#include "api/pod.h"
#include "api/types.h"
#include "cli/manifests.h"

/** Pods of all workloads together, and the memory they take. */
#define BT_WORKLOAD_PODS_MAX 1000000
#define BT_WORKLOAD_BYTES_MAX ((size_t)4 << 30)
/** Pairs of DaemonSet and node that are looked at. */
#define BT_WORKLOAD_DAEMON_CHECKS_MAX 100000000

struct bt_workload_pod {
	struct bt_pod *pod; /* not defaulted; shares parts with its template */
	uint32_t owner;     /* index of the workload in the cluster */
	bool is_extra;      /* beyond what the workload asks for */
};

struct bt_expansion {
	struct bt_manifests *cluster;
	bool taint_comparison;               /* gate TaintTolerationComparisonOperators */
	BT_VEC(struct bt_workload_pod) pods; /* in input order of the workloads */
	struct bt_arena arena;
	struct bt_map names; /* of pods: "namespace/name" */
	BT_VEC(struct bt_replica_set *)
	replica_sets;           /* of Deployments that have none in the input */
	BT_VEC(uint32_t) nodes; /* object indexes */
	uint32_t *covered_for;  /* by object index: 1 + the DaemonSet that has a pod on this node */
	uint64_t daemon_checks;
	/** By object index: pods that a Deployment, ReplicaSet, ReplicationController or
	 * StatefulSet makes beyond those it should have, also when it is paused or its pods exist.
	 * NULL: none. Borrowed. */
	const uint32_t *extras;
};

void bt_expansion_init(struct bt_expansion *expansion, struct bt_manifests *cluster);
void bt_expansion_finish(struct bt_expansion *expansion);
/** Owners are indexed (bt_manifests_index_owners). Errors name file, document and workload. */
BT_MUST_USE int bt_expansion_run(struct bt_expansion *expansion, struct berth_error *err);
#endif
