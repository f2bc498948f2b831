/* SPDX-License-Identifier: Apache-2.0 */
/** Node infos that are views of an engine's tables, and clones of such views. */
#include <stddef.h>

#include "berth/engine.h"
#include "berth/node_info.h"
#include "objects.h"

#define NODE_SPEC "\"taints\":[{\"key\":\"k\",\"value\":\"v\",\"effect\":\"NoSchedule\"}]"
#define NODE_STATUS \
	"\"allocatable\":{\"cpu\":\"4\",\"memory\":\"8Gi\",\"pods\":\"10\",\"x.test/y\":\"3\"," \
	"\"ephemeral-storage\":\"7\"},\"conditions\":[" \
	"{\"type\":\"MemoryPressure\",\"status\":\"True\"}," \
	"{\"type\":\"DiskPressure\",\"status\":\"False\"}]," \
	"\"images\":[{\"names\":[\"i\"],\"sizeBytes\":5}]"
#define POD_SPEC \
	"\"nodeName\":\"n1\",\"affinity\":{\"podAffinity\":{}},\"containers\":[{\"ports\":[{" \
	"\"hostPort\":80}],\"resources\":{\"requests\":{\"cpu\":\"1\",\"x.test/y\":\"2\"}}}]," \
	"\"volumes\":[{\"name\":\"v\",\"persistentVolumeClaim\":{\"claimName\":\"c\"}}]"

struct world {
	struct berth_engine *engine;
	struct berth_arena *arena;
	struct berth_object *pods[2];
	const struct berth_node_info *node;
};

static void put(struct berth_engine *engine, struct berth_object *object)
{
	struct berth_error err = BERTH_ERROR_INIT;

	CHECK_OK(berth_engine_put(engine, object, 1, &err));
}

/** Adds node n1 with pods a and b. */
static struct world make_world(void)
{
	struct berth_config *config = berth_config_create_default();
	struct berth_object *object = node_from("n1", NODE_SPEC, NODE_STATUS);
	struct berth_error err = BERTH_ERROR_INIT;
	struct world world = {.arena = berth_arena_create()};

	CHECK_OK(berth_engine_create(config, NULL, &world.engine, &err));
	berth_config_release(config);
	put(world.engine, object);
	berth_object_release(object);
	world.pods[0] = pod_from("a", "", POD_SPEC);
	world.pods[1] = pod_from("b", "", "\"nodeName\":\"n1\",\"containers\":[{}]");
	put(world.engine, world.pods[0]);
	put(world.engine, world.pods[1]);
	world.node = berth_engine_node_info(world.engine, BERTH_STR("n1"), world.arena);
	ck_assert_ptr_nonnull(world.node);
	return world;
}

static void finish(struct world *world)
{
	berth_object_release(world->pods[0]);
	berth_object_release(world->pods[1]);
	berth_engine_destroy(world->engine);
	berth_arena_destroy(world->arena);
}

static void check_sums(const struct berth_node_info *node)
{
	struct berth_resource resource;

	berth_node_info_requested_resource(node, &resource);
	ck_assert_int_eq(resource.cpu_milli, 1000);
	ck_assert_int_eq(berth_resource_scalar(&resource, BERTH_STR("x.test/y")), 2);
	berth_resource_finish(&resource);
	berth_node_info_non_zero_request(node, &resource);
	ck_assert_int_eq(resource.cpu_milli, 1100);
	ck_assert_int_eq(resource.memory_bytes, 2 * 209715200);
	ck_assert_uint_eq(resource.scalar_count, 0);
	berth_node_info_allocatable_resource(node, &resource);
	ck_assert_int_eq(resource.cpu_milli, 4000);
	ck_assert_int_eq(resource.ephemeral_storage_bytes, 7);
	ck_assert_int_eq(resource.allowed_pod_number, 10);
	ck_assert_int_eq(berth_resource_scalar(&resource, BERTH_STR("x.test/y")), 3);
	berth_resource_finish(&resource);
	ck_assert_int_eq(berth_node_info_allowed_pod_number(node), 10);
}

/* seed-map 000.39 to 000.49, 003.92 to 003.105 */
START_TEST(test_node_view__getters)
{
	struct world world = make_world();
	const struct berth_pod_info *const *pods;
	const struct berth_host_port *ports;
	const struct berth_taint *taints;
	struct berth_image_state image;
	uint32_t count;

	check_sums(world.node);
	ck_assert_ptr_null(berth_node_info_node(world.node));
	CHECK_TEXT(berth_node_info_name(world.node), "n1");
	pods = berth_node_info_pods(world.node, world.arena, &count);
	ck_assert_uint_eq(count, 2);
	CHECK_TEXT(berth_pod_info_name(pods[1]), "b");
	pods = berth_node_info_pods_with_affinity(world.node, world.arena, &count);
	ck_assert_uint_eq(count, 1);
	CHECK_TEXT(berth_pod_info_name(pods[0]), "a");
	ports = berth_node_info_used_ports(world.node, world.arena, &count);
	ck_assert_uint_eq(count, 1);
	CHECK_TEXT(ports[0].ip, "0.0.0.0");
	ck_assert(berth_node_info_is_port_used(world.node, 80));
	ck_assert_int_eq(berth_node_info_taints(world.node, world.arena, &taints, &count, NULL), 0);
	ck_assert_uint_eq(count, 1);
	CHECK_TEXT(taints[0].value, "v");
	ck_assert_int_eq(
		berth_node_info_memory_pressure_condition(world.node), BERTH_CONDITION_STATUS_TRUE);
	ck_assert_int_eq(
		berth_node_info_disk_pressure_condition(world.node), BERTH_CONDITION_STATUS_FALSE);
	ck_assert_int_eq(
		berth_node_info_pid_pressure_condition(world.node), BERTH_CONDITION_STATUS_NONE);
	ck_assert(berth_node_info_image_state(world.node, BERTH_STR("i"), &image));
	ck_assert_int_eq(image.size_bytes, 5);
	ck_assert_uint_eq(image.node_count, 1);
	ck_assert_uint_eq(berth_node_info_pvc_ref_count(world.node, BERTH_STR("default/c")), 1);
	ck_assert(berth_node_info_generation(world.node) != 0);
	ck_assert_ptr_null(
		berth_node_info_transient_info((struct berth_node_info *)(uintptr_t)world.node));
	ck_assert(berth_node_info_filter(world.node, berth_object_pod(world.pods[0])));
	finish(&world);
}
END_TEST

/* seed-map 000.50, 000.52: a what-if on the clone of a view */
START_TEST(test_node_view__clone)
{
	struct world world = make_world();
	struct berth_node_info *copy = berth_node_info_clone(world.node);
	const struct berth_pod_info *a = berth_node_info_pod_at(world.node, 0, world.arena);
	const struct berth_pod *pod = berth_object_pod(world.pods[0]);
	struct berth_error err = BERTH_ERROR_INIT;
	int64_t generation = berth_node_info_generation(copy);

	ck_assert_int_eq(generation, berth_node_info_generation(world.node));
	check_sums(copy);
	CHECK_OK(berth_node_info_remove_pod(copy, pod, &err));
	ck_assert_int_ne(berth_node_info_generation(copy), generation);
	ck_assert_int_eq(berth_node_info_requested_cpu_milli(copy), 0);
	ck_assert(!berth_node_info_is_port_used(copy, 80));
	ck_assert(!berth_node_info_filter(copy, pod));
	check_sums(world.node);
	CHECK_FAILS(berth_node_info_remove_pod(copy, pod, &err), BERTH_ERR_NOT_FOUND,
		"no corresponding pod a in pods of node n1");
	CHECK_OK(berth_node_info_add_pod_info(copy, a, &err));
	check_sums(copy);
	ck_assert(berth_node_info_is_port_used(copy, 80));
	berth_node_info_destroy(copy);
	finish(&world);
}
END_TEST

/* seed-map 000.35 to 000.38: operations that a view refuses */
START_TEST(test_node_view__views_are_not_changed)
{
	static const char refusal[] =
		"this function cannot change a view of the scheduler's tables";
	struct world world = make_world();
	struct berth_node_info *view = (struct berth_node_info *)(uintptr_t)world.node;
	struct berth_node_info *copy = berth_node_info_clone(world.node);
	struct berth_node_info *alone = berth_node_info_create(world.pods, 1);
	const struct berth_pod_info *foreign = berth_node_info_pod_at(alone, 0, world.arena);
	struct berth_error err = BERTH_ERROR_INIT;

	CHECK_FAILS(berth_node_info_add_pod(view, world.pods[0], &err), BERTH_ERR_INVALID, refusal);
	CHECK_FAILS(berth_node_info_add_pod(copy, world.pods[0], &err), BERTH_ERR_INVALID, refusal);
	CHECK_FAILS(berth_node_info_remove_pod(view, berth_object_pod(world.pods[0]), &err),
		BERTH_ERR_INVALID, refusal);
	CHECK_FAILS(
		berth_node_info_set_node(copy, world.pods[0], &err), BERTH_ERR_INVALID, refusal);
	CHECK_FAILS(berth_node_info_remove_node(copy, &err), BERTH_ERR_INVALID, refusal);
	/* A pod of a standalone aggregate is not in the engine's tables. */
	CHECK_FAILS(berth_node_info_add_pod_info(copy, foreign, &err), BERTH_ERR_INVALID,
		"only the clone of a view takes pods of the scheduler's tables");
	CHECK_FAILS(berth_node_info_add_pod_info(alone, foreign, &err), BERTH_ERR_INVALID,
		"only the clone of a view takes pods of the scheduler's tables");
	check_sums(world.node);
	berth_node_info_destroy(copy);
	berth_node_info_destroy(alone);
	finish(&world);
}
END_TEST

BT_TEST_MAIN("lib_node_view", test_node_view__getters, test_node_view__clone,
	test_node_view__views_are_not_changed)
