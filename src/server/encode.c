/* SPDX-License-Identifier: Apache-2.0 */
#include "server/encode.h"

#include <stdio.h>

#include "base/assert.h"
#include "codec/json_edit.h"
#include "codec/wire.h"
#include "codec/yaml.h"
#include "server/strategy.h"
#include "server/table.h"

#define META_GROUP "meta.k8s.io"

/* --- encodings --- */

bool bt_encoding_is_possible(
	const struct bt_encoding *encoding, const struct bt_api_resource *resource)
{
	/* reviews have no metadata for a table */
	if (encoding->view == BT_VIEW_TABLE && (resource->flags & BT_RESOURCE_REVIEW) != 0) {
		return false;
	}
	switch (encoding->media) {
	case BT_MEDIA_JSON:
	case BT_MEDIA_YAML:
		return true;
	case BT_MEDIA_PROTOBUF:
		return encoding->view == BT_VIEW_METADATA ||
			(encoding->view == BT_VIEW_OBJECT && resource->message != NULL);
	}
	return false;
}

const char *bt_media_content_type(enum bt_media media, bool is_watch)
{
	switch (media) {
	case BT_MEDIA_JSON:
		return "application/json";
	case BT_MEDIA_YAML:
		return "application/yaml";
	case BT_MEDIA_PROTOBUF:
		return is_watch ? "application/vnd.kubernetes.protobuf;stream=watch"
				: "application/vnd.kubernetes.protobuf";
	}
	return "application/json";
}

static const char *meta_version(const struct bt_encoding *encoding)
{
	return encoding->v1beta1 ? META_GROUP "/v1beta1" : META_GROUP "/v1";
}

/* --- documents --- */

/** Writes JSON text as YAML. */
static void write_yaml(struct bt_str json, struct bt_strbuf *out)
{
	/*
	 * bt_yaml_from_json fails only if the nesting is too deep, and trees are never deeper than
	 * BT_API_DEPTH_MAX. The fallback is the JSON itself, which is valid YAML.
	 */
	if (bt_yaml_from_json(json, out, NULL) == 0) {
		return;
	}
	bt_strbuf_append_str(out, json);
	bt_strbuf_append_char(out, '\n');
}

/**
 * Writes the document as protobuf. Returns false if the kind of the document has no protobuf
 * schema.
 */
static bool write_protobuf(const struct bt_json_value *document, struct bt_strbuf *out)
{
	struct bt_envelope envelope = {
		.api_version = bt_json_find_str(document, "apiVersion"),
		.kind = bt_json_find_str(document, "kind"),
	};
	const struct bt_schema_message *message =
		bt_schema_find(envelope.api_version, envelope.kind);
	struct bt_strbuf bytes = {0};

	if (message == NULL) {
		return false;
	}
	bt_schema_encode_protobuf(message, document, &bytes);
	envelope.raw = bt_strbuf_str(&bytes);
	bt_envelope_encode(&envelope, out);
	bt_strbuf_finish(&bytes);
	return true;
}

enum bt_media bt_encode_document(const struct bt_encoding *encoding,
	const struct bt_json_value *document, struct bt_strbuf *out)
{
	struct bt_strbuf json = {0};
	struct bt_json_writer writer;

	if (encoding->media == BT_MEDIA_PROTOBUF && write_protobuf(document, out)) {
		return BT_MEDIA_PROTOBUF;
	}
	if (encoding->media != BT_MEDIA_YAML) {
		bt_json_writer_init(&writer, out, encoding->pretty ? 2 : 0);
		bt_json_write_value(&writer, document);
		bt_strbuf_append_char(out, '\n');
		return BT_MEDIA_JSON;
	}
	bt_json_format(document, &json);
	write_yaml(bt_strbuf_str(&json), out);
	bt_strbuf_finish(&json);
	return BT_MEDIA_YAML;
}

/* --- the encoder --- */

static struct bt_str view_kind(const struct bt_encoder *encoder, enum bt_view view)
{
	return bt_str_from(
		view == BT_VIEW_METADATA ? "PartialObjectMetadata" : encoder->resource->kind);
}

void bt_encoder_init(struct bt_encoder *encoder, struct bt_api *api,
	const struct bt_api_resource *resource, const struct bt_encoding *encoding)
{
	BT_ASSERT(bt_encoding_is_possible(encoding, resource));
	*encoder = (struct bt_encoder){.api = api, .resource = resource, .encoding = *encoding};
	encoder->is_stored_text = encoding->media == BT_MEDIA_JSON &&
		encoding->view == BT_VIEW_OBJECT && resource->strategy->from_stored == NULL;
	encoder->is_plain = encoder->is_stored_text && !encoding->pretty;
	struct bt_str version = bt_resource_api_version(resource, &encoder->arena);
	bt_strbuf_printf(&encoder->head, "{\"kind\":\"%s\",\"apiVersion\":\"%.*s\"", resource->kind,
		BT_STR_ARG(version));
}

void bt_encoder_finish(struct bt_encoder *encoder)
{
	bt_arena_finish(&encoder->arena);
	bt_strbuf_finish(&encoder->head);
	bt_strbuf_finish(&encoder->bytes);
	bt_strbuf_finish(&encoder->complete);
	bt_strbuf_finish(&encoder->envelope);
}

/**
 * Returns the object's text with its managedFields (tables leave them out); borrowed until the next
 * call.
 */
static struct bt_str text_of(struct bt_encoder *encoder, const struct bt_stored *stored)
{
	if (stored->owners == NULL || encoder->encoding.view == BT_VIEW_TABLE) {
		return bt_stored_text(stored);
	}
	bt_strbuf_reset(&encoder->complete);
	bt_stored_append_complete(stored, &encoder->complete);
	return bt_strbuf_str(&encoder->complete);
}

/**
 * Parses a stored text into a tree of the resource's version, in the encoder's arena, which is
 * emptied first. rv: resourceVersion to set in the metadata; 0: keep the resourceVersion of the
 * object.
 */
static struct bt_json_value *parse(struct bt_encoder *encoder, struct bt_str text, uint64_t rv)
{
	const struct bt_strategy *strategy = encoder->resource->strategy;
	struct bt_arena *arena = &encoder->arena;
	struct bt_json_value *object;

	bt_arena_reset(arena);
	/* In protobuf, fieldsV1 of managedFields is a JSON text, so it stays unparsed. */
	struct bt_str raw_name = encoder->encoding.media == BT_MEDIA_PROTOBUF
		? BT_STR("fieldsV1")
		: (struct bt_str){NULL, 0};
	if (bt_json_parse_partly(arena, text, raw_name, &object, NULL) != 0) {
		object = bt_json_new(arena, BT_JSON_OBJECT);
	}
	if (strategy->from_stored != NULL) {
		struct bt_write write = {
			.api = encoder->api,
			.arena = arena,
			.resource = encoder->resource,
			.verb = BT_VERB_GET,
			.user = &bt_user_admin,
		};

		strategy->from_stored(&write, object);
	}
	if (rv != 0) {
		bt_json_set_str(arena, bt_json_ensure_object(arena, object, "metadata"),
			"resourceVersion", bt_arena_printf(arena, "%llu", (unsigned long long)rv));
	}
	return object;
}

static struct bt_json_value *bare_metadata(
	struct bt_arena *arena, const struct bt_json_value *object)
{
	return bt_json_put(arena, NULL, "{metadata: %v}", bt_json_find(object, "metadata"));
}

static struct bt_str view_api_version(struct bt_encoder *encoder, enum bt_view view)
{
	return view == BT_VIEW_METADATA
		? bt_str_from(meta_version(&encoder->encoding))
		: bt_resource_api_version(encoder->resource, &encoder->arena);
}

/**
 * Returns the object in this view (not a table), with kind and apiVersion as its first members. The
 * result shares the members' values.
 */
static struct bt_json_value *make_view(
	struct bt_encoder *encoder, enum bt_view view, const struct bt_json_value *object)
{
	struct bt_arena *arena = &encoder->arena;
	struct bt_json_value *result = bt_json_put(arena, NULL, "{kind: %s, apiVersion: %s}",
		view_kind(encoder, view), view_api_version(encoder, view));

	if (view == BT_VIEW_METADATA) {
		object = bare_metadata(arena, object);
	}
	for (uint32_t i = 0; i < object->count; i++) {
		if (!bt_str_equal(object->members[i].name, BT_STR("kind")) &&
			!bt_str_equal(object->members[i].name, BT_STR("apiVersion"))) {
			bt_json_set(
				arena, result, object->members[i].name, object->members[i].value);
		}
	}
	return result;
}

static void write_row(struct bt_encoder *encoder, const struct bt_json_value *object,
	struct bt_json_writer *writer)
{
	struct bt_arena *arena = &encoder->arena;

	bt_json_write(writer, "{cells:");
	bt_table_write_cells(encoder->resource, object, bt_api_now_ns(encoder->api), arena, writer);
	bt_json_write_name_c(writer, "object");
	switch (encoder->encoding.include_object) {
	case BT_INCLUDE_METADATA:
		bt_json_write_value(writer, make_view(encoder, BT_VIEW_METADATA, object));
		break;
	case BT_INCLUDE_OBJECT:
		bt_json_write_value(writer, make_view(encoder, BT_VIEW_OBJECT, object));
		break;
	case BT_INCLUDE_NONE:
		bt_json_write_null(writer);
		break;
	}
	bt_json_end_object(writer);
}

/** Writes a table with one row. */
static void write_table(struct bt_encoder *encoder, const struct bt_json_value *object,
	bool with_columns, struct bt_json_writer *writer)
{
	bt_json_write(writer,
		"{kind: 'Table', apiVersion: %c, metadata: {resourceVersion: %s}, "
		"columnDefinitions:",
		meta_version(&encoder->encoding),
		bt_json_text_at(object, "metadata.resourceVersion"));
	if (with_columns) {
		bt_table_write_columns(encoder->resource, writer);
	} else {
		bt_json_write_null(writer);
	}
	bt_json_write(writer, "rows: [");
	write_row(encoder, object, writer);
	bt_json_write(writer, "]}");
}

/** Writes the object in the encoder's view, without a newline. */
static void write_view(struct bt_encoder *encoder, const struct bt_json_value *object,
	bool with_columns, struct bt_json_writer *writer)
{
	if (encoder->encoding.view == BT_VIEW_TABLE) {
		write_table(encoder, object, with_columns, writer);
		return;
	}
	bt_json_write_value(writer, make_view(encoder, encoder->encoding.view, object));
}

/** Appends the object in the encoder's view as a protobuf message. */
static void write_message(
	struct bt_encoder *encoder, const struct bt_json_value *object, struct bt_strbuf *out)
{
	const struct bt_schema_message *message = encoder->resource->message;

	if (encoder->encoding.view == BT_VIEW_METADATA) {
		object = bare_metadata(&encoder->arena, object);
		message = bt_schema_find(BT_STR(META_GROUP "/v1"), BT_STR("PartialObjectMetadata"));
		BT_ASSERT(message != NULL);
	}
	bt_schema_encode_protobuf(message, object, out);
}

static void write_envelope(
	struct bt_encoder *encoder, const struct bt_json_value *object, struct bt_strbuf *out)
{
	struct bt_envelope envelope = {
		.api_version = view_api_version(encoder, encoder->encoding.view),
		.kind = view_kind(encoder, encoder->encoding.view),
	};

	bt_strbuf_reset(&encoder->bytes);
	write_message(encoder, object, &encoder->bytes);
	envelope.raw = bt_strbuf_str(&encoder->bytes);
	bt_envelope_encode(&envelope, out);
}

static void write_object(
	struct bt_encoder *encoder, const struct bt_json_value *object, struct bt_strbuf *out)
{
	struct bt_json_writer writer;

	if (encoder->encoding.media == BT_MEDIA_PROTOBUF) {
		write_envelope(encoder, object, out);
		return;
	}
	if (encoder->encoding.media == BT_MEDIA_YAML) {
		bt_strbuf_reset(&encoder->bytes);
		bt_json_writer_init(&writer, &encoder->bytes, 0);
		write_view(encoder, object, true, &writer);
		write_yaml(bt_strbuf_str(&encoder->bytes), out);
		return;
	}
	bt_json_writer_init(&writer, out, encoder->encoding.pretty ? 2 : 0);
	write_view(encoder, object, true, &writer);
	bt_strbuf_append_char(out, '\n');
}

/** Writes the stored text with kind and apiVersion in front. */
static void write_with_kind(struct bt_encoder *encoder, struct bt_str text, struct bt_strbuf *out)
{
	bt_strbuf_append_str(out, bt_strbuf_str(&encoder->head));
	if (text.length > 2) {
		bt_strbuf_append_char(out, ',');
	}
	bt_strbuf_append_str(out, bt_str_sub(text, 1, text.length));
}

void bt_encode_object(
	struct bt_encoder *encoder, const struct bt_stored *stored, struct bt_strbuf *out)
{
	if (encoder->is_plain) {
		write_with_kind(encoder, text_of(encoder, stored), out);
		bt_strbuf_append_char(out, '\n');
		return;
	}
	write_object(encoder, parse(encoder, text_of(encoder, stored), 0), out);
}

void bt_encode_object_tree(
	struct bt_encoder *encoder, const struct bt_json_value *object, struct bt_strbuf *out)
{
	bt_arena_reset(&encoder->arena);
	write_object(encoder, object, out);
}

/* --- watch events --- */

static const char *const event_names[] = {
	[BT_EVENT_ADDED] = "ADDED",
	[BT_EVENT_MODIFIED] = "MODIFIED",
	[BT_EVENT_DELETED] = "DELETED",
	[BT_EVENT_BOOKMARK] = "BOOKMARK",
	[BT_EVENT_ERROR] = "ERROR",
};

void bt_encode_frame(enum bt_event_type type, struct bt_str envelope, struct bt_strbuf *out)
{
	size_t start = out->length + 4;

	bt_strbuf_append(out, "\0\0\0", 4); /* room for the length */
	bt_wire_write_bytes(out, 1, bt_str_from(event_names[type]));
	size_t raw = bt_wire_open(out, 2);
	bt_wire_write_bytes(out, 1, envelope);
	bt_wire_close(out, raw);
	for (size_t i = 0; i < 4; i++) {
		out->data[start - 4 + i] = (char)((out->length - start) >> (24 - 8 * i) & 0xff);
	}
}

static void write_frame(struct bt_encoder *encoder, enum bt_event_type type,
	const struct bt_json_value *object, struct bt_strbuf *out)
{
	bt_strbuf_reset(&encoder->envelope);
	write_envelope(encoder, object, &encoder->envelope);
	bt_encode_frame(type, bt_strbuf_str(&encoder->envelope), out);
}

void bt_encode_written(struct bt_encoder *encoder, enum bt_event_type type,
	struct bt_json_value *owners, const struct bt_json_value *object, struct bt_strbuf *out)
{
	struct bt_arena *arena = &encoder->arena;

	bt_arena_reset(arena);
	if (owners != NULL) {
		struct bt_json_value *metadata =
			bt_json_copy(arena, bt_json_object_at(object, "metadata"));

		bt_json_set_value(arena, metadata, "managedFields", owners);
		object =
			bt_json_put(arena, bt_json_copy(arena, object), "{metadata: %v}", metadata);
	}
	write_frame(encoder, type, object, out);
}

static void write_event(struct bt_encoder *encoder, enum bt_event_type type, struct bt_str text,
	uint64_t rv, struct bt_strbuf *out)
{
	struct bt_json_writer writer;

	if (encoder->is_stored_text) {
		struct bt_json_reader reader;
		struct bt_str old_rv;

		bt_json_reader_init(&reader, text);
		bt_strbuf_reserve(out, text.length + 128);
		bt_strbuf_append_c(out, "{\"type\":\"");
		bt_strbuf_append_c(out, event_names[type]);
		bt_strbuf_append_c(out, "\",\"object\":");
		if (rv == 0 || !bt_json_seek(&reader, "metadata.resourceVersion") ||
			bt_json_skip(&reader, &old_rv, NULL) != 0) {
			write_with_kind(encoder, text, out);
		} else {
			uint32_t before = (uint32_t)(old_rv.data - text.data);

			write_with_kind(encoder, bt_str_sub(text, 0, before), out);
			bt_strbuf_printf(out, "\"%llu\"", (unsigned long long)rv);
			bt_strbuf_append_str(
				out, bt_str_sub(text, before + old_rv.length, text.length));
		}
		bt_strbuf_append_c(out, "}\n");
		return;
	}
	const struct bt_json_value *object = parse(encoder, text, rv);
	if (encoder->encoding.media == BT_MEDIA_PROTOBUF) {
		write_frame(encoder, type, object, out);
		return;
	}
	bt_strbuf_printf(out, "{\"type\":\"%s\",\"object\":", event_names[type]);
	bt_json_writer_init(&writer, out, 0);
	write_view(encoder, object, !encoder->wrote_columns, &writer);
	encoder->wrote_columns = true;
	bt_strbuf_append_c(out, "}\n");
}

void bt_encode_event(struct bt_encoder *encoder, enum bt_event_type type,
	const struct bt_stored *stored, uint64_t rv, struct bt_strbuf *out)
{
	write_event(encoder, type, text_of(encoder, stored), rv == stored->rv ? 0 : rv, out);
}

void bt_encode_bookmark(
	struct bt_encoder *encoder, uint64_t rv, bool is_initial_end, struct bt_strbuf *out)
{
	struct bt_strbuf text = {0};

	bt_strbuf_printf(&text, "{\"metadata\":{\"resourceVersion\":\"%llu\"%s}}",
		(unsigned long long)rv,
		is_initial_end ? ",\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}" : "");
	write_event(encoder, BT_EVENT_BOOKMARK, bt_strbuf_str(&text), 0, out);
	bt_strbuf_finish(&text);
}

void bt_encode_error_event(
	struct bt_encoder *encoder, const struct bt_failure *failure, struct bt_strbuf *out)
{
	struct bt_strbuf envelope = {0};

	bt_arena_reset(&encoder->arena);
	const struct bt_json_value *status = bt_failure_document(failure, &encoder->arena);
	if (encoder->encoding.media == BT_MEDIA_PROTOBUF && write_protobuf(status, &envelope)) {
		bt_encode_frame(BT_EVENT_ERROR, bt_strbuf_str(&envelope), out);
	} else {
		bt_strbuf_append_c(out, "{\"type\":\"ERROR\",\"object\":");
		bt_json_format(status, out);
		bt_strbuf_append_c(out, "}\n");
	}
	bt_strbuf_finish(&envelope);
}

/* --- lists, one item at a time: spec 14 sections 8.2, 14 and 18 --- */

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
	return view_api_version(
		encoder, is_table(encoder) ? BT_VIEW_METADATA : encoder->encoding.view);
}

static void write_metadata(const struct bt_list_metadata *metadata, struct bt_json_writer *writer)
{
	char rv[24];

	(void)snprintf(rv, sizeof(rv), "%llu", (unsigned long long)metadata->rv);
	bt_json_write(writer,
		"metadata: {resourceVersion: %c, continue?: %s, remainingItemCount?: %d}", rv,
		metadata->continue_token, metadata->remaining_item_count);
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
	size_t message = bt_wire_open(out, 1);
	char rv[24];

	(void)snprintf(rv, sizeof(rv), "%llu", (unsigned long long)metadata->rv);
	bt_wire_write_bytes(out, 2, bt_str_from(rv));
	if (metadata->continue_token.length != 0) {
		bt_wire_write_bytes(out, 3, metadata->continue_token);
	}
	if (metadata->remaining_item_count != 0) {
		bt_wire_write_number(out, 4, (uint64_t)metadata->remaining_item_count);
	}
	bt_wire_close(out, message);
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
	write_yaml(bt_strbuf_str(&encoder->bytes), out);
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
	const struct bt_json_value *object = parse(encoder, text_of(encoder, stored), 0);

	switch (encoder->encoding.view) {
	case BT_VIEW_TABLE:
		write_row(encoder, object, writer);
		break;
	case BT_VIEW_METADATA:
		/* Unlike objects in a list, items of bare metadata have kind and apiVersion. */
		bt_json_write_value(writer, make_view(encoder, BT_VIEW_METADATA, object));
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
	write_yaml(bt_strbuf_str(&encoder->bytes), out);
}

void bt_encode_list_item(
	struct bt_encoder *encoder, const struct bt_stored *stored, struct bt_strbuf *out)
{
	switch (encoder->encoding.media) {
	case BT_MEDIA_PROTOBUF:
		bt_strbuf_reset(&encoder->bytes);
		write_message(
			encoder, parse(encoder, text_of(encoder, stored), 0), &encoder->bytes);
		bt_wire_write_bytes(out, 2, bt_strbuf_str(&encoder->bytes));
		break;
	case BT_MEDIA_YAML:
		write_yaml_item(encoder, stored, out);
		break;
	case BT_MEDIA_JSON:
		encoder->writer.out = out;
		if (encoder->is_plain) {
			bt_json_write_raw(&encoder->writer, text_of(encoder, stored));
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
	bt_wire_write_bytes(&type, 1, list_api_version(encoder));
	bt_wire_write_bytes(&type, 2, bt_str_from(list_kind(encoder)));
	bt_strbuf_append(out, "k8s\0", 4);
	bt_wire_write_bytes(out, 1, bt_strbuf_str(&type));
	bt_wire_write_varint(out, 2 << 3 | BT_WIRE_BYTES);
	bt_wire_write_varint(out, message_bytes);
	bt_strbuf_finish(&type);
}
