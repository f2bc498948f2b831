/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/validate.h"

static const char *find_flaw(const struct bt_api_calls *calls, uint32_t *out_waiting)
{
	uint32_t pending[BT_API_CALL__COUNT] = {0};

	for (uint32_t i = 0; i < calls->entries.count; i++) {
		const struct bt_api_calls_entry *entry = &calls->entries.items[i];
		if (entry->stored == NULL) {
			continue;
		}
		if (bt_api_calls_find(calls, entry->stored->pod->meta->uid) != entry->stored) {
			return "an entry is not found by its uid";
		}
		if (entry->is_waiting == (entry->in_flight != NULL)) {
			return "an entry waits and has a call in flight, or neither";
		}
		if (entry->stored->finished) {
			return "a stored call has ended";
		}
		pending[entry->stored->type] += !entry->stored->in_flight;
		*out_waiting += entry->is_waiting;
	}
	for (uint32_t i = 0; i < BT_API_CALL__COUNT; i++) {
		if (pending[i] != calls->pending_counts[i]) {
			return "a count of pending calls is wrong";
		}
	}
	return NULL;
}

bool bt_api_calls_validate(const struct bt_api_calls *calls, const char **out_reason)
{
	uint32_t waiting = 0;
	uint32_t last = UINT32_MAX;

	*out_reason = find_flaw(calls, &waiting);
	for (uint32_t id = calls->first; id != UINT32_MAX && *out_reason == NULL;
		id = calls->entries.items[id].next) {
		const struct bt_api_calls_entry *entry = &calls->entries.items[id];
		if (!entry->is_waiting || entry->previous != last || waiting-- == 0) {
			*out_reason = "the waiting entries are not in a list";
		}
		last = id;
	}
	if (*out_reason == NULL && (waiting != 0 || last != calls->last)) {
		*out_reason = "the list of waiting entries has another length";
	}
	return *out_reason == NULL;
}
