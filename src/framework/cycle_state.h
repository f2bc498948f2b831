/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_FRAMEWORK_CYCLE_STATE_H
#define BT_FRAMEWORK_CYCLE_STATE_H
/**
 * Data of one pod's cycle, shared between extension points. Spec: 02 section 3. There are two
 * stores: by plugin index (in-tree plugins, O(1)) and by key (Read/Write/Delete of CycleState, for
 * other plugins).
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "base/vec.h"
#include "framework/status.h"

/** Maximum number of plugin instances per profile; limited because the skip sets are bit masks. */
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

/**
 * An entry of the store by key. clone copies the data for a cloned cycle; if clone is NULL, both
 * cycles share the data.
 */
struct bt_cycle_datum {
	struct bt_str key; /* in the arena */
	void *data;
	void *(*clone)(const void *data, struct bt_arena *arena);
};

/**
 * Results of a plugin's PreFilter and PreScore that depend only on the pod's shape. If a result is
 * known, the runners use the result instead of calling the plugin. If pre_score_known is set, the
 * PreScore data is in the cycle already.
 */
struct bt_cycle_memo {
	bool pre_filter_known;
	bool pre_score_known;
	struct bt_status pre_filter_status;
	struct bt_status pre_score_status;
	bool restricted; /* PreFilter succeeded and narrowed the search to the nodes in `names` */
	uint32_t name_count;
	const struct bt_str *names;
	void *pre_filter_data; /* put into the cycle instead of calling PreFilter */
};

struct bt_object; /* api/object.h */

/**
 * Data that the cycles of a pod group's pods share. The data outlives all these cycles, including
 * the cycles of pods that wait in Permit.
 */
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
	bool pre_bind_flights_done; /* skip_pre_bind and parallel_pre_bind are valid */
	/** Latest time for the next call of a PreBind or Bind plugin that returned Wait. */
	int64_t wake_ns;
	bool skip_all_post_filter;
	bool record_plugin_metrics;
	/** Cause of the cancellation, in the arena; "" if the cycle is not canceled. */
	struct bt_str cancel_cause;
	/**
	 * Set in the comparison runs of BERTH_VERIFY=1: plugins must compute their results from the
	 * pods, not from counters.
	 */
	bool plain;
	/**
	 * Set while the engine chooses a node, because the state does not change meanwhile: plugins
	 * may keep pointers to counters instead of copies. After the choice, the engine clears the
	 * flag and drops the data of plugins with columns_per_cycle (unless keeps_cycle_data),
	 * because the counters change before later extension points run.
	 */
	bool borrows_counters;
	/**
	 * By slot: 1 if Score must see the node without its pods, because an extender returned the
	 * node as an object; else 0. NULL: Score sees every node with its pods.
	 */
	const uint8_t *without_pods;
	/** Set in a pod group's scheduling cycle, NULL in a single pod's. Borrowed. */
	struct bt_group_state *group;
	/**
	 * Objects that plugins still read after the state changed. The cycle holds one reference to
	 * each.
	 */
	BT_VEC(struct bt_object *) kept;
	/** Pods to activate at the end of a successful cycle: keys "namespace/name" (spec 02
	 * section 3). */
	BT_VEC(struct bt_str) pods_to_activate;
};

void bt_cycle_state_init(
	struct bt_cycle_state *cycle, struct bt_arena *arena, uint32_t plugin_count);
void bt_cycle_state_finish(struct bt_cycle_state *cycle);
/**
 * Copies a cycle for a what-if run: the skip sets, the keyed data (with its clone functions), plain
 * and the other flags. Data by plugin index is shared, because the cycle does not know the plugins:
 * runners and plugins call bt_framework_clone_cycle (framework.h) instead. The clone uses the same
 * arena. memo, without_pods, cancel_cause, kept, pods_to_activate and borrows_counters are not
 * copied. Finish the clone with bt_cycle_state_finish.
 */
void bt_cycle_state_clone(const struct bt_cycle_state *cycle, struct bt_cycle_state *out_clone);

/** Fails with BERTH_ERR_NOT_FOUND and text "not found" if the key is absent. */
BT_MUST_USE int bt_cycle_state_read(const struct bt_cycle_state *cycle, struct bt_str key,
	void **out_data, struct berth_error *err);
/** Stores data under a copy of key; replaces older data. clone: see bt_cycle_datum. */
void bt_cycle_state_write(struct bt_cycle_state *cycle, struct bt_str key, void *data,
	void *(*clone)(const void *data, struct bt_arena *arena));
void bt_cycle_state_delete(struct bt_cycle_state *cycle, struct bt_str key);
#endif
