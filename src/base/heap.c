/* SPDX-License-Identifier: Apache-2.0 */
#include "base/heap.h"

#include <stddef.h>

void bt_heap_init(struct bt_heap *heap, bool (*tie)(const void *owner, uint32_t a, uint32_t b),
	const void *owner)
{
	*heap = (struct bt_heap){.tie = tie, .owner = owner};
}

void bt_heap_finish(struct bt_heap *heap)
{
	bt_vec_finish(&heap->slots);
	bt_vec_finish(&heap->positions);
}

static bool is_less(
	const struct bt_heap *heap, const struct bt_heap_slot *a, const struct bt_heap_slot *b)
{
	if (a->major != b->major) {
		return a->major < b->major;
	}
	if (a->minor != b->minor) {
		return a->minor < b->minor;
	}
	return heap->tie != NULL && heap->tie(heap->owner, a->item, b->item);
}

static void set_slot(struct bt_heap *heap, uint32_t position, struct bt_heap_slot slot)
{
	heap->slots.items[position] = slot;
	heap->positions.items[slot.item] = position;
}

static void sift_up(struct bt_heap *heap, uint32_t position)
{
	struct bt_heap_slot moving = heap->slots.items[position];

	while (position > 0) {
		uint32_t parent = (position - 1) / 2;

		if (!is_less(heap, &moving, &heap->slots.items[parent])) {
			break;
		}
		set_slot(heap, position, heap->slots.items[parent]);
		position = parent;
	}
	set_slot(heap, position, moving);
}

/** Moves the slot at index `start` down or up to its place. */
static void restore_order(struct bt_heap *heap, uint32_t start)
{
	struct bt_heap_slot moving = heap->slots.items[start];
	uint32_t count = heap->slots.count;
	uint32_t position = start;

	for (;;) {
		/* 64 bits, because twice the position may exceed 32 bits. */
		uint64_t left = (uint64_t)position * 2 + 1;

		if (left >= count) {
			break;
		}
		uint32_t child = (uint32_t)left;
		if (left + 1 < count &&
			is_less(heap, &heap->slots.items[child + 1], &heap->slots.items[child])) {
			child++;
		}
		if (!is_less(heap, &heap->slots.items[child], &moving)) {
			break;
		}
		set_slot(heap, position, heap->slots.items[child]);
		position = child;
	}
	set_slot(heap, position, moving);

	if (position == start) {
		sift_up(heap, start);
	}
}

/** Reserves memory for an item that is about to be pushed. */
static void make_room(struct bt_heap *heap, uint32_t item)
{
	BT_ASSERT(item < BT_HEAP_NONE);
	bt_vec_pad(&heap->positions, item + 1, BT_HEAP_NONE);
	BT_ASSERT(heap->positions.items[item] == BT_HEAP_NONE);
}

void bt_heap_push(struct bt_heap *heap, uint32_t item, int64_t major, int64_t minor)
{
	struct bt_heap_slot slot = {.major = major, .minor = minor, .item = item};

	make_room(heap, item);
	bt_vec_push(&heap->slots, slot);
	sift_up(heap, heap->slots.count - 1);
}

void bt_heap_remove(struct bt_heap *heap, uint32_t item)
{
	BT_ASSERT(bt_heap_has(heap, item));
	uint32_t position = heap->positions.items[item];
	uint32_t last = --heap->slots.count;
	heap->positions.items[item] = BT_HEAP_NONE;
	if (position != last) {
		set_slot(heap, position, heap->slots.items[last]);
		restore_order(heap, position);
	}
}

uint32_t bt_heap_pop(struct bt_heap *heap)
{
	uint32_t item = bt_heap_top(heap);

	bt_heap_remove(heap, item);
	return item;
}

void bt_heap_update(struct bt_heap *heap, uint32_t item, int64_t major, int64_t minor)
{
	BT_ASSERT(bt_heap_has(heap, item));
	uint32_t position = heap->positions.items[item];
	heap->slots.items[position].major = major;
	heap->slots.items[position].minor = minor;
	restore_order(heap, position);
}

void bt_heap_replace(
	struct bt_heap *heap, uint32_t old_item, uint32_t item, int64_t major, int64_t minor)
{
	struct bt_heap_slot slot = {.major = major, .minor = minor, .item = item};

	BT_ASSERT(bt_heap_has(heap, old_item));
	make_room(heap, item);
	uint32_t position = heap->positions.items[old_item];
	heap->positions.items[old_item] = BT_HEAP_NONE;
	set_slot(heap, position, slot);
	restore_order(heap, position);
}
