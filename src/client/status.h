/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLIENT_STATUS_H
#define BT_CLIENT_STATUS_H
/** Responses as errors. Spec: 13 sections 9.1 to 9.3. */
#include "client/rest.h"

/** What generic texts name. */
struct bt_status_subject {
	const char *method;
	struct bt_str resource; /* "pods", "pods.metrics.k8s.io"; "": nothing is named */
	struct bt_str name;
};

/**
 * Fill class, message, reason and the rest from code, content_type and body, which are set. Texts
 * lie in the arena.
 */
void bt_status_classify(const struct bt_status_subject *subject, struct bt_arena *arena,
	struct bt_rest_answer *answer);
/** Is it that, parameters and case aside? */
bool bt_media_type_is(struct bt_str content_type, const char *media_type);
#endif
