/* SPDX-License-Identifier: Apache-2.0 */
#include "server/media.h"

#include "test_main.h"

#define KUBECTL_GET \
	"application/json;as=Table;v=v1;g=meta.k8s.io," \
	"application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json"
#define PROTOBUF "application/vnd.kubernetes.protobuf"

START_TEST(test_media__accept_object)
{
	static const struct {
		const char *accept; /* NULL: no header */
		bool is_watch;
		bool possible;
		enum bt_media media;
		enum bt_view view;
	} rows[] = {
		{NULL, false, true, BT_MEDIA_JSON, BT_VIEW_OBJECT},
		{"", false, true, BT_MEDIA_JSON, BT_VIEW_OBJECT},
		{"*/*", true, true, BT_MEDIA_JSON, BT_VIEW_OBJECT},
		{"application/*", false, true, BT_MEDIA_JSON, BT_VIEW_OBJECT},
		{"application/json, */*;q=0.8", false, true, BT_MEDIA_JSON, BT_VIEW_OBJECT},
		{"application/json;q=0.5, application/yaml", false, true, BT_MEDIA_JSON,
			BT_VIEW_OBJECT},
		{"application/json;as=Table;v=v1;g=meta.k8s.io;as=Foo", false, false, BT_MEDIA_JSON,
			BT_VIEW_OBJECT},
		{"Application/JSON;charset=utf-8", false, true, BT_MEDIA_JSON, BT_VIEW_OBJECT},
		{"application/yaml", false, true, BT_MEDIA_YAML, BT_VIEW_OBJECT},
		{"application/yaml", true, false, BT_MEDIA_JSON, BT_VIEW_OBJECT},
		{"application/yaml,application/json", true, true, BT_MEDIA_JSON, BT_VIEW_OBJECT},
		{PROTOBUF ", */*", false, true, BT_MEDIA_PROTOBUF, BT_VIEW_OBJECT},
		{PROTOBUF ";stream=watch", true, true, BT_MEDIA_PROTOBUF, BT_VIEW_OBJECT},
		{KUBECTL_GET, false, true, BT_MEDIA_JSON, BT_VIEW_TABLE},
		{"application/json;g=meta.k8s.io;v=v1;as=Table", true, true, BT_MEDIA_JSON,
			BT_VIEW_TABLE},
		{"application/json;as=Table;v=v2;g=meta.k8s.io", false, false, BT_MEDIA_JSON,
			BT_VIEW_OBJECT},
		{"application/json;as=Chair;v=v1;g=meta.k8s.io,application/json", false, true,
			BT_MEDIA_JSON, BT_VIEW_OBJECT},
		{PROTOBUF ";as=PartialObjectMetadataList;g=meta.k8s.io;v=v1", false, true,
			BT_MEDIA_PROTOBUF, BT_VIEW_METADATA},
		{"text/html", false, false, BT_MEDIA_JSON, BT_VIEW_OBJECT},
		{",,;;,=", false, false, BT_MEDIA_JSON, BT_VIEW_OBJECT},
	};
	struct bt_store *store = bt_store_create(&bt_store_default_options);
	struct bt_resources *resources = bt_resources_create(store, 0);
	const struct bt_api_resource *pods = bt_resources_builtin(resources, "", "pods");
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct bt_encoding encoding = {0};
		const char *shown = rows[i].accept != NULL ? rows[i].accept : "(none)";
		bool possible = bt_accept_object(
			bt_str_from(rows[i].accept), pods, rows[i].is_watch, &encoding);
		ck_assert_msg(possible == rows[i].possible, "%s", shown);
		ck_assert_msg(encoding.media == rows[i].media, "%s: media", shown);
		ck_assert_msg(encoding.view == rows[i].view, "%s: view", shown);
	}
	/* spec 14 section 8.2: kubectl's second Accept entry, for old servers */
	struct bt_encoding old = {0};
	ck_assert(bt_accept_object(
		BT_STR("application/json;as=Table;v=v1beta1;g=meta.k8s.io"), pods, false, &old));
	ck_assert(old.v1beta1);
	/* reviews are never stored and have no table: 406 */
	ck_assert(!bt_accept_object(BT_STR("application/json;as=Table;v=v1;g=meta.k8s.io"),
		bt_resources_builtin(resources, "authorization.k8s.io", "selfsubjectaccessreviews"),
		false, &old));
	bt_resources_destroy(resources);
	bt_store_destroy(store);
}
END_TEST

START_TEST(test_media__edge_14_17_table_in_protobuf)
{
	struct bt_store *store = bt_store_create(&bt_store_default_options);
	struct bt_resources *resources = bt_resources_create(store, 0);
	struct bt_encoding encoding = {0};
	ck_assert(!bt_accept_object(BT_STR(PROTOBUF ";as=Table;v=v1;g=meta.k8s.io"),
		bt_resources_builtin(resources, "", "pods"), false, &encoding));
	bt_resources_destroy(resources);
	bt_store_destroy(store);
}
END_TEST

START_TEST(test_media__edge_14_18_unknown_type_first)
{
	struct bt_encoding encoding = {.media = BT_MEDIA_YAML};
	ck_assert(
		bt_accept_document(BT_STR("application/cbor, application/json"), &encoding, NULL));
	ck_assert_int_eq(encoding.media, BT_MEDIA_JSON);
	ck_assert(!bt_accept_document(BT_STR("application/cbor"), &encoding, NULL));
}
END_TEST

START_TEST(test_media__discovery)
{
	static const char v2[] = "application/json;g=apidiscovery.k8s.io;v=v2;"
				 "as=APIGroupDiscoveryList";
	static const char v2beta1[] = "application/json;as=APIGroupDiscoveryList;v=v2beta1;"
				      "g=apidiscovery.k8s.io,application/json";
	struct bt_encoding encoding = {0};
	enum bt_discovery_form form;
	ck_assert(bt_accept_document(bt_str_from(v2), &encoding, &form));
	ck_assert_int_eq(form, BT_DISCOVERY_V2);
	ck_assert(bt_accept_document(bt_str_from(v2beta1), &encoding, &form));
	ck_assert_int_eq(form, BT_DISCOVERY_V2BETA1);
	ck_assert(bt_accept_document(BT_STR(PROTOBUF), &encoding, &form));
	ck_assert_int_eq(form, BT_DISCOVERY_LEGACY);
	ck_assert_int_eq(encoding.media, BT_MEDIA_PROTOBUF);
	ck_assert(!bt_accept_document(
		BT_STR("application/json;g=x;v=v2;as=APIGroupDiscoveryList"), &encoding, &form));
}
END_TEST

START_TEST(test_media__openapi)
{
	bool is_protobuf = false;
	ck_assert(bt_accept_openapi(
		BT_STR("application/com.github.proto-openapi.spec.v2@v1.0+protobuf"),
		&is_protobuf));
	ck_assert(is_protobuf);
	ck_assert(bt_accept_openapi(BT_STR("application/json, */*"), &is_protobuf));
	ck_assert(!is_protobuf);
	ck_assert(!bt_accept_openapi(BT_STR("text/html"), &is_protobuf));
}
END_TEST

START_TEST(test_media__bodies)
{
	static const struct {
		const char *type;
		enum bt_body_media media;
		enum bt_patch_type patch;
	} rows[] = {
		{NULL, BT_BODY_JSON, BT_PATCH_JSON},
		{"application/json; charset=utf-8", BT_BODY_JSON, BT_PATCH_JSON},
		{"APPLICATION/JSON", BT_BODY_JSON, BT_PATCH_JSON},
		{"application/yaml", BT_BODY_YAML, BT_PATCH_JSON},
		{PROTOBUF, BT_BODY_PROTOBUF, BT_PATCH_JSON},
		{"application/json-patch+json", BT_BODY_PATCH, BT_PATCH_JSON},
		{"application/merge-patch+json", BT_BODY_PATCH, BT_PATCH_MERGE},
		{"application/strategic-merge-patch+json", BT_BODY_PATCH, BT_PATCH_STRATEGIC},
		{"application/apply-patch+yaml", BT_BODY_PATCH, BT_PATCH_APPLY},
		{"application/cbor", BT_BODY_OTHER, BT_PATCH_JSON},
		{"text/plain", BT_BODY_OTHER, BT_PATCH_JSON},
	};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		enum bt_patch_type patch = BT_PATCH_JSON;
		ck_assert_msg(
			bt_body_media_parse(bt_str_from(rows[i].type), &patch) == rows[i].media &&
				patch == rows[i].patch,
			"%s", rows[i].type);
	}
}
END_TEST

BT_TEST_MAIN("media", test_media__accept_object, test_media__edge_14_17_table_in_protobuf,
	test_media__edge_14_18_unknown_type_first, test_media__discovery, test_media__openapi,
	test_media__bodies)
