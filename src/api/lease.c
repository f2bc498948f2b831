/* SPDX-License-Identifier: Apache-2.0 */
#include "api/lease.h"

#include "api/field_rows.h"

static const struct bt_field lease_spec_rows[] = {
	BT_ROW_STR_NULLABLE(bt_lease_spec, holder_identity, "holderIdentity", 1),
	BT_ROW_I32_NULLABLE(bt_lease_spec, lease_duration_seconds, "leaseDurationSeconds", 2),
	BT_ROW_MICRO_TIME_NULLABLE(bt_lease_spec, acquire_time, "acquireTime", 3),
	BT_ROW_MICRO_TIME_NULLABLE(bt_lease_spec, renew_time, "renewTime", 4),
	BT_ROW_I32_NULLABLE(bt_lease_spec, lease_transitions, "leaseTransitions", 5),
};
static const struct bt_message lease_spec_message =
	BT_MESSAGE(bt_lease_spec, "LeaseSpec", lease_spec_rows);

static const struct bt_field lease_rows[] = {
	BT_ROW_MSG(bt_lease, metadata, "metadata", 1, bt_object_meta, bt_object_meta_message),
	BT_ROW_MSG(bt_lease, spec, "spec", 2, bt_lease_spec, lease_spec_message),
};
const struct bt_message bt_lease_message = BT_MESSAGE(bt_lease, "Lease", lease_rows);
