/* SPDX-License-Identifier: Apache-2.0 */
#include "state/node_order.h"

#include "base/strbuf.h"

void bt_node_order_init(struct bt_node_order *order, struct bt_symbol_table *symbols)
{
	*order = (struct bt_node_order){.symbols = symbols};
}

void bt_node_order_finish(struct bt_node_order *order)
{
	for (uint32_t i = 0; i < order->zones.count; i++) {
		bt_symbol_unref(order->symbols, order->zones.items[i].key);
		bt_vec_finish(&order->zones.items[i].slots);
	}
	bt_vec_finish(&order->zones);
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

/* Index of slot in its zone, or the number of slots there. */
static uint32_t find_slot(const struct bt_zone *zone, uint32_t slot)
{
	uint32_t i = 0;

	while (i < zone->slots.count && zone->slots.items[i] != slot) {
		i++;
	}
	return i;
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
}

void bt_node_order_add(struct bt_node_order *order, uint32_t slot, bt_sym zone_key)
{
	const struct bt_zone *zone = find_zone(order, zone_key);

	if (zone != NULL && find_slot(zone, slot) != zone->slots.count) {
		return;
	}
	bt_node_order_append(order, slot, zone_key);
}

/* false when the zone does not list the slot. */
static bool take_out(struct bt_node_order *order, uint32_t slot, bt_sym zone_key)
{
	struct bt_zone *zone = find_zone(order, zone_key);
	uint32_t at;

	if (zone == NULL) {
		return false;
	}
	at = find_slot(zone, slot);
	if (at == zone->slots.count) {
		return false;
	}
	bt_vec_remove_ordered(&zone->slots, at);
	order->count--;
	if (zone->slots.count == 0) {
		uint32_t index = (uint32_t)(zone - order->zones.items);
		bt_vec_finish(&zone->slots);
		bt_symbol_unref(order->symbols, zone->key);
		bt_vec_remove_ordered(&order->zones, index);
	}
	return true;
}

int bt_node_order_remove(struct bt_node_order *order, uint32_t slot, bt_sym zone_key,
	struct bt_str node_name, struct berth_error *err)
{
	struct bt_strbuf name = {0};
	struct bt_strbuf zone = {0};
	int result;

	if (take_out(order, slot, zone_key)) {
		return 0;
	}
	/* Quoted as Go does: a zone key has a zero byte in it. */
	bt_strbuf_append_quoted(&name, node_name);
	bt_strbuf_append_quoted(&zone, bt_symbol_text(order->symbols, zone_key));
	result = bt_error_set(err, BERTH_ERR_NOT_FOUND, "node %s in group %s was not found",
		bt_strbuf_c(&name), bt_strbuf_c(&zone));
	bt_strbuf_finish(&name);
	bt_strbuf_finish(&zone);
	return result;
}

void bt_node_order_update(
	struct bt_node_order *order, uint32_t slot, bt_sym old_zone_key, bt_sym new_zone_key)
{
	if (bt_sym_equal(old_zone_key, new_zone_key)) {
		return;
	}
	(void)take_out(order, slot, old_zone_key); /* it may be listed elsewhere or nowhere */
	bt_node_order_add(order, slot, new_zone_key);
}

void bt_node_order_list(const struct bt_node_order *order, uint32_t *out_slots)
{
	uint32_t zone_count = order->zones.count;
	uint32_t *active = BT_NEW_ARRAY(uint32_t, zone_count);
	uint32_t written = 0;

	for (uint32_t i = 0; i < zone_count; i++) {
		active[i] = i;
	}
	/* Zones that ran out are dropped from the round, so that one long zone among many costs
	 * nothing extra. */
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
