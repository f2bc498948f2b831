/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_STATE_CHANGE_LOG_H
#define BT_STATE_CHANGE_LOG_H
/**
 * Log of changes, each with a node slot and the kinds of change. A cache of derived data remembers
 * the sequence number up to which it has read the log, and later updates only the slots with newer
 * changes. If the log no longer has all these changes, the cache computes everything anew.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"

enum bt_change_kind {
	BT_CHANGE_PODS = 1 << 0,        /* pods on the node, their requests, labels or priority */
	BT_CHANGE_PORTS = 1 << 1,       /* used host ports */
	BT_CHANGE_ALLOCATABLE = 1 << 2, /* allocatable of any resource */
	BT_CHANGE_LABELS = 1 << 3,
	BT_CHANGE_TAINTS = 1 << 4,   /* taints and unschedulable */
	BT_CHANGE_IMAGES = 1 << 5,   /* names and sizes of images; bt_node_image.node_count */
	BT_CHANGE_FEATURES = 1 << 6, /* declared features */
	BT_CHANGE_EXISTENCE =
		1 << 7, /* the slot entered or left the snapshot; anything may differ */
	BT_CHANGE_AFFINITY_PODS = 1 << 8, /* pods with (anti-)affinity were added or removed */
	BT_CHANGE_CLAIMS = 1 << 9,        /* PVC references */
	BT_CHANGE_DEVICES = 1 << 10,      /* devices that the node can use, or their allocation */
	BT_CHANGE_ALL = (1 << 11) - 1,
};
#define BT_CHANGE_KINDS 11

struct bt_change {
	uint32_t slot;
	uint32_t kinds; /* bits of enum bt_change_kind */
};

/** Ring buffer of the newest changes; the capacity is a power of two. */
struct bt_change_log {
	struct bt_change *ring;
	uint32_t capacity;
	uint64_t sequence; /* number of all changes so far */
	/* By kind: value of `sequence` after the last change of this kind; 0: there was none. */
	uint64_t end_of_kind[BT_CHANGE_KINDS];
};

void bt_change_log_init(struct bt_change_log *log, uint32_t capacity);
void bt_change_log_finish(struct bt_change_log *log);
void bt_change_log_append(struct bt_change_log *log, uint32_t slot, uint32_t kinds);
/** Whether the log has all changes from number `seen` on. If not, compute everything anew. */
static inline bool bt_change_log_covers(const struct bt_change_log *log, uint64_t seen)
{
	return log->sequence - seen <= log->capacity;
}
/** Change number `index` (from 0), which must still be in the log: see bt_change_log_covers. */
static inline struct bt_change bt_change_log_at(const struct bt_change_log *log, uint64_t index)
{
	return log->ring[index & (log->capacity - 1)];
}
/** Reading this many changes costs no more than looking up where the last relevant one is. */
#define BT_CHANGE_LOG_SHORT 16
/**
 * Returns the number of the change at which a reader of these kinds may stop that has seen the
 * changes before number `seen`; if it is `seen`, there is nothing to read.
 */
static inline uint64_t bt_change_log_end(
	const struct bt_change_log *log, uint64_t seen, uint32_t kinds)
{
	uint64_t end = seen;
	if (log->sequence - seen <= BT_CHANGE_LOG_SHORT) {
		return log->sequence;
	}
	for (; kinds != 0; kinds &= kinds - 1) {
		uint64_t last = log->end_of_kind[BT_CTZ64(kinds)];
		end = last > end ? last : end;
	}
	return end;
}
/**
 * Counts the changes of these kinds, starting with change number `seen`. The log must cover `seen`.
 */
static inline uint64_t bt_change_log_count(
	const struct bt_change_log *log, uint64_t seen, uint32_t kinds)
{
	uint64_t end = bt_change_log_end(log, seen, kinds);
	uint64_t count = 0;
	for (uint64_t i = seen; i < end; i++) {
		count += (bt_change_log_at(log, i).kinds & kinds) != 0;
	}
	return count;
}
#endif
