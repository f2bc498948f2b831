/* SPDX-License-Identifier: Apache-2.0 */
/** Spec 07 section 16.4: the option WithVolumeBinder. */
#include "berth/fake_volume_binder.h"
#include "cluster.h"

/* seed-map 001.107: VolumeBinding uses the binder that the framework's options name */
START_TEST(test_framework_binder__option)
{
	struct berth_fake_volume_binder_config told = {
		.find_reasons = {{BERTH_CONFLICT_REASON_BIND_CONFLICT}, 1}};
	struct berth_fake_volume_binder *fake = berth_fake_volume_binder_create(&told);
	struct berth_framework_options options = BERTH_FRAMEWORK_OPTIONS_INIT;
	struct berth_engine *engine = cluster_create(CLUSTER_CONFIG("", ""), NULL);
	struct berth_registry *registry = berth_registry_create_in_tree();
	struct berth_config *config = berth_config_create_default();
	struct berth_cycle_state *state = berth_cycle_state_create();
	struct berth_arena *arena = berth_cycle_state_arena(state);
	struct berth_framework *framework = NULL;
	const struct berth_node_info *node = NULL;
	struct berth_pre_filter_result result;

	cluster_put_node(engine, "n1", "4", "");
	cluster_put(engine,
		"{'apiVersion':'v1','kind':'PersistentVolumeClaim','metadata':{'name':'c',"
		"'namespace':'d','annotations':{'pv.kubernetes.io/bind-completed':'yes'}},'spec':{"
		"'volumeName':'v'}}");
	options.snapshot_shared_lister = berth_engine_snapshot_shared_lister(engine, NULL);
	options.volume_binder = &fake->base;
	ck_assert_int_eq(
		berth_framework_create(registry, config, 0, &options, &framework, NULL), 0);
	ck_assert_ptr_eq(
		berth_handle_volume_binder(berth_framework_handle(framework)), &fake->base);
	ck_assert_int_eq(berth_shared_lister_get(options.snapshot_shared_lister, BERTH_STR("n1"),
				 arena, &node, NULL),
		0);
	struct berth_pod_info *pod = cluster_pod_info(framework, "q", "1",
		",'volumes':[{'name':'v','persistentVolumeClaim':{'claimName':'c'}}]");
	(void)berth_framework_run_pre_filter_plugins(framework, state, pod, &result, NULL, NULL);
	struct berth_plugin_to_status map =
		berth_framework_run_filter_plugins(framework, state, pod, node);

	ck_assert_uint_eq(map.count, 1);
	cluster_expect(map.items[0].plugin, "VolumeBinding");
	struct berth_status status = berth_status_merge(&map, arena);
	cluster_expect_status(&status, arena,
		"UnschedulableAndUnresolvable: node(s) didn't find available persistent volumes to "
		"bind");
	berth_framework_pod_destroy(pod);
	berth_framework_destroy(framework);
	berth_volume_binder_destroy(&fake->base);
	berth_cycle_state_destroy(state);
	berth_config_release(config);
	berth_registry_destroy(registry);
	berth_engine_destroy(engine);
}
END_TEST

BT_TEST_MAIN("lib_framework_binder", test_framework_binder__option)
