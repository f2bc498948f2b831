/* SPDX-License-Identifier: Apache-2.0 */
/** Extenders in the scheduling cycle: after the filters and after the scores. Spec 03 sections 3.6
 * and 5. */
#include "sched/cycle_private.h"

/** --- statuses as a map by node --- */

static uint64_t stranger_hash(const void *owner, uint32_t value)
{
	return bt_str_hash(((const struct bt_cycle_extension *)owner)->strangers.items[value].name);
}

void bt_cycle_extension_init(struct bt_cycle_run *run)
{
	struct bt_cycle_extension *extension = &run->extension;
	if (!bt_extenders_care(&run->engine->extenders, run->pod)) {
		return;
	}
	extension->active = true;
	extension->entry_by_slot = BT_ARENA_NEW_ARRAY(
		run->cycle->arena, uint32_t, run->engine->state->nodes.slot_count);
	bt_map_init(&extension->stranger_index, stranger_hash, extension);
}

void bt_cycle_extension_finish(struct bt_cycle_run *run)
{
	if (run->extension.active) {
		bt_map_finish(&run->extension.stranger_index);
		bt_vec_finish(&run->extension.strangers);
	}
}

/** Position + 1 of a name that is no node of the snapshot; 0 at first. */
static uint32_t *entry_of_stranger(struct bt_cycle_extension *extension, struct bt_str name)
{
	uint64_t hash = bt_str_hash(name);
	for (uint32_t it = bt_map_first(&extension->stranger_index, hash); it != BT_MAP_NONE;
		it = bt_map_next(&extension->stranger_index, hash, it)) {
		struct bt_cycle_stranger *known =
			&extension->strangers.items[bt_map_value(&extension->stranger_index, it)];
		if (bt_str_equal(known->name, name)) {
			return &known->entry;
		}
	}
	struct bt_cycle_stranger stranger = {.name = name};
	bt_vec_push(&extension->strangers, stranger);
	bt_map_insert(&extension->stranger_index, hash, extension->strangers.count - 1);
	return &extension->strangers.items[extension->strangers.count - 1].entry;
}

void bt_cycle_set_status(struct bt_cycle_run *run, uint32_t slot, struct bt_str stranger,
	const struct bt_status *status)
{
	struct bt_node_statuses *statuses = &run->result->diagnosis.statuses;
	struct bt_node_status_entry entry = {slot, *status};
	uint32_t *position = slot != BT_SLOT_NONE ? &run->extension.entry_by_slot[slot]
						  : entry_of_stranger(&run->extension, stranger);
	if (*position != 0) {
		statuses->entries.items[*position - 1] = entry;
		return;
	}
	bt_vec_push(&statuses->entries, entry);
	*position = statuses->entries.count;
}

/** --- filter --- */

static void reject(void *context, uint32_t slot, struct bt_str node_name, enum bt_status_code code,
	struct bt_str reason)
{
	struct bt_cycle_run *run = context;
	struct bt_status status = bt_status_text(code, run->cycle->arena, reason);
	bt_cycle_set_status(run, slot, node_name, &status);
}

struct bt_status bt_cycle_ask_filters(struct bt_cycle_run *run, struct bt_search_result *found)
{
	struct bt_arena *arena = run->cycle->arena;
	const struct bt_state *state = run->engine->state;
	struct bt_extender_candidates candidates = {
		.nodes = BT_ARENA_NEW_ARRAY(arena, struct bt_extender_node, found->feasible_count),
		.slots = found->feasible,
		.count = found->feasible_count,
	};
	for (uint32_t i = 0; i < candidates.count; i++) {
		candidates.nodes[i].name = bt_node_table_name(&state->nodes, found->feasible[i]);
	}
	struct bt_extender_sink sink = {reject, run};
	struct bt_status status =
		bt_extenders_filter(&run->engine->extenders, run->pod, arena, &candidates, &sink);
	if (bt_status_is_success(&status)) {
		found->feasible = candidates.slots;
		found->feasible_count = candidates.count;
		run->extension.candidates = candidates;
		run->cycle->without_pods = candidates.without_pods;
	}
	return status;
}

/** --- score --- */

const uint64_t *bt_cycle_ask_priorities(struct bt_cycle_run *run, int64_t *totals)
{
	const struct bt_extender_candidates *candidates = &run->extension.candidates;
	struct bt_arena *arena = run->cycle->arena;
	bool *scored = BT_ARENA_NEW_ARRAY(arena, bool, candidates->count);
	uint64_t *numbers = BT_ARENA_NEW_ARRAY(arena, uint64_t, candidates->count);

	bt_extenders_prioritize(
		&run->engine->extenders, run->pod, arena, candidates, totals, scored);
	for (uint32_t i = 0; i < candidates->count; i++) {
		/* 63 bits, as upstream draws them. */
		numbers[i] = scored[i] ? bt_prng_next(&run->engine->prng) >> 1 : 0;
	}
	return numbers;
}
