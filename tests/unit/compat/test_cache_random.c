/* SPDX-License-Identifier: Apache-2.0 */
/** Compares the cache with a model of spec 03b section 4: an array of pods and their nodes. */
#include <stddef.h>
#include <string.h>

#include "berth/cache.h"
#include "objects.h"

enum { PODS = 12, NODES = 4, ROUNDS = 6000, TTL = 50 };

struct model_pod {
	enum berth_cache_pod_state state;
	int node;
	int cpu;
	int64_t deadline; /* 0: binding not finished */
};

static struct {
	struct berth_cache *cache;
	struct berth_node_name_to_info_map *map;
	struct model_pod pods[PODS];
	bool has_node[NODES];
	uint32_t random;
} world;

static int draw(int bound)
{
	world.random = world.random * 1664525U + 1013904223U;
	return (int)((world.random >> 8) % (uint32_t)bound);
}

static bool is_counted(const struct model_pod *pod)
{
	return pod->state == BERTH_CACHE_POD_ASSUMED || pod->state == BERTH_CACHE_POD_ADDED;
}

static struct berth_object *make_pod(int index, int node, int cpu)
{
	char name[16];
	char spec[256];

	(void)snprintf(name, sizeof(name), "p%d", index);
	(void)snprintf(spec, sizeof(spec),
		"\"nodeName\":\"n%d\",\"containers\":[{\"resources\":{\"requests\":{"
		"\"cpu\":\"%dm\",\"x.test/y\":\"%d\"}}}]",
		node, cpu, cpu);
	return pod_from(name, "", spec);
}

static void set(int index, enum berth_cache_pod_state state, int node, int cpu)
{
	world.pods[index] = (struct model_pod){state, node, cpu, 0};
}

/*
 * Operations on the cache and the model. Each returns true if the operation must succeed by the
 * table of spec 03b section 4.
 */

static bool assume(int index, int node, int cpu, struct berth_object *pod)
{
	bool expected = !is_counted(&world.pods[index]);

	ck_assert_int_eq(berth_cache_assume_pod(world.cache, pod, NULL) == 0, expected);
	if (expected) {
		set(index, BERTH_CACHE_POD_ASSUMED, node, cpu);
	}
	return expected;
}

static bool add(int index, int node, int cpu, struct berth_object *pod)
{
	bool expected = world.pods[index].state != BERTH_CACHE_POD_ADDED;

	ck_assert_int_eq(berth_cache_add_pod(world.cache, pod, NULL) == 0, expected);
	if (expected) {
		set(index, BERTH_CACHE_POD_ADDED, node, cpu);
	}
	return expected;
}

static bool forget(int index, int node, struct berth_object *pod)
{
	const struct model_pod *model = &world.pods[index];
	bool expected = !is_counted(model) ||
		(model->state == BERTH_CACHE_POD_ASSUMED && model->node == node);

	ck_assert_int_eq(
		berth_cache_forget_pod(world.cache, berth_object_pod(pod), NULL) == 0, expected);
	if (expected && is_counted(model)) {
		set(index, BERTH_CACHE_POD_INITIAL, 0, 0);
	}
	return expected;
}

static bool update(int index, int node, int cpu, struct berth_object *pod)
{
	const struct model_pod *model = &world.pods[index];
	bool expected = model->state == BERTH_CACHE_POD_ADDED && model->node == node;

	ck_assert_int_eq(berth_cache_update_pod(world.cache, berth_object_pod(pod), pod, NULL) == 0,
		expected);
	if (expected) {
		set(index, BERTH_CACHE_POD_ADDED, node, cpu);
	}
	return expected;
}

static bool remove_pod(int index, int node, struct berth_object *pod)
{
	bool expected = is_counted(&world.pods[index]) && world.pods[index].node == node;

	ck_assert_int_eq(
		berth_cache_remove_pod(world.cache, berth_object_pod(pod), NULL) == 0, expected);
	if (expected) {
		set(index, BERTH_CACHE_POD_DELETED, 0, 0);
	}
	return expected;
}

static void finish_binding(int index, int64_t now, struct berth_object *pod)
{
	ck_assert_int_eq(
		berth_cache_finish_binding(world.cache, berth_object_pod(pod), now, NULL), 0);
	if (world.pods[index].state == BERTH_CACHE_POD_ASSUMED) {
		world.pods[index].deadline = now + TTL;
	}
}

static void expire(int64_t now)
{
	uint32_t expected = 0;

	for (int i = 0; i < PODS; i++) {
		if (world.pods[i].state == BERTH_CACHE_POD_ASSUMED && world.pods[i].deadline != 0 &&
			world.pods[i].deadline < now) {
			set(i, BERTH_CACHE_POD_EXPIRED, 0, 0);
			expected++;
		}
	}
	ck_assert_uint_eq(berth_cache_expire_assumed(world.cache, now), expected);
}

static void toggle_node(int node)
{
	char name[16];
	struct berth_object *object;

	(void)snprintf(name, sizeof(name), "n%d", node);
	object = node_from(name, "", "");
	if (world.has_node[node]) {
		ck_assert_int_eq(
			berth_cache_remove_node(world.cache, berth_object_node(object), NULL), 0);
	} else {
		ck_assert_int_eq(berth_cache_add_node(world.cache, object, NULL), 0);
	}
	world.has_node[node] = !world.has_node[node];
	berth_object_release(object);
}

static void step(int64_t now)
{
	int index = draw(PODS);
	int node = draw(4) != 0 ? world.pods[index].node : draw(NODES);
	int cpu = 1 + draw(9);
	struct berth_object *pod = make_pod(index, node, cpu);

	switch (draw(8)) {
	case 0:
		(void)assume(index, node, cpu, pod);
		break;
	case 1:
		(void)add(index, node, cpu, pod);
		break;
	case 2:
		(void)forget(index, node, pod);
		break;
	case 3:
		(void)update(index, node, cpu, pod);
		break;
	case 4:
		(void)remove_pod(index, node, pod);
		break;
	case 5:
		finish_binding(index, now, pod);
		break;
	case 6:
		expire(now);
		break;
	default:
		toggle_node(draw(NODES));
		break;
	}
	berth_object_release(pod);
}

/* Returns whether the sums and counts of a node's aggregate equal those of the model. */
static bool agrees(const struct berth_node_info *node, int index)
{
	struct berth_resource requested;
	int64_t cpu = 0;
	uint32_t count = 0;
	bool same;

	for (int i = 0; i < PODS; i++) {
		if (is_counted(&world.pods[i]) && world.pods[i].node == index) {
			cpu += world.pods[i].cpu;
			count++;
		}
	}
	berth_node_info_requested_resource(node, &requested);
	same = requested.cpu_milli == cpu &&
		berth_resource_scalar(&requested, BERTH_STR("x.test/y")) == cpu &&
		berth_node_info_pod_count(node) == count &&
		(berth_node_info_node(node) != NULL) == world.has_node[index];
	berth_resource_finish(&requested);
	return same;
}

static void check(int round)
{
	for (int i = 0; i < PODS; i++) {
		char uid[16];

		(void)snprintf(uid, sizeof(uid), "p%d", i);
		if (berth_cache_pod_state(world.cache, berth_str_from(uid)) !=
			world.pods[i].state) {
			ck_abort_msg("round %d: %s", round, uid);
		}
	}
	berth_cache_update_node_name_to_info_map(world.cache, world.map);
	for (int i = 0; i < NODES; i++) {
		char name[16];
		struct berth_node_info *copy = NULL;
		const struct berth_node_info *kept;

		(void)snprintf(name, sizeof(name), "n%d", i);
		kept = berth_node_name_to_info_map_find(world.map, berth_str_from(name));
		if ((kept != NULL) != world.has_node[i] || (kept != NULL && !agrees(kept, i))) {
			ck_abort_msg("round %d: map has another %s", round, name);
		}
		if (berth_cache_get_node_info(world.cache, berth_str_from(name), &copy, NULL) ==
			0) {
			if (!agrees(copy, i)) {
				ck_abort_msg("round %d: cache has another %s", round, name);
			}
		} else if (world.has_node[i]) {
			ck_abort_msg("round %d: no %s", round, name);
		}
		berth_node_info_destroy(copy);
	}
}

START_TEST(test_cache__random_operations_agree_with_the_model)
{
	struct berth_cache_options options = BERTH_CACHE_OPTIONS_INIT;

	options.assume_expiry_ns = TTL;
	memset(&world, 0, sizeof(world));
	world.random = 1;
	world.cache = berth_cache_create(&options);
	ck_assert_int_eq(berth_node_name_to_info_map_create(NULL, 0, NULL, 0, &world.map, NULL), 0);
	for (int round = 0; round < ROUNDS; round++) {
		step(round);
		if (round % 4 == 0) {
			check(round);
		}
	}
	berth_node_name_to_info_map_destroy(world.map);
	berth_cache_destroy(world.cache);
}
END_TEST

BT_TEST_MAIN("lib_cache_random", test_cache__random_operations_agree_with_the_model)
