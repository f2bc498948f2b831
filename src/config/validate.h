/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CONFIG_VALIDATE_H
#define BT_CONFIG_VALIDATE_H
/**
 * Validates the decoded and defaulted configuration: all rules run in upstream's order, also after
 * an error. Spec: 10 section 8.
 */
#include "config/error_list.h"
#include "config/gates.h"
#include "config/schema.h"

/** Validates the whole document. */
void bt_document_validate(const struct bt_config_document *document, const struct bt_gates *gates,
	struct bt_config_errors *errors);
/**
 * Validates the arguments of one plugin; messages begin with path (NULL: with the field), spec 10
 * section 8.5.
 */
void bt_plugin_args_check(const struct bt_plugin_args *args, const struct bt_gates *gates,
	const struct bt_path *path, struct bt_config_errors *errors);
/** Adds one error per violated rule of label keys. Returns whether the key is valid. */
bool bt_label_key_check(
	struct bt_str key, const struct bt_path *path, struct bt_config_errors *errors);
#endif
