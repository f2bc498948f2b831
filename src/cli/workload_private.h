/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLI_WORKLOAD_PRIVATE_H
#define BT_CLI_WORKLOAD_PRIVATE_H
/** What the files of the expansion share. */
#include "cli/workload.h"

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
#endif
