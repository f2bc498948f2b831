/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "server/store_private.h"

/**
 * The state at the walk's RV of a key that changed later. Borrowed from the window, which keeps all
 * changes after the walk's RV as long as its start is not after that RV.
 */
struct undo {
	const struct bt_stored *named; /* any entry with this key */
	struct bt_stored *before;      /* NULL: the key did not exist */
	uint64_t rv;                   /* of the change */
};

struct walk_position {
	struct bt_stored *current; /* entry returned last; a reference */
	char last_key[BT_STORE_KEY_BYTES_MAX];
	struct bt_str last;  /* keys up to this one are done */
	bool last_is_prefix; /* nothing is done yet: include the prefix as a key */
	/* Position in the key order; valid while order_generation is the collection's. */
	struct bt_order_position order;
	uint64_t order_generation;
	/* Changes after the walk's RV up to undone_rv, sorted by key. */
	BT_VEC(struct undo) undone;
	uint32_t undone_next;
	uint64_t undone_rv;
};

static int compare_undo(const void *a, const void *b)
{
	const struct undo *left = a;
	const struct undo *right = b;
	int order = bt_str_compare(bt_stored_key(left->named), bt_stored_key(right->named));

	return order != 0 ? order : (left->rv > right->rv) - (left->rv < right->rv);
}

static bool is_ahead(const struct walk_position *position, struct bt_str key)
{
	int order = bt_str_compare(key, position->last);

	return position->last_is_prefix ? order >= 0 : order > 0;
}

/** Adds the changes since the last call to undone. */
static void add_new_changes(struct bt_store_walk *walk, struct walk_position *position)
{
	const struct bt_window *window = &bt_store_at(walk->store, walk->collection)->window;
	uint32_t from;
	uint32_t sorted;

	if (position->undone_rv == walk->store->rv) {
		return;
	}
	from = bt_window_seek(window, position->undone_rv);
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
	sorted = position->undone.count;
	for (uint32_t i = from; i < window->count; i++) {
		const struct bt_window_change *change = bt_window_at(window, i);
		struct bt_str key = bt_stored_key(change->after);
		struct undo undo = {change->after, change->before, change->rv};

		if (bt_str_has_prefix(key, walk->prefix) && is_ahead(position, key)) {
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

int bt_store_walk_begin(struct bt_store *store, uint32_t collection, uint64_t rv,
	struct bt_str prefix, struct bt_str after, struct bt_store_walk *out_walk,
	struct berth_error *err)
{
	struct walk_position *position;

	rv = rv != 0 ? rv : store->rv;
	if (rv > store->rv || rv < bt_store_window_start(store, collection)) {
		return bt_error_set(err, BERTH_ERR_NOT_FOUND,
			"the state at resource version %llu cannot be told",
			(unsigned long long)rv);
	}
	BT_ASSERT(
		after.length <= BT_STORE_KEY_BYTES_MAX && prefix.length <= BT_STORE_KEY_BYTES_MAX);
	position = BT_NEW(struct walk_position);
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
	return 0;
}

/** The next entry in the current state, or NULL. */
static struct bt_stored *peek_order(struct bt_store_walk *walk, struct walk_position *position)
{
	const struct bt_collection *collection = bt_store_at(walk->store, walk->collection);
	struct bt_stored *entry;

	if (position->order_generation != collection->order_generation) {
		position->order =
			bt_order_seek(collection, position->last, !position->last_is_prefix);
		position->order_generation = collection->order_generation;
	}
	entry = bt_order_entry(collection, position->order);
	return entry != NULL && bt_str_has_prefix(bt_stored_key(entry), walk->prefix) ? entry
										      : NULL;
}

/** Marks all keys up to this one as done. */
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
			bt_order_advance(collection, &position->order);
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
