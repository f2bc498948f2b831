/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_FRAMEWORK_CYCLE_STATE_H
#define BT_FRAMEWORK_CYCLE_STATE_H
/**
 * What one pod's cycle remembers between extension points. Spec: 02 section 3. Two stores: data by
 * plugin index (what in-tree plugins use, O(1)) and data by key (CycleState's Read/Write/Delete,
 * for everybody else).
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
 * Answers a caller knows already because they depend on the pod's shape only: the runners take them
 * instead of asking the plugin. PreScore data is then in the cycle already.
 */
struct bt_cycle_memo {
	bool pre_filter_known;
	bool pre_score_known;
	struct bt_status pre_filter_status;
	struct bt_status pre_score_status;
	bool restricted; /* the narrowing of a PreFilter that succeeded */
	uint32_t name_count;
	const struct bt_str *names;
	void *pre_filter_data; /* put into the cycle when the plugin's turn comes */
};

struct bt_object; /* api/object.h */

/** What the cycles of a pod group's pods share; outlives all of them, held ones too. */
struct bt_group_state {
	struct bt_arena *arena;
	void **data; /* by plugin index; NULL = not written */
};

struct bt_cycle_state {
	struct bt_arena *arena; /* the cycle's; reset when the cycle ends */
	void **pre_filter_data; /* by plugin index; NULL = not written */
	void **pre_score_data;
	uint32_t plugin_count;
	const struct bt_cycle_memo *memo; /* by plugin index; NULL: ask every plugin */
	BT_VEC(struct bt_cycle_datum) data;
	struct bt_plugin_set skip_filter;
	struct bt_plugin_set skip_score;
	struct bt_plugin_set skip_pre_bind;
	struct bt_plugin_set parallel_pre_bind;
	bool pre_bind_flights_done; /* the two sets above are meaningful */
	/** PreBind and Bind: when a plugin that answered Wait wants to be asked again at the
	 * latest. */
	int64_t wake_ns;
	bool skip_all_post_filter;
	bool record_plugin_metrics;
	/** Why the binding was called off; "" while it was not. In the arena. */
	struct bt_str cancel_cause;
	/** Plugins must compute from the pods themselves, not from counters kept for speed:
	 * verification twins set it. */
	bool plain;
	/**
	 * The cycle ends before the state changes: plugins may keep pointers to counters instead of
	 * copies. Set by the engine while it decides; then the data of plugins with
	 * columns_per_cycle is forgotten (unless keeps_cycle_data), for those who go on with the
	 * cycle. Cycles of others may outlive what they looked at.
	 */
	bool borrows_counters;
	/**
	 * By slot: Score sees the node without its pods (an extender sent it back as an object).
	 * NULL: no such node.
	 */
	const uint8_t *without_pods;
	/** In a pod-group scheduling cycle; NULL: in that of a pod. Borrowed. */
	struct bt_group_state *group;
	/** Objects that plugins go on looking at while the state changes: a reference to each. */
	BT_VEC(struct bt_object *) kept;
	/** Pods to activate at the end of a successful cycle: keys "namespace/name" (spec 02
	 * section 3). */
	BT_VEC(struct bt_str) pods_to_activate;
};

void bt_cycle_state_init(
	struct bt_cycle_state *cycle, struct bt_arena *arena, uint32_t plugin_count);
void bt_cycle_state_finish(struct bt_cycle_state *cycle);
/**
 * Copy for a what-if run: keyed data through their clone functions; flags and sets copied; indexed
 * data shared, since the cycle does not know the plugins: bt_framework_clone_cycle (framework.h) is
 * what runners and plugins call. The clone uses the same arena; its pods_to_activate start empty (a
 * what-if run activates nothing).
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
