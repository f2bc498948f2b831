/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BERTH_CYCLE_STATE_H
#define BERTH_CYCLE_STATE_H
/**
 * @file
 * Data that the plugins of one pod's scheduling cycle share, by key, from PreFilter to PostBind.
 * Spec 02 section 3, upstream v1.36.
 *
 * @code{.c}
 * struct found {
 *     struct berth_state_data base;
 *     uint32_t count;
 * };
 *
 * static void write_found(struct berth_cycle_state *state, uint32_t count)
 * {
 *     struct found *found =
 *         berth_arena_alloc(berth_cycle_state_arena(state), sizeof(*found));
 *
 *     found->count = count;
 *     berth_cycle_state_write(state, BERTH_STR("MyPlugin"), &found->base);
 * }
 *
 * static uint32_t read_found(const struct berth_cycle_state *state)
 * {
 *     struct berth_state_data *data = NULL;
 *
 *     return berth_cycle_state_read(state, BERTH_STR("MyPlugin"), &data, NULL) == BERTH_OK
 *         ? ((struct found *)data)->count
 *         : 0;
 * }
 * @endcode
 */
#include <stdbool.h>
#include <stdint.h>

#include "berth/api.h"
#include "berth/error.h"
#include "berth/str.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Message of the error that reports a missing key. */
#define BERTH_TEXT_NOT_FOUND "not found"

/** The state of one scheduling cycle. Opaque. Used by one thread at a time. */
struct berth_cycle_state;

/** A key is a text. Plugins use their own name as prefix. */
typedef struct berth_str berth_state_key;

/**
 * Base of a datum; first member of the plugin's structure. Allocate the structure from
 * berth_cycle_state_arena(), since the state neither owns nor releases it.
 */
struct berth_state_data {
	/**
	 * Copies the datum for a what-if run (preemption, nominated pods); the copy must be deep
	 * only where AddPod and RemovePod write. Allocate the copy from @p arena. If clone is NULL,
	 * the copied state shares the datum.
	 */
	struct berth_state_data *(*clone)(
		const struct berth_state_data *data, struct berth_arena *arena);
};

/** Creates an empty state with a new arena; owned: berth_cycle_state_destroy(). */
BERTH_API struct berth_cycle_state *berth_cycle_state_create(void);
/**
 * Releases a state from create or clone. Must not be called with the state that a plugin receives.
 * NULL is accepted.
 */
BERTH_API void berth_cycle_state_destroy(struct berth_cycle_state *state);
/**
 * Copies the state; each datum is copied by its clone function. Returns NULL for NULL. The copy
 * uses the arena of the original and must be destroyed before the original.
 */
BERTH_API struct berth_cycle_state *berth_cycle_state_clone(const struct berth_cycle_state *state);
/**
 * The arena for data of this cycle and texts of statuses. Reset or released when the cycle ends.
 */
BERTH_API struct berth_arena *berth_cycle_state_arena(const struct berth_cycle_state *state);

/** Finds a datum: returns 0, or BERTH_ERR_NOT_FOUND with the text BERTH_TEXT_NOT_FOUND. */
BERTH_API int berth_cycle_state_read(const struct berth_cycle_state *state, berth_state_key key,
	struct berth_state_data **out_data, struct berth_error *err);
/** Stores a datum or replaces it. The key is copied, the datum is borrowed until the cycle ends. */
BERTH_API void berth_cycle_state_write(
	struct berth_cycle_state *state, berth_state_key key, struct berth_state_data *data);
/** Removes a datum; an absent key is ignored. */
BERTH_API void berth_cycle_state_delete(struct berth_cycle_state *state, berth_state_key key);

/**
 * Takes the write lock of framework v1alpha1 (spec 02 section 18). The lock functions do nothing,
 * since one thread at a time uses a state; they exist for code ported from v1alpha1.
 */
BERTH_API void berth_cycle_state_lock(struct berth_cycle_state *state);
/** Releases the write lock. */
BERTH_API void berth_cycle_state_unlock(struct berth_cycle_state *state);
/** Takes the read lock. */
BERTH_API void berth_cycle_state_rlock(struct berth_cycle_state *state);
/** Releases the read lock. */
BERTH_API void berth_cycle_state_runlock(struct berth_cycle_state *state);

/** Sets whether the durations of this cycle's plugin calls are sampled. */
BERTH_API void berth_cycle_state_set_record_plugin_metrics(
	struct berth_cycle_state *state, bool record);
/** Whether the durations of plugin calls are sampled; false for a NULL state. */
BERTH_API bool berth_cycle_state_should_record_plugin_metrics(
	const struct berth_cycle_state *state);

/**
 * For a PreBind or Bind that returns Wait: the plugin is called again at @p wake_ns at the latest,
 * on the clock of berth_handle_now_ns(). If several calls set a time, the earliest counts.
 */
BERTH_API void berth_cycle_state_wake_at(struct berth_cycle_state *state, int64_t wake_ns);

/** Cancellation of a cycle, like upstream's context (spec 02 section 4). */
struct berth_cancel {
	bool canceled;          /**< the plugin should stop its work */
	struct berth_str cause; /**< the reason; "" while not canceled */
};

/** Whether the binding of this cycle is canceled, for example by preemption, and why. */
BERTH_API struct berth_cancel berth_cycle_state_cancel(const struct berth_cycle_state *state);

/**
 * Registers a pod that moves to the active queue if this cycle succeeds (upstream: the key
 * kubernetes.io/pods-to-activate). Names are copied.
 */
BERTH_API void berth_cycle_state_activate_pod(
	struct berth_cycle_state *state, struct berth_str pod_namespace, struct berth_str pod_name);

#ifdef __cplusplus
}
#endif
#endif
