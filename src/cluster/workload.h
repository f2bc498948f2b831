/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLUSTER_WORKLOAD_H
#define BT_CLUSTER_WORKLOAD_H
/**
 * Expansion: the pods that the controllers of a cluster (cluster/controllers.h) create for the
 * workloads of the input, beyond those that exist. Names end as a cluster ends them, but are
 * computed from what stands before: the same in every run.
 *
 * - Old pods of a rollout count: a Deployment whose pods exist gets the missing ones only.
 * - The pods of a StatefulSet come at once.
 * - A CronJob runs once, as Job NAME-00000000, unless an unfinished Job of its own is there.
 * - Paused, suspended and leaving workloads make no pods.
 */
#include <stdint.h>

#include "api/pod.h"
#include "api/types.h"
#include "base/str.h"
#include "cluster/manifests.h"
#include "cluster/pod_admission.h"

/** Pods of all workloads together, and the memory they take. */
#define BT_WORKLOAD_PODS_MAX 1000000
#define BT_WORKLOAD_BYTES_MAX ((size_t)4 << 30)
/** Pairs of DaemonSet and node that are looked at. */
#define BT_WORKLOAD_DAEMON_CHECKS_MAX 100000000

struct bt_workload_pod {
	struct bt_pod *pod; /* shares parts with others of its workload */
	uint32_t owner;     /* index of the workload in the cluster */
	bool is_extra;      /* beyond what the workload asks for */
};

/** An object whose pods, or some of them, a quota refuses. */
struct bt_refusal {
	uint32_t index; /* in the cluster: the workload, or the pod itself */
	struct bt_str message;
};

struct bt_expansion_work;

struct bt_expansion {
	struct bt_manifests *cluster;
	struct bt_expansion_work *work;      /* NULL before bt_expansion_open */
	struct bt_pod_admission *admission;  /* the same */
	BT_VEC(struct bt_refusal) refusals;  /* one for an object */
	BT_VEC(struct bt_workload_pod) pods; /* in input order of the workloads */
	BT_VEC(struct bt_object *) made;     /* ReplicaSets and claims that controllers made */
	struct bt_arena arena;
	struct bt_map names; /* of pods: "namespace/name" */
	/** By object index: pods that a Deployment, ReplicaSet, ReplicationController or
	 * StatefulSet makes beyond those it should have, also when it is paused or its pods exist.
	 * NULL: none. Borrowed. */
	const uint32_t *extras;
	const struct bt_gates *gates; /* of the controllers; NULL: the defaults. Borrowed. */
};

void bt_expansion_init(struct bt_expansion *expansion, struct bt_manifests *cluster);
void bt_expansion_finish(struct bt_expansion *expansion);
/** Make the API server that admits the pods, with the classes and policies of the input. */
BT_MUST_USE int bt_expansion_open(struct bt_expansion *expansion, struct berth_error *err);
/** A quota refuses the object, or pods of it: note the first message of each, and warn. */
void bt_expansion_refuse(struct bt_expansion *expansion, uint32_t index, const char *message);
/** Owners are indexed (bt_manifests_index_owners). Errors name file, document and workload. */
BT_MUST_USE int bt_expansion_run(struct bt_expansion *expansion, struct berth_error *err);

/** Walk the objects that the object at owner controls, uids compared where both are known. */
uint32_t bt_expansion_next_owned(
	const struct bt_expansion *expansion, uint32_t owner, uint32_t at, bool first);
#define BT_FOR_EACH_OWNED(expansion, owner, index) \
	for (uint32_t index = bt_expansion_next_owned((expansion), (owner), 0, true); \
		index != BT_MANIFESTS_NONE; \
		index = bt_expansion_next_owned((expansion), (owner), index, false))
/** The ReplicaSet that makes a Deployment's pods now, or BT_MANIFESTS_NONE. */
uint32_t bt_expansion_newest_set(const struct bt_expansion *expansion, uint32_t owner);
/** The pod at index, or NULL when the object is of another kind. */
const struct bt_pod *bt_expansion_pod_at(const struct bt_expansion *expansion, uint32_t index);
/** Neither finished nor being deleted: what a controller counts. */
bool bt_pod_is_active(const struct bt_pod *pod);
#endif
