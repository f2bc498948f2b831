/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_API_POD_H
#define BT_API_POD_H
/** Pods. Spec: 01 sections 4.3 and 4.4. */
#include "api/types.h"

/** Returns spec.priority, or 0. Spec 01 section 5.13. */
int32_t bt_pod_priority(const struct bt_pod *pod);
/** Returns true if the phase is Succeeded or Failed. Spec 01 section 5.17. */
bool bt_pod_is_terminal(const struct bt_pod *pod);
/** Returns the first condition of this type, or NULL. */
const struct bt_pod_condition *bt_pod_find_condition(const struct bt_pod *pod, struct bt_str type);
#endif
