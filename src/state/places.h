/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_STATE_PLACES_H
#define BT_STATE_PLACES_H
/**
 * Places of the snapshot's nodes. A node keeps its place while other nodes come and go, so what is
 * kept by place stays good; in the list of nodes, round robin over zones, the same change shifts
 * every later node of the zone. Spec: 03b section 6.
 *
 * Places are first given in list order: then a place is a position in the list. Later a node that
 * goes leaves its place empty, and a node that comes takes the next free place at the end. So
 * places always ascend within a zone, and the list order follows from the zones alone: by row, the
 * index of a node in its zone, then by zone. A point is such a (row, zone).
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

#define BT_PLACE_NONE UINT32_MAX
/** No point; after every other point. */
#define BT_POINT_NONE UINT64_MAX
/** With more zones, each question about the list order would ask too many. */
#define BT_PLACE_ZONES_MAX 64

struct bt_zone_places {
	BT_VEC(uint32_t) nodes; /* places in order of addition: ascending */
};

struct bt_places {
	uint32_t count; /* places; those from `used` on are free */
	uint32_t used;
	uint32_t capacity;  /* places for which there is memory */
	uint32_t *slot_at;  /* by place; UINT32_MAX: no node has it */
	uint8_t *zone_of;   /* by place below `used`; not in list order */
	uint32_t *place_of; /* by slot, meaningful for slots that have a place */
	uint32_t slot_capacity;
	/** Positions in the list equal places: no node has come or gone since they were given. */
	bool in_list_order;
	bool can_follow; /* false: nodes that come or go need places given anew */
	uint32_t zone_count;
	struct bt_zone_places zones[BT_PLACE_ZONES_MAX]; /* in list order: counts alone */
	BT_VEC(uint32_t) left;                           /* places that nodes left, in turn */
	uint64_t version;                                /* grows when places are given anew */
	/**
	 * What questions about the list order cost because places are not in list order, in steps
	 * of a few nanoseconds since places were given. Decides when giving them anew pays.
	 */
	uint64_t detours;
};

void bt_places_finish(struct bt_places *places);
size_t bt_places_memory_bytes(const struct bt_places *places);
/** Room for this many slots in place_of. */
void bt_places_reserve_slots(struct bt_places *places, uint32_t slot_capacity);
/** Give the first places to these slots, and leave some free for nodes that come. */
void bt_places_give(struct bt_places *places, const uint32_t *list, uint32_t count);
/** After bt_places_give: the nodes are of these zones, in their order; may be called for each. */
void bt_places_add_zone(struct bt_places *places, uint32_t node_count);
/** A node comes to the end of its zone: there must be a free place. */
void bt_places_append(struct bt_places *places, uint32_t zone, uint32_t slot);
/** The node at this row of the zone goes; the rows after it close up. */
void bt_places_remove(struct bt_places *places, uint32_t zone, uint32_t row);
/* Only while places are not in list order. */

/** Write the slots in list order. */
void bt_places_list(const struct bt_places *places, uint32_t *out_slots);

static inline uint64_t bt_point(uint32_t row, uint32_t zone)
{
	return (uint64_t)row << 32 | zone;
}
static inline uint32_t bt_point_row(uint64_t point)
{
	return (uint32_t)(point >> 32);
}
static inline uint32_t bt_point_zone(uint64_t point)
{
	return (uint32_t)point;
}
static inline uint32_t bt_places_at(const struct bt_places *places, uint64_t point)
{
	return places->zones[bt_point_zone(point)].nodes.items[bt_point_row(point)];
}
/** Nodes of the zone that stand before the point. */
static inline uint32_t bt_places_cut(const struct bt_places *places, uint64_t point, uint32_t zone)
{
	uint32_t cut = bt_point_row(point) + (zone < bt_point_zone(point));
	uint32_t count = places->zones[zone].nodes.count;
	return cut < count ? cut : count;
}
/** The point of a place that a node has. */
uint64_t bt_places_point_of(const struct bt_places *places, uint32_t place);
/** The point of the node with this many nodes before it in the list; there must be one. */
uint64_t bt_places_point_at(const struct bt_places *places, uint32_t position);
/** The nearest node after, or before, a point; BT_POINT_NONE: there is none. */
uint64_t bt_places_next(const struct bt_places *places, uint64_t point);
uint64_t bt_places_previous(const struct bt_places *places, uint64_t point);
#endif
