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
#include <stdint.h>

#include "api/pod.h"
#include "api/types.h"
#include "base/str.h"
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

/** Who creates the pods: what becomes of it in their names, labels and owner references. */
struct bt_pod_maker {
	uint32_t owner; /* index in the cluster */
	struct bt_str namespace_;
	struct bt_str prefix; /* generateName: "NAME-" */
	struct bt_owner_reference reference;
	const struct bt_object_meta *metadata; /* of the template */
	const struct bt_pod_spec *spec;
	struct bt_str_map labels; /* of the template, and the controller's own */
	uint32_t next_suffix;
};

/** A maker whose pods the object at owner controls under this apiVersion. */
struct bt_pod_maker bt_pod_maker_init(struct bt_expansion *expansion, uint32_t owner,
	struct bt_str api_version, const struct bt_object_meta *template_metadata,
	const struct bt_pod_spec *template_spec);
/** Pairs, sorted, on top of labels; equal keys are replaced. */
struct bt_str_map bt_labels_with(const struct bt_str_map *labels, const struct bt_str_pair *pairs,
	uint32_t count, struct bt_arena *arena);
/** "PREFIXxxxxx" that no pod has. */
struct bt_str bt_pod_maker_next_name(struct bt_expansion *expansion, struct bt_pod_maker *maker);
bool bt_expansion_has_pod(
	const struct bt_expansion *expansion, struct bt_str namespace_, struct bt_str name);
/** Add a pod of this name; *out_pod may be changed further. Limits are checked here. */
BT_MUST_USE int bt_expansion_add(struct bt_expansion *expansion, const struct bt_pod_maker *maker,
	struct bt_str name, struct bt_pod **out_pod, struct berth_error *err);

/** Pods that the workload makes beyond those it should have. */
uint32_t bt_expansion_extras(const struct bt_expansion *expansion, uint32_t owner);

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

/** One workload each. */
BT_MUST_USE int bt_expand_stateful_set(
	struct bt_expansion *expansion, uint32_t owner, struct berth_error *err);
BT_MUST_USE int bt_expand_daemon_set(
	struct bt_expansion *expansion, uint32_t owner, struct berth_error *err);
BT_MUST_USE int bt_expand_job(
	struct bt_expansion *expansion, uint32_t owner, struct berth_error *err);
BT_MUST_USE int bt_expand_cron_job(
	struct bt_expansion *expansion, uint32_t owner, struct berth_error *err);

/**
 * The endings that a cluster draws at random for generated names, here computed: the same input
 * gives the same names in every run and on every machine.
 */

#define BT_SUFFIX_LENGTH 5
#define BT_HASH_SUFFIX_LENGTH 10

/** Endings for distinct indexes below BT_SUFFIX_COUNT are distinct under one prefix. */
#define BT_SUFFIX_COUNT (27 * 27 * 27 * 27 * 27)

/** out: BT_SUFFIX_LENGTH characters and a zero byte, of those that generated names use. */
void bt_suffix_make(struct bt_str prefix, uint32_t index, char *out);
/** Likewise BT_HASH_SUFFIX_LENGTH characters: takes the place of a hash of a pod template. */
void bt_suffix_make_hash(struct bt_str name, char *out);
#endif
