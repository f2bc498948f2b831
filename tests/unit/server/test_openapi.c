/* SPDX-License-Identifier: Apache-2.0 */
#include "test_main.h"
#include "../schema/tree.h"

#include "server/openapi.h"
#include "server/store.h"

static struct bt_arena arena;
static struct bt_store *store;
static struct bt_resources *resources;

static void setup(void)
{
	store = bt_store_create(&bt_store_default_options);
	resources = bt_resources_create(store, 0);
}

static void teardown(void)
{
	bt_resources_destroy(resources);
	bt_store_destroy(store);
	bt_arena_finish(&arena);
}

/* Parses the text and frees it. */
static struct bt_json_value *parsed(struct bt_strbuf *text)
{
	struct bt_json_value *tree = tree_of(&arena, bt_strbuf_c(text));

	bt_strbuf_finish(text);
	return tree;
}

static struct bt_json_value *v3_document(const char *path)
{
	struct bt_strbuf out = {NULL, 0, 0};

	ck_assert(bt_openapi_v3_document(resources, bt_str_from(path), &out));
	return parsed(&out);
}

/* Every reference must lead to a schema of the document. */
static void check_refs(const struct bt_json_value *value, const struct bt_json_value *schemas)
{
	for (uint32_t i = 0; i < value->count; i++) {
		if (value->type == BT_JSON_ARRAY) {
			check_refs(value->elements[i], schemas);
			continue;
		}
		if (bt_str_equal_c(value->members[i].name, "$ref")) {
			struct bt_str ref = value->members[i].value->text;
			while (bt_str_find_char(ref, '/') >= 0) {
				ref = bt_str_sub(
					ref, (uint32_t)bt_str_find_char(ref, '/') + 1, ref.length);
			}
			ck_assert_msg(bt_json_get(schemas, ref) != NULL, "%.*s", BT_STR_ARG(ref));
		}
		check_refs(value->members[i].value, schemas);
	}
}

static const struct bt_json_value *schemas_of(const struct bt_json_value *document)
{
	const struct bt_json_value *schemas = bt_json_object_at(document, "components.schemas");

	return schemas->count != 0 ? schemas : bt_json_object_at(document, "definitions");
}

static const char *property(
	const struct bt_json_value *schemas, const char *schema, const char *name)
{
	const struct bt_json_value *properties =
		bt_json_find(bt_json_find(schemas, schema), "properties");
	const struct bt_json_value *value = bt_json_find(properties, name);

	ck_assert_msg(value != NULL, "%s %s", schema, name);
	return text_of(&arena, value);
}

START_TEST(test_openapi__v3_document)
{
	setup();
	const struct bt_json_value *document = v3_document("api/v1");
	const struct bt_json_value *schemas = schemas_of(document);
	const struct bt_json_value *paths = bt_json_find(document, "paths");
	const struct bt_json_value *patch;

	check_refs(document, schemas);
	ck_assert_str_eq(property(schemas, "io.k8s.api.core.v1.PodSpec", "containers"),
		"{\"type\":\"array\",\"items\":{\"allOf\":[{\"$ref\":"
		"\"#/components/schemas/io.k8s.api.core.v1.Container\"}],\"default\":{}},"
		"\"x-kubernetes-list-map-keys\":[\"name\"],\"x-kubernetes-list-type\":\"map\","
		"\"x-kubernetes-patch-merge-key\":\"name\","
		"\"x-kubernetes-patch-strategy\":\"merge\","
		"\"description\":\"The containers; at least one.\"}");
	ck_assert_str_eq(property(schemas, "io.k8s.api.core.v1.Volume", "emptyDir"),
		"{\"allOf\":[{\"$ref\":"
		"\"#/components/schemas/io.k8s.api.core.v1.EmptyDirVolumeSource\"}]}");
	ck_assert_str_eq(property(schemas, "io.k8s.api.core.v1.NodeStatus", "capacity"),
		"{\"type\":\"object\",\"additionalProperties\":{\"allOf\":[{\"$ref\":"
		"\"#/components/schemas/io.k8s.apimachinery.pkg.api.resource.Quantity\"}]}}");
	ck_assert_str_eq(text_of(&arena,
				 bt_json_find(bt_json_find(schemas, "io.k8s.api.core.v1.Pod"),
					 "x-kubernetes-group-version-kind")),
		"[{\"group\":\"\",\"kind\":\"Pod\",\"version\":\"v1\"}]");
	ck_assert_ptr_nonnull(bt_json_find(schemas, "io.k8s.api.core.v1.PodList"));
	ck_assert_ptr_nonnull(
		bt_json_find(schemas, "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"));
	patch = bt_json_find(
		bt_json_find(paths, "/api/v1/namespaces/{namespace}/pods/{name}"), "patch");
	ck_assert_str_eq(text_of(&arena, bt_json_find(patch, "x-kubernetes-group-version-kind")),
		"{\"group\":\"\",\"kind\":\"Pod\",\"version\":\"v1\"}");
	ck_assert_uint_eq(bt_json_find(patch, "parameters")->count, 4);
	ck_assert_ptr_nonnull(bt_json_find(bt_json_find(paths, "/api/v1/pods"), "get"));
	ck_assert_ptr_null(bt_json_find(bt_json_find(paths, "/api/v1/pods"), "post"));
	ck_assert_ptr_nonnull(bt_json_find(bt_json_find(paths, "/api/v1/nodes"), "post"));
	ck_assert_ptr_nonnull(bt_json_find(
		bt_json_find(paths, "/api/v1/namespaces/{namespace}/pods/{name}/eviction"),
		"post"));
	teardown();
}
END_TEST

START_TEST(test_openapi__required_and_inline)
{
	setup();
	const struct bt_json_value *schemas = schemas_of(v3_document("apis/apps/v1"));

	ck_assert_str_eq(text_of(&arena,
				 bt_json_find(bt_json_find(schemas, "io.k8s.api.core.v1.Container"),
					 "required")),
		"[\"name\"]");
	ck_assert_str_eq(
		text_of(&arena,
			bt_json_find(bt_json_find(schemas, "io.k8s.api.apps.v1.DeploymentSpec"),
				"required")),
		"[\"selector\",\"template\"]");
	ck_assert_str_eq(property(schemas, "io.k8s.api.apps.v1.DeploymentSpec", "strategy"),
		"{\"allOf\":[{\"$ref\":"
		"\"#/components/schemas/io.k8s.api.apps.v1.DeploymentStrategy\"}],"
		"\"default\":{},\"x-kubernetes-patch-strategy\":\"retainKeys\","
		"\"description\":\"How old pods are replaced by new ones.\"}");
	teardown();
}
END_TEST

START_TEST(test_openapi__index_names_hashes)
{
	setup();
	struct bt_strbuf out = {NULL, 0, 0};
	struct bt_strbuf url = {NULL, 0, 0};
	const struct bt_json_value *paths;
	char hash[BT_OPENAPI_HASH_BYTES];

	ck_assert(!bt_openapi_v3_document(resources, BT_STR("apis/apps/v9"), &out));
	ck_assert(bt_openapi_v3_document(resources, BT_STR("apis/apps/v1"), &out));
	bt_openapi_hash(bt_strbuf_str(&out), hash);
	bt_strbuf_reset(&out);
	bt_openapi_v3_index(resources, &out);
	paths = bt_json_find(parsed(&out), "paths");
	bt_strbuf_printf(
		&url, "{\"serverRelativeURL\":\"/openapi/v3/apis/apps/v1?hash=%s\"}", hash);
	ck_assert_str_eq(text_of(&arena, bt_json_find(paths, "apis/apps/v1")), bt_strbuf_c(&url));
	ck_assert_ptr_nonnull(bt_json_find(paths, "api/v1"));
	ck_assert_ptr_nonnull(bt_json_find(paths, "apis/policy/v1"));
	bt_strbuf_finish(&url);
	teardown();
}
END_TEST

START_TEST(test_openapi__v2)
{
	setup();
	static const char expected[] = "\x0a\x03"
				       "2.0\x12\x10\x0a\x05"
				       "berth\x12\x07v1.36.2\x42";
	static const char *const parts[] = {
		"\x0a\x37/apis/apps/v1/namespaces/{namespace}/deployments/{name}\x12",
		("\x42\x1d\x0a\x1b\x12\x19\x1a\x17\x12\x05query\x22\x06"
		 "dryRun\x32\x06string"),
		"\x12/group: \"apps\"\nkind: \"Deployment\"\nversion: \"v1\"\n",
	};
	struct bt_strbuf out = {NULL, 0, 0};
	const struct bt_json_value *document;

	/* kubectl up to 1.26 looks only for a path whose patch has the parameter dryRun */
	bt_openapi_v2_protobuf(resources, &out);
	ck_assert(bt_str_has_prefix(
		bt_strbuf_str(&out), (struct bt_str){expected, (uint32_t)sizeof(expected) - 1}));
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		ck_assert_msg(bt_str_find(bt_strbuf_str(&out), bt_str_from(parts[i])) >= 0, "%s",
			parts[i]);
	}
	bt_strbuf_reset(&out);
	bt_openapi_v2_document(resources, &out);
	document = parsed(&out);
	check_refs(document, schemas_of(document));
	ck_assert_str_eq(property(schemas_of(document), "io.k8s.api.core.v1.Pod", "metadata"),
		"{\"$ref\":\"#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta\","
		"\"default\":{}}");
	teardown();
}
END_TEST

/** Custom kinds appear as their definitions describe them; kubectl explain prints these texts. */
START_TEST(test_openapi__custom_kinds)
{
	setup();
	static const char *const definition =
		"{\"metadata\":{\"name\":\"widgets.example.com\"},\"spec\":{\"group\":"
		"\"example.com\",\"scope\":\"Namespaced\",\"names\":{\"plural\":\"widgets\","
		"\"kind\":\"Widget\"},\"versions\":[{\"name\":\"v1\",\"served\":true,\"schema\":"
		"{\"openAPIV3Schema\":{\"type\":\"object\",\"description\":\"A "
	        "widget.\",\"required\":[\"spec\"],"
		"\"properties\":{\"metadata\":{\"type\":\"object\"},\"spec\":{\"type\":\"object\","
		"\"properties\":{\"size\":{\"type\":\"integer\",\"nullable\":true,\"description\":"
		"\"How large.\"}}}}}}}]}}";
	struct bt_strbuf out = {NULL, 0, 0};
	const struct bt_json_value *schemas;

	bt_resources_define(resources, BT_STR("widgets.example.com"), tree_of(&arena, definition));
	schemas = schemas_of(v3_document("apis/example.com/v1"));
	check_refs(schemas, schemas);
	ck_assert_str_eq(text_of(&arena, bt_json_find(schemas, "com.example.v1.Widget")),
		"{\"description\":\"A widget.\",\"required\":[\"spec\"],\"type\":\"object\","
		"\"properties\":{\"apiVersion\":{\"type\":\"string\"},\"kind\":{\"type\":"
		"\"string\"},\"metadata\":{\"allOf\":[{\"$ref\":\"#/components/schemas/"
		"io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta\"}]},\"spec\":{"
		"\"type\":\"object\",\"properties\":{\"size\":{\"type\":\"integer\","
		"\"nullable\":true,\"description\":\"How large.\"}}}},"
		"\"x-kubernetes-group-version-kind\":[{\"group\":\"example.com\",\"kind\":"
		"\"Widget\",\"version\":\"v1\"}]}");
	ck_assert_ptr_nonnull(bt_json_find(schemas, "com.example.v1.WidgetList"));
	bt_openapi_v2_document(resources, &out);
	schemas = schemas_of(parsed(&out));
	check_refs(schemas, schemas);
	/* OpenAPI 2 cannot say that null is allowed */
	ck_assert_str_eq(property(schemas, "com.example.v1.Widget", "spec"),
		"{\"type\":\"object\",\"properties\":{\"size\":{\"description\":\"How "
		"large.\"}}}");
	teardown();
}
END_TEST

BT_TEST_MAIN("openapi", test_openapi__custom_kinds, test_openapi__v3_document,
	test_openapi__required_and_inline, test_openapi__index_names_hashes, test_openapi__v2)
