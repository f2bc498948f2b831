/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_BASE_HEAP_H
#define BT_BASE_HEAP_H
/**
 * Binary heap of small integers (indices into the owner's columns), the smallest on top. Keys lie
 * beside the items, so that sifting rarely reads the owner's memory. All-zero memory is an empty
 * heap.
 *
 * The order of equal items is part of the contract (spec 04 section 4). push appends an item and
 * moves the item up while the item is strictly less than its parent. pop and remove put the last
 * item in the hole and move that item down, to the right child only if the right child is strictly
 * less than the left child. If that item does not move down, it moves up.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

#define BT_HEAP_NONE UINT32_MAX

/** Order: major, then minor, then the heap's tie function. */
struct bt_heap_slot {
	int64_t major;
	int64_t minor;
	uint32_t item;
};

struct bt_heap {
	BT_VEC(struct bt_heap_slot) slots;
	BT_VEC(uint32_t) positions; /* indexed by item: index in slots, or BT_HEAP_NONE */
	/**
	 * Whether a is before b; called only for items with equal keys. NULL: items with equal keys
	 * are equal.
	 */
	bool (*tie)(const void *owner, uint32_t a, uint32_t b);
	const void *owner;
};

void bt_heap_init(struct bt_heap *heap, bool (*tie)(const void *owner, uint32_t a, uint32_t b),
	const void *owner);
void bt_heap_finish(struct bt_heap *heap);
/** The item must not be in the heap. */
void bt_heap_push(struct bt_heap *heap, uint32_t item, int64_t major, int64_t minor);
/** The heap must not be empty. */
uint32_t bt_heap_pop(struct bt_heap *heap);
/** The item must be in the heap. */
void bt_heap_remove(struct bt_heap *heap, uint32_t item);
/**
 * Sets the keys of an item in the heap. Call it also if only the data that tie compares has
 * changed.
 */
void bt_heap_update(struct bt_heap *heap, uint32_t item, int64_t major, int64_t minor);
/**
 * Replaces old_item by an item that is not in the heap, with new keys. The new item starts at
 * old_item's position.
 */
void bt_heap_replace(
	struct bt_heap *heap, uint32_t old_item, uint32_t item, int64_t major, int64_t minor);
static inline bool bt_heap_has(const struct bt_heap *heap, uint32_t item)
{
	return item < heap->positions.count && heap->positions.items[item] != BT_HEAP_NONE;
}
/** Returns the smallest item; the heap must not be empty. */
static inline uint32_t bt_heap_top(const struct bt_heap *heap)
{
	BT_ASSERT(heap->slots.count > 0);
	return heap->slots.items[0].item;
}
#endif
