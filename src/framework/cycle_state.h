/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_FRAMEWORK_CYCLE_STATE_H
#define BT_FRAMEWORK_CYCLE_STATE_H
/**
 * Data of one pod's cycle, shared between extension points. Spec: 02 section 3. Two stores: by
 * plugin index (in-tree plugins, O(1)) and by key (CycleState's Read/Write/Delete, for other
 * plugins).
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "base/vec.h"
#include "framework/status.h"

/** Instances per profile; the skip sets are bit masks. */
#define BT_PLUGINS_MAX 128

struct bt_plugin_set {
	uint64_t words[BT_PLUGINS_MAX / 64];
};

static inline bool bt_plugin_set_has(const struct bt_plugin_set *set, uint32_t index)
{
	return (set->words[index >> 6] >> (index & 63) & 1) != 0;
}

static inline void bt_plugin_set_add(struct bt_plugin_set *set, uint32_t index)
{
	set->words[index >> 6] |= UINT64_C(1) << (index & 63);
}

/** A datum by key: clone makes the copy for a cloned cycle (NULL: shared by reference). */
struct bt_cycle_datum {
	struct bt_str key; /* in the arena */
	void *data;
	void *(*clone)(const void *data, struct bt_arena *arena);
};

/**
 * Results that depend on the pod's shape only. The runners use them instead of calling the plugin.
 * PreScore data is then in the cycle already.
 */
struct bt_cycle_memo {
	bool pre_filter_known;
	bool pre_score_known;
	struct bt_status pre_filter_status;
	struct bt_status pre_score_status;
	bool restricted; /* the node names of a PreFilter that succeeded */
	uint32_t name_count;
	const struct bt_str *names;
	void *pre_filter_data; /* stored into the cycle when the plugin would have run */
};

struct bt_object; /* api/object.h */

/** Shared by the cycles of a pod group's pods; outlives all of them, including waiting pods. */
struct bt_group_state {
	struct bt_arena *arena;
	void **data; /* by plugin index; NULL = not written */
};

struct bt_cycle_state {
	struct bt_arena *arena; /* the cycle's; reset when the cycle ends */
	void **pre_filter_data; /* by plugin index; NULL = not written */
	void **pre_score_data;
	uint32_t plugin_count;
	const struct bt_cycle_memo *memo; /* by plugin index; NULL: call every plugin */
	BT_VEC(struct bt_cycle_datum) data;
	struct bt_plugin_set skip_filter;
	struct bt_plugin_set skip_score;
	struct bt_plugin_set skip_pre_bind;
	struct bt_plugin_set parallel_pre_bind;
	bool pre_bind_flights_done; /* the two sets above are meaningful */
	/** For PreBind and Bind: the latest time to call a plugin again that returned Wait. */
	int64_t wake_ns;
	bool skip_all_post_filter;
	bool record_plugin_metrics;
	/** Cause of the cancellation; "" if not canceled. In the arena. */
	struct bt_str cancel_cause;
	/** Set for verification: plugins must compute from the pods, not from counters. */
	bool plain;
	/**
	 * Set by the engine if the cycle ends before the state changes: plugins may then keep
	 * pointers to counters instead of copies. When the decision is made, data of plugins with
	 * columns_per_cycle is dropped (unless keeps_cycle_data), because later extension points
	 * run after the state changed.
	 */
	bool borrows_counters;
	/**
	 * By slot: Score sees the node without its pods, because an extender returned it as an
	 * object. NULL: no such node.
	 */
	const uint8_t *without_pods;
	/** set in a pod group's scheduling cycle; NULL in that of a pod. Borrowed. */
	struct bt_group_state *group;
	/** Objects that plugins still read after the state changed: one reference each. */
	BT_VEC(struct bt_object *) kept;
	/** Pods to activate at the end of a successful cycle: keys "namespace/name" (spec 02
	 * section 3). */
	BT_VEC(struct bt_str) pods_to_activate;
};

void bt_cycle_state_init(
	struct bt_cycle_state *cycle, struct bt_arena *arena, uint32_t plugin_count);
void bt_cycle_state_finish(struct bt_cycle_state *cycle);
/**
 * Copy for a what-if run. Keyed data is copied by its clone functions, flags and sets too; indexed
 * data is shared, because the cycle does not know the plugins: runners and plugins call
 * bt_framework_clone_cycle (framework.h). The clone uses the same arena. Its pods_to_activate start
 * empty: a what-if run activates nothing.
 */
void bt_cycle_state_clone(const struct bt_cycle_state *cycle, struct bt_cycle_state *out_clone);

/** Keep the object until the cycle is finished. consumed. */
void bt_cycle_state_keep(struct bt_cycle_state *cycle, struct bt_object *object);

/** BERTH_ERR_NOT_FOUND with text "not found". */
BT_MUST_USE int bt_cycle_state_read(const struct bt_cycle_state *cycle, struct bt_str key,
	void **out_data, struct berth_error *err);
void bt_cycle_state_write(struct bt_cycle_state *cycle, struct bt_str key, void *data,
	void *(*clone)(const void *data, struct bt_arena *arena));
void bt_cycle_state_delete(struct bt_cycle_state *cycle, struct bt_str key);
#endif
