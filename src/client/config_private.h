/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLIENT_CONFIG_PRIVATE_H
#define BT_CLIENT_CONFIG_PRIVATE_H
/**
 * A kubeconfig as it is written. Shared by config.c (which configuration, and what its current
 * context says) and config_parse.c (reading one).
 */
#include "api/types.h"
#include "client/config.h"

/** Most bytes of a kubeconfig, and of each file that it names. */
#define BT_CLIENT_FILE_BYTES_MAX (UINT32_C(4) << 20)

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

/** In-cluster configuration (spec 13 section 5); folder: of the service account. */
BT_MUST_USE int bt_client_config_in_cluster(
	const char *folder, struct bt_client_config *out_config, struct berth_error *err);
#endif
