/* SPDX-License-Identifier: Apache-2.0 */
#include "base/wrap.h"
#include "state/state_private.h"
#include "validate/validate.h"

/*
 * Checks the whole state: everything that is updated incrementally is computed anew and compared.
 */

/* Report the first difference and leave the function. */
#define check(condition, ...) \
	do { \
		if (!(condition)) { \
			bt_strbuf_printf(reason, __VA_ARGS__); \
			return false; \
		} \
	} while (0)

struct sums {
	int64_t cpu;
	int64_t memory;
	int64_t ephemeral;
	int64_t non_zero_cpu;
	int64_t non_zero_memory;
	uint32_t affinity;
	uint32_t anti_affinity;
	uint32_t claims;
};

static bool add_pod(const struct bt_state *state, uint32_t slot, uint32_t position,
	struct sums *sums, int64_t *scalars, struct bt_strbuf *reason)
{
	uint32_t pod_id = state->nodes.rows[slot].pods.items[position];
	const struct bt_pod_record *record;
	const struct bt_shape *shape;

	check(pod_id < state->pods.records.count, "slot %u lists pod %u", slot, pod_id);
	record = bt_state_pod_at(state, pod_id);
	check(record->in_use && record->node == slot, "slot %u lists pod %u of slot %u", slot,
		pod_id, record->node);
	check(record->position == position, "pod %u is at %u, not %u", pod_id, position,
		record->position);
	shape = bt_shape_at(&state->shapes, record->shape);
	sums->cpu = bt_wrap_add(sums->cpu, shape->requested[BT_CPU_MILLI]);
	sums->memory = bt_wrap_add(sums->memory, shape->requested[BT_MEMORY_BYTES]);
	sums->ephemeral = bt_wrap_add(sums->ephemeral, shape->requested[BT_EPHEMERAL_BYTES]);
	sums->non_zero_cpu = bt_wrap_add(sums->non_zero_cpu, shape->non_zero[BT_CPU_MILLI]);
	sums->non_zero_memory =
		bt_wrap_add(sums->non_zero_memory, shape->non_zero[BT_MEMORY_BYTES]);
	sums->affinity += shape->has_affinity;
	sums->anti_affinity += shape->has_required_anti_affinity;
	sums->claims += record->snapshot_only ? 0 : shape->claim_names.count;
	for (uint32_t i = 0; i < shape->scalar_count; i++) {
		int64_t *scalar = &scalars[shape->scalars[i].resource];
		*scalar = bt_wrap_add(*scalar, shape->scalars[i].value);
	}
	return true;
}

static bool check_row(
	const struct bt_state *state, uint32_t slot, int64_t *scalars, struct bt_strbuf *reason)
{
	const struct bt_node_table *nodes = &state->nodes;
	const struct bt_node_row *row = &nodes->rows[slot];
	bool known = row->in_cache || row->in_snapshot ||
		bt_snapshot_has_name(&state->snapshot, slot) || row->in_order ||
		row->pods.count != 0;
	struct sums sums = {0};
	uint32_t claims = 0;

	check(row->in_use == known, "slot %u: in use %d, known %d", slot, row->in_use, known);
	check(bt_bitset_get(&state->snapshot.affinity_slots, slot) == row->in_affinity_list,
		"slot %u: set of slots with affinity", slot);
	check(!row->has_node || row->in_cache, "slot %u has a node outside the cache", slot);
	check(!row->in_use || bt_node_table_find_symbol(nodes, row->name) == slot, "slot %u: name",
		slot);
	memset(scalars, 0, nodes->scalars.count * sizeof(*scalars));
	for (uint32_t i = 0; i < row->pods.count; i++) {
		if (!add_pod(state, slot, i, &sums, scalars, reason)) {
			return false;
		}
	}
	for (uint32_t i = 0; i < row->claims.count; i++) {
		claims += row->claims.items[i].count;
	}
	check(nodes->requested[BT_CPU_MILLI][slot] == sums.cpu, "slot %u: requested cpu", slot);
	check(nodes->requested[BT_MEMORY_BYTES][slot] == sums.memory, "slot %u: requested memory",
		slot);
	check(nodes->requested[BT_EPHEMERAL_BYTES][slot] == sums.ephemeral,
		"slot %u: requested storage", slot);
	check(nodes->non_zero[BT_CPU_MILLI][slot] == sums.non_zero_cpu, "slot %u: non-zero cpu",
		slot);
	check(nodes->non_zero[BT_MEMORY_BYTES][slot] == sums.non_zero_memory,
		"slot %u: non-zero memory", slot);
	check(nodes->pod_count[slot] == (int64_t)row->pods.count, "slot %u: pod count", slot);
	check(row->pods_with_affinity.count == sums.affinity, "slot %u: affinity pods", slot);
	check(row->pods_with_required_anti_affinity.count == sums.anti_affinity,
		"slot %u: anti-affinity pods", slot);
	check(claims == sums.claims, "slot %u: claims", slot);
	for (uint32_t i = 0; i < nodes->scalars.count; i++) {
		check(nodes->scalars.items[i].requested[slot] == scalars[i], "slot %u: scalar %u",
			slot, i);
	}
	return true;
}

static bool check_labels(const struct bt_state *state, struct bt_strbuf *reason)
{
	const struct bt_node_table *nodes = &state->nodes;
	uint32_t keys = 0;
	uint64_t counted = 0;
	uint64_t labels = 0;

	for (uint32_t i = 0; i < nodes->label_columns.count; i++) {
		const struct bt_label_column *column = nodes->label_columns.items[i];
		uint32_t present = 0;
		for (uint32_t slot = 0; slot < nodes->slot_count; slot++) {
			const struct bt_node_row *row = &nodes->rows[slot];
			bt_sym value = BT_SYM_NONE;
			for (uint32_t k = 0; k < row->labels.count; k++) {
				if (bt_sym_equal(row->label_symbols[k].key, column->key)) {
					value = row->label_symbols[k].value;
				}
			}
			present += !bt_sym_is_none(value);
			check(bt_sym_equal(column->dictionary.items[column->values[slot]], value),
				"label column %u, slot %u", i, slot);
		}
		check(present == column->present_count, "label column %u: present count", i);
	}
	for (uint32_t i = 0; i < nodes->label_keys.count; i++) {
		keys += nodes->label_keys.items[i].slot_count != 0;
		counted += nodes->label_keys.items[i].slot_count;
	}
	for (uint32_t slot = 0; slot < nodes->slot_count; slot++) {
		const struct bt_node_row *row = &nodes->rows[slot];
		labels += row->labels.count;
		for (uint32_t k = 0; k < row->labels.count; k++) {
			check(bt_node_table_has_label_key(nodes, row->label_symbols[k].key),
				"slot %u, label %u: its key is not known", slot, k);
		}
	}
	check(counted == labels, "label keys counted %u times, not %u", (unsigned)counted,
		(unsigned)labels);
	check(keys == nodes->label_keys.map.count, "%u label keys, not %u",
		nodes->label_keys.map.count, keys);
	return true;
}

static bool check_nodes(const struct bt_state *state, struct bt_strbuf *reason)
{
	int64_t *scalars = BT_NEW_ARRAY(int64_t, state->nodes.scalars.count);
	uint32_t in_cache = 0;
	uint32_t in_order = 0;
	uint32_t names = 0;
	uint32_t affinity = 0;
	bool good = true;

	for (uint32_t slot = 0; slot < state->nodes.slot_count && good; slot++) {
		const struct bt_node_row *row = &state->nodes.rows[slot];
		in_cache += row->in_cache;
		in_order += row->in_order;
		names += bt_snapshot_has_name(&state->snapshot, slot);
		affinity += row->pods_with_affinity.count;
		good = check_row(state, slot, scalars, reason);
	}
	bt_free(scalars);
	if (!good) {
		return false;
	}
	check(in_cache == state->node_entry_count, "%u entries, counted %u", in_cache,
		state->node_entry_count);
	check(in_order == state->order.count, "%u in order, counted %u", in_order,
		state->order.count);
	check(names == state->snapshot.name_count, "%u names, counted %u", names,
		state->snapshot.name_count);
	check(affinity == state->affinity_pod_count, "%u pods with affinity, counted %u", affinity,
		state->affinity_pod_count);
	return check_labels(state, reason);
}

static bool check_pods(const struct bt_state *state, struct bt_strbuf *reason)
{
	const struct bt_pod_table *pods = &state->pods;
	uint32_t count = 0;
	uint32_t assumed = 0;

	for (uint32_t i = 0; i < pods->records.count; i++) {
		const struct bt_pod_record *record = &pods->records.items[i];
		const struct bt_node_row *row;
		if (!record->in_use) {
			continue;
		}
		row = &state->nodes.rows[record->node];
		check(record->position < row->pods.count && row->pods.items[record->position] == i,
			"pod %u is not on its node", i);
		if (record->snapshot_only) {
			continue;
		}
		count++;
		assumed += record->assumed;
		check(bt_state_find_pod(state, bt_pod_record_uid(record)) == i, "pod %u: uid", i);
	}
	check(count == pods->count, "%u pods, counted %u", count, pods->count);
	check(assumed == pods->assumed_count, "%u assumed, counted %u", assumed,
		pods->assumed_count);
	check(count == pods->by_uid.count, "%u pods, %u uids", count, pods->by_uid.count);
	return true;
}

static bool check_images(const struct bt_state *state, struct bt_strbuf *reason)
{
	uint32_t *counts = BT_NEW_ARRAY(uint32_t, state->images.images.count);
	uint32_t wrong = UINT32_MAX;

	for (uint32_t slot = 0; slot < state->nodes.slot_count; slot++) {
		const struct bt_node_row *row = &state->nodes.rows[slot];
		for (uint32_t i = 0; i < row->images.count; i++) {
			counts[row->images.items[i].image]++;
		}
	}
	for (uint32_t i = 0; i < state->images.images.count; i++) {
		if (counts[i] != state->images.images.items[i].node_count) {
			wrong = i;
		}
	}
	bt_free(counts);
	check(wrong == UINT32_MAX, "image %u: node count", wrong);
	return true;
}

static bool check_snapshot(const struct bt_state *state, struct bt_strbuf *reason)
{
	const struct bt_snapshot *snapshot = &state->snapshot;
	uint32_t listed = 0;
	uint32_t claims = 0;
	uint32_t counted = 0;

	for (uint32_t slot = 0; slot < state->nodes.slot_count; slot++) {
		listed += state->nodes.rows[slot].in_snapshot;
		check(state->nodes.rows[slot].in_snapshot == bt_bitset_get(&snapshot->listed, slot),
			"slot %u: set of listed slots", slot);
		claims += state->nodes.rows[slot].in_snapshot ? state->nodes.rows[slot].claims.count
							      : 0;
	}
	check(listed == snapshot->count, "%u slots in the snapshot, %u listed", listed,
		snapshot->count);
	const uint32_t *list = bt_snapshot_list(snapshot);
	const uint32_t *positions = bt_snapshot_positions(snapshot);
	for (uint32_t i = 0; i < snapshot->count; i++) {
		uint32_t place = snapshot->places.place_of[list[i]];
		check(state->nodes.rows[list[i]].in_snapshot &&
				bt_snapshot_has_name(snapshot, list[i]),
			"listed slot %u", list[i]);
		check(positions[list[i]] == i, "position of slot %u", list[i]);
		check(place < snapshot->places.used && snapshot->places.slot_at[place] == list[i],
			"place of slot %u", list[i]);
	}
	const struct bt_snapshot_lists *lists = bt_snapshot_affinity_lists(state);
	check(lists->affinity.count == snapshot->affinity_count, "%u nodes in the affinity list",
		lists->affinity.count);
	for (uint32_t i = 1; i < lists->affinity.count; i++) {
		check(positions[lists->affinity.items[i - 1]] < positions[lists->affinity.items[i]],
			"affinity list at %u", i);
	}
	for (uint32_t i = 0; i < state->used_claims.count; i++) {
		counted += state->used_claims.items[i].count;
	}
	check(claims == counted, "%u claims used, counted %u", claims, counted);
	return true;
}

bool bt_state_validate(const struct bt_state *state, struct bt_strbuf *out_reason)
{
	return check_nodes(state, out_reason) && check_pods(state, out_reason) &&
		check_images(state, out_reason) && check_snapshot(state, out_reason);
}
