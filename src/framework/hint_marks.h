/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_FRAMEWORK_HINT_MARKS_H
#define BT_FRAMEWORK_HINT_MARKS_H
/**
 * Marks are small hashes. If marks show that an event cannot help a rejected pod, the queue does
 * not run hints for the pod. A pod's shape wants marks, such as a label of its node selector; an
 * event offers marks, such as the labels of the new node. If the event offers no mark that the
 * shape wants, every hint would return Skip. If two different marks have the same hash, the queue
 * may run hints that return Skip.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/**
 * Kind of a mark. The comments name the texts (`first` and `second` of bt_hint_mark) that are
 * hashed together with the kind.
 */
enum bt_hint_mark_kind {
	BT_MARK_NODE,       /* any event about a node; no texts */
	BT_MARK_NODE_NAME,  /* name */
	BT_MARK_NODE_LABEL, /* key, value: the new node has the label */
	BT_MARK_NODE_KEY,   /* key: the label was added, changed or removed */
	BT_MARK_POD,        /* any event about an assigned pod; no texts */
	BT_MARK_POD_LABEL,  /* key, value: the old or the new pod has the label */
	BT_MARK_CLAIM,      /* any event about a PersistentVolumeClaim; no texts */
	BT_MARK_CLAIM_NAME, /* name */
};

#define BT_HINT_MARK_BITS 16384
/** Mark of unused entries of bt_hint_wants; no event offers this mark. */
#define BT_HINT_MARK_NEVER 0
/** Every event offers this mark. */
#define BT_HINT_MARK_ALWAYS 1

/** The marks that a shape wants. */
#define BT_HINT_WANTS 8
struct bt_hint_wants {
	uint16_t items[BT_HINT_WANTS];
};

/** The marks that an event offers. */
struct bt_hint_offers {
	uint64_t words[BT_HINT_MARK_BITS / 64];
};

static inline uint16_t bt_hint_mark(
	enum bt_hint_mark_kind kind, struct bt_str first, struct bt_str second)
{
	uint64_t hash = bt_hash_bytes(first.data, first.length, (uint64_t)kind + 1);

	hash = bt_hash_bytes(second.data, second.length, hash);
	return (uint16_t)(BT_HINT_MARK_ALWAYS + 1 +
		(hash >> 32) % (BT_HINT_MARK_BITS - BT_HINT_MARK_ALWAYS - 1));
}

/**
 * Adds a mark. If all entries are in use, BT_HINT_MARK_ALWAYS replaces the first entry, so that
 * hints run for every event.
 */
static inline void bt_hint_want(struct bt_hint_wants *wants, uint16_t mark)
{
	for (uint32_t i = 0; i < BT_HINT_WANTS; i++) {
		if (wants->items[i] == mark) {
			return;
		}
		if (wants->items[i] == BT_HINT_MARK_NEVER) {
			wants->items[i] = mark;
			return;
		}
	}
	wants->items[0] = BT_HINT_MARK_ALWAYS;
}

static inline void bt_hint_offer(struct bt_hint_offers *offers, uint16_t mark)
{
	offers->words[mark / 64] |= 1ULL << mark % 64;
}

static inline bool bt_hint_is_offered(
	const struct bt_hint_offers *offers, const struct bt_hint_wants *wants)
{
	uint64_t found = 0;

	for (uint32_t i = 0; i < BT_HINT_WANTS; i++) {
		found |= offers->words[wants->items[i] / 64] >> wants->items[i] % 64;
	}
	return (found & 1) != 0;
}
#endif
