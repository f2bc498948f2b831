/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_FRAMEWORK_PROFILE_POINTS_H
#define BT_FRAMEWORK_PROFILE_POINTS_H
/** The effective list of each extension point, for the building of profiles. Spec: 02 section 8. */
#include "framework/framework.h"

/** Set `<before>"<name>"<after>`, the name quoted as Go does. Returns code. */
int bt_profile_set_quoted(struct berth_error *err, int code, struct bt_str before,
	struct bt_str name, struct bt_str after);
/**
 * Fill the lists from each point's own entries, then from multiPoint (spec 02 sections 8.4 step 4
 * and 8.5). Instances exist already.
 */
BT_MUST_USE int bt_profile_build_points(struct bt_framework *framework, struct berth_error *err);
/**
 * Weights of a point's list, spec 02 section 8.6: by name, the first entry counts, even one that
 * the point disables. prefix: "score plugins" or "placement score plugins".
 */
BT_MUST_USE int bt_profile_set_weights(struct bt_framework *framework,
	enum bt_extension_point point, const char *prefix, struct berth_error *err);
#endif
