/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/suggest.h"

#include <stdint.h>
#include <string.h>

/** Longer words are no typing mistakes. */
#define WORD_BYTES_MAX 32

static uint32_t smaller(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/** Changes that turn a into b; neighbours that swapped places count as one. */
static uint32_t distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
	uint32_t rows[3][WORD_BYTES_MAX + 1];
	uint32_t *before = rows[0];
	uint32_t *above = rows[1];
	uint32_t *row = rows[2];
	for (size_t j = 0; j <= b_length; j++) {
		above[j] = (uint32_t)j;
		before[j] = 0;
	}
	for (size_t i = 1; i <= a_length; i++) {
		row[0] = (uint32_t)i;
		for (size_t j = 1; j <= b_length; j++) {
			uint32_t change = above[j - 1] + (a[i - 1] != b[j - 1]);
			row[j] = smaller(change, smaller(above[j], row[j - 1]) + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
				row[j] = smaller(row[j], before[j - 2] + 1);
			}
		}
		uint32_t *recycled = before;
		before = above;
		above = row;
		row = recycled;
	}
	return above[b_length];
}

const char *bt_suggest(const char *given, const char *const *words, size_t count)
{
	size_t given_length = strlen(given);
	const char *best = NULL;
	uint32_t best_distance = UINT32_MAX;
	if (given_length == 0 || given_length > WORD_BYTES_MAX) {
		return NULL;
	}
	for (size_t i = 0; i < count; i++) {
		size_t length = strlen(words[i]);
		if (length > WORD_BYTES_MAX) {
			continue;
		}
		size_t longer = length > given_length ? length : given_length;
		uint32_t allowed = longer / 3 > 1 ? (uint32_t)(longer / 3) : 1;
		uint32_t changes = distance(given, given_length, words[i], length);
		if (changes <= allowed && changes < best_distance) {
			best = words[i];
			best_distance = changes;
		}
	}
	return best;
}
