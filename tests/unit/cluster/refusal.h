/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_TESTS_UNIT_CLUSTER_REFUSAL_H
#define BT_TESTS_UNIT_CLUSTER_REFUSAL_H
/** An admission policy that refuses writes with 422, to see what controllers do then. */
#include "server/api.h"

/**
 * Refuses this operation ("UPDATE") on a resource ("pods", "pods/status") of the group if the CEL
 * expression is false.
 */
void refusal_begin(struct bt_api *api, const char *group, const char *resource,
	const char *operation, const char *expression);
void refusal_end(struct bt_api *api);
#endif
