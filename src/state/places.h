/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_STATE_PLACES_H
#define BT_STATE_PLACES_H
/**
 * Places of the snapshot's nodes. A node keeps its place while other nodes are added or removed, so
 * data indexed by place stays valid. The node's position in the list of nodes, which is round-robin
 * over zones, changes whenever an earlier node of the list is added or removed. Spec: 03b section
 * 6.
 *
 * Places are first assigned in list order: then a place is a position in the list. Later, a removed
 * node leaves its place empty, and an added node gets the next free place at the end. So places
 * ascend within a zone, and the list order follows from the zones: first by row (the index of a
 * node in its zone), then by zone. A point is a pair (row, zone).
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

#define BT_PLACE_NONE UINT32_MAX
/** Stands for no point, and is larger than every point. */
#define BT_POINT_NONE UINT64_MAX
/**
 * Maximum number of zones for which nodes keep their places when the list changes. With more zones,
 * every change of the list assigns all places anew, because queries about the list order would cost
 * too much.
 */
#define BT_PLACE_ZONES_MAX 64

struct bt_zone_places {
	BT_VEC(uint32_t) nodes; /* places in order of addition, ascending */
};

struct bt_places {
	uint32_t count; /* number of places; the places from `used` on are free */
	uint32_t used;
	uint32_t capacity;  /* allocated number of places */
	uint32_t *slot_at;  /* by place; UINT32_MAX: the place has no node */
	uint8_t *zone_of;   /* indexed by place < used; valid unless places are in list order */
	uint32_t *place_of; /* by slot; valid for slots that have a place */
	uint32_t slot_capacity;
	/**
	 * Places equal positions in the list: no node was added or removed since the assignment.
	 */
	bool in_list_order;
	bool can_follow; /* false: added or removed nodes need a new assignment */
	uint32_t zone_count;
	/** If in_list_order, only nodes.count is set. */
	struct bt_zone_places zones[BT_PLACE_ZONES_MAX];
	BT_VEC(uint32_t) left; /* places left empty, oldest first */
	uint64_t version;      /* increased by each new assignment */
	/**
	 * Number of extra steps that queries have made since the last assignment because places are
	 * not in list order. Decides when a new assignment pays off. A step: a few nanoseconds.
	 */
	uint64_t detours;
};

void bt_places_finish(struct bt_places *places);
/** Reserve entries for this many slots in place_of. */
void bt_places_reserve_slots(struct bt_places *places, uint32_t slot_capacity);
/** Assign places anew: the node of list[i] gets place i. Some places stay free for added nodes. */
void bt_places_assign(struct bt_places *places, const uint32_t *list, uint32_t count);
/**
 * After bt_places_assign: add the next zone, with its number of nodes. Call for all zones or for
 * none.
 */
void bt_places_add_zone(struct bt_places *places, uint32_t node_count);
/** Add a node at the end of its zone. There must be a free place. */
void bt_places_append(struct bt_places *places, uint32_t zone, uint32_t slot);
/** Remove the node at this row of the zone; later rows move up. */
void bt_places_remove(struct bt_places *places, uint32_t zone, uint32_t row);
/*
 * Call the functions below only while places are not in list order. Exceptions: bt_point,
 * bt_point_row and bt_point_zone.
 */

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
/** Number of the zone's nodes before the point. */
static inline uint32_t bt_places_cut(const struct bt_places *places, uint64_t point, uint32_t zone)
{
	uint32_t cut = bt_point_row(point) + (zone < bt_point_zone(point));
	uint32_t count = places->zones[zone].nodes.count;
	return cut < count ? cut : count;
}
/** The point of a place that has a node. */
uint64_t bt_places_point_of(const struct bt_places *places, uint32_t place);
/** The point of the node at this position of the list. `position`: below the number of nodes. */
uint64_t bt_places_point_at(const struct bt_places *places, uint32_t position);
/**
 * Returns the point of the next node after the given point (bt_places_next) or of the last node
 * before it (bt_places_previous); BT_POINT_NONE: there is no such node.
 */
uint64_t bt_places_next(const struct bt_places *places, uint64_t point);
uint64_t bt_places_previous(const struct bt_places *places, uint64_t point);
#endif
