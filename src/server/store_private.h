/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SERVER_STORE_PRIVATE_H
#define BT_SERVER_STORE_PRIVATE_H
/** The store's internals, shared by store.c, store_walk.c, store_owners.c and store_file.c. */
#include "base/map.h"
#include "base/nanoseconds.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "server/store.h"

/**
 * Sorted order of the keys: a list of leaves, each a short sorted list of slots. Two levels are
 * enough: a million keys need some ten thousand leaves, and about one insertion in a hundred adds a
 * leaf and shifts the list of leaves.
 */
#define BT_LEAF_SLOTS 124
/** Largest number of new keys that are not yet in a leaf. */
#define BT_UNORDERED_MAX 4096

struct bt_leaf {
	uint32_t count;
	uint32_t slots[BT_LEAF_SLOTS];
};

/** One past change. Only the window references the `after` of a deletion. */
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
	uint64_t bytes; /* texts that only the window references, and ring entries */
	uint64_t start; /* RV of the last change that was forgotten */
};

struct bt_collection {
	char *name;
	BT_VEC(struct bt_stored *) entries; /* by slot; NULL: free */
	BT_VEC(uint32_t) free_slots;
	struct bt_map by_key; /* key -> slot */
	BT_VEC(struct bt_leaf *) leaves;
	BT_VEC(uint32_t) unordered; /* slots of new keys that are not yet in a leaf */
	uint64_t count;
	uint64_t order_generation; /* incremented with each added or removed key */
	struct bt_window window;
	uint32_t walk_count; /* walks in progress, for which the window keeps changes */
};

struct bt_store_listener {
	void (*changed)(void *context, const struct bt_store_change *change);
	void *context;
};

/** A change that is not written to the file yet. */
struct bt_pending_write {
	uint32_t collection;
	bool removed;
	uint64_t replaced_rv;    /* RV of the replaced entry; 0: there was none */
	struct bt_stored *entry; /* shared */
};

struct bt_store_file;
struct bt_owner_pool;

/** The RV that the store had at one moment. Shows which pages of lists have expired. */
struct bt_store_mark {
	int64_t time_ns;
	uint64_t rv;
};
/** One mark every ten seconds, for a little more than five minutes. */
#define BT_STORE_MARKS 32
#define BT_STORE_MARK_NS (10 * BT_NS_PER_SECOND)

struct bt_store {
	struct bt_store_options options;
	uint64_t rv;
	struct bt_store_mark marks[BT_STORE_MARKS]; /* a ring, the newest at mark_count - 1 */
	uint64_t mark_count;
	uint64_t opened_rv; /* no window reaches further back */
	BT_VEC(struct bt_collection *) collections;
	struct bt_map by_name;
	BT_VEC(struct bt_store_listener) listeners;
	BT_VEC(struct bt_pending_write) pending;
	struct bt_owner_pool *owners;
	struct bt_store_file *file; /* NULL: in memory only */
};

/** --- store.c --- */

/** Creates an entry with one reference. managedFields in `text` take precedence over `owned`. */
struct bt_stored *bt_stored_new(struct bt_store *store, uint64_t rv, struct bt_str key,
	struct bt_str text, struct bt_owned owned);
struct bt_collection *bt_store_at(const struct bt_store *store, uint32_t collection);
/** Inserts an entry read from the file (consumes the reference); false: the key exists. */
BT_MUST_USE bool bt_store_restore(
	struct bt_store *store, uint32_t collection, struct bt_stored *entry);

/**
 * Returns the index of the first change after rv, counted from the oldest change; the
 * window's `count` if there is none.
 */
uint32_t bt_window_seek(const struct bt_window *window, uint64_t rv);
static inline const struct bt_window_change *bt_window_at(
	const struct bt_window *window, uint32_t index)
{
	return &window->ring[(window->first + index) & (window->capacity - 1)];
}

/** --- store_owners.c --- */

/** "2026-11-21T00:00:00Z" */
#define BT_OWNERS_TIME_BYTES 20

/** A list of managedFields, shared by objects. */
struct bt_owners {
	struct bt_owner_pool *pool;
	uint64_t hash;
	int64_t row;    /* id of the row in the file; 0: not written */
	uint32_t index; /* in the pool */
	uint32_t reference_count;
	uint32_t length;
	uint32_t time_count;
	uint32_t value_count; /* number of values that are not times */
	char bytes[];         /* the JSON array without the values that were cut out */
};

struct bt_owner_pool {
	BT_VEC(struct bt_owners *) items; /* NULL: free */
	BT_VEC(uint32_t) free_items;
	struct bt_map by_text;
	BT_VEC(int64_t) unused;  /* rows of freed owners, to delete from the file */
	struct bt_strbuf text;   /* the list of owners of the current lookup */
	struct bt_strbuf values; /* values cut out of the list */
	struct bt_strbuf scratch;
	uint32_t reference_count;
};

BT_MUST_USE struct bt_owner_pool *bt_owner_pool_create(void);
/** Releases the pool, which is freed when its last owners are released. */
void bt_owner_pool_release(struct bt_owner_pool *pool);
/**
 * Cuts managedFields out of an object's text. The remaining text is *text followed by *out_rest.
 * *out_values is borrowed until the next call. Returns a reference. NULL: the text does not begin
 * with managedFields.
 */
struct bt_owners *bt_owners_cut(struct bt_owner_pool *pool, struct bt_str *text,
	struct bt_str *out_rest, struct bt_str *out_values);
/**
 * Adds owners read from the file; returns a reference. NULL: the text is malformed, or another row
 * had the same text.
 */
struct bt_owners *bt_owners_restore(struct bt_owner_pool *pool, struct bt_str text, int64_t row);
/** Returns whether the owners (NULL: none), values and text of an object fit together. */
bool bt_owners_fit(const struct bt_owners *owners, struct bt_str values, struct bt_str text);
/** Call if rows with ids above `last` could not be written: marks their owners as not written. */
void bt_owner_pool_clear_rows(struct bt_owner_pool *pool, int64_t last);
/** Returns the length of an object's values, as the owners' text determines it. */
uint32_t bt_owners_values_bytes(const struct bt_owners *owners, const char *values);

/** --- store_walk.c --- */

struct bt_order_position {
	uint32_t leaf;
	uint32_t offset;
};

/** Adds the key of a new entry. */
void bt_order_insert(struct bt_collection *collection, uint32_t slot);
void bt_order_remove(struct bt_collection *collection, struct bt_str key);

/** --- store_file.c --- */

void bt_store_file_close(struct bt_store_file *file);
#endif
