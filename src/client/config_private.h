/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLIENT_CONFIG_PRIVATE_H
#define BT_CLIENT_CONFIG_PRIVATE_H
/**
 * A kubeconfig as it is written. Shared by config.c (which configuration), config_parse.c (reading
 * one), config_select.c (what its current context says) and config_url.c.
 */
#include "client/config.h"

/** Most bytes of a kubeconfig, and of each file that it names. */
#define BT_CLIENT_FILE_BYTES_MAX (UINT32_C(4) << 20)

struct bt_kubeconfig_extension {
	struct bt_str name;
	struct bt_str extension; /* JSON text */
};

struct bt_kubeconfig_cluster {
	struct bt_str server;
	struct bt_str tls_server_name;
	bool insecure;
	struct bt_str ca_file;
	struct bt_str ca_data; /* base64 first, bytes after reading; data NULL: absent */
	struct bt_str proxy_url;
	bool disable_compression;
	BT_LIST(struct bt_kubeconfig_extension) extensions;
};

struct bt_kubeconfig_env {
	struct bt_str name;
	struct bt_str value;
};

struct bt_kubeconfig_exec {
	struct bt_str command;
	bt_str_list args;
	BT_LIST(struct bt_kubeconfig_env) env;
	struct bt_str api_version;
	struct bt_str install_hint;
	bool provide_cluster_info;
	struct bt_str interactive_mode;
};

struct bt_kubeconfig_auth_provider {
	struct bt_str name;
};

struct bt_kubeconfig_user {
	struct bt_str certificate_file;
	struct bt_str certificate_data; /* as ca_data */
	struct bt_str key_file;
	struct bt_str key_data;
	struct bt_str token;
	struct bt_str token_file;
	struct bt_str username;
	struct bt_str password;
	struct bt_str as;
	struct bt_str as_uid;
	bt_str_list as_groups;
	struct bt_str as_user_extra; /* JSON text of {key: [value, ...]} */
	const struct bt_kubeconfig_exec *exec;
	const struct bt_kubeconfig_auth_provider *auth_provider;
};

struct bt_kubeconfig_context {
	struct bt_str cluster;
	struct bt_str user;
};

struct bt_kubeconfig_named_cluster {
	struct bt_str name;
	struct bt_kubeconfig_cluster cluster;
};

struct bt_kubeconfig_named_user {
	struct bt_str name;
	struct bt_kubeconfig_user user;
};

struct bt_kubeconfig_named_context {
	struct bt_str name;
	struct bt_kubeconfig_context context;
};

struct bt_kubeconfig {
	struct bt_str api_version;
	struct bt_str kind;
	struct bt_str current_context;
	BT_LIST(struct bt_kubeconfig_named_cluster) clusters;
	BT_LIST(struct bt_kubeconfig_named_user) users;
	BT_LIST(struct bt_kubeconfig_named_context) contexts;
};

/**
 * Errors without the prefix that names the file (spec 13 section 4.3). Relative files are resolved
 * against the folder of path ("": the working directory).
 */
BT_MUST_USE int bt_kubeconfig_read(struct bt_str text, const char *path, struct bt_arena *arena,
	struct bt_kubeconfig *out_file, struct berth_error *err);

/**
 * Fill config from the current context, with everything that is wrong with it collected (spec 13
 * section 4.4). *out_nothing (may be NULL): the error is that there is no configuration at all.
 */
BT_MUST_USE int bt_kubeconfig_select(const struct bt_kubeconfig *file, const char *master,
	struct bt_client_config *config, bool *out_nothing, struct berth_error *err);

/** server to base_url and is_tls (spec 13 section 4.5). */
BT_MUST_USE int bt_client_config_derive_url(
	struct bt_client_config *config, struct berth_error *err);
/** A proxy's scheme; the message says which cluster. Passwords do not appear in it. */
BT_MUST_USE int bt_client_config_check_proxy(
	struct bt_str url, struct bt_str cluster, struct berth_error *err);

/** In-cluster configuration (spec 13 section 5); folder: of the service account. */
BT_MUST_USE int bt_client_config_in_cluster(
	const char *folder, struct bt_client_config *out_config, struct berth_error *err);
#endif
