/* SPDX-License-Identifier: Apache-2.0 */
#include "api/identity.h"
#include "base/vec.h"
#include "base/wrap.h"
#include "state/pod_index.h"
#include "state/state_private.h"

/*
 * PVC references of each node, and the set of claims that nodes of the snapshot use (spec 03b
 * sections 3 and 7.1).
 */

static struct bt_str state_claim_key(
	struct bt_state *state, struct bt_str namespace_, struct bt_str claim)
{
	bt_strbuf_reset(&state->text);
	bt_strbuf_append_str(&state->text, namespace_);
	bt_strbuf_append_char(&state->text, '/');
	bt_strbuf_append_str(&state->text, claim);
	return bt_strbuf_str(&state->text);
}

void bt_used_claims_finish(struct bt_state *state)
{
	for (uint32_t i = 0; i < state->used_claims.count; i++) {
		if (state->used_claims.items[i].count != 0) {
			bt_symbol_unref(&state->symbols, state->used_claims.items[i].claim);
		}
	}
	bt_hash_table_finish(&state->used_claims);
}

static uint32_t find_used(const struct bt_state *state, bt_sym claim)
{
	BT_MAP_EACH (&state->used_claims.map, bt_sym_hash(claim), index) {
		if (bt_sym_equal(state->used_claims.items[index].claim, claim)) {
			return index;
		}
	}
	return UINT32_MAX;
}

void bt_used_claims_add(struct bt_state *state, bt_sym claim)
{
	uint32_t index = find_used(state, claim);

	if (index != UINT32_MAX) {
		state->used_claims.items[index].count++;
		return;
	}
	struct bt_claim_ref used = {bt_symbol_ref(&state->symbols, claim), 1};
	bt_hash_table_add(&state->used_claims, bt_sym_hash(claim), used, index);
}

void bt_used_claims_remove(struct bt_state *state, bt_sym claim)
{
	uint32_t index = find_used(state, claim);

	BT_ASSERT(index != UINT32_MAX);
	if (--state->used_claims.items[index].count == 0) {
		bt_hash_table_remove(&state->used_claims, bt_sym_hash(claim), index);
		bt_symbol_unref(&state->symbols, claim);
	}
}

bool bt_state_is_claim_used(const struct bt_state *state, struct bt_str claim_key)
{
	bt_sym claim = bt_symbol_find(&state->symbols, claim_key);

	return !bt_sym_is_none(claim) && find_used(state, claim) != UINT32_MAX;
}

static uint32_t claim_lower_bound(const struct bt_node_row *row, bt_sym claim)
{
	uint32_t low;

	BT_LOWER_BOUND(
		low, row->claims.count, middle, row->claims.items[middle].claim.id < claim.id);
	return low;
}

bool bt_state_is_claim_consumer(const struct bt_state *state, uint32_t pod_id,
	struct bt_str claim_namespace, struct bt_str claim_name)
{
	const struct bt_pod_record *record = bt_state_pod_at(state, pod_id);
	const struct bt_shape *shape = bt_shape_at(&state->shapes, record->shape);
	const struct bt_pod_status *status;

	if (shape->pod == NULL) {
		return false; /* a shape with claim statuses is never packed */
	}
	status = &shape->pod->status;
	if (status->node_allocatable_resource_claim_statuses.count == 0 ||
		!bt_str_equal(
			bt_symbol_text(&state->symbols, record->namespace_), claim_namespace)) {
		return false;
	}
	return BT_STR_FIND(&status->node_allocatable_resource_claim_statuses, resource_claim_name,
		       claim_name) != NULL;
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

/* Host ports used on a node: a set, not a multiset (spec 01b section 7). */

static int compare_u32(uint32_t a, uint32_t b)
{
	return BT_ORDER(a, b);
}

static int compare_ports(const struct bt_used_port *a, const struct bt_used_port *b)
{
	int order = BT_ORDER(a->port, b->port);

	if (order == 0) {
		order = compare_u32(a->protocol.id, b->protocol.id);
	}
	return order != 0 ? order : compare_u32(a->ip.id, b->ip.id);
}

/* Index of the first triple that is not less than `wanted`. */
static uint32_t port_lower_bound(const struct bt_node_row *row, const struct bt_used_port *wanted)
{
	uint32_t low;

	BT_LOWER_BOUND(low, row->ports.count, middle,
		compare_ports(&row->ports.items[middle], wanted) < 0);
	return low;
}

static bool is_at(const struct bt_node_row *row, uint32_t at, const struct bt_used_port *wanted)
{
	return at < row->ports.count && compare_ports(&row->ports.items[at], wanted) == 0;
}

void bt_row_port_add(
	struct bt_symbol_table *symbols, struct bt_node_row *row, const struct bt_host_port *port)
{
	struct bt_used_port used = {
		.ip = bt_symbol_ref_str(symbols, port->ip),
		.protocol = bt_symbol_ref_str(symbols, port->protocol),
		.port = port->port,
	};
	uint32_t at = port_lower_bound(row, &used);

	if (is_at(row, at, &used)) {
		bt_symbol_unref(symbols, used.ip);
		bt_symbol_unref(symbols, used.protocol);
		return;
	}
	bt_vec_insert(&row->ports, at, used);
}

void bt_row_port_remove(
	struct bt_symbol_table *symbols, struct bt_node_row *row, const struct bt_host_port *port)
{
	struct bt_used_port used = {
		.ip = bt_symbol_find(symbols, port->ip),
		.protocol = bt_symbol_find(symbols, port->protocol),
		.port = port->port,
	};
	uint32_t at = port_lower_bound(row, &used);

	/* The removal of another pod with the same triple may have removed this triple already. */
	if (!is_at(row, at, &used)) {
		return;
	}
	used = row->ports.items[at];
	bt_vec_remove_ordered(&row->ports, at);
	bt_symbol_unref(symbols, used.ip);
	bt_symbol_unref(symbols, used.protocol);
}

/* Pod records, and their contribution to the node: spec 01b sections 9.2 and 9.3. */

void bt_pod_record_fill(
	struct bt_state *state, struct bt_pod_record *record, const struct bt_pod *pod)
{
	struct bt_symbol_table *symbols = &state->symbols;
	const struct bt_time *start = pod->status.start_time;
	struct bt_str uid = pod->metadata.uid;
	struct bt_str name = pod->metadata.name;

	record->identity = bt_malloc(sizeof(*record->identity) + uid.length + (size_t)name.length);
	record->identity->uid_length = uid.length;
	record->identity->name_length = name.length;
	memcpy(record->identity->text, uid.data, uid.length);
	if (name.length != 0) {
		memcpy(record->identity->text + uid.length, name.data, name.length);
	}
	record->namespace_ = bt_symbol_ref_str(symbols, pod->metadata.namespace_);
	record->nominated_node = bt_symbol_ref_str(symbols, pod->status.nominated_node_name);
	record->priority = bt_pod_priority(pod);
	record->start_seconds = start != NULL && start->set ? start->seconds : INT64_MIN;
	record->terminating = pod->metadata.deletion_timestamp != NULL;
	record->preempted = bt_pod_is_terminating_by_preemption(pod);
	record->mirror = bt_pod_is_mirror(pod);
	record->in_use = true;
}

void bt_pod_record_drop(struct bt_state *state, struct bt_pod_record *record)
{
	bt_free(record->identity);
	bt_symbol_unref(&state->symbols, record->namespace_);
	bt_symbol_unref(&state->symbols, record->nominated_node);
	bt_shape_unref(&state->shapes, record->shape);
	bt_label_set_unref(&state->label_sets, record->label_set);
	*record = (struct bt_pod_record){0};
}

uint32_t bt_pod_table_add(struct bt_pod_table *pods, const struct bt_pod_record *record)
{
	uint32_t pod_id;

	bt_vec_store(&pods->records, &pods->free_ids, *record, pod_id);
	if (!record->snapshot_only) {
		bt_map_insert(&pods->by_uid, bt_str_hash(bt_pod_record_uid(record)), pod_id);
		pods->count++;
		pods->assumed_count += record->assumed;
	}
	return pod_id;
}

void bt_pod_table_remove(struct bt_pod_table *pods, uint32_t pod_id)
{
	const struct bt_pod_record *record = &pods->records.items[pod_id];

	if (!record->snapshot_only) {
		/* Cannot fail: the record is in the map. */
		(void)bt_map_remove(&pods->by_uid, bt_str_hash(bt_pod_record_uid(record)), pod_id);
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

/*
 * A pod assumed only in the snapshot does not change the node's generation, because the next
 * refresh must not see a change.
 */
static void log_change(struct bt_state *state, const struct bt_pod_record *record, uint32_t kinds)
{
	if (!record->snapshot_only) {
		bt_state_touch(state, record->node);
	}
	bt_change_log_append(&state->log, record->node, kinds);
}

/** Apply the shape's requests to the slot's sums. apply: bt_wrap_add or bt_wrap_sub. */
static void apply_requests(struct bt_node_table *nodes, uint32_t slot, const struct bt_shape *shape,
	int64_t (*apply)(int64_t sum, int64_t amount))
{
	uint64_t bits = 0; /* bits of all sums */

	for (uint32_t i = 0; i < BT_STANDARD__COUNT; i++) {
		nodes->requested[i][slot] = apply(nodes->requested[i][slot], shape->requested[i]);
		bits |= (uint64_t)nodes->requested[i][slot];
	}
	for (uint32_t i = 0; i < BT_NON_ZERO_COUNT; i++) {
		nodes->non_zero[i][slot] = apply(nodes->non_zero[i][slot], shape->non_zero[i]);
		bits |= (uint64_t)nodes->non_zero[i][slot];
	}
	bt_node_table_check_amounts(nodes, bits);
	for (uint32_t i = 0; i < shape->scalar_count; i++) {
		bt_node_table_add_scalar(
			nodes, shape->scalars[i].resource, slot, apply(0, shape->scalars[i].value));
	}
}

void bt_state_attach_pod(struct bt_state *state, uint32_t pod_id)
{
	struct bt_pod_record *record = &state->pods.records.items[pod_id];
	const struct bt_shape *shape = bt_shape_at(&state->shapes, record->shape);
	struct bt_node_table *nodes = &state->nodes;
	uint32_t slot = record->node;
	struct bt_node_row *row = &nodes->rows[slot];

	apply_requests(nodes, slot, shape, bt_wrap_add);
	nodes->pod_count[slot]++;
	record->position = row->pods.count;
	bt_vec_push(&row->pods, pod_id);
	if (shape->has_affinity) {
		state->affinity_pod_count++;
		bt_vec_push(&row->pods_with_affinity, pod_id);
	}
	if (shape->has_required_anti_affinity) {
		bt_vec_push(&row->pods_with_required_anti_affinity, pod_id);
	}
	if (shape->host_ports.count != 0 || shape->claim_names.count != 0) {
		for (uint32_t i = 0; i < shape->host_ports.count; i++) {
			bt_row_port_add(&state->symbols, row, &shape->host_ports.items[i]);
		}
		for (uint32_t i = 0; i < shape->claim_names.count && !record->snapshot_only; i++) {
			struct bt_str namespace_ =
				bt_symbol_text(&state->symbols, record->namespace_);
			/*
			 * Add a reference to the claim in the row and, if the row is in the
			 * snapshot, in the cluster-wide set.
			 */
			struct bt_str key =
				state_claim_key(state, namespace_, shape->claim_names.items[i]);
			struct bt_claim_ref fresh = {bt_symbol_ref_str(&state->symbols, key), 1};
			uint32_t at = claim_lower_bound(row, fresh.claim);

			if (at < row->claims.count &&
				bt_sym_equal(row->claims.items[at].claim, fresh.claim)) {
				row->claims.items[at].count++;
				bt_symbol_unref(&state->symbols, fresh.claim);
				continue;
			}
			bt_vec_insert(&row->claims, at, fresh);
			if (row->in_snapshot) {
				bt_used_claims_add(state, fresh.claim);
			}
		}
	}
	if (state->pod_index != NULL) {
		bt_pod_index_add(state, pod_id);
	}
	log_change(state, record, change_kinds(shape));
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

void bt_state_detach_pod(struct bt_state *state, uint32_t pod_id)
{
	const struct bt_pod_record *record = &state->pods.records.items[pod_id];
	const struct bt_shape *shape = bt_shape_at(&state->shapes, record->shape);
	struct bt_node_table *nodes = &state->nodes;
	uint32_t slot = record->node;

	apply_requests(nodes, slot, shape, bt_wrap_sub);
	nodes->pod_count[slot]--;
	struct bt_node_row *row = &nodes->rows[slot];
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
	}
	if (shape->has_required_anti_affinity) {
		at = find_in(row->pods_with_required_anti_affinity.items,
			row->pods_with_required_anti_affinity.count, pod_id);
		bt_vec_remove_swap(&row->pods_with_required_anti_affinity, at);
	}
	if (shape->host_ports.count != 0 || shape->claim_names.count != 0) {
		for (uint32_t i = 0; i < shape->host_ports.count; i++) {
			bt_row_port_remove(&state->symbols, row, &shape->host_ports.items[i]);
		}
		for (uint32_t i = 0; i < shape->claim_names.count && !record->snapshot_only; i++) {
			struct bt_str namespace_ =
				bt_symbol_text(&state->symbols, record->namespace_);
			struct bt_str key =
				state_claim_key(state, namespace_, shape->claim_names.items[i]);
			bt_sym claim = bt_symbol_find(&state->symbols, key);

			at = claim_lower_bound(row, claim);
			BT_ASSERT(at < row->claims.count &&
				bt_sym_equal(row->claims.items[at].claim, claim));
			if (--row->claims.items[at].count != 0) {
				continue;
			}
			bt_vec_remove_ordered(&row->claims, at);
			if (row->in_snapshot) {
				bt_used_claims_remove(state, claim);
			}
			bt_symbol_unref(&state->symbols, claim);
		}
	}
	if (state->pod_index != NULL) {
		bt_pod_index_remove(state, pod_id, record->label_set);
	}
	log_change(state, record, change_kinds(shape));
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
		/*
		 * Add this pod's ports again: the removal of another pod with the same port may
		 * have removed them.
		 */
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
