/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CEL_DEVICE_H
#define BT_CEL_DEVICE_H
/** The variable `device` of device selectors. Spec: 12b sections 2 and 4. */
#include "api/types.h"
#include "cel/cel.h"

enum bt_cel_device_field {
	BT_CEL_DEVICE_DRIVER,
	BT_CEL_DEVICE_ALLOW_MULTIPLE_ALLOCATIONS,
	BT_CEL_DEVICE_ATTRIBUTES,
	BT_CEL_DEVICE_CAPACITY,
	BT_CEL_DEVICE_FIELD__COUNT,
};

/** Name ("driver", ...) and static type of a field. */
struct bt_cel_device_field_info {
	const char *name;
	struct bt_cel_type type;
};
/**
 * Returns the fields of `device`, indexed by enum bt_cel_device_field. list_attributes: whether the
 * gate DRAListTypeAttributes is enabled.
 */
const struct bt_cel_device_field_info *bt_cel_device_fields(bool list_attributes);

/** The environment of selectors: the variable `device`, and the result must be bool. */
const struct bt_cel_environment *bt_cel_device_environment(bool list_attributes);

/**
 * Makes the value of `device` in the arena; the value borrows from driver and device. Fails if an
 * attribute cannot be converted: `attribute <name>: unsupported attribute value` or another error
 * of spec 12b section 4.
 */
BT_MUST_USE int bt_cel_device_make(struct bt_str driver, const struct bt_device *device,
	bool list_attributes, struct bt_arena *arena, struct bt_cel_value *out_value,
	struct berth_error *err);

/**
 * Evaluates a program that was compiled in the device environment. *out_matches: whether the result
 * is true for this device. On failure err is the text after "CEL runtime error: ". BERTH_ERR_STATE:
 * interrupted. limits->out_cost is not set.
 */
BT_MUST_USE int bt_cel_device_matches(const struct bt_cel_program *program,
	const struct bt_cel_value *device, const struct bt_cel_limits *limits,
	struct bt_arena *arena, bool *out_matches, struct berth_error *err);
#endif
