/* SPDX-License-Identifier: Apache-2.0 */
/** Defaults of device requests. Spec: 12 section 3.2. */
#include "api/defaulting.h"

/** A macro, because requests and subrequests are different types with the same fields. */
#define DEFAULT_MODE(request) \
	do { \
		if ((request)->allocation_mode.length == 0) { \
			(request)->allocation_mode = \
				BT_DEFAULT_EXACT_DEVICE_REQUEST_ALLOCATION_MODE; \
		} \
		if (bt_str_equal_c((request)->allocation_mode, "ExactCount") && \
			(request)->count == 0) { \
			(request)->count = 1; \
		} \
	} while (0)

static void default_request(struct bt_device_request *request, struct bt_arena *arena)
{
	uint32_t count = request->first_available.count;

	if (request->exactly != NULL) {
		struct bt_exact_device_request *exactly =
			BT_ARENA_NEW(arena, struct bt_exact_device_request);
		*exactly = *request->exactly;
		DEFAULT_MODE(exactly);
		request->exactly = exactly;
	}
	if (count != 0) {
		struct bt_device_sub_request *alternatives =
			BT_ARENA_NEW_ARRAY(arena, struct bt_device_sub_request, count);
		for (uint32_t i = 0; i < count; i++) {
			alternatives[i] = request->first_available.items[i];
			DEFAULT_MODE(&alternatives[i]);
		}
		request->first_available.items = alternatives;
	}
}

void bt_device_claim_default(struct bt_device_claim *devices, struct bt_arena *arena)
{
	uint32_t count = devices->requests.count;
	struct bt_device_request *requests;

	if (count == 0) {
		return;
	}
	requests = BT_ARENA_NEW_ARRAY(arena, struct bt_device_request, count);
	for (uint32_t i = 0; i < count; i++) {
		requests[i] = devices->requests.items[i];
		default_request(&requests[i], arena);
	}
	devices->requests.items = requests;
}
