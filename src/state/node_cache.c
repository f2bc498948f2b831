/* SPDX-License-Identifier: Apache-2.0 */
#include "base/strbuf.h"
#include "state/state.h"
#include "state/state_private.h"

void bt_node_order_finish(struct bt_node_order *order)
{
	for (uint32_t i = 0; i < order->zones.count; i++) {
		bt_symbol_unref(order->symbols, order->zones.items[i].key);
		bt_vec_finish(&order->zones.items[i].slots);
	}
	bt_vec_finish(&order->zones);
	bt_vec_finish(&order->changes);
	order->count = 0;
}

static struct bt_zone *find_zone(const struct bt_node_order *order, bt_sym key)
{
	for (uint32_t i = 0; i < order->zones.count; i++) {
		if (bt_sym_equal(order->zones.items[i].key, key)) {
			return &order->zones.items[i];
		}
	}
	return NULL;
}

/* Maximum number of recorded changes: CHANGES_MAX + number of nodes / NODES_PER_CHANGE. */
#define CHANGES_MAX 64
#define NODES_PER_CHANGE 32

static void log_order_change(struct bt_node_order *order, uint32_t slot, const struct bt_zone *zone,
	uint32_t row, bool joined)
{
	struct bt_order_change change = {slot, (uint32_t)(zone - order->zones.items), row, joined};

	/*
	 * Additions and removals of zones cannot be recorded: a zone with one slot was just added
	 * or is about to be removed. Too many changes are not recorded either.
	 */
	if (zone->slots.count == 1 ||
		order->changes.count == CHANGES_MAX + order->count / NODES_PER_CHANGE) {
		order->changes_lost = true;
		order->changes.count = 0;
	}
	if (!order->changes_lost) {
		bt_vec_push(&order->changes, change);
	}
}

void bt_node_order_append(struct bt_node_order *order, uint32_t slot, bt_sym zone_key)
{
	struct bt_zone *zone = find_zone(order, zone_key);

	if (zone == NULL) {
		struct bt_zone fresh = {.key = bt_symbol_ref(order->symbols, zone_key)};
		bt_vec_push(&order->zones, fresh);
		zone = &order->zones.items[order->zones.count - 1];
	}
	bt_vec_push(&zone->slots, slot);
	order->count++;
	log_order_change(order, slot, zone, zone->slots.count - 1, true);
}

int bt_node_order_remove(struct bt_node_order *order, uint32_t slot, bt_sym zone_key,
	struct bt_str node_name, struct berth_error *err)
{
	struct bt_zone *zone = find_zone(order, zone_key);
	uint32_t at = 0;

	while (zone != NULL && at < zone->slots.count && zone->slots.items[at] != slot) {
		at++;
	}
	if (zone == NULL || at == zone->slots.count) {
		/* Quoted as Go does, because a zone key contains a zero byte. */
		struct bt_strbuf text = {0};
		bt_strbuf_append_c(&text, "node ");
		bt_strbuf_append_quoted(&text, node_name);
		bt_strbuf_append_c(&text, " in group ");
		bt_strbuf_append_quoted(&text, bt_symbol_text(order->symbols, zone_key));
		bt_strbuf_append_c(&text, " was not found");
		return bt_error_take(err, BERTH_ERR_NOT_FOUND, &text);
	}
	log_order_change(order, slot, zone, at, false);
	bt_vec_remove_ordered(&zone->slots, at);
	order->count--;
	if (zone->slots.count == 0) {
		bt_vec_finish(&zone->slots);
		bt_symbol_unref(order->symbols, zone->key);
		bt_vec_remove_ordered(&order->zones, (uint32_t)(zone - order->zones.items));
	}
	return 0;
}

void bt_node_order_list(const struct bt_node_order *order, uint32_t *out_slots)
{
	uint32_t zone_count = order->zones.count;
	uint32_t *active = BT_NEW_ARRAY(uint32_t, zone_count);
	uint32_t written = 0;

	for (uint32_t i = 0; i < zone_count; i++) {
		active[i] = i;
	}
	/* Drop exhausted zones, so that one long zone among many costs no extra time. */
	for (uint32_t round = 0; zone_count != 0; round++) {
		uint32_t kept = 0;
		for (uint32_t i = 0; i < zone_count; i++) {
			const struct bt_zone *zone = &order->zones.items[active[i]];
			if (round < zone->slots.count) {
				out_slots[written++] = zone->slots.items[round];
				active[kept++] = active[i];
			}
		}
		zone_count = kept;
	}
	BT_ASSERT(written == order->count);
	bt_free(active);
}

/* Nodes in the cache: spec 03b section 5. */

static void join_order(struct bt_state *state, uint32_t slot, bt_sym zone)
{
	struct bt_node_row *row = &state->nodes.rows[slot];

	if (row->in_order && bt_sym_equal(row->order_zone, zone)) {
		return;
	}
	if (row->in_order) {
		/*
		 * The node was added again in another zone without an update. Upstream then lists
		 * the node twice; berth lists it once.
		 */
		int result = bt_node_order_remove(
			&state->order, slot, row->order_zone, (struct bt_str){0}, NULL);
		BT_ASSERT(result == 0);
		bt_symbol_unref(&state->symbols, row->order_zone);
	}
	bt_node_order_append(&state->order, slot, zone);
	row->in_order = true;
	row->order_zone = bt_symbol_ref(&state->symbols, zone);
}

static int remove_from_order(
	struct bt_state *state, uint32_t slot, bt_sym zone, struct berth_error *err)
{
	struct bt_node_row *row = &state->nodes.rows[slot];
	int result = bt_node_order_remove(
		&state->order, slot, zone, bt_node_table_name(&state->nodes, slot), err);

	if (result == 0) {
		row->in_order = false;
		bt_symbol_unref(&state->symbols, row->order_zone);
		row->order_zone = BT_SYM_EMPTY;
	}
	return result;
}

void bt_state_set_slot(
	struct bt_state *state, uint32_t slot, const struct bt_node *node, bool with_images)
{
	uint32_t kinds = bt_node_table_set_node(&state->nodes, slot, node,
		state->gate_declared_features, &state->scratch, &state->text);

	if (with_images && bt_state_set_images(state, slot, node)) {
		kinds |= BT_CHANGE_IMAGES;
	}
	bt_arena_reset(&state->scratch);
	bt_state_touch(state, slot);
	if (kinds != 0) {
		bt_change_log_append(&state->log, slot, kinds);
	}
}

static void set_node(struct bt_state *state, uint32_t slot, const struct bt_node *node)
{
	bt_state_ensure_entry(state, slot);
	state->nodes.rows[slot].has_node = true;
	bt_state_set_slot(state, slot, node, true);
}

/* The zone key of a label map as a symbol, with a reference. */
static bt_sym ref_zone(struct bt_state *state, const struct bt_str_map *labels)
{
	bt_strbuf_reset(&state->text);
	bt_node_zone_key(labels, &state->text);
	return bt_symbol_ref_str(&state->symbols, bt_strbuf_str(&state->text));
}

void bt_state_add_node(struct bt_state *state, const struct bt_node *node)
{
	uint32_t slot = bt_node_table_acquire(&state->nodes, node->metadata.name);

	set_node(state, slot, node);
	join_order(state, slot, state->nodes.rows[slot].zone_key);
}

#define LINE_BYTES 64

BT_ALWAYS_INLINE void prefetch(const void *start, size_t bytes)
{
	for (size_t at = 0; at < bytes; at += LINE_BYTES) {
		BT_PREFETCH((const char *)start + at);
	}
}

/** Prefetch the rows that are probably updated next. */
BT_ALWAYS_INLINE void prefetch_rows(const struct bt_state *state, uint32_t slot)
{
	const struct bt_node_table *nodes = &state->nodes;

	if (slot >= nodes->slot_count || nodes->slot_count - slot <= 2) {
		return;
	}
	const struct bt_node_row *next = &nodes->rows[slot + 1];
	prefetch(next + 1, sizeof(*next));
	prefetch(next->labels.items, next->labels.count * sizeof(*next->labels.items));
	BT_PREFETCH(next->label_symbols);
	BT_PREFETCH(&state->symbols.entries.items[next->name.id]);
	BT_PREFETCH(next->uid);
}

void bt_state_update_node(
	struct bt_state *state, const struct bt_node *old_node, const struct bt_node *new_node)
{
	/*
	 * The compared data is scattered, and is seldom in the processor's cache when all nodes are
	 * updated in turn. Prefetching all data together takes the time of one access. The prefetch
	 * functions are inline, because gcc drops calls of functions that only prefetch.
	 */
	BT_PREFETCH(new_node->metadata.name.data);
	BT_PREFETCH(new_node->metadata.uid.data);
	prefetch(new_node->metadata.labels.items,
		new_node->metadata.labels.count * sizeof(*new_node->metadata.labels.items));
	prefetch(new_node->status.allocatable.items,
		new_node->status.allocatable.count * sizeof(*new_node->status.allocatable.items));
	BT_PREFETCH(new_node->status.conditions.items);
	/* Updates often come in the order of the slots, so try the next slot first. */
	struct bt_node_table *nodes = &state->nodes;
	uint32_t slot =
		nodes->last_updated_slot + 1 < nodes->slot_count ? nodes->last_updated_slot + 1 : 0;
	if (slot >= nodes->slot_count || !nodes->rows[slot].in_use ||
		!bt_str_equal(bt_node_table_name(nodes, slot), new_node->metadata.name)) {
		slot = bt_node_table_find(nodes, new_node->metadata.name);
	}
	nodes->last_updated_slot = slot != BT_SLOT_NONE ? slot : 0;
	prefetch_rows(state, slot);
	if (slot == BT_SLOT_NONE || !state->nodes.rows[slot].in_cache) {
		bt_state_add_node(state, new_node);
		return;
	}
	bt_sym old_zone = old_node != NULL
		? ref_zone(state, &old_node->metadata.labels)
		: bt_symbol_ref(&state->symbols, state->nodes.rows[slot].zone_key);
	set_node(state, slot, new_node);
	/*
	 * Upstream quirk, spec 03b section 6: if the zones are equal, the order is not changed,
	 * even if the order lacks the node.
	 */
	if (!bt_sym_equal(old_zone, state->nodes.rows[slot].zone_key)) {
		if (state->nodes.rows[slot].in_order) {
			/*
			 * Fails if the order has the node in a zone other than old_zone; then
			 * join_order removes the node from that zone.
			 */
			(void)remove_from_order(state, slot, old_zone, NULL);
		}
		join_order(state, slot, state->nodes.rows[slot].zone_key);
	}
	bt_symbol_unref(&state->symbols, old_zone);
}

int bt_state_remove_node(
	struct bt_state *state, const struct bt_node *node, struct berth_error *err)
{
	uint32_t slot = bt_node_table_find(&state->nodes, node->metadata.name);

	if (slot == BT_SLOT_NONE || !state->nodes.rows[slot].in_cache) {
		return bt_error_set(err, BERTH_ERR_NOT_FOUND, "node %.*s is not found",
			BT_STR_ARG(node->metadata.name));
	}
	struct bt_node_row *row = &state->nodes.rows[slot];
	row->has_node = false;
	bt_state_touch(state, slot);
	if (row->pods.count == 0) {
		row->in_cache = false;
		state->node_entry_count--;
	}
	bt_sym zone = ref_zone(state, &node->metadata.labels);
	int result = remove_from_order(state, slot, zone, err);
	bt_symbol_unref(&state->symbols, zone);
	if (result == 0 && bt_state_set_images(state, slot, NULL)) {
		bt_change_log_append(&state->log, slot, BT_CHANGE_IMAGES);
	}
	bt_state_release_if_unknown(state, slot);
	return result;
}
