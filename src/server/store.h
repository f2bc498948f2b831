/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SERVER_STORE_H
#define BT_SERVER_STORE_H
/**
 * Objects by collection and key, and the changes that led there. One counter, the resource version
 * (RV), numbers every change of the whole store; a window of past changes per collection serves
 * watches, and pages of lists at an RV that is past. Spec: 14 sections 3, 14 and 15.
 *
 * The store knows nothing of what objects mean: an object is a JSON text, stored as it is served,
 * but for metadata.managedFields at its head, which many objects have in common and share.
 * Entries are immutable and counted, so readers keep what they have while the store goes on. One
 * thread.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"

/** One version of one object. A single block of memory. */
struct bt_stored {
	uint64_t rv;
	struct bt_owners *owners; /* metadata.managedFields, shared; NULL: none */
	uint32_t reference_count;
	uint32_t text_length;
	uint16_t key_length;
	char bytes[]; /* key, then text, then a zero byte, then the owners' times */
};

struct bt_strbuf;

static inline struct bt_str bt_stored_key(const struct bt_stored *stored)
{
	return (struct bt_str){stored->bytes, stored->key_length};
}

/** {"metadata":{..},..} without kind, apiVersion and metadata.managedFields. */
static inline struct bt_str bt_stored_text(const struct bt_stored *stored)
{
	return (struct bt_str){stored->bytes + stored->key_length, stored->text_length};
}

/** NULL accepted. */
struct bt_owners *bt_owners_share(struct bt_owners *owners);
void bt_owners_unref(struct bt_owners *owners);
/** Of the times that were cut out, one behind the other; each as "2026-11-21T00:00:00Z". */
uint32_t bt_owners_times_bytes(const struct bt_owners *owners);

/** The text with metadata.managedFields is appended. */
void bt_stored_append_whole(const struct bt_stored *stored, struct bt_strbuf *out);
/** Only these, an array; false: there are none. */
bool bt_stored_append_owners(const struct bt_stored *stored, struct bt_strbuf *out);

/** What is before the slash of a key "namespace/name"; "" of a key that is only a name. */
static inline struct bt_str bt_key_namespace(struct bt_str key)
{
	int64_t slash = bt_str_find_char(key, '/');
	return bt_str_sub(key, 0, slash < 0 ? 0 : (uint32_t)slash);
}

/** What is behind it, or all of it. */
static inline struct bt_str bt_key_name(struct bt_str key)
{
	int64_t slash = bt_str_find_char(key, '/');
	return bt_str_sub(key, (uint32_t)(slash + 1), key.length);
}

struct bt_stored *bt_stored_share(struct bt_stored *stored);
/** NULL accepted. */
void bt_stored_release(struct bt_stored *stored);

#define BT_STORE_KEY_BYTES_MAX 512
#define BT_STORE_TEXT_BYTES_MAX (UINT32_C(4) << 20)
/** Collections are never removed, and more of them than this must not be made. */
#define BT_STORE_COLLECTIONS_MAX 65000
#define BT_STORE_NO_COLLECTION UINT32_MAX

enum bt_change_type {
	BT_CHANGE_ADDED,
	BT_CHANGE_MODIFIED,
	BT_CHANGE_DELETED,
};

/** One commit. before is NULL when added; after a deletion `after` is the last state, with the RV
 * of the deletion. */
struct bt_store_change {
	uint64_t rv;
	enum bt_change_type type;
	uint32_t collection;
	struct bt_stored *before;
	struct bt_stored *after;
};

struct bt_store;

struct bt_store_options {
	/** A window keeps at least so many changes of its collection (fewer only when their texts
	 * take four times the bytes below) ... */
	uint32_t window_changes_min;
	/** ... and those younger than this, while superseded texts stay below the bytes. */
	int64_t window_age_ns;
	uint64_t window_bytes_max;
};

extern const struct bt_store_options bt_store_default_options;

BT_MUST_USE struct bt_store *bt_store_create(const struct bt_store_options *options);
void bt_store_destroy(struct bt_store *store);

/** Collection by name ("pods", "deployments.apps"), made when it is new. Names are copied. */
BT_MUST_USE uint32_t bt_store_collection(struct bt_store *store, struct bt_str name);
/** BT_STORE_NO_COLLECTION: there is none of this name. */
BT_MUST_USE uint32_t bt_store_collection_find(const struct bt_store *store, struct bt_str name);
struct bt_str bt_store_collection_name(const struct bt_store *store, uint32_t collection);
uint32_t bt_store_collection_count(const struct bt_store *store);

/** RV of the last commit; at least 1. */
uint64_t bt_store_rv(const struct bt_store *store);
/** What the next commit will get: texts carry their RV, so they are made with it. */
uint64_t bt_store_next_rv(const struct bt_store *store);

/** Borrowed until the next change of this key; NULL when there is none. O(1). */
struct bt_stored *bt_store_find(
	const struct bt_store *store, uint32_t collection, struct bt_str key);
/** Add or replace, as RV bt_store_next_rv. text (copied) must name that RV, and stay within the
 * limits above. Returns the entry, borrowed. */
struct bt_stored *bt_store_put(struct bt_store *store, uint32_t collection, struct bt_str key,
	struct bt_str text, int64_t now_ns);
/**
 * The RV before which history counts as forgotten: that of the options' age ago, as if the store
 * were compacted then. At most as old as the windows are.
 */
uint64_t bt_store_compacted_rv(const struct bt_store *store, int64_t now_ns);
/** The same for an existing key; the owners stay, and text has no managedFields. */
struct bt_stored *bt_store_put_same_owners(struct bt_store *store, uint32_t collection,
	struct bt_str key, struct bt_str text, int64_t now_ns);
/** The same as bt_store_put with these owners (shared) and their times; text has no managedFields.
 */
struct bt_stored *bt_store_put_owned(struct bt_store *store, uint32_t collection, struct bt_str key,
	struct bt_str text, struct bt_owners *owners, struct bt_str times, int64_t now_ns);
/** Remove an existing key; text: the last state as the deletion shows it, with the next RV.
 * Returns that entry, borrowed until the window forgets it. */
struct bt_stored *bt_store_remove(struct bt_store *store, uint32_t collection, struct bt_str key,
	struct bt_str text, int64_t now_ns);

uint64_t bt_store_count(const struct bt_store *store, uint32_t collection);
/** Objects whose key begins with prefix ("" or "namespace/") and is greater than `after`. */
uint64_t bt_store_count_after(const struct bt_store *store, uint32_t collection,
	struct bt_str prefix, struct bt_str after);

/**
 * A walk in byte order of keys over the state at one RV. Changes between calls do not disturb it:
 * it goes on behind the last key, and undoes what is newer from the window. While it lasts, the
 * window forgets nothing before it has four times its bytes.
 */
struct bt_store_walk {
	const struct bt_store *store;
	uint32_t collection;
	uint64_t rv;
	struct bt_str prefix; /* borrowed: "" or "namespace/" */
	void *position;       /* private */
};

/**
 * From the first key with prefix that is greater than `after` ("" = from the start). rv: 0 = now.
 * BERTH_ERR_NOT_FOUND: the window no longer reaches back to rv. Texts are borrowed while it lasts.
 */
BT_MUST_USE int bt_store_walk_begin(struct bt_store *store, uint32_t collection, uint64_t rv,
	struct bt_str prefix, struct bt_str after, struct bt_store_walk *out_walk,
	struct berth_error *err);
/**
 * The next object, borrowed until the next call; NULL at the end. *out_lost (may be NULL): the
 * window moved on meanwhile, and the rest of the state at this RV cannot be told any more.
 */
struct bt_stored *bt_store_walk_next(struct bt_store_walk *walk, bool *out_lost);
void bt_store_walk_end(struct bt_store_walk *walk);

/** --- changes --- */

/** Smallest RV from which bt_store_next_change can go on for this collection. */
uint64_t bt_store_window_start(const struct bt_store *store, uint32_t collection);
/**
 * The first change of the collection after rv; false: there is none yet. Borrowed until the window
 * forgets it. The caller compares rv with the window's start first. O(log window).
 */
bool bt_store_next_change(const struct bt_store *store, uint32_t collection, uint64_t rv,
	struct bt_store_change *out_change);

/** Called inside of each commit, in order; it must not write (share what it keeps). */
void bt_store_on_change(struct bt_store *store,
	void (*changed)(void *context, const struct bt_store_change *change), void *context);
/** For who goes before the store does: not called any more. */
void bt_store_off_change(struct bt_store *store, const void *context);

/** --- memory of its own, between runs --- */

/**
 * Read an SQLite file into the store, which must be new (collections may have been made), and keep
 * it current from now on; made when it does not exist. The errors name the file: BERTH_ERR_STATE in
 * use by another process; BERTH_ERR_INVALID not a database of berth, of a newer version, damaged;
 * BERTH_ERR_IO everything else. After an error the store is only good for bt_store_destroy.
 */
BT_MUST_USE int bt_store_open(struct bt_store *store, const char *path, struct berth_error *err);
/** Changes since the last sync are durable when it returns 0. Without a file it does nothing.
 * After an error they are kept, so that a later call tries again. */
BT_MUST_USE int bt_store_sync(struct bt_store *store, struct berth_error *err);
/** There are changes that bt_store_sync would write. */
bool bt_store_needs_sync(const struct bt_store *store);
#endif
