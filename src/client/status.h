/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLIENT_STATUS_H
#define BT_CLIENT_STATUS_H
/** Converts responses to errors. Spec: 13 sections 9.1 to 9.3. */
#include "client/rest.h"

/** Names for generic messages. */
struct bt_status_subject {
	const char *method;
	struct bt_str resource; /* "pods", "pods.metrics.k8s.io"; "": unnamed */
	struct bt_str name;
};

/**
 * Fills class, message, reason and the other fields from code, content_type and body, which must be
 * set. Texts are allocated in the arena.
 */
void bt_status_classify(const struct bt_status_subject *subject, struct bt_arena *arena,
	struct bt_rest_answer *answer);
/** Compares media types, ignoring parameters and case. */
bool bt_media_type_is(struct bt_str content_type, const char *media_type);
#endif
