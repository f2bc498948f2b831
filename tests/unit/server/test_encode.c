/* SPDX-License-Identifier: Apache-2.0 */
#include "server/encode.h"

#include "codec/json_edit.h"
#include "stream_fixture.h"
#include "test_main.h"

static struct stream_fixture fixture;

static const struct bt_stored *stored_of(const char *resource, const char *key)
{
	const struct bt_stored *stored;

	stream_resource(&fixture, resource, "");
	stored = bt_store_find(
		fixture.api.store, fixture.request.resource->collection, bt_str_from(key));
	ck_assert_ptr_nonnull(stored);
	return stored;
}

/** Returns the stored object written with this encoding. */
static const char *encode(const char *resource, const char *key, struct bt_encoding encoding)
{
	const struct bt_stored *stored = stored_of(resource, key);
	struct bt_encoder encoder;

	bt_encoder_init(&encoder, fixture.api.api, fixture.request.resource, &encoding);
	bt_strbuf_reset(&fixture.text);
	bt_encode_object(&encoder, stored, &fixture.text);
	bt_encoder_finish(&encoder);
	return bt_strbuf_c(&fixture.text);
}

static const struct bt_json_value *parsed(void)
{
	struct bt_json_value *value;

	ck_assert_int_eq(
		bt_json_parse(&fixture.api.arena, bt_strbuf_str(&fixture.text), true, &value, NULL),
		0);
	return value;
}

static bool has_text(const struct bt_json_value *value, const char *path, const char *expected)
{
	return bt_str_equal_c(bt_json_text_at(value, path), expected);
}

static void begin(void)
{
	stream_fixture_init(&fixture);
	ck_assert_uint_eq(api_create(&fixture.api, "configmaps", "default/",
				  "{'metadata':{'name':'m'},'data':{'k':'<v>'}}"),
		201);
	api_create_pod(&fixture.api, "p", NULL);
}

START_TEST(test_encode__json_is_the_stored_text)
{
	struct bt_strbuf stored = {0};
	struct bt_str text;

	begin();
	(void)encode("configmaps", "default/m", (struct bt_encoding){0});
	bt_stored_append_complete(stored_of("configmaps", "default/m"), &stored);
	text = bt_strbuf_str(&fixture.text);
	ck_assert(
		bt_str_has_prefix(text, BT_STR("{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",")));
	ck_assert(bt_str_has_suffix(bt_str_sub(text, 0, text.length - 1),
		bt_str_sub(bt_strbuf_str(&stored), 1, BT_STR_MAX)));
	bt_strbuf_finish(&stored);
	ck_assert_int_eq(text.data[text.length - 1], '\n');
	ck_assert(has_text(parsed(), "data.k", "<v>"));
	stream_fixture_finish(&fixture);
}
END_TEST

START_TEST(test_encode__pretty)
{
	struct bt_encoding encoding = {.pretty = true};
	const char *text;

	begin();
	text = encode("configmaps", "default/m", encoding);
	ck_assert_ptr_nonnull(strstr(text,
		"{\n  \"kind\": \"ConfigMap\",\n  \"apiVersion\": \"v1\",\n  \"metadata\": {\n"));
	ck_assert(has_text(parsed(), "data.k", "<v>"));
	stream_fixture_finish(&fixture);
}
END_TEST

START_TEST(test_encode__other_versions)
{
	begin();
	ck_assert_uint_eq(
		api_create(&fixture.api, "events", "default/",
			"{'metadata':{'name':'e'},'involvedObject':{'kind':'Pod','name':'p',"
			"'namespace':'default'},'message':'hello','reason':'R','type':'Normal'}"),
		201);
	(void)encode("events.events.k8s.io", "default/e", (struct bt_encoding){0});
	ck_assert(has_text(parsed(), "apiVersion", "events.k8s.io/v1"));
	ck_assert(has_text(parsed(), "note", "hello"));
	ck_assert(has_text(parsed(), "regarding.name", "p"));
	(void)encode("events", "default/e", (struct bt_encoding){0});
	ck_assert(has_text(parsed(), "apiVersion", "v1"));
	ck_assert(has_text(parsed(), "message", "hello"));
	stream_fixture_finish(&fixture);
}
END_TEST

START_TEST(test_encode__bare_metadata)
{
	struct bt_encoding encoding = {.view = BT_VIEW_METADATA, .v1beta1 = true};

	begin();
	(void)encode("pods", "default/p", encoding);
	ck_assert(has_text(parsed(), "kind", "PartialObjectMetadata"));
	ck_assert(has_text(parsed(), "apiVersion", "meta.k8s.io/v1beta1"));
	ck_assert(has_text(parsed(), "metadata.name", "p"));
	ck_assert_uint_eq(parsed()->count, 3);
	stream_fixture_finish(&fixture);
}
END_TEST

START_TEST(test_encode__table)
{
	struct bt_encoding encoding = {.view = BT_VIEW_TABLE};
	const struct bt_json_value *row;

	begin();
	(void)encode("pods", "default/p", encoding);
	ck_assert(has_text(parsed(), "kind", "Table"));
	ck_assert(has_text(parsed(), "apiVersion", "meta.k8s.io/v1"));
	row = bt_json_array_at(parsed(), "rows")->elements[0];
	ck_assert_uint_eq(bt_json_array_at(row, "cells")->count,
		bt_json_array_at(parsed(), "columnDefinitions")->count);
	ck_assert(has_text(row, "object.kind", "PartialObjectMetadata"));
	ck_assert(has_text(row, "object.metadata.name", "p"));
	encoding.include_object = BT_INCLUDE_OBJECT;
	(void)encode("pods", "default/p", encoding);
	row = bt_json_array_at(parsed(), "rows")->elements[0];
	ck_assert(has_text(row, "object.kind", "Pod"));
	ck_assert_ptr_nonnull(bt_json_find_path(row, "object.spec"));
	encoding.include_object = BT_INCLUDE_NONE;
	(void)encode("pods", "default/p", encoding);
	row = bt_json_array_at(parsed(), "rows")->elements[0];
	ck_assert_int_eq(bt_json_find(row, "object")->type, BT_JSON_NULL);
	stream_fixture_finish(&fixture);
}
END_TEST

START_TEST(test_encode__protobuf)
{
	struct bt_encoding encoding = {.media = BT_MEDIA_PROTOBUF};
	struct bt_envelope envelope;
	struct bt_json_value *object;

	begin();
	(void)encode("configmaps", "default/m", encoding);
	ck_assert_int_eq(bt_envelope_decode(bt_strbuf_str(&fixture.text), &envelope, NULL), 0);
	ck_assert(bt_str_equal(envelope.api_version, BT_STR("v1")));
	ck_assert(bt_str_equal(envelope.kind, BT_STR("ConfigMap")));
	ck_assert_int_eq(bt_schema_decode_protobuf(fixture.request.resource->message, envelope.raw,
				 &fixture.api.arena, &object, NULL),
		0);
	ck_assert(has_text(object, "data.k", "<v>"));
	ck_assert(has_text(object, "metadata.namespace", "default"));
	stream_fixture_finish(&fixture);
}
END_TEST

START_TEST(test_encode__yaml)
{
	struct bt_encoding encoding = {.media = BT_MEDIA_YAML};

	begin();
	stream_resource(&fixture, "configmaps", "");
	if (bt_encoding_is_possible(&encoding, fixture.request.resource)) {
		const char *text = encode("configmaps", "default/m", encoding);

		ck_assert_ptr_nonnull(strstr(text, "kind: ConfigMap\napiVersion: v1\n"));
		ck_assert_ptr_nonnull(strstr(text, "data:\n  k: <v>\n"));
	}
	stream_fixture_finish(&fixture);
}
END_TEST

START_TEST(test_encode__documents)
{
	struct bt_encoding encoding = {.media = BT_MEDIA_PROTOBUF};
	struct bt_failure failure = {0};
	struct bt_envelope envelope;
	struct bt_json_value *status;

	stream_fixture_init(&fixture);
	(void)bt_fail(&failure, &fixture.api.arena, 404, "NotFound", "pods \"x\" not found");
	ck_assert_int_eq(bt_encode_document(&encoding,
				 bt_failure_document(&failure, &fixture.api.arena), &fixture.text),
		BT_MEDIA_PROTOBUF);
	ck_assert_int_eq(bt_envelope_decode(bt_strbuf_str(&fixture.text), &envelope, NULL), 0);
	ck_assert_int_eq(bt_schema_decode_protobuf(bt_schema_find(BT_STR("v1"), BT_STR("Status")),
				 envelope.raw, &fixture.api.arena, &status, NULL),
		0);
	ck_assert(has_text(status, "message", "pods \"x\" not found"));
	ck_assert_int_eq(bt_json_int64_at(status, "code", 0), 404);
	/* A document without a protobuf form is written as JSON. */
	bt_strbuf_reset(&fixture.text);
	status = bt_failure_document(&failure, &fixture.api.arena);
	bt_json_set_c(&fixture.api.arena, status, "kind", "Nothing");
	ck_assert_int_eq(bt_encode_document(&encoding, status, &fixture.text), BT_MEDIA_JSON);
	ck_assert(has_text(parsed(), "reason", "NotFound"));
	stream_fixture_finish(&fixture);
}
END_TEST

START_TEST(test_encode__edge_14_17_what_is_possible)
{
	static const struct bt_api_resource custom = {.name = "things"};
	struct bt_encoding encoding = {.media = BT_MEDIA_PROTOBUF};

	stream_fixture_init(&fixture);
	stream_resource(&fixture, "pods", "");
	ck_assert(bt_encoding_is_possible(&encoding, fixture.request.resource));
	ck_assert(!bt_encoding_is_possible(&encoding, &custom));
	ck_assert_str_eq(bt_media_content_type(encoding.media, true),
		"application/vnd.kubernetes.protobuf;stream=watch");
	encoding.view = BT_VIEW_METADATA;
	ck_assert(bt_encoding_is_possible(&encoding, &custom));
	/* edge case 17 of chapter 14: a table cannot be protobuf. */
	encoding.view = BT_VIEW_TABLE;
	ck_assert(!bt_encoding_is_possible(&encoding, fixture.request.resource));
	stream_fixture_finish(&fixture);
}
END_TEST

BT_TEST_MAIN("encode", test_encode__json_is_the_stored_text, test_encode__pretty,
	test_encode__other_versions, test_encode__bare_metadata, test_encode__table,
	test_encode__protobuf, test_encode__yaml, test_encode__documents,
	test_encode__edge_14_17_what_is_possible)
