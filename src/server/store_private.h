/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SERVER_STORE_PRIVATE_H
#define BT_SERVER_STORE_PRIVATE_H
/** The store's inside: what store.c, store_order.c, store_window.c, store_walk.c and store_file.c
 * share. */
#include "base/map.h"
#include "base/nanoseconds.h"
#include "base/vec.h"
#include "server/store.h"

/**
 * Order of keys: a list of leaves, each a short sorted list of slots. Two levels are enough: a
 * million keys are some ten thousand leaves, and a new leaf moves their list once in a hundred
 * insertions.
 */
#define BT_LEAF_SLOTS 124

struct bt_leaf {
	uint32_t count;
	uint32_t slots[BT_LEAF_SLOTS];
};

/** One past change. A deletion's `after` belongs to the window alone. */
struct bt_window_change {
	uint64_t rv;
	struct bt_stored *before;
	struct bt_stored *after;
	uint64_t time_and_type; /* milliseconds, and enum bt_change_type in the low two bits */
};

static inline enum bt_change_type bt_window_type(const struct bt_window_change *change)
{
	return (enum bt_change_type)(change->time_and_type & 3);
}

static inline int64_t bt_window_time_ms(const struct bt_window_change *change)
{
	return (int64_t)(change->time_and_type >> 2);
}

/** A ring of changes, oldest first. */
struct bt_window {
	struct bt_window_change *ring;
	uint32_t capacity; /* power of two, or 0 */
	uint32_t first;
	uint32_t count;
	uint64_t bytes; /* what the window alone keeps alive, and the ring's entries */
	uint64_t start; /* RV of the last change that was forgotten */
};

struct bt_collection {
	char *name;
	BT_VEC(struct bt_stored *) entries; /* by slot; NULL: free */
	BT_VEC(uint32_t) free_slots;
	struct bt_map by_key; /* slots */
	BT_VEC(struct bt_leaf *) leaves;
	uint64_t count;
	uint64_t order_generation; /* changes with every key that comes or goes */
	struct bt_window window;
	uint32_t walk_count; /* that are under way: the window waits for them */
};

struct bt_store_listener {
	void (*changed)(void *context, const struct bt_store_change *change);
	void *context;
};

/** A change that is not in the file yet. */
struct bt_pending_write {
	uint32_t collection;
	bool removed;
	uint64_t replaced_rv;    /* of the state before; 0: there was none */
	struct bt_stored *entry; /* shared */
};

struct bt_store_file;
struct bt_owner_pool;

/** RV at a time: when pages of lists expire. */
struct bt_store_mark {
	int64_t time_ns;
	uint64_t rv;
};
/** One mark each ten seconds, for a little more than five minutes. */
#define BT_STORE_MARKS 32
#define BT_STORE_MARK_NS (10 * BT_NS_PER_SECOND)

struct bt_store {
	struct bt_store_options options;
	uint64_t rv;
	struct bt_store_mark marks[BT_STORE_MARKS]; /* a ring, the newest at mark_count - 1 */
	uint64_t mark_count;
	uint64_t opened_rv; /* no window reaches back behind it */
	BT_VEC(struct bt_collection *) collections;
	struct bt_map by_name;
	BT_VEC(struct bt_store_listener) listeners;
	BT_VEC(struct bt_pending_write) pending;
	struct bt_owner_pool *owners;
	struct bt_store_file *file; /* NULL: in memory only */
};

/** --- store.c --- */

/** Owners that a text without managedFields has; NULL: none. Borrowed. */
struct bt_owned {
	struct bt_owners *owners;
	struct bt_str times;
};

/** With one reference. */
struct bt_stored *bt_stored_new(struct bt_store *store, uint64_t rv, struct bt_str key,
	struct bt_str text, struct bt_owned owned);
struct bt_collection *bt_store_at(const struct bt_store *store, uint32_t collection);
/** Put an entry of the file (reference consumed) in its place; false: the key exists. */
BT_MUST_USE bool bt_store_restore(
	struct bt_store *store, uint32_t collection, struct bt_stored *entry);

/** --- store_owners.c --- */

/** "2026-11-21T00:00:00Z" */
#define BT_OWNERS_TIME_BYTES 20

BT_MUST_USE struct bt_owner_pool *bt_owner_pool_create(void);
/** Owners keep their pool: it goes with the last of them. */
void bt_owner_pool_release(struct bt_owner_pool *pool);
/**
 * Take managedFields out of an object's text: it is *text then, followed by *out_rest. *out_times
 * is borrowed until the next call. NULL: it begins with no managedFields. A reference.
 */
struct bt_owners *bt_owners_cut(struct bt_owner_pool *pool, struct bt_str *text,
	struct bt_str *out_rest, struct bt_str *out_times);
/** The text without times, which is kept in the file as this row. */
struct bt_str bt_owners_text(const struct bt_owners *owners);
/** 0: it is in no row. */
int64_t bt_owners_row(const struct bt_owners *owners);
void bt_owners_set_row(struct bt_owners *owners, int64_t row);
/** From a text of the file; a reference. NULL: it is none, or there twice. */
struct bt_owners *bt_owners_restore(struct bt_owner_pool *pool, struct bt_str text, int64_t row);
/** Owners (NULL: none), times and text of an object of the file belong together. */
bool bt_owners_fit(const struct bt_owners *owners, struct bt_str times, struct bt_str text);
/** Rows of owners that no object has any more, borrowed until the next change. */
const int64_t *bt_owner_pool_unused(const struct bt_owner_pool *pool, uint32_t *out_count);
/** They were removed from the file. */
void bt_owner_pool_clear_unused(struct bt_owner_pool *pool);
/** Rows above this one were not written after all. */
void bt_owner_pool_forget_rows(struct bt_owner_pool *pool, int64_t last);
/** Of an object, one behind the other. */
struct bt_str bt_stored_times(const struct bt_stored *stored);

/** --- store_order.c --- */

struct bt_order_position {
	uint32_t leaf;
	uint32_t offset;
};

void bt_order_insert(struct bt_collection *collection, struct bt_str key, uint32_t slot);
void bt_order_remove(struct bt_collection *collection, struct bt_str key);
void bt_order_finish(struct bt_collection *collection);
/** First key that is not below (or, with after, above) the given one. */
struct bt_order_position bt_order_seek(
	const struct bt_collection *collection, struct bt_str key, bool after);
/** NULL: behind the last one. */
struct bt_stored *bt_order_entry(
	const struct bt_collection *collection, struct bt_order_position position);
void bt_order_advance(const struct bt_collection *collection, struct bt_order_position *position);

/** --- store_window.c --- */

/** is_needed: somebody walks over a past state; only what is huge is forgotten. */
void bt_window_add(struct bt_window *window, const struct bt_store_options *options,
	const struct bt_store_change *change, bool is_needed, int64_t now_ns);
/** Index of the first change after rv, counted from the oldest one; count when there is none. */
uint32_t bt_window_seek(const struct bt_window *window, uint64_t rv);
static inline const struct bt_window_change *bt_window_at(
	const struct bt_window *window, uint32_t index)
{
	return &window->ring[(window->first + index) & (window->capacity - 1)];
}
void bt_window_finish(struct bt_window *window);

/** --- store_file.c --- */

void bt_store_file_close(struct bt_store_file *file);
#endif
