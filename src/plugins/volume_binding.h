/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_PLUGINS_VOLUME_BINDING_H
#define BT_PLUGINS_VOLUME_BINDING_H
/**
 * Functions of VolumeBinding for other files and tests: its binder, hints and score. Spec: 07
 * sections 5, 10 and 12.
 */
#include "plugins/volume_binder.h"

/** Replace the plugin's binder. Consumes binder. */
void bt_volume_binding_set_binder(struct bt_plugin *plugin, struct bt_volume_binder *binder);
/** Finds a claim by namespace and name; NULL: there is none. */
typedef const struct bt_persistent_volume_claim *(*bt_claim_getter)(
	void *context, struct bt_str namespace_, struct bt_str name);
/** Replace the source of claims for PreFilter, which is the state by default. */
void bt_volume_binding_set_claims(
	struct bt_plugin *plugin, bt_claim_getter get_claim, void *context);
struct bt_volume_binder *bt_volume_binding_binder(const struct bt_plugin *plugin);

/** Spec 07 section 12. */
extern const struct bt_event_registration bt_volume_binding_events[];
extern const uint32_t bt_volume_binding_event_count;
#endif
