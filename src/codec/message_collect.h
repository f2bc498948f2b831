/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CODEC_MESSAGE_COLLECT_H
#define BT_CODEC_MESSAGE_COLLECT_H
/**
 * Lists whose length is known at their end only: items are collected in scratch memory that is used
 * like a stack, then moved to the arena in one piece. Items never move while they are collected, so
 * pointers to them may be kept. Private to the message decoder.
 */
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

struct bt_scratch_block {
	struct bt_scratch_block *previous;
	size_t used;
	size_t size;
	_Alignas(max_align_t) char bytes[];
};

/** A stack of blocks; the bottom one is the caller's memory. */
struct bt_scratch {
	struct bt_scratch_block *top;
	struct bt_scratch_block *bottom;
};

/** memory: aligned for any type, outlives the scratch, larger than a struct bt_scratch_block. */
void bt_scratch_init(struct bt_scratch *scratch, void *memory, size_t size);
void bt_scratch_finish(struct bt_scratch *scratch);

struct bt_collector_run;

struct bt_collector {
	struct bt_scratch *scratch;
	struct bt_scratch_block *mark_block; /* state of the scratch to return to */
	size_t mark_used;
	struct bt_collector_run *first;
	struct bt_collector_run *last;
	size_t item_size;
	uint32_t count;
};

void bt_collector_init(
	struct bt_collector *collector, struct bt_scratch *scratch, size_t item_size);
/** A zeroed item. */
void *bt_collector_add(struct bt_collector *collector);
/**
 * All items in order in the arena, NULL when there are none. Collectors finish in reverse order of
 * their init; one that is given up needs no finish, bt_scratch_finish takes all.
 */
void *bt_collector_finish(struct bt_collector *collector, struct bt_arena *arena);
#endif
