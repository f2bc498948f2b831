/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLUSTER_WORKLOAD_H
#define BT_CLUSTER_WORKLOAD_H
/**
 * Expansion: the pods that the controllers of a cluster (cluster/controllers.h) would create for
 * the workloads of the input, in addition to existing pods. Generated names look as in a cluster,
 * but their suffixes are computed from the prefix, so they are the same in every run.
 *
 * - A Deployment gets only missing pods: the active pods of all its ReplicaSets are counted.
 * - The pods of a StatefulSet are created at once.
 * - A CronJob runs once, as Job NAME-00000000, unless it has an unfinished Job.
 * - Paused, suspended and terminating workloads create no pods.
 */
#include <stdint.h>

#include "api/pod.h"
#include "api/types.h"
#include "base/str.h"
#include "cluster/manifests.h"
#include "cluster/pod_admission.h"

/**
 * Limits for the pods of all workloads together: their number, and the bytes of memory they take.
 */
#define BT_WORKLOAD_PODS_MAX 1000000
#define BT_WORKLOAD_BYTES_MAX ((size_t)4 << 30)
/** Maximum number of pairs of a DaemonSet and a node. */
#define BT_WORKLOAD_DAEMON_CHECKS_MAX 100000000

struct bt_workload_pod {
	struct bt_pod *pod; /* shares memory with other pods of the workload */
	uint32_t owner;     /* index of the workload in the cluster */
	bool is_extra;      /* beyond spec.replicas */
};

/** A pod that a quota refuses, or a workload for which a quota refuses some or all pods. */
struct bt_refusal {
	uint32_t index; /* object index of the workload or the pod */
	struct bt_str message;
};

struct bt_expansion_work;

/** Set cluster, extras and gates; the other members begin zeroed. */
struct bt_expansion {
	struct bt_manifests *cluster;
	struct bt_expansion_work *work;    /* NULL before bt_expansion_open */
	struct bt_pod_admission admission; /* zeroed before bt_expansion_open */
	/** Admitted specs of the input's pods, by object index; NULL: not a pod, or refused. */
	const struct bt_pod_spec **specs;
	BT_VEC(struct bt_refusal) refusals;  /* at most one for each object */
	BT_VEC(struct bt_workload_pod) pods; /* in input order of the workloads */
	BT_VEC(struct bt_object *) made;     /* created ReplicaSets, claims and PodGroups */
	struct bt_arena arena;
	struct bt_map names; /* of pods: "namespace/name" */
	/**
	 * By object index: how many extra pods a Deployment, ReplicaSet, ReplicationController or
	 * StatefulSet makes, even if it is paused or its pods exist; in a simulation also 1 for an
	 * unassigned pod that is an extra pod itself. NULL: no extra pods. Borrowed.
	 */
	const uint32_t *extras;
	const struct bt_gates *gates; /* of the controllers; NULL: the defaults. Borrowed. */
};

void bt_expansion_finish(struct bt_expansion *expansion);
/**
 * Creates the API server that admits the pods, with the classes and policies of the input. Callers
 * that only admit pods use this function instead of bt_expansion_run.
 */
BT_MUST_USE int bt_expansion_open(struct bt_expansion *expansion, struct berth_error *err);
/**
 * Admits the pod at index of the input (bt_pod_admission_admit); *out_spec keeps its value if a
 * quota refuses the pod, and may be the spec of the input's pod. Errors name file, document and
 * pod.
 */
BT_MUST_USE int bt_expansion_admit(struct bt_expansion *expansion, uint32_t index,
	const struct bt_pod *pod, const struct bt_pod_spec **out_spec, struct berth_error *err);
/**
 * Indexes the owners of the input, admits its pods and creates the pods of its workloads. Errors
 * name file, document and object.
 */
BT_MUST_USE int bt_expansion_run(struct bt_expansion *expansion, struct berth_error *err);
/**
 * After bt_expansion_run: sets *out_pod to the input's pod at index, with its name and uid and the
 * admitted spec. Returns false if a quota refuses the pod.
 */
bool bt_expansion_input_pod(
	const struct bt_expansion *expansion, uint32_t index, struct bt_pod *out_pod);

/**
 * Iterates over the objects that the object at index `owner` controls: returns the index of the
 * object that follows the object at index `at`, or BT_MANIFESTS_NONE at the end. first: `at` is
 * ignored, and the first object is returned. An owner reference with another uid than the owner's
 * does not count, if both uids are known.
 */
uint32_t bt_expansion_next_owned(
	const struct bt_expansion *expansion, uint32_t owner, uint32_t at, bool first);
#define BT_FOR_EACH_OWNED(expansion, owner, index) \
	for (uint32_t index = bt_expansion_next_owned((expansion), (owner), 0, true); \
		index != BT_MANIFESTS_NONE; \
		index = bt_expansion_next_owned((expansion), (owner), index, false))
/** Returns the Deployment's current ReplicaSet, or BT_MANIFESTS_NONE. */
uint32_t bt_expansion_newest_set(const struct bt_expansion *expansion, uint32_t owner);
/** Returns the pod at index, or NULL if the object is of another kind. */
const struct bt_pod *bt_expansion_pod_at(const struct bt_expansion *expansion, uint32_t index);
/** Returns whether the pod is neither finished nor being deleted, so that controllers count it. */
bool bt_pod_is_active(const struct bt_pod *pod);
#endif
