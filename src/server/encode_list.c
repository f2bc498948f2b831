/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "server/encode_private.h"
#include "server/table.h"

/* Lists, one item at a time: spec 14 sections 8.2, 14 and 18. */

static bool is_table(const struct bt_encoder *encoder)
{
	return encoder->encoding.view == BT_VIEW_TABLE;
}

static const char *list_kind(const struct bt_encoder *encoder)
{
	switch (encoder->encoding.view) {
	case BT_VIEW_OBJECT:
		return encoder->resource->list_kind;
	case BT_VIEW_METADATA:
		return "PartialObjectMetadataList";
	case BT_VIEW_TABLE:
		return "Table";
	}
	return "";
}

static struct bt_str list_api_version(struct bt_encoder *encoder)
{
	/* A Table has the same apiVersion as bare metadata. */
	return bt_encode_api_version(
		encoder, is_table(encoder) ? BT_VIEW_METADATA : encoder->encoding.view);
}

static void write_metadata(const struct bt_list_metadata *metadata, struct bt_json_writer *writer)
{
	char rv[24];

	(void)snprintf(rv, sizeof(rv), "%llu", (unsigned long long)metadata->rv);
	bt_json_write(writer, "metadata: {resourceVersion: %c, continue?: %s", rv,
		metadata->continue_token);
	if (metadata->remaining_item_count >= 0) {
		bt_json_write(
			writer, "remainingItemCount: %d", (int64_t)metadata->remaining_item_count);
	}
	bt_json_end_object(writer);
}

/**
 * Writes the members before the items: kind, apiVersion, the metadata (unless NULL) and the columns
 * of a table.
 */
static void write_head(struct bt_encoder *encoder, const struct bt_list_metadata *metadata,
	struct bt_json_writer *writer)
{
	bt_json_write(
		writer, "kind: %c, apiVersion: %s", list_kind(encoder), list_api_version(encoder));
	if (metadata != NULL) {
		write_metadata(metadata, writer);
	}
	if (is_table(encoder)) {
		bt_json_write_name_c(writer, "columnDefinitions");
		bt_table_write_columns(encoder->resource, writer);
	}
}

/**
 * Writes the ListMeta as field 1 of the list. The numbers of its fields are 2 (resourceVersion), 3
 * (continue) and 4 (remainingItemCount).
 */
static void write_metadata_message(const struct bt_list_metadata *metadata, struct bt_strbuf *out)
{
	struct bt_strbuf message = {0};
	char rv[24];

	(void)snprintf(rv, sizeof(rv), "%llu", (unsigned long long)metadata->rv);
	bt_encode_field(&message, 2, bt_str_from(rv));
	if (metadata->continue_token.length != 0) {
		bt_encode_field(&message, 3, metadata->continue_token);
	}
	if (metadata->remaining_item_count >= 0) {
		bt_encode_varint(&message, 4 << 3);
		bt_encode_varint(&message, (uint64_t)metadata->remaining_item_count);
	}
	bt_encode_field(out, 1, bt_strbuf_str(&message));
	bt_strbuf_finish(&message);
}

/** Begins one part of a larger object. end_part writes the members of the part as YAML. */
static void begin_part(struct bt_encoder *encoder, struct bt_json_writer *writer)
{
	bt_strbuf_reset(&encoder->bytes);
	bt_json_writer_init(writer, &encoder->bytes, 0);
	bt_json_begin_object(writer);
}

static void end_part(
	struct bt_encoder *encoder, struct bt_json_writer *writer, struct bt_strbuf *out)
{
	bt_json_end_object(writer);
	bt_encode_yaml(bt_strbuf_str(&encoder->bytes), out);
}

void bt_encode_list_begin(
	struct bt_encoder *encoder, const struct bt_list_metadata *metadata, struct bt_strbuf *out)
{
	encoder->item_count = 0;
	bt_arena_reset(&encoder->arena);
	switch (encoder->encoding.media) {
	case BT_MEDIA_PROTOBUF:
		if (metadata != NULL) {
			write_metadata_message(metadata, out);
		}
		break;
	case BT_MEDIA_YAML:
		begin_part(encoder, &encoder->writer);
		write_head(encoder, metadata, &encoder->writer);
		end_part(encoder, &encoder->writer, out);
		break;
	case BT_MEDIA_JSON:
		bt_json_writer_init(&encoder->writer, out, encoder->encoding.pretty ? 2 : 0);
		bt_json_begin_object(&encoder->writer);
		write_head(encoder, metadata, &encoder->writer);
		bt_json_begin_member_array(&encoder->writer, is_table(encoder) ? "rows" : "items");
		break;
	}
}

/** Writes one item in the encoder's view. */
static void write_item(
	struct bt_encoder *encoder, const struct bt_stored *stored, struct bt_json_writer *writer)
{
	const struct bt_json_value *object =
		bt_encode_parse(encoder, bt_encode_text(encoder, stored), 0);

	switch (encoder->encoding.view) {
	case BT_VIEW_TABLE:
		bt_encode_row(encoder, object, writer);
		break;
	case BT_VIEW_METADATA:
		/* Unlike objects in a list, items of bare metadata have kind and apiVersion. */
		bt_json_write_value(writer, bt_encode_view(encoder, BT_VIEW_METADATA, object));
		break;
	case BT_VIEW_OBJECT:
		bt_json_write_value(writer, object);
		break;
	}
}

static void write_yaml_item(
	struct bt_encoder *encoder, const struct bt_stored *stored, struct bt_strbuf *out)
{
	struct bt_json_writer writer;

	if (encoder->item_count == 0) {
		bt_strbuf_append_c(out, is_table(encoder) ? "rows:\n" : "items:\n");
	}
	bt_strbuf_reset(&encoder->bytes);
	bt_json_writer_init(&writer, &encoder->bytes, 0);
	bt_json_begin_array(&writer);
	write_item(encoder, stored, &writer);
	bt_json_end_array(&writer);
	bt_encode_yaml(bt_strbuf_str(&encoder->bytes), out);
}

void bt_encode_list_item(
	struct bt_encoder *encoder, const struct bt_stored *stored, struct bt_strbuf *out)
{
	switch (encoder->encoding.media) {
	case BT_MEDIA_PROTOBUF:
		bt_strbuf_reset(&encoder->bytes);
		bt_encode_message(encoder,
			bt_encode_parse(encoder, bt_encode_text(encoder, stored), 0),
			&encoder->bytes);
		bt_encode_field(out, 2, bt_strbuf_str(&encoder->bytes));
		break;
	case BT_MEDIA_YAML:
		write_yaml_item(encoder, stored, out);
		break;
	case BT_MEDIA_JSON:
		encoder->writer.out = out;
		if (encoder->is_plain) {
			bt_json_write_raw(&encoder->writer, bt_encode_text(encoder, stored));
		} else {
			write_item(encoder, stored, &encoder->writer);
		}
		break;
	}
	encoder->item_count++;
}

void bt_encode_list_end(
	struct bt_encoder *encoder, const struct bt_list_metadata *metadata, struct bt_strbuf *out)
{
	switch (encoder->encoding.media) {
	case BT_MEDIA_PROTOBUF:
		if (metadata != NULL) {
			write_metadata_message(metadata, out);
		}
		break;
	case BT_MEDIA_YAML:
		if (encoder->item_count == 0) {
			bt_strbuf_append_c(out, is_table(encoder) ? "rows: []\n" : "items: []\n");
		}
		if (metadata != NULL) {
			begin_part(encoder, &encoder->writer);
			write_metadata(metadata, &encoder->writer);
			end_part(encoder, &encoder->writer, out);
		}
		break;
	case BT_MEDIA_JSON:
		encoder->writer.out = out;
		bt_json_end_array(&encoder->writer);
		if (metadata != NULL) {
			write_metadata(metadata, &encoder->writer);
		}
		bt_json_end_object(&encoder->writer);
		bt_strbuf_append_char(out, '\n');
		break;
	}
}

void bt_encode_list_envelope(
	struct bt_encoder *encoder, uint64_t message_bytes, struct bt_strbuf *out)
{
	struct bt_strbuf type = {0};

	bt_arena_reset(&encoder->arena);
	bt_encode_field(&type, 1, list_api_version(encoder));
	bt_encode_field(&type, 2, bt_str_from(list_kind(encoder)));
	bt_strbuf_append(out, "k8s\0", 4);
	bt_encode_field(out, 1, bt_strbuf_str(&type));
	bt_encode_varint(out, 2 << 3 | 2);
	bt_encode_varint(out, message_bytes);
	bt_strbuf_finish(&type);
}
