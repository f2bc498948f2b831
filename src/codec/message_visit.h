/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CODEC_MESSAGE_VISIT_H
#define BT_CODEC_MESSAGE_VISIT_H
/** Every text of a message, by its field tables: to collect them, or to put others in their place.
 */
#include "codec/message.h"

struct bt_message_visitor {
	void *context;
	/**
	 * A text, an element of a list, or a key (is_key) or a value of a map, as far as it is
	 * there. It may be replaced; data NULL takes single and nullable ones away.
	 */
	void (*text)(void *context, const struct bt_message *message, const struct bt_field *field,
		bool is_key, struct bt_str *text);
	/** A nullable scalar that is there: field->scalar says what it is. */
	void (*scalar)(void *context, const struct bt_field *field, void *value);
	/** Before the texts of an entry of a map (its key) or an element of a list of texts: false
	 * takes it away. */
	bool (*keeps)(void *context, const struct bt_message *message, const struct bt_field *field,
		struct bt_str text);
};

/**
 * In the order of the tables. value: a deep copy of the caller's own (bt_message_copy), as lists
 * and inner messages are written to. Of scalars the nullable ones are told, and
 * the keys of maps. Maps are no longer sorted when keys were replaced.
 */
void bt_message_visit(
	const struct bt_message *message, const struct bt_message_visitor *visitor, void *value);
#endif
