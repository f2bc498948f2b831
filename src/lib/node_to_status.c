/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/node_to_status.h"

#include <stddef.h>

#include "base/alloc.h"
#include "state/node_info.h"

static bool is_view(const struct berth_node_to_status *statuses)
{
	return statuses->statuses != NULL;
}

struct berth_node_to_status *berth_node_to_status_create(void)
{
	struct berth_node_to_status *statuses = BT_NEW(struct berth_node_to_status);

	statuses->absent = bt_status_code_only(BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE);
	return statuses;
}

void berth_node_to_status_destroy(struct berth_node_to_status *statuses)
{
	if (statuses == NULL) {
		return;
	}
	bt_vec_finish(&statuses->entries);
	bt_arena_finish(&statuses->arena);
	bt_free(statuses);
}

static uint32_t find_entry(const struct berth_node_to_status *statuses, struct berth_str node_name)
{
	uint32_t i = 0;

	while (i < statuses->entries.count &&
		!bt_str_equal(statuses->entries.items[i].node_name, node_name)) {
		i++;
	}
	return i;
}

void berth_node_to_status_set(struct berth_node_to_status *statuses, struct berth_str node_name,
	const struct berth_status *status)
{
	if (is_view(statuses)) {
		return;
	}
	uint32_t index = find_entry(statuses, node_name);

	if (index == statuses->entries.count) {
		struct bt_named_status entry = {
			.node_name = bt_arena_str(&statuses->arena, node_name)};

		bt_vec_push(&statuses->entries, entry);
	}
	statuses->entries.items[index].status = bt_status_copy(status, &statuses->arena);
}

void berth_node_to_status_set_absent(
	struct berth_node_to_status *statuses, const struct berth_status *status)
{
	if (!is_view(statuses)) {
		statuses->absent = bt_status_copy(status, &statuses->arena);
	}
}

struct berth_status berth_node_to_status_get(
	const struct berth_node_to_status *statuses, struct berth_str node_name)
{
	if (is_view(statuses)) {
		uint32_t slot = bt_state_snapshot_find(statuses->state, node_name);

		return slot != BT_SLOT_NONE
			? bt_node_statuses_get(statuses->statuses, statuses->state, slot)
			: statuses->statuses->absent;
	}
	uint32_t index = find_entry(statuses, node_name);

	return index < statuses->entries.count ? statuses->entries.items[index].status
					       : statuses->absent;
}

uint32_t berth_node_to_status_count(const struct berth_node_to_status *statuses)
{
	return is_view(statuses) ? bt_node_statuses_count(statuses->statuses)
				 : statuses->entries.count;
}

struct berth_str berth_node_to_status_at(const struct berth_node_to_status *statuses,
	uint32_t index, struct berth_status *out_status)
{
	BT_ASSERT(index < berth_node_to_status_count(statuses));
	if (is_view(statuses)) {
		const struct bt_node_status_entry entry =
			bt_node_statuses_at(statuses->statuses, statuses->state, index);
		if (out_status != NULL) {
			*out_status = entry.status;
		}
		/* An extender may have named a node that is none. */
		return entry.slot != BT_SLOT_NONE
			? bt_node_table_name(&statuses->state->nodes, entry.slot)
			: BT_STR("");
	}
	if (out_status != NULL) {
		*out_status = statuses->entries.items[index].status;
	}
	return statuses->entries.items[index].node_name;
}
