/* SPDX-License-Identifier: Apache-2.0 */
/* A pod record and what its node counts for it: spec 01b sections 9.2 and 9.3. */
#include "api/identity.h"
#include "state/pod_index.h"
#include "state/state_private.h"

void bt_pod_record_fill(
	struct bt_state *state, struct bt_pod_record *record, const struct bt_pod *pod)
{
	struct bt_symbol_table *symbols = &state->symbols;
	const struct bt_time *start = pod->status.start_time;

	record->name = bt_symbol_ref_str(symbols, pod->metadata.name);
	record->namespace_ = bt_symbol_ref_str(symbols, pod->metadata.namespace_);
	record->nominated_node = bt_symbol_ref_str(symbols, pod->status.nominated_node_name);
	record->priority = bt_pod_priority(pod);
	record->start_seconds = start != NULL && start->set ? start->seconds : INT64_MIN;
	record->terminating = pod->metadata.deletion_timestamp != NULL;
	record->preempted = bt_pod_is_terminating_by_preemption(pod);
	record->in_use = true;
}

void bt_pod_record_drop(struct bt_state *state, struct bt_pod_record *record)
{
	bt_symbol_unref(&state->symbols, record->uid);
	bt_symbol_unref(&state->symbols, record->name);
	bt_symbol_unref(&state->symbols, record->namespace_);
	bt_symbol_unref(&state->symbols, record->nominated_node);
	bt_shape_unref(&state->shapes, record->shape);
	bt_label_set_unref(&state->label_sets, record->label_set);
	*record = (struct bt_pod_record){0};
}

void bt_pod_table_set_uid(struct bt_pod_table *pods, bt_sym uid, uint32_t pod_id)
{
	if (uid.id >= pods->by_uid.count) {
		uint32_t count = pods->by_uid.count;
		bt_vec_reserve(&pods->by_uid, (uint64_t)uid.id + 1);
		/* All bits set is BT_POD_NONE; the room beyond is filled at once. */
		memset(&pods->by_uid.items[count], 0xff,
			(pods->by_uid.capacity - count) * sizeof(uint32_t));
		pods->by_uid.count = pods->by_uid.capacity;
	}
	pods->by_uid.items[uid.id] = pod_id;
}

uint32_t bt_pod_table_add(struct bt_pod_table *pods, const struct bt_pod_record *record)
{
	uint32_t pod_id;

	if (pods->free_ids.count != 0) {
		pod_id = pods->free_ids.items[--pods->free_ids.count];
		pods->records.items[pod_id] = *record;
	} else {
		pod_id = pods->records.count;
		bt_vec_push(&pods->records, *record);
	}
	if (!record->snapshot_only) {
		bt_pod_table_set_uid(pods, record->uid, pod_id);
		pods->count++;
		pods->assumed_count += record->assumed;
	}
	return pod_id;
}

void bt_pod_table_remove(struct bt_pod_table *pods, uint32_t pod_id)
{
	const struct bt_pod_record *record = &pods->records.items[pod_id];

	if (!record->snapshot_only) {
		bt_pod_table_set_uid(pods, record->uid, BT_POD_NONE);
		pods->count--;
		pods->assumed_count -= record->assumed;
	}
	bt_vec_push(&pods->free_ids, pod_id);
}

static uint32_t change_kinds(const struct bt_shape *shape)
{
	uint32_t kinds = BT_CHANGE_PODS;

	if (shape->host_ports.count != 0) {
		kinds |= BT_CHANGE_PORTS;
	}
	if (shape->has_affinity) {
		kinds |= BT_CHANGE_AFFINITY_PODS;
	}
	if (shape->claim_names.count != 0) {
		kinds |= BT_CHANGE_CLAIMS;
	}
	return kinds;
}

/* A pod that only the snapshot knows changes no generation: the next refresh must not take it for a
 * change. */
static void note_change(struct bt_state *state, const struct bt_pod_record *record, uint32_t kinds)
{
	if (!record->snapshot_only) {
		bt_state_touch(state, record->node);
	}
	bt_change_log_append(&state->log, record->node, kinds);
}

static void add_ports_and_claims(
	struct bt_state *state, const struct bt_pod_record *record, const struct bt_shape *shape)
{
	struct bt_node_row *row = &state->nodes.rows[record->node];

	for (uint32_t i = 0; i < shape->host_ports.count; i++) {
		bt_row_port_add(&state->symbols, row, &shape->host_ports.items[i]);
	}
	for (uint32_t i = 0; i < shape->claim_names.count && !record->snapshot_only; i++) {
		struct bt_str namespace_ = bt_symbol_text(&state->symbols, record->namespace_);
		bt_row_claim_add(state, row,
			bt_state_claim_key(state, namespace_, shape->claim_names.items[i]));
	}
}

/** What the pods of a slot request: plus the shape, or minus it. All sums wrap. */
static void account(struct bt_node_table *nodes, uint32_t slot, const struct bt_shape *shape,
	int64_t (*apply)(int64_t sum, int64_t amount))
{
	int64_t cpu = apply(nodes->requested_cpu_milli[slot], shape->requested_cpu_milli);
	int64_t memory = apply(nodes->requested_memory_bytes[slot], shape->requested_memory_bytes);
	int64_t ephemeral =
		apply(nodes->requested_ephemeral_bytes[slot], shape->requested_ephemeral_bytes);
	int64_t non_zero_cpu = apply(nodes->non_zero_cpu_milli[slot], shape->non_zero_cpu_milli);
	int64_t non_zero_memory =
		apply(nodes->non_zero_memory_bytes[slot], shape->non_zero_memory_bytes);

	nodes->requested_cpu_milli[slot] = cpu;
	nodes->requested_memory_bytes[slot] = memory;
	nodes->requested_ephemeral_bytes[slot] = ephemeral;
	nodes->non_zero_cpu_milli[slot] = non_zero_cpu;
	nodes->non_zero_memory_bytes[slot] = non_zero_memory;
	bt_node_table_note_amounts(nodes,
		(uint64_t)cpu | (uint64_t)memory | (uint64_t)ephemeral | (uint64_t)non_zero_cpu |
			(uint64_t)non_zero_memory);
	for (uint32_t i = 0; i < shape->scalar_count; i++) {
		bt_node_table_add_scalar(
			nodes, shape->scalars[i].resource, slot, apply(0, shape->scalars[i].value));
	}
}

static void note_affinity(struct bt_state *state, uint32_t slot)
{
	if (slot >= state->affinity_slots.bit_count) {
		bt_bitset_resize(&state->affinity_slots, state->nodes.slot_capacity);
	}
	bt_bitset_assign(&state->affinity_slots, slot,
		state->nodes.rows[slot].pods_with_affinity.count != 0);
}

void bt_state_attach_pod(struct bt_state *state, uint32_t pod_id)
{
	struct bt_pod_record *record = &state->pods.records.items[pod_id];
	const struct bt_shape *shape = bt_shape_at(&state->shapes, record->shape);
	struct bt_node_table *nodes = &state->nodes;
	uint32_t slot = record->node;
	struct bt_node_row *row = &nodes->rows[slot];

	account(nodes, slot, shape, bt_wrap_add);
	nodes->pod_count[slot]++;
	record->position = row->pods.count;
	bt_vec_push(&row->pods, pod_id);
	if (shape->has_affinity) {
		state->affinity_pod_count++;
		bt_vec_push(&row->pods_with_affinity, pod_id);
		note_affinity(state, slot);
	}
	if (shape->has_required_anti_affinity) {
		bt_vec_push(&row->pods_with_required_anti_affinity, pod_id);
	}
	if (shape->host_ports.count != 0 || shape->claim_names.count != 0) {
		add_ports_and_claims(state, record, shape);
	}
	if (state->pod_index != NULL) {
		bt_pod_index_add(state, pod_id);
	}
	note_change(state, record, change_kinds(shape));
}

static uint32_t find_in(const uint32_t *items, uint32_t count, uint32_t pod_id)
{
	uint32_t at = 0;

	while (at < count && items[at] != pod_id) {
		at++;
	}
	BT_ASSERT(at < count);
	return at;
}

/* Out of its node's lists. */
static void leave_lists(struct bt_state *state, const struct bt_pod_record *record, uint32_t pod_id,
	const struct bt_shape *shape)
{
	struct bt_node_row *row = &state->nodes.rows[record->node];
	uint32_t at = record->position;

	BT_ASSERT(at < row->pods.count && row->pods.items[at] == pod_id);
	bt_vec_remove_swap(&row->pods, at);
	if (at < row->pods.count) {
		state->pods.records.items[row->pods.items[at]].position = at;
	}
	if (shape->has_affinity) {
		state->affinity_pod_count--;
		at = find_in(row->pods_with_affinity.items, row->pods_with_affinity.count, pod_id);
		bt_vec_remove_swap(&row->pods_with_affinity, at);
		note_affinity(state, record->node);
	}
	if (shape->has_required_anti_affinity) {
		at = find_in(row->pods_with_required_anti_affinity.items,
			row->pods_with_required_anti_affinity.count, pod_id);
		bt_vec_remove_swap(&row->pods_with_required_anti_affinity, at);
	}
}

void bt_state_detach_pod(struct bt_state *state, uint32_t pod_id)
{
	const struct bt_pod_record *record = &state->pods.records.items[pod_id];
	const struct bt_shape *shape = bt_shape_at(&state->shapes, record->shape);
	struct bt_node_table *nodes = &state->nodes;
	uint32_t slot = record->node;

	account(nodes, slot, shape, bt_wrap_sub);
	nodes->pod_count[slot]--;
	leave_lists(state, record, pod_id, shape);
	if (shape->host_ports.count != 0 || shape->claim_names.count != 0) {
		struct bt_node_row *row = &state->nodes.rows[record->node];

		for (uint32_t i = 0; i < shape->host_ports.count; i++) {
			bt_row_port_remove(&state->symbols, row, &shape->host_ports.items[i]);
		}
		for (uint32_t i = 0; i < shape->claim_names.count && !record->snapshot_only; i++) {
			struct bt_str namespace_ =
				bt_symbol_text(&state->symbols, record->namespace_);
			bt_row_claim_remove(state, row,
				bt_state_claim_key(state, namespace_, shape->claim_names.items[i]));
		}
	}
	if (state->pod_index != NULL) {
		bt_pod_index_remove(state, pod_id, record->label_set);
	}
	note_change(state, record, change_kinds(shape));
}

static void move_to_end(uint32_t *items, uint32_t count, uint32_t at)
{
	uint32_t pod_id = items[at];

	items[at] = items[count - 1];
	items[count - 1] = pod_id;
}

void bt_state_requeue_pod(struct bt_state *state, uint32_t pod_id)
{
	struct bt_pod_record *record = &state->pods.records.items[pod_id];
	const struct bt_shape *shape = bt_shape_at(&state->shapes, record->shape);
	struct bt_node_row *row = &state->nodes.rows[record->node];
	uint32_t at = record->position;

	move_to_end(row->pods.items, row->pods.count, at);
	state->pods.records.items[row->pods.items[at]].position = at;
	record->position = row->pods.count - 1;
	if (shape->has_affinity) {
		uint32_t count = row->pods_with_affinity.count;
		move_to_end(row->pods_with_affinity.items, count,
			find_in(row->pods_with_affinity.items, count, pod_id));
	}
	if (shape->has_required_anti_affinity) {
		uint32_t count = row->pods_with_required_anti_affinity.count;
		move_to_end(row->pods_with_required_anti_affinity.items, count,
			find_in(row->pods_with_required_anti_affinity.items, count, pod_id));
	}
	if (shape->host_ports.count != 0) {
		/* A triple that another pod's removal freed is taken again. */
		uint32_t count = row->ports.count;
		for (uint32_t i = 0; i < shape->host_ports.count; i++) {
			bt_row_port_add(&state->symbols, row, &shape->host_ports.items[i]);
		}
		if (row->ports.count != count) {
			bt_change_log_append(&state->log, record->node, BT_CHANGE_PORTS);
		}
	}
	bt_state_touch(state, record->node);
}
