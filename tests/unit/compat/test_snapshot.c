/* SPDX-License-Identifier: Apache-2.0 */
/** Spec 03b sections 6 and 7. */
#include "berth/snapshot.h"

#include "cluster.h"

static void add_node(struct berth_cache *cache, const char *name, const char *zone)
{
	char text[256];

	(void)snprintf(text, sizeof(text),
		"{'apiVersion':'v1','kind':'Node','metadata':{'name':'%s','labels':{"
		"'topology.kubernetes.io/zone':'%s'}},'status':{'allocatable':{'cpu':'4','pods':"
		"'9'}}}",
		name, zone);
	struct berth_object *node = cluster_object(text);

	ck_assert_int_eq(berth_cache_add_node(cache, node, NULL), 0);
	berth_object_release(node);
}

static void remove_node(struct berth_cache *cache, const char *name, const char *zone)
{
	char text[256];

	(void)snprintf(text, sizeof(text),
		"{'apiVersion':'v1','kind':'Node','metadata':{'name':'%s','labels':{"
		"'topology.kubernetes.io/zone':'%s'}}}",
		name, zone);
	struct berth_object *node = cluster_object(text);

	ck_assert_int_eq(berth_cache_remove_node(cache, berth_object_node(node), NULL), 0);
	berth_object_release(node);
}

/** Returns the next count names, joined. */
static const char *walk(struct berth_node_tree *tree, uint32_t count)
{
	static char text[64];

	text[0] = '\0';
	while (count-- > 0) {
		struct berth_str name = berth_node_tree_next(tree);
		size_t length = strlen(text);

		(void)snprintf(text + length, sizeof(text) - length, "%.*s", BERTH_STR_ARG(name));
	}
	return text;
}

/*
 * seed-map 003.19, 003.20, 003.21: the example of 03b section 6, and a cursor shared by all users
 * of the tree
 */
START_TEST(test_snapshot__node_tree)
{
	struct berth_cache *cache = berth_cache_create(NULL);
	struct berth_node_tree *tree = berth_cache_node_tree(cache);

	ck_assert_uint_eq(berth_node_tree_num_nodes(tree), 0);
	ck_assert_str_eq(walk(tree, 2), "");
	add_node(cache, "a", "Z1");
	add_node(cache, "b", "Z1");
	add_node(cache, "c", "Z1");
	add_node(cache, "d", "Z2");
	add_node(cache, "e", "Z3");
	add_node(cache, "f", "Z3");
	ck_assert_ptr_eq(berth_cache_node_tree(cache), tree);
	ck_assert_uint_eq(berth_node_tree_num_nodes(tree), 6);
	ck_assert_str_eq(walk(tree, 8), "adebfcad");
	remove_node(cache, "e", "Z3");
	ck_assert_str_eq(walk(berth_cache_node_tree(cache), 4), "bfca");
	remove_node(cache, "a", "Z1");
	remove_node(cache, "b", "Z1");
	remove_node(cache, "c", "Z1");
	remove_node(cache, "d", "Z2");
	remove_node(cache, "f", "Z3");
	ck_assert_str_eq(walk(tree, 2), "");
	berth_cache_destroy(cache);
}
END_TEST

/* seed-map 003.5, 003.6: the snapshot is updated before each decision, and a framework reads it */
START_TEST(test_snapshot__refresh)
{
	struct berth_framework_options options = BERTH_FRAMEWORK_OPTIONS_INIT;
	struct berth_cache *cache = berth_cache_create(NULL);
	struct berth_snapshot *snapshot = berth_snapshot_create(cache);
	const struct berth_shared_lister *lister = berth_snapshot_shared_lister(snapshot);
	struct berth_registry *registry = berth_registry_create_in_tree();
	struct berth_config *config = berth_config_create_default();
	struct berth_cycle_state *state = berth_cycle_state_create();
	struct berth_arena *arena = berth_cycle_state_arena(state);
	struct berth_framework *framework = NULL;
	const struct berth_node_info *node = NULL;
	struct berth_pre_filter_result result;

	add_node(cache, "n1", "z");
	ck_assert_uint_eq(berth_shared_lister_count(lister), 0);
	struct berth_object *pod = cluster_pod("q", "3", ",'nodeName':'n1'");
	ck_assert_int_eq(berth_cache_add_pod(cache, pod, NULL), 0);
	berth_object_release(pod);
	ck_assert_int_eq(berth_snapshot_refresh(snapshot, NULL), 0);
	ck_assert_uint_eq(berth_shared_lister_count(lister), 1);
	ck_assert_int_eq(berth_shared_lister_get(lister, BERTH_STR("n1"), arena, &node, NULL), 0);
	ck_assert_int_eq(berth_node_info_requested_cpu_milli(node), 3000);
	options.snapshot_shared_lister = lister;
	ck_assert_int_eq(
		berth_framework_create(registry, config, 0, &options, &framework, NULL), 0);
	struct berth_pod_info *info = cluster_pod_info(framework, "p", "2", "");
	struct berth_status status =
		berth_framework_run_pre_filter_plugins(framework, state, info, &result, NULL, NULL);
	cluster_expect_status(&status, arena, "Success: ");
	status = berth_framework_run_filter_plugins_with_nominated_pods(
		framework, state, info, node);
	cluster_expect_status(&status, arena, "Unschedulable: Insufficient cpu");
	berth_framework_pod_destroy(info);
	berth_framework_destroy(framework);
	berth_cycle_state_destroy(state);
	berth_config_release(config);
	berth_registry_destroy(registry);
	berth_snapshot_destroy(snapshot);
	berth_snapshot_destroy(NULL);
	berth_cache_destroy(cache);
}
END_TEST

BT_TEST_MAIN("lib_snapshot", test_snapshot__node_tree, test_snapshot__refresh)
