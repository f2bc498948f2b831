/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/message_collect.h"

#include <string.h>

#include "base/alloc.h"

/** Items of the first run of a list; most lists are shorter. */
#define FIRST_RUN_ITEMS 4

/** Items of one list, in runs that double: what an item's own lists push lies between the runs. */
struct bt_collector_run {
	struct bt_collector_run *next;
	uint32_t count;
	uint32_t capacity;
	_Alignas(max_align_t) char items[];
};

static struct bt_scratch_block *init_block(
	void *memory, size_t size, struct bt_scratch_block *previous)
{
	struct bt_scratch_block *block = memory;
	block->previous = previous;
	block->used = 0;
	block->size = size - sizeof(*block);
	return block;
}

void bt_scratch_init(struct bt_scratch *scratch, void *memory, size_t size)
{
	scratch->bottom = init_block(memory, size, NULL);
	scratch->top = scratch->bottom;
}

static void *push(struct bt_scratch *scratch, size_t size)
{
	size = (size + sizeof(max_align_t) - 1) / sizeof(max_align_t) * sizeof(max_align_t);
	struct bt_scratch_block *top = scratch->top;
	if (top->size - top->used < size) {
		size_t block_size = sizeof(*top) + (size > 2 * top->size ? size : 2 * top->size);
		top = init_block(bt_malloc(block_size), block_size, top);
		scratch->top = top;
	}
	void *memory = top->bytes + top->used;
	top->used += size;
	return memory;
}

static void pop(struct bt_scratch *scratch, struct bt_scratch_block *block, size_t used)
{
	while (scratch->top != block) {
		struct bt_scratch_block *above = scratch->top;
		scratch->top = above->previous;
		bt_free(above);
	}
	block->used = used;
}

void bt_scratch_finish(struct bt_scratch *scratch)
{
	pop(scratch, scratch->bottom, 0);
}

void bt_collector_init(struct bt_collector *collector, struct bt_scratch *scratch, size_t item_size)
{
	*collector = (struct bt_collector){
		.scratch = scratch,
		.mark_block = scratch->top,
		.mark_used = scratch->top->used,
		.item_size = item_size,
	};
}

void *bt_collector_add(struct bt_collector *collector)
{
	struct bt_collector_run *last = collector->last;
	if (last == NULL || last->count == last->capacity) {
		uint32_t capacity = last == NULL ? FIRST_RUN_ITEMS : 2 * last->capacity;
		struct bt_collector_run *run =
			push(collector->scratch, sizeof(*run) + capacity * collector->item_size);
		*run = (struct bt_collector_run){.capacity = capacity};
		if (last == NULL) {
			collector->first = run;
		} else {
			last->next = run;
		}
		collector->last = run;
		last = run;
	}
	void *item = last->items + last->count * collector->item_size;
	memset(item, 0, collector->item_size);
	last->count++;
	collector->count++;
	return item;
}

void *bt_collector_finish(struct bt_collector *collector, struct bt_arena *arena)
{
	char *items = NULL;
	if (collector->count != 0) {
		items = bt_arena_alloc(arena, collector->count * collector->item_size);
		char *at = items;
		const struct bt_collector_run *run;
		for (run = collector->first; run != NULL; run = run->next) {
			size_t bytes = run->count * collector->item_size;
			memcpy(at, run->items, bytes);
			at += bytes;
		}
	}
	pop(collector->scratch, collector->mark_block, collector->mark_used);
	return items;
}
