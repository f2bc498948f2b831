/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Statuses in groups answer like the plain entries that the groups stand for. Random groups,
 * seeded.
 */
#include "base/alloc.h"
#include "base/prng.h"
#include "framework/node_statuses.h"
#include "test_main.h"

#define GROUPS 7
#define SEEDS 100

struct world {
	struct bt_state *state;
	struct bt_arena arena;
	struct bt_status statuses[GROUPS];
	uint32_t sizes[GROUPS];
	uint16_t *group_of;
	struct bt_status_groups groups;
	struct bt_node_statuses grouped;
	struct bt_node_statuses plain;
};

static const enum bt_status_code codes[] = {
	BT_STATUS_UNSCHEDULABLE, BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE, BT_STATUS_PENDING};

/** Returns a status with a few reasons; groups share reasons, and a status may repeat a reason. */
static struct bt_status random_status(struct world *world, struct bt_prng *prng)
{
	static const char *const texts[] = {"b", "a", "a a", "10", "9"};
	struct bt_status status = bt_status_code_only(codes[bt_prng_below(prng, 3)]);

	if (bt_prng_below(prng, 8) == 0) {
		uint8_t code = status.code;

		status = bt_status_error_text(&world->arena, BT_STR("a"));
		status.code = code;
	}
	for (uint64_t i = bt_prng_below(prng, 4); i > 0; i--) {
		bt_status_append_reason(
			&status, &world->arena, bt_str_from(texts[bt_prng_below(prng, 5)]));
	}
	return status;
}

static void add_nodes(struct world *world, struct bt_prng *prng, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		struct bt_node node = {0};

		node.metadata.name = bt_arena_printf(&world->arena, "n%u", i);
		bt_state_add_node(world->state, &node);
	}
	/* Removed nodes make slots and positions differ. */
	for (uint32_t i = 0; i < count; i++) {
		struct bt_node node = {0};

		if (bt_prng_below(prng, 5) == 0) {
			node.metadata.name = bt_arena_printf(&world->arena, "n%u", i);
			ck_assert_int_eq(bt_state_remove_node(world->state, &node, NULL), 0);
		}
	}
	ck_assert_int_eq(bt_state_refresh_snapshot(world->state, NULL), BERTH_OK);
}

/** Makes plain entries and groups from the same random draws. */
static void make_both(struct world *world, struct bt_prng *prng)
{
	const struct bt_snapshot *snapshot = &world->state->snapshot;
	uint32_t group_count = (uint32_t)bt_prng_below(prng, GROUPS) + 1;

	world->group_of = BT_ARENA_NEW_ARRAY(&world->arena, uint16_t, snapshot->count);
	for (uint32_t i = 0; i < GROUPS; i++) {
		world->statuses[i] = random_status(world, prng);
	}
	for (uint32_t i = 0; i < snapshot->count; i++) {
		world->group_of[i] = (uint16_t)bt_prng_below(prng, group_count);
		world->sizes[world->group_of[i]]++;
	}
	world->groups = (struct bt_status_groups){group_count, world->statuses, world->sizes,
		world->group_of,
		snapshot->count != 0 ? (uint32_t)bt_prng_below(prng, snapshot->count) : 0};
	world->grouped.groups = &world->groups;
	world->grouped.absent = random_status(world, prng);
	world->plain.absent = world->grouped.absent;
	for (uint32_t i = 0; i < snapshot->count; i++) {
		uint32_t position = (world->groups.start + i) % snapshot->count;
		struct bt_node_status_entry entry = {bt_snapshot_list(snapshot)[position],
			world->statuses[world->group_of[position]]};

		bt_vec_push(&world->plain.entries, entry);
	}
}

static void init(struct world *world, uint64_t seed)
{
	struct bt_state_options options = {0};
	struct bt_prng prng;

	*world = (struct world){.state = bt_state_create(&options)};
	bt_prng_init(&prng, seed);
	add_nodes(world, &prng, (uint32_t)bt_prng_below(&prng, 60));
	make_both(world, &prng);
}

static void finish(struct world *world)
{
	bt_vec_finish(&world->plain.entries);
	bt_vec_finish(&world->grouped.entries);
	bt_state_destroy(world->state);
	bt_arena_finish(&world->arena);
}

static void expect_same_lists(const struct world *world)
{
	uint32_t room = world->state->snapshot.count + 1;
	uint32_t *expected = BT_NEW_ARRAY(uint32_t, room);
	uint32_t *got = BT_NEW_ARRAY(uint32_t, room);

	for (size_t c = 0; c < BT_ARRAY_LENGTH(codes); c++) {
		uint32_t count = bt_node_statuses_nodes_for_code(
			&world->plain, codes[c], world->state, expected);

		ck_assert_uint_eq(bt_node_statuses_nodes_for_code(
					  &world->grouped, codes[c], world->state, got),
			count);
		ck_assert_mem_eq(got, expected, count * sizeof(*got));
		ck_assert_uint_eq(
			bt_node_statuses_count_for_code(&world->plain, codes[c], world->state),
			count);
		ck_assert_uint_eq(
			bt_node_statuses_count_for_code(&world->grouped, codes[c], world->state),
			count);
	}
	bt_free(expected);
	bt_free(got);
}

static void expect_same_text(const struct world *world)
{
	struct bt_strbuf expected = {0};
	struct bt_strbuf got = {0};

	/* Up to two more nodes than the search had: they count like absent nodes. */
	for (uint32_t more = 0; more < 3; more++) {
		uint32_t count = world->state->snapshot.count + more;

		bt_fit_error_append_reasons(&world->plain, count, &expected);
		bt_fit_error_append_reasons(&world->grouped, count, &got);
	}
	ck_assert_str_eq(bt_strbuf_c(&got), bt_strbuf_c(&expected));
	bt_strbuf_finish(&expected);
	bt_strbuf_finish(&got);
}

static void expect_same_get(const struct world *world, const struct bt_node_statuses *got)
{
	for (uint32_t slot = 0; slot < world->state->nodes.slot_count + 2; slot++) {
		struct bt_status expected = bt_node_statuses_get(&world->plain, world->state, slot);
		struct bt_status status = bt_node_statuses_get(got, world->state, slot);

		ck_assert(bt_status_equal(&status, &expected));
	}
}

static void expect_same_nodes(const struct world *world, const struct bt_node_statuses *got)
{
	ck_assert_uint_eq(bt_node_statuses_count(got), world->plain.entries.count);
	for (uint32_t i = 0; i < world->plain.entries.count; i++) {
		const struct bt_node_status_entry *entry = &world->plain.entries.items[i];
		struct bt_node_status_entry at = bt_node_statuses_at(got, world->state, i);
		struct bt_status status = bt_node_statuses_get(got, world->state, entry->slot);

		ck_assert_uint_eq(at.slot, entry->slot);
		ck_assert(bt_status_equal(&at.status, &entry->status));
		ck_assert(bt_status_equal(&status, &entry->status));
	}
	expect_same_get(world, got);
}

/** Reverses the plain entries: extenders leave statuses in another order than the search. */
static void reverse_entries(struct world *world)
{
	struct bt_node_status_entry *entries = world->plain.entries.items;
	uint32_t count = world->plain.entries.count;

	for (uint32_t i = 0; i < count / 2; i++) {
		struct bt_node_status_entry entry = entries[i];

		entries[i] = entries[count - 1 - i];
		entries[count - 1 - i] = entry;
	}
}

START_TEST(test_node_statuses__groups_answer_as_entries)
{
	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		struct world world;

		init(&world, seed);
		expect_same_lists(&world);
		expect_same_text(&world);
		expect_same_nodes(&world, &world.grouped);
		reverse_entries(&world);
		expect_same_get(&world, &world.grouped);
		finish(&world);
	}
}
END_TEST

BT_TEST_MAIN("node_statuses", test_node_statuses__groups_answer_as_entries)
