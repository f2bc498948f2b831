/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SCHED_API_CALLS_H
#define BT_SCHED_API_CALLS_H
/**
 * Writes about pods that wait for their turn, of the gate SchedulerAsyncAPICalls. A pod has at most
 * one call stored and at most one under way: a binding pushes a status patch aside, a newer call of
 * the same type takes the older one in, and what would change nothing is never sent. Spec: 03
 * section 11.
 *
 * Nobody is called but the observer. Whoever owns the queue pops calls, carries them out in
 * whatever way it likes, and says how they ended.
 */
#include <stdbool.h>
#include <stdint.h>

#include "api/object.h"
#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"
#include "framework/plugin.h"

/** By relevance, the least relevant first. */
enum bt_api_call_type {
	BT_API_CALL_POD_STATUS_PATCH,
	BT_API_CALL_POD_BINDING,
	BT_API_CALL__COUNT,
};

/** "pod_status_patch", "pod_binding": label values of the metrics. */
const char *bt_api_call_type_name(enum bt_api_call_type type);

/** How a call can end besides 0 and BERTH_ERR_*: nothing is wrong, but it was not sent. */
#define BT_API_CALL_SKIPPED 1
#define BT_API_CALL_OVERWRITTEN 2

struct bt_api_call {
	enum bt_api_call_type type;
	/** Shared. Of a patch: the version whose status it starts from. */
	struct bt_object *pod;
	/* Of a patch. */
	bool has_condition;
	struct bt_pod_condition condition;
	struct bt_post_filter_result nomination; /* not present, or the mode no-op: as it is */
	/* Of a binding. */
	const struct bt_pod_info *pod_info; /* borrowed until it ends */
	struct bt_str node_name;
	/* Private to the queue. */
	struct bt_arena arena; /* texts */
	int64_t started_ns;
	bool in_flight;
	bool finished; /* the observer was told */
	/** For whoever carries it out. */
	bool is_listed;
};

/** condition may be NULL; what is given is copied. */
struct bt_api_call *bt_api_call_create_patch(struct bt_object *pod,
	const struct bt_pod_condition *condition, const struct bt_post_filter_result *nomination);
struct bt_api_call *bt_api_call_create_binding(
	struct bt_object *pod, const struct bt_pod_info *pod_info, struct bt_str node_name);
/** The pod is like that already. */
bool bt_api_call_is_no_op(const struct bt_api_call *call);

/**
 * A call ended, once for each: 0, BERTH_ERR_*, BT_API_CALL_SKIPPED or BT_API_CALL_OVERWRITTEN, with
 * upstream's text unless 0. The queue must not be changed from here.
 */
struct bt_api_calls_observer {
	void *context;
	void (*finished)(
		void *context, const struct bt_api_call *call, int result, struct bt_str message);
};

struct bt_api_calls_entry {
	struct bt_api_call *stored;
	struct bt_api_call *in_flight; /* often the same; NULL: none is under way */
	/* The waiting ones, in order. */
	uint32_t previous;
	uint32_t next;
	bool is_waiting;
};

struct bt_api_calls {
	BT_VEC(struct bt_api_calls_entry) entries; /* stored == NULL: free */
	BT_VEC(uint32_t) free_entries;
	struct bt_map by_uid;
	uint32_t first;
	uint32_t last;
	struct bt_api_calls_observer observer;
	uint32_t pending_counts[BT_API_CALL__COUNT]; /* stored and not under way */
};

/** calls must not move. */
void bt_api_calls_init(struct bt_api_calls *calls, const struct bt_api_calls_observer *observer);
/** Nobody is told of what was not sent. */
void bt_api_calls_finish(struct bt_api_calls *calls);

/** call is consumed. 0: it waits, or BT_API_CALL_SKIPPED: it ended at once. */
int bt_api_calls_add(struct bt_api_calls *calls, struct bt_api_call *call);
/** The next call to carry out, borrowed until done; NULL: none waits. */
struct bt_api_call *bt_api_calls_pop(struct bt_api_calls *calls, int64_t now_ns);
bool bt_api_calls_can_pop(const struct bt_api_calls *calls);
/** The call of this pod that was popped is over. message: of an error. */
void bt_api_calls_done(
	struct bt_api_calls *calls, struct bt_str uid, int result, struct bt_str message);
/** A pod's newer version is known: a patch that has not begun starts from it. */
void bt_api_calls_sync(struct bt_api_calls *calls, struct bt_object *pod);

/** The one under way for this pod, or NULL. */
struct bt_api_call *bt_api_calls_in_flight(const struct bt_api_calls *calls, struct bt_str uid);
/** The one that would be sent last, under way or not; NULL: none. */
const struct bt_api_call *bt_api_calls_find(const struct bt_api_calls *calls, struct bt_str uid);

/** Whole-structure check for tests. */
bool bt_api_calls_validate(const struct bt_api_calls *calls, const char **out_reason);
#endif
