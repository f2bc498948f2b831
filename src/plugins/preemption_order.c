/* SPDX-License-Identifier: Apache-2.0 */
#include "plugins/preemption_order.h"

#include <string.h>

/** Up to here insertion beats merging. */
#define INSERTION_MAX 12

/**
 * Merge of two sorted halves. The right one is taken whenever it is more important than the left
 * one: so equals stay in order, and entries that are both more important than each other are
 * reversed, as insertion does.
 */
static void merge(uint32_t *indices, uint32_t middle, uint32_t count, uint32_t *scratch,
	bt_more_important more_important, const void *context)
{
	uint32_t left = 0;
	uint32_t right = middle;

	memcpy(scratch, indices, count * sizeof(indices[0]));
	for (uint32_t i = 0; i < count; i++) {
		bool take_right = left == middle ||
			(right < count && more_important(context, scratch[right], scratch[left]));

		indices[i] = take_right ? scratch[right++] : scratch[left++];
	}
}

void bt_sort_by_importance(uint32_t *indices, uint32_t count, uint32_t *scratch,
	bt_more_important more_important, const void *context)
{
	uint32_t middle = count / 2;

	if (count <= INSERTION_MAX) {
		for (uint32_t i = 1; i < count; i++) {
			uint32_t moving = indices[i];
			uint32_t at = i;

			while (at > 0 && more_important(context, moving, indices[at - 1])) {
				indices[at] = indices[at - 1];
				at--;
			}
			indices[at] = moving;
		}
		return;
	}
	bt_sort_by_importance(indices, middle, scratch, more_important, context);
	bt_sort_by_importance(indices + middle, count - middle, scratch, more_important, context);
	merge(indices, middle, count, scratch, more_important, context);
}
