/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_DAEMON_OPTIONS_PRIVATE_H
#define BT_DAEMON_OPTIONS_PRIVATE_H
/** Shared by options.c and options_check.c, the files of options.h. */
#include "config/error_list.h"
#include "daemon/flag_values.h"
#include "daemon/options.h"

/** Check the logging flags: spec 11 section 4.10. Returns BERTH_ERR_INVALID with all errors. */
BT_MUST_USE int bt_logging_check(const struct bt_daemon_flag_value *values,
	const struct bt_gates *gates, struct berth_error *err);
/** Check --secure-port and the request-header flags: spec 11 sections 4.3, 4.4. Logs warnings. */
void bt_serving_validate(const struct bt_daemon_options *options, struct bt_config_errors *errors);
/**
 * Check TLS options and always-allowed paths, which upstream checks when it builds the endpoints.
 * Logs warnings. Spec 11 sections 4.3, 4.5.
 */
BT_MUST_USE int bt_serving_check(const struct bt_daemon_options *options, struct berth_error *err);
/**
 * Check the flags for metrics, and fill options->metrics.allowed from the flag or the manifest.
 * Spec 11 section 4.9.
 */
void bt_metrics_flags_take(struct bt_daemon_options *options,
	const struct bt_daemon_flag_value *values, struct bt_config_errors *errors);
#endif
