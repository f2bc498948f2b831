/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VALIDATE_H
#define VALIDATE_H
/**
 * Checks of whole structures: what the engine updates incrementally is computed anew and compared.
 */
#include "queue/queue.h"
#include "sched/api_calls.h"
#include "state/state.h"

/** Returns whether sums, maps and lists agree with the pods. If not, out_reason has a difference.
 */
bool bt_state_validate(const struct bt_state *state, struct bt_strbuf *out_reason);
/** Returns whether the queue's invariants hold. If not, *out_reason names one that does not hold.
 */
bool bt_queue_validate(struct bt_queue *queue, const char **out_reason);
/**
 * Return whether the index or the counters equal those made anew. If not, out_reason has a
 * difference.
 */
bool bt_affinity_index_validate(struct bt_state *state, struct bt_strbuf *out_reason);
bool bt_domain_counters_validate(struct bt_state *state, struct bt_strbuf *out_reason);
bool bt_pod_index_validate(const struct bt_state *state, struct bt_strbuf *out_reason);

/** Bytes of allocated memory, computed from all structures. */
size_t bt_state_memory_bytes(const struct bt_state *state);
/** Parts of bt_state_memory_bytes; caches: domain counters and allocation columns. */
size_t bt_affinity_index_memory_bytes(const struct bt_state *state);
size_t bt_state_cache_bytes(const struct bt_state *state);

/**
 * Check the whole structure. *out_reason describes the first flaw. If the structure has no flaw,
 * returns true and sets *out_reason to NULL.
 */
bool bt_api_calls_validate(const struct bt_api_calls *calls, const char **out_reason);
#endif
