/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_FRAMEWORK_EVENTS_H
#define BT_FRAMEWORK_EVENTS_H
/**
 * Cluster events: their names, how incoming events match registrations, and the events that the
 * plugins of a profile register. Spec: 02 section 10, 04 (hints) sections 2 and 3.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "framework/cluster_event.h"
#include "framework/framework.h"

/**
 * Returns the name of an action with a single bit, "Update" or "All" for these masks, "" for any
 * other combination of bits.
 */
const char *bt_action_name(uint32_t action);
/** Appends the event's label to out: resource and name of the action, for example "NodeAdd". */
void bt_cluster_event_label(const struct bt_cluster_event *event, struct bt_strbuf *out);
/** Whether the event stands for any resource and all actions. */
bool bt_cluster_event_is_wildcard(const struct bt_cluster_event *event);
/** Whether the incoming event matches the registered event. Spec: 02 section 10.1. */
bool bt_cluster_event_match(
	const struct bt_cluster_event *registered, const struct bt_cluster_event *incoming);

/** A registration of one plugin. */
struct bt_event_hint {
	struct bt_plugin *plugin; /* NULL: the pseudo plugin "Extender" */
	struct bt_cluster_event event;
	bt_hint_function hint; /* NULL: the event always queues the pod */
	uint32_t registration; /* index of the registration in the plugin's list */
};

/** Name of the pseudo plugin that stands for all extenders. */
#define BT_EXTENDER_PLUGIN_NAME "Extender"

/**
 * The registrations of one profile: first the extenders' registrations, then those of the plugins
 * by plugin index. The registrations of one plugin keep the plugin's order.
 */
struct bt_event_hints {
	BT_VEC(struct bt_event_hint) items;
};

/**
 * Collects the events of the extenders and of every plugin instance that implements PreEnqueue,
 * PreFilter, Filter, Reserve or Permit, even if the plugin is not enabled at that point. Extenders
 * and plugins without EventsToRegister get the default events. On failure, err has the errors of
 * all plugins, joined by newlines.
 */
BT_MUST_USE int bt_event_hints_create(const struct bt_framework *framework,
	struct bt_event_hints *out_hints, struct berth_error *err);
#endif
