/* SPDX-License-Identifier: Apache-2.0 */
#include "server/encode.h"

#include "base/assert.h"
#include "codec/json_edit.h"
#include "codec/yaml.h"
#include "server/encode_private.h"
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
		return true;
	case BT_MEDIA_YAML:
		return BT_HAVE_YAML;
	case BT_MEDIA_PROTOBUF:
		return encoding->view == BT_VIEW_METADATA ||
			(encoding->view == BT_VIEW_OBJECT && resource->message != NULL);
	}
	return false;
}

const char *bt_encoding_content_type(const struct bt_encoding *encoding, bool is_watch)
{
	switch (encoding->media) {
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

void bt_encode_yaml(struct bt_str json, struct bt_strbuf *out)
{
#if BT_HAVE_YAML
	/*
	 * bt_yaml_from_json fails only if the nesting is too deep, and trees are never deeper than
	 * BT_API_DEPTH_MAX. The fallback is the JSON itself, which is valid YAML.
	 */
	if (bt_yaml_from_json(json, out, NULL) == 0) {
		return;
	}
#endif
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
	bt_json_writer_init(&writer, &json, 0);
	bt_json_write_value(&writer, document);
	bt_encode_yaml(bt_strbuf_str(&json), out);
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

struct bt_str bt_encode_text(struct bt_encoder *encoder, const struct bt_stored *stored)
{
	if (stored->owners == NULL || encoder->encoding.view == BT_VIEW_TABLE) {
		return bt_stored_text(stored);
	}
	bt_strbuf_reset(&encoder->complete);
	bt_stored_append_complete(stored, &encoder->complete);
	return bt_strbuf_str(&encoder->complete);
}

struct bt_json_value *bt_encode_parse(struct bt_encoder *encoder, struct bt_str text, uint64_t rv)
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

struct bt_str bt_encode_api_version(struct bt_encoder *encoder, enum bt_view view)
{
	return view == BT_VIEW_METADATA
		? bt_str_from(meta_version(&encoder->encoding))
		: bt_resource_api_version(encoder->resource, &encoder->arena);
}

struct bt_json_value *bt_encode_view(
	struct bt_encoder *encoder, enum bt_view view, const struct bt_json_value *object)
{
	struct bt_arena *arena = &encoder->arena;
	struct bt_json_value *result = bt_json_put(arena, NULL, "{kind: %s, apiVersion: %s}",
		view_kind(encoder, view), bt_encode_api_version(encoder, view));

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

void bt_encode_row(struct bt_encoder *encoder, const struct bt_json_value *object,
	struct bt_json_writer *writer)
{
	struct bt_arena *arena = &encoder->arena;

	bt_json_write(writer, "{cells:");
	bt_table_write_cells(encoder->resource, object, bt_api_now_ns(encoder->api), arena, writer);
	bt_json_write_name_c(writer, "object");
	switch (encoder->encoding.include_object) {
	case BT_INCLUDE_METADATA:
		bt_json_write_value(writer, bt_encode_view(encoder, BT_VIEW_METADATA, object));
		break;
	case BT_INCLUDE_OBJECT:
		bt_json_write_value(writer, bt_encode_view(encoder, BT_VIEW_OBJECT, object));
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
	bt_encode_row(encoder, object, writer);
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
	bt_json_write_value(writer, bt_encode_view(encoder, encoder->encoding.view, object));
}

void bt_encode_message(
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
		.api_version = bt_encode_api_version(encoder, encoder->encoding.view),
		.kind = view_kind(encoder, encoder->encoding.view),
	};

	bt_strbuf_reset(&encoder->bytes);
	bt_encode_message(encoder, object, &encoder->bytes);
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
		bt_encode_yaml(bt_strbuf_str(&encoder->bytes), out);
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
		write_with_kind(encoder, bt_encode_text(encoder, stored), out);
		bt_strbuf_append_char(out, '\n');
		return;
	}
	write_object(encoder, bt_encode_parse(encoder, bt_encode_text(encoder, stored), 0), out);
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

void bt_encode_varint(struct bt_strbuf *out, uint64_t value)
{
	while (value >= 0x80) {
		bt_strbuf_append_char(out, (char)(0x80 | (value & 0x7f)));
		value >>= 7;
	}
	bt_strbuf_append_char(out, (char)value);
}

void bt_encode_field(struct bt_strbuf *out, uint32_t number, struct bt_str bytes)
{
	bt_encode_varint(out, (uint64_t)number << 3 | 2);
	bt_encode_varint(out, bytes.length);
	bt_strbuf_append_str(out, bytes);
}

/** Bytes that bt_encode_field writes for a value of this length and a field number below 16. */
static size_t field_bytes(size_t length)
{
	size_t bytes = 2 + length;

	for (; length >= 0x80; length >>= 7) {
		bytes++;
	}
	return bytes;
}

void bt_encode_frame(enum bt_event_type type, struct bt_str envelope, struct bt_strbuf *out)
{
	struct bt_str name = bt_str_from(event_names[type]);
	size_t raw = field_bytes(envelope.length);
	size_t length = field_bytes(name.length) + field_bytes(raw);

	bt_strbuf_reserve(out, length + 4);
	for (int shift = 24; shift >= 0; shift -= 8) {
		bt_strbuf_append_char(out, (char)(length >> shift & 0xff));
	}
	bt_encode_field(out, 1, name);
	bt_encode_varint(out, 2u << 3 | 2);
	bt_encode_varint(out, raw);
	bt_encode_field(out, 1, envelope);
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
	const struct bt_json_value *object = bt_encode_parse(encoder, text, rv);
	if (encoder->encoding.media == BT_MEDIA_PROTOBUF) {
		bt_strbuf_reset(&encoder->envelope);
		write_envelope(encoder, object, &encoder->envelope);
		bt_encode_frame(type, bt_strbuf_str(&encoder->envelope), out);
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
	write_event(encoder, type, bt_encode_text(encoder, stored), rv == stored->rv ? 0 : rv, out);
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
	struct bt_json_writer writer;
	struct bt_strbuf envelope = {0};

	bt_arena_reset(&encoder->arena);
	const struct bt_json_value *status = bt_failure_document(failure, &encoder->arena);
	if (encoder->encoding.media == BT_MEDIA_PROTOBUF && write_protobuf(status, &envelope)) {
		bt_encode_frame(BT_EVENT_ERROR, bt_strbuf_str(&envelope), out);
	} else {
		bt_strbuf_append_c(out, "{\"type\":\"ERROR\",\"object\":");
		bt_json_writer_init(&writer, out, 0);
		bt_json_write_value(&writer, status);
		bt_strbuf_append_c(out, "}\n");
	}
	bt_strbuf_finish(&envelope);
}
