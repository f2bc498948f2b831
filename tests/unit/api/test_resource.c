/* SPDX-License-Identifier: Apache-2.0 */
#include "api/resources.h"

#include "api_test.h"
#include "test_main.h"

static struct bt_arena arena;

static const struct bt_resource_list *list_of(const char *json)
{
	struct bt_strbuf text = {0};
	const struct bt_node *node;

	bt_strbuf_printf(&text, "{'status':{'allocatable':%s}}", json);
	node = api_node(&arena, bt_strbuf_c(&text));
	bt_strbuf_finish(&text);
	return &node->status.allocatable;
}

static struct bt_resource resource_of(const char *json)
{
	struct bt_resource resource = {0};

	bt_resource_add(&resource, list_of(json), &arena);
	return resource;
}

static void check_scalar(const struct bt_resource *resource, const char *name, int64_t expected)
{
	const int64_t *value = bt_resource_find_scalar(resource, bt_str_from(name));

	ck_assert_msg(value != NULL, "%s is missing", name);
	ck_assert_msg(*value == expected, "%s: %lld", name, (long long)*value);
}

START_TEST(test_resource__edge_01b_31_names)
{
	static const struct {
		const char *name;
		bool native;
		bool extended;
		bool scalar;
		bool dra;
	} rows[] = {
		{"cpu", true, false, false, false},
		{"foo", true, false, false, false},
		{"storage", true, false, false, false},
		{"requests.cpu", true, false, false, false},
		{"", true, false, false, false},
		{"Example.com/x", false, false, false, false},
		{"example.com/x", false, true, true, true},
		{"example.com/X_y.z", false, true, true, true},
		{"example.com/", false, false, false, false},
		{"/gpu", false, false, false, false},
		{"a/b/c", false, false, false, false},
		{"hugepages-2Mi", true, false, true, false},
		{"kubernetes.io/batch", true, false, true, false},
		{"x.kubernetes.io/y", true, false, true, false},
		{"attachable-volumes-x", true, false, true, false},
		{"requests.example.com/x", false, false, false, false},
		{"deviceclass.resource.kubernetes.io/x", true, false, true, true},
	};
	struct bt_resource resource =
		resource_of("{'foo':'1','Example.com/x':'1','example.com/"
			    "x':'1','hugepages-2Mi':'2Mi','kubernetes.io/batch':'1',"
			    "'attachable-volumes-x':'1','requests.example.com/x':'1'}");

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct bt_str name = bt_str_from(rows[i].name);

		ck_assert_msg(
			bt_resource_is_native(name) == rows[i].native, "native %s", rows[i].name);
		ck_assert_msg(bt_resource_is_extended(name) == rows[i].extended, "extended %s",
			rows[i].name);
		ck_assert_msg(
			bt_resource_is_scalar(name) == rows[i].scalar, "scalar %s", rows[i].name);
		ck_assert_msg(
			bt_resource_is_dra_extended(name) == rows[i].dra, "dra %s", rows[i].name);
	}
	ck_assert_uint_eq(resource.scalar_count, 4);
	check_scalar(&resource, "example.com/x", 1);
	check_scalar(&resource, "hugepages-2Mi", 2097152);
	check_scalar(&resource, "kubernetes.io/batch", 1);
	check_scalar(&resource, "attachable-volumes-x", 1);
}
END_TEST

START_TEST(test_resource__extended_name_lengths)
{
	char name[400];

	for (int prefix = 240; prefix < 250; prefix++) {
		memset(name, 'a', sizeof(name));
		memcpy(name + prefix, "/gpu", 5);
		ck_assert_msg(bt_resource_is_extended(bt_str_from(name)) == (prefix <= 244),
			"prefix of %d bytes", prefix);
	}
	for (int length = 60; length < 66; length++) {
		memset(name, 'b', sizeof(name));
		memcpy(name, "a.b/", 4);
		name[4 + length] = '\0';
		ck_assert_msg(bt_resource_is_extended(bt_str_from(name)) == (length <= 63),
			"name of %d bytes", length);
	}
}
END_TEST

START_TEST(test_resource__pod_level_and_overcommit)
{
	ck_assert(bt_resource_is_pod_level_supported(BT_STR("cpu")));
	ck_assert(bt_resource_is_pod_level_supported(BT_STR("memory")));
	ck_assert(bt_resource_is_pod_level_supported(BT_STR("hugepages-1Gi")));
	ck_assert(!bt_resource_is_pod_level_supported(BT_STR("ephemeral-storage")));
	ck_assert(!bt_resource_is_pod_level_supported(BT_STR("example.com/x")));
	ck_assert(bt_resource_is_overcommit_allowed(BT_STR("cpu")));
	ck_assert(!bt_resource_is_overcommit_allowed(BT_STR("hugepages-1Gi")));
	ck_assert(!bt_resource_is_overcommit_allowed(BT_STR("example.com/x")));
}
END_TEST

START_TEST(test_resource__edge_01b_32_conversion_rounds_up)
{
	struct bt_resource resource =
		resource_of("{'example.com/x':'1500m','memory':'1500m','cpu':'1n'}");

	check_scalar(&resource, "example.com/x", 2);
	ck_assert_int_eq(resource.memory_bytes, 2);
	ck_assert_int_eq(resource.cpu_milli, 1);
}
END_TEST

START_TEST(test_resource__edge_01b_33_allocatable)
{
	struct bt_resource resource =
		resource_of("{'cpu':'4m','memory':'2000','pods':'80','ephemeral-storage':'5000',"
			    "'scalar.test/scalar1':'1','hugepages-test':'2'}");

	ck_assert_int_eq(resource.cpu_milli, 4);
	ck_assert_int_eq(resource.memory_bytes, 2000);
	ck_assert_int_eq(resource.allowed_pod_number, 80);
	ck_assert_int_eq(resource.ephemeral_storage_bytes, 5000);
	ck_assert_uint_eq(resource.scalar_count, 2);
	check_scalar(&resource, "scalar.test/scalar1", 1);
	check_scalar(&resource, "hugepages-test", 2);
}
END_TEST

START_TEST(test_resource__edge_01b_34_set_max)
{
	struct bt_resource resource = resource_of("{'memory':'4000','scalar.test/scalar1':'1'}");

	bt_resource_set_max(&resource,
		list_of("{'memory':'2000','scalar.test/scalar1':'4','pods':'7','cpu':'-5','a.b/"
			"new':'-1','a.b/zero':'0'}"),
		&arena);
	ck_assert_int_eq(resource.memory_bytes, 4000);
	ck_assert_int_eq(resource.cpu_milli, 0);
	ck_assert_int_eq(resource.allowed_pod_number, 0);
	check_scalar(&resource, "scalar.test/scalar1", 4);
	check_scalar(&resource, "a.b/new", 0);
	check_scalar(&resource, "a.b/zero", 0);
}
END_TEST

START_TEST(test_resource__add_wraps_and_merges)
{
	struct bt_resource resource =
		resource_of("{'b.c/2':'2','b.c/4':'4','memory':'9223372036854775807'}");

	bt_resource_add(&resource,
		list_of("{'memory':'1','b.c/1':'1','b.c/2':'20','b.c/3':'0','b.c/"
			"5':'5','foo':'9'}"),
		&arena);
	ck_assert_int_eq(resource.memory_bytes, INT64_MIN);
	ck_assert_uint_eq(resource.scalar_count, 5);
	for (uint32_t i = 1; i < resource.scalar_count; i++) {
		ck_assert_int_lt(
			bt_str_compare(resource.scalars[i - 1].name, resource.scalars[i].name), 0);
	}
	check_scalar(&resource, "b.c/1", 1);
	check_scalar(&resource, "b.c/2", 22);
	check_scalar(&resource, "b.c/3", 0);
	check_scalar(&resource, "b.c/4", 4);
	check_scalar(&resource, "b.c/5", 5);
	bt_resource_add(NULL, list_of("{'cpu':'1'}"), &arena);
	bt_resource_set_max(NULL, list_of("{'cpu':'1'}"), &arena);
}
END_TEST

BT_TEST_MAIN("resource", test_resource__edge_01b_31_names, test_resource__extended_name_lengths,
	test_resource__pod_level_and_overcommit, test_resource__edge_01b_32_conversion_rounds_up,
	test_resource__edge_01b_33_allocatable, test_resource__edge_01b_34_set_max,
	test_resource__add_wraps_and_merges)
