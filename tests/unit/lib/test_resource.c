/* SPDX-License-Identifier: Apache-2.0 */
/** Spec 01b sections 2, 10 and 16.1. */
#include "berth/resource.h"

#include <stddef.h>

#include "objects.h"

#define EVERYTHING \
	"\"allocatable\":{\"cpu\":\"4m\",\"memory\":\"2000\",\"pods\":\"80\"," \
	"\"ephemeral-storage\":\"5000\",\"scalar.test/scalar1\":\"1\",\"hugepages-test\":\"2\"," \
	"\"storage\":\"7\",\"Example.com/x\":\"1\"}"

/** Returns the resource of a node with this allocatable. */
static struct berth_resource resource_of(const char *status)
{
	struct berth_object *node = node_from("n", "", status);
	struct berth_resource resource;

	berth_resource_init(&resource, berth_node_allocatable(berth_object_node(node)));
	berth_object_release(node);
	return resource;
}

/* seed-map 000.54 to 000.56, 000.58 to 000.62, 003.106, 003.107; spec 01b edge 33 */
START_TEST(test_resource__init_converts_a_list)
{
	struct berth_resource resource = resource_of(EVERYTHING);

	ck_assert_int_eq(resource.cpu_milli, 4);
	ck_assert_int_eq(resource.memory_bytes, 2000);
	ck_assert_int_eq(resource.ephemeral_storage_bytes, 5000);
	ck_assert_int_eq(resource.allowed_pod_number, 80);
	ck_assert_uint_eq(resource.scalar_count, 2);
	ck_assert_int_eq(berth_resource_extended(&resource, BERTH_STR("scalar.test/scalar1")), 1);
	ck_assert_int_eq(berth_resource_extended(&resource, BERTH_STR("hugepages-test")), 0);
	ck_assert_int_eq(berth_resource_huge_pages(&resource, BERTH_STR("hugepages-test")), 2);
	ck_assert_int_eq(berth_resource_huge_pages(&resource, BERTH_STR("scalar.test/scalar1")), 0);
	ck_assert_int_eq(berth_resource_scalar(&resource, BERTH_STR("hugepages-test")), 2);
	ck_assert(!berth_resource_has_scalar(&resource, BERTH_STR("storage")));
	berth_resource_finish(&resource);
	ck_assert_ptr_null(resource.scalars);
	berth_resource_init(&resource, NULL);
	ck_assert_int_eq(resource.cpu_milli, 0);
	ck_assert_ptr_null(resource.scalars);
	berth_resource_finish(NULL);
}
END_TEST

/* seed-map 000.63; spec 01b edges 31, 32 */
START_TEST(test_resource__add)
{
	struct berth_resource resource = resource_of(EVERYTHING);
	struct berth_object *node = node_from("n", "",
		"\"allocatable\":{\"cpu\":\"1n\",\"memory\":\"1500m\",\"pods\":\"1\","
		"\"attachable-volumes-x\":\"0\",\"hugepages-test\":\"1500m\","
		"\"a.test/b\":\"3\"}");
	const struct berth_resource_list *list = berth_node_allocatable(berth_object_node(node));

	berth_resource_add(&resource, list);
	ck_assert_int_eq(resource.cpu_milli, 5);
	ck_assert_int_eq(resource.memory_bytes, 2002);
	ck_assert_int_eq(resource.allowed_pod_number, 81);
	ck_assert_int_eq(resource.ephemeral_storage_bytes, 5000);
	ck_assert_uint_eq(resource.scalar_count, 4);
	CHECK_TEXT(resource.scalars[0].name, "a.test/b");
	CHECK_TEXT(resource.scalars[1].name, "attachable-volumes-x");
	CHECK_TEXT(resource.scalars[2].name, "hugepages-test");
	CHECK_TEXT(resource.scalars[3].name, "scalar.test/scalar1");
	ck_assert_int_eq(resource.scalars[2].value, 4);
	berth_resource_add(NULL, list);
	berth_resource_add(&resource, NULL);
	ck_assert_int_eq(resource.cpu_milli, 5);
	berth_object_release(node);
	berth_resource_finish(&resource);
}
END_TEST

/* seed-map 000.57, 000.64 to 000.67, 003.106 */
START_TEST(test_resource__lists_are_merged_by_name)
{
	struct berth_resource resource =
		resource_of("\"allocatable\":{\"b.x/1\":\"1\",\"d.x/1\":\"2\",\"f.x/1\":\"3\"}");
	struct berth_object *node = node_from("n", "",
		"\"allocatable\":{\"a.x/1\":\"10\",\"b.x/1\":\"20\",\"c.x/1\":\"30\","
		"\"f.x/1\":\"1\",\"g.x/1\":\"50\"}");
	const struct berth_resource_list *list = berth_node_allocatable(berth_object_node(node));
	static const char *const names[] = {"a.x/1", "b.x/1", "c.x/1", "d.x/1", "f.x/1", "g.x/1"};
	static const int64_t added[] = {10, 21, 30, 2, 4, 50};
	static const int64_t largest[] = {10, 20, 30, 2, 3, 50};
	struct berth_resource maximum;

	berth_resource_clone(&resource, &maximum);
	berth_resource_add(&resource, list);
	berth_resource_set_max(&maximum, list);
	berth_object_release(node);
	ck_assert_uint_eq(resource.scalar_count, 6);
	ck_assert_uint_eq(maximum.scalar_count, 6);
	for (int i = 0; i < 6; i++) {
		CHECK_TEXT(resource.scalars[i].name, names[i]);
		CHECK_TEXT(maximum.scalars[i].name, names[i]);
		ck_assert_int_eq(resource.scalars[i].value, added[i]);
		ck_assert_int_eq(maximum.scalars[i].value, largest[i]);
	}
	berth_resource_finish(&resource);
	berth_resource_finish(&maximum);
}
END_TEST

START_TEST(test_resource__scalars_are_added_and_set_without_a_look_at_the_name)
{
	struct berth_resource resource = {0};

	berth_resource_add_extended(&resource, BERTH_STR("no such name"), 2);
	berth_resource_add_extended(&resource, BERTH_STR("no such name"), 3);
	ck_assert_int_eq(berth_resource_extended(&resource, BERTH_STR("no such name")), 5);
	berth_resource_set_extended(&resource, BERTH_STR("no such name"), 1);
	ck_assert_int_eq(berth_resource_extended(&resource, BERTH_STR("no such name")), 1);
	berth_resource_add_huge_pages(&resource, BERTH_STR("hugepages-2Mi"), 7);
	berth_resource_add_huge_pages(&resource, BERTH_STR("hugepages-2Mi"), 7);
	ck_assert_int_eq(berth_resource_huge_pages(&resource, BERTH_STR("hugepages-2Mi")), 14);
	berth_resource_set_huge_pages(&resource, BERTH_STR("hugepages-2Mi"), 4);
	ck_assert_int_eq(berth_resource_huge_pages(&resource, BERTH_STR("hugepages-2Mi")), 4);
	berth_resource_add_scalar(&resource, BERTH_STR(BERTH_RESOURCE_NVIDIA_GPU), 2);
	ck_assert_int_eq(berth_resource_nvidia_gpu(&resource), 2);
	berth_resource_set_scalar(&resource, BERTH_STR("a"), INT64_MAX);
	berth_resource_add_scalar(&resource, BERTH_STR("a"), 1);
	ck_assert_int_eq(berth_resource_scalar(&resource, BERTH_STR("a")), INT64_MIN);
	ck_assert_int_eq(berth_resource_scalar(NULL, BERTH_STR("a")), 0);
	berth_resource_finish(&resource);
}
END_TEST

/* seed-map 000.68 */
START_TEST(test_resource__clone_is_deep)
{
	struct berth_resource resource = resource_of(EVERYTHING);
	struct berth_resource copy;
	struct berth_resource empty = {.cpu_milli = 1};

	berth_resource_clone(&resource, &copy);
	ck_assert(berth_resource_equal(&resource, &copy));
	berth_resource_add_scalar(&copy, BERTH_STR("hugepages-test"), 1);
	ck_assert(!berth_resource_equal(&resource, &copy));
	ck_assert_int_eq(berth_resource_scalar(&resource, BERTH_STR("hugepages-test")), 2);
	berth_resource_finish(&copy);
	berth_resource_finish(&resource);
	berth_resource_clone(&empty, &copy);
	ck_assert_ptr_null(copy.scalars);
	ck_assert_int_eq(copy.cpu_milli, 1);
	berth_resource_finish(&copy);
}
END_TEST

/* spec 01b edge 34 */
START_TEST(test_resource__edge_34_set_max)
{
	struct berth_resource resource = {.memory_bytes = 4000, .allowed_pod_number = 1};
	struct berth_object *node = node_from("n", "",
		"\"allocatable\":{\"memory\":\"2000\",\"scalar.test/scalar1\":\"4\","
		"\"pods\":\"9\",\"cpu\":\"2\",\"b.test/zero\":\"0\"}");

	berth_resource_set_scalar(&resource, BERTH_STR("scalar.test/scalar1"), 1);
	berth_resource_set_max(&resource, berth_node_allocatable(berth_object_node(node)));
	ck_assert_int_eq(resource.memory_bytes, 4000);
	ck_assert_int_eq(resource.cpu_milli, 2000);
	ck_assert_int_eq(resource.allowed_pod_number, 1);
	ck_assert_int_eq(berth_resource_scalar(&resource, BERTH_STR("scalar.test/scalar1")), 4);
	ck_assert(berth_resource_has_scalar(&resource, BERTH_STR("b.test/zero")));
	berth_object_release(node);
	berth_resource_finish(&resource);
}
END_TEST

static void check_entry(const struct berth_resource_list *list, const char *name, const char *text,
	struct berth_arena *arena)
{
	berth_quantity quantity;

	ck_assert_msg(berth_resource_list_find(list, berth_str_from(name), &quantity), "%s", name);
	CHECK_TEXT(berth_quantity_string(&quantity, arena), text);
}

/* seed-map 000.72 */
START_TEST(test_resource__to_list_writes_five_names_and_every_entry)
{
	struct berth_arena *arena = berth_arena_create();
	struct berth_resource resource = {0};
	const struct berth_resource_list *list = berth_resource_to_list(&resource, arena);

	ck_assert_uint_eq(berth_resource_list_count(list), 5);
	check_entry(list, "cpu", "0", arena);
	check_entry(list, BERTH_RESOURCE_NVIDIA_GPU, "0", arena);
	resource.cpu_milli = 250;
	resource.memory_bytes = 2048;
	resource.ephemeral_storage_bytes = 1024;
	resource.allowed_pod_number = 110;
	berth_resource_set_scalar(&resource, BERTH_STR("hugepages-2Mi"), 4 << 20);
	berth_resource_set_scalar(&resource, BERTH_STR("x.test/y"), 2000);
	berth_resource_set_scalar(&resource, BERTH_STR(BERTH_RESOURCE_NVIDIA_GPU), 3);
	list = berth_resource_to_list(&resource, arena);
	ck_assert_uint_eq(berth_resource_list_count(list), 7);
	check_entry(list, "cpu", "250m", arena);
	check_entry(list, "memory", "2Ki", arena);
	check_entry(list, "ephemeral-storage", "1Ki", arena);
	check_entry(list, "pods", "110", arena);
	check_entry(list, "hugepages-2Mi", "4Mi", arena);
	check_entry(list, "x.test/y", "2k", arena);
	check_entry(list, BERTH_RESOURCE_NVIDIA_GPU, "3", arena);
	berth_resource_finish(&resource);
	berth_arena_destroy(arena);
}
END_TEST

/* seed-map 000.69 */
START_TEST(test_resource__quantities_and_lists)
{
	struct berth_arena *arena = berth_arena_create();
	struct berth_error err = BERTH_ERROR_INIT;
	struct berth_resource_list *list = berth_resource_list_create(arena);
	struct berth_object *pod = pod_from("p", "",
		"\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"1500m\"}}},"
		"{\"name\":\"d\",\"resources\":{\"requests\":{\"cpu\":\"500u\"}}}]");
	struct berth_resource resource;
	berth_quantity quantity;
	berth_quantity other = berth_quantity_make(1500, -3, BERTH_QUANTITY_DECIMAL_SI);
	struct berth_str name;

	CHECK_OK(berth_quantity_parse(BERTH_STR("1.5"), arena, &quantity, &err));
	ck_assert_int_eq(berth_quantity_value(&quantity), 2);
	ck_assert_int_eq(berth_quantity_milli_value(&quantity), 1500);
	ck_assert_int_eq(berth_quantity_compare(&quantity, &other), 0);
	ck_assert_int_ne(berth_quantity_parse(BERTH_STR("1.5x"), arena, &quantity, NULL), 0);
	berth_resource_list_set(list, BERTH_STR("memory"), other, arena);
	for (int i = 0; i < 5; i++) {
		char key[] = "a.test/0";
		key[7] = (char)('4' - i);
		berth_resource_list_set(list, berth_str_from(key),
			berth_quantity_make(i, 0, BERTH_QUANTITY_DECIMAL_SI), arena);
	}
	berth_resource_list_set(list, BERTH_STR("memory"),
		berth_quantity_make(3, 0, BERTH_QUANTITY_DECIMAL_SI), arena);
	ck_assert_uint_eq(berth_resource_list_count(list), 6);
	berth_resource_list_at(list, 0, &name, &quantity);
	CHECK_TEXT(name, "a.test/0");
	ck_assert_int_eq(berth_quantity_value(&quantity), 4);
	berth_resource_init(&resource, list);
	ck_assert_int_eq(resource.memory_bytes, 3);
	ck_assert_uint_eq(resource.scalar_count, 5);
	berth_resource_finish(&resource);
	/* Sums are exact and rounded once: 1500m + 500u. */
	berth_resource_init(&resource, berth_pod_requests(berth_object_pod(pod), arena));
	ck_assert_int_eq(resource.cpu_milli, 1501);
	berth_resource_finish(&resource);
	ck_assert_uint_eq(berth_resource_list_count(NULL), 0);
	ck_assert(!berth_resource_list_find(NULL, BERTH_STR("cpu"), NULL));
	berth_object_release(pod);
	berth_arena_destroy(arena);
}
END_TEST

BT_TEST_MAIN("lib_resource", test_resource__init_converts_a_list, test_resource__add,
	test_resource__lists_are_merged_by_name,
	test_resource__scalars_are_added_and_set_without_a_look_at_the_name,
	test_resource__clone_is_deep, test_resource__edge_34_set_max,
	test_resource__to_list_writes_five_names_and_every_entry,
	test_resource__quantities_and_lists)
