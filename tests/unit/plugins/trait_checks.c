/* SPDX-License-Identifier: Apache-2.0 */
#include "trait_checks.h"

#include <check.h>

static uint64_t value_of(const struct bt_node_trait *trait, uint32_t slot)
{
	return trait->values != NULL ? trait->values[slot] : trait->value(trait->context, slot);
}

bool traits_agree(const struct bt_trait_list *traits, uint32_t a, uint32_t b)
{
	for (uint32_t i = 0; i < traits->count; i++) {
		if (value_of(&traits->items[i], a) != value_of(&traits->items[i], b)) {
			return false;
		}
	}
	return true;
}

static bool changed_since(
	const struct bt_state *state, uint64_t sequence, uint32_t slot, uint32_t reads)
{
	ck_assert(bt_change_log_covers(&state->log, sequence));
	for (uint64_t i = sequence; i < state->log.sequence; i++) {
		struct bt_change change = bt_change_log_at(&state->log, i);

		if (change.slot == slot && (change.kinds & reads) != 0) {
			return true;
		}
	}
	return false;
}

uint32_t traits_check_kept(
	struct kept_traits *kept, const struct bt_trait_list *traits, const struct bt_state *state)
{
	const struct bt_snapshot *snapshot = &state->snapshot;
	uint32_t wrong = BT_SLOT_NONE;

	ck_assert_uint_le(traits->count, KEPT_TRAITS);
	ck_assert_uint_le(state->nodes.slot_count, KEPT_SLOTS);
	for (uint32_t i = 0; i < traits->count; i++) {
		const struct bt_node_trait *trait = &traits->items[i];
		uint32_t k = 0;

		while (k < kept->count &&
			memcmp(kept->items[k].identity, trait->identity, sizeof(trait->identity)) !=
				0) {
			k++;
		}
		for (uint32_t n = 0; k < kept->count && n < snapshot->count; n++) {
			uint32_t slot = bt_snapshot_list(snapshot)[n];

			if (changed_since(state, kept->log_sequence, slot, trait->reads)) {
				continue;
			}
			kept->kept++;
			if (kept->items[k].values[slot] != value_of(trait, slot)) {
				wrong = slot;
			}
		}
	}
	kept->count = traits->count;
	kept->log_sequence = state->log.sequence;
	for (uint32_t i = 0; i < traits->count; i++) {
		memcpy(kept->items[i].identity, traits->items[i].identity,
			sizeof(kept->items[i].identity));
		for (uint32_t slot = 0; slot < state->nodes.slot_count; slot++) {
			kept->items[i].values[slot] = value_of(&traits->items[i], slot);
		}
	}
	return wrong;
}
