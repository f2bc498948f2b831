/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_LIB_ADAPTED_H
#define BT_LIB_ADAPTED_H
/** An instance of a plugin outside of the tree; shared by the two files of the adapter. */
#include "berth/plugin.h"
#include "framework/framework.h"
#include "framework/plugin.h"
#include "lib/convert.h"

struct bt_adapted {
	struct bt_plugin base;       /* what the framework holds */
	struct bt_plugin_ops inside; /* only the slots that the plugin has */
	struct berth_plugin *plugin;
	struct berth_plugin_ops outside; /* the plugin's table; what it does not know is NULL */
	const struct bt_handle *handle;
	struct berth_raw_args args;
	struct bt_arena column_arena; /* of one call for many nodes */
	/* What it registered, with functions of the adapter in place of its own. */
	BT_VEC(struct bt_event_registration) events;
	berth_queueing_hint_fn hints[BERTH_HINTS_MAX];
	uint32_t hint_count;
};

static inline struct bt_adapted *bt_adapted_of(struct bt_plugin *plugin)
{
	return (struct bt_adapted *)(void *)plugin;
}

static inline struct bt_str bt_adapted_node_name(const struct bt_adapted *adapted, uint32_t slot)
{
	return bt_node_table_name(&adapted->handle->state->nodes, slot);
}

/** A plugin's answer, made safe: a code that is none becomes an error. */
struct bt_status bt_adapted_status(
	const struct bt_adapted *adapted, struct bt_status status, struct bt_arena *arena);

/** A slot of the framework's table, if the plugin has it. */
#define BT_ADAPTED_FILL(adapted, slot, function) \
	((adapted)->inside.slot = (adapted)->outside.slot != NULL ? (function) : NULL)

/** The slots of the scheduling cycle. */
void bt_adapted_fill_cycle(struct bt_adapted *adapted);
/** The slots of queueing, and those after a node is chosen. */
void bt_adapted_fill_rest(struct bt_adapted *adapted);
#endif
