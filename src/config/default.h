/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CONFIG_DEFAULT_H
#define BT_CONFIG_DEFAULT_H
/** Fills in the defaults of a document. Spec: 10 section 6, 02 sections 8.2 and 8.3. */
#include "base/text_set.h"
#include "config/gates.h"
#include "config/schema.h"

/**
 * Sets the fields of a plugin's arguments that the document does not set. args->kind must be set.
 */
void bt_plugin_args_default(
	struct bt_plugin_args *args, const struct bt_gates *gates, struct bt_arena *arena);

/**
 * Fills in, after decoding, all defaults that bt_config_create does not set. Plugin arguments
 * must be decoded already, or have a NULL source.
 *
 * @overridden  gets, profile by profile, the default plugins that the profile lists again
 */
void bt_document_default(struct bt_config_document *document, const struct bt_gates *gates,
	struct bt_arena *arena, bt_str_list *overridden);

/**
 * Returns the names of the plugins that a profile enables at any point. Each name is listed once;
 * the list is sorted by bytes and is in the arena.
 */
bt_str_list bt_plugins_enabled_names(
	const struct bt_config_plugins *plugins, struct bt_arena *arena);
#endif
