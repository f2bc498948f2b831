/* SPDX-License-Identifier: Apache-2.0 */
#include "state/sparse_counts.h"

#include <stdbool.h>
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"

/** So many pages are cleared and kept, more are given back: they may be needed no more. */
#define KEPT_PAGES 64U

void bt_sparse_counts_finish(struct bt_sparse_counts *counts)
{
	for (uint32_t i = 0; i < counts->page_count; i++) {
		bt_free(counts->pages[i]);
	}
	bt_free(counts->pages);
	*counts = (struct bt_sparse_counts){0};
}

void bt_sparse_counts_clear(struct bt_sparse_counts *counts)
{
	bool keeps = counts->used_pages <= KEPT_PAGES;

	for (uint32_t i = 0; counts->used_pages != 0 && i < counts->page_count; i++) {
		if (counts->pages[i] == NULL) {
			continue;
		}
		if (keeps) {
			memset(counts->pages[i], 0, BT_COUNTS_PAGE * sizeof(uint32_t));
		} else {
			bt_free(counts->pages[i]);
			counts->pages[i] = NULL;
			counts->used_pages--;
		}
	}
}

void bt_sparse_counts_reserve(struct bt_sparse_counts *counts, uint32_t size)
{
	uint32_t wanted = (size + BT_COUNTS_PAGE - 1) >> BT_COUNTS_PAGE_BITS;
	uint32_t old = counts->page_count;

	if (wanted <= old) {
		return;
	}
	counts->pages = bt_realloc_array(counts->pages, wanted, sizeof(*counts->pages));
	memset(counts->pages + old, 0, (wanted - old) * sizeof(*counts->pages));
	counts->page_count = wanted;
}

uint32_t *bt_sparse_counts_at(struct bt_sparse_counts *counts, uint32_t index)
{
	uint32_t **page = &counts->pages[index >> BT_COUNTS_PAGE_BITS];

	BT_ASSERT_SLOW((index >> BT_COUNTS_PAGE_BITS) < counts->page_count);
	if (*page == NULL) {
		*page = BT_NEW_ARRAY(uint32_t, BT_COUNTS_PAGE);
		counts->used_pages++;
	}
	return &(*page)[index & (BT_COUNTS_PAGE - 1)];
}

size_t bt_sparse_counts_bytes(const struct bt_sparse_counts *counts)
{
	return counts->page_count * sizeof(*counts->pages) +
		(size_t)counts->used_pages * BT_COUNTS_PAGE * sizeof(uint32_t);
}
