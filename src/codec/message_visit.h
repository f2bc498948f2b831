/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CODEC_MESSAGE_VISIT_H
#define BT_CODEC_MESSAGE_VISIT_H
/** Visits every text of a message by its field tables, to collect or replace texts. */
#include "codec/message.h"

struct bt_message_visitor {
	void *context;
	/**
	 * Called for each present text, list element, map key (is_key) and map value. May replace
	 * the text; data NULL removes single and nullable texts.
	 */
	void (*text)(void *context, const struct bt_message *message, const struct bt_field *field,
		bool is_key, struct bt_str *text);
	/** Called for each present nullable scalar; field->scalar is its type. */
	void (*scalar)(void *context, const struct bt_field *field, void *value);
	/**
	 * Called before the texts of a map entry (with its key) or of an element of a list of
	 * texts; false removes the entry or element.
	 */
	bool (*keeps)(void *context, const struct bt_message *message, const struct bt_field *field,
		struct bt_str text);
};

/**
 * Visits in table order. value must be a deep copy (bt_message_copy) owned by the caller, because
 * lists and inner messages are changed. Scalars are visited only if they are nullable. Maps are no
 * longer sorted after keys were replaced.
 */
void bt_message_visit(
	const struct bt_message *message, const struct bt_message_visitor *visitor, void *value);
#endif
