/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_TESTS_UNIT_CLIENT_COPIED_H
#define BT_TESTS_UNIT_CLIENT_COPIED_H
/**
 * A map built from the events of a reflector. Every event must be consistent with the events before
 * it, and the map must equal the reflector's copy.
 */
#include "base/vec.h"
#include "client/reflector.h"

struct copied {
	BT_VEC(struct bt_object *) objects; /* owned references */
	const struct bt_reflector *reflector;
	uint32_t added;
	uint32_t updated;
	uint32_t deleted;
	uint32_t stale; /* included in deleted */
	uint32_t synced;
	int64_t silent_ns; /* of the last gap without a list */
};

struct bt_reflector_sink copied_sink(struct copied *copied);
/** Checks that the map equals the reflector's copy. */
void copied_check(const struct copied *copied);
const struct bt_object *copied_find(
	const struct copied *copied, struct bt_str namespace_, struct bt_str name);
void copied_finish(struct copied *copied);
#endif
