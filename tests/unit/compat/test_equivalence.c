/* SPDX-License-Identifier: Apache-2.0 */
/** Spec 05b D1, 03 section 16: the equivalence cache. */
#include "berth/equivalence.h"

#include "cluster.h"

static struct {
	struct berth_arena *arena;
	struct berth_equivalence_cache *cache;
	struct berth_predicates *predicates;
	struct berth_node_info *node;
} world;

static void add_to_node(const char *name, const char *cpu)
{
	struct berth_object *pod = cluster_pod(name, cpu, "");

	ck_assert_int_eq(berth_node_info_add_pod(world.node, pod, NULL), 0);
	berth_object_release(pod);
}

static void init(bool verify)
{
	struct berth_object *node = cluster_object(
		"{'apiVersion':'v1','kind':'Node','metadata':{'name':'n1'},'status':{'allocatable':"
		"{'cpu':'4','pods':'9'}}}");

	world.arena = berth_arena_create();
	world.cache = berth_equivalence_cache_create(verify);
	world.predicates = berth_predicates_create(NULL);
	world.node = berth_node_info_create(NULL, 0);
	ck_assert_int_eq(berth_node_info_set_node(world.node, node, NULL), 0);
	berth_object_release(node);
}

static void finish(void)
{
	berth_predicates_destroy(world.predicates);
	berth_equivalence_cache_destroy(world.cache);
	berth_equivalence_cache_destroy(NULL);
	berth_node_info_destroy(world.node);
	berth_arena_destroy(world.arena);
}

static struct berth_equivalence_class class_of(const struct berth_object *pod)
{
	return berth_equivalence_class_of(world.cache, berth_object_pod(pod));
}

/** Runs the predicate; the expected result is "fits" or the first reason. */
static void expect_run(struct berth_object *pod, const char *name, const char *expected)
{
	struct berth_predicate_metadata *metadata =
		berth_predicate_metadata_produce(world.predicates, pod);
	struct berth_equivalence_class class = class_of(pod);
	struct berth_predicate_result result;

	ck_assert_int_eq(
		berth_equivalence_cache_run_predicate(world.cache,
			berth_equivalence_cache_get_node_cache(world.cache, BERTH_STR("n1")),
			&class, name, metadata->pod, metadata, world.node, world.arena, &result,
			NULL),
		0);
	cluster_expect(result.fits ? BERTH_STR("fits") : result.reasons[0].text, expected);
	berth_predicate_metadata_destroy(metadata);
}

static void expect_counters(uint64_t hits, uint64_t misses)
{
	uint64_t actual_hits = 0;
	uint64_t actual_misses = 0;

	berth_equivalence_cache_counters(world.cache, &actual_hits, &actual_misses);
	ck_assert_uint_eq(actual_hits, hits);
	ck_assert_uint_eq(actual_misses, misses);
}

/*
 * seed-map 003.38: pods with equal requests, labels and namespace are of one class, whatever their
 * names
 */
START_TEST(test_equivalence__class)
{
	init(false);
	static const char text[] =
		"{'apiVersion':'v1','kind':'Pod','metadata':{'name':'%s','namespace':'%s','uid':"
		"'%s','labels':{'app':'%s'}},'spec':{'containers':[{'name':'c','resources':{"
		"'requests':{'cpu':'%s'}}}]}}";
	static const char *const rows[][5] = {
		{"a", "d", "1", "x", "1"},
		{"b", "d", "2", "x", "1"},
		{"b", "e", "2", "x", "1"},
		{"b", "d", "2", "y", "1"},
		{"b", "d", "2", "x", "2"},
		{"b", "d\\u0000e", "2", "x", "1"},
	};
	struct berth_equivalence_class first = {0};

	for (int i = 0; i < 6; i++) {
		char json[512];

		(void)snprintf(json, sizeof(json), text, rows[i][0], rows[i][1], rows[i][2],
			rows[i][3], rows[i][4]);
		struct berth_object *pod = cluster_object(json);
		struct berth_equivalence_class class = class_of(pod);

		if (i == 0) {
			first = class;
		}
		ck_assert_msg((class.id == first.id) == (i < 2), "row %d", i);
		berth_object_release(pod);
	}
	finish();
}
END_TEST

/* seed-map 003.37, 003.39, 003.40: results are cached until the node changes */
START_TEST(test_equivalence__run_predicate)
{
	for (int verify = 0; verify < 2; verify++) {
		init(verify != 0);
		struct berth_object *small = cluster_pod("s", "1", "");
		struct berth_object *twin = cluster_pod("s", "1", "");
		struct berth_object *large = cluster_pod("l", "5", "");

		expect_run(small, "PodFitsResources", "fits");
		expect_counters(0, 1);
		expect_run(twin, "PodFitsResources", "fits");
		expect_counters(1, 1);
		expect_run(large, "PodFitsResources", "Insufficient cpu");
		expect_run(large, "PodFitsResources", "Insufficient cpu");
		expect_run(large, "HostName", "fits");
		expect_counters(2, 3);
		add_to_node("q", "4");
		expect_run(small, "PodFitsResources", "Insufficient cpu");
		expect_counters(2, 4);
		berth_equivalence_cache_invalidate(world.cache, BERTH_STR("n1"));
		berth_equivalence_cache_invalidate(world.cache, BERTH_STR("unknown"));
		expect_run(small, "PodFitsResources", "Insufficient cpu");
		expect_counters(2, 5);
		/*
		 * The result of MatchInterPodAffinity depends on other nodes, too, and is never
		 * cached.
		 */
		expect_run(small, "MatchInterPodAffinity", "fits");
		expect_run(small, "MatchInterPodAffinity", "fits");
		expect_counters(2, 5);
		berth_object_release(small);
		berth_object_release(twin);
		berth_object_release(large);
		finish();
	}
}
END_TEST

/* seed-map 003.41 */
START_TEST(test_equivalence__is_available)
{
	init(false);
	struct berth_object *pod = cluster_pod("s", "1", "");
	struct berth_equivalence_class class = class_of(pod);
	struct berth_equivalence_node_cache *node =
		berth_equivalence_cache_get_node_cache(world.cache, BERTH_STR("n1"));

	ck_assert_ptr_eq(
		berth_equivalence_cache_get_node_cache(world.cache, BERTH_STR("n1")), node);
	ck_assert(berth_equivalence_cache_is_available(world.cache, &class, node, false));
	ck_assert(!berth_equivalence_cache_is_available(world.cache, &class, node, true));
	ck_assert(!berth_equivalence_cache_is_available(world.cache, NULL, node, false));
	ck_assert(!berth_equivalence_cache_is_available(world.cache, &class, NULL, false));

	/* The table of classes is full: all classes are dropped, including the old one. */
	for (int i = 0; i <= BERTH_EQUIVALENCE_CLASSES_MAX; i++) {
		char cpu[16];

		(void)snprintf(cpu, sizeof(cpu), "%dm", i + 1);
		struct berth_object *other = cluster_pod("o", cpu, "");

		(void)class_of(other);
		berth_object_release(other);
	}
	ck_assert(!berth_equivalence_cache_is_available(world.cache, &class, node, false));
	berth_object_release(pod);
	finish();
}
END_TEST

BT_TEST_MAIN("lib_equivalence", test_equivalence__class, test_equivalence__run_predicate,
	test_equivalence__is_available)
