/* SPDX-License-Identifier: Apache-2.0 */
#include "api_fixture.h"

#include <check.h>

#include "base/strbuf.h"
#include "codec/json_edit.h"

static int64_t clock_of(void *context)
{
	return ((const struct api_fixture *)context)->now_ns;
}

static const struct bt_api_request no_options = BT_API_REQUEST_INIT;

void api_fixture_init(struct api_fixture *fixture)
{
	*fixture =
		(struct api_fixture){.now_ns = INT64_C(1795262400000000000), .request = no_options};
	fixture->store = bt_store_create(&bt_store_default_options);
	struct bt_api_options options = {
		.store = fixture->store, .now_ns = clock_of, .clock_context = fixture, .seed = 1};
	fixture->api = bt_api_create(&options);
}

void api_fixture_finish(struct api_fixture *fixture)
{
	bt_api_answer_finish(&fixture->answer);
	bt_api_destroy(fixture->api);
	bt_store_destroy(fixture->store);
	bt_arena_finish(&fixture->arena);
}

static struct bt_str quoted(struct bt_arena *arena, const char *text)
{
	struct bt_str copy = bt_arena_str(arena, bt_str_from(text));
	char *bytes = bt_arena_alloc_bytes(arena, (size_t)copy.length + 1);
	for (uint32_t i = 0; i < copy.length; i++) {
		bytes[i] = copy.data[i] == '\'' ? '"' : copy.data[i];
	}
	bytes[copy.length] = '\0';
	return (struct bt_str){bytes, copy.length};
}

static void find_resource(struct api_fixture *fixture, const char *name)
{
	struct bt_str text = bt_str_from(name);
	int64_t slash = bt_str_find_char(text, '/');
	struct bt_str wanted = bt_str_sub(text, 0, slash < 0 ? text.length : (uint32_t)slash);
	const struct bt_resources *resources = bt_api_resources(fixture->api);
	fixture->request.resource = NULL;
	for (uint32_t i = 0; i < bt_resources_count(resources); i++) {
		const struct bt_api_resource *resource = bt_resources_at(resources, i);
		if (bt_str_equal(bt_resource_qualified(resource, &fixture->arena), wanted)) {
			fixture->request.resource = resource;
			break;
		}
	}
	ck_assert_msg(fixture->request.resource != NULL, "no resource %s", name);
	fixture->request.subresource = BT_SUBRESOURCE_NONE;
	for (uint32_t i = 1; slash >= 0 && i < BT_SUBRESOURCE__COUNT; i++) {
		if (bt_str_equal_c(bt_str_sub(text, (uint32_t)slash + 1, text.length),
			    bt_subresource_name((enum bt_subresource)i))) {
			fixture->request.subresource = (enum bt_subresource)i;
		}
	}
}

static void take_answer(struct api_fixture *fixture)
{
	struct bt_api_answer *answer = &fixture->answer;
	if (answer->failure.code != 0) {
		ck_assert_uint_eq(answer->code, answer->failure.code);
		ck_assert_ptr_null(answer->object);
		fixture->result = bt_failure_document(&answer->failure, &fixture->arena);
	} else if (answer->object != NULL) {
		ck_assert_ptr_null(answer->document);
		struct bt_strbuf text = {0};
		struct bt_json_value *whole = NULL;
		bt_stored_append_complete(answer->object, &text);
		struct bt_str copy = bt_arena_str(&fixture->arena, bt_strbuf_str(&text));
		ck_assert_int_eq(bt_json_parse(&fixture->arena, copy, false, &whole, NULL), 0);
		fixture->result = whole;
		bt_strbuf_finish(&text);
	} else {
		fixture->result = answer->document;
	}
	ck_assert_ptr_nonnull(fixture->result);
}

uint16_t api_do(struct api_fixture *fixture, enum bt_verb verb, const char *resource,
	const char *key, const char *body)
{
	struct bt_str text = bt_str_from(key);
	int64_t slash = bt_str_find_char(text, '/');
	struct bt_api_request *request = &fixture->request;
	find_resource(fixture, resource);
	request->verb = verb;
	request->namespace_ = bt_str_sub(text, 0, slash < 0 ? 0 : (uint32_t)slash);
	request->name = bt_str_sub(text, (uint32_t)(slash + 1), text.length);
	request->body = NULL;
	if (body != NULL) {
		int result = bt_json_parse(&fixture->arena, quoted(&fixture->arena, body), false,
			&request->body, NULL);
		ck_assert_msg(result == 0, "test body is no JSON: %s", body);
	}
	bt_api_answer_finish(&fixture->answer);
	fixture->rv_before = bt_store_rv(fixture->store);
	bt_api_perform(fixture->api, request, &fixture->arena, &fixture->answer);
	*request = no_options;
	take_answer(fixture);
	return fixture->answer.code;
}

uint16_t api_get(struct api_fixture *fixture, const char *resource, const char *key)
{
	return api_do(fixture, BT_VERB_GET, resource, key, NULL);
}

uint16_t api_create(
	struct api_fixture *fixture, const char *resource, const char *key, const char *body)
{
	return api_do(fixture, BT_VERB_CREATE, resource, key, body);
}

uint16_t api_update(
	struct api_fixture *fixture, const char *resource, const char *key, const char *body)
{
	return api_do(fixture, BT_VERB_UPDATE, resource, key, body);
}

uint16_t api_patch(struct api_fixture *fixture, enum bt_patch_type type, const char *resource,
	const char *key, const char *body)
{
	fixture->request.patch_type = type;
	return api_do(fixture, BT_VERB_PATCH, resource, key, body);
}

uint16_t api_delete(struct api_fixture *fixture, const char *resource, const char *key)
{
	return api_do(fixture, BT_VERB_DELETE, resource, key, NULL);
}

void api_create_pod(struct api_fixture *fixture, const char *name, const char *node)
{
	struct bt_str body = bt_arena_printf(&fixture->arena,
		"{'metadata':{'name':'%s','labels':{'app':'a'}},'spec':{%s%s%s"
		"'containers':[{'name':'c','image':'i:1'}]}}",
		name, node != NULL ? "'nodeName':'" : "", node != NULL ? node : "",
		node != NULL ? "'," : "");
	ck_assert_uint_eq(api_create(fixture, "pods", "default/", body.data), 201);
}

const char *api_text(const struct api_fixture *fixture, const char *dotted_path)
{
	struct bt_arena *arena = &((struct api_fixture *)(uintptr_t)fixture)->arena;
	return bt_arena_str(arena, bt_json_text_at(fixture->result, dotted_path)).data;
}

int64_t api_int(const struct api_fixture *fixture, const char *dotted_path)
{
	return bt_json_int64_at(fixture->result, dotted_path, -1);
}

const char *api_message(const struct api_fixture *fixture)
{
	return api_text(fixture, "message");
}

const char *api_json(struct api_fixture *fixture, const char *dotted_path)
{
	const struct bt_json_value *value = dotted_path[0] == '\0'
		? fixture->result
		: bt_json_find_path(fixture->result, dotted_path);
	if (value == NULL) {
		return "";
	}
	struct bt_strbuf buffer = {0};
	struct bt_json_writer writer;
	bt_json_writer_init(&writer, &buffer, 0);
	bt_json_write_value(&writer, value);
	for (size_t i = 0; i < buffer.length; i++) {
		buffer.data[i] = buffer.data[i] == '"' ? '\'' : buffer.data[i];
	}
	const char *text = bt_arena_str(&fixture->arena, bt_strbuf_str(&buffer)).data;
	bt_strbuf_finish(&buffer);
	return text;
}

uint64_t api_commits(const struct api_fixture *fixture)
{
	return bt_store_rv(fixture->store) - fixture->rv_before;
}
