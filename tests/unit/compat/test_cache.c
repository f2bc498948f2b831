/* SPDX-License-Identifier: Apache-2.0 */
/** Spec 03b sections 4, 5, 7, 11 and 12. */
#include "berth/cache.h"

#include <stddef.h>

#include "objects.h"

#define SECOND INT64_C(1000000000)

static struct berth_object *pod_on(const char *name, const char *node)
{
	char spec[256];

	(void)snprintf(spec, sizeof(spec),
		"\"nodeName\":\"%s\",\"containers\":[{\"resources\":{\"requests\":{"
		"\"cpu\":\"1\"}}}]",
		node);
	return pod_from(name, "\"app\":\"web\"", spec);
}

static enum berth_cache_pod_state state_of(
	const struct berth_cache *cache, const struct berth_object *pod)
{
	return berth_cache_pod_state(cache, berth_object_uid(pod));
}

/** Returns the requested cpu of a node's entry; -1 when the cache has no entry. */
static int64_t cpu_on(struct berth_cache *cache, const char *name)
{
	struct berth_node_info *node = NULL;
	int64_t cpu;

	if (berth_cache_get_node_info(cache, berth_str_from(name), &node, NULL) != 0) {
		return -1;
	}
	cpu = berth_node_info_requested_cpu_milli(node);
	berth_node_info_destroy(node);
	return cpu;
}

/* seed-map 000.1, 000.2, 000.14, 000.15, 000.19, 000.25; spec 03b edges 1, 11 */
START_TEST(test_cache__edge_01_assume_twice)
{
	struct berth_cache *cache = berth_cache_create(NULL);
	struct berth_object *pod = pod_on("a", "n1");
	struct berth_object *nameless = object_from(
		"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"x\"}}");
	struct berth_object *node = node_from("n1", "", "");
	struct berth_error err = BERTH_ERROR_INIT;

	ck_assert_int_eq(state_of(cache, pod), BERTH_CACHE_POD_INITIAL);
	ck_assert_ptr_null(berth_cache_get_pod(cache, berth_object_uid(pod)));
	CHECK_OK(berth_cache_assume_pod(cache, pod, &err));
	ck_assert_int_eq(state_of(cache, pod), BERTH_CACHE_POD_ASSUMED);
	ck_assert_ptr_eq(berth_cache_get_pod(cache, berth_object_uid(pod)), berth_object_pod(pod));
	ck_assert_uint_eq(berth_cache_assumed_pod_count(cache), 1);
	ck_assert_int_eq(cpu_on(cache, "n1"), 1000);
	CHECK_FAILS(berth_cache_assume_pod(cache, pod, &err), BERTH_ERR_STATE,
		"pod a(default/a) is in the cache, so can't be assumed");
	ck_assert_int_eq(cpu_on(cache, "n1"), 1000);
	CHECK_FAILS(berth_cache_assume_pod(cache, nameless, &err), BERTH_ERR_INVALID,
		"cannot get cache key for pod with empty UID");
	CHECK_FAILS(berth_cache_add_pod(cache, node, &err), BERTH_ERR_INVALID, "not a pod");
	CHECK_FAILS(berth_cache_add_node(cache, pod, &err), BERTH_ERR_INVALID, "not a node");
	berth_cache_destroy(cache);
	berth_cache_destroy(NULL);
	berth_object_release(pod);
	berth_object_release(nameless);
	berth_object_release(node);
}
END_TEST

/* seed-map 000.5, 000.16, 000.20, 000.26; spec 03b edges 2, 3, 4 */
START_TEST(test_cache__edge_04_add_on_another_node)
{
	struct berth_cache *cache = berth_cache_create(NULL);
	struct berth_object *assumed = pod_on("a", "n1");
	struct berth_object *bound = pod_on("a", "n2");
	struct berth_error err = BERTH_ERROR_INIT;

	CHECK_OK(berth_cache_assume_pod(cache, assumed, &err));
	CHECK_OK(berth_cache_add_pod(cache, bound, &err));
	ck_assert_int_eq(state_of(cache, bound), BERTH_CACHE_POD_ADDED);
	ck_assert_int_eq(cpu_on(cache, "n1"), -1);
	ck_assert_int_eq(cpu_on(cache, "n2"), 1000);
	ck_assert_ptr_eq(
		berth_cache_get_pod(cache, berth_object_uid(bound)), berth_object_pod(bound));
	CHECK_FAILS(berth_cache_add_pod(cache, bound, &err), BERTH_ERR_STATE,
		"pod a(default/a) was already in added state");
	ck_assert_uint_eq(berth_cache_pod_count(cache), 1);
	ck_assert_uint_eq(berth_cache_assumed_pod_count(cache), 0);
	berth_cache_destroy(cache);
	berth_object_release(assumed);
	berth_object_release(bound);
}
END_TEST

/* seed-map 000.4, 000.23; spec 03b edges 5, 6 */
START_TEST(test_cache__edge_06_forget)
{
	struct berth_cache *cache = berth_cache_create(NULL);
	struct berth_object *pod = pod_on("a", "n1");
	struct berth_object *moved = pod_on("a", "n2");
	struct berth_error err = BERTH_ERROR_INIT;

	CHECK_OK(berth_cache_assume_pod(cache, pod, &err));
	CHECK_FAILS(berth_cache_forget_pod(cache, berth_object_pod(moved), &err), BERTH_ERR_STATE,
		"pod a(default/a) was assumed on n2 but assigned to n1");
	CHECK_OK(berth_cache_forget_pod(cache, berth_object_pod(pod), &err));
	ck_assert_int_eq(state_of(cache, pod), BERTH_CACHE_POD_INITIAL);
	CHECK_OK(berth_cache_forget_pod(cache, berth_object_pod(pod), &err));
	ck_assert_int_eq(cpu_on(cache, "n1"), -1);
	CHECK_OK(berth_cache_add_pod(cache, pod, &err));
	CHECK_FAILS(berth_cache_forget_pod(cache, berth_object_pod(pod), &err), BERTH_ERR_STATE,
		"pod a(default/a) wasn't assumed so cannot be forgotten");
	ck_assert_int_eq(state_of(cache, pod), BERTH_CACHE_POD_ADDED);
	berth_cache_destroy(cache);
	berth_object_release(pod);
	berth_object_release(moved);
}
END_TEST

/* seed-map 000.6, 000.21, 000.27; spec 03b edges 7, 8 */
START_TEST(test_cache__edge_08_update)
{
	struct berth_cache *cache = berth_cache_create(NULL);
	struct berth_object *pod = pod_on("a", "n1");
	struct berth_object *resized = pod_from("a", "",
		"\"nodeName\":\"n1\",\"containers\":[{\"resources\":{\"requests\":{"
		"\"cpu\":\"3\"}}}]");
	struct berth_object *other_uid = pod_on("b", "n1");
	struct berth_object *moved = pod_on("a", "n2");
	struct berth_error err = BERTH_ERROR_INIT;

	CHECK_FAILS(berth_cache_update_pod(cache, berth_object_pod(pod), resized, &err),
		BERTH_ERR_NOT_FOUND,
		"pod a(default/a) is not added to scheduler cache, so cannot be updated");
	CHECK_OK(berth_cache_assume_pod(cache, pod, &err));
	CHECK_FAILS(berth_cache_update_pod(cache, berth_object_pod(pod), resized, &err),
		BERTH_ERR_STATE, "assumed pod a(default/a) should not be updated");
	CHECK_OK(berth_cache_add_pod(cache, pod, &err));
	CHECK_OK(berth_cache_update_pod(cache, berth_object_pod(pod), resized, &err));
	ck_assert_int_eq(state_of(cache, pod), BERTH_CACHE_POD_ADDED);
	ck_assert_int_eq(cpu_on(cache, "n1"), 3000);
	ck_assert_int_eq(berth_cache_update_pod(cache, berth_object_pod(pod), moved, NULL),
		BERTH_ERR_INTERNAL);
	ck_assert_int_eq(cpu_on(cache, "n1"), 3000);
	CHECK_OK(berth_cache_update_pod(cache, berth_object_pod(pod), other_uid, &err));
	ck_assert_int_eq(state_of(cache, pod), BERTH_CACHE_POD_DELETED);
	ck_assert_int_eq(state_of(cache, other_uid), BERTH_CACHE_POD_ADDED);
	ck_assert_int_eq(cpu_on(cache, "n1"), 1000);
	berth_cache_destroy(cache);
	berth_object_release(pod);
	berth_object_release(resized);
	berth_object_release(other_uid);
	berth_object_release(moved);
}
END_TEST

/* seed-map 000.7, 000.18, 000.22, 000.27; spec 03b edges 9, 10 */
START_TEST(test_cache__edge_10_remove)
{
	struct berth_cache *cache = berth_cache_create(NULL);
	struct berth_object *pod = pod_on("a", "n1");
	struct berth_object *stale = pod_on("a", "");
	struct berth_object *moved = pod_on("a", "n2");
	struct berth_error err = BERTH_ERROR_INIT;

	CHECK_OK(berth_cache_assume_pod(cache, pod, &err));
	CHECK_OK(berth_cache_remove_pod(cache, berth_object_pod(pod), &err));
	ck_assert_int_eq(state_of(cache, pod), BERTH_CACHE_POD_DELETED);
	CHECK_FAILS(berth_cache_remove_pod(cache, berth_object_pod(pod), &err), BERTH_ERR_NOT_FOUND,
		"pod a(default/a) is not found in scheduler cache, so cannot be removed from it");
	CHECK_OK(berth_cache_add_pod(cache, pod, &err));
	ck_assert_int_eq(state_of(cache, pod), BERTH_CACHE_POD_ADDED);
	ck_assert_int_eq(
		berth_cache_remove_pod(cache, berth_object_pod(moved), NULL), BERTH_ERR_INTERNAL);
	CHECK_OK(berth_cache_remove_pod(cache, berth_object_pod(stale), &err));
	ck_assert_int_eq(cpu_on(cache, "n1"), -1);
	ck_assert_uint_eq(berth_cache_node_count(cache), 0);
	berth_cache_destroy(cache);
	berth_object_release(pod);
	berth_object_release(stale);
	berth_object_release(moved);
}
END_TEST

/* seed-map 000.3, 000.17, 000.20, 000.24; spec 03b section 12 */
START_TEST(test_cache__assumed_pods_expire_on_request)
{
	struct berth_cache_options options = BERTH_CACHE_OPTIONS_INIT;
	struct berth_object *pod = pod_on("a", "n1");
	struct berth_object *unfinished = pod_on("b", "n1");
	struct berth_object *confirmed = pod_on("c", "n1");
	struct berth_error err = BERTH_ERROR_INIT;
	struct berth_cache *cache;

	options.assume_expiry_ns = 30 * SECOND;
	cache = berth_cache_create(&options);
	CHECK_OK(berth_cache_finish_binding(cache, berth_object_pod(pod), 0, &err));
	CHECK_OK(berth_cache_assume_pod(cache, pod, &err));
	CHECK_OK(berth_cache_assume_pod(cache, unfinished, &err));
	CHECK_OK(berth_cache_assume_pod(cache, confirmed, &err));
	CHECK_OK(berth_cache_finish_binding(cache, berth_object_pod(pod), SECOND, &err));
	CHECK_OK(berth_cache_finish_binding(cache, berth_object_pod(confirmed), SECOND, &err));
	CHECK_OK(berth_cache_add_pod(cache, confirmed, &err));
	ck_assert_uint_eq(berth_cache_expire_assumed(cache, 31 * SECOND), 0);
	ck_assert_int_eq(cpu_on(cache, "n1"), 3000);
	ck_assert_uint_eq(berth_cache_expire_assumed(cache, 31 * SECOND + 1), 1);
	ck_assert_int_eq(state_of(cache, pod), BERTH_CACHE_POD_EXPIRED);
	ck_assert_int_eq(state_of(cache, unfinished), BERTH_CACHE_POD_ASSUMED);
	ck_assert_int_eq(state_of(cache, confirmed), BERTH_CACHE_POD_ADDED);
	ck_assert_int_eq(cpu_on(cache, "n1"), 2000);
	CHECK_FAILS(berth_cache_update_pod(cache, berth_object_pod(pod), pod, &err),
		BERTH_ERR_NOT_FOUND,
		"pod a(default/a) is not added to scheduler cache, so cannot be updated");
	CHECK_OK(berth_cache_add_pod(cache, pod, &err));
	ck_assert_int_eq(state_of(cache, pod), BERTH_CACHE_POD_ADDED);
	ck_assert_int_eq(cpu_on(cache, "n1"), 3000);
	ck_assert_uint_eq(berth_cache_expire_assumed(cache, INT64_MAX), 0);
	berth_cache_destroy(cache);
	berth_object_release(pod);
	berth_object_release(unfinished);
	berth_object_release(confirmed);
}
END_TEST

/* seed-map 000.3, 000.24: by default no assumed pod expires */
START_TEST(test_cache__expiry_is_off_by_default)
{
	struct berth_cache *cache = berth_cache_create(NULL);
	struct berth_object *pod = pod_on("a", "n1");
	struct berth_error err = BERTH_ERROR_INIT;

	CHECK_OK(berth_cache_assume_pod(cache, pod, &err));
	CHECK_OK(berth_cache_finish_binding(cache, berth_object_pod(pod), 0, &err));
	ck_assert_uint_eq(berth_cache_expire_assumed(cache, INT64_MAX), 0);
	berth_cache_set_assume_ttl_ns(cache, INT64_MAX);
	CHECK_OK(berth_cache_finish_binding(cache, berth_object_pod(pod), SECOND, &err));
	ck_assert_uint_eq(berth_cache_expire_assumed(cache, INT64_MAX), 0);
	berth_cache_set_assume_ttl_ns(cache, 1);
	CHECK_OK(berth_cache_finish_binding(cache, berth_object_pod(pod), SECOND, &err));
	ck_assert_uint_eq(berth_cache_expire_assumed(cache, SECOND + 2), 1);
	ck_assert_int_eq(state_of(cache, pod), BERTH_CACHE_POD_EXPIRED);
	CHECK_OK(berth_cache_assume_pod(cache, pod, &err));
	CHECK_OK(berth_cache_forget_pod(cache, berth_object_pod(pod), &err));
	ck_assert_int_eq(state_of(cache, pod), BERTH_CACHE_POD_INITIAL);
	berth_cache_destroy(cache);
	berth_object_release(pod);
}
END_TEST

/* seed-map 000.18: the number of removed pods that the cache keeps is limited */
START_TEST(test_cache__very_old_departures_are_forgotten)
{
	struct berth_cache *cache = berth_cache_create(NULL);
	struct berth_object *first = pod_on("first", "n1");
	struct berth_error err = BERTH_ERROR_INIT;

	CHECK_OK(berth_cache_add_pod(cache, first, &err));
	CHECK_OK(berth_cache_remove_pod(cache, berth_object_pod(first), &err));
	for (uint32_t i = 0; i <= BERTH_CACHE_DEPARTED_MAX; i++) {
		char name[16];
		struct berth_object *pod;

		if (i == BERTH_CACHE_DEPARTED_MAX) {
			ck_assert_int_eq(state_of(cache, first), BERTH_CACHE_POD_INITIAL);
		} else if (i + 1 == BERTH_CACHE_DEPARTED_MAX) {
			ck_assert_int_eq(state_of(cache, first), BERTH_CACHE_POD_DELETED);
		}
		(void)snprintf(name, sizeof(name), "p%u", i);
		pod = pod_from(name, "", "\"nodeName\":\"n\"");
		if (berth_cache_add_pod(cache, pod, NULL) != 0 ||
			berth_cache_remove_pod(cache, berth_object_pod(pod), NULL) != 0) {
			ck_abort_msg("%s", name);
		}
		berth_object_release(pod);
	}
	berth_cache_destroy(cache);
	berth_object_release(first);
}
END_TEST

#define STATUS(cpu) "\"allocatable\":{\"cpu\":\"" cpu "\"}"

/* seed-map 000.8 to 000.10; spec 03b edges 12 to 16 */
START_TEST(test_cache__edge_13_nodes_and_ghosts)
{
	struct berth_cache *cache = berth_cache_create(NULL);
	struct berth_object *node = node_from("n1", "", STATUS("4"));
	struct berth_object *larger = node_from("n1", "", STATUS("8"));
	struct berth_object *pod = pod_on("a", "n1");
	struct berth_error err = BERTH_ERROR_INIT;
	struct berth_node_info *info = NULL;

	CHECK_OK(berth_cache_add_pod(cache, pod, &err));
	ck_assert_uint_eq(berth_cache_node_count(cache), 1);
	CHECK_OK(berth_cache_get_node_info(cache, BERTH_STR("n1"), &info, &err));
	ck_assert_ptr_null(berth_node_info_node(info));
	berth_node_info_destroy(info);
	CHECK_OK(berth_cache_add_node(cache, node, &err));
	ck_assert_uint_eq(berth_cache_node_count(cache), 1);
	CHECK_OK(berth_cache_update_node(cache, berth_object_node(node), larger, &err));
	CHECK_OK(berth_cache_get_node_info(cache, BERTH_STR("n1"), &info, &err));
	ck_assert_ptr_eq(berth_node_info_node(info), berth_object_node(larger));
	ck_assert_int_eq(berth_node_info_allocatable_cpu_milli(info), 8000);
	ck_assert_int_eq(berth_node_info_requested_cpu_milli(info), 1000);
	berth_node_info_destroy(info);
	CHECK_OK(berth_cache_remove_node(cache, berth_object_node(larger), &err));
	/* The node is removed, but its pod remains: the entry stays without a node. */
	CHECK_OK(berth_cache_get_node_info(cache, BERTH_STR("n1"), &info, &err));
	ck_assert_ptr_null(berth_node_info_node(info));
	ck_assert_int_eq(berth_node_info_allocatable_cpu_milli(info), 8000);
	ck_assert_int_eq(
		berth_node_info_memory_pressure_condition(info), BERTH_CONDITION_STATUS_UNKNOWN);
	ck_assert_uint_eq(berth_node_info_pod_count(info), 1);
	berth_node_info_destroy(info);
	CHECK_FAILS(berth_cache_remove_node(cache, berth_object_node(larger), &err),
		BERTH_ERR_NOT_FOUND, "node \"n1\" in group \"\" was not found");
	CHECK_OK(berth_cache_remove_pod(cache, berth_object_pod(pod), &err));
	CHECK_FAILS(berth_cache_get_node_info(cache, BERTH_STR("n1"), &info, &err),
		BERTH_ERR_NOT_FOUND, "node n1 does not exist in scheduler cache");
	CHECK_FAILS(berth_cache_remove_node(cache, berth_object_node(node), &err),
		BERTH_ERR_NOT_FOUND, "node n1 is not found");
	/* A later entry of the same name starts without the values of the removed node. */
	CHECK_OK(berth_cache_add_pod(cache, pod, &err));
	CHECK_OK(berth_cache_get_node_info(cache, BERTH_STR("n1"), &info, &err));
	ck_assert_int_eq(berth_node_info_allocatable_cpu_milli(info), 0);
	ck_assert_int_eq(
		berth_node_info_memory_pressure_condition(info), BERTH_CONDITION_STATUS_NONE);
	berth_node_info_destroy(info);
	CHECK_OK(berth_cache_remove_pod(cache, berth_object_pod(pod), &err));
	/* An update of an unknown node adds the node. */
	CHECK_OK(berth_cache_update_node(cache, NULL, node, &err));
	ck_assert_int_eq(cpu_on(cache, "n1"), 0);
	berth_cache_destroy(cache);
	berth_object_release(node);
	berth_object_release(larger);
	berth_object_release(pod);
}
END_TEST

static bool keep_n1(const void *context, const struct berth_pod *pod)
{
	return berth_str_equal_c(berth_pod_node_name(pod), context);
}

/* seed-map 000.12, 000.13, 000.28, 000.52 */
START_TEST(test_cache__list_and_filtered_list)
{
	struct berth_arena *arena = berth_arena_create();
	struct berth_cache *cache = berth_cache_create(NULL);
	struct berth_label web = {BERTH_STR("app"), BERTH_STR("web")};
	struct berth_label_selector *selector = berth_label_selector_from_map(&web, 1);
	struct berth_label_selector *all = berth_label_selector_from_map(NULL, 0);
	struct berth_object *pods[3] = {pod_on("b", "n1"), pod_on("a", "n2"),
		pod_from("c", "\"app\":\"db\"", "\"nodeName\":\"n1\"")};
	struct berth_object *node = node_from("n1", "", "");
	struct berth_error err = BERTH_ERROR_INIT;
	const struct berth_pod *const *list;
	struct berth_node_info *info = NULL;
	uint32_t count;

	CHECK_OK(berth_cache_add_node(cache, node, &err));
	CHECK_OK(berth_cache_assume_pod(cache, pods[0], &err));
	CHECK_OK(berth_cache_add_pod(cache, pods[1], &err));
	CHECK_OK(berth_cache_add_pod(cache, pods[2], &err));
	list = berth_cache_list(cache, selector, arena, &count);
	ck_assert_uint_eq(count, 2);
	ck_assert_ptr_eq(list[0], berth_object_pod(pods[1]));
	ck_assert_ptr_eq(list[1], berth_object_pod(pods[0]));
	list = berth_cache_list(cache, all, arena, &count);
	ck_assert_uint_eq(count, 3);
	ck_assert_ptr_null(berth_cache_list(cache, NULL, arena, &count));
	ck_assert_uint_eq(count, 0);
	list = berth_cache_filtered_list(cache, keep_n1, "n1", selector, arena, &count);
	ck_assert_uint_eq(count, 1);
	ck_assert_ptr_eq(list[0], berth_object_pod(pods[0]));
	/* The filter hides a pod that was removed from this copy of the node's aggregate. */
	CHECK_OK(berth_cache_get_node_info(cache, BERTH_STR("n1"), &info, &err));
	CHECK_OK(berth_node_info_remove_pod(info, berth_object_pod(pods[0]), &err));
	list = berth_cache_filtered_list(cache, berth_node_info_filter, info, all, arena, &count);
	ck_assert_uint_eq(count, 2);
	ck_assert_ptr_eq(list[0], berth_object_pod(pods[1]));
	ck_assert_ptr_eq(list[1], berth_object_pod(pods[2]));
	berth_node_info_destroy(info);
	for (int i = 0; i < 3; i++) {
		berth_object_release(pods[i]);
	}
	berth_object_release(node);
	berth_label_selector_destroy(selector);
	berth_label_selector_destroy(all);
	berth_cache_destroy(cache);
	berth_arena_destroy(arena);
}
END_TEST

#define IMAGES(size) "\"images\":[{\"names\":[\"i\"],\"sizeBytes\":" size "}]"

/* seed-map 000.31, 000.32, 003.100; spec 05b edge 24, 01b section 16.1 */
START_TEST(test_cache__map_from_lists)
{
	struct berth_object *pods[4] = {
		pod_on("a", "n2"), pod_on("b", "gone"), pod_on("c", ""), pod_on("d", "n2")};
	struct berth_object *nodes[2] = {node_from("n2", "",
						 "\"images\":[{\"names\":[\"i\"],\"sizeBytes\":7},"
						 "{\"names\":[\"i\",\"k\"],\"sizeBytes\":9}]"),
		node_from("n1", "", IMAGES("20"))};
	static const char *const names[] = {"", "gone", "n1", "n2"};
	struct berth_node_name_to_info_map *map = NULL;
	struct berth_error err = BERTH_ERROR_INIT;
	struct berth_image_state image;
	struct berth_node_info *n2;

	CHECK_FAILS(berth_node_name_to_info_map_create(pods, 4, pods, 1, &map, &err),
		BERTH_ERR_INVALID, "object 0 is no Node");
	CHECK_OK(berth_node_name_to_info_map_create(pods, 4, nodes, 2, &map, &err));
	ck_assert_uint_eq(berth_node_name_to_info_map_count(map), 4);
	for (uint32_t i = 0; i < 4; i++) {
		struct berth_str name;
		struct berth_node_info *node = berth_node_name_to_info_map_at(map, i, &name);

		CHECK_TEXT(name, names[i]);
		ck_assert_ptr_eq(node, berth_node_name_to_info_map_find(map, name));
		ck_assert_int_eq(berth_node_info_node(node) != NULL, i >= 2);
	}
	n2 = berth_node_name_to_info_map_find(map, BERTH_STR("n2"));
	ck_assert_uint_eq(berth_node_info_pod_count(n2), 2);
	ck_assert_int_eq(berth_node_info_requested_cpu_milli(n2), 2000);
	ck_assert(berth_node_info_image_state(n2, BERTH_STR("i"), &image));
	ck_assert_int_eq(image.size_bytes, 9);
	ck_assert_uint_eq(image.node_count, 2);
	ck_assert(berth_node_info_image_state(n2, BERTH_STR("k"), &image));
	ck_assert_uint_eq(image.node_count, 1);
	ck_assert(!berth_node_info_image_state(n2, BERTH_STR("x"), &image));
	ck_assert(berth_node_info_image_state(
		berth_node_name_to_info_map_find(map, BERTH_STR("n1")), BERTH_STR("i"), &image));
	ck_assert_int_eq(image.size_bytes, 20);
	/* A clone of the map's copy has node count 0: spec 01b section 9.5. */
	n2 = berth_node_info_clone(n2);
	ck_assert(berth_node_info_image_state(n2, BERTH_STR("i"), &image));
	ck_assert_int_eq(image.size_bytes, 9);
	ck_assert_uint_eq(image.node_count, 0);
	berth_node_info_destroy(n2);
	ck_assert_ptr_null(berth_node_name_to_info_map_find(map, BERTH_STR("n3")));
	berth_node_name_to_info_map_destroy(map);
	berth_node_name_to_info_map_destroy(NULL);
	for (int i = 0; i < 4; i++) {
		berth_object_release(pods[i]);
	}
	berth_object_release(nodes[0]);
	berth_object_release(nodes[1]);
}
END_TEST

static struct berth_node_info *at(struct berth_node_name_to_info_map *map, const char *name)
{
	return berth_node_name_to_info_map_find(map, berth_str_from(name));
}

/* seed-map 000.11, 003.100, 003.105; spec 03b edges 13, 32, 33 */
START_TEST(test_cache__update_map_copies_what_changed)
{
	struct berth_cache *cache = berth_cache_create(NULL);
	struct berth_object *a = node_from("a", "", IMAGES("10"));
	struct berth_object *b = node_from("b", "", "");
	struct berth_object *b_with_image = node_from("b", "", IMAGES("20"));
	struct berth_object *pod = pod_on("p", "a");
	struct berth_object *lost = pod_on("q", "nowhere");
	struct berth_node_name_to_info_map *map = NULL;
	struct berth_error err = BERTH_ERROR_INIT;
	struct berth_image_state image;
	const struct berth_node_info *kept;
	int64_t generation;

	CHECK_OK(berth_node_name_to_info_map_create(NULL, 0, NULL, 0, &map, &err));
	CHECK_OK(berth_cache_add_node(cache, a, &err));
	CHECK_OK(berth_cache_add_node(cache, b, &err));
	CHECK_OK(berth_cache_add_pod(cache, lost, &err));
	berth_cache_update_node_name_to_info_map(cache, map);
	ck_assert_uint_eq(berth_node_name_to_info_map_count(map), 2);
	kept = at(map, "a");
	generation = berth_node_info_generation(kept);
	berth_cache_update_node_name_to_info_map(cache, map);
	ck_assert_ptr_eq(at(map, "a"), kept);
	/*
	 * Node b gains the image of node a. Node a did not change, so the node count of its image
	 * stays 1.
	 */
	CHECK_OK(berth_cache_update_node(cache, NULL, b_with_image, &err));
	berth_cache_update_node_name_to_info_map(cache, map);
	ck_assert_ptr_eq(at(map, "a"), kept);
	ck_assert_int_eq(berth_node_info_generation(kept), generation);
	ck_assert(berth_node_info_image_state(at(map, "a"), BERTH_STR("i"), &image));
	ck_assert_uint_eq(image.node_count, 1);
	ck_assert(berth_node_info_image_state(at(map, "b"), BERTH_STR("i"), &image));
	ck_assert_uint_eq(image.node_count, 2);
	ck_assert_int_eq(image.size_bytes, 10);
	CHECK_OK(berth_cache_assume_pod(cache, pod, &err));
	ck_assert_uint_eq(berth_node_info_pod_count(at(map, "a")), 0);
	berth_cache_update_node_name_to_info_map(cache, map);
	ck_assert_uint_eq(berth_node_info_pod_count(at(map, "a")), 1);
	ck_assert_int_ne(berth_node_info_generation(at(map, "a")), generation);
	ck_assert(berth_node_info_image_state(at(map, "a"), BERTH_STR("i"), &image));
	ck_assert_uint_eq(image.node_count, 2);
	/* The update reverts changes that the caller made to the map. */
	CHECK_OK(berth_node_info_remove_pod(at(map, "a"), berth_object_pod(pod), &err));
	berth_cache_update_node_name_to_info_map(cache, map);
	ck_assert_uint_eq(berth_node_info_pod_count(at(map, "a")), 1);
	/* An entry without a node is not in the map. */
	CHECK_OK(berth_cache_remove_node(cache, berth_object_node(a), &err));
	berth_cache_update_node_name_to_info_map(cache, map);
	ck_assert_ptr_null(at(map, "a"));
	ck_assert_uint_eq(berth_node_name_to_info_map_count(map), 1);
	berth_node_name_to_info_map_destroy(map);
	berth_cache_destroy(cache);
	berth_object_release(a);
	berth_object_release(b);
	berth_object_release(b_with_image);
	berth_object_release(pod);
	berth_object_release(lost);
}
END_TEST

/* Copies are exact: order of pods, set of ports, affinity. Spec 03b edges 20, 21 */
START_TEST(test_cache__edge_21_copies_keep_the_order)
{
	static const char spec[] =
		"\"nodeName\":\"n\",\"affinity\":{\"podAffinity\":{}},\"containers\":[{\"ports\":["
		"{\"hostPort\":80}]}]";
	struct berth_arena *arena = berth_arena_create();
	struct berth_cache *cache = berth_cache_create(NULL);
	struct berth_error err = BERTH_ERROR_INIT;
	struct berth_object *pods[3] = {
		pod_from("a", "", spec), pod_from("b", "", spec), pod_from("c", "", spec)};
	struct berth_node_info *info = NULL;
	const struct berth_pod_info *const *list;
	uint32_t count;

	for (int i = 0; i < 3; i++) {
		CHECK_OK(berth_cache_add_pod(cache, pods[i], &err));
	}
	CHECK_OK(berth_cache_remove_pod(cache, berth_object_pod(pods[0]), &err));
	CHECK_OK(berth_cache_get_node_info(cache, BERTH_STR("n"), &info, &err));
	list = berth_node_info_pods(info, arena, &count);
	ck_assert_uint_eq(count, 2);
	CHECK_TEXT(berth_pod_info_name(list[0]), "c");
	CHECK_TEXT(berth_pod_info_name(list[1]), "b");
	list = berth_node_info_pods_with_affinity(info, arena, &count);
	ck_assert_uint_eq(count, 2);
	CHECK_TEXT(berth_pod_info_name(list[0]), "c");
	ck_assert(!berth_node_info_is_port_used(info, 80));
	berth_node_info_destroy(info);
	berth_cache_destroy(cache);
	for (int i = 0; i < 3; i++) {
		berth_object_release(pods[i]);
	}
	berth_arena_destroy(arena);
}
END_TEST

static void count_line(void *context, struct berth_str line)
{
	CHECK_TEXT(line, "Pod was added to a different node than it was assumed");
	++*(int *)context;
}

START_TEST(test_cache__warnings_reach_the_owner)
{
	int lines = 0;
	struct berth_cache_options options = BERTH_CACHE_OPTIONS_INIT;
	struct berth_object *assumed = pod_on("a", "n1");
	struct berth_object *bound = pod_on("a", "n2");
	struct berth_error err = BERTH_ERROR_INIT;
	struct berth_cache *cache;

	options.warn = count_line;
	options.warn_context = &lines;
	cache = berth_cache_create(&options);
	CHECK_OK(berth_cache_assume_pod(cache, assumed, &err));
	CHECK_OK(berth_cache_add_pod(cache, bound, &err));
	ck_assert_int_eq(lines, 1);
	berth_cache_destroy(cache);
	berth_object_release(assumed);
	berth_object_release(bound);
}
END_TEST

BT_TEST_MAIN("lib_cache", test_cache__edge_01_assume_twice, test_cache__edge_04_add_on_another_node,
	test_cache__edge_06_forget, test_cache__edge_08_update, test_cache__edge_10_remove,
	test_cache__assumed_pods_expire_on_request, test_cache__expiry_is_off_by_default,
	test_cache__very_old_departures_are_forgotten, test_cache__edge_13_nodes_and_ghosts,
	test_cache__list_and_filtered_list, test_cache__map_from_lists,
	test_cache__update_map_copies_what_changed, test_cache__edge_21_copies_keep_the_order,
	test_cache__warnings_reach_the_owner)
