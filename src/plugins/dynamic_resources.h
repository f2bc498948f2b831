/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_PLUGINS_DYNAMIC_RESOURCES_H
#define BT_PLUGINS_DYNAMIC_RESOURCES_H
/** Between the files of the DynamicResources plugin. */
#include "framework/plugin.h"

/* dynamic_resources_hints.c: spec 04 (hints) section 6.15 */

enum bt_hint_scope bt_dynamic_resources_hint_scope(struct bt_plugin *plugin,
	const struct bt_shape *shape, const struct bt_cluster_event *event, const void *old_object,
	const void *new_object);
int bt_dynamic_resources_events_to_register(struct bt_plugin *plugin,
	const struct bt_event_registration **out_events, uint32_t *out_count,
	struct berth_error *err);
#endif
