/* SPDX-License-Identifier: Apache-2.0 */
/** Virtual time, the store, and watches that are late, reorder between kinds, and break. */
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

/** --- store and watch --- */

struct world {
	struct bt_sim_clock clock;
	struct bt_sim_store store;
	struct bt_sim_watch watch;
	struct bt_strbuf told; /* "+Pod/name:version " and so on */
	uint32_t pods_seen;
	int64_t last_version[BT_KIND__COUNT];
	bool out_of_order;
	bool kinds_swapped;
	int64_t newest;
};

static void store_changed(void *context, struct bt_object *old_object, struct bt_object *new_object)
{
	struct world *world = context;

	bt_sim_watch_changed(&world->watch, old_object, new_object);
}

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
	bt_sim_store_init(&world->store);
	bt_sim_watch_init(&world->watch, &world->clock, &world->store, seed);
	world->store.changed = store_changed;
	world->store.context = world;
	world->watch.observe = observe;
	world->watch.lost = lost;
	world->watch.note = note;
	world->watch.context = world;
}

static void world_finish(struct world *world)
{
	bt_sim_watch_finish(&world->watch);
	bt_sim_store_finish(&world->store);
	bt_sim_clock_finish(&world->clock);
	bt_strbuf_finish(&world->told);
}

static void create(struct world *world, const char *kind, const char *name)
{
	struct bt_strbuf json = {0};

	bt_strbuf_printf(&json,
		"{\"apiVersion\":\"v1\",\"kind\":\"%s\",\"metadata\":{\"name\":\"%s\"%s}}", kind,
		name, strcmp(kind, "Pod") == 0 ? ",\"namespace\":\"a\"" : "");
	(void)bt_sim_store_create(&world->store, bt_strbuf_str(&json));
	bt_strbuf_finish(&json);
}

static void set_phase(struct world *world, const char *name, const char *phase)
{
	struct bt_pod pod = *(const struct bt_pod *)bt_sim_store_find(
		&world->store, BT_KIND_POD, BT_STR("a"), bt_str_from(name))
				     ->value;

	pod.status.phase = bt_str_from(phase);
	(void)bt_sim_store_replace(&world->store, BT_KIND_POD, &pod);
}

static void settle(struct world *world)
{
	int64_t until_ns = world->clock.now_ns + 1000 * BT_SIM_SECOND;

	while (bt_sim_clock_step(&world->clock, until_ns)) {
	}
	ck_assert(bt_sim_watch_is_quiet(&world->watch));
}

START_TEST(test_sim_watch__tells_everything_in_order)
{
	struct world world;

	world_init(&world, 1);
	create(&world, "Pod", "p");
	set_phase(&world, "p", "Pending");
	set_phase(&world, "p", "Running");
	ck_assert(!bt_sim_watch_is_quiet(&world.watch));
	ck_assert(bt_sim_store_delete(&world.store, BT_KIND_POD, BT_STR("a"), BT_STR("p")));
	ck_assert(!bt_sim_store_delete(&world.store, BT_KIND_POD, BT_STR("a"), BT_STR("p")));
	create(&world, "Pod", "p");
	settle(&world);
	ck_assert_str_eq(bt_strbuf_c(&world.told), "+Pod/p:1 ~Pod/p:2 ~Pod/p:3 -Pod/p:3 +Pod/p:5 ");
	world_finish(&world);
}
END_TEST

/* Within a kind in order; between kinds sooner or later not. */
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

/* What ends is outside of the selection of pods: the list and the watch agree on that. */
START_TEST(test_sim_watch__terminal_pods_are_gone)
{
	struct world world;

	world_init(&world, 3);
	create(&world, "Pod", "p");
	set_phase(&world, "p", "Running");
	set_phase(&world, "p", "Succeeded");
	ck_assert(bt_sim_store_delete(&world.store, BT_KIND_POD, BT_STR("a"), BT_STR("p")));
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
	ck_assert(bt_sim_store_delete(&world.store, BT_KIND_POD, BT_STR("a"), BT_STR("gone")));
	ck_assert(bt_sim_store_delete(&world.store, BT_KIND_POD, BT_STR("a"), BT_STR("again")));
	create(&world, "Pod", "again");
	create(&world, "Pod", "new");
	create(&world, "Pod", "short");
	ck_assert(bt_sim_store_delete(&world.store, BT_KIND_POD, BT_STR("a"), BT_STR("short")));
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

START_TEST(test_sim_store__versions_and_uids)
{
	struct world world;
	struct bt_prng prng;

	world_init(&world, 5);
	bt_prng_init(&prng, 1);
	ck_assert_ptr_null(bt_sim_store_pick(&world.store, BT_KIND_POD, &prng));
	create(&world, "Pod", "p");
	struct bt_object *pod = bt_sim_store_pick(&world.store, BT_KIND_POD, &prng);
	uint64_t uid = bt_sim_uid_of(pod);
	ck_assert_ptr_eq(bt_sim_store_by_uid(&world.store, uid), pod);
	ck_assert(bt_sim_store_delete(&world.store, BT_KIND_POD, BT_STR("a"), BT_STR("p")));
	ck_assert_ptr_null(bt_sim_store_by_uid(&world.store, uid));
	create(&world, "Pod", "p");
	ck_assert_ptr_null(bt_sim_store_by_uid(&world.store, uid));
	ck_assert_ptr_nonnull(bt_sim_store_by_uid(&world.store, uid + 1));
	ck_assert_ptr_null(bt_sim_store_by_uid(&world.store, UINT64_MAX));
	settle(&world);
	world_finish(&world);
}
END_TEST

BT_TEST_MAIN("sim_watch", test_sim_clock__order, test_sim_watch__tells_everything_in_order,
	test_sim_watch__reorders_between_kinds_only, test_sim_watch__terminal_pods_are_gone,
	test_sim_watch__broken_stream_shows_the_difference, test_sim_store__versions_and_uids)
