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
/** The class of a Status that was read: by its reason, else by its code. */
enum bt_rest_class bt_status_class(struct bt_str reason, int64_t code);
/** "application/json" of "Application/JSON; charset=utf-8", as it is written. */
struct bt_str bt_media_type(struct bt_str content_type);
bool bt_media_type_is(struct bt_str content_type, const char *media_type);
#endif
