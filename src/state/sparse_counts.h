/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_STATE_SPARSE_COUNTS_H
#define BT_STATE_SPARSE_COUNTS_H
/**
 * Counts by index (a slot, or a topology domain), most of which are 0. Counts other than 0 are in a
 * small hash table. When a quarter of the indexes have a count, an array replaces the hash table,
 * until fewer than 1/32 of the indexes have a count. There are many tables with few counts each, so
 * their memory must not grow with the cluster. All-zero memory is an empty table.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"

struct bt_sparse_entry {
	uint64_t count; /* 0: the entry is free */
	uint32_t index;
};

struct bt_sparse_counts {
	struct bt_sparse_entry *entries; /* linear probing, at most half full; or NULL */
	uint64_t *array;                 /* by index; or NULL */
	uint32_t entry_capacity;         /* power of two, or 0 */
	uint32_t array_capacity;
	uint32_t occupied_count; /* number of indexes with a count other than 0 */
	uint64_t total;
};

static inline uint32_t bt_sparse_home(uint32_t index, uint32_t entry_capacity)
{
	return (uint32_t)(index * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (entry_capacity - 1);
}

static inline uint64_t bt_sparse_count(const struct bt_sparse_counts *counts, uint32_t index)
{
	uint32_t at;

	if (counts->array != NULL) {
		return index < counts->array_capacity ? counts->array[index] : 0;
	}
	if (counts->entry_capacity == 0) {
		return 0;
	}
	at = bt_sparse_home(index, counts->entry_capacity);
	while (counts->entries[at].count != 0 && counts->entries[at].index != index) {
		at = (at + 1) & (counts->entry_capacity - 1);
	}
	return counts->entries[at].count;
}

/** Iterates over the counts that are not 0, in no order. *cursor: 0 at first. false: no more. */
static inline bool bt_sparse_counts_next(
	const struct bt_sparse_counts *counts, uint32_t *cursor, struct bt_sparse_entry *out)
{
	for (; *cursor < counts->entry_capacity; ++*cursor) {
		if (counts->entries[*cursor].count != 0) {
			*out = counts->entries[(*cursor)++];
			return true;
		}
	}
	for (; *cursor < counts->array_capacity; ++*cursor) {
		if (counts->array[*cursor] != 0) {
			*out = (struct bt_sparse_entry){counts->array[*cursor], *cursor};
			++*cursor;
			return true;
		}
	}
	return false;
}

/**
 * Add delta to a count. The new count must not be negative. size: number of indexes, larger than
 * index. Returns the new count.
 */
uint64_t bt_sparse_counts_add(
	struct bt_sparse_counts *counts, uint32_t index, int64_t delta, uint32_t size);
/**
 * sums[index] += factor x count for each index, wrapping. All indexes with a count other than 0
 * must be below `size`, the length of `sums`.
 */
void bt_sparse_counts_add_to(
	const struct bt_sparse_counts *counts, int64_t factor, int64_t *sums, uint32_t size);
/** Set all counts to 0. The memory is kept unless it is far too large for `expected` counts. */
void bt_sparse_counts_clear(struct bt_sparse_counts *counts, uint32_t expected);
void bt_sparse_counts_finish(struct bt_sparse_counts *counts);
size_t bt_sparse_counts_bytes(const struct bt_sparse_counts *counts);
#endif
