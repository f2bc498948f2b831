/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "sched/plan_private.h"
#include "state/domain_counter.h"

/** Moving a node to another cell costs about as much as a column pass over this many nodes. */
#define NODES_PER_MOVE 64
/**
 * Filling the cells costs about as much as moving a share of 1/NODES_PER_FILLED_MOVE of the nodes.
 */
#define NODES_PER_FILLED_MOVE 4
/**
 * The distance of a cycle is the number of changes since the shape's previous cycle. The newest
 * cycle has the weight 1 / MEAN_CYCLES in the mean distance.
 */
#define MEAN_CYCLES 4
/**
 * The distance of a single cycle is capped at this many times the longest mean distance at which
 * cells pay, so that one long pause does not discard the cells.
 */
#define DISTANCE_MAX 4
/**
 * Cells that become stale before they have served SERVED_MIN cycles do not pay: the next fill is
 * delayed by a pause. Each pause in a row is longer than the previous pause, up to PAUSE_MAX
 * cycles.
 */
#define SERVED_MIN 8
#define PAUSE_MAX 64
/**
 * If the counts of traits change, the counted slots are moved. This costs less than a pass over the
 * columns while there is at most one counted slot in this many nodes.
 */
#define NODES_PER_COUNTED 16
/** Layout of a key: the verdict, then the raw scores, then the traits. */
#define KEY_VERDICT 0
#define KEY_RAWS 1
#define KEY_WORDS_MAX (1 + BT_CELL_TRAITS_MAX + BT_PLUGINS_MAX)

/** Number of slots by which catch_up prefetches columns ahead. */
#define SLOTS_AHEAD 16

/** Input for the keys of one cycle. */
struct key_maker {
	const struct bt_plan *plan;
	const struct bt_node_trait *traits;
	uint32_t trait_count;
	uint32_t raw_count;
	/**
	 * Index of the first filter that runs in every cycle. If a filter before that index rejects
	 * a node, the verdict is final.
	 */
	uint32_t first_cycle_filter;
};

static struct key_maker key_maker_of(const struct bt_plan *plan, const struct bt_node_trait *traits)
{
	uint32_t first = 0;
	while (first < plan->filter_count && plan->filters[first].form != BT_FILTER_CYCLE_COLUMN &&
		plan->filters[first].form != BT_FILTER_CELLS) {
		first++;
	}
	return (struct key_maker){
		.plan = plan,
		.traits = traits,
		.trait_count = plan->cells->trait_count,
		.raw_count = plan->cells->raw_count,
		.first_cycle_filter = first,
	};
}

/**
 * Write the key of a slot's cell. slot BT_SLOT_NONE: write the key of the cell of places without a
 * node.
 */
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
		const struct bt_node_trait *trait = &maker->traits[i];
		traits[i] = decided             ? 0
			: trait->values != NULL ? trait->values[slot]
						: trait->value(trait->context, slot);
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

/** Maximum length of the list of counted slots. */
static uint32_t counted_max_of(const struct bt_snapshot *snapshot)
{
	return snapshot->count / NODES_PER_COUNTED + 16;
}

/**
 * Append to cells->counted the slots on which a trait's count is not 0. Returns false and appends
 * nothing if a trait has more than `max` of these slots.
 */
static bool append_counted(struct bt_plan_cells *cells, const struct bt_node_trait *traits,
	uint32_t trait_count, uint32_t max)
{
	uint32_t before = cells->counted.count;
	for (uint32_t i = 0; i < trait_count; i++) {
		const struct bt_sparse_counts *counts = traits[i].counts;
		if (counts == NULL) {
			continue;
		}
		if (counts->occupied_count > max) {
			cells->counted.count = before;
			return false;
		}
		struct bt_sparse_entry entry;
		for (uint32_t cursor = 0; bt_sparse_counts_next(counts, &cursor, &entry);) {
			bt_vec_push(&cells->counted, entry.index);
		}
	}
	return true;
}

/**
 * Append to cells->counted each slot of `slots` on which a trait's count is not 0. If the list
 * would get longer than `max`, mark the list as incomplete.
 */
static void append_counted_slots(struct bt_plan_cells *cells, const struct bt_node_trait *traits,
	const uint32_t *slots, uint32_t slot_count, uint32_t max)
{
	for (uint32_t i = 0; i < cells->trait_count; i++) {
		const struct bt_sparse_counts *counts = traits[i].counts;
		for (uint32_t k = 0; counts != NULL && k < slot_count; k++) {
			if (bt_sparse_count(counts, slots[k]) == 0) {
				continue;
			}
			if (cells->counted.count == max) {
				cells->counted_is_complete = false;
				return;
			}
			bt_vec_push(&cells->counted, slots[k]);
		}
	}
}

static void set_identities(struct bt_plan_cells *cells, const struct bt_node_trait *traits)
{
	for (uint32_t i = 0; i < cells->trait_count; i++) {
		memcpy(cells->identities[i], traits[i].identity, sizeof(cells->identities[i]));
	}
}

static bool fill_trees(struct bt_plan *plan, const struct bt_snapshot *snapshot,
	const struct bt_node_trait *traits, uint32_t trait_count)
{
	struct bt_plan_cells *cells = plan->cells;
	uint64_t key[KEY_WORDS_MAX];
	cells->raw_count = plan->scored ? plan->raw_count : 0;
	cells->trait_count = trait_count;
	cells->identities = bt_realloc_array(
		cells->identities, (size_t)trait_count + 1, sizeof(*cells->identities));
	set_identities(cells, traits);
	cells->counted.count = 0;
	cells->counted_is_complete =
		append_counted(cells, traits, trait_count, counted_max_of(snapshot));
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

/**
 * Move a place to the cell of its key. slot: the place's node, or BT_SLOT_NONE. false: there are
 * too many cells.
 */
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

/**
 * Move the nodes that changed. has_traits: the tree was made for these traits. Otherwise these
 * traits and the tree's traits differ only in their counts, so the nodes in cells->counted move
 * too; the first `kept` of them have counts of the tree's traits, the rest have counts of the new
 * traits. false: there are too many cells.
 */
static bool catch_up(struct bt_plan *plan, const struct bt_engine *engine,
	const struct bt_node_trait *traits, bool has_traits, uint32_t kept)
{
	const struct bt_state *state = engine->state;
	const struct bt_places *places = &state->snapshot.places;
	struct bt_plan_cache *cache = engine->plans;
	struct bt_plan_cells *cells = plan->cells;
	struct key_maker maker = key_maker_of(plan, traits);
	uint32_t kinds = plan->reads | BT_CHANGE_EXISTENCE;
	for (; cells->left_seen < places->left.count; cells->left_seen++) {
		if (!move_place(plan, &maker, places->left.items[cells->left_seen], BT_SLOT_NONE)) {
			return false;
		}
	}
	for (uint32_t i = 0; i < maker.trait_count; i++) {
		kinds |= traits[i].reads;
	}
	uint32_t count = bt_plan_changed_slots(cache, &state->log, cells->log_sequence, kinds);
	if (has_traits) {
		append_counted_slots(
			cells, traits, cache->changed, count, counted_max_of(&state->snapshot));
	} else {
		set_identities(cells, traits);
		for (uint32_t i = 0; i < cells->counted.count; i++) {
			count = bt_plan_add_slot(cache, count, cells->counted.items[i]);
		}
		for (uint32_t i = kept; i < cells->counted.count; i++) {
			cells->counted.items[i - kept] = cells->counted.items[i];
		}
		cells->counted.count -= kept;
	}
	for (uint32_t i = 0; i < count; i++) {
		uint32_t slot = cache->changed[i];
		if (i + SLOTS_AHEAD < count) {
			uint32_t next = cache->changed[i + SLOTS_AHEAD];
			BT_PREFETCH(&plan->verdict[next]);
			BT_PREFETCH(&places->place_of[next]);
		}
		if (plan->verdict[slot] != BT_VERDICT_OUTSIDE &&
			!move_place(plan, &maker, places->place_of[slot], slot)) {
			return false;
		}
	}
	return true;
}

/** Whether the tree can catch up with the changes since its last use. */
static bool can_catch_up(
	const struct bt_plan *plan, const struct bt_plan_cells *cells, const struct bt_state *state)
{
	return cells->filled && cells->columns_version == plan->columns_version &&
		cells->places_version == state->snapshot.places.version &&
		cells->raw_count == (plan->scored ? plan->raw_count : 0) &&
		state->log.sequence - cells->log_sequence <=
		state->snapshot.count / NODES_PER_FILLED_MOVE + 16 &&
		bt_change_log_covers(&state->log, cells->log_sequence);
}

enum tree_traits {
	TRAITS_SAME,
	TRAITS_COUNT_OTHERS, /* some traits count other pods than the tree's traits do */
	TRAITS_DIFFER,
};

static enum tree_traits compare_traits(
	const struct bt_plan_cells *cells, const struct bt_node_trait *traits, uint32_t trait_count)
{
	enum tree_traits result = cells->tree != NULL && cells->trait_count == trait_count
		? TRAITS_SAME
		: TRAITS_DIFFER;
	for (uint32_t i = 0; result != TRAITS_DIFFER && i < trait_count; i++) {
		const uint64_t *identity = cells->identities[i];
		if (identity[0] != traits[i].identity[0] || identity[1] != traits[i].identity[1]) {
			return TRAITS_DIFFER;
		}
		if (identity[2] != traits[i].identity[2]) {
			result = traits[i].counts != NULL && cells->counted_is_complete
				? TRAITS_COUNT_OTHERS
				: TRAITS_DIFFER;
		}
	}
	return result;
}

/**
 * Set plan->cells to a tree for these traits. Returns which tree it is:
 * - TRAITS_SAME: a tree that was made for the same traits;
 * - TRAITS_COUNT_OTHERS: a tree that can catch up and whose traits differ only in what they count.
 *   The slots with counts of the new traits are appended to the tree's list `counted`; *out_kept is
 *   the length of the list before.
 * - TRAITS_DIFFER: the plan has no tree of the two kinds above. The least recently used tree was
 *   chosen.
 */
static enum tree_traits choose_tree(struct bt_plan *plan, const struct bt_state *state,
	const struct bt_node_trait *traits, uint32_t trait_count, uint32_t *out_kept)
{
	struct bt_plan_cells *oldest = &plan->trees[0];
	struct bt_plan_cells *similar = NULL;
	enum tree_traits chosen = TRAITS_DIFFER;
	for (uint32_t i = 0; chosen != TRAITS_SAME && i < BT_PLAN_TREES; i++) {
		struct bt_plan_cells *cells = &plan->trees[i];
		chosen = compare_traits(cells, traits, trait_count);
		if (chosen == TRAITS_SAME) {
			plan->cells = cells;
		} else if (chosen == TRAITS_COUNT_OTHERS && can_catch_up(plan, cells, state)) {
			similar = cells;
		}
		oldest = cells->last_used < oldest->last_used ? cells : oldest;
	}
	if (chosen != TRAITS_SAME) {
		*out_kept = similar != NULL ? similar->counted.count : 0;
		chosen = similar != NULL &&
				append_counted(similar, traits, trait_count,
					counted_max_of(&state->snapshot))
			? TRAITS_COUNT_OTHERS
			: TRAITS_DIFFER;
		plan->cells = chosen == TRAITS_COUNT_OTHERS ? similar : oldest;
	}
	plan->cells->last_used = ++plan->tree_uses;
	return chosen;
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
	/*
	 * The cells catch up with each change once. So the mean distance decides whether the cells
	 * pay, not the distance of this cycle.
	 */
	if (!plan->recurring || plan->mean_behind > moves_max || trait_count > BT_CELL_TRAITS_MAX) {
		return NULL;
	}
	uint32_t kept = 0;
	enum tree_traits comparison = choose_tree(plan, state, traits, trait_count, &kept);
	struct bt_plan_cells *cells = plan->cells;
	bool current = comparison != TRAITS_DIFFER && can_catch_up(plan, cells, state);
	if (!current && plan->behind > moves_max) {
		return NULL;
	}
	if (current) {
		current = catch_up(plan, engine, traits, comparison == TRAITS_SAME, kept);
	} else {
		if (cells->filled) {
			bool short_lived = cells->served < SERVED_MIN;
			uint32_t longer = 2 * cells->backoff + 1;
			pause_cells(cells,
				!short_lived                 ? 0
					: longer < PAUSE_MAX ? longer
							     : PAUSE_MAX);
		}
		if (cells->pause != 0) {
			cells->pause--;
			return NULL;
		}
		current = fill_trees(plan, &state->snapshot, traits, trait_count);
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
		uint32_t cell = tree->cell_of[place];
		make_key(&maker, slot, key);
		if (memcmp(key, bt_cells_key(tree, cell), key_bytes) != 0 ||
			tree->local_of[place] != local_of(plan, slot)) {
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
		bt_vec_finish(&plan->trees[i].counted);
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
		bytes += (tree != NULL ? bt_cells_memory_bytes(tree) : 0) +
			plan->trees[i].counted.capacity * sizeof(uint32_t);
	}
	return bytes;
}
