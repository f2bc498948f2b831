/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_PLUGINS_VOLUME_BINDING_H
#define BT_PLUGINS_VOLUME_BINDING_H
/** Parts of VolumeBinding that others need: its binder, its hints, its score. Spec: 07 sections 5,
 * 10 and 12. */
#include "plugins/volume_binder.h"

/** Put another binder in the place of the plugin's own. consumed. */
void bt_volume_binding_set_binder(struct bt_plugin *plugin, struct bt_volume_binder *binder);
/** A claim by namespace and name; NULL: there is none. */
typedef const struct bt_persistent_volume_claim *(*bt_claim_getter)(
	void *context, struct bt_str namespace_, struct bt_str name);
/** Put another source of claims in the place of the state, for PreFilter. */
void bt_volume_binding_set_claims(
	struct bt_plugin *plugin, bt_claim_getter get_claim, void *context);
struct bt_volume_binder *bt_volume_binding_binder(const struct bt_plugin *plugin);

/** Spec 07 section 12. */
extern const struct bt_event_registration bt_volume_binding_events[];
extern const uint32_t bt_volume_binding_event_count;

/** A point of the utilization shape, its score scaled to 0..100. */
struct bt_volume_shape_point {
	int64_t utilization;
	int64_t score;
};

#endif
