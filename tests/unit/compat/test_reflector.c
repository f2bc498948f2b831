/* SPDX-License-Identifier: Apache-2.0 */
/** Spec 11b sections 5.3 and 5.4. */
#include "berth/reflector.h"

#include <stddef.h>

#include "objects.h"

/** Makes a version of a pod; node "" if the pod is not assigned. */
static struct berth_object *pod_version(
	const char *name, const char *uid, const char *node, const char *phase, const char *version)
{
	char text[512];

	(void)snprintf(text, sizeof(text),
		"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"%s\","
		"\"namespace\":\"default\",\"uid\":\"%s\",\"resourceVersion\":\"%s\"},"
		"\"spec\":{\"nodeName\":\"%s\"},\"status\":{\"phase\":\"%s\"}}",
		name, uid, version, node, phase);
	return object_from(text);
}

static void feed(
	struct berth_reflector *reflector, enum berth_watch_event type, struct berth_object *object)
{
	struct berth_error err = BERTH_ERROR_INIT;

	CHECK_OK(berth_reflector_event(reflector, type, object, &err));
	berth_object_release(object);
}

/** Passes a list to the reflector and releases the objects. */
static void list(struct berth_reflector *reflector, struct berth_object **objects, uint32_t count,
	const char *version)
{
	struct berth_error err = BERTH_ERROR_INIT;

	CHECK_OK(berth_reflector_replace(
		reflector, objects, count, berth_str_from(version), false, &err));
	for (uint32_t i = 0; i < count; i++) {
		berth_object_release(objects[i]);
	}
}

static enum berth_cache_pod_state state_of(const struct berth_cache *cache, const char *uid)
{
	return berth_cache_pod_state(cache, berth_str_from(uid));
}

/* seed-map 000.30 */
START_TEST(test_reflector__pods_reach_the_cache)
{
	struct berth_cache *cache = berth_cache_create(NULL);
	struct berth_reflector *reflector = berth_reflector_create(cache, BERTH_REFLECTOR_PODS);
	struct berth_object *first[3] = {pod_version("a", "a", "n1", "", "1"),
		pod_version("b", "b", "", "", "2"), pod_version("c", "c", "n1", "Failed", "3")};
	struct berth_object *assumed = pod_version("b", "b", "n2", "", "2");
	struct berth_error err = BERTH_ERROR_INIT;

	ck_assert_int_eq(berth_reflector_step(reflector), BERTH_REFLECTOR_LIST);
	CHECK_TEXT(berth_reflector_resource_version(reflector), "0");
	ck_assert_uint_eq(berth_reflector_list_limit(reflector), 500);
	list(reflector, first, 3, "10");
	ck_assert_int_eq(berth_reflector_step(reflector), BERTH_REFLECTOR_WATCH);
	CHECK_TEXT(berth_reflector_resource_version(reflector), "10");
	ck_assert_uint_eq(berth_reflector_count(reflector), 3);
	ck_assert_int_eq(state_of(cache, "a"), BERTH_CACHE_POD_ADDED);
	ck_assert_int_eq(state_of(cache, "b"), BERTH_CACHE_POD_INITIAL);
	ck_assert_int_eq(state_of(cache, "c"), BERTH_CACHE_POD_INITIAL);
	/* The watch confirms the assumed pod. */
	CHECK_OK(berth_cache_assume_pod(cache, assumed, &err));
	berth_object_release(assumed);
	feed(reflector, BERTH_WATCH_MODIFIED, pod_version("b", "b", "n2", "Running", "11"));
	ck_assert_int_eq(state_of(cache, "b"), BERTH_CACHE_POD_ADDED);
	CHECK_TEXT(berth_reflector_resource_version(reflector), "11");
	feed(reflector, BERTH_WATCH_MODIFIED, pod_version("b", "b", "n2", "Succeeded", "12"));
	ck_assert_int_eq(state_of(cache, "b"), BERTH_CACHE_POD_DELETED);
	feed(reflector, BERTH_WATCH_DELETED, pod_version("b", "b", "n2", "Succeeded", "13"));
	feed(reflector, BERTH_WATCH_DELETED, pod_version("b", "b", "n2", "Succeeded", "13"));
	ck_assert_uint_eq(berth_reflector_count(reflector), 2);
	/* A pod with the same name and another uid is another pod, and may be on another node. */
	feed(reflector, BERTH_WATCH_ADDED, pod_version("a", "a2", "n3", "", "14"));
	ck_assert_int_eq(state_of(cache, "a"), BERTH_CACHE_POD_DELETED);
	ck_assert_int_eq(state_of(cache, "a2"), BERTH_CACHE_POD_ADDED);
	feed(reflector, BERTH_WATCH_BOOKMARK, pod_version("", "", "", "", "20"));
	CHECK_TEXT(berth_reflector_resource_version(reflector), "20");
	ck_assert_ptr_nonnull(
		berth_reflector_find(reflector, BERTH_STR("default"), BERTH_STR("a")));
	ck_assert_ptr_null(berth_reflector_find(reflector, BERTH_STR("default"), BERTH_STR("b")));
	berth_reflector_destroy(reflector);
	berth_reflector_destroy(NULL);
	berth_cache_destroy(cache);
}
END_TEST

/* seed-map 000.30: lists that replace an earlier list */
START_TEST(test_reflector__relist)
{
	struct berth_cache *cache = berth_cache_create(NULL);
	struct berth_reflector *reflector = berth_reflector_create(cache, BERTH_REFLECTOR_PODS);
	struct berth_object *first[3] = {pod_version("a", "a", "n1", "", "1"),
		pod_version("b", "b", "n1", "", "2"), pod_version("c", "c", "n1", "", "3")};
	struct berth_object *second[2] = {
		pod_version("d", "d", "n1", "", "30"), pod_version("b", "b", "n1", "", "31")};

	list(reflector, first, 3, "10");
	berth_reflector_failed(reflector, BERTH_REFLECTOR_GONE);
	ck_assert_int_eq(berth_reflector_step(reflector), BERTH_REFLECTOR_LIST);
	CHECK_TEXT(berth_reflector_resource_version(reflector), "10");
	ck_assert_uint_eq(berth_reflector_list_limit(reflector), 0);
	berth_reflector_failed(reflector, BERTH_REFLECTOR_GONE);
	CHECK_TEXT(berth_reflector_resource_version(reflector), "");
	ck_assert_uint_eq(berth_reflector_list_limit(reflector), 500);
	list(reflector, second, 2, "40");
	ck_assert_int_eq(state_of(cache, "a"), BERTH_CACHE_POD_DELETED);
	ck_assert_int_eq(state_of(cache, "b"), BERTH_CACHE_POD_ADDED);
	ck_assert_int_eq(state_of(cache, "c"), BERTH_CACHE_POD_DELETED);
	ck_assert_int_eq(state_of(cache, "d"), BERTH_CACHE_POD_ADDED);
	ck_assert_uint_eq(berth_reflector_count(reflector), 2);
	ck_assert_ptr_nonnull(
		berth_reflector_find(reflector, BERTH_STR("default"), BERTH_STR("b")));
	CHECK_TEXT(berth_reflector_resource_version(reflector), "40");
	list(reflector, NULL, 0, "50");
	ck_assert_uint_eq(berth_cache_pod_count(cache), 0);
	berth_reflector_destroy(reflector);
	berth_cache_destroy(cache);
}
END_TEST

START_TEST(test_reflector__ends_of_watches)
{
	struct berth_cache *cache = berth_cache_create(NULL);
	struct berth_reflector *reflector = berth_reflector_create(cache, BERTH_REFLECTOR_PODS);

	list(reflector, NULL, 0, "10");
	berth_reflector_watch_ended(reflector, INT64_C(1000000000));
	ck_assert_int_eq(berth_reflector_step(reflector), BERTH_REFLECTOR_WATCH);
	feed(reflector, BERTH_WATCH_ADDED, pod_version("a", "a", "n1", "", "11"));
	berth_reflector_watch_ended(reflector, 1);
	ck_assert_int_eq(berth_reflector_step(reflector), BERTH_REFLECTOR_WATCH);
	CHECK_TEXT(berth_reflector_resource_version(reflector), "11");
	berth_reflector_failed(reflector, BERTH_REFLECTOR_RETRY);
	ck_assert_int_eq(berth_reflector_step(reflector), BERTH_REFLECTOR_WATCH);
	/* Less than a second without an event: a very short watch. */
	berth_reflector_watch_ended(reflector, 999999999);
	ck_assert_int_eq(berth_reflector_step(reflector), BERTH_REFLECTOR_LIST);
	berth_reflector_destroy(reflector);
	berth_cache_destroy(cache);
}
END_TEST

/*
 * In a watch that was opened at any version, the versions of the first ADDED events are in no
 * order.
 */
START_TEST(test_reflector__versions_of_a_watch_from_any_version)
{
	struct berth_cache *cache = berth_cache_create(NULL);
	struct berth_reflector *reflector = berth_reflector_create(cache, BERTH_REFLECTOR_PODS);

	list(reflector, NULL, 0, "0");
	feed(reflector, BERTH_WATCH_ADDED, pod_version("a", "a", "n1", "", "9"));
	CHECK_TEXT(berth_reflector_resource_version(reflector), "0");
	feed(reflector, BERTH_WATCH_MODIFIED, pod_version("a", "a", "n1", "", "12"));
	CHECK_TEXT(berth_reflector_resource_version(reflector), "12");
	feed(reflector, BERTH_WATCH_ADDED, pod_version("b", "b", "n1", "", "13"));
	CHECK_TEXT(berth_reflector_resource_version(reflector), "13");
	berth_reflector_destroy(reflector);
	berth_cache_destroy(cache);
}
END_TEST

START_TEST(test_reflector__backoff)
{
	static const int64_t expected_ms[] = {800, 1600, 3200, 6400, 12800, 25600, 30000, 30000};
	struct berth_cache *cache = berth_cache_create(NULL);
	struct berth_reflector *reflector = berth_reflector_create(cache, BERTH_REFLECTOR_NODES);
	int64_t now_ns = 0;

	for (size_t i = 0; i < sizeof(expected_ms) / sizeof(expected_ms[0]); i++) {
		ck_assert_int_eq(
			berth_reflector_backoff_ns(reflector, now_ns, 0), expected_ms[i] * 1000000);
		now_ns += INT64_C(1000000000);
	}
	ck_assert_int_eq(berth_reflector_backoff_ns(reflector, now_ns, 0.5), INT64_C(45000000000));
	now_ns += INT64_C(121000000000);
	ck_assert_int_eq(berth_reflector_backoff_ns(reflector, now_ns, 0), 800000000);
	berth_reflector_destroy(reflector);
	berth_cache_destroy(cache);
}
END_TEST

START_TEST(test_reflector__nodes_and_errors)
{
	struct berth_cache *cache = berth_cache_create(NULL);
	struct berth_reflector *reflector = berth_reflector_create(cache, BERTH_REFLECTOR_NODES);
	struct berth_object *nodes[2] = {node_from("n1", "", ""), node_from("n2", "", "")};
	struct berth_object *pod = pod_version("a", "a", "n1", "", "1");
	struct berth_object *n2 = node_from("n2", "", "");
	struct berth_error err = BERTH_ERROR_INIT;

	list(reflector, nodes, 2, "5");
	ck_assert_uint_eq(berth_cache_node_count(cache), 2);
	feed(reflector, BERTH_WATCH_MODIFIED, node_from("n1", "\"unschedulable\":true", ""));
	feed(reflector, BERTH_WATCH_DELETED, node_from("n1", "", ""));
	ck_assert_uint_eq(berth_cache_node_count(cache), 1);
	CHECK_FAILS(berth_reflector_event(reflector, BERTH_WATCH_ADDED, pod, &err),
		BERTH_ERR_INVALID, "object is no Node");
	CHECK_FAILS(berth_reflector_replace(reflector, &pod, 1, BERTH_STR("6"), false, &err),
		BERTH_ERR_INVALID, "object is no Node");
	/* The caller removed the node from the cache, so the reflector cannot remove it. */
	CHECK_OK(berth_cache_remove_node(cache, berth_object_node(n2), &err));
	CHECK_FAILS(berth_reflector_replace(reflector, NULL, 0, BERTH_STR("6"), true, &err),
		BERTH_ERR_NOT_FOUND, "node n2 is not found");
	ck_assert_uint_eq(berth_reflector_count(reflector), 0);
	ck_assert_int_eq(berth_reflector_step(reflector), BERTH_REFLECTOR_WATCH);
	berth_object_release(pod);
	berth_object_release(n2);
	berth_reflector_destroy(reflector);
	berth_cache_destroy(cache);
}
END_TEST

BT_TEST_MAIN("lib_reflector", test_reflector__pods_reach_the_cache, test_reflector__relist,
	test_reflector__ends_of_watches, test_reflector__versions_of_a_watch_from_any_version,
	test_reflector__backoff, test_reflector__nodes_and_errors)
