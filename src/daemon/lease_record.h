/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_DAEMON_LEASE_RECORD_H
#define BT_DAEMON_LEASE_RECORD_H
/** What the spec of a Lease says of its holder. Spec: 11 section 8.1. */
#include "codec/json.h"

/** Texts are borrowed. Times: microseconds since 1970, 0: none. */
struct bt_lease_record {
	struct bt_str holder; /* "": nobody */
	int64_t duration_seconds;
	int64_t acquire_us;
	int64_t renew_us;
	int64_t transitions;
	struct bt_str preferred_holder;
	struct bt_str strategy;
};

/** Of a Lease as a tree. What is missing or of another type counts as zero. Texts borrow it. */
void bt_lease_record_read(const struct bt_json_value *lease, struct bt_lease_record *out_record);
/** The spec as it is written: five members always, the others unless empty. Texts are borrowed. */
BT_MUST_USE struct bt_json_value *bt_lease_record_write(
	const struct bt_lease_record *record, struct bt_arena *arena);
bool bt_lease_record_equal(const struct bt_lease_record *a, const struct bt_lease_record *b);
/** Deep copy; texts in the arena. */
struct bt_lease_record bt_lease_record_copy(
	const struct bt_lease_record *record, struct bt_arena *arena);
#endif
