/* SPDX-License-Identifier: Apache-2.0 */
#include "test_main.h"

#include "cluster/tree.h"
#include "workload_world.h"

#define KEY "default/agent"
#define SET \
	"{'metadata':{'name':'agent'},'spec':{'selector':{'matchLabels':{'app':'agent'}}," \
	"'template':{'metadata':{'labels':{'app':'agent'}}," \
	"'spec':{'nodeSelector':{'disk':'yes'},'containers':[{'name':'c','image':'i:1'}]}}}}"

static int64_t number(struct world *world, const char *path)
{
	return world_int(world, "apps", "daemonsets", KEY, path);
}

static void add_node(struct world *world, const char *name, const char *disk, const char *spec)
{
	struct bt_str text = bt_arena_printf(&world->arena,
		"{'metadata':{'name':'%s','labels':{'disk':'%s'}},'spec':{%s}}", name, disk, spec);
	world_create(world, "", "nodes", text.data, 201);
}

/** Returns the node that the pod's affinity names. */
static struct bt_str target(struct world *world, struct bt_str key)
{
	const struct bt_json_value *terms = bt_json_array_at(world_get(world, "", "pods", key.data),
		"spec.affinity.nodeAffinity."
		"requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms");
	const struct bt_json_value *fields;

	ck_assert_uint_eq(terms->count, 1);
	fields = bt_json_array_at(terms->elements[0], "matchFields");
	ck_assert_uint_eq(fields->count, 1);
	return bt_json_array_at(fields->elements[0], "values")->elements[0]->text;
}

START_TEST(test_daemon_set__a_pod_for_each_node_that_fits)
{
	struct world world;
	struct bt_str keys[4];

	world_init(&world);
	world.hold_new_pods = true;
	add_node(&world, "n1", "yes", "");
	add_node(&world, "n2", "no", "");
	add_node(&world, "n3", "yes", "'taints':[{'key':'k','effect':'NoSchedule'}]");
	world_create(&world, "apps", "daemonsets", SET, 201);
	world_settle(&world);
	ck_assert_uint_eq(world_list(&world, "", "pods", NULL, NULL, keys, 4), 1);
	ck_assert(bt_str_equal_c(target(&world, keys[0]), "n1"));
	ck_assert_int_eq(number(&world, "status.desiredNumberScheduled"), 1);
	ck_assert_int_eq(number(&world, "status.currentNumberScheduled"), 1);
	/*
	 * A new label makes another node fit; the first node no longer fits, since its label
	 * changed.
	 */
	world_patch(&world, "", "nodes", "n2", BT_SUBRESOURCE_NONE,
		"{'metadata':{'labels':{'disk':'yes'}}}");
	world_patch(&world, "", "nodes", "n1", BT_SUBRESOURCE_NONE,
		"{'metadata':{'labels':{'disk':'no'}}}");
	world_settle(&world);
	ck_assert_uint_eq(world_list(&world, "", "pods", NULL, NULL, keys, 4), 1);
	ck_assert(bt_str_equal_c(target(&world, keys[0]), "n2"));
	world_finish(&world);
}
END_TEST

START_TEST(test_daemon_set__edge_14b_27_cordoned_node_gets_its_pod)
{
	struct world world;
	struct bt_str keys[4];
	const struct bt_json_value *tolerations;
	bool found = false;

	world_init(&world);
	world.hold_new_pods = true;
	add_node(&world, "n1", "yes",
		"'unschedulable':true,'taints':[{'key':'node.kubernetes.io/unschedulable',"
		"'effect':'NoSchedule'}]");
	world_create(&world, "apps", "daemonsets", SET, 201);
	world_settle(&world);
	ck_assert_uint_eq(world_list(&world, "", "pods", NULL, NULL, keys, 4), 1);
	tolerations =
		bt_json_array_at(world_get(&world, "", "pods", keys[0].data), "spec.tolerations");
	for (uint32_t i = 0; i < tolerations->count; i++) {
		found = found ||
			bt_str_equal_c(bt_json_text_at(tolerations->elements[i], "key"),
				"node.kubernetes.io/unschedulable");
	}
	ck_assert(found);
	world_finish(&world);
}
END_TEST

START_TEST(test_daemon_set__deleted_node_takes_its_waiting_pod_along)
{
	struct world world;

	world_init(&world);
	world.hold_new_pods = true;
	add_node(&world, "n1", "yes", "");
	world_create(&world, "apps", "daemonsets", SET, 201);
	world_settle(&world);
	world_delete(&world, "", "nodes", "n1");
	world_settle(&world);
	ck_assert_uint_eq(world_list(&world, "", "pods", NULL, NULL, NULL, 0), 0);
	world_finish(&world);
}
END_TEST

START_TEST(test_daemon_set__more_nodes_than_one_sync_reads)
{
	struct world world;
	struct bt_str keys[300];
	char name[16];

	world_init(&world);
	world.hold_new_pods = true;
	/* Nodes are not created in the order of their names; every tenth node fits. */
	for (uint32_t i = 0; i < 2500; i++) {
		(void)snprintf(name, sizeof(name), "n%u", i * 7 % 2500);
		add_node(&world, name, i % 10 == 0 ? "yes" : "no", "");
	}
	/* Delete some nodes and add them again, before the DaemonSet exists. */
	for (uint32_t i = 0; i < 2500; i++) {
		(void)snprintf(name, sizeof(name), "n%u", i * 7 % 2500);
		if (i >= 2300) {
			world_delete(&world, "", "nodes", name);
			world_settle(&world);
			add_node(&world, name, i % 10 == 0 ? "yes" : "no", "");
		}
	}
	world_create(&world, "apps", "daemonsets", SET, 201);
	world_settle(&world);
	ck_assert_uint_eq(world_list(&world, "", "pods", NULL, NULL, keys, 300), 250);
	ck_assert_int_eq(number(&world, "status.desiredNumberScheduled"), 250);
	/* Deleting a node frees its slot; the next node takes the slot. */
	for (uint32_t i = 0; i < 250; i += 2) {
		struct bt_str node = target(&world, keys[i]);

		(void)snprintf(name, sizeof(name), "%.*s", BT_STR_ARG(node));
		world_delete(&world, "", "nodes", name);
		(void)snprintf(name, sizeof(name), "m%u", i);
		add_node(&world, name, "yes", "");
	}
	world_settle(&world);
	ck_assert_uint_eq(world_list(&world, "", "pods", NULL, NULL, keys, 300), 250);
	for (uint32_t i = 0; i < 250; i++) {
		struct bt_str node = target(&world, keys[i]);

		ck_assert(world_get(&world, "", "nodes", bt_arena_printf(&world.arena, "%.*s",
			BT_STR_ARG(node)).data) != NULL);
		for (uint32_t n = 0; n < i; n++) {
			ck_assert(!bt_str_equal(node, target(&world, keys[n])));
		}
	}
	world_finish(&world);
}
END_TEST

static void check_ready(struct world *world)
{
	ck_assert_int_ge(world_ready_pods(world), world->least);
	ck_assert_int_le(world_active_pods(world), world->most);
}

static void update(struct world *world)
{
	world->check = check_ready;
	world_patch(world, "apps", "daemonsets", KEY, BT_SUBRESOURCE_NONE,
		"{'spec':{'template':{'spec':{'containers':[{'name':'c','image':'i:2'}]}}}}");
	world_settle(world);
	ck_assert_int_eq(number(world, "status.updatedNumberScheduled"), 4);
	ck_assert_int_eq(number(world, "status.numberAvailable"), 4);
	ck_assert_int_eq(
		number(world, "status.observedGeneration"), number(world, "metadata.generation"));
	world_finish(world);
}

static void start_on_four_nodes(struct world *world)
{
	static const char *const names[] = {"n1", "n2", "n3", "n4"};

	world_init(world);
	for (size_t i = 0; i < BT_ARRAY_LENGTH(names); i++) {
		add_node(world, names[i], "yes", "");
	}
	world_create(world, "apps", "daemonsets", SET, 201);
	world_settle(world);
	ck_assert_int_eq(number(world, "status.numberAvailable"), 4);
}

START_TEST(test_daemon_set__updates_one_after_the_other)
{
	struct world world;

	start_on_four_nodes(&world);
	world.least = 3;
	world.most = 4;
	update(&world);
}
END_TEST

START_TEST(test_daemon_set__updates_with_surge)
{
	struct world world;

	start_on_four_nodes(&world);
	world_patch(&world, "apps", "daemonsets", KEY, BT_SUBRESOURCE_NONE,
		"{'spec':{'updateStrategy':{'rollingUpdate':{'maxUnavailable':0,'maxSurge':2}}}}");
	world.least = 4;
	world.most = 6;
	update(&world);
}
END_TEST

START_TEST(test_daemon_set__failed_pod_is_replaced_after_a_while)
{
	struct world world;
	struct bt_str keys[4];
	struct bt_str again[4];

	world_init(&world);
	add_node(&world, "n1", "yes", "");
	world_create(&world, "apps", "daemonsets", SET, 201);
	world_settle(&world);
	ck_assert_uint_eq(world_list(&world, "", "pods", NULL, NULL, keys, 4), 1);
	world_set_pod(&world, keys[0].data, "Failed", false);
	world_settle(&world);
	ck_assert_ptr_nonnull(world_get(&world, "", "pods", keys[0].data));
	world_advance(&world, 10);
	world_settle(&world);
	ck_assert_uint_eq(world_list(&world, "", "pods", NULL, NULL, again, 4), 1);
	ck_assert(!bt_str_equal(keys[0], again[0]));
	world_finish(&world);
}
END_TEST

BT_TEST_MAIN("daemon_set", test_daemon_set__a_pod_for_each_node_that_fits,
	test_daemon_set__edge_14b_27_cordoned_node_gets_its_pod,
	test_daemon_set__deleted_node_takes_its_waiting_pod_along,
	test_daemon_set__more_nodes_than_one_sync_reads,
	test_daemon_set__updates_one_after_the_other, test_daemon_set__updates_with_surge,
	test_daemon_set__failed_pod_is_replaced_after_a_while)
