/* SPDX-License-Identifier: Apache-2.0 */
/* Request bodies made to exhaust the server. */
#include "api_fixture.h"

#include "base/strbuf.h"
#include "codec/json_edit.h"
#include "server/store.h"
#include "test_main.h"

/**
 * Returns head, count copies of `item` with commas between, and tail; # in item is the copy's
 * number.
 */
static const char *repeated(
	struct api_fixture *f, const char *head, uint32_t count, const char *item, const char *tail)
{
	struct bt_strbuf text = {0};
	const char *mark = strchr(item, '#');
	bt_strbuf_append_c(&text, head);
	for (uint32_t i = 0; i < count; i++) {
		bt_strbuf_append_c(&text, i != 0 ? "," : "");
		bt_strbuf_append(&text, item, (size_t)(mark - item));
		bt_strbuf_printf(&text, "%u", i);
		bt_strbuf_append_c(&text, mark + 1);
	}
	bt_strbuf_append_c(&text, tail);
	const char *copy = bt_arena_str(&f->arena, bt_strbuf_str(&text)).data;
	bt_strbuf_finish(&text);
	return copy;
}

START_TEST(test_api__deep_bodies)
{
	struct api_fixture f;
	api_fixture_init(&f);
	struct bt_strbuf text = {0};
	for (int i = 0; i < 9000; i++) {
		bt_strbuf_append_c(&text, "[");
	}
	for (int i = 0; i < 9000; i++) {
		bt_strbuf_append_c(&text, "]");
	}
	ck_assert_uint_eq(api_create(&f, "pods", "default/", bt_strbuf_c(&text)), 400);
	ck_assert_uint_eq(
		api_patch(&f, BT_PATCH_MERGE, "pods", "default/p", bt_strbuf_c(&text)), 400);
	bt_strbuf_finish(&text);
	api_fixture_finish(&f);
}
END_TEST

START_TEST(test_api__many_finalizers)
{
	struct api_fixture f;
	api_fixture_init(&f);
	ck_assert_uint_eq(api_create(&f, "configmaps", "default/",
				  repeated(&f, "{'metadata':{'name':'c','finalizers':[", 50000,
					  "'a.b/c#'", "]}}")),
		201);
	ck_assert_uint_eq(api_delete(&f, "configmaps", "default/c"), 200);
	ck_assert_uint_eq(api_update(&f, "configmaps", "default/c",
				  repeated(&f, "{'metadata':{'name':'c','finalizers':[", 50000,
					  "'a.b/d#'", "]}}")),
		422);
	ck_assert_uint_le(strlen(api_message(&f)), 10000);
	api_fixture_finish(&f);
}
END_TEST

START_TEST(test_api__large_definitions)
{
	struct api_fixture f;
	api_fixture_init(&f);
	const char *head = "{'metadata':{'name':'as.b.c'},'spec':{'group':'b.c','scope':'Cluster',"
			   "'names':{'plural':'as','kind':'A'},'versions':[";
	ck_assert_uint_eq(api_create(&f, "customresourcedefinitions.apiextensions.k8s.io", "",
				  repeated(&f, head, 20000,
					  "{'name':'v#','served':true,'storage':true}", "]}}")),
		422);
	api_fixture_finish(&f);
}
END_TEST

START_TEST(test_api__large_bindings_and_objects)
{
	struct api_fixture f;
	api_fixture_init(&f);
	api_create_pod(&f, "p", NULL);
	ck_assert_uint_eq(
		api_create(&f, "pods/binding", "default/p",
			repeated(&f,
				"{'target':{'name':'n'},'metadata':{'name':'p','annotations':{",
				50000, "'a#':'b'", "}}}")),
		500);
	/* the escaped text has more bytes than the store accepts: < becomes six bytes */
	struct bt_strbuf text = {0};
	bt_strbuf_append_c(&text, "{'metadata':{'name':'c'},'data':{'a':'");
	for (int i = 0; i < 1000000; i++) {
		bt_strbuf_append_char(&text, '<');
	}
	bt_strbuf_append_c(&text, "'}}");
	uint16_t code = api_create(&f, "configmaps", "default/", bt_strbuf_c(&text));
	ck_assert_msg(code == 413 || code == 422, "%u", (unsigned)code);
	bt_strbuf_finish(&text);
	api_fixture_finish(&f);
}
END_TEST

/** Returns a definition of kind A in group b.c whose schema allows any members. */
static const char *definition_of_a(struct api_fixture *f, const char *plural)
{
	return bt_arena_printf(&f->arena,
		"{'metadata':{'name':'%s.b.c'},'spec':{'group':'b.c','scope':'Namespaced',"
		"'names':{'plural':'%s','kind':'A'},'versions':[{'name':'v1','served':true,"
		"'storage':true,'schema':{'openAPIV3Schema':{'type':'object',"
		"'x-kubernetes-preserve-unknown-fields':true}}}]}}",
		plural, plural)
		.data;
}

/**
 * An update larger than the store accepts is refused, even if it removes the last finalizer and
 * would delete the object.
 */
START_TEST(test_api__large_last_states)
{
	struct api_fixture f;
	api_fixture_init(&f);
	const char *crds = "customresourcedefinitions.apiextensions.k8s.io";
	ck_assert_uint_eq(api_create(&f, crds, "", definition_of_a(&f, "as")), 201);
	ck_assert_uint_eq(api_create(&f, "as.b.c", "default/",
				  "{'metadata':{'name':'a','finalizers':['a.b/c']}}"),
		201);
	ck_assert_uint_eq(api_delete(&f, "as.b.c", "default/a"), 200);
	struct bt_strbuf text = {0};
	bt_strbuf_append_c(&text, "{'metadata':{'finalizers':null},'spec':'");
	for (int i = 0; i < 1000000; i++) {
		bt_strbuf_append_char(&text, '<');
	}
	bt_strbuf_append_c(&text, "'}");
	ck_assert_uint_eq(
		api_patch(&f, BT_PATCH_MERGE, "as.b.c", "default/a", bt_strbuf_c(&text)), 413);
	bt_strbuf_finish(&text);
	ck_assert_uint_eq(api_patch(&f, BT_PATCH_MERGE, "as.b.c", "default/a",
				  "{'metadata':{'finalizers':null}}"),
		200);
	ck_assert_uint_eq(api_get(&f, "as.b.c", "default/a"), 404);
	api_fixture_finish(&f);
}
END_TEST

/** Definitions whose names are refused add no collection to the store. */
START_TEST(test_api__many_refused_definitions)
{
	struct api_fixture f;
	api_fixture_init(&f);
	const char *crds = "customresourcedefinitions.apiextensions.k8s.io";
	ck_assert_uint_eq(api_create(&f, crds, "", definition_of_a(&f, "as")), 201);
	uint32_t before = bt_store_collection_count(f.store);
	for (unsigned i = 0; i < 100; i++) {
		const char *plural = bt_arena_printf(&f.arena, "b%u", i).data;
		const char *name = bt_arena_printf(&f.arena, "%s.b.c", plural).data;
		ck_assert_uint_eq(api_create(&f, crds, "", definition_of_a(&f, plural)), 201);
		ck_assert_uint_eq(api_delete(&f, crds, name), 200);
		ck_assert_uint_eq(api_get(&f, crds, name), 404);
	}
	ck_assert_uint_eq(bt_store_collection_count(f.store), before);
	api_fixture_finish(&f);
}
END_TEST

BT_TEST_MAIN("api_hostile", test_api__deep_bodies, test_api__many_finalizers,
	test_api__large_definitions, test_api__large_bindings_and_objects,
	test_api__large_last_states, test_api__many_refused_definitions)
