/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLI_CAPACITY_SPEC_H
#define BT_CLI_CAPACITY_SPEC_H
/**
 * What a question about capacity makes copies of: pods of manifests, the pods of workloads, more of
 * what the cluster has already.
 */
#include "cli/manifests.h"

/** Pod specs of one run, and the largest weight of one in a mix. */
#define BT_CAPACITY_SPECS_MAX 1000
#define BT_CAPACITY_WEIGHT_MAX 1000000

struct bt_capacity_spec {
	struct bt_str namespace_;
	struct bt_str name;
	enum bt_kind kind; /* as it was given */
	/**
	 * As it goes into the cluster: a pod without node, status and history, or a workload whose
	 * controller names and owns its pods. Owned.
	 */
	struct bt_object *object;
	struct bt_origin origin;
	int64_t weight;  /* copies a round, in a mix */
	bool pods_exist; /* of a live cluster or its snapshot, see bt_manifests_object */
};

struct bt_capacity_specs {
	BT_VEC(struct bt_capacity_spec) list;
	struct bt_arena arena;
	struct bt_manifests *cluster; /* borrowed: gets what is no pod spec */
	struct bt_strbuf skipped;     /* the first object of a file whose kind nobody knows */
};

void bt_capacity_specs_init(struct bt_capacity_specs *specs, struct bt_manifests *cluster);
void bt_capacity_specs_finish(struct bt_capacity_specs *specs);
/**
 * Pods and workloads of a file, folder or "-", in their order; objects of other kinds (claims,
 * priority classes, services) join the cluster as those of -f do. "FILE: ..." when there is no pod
 * spec in it.
 */
BT_MUST_USE int bt_capacity_specs_read(
	struct bt_capacity_specs *specs, const char *path, struct berth_error *err);
/**
 * More of what the cluster has, named as for cli/pod_reference.h. namespace_: the flag's, NULL
 * without one; then the default namespace is looked at first, and after it the only one that has
 * the object.
 */
BT_MUST_USE int bt_capacity_specs_like(struct bt_capacity_specs *specs, const char *text,
	const char *namespace_, struct berth_error *err);
/** Weights as in "web=3,worker=1"; members that are not named keep 1. */
BT_MUST_USE int bt_capacity_specs_weigh(
	struct bt_capacity_specs *specs, const char *text, struct berth_error *err);
/** The pods that the controller of a spec's workload makes are each their own (own claims). */
bool bt_capacity_spec_has_own_claims(const struct bt_capacity_spec *spec);
#endif
