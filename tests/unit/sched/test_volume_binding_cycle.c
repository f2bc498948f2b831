/* SPDX-License-Identifier: Apache-2.0 */
/** Results of a cycle for various results of the volume binder: spec 07 section 16.3. */
#include "fake_volume_binder.h"
#include "framework/framework.h"
#include "sched_world.h"
#include "test_main.h"

#define FIND_TEXT "0/1 nodes are available: "
#define NODE_REASON "1 node(s) didn't match PersistentVolume's node affinity"
#define BIND_REASON "1 node(s) didn't find available persistent volumes to bind"

static void put_object(struct world *world, const char *json)
{
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_object *object = NULL;
	int code = bt_object_decode(world_json(&world->arena, json), &object, &err);

	ck_assert_msg(code == 0, "%s: %s", json, berth_error_message(&err));
	bt_object_store_put(&world->engine->state->objects, object);
}

struct cycle_row {
	const char *row;
	struct fake_volume_binder config;
	const char *node;    /* "": the pod gets no node */
	const char *message; /* beginning of the message */
	bool assume_called;
	bool bind_called;
};

static void check_row(const struct cycle_row *row)
{
	struct bt_engine_options options = BT_ENGINE_OPTIONS_INIT;
	struct fake_volume_binder *fake = fake_volume_binder_create(&row->config);
	const struct bt_pod_info *pod;
	struct bt_schedule_result result = {0};
	struct world world;
	bool placed = false;

	world_init(&world, "{}", &options, NULL, 0);
	bt_volume_binding_set_binder(
		bt_framework_find_plugin(world.framework, BT_STR("VolumeBinding")), &fake->base);
	world_add_node(&world,
		"{'metadata':{'name':'node1'},'status':{'allocatable':{'cpu':'1','memory':'1Gi',"
		"'pods':'9'}}}");
	put_object(&world,
		"{'apiVersion':'v1','kind':'PersistentVolumeClaim','metadata':{'name':'c',"
		"'namespace':'default'},'spec':{'volumeName':'pv'}}");
	put_object(&world,
		"{'apiVersion':'v1','kind':'PersistentVolume','metadata':{'name':'pv'},'spec':{}}");
	pod = world_pending(&world,
		"{'spec':{'volumes':[{'name':'v','persistentVolumeClaim':{'claimName':'c'}}]}}");
	bt_engine_schedule(world.engine, world.framework, pod, NULL, &result);
	if (result.outcome == BT_OUTCOME_SCHEDULED) {
		placed = bt_engine_place(world.engine, pod, &result);
	}
	ck_assert_msg(placed == (row->node[0] != '\0'), "%s", row->row);
	if (placed) {
		ck_assert_str_eq(world_chosen(&world, &result), row->node);
	} else {
		ck_assert_msg(bt_str_has_prefix(bt_str_from(world_message(&world, &result)),
				      bt_str_from(row->message)),
			"%s: %s", row->row, world_message(&world, &result));
	}
	ck_assert_msg(
		fake->assume_called == row->assume_called && fake->bind_called == row->bind_called,
		"%s: assume %d, bind %d", row->row, fake->assume_called, fake->bind_called);
	world_finish(&world);
}

START_TEST(test_volume_binding__fake_binder_in_a_cycle)
{
	static const struct cycle_row rows[] = {
		{"all bound", {.all_bound = true}, "node1", "", true, false},
		{"node conflict", {.find_conflicts = BT_VOLUME_CONFLICT_NODE}, "",
			FIND_TEXT NODE_REASON ".", false, false},
		{"node conflict, all bound",
			{.all_bound = true, .find_conflicts = BT_VOLUME_CONFLICT_NODE}, "",
			FIND_TEXT NODE_REASON ".", false, false},
		{"two reasons, sorted",
			{.find_conflicts = BT_VOLUME_CONFLICT_BIND | BT_VOLUME_CONFLICT_NODE}, "",
			FIND_TEXT BIND_REASON ", " NODE_REASON ".", false, false},
		{"to be bound", {.all_bound = false}, "node1", "", true, true},
		{"find fails", {.find_error = "find err"}, "",
			"running \"VolumeBinding\" filter plugin: find err", false, false},
		{"assume fails", {.assume_error = "assume err"}, "",
			"running Reserve plugin \"VolumeBinding\": assume err", true, false},
		{"bind fails", {.bind_error = "bind err"}, "",
			"running PreBind plugin \"VolumeBinding\": bind err", true, true},
	};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		check_row(&rows[i]);
	}
}
END_TEST

BT_TEST_MAIN("volume_binding_cycle", test_volume_binding__fake_binder_in_a_cycle)
