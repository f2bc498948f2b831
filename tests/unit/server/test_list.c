/* SPDX-License-Identifier: Apache-2.0 */
#include "server/list.h"

#include <stdio.h>

#include "codec/json_edit.h"
#include "stream_fixture.h"
#include "test_main.h"

static struct stream_fixture fixture;

/** Returns the last answer as a tree. */
static const struct bt_json_value *answer(void)
{
	struct bt_json_value *value;

	ck_assert_msg(bt_json_parse(&fixture.api.arena, bt_strbuf_str(&fixture.text), true, &value,
			      NULL) == 0,
		"%s", bt_strbuf_c(&fixture.text));
	return value;
}

static const char *text_at(const char *path)
{
	return bt_arena_str(&fixture.api.arena, bt_json_text_at(answer(), path)).data;
}

static uint32_t item_count(void)
{
	return bt_json_array_at(answer(), "items")->count;
}

/** Returns the names in the order of the answer: "a b c". */
static const char *names(void)
{
	const struct bt_json_value *items = bt_json_array_at(answer(), "items");
	struct bt_strbuf all = {0};
	struct bt_str copy;

	for (uint32_t i = 0; i < items->count; i++) {
		bt_strbuf_printf(&all, "%s%.*s", i != 0 ? " " : "",
			BT_STR_ARG(bt_json_text_at(items->elements[i], "metadata.name")));
	}
	copy = bt_arena_str(&fixture.api.arena, bt_strbuf_str(&all));
	bt_strbuf_finish(&all);
	return copy.data;
}

static void create_pods(const char *const *pod_names)
{
	for (; *pod_names != NULL; pod_names++) {
		api_create_pod(&fixture.api, *pod_names, NULL);
	}
}

static const char *const five[] = {"c", "a", "e", "b", "d", NULL};

START_TEST(test_list__whole_in_order)
{
	char rv[32];

	stream_fixture_init(&fixture);
	create_pods(five);
	ck_assert_uint_eq(stream_list(&fixture, "pods", ""), 200);
	ck_assert_str_eq(names(), "a b c d e");
	ck_assert_str_eq(text_at("kind"), "PodList");
	ck_assert_str_eq(text_at("apiVersion"), "v1");
	(void)snprintf(rv, sizeof(rv), "%llu", (unsigned long long)bt_store_rv(fixture.api.store));
	ck_assert_str_eq(text_at("metadata.resourceVersion"), rv);
	ck_assert_ptr_null(bt_json_find_path(answer(), "metadata.continue"));
	ck_assert_ptr_null(bt_json_find_path(answer(), "metadata.remainingItemCount"));
	ck_assert_ptr_null(bt_json_find(bt_json_array_at(answer(), "items")->elements[0], "kind"));
	ck_assert_int_eq(fixture.text.data[fixture.text.length - 1], '\n');
	stream_fixture_finish(&fixture);
}
END_TEST

START_TEST(test_list__pages_of_one_state)
{
	char rv[32];
	const char *token;

	stream_fixture_init(&fixture);
	create_pods(five);
	fixture.request.parameters.limit = BT_STR("2");
	ck_assert_uint_eq(stream_list(&fixture, "pods", "default"), 200);
	ck_assert_str_eq(names(), "a b");
	ck_assert_int_eq(bt_json_int64_at(answer(), "metadata.remainingItemCount", -1), 3);
	(void)snprintf(rv, sizeof(rv), "%s", text_at("metadata.resourceVersion"));
	token = text_at("metadata.continue");
	/* The following pages do not show changes made after the first page. */
	ck_assert_uint_eq(api_delete(&fixture.api, "pods", "default/c"), 200);
	api_create_pod(&fixture.api, "cc", NULL);
	fixture.request.parameters.limit = BT_STR("2");
	fixture.request.parameters.continue_token = bt_str_from(token);
	ck_assert_uint_eq(stream_list(&fixture, "pods", "default"), 200);
	ck_assert_str_eq(names(), "c d");
	ck_assert_str_eq(text_at("metadata.resourceVersion"), rv);
	token = text_at("metadata.continue");
	fixture.request.parameters.limit = BT_STR("2");
	fixture.request.parameters.continue_token = bt_str_from(token);
	ck_assert_uint_eq(stream_list(&fixture, "pods", "default"), 200);
	ck_assert_str_eq(names(), "e");
	ck_assert_ptr_null(bt_json_find_path(answer(), "metadata.continue"));
	stream_fixture_finish(&fixture);
}
END_TEST

START_TEST(test_list__pages_with_selectors)
{
	stream_fixture_init(&fixture);
	create_pods(five);
	ck_assert_uint_eq(api_patch(&fixture.api, BT_PATCH_MERGE, "pods", "default/b",
				  "{'metadata':{'labels':{'x':'y'}}}"),
		200);
	fixture.request.parameters.label_selector = BT_STR("x=y");
	fixture.request.parameters.limit = BT_STR("1");
	ck_assert_uint_eq(stream_list(&fixture, "pods", ""), 200);
	ck_assert_str_eq(names(), "b");
	/* No further object matches the selector: no page follows. */
	ck_assert_ptr_null(bt_json_find_path(answer(), "metadata.continue"));
	fixture.request.parameters.label_selector = BT_STR("app=a");
	fixture.request.parameters.limit = BT_STR("4");
	ck_assert_uint_eq(stream_list(&fixture, "pods", ""), 200);
	ck_assert_str_ne(text_at("metadata.continue"), "");
	ck_assert_ptr_null(bt_json_find_path(answer(), "metadata.remainingItemCount"));
	fixture.request.parameters.field_selector = BT_STR("metadata.name=c");
	ck_assert_uint_eq(stream_list(&fixture, "pods", "default"), 200);
	ck_assert_str_eq(names(), "c");
	stream_fixture_finish(&fixture);
}
END_TEST

START_TEST(test_list__expired_token_answers_a_fresh_one)
{
	const char *token;

	stream_fixture_init(&fixture);
	create_pods(five);
	fixture.request.parameters.limit = BT_STR("2");
	ck_assert_uint_eq(stream_list(&fixture, "pods", "default"), 200);
	token = text_at("metadata.continue");
	for (int i = 0; i < 32; i++) {
		char patch[64];

		if (i == 29) { /* the token is 290 seconds old: still valid */
			fixture.request.parameters.limit = BT_STR("2");
			fixture.request.parameters.continue_token = bt_str_from(token);
			ck_assert_uint_eq(stream_list(&fixture, "pods", "default"), 200);
			ck_assert_str_eq(names(), "c d");
		}
		fixture.api.now_ns += INT64_C(10000000000);
		(void)snprintf(patch, sizeof(patch), "{'metadata':{'labels':{'i':'%d'}}}", i);
		ck_assert_uint_eq(
			api_patch(&fixture.api, BT_PATCH_MERGE, "pods", "default/a", patch), 200);
	}
	fixture.request.parameters.limit = BT_STR("2");
	fixture.request.parameters.continue_token = bt_str_from(token);
	ck_assert_uint_eq(stream_list(&fixture, "pods", "default"), 410);
	ck_assert_str_eq(fixture.failure.reason, "Expired");
	ck_assert(bt_str_has_prefix(fixture.failure.message,
		BT_STR("The provided continue parameter is too old to display a consistent list "
		       "result. You can start a new list without the continue parameter")));
	fixture.request.parameters.continue_token = fixture.failure.continue_token;
	ck_assert_uint_eq(stream_list(&fixture, "pods", "default"), 200);
	ck_assert_str_eq(names(), "c d e");
	stream_fixture_finish(&fixture);
}
END_TEST

START_TEST(test_list__edge_14_14_future_rv)
{
	char expected[96];
	struct bt_list_parameters parameters = {.resource_version = BT_STR("999999")};

	stream_fixture_init(&fixture);
	fixture.request.parameters = parameters;
	ck_assert_uint_eq(bt_list_future_rv(fixture.api.api, &parameters, false), 999999);
	ck_assert_uint_eq(bt_list_future_rv(fixture.api.api, &parameters, true), 0);
	ck_assert_uint_eq(stream_list(&fixture, "pods", ""), 504);
	(void)snprintf(expected, sizeof(expected),
		"Timeout: Too large resource version: 999999, current: %llu",
		(unsigned long long)bt_store_rv(fixture.api.store));
	ck_assert(bt_str_equal_c(fixture.failure.message, expected));
	ck_assert_str_eq(fixture.failure.reason, "Timeout");
	ck_assert_int_eq(fixture.failure.retry_after_seconds, 1);
	ck_assert_str_eq(fixture.failure.causes->reason, "ResourceVersionTooLarge");
	stream_fixture_finish(&fixture);
}
END_TEST

START_TEST(test_list__edge_14_16_send_initial_events)
{
	stream_fixture_init(&fixture);
	fixture.request.parameters.send_initial_events = BT_STR("true");
	ck_assert_uint_eq(stream_list(&fixture, "pods", ""), 422);
	ck_assert(bt_str_equal(fixture.failure.message,
		BT_STR("ListOptions.meta.k8s.io \"\" is invalid: sendInitialEvents: Forbidden: "
		       "sendInitialEvents is forbidden for list")));
	stream_fixture_finish(&fixture);
}
END_TEST

START_TEST(test_list__edge_14_32_missing_namespace)
{
	stream_fixture_init(&fixture);
	ck_assert_uint_eq(stream_list(&fixture, "pods", "nope"), 200);
	ck_assert_uint_eq(item_count(), 0);
	ck_assert_ptr_nonnull(strstr(bt_strbuf_c(&fixture.text), "\"items\":[]"));
	stream_fixture_finish(&fixture);
}
END_TEST

START_TEST(test_list__option_errors)
{
	static const struct {
		struct bt_list_parameters parameters;
		uint16_t code;
		const char *message;
	} rows[] = {
		{{.limit = BT_STR_INIT("x")}, 400,
			"strconv.ParseInt: parsing \"x\": invalid syntax"},
		{{.timeout_seconds = BT_STR_INIT("1s")}, 400,
			"strconv.ParseInt: parsing \"1s\": invalid syntax"},
		{{.limit = BT_STR_INIT("99999999999999999999")}, 400,
			"strconv.ParseInt: parsing \"99999999999999999999\": value out of range"},
		{{.resource_version = BT_STR_INIT("abc")}, 400,
			"invalid resource version: resourceVersion: Invalid value: \"abc\": "
			"strconv.ParseUint: parsing \"abc\": invalid syntax"},
		{{.resource_version_match = BT_STR_INIT("Exact")}, 422,
			"ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Forbidden: "
			"resourceVersionMatch is forbidden unless resourceVersion is provided"},
		{{.resource_version = BT_STR_INIT("1"),
			 .resource_version_match = BT_STR_INIT("Foo")},
			422,
			"ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: "
			"Unsupported value: \"Foo\": supported values: \"Exact\", "
			"\"NotOlderThan\""},
		{{.resource_version = BT_STR_INIT("5"), .continue_token = BT_STR_INIT("abc")}, 400,
			"specifying resource version is not allowed when using continue"},
		{{.continue_token = BT_STR_INIT("a b")}, 400,
			"invalid continue token: illegal base64 data"},
		{{.continue_token = BT_STR_INIT("YWJj")}, 400, "invalid continue token: no JSON"},
		{{.label_selector = BT_STR_INIT("==")}, 400,
			"found '==', expected: !, identifier, or 'end of string'"},
		{{.resource_version = BT_STR_INIT("1"),
			 .resource_version_match = BT_STR_INIT("Exact")},
			200, ""},
		{{.limit = BT_STR_INIT("-5")}, 200, ""},
		{{.resource_version = BT_STR_INIT("0"), .limit = BT_STR_INIT("500")}, 200, ""},
		{{.resource_version = BT_STR_INIT("1"),
			 .resource_version_match = BT_STR_INIT("NotOlderThan")},
			200, ""},
	};

	stream_fixture_init(&fixture);
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		uint16_t code;

		fixture.failure = (struct bt_failure){0};
		fixture.request.parameters = rows[i].parameters;
		code = stream_list(&fixture, "pods", "");
		ck_assert_msg(code == rows[i].code &&
				bt_str_equal_c(fixture.failure.message, rows[i].message),
			"row %zu: %u %.*s", i, code, BT_STR_ARG(fixture.failure.message));
	}
	stream_fixture_finish(&fixture);
}
END_TEST

START_TEST(test_list__exact_past_state)
{
	char rv[32];

	stream_fixture_init(&fixture);
	create_pods(five);
	(void)snprintf(rv, sizeof(rv), "%llu", (unsigned long long)bt_store_rv(fixture.api.store));
	ck_assert_uint_eq(api_delete(&fixture.api, "pods", "default/c"), 200);
	fixture.request.parameters.resource_version = bt_str_from(rv);
	fixture.request.parameters.resource_version_match = BT_STR("Exact");
	ck_assert_uint_eq(stream_list(&fixture, "pods", ""), 200);
	ck_assert_str_eq(names(), "a b c d e");
	ck_assert_str_eq(text_at("metadata.resourceVersion"), rv);
	stream_fixture_finish(&fixture);
}
END_TEST

/** Reads a list of thousands of objects in small pieces while other requests write. */
START_TEST(test_list__large_while_written)
{
	enum { COUNT = 9000 };
	struct bt_list *list;
	char buffer[5000];
	int64_t count;
	uint32_t reads = 0;
	uint32_t maps;

	stream_fixture_init(&fixture);
	stream_resource(&fixture, "configmaps", "");
	maps = fixture.request.resource->collection;
	for (uint32_t i = 0; i < COUNT; i++) {
		char key[32];
		char text[300];

		(void)snprintf(key, sizeof(key), "default/m%05u", i);
		(void)snprintf(text, sizeof(text),
			"{\"metadata\":{\"name\":\"m%05u\",\"labels\":{\"n\":\"%u\"}},\"data\":{"
			"\"x\":\"%*d\"}}",
			i, i, 200, 1);
		(void)bt_store_put(fixture.api.store, maps, bt_str_from(key), bt_str_from(text), 0);
	}
	ck_assert(bt_list_open(&fixture.request, &fixture.api.arena, &list, &fixture.failure));
	ck_assert(!bt_list_gather(list, 100000));
	bt_strbuf_reset(&fixture.text);
	while ((count = bt_list_read(list, buffer, sizeof(buffer))) != BT_HTTP_STREAM_END) {
		ck_assert_int_ge(count, 0);
		bt_strbuf_append(&fixture.text, buffer, (size_t)count);
		/*
		 * Writes a key that the list has returned, a key that the list will return, and a
		 * new key.
		 */
		if (reads++ < 500) {
			char key[32];

			(void)snprintf(key, sizeof(key), "default/m%05u", COUNT - reads);
			(void)bt_store_put(fixture.api.store, maps, bt_str_from(key),
				BT_STR("{\"metadata\":{\"name\":\"new\"}}"), 0);
			(void)snprintf(key, sizeof(key), "default/m%05ux", 2 * reads);
			(void)bt_store_put(fixture.api.store, maps, bt_str_from(key),
				BT_STR("{\"metadata\":{\"name\":\"new\"}}"), 0);
		}
	}
	bt_list_finish(list);
	ck_assert_uint_eq(item_count(), COUNT);
	ck_assert_ptr_null(strstr(bt_strbuf_c(&fixture.text), "\"new\""));
	/* A selector that matches few objects: whole turns pass without a byte of output. */
	fixture.request.parameters.label_selector = BT_STR("n=8998");
	fixture.capacity = 4096;
	ck_assert_uint_eq(stream_list(&fixture, "configmaps", ""), 200);
	ck_assert_uint_ge(fixture.wakes, 2);
	stream_fixture_finish(&fixture);
}
END_TEST

START_TEST(test_list__small_ones_at_once)
{
	struct bt_list *list;

	stream_fixture_init(&fixture);
	create_pods(five);
	stream_resource(&fixture, "pods", "");
	ck_assert(bt_list_open(&fixture.request, &fixture.api.arena, &list, &fixture.failure));
	ck_assert(bt_list_gather(list, 1 << 18));
	bt_list_take(list, &fixture.text);
	ck_assert_str_eq(names(), "a b c d e");
	stream_fixture_finish(&fixture);
}
END_TEST

START_TEST(test_list__metadata_pretty_yaml)
{
	stream_fixture_init(&fixture);
	create_pods(five);
	fixture.request.encoding.view = BT_VIEW_METADATA;
	ck_assert_uint_eq(stream_list(&fixture, "pods", ""), 200);
	ck_assert_str_eq(text_at("kind"), "PartialObjectMetadataList");
	ck_assert_str_eq(text_at("apiVersion"), "meta.k8s.io/v1");
	ck_assert_str_eq(names(), "a b c d e");
	ck_assert_ptr_null(bt_json_find(bt_json_array_at(answer(), "items")->elements[0], "spec"));
	fixture.request.encoding = (struct bt_encoding){.pretty = true};
	ck_assert_uint_eq(stream_list(&fixture, "pods", ""), 200);
	ck_assert_str_eq(names(), "a b c d e");
	ck_assert_ptr_nonnull(
		strstr(bt_strbuf_c(&fixture.text), "\n    {\n      \"metadata\": {\n"));
	fixture.request.encoding = (struct bt_encoding){.media = BT_MEDIA_YAML};
	if (bt_encoding_is_possible(&fixture.request.encoding, fixture.request.resource)) {
		ck_assert_uint_eq(stream_list(&fixture, "pods", ""), 200);
		ck_assert_ptr_nonnull(strstr(bt_strbuf_c(&fixture.text), "kind: PodList\n"));
		ck_assert_ptr_nonnull(strstr(bt_strbuf_c(&fixture.text), "items:\n- metadata:\n"));
		ck_assert_uint_eq(stream_list(&fixture, "pods", "nope"), 200);
		ck_assert_ptr_nonnull(strstr(bt_strbuf_c(&fixture.text), "items: []\n"));
	}
	stream_fixture_finish(&fixture);
}
END_TEST

/** Decodes a protobuf list, compares its kind, and returns the number of items. */
static uint32_t check_protobuf(const char *kind)
{
	struct bt_envelope envelope;
	struct bt_json_value *list;

	ck_assert_int_eq(bt_envelope_decode(bt_strbuf_str(&fixture.text), &envelope, NULL), 0);
	ck_assert_msg(bt_str_equal_c(envelope.kind, kind), "%.*s", BT_STR_ARG(envelope.kind));
	/*
	 * The schema has no message for lists of objects: the message for lists of metadata has the
	 * same form.
	 */
	ck_assert_int_eq(bt_schema_decode_protobuf(bt_schema_find(BT_STR("meta.k8s.io/v1"),
							   BT_STR("PartialObjectMetadataList")),
				 envelope.raw, &fixture.api.arena, &list, NULL),
		0);
	ck_assert_str_ne(
		bt_arena_str(&fixture.api.arena, bt_json_text_at(list, "metadata.resourceVersion"))
			.data,
		"");
	return bt_json_array_at(list, "items")->count;
}

START_TEST(test_list__protobuf_small_and_large)
{
	stream_fixture_init(&fixture);
	create_pods(five);
	fixture.request.encoding.media = BT_MEDIA_PROTOBUF;
	ck_assert_uint_eq(stream_list(&fixture, "pods", ""), 200);
	ck_assert_uint_eq(check_protobuf("PodList"), 5);
	fixture.request.parameters.limit = BT_STR("3");
	ck_assert_uint_eq(stream_list(&fixture, "pods", ""), 200);
	ck_assert_uint_eq(check_protobuf("PodList"), 3);
	fixture.request.encoding.view = BT_VIEW_METADATA;
	ck_assert_uint_eq(stream_list(&fixture, "pods", ""), 200);
	ck_assert_uint_eq(check_protobuf("PartialObjectMetadataList"), 5);
	/* The list is larger than the part that is kept while its length is measured. */
	fixture.request.encoding.view = BT_VIEW_OBJECT;
	for (uint32_t i = 0; i < 5000; i++) {
		char key[32];
		char text[500];

		(void)snprintf(key, sizeof(key), "default/m%05u", i);
		(void)snprintf(text, sizeof(text),
			"{\"metadata\":{\"name\":\"m%05u\"},\"data\":{\"x\":\"%*d\"}}", i, 400, 1);
		stream_resource(&fixture, "configmaps", "");
		(void)bt_store_put(fixture.api.store, fixture.request.resource->collection,
			bt_str_from(key), bt_str_from(text), 0);
	}
	fixture.capacity = 30000;
	ck_assert_uint_eq(stream_list(&fixture, "configmaps", ""), 200);
	ck_assert_uint_eq(check_protobuf("ConfigMapList"), 5000);
	ck_assert_uint_gt(fixture.text.length, 1 << 20);
	stream_fixture_finish(&fixture);
}
END_TEST

START_TEST(test_list__events_of_both_groups)
{
	stream_fixture_init(&fixture);
	ck_assert_uint_eq(
		api_create(&fixture.api, "events", "default/",
			"{'metadata':{'name':'e'},'involvedObject':{'kind':'Pod','name':'p',"
			"'namespace':'default'},'message':'hello','reason':'R','type':'Normal'}"),
		201);
	fixture.request.parameters.field_selector = BT_STR("involvedObject.name=p");
	ck_assert_uint_eq(stream_list(&fixture, "events", ""), 200);
	ck_assert_uint_eq(item_count(), 1);
	fixture.request.parameters.field_selector = BT_STR("regarding.name=p");
	ck_assert_uint_eq(stream_list(&fixture, "events.events.k8s.io", ""), 200);
	ck_assert_uint_eq(item_count(), 1);
	ck_assert_str_eq(text_at("apiVersion"), "events.k8s.io/v1");
	ck_assert(bt_str_equal(
		bt_json_text_at(bt_json_array_at(answer(), "items")->elements[0], "note"),
		BT_STR("hello")));
	stream_fixture_finish(&fixture);
}
END_TEST

START_TEST(test_list__deletes_a_collection)
{
	struct bt_api_request deletion = BT_API_REQUEST_INIT;

	stream_fixture_init(&fixture);
	create_pods(five);
	for (uint32_t i = 0; i < 700; i++) {
		char body[80];

		(void)snprintf(body, sizeof(body),
			"{'metadata':{'name':'m%u','labels':{'odd':'%u'}}}", i, i % 2);
		ck_assert_uint_eq(api_create(&fixture.api, "configmaps", "default/", body), 201);
	}
	fixture.request.deletion = &deletion;
	fixture.request.parameters.label_selector = BT_STR("odd=1");
	ck_assert_uint_eq(stream_list(&fixture, "configmaps", "default"), 200);
	ck_assert_uint_eq(item_count(), 350);
	fixture.request.parameters.field_selector = BT_STR("metadata.name=c");
	ck_assert_uint_eq(stream_list(&fixture, "pods", "default"), 200);
	ck_assert_str_eq(names(), "c");
	fixture.request.deletion = NULL;
	ck_assert_uint_eq(stream_list(&fixture, "configmaps", "default"), 200);
	ck_assert_uint_eq(item_count(), 350);
	ck_assert_uint_eq(stream_list(&fixture, "pods", "default"), 200);
	ck_assert_str_eq(names(), "a b d e");
	/* A dry run deletes no objects. */
	deletion.dry_run = true;
	fixture.request.deletion = &deletion;
	ck_assert_uint_eq(stream_list(&fixture, "pods", "default"), 200);
	ck_assert_str_eq(names(), "a b d e");
	fixture.request.deletion = NULL;
	ck_assert_uint_eq(stream_list(&fixture, "pods", "default"), 200);
	ck_assert_str_eq(names(), "a b d e");
	stream_fixture_finish(&fixture);
}
END_TEST

BT_TEST_MAIN("list", test_list__whole_in_order, test_list__pages_of_one_state,
	test_list__pages_with_selectors, test_list__expired_token_answers_a_fresh_one,
	test_list__edge_14_14_future_rv, test_list__edge_14_16_send_initial_events,
	test_list__edge_14_32_missing_namespace, test_list__option_errors,
	test_list__exact_past_state, test_list__large_while_written, test_list__small_ones_at_once,
	test_list__metadata_pretty_yaml, test_list__protobuf_small_and_large,
	test_list__events_of_both_groups, test_list__deletes_a_collection)
