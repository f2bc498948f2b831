/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_DAEMON_HEALTH_H
#define BT_DAEMON_HEALTH_H
/** The answers of /healthz, /livez and /readyz. Spec: 11 section 9.5. */
#include "daemon/endpoints.h"
#include "daemon/reply.h"

struct bt_health {
	const char *name;               /* "healthz" */
	struct bt_health_check *checks; /* owned */
	uint32_t check_count;
	struct bt_metric *gauge;   /* {name, type}; NULL: none */
	struct bt_metric *counter; /* {name, type, status} */
};

/** Checks are copied. slis: where results are counted (/metrics/slis). */
void bt_health_init(struct bt_health *health, const char *name,
	const struct bt_health_check *checks, uint32_t count, struct bt_metrics *slis);
void bt_health_finish(struct bt_health *health);
/** All checks; ?verbose and ?exclude= count. */
void bt_health_answer(const struct bt_health *health, const struct bt_page_request *request,
	struct bt_reply *reply);
/** One check by its name; false: there is none. */
BT_MUST_USE bool bt_health_answer_one(
	const struct bt_health *health, struct bt_str name, struct bt_reply *reply);
#endif
