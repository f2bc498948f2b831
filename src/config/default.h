/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CONFIG_DEFAULT_H
#define BT_CONFIG_DEFAULT_H
/** Defaults of a document. Spec: 10 section 6, 02 sections 8.2 and 8.3. */
#include "config/gates.h"
#include "config/schema.h"
#include "config/text_set.h"

/**
 * Values of fields that the document does not mention: set before decoding, so that an explicit
 * zero survives.
 */
struct bt_config_document bt_document_initial(void);

/** Fills in the arguments that the document does not set. kind is set. */
void bt_plugin_args_default(
	struct bt_plugin_args *args, const struct bt_gates *gates, struct bt_arena *arena);

/**
 * Fills in everything else, after decoding. Arguments are decoded already (or their source is
 * NULL).
 *
 * @overridden collects the default plugins that a profile lists again, once per occurrence.
 */
void bt_document_default(struct bt_config_document *document, const struct bt_gates *gates,
	struct bt_arena *arena, bt_str_list *overridden);

/** Names enabled at any point of a profile, each once, sorted by bytes; in the arena. */
bt_str_list bt_plugins_enabled_names(
	const struct bt_config_plugins *plugins, struct bt_arena *arena);
#endif
