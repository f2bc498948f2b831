/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_API_LEASE_H
#define BT_API_LEASE_H
/** Lease of leader election. Spec: 01 section 4.12. */
#include "api/meta.h"

struct bt_lease_spec {
	struct bt_str holder_identity; /* nullable */
	struct bt_opt_i32 lease_duration_seconds;
	const struct bt_time *acquire_time;
	const struct bt_time *renew_time;
	struct bt_opt_i32 lease_transitions;
};

struct bt_lease {
	struct bt_object_meta metadata;
	struct bt_lease_spec spec;
};

extern const struct bt_message bt_lease_message;
#endif
