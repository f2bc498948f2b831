/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SERVER_STORE_H
#define BT_SERVER_STORE_H
/**
 * Objects by collection and key, and their past changes. One counter, the resource version (RV),
 * numbers every change of the whole store. Each collection keeps a window of past changes, which
 * serves watches and pages of lists at a past RV. Spec: 14 sections 3, 14 and 15.
 *
 * The store does not interpret objects: an object is a JSON text, stored as it is served, except
 * for metadata.managedFields, which is stored apart because many objects share it. Entries are
 * immutable and reference-counted, so a reader can keep an entry while the store changes. Not
 * thread-safe.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"

/** One version of one object, in a single block of memory. */
struct bt_stored {
	uint64_t rv;
	struct bt_owners *owners; /* metadata.managedFields, shared; NULL: none */
	uint32_t reference_count;
	uint32_t text_length;
	/**
	 * If the text ends with the member status: number of bytes from the value of that member to
	 * the end of the text. 0: not known. The API sets the field after the commit.
	 */
	uint32_t status_bytes;
	uint16_t key_length;
	char bytes[]; /* key, text, a zero byte, and the values that are not in *owners */
};

struct bt_strbuf;

static inline struct bt_str bt_stored_key(const struct bt_stored *stored)
{
	return (struct bt_str){stored->bytes, stored->key_length};
}

/**
 * Returns the object's text, {"metadata":{..},..}, without kind, apiVersion and
 * metadata.managedFields.
 */
static inline struct bt_str bt_stored_text(const struct bt_stored *stored)
{
	return (struct bt_str){stored->bytes + stored->key_length, stored->text_length};
}

/** NULL accepted. */
struct bt_owners *bt_owners_share(struct bt_owners *owners);
void bt_owners_unref(struct bt_owners *owners);

/** The owners of an object (NULL: none), and the values that the owners leave out. Borrowed. */
struct bt_owned {
	struct bt_owners *owners;
	/**
	 * Times as "2026-11-21T00:00:00Z", without blanks between them; then uids and addresses,
	 * with a blank after each uid or address. The values are kept apart from `owners`, because
	 * they differ from object to object.
	 */
	struct bt_str values;
};

/** Returns the owners and values of an object; `stored` NULL: none. */
struct bt_owned bt_stored_owned(const struct bt_stored *stored);

/** Appends the object's metadata.managedFields, a JSON list; nothing if there are none. */
void bt_stored_append_owners(const struct bt_stored *stored, struct bt_strbuf *out);
/** Appends the object's text including metadata.managedFields. */
void bt_stored_append_complete(const struct bt_stored *stored, struct bt_strbuf *out);

/** Returns the part before the slash of a key "namespace/name"; "" for a key without a slash. */
static inline struct bt_str bt_key_namespace(struct bt_str key)
{
	int64_t slash = bt_str_find_char(key, '/');
	return bt_str_sub(key, 0, slash < 0 ? 0 : (uint32_t)slash);
}

/** Returns the part after the slash of a key, or the whole key. */
static inline struct bt_str bt_key_name(struct bt_str key)
{
	int64_t slash = bt_str_find_char(key, '/');
	return bt_str_sub(key, (uint32_t)(slash + 1), key.length);
}

/** Adds a reference and returns `stored`. */
struct bt_stored *bt_stored_share(struct bt_stored *stored);
/** NULL accepted. */
void bt_stored_release(struct bt_stored *stored);

#define BT_STORE_KEY_BYTES_MAX 512
#define BT_STORE_TEXT_BYTES_MAX (UINT32_C(4) << 20)
/** Collections are never removed; callers must not create more than this. */
#define BT_STORE_COLLECTIONS_MAX 65000
#define BT_STORE_NO_COLLECTION UINT32_MAX

enum bt_change_type {
	BT_CHANGE_ADDED,
	BT_CHANGE_MODIFIED,
	BT_CHANGE_DELETED,
};

/**
 * One commit. `before` is NULL for an added object. In a deletion `after` is the last state of the
 * object, with the RV of the deletion.
 */
struct bt_store_change {
	uint64_t rv;
	enum bt_change_type type;
	uint32_t collection;
	struct bt_stored *before;
	struct bt_stored *after;
};

struct bt_store;

struct bt_store_options {
	/**
	 * A window keeps at least this many changes of its collection, unless superseded texts
	 * exceed four times window_bytes_max.
	 */
	uint32_t window_changes_min;
	/**
	 * The window also keeps all changes younger than this, unless superseded texts exceed
	 * window_bytes_max.
	 */
	int64_t window_age_ns;
	uint64_t window_bytes_max;
};

extern const struct bt_store_options bt_store_default_options;

/** Creates an empty store in memory. options are copied. */
BT_MUST_USE struct bt_store *bt_store_create(const struct bt_store_options *options);
/** Closes the file without a sync: changes since the last bt_store_sync are lost. NULL accepted. */
void bt_store_destroy(struct bt_store *store);

/**
 * Returns the collection with this name ("pods", "deployments.apps"). Creates the collection if it
 * does not exist. The name is copied.
 */
BT_MUST_USE uint32_t bt_store_collection(struct bt_store *store, struct bt_str name);
/**
 * Finds a collection by its name. BT_STORE_NO_COLLECTION: there is no collection with this name.
 */
BT_MUST_USE uint32_t bt_store_collection_find(const struct bt_store *store, struct bt_str name);
struct bt_str bt_store_collection_name(const struct bt_store *store, uint32_t collection);
uint32_t bt_store_collection_count(const struct bt_store *store);

/** Returns the RV of the last commit; at least 1. */
uint64_t bt_store_rv(const struct bt_store *store);
/**
 * Returns the RV of the next commit. Callers need it in advance, because texts contain their RV.
 */
uint64_t bt_store_next_rv(const struct bt_store *store);

/**
 * Returns the object with this key, borrowed until the next change of the key. NULL: there is no
 * such object. O(1).
 */
struct bt_stored *bt_store_find(
	const struct bt_store *store, uint32_t collection, struct bt_str key);
/**
 * Adds or replaces an object at RV bt_store_next_rv. `text` (copied) must contain that RV. The
 * limits of `key` and `text` are BT_STORE_KEY_BYTES_MAX and BT_STORE_TEXT_BYTES_MAX. Returns the
 * entry, borrowed.
 */
struct bt_stored *bt_store_put(struct bt_store *store, uint32_t collection, struct bt_str key,
	struct bt_str text, int64_t now_ns);
/**
 * Returns the RV that the store had window_age_ns ago, accurate to about ten seconds. Older RVs
 * count as compacted.
 */
uint64_t bt_store_compacted_rv(const struct bt_store *store, int64_t now_ns);
/**
 * Like bt_store_put, but sets the object's owners to `owned`; NULL: the object keeps its owners. If
 * `text` has managedFields, they take precedence.
 */
struct bt_stored *bt_store_put_owned(struct bt_store *store, uint32_t collection, struct bt_str key,
	struct bt_str text, const struct bt_owned *owned, int64_t now_ns);
/**
 * Removes an existing key. text: the last state of the object, with the next RV. Returns the entry
 * of that state, borrowed until the window forgets it.
 */
struct bt_stored *bt_store_remove(struct bt_store *store, uint32_t collection, struct bt_str key,
	struct bt_str text, int64_t now_ns);

uint64_t bt_store_count(const struct bt_store *store, uint32_t collection);
/**
 * Returns the number of objects whose key begins with prefix ("" or "namespace/") and is greater
 * than `after`.
 */
uint64_t bt_store_count_after(const struct bt_store *store, uint32_t collection,
	struct bt_str prefix, struct bt_str after);

/**
 * Walks over the state at one RV in byte order of keys. Changes between calls do not disturb the
 * walk, because each call continues after the key of the previous call, and undoes changes after
 * the walk's RV with the help of the window. During a walk the window forgets changes only if it is
 * larger than four times window_bytes_max.
 */
struct bt_store_walk {
	const struct bt_store *store;
	uint32_t collection;
	uint64_t rv;
	struct bt_str prefix; /* borrowed: "" or "namespace/" */
	void *position;       /* private */
};

/**
 * Starts a walk at the first key that has the prefix and is greater than `after` ("": the first
 * key). rv 0: the current RV. prefix is borrowed during the walk. false: the window does not reach
 * back to rv, or rv is in the future.
 */
BT_MUST_USE bool bt_store_walk_begin(struct bt_store *store, uint32_t collection, uint64_t rv,
	struct bt_str prefix, struct bt_str after, struct bt_store_walk *out_walk);
/** Starts a walk over the current state, at the first key that has the prefix (borrowed). */
BT_MUST_USE struct bt_store_walk bt_store_walk_current(
	struct bt_store *store, uint32_t collection, struct bt_str prefix);
/**
 * Returns the next object, borrowed until the next call; NULL at the end. *out_lost (out_lost may
 * be NULL): the window forgot changes that the walk needed, so the remaining state at this RV is
 * unknown.
 */
struct bt_stored *bt_store_walk_next(struct bt_store_walk *walk, bool *out_lost);
/** Does nothing if the walk has already ended, or is all-zero. */
void bt_store_walk_end(struct bt_store_walk *walk);

/**
 * Walks over the current state. stored: the name of the struct bt_stored * of the loop. The body
 * must not return or jump out of the loop except by break.
 */
#define BT_STORE_EACH(stored, store, collection, prefix) \
	for (struct bt_store_walk walk_ = bt_store_walk_current((store), (collection), (prefix)), \
				  *open_ = &walk_; \
		open_ != NULL; bt_store_walk_end(&walk_), open_ = NULL) \
		for (struct bt_stored *stored = NULL; \
			(stored = bt_store_walk_next(&walk_, NULL)) != NULL;)

/** --- changes --- */

/** Returns the smallest RV from which bt_store_next_change can continue for this collection. */
uint64_t bt_store_window_start(const struct bt_store *store, uint32_t collection);
/**
 * Finds the first change of the collection after rv. Returns false if there is no such change yet.
 * The change is borrowed until the window forgets it. The caller must first check that rv is not
 * before the window's start. O(log window).
 */
bool bt_store_next_change(const struct bt_store *store, uint32_t collection, uint64_t rv,
	struct bt_store_change *out_change);

/**
 * Registers a listener. Listeners are called during each commit, in the order of registration. They
 * must not write to the store, and must share the entries that they keep.
 */
void bt_store_on_change(struct bt_store *store,
	void (*changed)(void *context, const struct bt_store_change *change), void *context);
/** Removes the listeners with this context. */
void bt_store_off_change(struct bt_store *store, const void *context);

/** --- persistence --- */

/**
 * Reads an SQLite file into the store, which must be empty except for collections, and keeps the
 * file up to date from now on; creates the file if it does not exist. Errors name the file.
 * BERTH_ERR_STATE: another process uses the file. BERTH_ERR_INVALID: the file is damaged, from a
 * newer version, or not a database of berth. BERTH_ERR_IO: any other error. After an error, the
 * caller may only call bt_store_destroy.
 */
BT_MUST_USE int bt_store_open(struct bt_store *store, const char *path, struct berth_error *err);
/**
 * Writes all changes since the last sync to the file; they are durable when this returns 0. Does
 * nothing without a file. After an error the changes are kept, so that a later call tries again.
 */
BT_MUST_USE int bt_store_sync(struct bt_store *store, struct berth_error *err);
/** Returns whether there are changes that bt_store_sync would write. */
bool bt_store_needs_sync(const struct bt_store *store);
#endif
