/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CONFIG_LOAD_H
#define BT_CONFIG_LOAD_H
/**
 * Loads a configuration file together with the command line flags that override parts of the file.
 * Spec: 10 sections 4 and 9.
 */
#include "config/config.h"

/**
 * Flags on the command line. `present` of a member is true if the flag was given, even if its value
 * is the default. All text is borrowed for the call.
 */
struct bt_config_flags {
	struct bt_opt_bool leader_elect;
	struct bt_opt_i64 lease_duration_ns;
	struct bt_opt_i64 renew_deadline_ns;
	struct bt_opt_i64 retry_period_ns;
	struct bt_str
		resource_lock; /* data is NULL if the flag is not given, as in all texts below */
	struct bt_str resource_name;
	struct bt_str resource_namespace;
	/* Deprecated flags, which apply only without a file. */
	struct bt_opt_bool profiling;
	struct bt_opt_bool contention_profiling;
	struct bt_str kubeconfig;
	struct bt_str kube_api_content_type;
	bool kube_api_qps_given;
	float kube_api_qps;
	struct bt_opt_i32 kube_api_burst;
};

struct bt_config_input {
	struct bt_str json; /* one document */
	/**
	 * The file's bytes, for messages that quote the document. If data is NULL, the messages
	 * quote json.
	 */
	struct bt_str document;
	/**
	 * Error text for the repeated keys that the YAML reader found:
	 * "yaml: unmarshal errors:\n  line 5: key \"a\" already set in map ...". The text is "" if
	 * no key is repeated; any other text becomes the first strict decoding error (spec 10
	 * section 4.3).
	 */
	struct bt_str yaml_complaint;
	const struct bt_config_flags *flags; /* NULL: no flag is given */
};

/**
 * Like bt_config_load, but also takes the flags, the file's bytes and the YAML reader's complaint.
 * Text is borrowed for the call.
 */
BT_MUST_USE int bt_config_load_input(const struct bt_config_input *input,
	const struct bt_gates *gates, struct bt_config **out_config, struct berth_error *err);

/**
 * Creates a configuration without a file: the defaults, overridden by the given flags. Does not
 * validate the result, because upstream validates only the defaults (spec 10 section 9, case 4a).
 */
BT_MUST_USE struct bt_config *bt_config_create_from_flags(
	const struct bt_gates *gates, const struct bt_config_flags *flags);
#endif
