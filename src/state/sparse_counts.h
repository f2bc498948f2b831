/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_STATE_SPARSE_COUNTS_H
#define BT_STATE_SPARSE_COUNTS_H
/**
 * An array of counts most of which may be 0, for readers that ask for many: pages of 64, those
 * without a count are not there. Reading costs one look into the directory. At 500,000 entries an
 * empty array takes 61 KiB, a full one 2 MiB.
 */
#include <stddef.h>
#include <stdint.h>

#define BT_COUNTS_PAGE_BITS 6
#define BT_COUNTS_PAGE (1U << BT_COUNTS_PAGE_BITS)

/** All-zero memory has no entries. */
struct bt_sparse_counts {
	uint32_t **pages; /* NULL: all zeros; a page that is there may be all zeros too */
	uint32_t page_count;
	uint32_t used_pages;
};

static inline uint32_t bt_sparse_count(const struct bt_sparse_counts *counts, uint32_t index)
{
	const uint32_t *page;

	if ((index >> BT_COUNTS_PAGE_BITS) >= counts->page_count) {
		return 0;
	}
	page = counts->pages[index >> BT_COUNTS_PAGE_BITS];
	return page != NULL ? page[index & (BT_COUNTS_PAGE - 1)] : 0;
}

void bt_sparse_counts_finish(struct bt_sparse_counts *counts);
/** All zero; the directory stays, and a few pages. */
void bt_sparse_counts_clear(struct bt_sparse_counts *counts);
/** Entries below `size` can be written from now on. The directory may move. */
void bt_sparse_counts_reserve(struct bt_sparse_counts *counts, uint32_t size);
/** The entry for writing; index < size reserved. */
uint32_t *bt_sparse_counts_at(struct bt_sparse_counts *counts, uint32_t index);
/** Directory and pages. */
size_t bt_sparse_counts_bytes(const struct bt_sparse_counts *counts);
#endif
