/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bitset.h"

#include <string.h>

#include "base/alloc.h"

void bt_bitset_resize(struct bt_bitset *set, uint32_t bit_count)
{
	uint32_t word_count = bit_count / 64 + (bit_count % 64 != 0);

	if (word_count != set->word_count) {
		set->words = bt_realloc_array(set->words, word_count, sizeof(*set->words));
	}
	if (word_count > set->word_count) {
		memset(&set->words[set->word_count], 0,
			(size_t)(word_count - set->word_count) * sizeof(*set->words));
	}
	if (bit_count % 64 != 0) {
		set->words[word_count - 1] &= (UINT64_C(1) << (bit_count % 64)) - 1;
	}
	set->word_count = word_count;
	set->bit_count = bit_count;
}

void bt_bitset_finish(struct bt_bitset *set)
{
	bt_free(set->words);
	*set = (struct bt_bitset){0};
}

void bt_bitset_clear(struct bt_bitset *set)
{
	if (set->word_count != 0) {
		memset(set->words, 0, (size_t)set->word_count * sizeof(*set->words));
	}
}

uint32_t bt_bitset_next(const struct bt_bitset *set, uint32_t from)
{
	uint32_t index = from >> 6;

	if (from >= set->bit_count) {
		return UINT32_MAX;
	}
	uint64_t word = set->words[index] & (~UINT64_C(0) << (from & 63));
	while (word == 0) {
		if (++index == set->word_count) {
			return UINT32_MAX;
		}
		word = set->words[index];
	}
	return index << 6 | BT_CTZ64(word);
}
