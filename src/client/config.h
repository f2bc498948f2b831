/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLIENT_CONFIG_H
#define BT_CLIENT_CONFIG_H
/**
 * Configuration for connecting to an API server: from a kubeconfig file, from the files of a pod
 * (in-cluster), or with a server given on the command line. Spec: 13 sections 4 and 5. The
 * functions of this header do not connect. Tokens, certificates and CA bundles that are in files
 * may change while a process runs. The configuration has only the paths of these files;
 * client/transport.h reads them.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "codec/message.h"

/** Inline data, or the path of a file. Both empty: absent. */
struct bt_client_material {
	struct bt_str data; /* decoded; data NULL: absent */
	struct bt_str file; /* absolute, or relative to the working directory */
};

enum bt_exec_interactive {
	BT_EXEC_INTERACTIVE_NEVER,
	BT_EXEC_INTERACTIVE_IF_AVAILABLE,
	BT_EXEC_INTERACTIVE_ALWAYS,
};

/** A credential plugin. Spec 13 section 6.5. */
struct bt_client_exec {
	struct bt_str command;
	bt_str_list args;
	BT_LIST(struct bt_str_pair) env;
	struct bt_str api_version;
	struct bt_str install_hint;
	bool provide_cluster_info;
	enum bt_exec_interactive interactive_mode;
	struct bt_str cluster_extension; /* JSON text of the cluster's exec extension, or "" */
};

/** All memory belongs to `arena`. */
struct bt_client_config {
	struct bt_arena arena;
	struct bt_str server;   /* as configured; requests use base_url */
	struct bt_str base_url; /* scheme, host, port, and path prefix without a trailing slash */
	bool is_tls;
	struct bt_str tls_server_name;
	bool insecure;
	struct bt_client_material ca;
	struct bt_str proxy_url; /* "": taken from the environment */
	struct bt_client_material certificate;
	struct bt_client_material key;
	struct bt_str token;
	struct bt_str token_file;
	struct bt_str username;
	struct bt_str password;
	struct bt_str impersonate;
	struct bt_str impersonate_uid;
	bt_str_list impersonate_groups;
	BT_LIST(struct bt_str_pair) impersonate_extra; /* one pair for each value of a key */
	const struct bt_client_exec *exec;             /* NULL: none */
	struct bt_str context; /* set by bt_client_config_load_context; "" in a cluster */
};

struct bt_client_config_input {
	const char *kubeconfig; /* "" or NULL: none */
	const char *master;     /* "" or NULL: none */
	/** NULL: /var/run/secrets/kubernetes.io/serviceaccount; only tests set another folder. */
	const char *service_account_folder;
};

/**
 * Selects and reads the configuration as upstream does, with upstream's warnings (logged) and
 * errors. Spec 13 sections 4.1 to 4.5, 5. Reads the environment.
 */
BT_MUST_USE int bt_client_config_load(const struct bt_client_config_input *input,
	struct bt_client_config *out_config, struct berth_error *err);
/**
 * Parses a kubeconfig's text; path is used in messages and to resolve relative file names. path ""
 * or NULL: there is no kubeconfig, and text is empty. *out_nothing (may be NULL): whether the error
 * is that there is no configuration at all; unchanged if the text cannot be parsed.
 */
BT_MUST_USE int bt_client_config_parse(struct bt_str text, const char *path, const char *master,
	struct bt_client_config *out_config, bool *out_nothing, struct berth_error *err);
/**
 * Loads a configuration as kubectl does: from input->kubeconfig, else from the merged files of
 * KUBECONFIG, else from ~/.kube/config, else from the in-cluster files. input->master is ignored.
 * context NULL: the current context. Error messages are for users: they name the file and say what
 * to do.
 */
BT_MUST_USE int bt_client_config_load_context(const struct bt_client_config_input *input,
	const char *context, struct bt_client_config *out_config, struct berth_error *err);
/** Wipes secrets. All-zero memory is accepted. */
void bt_client_config_finish(struct bt_client_config *config);
#endif
