/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLIENT_CONFIG_PRIVATE_H
#define BT_CLIENT_CONFIG_PRIVATE_H
/**
 * Kubeconfig internals, shared by config.c (selects the configuration and evaluates the current
 * context) and config_parse.c (parses a kubeconfig).
 */
#include "client/config.h"

static inline bool bt_is_given(const char *text)
{
	return text != NULL && text[0] != '\0';
}

/** Maximum bytes of a kubeconfig, and of each file that it names. */
#define BT_CLIENT_FILE_BYTES_MAX (UINT32_C(4) << 20)

/**
 * Parses a kubeconfig. Errors have no prefix naming the file (spec 13 section 4.3). Relative file
 * names are resolved against the folder of `path`, or against the working directory if `path` is
 * "".
 */
BT_MUST_USE int bt_kubeconfig_read(struct bt_str text, const char *path, struct bt_arena *arena,
	struct bt_kubeconfig *out_file, struct berth_error *err);

/**
 * Fills config from the current context, and reports all problems in one error (spec 13 section
 * 4.4). *out_nothing (may be NULL): whether the error is that there is no configuration at all.
 */
BT_MUST_USE int bt_kubeconfig_select(const struct bt_kubeconfig *file, const char *master,
	struct bt_client_config *config, bool *out_nothing, struct berth_error *err);

/**
 * Builds the in-cluster configuration (spec 13 section 5). BERTH_ERR_NOT_FOUND: the environment
 * variables of a pod are not set.
 */
BT_MUST_USE int bt_client_config_in_cluster(const struct bt_client_config_input *input,
	struct bt_client_config *out_config, struct berth_error *err);
#endif
