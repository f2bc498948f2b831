/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BERTH_STATUS_H
#define BERTH_STATUS_H
/**
 * @file
 * Statuses of plugins: a code, reasons, and the plugin that returned them. Passed by value;
 * all-zero memory is Success and means the same as a nil status upstream. Spec 02 section 1,
 * upstream v1.36.
 *
 * @code{.c}
 * static struct berth_status check_pool(
 *     struct berth_cycle_state *state, const struct berth_node_info *node)
 * {
 *     if (berth_node_info_label(node, BERTH_STR("pool")).data != NULL) {
 *         return BERTH_STATUS_SUCCESS;
 *     }
 *     return berth_status_reason(berth_cycle_state_arena(state), BERTH_CODE_UNSCHEDULABLE,
 *         "node(s) had no label pool");
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

/** Status codes; numbers and names are upstream's (spec 02 section 1.1). */
enum berth_code {
	BERTH_CODE_SUCCESS = 0,       /**< the plugin ran, the pod may go on */
	BERTH_CODE_ERROR = 1,         /**< something failed; the pod is retried after backoff */
	BERTH_CODE_UNSCHEDULABLE = 2, /**< rejected; preemption may help */
	/** rejected; preemption would not help */
	BERTH_CODE_UNSCHEDULABLE_AND_UNRESOLVABLE = 3,
	/** Permit: the pod waits; PreBind and Bind: not finished, call again */
	BERTH_CODE_WAIT = 4,
	BERTH_CODE_SKIP = 5, /**< the plugin has nothing to do for this pod */
	/** rejected until something outside of the scheduler is finished */
	BERTH_CODE_PENDING = 6,
};

/**
 * A status. Its texts are constants or live in the arena in which the status was made; for a plugin
 * that is the arena of the cycle.
 */
struct berth_status {
	uint8_t code;   /**< enum berth_code */
	bool has_error; /**< error_text is the text of a wrapped error */
	/** Number of the plugin that returned the status, set by the framework; 0: no plugin. */
	uint16_t plugin;
	uint32_t reason_count;           /**< entries of reasons */
	const struct berth_str *reasons; /**< reasons, without the error's text */
	struct berth_str error_text;     /**< valid if has_error; counts as the first reason */
};

#ifdef __cplusplus
/** Success; upstream's nil status. */
#define BERTH_STATUS_SUCCESS (berth_status{})
#else
/** Success; upstream's nil status. */
#define BERTH_STATUS_SUCCESS ((struct berth_status){0})
#endif

/** Name of a code: "Success", "UnschedulableAndUnresolvable", ...; "" for other numbers. */
BERTH_API const char *berth_code_string(enum berth_code code);

/**
 * NewStatus: a status with @p reasons (NULL with a count of 0), which are copied into the arena.
 */
BERTH_API struct berth_status berth_status_make(struct berth_arena *arena, enum berth_code code,
	const struct berth_str *reasons, uint32_t reason_count);
/** A status with one zero-terminated reason, which is copied; NULL: without a reason. */
BERTH_API struct berth_status berth_status_reason(
	struct berth_arena *arena, enum berth_code code, const char *reason);
/** A status with one reason, formatted as by printf; the format must be a literal. */
BERTH_API BERTH_PRINTF(3, 4) struct berth_status berth_status_printf(
	struct berth_arena *arena, enum berth_code code, const char *format, ...);
/** AsStatus: code Error with the error's text; Success for NULL and empty errors. */
BERTH_API struct berth_status berth_status_from_error(
	struct berth_arena *arena, const struct berth_error *err);

/** Adds a reason at the end (copied). */
BERTH_API void berth_status_append_reason(
	struct berth_status *status, struct berth_arena *arena, struct berth_str reason);
/**
 * AsError: 0 for Success, Wait and Skip (@p err untouched), else BERTH_ERR_INTERNAL with the
 * wrapped error's text, or with the message if no error is wrapped. NULL is Success.
 */
BERTH_API int berth_status_as_error(const struct berth_status *status, struct berth_error *err);
/** The code; Success for NULL. */
BERTH_API enum berth_code berth_status_code(const struct berth_status *status);
/** Whether the status is Success or NULL. */
BERTH_API bool berth_status_is_success(const struct berth_status *status);
/** IsRejected: whether the code is Unschedulable, UnschedulableAndUnresolvable or Pending. */
BERTH_API bool berth_status_is_rejected(const struct berth_status *status);
/** The older name of berth_status_is_rejected(). */
BERTH_API bool berth_status_is_unschedulable(const struct berth_status *status);
/** All reasons joined with ", "; "" for Success. The text lives in the arena. */
BERTH_API struct berth_str berth_status_message(
	const struct berth_status *status, struct berth_arena *arena);
/** All reasons, the error's text first. The list lives in the arena, its texts in the status. */
BERTH_API const struct berth_str *berth_status_reasons(
	const struct berth_status *status, struct berth_arena *arena, uint32_t *out_count);
/**
 * Whether code, plugin, error text and reasons are equal; two Success statuses are always equal.
 */
BERTH_API bool berth_status_equal(const struct berth_status *a, const struct berth_status *b);
/** Deep copy into another arena, for a status that must outlive its cycle. */
BERTH_API struct berth_status berth_status_copy(
	const struct berth_status *status, struct berth_arena *arena);

/** The status of one plugin. */
struct berth_plugin_status {
	struct berth_str plugin;    /**< name of the plugin */
	struct berth_status status; /**< status that the plugin returned */
};

/**
 * PluginToStatus: the statuses that the filters returned for one node (spec 02 section 18).
 * All-zero memory is an empty map; the arena owns the memory.
 */
struct berth_plugin_to_status {
	struct berth_plugin_status *items; /**< in the order in which the names were first set */
	uint32_t count;                    /**< entries */
	uint32_t capacity;                 /**< allocated entries of items */
};

/** Sets or replaces a plugin's status. The name is copied into the arena, the status is not. */
BERTH_API void berth_plugin_to_status_set(struct berth_plugin_to_status *map,
	struct berth_arena *arena, struct berth_str plugin, struct berth_status status);
/**
 * PluginToStatus.Merge: Success for an empty map; else a status with all reasons. The code is Error
 * if an entry has it, else UnschedulableAndUnresolvable, else Unschedulable, else the code of the
 * last entry.
 */
BERTH_API struct berth_status berth_status_merge(
	const struct berth_plugin_to_status *map, struct berth_arena *arena);

/**
 * NodeToStatus (formerly NodeToStatusMap): a status per node name, and a status for all absent
 * nodes. Spec 02 section 2. Opaque.
 */
struct berth_node_to_status;

/**
 * Creates an empty map; absent nodes are UnschedulableAndUnresolvable without reasons. owned:
 * berth_node_to_status_destroy().
 */
BERTH_API struct berth_node_to_status *berth_node_to_status_create(void);
/**
 * Releases a map from create. Must not be called with the map that a plugin receives. NULL is
 * accepted.
 */
BERTH_API void berth_node_to_status_destroy(struct berth_node_to_status *statuses);
/**
 * Sets or replaces the node's entry; name and status are copied. Does nothing on the map that a
 * PostFilter plugin receives, which is read-only.
 */
BERTH_API void berth_node_to_status_set(struct berth_node_to_status *statuses,
	struct berth_str node_name, const struct berth_status *status);
/** Sets the status of absent nodes (copied). */
BERTH_API void berth_node_to_status_set_absent(
	struct berth_node_to_status *statuses, const struct berth_status *status);
/** The node's status, or the status of absent nodes. Texts are borrowed until the map changes. */
BERTH_API struct berth_status berth_node_to_status_get(
	const struct berth_node_to_status *statuses, struct berth_str node_name);
/** Number of explicit entries. */
BERTH_API uint32_t berth_node_to_status_count(const struct berth_node_to_status *statuses);
/**
 * An explicit entry, 0 <= index < count: returns the node name and, if @p out_status is not NULL,
 * sets the status. The name is "" if an extender rejected a node that the engine does not know.
 */
BERTH_API struct berth_str berth_node_to_status_at(const struct berth_node_to_status *statuses,
	uint32_t index, struct berth_status *out_status);

#ifdef __cplusplus
}
#endif
#endif
