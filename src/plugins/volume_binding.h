/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_PLUGINS_VOLUME_BINDING_H
#define BT_PLUGINS_VOLUME_BINDING_H
/**
 * Access to a VolumeBinding instance for other files and tests: binder, source of claims, events.
 * Spec: 07 sections 5, 10 and 12.
 */
#include "plugins/volume_binder.h"

/** Replace the plugin's binder and destroy the old binder. The plugin takes over the new binder. */
void bt_volume_binding_set_binder(struct bt_plugin *plugin, struct bt_volume_binder *binder);
/** Finds a claim by namespace and name; NULL if there is none. */
typedef const struct bt_persistent_volume_claim *(*bt_claim_getter)(
	void *context, struct bt_str namespace_, struct bt_str name);
/** Replace the function that finds claims for PreFilter. By default, claims come from the state. */
void bt_volume_binding_set_claims(
	struct bt_plugin *plugin, bt_claim_getter get_claim, void *context);
struct bt_volume_binder *bt_volume_binding_binder(const struct bt_plugin *plugin);

/** Events that can make a pod rejected by VolumeBinding schedulable. Spec 07 section 12. */
extern const struct bt_event_registration bt_volume_binding_events[];
extern const uint32_t bt_volume_binding_event_count;
#endif
