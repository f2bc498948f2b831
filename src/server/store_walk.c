/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "server/store_private.h"

static struct bt_str key_of(
	const struct bt_collection *collection, const struct bt_leaf *leaf, uint32_t offset)
{
	return bt_stored_key(collection->entries.items[leaf->slots[offset]]);
}

/** Returns whether the first key of a leaf is above the key. */
static bool is_above(const struct bt_collection *collection, uint32_t leaf, struct bt_str key)
{
	return bt_str_compare(key_of(collection, collection->leaves.items[leaf], 0), key) > 0;
}

/**
 * Returns the leaf that contains the key or would contain it: the last leaf whose first key is not
 * above the key. `low`: the result or a leaf before it. The search is short if `low` is near the
 * result.
 */
static uint32_t seek_leaf(const struct bt_collection *collection, uint32_t low, struct bt_str key)
{
	uint32_t high = collection->leaves.count;

	for (uint32_t step = 1; high - low > step; step *= 2) {
		if (is_above(collection, low + step, key)) {
			high = low + step;
			break;
		}
		low += step;
	}
	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (is_above(collection, middle, key)) {
			high = middle;
		} else {
			low = middle;
		}
	}
	return low;
}

/**
 * Returns the offset of the leaf's first key that is not below `key` or, if `after`, is above it.
 */
static uint32_t seek_offset(const struct bt_collection *collection, const struct bt_leaf *leaf,
	struct bt_str key, bool after)
{
	uint32_t offset;
	int limit = after ? 1 : 0;
	BT_LOWER_BOUND(offset, leaf->count, middle,
		bt_str_compare(key_of(collection, leaf, middle), key) < limit);
	return offset;
}

/**
 * Puts a key into its leaf and returns the leaf's index. `index`: the key's leaf or a leaf before
 * it.
 */
static uint32_t insert(
	struct bt_collection *collection, uint32_t index, struct bt_str key, uint32_t slot)
{
	if (collection->leaves.count == 0) {
		bt_vec_push(&collection->leaves, BT_NEW(struct bt_leaf));
	}
	index = seek_leaf(collection, index, key);
	struct bt_leaf *leaf = collection->leaves.items[index];
	uint32_t offset = seek_offset(collection, leaf, key, false);
	if (leaf->count == BT_LEAF_SLOTS) {
		struct bt_leaf *right = bt_malloc(sizeof(*right));
		uint32_t kept = offset == leaf->count && index + 1 == collection->leaves.count
			? leaf->count
			: leaf->count / 2;

		right->count = leaf->count - kept;
		memcpy(right->slots, &leaf->slots[kept], right->count * sizeof(leaf->slots[0]));
		leaf->count = kept;
		bt_vec_insert(&collection->leaves, index + 1, right);
		if (offset > leaf->count || leaf->count == BT_LEAF_SLOTS) {
			offset -= leaf->count;
			leaf = collection->leaves.items[++index];
		}
	}
	memmove(&leaf->slots[offset + 1], &leaf->slots[offset],
		(leaf->count - offset) * sizeof(leaf->slots[0]));
	leaf->slots[offset] = slot;
	leaf->count++;
	return index;
}

struct new_key {
	struct bt_str key; /* first member: compared by qsort */
	uint32_t slot;
};

/** Puts the new keys into leaves in ascending order, so that each search starts near its result. */
static void order_new_keys(struct bt_collection *collection)
{
	uint32_t count = collection->unordered.count;
	uint32_t leaf = 0;

	if (count == 0) {
		return;
	}
	struct new_key *keys = BT_NEW_ARRAY(struct new_key, count);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t slot = collection->unordered.items[i];

		keys[i] = (struct new_key){bt_stored_key(collection->entries.items[slot]), slot};
	}
	qsort(keys, count, sizeof(*keys), bt_str_compare_qsort);
	for (uint32_t i = 0; i < count; i++) {
		leaf = insert(collection, leaf, keys[i].key, keys[i].slot);
	}
	bt_free(keys);
	collection->unordered.count = 0;
}

void bt_order_insert(struct bt_collection *collection, uint32_t slot)
{
	collection->order_generation++;
	bt_vec_push(&collection->unordered, slot);
	if (collection->unordered.count == BT_UNORDERED_MAX) {
		order_new_keys(collection);
	}
}

/**
 * Returns the position of the first key that is not below the given key or, if `after` is true, of
 * the first key that is above the given key.
 */
static struct bt_order_position seek(
	struct bt_collection *collection, struct bt_str key, bool after)
{
	struct bt_order_position position = {0, 0};

	order_new_keys(collection);
	if (collection->leaves.count == 0) {
		return position;
	}
	position.leaf = seek_leaf(collection, 0, key);
	position.offset =
		seek_offset(collection, collection->leaves.items[position.leaf], key, after);
	if (position.offset == collection->leaves.items[position.leaf]->count) {
		position.leaf++;
		position.offset = 0;
	}
	return position;
}

/** Returns the entry at the position; NULL: the position is at the end. */
static struct bt_stored *entry_at(
	const struct bt_collection *collection, struct bt_order_position position)
{
	if (position.leaf >= collection->leaves.count) {
		return NULL;
	}
	const struct bt_leaf *leaf = collection->leaves.items[position.leaf];
	return collection->entries.items[leaf->slots[position.offset]];
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
	struct bt_order_position position = seek(collection, key, false);
	struct bt_stored *entry = entry_at(collection, position);

	BT_ASSERT(entry != NULL && bt_str_equal(bt_stored_key(entry), key));
	collection->order_generation++;
	struct bt_leaf *leaf = collection->leaves.items[position.leaf];
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

/** Returns the number of keys before a position. */
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
	struct bt_collection *collection = bt_store_at(store, collection_index);
	uint64_t last = collection->count;

	uint64_t first = rank_of(collection,
		bt_str_compare(after, prefix) > 0 ? seek(collection, after, true)
						  : seek(collection, prefix, false));
	if (prefix.length != 0) {
		/*
		 * The smallest text above all keys with the prefix. Prefixes end with '/', so the
		 * last byte can be incremented.
		 */
		char end[BT_STORE_KEY_BYTES_MAX];
		BT_ASSERT(prefix.length <= sizeof(end));
		memcpy(end, prefix.data, prefix.length);
		end[prefix.length - 1] = (char)(end[prefix.length - 1] + 1);
		last = rank_of(
			collection, seek(collection, (struct bt_str){end, prefix.length}, false));
	}
	return last > first ? last - first : 0;
}

/**
 * The state that a changed key had at the walk's RV. Borrowed from the window, which has all
 * changes since that RV as long as the window's start is not after that RV.
 */
struct undo {
	const struct bt_stored *named; /* any entry with this key */
	struct bt_stored *before;      /* NULL: the key did not exist */
	uint64_t rv;                   /* RV of the change */
};

struct walk_position {
	struct bt_stored *current; /* entry returned last; a reference */
	char last_key[BT_STORE_KEY_BYTES_MAX];
	struct bt_str last;  /* keys up to this one are done */
	bool last_is_prefix; /* no key is done yet: a key that equals `last` is included */
	/* Position in the key order; valid while the collection has this order_generation. */
	struct bt_order_position order;
	uint64_t order_generation;
	/* Changes after the walk's RV, up to undone_rv: the first of each key. Sorted by key. */
	BT_VEC(struct undo) undone;
	uint32_t undone_next;
	uint64_t undone_rv;
};

BT_COMPARE(compare_undo, struct undo,
	BT_ORDER_BY(bt_str_compare(bt_stored_key(a->named), bt_stored_key(b->named)),
		BT_ORDER(a->rv, b->rv)))

/** Adds the changes after undone_rv to `undone`. */
static void add_new_changes(struct bt_store_walk *walk, struct walk_position *position)
{
	const struct bt_window *window = &bt_store_at(walk->store, walk->collection)->window;

	if (position->undone_rv == walk->store->rv) {
		return;
	}
	uint32_t from = bt_window_seek(window, position->undone_rv);
	position->undone_rv = walk->store->rv;
	if (from == window->count) {
		return;
	}
	if (position->undone_next != 0) {
		position->undone.count -= position->undone_next;
		memmove(position->undone.items, position->undone.items + position->undone_next,
			position->undone.count * sizeof(position->undone.items[0]));
		position->undone_next = 0;
	}
	uint32_t sorted = position->undone.count;
	for (uint32_t i = from; i < window->count; i++) {
		const struct bt_window_change *change = bt_window_at(window, i);
		struct bt_str key = bt_stored_key(change->after);
		struct undo undo = {change->after, change->before, change->rv};
		int order = bt_str_compare(key, position->last);

		if (bt_str_has_prefix(key, walk->prefix) &&
			(order > 0 || (order == 0 && position->last_is_prefix))) {
			bt_vec_push(&position->undone, undo);
		}
	}
	if (position->undone.count != sorted) {
		struct undo *items = position->undone.items;
		uint32_t added_count = position->undone.count - sorted;
		struct undo *added = bt_malloc(added_count * sizeof(*added));
		uint32_t to = position->undone.count;

		memcpy(added, items + sorted, added_count * sizeof(*added));
		qsort(added, added_count, sizeof(*added), compare_undo);
		while (added_count != 0) {
			if (sorted != 0 &&
				compare_undo(&items[sorted - 1], &added[added_count - 1]) > 0) {
				items[--to] = items[--sorted];
			} else {
				items[--to] = added[--added_count];
			}
		}
		bt_free(added);
		uint32_t kept = 0;

		for (uint32_t i = 0; i < position->undone.count; i++) {
			if (kept == 0 ||
				!bt_str_equal(bt_stored_key(items[kept - 1].named),
					bt_stored_key(items[i].named))) {
				items[kept++] = items[i];
			}
		}
		position->undone.count = kept;
	}
}

bool bt_store_walk_begin(struct bt_store *store, uint32_t collection, uint64_t rv,
	struct bt_str prefix, struct bt_str after, struct bt_store_walk *out_walk)
{
	rv = rv != 0 ? rv : store->rv;
	if (rv > store->rv || rv < bt_store_window_start(store, collection)) {
		return false;
	}
	BT_ASSERT(
		after.length <= BT_STORE_KEY_BYTES_MAX && prefix.length <= BT_STORE_KEY_BYTES_MAX);
	struct walk_position *position = BT_NEW(struct walk_position);
	position->last_is_prefix = bt_str_compare(after, prefix) <= 0;
	if (position->last_is_prefix) {
		after = prefix;
	}
	if (after.length != 0) {
		memcpy(position->last_key, after.data, after.length);
	}
	position->last = (struct bt_str){position->last_key, after.length};
	position->order_generation = UINT64_MAX;
	position->undone_rv = rv;
	bt_store_at(store, collection)->walk_count++;
	*out_walk = (struct bt_store_walk){store, collection, rv, prefix, position};
	return true;
}

struct bt_store_walk bt_store_walk_current(
	struct bt_store *store, uint32_t collection, struct bt_str prefix)
{
	struct bt_store_walk walk;
	bool is_available = bt_store_walk_begin(store, collection, 0, prefix, BT_STR(""), &walk);
	BT_ASSERT(is_available); /* the current state is always available */
	return walk;
}

/** Returns the next entry in the current state, or NULL. */
static struct bt_stored *peek_order(struct bt_store_walk *walk, struct walk_position *position)
{
	struct bt_collection *collection = bt_store_at(walk->store, walk->collection);

	if (position->order_generation != collection->order_generation) {
		position->order = seek(collection, position->last, !position->last_is_prefix);
		position->order_generation = collection->order_generation;
	}
	struct bt_stored *entry = entry_at(collection, position->order);
	return entry != NULL && bt_str_has_prefix(bt_stored_key(entry), walk->prefix) ? entry
										      : NULL;
}

/** Marks all keys up to the given key as done. */
static void mark_done(struct walk_position *position, struct bt_str key)
{
	memcpy(position->last_key, key.data, key.length);
	position->last.length = key.length;
	position->last_is_prefix = false;
}

static struct bt_stored *return_entry(struct walk_position *position, struct bt_stored *entry)
{
	struct bt_stored *previous = position->current;

	position->current = entry != NULL ? bt_stored_share(entry) : NULL;
	bt_stored_release(previous);
	return entry;
}

struct bt_stored *bt_store_walk_next(struct bt_store_walk *walk, bool *out_lost)
{
	const struct bt_collection *collection = bt_store_at(walk->store, walk->collection);
	struct walk_position *position = walk->position;
	bool lost = walk->rv < collection->window.start;

	if (out_lost != NULL) {
		*out_lost = lost;
	}
	if (lost) {
		return return_entry(position, NULL);
	}
	add_new_changes(walk, position);
	for (;;) {
		struct bt_stored *entry = peek_order(walk, position);
		const struct undo *undo = NULL;
		int order = -1;

		if (position->undone_next < position->undone.count) {
			undo = &position->undone.items[position->undone_next];
			order = entry == NULL
				? 1
				: bt_str_compare(bt_stored_key(entry), bt_stored_key(undo->named));
		}
		if (entry == NULL && undo == NULL) {
			return return_entry(position, NULL);
		}
		if (order <= 0) {
			struct bt_order_position *place = &position->order;
			if (++place->offset >= collection->leaves.items[place->leaf]->count) {
				place->leaf++;
				place->offset = 0;
			}
			mark_done(position, bt_stored_key(entry));
		}
		if (order >= 0) {
			entry = undo->before;
			position->undone_next++;
			mark_done(position, bt_stored_key(undo->named));
		}
		if (entry != NULL) {
			return return_entry(position, entry);
		}
	}
}

void bt_store_walk_end(struct bt_store_walk *walk)
{
	struct walk_position *position = walk->position;

	if (position == NULL) {
		return;
	}
	bt_store_at(walk->store, walk->collection)->walk_count--;
	bt_stored_release(position->current);
	bt_vec_finish(&position->undone);
	bt_free(position);
	walk->position = NULL;
}
