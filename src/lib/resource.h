/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_LIB_RESOURCE_H
#define BT_LIB_RESOURCE_H
/**
 * Converts between the public integer record, which owns its memory, and the internal one in an
 * arena.
 */
#include "api/resources.h"
#include "berth/resource.h"

/**
 * Adds (sign 1) or subtracts (sign -1) addend to or from sum, except the number of pods. Adds
 * missing entries, never removes any.
 */
void bt_lib_resource_accumulate(
	struct berth_resource *sum, const struct bt_resource *addend, int64_t sign);
/**
 * Appends `{MilliCPU:100 Memory:0 EphemeralStorage:0 AllowedPodNumber:0 ScalarResources:map[a:1]}`.
 */
void bt_lib_resource_append(const struct berth_resource *resource, struct bt_strbuf *out);
#endif
