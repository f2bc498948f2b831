/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SERVER_ENCODE_PRIVATE_H
#define BT_SERVER_ENCODE_PRIVATE_H
/** Shared by encode.c and encode_list.c. */
#include "server/encode.h"

/** Writes JSON text as YAML. If the conversion fails, writes the JSON text, which is valid YAML. */
void bt_encode_yaml(struct bt_str json, struct bt_strbuf *out);
/**
 * Returns the object's text with its managedFields (tables leave them out); borrowed until the next
 * call.
 */
struct bt_str bt_encode_text(struct bt_encoder *encoder, const struct bt_stored *stored);
/**
 * Parses a stored text into a tree of the resource's version, in the encoder's arena, which is
 * emptied first. rv: resourceVersion to set in the metadata; 0: keep the resourceVersion of the
 * object.
 */
struct bt_json_value *bt_encode_parse(struct bt_encoder *encoder, struct bt_str text, uint64_t rv);
/**
 * Returns the object in this view (not a table), with kind and apiVersion as its first members. The
 * result shares the members' values.
 */
struct bt_json_value *bt_encode_view(
	struct bt_encoder *encoder, enum bt_view view, const struct bt_json_value *object);
/** Returns the apiVersion of objects in this view. */
struct bt_str bt_encode_api_version(struct bt_encoder *encoder, enum bt_view view);
/** Writes one row of a table. */
void bt_encode_row(struct bt_encoder *encoder, const struct bt_json_value *object,
	struct bt_json_writer *writer);
/** Appends the object in the encoder's view as a protobuf message. */
void bt_encode_message(
	struct bt_encoder *encoder, const struct bt_json_value *object, struct bt_strbuf *out);
/** Appends an unsigned protobuf varint. */
void bt_encode_varint(struct bt_strbuf *out, uint64_t value);
/** Appends a protobuf field of type bytes. */
void bt_encode_field(struct bt_strbuf *out, uint32_t number, struct bt_str bytes);
#endif
