/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_DAEMON_OPTIONS_H
#define BT_DAEMON_OPTIONS_H
/**
 * The command line of kube-scheduler v1.36: all flags, their meaning, and the checks. Spec: 11
 * sections 4 and 5, 10 section 9.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/strbuf.h"
#include "config/load.h"
#include "config/versions.h"
#include "daemon/klog.h"

/* Texts of the options are zero-terminated, except those of struct bt_sni_certificate. */

struct bt_sni_certificate {
	struct bt_str certificate_file;
	struct bt_str key_file;
	bt_str_list names; /* empty: the names in the certificate */
};

struct bt_serving_options {
	struct bt_str bind_address;
	int64_t secure_port; /* 0: no server */
	struct bt_str cert_dir;
	struct bt_str cert_file;
	struct bt_str key_file;
	bt_str_list cipher_suites;
	BT_LIST(int32_t) curve_preferences;
	struct bt_str min_tls_version;
	BT_LIST(struct bt_sni_certificate) sni;
	bool permit_port_sharing;
};

struct bt_authentication_options {
	struct bt_str kubeconfig;
	int64_t token_cache_ttl_ns;
	bool skip_lookup;
	bool tolerate_lookup_failure;
	struct bt_str client_ca_file;
	struct bt_str requestheader_client_ca_file;
	bt_str_list requestheader_username_headers;
	bt_str_list requestheader_uid_headers;
	bt_str_list requestheader_group_headers;
	bt_str_list requestheader_extra_prefixes;
	bt_str_list requestheader_allowed_names;
};

struct bt_authorization_options {
	struct bt_str kubeconfig;
	int64_t allow_cache_ttl_ns;
	int64_t deny_cache_ttl_ns;
	bt_str_list always_allow_paths;
};

struct bt_allowed_label {
	struct bt_str metric;
	struct bt_str label;
	bt_str_list values;
};

struct bt_metrics_options {
	struct bt_str show_hidden_for_version;
	bt_str_list disabled;
	BT_LIST(struct bt_allowed_label) allowed; /* from the flag or from the manifest */
};

/** One flag, for the log lines `FLAG: ...` and for /flagz. */
struct bt_flag_value {
	const char *name;
	struct bt_str value; /* as pflag prints the value */
};

/** All values of the command line. The arena owns the memory. */
struct bt_daemon_options {
	struct bt_arena arena;
	struct bt_str config_file;
	struct bt_str write_config_to;
	struct bt_str master;
	struct bt_config_flags config_flags; /* flags that override the file: spec 10 section 9 */
	int64_t pod_max_in_unschedulable_ns;
	struct bt_serving_options serving;
	struct bt_authentication_options authentication;
	struct bt_authorization_options authorization;
	struct bt_metrics_options metrics;
	struct bt_klog_options log;
	struct bt_versions versions;
	struct bt_gates gates;
	BT_LIST(struct bt_flag_value) flags; /* sorted by name */
};

/** What to do after the command line was read. */
enum bt_options_next {
	BT_OPTIONS_GO_ON,
	BT_OPTIONS_EXIT_OK,      /* help or version was printed */
	BT_OPTIONS_EXIT_FAILURE, /* a message was printed */
};

/**
 * Parse argv (without the program's name), install the log output, apply versions and gates, and
 * check the flags (spec 11 section 6.1, steps 1 to 5). Prints usage and `Error: ...`, or logs
 * `"command failed" err=...`. out_options must be finished whatever is returned.
 */
enum bt_options_next bt_daemon_options_parse(
	int argc, char **argv, struct bt_daemon_options *out_options);
/** Remove the log sink and free the options. */
void bt_daemon_options_finish(struct bt_daemon_options *options);
/**
 * True if reflectors get their first list as a stream: the gate WatchListClient is enabled, and the
 * environment does not have KUBE_FEATURE_WatchListClient=false (spec 13 section 2).
 */
bool bt_daemon_streams_lists(const struct bt_gates *gates);

/**
 * Load the configuration: the file of --config (YAML or JSON) or the defaults, overridden by flags.
 * Errors are worded as in spec 10 section 4.
 */
BT_MUST_USE int bt_daemon_options_load_config(const struct bt_daemon_options *options,
	struct bt_config **out_config, struct berth_error *err);
/** Log `Using component config` at V(2), as upstream does after the scheduler is created. */
void bt_daemon_options_log_config(const struct bt_config *config);
/** Write the file of --write-config-to, as YAML. Logs `Wrote configuration`. */
BT_MUST_USE int bt_daemon_options_write_config(const struct bt_daemon_options *options,
	const struct bt_config *config, struct berth_error *err);
#endif
