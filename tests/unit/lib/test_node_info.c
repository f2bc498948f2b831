/* SPDX-License-Identifier: Apache-2.0 */
/** Spec 01b sections 9 and 16.1, 05b D2. */
#include "berth/node_info.h"

#include <stddef.h>

#include "objects.h"

#define CPU(amount) "\"resources\":{\"requests\":{\"cpu\":\"" amount "\"}}"

/** Returns the node's requested resources; the caller releases them. */
static struct berth_resource requested_of(const struct berth_node_info *node)
{
	struct berth_resource resource;

	berth_node_info_requested_resource(node, &resource);
	return resource;
}

static void check_pods(const struct berth_node_info *node, const char *names)
{
	struct berth_arena *arena = berth_arena_create();
	uint32_t count;
	const struct berth_pod_info *const *pods = berth_node_info_pods(node, arena, &count);
	char text[64] = "";
	size_t used = 0;

	ck_assert_uint_eq(count, berth_node_info_pod_count(node));
	for (uint32_t i = 0; i < count; i++) {
		struct berth_str name = berth_pod_info_name(pods[i]);
		used += (size_t)snprintf(
			text + used, sizeof(text) - used, "%.*s", BERTH_STR_ARG(name));
	}
	ck_assert_str_eq(text, names);
	berth_arena_destroy(arena);
}

static void add(struct berth_node_info *node, struct berth_object *pod)
{
	struct berth_error err = BERTH_ERROR_INIT;

	CHECK_OK(berth_node_info_add_pod(node, pod, &err));
	berth_object_release(pod);
}

/* seed-map 000.33 to 000.36, 000.40, 003.93, 003.105; spec 01b edges 39, 40 */
START_TEST(test_node_info__edge_40_removal_moves_the_last_pod)
{
	struct berth_object *pods[3] = {
		pod_from("a", "", ""), pod_from("b", "", ""), pod_from("c", "", "")};
	struct berth_object *stranger = pod_from("d", "", "");
	struct berth_node_info *node = berth_node_info_create(pods, 3);
	struct berth_error err = BERTH_ERROR_INIT;
	int64_t generation = berth_node_info_generation(node);

	check_pods(node, "abc");
	CHECK_FAILS(berth_node_info_remove_pod(node, berth_object_pod(stranger), &err),
		BERTH_ERR_NOT_FOUND, "no corresponding pod d in pods of node ");
	ck_assert_int_eq(berth_node_info_generation(node), generation);
	CHECK_OK(berth_node_info_remove_pod(node, berth_object_pod(pods[0]), &err));
	check_pods(node, "cb");
	ck_assert_int_ne(berth_node_info_generation(node), generation);
	CHECK_OK(berth_node_info_remove_pod(node, berth_object_pod(pods[1]), &err));
	CHECK_OK(berth_node_info_remove_pod(node, berth_object_pod(pods[2]), &err));
	check_pods(node, "");
	berth_node_info_destroy(node);
	for (int i = 0; i < 3; i++) {
		berth_object_release(pods[i]);
	}
	berth_object_release(stranger);
}
END_TEST

/* seed-map 000.35: duplicates are not checked; a pod without uid can be added but not removed */
START_TEST(test_node_info__a_pod_added_twice_counts_twice)
{
	struct berth_object *pod = pod_from("a", "", "\"containers\":[{" CPU("1") "}]");
	struct berth_object *nameless = object_from(
		"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"x\"}}");
	struct berth_node_info *node = berth_node_info_create(&pod, 1);
	struct berth_object *other = node_from("n", "", "");
	struct berth_error err = BERTH_ERROR_INIT;

	CHECK_OK(berth_node_info_add_pod(node, pod, &err));
	CHECK_OK(berth_node_info_add_pod(node, nameless, &err));
	ck_assert_int_eq(berth_node_info_requested_cpu_milli(node), 2000);
	ck_assert_uint_eq(berth_node_info_pod_count(node), 3);
	CHECK_FAILS(berth_node_info_remove_pod(node, berth_object_pod(nameless), &err),
		BERTH_ERR_INVALID, "cannot get cache key for pod with empty UID");
	CHECK_OK(berth_node_info_remove_pod(node, berth_object_pod(pod), &err));
	ck_assert_int_eq(berth_node_info_requested_cpu_milli(node), 1000);
	check_pods(node, "xa");
	CHECK_FAILS(berth_node_info_add_pod(node, other, &err), BERTH_ERR_INVALID, "not a pod");
	CHECK_FAILS(berth_node_info_set_node(node, pod, &err), BERTH_ERR_INVALID, "not a node");
	berth_node_info_destroy(node);
	berth_object_release(pod);
	berth_object_release(nameless);
	berth_object_release(other);
}
END_TEST

#define OVERHEAD(amounts) "\"overhead\":{" amounts "}"
#define CLAIM(claim) "{\"name\":\"v\",\"persistentVolumeClaim\":{\"claimName\":\"" claim "\"}}"

/* seed-map 000.43, 000.44, 003.96, 003.97; spec 01b edge 35 */
START_TEST(test_node_info__edge_35_three_pods)
{
	struct berth_node_info *node = berth_node_info_create(NULL, 0);
	struct berth_resource resource;

	add(node,
		pod_from("a", "",
			"\"containers\":[{\"resources\":{\"requests\":{\"cpu\":\"100m\","
			"\"memory\":\"500\"}}}],\"volumes\":[" CLAIM("pvc-1") "]," OVERHEAD(
				"\"cpu\":\"500m\"")));
	add(node,
		pod_from("b", "",
			"\"containers\":[{\"resources\":{\"requests\":{\"cpu\":\"200m\"}}}],"
			"\"volumes\":[" CLAIM("pvc-1") "]," OVERHEAD(
				"\"cpu\":\"500m\",\"memory\":\"500\"")));
	add(node,
		pod_from("c", "",
			"\"containers\":[{\"resources\":{\"requests\":{\"cpu\":\"200m\"}}}],"
			"\"initContainers\":[{\"resources\":{\"requests\":{\"cpu\":\"500m\","
			"\"memory\":\"200Mi\"}}}],\"volumes\":[" CLAIM("pvc-2") "]," OVERHEAD(
				"\"cpu\":\"500m\",\"memory\":\"500\"")));
	resource = requested_of(node);
	ck_assert_int_eq(resource.cpu_milli, 2300);
	ck_assert_int_eq(resource.memory_bytes, 209716700);
	ck_assert_int_eq(resource.allowed_pod_number, 0);
	berth_resource_finish(&resource);
	berth_node_info_non_zero_request(node, &resource);
	ck_assert_int_eq(resource.cpu_milli, 2300);
	ck_assert_int_eq(resource.memory_bytes, 419431900);
	berth_resource_finish(&resource);
	ck_assert_uint_eq(berth_node_info_pvc_ref_count(node, BERTH_STR("default/pvc-1")), 2);
	ck_assert_uint_eq(berth_node_info_pvc_ref_count(node, BERTH_STR("default/pvc-2")), 1);
	ck_assert_uint_eq(berth_node_info_pvc_ref_count(node, BERTH_STR("default/pvc-3")), 0);
	ck_assert_uint_eq(berth_node_info_pvc_ref_count(node, BERTH_STR("x")), 0);
	berth_node_info_destroy(node);
}
END_TEST

/*
 * seed-map 000.36: removal subtracts what the pod added; entries that fall to 0 stay (spec 01b
 * section 9.3)
 */
START_TEST(test_node_info__removal_subtracts_the_stored_pod)
{
	struct berth_object *pod = pod_from("a", "",
		"\"containers\":[{\"resources\":{\"requests\":{\"cpu\":\"1\","
		"\"x.test/y\":\"2\"}}}]");
	struct berth_object *resized = pod_from("a", "", "\"containers\":[{" CPU("5") "}]");
	struct berth_node_info *node = berth_node_info_create(&pod, 1);
	struct berth_error err = BERTH_ERROR_INIT;
	struct berth_resource resource;

	CHECK_OK(berth_node_info_remove_pod(node, berth_object_pod(resized), &err));
	resource = requested_of(node);
	ck_assert_int_eq(resource.cpu_milli, 0);
	ck_assert(berth_resource_has_scalar(&resource, BERTH_STR("x.test/y")));
	ck_assert_int_eq(berth_resource_scalar(&resource, BERTH_STR("x.test/y")), 0);
	berth_resource_finish(&resource);
	berth_node_info_destroy(node);
	berth_object_release(pod);
	berth_object_release(resized);
}
END_TEST

#define AFFINITY(which) "\"affinity\":{\"" which "\":{}}"

/* seed-map 000.41, 003.94; spec 01b edge 41, section 9.3 step 2 */
START_TEST(test_node_info__pods_with_affinity)
{
	struct berth_arena *arena = berth_arena_create();
	struct berth_node_info *node = berth_node_info_create(NULL, 0);
	struct berth_object *plain = pod_from("b", "", "");
	struct berth_error err = BERTH_ERROR_INIT;
	const struct berth_pod_info *const *pods;
	uint32_t count;

	add(node, pod_from("a", "", AFFINITY("podAffinity")));
	add(node, pod_from("b", "", AFFINITY("podAntiAffinity")));
	add(node, pod_from("c", "", AFFINITY("nodeAffinity")));
	pods = berth_node_info_pods_with_affinity(node, arena, &count);
	ck_assert_uint_eq(count, 2);
	CHECK_TEXT(berth_pod_info_name(pods[0]), "a");
	CHECK_TEXT(berth_pod_info_name(pods[1]), "b");
	/*
	 * The list loses a pod only if the removed pod (the argument) has affinity; this pod has
	 * none.
	 */
	CHECK_OK(berth_node_info_remove_pod(node, berth_object_pod(plain), &err));
	check_pods(node, "ac");
	pods = berth_node_info_pods_with_affinity(node, arena, &count);
	ck_assert_uint_eq(count, 2);
	CHECK_TEXT(berth_pod_info_name(pods[1]), "b");
	ck_assert_ptr_null(berth_node_info_pods_with_affinity(NULL, arena, &count));
	ck_assert_uint_eq(count, 0);
	berth_object_release(plain);
	berth_node_info_destroy(node);
	berth_arena_destroy(arena);
}
END_TEST

/* seed-map 000.42, 003.95; spec 03b edge 20, 05b edge 23 */
START_TEST(test_node_info__used_ports)
{
	struct berth_arena *arena = berth_arena_create();
	struct berth_node_info *node = berth_node_info_create(NULL, 0);
	struct berth_object *pod = pod_from("b", "",
		"\"containers\":[{\"ports\":[{\"hostPort\":80,\"hostIP\":\"127.0.0.1\"},"
		"{\"hostPort\":0,\"containerPort\":7}]}]");
	struct berth_error err = BERTH_ERROR_INIT;
	const struct berth_host_port *ports;
	uint32_t count;

	add(node,
		pod_from("a", "",
			"\"containers\":[{\"ports\":[{\"hostPort\":80,\"hostIP\":\"127.0.0.1\"},"
			"{\"hostPort\":53,\"protocol\":\"UDP\"}]}]"));
	CHECK_OK(berth_node_info_add_pod(node, pod, &err));
	ports = berth_node_info_used_ports(node, arena, &count);
	ck_assert_uint_eq(count, 2);
	ck_assert_int_eq(ports[0].port, 53);
	CHECK_TEXT(ports[0].protocol, "UDP");
	CHECK_TEXT(ports[0].ip, "0.0.0.0");
	CHECK_TEXT(ports[1].ip, "127.0.0.1");
	ck_assert(berth_node_info_is_port_used(node, 80));
	ck_assert(!berth_node_info_is_port_used(node, 7));
	/* Ports are a set: removing one pod frees the triple for both pods. */
	CHECK_OK(berth_node_info_remove_pod(node, berth_object_pod(pod), &err));
	ck_assert(!berth_node_info_is_port_used(node, 80));
	ck_assert(berth_node_info_is_port_used(node, 53));
	ck_assert(!berth_node_info_is_port_used(NULL, 53));
	berth_object_release(pod);
	berth_node_info_destroy(node);
	berth_arena_destroy(arena);
}
END_TEST

#define NODE_SPEC \
	"\"unschedulable\":true,\"taints\":[{\"key\":\"k\",\"value\":\"v\"," \
	"\"effect\":\"NoExecute\"},{\"key\":\"l\",\"effect\":\"NoSchedule\"}]"
#define NODE_STATUS \
	"\"allocatable\":{\"cpu\":\"2\",\"memory\":\"1Ki\",\"pods\":\"110\",\"x.test/y\":\"0\"}," \
	"\"conditions\":[{\"type\":\"MemoryPressure\",\"status\":\"False\"}," \
	"{\"type\":\"DiskPressure\",\"status\":\"Unknown\"}," \
	"{\"type\":\"MemoryPressure\",\"status\":\"True\"}]," \
	"\"images\":[{\"names\":[\"i\"],\"sizeBytes\":5}]"

/* seed-map 000.37 to 000.39, 000.45 to 000.49, 000.70, 000.71, 003.92, 003.98, 003.99, 003.102 to
 * 003.104 */
START_TEST(test_node_info__set_and_remove_node)
{
	struct berth_arena *arena = berth_arena_create();
	struct berth_object *object = node_from("n1", NODE_SPEC, NODE_STATUS);
	struct berth_object *calm = node_from("n1", "", "\"allocatable\":{\"cpu\":\"1\"}");
	struct berth_node_info *node = berth_node_info_create(NULL, 0);
	struct berth_error err = BERTH_ERROR_INIT;
	const struct berth_taint *taints;
	struct berth_resource resource;
	uint32_t count;

	ck_assert_ptr_null(berth_node_info_node(node));
	CHECK_TEXT(berth_node_info_name(node), "");
	ck_assert_int_eq(
		berth_node_info_memory_pressure_condition(node), BERTH_CONDITION_STATUS_NONE);
	add(node, pod_from("a", "", "\"containers\":[{" CPU("1") "}]"));
	CHECK_OK(berth_node_info_set_node(node, object, &err));
	ck_assert_ptr_eq(berth_node_info_node(node), berth_object_node(object));
	CHECK_TEXT(berth_node_info_name(node), "n1");
	ck_assert(berth_node_info_unschedulable(node));
	ck_assert_int_eq(berth_node_info_allowed_pod_number(node), 110);
	ck_assert_int_eq(berth_node_info_allocatable_cpu_milli(node), 2000);
	ck_assert_int_eq(berth_node_info_allocatable_memory_bytes(node), 1024);
	berth_node_info_allocatable_resource(node, &resource);
	ck_assert_int_eq(resource.allowed_pod_number, 110);
	ck_assert(berth_resource_has_scalar(&resource, BERTH_STR("x.test/y")));
	berth_resource_finish(&resource);
	ck_assert_int_eq(berth_node_info_taints(node, arena, &taints, &count, &err), 0);
	ck_assert_uint_eq(count, 2);
	CHECK_TEXT(taints[0].key, "k");
	CHECK_TEXT(taints[0].value, "v");
	CHECK_TEXT(taints[0].effect, "NoExecute");
	ck_assert_int_eq(
		berth_node_info_memory_pressure_condition(node), BERTH_CONDITION_STATUS_TRUE);
	ck_assert_int_eq(
		berth_node_info_disk_pressure_condition(node), BERTH_CONDITION_STATUS_UNKNOWN);
	ck_assert_int_eq(berth_node_info_pid_pressure_condition(node), BERTH_CONDITION_STATUS_NONE);
	/* Setting a node object without a condition keeps the status of that condition. */
	CHECK_OK(berth_node_info_set_node(node, calm, &err));
	ck_assert_int_eq(
		berth_node_info_memory_pressure_condition(node), BERTH_CONDITION_STATUS_TRUE);
	ck_assert_int_eq(berth_node_info_allocatable_memory_bytes(node), 0);
	ck_assert_int_eq(berth_node_info_allowed_pod_number(node), 0);
	CHECK_OK(berth_node_info_remove_node(node, &err));
	ck_assert_ptr_null(berth_node_info_node(node));
	ck_assert_int_eq(berth_node_info_requested_cpu_milli(node), 1000);
	ck_assert_int_eq(berth_node_info_allocatable_cpu_milli(node), 1000);
	ck_assert_int_eq(
		berth_node_info_memory_pressure_condition(node), BERTH_CONDITION_STATUS_UNKNOWN);
	ck_assert_int_eq(
		berth_node_info_pid_pressure_condition(node), BERTH_CONDITION_STATUS_UNKNOWN);
	ck_assert_int_eq(berth_node_info_taints(node, arena, &taints, &count, &err), 0);
	ck_assert_uint_eq(count, 0);
	berth_node_info_destroy(node);
	berth_object_release(object);
	berth_object_release(calm);
	berth_arena_destroy(arena);
}
END_TEST

START_TEST(test_node_info__condition_status_strings)
{
	ck_assert_str_eq(berth_condition_status_string(BERTH_CONDITION_STATUS_NONE), "");
	ck_assert_str_eq(berth_condition_status_string(BERTH_CONDITION_STATUS_TRUE), "True");
	ck_assert_str_eq(berth_condition_status_string(BERTH_CONDITION_STATUS_FALSE), "False");
	ck_assert_str_eq(berth_condition_status_string(BERTH_CONDITION_STATUS_UNKNOWN), "Unknown");
}
END_TEST

/* seed-map 000.39 to 000.49: all getters accept NULL, which is upstream's nil aggregate */
START_TEST(test_node_info__null)
{
	struct berth_arena *arena = berth_arena_create();
	struct berth_object *pod = pod_from("a", "", "\"nodeName\":\"n1\"");
	const struct berth_taint *taints;
	struct berth_resource resource;
	uint32_t count = 7;

	ck_assert_ptr_null(berth_node_info_node(NULL));
	ck_assert_ptr_null(berth_node_info_pods(NULL, arena, &count));
	ck_assert_uint_eq(count, 0);
	ck_assert_ptr_null(berth_node_info_used_ports(NULL, arena, &count));
	ck_assert_int_eq(berth_node_info_allowed_pod_number(NULL), 0);
	ck_assert_int_eq(berth_node_info_taints(NULL, arena, &taints, &count, NULL), 0);
	ck_assert_ptr_null(taints);
	ck_assert_int_eq(
		berth_node_info_memory_pressure_condition(NULL), BERTH_CONDITION_STATUS_UNKNOWN);
	ck_assert_int_eq(
		berth_node_info_disk_pressure_condition(NULL), BERTH_CONDITION_STATUS_UNKNOWN);
	ck_assert_int_eq(
		berth_node_info_pid_pressure_condition(NULL), BERTH_CONDITION_STATUS_UNKNOWN);
	berth_node_info_requested_resource(NULL, &resource);
	ck_assert_int_eq(resource.cpu_milli, 0);
	berth_node_info_non_zero_request(NULL, &resource);
	ck_assert_int_eq(resource.cpu_milli, 0);
	berth_node_info_allocatable_resource(NULL, &resource);
	ck_assert_ptr_null(resource.scalars);
	ck_assert_int_eq(berth_node_info_generation(NULL), 0);
	ck_assert(!berth_node_info_image_state(NULL, BERTH_STR("i"), NULL));
	ck_assert(berth_node_info_filter(NULL, berth_object_pod(pod)));
	ck_assert_ptr_null(berth_node_info_clone(NULL));
	ck_assert_ptr_null(berth_node_info_transient_info(NULL));
	CHECK_TEXT(berth_node_info_name(NULL), "");
	CHECK_TEXT(berth_node_info_string(NULL, arena), "<nil>");
	berth_node_info_destroy(NULL);
	berth_object_release(pod);
	berth_arena_destroy(arena);
}
END_TEST

/* seed-map 000.50 */
START_TEST(test_node_info__clone_is_independent)
{
	struct berth_object *pod =
		pod_from("a", "", "\"containers\":[{\"ports\":[{\"hostPort\":80}]," CPU("1") "}]");
	struct berth_object *object = node_from("n1", NODE_SPEC, NODE_STATUS);
	struct berth_node_info *node = berth_node_info_create(&pod, 1);
	struct berth_error err = BERTH_ERROR_INIT;
	struct berth_node_info *copy;

	CHECK_OK(berth_node_info_set_node(node, object, &err));
	copy = berth_node_info_clone(node);
	ck_assert_int_eq(berth_node_info_generation(copy), berth_node_info_generation(node));
	ck_assert_int_eq(
		berth_node_info_memory_pressure_condition(copy), BERTH_CONDITION_STATUS_TRUE);
	CHECK_OK(berth_node_info_remove_pod(copy, berth_object_pod(pod), &err));
	CHECK_OK(berth_node_info_remove_node(copy, &err));
	ck_assert_int_ne(berth_node_info_generation(copy), berth_node_info_generation(node));
	ck_assert_int_eq(berth_node_info_requested_cpu_milli(node), 1000);
	ck_assert(berth_node_info_is_port_used(node, 80));
	ck_assert(!berth_node_info_is_port_used(copy, 80));
	CHECK_TEXT(berth_node_info_name(node), "n1");
	check_pods(node, "a");
	berth_node_info_destroy(node);
	check_pods(copy, "");
	berth_node_info_destroy(copy);
	berth_object_release(pod);
	berth_object_release(object);
}
END_TEST

/* seed-map 000.51 */
START_TEST(test_node_info__string)
{
	struct berth_arena *arena = berth_arena_create();
	struct berth_node_info *node = berth_node_info_create(NULL, 0);

	add(node, pod_from("a", "", "\"containers\":[{\"ports\":[{\"hostPort\":80}]}]"));
	add(node, pod_from("b", "", "\"containers\":[{" CPU("1") "}]"));
	CHECK_TEXT(berth_node_info_string(node, arena),
		"&NodeInfo{Pods:[a b], RequestedResource:{MilliCPU:1000 Memory:0 "
		"EphemeralStorage:0 AllowedPodNumber:0 ScalarResources:map[]}, NonZeroRequest: "
		"{MilliCPU:1100 Memory:419430400 EphemeralStorage:0 AllowedPodNumber:0 "
		"ScalarResources:map[]}, UsedPort: [TCP/0.0.0.0:80], AllocatableResource:"
		"{MilliCPU:0 Memory:0 EphemeralStorage:0 AllowedPodNumber:0 "
		"ScalarResources:map[]}}");
	berth_node_info_destroy(node);
	berth_arena_destroy(arena);
}
END_TEST

/* seed-map 000.52, 000.53 */
START_TEST(test_node_info__filter)
{
	struct berth_arena *arena = berth_arena_create();
	struct berth_object *object = node_from("n1", "", "");
	struct berth_object *here = pod_from("a", "", "\"nodeName\":\"n1\"");
	struct berth_object *removed = pod_from("b", "", "\"nodeName\":\"n1\"");
	struct berth_object *elsewhere = pod_from("c", "", "\"nodeName\":\"n2\"");
	const struct berth_pod *pods[3] = {
		berth_object_pod(here), berth_object_pod(removed), berth_object_pod(elsewhere)};
	struct berth_node_info *node = berth_node_info_create(&here, 1);
	struct berth_error err = BERTH_ERROR_INIT;
	const struct berth_pod *const *kept;
	uint32_t count;

	kept = berth_node_info_filter_out_pods(node, pods, 3, arena, &count);
	ck_assert_uint_eq(count, 3);
	ck_assert_ptr_eq(kept[1], pods[1]);
	CHECK_OK(berth_node_info_set_node(node, object, &err));
	ck_assert(berth_node_info_filter(node, pods[0]));
	ck_assert(!berth_node_info_filter(node, pods[1]));
	ck_assert(berth_node_info_filter(node, pods[2]));
	kept = berth_node_info_filter_out_pods(node, pods, 3, arena, &count);
	ck_assert_uint_eq(count, 2);
	ck_assert_ptr_eq(kept[0], pods[0]);
	ck_assert_ptr_eq(kept[1], pods[2]);
	berth_node_info_destroy(node);
	berth_object_release(object);
	berth_object_release(here);
	berth_object_release(removed);
	berth_object_release(elsewhere);
	berth_arena_destroy(arena);
}
END_TEST

/* seed-map 003.101 */
START_TEST(test_node_info__transient_info_can_be_cycle_state)
{
	struct berth_node_info *node = berth_node_info_create(NULL, 0);
	struct berth_transient_info *info = berth_node_info_transient_info(node);
	struct berth_cycle_state *state = berth_cycle_state_create();
	struct berth_state_data *data = NULL;
	struct berth_node_info *copy;

	info->allocatable_volumes_count = 39;
	info->requested_volumes = 2;
	berth_cycle_state_write(state, BERTH_STR("transient"), &info->base);
	ck_assert_int_eq(berth_cycle_state_read(state, BERTH_STR("transient"), &data, NULL), 0);
	ck_assert_ptr_eq(data, &info->base);
	copy = berth_node_info_clone(node);
	ck_assert_int_eq(berth_node_info_transient_info(copy)->requested_volumes, 0);
	berth_transient_info_reset(info);
	ck_assert_int_eq(info->allocatable_volumes_count, 0);
	berth_cycle_state_destroy(state);
	berth_node_info_destroy(copy);
	berth_node_info_destroy(node);
}
END_TEST

/* seed-map 000.40: the pod infos of an aggregate */
START_TEST(test_node_info__pod_infos_have_their_objects)
{
	struct berth_arena *arena = berth_arena_create();
	struct berth_object *pod = pod_from(
		"a", "\"app\":\"web\"", "\"priority\":3,\"containers\":[{" CPU("1500m") "}]");
	struct berth_node_info *node = berth_node_info_create(&pod, 1);
	const struct berth_pod_info *info = berth_node_info_pod_at(node, 0, arena);

	ck_assert_ptr_eq(berth_pod_info_pod(info), berth_object_pod(pod));
	CHECK_TEXT(berth_pod_info_uid(info), "a");
	CHECK_TEXT(berth_pod_info_label(info, BERTH_STR("app")), "web");
	ck_assert_int_eq(berth_pod_info_priority(info), 3);
	ck_assert_int_eq(berth_pod_info_cpu_milli(info), 1500);
	berth_node_info_destroy(node);
	berth_object_release(pod);
	berth_arena_destroy(arena);
}
END_TEST

BT_TEST_MAIN("lib_node_info", test_node_info__edge_40_removal_moves_the_last_pod,
	test_node_info__a_pod_added_twice_counts_twice, test_node_info__edge_35_three_pods,
	test_node_info__removal_subtracts_the_stored_pod, test_node_info__pods_with_affinity,
	test_node_info__used_ports, test_node_info__set_and_remove_node,
	test_node_info__condition_status_strings, test_node_info__null,
	test_node_info__clone_is_independent, test_node_info__string, test_node_info__filter,
	test_node_info__transient_info_can_be_cycle_state,
	test_node_info__pod_infos_have_their_objects)
