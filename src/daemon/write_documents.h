/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_DAEMON_WRITE_DOCUMENTS_H
#define BT_DAEMON_WRITE_DOCUMENTS_H
/**
 * The documents that a scheduler writes, but for volumes byte for byte the same as upstream's. The
 * functions append to out or change a tree, and send nothing. Spec: 13 section 14, 11b section 6.
 */
#include "api/object.h"
#include "api/pod.h"
#include "api/resource_claim.h"
#include "api/storage.h"
#include "base/strbuf.h"
#include "codec/json.h"
#include "framework/plugin.h"

/**
 * Append a Binding of the pod to the node, in the protobuf envelope (spec 13 section 8.3) or as
 * JSON.
 */
void bt_document_binding_protobuf(
	const struct bt_pod_info *pod, struct bt_str node_name, struct bt_strbuf *out);
void bt_document_binding_json(
	const struct bt_pod_info *pod, struct bt_str node_name, struct bt_strbuf *out);

/** DeleteOptions with nothing set. */
extern const struct bt_str bt_document_delete_protobuf;
extern const struct bt_str bt_document_delete_json;

/**
 * Append the strategic merge patch that sets the condition (NULL: no condition) in the status of
 * pod and, if the nomination's mode is override, the nominated node.
 * condition->last_transition_time is not read. false: the status would not change; nothing is
 * appended.
 */
bool bt_document_pod_status(const struct bt_pod *pod, const struct bt_pod_condition *condition,
	const struct bt_post_filter_result *nomination, int64_t now_ns, struct bt_strbuf *out);

/**
 * Append the strategic merge patch that sets this condition of the group;
 * condition->last_transition_time is not read.
 */
void bt_document_pod_group_status(const struct bt_pod_group *group,
	const struct bt_condition *condition, int64_t now_ns, struct bt_strbuf *out);

/**
 * Set the members that a binding changes: spec.claimRef and, if `volume` has it, the annotation
 * pv.kubernetes.io/bound-by-controller. object: the merge patch.
 */
void bt_document_bind_volume(struct bt_arena *arena, struct bt_json_value *object,
	const struct bt_persistent_volume *volume);
/**
 * Set the claim's annotation volume.kubernetes.io/selected-node, which names the node for which the
 * volume is provisioned. node_name "": no change.
 */
void bt_document_select_node(
	struct bt_arena *arena, struct bt_json_value *object, struct bt_str node_name);

/**
 * Append the whole claim. base: the object from which the claim was made; members that berth's
 * structs do not have are taken from base->json, if that is set. base NULL: a new claim. Fails if
 * base->json is invalid. Spec: 12 sections 12 to 15, 13 section 14.7.
 */
BT_MUST_USE int bt_document_claim(const struct bt_object *base,
	const struct bt_resource_claim *claim, struct bt_strbuf *out, struct berth_error *err);
/** Append the strategic merge patch of a claim's status that removes uid from reservedFor. */
void bt_document_unreserve(
	const struct bt_resource_claim *claim, struct bt_str uid, struct bt_strbuf *out);
/**
 * Append the strategic merge patch that changes the claim statuses in a pod's status from those of
 * `before` to those of `after`. false: there is no difference; nothing is appended.
 */
bool bt_document_pod_claims(const struct bt_pod_status *before, const struct bt_pod_status *after,
	struct bt_strbuf *out);

#endif
