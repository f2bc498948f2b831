/* SPDX-License-Identifier: Apache-2.0 */
/** The smallest changes that let the pod in: each was tried. */
#include <stdlib.h>

#include "explain/explain_search.h"

/** How often a refused candidate may ask for more. */
#define ROUNDS_MAX 4
/** Candidates for each proposal that is wanted, and some to begin with. */
#define CANDIDATES_MIN 24
#define CANDIDATES_PER_PROPOSAL 6

/** --- a candidate that was refused --- */

/** What the node says with the changes made; *out_grew: the candidate has more of them now. */
static void ask_for_more(struct bt_explain_search *search, struct bt_explain_world *world,
	struct bt_candidate *candidate, bool *out_grew)
{
	struct bt_explain_run *run = search->run;
	uint32_t slot = run->out->nodes.items[candidate->node].slot;
	struct bt_needs needs = {.run = run, .pod = &world->info};
	bt_remedy_vec all = {0};
	bool named;

	needs.cycle = bt_explain_world_begin_on(world, slot, &named);
	if (named) {
		bt_needs_of_slot(&needs, slot);
	} else {
		bt_needs_of_pre_filter(&needs, &world->pre_filter);
	}
	*out_grew = !needs.is_final && needs.fewest.count != 0 &&
		bt_remedies_unite(&all, candidate->remedies.items, candidate->remedies.count) &&
		bt_remedies_unite(&all, needs.fewest.items, needs.fewest.count);
	if (*out_grew) {
		bt_remedy_list grown = bt_remedies_sort(&search->arena, all.items, all.count);

		*out_grew = !bt_remedies_equal(&grown, &candidate->remedies);
		candidate->remedies = grown;
		candidate->distance += needs.distance;
		candidate->is_too_small = candidate->is_too_small || needs.fewest_is_too_small;
		candidate->node_count = 1;
		candidate->rounds++;
	}
	bt_vec_finish(&all);
	bt_needs_finish(&needs);
}

/** --- a candidate that works --- */

static void keep(struct bt_explain_search *search, const struct bt_candidate *candidate,
	const bt_remedy_list *remedies, const struct bt_scan *scan)
{
	struct bt_explanation *out = search->run->out;
	struct bt_proposal proposal = {.opened_count = scan->feasible_count};
	uint32_t node =
		scan->slot_fits ? candidate->node : search->run->node_of_slot[scan->first_slot];

	proposal.node = out->nodes.items[node].name;
	proposal.remedies.items =
		BT_ARENA_NEW_ARRAY(&out->arena, struct bt_remedy, remedies->count);
	proposal.remedies.count = remedies->count;
	proposal.remedies.present = true;
	for (uint32_t i = 0; i < remedies->count; i++) {
		struct bt_arena *arena = &out->arena;
		const struct bt_remedy *remedy = &remedies->items[i];
		struct bt_remedy copy = *remedy;

		copy.node = bt_arena_str(arena, remedy->node);
		copy.resource = bt_arena_str(arena, remedy->resource);
		copy.pod_namespace = bt_arena_str(arena, remedy->pod_namespace);
		copy.pod_name = bt_arena_str(arena, remedy->pod_name);
		copy.key = bt_arena_str(arena, remedy->key);
		copy.value = bt_arena_str(arena, remedy->value);
		copy.effect = bt_arena_str(arena, remedy->effect);
		proposal.remedies.items[i] = copy;
	}
	bt_vec_push(&search->found, proposal);
	bt_vec_push(&search->distances, candidate->distance / (double)scan->feasible_count);
	bt_vec_push(&search->too_small, candidate->is_too_small);
}

static bool is_known(const struct bt_explain_search *search, const bt_remedy_list *remedies)
{
	for (uint32_t i = 0; i < search->found.count; i++) {
		const bt_remedy_list known = {search->found.items[i].remedies.items,
			search->found.items[i].remedies.count, true};

		if (bt_remedies_include(remedies, &known)) {
			return true;
		}
	}
	return false;
}

/** The whole cluster once more with what is left of the changes. */
static int accept(struct bt_explain_search *search, const struct bt_candidate *candidate,
	struct berth_error *err)
{
	const struct bt_explain_run *run = search->run;
	bt_remedy_list remedies = candidate->remedies;
	struct bt_explain_world world;
	struct bt_scan scan;
	bool possible;
	int result = bt_search_minimise(search, &remedies, err);

	/* Without the time to see that it is the smallest, it is no proposal. */
	if (result < 0 || search->exhausted || is_known(search, &remedies)) {
		return result;
	}
	result = bt_explain_world_open(&world, run->engine, run->pod, remedies.items,
		remedies.count, &run->options->objects, &possible, err);
	if (result < 0 || !possible) {
		return result;
	}
	scan = bt_explain_world_scan(&world, run->out->nodes.items[candidate->node].slot, false);
	bt_search_charge(search, scan.asked_count);
	if (scan.feasible_count != 0) {
		keep(search, candidate, &remedies, &scan);
	}
	return bt_explain_world_close(&world, err);
}

/** --- all candidates --- */

static int try_candidate(
	struct bt_explain_search *search, struct bt_candidate *candidate, struct berth_error *err)
{
	const struct bt_explain_run *run = search->run;
	struct bt_explain_world world;
	struct bt_scan scan;
	bool possible;
	bool grew = false;
	int result;

	result = bt_explain_world_open(&world, run->engine, run->pod, candidate->remedies.items,
		candidate->remedies.count, &run->options->objects, &possible, err);
	if (result < 0 || !possible) {
		return result;
	}
	scan = bt_explain_world_ask(&world, run->out->nodes.items[candidate->node].slot);
	bt_search_charge(search, scan.asked_count);
	if (!scan.slot_fits && !scan.error && world.admitted && candidate->rounds < ROUNDS_MAX) {
		ask_for_more(search, &world, candidate, &grew);
	}
	result = bt_explain_world_close(&world, err);
	if (result == 0 && scan.slot_fits) {
		result = accept(search, candidate, err);
	}
	if (grew) {
		bt_candidates_requeue(search, candidate);
	}
	return result;
}

/** They change the same kinds of things: nobody needs three nodes to be told to free some cpu on.
 */
static bool is_alike(const struct bt_proposal *proposal, const bt_remedy_list *remedies)
{
	if (proposal->remedies.count != remedies->count) {
		return false;
	}
	for (uint32_t i = 0; i < remedies->count; i++) {
		const struct bt_remedy *a = &proposal->remedies.items[i];
		const struct bt_remedy *b = &remedies->items[i];

		if (a->kind != b->kind || !bt_str_equal(a->resource, b->resource)) {
			return false;
		}
	}
	return true;
}

static bool has_alike(const struct bt_explain_search *search, const bt_remedy_list *remedies)
{
	for (uint32_t i = 0; i < search->found.count; i++) {
		if (is_alike(&search->found.items[i], remedies)) {
			return true;
		}
	}
	return false;
}

/** By more than the distance. */
static bool is_further(const struct bt_candidate *a, const struct bt_candidate *b)
{
	return a->is_too_small != b->is_too_small ? a->is_too_small
						  : a->remedies.count > b->remedies.count;
}

/** The nearest one, but among those of equally many changes first one of each kind. NULL: none. */
static struct bt_candidate *next_candidate(struct bt_explain_search *search)
{
	while (search->next < search->queue_count) {
		struct bt_candidate *candidate = search->queue[search->next];

		if (search->next_alike < search->alike.count &&
			is_further(candidate, search->alike.items[search->next_alike])) {
			break;
		}
		search->next++;
		if (!has_alike(search, &candidate->remedies)) {
			return candidate;
		}
		bt_vec_push(&search->alike, candidate);
	}
	return search->next_alike < search->alike.count ? search->alike.items[search->next_alike++]
							: NULL;
}

/** Something was found that leaves nodes the size they are, and the pod's requests. */
static bool has_found_plain(const struct bt_explain_search *search)
{
	bool found = false;

	for (uint32_t i = 0; i < search->found.count && !found; i++) {
		found = !search->too_small.items[i] &&
			!bt_remedies_lower(search->found.items[i].remedies.items,
				search->found.items[i].remedies.count);
	}
	return found;
}

/** Before several changes are proposed: there may be one pod whose leaving does as much. */
static int look_for_removals(struct bt_explain_search *search, struct berth_error *err)
{
	uint32_t one = search->run->out->entry_remedies.count + 1;
	uint32_t fewest = search->next < search->queue_count
		? search->queue[search->next]->remedies.count
		: UINT32_MAX;

	if (search->removals_sought || has_found_plain(search) || fewest <= one) {
		return 0;
	}
	search->removals_sought = true;
	return bt_search_removals(search, fewest, err);
}

static int try_candidates(struct bt_explain_search *search, struct berth_error *err)
{
	uint32_t wanted = search->run->options->proposals_max < BT_EXPLAIN_PROPOSALS_MAX
		? search->run->options->proposals_max
		: BT_EXPLAIN_PROPOSALS_MAX;
	uint64_t left = CANDIDATES_MIN + (uint64_t)wanted * CANDIDATES_PER_PROPOSAL;

	while (search->found.count < wanted && left > 0 && !search->exhausted) {
		struct bt_candidate *candidate;
		int result = look_for_removals(search, err);

		if (result < 0) {
			return result;
		}
		candidate = next_candidate(search);
		/* Nobody buys nodes while something else helps but asking for less. */
		if (candidate == NULL || (candidate->is_too_small && has_found_plain(search))) {
			break;
		}
		if (is_known(search, &candidate->remedies)) {
			continue; /* a part of it helps already */
		}
		candidate->tried = true;
		result = try_candidate(search, candidate, err);
		if (result < 0) {
			return result;
		}
		left--;
	}
	return 0;
}

struct ranked_proposal {
	struct bt_proposal proposal;
	double distance;
	bool is_too_small;
};

static int compare_proposals(const void *a, const void *b)
{
	const struct ranked_proposal *x = a;
	const struct ranked_proposal *y = b;
	bool x_lowers = bt_remedies_lower(x->proposal.remedies.items, x->proposal.remedies.count);
	bool y_lowers = bt_remedies_lower(y->proposal.remedies.items, y->proposal.remedies.count);

	if (x->is_too_small != y->is_too_small) {
		return x->is_too_small ? 1 : -1;
	}
	if (x->proposal.remedies.count != y->proposal.remedies.count) {
		return x->proposal.remedies.count < y->proposal.remedies.count ? -1 : 1;
	}
	if (x_lowers != y_lowers) {
		return x_lowers ? 1 : -1;
	}
	if (x->distance < y->distance || x->distance > y->distance) {
		return x->distance < y->distance ? -1 : 1;
	}
	if (x->proposal.opened_count != y->proposal.opened_count) {
		return x->proposal.opened_count > y->proposal.opened_count ? -1 : 1;
	}
	return bt_str_compare(x->proposal.node, y->proposal.node);
}

/** Nodes that want something, and nothing of it was tried. */
static void count_untried(struct bt_explain_search *search)
{
	struct bt_explanation *out = search->run->out;

	for (uint32_t i = 0; i < out->nodes.count; i++) {
		struct bt_candidate *const *wishes = &search->of_node[(size_t)i * BT_WISHES_MAX];
		bool wants = false;
		bool tried = false;

		for (uint32_t k = 0; k < BT_WISHES_MAX; k++) {
			wants = wants || wishes[k] != NULL;
			tried = tried || (wishes[k] != NULL && wishes[k]->tried);
		}
		out->untried_count += wants && !tried;
	}
}

int bt_explain_propose(struct bt_explain_run *run, struct berth_error *err)
{
	struct bt_explain_search search = {.run = run};
	int result;

	if (run->outlooks == NULL) {
		return 0; /* an error ended the evaluation */
	}
	bt_search_weigh(&search);
	bt_candidates_collect(&search);
	result = try_candidates(&search, err);
	if (result == 0) {
		struct bt_explanation *out = search.run->out;
		uint32_t count = search.found.count;
		struct ranked_proposal *ranked = BT_NEW_ARRAY(struct ranked_proposal, count);

		for (uint32_t i = 0; i < count; i++) {
			ranked[i] = (struct ranked_proposal){search.found.items[i],
				search.distances.items[i], search.too_small.items[i]};
		}
		qsort(ranked, count, sizeof(ranked[0]), compare_proposals);
		out->proposals.items = BT_ARENA_NEW_ARRAY(&out->arena, struct bt_proposal, count);
		out->proposals.count = count;
		out->proposals.present = true;
		for (uint32_t i = 0; i < count; i++) {
			out->proposals.items[i] = ranked[i].proposal;
		}
		bt_free(ranked);
		count_untried(&search);
	}
	bt_vec_finish(&search.alike);
	bt_vec_finish(&search.memo);
	bt_vec_finish(&search.found);
	bt_vec_finish(&search.distances);
	bt_vec_finish(&search.too_small);
	bt_arena_finish(&search.arena);
	return result;
}
