/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "sched/plan_private.h"

/** Moving a node to another cell costs about as much as a column pass over this many nodes. */
#define NODES_PER_MOVE 64
/** Filling the cells costs about as much as moving one node in this many. */
#define NODES_PER_FILLED_MOVE 4
/** The weight of one cycle in the mean distance between cycles is 1 / MEAN_CYCLES. */
#define MEAN_CYCLES 4
/** One cycle counts for at most this multiple of the mean up to which cells pay. */
#define DISTANCE_MAX 4
/** Filling the cells pays if they serve at least this many cycles. */
#define SERVED_MIN 8
#define PAUSE_MAX 64
/** Layout of a key: the verdict, then the raw scores, then the traits. */
#define KEY_VERDICT 0
#define KEY_RAWS 1
#define KEY_WORDS_MAX (1 + BT_CELL_TRAITS_MAX + BT_PLUGINS_MAX)

static uint64_t trait_value(const struct bt_node_trait *trait, uint32_t slot)
{
	return trait->values != NULL ? trait->values[slot] : trait->value(trait->context, slot);
}

/**
 * Index of the first filter that runs in every cycle. If an earlier filter rejects a node, its
 * verdict is final.
 */
static uint32_t first_cycle_filter(const struct bt_plan *plan)
{
	uint32_t i = 0;
	while (i < plan->filter_count && plan->filters[i].form != BT_FILTER_CYCLE_COLUMN &&
		plan->filters[i].form != BT_FILTER_CELLS) {
		i++;
	}
	return i;
}

/** Input for the keys of one cycle. */
struct key_maker {
	const struct bt_plan *plan;
	const struct bt_node_trait *traits;
	uint32_t trait_count;
	uint32_t raw_count;
	uint32_t first_cycle_filter;
};

static struct key_maker key_maker_of(const struct bt_plan *plan, const struct bt_node_trait *traits)
{
	return (struct key_maker){
		.plan = plan,
		.traits = traits,
		.trait_count = plan->cells->trait_count,
		.raw_count = plan->cells->raw_count,
		.first_cycle_filter = first_cycle_filter(plan),
	};
}

/** slot BT_SLOT_NONE: a place without a node. */
static void make_key(const struct key_maker *maker, uint32_t slot, uint64_t *key)
{
	if (slot == BT_SLOT_NONE) {
		memset(key, 0, (KEY_RAWS + maker->raw_count + maker->trait_count) * sizeof(*key));
		key[KEY_VERDICT] = BT_VERDICT_OUTSIDE;
		return;
	}
	uint32_t verdict = maker->plan->verdict[slot];
	uint64_t *traits = &key[KEY_RAWS + maker->raw_count];
	key[KEY_VERDICT] = verdict;
	for (uint32_t i = 0; i < maker->raw_count; i++) {
		const struct bt_plan_raw *raw = &maker->plan->raws[i];
		key[KEY_RAWS + i] = verdict == 0 ? (uint32_t)bt_plan_raw_at(raw, slot) : 0;
	}
	bool decided = verdict == BT_VERDICT_TAKEN_OUT ||
		(verdict != 0 &&
			(verdict >> BT_VERDICT_DETAIL_BITS) - 1 < maker->first_cycle_filter);
	for (uint32_t i = 0; i < maker->trait_count; i++) {
		traits[i] = decided ? 0 : trait_value(&maker->traits[i], slot);
	}
}

static int32_t local_of(const struct bt_plan *plan, uint32_t slot)
{
	return slot != BT_SLOT_NONE && plan->scored && plan->verdict[slot] == 0 ? plan->local[slot]
										: 0;
}

/** Decide without cells for `pause` cycles, because cells did not pay. */
static void pause_cells(struct bt_plan_cells *cells, uint32_t pause)
{
	cells->filled = false;
	cells->pause = pause;
	cells->backoff = pause;
}

static bool fill(struct bt_plan *plan, const struct bt_snapshot *snapshot,
	const struct bt_node_trait *traits, uint32_t trait_count)
{
	struct bt_plan_cells *cells = plan->cells;
	uint64_t key[KEY_WORDS_MAX];
	cells->raw_count = plan->scored ? plan->raw_count : 0;
	cells->trait_count = trait_count;
	cells->identities = bt_realloc_array(
		cells->identities, (size_t)trait_count + 1, sizeof(*cells->identities));
	for (uint32_t i = 0; i < trait_count; i++) {
		memcpy(cells->identities[i], traits[i].identity, sizeof(cells->identities[i]));
	}
	struct key_maker maker = key_maker_of(plan, traits);
	uint32_t key_words = KEY_RAWS + cells->raw_count + trait_count;
	if (cells->tree == NULL) {
		cells->tree = bt_cells_create(snapshot->places.count, key_words);
	} else {
		bt_cells_reset(cells->tree, snapshot->places.count, key_words);
	}
	for (uint32_t place = 0; place < snapshot->places.count; place++) {
		uint32_t slot = snapshot->places.slot_at[place];
		make_key(&maker, slot, key);
		uint32_t cell = bt_cells_of_key(cells->tree, key);
		if (cell == BT_CELL_NONE) {
			pause_cells(cells, PAUSE_MAX);
			return false;
		}
		bt_cells_put(cells->tree, place, cell, local_of(plan, slot));
	}
	bt_cells_filled(cells->tree);
	cells->columns_version = plan->columns_version;
	cells->places_version = snapshot->places.version;
	cells->left_seen = snapshot->places.left.count;
	cells->filled = true;
	cells->served = 0;
	return true;
}

/** Move a place to the cell of its key. slot: the place's node, or BT_SLOT_NONE. */
static bool move_place(
	struct bt_plan *plan, const struct key_maker *maker, uint32_t place, uint32_t slot)
{
	struct bt_cells *tree = plan->cells->tree;
	uint64_t key[KEY_WORDS_MAX];
	make_key(maker, slot, key);
	uint32_t cell = bt_cells_of_key(tree, key);
	if (cell == BT_CELL_NONE) {
		pause_cells(plan->cells, PAUSE_MAX);
		return false;
	}
	bt_cells_move(tree, place, cell, local_of(plan, slot));
	return true;
}

static bool catch_up(
	struct bt_plan *plan, const struct bt_engine *engine, const struct bt_node_trait *traits)
{
	const struct bt_state *state = engine->state;
	const struct bt_places *places = &state->snapshot.places;
	struct key_maker maker = key_maker_of(plan, traits);
	uint32_t kinds = plan->reads | BT_CHANGE_EXISTENCE;
	for (; plan->cells->left_seen < places->left.count; plan->cells->left_seen++) {
		if (!move_place(plan, &maker, places->left.items[plan->cells->left_seen],
			    BT_SLOT_NONE)) {
			return false;
		}
	}
	for (uint32_t i = 0; i < maker.trait_count; i++) {
		kinds |= traits[i].reads;
	}
	uint32_t count =
		bt_plan_changed_slots(engine->plans, &state->log, plan->cells->log_sequence, kinds);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t slot = engine->plans->changed[i];
		if (state->nodes.rows[slot].in_snapshot &&
			!move_place(plan, &maker, places->place_of[slot], slot)) {
			return false;
		}
	}
	return true;
}

static bool has_traits(
	const struct bt_plan_cells *cells, const struct bt_node_trait *traits, uint32_t trait_count)
{
	bool same = cells->tree != NULL && cells->trait_count == trait_count;
	for (uint32_t i = 0; same && i < trait_count; i++) {
		same = memcmp(cells->identities[i], traits[i].identity,
			       sizeof(cells->identities[i])) == 0;
	}
	return same;
}

/** Choose the tree of these traits, or else the one that was not used for longest. */
static void choose_tree(
	struct bt_plan *plan, const struct bt_node_trait *traits, uint32_t trait_count)
{
	plan->cells = &plan->trees[0];
	for (uint32_t i = 0; i < BT_PLAN_TREES; i++) {
		struct bt_plan_cells *cells = &plan->trees[i];
		if (has_traits(cells, traits, trait_count)) {
			plan->cells = cells;
			break;
		}
		plan->cells = cells->last_used < plan->cells->last_used ? cells : plan->cells;
	}
	plan->cells->last_used = ++plan->tree_uses;
}

/** Whether to fill the cells now. Cells that were filled before are stale. */
static bool should_fill(struct bt_plan_cells *cells)
{
	if (cells->filled) {
		bool short_lived = cells->served < SERVED_MIN;
		uint32_t longer = 2 * cells->backoff + 1;
		pause_cells(cells, !short_lived ? 0 : longer < PAUSE_MAX ? longer : PAUSE_MAX);
	}
	if (cells->pause != 0) {
		cells->pause--;
		return false;
	}
	return true;
}

struct bt_cells *bt_plan_cells_get(struct bt_plan *plan, const struct bt_engine *engine,
	const struct bt_node_trait *traits, uint32_t trait_count)
{
	const struct bt_state *state = engine->state;
	uint64_t moves_max = state->snapshot.count / NODES_PER_MOVE + 16;
	uint64_t distance_max = DISTANCE_MAX * moves_max;
	uint64_t distance = plan->behind < distance_max ? plan->behind : distance_max;
	uint64_t mean = plan->mean_behind < distance_max ? plan->mean_behind : distance_max;
	plan->mean_behind = ((MEAN_CYCLES - 1) * mean + distance) / MEAN_CYCLES;
	/* The cells catch up with each change once, so the mean distance decides whether they pay,
	 * not the distance of this cycle. */
	if (!plan->recurring || plan->mean_behind > moves_max || trait_count > BT_CELL_TRAITS_MAX) {
		return NULL;
	}
	choose_tree(plan, traits, trait_count);
	struct bt_plan_cells *cells = plan->cells;
	bool current = cells->filled && has_traits(cells, traits, trait_count) &&
		cells->columns_version == plan->columns_version &&
		cells->places_version == state->snapshot.places.version &&
		cells->raw_count == (plan->scored ? plan->raw_count : 0) &&
		state->log.sequence - cells->log_sequence <=
			state->snapshot.count / NODES_PER_FILLED_MOVE + 16 &&
		bt_change_log_covers(&state->log, cells->log_sequence);
	if (!current && plan->behind > moves_max) {
		return NULL;
	}
	if (current) {
		current = catch_up(plan, engine, traits);
	} else if (should_fill(cells)) {
		current = fill(plan, &state->snapshot, traits, trait_count);
	}
	if (!current) {
		return NULL;
	}
	cells->log_sequence = state->log.sequence;
	cells->served++;
	return cells->tree;
}

bool bt_plan_cells_update(struct bt_plan *plan, const struct bt_engine *engine,
	const struct bt_node_trait *traits, uint32_t slot)
{
	struct key_maker maker = key_maker_of(plan, traits);
	uint32_t place = engine->state->snapshot.places.place_of[slot];
	return plan->cells->filled && move_place(plan, &maker, place, slot);
}

uint32_t bt_plan_cells_verdict(const struct bt_cells *cells, uint32_t cell)
{
	return (uint32_t)bt_cells_key(cells, cell)[KEY_VERDICT];
}

void bt_plan_cells_check(const struct bt_plan *plan, const struct bt_engine *engine,
	const struct bt_node_trait *traits)
{
	const struct bt_places *places = &engine->state->snapshot.places;
	const struct bt_cells *tree = plan->cells->tree;
	struct key_maker maker = key_maker_of(plan, traits);
	uint64_t key[KEY_WORDS_MAX];
	size_t key_bytes =
		(KEY_RAWS + plan->cells->raw_count + plan->cells->trait_count) * sizeof(key[0]);
	for (uint32_t place = 0; place < places->count; place++) {
		uint32_t slot = places->slot_at[place];
		uint32_t cell = bt_cells_cell_of(tree, place);
		make_key(&maker, slot, key);
		if (memcmp(key, bt_cells_key(tree, cell), key_bytes) != 0 ||
			bt_cells_local_of(tree, place) != local_of(plan, slot)) {
			struct bt_str name = slot == BT_SLOT_NONE
				? BT_STR("(none)")
				: bt_node_table_name(&engine->state->nodes, slot);
			bt_panic("verify: node %.*s is in another cell than its columns say",
				BT_STR_ARG(name));
		}
	}
	if (!bt_cells_validate(tree)) {
		bt_panic("verify: the tree of cells differs from one made anew");
	}
}

void bt_plan_cells_drop(struct bt_plan *plan)
{
	for (uint32_t i = 0; i < BT_PLAN_TREES; i++) {
		bt_cells_destroy(plan->trees[i].tree);
		bt_free(plan->trees[i].identities);
		plan->trees[i].tree = NULL;
		plan->trees[i].identities = NULL;
		plan->trees[i].filled = false;
	}
}

size_t bt_plan_cells_bytes(const struct bt_plan *plan)
{
	size_t bytes = 0;
	for (uint32_t i = 0; i < BT_PLAN_TREES; i++) {
		const struct bt_cells *tree = plan->trees[i].tree;
		bytes += tree != NULL ? bt_cells_memory_bytes(tree) : 0;
	}
	return bytes;
}
