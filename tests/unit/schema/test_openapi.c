/* SPDX-License-Identifier: Apache-2.0 */
#include "test_main.h"
#include "tree.h"

#include "schema/openapi.h"

#define ALL_VERBS "create delete deletecollection get list patch update watch"
#define RESOURCE(group, version, name, kind_group, kind_version, kind, namespaced, verbs) \
	{ \
		BT_STR_INIT(group), BT_STR_INIT(version), BT_STR_INIT(name), \
			BT_STR_INIT(kind_group), BT_STR_INIT(kind_version), BT_STR_INIT(kind), \
			namespaced, BT_STR_INIT(verbs), NULL \
	}

static const struct bt_openapi_resource resources[] = {
	RESOURCE("", "v1", "pods", "", "v1", "Pod", true, ALL_VERBS),
	RESOURCE("", "v1", "pods/status", "", "v1", "Pod", true, "get patch update"),
	RESOURCE("", "v1", "pods/eviction", "policy", "v1", "Eviction", true, "create"),
	RESOURCE("", "v1", "nodes", "", "v1", "Node", false, ALL_VERBS),
	RESOURCE("apps", "v1", "deployments", "apps", "v1", "Deployment", true, ALL_VERBS),
	RESOURCE("apps", "v1", "deployments/scale", "autoscaling", "v1", "Scale", true,
		"get patch update"),
	RESOURCE("example.com", "v1", "widgets", "example.com", "v1", "Widget", true, ALL_VERBS),
};
#define RESOURCE_COUNT ((uint32_t)(sizeof(resources) / sizeof(resources[0])))

static struct bt_arena arena;

/* Parses the text and frees it. */
static struct bt_json_value *parsed(struct bt_strbuf *text)
{
	struct bt_json_value *tree = tree_of(&arena, bt_strbuf_c(text));

	bt_strbuf_finish(text);
	return tree;
}

static struct bt_json_value *v3_document(const char *group, const char *version)
{
	struct bt_strbuf out = {NULL, 0, 0};

	bt_openapi_v3_document(
		bt_str_from(group), bt_str_from(version), resources, RESOURCE_COUNT, &out);
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
	const struct bt_json_value *document = v3_document("", "v1");
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
	bt_arena_finish(&arena);
}
END_TEST

START_TEST(test_openapi__required_and_inline)
{
	const struct bt_json_value *schemas = schemas_of(v3_document("apps", "v1"));

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
	bt_arena_finish(&arena);
}
END_TEST

START_TEST(test_openapi__index_names_hashes)
{
	struct bt_strbuf out = {NULL, 0, 0};
	struct bt_strbuf url = {NULL, 0, 0};
	const struct bt_json_value *paths;
	char hash[BT_OPENAPI_HASH_BYTES];

	bt_openapi_v3_document(BT_STR("apps"), BT_STR("v1"), resources, RESOURCE_COUNT, &out);
	bt_openapi_hash(bt_strbuf_str(&out), hash);
	bt_strbuf_reset(&out);
	bt_openapi_v3_index(resources, RESOURCE_COUNT, &out);
	paths = bt_json_find(parsed(&out), "paths");
	ck_assert_uint_eq(paths->count, 3);
	bt_strbuf_printf(
		&url, "{\"serverRelativeURL\":\"/openapi/v3/apis/apps/v1?hash=%s\"}", hash);
	ck_assert_str_eq(text_of(&arena, bt_json_find(paths, "apis/apps/v1")), bt_strbuf_c(&url));
	ck_assert_ptr_nonnull(bt_json_find(paths, "api/v1"));
	ck_assert_ptr_nonnull(bt_json_find(paths, "apis/example.com/v1"));
	bt_strbuf_finish(&url);
	bt_arena_finish(&arena);
}
END_TEST

START_TEST(test_openapi__v2)
{
	static const char expected[] = "\x0a\x03"
				       "2.0\x12\x10\x0a\x05"
				       "berth\x12\x07v1.36.2\x42\x00";
	static const char *const parts[] = {
		"\x0a\x37/apis/apps/v1/namespaces/{namespace}/deployments/{name}\x12",
		("\x42\x1d\x0a\x1b\x12\x19\x1a\x17\x12\x05query\x22\x06"
		 "dryRun\x32\x06string"),
		"\x12/group: \"apps\"\nkind: \"Deployment\"\nversion: \"v1\"\n",
	};
	uint64_t found = 0;
	struct bt_strbuf out = {NULL, 0, 0};
	const struct bt_json_value *document;

	bt_openapi_v2_protobuf(NULL, 0, &out);
	ck_assert(bt_str_equal(
		bt_strbuf_str(&out), (struct bt_str){expected, (uint32_t)sizeof(expected) - 1}));
	bt_strbuf_reset(&out);
	/* kubectl up to 1.26 looks only for a path whose patch has the parameter dryRun */
	for (uint32_t i = 0; i < RESOURCE_COUNT && found == 0; i++) {
		if (bt_str_equal_c(resources[i].name, "deployments")) {
			bt_openapi_v2_protobuf(&resources[i], 1, &out);
			found = out.length;
		}
	}
	ck_assert_uint_ne(found, 0);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		ck_assert_msg(bt_str_find(bt_strbuf_str(&out), bt_str_from(parts[i])) >= 0, "%s",
			parts[i]);
	}
	bt_strbuf_reset(&out);
	bt_openapi_v2_document(resources, RESOURCE_COUNT, &out);
	document = parsed(&out);
	check_refs(document, schemas_of(document));
	ck_assert_str_eq(property(schemas_of(document), "io.k8s.api.core.v1.Pod", "metadata"),
		"{\"$ref\":\"#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta\","
		"\"default\":{}}");
	bt_arena_finish(&arena);
}
END_TEST

/** Custom kinds appear as their definitions describe them; kubectl explain prints these texts. */
START_TEST(test_openapi__custom_kinds)
{
	static const char *const schema =
		"{\"type\":\"object\",\"description\":\"A widget.\",\"required\":[\"spec\"],"
		"\"properties\":{\"metadata\":{\"type\":\"object\"},\"spec\":{\"type\":\"object\","
		"\"properties\":{\"size\":{\"type\":\"integer\",\"nullable\":true,\"description\":"
		"\"How large.\"}}}}}";
	struct bt_openapi_resource custom = resources[RESOURCE_COUNT - 1];
	struct bt_strbuf out = {NULL, 0, 0};
	const struct bt_json_value *schemas;

	custom.schema = tree_of(&arena, schema);
	bt_openapi_v3_document(custom.group, custom.version, &custom, 1, &out);
	schemas = schemas_of(parsed(&out));
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
	bt_openapi_v2_document(&custom, 1, &out);
	schemas = schemas_of(parsed(&out));
	check_refs(schemas, schemas);
	/* OpenAPI 2 cannot say that null is allowed */
	ck_assert_str_eq(property(schemas, "com.example.v1.Widget", "spec"),
		"{\"type\":\"object\",\"properties\":{\"size\":{\"description\":\"How "
		"large.\"}}}");
	bt_arena_finish(&arena);
}
END_TEST

BT_TEST_MAIN("openapi", test_openapi__custom_kinds, test_openapi__v3_document,
	test_openapi__required_and_inline, test_openapi__index_names_hashes, test_openapi__v2)
