/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_BASE_VEC_H
#define BT_BASE_VEC_H
/**
 * Growing arrays. `struct bt_nodes { BT_VEC(struct node *) nodes; }` declares items, count and
 * capacity; all-zero memory is an empty vector. Elements must be plain data.
 */
#include <stdint.h>
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"

#define BT_VEC(type) \
	struct { \
		type *items; \
		uint32_t count; \
		uint32_t capacity; \
	}

/** Returns a new capacity of at least `needed` elements. Aborts beyond 2^32-1 elements. */
uint32_t bt_vec_grown_capacity(uint32_t capacity, uint64_t needed);

#define bt_vec_reserve(vec, needed) \
	do { \
		if ((uint64_t)(needed) > (vec)->capacity) { \
			(vec)->capacity = \
				bt_vec_grown_capacity((vec)->capacity, (uint64_t)(needed)); \
			(vec)->items = bt_realloc_array( \
				(vec)->items, (vec)->capacity, sizeof(*(vec)->items)); \
		} \
	} while (0)

#define bt_vec_push(vec, value) \
	do { \
		bt_vec_reserve((vec), (uint64_t)(vec)->count + 1); \
		(vec)->items[(vec)->count++] = (value); \
	} while (0)

/** Appends value until the vector has at least `wanted` elements. */
#define bt_vec_pad(vec, wanted, value) \
	do { \
		while ((vec)->count < (wanted)) { \
			bt_vec_push((vec), (value)); \
		} \
	} while (0)

/**
 * Stores value at a free index taken from free_ids, or at the end if there is none; out_index is
 * the index used.
 */
#define bt_vec_store(vec, free_ids, value, out_index) \
	do { \
		if ((free_ids)->count != 0) { \
			(out_index) = (free_ids)->items[--(free_ids)->count]; \
			(vec)->items[(out_index)] = (value); \
		} else { \
			(out_index) = (vec)->count; \
			bt_vec_push((vec), (value)); \
		} \
	} while (0)

/** Stores value at index; if index is the count, appends the value. */
#define bt_vec_put(vec, index, value) \
	do { \
		if ((index) == (vec)->count) { \
			bt_vec_push((vec), (value)); \
		} \
		(vec)->items[(index)] = (value); \
	} while (0)

/** Removes the element at index and moves the last element there. */
#define bt_vec_remove_swap(vec, index) \
	do { \
		BT_ASSERT((index) < (vec)->count); \
		(vec)->items[(index)] = (vec)->items[--(vec)->count]; \
	} while (0)

/** Removes the element at index and keeps the order of the others. O(count). */
#define bt_vec_remove_ordered(vec, index) \
	do { \
		BT_ASSERT((index) < (vec)->count); \
		memmove(&(vec)->items[(index)], &(vec)->items[(index) + 1], \
			((vec)->count - (index)-1) * sizeof(*(vec)->items)); \
		(vec)->count--; \
	} while (0)

/** Inserts value before the element at index. O(count). */
#define bt_vec_insert(vec, index, value) \
	do { \
		BT_ASSERT((index) <= (vec)->count); \
		bt_vec_reserve((vec), (uint64_t)(vec)->count + 1); \
		memmove(&(vec)->items[(index) + 1], &(vec)->items[(index)], \
			((vec)->count - (index)) * sizeof(*(vec)->items)); \
		(vec)->items[(index)] = (value); \
		(vec)->count++; \
	} while (0)

/**
 * Binary search: sets out_index to the first index below index_count for which is_before is false,
 * or to index_count if there is none. middle: name of the index variable in the expression
 * is_before.
 */
#define BT_LOWER_BOUND(out_index, index_count, middle, is_before) \
	do { \
		uint32_t bt_low_ = 0; \
		uint32_t bt_high_ = (index_count); \
		while (bt_low_ < bt_high_) { \
			uint32_t middle = bt_low_ + (bt_high_ - bt_low_) / 2; \
			if (is_before) { \
				bt_low_ = middle + 1; \
			} else { \
				bt_high_ = middle; \
			} \
		} \
		(out_index) = bt_low_; \
	} while (0)

#define bt_vec_finish(vec) \
	do { \
		bt_free((vec)->items); \
		(vec)->items = NULL; \
		(vec)->count = 0; \
		(vec)->capacity = 0; \
	} while (0)
/** Finishes the vector after the call, in which `each` points to an element, for all elements. */
#define bt_vec_finish_each(vec, call) \
	do { \
		for (uint32_t index_ = 0; index_ < (vec)->count; index_++) { \
			BT_TYPEOF(*(vec)->items) *each = &(vec)->items[index_]; \
			call; \
		} \
		bt_vec_finish(vec); \
	} while (0)
#endif
