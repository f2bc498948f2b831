/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The volume plugins must not call malloc in PreFilter, Filter and Score: PreFilter uses the
 * cycle's arena, Filter and Score use memory of the plugin instance. Linked with --wrap, which
 * counts calls.
 */
#include <stdlib.h>

#include "limits_fixture.h"
#include "test_main.h"

#define CYCLES 5

static unsigned long allocations;

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);

void *__wrap_malloc(size_t size)
{
	allocations++;
	return __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
	allocations++;
	return __real_calloc(count, size);
}

void *__wrap_realloc(void *memory, size_t size)
{
	allocations++;
	return __real_realloc(memory, size);
}

/** Runs PreFilter, Filter and Score on two nodes, five times; only the first run may allocate. */
static void check(struct fixture *fixture, const char *row, const char *json)
{
	const struct bt_plugin_ops *ops = fixture->plugin->ops;
	const struct bt_pod_info *pod = fixture_pending(fixture, json);
	struct bt_arena arena;
	unsigned long before = 0;
	bool all_passed = true;

	bt_arena_init(&arena, (size_t)1 << 20);
	for (int i = 0; i < CYCLES; i++) {
		struct bt_pre_filter_result narrowed = {0};
		struct bt_cycle_state cycle;
		struct bt_status status;
		bool passed = true;

		bt_arena_reset(&arena);
		before = i == 1 ? allocations : before;
		bt_cycle_state_init(&cycle, &arena, 1);
		status = ops->pre_filter(fixture->plugin, &cycle, pod, &narrowed);
		passed = bt_status_is_success(&status);
		for (uint32_t slot = 0; passed && slot < 2; slot++) {
			struct bt_node_info node;
			int64_t score;

			bt_node_info_init(&node, fixture->state, slot);
			status = ops->filter(fixture->plugin, &cycle, pod, &node);
			if (bt_status_is_success(&status) && ops->score != NULL) {
				status = ops->score(fixture->plugin, &cycle, pod, &node, &score);
				passed = bt_status_is_success(&status);
			}
		}
		bt_cycle_state_finish(&cycle);
		all_passed &= passed;
	}
	before = allocations - before; /* the assertions allocate, too */
	ck_assert_msg(before == 0, "%s: %lu allocations", row, before);
	ck_assert_msg(all_passed, "%s", row);
	bt_arena_finish(&arena);
}

START_TEST(test_volume_allocations__node_volume_limits)
{
	struct fixture fixture;

	limits_fixture_init(&fixture, NULL, EBS_LIMIT("5"));
	put_sourced(&fixture, "tree", "'gcePersistentDisk':{'pdName':'d'}");
	put_claim(&fixture, "unbound", "E", "1G", "");
	put_claim(&fixture, "p-x", "E", "1G",
		",'metadata':{'ownerReferences':[{'controller':true,'uid':'u1'}]}");
	put_attachment(&fixture, "a", EBS_DRIVER, "'persistentVolumeName':'e3'");
	fixture_add_pod(&fixture, ON_N1(CLAIM("c1") "," CLAIM("c-tree") "," INLINE_PD("d")));
	check(&fixture, "claim", POD(CLAIM("c0")));
	check(&fixture, "many kinds",
		POD(CLAIM("c0") "," CLAIM("unbound") "," CLAIM("c-tree") "," INLINE_EBS(
			"aws://z/vol-1") ",{'name':'x','ephemeral':{}}"));
	check(&fixture, "too many",
		POD(CLAIM("c0") "," CLAIM("c2") "," INLINE_EBS("1") "," INLINE_EBS("2")));
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_volume_allocations__volume_binding)
{
	struct fixture fixture;

	volume_fixture_init(
		&fixture, &bt_volume_binding_plugin, "StorageCapacityScoring=true", NULL);
	fixture_put(&fixture,
		"{'apiVersion':'storage.k8s.io/v1','kind':'CSIDriver','metadata':{'name':'x'},"
		"'spec':{'storageCapacity':true}}");
	fixture_put(&fixture,
		"{'apiVersion':'storage.k8s.io/v1','kind':'CSIStorageCapacity','metadata':{'name':"
		"'pool','namespace':'default'},'storageClassName':'P','nodeTopology':{},"
		"'capacity':'9Gi'}");
	put_csi_node(&fixture, "n1", "kubernetes.io/gce-pd", "");
	put_volume(&fixture, "tree", "I", "1G", NULL,
		",'metadata':{'labels':{'topology.kubernetes.io/zone':'a'}},"
		"'spec':{'gcePersistentDisk':{'pdName':'d'}}");
	put_volume(&fixture, "pv", "W", "1G", "n1", "");
	put_volume(&fixture, "bound", "I", "1G", "n1", "");
	put_bound_claim(&fixture, "b", "bound");
	put_bound_claim(&fixture, "t", "tree");
	put_claim(&fixture, "w", "W", "1G", "");
	put_claim(&fixture, "d", "P", "1G", "");
	check(&fixture, "bound", claims_pod(&fixture, "b"));
	check(&fixture, "translated", claims_pod(&fixture, "t"));
	check(&fixture, "static", claims_pod(&fixture, "w"));
	check(&fixture, "dynamic", claims_pod(&fixture, "d"));
	check(&fixture, "all", claims_pod(&fixture, "b w d"));
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_volume_allocations__volume_zone)
{
	struct fixture fixture;

	volume_fixture_init(&fixture, &bt_volume_zone_plugin, NULL, NULL);
	put_volume(&fixture, "pv", "I", "1G", NULL,
		",'metadata':{'labels':{'topology.kubernetes.io/zone':'b__a'}}");
	put_bound_claim(&fixture, "c", "pv");
	check(&fixture, "zones", claims_pod(&fixture, "c"));
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_volume_allocations__volume_restrictions)
{
	struct fixture fixture;

	volume_fixture_init(&fixture, &bt_volume_restrictions_plugin, NULL, NULL);
	put_claim(&fixture, "once", "W", "1G", ",'spec':{'accessModes':['ReadWriteOncePod']}");
	fixture_add_pod(&fixture,
		ON_N1(CLAIM("once") "," INLINE_EBS("a") ",{'name':'v','rbd':{'monitors':['a','b'],"
							"'image':'i'}}"));
	check(&fixture, "disks and a claim",
		POD(CLAIM("once") "," INLINE_EBS("b") "," INLINE_PD(
			"d") ",{'name':'v','rbd':{'monitors':['c','d'],'image':'i'}}"));
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_volume_allocations__legacy_volume_counts)
{
	struct fixture fixture;

	volume_fixture_init(&fixture, &bt_legacy_max_ebs_volume_count_plugin, NULL, NULL);
	put_claim(&fixture, "c", "W", "1G", "");
	fixture_add_pod(&fixture, ON_N1(CLAIM("c") "," INLINE_EBS("a") "," INLINE_EBS("b")));
	check(&fixture, "inline and claim",
		POD(CLAIM("c") "," INLINE_EBS("b") "," INLINE_EBS("d")));
	fixture_finish(&fixture);
}
END_TEST

BT_TEST_MAIN("volume_allocations", test_volume_allocations__node_volume_limits,
	test_volume_allocations__volume_binding, test_volume_allocations__volume_zone,
	test_volume_allocations__volume_restrictions, test_volume_allocations__legacy_volume_counts)
