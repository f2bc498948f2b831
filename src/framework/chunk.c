/* SPDX-License-Identifier: Apache-2.0 */
#include "framework/chunk.h"

#include "base/assert.h"

uint32_t bt_chunk_size(uint32_t piece_count, uint32_t parallelism)
{
	/* floor(sqrt(value)), bit by bit: exact on every machine. */
	uint32_t size = 0;

	for (uint32_t bit = UINT32_C(1) << 15; bit != 0; bit >>= 1) {
		uint32_t next = size | bit;

		if (next <= piece_count / next) {
			size = next;
		}
	}

	uint32_t share;

	BT_ASSERT(parallelism > 0);
	share = piece_count / parallelism;
	if (size > share) {
		/* share < size <= 65535, so the sum cannot wrap. */
		return share + 1;
	}
	return size < 1 ? 1 : size;
}

uint32_t bt_chunk_workers(uint32_t piece_count, uint32_t parallelism)
{
	uint32_t size = bt_chunk_size(piece_count, parallelism);
	uint32_t chunks = piece_count / size + (piece_count % size != 0 ? 1 : 0);

	return chunks < parallelism ? chunks : parallelism;
}
