/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_BASE_FIFO_H
#define BT_BASE_FIFO_H
/**
 * Queues in growing arrays: `struct bt_x { BT_FIFO(struct node *) ready; }`. Dropping the first
 * item advances head. The remaining items are moved to the start when dropped items fill more than
 * half of the array, so the moves cost O(1) per dropped item. All-zero memory is an empty queue.
 * Elements must be plain data.
 */
#include "base/vec.h"

/** Minimum number of dropped items before the remaining items are moved. */
#define BT_FIFO_COMPACT_MIN 64

#define BT_FIFO(type) \
	struct { \
		BT_VEC(type) list; /* items before head are dropped */ \
		uint32_t head; \
	}

#define bt_fifo_count(fifo) ((fifo)->list.count - (fifo)->head)

/** The item at an index from the front, as an lvalue; index < count. */
#define bt_fifo_at(fifo, index) ((fifo)->list.items[(fifo)->head + (index)])

#define bt_fifo_push(fifo, value) bt_vec_push(&(fifo)->list, (value))

/** The queue must not be empty. */
#define bt_fifo_drop_first(fifo) \
	do { \
		BT_ASSERT((fifo)->head < (fifo)->list.count); \
		(fifo)->head++; \
		if ((fifo)->head == (fifo)->list.count) { \
			(fifo)->head = 0; \
			(fifo)->list.count = 0; \
		} else if ((fifo)->head >= BT_FIFO_COMPACT_MIN && \
			(fifo)->head > (fifo)->list.count / 2) { \
			(fifo)->list.count -= (fifo)->head; \
			memmove((fifo)->list.items, &(fifo)->list.items[(fifo)->head], \
				(fifo)->list.count * sizeof(*(fifo)->list.items)); \
			(fifo)->head = 0; \
		} \
	} while (0)

#define bt_fifo_finish(fifo) \
	do { \
		bt_vec_finish(&(fifo)->list); \
		(fifo)->head = 0; \
	} while (0)
#endif
