/* SPDX-License-Identifier: Apache-2.0 */
#include "base/alloc.h"
#include "base/assert.h"
#include "server/store_private.h"

static struct bt_str key_of(
	const struct bt_collection *collection, const struct bt_leaf *leaf, uint32_t offset)
{
	return bt_stored_key(collection->entries.items[leaf->slots[offset]]);
}

/**
 * The leaf that contains the key or would contain it: the last one whose first key is not above the
 * key.
 */
static uint32_t seek_leaf(const struct bt_collection *collection, struct bt_str key)
{
	uint32_t low = 0;
	uint32_t high = collection->leaves.count;

	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (bt_str_compare(key_of(collection, collection->leaves.items[middle], 0), key) <=
			0) {
			low = middle;
		} else {
			high = middle;
		}
	}
	return low;
}

static uint32_t seek_offset(const struct bt_collection *collection, const struct bt_leaf *leaf,
	struct bt_str key, bool after)
{
	uint32_t low = 0;
	uint32_t high = leaf->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		int order = bt_str_compare(key_of(collection, leaf, middle), key);

		if (order < 0 || (after && order == 0)) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low;
}

struct bt_order_position bt_order_seek(
	const struct bt_collection *collection, struct bt_str key, bool after)
{
	struct bt_order_position position = {0, 0};

	if (collection->leaves.count == 0) {
		return position;
	}
	position.leaf = seek_leaf(collection, key);
	position.offset =
		seek_offset(collection, collection->leaves.items[position.leaf], key, after);
	if (position.offset == collection->leaves.items[position.leaf]->count) {
		position.leaf++;
		position.offset = 0;
	}
	return position;
}

struct bt_stored *bt_order_entry(
	const struct bt_collection *collection, struct bt_order_position position)
{
	const struct bt_leaf *leaf;

	if (position.leaf >= collection->leaves.count) {
		return NULL;
	}
	leaf = collection->leaves.items[position.leaf];
	return collection->entries.items[leaf->slots[position.offset]];
}

void bt_order_advance(const struct bt_collection *collection, struct bt_order_position *position)
{
	if (++position->offset >= collection->leaves.items[position->leaf]->count) {
		position->leaf++;
		position->offset = 0;
	}
}

static void insert_leaf(struct bt_collection *collection, uint32_t index, struct bt_leaf *leaf)
{
	bt_vec_push(&collection->leaves, leaf);
	memmove(&collection->leaves.items[index + 1], &collection->leaves.items[index],
		(collection->leaves.count - 1 - index) * sizeof(leaf));
	collection->leaves.items[index] = leaf;
}

void bt_order_insert(struct bt_collection *collection, struct bt_str key, uint32_t slot)
{
	struct bt_leaf *leaf;
	uint32_t index;
	uint32_t offset;

	collection->order_generation++;
	if (collection->leaves.count == 0) {
		leaf = bt_malloc(sizeof(*leaf));
		leaf->count = 0;
		insert_leaf(collection, 0, leaf);
	}
	index = seek_leaf(collection, key);
	leaf = collection->leaves.items[index];
	offset = seek_offset(collection, leaf, key, false);
	if (leaf->count == BT_LEAF_SLOTS) {
		struct bt_leaf *left = collection->leaves.items[index];
		struct bt_leaf *right = bt_malloc(sizeof(*right));
		uint32_t kept = offset == left->count && index + 1 == collection->leaves.count
			? left->count
			: left->count / 2;

		right->count = left->count - kept;
		memcpy(right->slots, &left->slots[kept], right->count * sizeof(left->slots[0]));
		left->count = kept;
		insert_leaf(collection, index + 1, right);
		if (offset > leaf->count || leaf->count == BT_LEAF_SLOTS) {
			offset -= leaf->count;
			leaf = collection->leaves.items[index + 1];
		}
	}
	memmove(&leaf->slots[offset + 1], &leaf->slots[offset],
		(leaf->count - offset) * sizeof(leaf->slots[0]));
	leaf->slots[offset] = slot;
	leaf->count++;
}

static void remove_leaf(struct bt_collection *collection, uint32_t index)
{
	bt_free(collection->leaves.items[index]);
	bt_vec_remove_ordered(&collection->leaves, index);
}

/** Merges two neighbour leaves if their slots fit into three quarters of one leaf. */
static bool join_leaves(struct bt_collection *collection, uint32_t left_index)
{
	struct bt_leaf *left = collection->leaves.items[left_index];
	const struct bt_leaf *right = collection->leaves.items[left_index + 1];

	if (left->count + right->count > BT_LEAF_SLOTS * 3 / 4) {
		return false;
	}
	memcpy(&left->slots[left->count], right->slots, right->count * sizeof(left->slots[0]));
	left->count += right->count;
	remove_leaf(collection, left_index + 1);
	return true;
}

void bt_order_remove(struct bt_collection *collection, struct bt_str key)
{
	struct bt_order_position position = bt_order_seek(collection, key, false);
	struct bt_stored *entry = bt_order_entry(collection, position);
	struct bt_leaf *leaf;

	BT_ASSERT(entry != NULL && bt_str_equal(bt_stored_key(entry), key));
	collection->order_generation++;
	leaf = collection->leaves.items[position.leaf];
	leaf->count--;
	memmove(&leaf->slots[position.offset], &leaf->slots[position.offset + 1],
		(leaf->count - position.offset) * sizeof(leaf->slots[0]));
	if (leaf->count == 0) {
		remove_leaf(collection, position.leaf);
	} else if (leaf->count < BT_LEAF_SLOTS / 4) {
		if ((position.leaf == 0 || !join_leaves(collection, position.leaf - 1)) &&
			position.leaf + 1 < collection->leaves.count) {
			(void)join_leaves(collection, position.leaf);
		}
	}
}

void bt_order_finish(struct bt_collection *collection)
{
	for (uint32_t i = 0; i < collection->leaves.count; i++) {
		bt_free(collection->leaves.items[i]);
	}
	bt_vec_finish(&collection->leaves);
}

/** Number of keys before a position. */
static uint64_t rank_of(const struct bt_collection *collection, struct bt_order_position position)
{
	uint64_t rank = position.offset;

	for (uint32_t i = 0; i < position.leaf; i++) {
		rank += collection->leaves.items[i]->count;
	}
	return rank;
}

uint64_t bt_store_count_after(const struct bt_store *store, uint32_t collection_index,
	struct bt_str prefix, struct bt_str after)
{
	const struct bt_collection *collection = bt_store_at(store, collection_index);
	char end[BT_STORE_KEY_BYTES_MAX];
	struct bt_str end_key = {end, prefix.length};
	uint64_t first;
	uint64_t last = collection->count;

	first = rank_of(collection,
		bt_str_compare(after, prefix) > 0 ? bt_order_seek(collection, after, true)
						  : bt_order_seek(collection, prefix, false));
	if (prefix.length != 0) {
		/*
		 * The smallest text above all keys with the prefix. Prefixes end with '/', so the
		 * last byte can be incremented.
		 */
		BT_ASSERT(prefix.length <= sizeof(end));
		memcpy(end, prefix.data, prefix.length);
		end[prefix.length - 1] = (char)(end[prefix.length - 1] + 1);
		last = rank_of(collection, bt_order_seek(collection, end_key, false));
	}
	return last > first ? last - first : 0;
}
