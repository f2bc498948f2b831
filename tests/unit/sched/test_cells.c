/* SPDX-License-Identifier: Apache-2.0 */
/** Compares the tree of cells with a model that looks at every node. */
#include <string.h>

#include "base/alloc.h"
#include "base/cpu.h"
#include "base/prng.h"
#include "sched/cells.h"
#include "sched/select_host.h"
#include "state/places.h"
#include "test_main.h"

enum { POSITIONS_MAX = 300000, KEY_WORDS = 2 };

/* The expected content of the positions. Keys are (kind, ~kind). */
struct model {
	struct bt_prng prng;
	struct bt_cells *cells;
	uint32_t position_count;
	uint32_t kinds;
	uint32_t locals; /* local scores are -1 .. locals - 2 */
	uint32_t kind_of[POSITIONS_MAX];
	int32_t local_of[POSITIONS_MAX];
};

static uint32_t below(struct model *model, uint32_t bound)
{
	return (uint32_t)bt_prng_below(&model->prng, bound);
}

static uint32_t cell_of_kind(struct model *model, uint32_t kind)
{
	const uint64_t key[KEY_WORDS] = {kind, ~(uint64_t)kind};
	return bt_cells_of_key(model->cells, key);
}

static void draw(struct model *model, uint32_t position)
{
	/* As in a cluster, most nodes are of few kinds: some in runs of one kind, some mixed. */
	uint32_t kind = below(model, 3) == 0 ? below(model, model->kinds) : position / 700;
	model->kind_of[position] = kind % model->kinds;
	model->local_of[position] = (int32_t)below(model, model->locals) - 1;
}

static void fill(struct model *model)
{
	for (uint32_t i = 0; i < model->position_count; i++) {
		draw(model, i);
		bt_cells_put(model->cells, i, cell_of_kind(model, model->kind_of[i]),
			model->local_of[i]);
	}
	bt_cells_filled(model->cells);
}

static void move(struct model *model)
{
	uint32_t position = below(model, model->position_count);
	if (below(model, 4) == 0) {
		/* Changes a position with a high score, so that blocks lose their best score. */
		for (uint32_t i = 0; i < 50; i++) {
			uint32_t other = below(model, model->position_count);
			if (model->local_of[other] > model->local_of[position]) {
				position = other;
			}
		}
		model->local_of[position]--;
	} else {
		draw(model, position);
	}
	bt_cells_move(model->cells, position, cell_of_kind(model, model->kind_of[position]),
		model->local_of[position]);
}

static bool position_is_right(const struct model *model, uint32_t position)
{
	uint32_t cell = model->cells->cell_of[position];
	return bt_cells_key(model->cells, cell)[0] == model->kind_of[position] &&
		model->cells->cell_of[position] == cell &&
		model->cells->local_of[position] == model->local_of[position];
}

static void check_cells(struct model *model)
{
	uint32_t *size = BT_NEW_ARRAY(uint32_t, BT_CELLS_MAX);
	int32_t *best = BT_NEW_ARRAY(int32_t, BT_CELLS_MAX);
	for (uint32_t i = 0; i < model->position_count; i++) {
		if (!position_is_right(model, i)) {
			ck_abort_msg("position %u of %u", i, model->position_count);
		}
		uint32_t cell = model->cells->cell_of[i];
		if (size[cell] == 0 || model->local_of[i] > best[cell]) {
			best[cell] = model->local_of[i];
		}
		size[cell]++;
	}
	for (uint32_t i = 0; i < model->cells->cell_count; i++) {
		if (model->cells->cells[i].size != size[i]) {
			ck_abort_msg("cell %u has %u members instead of %u", i,
				model->cells->cells[i].size, size[i]);
		}
		if (size[i] == 0) {
			continue;
		}
		if (model->cells->cells[i].top_best != best[i]) {
			ck_abort_msg("best of cell %u", i);
		}
		uint32_t member = bt_cells_member(model->cells, i);
		if (model->cells->cell_of[member] != i) {
			ck_abort_msg("member of cell %u", i);
		}
	}
	bt_free(size);
	bt_free(best);
	ck_assert(bt_cells_validate(model->cells));
}

/* One query: which cells are feasible, and which of the feasible cells are best. */
struct question {
	struct bt_cells_choice choice;
	uint32_t feasible[BT_CELLS_MAX];
	uint32_t best[BT_CELLS_MAX];
	bool is_feasible[BT_CELLS_MAX];
	bool is_best[BT_CELLS_MAX];
};

static bool draw_question(struct model *model, struct question *question)
{
	*question = (struct question){0};
	uint32_t chance = 1 + below(model, 10); /* out of 10 */
	uint32_t best_chance = 1 + below(model, 10);
	for (uint32_t i = 0; i < model->cells->cell_count; i++) {
		if (model->cells->cells[i].size == 0 || below(model, 10) >= chance) {
			continue;
		}
		question->is_feasible[i] = true;
		question->feasible[question->choice.feasible_count++] = i;
		if (below(model, 10) < best_chance) {
			question->is_best[i] = true;
			question->best[question->choice.best_count++] = i;
		}
	}
	question->choice.feasible = question->feasible;
	question->choice.best = question->best;
	question->choice.start = below(model, model->position_count);
	question->choice.node_count = model->position_count;
	question->choice.empty = BT_CELL_NONE;
	return question->choice.best_count > 0;
}

static bool is_tie(const struct model *model, const struct question *question, uint32_t position)
{
	uint32_t cell = model->cells->cell_of[position];
	return question->is_best[cell] &&
		model->local_of[position] == model->cells->cells[cell].top_best;
}

/*
 * Returns the position that upstream's heap would choose. list: positions in list order; NULL: all
 * positions, ascending.
 */
static uint32_t heap_choice_of_model(
	const struct model *model, const struct question *question, const uint32_t *list)
{
	uint32_t count = question->choice.node_count;
	uint32_t chosen = BT_POSITION_NONE;
	uint32_t chosen_rank = 0;
	uint32_t rank = 0;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t at = (question->choice.start + i) % count;
		uint32_t position = list != NULL ? list[at] : at;
		if (!question->is_feasible[model->cells->cell_of[position]]) {
			continue;
		}
		if (is_tie(model, question, position) &&
			(chosen == BT_POSITION_NONE ||
				bt_heap_order(rank) < bt_heap_order(chosen_rank))) {
			chosen = position;
			chosen_rank = rank;
		}
		rank++;
	}
	return chosen;
}

static uint32_t next_tie_of_model(
	const struct model *model, const struct question *question, uint32_t from)
{
	for (uint32_t i = from; i < model->position_count; i++) {
		if (is_tie(model, question, i)) {
			return i;
		}
	}
	return BT_POSITION_NONE;
}

static void check_question(struct model *model)
{
	struct question question;
	if (!draw_question(model, &question)) {
		return;
	}
	const struct bt_cells_choice *choice = &question.choice;
	ck_assert_uint_eq(bt_cells_choose_by_heap(model->cells, choice),
		heap_choice_of_model(model, &question, NULL));
	uint64_t ties = bt_cells_tie_count(model->cells, choice);
	uint64_t wanted = bt_prng_below(&model->prng, ties);
	uint64_t seen = 0;
	for (uint32_t i = 0; i < model->position_count; i++) {
		if (is_tie(model, &question, i) && seen++ == wanted) {
			ck_assert_uint_eq(bt_cells_nth_tie(model->cells, choice, wanted), i);
		}
	}
	ck_assert_uint_eq(seen, ties);
	for (uint32_t i = 0; i < 3; i++) {
		uint32_t from = below(model, model->position_count + 2);
		ck_assert_uint_eq(bt_cells_next_tie(model->cells, choice, from),
			next_tie_of_model(model, &question, from));
	}
}

static void run_model(struct model *model, uint32_t rounds)
{
	for (uint32_t round = 0; round < rounds; round++) {
		uint32_t moves = below(model, 40);
		for (uint32_t i = 0; i < moves; i++) {
			move(model);
		}
		check_question(model);
		if (round % 16 == 0) {
			check_cells(model);
		}
	}
	check_cells(model);
}

static void run_sizes(uint64_t seed)
{
	static const uint32_t sizes[] = {1, 2, 3, 17, 63, 64, 65, 127, 128, 129, 1000, 4031, 4095,
		4096, 4097, 4160, 5000, 8192, 12345, 20000};
	static const uint32_t kinds[] = {1, 2, 7, 60, 400};
	static const uint32_t locals[] = {1, 2, 10, 2000};
	struct model *model = BT_NEW(struct model);
	bt_prng_init(&model->prng, seed);
	model->cells = bt_cells_create(below(model, 100), 1);
	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(sizes); i++) {
		model->position_count = sizes[i];
		model->kinds = kinds[below(model, BT_ARRAY_LENGTH(kinds))];
		model->locals = locals[below(model, BT_ARRAY_LENGTH(locals))];
		/* Reuses the memory of the last round. */
		bt_cells_reset(model->cells, model->position_count, KEY_WORDS);
		fill(model);
		check_cells(model);
		run_model(model, model->position_count > 10000 ? 20 : 60);
	}
	bt_cells_destroy(model->cells);
	bt_free(model);
}

/* More blocks than a choice can keep sums for. */
START_TEST(test_cells__random_against_model_of_many_positions)
{
	struct model *model = BT_NEW(struct model);
	bt_prng_init(&model->prng, 1);
	model->position_count = POSITIONS_MAX;
	model->kinds = 9;
	model->locals = 300;
	model->cells = bt_cells_create(model->position_count, KEY_WORDS);
	fill(model);
	run_model(model, 150);
	bt_cells_destroy(model->cells);
	bt_free(model);
}
END_TEST

START_TEST(test_cells__random_against_model)
{
	for (uint64_t seed = 1; seed <= 12; seed++) {
		run_sizes(seed);
	}
}
END_TEST

/* Every subset of ties in a small list, from every start, with two kinds of feasibility. */
START_TEST(test_cells__heap_choice_of_every_subset)
{
	struct model *model = BT_NEW(struct model);
	bt_prng_init(&model->prng, 1);
	for (uint32_t subset = 1; subset < UINT32_C(1) << 10; subset++) {
		model->position_count = 10;
		model->cells = bt_cells_create(10, KEY_WORDS);
		for (uint32_t i = 0; i < 10; i++) {
			model->kind_of[i] = i % 3;
			model->local_of[i] = (int32_t)(subset >> i & 1);
			bt_cells_put(
				model->cells, i, cell_of_kind(model, i % 3), model->local_of[i]);
		}
		bt_cells_filled(model->cells);
		struct question question = {.feasible = {0, 2, 1}, .best = {0, 1, 2}};
		question.choice.feasible = question.feasible;
		question.choice.best = question.best;
		question.choice.node_count = 10;
		question.choice.empty = BT_CELL_NONE;
		for (uint32_t start = 0; start < 30; start++) {
			question.choice.start = start / 3;
			question.choice.feasible_count = start % 3 == 0 ? 3 : 2;
			question.choice.best_count = 1;
			question.is_feasible[0] = true;
			question.is_feasible[1] = start % 3 == 0;
			question.is_feasible[2] = true;
			question.is_best[0] = true;
			if (bt_cells_choose_by_heap(model->cells, &question.choice) !=
				heap_choice_of_model(model, &question, NULL)) {
				ck_abort_msg("subset %u, start %u", subset, start);
			}
		}
		bt_cells_destroy(model->cells);
	}
	bt_free(model);
}
END_TEST

/*
 * Nodes are added to zones and removed, and keep their positions. The list of nodes has one node of
 * each zone in turn.
 */

enum { TOWN_NODES = 3000, TOWN_ZONES = 12 };

struct town {
	struct model model;
	struct bt_places places;
	BT_VEC(uint32_t) zones[TOWN_ZONES]; /* slots in order of addition */
	uint32_t zone_count;
	uint32_t next_slot;
	uint32_t list[TOWN_NODES]; /* positions */
	uint32_t count;
	uint32_t empty;
	bool drains; /* only one zone loses nodes */
};

static void write_town_list(struct town *town, bool slots)
{
	town->count = 0;
	for (uint32_t row = 0; row < TOWN_NODES; row++) {
		for (uint32_t zone = 0; zone < town->zone_count; zone++) {
			if (row < town->zones[zone].count) {
				uint32_t slot = town->zones[zone].items[row];
				town->list[town->count++] =
					slots ? slot : town->places.place_of[slot];
			}
		}
	}
}

static void put_town_position(struct town *town, uint32_t position, bool is_new)
{
	struct model *model = &town->model;
	bool has_node = town->places.slot_at[position] != UINT32_MAX;
	draw(model, position);
	if (!has_node) {
		model->kind_of[position] = model->kinds;
		model->local_of[position] = 0;
	}
	uint32_t cell = cell_of_kind(model, model->kind_of[position]);
	town->empty = has_node ? town->empty : cell;
	if (is_new) {
		bt_cells_put(model->cells, position, cell, model->local_of[position]);
	} else {
		bt_cells_move(model->cells, position, cell, model->local_of[position]);
	}
}

/* Assigns all positions anew, in list order. */
static void settle_town(struct town *town)
{
	write_town_list(town, true);
	bt_places_assign(&town->places, town->list, town->count);
	for (uint32_t i = 0; i < town->zone_count; i++) {
		bt_places_add_zone(&town->places, town->zones[i].count);
	}
	write_town_list(town, false);
	town->model.position_count = town->places.count;
	bt_cells_reset(town->model.cells, town->places.count, KEY_WORDS);
	town->empty = BT_CELL_NONE;
	for (uint32_t i = 0; i < town->places.count; i++) {
		put_town_position(town, i, true);
	}
	bt_cells_filled(town->model.cells);
}

static void change_town(struct town *town)
{
	struct model *model = &town->model;
	uint32_t zone = town->drains ? 0 : below(model, town->zone_count);
	bool joins = town->drains ? below(model, 8) == 0 : below(model, 2) == 0;
	if (joins && town->places.used < town->places.count && town->next_slot < TOWN_NODES * 2) {
		uint32_t slot = town->next_slot++;
		bt_vec_push(&town->zones[zone], slot);
		bt_places_append(&town->places, zone, slot);
		put_town_position(town, town->places.place_of[slot], false);
	} else if (!joins && town->zones[zone].count > 1) {
		uint32_t row = below(model, town->zones[zone].count);
		uint32_t place = town->places.place_of[town->zones[zone].items[row]];
		bt_vec_remove_ordered(&town->zones[zone], row);
		bt_places_remove(&town->places, zone, row);
		put_town_position(town, place, false);
	} else {
		put_town_position(town, town->list[below(model, town->count)], false);
	}
	write_town_list(town, false);
}

static void ask_town(struct town *town)
{
	struct model *model = &town->model;
	struct question question;
	uint32_t ask = 0;
	if (!draw_question(model, &question)) {
		return;
	}
	/* Empty positions have no node. */
	for (uint32_t i = 0; i < question.choice.feasible_count; i++) {
		if (question.feasible[i] != town->empty) {
			question.feasible[ask++] = question.feasible[i];
		}
	}
	question.choice.feasible_count = ask;
	ask = 0;
	for (uint32_t i = 0; i < question.choice.best_count; i++) {
		if (question.best[i] != town->empty) {
			question.best[ask++] = question.best[i];
		}
	}
	question.choice.best_count = ask;
	if (town->empty != BT_CELL_NONE) {
		question.is_feasible[town->empty] = false;
		question.is_best[town->empty] = false;
	}
	question.choice.node_count = town->count;
	question.choice.start = below(model, town->count);
	question.choice.empty = town->empty;
	question.choice.places = town->places.in_list_order ? NULL : &town->places;
	if (ask == 0) {
		return;
	}
	ck_assert_uint_eq(bt_cells_choose_by_heap(model->cells, &question.choice),
		heap_choice_of_model(model, &question, town->list));
	uint64_t wanted =
		bt_prng_below(&model->prng, bt_cells_tie_count(model->cells, &question.choice));
	uint32_t chosen = bt_cells_nth_tie(model->cells, &question.choice, wanted);
	for (uint32_t i = 0; i < town->count; i++) {
		if (is_tie(model, &question, town->list[i]) && wanted-- == 0) {
			ck_assert_uint_eq(chosen, town->list[i]);
		}
	}
}

static void check_town_places(struct town *town)
{
	const struct bt_places *places = &town->places;
	uint32_t slots[TOWN_NODES];
	if (places->in_list_order) {
		return;
	}
	bt_places_list(places, slots);
	uint64_t before = BT_POINT_NONE;
	for (uint32_t i = 0; i < town->count; i++) {
		uint64_t point = bt_places_point_at(places, i);
		ck_assert_uint_eq(places->place_of[slots[i]], town->list[i]);
		ck_assert_uint_eq(places->slot_at[town->list[i]], slots[i]);
		ck_assert(bt_places_point_of(places, town->list[i]) == point);
		ck_assert_uint_eq(bt_places_at(places, point), town->list[i]);
		ck_assert(bt_places_previous(places, point) == before);
		ck_assert(i == 0 || bt_places_next(places, before) == point);
		before = point;
	}
	ck_assert(bt_places_next(places, before) == BT_POINT_NONE);
}

START_TEST(test_cells__nodes_come_and_go)
{
	static const uint32_t node_counts[] = {12, 40, 200, 900, 2000};
	struct town *town = BT_NEW(struct town);
	town->model.cells = bt_cells_create(1, KEY_WORDS);
	bt_places_reserve_slots(&town->places, TOWN_NODES * 2);
	for (uint64_t seed = 1; seed <= BT_TEST_SEEDS(60); seed++) {
		struct model *model = &town->model;
		bt_prng_init(&model->prng, seed);
		model->kinds = 1 + below(model, seed % 4 == 0 ? 60 : 5);
		model->locals = 1 + below(model, seed % 3 == 0 ? 200 : 3);
		town->zone_count = 1 + below(model, TOWN_ZONES);
		town->drains = seed % 5 == 0;
		town->next_slot = 0;
		uint32_t nodes = node_counts[seed % BT_ARRAY_LENGTH(node_counts)];
		for (uint32_t i = 0; i < TOWN_ZONES; i++) {
			town->zones[i].count = 0;
		}
		for (uint32_t i = 0; i < nodes; i++) {
			/* Each zone has a node; the first zones have more. */
			uint32_t zone = i < town->zone_count
				? i
				: below(model, 1 + below(model, town->zone_count));
			bt_vec_push(&town->zones[zone], town->next_slot);
			town->next_slot++;
		}
		settle_town(town);
		for (uint32_t round = 0; round < 150; round++) {
			ask_town(town);
			for (uint32_t i = below(model, 6); i > 0; i--) {
				change_town(town);
			}
			if (round % 50 == 49) {
				check_town_places(town);
				check_cells(model);
			}
			if (round == 120 && seed % 2 == 0) {
				settle_town(town);
			}
		}
	}
	for (uint32_t i = 0; i < TOWN_ZONES; i++) {
		bt_vec_finish(&town->zones[i]);
	}
	bt_places_finish(&town->places);
	bt_cells_destroy(town->model.cells);
	bt_free(town);
}
END_TEST

static void put_all(struct bt_cells *cells, uint32_t count, const uint64_t *key)
{
	for (uint32_t i = 0; i < count; i++) {
		bt_cells_put(cells, i, bt_cells_of_key(cells, key), 5);
	}
	bt_cells_filled(cells);
}

START_TEST(test_cells__one_cell_without_a_key)
{
	struct bt_cells *cells = bt_cells_create(100, 0);
	put_all(cells, 100, NULL);
	ck_assert_uint_eq(cells->cell_count, 1);
	ck_assert_uint_eq(cells->cells[0].size, 100);
	bt_cells_move(cells, 70, 0, 6);
	bt_cells_move(cells, 71, 0, -1000);
	static const uint32_t only = 0;
	const struct bt_cells_choice choice = {.feasible = &only,
		.feasible_count = 1,
		.best = &only,
		.best_count = 1,
		.node_count = 100,
		.empty = BT_CELL_NONE};
	ck_assert_int_eq(cells->cells[0].top_best, 6);
	ck_assert_uint_eq(bt_cells_tie_count(cells, &choice), 1);
	ck_assert_uint_eq(bt_cells_choose_by_heap(cells, &choice), 70);
	bt_cells_move(cells, 70, 0, -1000);
	ck_assert_uint_eq(bt_cells_tie_count(cells, &choice), 98);
	ck_assert(bt_cells_validate(cells));
	bt_cells_destroy(cells);
}
END_TEST

START_TEST(test_cells__numbers_run_out_and_come_back)
{
	struct bt_cells *cells = bt_cells_create(BT_CELLS_MAX, 1);
	for (uint64_t i = 0; i < BT_CELLS_MAX; i++) {
		uint32_t cell = bt_cells_of_key(cells, &i);
		ck_assert_uint_eq(cell, i);
		bt_cells_put(cells, (uint32_t)i, cell, 1);
	}
	bt_cells_filled(cells);
	uint64_t key = BT_CELLS_MAX;
	ck_assert_uint_eq(bt_cells_of_key(cells, &key), BT_CELL_NONE);
	/* A cell without nodes is still found by its key. */
	bt_cells_move(cells, 7, 8, 1);
	uint64_t seven = 7;
	ck_assert_uint_eq(bt_cells_of_key(cells, &seven), 7);
	ck_assert_uint_eq(bt_cells_of_key(cells, &key), BT_CELL_NONE);
	/* The key is lost when another key needs the cell's number. */
	bt_cells_move(cells, 7, 7, 1);
	bt_cells_move(cells, 7, 8, 1);
	ck_assert_uint_eq(bt_cells_of_key(cells, &key), 7);
	ck_assert_uint_eq(bt_cells_key(cells, 7)[0], key);
	ck_assert_uint_eq(bt_cells_of_key(cells, &seven), BT_CELL_NONE);
	bt_cells_move(cells, 9, 7, 3);
	ck_assert_int_eq(cells->cells[7].top_best, 3);
	ck_assert_uint_eq(bt_cells_of_key(cells, &seven), 9);
	ck_assert(bt_cells_validate(cells));
	bt_cells_destroy(cells);
}
END_TEST

/*
 * A cell number given to a new key is not given to another key before a node has entered and left
 * the cell.
 */
START_TEST(test_cells__a_new_cell_waits_for_its_node)
{
	struct bt_cells *cells = bt_cells_create(2, 1);
	uint64_t keys[] = {10, 11, 12, 13};
	put_all(cells, 2, &keys[0]);
	uint32_t first = bt_cells_of_key(cells, &keys[1]);
	uint32_t second = bt_cells_of_key(cells, &keys[2]);
	ck_assert_uint_ne(first, second);
	bt_cells_move(cells, 0, first, 1);
	bt_cells_move(cells, 1, first, 1);
	ck_assert_uint_eq(bt_cells_of_key(cells, &keys[0]), 0);
	ck_assert_uint_ne(bt_cells_of_key(cells, &keys[3]), 0);
	bt_cells_move(cells, 0, 0, 1);
	ck_assert_uint_eq(cells->cells[0].size, 1);
	bt_cells_destroy(cells);
}
END_TEST

START_TEST(test_cells__a_million_positions)
{
	enum { COUNT = 1000000 };
	struct model *model = BT_NEW(struct model);
	struct bt_prng prng;
	bt_prng_init(&prng, 3);
	model->cells = bt_cells_create(COUNT, KEY_WORDS);
	for (uint32_t i = 0; i < COUNT; i++) {
		bt_cells_put(model->cells, i, cell_of_kind(model, i % 3), 50);
	}
	bt_cells_filled(model->cells);
	static const uint32_t feasible[] = {2, 0};
	static const uint32_t best = 2;
	const struct bt_cells_choice choice = {.feasible = feasible,
		.feasible_count = 2,
		.best = &best,
		.best_count = 1,
		.start = 999999,
		.node_count = COUNT,
		.empty = BT_CELL_NONE};
	/*
	 * Ranks 0 and 1 belong to cell 0; from rank 2 on, the even ranks are ties. The ranks on the
	 * leftmost path of the heap are odd below the root. So the first tie in pre-order is a
	 * right child in the last depth: rank 2^19.
	 */
	ck_assert_uint_eq(bt_cells_choose_by_heap(model->cells, &choice), 3 * (1 << 18) - 1);
	for (uint32_t i = 2; i < COUNT; i += 3) {
		if (i != 777776) {
			bt_cells_move(model->cells, i, 2, 49);
		}
	}
	ck_assert_uint_eq(bt_cells_tie_count(model->cells, &choice), 1);
	ck_assert_uint_eq(bt_cells_choose_by_heap(model->cells, &choice), 777776);
	ck_assert_uint_eq(bt_cells_next_tie(model->cells, &choice, 1), 777776);
	ck_assert_uint_eq(bt_cells_next_tie(model->cells, &choice, 777777), BT_POSITION_NONE);
	for (uint32_t i = 0; i < 100000; i++) {
		bt_cells_move(model->cells, (uint32_t)bt_prng_below(&prng, COUNT),
			(uint32_t)bt_prng_below(&prng, 3), (int32_t)bt_prng_below(&prng, 100));
	}
	ck_assert(bt_cells_validate(model->cells));
	bt_cells_destroy(model->cells);
	bt_free(model);
}
END_TEST

#ifdef BT_HAVE_AVX2_KERNELS
struct block {
	uint16_t cell_of[BT_CELLS_BLOCK];
	int32_t local_of[BT_CELLS_BLOCK];
	int32_t best[BT_CELLS_BLOCK];
	uint32_t ties[BT_CELLS_BLOCK];
	uint32_t sums[BT_CELLS_BLOCK];
};

static struct block draw_block(struct bt_prng *prng)
{
	struct block block;
	uint64_t values = 1 + bt_prng_below(prng, 8);
	for (uint32_t i = 0; i < BT_CELLS_BLOCK; i++) {
		block.cell_of[i] = bt_prng_below(prng, 9) == 0
			? BT_CELLS_UNPUT
			: (uint16_t)bt_prng_below(prng, values);
		block.local_of[i] = (int32_t)bt_prng_below(prng, values) - 4;
		block.best[i] = bt_prng_below(prng, 5) == 0 ? BT_CELLS_NO_SCORE : block.local_of[i];
		block.ties[i] = (uint32_t)bt_prng_below(prng, 5000);
		block.sums[i] = (uint32_t)bt_prng_next(prng);
	}
	return block;
}

static bool same_answers(const struct bt_cells_kernels *a, const struct bt_cells_kernels *b,
	const struct block *block, uint16_t cell, int32_t local)
{
	uint32_t sums_a[BT_CELLS_BLOCK];
	uint32_t sums_b[BT_CELLS_BLOCK];
	memcpy(sums_a, block->sums, sizeof(sums_a));
	memcpy(sums_b, block->sums, sizeof(sums_b));
	a->add(sums_a, block->ties);
	b->add(sums_b, block->ties);
	a->add_ties(sums_a, block->best, block->ties, local);
	b->add_ties(sums_b, block->best, block->ties, local);
	return memcmp(sums_a, sums_b, sizeof(sums_a)) == 0 &&
		a->members_of(block->cell_of, cell) == b->members_of(block->cell_of, cell) &&
		a->ties_of(block->cell_of, block->local_of, cell, local) ==
		b->ties_of(block->cell_of, block->local_of, cell, local) &&
		a->best_of(block->cell_of, block->local_of, cell) ==
		b->best_of(block->cell_of, block->local_of, cell) &&
		a->max_of(block->best) == b->max_of(block->best) &&
		a->sum_ties(block->best, block->ties, local) ==
		b->sum_ties(block->best, block->ties, local) &&
		a->count_up_to(block->sums, block->sums[cell]) ==
		b->count_up_to(block->sums, block->sums[cell]);
}
#endif

START_TEST(test_cells__kernels_agree)
{
#ifdef BT_HAVE_AVX2_KERNELS
	struct bt_prng prng;
	bt_prng_init(&prng, 5);
	for (uint32_t round = 0; bt_cpu_has_avx2() && round < 20000; round++) {
		struct block block = draw_block(&prng);
		if (!same_answers(&bt_cells_kernels_plain, &bt_cells_kernels_avx2, &block,
			    (uint16_t)bt_prng_below(&prng, 9),
			    (int32_t)bt_prng_below(&prng, 9) - 4)) {
			ck_abort_msg("round %u", round);
		}
	}
#endif
}
END_TEST

BT_TEST_MAIN("cells", test_cells__random_against_model, test_cells__nodes_come_and_go,
	test_cells__random_against_model_of_many_positions, test_cells__heap_choice_of_every_subset,
	test_cells__one_cell_without_a_key, test_cells__numbers_run_out_and_come_back,
	test_cells__a_new_cell_waits_for_its_node, test_cells__a_million_positions,
	test_cells__kernels_agree)
