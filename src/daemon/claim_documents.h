/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_DAEMON_CLAIM_DOCUMENTS_H
#define BT_DAEMON_CLAIM_DOCUMENTS_H
/**
 * The documents that DynamicResources writes. Texts are appended; nothing is sent here. Spec: 12
 * sections 12 to 15, 13 section 14.7.
 */
#include "api/object.h"
#include "api/pod.h"
#include "api/resource_claim.h"
#include "base/strbuf.h"

/**
 * The whole claim. base: the object that it was made from, whose json (if it has one) gives what
 * our structures do not have; NULL: it is new.
 */
BT_MUST_USE int bt_document_claim(const struct bt_object *base,
	const struct bt_resource_claim *claim, struct bt_strbuf *out, struct berth_error *err);
/** The strategic patch of a claim's status that takes uid out of reservedFor. */
void bt_document_unreserve(
	const struct bt_resource_claim *claim, struct bt_str uid, struct bt_strbuf *out);
/** DeleteOptions for the object of this uid alone. */
void bt_document_delete_uid(struct bt_str uid, struct bt_strbuf *out);
/**
 * The strategic patch from one pod status to another, of what is said there of claims. false: there
 * is no difference, nothing is appended.
 */
bool bt_document_pod_claims(const struct bt_pod_status *before, const struct bt_pod_status *after,
	struct bt_strbuf *out);
#endif
