/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_PLUGINS_COMMON_DEVICE_CLASS_H
#define BT_PLUGINS_COMMON_DEVICE_CLASS_H
/**
 * Device classes that back extended resources. Spec: 05 section 3.10, 12.
 * The cluster state holds no device classes: until dynamic resource allocation (spec chapter 12) is
 * implemented no resource is backed by a class, so an extended resource is what a device plugin
 * advertises in status.allocatable.
 */
#include <stdbool.h>

#include "base/str.h"
#include "state/state.h"

/** GetClass(name): a class claims this resource name. */
bool bt_device_class_for_resource(const struct bt_state *state, struct bt_str name);
#endif
