/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SCHED_API_CALLS_H
#define BT_SCHED_API_CALLS_H
/**
 * The queue of API writes about pods (gate SchedulerAsyncAPICalls). A pod has at most one stored
 * call, its latest, and at most one call in flight, which may be the stored call. A binding
 * replaces a stored status patch. A newer call of the same type is merged with the older call. A
 * call that would change nothing is never sent. Spec: 03 section 11.
 *
 * The queue sends nothing and calls only the observer. The owner pops calls, sends them, and
 * reports how they ended with bt_api_calls_done.
 */
#include <stdbool.h>
#include <stdint.h>

#include "api/object.h"
#include "base/arena.h"
#include "base/hash_table.h"
#include "framework/plugin.h"

/** Types of calls in ascending order of relevance: a binding is more relevant than a patch. */
enum bt_api_call_type {
	BT_API_CALL_POD_STATUS_PATCH,
	BT_API_CALL_POD_BINDING,
	BT_API_CALL__COUNT,
};

/** Label values of the metrics: "pod_status_patch", "pod_binding". */
const char *bt_api_call_type_name(enum bt_api_call_type type);

/**
 * Two further results of a call, besides 0 and BERTH_ERR_*. These results are not errors. SKIPPED:
 * the call was not sent, because it would change nothing or a more relevant call is stored.
 * OVERWRITTEN: a newer call replaced the call. A replaced call that was in flight may still take
 * effect.
 */
#define BT_API_CALL_SKIPPED 1
#define BT_API_CALL_OVERWRITTEN 2

struct bt_api_call {
	enum bt_api_call_type type;
	/**
	 * The call owns a reference to this object. A patch changes the status of this version of
	 * the pod.
	 */
	struct bt_object *pod;
	/* Fields of a patch. */
	bool has_condition;
	struct bt_pod_condition condition;
	struct bt_post_filter_result nomination; /* no change if not present or the mode is no-op */
	/* Fields of a binding. */
	const struct bt_pod_info *pod_info; /* borrowed until the call ends */
	struct bt_str node_name;
	/* Private to the queue. */
	struct bt_arena arena; /* for texts */
	int64_t started_ns;
	bool in_flight;
	bool finished; /* the observer was called */
	/**
	 * Not used by the queue. The scheduler sets this flag while the call is in
	 * bt_scheduler.answered.
	 */
	bool is_listed;
};

/**
 * Creates a struct bt_api_call to pass to bt_api_calls_add, which consumes it. The struct takes a
 * reference to pod; condition (may be NULL), nomination and node_name are copied.
 */
struct bt_api_call *bt_api_call_create_patch(struct bt_object *pod,
	const struct bt_pod_condition *condition, const struct bt_post_filter_result *nomination);
struct bt_api_call *bt_api_call_create_binding(
	struct bt_object *pod, const struct bt_pod_info *pod_info, struct bt_str node_name);
/** Whether the pod already has everything that the call would set. Always false for a binding. */
bool bt_api_call_is_no_op(const struct bt_api_call *call);

/**
 * finished() is called once for each call that ends, with the result of the call: 0, BERTH_ERR_*,
 * BT_API_CALL_SKIPPED or BT_API_CALL_OVERWRITTEN. The message is "" if the result is 0, otherwise
 * upstream's text for the result. The function may be NULL and must not change the queue.
 */
struct bt_api_calls_observer {
	void *context;
	void (*finished)(
		void *context, const struct bt_api_call *call, int result, struct bt_str message);
};

struct bt_api_calls_entry {
	struct bt_api_call *stored;
	struct bt_api_call *in_flight; /* may be the same call as stored; NULL: no call */
	/* Links in the list of entries that wait to be popped, in order. */
	uint32_t previous;
	uint32_t next;
	bool is_waiting;
};

struct bt_api_calls {
	BT_HASH_TABLE(struct bt_api_calls_entry) entries; /* by uid; stored == NULL: free */
	uint32_t first;
	uint32_t last;
	struct bt_api_calls_observer observer;
	uint32_t pending_counts[BT_API_CALL__COUNT]; /* stored calls that are not in flight */
};

/** Copies *observer. */
void bt_api_calls_init(struct bt_api_calls *calls, const struct bt_api_calls_observer *observer);
/** Frees all calls, including the calls in flight. The observer is not called for them. */
void bt_api_calls_finish(struct bt_api_calls *calls);

/**
 * Consumes call. Returns 0 if the call was queued, or BT_API_CALL_SKIPPED if the call has ended,
 * because it would change nothing or a more relevant call is stored.
 */
int bt_api_calls_add(struct bt_api_calls *calls, struct bt_api_call *call);
/**
 * The next call to send, which is in flight from now on. Borrowed until bt_api_calls_done. NULL: no
 * call waits.
 */
struct bt_api_call *bt_api_calls_pop(struct bt_api_calls *calls, int64_t now_ns);
bool bt_api_calls_can_pop(const struct bt_api_calls *calls);
/**
 * Report that the pod's call in flight, which must exist, ended with 0 or BERTH_ERR_*. Frees the
 * call. message: text of the error, or "".
 */
void bt_api_calls_done(
	struct bt_api_calls *calls, struct bt_str uid, int result, struct bt_str message);
/**
 * The pod has a newer version: a patch that is not in flight starts from that version, and ends
 * with BT_API_CALL_SKIPPED if it would then change nothing.
 */
void bt_api_calls_sync(struct bt_api_calls *calls, struct bt_object *pod);

/** The pod's call in flight, or NULL. */
struct bt_api_call *bt_api_calls_in_flight(const struct bt_api_calls *calls, struct bt_str uid);
/** The pod's latest call, in flight or not. NULL: the pod has no call. */
const struct bt_api_call *bt_api_calls_find(const struct bt_api_calls *calls, struct bt_str uid);
#endif
