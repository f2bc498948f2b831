/* SPDX-License-Identifier: Apache-2.0 */
#include "state/places.h"

#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"

/** Number of free places after an assignment: SPARE_PLACES + number of nodes / NODES_PER_SPARE. */
#define SPARE_PLACES 64
#define NODES_PER_SPARE 16

void bt_places_finish(struct bt_places *places)
{
	bt_free(places->slot_at);
	bt_free(places->zone_of);
	bt_free(places->place_of);
	for (uint32_t i = 0; i < BT_PLACE_ZONES_MAX; i++) {
		bt_vec_finish(&places->zones[i].nodes);
	}
	bt_vec_finish(&places->left);
}

void bt_places_reserve_slots(struct bt_places *places, uint32_t slot_capacity)
{
	if (slot_capacity > places->slot_capacity) {
		places->place_of =
			bt_realloc_array(places->place_of, slot_capacity, sizeof(uint32_t));
		places->slot_capacity = slot_capacity;
	}
}

void bt_places_assign(struct bt_places *places, const uint32_t *list, uint32_t count)
{
	places->count = count + count / NODES_PER_SPARE + SPARE_PLACES;
	places->used = count;
	if (places->count > places->capacity) {
		places->capacity = places->count;
		bt_free(places->slot_at);
		places->slot_at = bt_realloc_array(NULL, places->capacity, sizeof(uint32_t));
		places->zone_of = bt_realloc_array(places->zone_of, places->capacity, 1);
	}
	for (uint32_t i = 0; i < count; i++) {
		places->slot_at[i] = list[i];
		places->place_of[list[i]] = i;
	}
	memset(places->slot_at + count, 0xff, (places->count - count) * sizeof(uint32_t));
	places->in_list_order = true;
	places->can_follow = false;
	places->zone_count = 0;
	places->left.count = 0;
	places->detours = 0;
	places->version++;
}

void bt_places_add_zone(struct bt_places *places, uint32_t node_count)
{
	BT_ASSERT(places->in_list_order && places->zone_count < BT_PLACE_ZONES_MAX);
	places->zones[places->zone_count++].nodes.count = node_count;
	places->can_follow = true;
}

/**
 * Leaves the list order: writes zone_of and the places of each zone, which bt_places_assign
 * assigned round-robin over the zones.
 */
static void write_zones(struct bt_places *places)
{
	uint32_t active[BT_PLACE_ZONES_MAX];
	uint32_t active_count = places->zone_count;
	uint32_t place = 0;

	for (uint32_t i = 0; i < places->zone_count; i++) {
		uint32_t count = places->zones[i].nodes.count;
		active[i] = i;
		places->zones[i].nodes.count = 0;
		bt_vec_reserve(&places->zones[i].nodes, (uint64_t)count + 1);
		places->zones[i].nodes.count = count;
	}
	for (uint32_t row = 0; active_count != 0; row++) {
		uint32_t kept = 0;
		for (uint32_t i = 0; i < active_count; i++) {
			struct bt_zone_places *zone = &places->zones[active[i]];
			if (row < zone->nodes.count) {
				zone->nodes.items[row] = place;
				places->zone_of[place++] = (uint8_t)active[i];
				active[kept++] = active[i];
			}
		}
		active_count = kept;
	}
	BT_ASSERT(place == places->used);
	places->in_list_order = false;
}

void bt_places_append(struct bt_places *places, uint32_t zone, uint32_t slot)
{
	BT_ASSERT(places->can_follow && places->used < places->count);
	if (places->in_list_order) {
		write_zones(places);
	}
	uint32_t place = places->used++;

	places->slot_at[place] = slot;
	places->zone_of[place] = (uint8_t)zone;
	places->place_of[slot] = place;
	bt_vec_push(&places->zones[zone].nodes, place);
}

void bt_places_remove(struct bt_places *places, uint32_t zone, uint32_t row)
{
	BT_ASSERT(places->can_follow && zone < places->zone_count);
	if (places->in_list_order) {
		write_zones(places);
	}
	uint32_t place = places->zones[zone].nodes.items[row];

	bt_vec_remove_ordered(&places->zones[zone].nodes, row);
	places->place_of[places->slot_at[place]] = BT_PLACE_NONE;
	places->slot_at[place] = UINT32_MAX;
	bt_vec_push(&places->left, place);
}

void bt_places_list(const struct bt_places *places, uint32_t *out_slots)
{
	uint32_t count = 0;

	BT_ASSERT(!places->in_list_order);
	if (places->used == places->left.count) {
		return;
	}
	/* Every zone has a node, so the first node of the first zone is the first of the list. */
	for (uint64_t point = bt_point(0, 0); point != BT_POINT_NONE;
		point = bt_places_next(places, point)) {
		out_slots[count++] = places->slot_at[bt_places_at(places, point)];
	}
}

uint64_t bt_places_point_of(const struct bt_places *places, uint32_t place)
{
	uint32_t zone = places->zone_of[place];
	const uint32_t *nodes = places->zones[zone].nodes.items;
	uint32_t row;

	BT_LOWER_BOUND(row, places->zones[zone].nodes.count, middle, nodes[middle] < place);
	BT_ASSERT_SLOW(nodes[row] == place);
	return bt_point(row, zone);
}

/** Number of nodes in the rows before `row`. */
static uint64_t count_above(const struct bt_places *places, uint32_t row)
{
	uint64_t count = 0;

	for (uint32_t i = 0; i < places->zone_count; i++) {
		uint32_t nodes = places->zones[i].nodes.count;
		count += nodes < row ? nodes : row;
	}
	return count;
}

uint64_t bt_places_point_at(const struct bt_places *places, uint32_t position)
{
	uint32_t row;
	uint32_t zone = 0;

	/* Find the last row with at most `position` nodes above it. */
	BT_LOWER_BOUND(row, position, middle, count_above(places, middle + 1) <= position);
	for (uint64_t left = position - count_above(places, row);; zone++) {
		BT_ASSERT(zone < places->zone_count);
		if (row < places->zones[zone].nodes.count && left-- == 0) {
			return bt_point(row, zone);
		}
	}
}

uint64_t bt_places_next(const struct bt_places *places, uint64_t point)
{
	uint32_t row = bt_point_row(point);
	uint32_t zone = bt_point_zone(point) + 1;

	for (uint32_t tried = 0; tried <= places->zone_count; tried++, zone++) {
		if (zone == places->zone_count) {
			zone = 0;
			row++;
		}
		if (row < places->zones[zone].nodes.count) {
			return bt_point(row, zone);
		}
	}
	return BT_POINT_NONE;
}

uint64_t bt_places_previous(const struct bt_places *places, uint64_t point)
{
	uint32_t row = bt_point_row(point);
	uint32_t zone = bt_point_zone(point);

	while (row != 0 || zone != 0) {
		if (zone == 0) {
			zone = places->zone_count;
			row--;
		}
		zone--;
		if (row < places->zones[zone].nodes.count) {
			return bt_point(row, zone);
		}
	}
	return BT_POINT_NONE;
}
