/* SPDX-License-Identifier: Apache-2.0 */
/** What a pod asks for, as numbers, and classes of resource names. */
#include "lib/aggregate.h"
#include "lib/convert.h"

bool berth_resource_is_extended_name(struct berth_str name)
{
	return bt_resource_is_extended(name);
}

void berth_pod_resource_request(const struct berth_pod *pod, struct berth_resource *out_request)
{
	struct bt_arena arena = {0};
	struct bt_resource request =
		bt_pod_fit_request(bt_const_pod_of(pod), &bt_aggregate_default_gates, &arena);

	*out_request = (struct berth_resource){
		.cpu_milli = request.cpu_milli,
		.memory_bytes = request.memory_bytes,
		.ephemeral_storage_bytes = request.ephemeral_storage_bytes,
	};
	for (uint32_t i = 0; i < request.scalar_count; i++) {
		berth_resource_set_scalar(
			out_request, request.scalars[i].name, request.scalars[i].value);
	}
	bt_arena_finish(&arena);
}
