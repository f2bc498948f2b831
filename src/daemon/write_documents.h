/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_DAEMON_WRITE_DOCUMENTS_H
#define BT_DAEMON_WRITE_DOCUMENTS_H
/**
 * The documents a scheduler writes, byte for byte as upstream's. Texts are appended; nothing is
 * sent here. Spec: 13 section 14, 11b section 6.
 */
#include "api/pod.h"
#include "api/storage.h"
#include "codec/json.h"
#include "framework/plugin.h"

/** A Binding of the pod to the node, in the protobuf envelope (spec 13 section 8.3) or as JSON. */
void bt_document_binding_protobuf(
	const struct bt_pod_info *pod, struct bt_str node_name, struct bt_strbuf *out);
void bt_document_binding_json(
	const struct bt_pod_info *pod, struct bt_str node_name, struct bt_strbuf *out);

/** DeleteOptions with nothing set. */
extern const struct bt_str bt_document_delete_protobuf;
extern const struct bt_str bt_document_delete_json;

/**
 * The strategic patch from the pod's status as it is known to one with this condition (NULL: none)
 * and, with mode override, this nomination. condition->last_transition_time is not read. false:
 * there is no difference, nothing is appended.
 */
bool bt_document_pod_status(const struct bt_pod *pod, const struct bt_pod_condition *condition,
	const struct bt_post_filter_result *nomination, int64_t now_ns, struct bt_strbuf *out);

/**
 * What binding changes in a volume: spec.claimRef and the annotation that the scheduler bound it,
 * if the volume has it. object: the whole volume, or {} for a merge patch.
 */
void bt_document_bind_volume(struct bt_arena *arena, struct bt_json_value *object,
	const struct bt_persistent_volume *volume);
/** What provisioning changes in a claim: the annotation of the selected node; "": nothing. */
void bt_document_select_node(
	struct bt_arena *arena, struct bt_json_value *object, struct bt_str node_name);
#endif
