/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_DAEMON_OPTIONS_PRIVATE_H
#define BT_DAEMON_OPTIONS_PRIVATE_H
/** Functions that the files of options.h share: parsing of values, their meaning, their checks. */
#include "config/error_list.h"
#include "daemon/flag_values.h"
#include "daemon/options.h"

/** Spec 11 section 4.10. */
BT_MUST_USE int bt_logging_check(const struct bt_daemon_flag_value *values,
	const struct bt_gates *gates, struct berth_error *err);
/** Spec 11 sections 4.3 and 4.4; logs warnings. */
void bt_serving_validate(const struct bt_daemon_options *options, struct bt_config_errors *errors);
/**
 * Checks that upstream makes when it builds the endpoints; logs warnings. Spec 11 sections 4.3,
 * 4.5.
 */
BT_MUST_USE int bt_serving_check(const struct bt_daemon_options *options, struct berth_error *err);
/** Fill options->metrics.allowed, from the flag or from the manifest. Spec 11 section 4.9. */
void bt_metrics_flags_take(struct bt_daemon_options *options,
	const struct bt_daemon_flag_value *values, struct bt_config_errors *errors);
#endif
