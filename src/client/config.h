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

#include "api/types.h"
#include "base/arena.h"
#include "base/error.h"

/** All memory belongs to `arena`. */
struct bt_client_config {
	struct bt_arena arena;
	struct bt_kubeconfig_cluster cluster; /* requests use base_url instead of its server */
	struct bt_kubeconfig_user user;       /* names of files are absolute */
	struct bt_str base_url; /* scheme, host, port, and path prefix without a trailing slash */
	bool is_tls;
	BT_LIST(struct bt_str_pair) impersonate_extra; /* one pair for each value of a key */
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
