/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CONFIG_VALIDATE_H
#define BT_CONFIG_VALIDATE_H
/** Validation of the internal form: every rule, in upstream's order, nothing stops at the first.
 * Spec: 10 section 8. */
#include "config/error_list.h"
#include "config/gates.h"
#include "config/schema.h"

/** The whole document. */
void bt_document_validate(const struct bt_config_document *document, const struct bt_gates *gates,
	struct bt_config_errors *errors);
/** Arguments of one plugin at path (NULL: fields start the path), spec 10 section 8.5. */
void bt_plugin_args_check(const struct bt_plugin_args *args, const struct bt_gates *gates,
	const struct bt_path *path, struct bt_config_errors *errors);
/** One error per message of the label key rules. Returns whether the key is valid. */
bool bt_label_key_check(
	struct bt_str key, const struct bt_path *path, struct bt_config_errors *errors);
#endif
