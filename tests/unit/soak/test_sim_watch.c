/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Virtual time, and simulated watches that are late, reorder events of different kinds, and break.
 */
#include "api/pod.h"
#include "base/strbuf.h"
#include "soak/watch.h"
#include "sim_objects.h"
#include "test_main.h"

/** --- the clock --- */

struct diary {
	struct bt_sim_clock clock;
	struct bt_strbuf text;
};

static void note_time(void *context, uint64_t argument)
{
	struct diary *diary = context;

	bt_strbuf_printf(&diary->text, "%llu@%lld ", (unsigned long long)argument,
		(long long)diary->clock.now_ns);
	if (argument == 7) {
		bt_sim_clock_after(&diary->clock, 0, note_time, diary, 8);
		bt_sim_clock_after(&diary->clock, 5, note_time, diary, 9);
	}
}

START_TEST(test_sim_clock__order)
{
	struct diary diary = {0};

	bt_sim_clock_init(&diary.clock, 100);
	bt_sim_clock_after(&diary.clock, 20, note_time, &diary, 1);
	bt_sim_clock_after(&diary.clock, 10, note_time, &diary, 2);
	bt_sim_clock_after(&diary.clock, 10, note_time, &diary, 3);
	bt_sim_clock_after(&diary.clock, 0, note_time, &diary, 7);
	while (bt_sim_clock_step(&diary.clock, 115)) {
	}
	ck_assert_str_eq(bt_strbuf_c(&diary.text), "7@100 8@100 9@105 2@110 3@110 ");
	ck_assert_int_eq(diary.clock.now_ns, 115);
	ck_assert(bt_sim_clock_step(&diary.clock, 120));
	ck_assert(!bt_sim_clock_step(&diary.clock, 1000));
	ck_assert_int_eq(diary.clock.now_ns, 1000);
	bt_sim_clock_finish(&diary.clock);
	bt_strbuf_finish(&diary.text);
}
END_TEST

/** --- watch --- */

struct world {
	struct bt_sim_clock clock;
	struct bt_object_store objects;
	uint32_t version;
	struct bt_sim_watch watch;
	struct bt_strbuf told; /* "+Pod/name:version ": + added, ~ changed, - deleted, ? lost */
	uint32_t pods_seen;
	int64_t last_version[BT_KIND__COUNT];
	bool out_of_order;
	bool kinds_swapped;
	int64_t newest;
};

static void observe(void *context, struct bt_object *old_object, struct bt_object *new_object)
{
	struct world *world = context;
	const struct bt_object *object = new_object != NULL ? new_object : old_object;
	int64_t version = 0;

	bt_strbuf_printf(&world->told, "%s%s/%.*s:%.*s ",
		old_object == NULL           ? "+"
			: new_object == NULL ? "-"
					     : "~",
		bt_kind_info(object->kind)->name, BT_STR_ARG(object->meta->name),
		BT_STR_ARG(object->meta->resource_version));
	if (new_object == NULL) {
		return;
	}
	ck_assert(bt_str_parse_int64(object->meta->resource_version, &version));
	world->out_of_order |= version < world->last_version[object->kind];
	world->kinds_swapped |= version < world->newest;
	world->last_version[object->kind] = version;
	world->newest = version > world->newest ? version : world->newest;
	if (old_object != NULL && !bt_str_equal(old_object->meta->uid, new_object->meta->uid)) {
		bt_strbuf_append_c(&world->told, "(uid) ");
	}
}

static void lost(void *context, struct bt_object *last_known)
{
	struct world *world = context;

	bt_strbuf_printf(&world->told, "?%s/%.*s ", bt_kind_info(last_known->kind)->name,
		BT_STR_ARG(last_known->meta->name));
}

static void note(void *context, enum bt_kind kind, const char *what)
{
	struct world *world = context;

	(void)kind;
	bt_strbuf_printf(&world->told, "[%s] ", what);
}

static void world_init(struct world *world, uint64_t seed)
{
	*world = (struct world){0};
	bt_sim_clock_init(&world->clock, 0);
	bt_object_store_init(&world->objects);
	bt_sim_watch_init(&world->watch, &world->clock, &world->objects, seed);
	world->watch.observe = observe;
	world->watch.lost = lost;
	world->watch.note = note;
	world->watch.context = world;
}

static void world_finish(struct world *world)
{
	bt_sim_watch_finish(&world->watch);
	bt_object_store_finish(&world->objects);
	bt_sim_clock_finish(&world->clock);
	bt_strbuf_finish(&world->told);
}

/** Stores the next version of the object; a new object gets the version as its uid. */
static void put(struct world *world, const char *kind, const char *name, const char *phase)
{
	bool is_pod = strcmp(kind, "Pod") == 0;
	struct bt_object *old_object =
		bt_object_store_find_object(&world->objects, is_pod ? BT_KIND_POD : BT_KIND_NODE,
			is_pod ? BT_STR("a") : BT_STR(""), bt_str_from(name));
	struct bt_object *held = old_object != NULL ? bt_object_share(old_object) : NULL;
	char uid[16];

	(void)snprintf(uid, sizeof(uid), "%u", ++world->version);
	struct bt_object *object = sim_object(&world->objects,
		"{'apiVersion':'v1','kind':'%s','metadata':{'name':'%s'%s,'resourceVersion':'%u',"
		"'uid':'%.*s'}%s%s%s}",
		kind, name, is_pod ? ",'namespace':'a'" : "", world->version,
		held != NULL ? (int)held->meta->uid.length : (int)strlen(uid),
		held != NULL ? held->meta->uid.data : uid, is_pod ? ",'status':{'phase':'" : "",
		is_pod ? phase : "", is_pod ? "'}" : "");
	bt_sim_watch_changed(&world->watch, held, object);
	bt_object_release(held);
}

static void create(struct world *world, const char *kind, const char *name)
{
	put(world, kind, name, "Pending");
}

static void set_phase(struct world *world, const char *name, const char *phase)
{
	put(world, "Pod", name, phase);
}

static void delete_pod(struct world *world, const char *name)
{
	struct bt_object *object = bt_object_share(bt_object_store_find_object(
		&world->objects, BT_KIND_POD, BT_STR("a"), bt_str_from(name)));

	world->version++;
	ck_assert(bt_object_store_delete(
		&world->objects, BT_KIND_POD, BT_STR("a"), bt_str_from(name)));
	bt_sim_watch_changed(&world->watch, object, NULL);
	bt_object_release(object);
}

static void settle(struct world *world)
{
	int64_t until_ns = world->clock.now_ns + 1000 * BT_SIM_SECOND;

	while (bt_sim_clock_step(&world->clock, until_ns)) {
	}
	ck_assert(bt_sim_watch_is_quiet(&world->watch));
}

START_TEST(test_sim_watch__delivers_all_events_in_order)
{
	struct world world;

	world_init(&world, 1);
	create(&world, "Pod", "p");
	set_phase(&world, "p", "Pending");
	set_phase(&world, "p", "Running");
	ck_assert(!bt_sim_watch_is_quiet(&world.watch));
	delete_pod(&world, "p");
	create(&world, "Pod", "p");
	settle(&world);
	ck_assert_str_eq(bt_strbuf_c(&world.told), "+Pod/p:1 ~Pod/p:2 ~Pod/p:3 -Pod/p:3 +Pod/p:5 ");
	world_finish(&world);
}
END_TEST

/* Events of one kind stay in order; events of different kinds sometimes do not. */
START_TEST(test_sim_watch__reorders_between_kinds_only)
{
	struct world world;

	world_init(&world, 2);
	world.watch.late_one_in = 3;
	for (int i = 0; i < 200; i++) {
		char name[16];

		(void)snprintf(name, sizeof(name), "o%d", i);
		create(&world, i % 2 == 0 ? "Pod" : "Node", name);
	}
	settle(&world);
	ck_assert(!world.out_of_order);
	ck_assert(world.kinds_swapped);
	ck_assert_uint_eq(bt_object_store_count(&world.watch.mirror, BT_KIND_POD), 100);
	ck_assert_uint_eq(bt_object_store_count(&world.watch.mirror, BT_KIND_NODE), 100);
	world_finish(&world);
}
END_TEST

/*
 * A pod that has ended leaves the selection of the pod watch: the list omits the pod, and the watch
 * sends a deletion.
 */
START_TEST(test_sim_watch__terminal_pods_are_deleted)
{
	struct world world;

	world_init(&world, 3);
	create(&world, "Pod", "p");
	set_phase(&world, "p", "Running");
	set_phase(&world, "p", "Succeeded");
	delete_pod(&world, "p");
	settle(&world);
	ck_assert_str_eq(bt_strbuf_c(&world.told), "+Pod/p:1 ~Pod/p:2 -Pod/p:2 ");
	world_finish(&world);
}
END_TEST

START_TEST(test_sim_watch__broken_stream_shows_the_difference)
{
	struct world world;

	world_init(&world, 4);
	create(&world, "Pod", "kept");
	create(&world, "Pod", "gone");
	create(&world, "Pod", "again");
	create(&world, "Pod", "done");
	settle(&world);
	bt_strbuf_reset(&world.told);
	world.watch.break_one_in = 1;
	set_phase(&world, "kept", "Pending");
	ck_assert_str_eq(bt_strbuf_c(&world.told), "[watch broken] ");
	set_phase(&world, "kept", "Running");
	set_phase(&world, "done", "Failed");
	delete_pod(&world, "gone");
	delete_pod(&world, "again");
	create(&world, "Pod", "again");
	create(&world, "Pod", "new");
	create(&world, "Pod", "short");
	delete_pod(&world, "short");
	settle(&world);
	const char *told = bt_strbuf_c(&world.told);
	const char *updates = "~Pod/again:10 (uid) ~Pod/kept:6 +Pod/new:11 ";
	ck_assert_msg(strstr(told, updates) != NULL, "%s", told);
	ck_assert_msg(strstr(told, "?Pod/done ?Pod/gone ") != NULL, "%s", told);
	ck_assert_msg(strstr(told, "short") == NULL, "%s", told);
	ck_assert_uint_eq(bt_object_store_count(&world.watch.mirror, BT_KIND_POD), 3);
	ck_assert_uint_eq(world.watch.relist_count, 1);
	world_finish(&world);
}
END_TEST

BT_TEST_MAIN("sim_watch", test_sim_clock__order, test_sim_watch__delivers_all_events_in_order,
	test_sim_watch__reorders_between_kinds_only, test_sim_watch__terminal_pods_are_deleted,
	test_sim_watch__broken_stream_shows_the_difference)
