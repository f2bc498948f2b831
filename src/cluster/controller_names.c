/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/nanoseconds.h"
#include "cluster/hub.h"

const struct bt_controller_row bt_controller_rows[] = {
#define BT_CONTROLLER(name, ops) {(name), &(ops)},
#include "cluster/controllers.def"
#undef BT_CONTROLLER
	{NULL, NULL},
};

const struct bt_controllers_options bt_controllers_default_options = {
	.pod_start_delay_ns = BT_NS_PER_SECOND,
	.pod_stop_delay_ns = BT_NS_PER_SECOND,
	.provision_delay_ns = BT_NS_PER_SECOND,
	.job_run_time_ns = INT64_C(5000000000),
};

bool bt_controllers_has(const struct bt_controllers_options *options, const char *name)
{
	bool others = true;

	for (uint32_t i = 0; i < options->name_count; i++) {
		const char *wanted = options->names[i];
		if (strcmp(wanted, name) == 0) {
			return true;
		}
		if (wanted[0] == '-' && strcmp(wanted + 1, name) == 0) {
			return false;
		}
	}
	/* Only names that switch something on leave the unnamed ones off. */
	for (uint32_t i = 0; i < options->name_count; i++) {
		if (strcmp(options->names[i], "*") == 0) {
			return true;
		}
		others = others && options->names[i][0] == '-';
	}
	return others;
}

int bt_controllers_check_names(
	const struct bt_controllers_options *options, struct berth_error *err)
{
	for (uint32_t i = 0; i < options->name_count; i++) {
		const char *name = options->names[i];
		const char *bare = name[0] == '-' ? name + 1 : name;
		bool known = strcmp(name, "*") == 0;

		for (const struct bt_controller_row *row = bt_controller_rows; row->name != NULL;
			row++) {
			known = known || strcmp(bare, row->name) == 0;
		}
		if (!known) {
			return bt_error_set(err, BERTH_ERR_INVALID,
				"\"%s\" is not in the list of known controllers", bare);
		}
	}
	return 0;
}
