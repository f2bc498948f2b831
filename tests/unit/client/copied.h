/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_TESTS_UNIT_CLIENT_COPIED_H
#define BT_TESTS_UNIT_CLIENT_COPIED_H
/**
 * What a reflector tells, applied to an empty map and compared with its copy: every change must fit
 * to what was told before.
 */
#include "base/vec.h"
#include "client/reflector.h"

struct copied {
	BT_VEC(struct bt_object *) objects; /* references of its own */
	const struct bt_reflector *reflector;
	uint32_t added;
	uint32_t updated;
	uint32_t deleted;
	uint32_t stale; /* of the deleted */
	uint32_t synced;
};

struct bt_reflector_sink copied_sink(struct copied *copied);
/** The reflector's copy is what was told. */
void copied_check(const struct copied *copied);
const struct bt_object *copied_find(
	const struct copied *copied, struct bt_str namespace_, struct bt_str name);
void copied_finish(struct copied *copied);
#endif
