/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_FRAMEWORK_SIGNATURE_H
#define BT_FRAMEWORK_SIGNATURE_H
/**
 * Pod signatures: two pods of a profile with equal signatures get the same verdicts and scores from
 * every plugin, so that one may follow the other's choice (batch.h). Spec: 02 sections 6.1 and 6.2.
 */
#include <stdbool.h>

#include "framework/framework.h"

/**
 * Append the pod's signature to out; compare for byte equality only. Returns false when the pod is
 * not batchable (out is untouched): signatures are off for the profile, or a plugin refuses, which
 * out_refusal (may be NULL) then tells with the plugin set; Error is worth a log line,
 * Unschedulable is normal. arena holds the fragments and the refusal's text.
 */
bool bt_sign_pod(const struct bt_framework *framework, const struct bt_pod_info *pod,
	struct bt_arena *arena, struct bt_strbuf *out, struct bt_status *out_refusal);
#endif
