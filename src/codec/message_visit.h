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
 * Visits the fields of value in table order. value must be the caller's own deep copy, made by
 * bt_message_copy, because the visit changes lists and inner messages. Scalars are visited only if
 * they are nullable. If the visitor replaces keys of a map, the map may no longer be sorted.
 */
void bt_message_visit(
	const struct bt_message *message, const struct bt_message_visitor *visitor, void *value);
#endif
