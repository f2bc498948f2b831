/* SPDX-License-Identifier: Apache-2.0 */
#include "sched/cells.h"

#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/cpu.h"
#include "base/str.h"

static uint32_t round_up_to_block(uint32_t count)
{
	return (count + BT_CELLS_BLOCK - 1) / BT_CELLS_BLOCK * BT_CELLS_BLOCK;
}

static void free_cell_memory(struct bt_cells *cells)
{
	for (uint32_t i = 0; i < cells->cell_capacity; i++) {
		bt_free(cells->cells[i].best);
		cells->cells[i] = (struct bt_cell){0};
	}
}

struct bt_cells *bt_cells_create(uint32_t position_count, uint32_t key_words)
{
	struct bt_cells *cells = BT_NEW(struct bt_cells);
	cells->kernels = &bt_cells_kernels_plain;
#if defined(BT_HAVE_AVX2_KERNELS)
	if (bt_cpu_has_avx2()) {
		cells->kernels = &bt_cells_kernels_avx2;
	}
#endif
	bt_cells_reset(cells, position_count, key_words);
	return cells;
}

void bt_cells_destroy(struct bt_cells *cells)
{
	if (cells == NULL) {
		return;
	}
	free_cell_memory(cells);
	bt_map_finish(&cells->by_key);
	bt_free(cells->cells);
	bt_free(cells->keys);
	bt_free(cells->hashes);
	bt_free(cells->cell_of);
	bt_free(cells->local_of);
	bt_free(cells);
}

void bt_cells_reset(struct bt_cells *cells, uint32_t position_count, uint32_t key_words)
{
	BT_ASSERT(position_count <= UINT32_MAX - BT_CELLS_BLOCK);
	cells->position_count = position_count;
	cells->level_size[0] = position_count;
	cells->first_node[0] = 0;
	uint32_t level = 0;
	uint32_t node = 0;
	uint32_t size = position_count;
	do {
		size = size == 0 ? 1 : round_up_to_block(size) / BT_CELLS_BLOCK;
		level++;
		cells->level_size[level] = size;
		cells->first_node[level] = node;
		node += size == 1 ? 1 : round_up_to_block(size);
	} while (size > 1);
	cells->level_count = level;
	cells->node_count = node;
	if (cells->node_count > cells->node_capacity) {
		free_cell_memory(cells);
		cells->node_capacity = cells->node_count;
	}
	uint32_t positions = round_up_to_block(position_count);
	if (positions > cells->position_capacity) {
		bt_free(cells->cell_of);
		bt_free(cells->local_of);
		cells->cell_of = BT_NEW_ARRAY(uint16_t, positions);
		cells->local_of = BT_NEW_ARRAY(int32_t, positions);
		cells->position_capacity = positions;
	}
	for (uint32_t i = 0; i < positions; i++) {
		cells->cell_of[i] = BT_CELLS_UNPUT;
	}
	bt_map_reset(&cells->by_key);
	memset(cells->vacant, 0, sizeof(cells->vacant));
	cells->cell_count = 0;
	memset(cells->recent, 0, sizeof(cells->recent));
	cells->key_words = key_words;
	cells->is_filled = false;
}

static void copy_top(const struct bt_cells *cells, struct bt_cell *cell)
{
	uint32_t top = cells->node_count - 1;
	cell->top_best = cell->best[top];
	cell->top_ties = cell->ties[top];
	cell->size = cell->members[top];
}

/*
 * A number for a new key: the number of a cell without members, or the next unused number.
 * BT_CELL_NONE: no number is free.
 */
static uint32_t take_number(struct bt_cells *cells)
{
	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(cells->vacant); i++) {
		if (cells->vacant[i] != 0) {
			uint32_t cell = i * 64 + BT_CTZ64(cells->vacant[i]);
			cells->vacant[i] &= cells->vacant[i] - 1;
			bool was_there = bt_map_remove(&cells->by_key, cells->hashes[cell], cell);
			BT_ASSERT(was_there);
			return cell;
		}
	}
	if (cells->cell_count == BT_CELLS_MAX) {
		return BT_CELL_NONE;
	}
	uint32_t capacity = cells->cell_capacity == 0 ? 8 : 2 * cells->cell_capacity;
	if (cells->cell_count == cells->cell_capacity) {
		cells->cells = bt_realloc_array(cells->cells, capacity, sizeof(*cells->cells));
		cells->hashes = bt_realloc_array(cells->hashes, capacity, sizeof(*cells->hashes));
		memset(cells->cells + cells->cell_capacity, 0,
			(capacity - cells->cell_capacity) * sizeof(*cells->cells));
		cells->cell_capacity = capacity;
	}
	size_t words = (size_t)cells->cell_capacity * cells->key_words;
	if (words > cells->key_capacity) {
		cells->keys = bt_realloc_array(cells->keys, words, sizeof(*cells->keys));
		cells->key_capacity = words;
	}
	/*
	 * Set the tree nodes of the new cell to "no members". Allocate the cell's arrays at the
	 * first use of the cell number.
	 */
	struct bt_cell *cell = &cells->cells[cells->cell_count];
	uint32_t nodes = cells->node_capacity;
	if (cell->best == NULL) {
		int32_t *memory = bt_realloc_array(NULL, nodes, 3 * sizeof(*memory));
		cell->best = memory;
		cell->ties = (uint32_t *)(memory + nodes);
		cell->members = (uint32_t *)(memory + 2 * (size_t)nodes);
	}
	for (uint32_t i = 0; i < cells->node_count; i++) {
		cell->best[i] = BT_CELLS_NO_SCORE;
	}
	memset(cell->ties, 0, cells->node_count * sizeof(*cell->ties));
	memset(cell->members, 0, cells->node_count * sizeof(*cell->members));
	copy_top(cells, cell);
	cell->some_member = 0;
	return cells->cell_count++;
}

static bool key_is(const struct bt_cells *cells, uint32_t cell, const uint64_t *key)
{
	const uint64_t *own = bt_cells_key(cells, cell);
	for (uint32_t i = 0; i < cells->key_words; i++) {
		if (own[i] != key[i]) {
			return false;
		}
	}
	return true;
}

static uint32_t find_cell(const struct bt_cells *cells, const uint64_t *key, uint64_t hash)
{
	const struct bt_map *map = &cells->by_key;
	BT_MAP_EACH (map, hash, cell) {
		if (cells->hashes[cell] == hash && key_is(cells, cell, key)) {
			return cell;
		}
	}
	return BT_CELL_NONE;
}

static uint64_t hash_of_key(const struct bt_cells *cells, const uint64_t *key)
{
	uint64_t hash = 0;
	for (uint32_t i = 0; i < cells->key_words; i++) {
		hash = bt_hash_u64(hash, key[i]);
	}
	return hash;
}

static uint32_t use_cell(struct bt_cells *cells, uint32_t cell)
{
	cells->vacant[cell / 64] &= ~(UINT64_C(1) << cell % 64);
	return cell;
}

uint32_t bt_cells_of_key(struct bt_cells *cells, const uint64_t *key)
{
	uint64_t product = 0;
	for (uint32_t i = 0; i < cells->key_words; i++) {
		product = (product ^ key[i]) * UINT64_C(0x9e3779b97f4a7c15);
	}
	uint16_t *recent = &cells->recent[product / (UINT64_MAX / BT_CELLS_RECENT + 1)];
	if (*recent < cells->cell_count && key_is(cells, *recent, key)) {
		return use_cell(cells, *recent);
	}
	uint64_t hash = hash_of_key(cells, key);
	uint32_t cell = find_cell(cells, key, hash);
	if (cell != BT_CELL_NONE) {
		*recent = (uint16_t)cell;
		return use_cell(cells, cell);
	}
	cell = take_number(cells);
	if (cell == BT_CELL_NONE) {
		return BT_CELL_NONE;
	}
	for (uint32_t i = 0; i < cells->key_words; i++) {
		cells->keys[(size_t)cell * cells->key_words + i] = key[i];
	}
	cells->hashes[cell] = hash;
	bt_map_insert(&cells->by_key, hash, cell);
	*recent = (uint16_t)cell;
	return use_cell(cells, cell);
}

/* The contribution of a tree node or of a member to the tree node above. */
struct cell_share {
	int32_t best;
	uint32_t ties;
};

static const struct cell_share empty_share = {BT_CELLS_NO_SCORE, 0};

static struct cell_share scan_children(
	const struct bt_cells *cells, uint32_t cell, uint32_t level, uint32_t index)
{
	const struct bt_cells_kernels *kernels = cells->kernels;
	const struct bt_cell *own = &cells->cells[cell];
	size_t child = (size_t)index * BT_CELLS_BLOCK;
	struct cell_share share;
	if (level == 1) {
		const uint16_t *cell_of = cells->cell_of + child;
		const int32_t *local_of = cells->local_of + child;
		share.best = kernels->best_of(cell_of, local_of, (uint16_t)cell);
		share.ties = BT_POPCOUNT64(
			kernels->ties_of(cell_of, local_of, (uint16_t)cell, share.best));
		return share;
	}
	child += cells->first_node[level - 1];
	share.best = kernels->max_of(own->best + child);
	share.ties = kernels->sum_ties(own->best + child, own->ties + child, share.best);
	return share;
}

void bt_cells_put(struct bt_cells *cells, uint32_t position, uint32_t cell, int32_t local)
{
	BT_ASSERT(!cells->is_filled && position < cells->position_count);
	BT_ASSERT(cell < cells->cell_count && local != BT_CELLS_NO_SCORE);
	BT_ASSERT_SLOW(cells->cell_of[position] == BT_CELLS_UNPUT);
	cells->cell_of[position] = (uint16_t)cell;
	cells->local_of[position] = local;
}

void bt_cells_filled(struct bt_cells *cells)
{
	BT_ASSERT(!cells->is_filled);
	uint32_t block_count = round_up_to_block(cells->position_count) / BT_CELLS_BLOCK;
	for (uint32_t block = 0; block < block_count; block++) {
		/*
		 * Scan the block once for each of its first SCANS_MAX cells, then count the members
		 * of further cells position by position.
		 */
		enum { SCANS_MAX = 4 };
		uint32_t first = block * BT_CELLS_BLOCK;
		uint64_t unput = cells->kernels->members_of(cells->cell_of + first, BT_CELLS_UNPUT);
		uint64_t left = ~unput;
		for (uint32_t i = 0; left != 0 && i < SCANS_MAX; i++) {
			uint32_t cell = cells->cell_of[first + BT_CTZ64(left)];
			uint64_t members =
				cells->kernels->members_of(cells->cell_of + first, (uint16_t)cell);
			struct cell_share share = scan_children(cells, cell, 1, block);
			cells->cells[cell].members[block] = BT_POPCOUNT64(members);
			cells->cells[cell].best[block] = share.best;
			cells->cells[cell].ties[block] = share.ties;
			left &= ~members;
		}
		for (; left != 0; left &= left - 1) {
			uint32_t position = first + BT_CTZ64(left);
			struct bt_cell *cell = &cells->cells[cells->cell_of[position]];
			uint32_t node = position / BT_CELLS_BLOCK;
			int32_t local = cells->local_of[position];
			cell->members[node]++;
			if (local > cell->best[node]) {
				cell->best[node] = local;
				cell->ties[node] = 0;
			}
			cell->ties[node] += local == cell->best[node];
		}
	}
	uint32_t filled = 0;
	for (uint32_t i = 0; i < cells->cell_count; i++) {
		struct bt_cell *own = &cells->cells[i];
		for (uint32_t level = 2; level <= cells->level_count; level++) {
			const uint32_t *members = own->members + cells->first_node[level - 1];
			for (uint32_t k = 0; k < cells->level_size[level]; k++) {
				uint32_t node = cells->first_node[level] + k;
				for (uint32_t j = 0; j < BT_CELLS_BLOCK; j++) {
					own->members[node] += *members++;
				}
				struct cell_share share = scan_children(cells, i, level, k);
				own->best[node] = share.best;
				own->ties[node] = share.ties;
			}
		}
		copy_top(cells, own);
		filled += own->size;
	}
	BT_ASSERT(filled == cells->position_count);
	cells->is_filled = true;
}

/*
 * Update the tree after a position's contribution to a cell changed from `before` to `after`.
 * `joined` is added to the member counts: 1 if a member joins the cell, -1 (wrapped) if a member
 * leaves, otherwise 0. A block is rescanned only if its best score becomes worse.
 */
static void change(struct bt_cells *cells, uint32_t cell, uint32_t position,
	struct cell_share before, struct cell_share after, uint32_t joined)
{
	struct bt_cell *own = &cells->cells[cell];
	uint32_t index = position;
	for (uint32_t level = 1; level <= cells->level_count; level++) {
		index /= BT_CELLS_BLOCK;
		uint32_t node = cells->first_node[level] + index;
		struct cell_share was = {own->best[node], own->ties[node]};
		struct cell_share now = was;
		own->members[node] += joined;
		if (before.best == was.best) {
			now.ties -= before.ties;
		}
		if (after.best > was.best) {
			now = after;
		} else if (after.best == was.best) {
			now.ties += after.ties;
		}
		if (own->members[node] == 0) {
			now = empty_share;
		} else if (now.ties == 0) {
			now = scan_children(cells, cell, level, index);
		}
		if (joined == 0 && now.best == was.best && now.ties == was.ties) {
			return;
		}
		own->best[node] = now.best;
		own->ties[node] = now.ties;
		before = was;
		after = now;
	}
	copy_top(cells, own);
}

void bt_cells_move(struct bt_cells *cells, uint32_t position, uint32_t cell, int32_t local)
{
	BT_ASSERT(cells->is_filled && position < cells->position_count);
	BT_ASSERT(cell < cells->cell_count && local != BT_CELLS_NO_SCORE);
	uint32_t from = cells->cell_of[position];
	struct cell_share before = {cells->local_of[position], 1};
	struct cell_share after = {local, 1};
	cells->cell_of[position] = (uint16_t)cell;
	cells->local_of[position] = local;
	if (from == cell) {
		if (before.best != local) {
			change(cells, cell, position, before, after, 0);
		}
		return;
	}
	change(cells, from, position, before, empty_share, UINT32_MAX);
	change(cells, cell, position, empty_share, after, 1);
	cells->vacant[cell / 64] &= ~(UINT64_C(1) << cell % 64);
	if (cells->cells[from].size == 0) {
		cells->vacant[from / 64] |= UINT64_C(1) << from % 64;
	}
}

uint32_t bt_cells_member(struct bt_cells *cells, uint32_t cell)
{
	struct bt_cell *own = &cells->cells[cell];
	BT_ASSERT(own->size > 0);
	if (cells->cell_of[own->some_member] == cell) {
		return own->some_member;
	}
	uint32_t index = 0;
	for (uint32_t level = cells->level_count - 1; level > 0; level--) {
		index *= BT_CELLS_BLOCK;
		while (own->members[cells->first_node[level] + index] == 0) {
			index++;
		}
	}
	index *= BT_CELLS_BLOCK;
	while (cells->cell_of[index] != cell) {
		index++;
	}
	own->some_member = index;
	return index;
}

size_t bt_cells_memory_bytes(const struct bt_cells *cells)
{
	size_t bytes = sizeof(*cells);
	bytes += cells->position_capacity * (sizeof(*cells->cell_of) + sizeof(*cells->local_of));
	bytes += cells->cell_capacity * (sizeof(*cells->cells) + sizeof(*cells->hashes));
	bytes += cells->key_capacity * sizeof(*cells->keys);
	bytes += cells->by_key.capacity * sizeof(*cells->by_key.slots);
	for (uint32_t i = 0; i < cells->cell_capacity; i++) {
		if (cells->cells[i].best != NULL) {
			bytes += (size_t)cells->node_capacity * 3 * sizeof(int32_t);
		}
	}
	return bytes;
}

bool bt_cells_validate(const struct bt_cells *cells)
{
	struct bt_cells *fresh = bt_cells_create(cells->position_count, cells->key_words);
	bool equal = cells->is_filled;
	for (uint32_t i = 0; i < cells->cell_count; i++) {
		/* All keys differ, so computing the cells again gives the same numbers. */
		equal = equal && bt_cells_of_key(fresh, bt_cells_key(cells, i)) == i;
	}
	for (uint32_t i = 0; equal && i < cells->position_count; i++) {
		bt_cells_put(fresh, i, cells->cell_of[i], cells->local_of[i]);
	}
	if (equal) {
		bt_cells_filled(fresh);
	}
	for (uint32_t i = 0; equal && i < cells->cell_count; i++) {
		const uint64_t *key = bt_cells_key(cells, i);
		const struct bt_cell *own = &cells->cells[i];
		const struct bt_cell *other = &fresh->cells[i];
		size_t bytes = cells->node_count * sizeof(*own->best);
		bool is_vacant = (cells->vacant[i / 64] >> i % 64 & 1) != 0;
		equal = own->size == other->size && own->top_best == other->top_best &&
			own->top_ties == other->top_ties &&
			memcmp(own->best, other->best, bytes) == 0 &&
			memcmp(own->ties, other->ties, bytes) == 0 &&
			memcmp(own->members, other->members, bytes) == 0 &&
			(!is_vacant || own->size == 0) &&
			find_cell(cells, key, hash_of_key(cells, key)) == i;
	}
	bt_cells_destroy(fresh);
	return equal;
}
