/* SPDX-License-Identifier: Apache-2.0 */
#include "state/domain_counter.h"

#include "api/toleration.h"
#include "base/alloc.h"
#include "state/node_table_edit.h"
#include "state/topology_key.h"

/** If more than 1/REPAIR_SHARE of the slots changed, all slots are evaluated anew. */
#define REPAIR_SHARE 4
#define CHANGES_OF_INTEREST (BT_CHANGE_LABELS | BT_CHANGE_TAINTS | BT_CHANGE_EXISTENCE)

void bt_eligibility_table_finish(struct bt_eligibility_table *table)
{
	BT_ASSERT(table->items.map.count == 0);
	bt_hash_table_finish(&table->items);
	bt_vec_finish(&table->columns);
	bt_strbuf_finish(&table->key);
}

void bt_eligibility_append_identity(struct bt_strbuf *key, const struct bt_eligibility_spec *spec)
{
	bt_key_append_str(key, spec->topology_key);
	bt_key_append_u32(key, spec->label_count);
	for (uint32_t i = 0; i < spec->label_count; i++) {
		bt_key_append_str(key, spec->labels[i]);
	}
	bt_key_append_u32(key, spec->affinity_of != NULL);
	if (spec->affinity_of != NULL) {
		bt_key_append_node_affinity(key, spec->affinity_of);
	}
	bt_key_append_u32(key, spec->tolerations_of != NULL);
	if (spec->tolerations_of != NULL) {
		bt_key_append_u32(key, spec->allow_comparison);
		bt_key_append_tolerations(key, spec->tolerations_of);
	}
}

struct bt_eligibility *bt_eligibility_ref(
	struct bt_eligibility_table *table, const struct bt_eligibility_spec *spec)
{
	bt_strbuf_reset(&table->key);
	bt_eligibility_append_identity(&table->key, spec);
	struct bt_str identity = bt_strbuf_str(&table->key);
	uint64_t hash = bt_str_hash(identity);
	BT_MAP_EACH (&table->items.map, hash, id) {
		struct bt_eligibility *known = table->items.items[id];
		if (known->hash == hash && bt_str_equal(known->identity, identity)) {
			known->ref_count++;
			return known;
		}
	}
	struct bt_eligibility *eligibility = BT_NEW(struct bt_eligibility);
	bt_arena_init(&eligibility->arena, 512);
	eligibility->identity = bt_arena_str(&eligibility->arena, identity);
	eligibility->hash = hash;
	eligibility->topology_key = bt_arena_str(&eligibility->arena, spec->topology_key);
	eligibility->label_count = spec->label_count;
	eligibility->labels =
		bt_str_array_copy(spec->labels, spec->label_count, &eligibility->arena);
	/*
	 * Copy the fields of the pod's spec that eligibility reads, so that the pod's shape may be
	 * freed.
	 */
	struct bt_pod_spec view = {0};
	struct bt_affinity affinity = {0};

	if (spec->affinity_of != NULL) {
		view.node_selector = spec->affinity_of->node_selector;
		if (spec->affinity_of->affinity != NULL) {
			affinity.node_affinity = spec->affinity_of->affinity->node_affinity;
			view.affinity = &affinity;
		}
	}
	if (spec->tolerations_of != NULL) {
		view.tolerations = *spec->tolerations_of;
	}
	eligibility->spec = BT_ARENA_NEW(&eligibility->arena, struct bt_pod_spec);
	bt_message_copy(&bt_pod_spec_message, eligibility->spec, &view, &eligibility->arena);
	eligibility->has_affinity = spec->affinity_of != NULL;
	eligibility->affinity =
		bt_required_node_affinity_parse(eligibility->spec, &eligibility->arena);
	eligibility->tolerations =
		spec->tolerations_of != NULL ? &eligibility->spec->tolerations : NULL;
	eligibility->allow_comparison = spec->allow_comparison;
	eligibility->ref_count = 1;
	bt_hash_table_add(&table->items, hash, eligibility, eligibility->id);
	return eligibility;
}

void bt_eligibility_unref(struct bt_eligibility_table *table, struct bt_eligibility *eligibility)
{
	if (--eligibility->ref_count != 0) {
		return;
	}
	bt_hash_table_remove(&table->items, eligibility->hash, eligibility->id);
	table->items.items[eligibility->id] = NULL;
	table->bytes -= eligibility->bytes;
	bt_arena_finish(&eligibility->arena);
	bt_free(eligibility->domains);
	bt_free(eligibility->nodes);
	bt_free(eligibility->moves);
	bt_free(eligibility);
}

/**
 * Domain of a slot, which must be in the snapshot. columns: the columns of the topology key and of
 * the labels, in this order.
 */
static uint32_t domain_of_slot(const struct bt_eligibility *eligibility,
	const struct bt_state *state, const struct bt_label_column *const *columns, uint32_t slot)
{
	for (uint32_t i = 0; i < eligibility->label_count; i++) {
		if (columns[i + 1] == NULL || columns[i + 1]->values[slot] == 0) {
			return BT_NO_DOMAIN;
		}
	}
	if (eligibility->has_affinity &&
		!bt_required_node_affinity_matches(&eligibility->affinity,
			bt_node_table_name(&state->nodes, slot), &state->nodes.rows[slot].labels,
			NULL, NULL)) {
		return BT_NO_DOMAIN;
	}
	if (eligibility->tolerations != NULL &&
		bt_find_untolerated_taint(bt_node_table_taints(&state->nodes, slot),
			eligibility->tolerations, BT_TAINT_HARD,
			eligibility->allow_comparison) != NULL) {
		return BT_NO_DOMAIN;
	}
	return columns[0] != NULL ? columns[0]->values[slot] : 0;
}

void bt_eligibility_catch_up(struct bt_eligibility_table *table, struct bt_state *state,
	struct bt_eligibility *eligibility)
{
	const struct bt_change_log *log = &state->log;
	uint64_t seen = eligibility->log_sequence;
	bool repairs = eligibility->filled && bt_change_log_covers(log, seen);
	bool has_new_slots = eligibility->slot_count != state->nodes.slot_count;
	uint64_t behind = repairs ? bt_change_log_count(log, seen, CHANGES_OF_INTEREST) : 0;

	eligibility->log_sequence = log->sequence;
	if (repairs && behind == 0 && !has_new_slots) {
		return;
	}
	/* The columns of the topology key and of the labels, in this order. */
	bt_vec_reserve(&table->columns, eligibility->label_count + UINT64_C(1));
	const struct bt_label_column **columns = table->columns.items;
	/* Label changes are of no interest if no value in these columns changed. */
	uint64_t label_changes = 0;
	uint32_t kinds = BT_CHANGE_EXISTENCE;

	for (uint32_t i = 0; i <= eligibility->label_count; i++) {
		columns[i] = bt_state_label_column(
			state, i == 0 ? eligibility->topology_key : eligibility->labels[i - 1]);
		label_changes += columns[i] != NULL ? columns[i]->change_count : 0;
	}
	uint32_t rebuild_count = columns[0] != NULL ? columns[0]->rebuild_count : 0;
	kinds |= eligibility->has_affinity ? BT_CHANGE_LABELS : 0;
	kinds |= eligibility->tolerations != NULL ? BT_CHANGE_TAINTS : 0;
	if (repairs && !has_new_slots && rebuild_count == eligibility->rebuild_count &&
		label_changes == eligibility->label_changes &&
		bt_change_log_count(log, seen, kinds) == 0) {
		return;
	}
	eligibility->label_changes = label_changes;
	/* Reserve entries for all slots and domains; new slots are not eligible. */
	const struct bt_label_column *column = columns[0];
	uint32_t slots = state->nodes.slot_count;
	uint32_t domains = column != NULL ? column->dictionary.count : 1;

	if (slots > eligibility->slot_capacity) {
		eligibility->slot_capacity = state->nodes.slot_capacity;
		eligibility->domains = bt_realloc_array(eligibility->domains,
			eligibility->slot_capacity, sizeof(*eligibility->domains));
	}
	if (slots > eligibility->slot_count) {
		memset(eligibility->domains + eligibility->slot_count, 0xff,
			(slots - eligibility->slot_count) * sizeof(*eligibility->domains));
		eligibility->slot_count = slots;
	}
	if (domains > eligibility->size) {
		uint32_t old = eligibility->size;

		eligibility->size = bt_vec_grown_capacity(old, domains);
		eligibility->nodes = bt_realloc_array(
			eligibility->nodes, eligibility->size, sizeof(*eligibility->nodes));
		memset(eligibility->nodes + old, 0,
			(eligibility->size - old) * sizeof(*eligibility->nodes));
	}
	table->bytes -= eligibility->bytes;
	eligibility->bytes = sizeof(*eligibility) + eligibility->arena.total_bytes +
		sizeof(uint32_t) * ((size_t)eligibility->slot_capacity + eligibility->size) +
		(eligibility->moves != NULL ? BT_MOVES_MAX * sizeof(*eligibility->moves) : 0);
	table->bytes += eligibility->bytes;
	if (!repairs || rebuild_count != eligibility->rebuild_count ||
		behind > 16 + state->nodes.slot_count / REPAIR_SHARE) {
		/* Evaluate all nodes of the snapshot anew. */
		memset(eligibility->nodes, 0, eligibility->size * sizeof(*eligibility->nodes));
		if (eligibility->slot_count != 0) {
			memset(eligibility->domains, 0xff,
				eligibility->slot_count * sizeof(*eligibility->domains));
		}
		eligibility->eligible_count = 0;
		const struct bt_places *places = &state->snapshot.places;
		for (uint32_t i = 0; i < places->used; i++) {
			uint32_t slot = places->slot_at[i];
			if (slot == BT_SLOT_NONE) {
				continue;
			}
			uint32_t domain = domain_of_slot(eligibility, state, columns, slot);

			eligibility->domains[slot] = domain;
			if (domain != BT_NO_DOMAIN) {
				eligibility->eligible_count +=
					eligibility->nodes[domain]++ == 0 && domain != 0;
			}
		}
		eligibility->epoch = ++table->next_epoch;
		eligibility->move_count = 0;
	} else {
		uint64_t end = bt_change_log_end(log, seen, CHANGES_OF_INTEREST);
		for (uint64_t i = seen; i < end; i++) {
			struct bt_change change = bt_change_log_at(log, i);
			uint32_t slot = change.slot;
			if ((change.kinds & CHANGES_OF_INTEREST) == 0) {
				continue;
			}
			uint32_t to = state->nodes.rows[slot].in_snapshot
				? domain_of_slot(eligibility, state, columns, slot)
				: BT_NO_DOMAIN;
			struct bt_domain_move move = {
				.slot = slot, .from = eligibility->domains[slot], .to = to};

			if (move.from == to) {
				continue;
			}
			if (move.from != BT_NO_DOMAIN) {
				move.emptied = --eligibility->nodes[move.from] == 0;
				eligibility->eligible_count -= move.emptied && move.from != 0;
			}
			if (to != BT_NO_DOMAIN) {
				move.entered = eligibility->nodes[to]++ == 0;
				eligibility->eligible_count += move.entered && to != 0;
			}
			eligibility->domains[slot] = to;
			if (eligibility->moves == NULL) {
				eligibility->moves =
					BT_NEW_ARRAY(struct bt_domain_move, BT_MOVES_MAX);
			}
			eligibility->moves[eligibility->move_count++ & (BT_MOVES_MAX - 1)] = move;
		}
	}
	eligibility->filled = true;
	eligibility->rebuild_count = rebuild_count;
}
