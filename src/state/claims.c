/* SPDX-License-Identifier: Apache-2.0 */
/* PVC references: per node, and which claims the snapshot's nodes use at all (spec 03b sections 3
 * and 7.1). */
#include "state/state_private.h"

struct bt_str bt_state_claim_key(
	struct bt_state *state, struct bt_str namespace_, struct bt_str claim)
{
	bt_strbuf_reset(&state->text);
	bt_strbuf_append_str(&state->text, namespace_);
	bt_strbuf_append_char(&state->text, '/');
	bt_strbuf_append_str(&state->text, claim);
	return bt_strbuf_str(&state->text);
}

/* --- cluster-wide --- */

static uint64_t used_claim_hash(const void *owner, uint32_t index)
{
	const struct bt_state *state = owner;

	return bt_sym_hash(state->used_claim_counts.items[index].claim);
}

void bt_used_claims_init(struct bt_state *state)
{
	bt_map_init(&state->used_claims, used_claim_hash, state);
}

void bt_used_claims_finish(struct bt_state *state)
{
	for (uint32_t i = 0; i < state->used_claim_counts.count; i++) {
		bt_symbol_unref(&state->symbols, state->used_claim_counts.items[i].claim);
	}
	bt_vec_finish(&state->used_claim_counts);
	bt_map_finish(&state->used_claims);
}

static uint32_t find_used(const struct bt_state *state, bt_sym claim)
{
	uint64_t hash = bt_sym_hash(claim);
	uint32_t at = bt_map_first(&state->used_claims, hash);

	for (; at != BT_MAP_NONE; at = bt_map_next(&state->used_claims, hash, at)) {
		uint32_t index = bt_map_value(&state->used_claims, at);
		if (bt_sym_equal(state->used_claim_counts.items[index].claim, claim)) {
			return index;
		}
	}
	return UINT32_MAX;
}

void bt_used_claims_add(struct bt_state *state, bt_sym claim)
{
	uint32_t index = find_used(state, claim);
	struct bt_claim_ref used;

	if (index != UINT32_MAX) {
		state->used_claim_counts.items[index].count++;
		return;
	}
	used = (struct bt_claim_ref){bt_symbol_ref(&state->symbols, claim), 1};
	bt_vec_push(&state->used_claim_counts, used);
	bt_map_insert(&state->used_claims, bt_sym_hash(claim), state->used_claim_counts.count - 1);
}

void bt_used_claims_remove(struct bt_state *state, bt_sym claim)
{
	uint32_t index = find_used(state, claim);
	uint32_t last = state->used_claim_counts.count - 1;
	bool removed;

	BT_ASSERT(index != UINT32_MAX);
	if (--state->used_claim_counts.items[index].count != 0) {
		return;
	}
	removed = bt_map_remove(&state->used_claims, bt_sym_hash(claim), index);
	BT_ASSERT(removed);
	if (index != last) {
		/* The last counter moves into the gap. */
		struct bt_claim_ref moved = state->used_claim_counts.items[last];
		removed = bt_map_remove(&state->used_claims, bt_sym_hash(moved.claim), last);
		BT_ASSERT(removed);
		state->used_claim_counts.items[index] = moved;
		bt_map_insert(&state->used_claims, bt_sym_hash(moved.claim), index);
	}
	state->used_claim_counts.count--;
	bt_symbol_unref(&state->symbols, claim);
}

bool bt_state_is_claim_used(const struct bt_state *state, struct bt_str claim_key)
{
	bt_sym claim = bt_symbol_find(&state->symbols, claim_key);

	return !bt_sym_is_none(claim) && find_used(state, claim) != UINT32_MAX;
}

/* --- one node --- */

static uint32_t lower_bound(const struct bt_node_row *row, bt_sym claim)
{
	uint32_t low = 0;
	uint32_t high = row->claims.count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (row->claims.items[middle].claim.id < claim.id) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low;
}

void bt_row_claim_add(struct bt_state *state, struct bt_node_row *row, struct bt_str key)
{
	struct bt_claim_ref fresh = {bt_symbol_ref_str(&state->symbols, key), 1};
	uint32_t at = lower_bound(row, fresh.claim);

	if (at < row->claims.count && bt_sym_equal(row->claims.items[at].claim, fresh.claim)) {
		row->claims.items[at].count++;
		bt_symbol_unref(&state->symbols, fresh.claim);
		return;
	}
	bt_vec_push(&row->claims, fresh);
	memmove(&row->claims.items[at + 1], &row->claims.items[at],
		(row->claims.count - 1 - at) * sizeof(fresh));
	row->claims.items[at] = fresh;
	if (row->in_snapshot) {
		bt_used_claims_add(state, fresh.claim);
	}
}

void bt_row_claim_remove(struct bt_state *state, struct bt_node_row *row, struct bt_str key)
{
	bt_sym claim = bt_symbol_find(&state->symbols, key);
	uint32_t at = lower_bound(row, claim);

	BT_ASSERT(at < row->claims.count && bt_sym_equal(row->claims.items[at].claim, claim));
	if (--row->claims.items[at].count != 0) {
		return;
	}
	bt_vec_remove_ordered(&row->claims, at);
	if (row->in_snapshot) {
		bt_used_claims_remove(state, claim);
	}
	bt_symbol_unref(&state->symbols, claim);
}

/* --- consumers of node-allocatable resource claims --- */

bool bt_state_is_claim_consumer(const struct bt_state *state, uint32_t pod_id,
	struct bt_str claim_namespace, struct bt_str claim_name)
{
	const struct bt_pod_record *record = bt_state_pod_at(state, pod_id);
	const struct bt_pod_status *status =
		&bt_shape_at(&state->shapes, record->shape)->pod->status;

	if (status->node_allocatable_resource_claim_statuses.count == 0 ||
		!bt_str_equal(
			bt_symbol_text(&state->symbols, record->namespace_), claim_namespace)) {
		return false;
	}
	for (uint32_t i = 0; i < status->node_allocatable_resource_claim_statuses.count; i++) {
		if (bt_str_equal(status->node_allocatable_resource_claim_statuses.items[i]
					 .resource_claim_name,
			    claim_name)) {
			return true;
		}
	}
	return false;
}

uint32_t bt_state_claim_consumer_count(const struct bt_state *state, uint32_t slot,
	struct bt_str claim_namespace, struct bt_str claim_name)
{
	const struct bt_node_row *row = &state->nodes.rows[slot];
	uint32_t count = 0;

	if (!state->gates.dra_node_allocatable_resources) {
		return 0;
	}
	for (uint32_t i = 0; i < row->pods.count; i++) {
		count += bt_state_is_claim_consumer(
			state, row->pods.items[i], claim_namespace, claim_name);
	}
	return count;
}
