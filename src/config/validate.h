/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CONFIG_VALIDATE_H
#define BT_CONFIG_VALIDATE_H
/**
 * Validates the decoded and defaulted configuration. All rules run in upstream's order, even if an
 * earlier rule found an error. Spec: 10 section 8.
 */
#include "config/error_list.h"
#include "config/gates.h"
#include "config/schema.h"

/** Validates the whole document. */
void bt_document_validate(const struct bt_config_document *document, const struct bt_gates *gates,
	struct bt_config_errors *errors);
/**
 * Validates the arguments of one plugin (spec 10 section 8.5). Each message begins with path, the
 * path of the arguments; if path is NULL, messages begin with the name of the field.
 */
void bt_plugin_args_check(const struct bt_plugin_args *args, const struct bt_gates *gates,
	const struct bt_path *path, struct bt_config_errors *errors);
/**
 * Adds one error for each rule of label keys that the key violates. Returns true if the key is
 * valid.
 */
bool bt_label_key_check(
	struct bt_str key, const struct bt_path *path, struct bt_config_errors *errors);
/** Adds the error `what` if the duration is below least_ns. */
void bt_duration_check(int64_t duration_ns, int64_t least_ns, const char *what,
	const struct bt_path *path, struct bt_config_errors *errors);
#endif
