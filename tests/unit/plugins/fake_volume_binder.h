/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_TESTS_UNIT_PLUGINS_FAKE_VOLUME_BINDER_H
#define BT_TESTS_UNIT_PLUGINS_FAKE_VOLUME_BINDER_H
/** A volume binder with scripted answers. Spec: 07 section 16.3. */
#include "plugins/volume_binding.h"

struct fake_volume_binder {
	struct bt_volume_binder base;
	bool all_bound;
	uint32_t find_conflicts;
	const char *find_error;
	const char *assume_error;
	const char *bind_error;
	bool assume_called;
	bool bind_called;
};

/** Returns a binder for bt_volume_binding_set_binder, whose plugin then owns the binder. */
struct fake_volume_binder *fake_volume_binder_create(const struct fake_volume_binder *config);
#endif
