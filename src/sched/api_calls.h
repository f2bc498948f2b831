/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SCHED_API_CALLS_H
#define BT_SCHED_API_CALLS_H
/**
 * The queue of API writes about pods (gate SchedulerAsyncAPICalls). A pod has at most one stored
 * call and at most one in flight. A binding overwrites a status patch, a newer call of the same
 * type is merged with the older one, and a call that would change nothing is never sent. Spec: 03
 * section 11.
 *
 * The queue sends nothing and calls only the observer. The owner pops calls, sends them, and
 * reports how they ended with bt_api_calls_done.
 */
#include <stdbool.h>
#include <stdint.h>

#include "api/object.h"
#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"
#include "framework/plugin.h"

/** In ascending order of relevance. */
enum bt_api_call_type {
	BT_API_CALL_POD_STATUS_PATCH,
	BT_API_CALL_POD_BINDING,
	BT_API_CALL__COUNT,
};

/** Label values of the metrics: "pod_status_patch", "pod_binding". */
const char *bt_api_call_type_name(enum bt_api_call_type type);

/**
 * Further results of a call besides 0 and BERTH_ERR_*: the call was not sent, which is no error.
 */
#define BT_API_CALL_SKIPPED 1
#define BT_API_CALL_OVERWRITTEN 2

struct bt_api_call {
	enum bt_api_call_type type;
	/** Shared reference. A patch starts from the status of this version of the pod. */
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
	/** For the use of the queue's owner. */
	bool is_listed;
};

/** condition may be NULL. Both arguments are copied. */
struct bt_api_call *bt_api_call_create_patch(struct bt_object *pod,
	const struct bt_pod_condition *condition, const struct bt_post_filter_result *nomination);
struct bt_api_call *bt_api_call_create_binding(
	struct bt_object *pod, const struct bt_pod_info *pod_info, struct bt_str node_name);
/** The pod already has everything that the call would set. */
bool bt_api_call_is_no_op(const struct bt_api_call *call);

/**
 * finished is called once for each call, with its result: 0, BERTH_ERR_*, BT_API_CALL_SKIPPED or
 * BT_API_CALL_OVERWRITTEN. message is upstream's text unless the result is 0. The function must not
 * change the queue.
 */
struct bt_api_calls_observer {
	void *context;
	void (*finished)(
		void *context, const struct bt_api_call *call, int result, struct bt_str message);
};

struct bt_api_calls_entry {
	struct bt_api_call *stored;
	struct bt_api_call *in_flight; /* often the same call as stored; NULL: none */
	/* Links in the list of entries that wait to be popped, in order. */
	uint32_t previous;
	uint32_t next;
	bool is_waiting;
};

struct bt_api_calls {
	BT_VEC(struct bt_api_calls_entry) entries; /* an entry with stored == NULL is free */
	BT_VEC(uint32_t) free_entries;
	struct bt_map by_uid;
	uint32_t first;
	uint32_t last;
	struct bt_api_calls_observer observer;
	uint32_t pending_counts[BT_API_CALL__COUNT]; /* stored calls that are not in flight */
};

/** The structure must not move afterwards. */
void bt_api_calls_init(struct bt_api_calls *calls, const struct bt_api_calls_observer *observer);
/** Calls that were not sent are dropped; the observer is not called for them. */
void bt_api_calls_finish(struct bt_api_calls *calls);

/**
 * Consumes call. Returns 0 if the call was queued, or BT_API_CALL_SKIPPED if it would change
 * nothing and has ended.
 */
int bt_api_calls_add(struct bt_api_calls *calls, struct bt_api_call *call);
/** The next call to send, borrowed until bt_api_calls_done; NULL: no call waits. */
struct bt_api_call *bt_api_calls_pop(struct bt_api_calls *calls, int64_t now_ns);
bool bt_api_calls_can_pop(const struct bt_api_calls *calls);
/** Report that the pod's call in flight ended. message: text of an error. */
void bt_api_calls_done(
	struct bt_api_calls *calls, struct bt_str uid, int result, struct bt_str message);
/** The pod has a newer version: a patch that is not in flight starts from that version. */
void bt_api_calls_sync(struct bt_api_calls *calls, struct bt_object *pod);

/** The pod's call in flight, or NULL. */
struct bt_api_call *bt_api_calls_in_flight(const struct bt_api_calls *calls, struct bt_str uid);
/** The pod's latest call, in flight or not; NULL: none. */
const struct bt_api_call *bt_api_calls_find(const struct bt_api_calls *calls, struct bt_str uid);

/** Checks the whole structure. For tests. */
bool bt_api_calls_validate(const struct bt_api_calls *calls, const char **out_reason);
#endif
