/* SPDX-License-Identifier: Apache-2.0 */
#include "state/sparse_counts.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/vec.h"

#define ENTRIES_MIN 4
/**
 * A table changes to an array when 1/ARRAY_SHARE of the indexes have a count, and back to entries
 * when fewer than 1/SPARSE_SHARE of the indexes have a count.
 */
#define ARRAY_SHARE 4
#define SPARSE_SHARE 32

/** The entry with this index, or the free entry where it must be inserted. */
static struct bt_sparse_entry *find_entry(const struct bt_sparse_counts *counts, uint32_t index)
{
	uint32_t at = bt_sparse_home(index, counts->entry_capacity);

	while (counts->entries[at].count != 0 && counts->entries[at].index != index) {
		at = (at + 1) & (counts->entry_capacity - 1);
	}
	return &counts->entries[at];
}

static void grow_entries(struct bt_sparse_counts *counts, uint32_t capacity)
{
	struct bt_sparse_entry *old = counts->entries;
	uint32_t old_capacity = counts->entry_capacity;

	counts->entry_capacity = capacity;
	counts->entries = BT_NEW_ARRAY(struct bt_sparse_entry, capacity);
	for (uint32_t i = 0; i < old_capacity; i++) {
		if (old[i].count != 0) {
			*find_entry(counts, old[i].index) = old[i];
		}
	}
	bt_free(old);
}

static void reserve_array(struct bt_sparse_counts *counts, uint32_t size)
{
	uint32_t old = counts->array_capacity;

	if (size <= old) {
		return;
	}
	counts->array_capacity = bt_vec_grown_capacity(old, size);
	counts->array =
		bt_realloc_array(counts->array, counts->array_capacity, sizeof(*counts->array));
	memset(counts->array + old, 0, (counts->array_capacity - old) * sizeof(*counts->array));
}

static void use_array(struct bt_sparse_counts *counts, uint32_t size)
{
	reserve_array(counts, size);
	for (uint32_t i = 0; i < counts->entry_capacity; i++) {
		if (counts->entries[i].count != 0) {
			counts->array[counts->entries[i].index] = counts->entries[i].count;
		}
	}
	bt_free(counts->entries);
	counts->entries = NULL;
	counts->entry_capacity = 0;
}

static void use_entries(struct bt_sparse_counts *counts)
{
	uint64_t *array = counts->array;
	uint32_t size = counts->array_capacity;
	uint32_t capacity = ENTRIES_MIN;

	while (capacity < counts->occupied_count * UINT64_C(2) + 2) {
		capacity *= 2;
	}
	counts->array = NULL;
	counts->array_capacity = 0;
	grow_entries(counts, capacity);
	for (uint32_t i = 0; i < size; i++) {
		if (array[i] != 0) {
			*find_entry(counts, i) = (struct bt_sparse_entry){array[i], i};
		}
	}
	bt_free(array);
}

uint64_t bt_sparse_counts_add(
	struct bt_sparse_counts *counts, uint32_t index, int64_t delta, uint32_t size)
{
	struct bt_sparse_entry *entry = NULL;
	uint64_t *count;

	BT_ASSERT(index < size);
	if (delta == 0) {
		return bt_sparse_count(counts, index);
	}
	if (counts->array == NULL && delta > 0 && counts->occupied_count >= size / ARRAY_SHARE) {
		use_array(counts, size);
	} else if (counts->array != NULL && (delta < 0 || size > counts->array_capacity) &&
		counts->occupied_count < size / SPARSE_SHARE) {
		use_entries(counts);
	}
	if (counts->array != NULL) {
		reserve_array(counts, size);
		count = &counts->array[index];
	} else {
		if (counts->occupied_count * UINT64_C(2) >= counts->entry_capacity) {
			grow_entries(counts,
				counts->entry_capacity == 0 ? ENTRIES_MIN
							    : counts->entry_capacity * 2);
		}
		entry = find_entry(counts, index);
		entry->index = index;
		count = &entry->count;
	}
	uint64_t before = *count;
	BT_ASSERT(delta >= 0 || before >= (uint64_t)-delta);
	uint64_t after = before + (uint64_t)delta;
	*count = after;
	counts->total += (uint64_t)delta;
	counts->occupied_count += (after != 0) - (uint32_t)(before != 0);
	if (after == 0 && before != 0 && entry != NULL) {
		/* Free the entry; later entries of the probe sequence move up. */
		uint32_t mask = counts->entry_capacity - 1;
		uint32_t gap = (uint32_t)(entry - counts->entries);

		for (uint32_t at = (gap + 1) & mask; counts->entries[at].count != 0;
			at = (at + 1) & mask) {
			uint32_t home =
				bt_sparse_home(counts->entries[at].index, counts->entry_capacity);

			if (((at - home) & mask) >= ((at - gap) & mask)) {
				counts->entries[gap] = counts->entries[at];
				gap = at;
			}
		}
		counts->entries[gap] = (struct bt_sparse_entry){0};
	}
	return after;
}

void bt_sparse_counts_add_to(
	const struct bt_sparse_counts *counts, int64_t factor, int64_t *sums, uint32_t size)
{
	uint32_t count = counts->array_capacity < size ? counts->array_capacity : size;

	/* The sums wrap on overflow, as upstream's int64 does. */
	for (uint32_t i = 0; i < count; i++) {
		sums[i] = (int64_t)((uint64_t)sums[i] + (uint64_t)factor * counts->array[i]);
	}
	for (uint32_t i = 0; i < counts->entry_capacity; i++) {
		const struct bt_sparse_entry *entry = &counts->entries[i];

		if (entry->count != 0) {
			sums[entry->index] = (int64_t)((uint64_t)sums[entry->index] +
				(uint64_t)factor * entry->count);
		}
	}
}

void bt_sparse_counts_clear(struct bt_sparse_counts *counts, uint32_t expected)
{
	if (counts->array_capacity / SPARSE_SHARE > expected ||
		counts->entry_capacity / SPARSE_SHARE > (uint64_t)expected + ENTRIES_MIN) {
		bt_sparse_counts_finish(counts);
	}
	if (counts->occupied_count != 0 && counts->array != NULL) {
		memset(counts->array, 0, counts->array_capacity * sizeof(*counts->array));
	} else if (counts->occupied_count != 0) {
		memset(counts->entries, 0, counts->entry_capacity * sizeof(*counts->entries));
	}
	counts->occupied_count = 0;
	counts->total = 0;
}

void bt_sparse_counts_finish(struct bt_sparse_counts *counts)
{
	bt_free(counts->entries);
	bt_free(counts->array);
	*counts = (struct bt_sparse_counts){0};
}

size_t bt_sparse_counts_bytes(const struct bt_sparse_counts *counts)
{
	return counts->entry_capacity * sizeof(*counts->entries) +
		counts->array_capacity * sizeof(*counts->array);
}
