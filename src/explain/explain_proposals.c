/* SPDX-License-Identifier: Apache-2.0 */
/** Finds the smallest changes that make the pod fit, and verifies each by a trial. */
#include <stdlib.h>

#include "explain/explain_search.h"

/**
 * If a set has at most this many changes, every proper subset is tried; from a larger set, changes
 * are left out one by one.
 */
#define ALL_PARTS_MAX 5
/** Budget of node evaluations in all trials: a few seconds. */
#define WORK_MAX 8000000

/**
 * Plugins use counters for pods with at most this many terms and constraints; for other pods,
 * plugins visit all nodes and their pods.
 */
#define COUNTED_TERMS 16
/** Number of terms that cost as much to check on a node as all other filters together. */
#define TERMS_OF_A_NODE 32

void bt_search_charge(struct bt_explain_search *search, uint32_t evaluated_count)
{
	search->work += evaluated_count * search->node_work + search->cycle_work;
	search->exhausted = search->exhausted || search->work > WORK_MAX;
}

/**
 * Whether the set frees resources of nodes, and otherwise changes only the pod. Freed resources
 * affect only the filters of their own node.
 */
static bool is_local(const bt_remedy_list *remedies)
{
	bool frees = false;

	for (uint32_t i = 0; i < remedies->count; i++) {
		frees = frees || remedies->items[i].kind == BT_REMEDY_FREE_RESOURCE;
		if (remedies->items[i].kind != BT_REMEDY_FREE_RESOURCE &&
			!bt_remedy_is_of_pod(remedies->items[i].kind)) {
			return false;
		}
	}
	return frees;
}

static int try_set(struct bt_explain_search *search, const bt_remedy_list *remedies, bool *out_fits,
	struct berth_error *err)
{
	const struct bt_explain_run *run = search->run;
	struct bt_explain_world world;
	bool possible;
	int result = bt_explain_world_open(
		&world, run->engine, run->pod, remedies, &run->options->objects, &possible, err);

	*out_fits = false;
	if (result < 0 || !possible) {
		return result;
	}
	if (is_local(remedies)) {
		/* Try only the nodes on which the changes free something. */
		bool fits = false;

		for (uint32_t i = 0; i < remedies->count && !fits; i++) {
			struct bt_str node = remedies->items[i].node;

			if (remedies->items[i].kind != BT_REMEDY_FREE_RESOURCE ||
				(i > 0 && bt_str_equal(remedies->items[i - 1].node, node))) {
				continue;
			}
			struct bt_scan scan = bt_explain_world_filter_node(
				&world, bt_state_snapshot_find(search->run->engine->state, node));
			bt_search_charge(search, scan.evaluated_count);
			fits = scan.slot_fits;
		}
		*out_fits = fits;
	} else {
		struct bt_scan scan = bt_explain_world_scan(&world, BT_SLOT_NONE, true);

		bt_search_charge(search, scan.evaluated_count);
		*out_fits = scan.feasible_count != 0;
	}
	return bt_explain_world_close(&world, err);
}

/**
 * Sets *out_fits to whether any node accepts the pod after the changes. The result is also false if
 * the budget is used up.
 */
static int search_fits(struct bt_explain_search *search, const bt_remedy_list *remedies,
	bool *out_fits, struct berth_error *err)
{
	struct bt_tried tried = {.remedies = *remedies};
	int result;

	*out_fits = false;
	for (uint32_t i = 0; i < search->memo.count; i++) {
		if (bt_remedies_equal(&search->memo.items[i].remedies, remedies)) {
			*out_fits = search->memo.items[i].fits;
			return 0;
		}
	}
	if (search->exhausted) {
		return 0;
	}
	result = try_set(search, remedies, &tried.fits, err);
	if (result == 0 && !tried.fits && is_local(remedies)) {
		/* With the changes of the pod alone, another node may accept the pod. */
		bt_remedy_list of_pod = {0};

		for (uint32_t i = 0; i < remedies->count; i++) {
			if (bt_remedy_is_of_pod(remedies->items[i].kind)) {
				bt_arena_push(&search->arena, &of_pod, remedies->items[i]);
			}
		}
		if (of_pod.count != 0) {
			result = search_fits(search, &of_pod, &tried.fits, err);
		}
	}
	bt_vec_push(&search->memo, tried);
	*out_fits = tried.fits;
	return result;
}

/** Returns the members of the set that are selected by bits. */
static bt_remedy_list part_of(
	struct bt_explain_search *search, const bt_remedy_list *whole, uint32_t bits)
{
	bt_remedy_list part = {0};

	for (uint32_t i = 0; i < whole->count; i++) {
		if ((bits >> i & 1) != 0) {
			bt_arena_push(&search->arena, &part, whole->items[i]);
		}
	}
	return part;
}

/**
 * Reduces the set to its smallest subset that helps. The empty subset is not tried, because the pod
 * is pending.
 */
static int find_part(
	struct bt_explain_search *search, bt_remedy_list *remedies, struct berth_error *err)
{
	uint32_t all = (1U << remedies->count) - 1;

	for (uint32_t size = 1; size < remedies->count; size++) {
		for (uint32_t bits = 1; bits < all; bits++) {
			bool fits;

			if (BT_POPCOUNT64(bits) != size) {
				continue;
			}
			bt_remedy_list part = part_of(search, remedies, bits);
			int result = search_fits(search, &part, &fits, err);
			if (result < 0 || fits) {
				*remedies = result < 0 ? *remedies : part;
				return result;
			}
		}
	}
	return 0;
}

static int drop_needless_remedies(
	struct bt_explain_search *search, bt_remedy_list *remedies, struct berth_error *err)
{
	for (uint32_t i = remedies->count; i-- > 0;) {
		uint32_t all = remedies->count < 32 ? (1U << remedies->count) - 1 : UINT32_MAX;
		bt_remedy_list part = part_of(search, remedies, all & ~(1U << i));
		bool fits;
		int result = search_fits(search, &part, &fits, err);

		if (result < 0) {
			return result;
		}
		if (fits) {
			*remedies = part;
			i = part.count; /* a change that was needed before may be superfluous now */
		}
	}
	return 0;
}

/**
 * Reduces the amount of a remedy to the minimum. The advised amount is usually exact, so the first
 * trial lowers the amount by one; if that fails, the search ends.
 */
static int reduce_amount(struct bt_explain_search *search, bt_remedy_list *remedies, uint32_t index,
	struct berth_error *err)
{
	const bt_topology_spread_constraint_list *constraints =
		&search->run->pod->spec.topology_spread_constraints;
	const struct bt_remedy *remedy = &remedies->items[index];
	int64_t low = 0; /* the amount with which the remedy changes nothing */
	int64_t high = remedy->amount;
	int64_t middle = high - 1;

	if (remedy->kind == BT_REMEDY_RAISE_MAX_SKEW && remedy->index < constraints->count) {
		low = constraints->items[remedy->index].max_skew;
	}
	while (high - low > 1) {
		bool fits;
		bt_remedy_list changed = bt_remedies_sort(&search->arena, remedies);

		changed.items[index].amount = middle;
		int result = search_fits(search, &changed, &fits, err);

		if (result < 0) {
			return result;
		}
		if (!fits && high == remedy->amount) {
			return 0;
		}
		if (fits) {
			high = middle;
		} else {
			low = middle;
		}
		middle = low + (high - low) / 2;
	}
	remedies->items[index].amount = high;
	return 0;
}

/** Limit of rounds in which changes are added to a rejected candidate. */
#define ROUNDS_MAX 4
/**
 * Limit of candidates that are tried: CANDIDATES_MIN, plus CANDIDATES_PER_PROPOSAL for each
 * requested proposal.
 */
#define CANDIDATES_MIN 24
#define CANDIDATES_PER_PROPOSAL 6

static bool is_known(const struct bt_explain_search *search, const bt_remedy_list *remedies)
{
	for (uint32_t i = 0; i < search->found.count; i++) {
		if (bt_remedies_include(remedies, &search->found.items[i].proposal.remedies)) {
			return true;
		}
	}
	return false;
}

/**
 * Reduces the candidate to its smallest form, evaluates the whole cluster with the remaining
 * changes, and adds a proposal.
 */
static int accept(struct bt_explain_search *search, const struct bt_candidate *candidate,
	struct berth_error *err)
{
	const struct bt_explain_run *run = search->run;
	bt_remedy_list remedies = candidate->remedies;
	struct bt_explain_world world;
	struct bt_scan scan;
	bool possible;
	int result = remedies.count <= ALL_PARTS_MAX
		? find_part(search, &remedies, err)
		: drop_needless_remedies(search, &remedies, err);

	remedies = bt_remedies_sort(&search->arena, &remedies);
	for (uint32_t i = 0; i < remedies.count && result == 0; i++) {
		if (bt_remedy_has_least_amount(remedies.items[i].kind)) {
			result = reduce_amount(search, &remedies, i, err);
		}
	}

	/*
	 * Drop the proposal if the budget did not suffice to prove that the proposal is the
	 * smallest, or if the proposal includes all changes of an earlier proposal.
	 */
	if (result < 0 || search->exhausted || is_known(search, &remedies)) {
		return result;
	}
	result = bt_explain_world_open(
		&world, run->engine, run->pod, &remedies, &run->options->objects, &possible, err);
	if (result < 0 || !possible) {
		return result;
	}
	scan = bt_explain_world_scan(&world, run->out->nodes.items[candidate->node].slot, false);
	bt_search_charge(search, scan.evaluated_count);
	if (scan.feasible_count != 0) {
		struct bt_explanation *out = search->run->out;
		struct bt_proposal proposal = {.opened_count = scan.feasible_count};
		uint32_t node = scan.slot_fits ? candidate->node
					       : search->run->node_of_slot[scan.first_slot];

		proposal.node = out->nodes.items[node].name;
		for (uint32_t i = 0; i < remedies.count; i++) {
			bt_arena_push(&out->arena, &proposal.remedies,
				bt_remedy_copy(&remedies.items[i], &out->arena));
		}
		struct bt_found_proposal found = {proposal,
			candidate->distance / (double)scan.feasible_count, candidate->is_too_small};
		bt_vec_push(&search->found, found);
	}
	return bt_explain_world_close(&world, err);
}

static int try_candidate(
	struct bt_explain_search *search, struct bt_candidate *candidate, struct berth_error *err)
{
	const struct bt_explain_run *run = search->run;
	struct bt_explain_world world;
	struct bt_scan scan;
	bool possible;
	bool grew = false;
	uint32_t slot;
	int result;

	result = bt_explain_world_open(&world, run->engine, run->pod, &candidate->remedies,
		&run->options->objects, &possible, err);
	if (result < 0 || !possible) {
		return result;
	}
	slot = run->out->nodes.items[candidate->node].slot;
	scan = bt_explain_world_filter_node(&world, slot);
	bt_search_charge(search, scan.evaluated_count);
	if (!scan.slot_fits && !scan.error && world.admitted && candidate->rounds < ROUNDS_MAX) {
		/* Add the changes that the node needs besides the candidate's changes. */
		struct bt_needs needs = {.run = search->run, .pod = &world.info};
		bt_remedy_list all = {0};
		bool named;

		needs.cycle = bt_explain_world_begin_on(&world, slot, &named);
		if (named) {
			bt_needs_of_slot(&needs, slot);
		} else {
			bt_needs_of_pre_filter(&needs, &world.pre_filter);
		}
		grew = !needs.is_final && needs.fewest.count != 0 &&
			bt_remedies_unite(&all, &candidate->remedies) &&
			bt_remedies_unite(&all, &needs.fewest);
		if (grew) {
			bt_remedy_list grown = bt_remedies_sort(&search->arena, &all);

			grew = !bt_remedies_equal(&grown, &candidate->remedies);
			candidate->remedies = grown;
			candidate->distance += needs.distance;
			candidate->is_too_small =
				candidate->is_too_small || needs.fewest_is_too_small;
			candidate->node_count = 1;
			candidate->rounds++;
		}
		bt_vec_finish(&all);
		bt_needs_finish(&needs);
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

/**
 * Whether a proposal and the set make the same kinds of changes of the same resources. Nodes,
 * amounts, keys and pods may differ. Proposals should differ in the kinds of changes.
 */
static bool has_alike(const struct bt_explain_search *search, const bt_remedy_list *remedies)
{
	bool is_alike = false;

	for (uint32_t i = 0; i < search->found.count && !is_alike; i++) {
		const bt_remedy_list *found = &search->found.items[i].proposal.remedies;

		is_alike = found->count == remedies->count;
		for (uint32_t k = 0; k < found->count && is_alike; k++) {
			const struct bt_remedy *a = &found->items[k];
			const struct bt_remedy *b = &remedies->items[k];

			is_alike = a->kind == b->kind && bt_str_equal(a->resource, b->resource);
		}
	}
	return is_alike;
}

/** Whether a proposal exists that changes neither the size of a node nor the pod's requests. */
static bool has_found_plain(const struct bt_explain_search *search)
{
	for (uint32_t i = 0; i < search->found.count; i++) {
		const struct bt_found_proposal *found = &search->found.items[i];

		if (!found->is_too_small &&
			!bt_remedies_have(&found->proposal.remedies, BT_REMEDY_LOWER_REQUEST)) {
			return true;
		}
	}
	return false;
}

static int try_candidates(struct bt_explain_search *search, struct berth_error *err)
{
	uint32_t wanted = search->run->options->proposals_max < BT_EXPLAIN_PROPOSALS_MAX
		? search->run->options->proposals_max
		: BT_EXPLAIN_PROPOSALS_MAX;
	uint64_t left = CANDIDATES_MIN + (uint64_t)wanted * CANDIDATES_PER_PROPOSAL;

	while (search->found.count < wanted && left > 0 && !search->exhausted) {
		uint32_t fewest = search->next < search->queue.count
			? search->queue.items[search->next]->remedies.count
			: UINT32_MAX;
		int result = 0;

		/*
		 * Try removals of single pods before a proposal of several changes, because a
		 * removal may suffice.
		 */
		if (!search->removals_sought && !has_found_plain(search) &&
			fewest > search->run->out->entry_remedies.count + 1) {
			search->removals_sought = true;
			result = bt_search_removals(search, fewest, err);
		}
		if (result < 0) {
			return result;
		}
		/*
		 * Take the nearest candidate. Among candidates with equally many changes,
		 * candidates with the same kinds of changes as a proposal come last.
		 */
		struct bt_candidate *candidate = NULL;
		while (candidate == NULL && search->next < search->queue.count) {
			struct bt_candidate *next = search->queue.items[search->next];
			const struct bt_candidate *alike = search->next_alike < search->alike.count
				? search->alike.items[search->next_alike]
				: NULL;

			/*
			 * A candidate that needs a larger node comes after one that does not;
			 * otherwise the candidate with more changes comes last. Distances do not
			 * count.
			 */
			if (alike != NULL &&
				(next->is_too_small != alike->is_too_small
						? next->is_too_small
						: next->remedies.count > alike->remedies.count)) {
				break;
			}
			search->next++;
			if (has_alike(search, &next->remedies)) {
				bt_vec_push(&search->alike, next);
			} else {
				candidate = next;
			}
		}
		if (candidate == NULL && search->next_alike < search->alike.count) {
			candidate = search->alike.items[search->next_alike++];
		}
		/*
		 * Propose a larger node only if no cheaper change works; lowering the pod's
		 * requests does not count as cheaper.
		 */
		if (candidate == NULL || (candidate->is_too_small && has_found_plain(search))) {
			break;
		}
		if (is_known(search, &candidate->remedies)) {
			continue; /* a subset of the changes helps already */
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

static int compare_proposals(const void *a, const void *b)
{
	const struct bt_found_proposal *x = a;
	const struct bt_found_proposal *y = b;
	bool x_lowers = bt_remedies_have(&x->proposal.remedies, BT_REMEDY_LOWER_REQUEST);
	bool y_lowers = bt_remedies_have(&y->proposal.remedies, BT_REMEDY_LOWER_REQUEST);

	return BT_ORDER_BY(BT_ORDER(x->is_too_small, y->is_too_small),
		BT_ORDER(x->proposal.remedies.count, y->proposal.remedies.count),
		BT_ORDER(x_lowers, y_lowers), BT_ORDER(x->distance, y->distance),
		BT_ORDER(y->proposal.opened_count, x->proposal.opened_count),
		bt_str_compare(x->proposal.node, y->proposal.node));
}

int bt_explain_propose(struct bt_explain_run *run, struct berth_error *err)
{
	struct bt_explain_search search = {.run = run};
	int result;

	if (run->outlooks == NULL) {
		return 0; /* an error ended the evaluation */
	}
	/* Set the cost of a trial for this pod: pods with many terms get fewer trials. */
	uint64_t nodes = run->out->node_count;
	uint64_t pods = run->engine->state->pods.count;
	const struct bt_affinity *affinity = run->pod->spec.affinity;
	uint64_t terms = run->pod->spec.topology_spread_constraints.count;

	if (affinity != NULL && affinity->pod_affinity != NULL) {
		terms += affinity->pod_affinity->required.count;
	}
	if (affinity != NULL && affinity->pod_anti_affinity != NULL) {
		terms += affinity->pod_anti_affinity->required.count;
	}
	search.node_work = 1 + terms / TERMS_OF_A_NODE;
	if (affinity != NULL && affinity->node_affinity != NULL &&
		affinity->node_affinity->required != NULL) {
		search.node_work = 1 +
			(terms + affinity->node_affinity->required->terms.count) / TERMS_OF_A_NODE;
	}
	/* Every cycle runs PreFilter, which may count over the whole cluster. */
	search.cycle_work = nodes / 4 * search.node_work + 100;
	if (terms > COUNTED_TERMS) {
		search.cycle_work += terms * (nodes + pods) / 64;
	}
	bt_candidates_collect(&search);
	result = try_candidates(&search, err);
	if (result == 0) {
		struct bt_explanation *out = search.run->out;
		uint32_t count = search.found.count;
		if (count != 0) {
			qsort(search.found.items, count, sizeof(search.found.items[0]),
				compare_proposals);
		}
		for (uint32_t i = 0; i < count; i++) {
			bt_arena_push(&out->arena, &out->proposals, search.found.items[i].proposal);
		}
		for (uint32_t i = 0; i < out->nodes.count; i++) {
			struct bt_candidate *const *wishes =
				&search.of_node[(size_t)i * BT_WISHES_MAX];
			bool wants = false;
			bool tried = false;

			for (uint32_t k = 0; k < BT_WISHES_MAX; k++) {
				wants = wants || wishes[k] != NULL;
				tried = tried || (wishes[k] != NULL && wishes[k]->tried);
			}
			out->untried_count += wants && !tried;
			for (uint32_t p = 0; p < count; p++) {
				/*
				 * Count the node if it needs the same changes on itself as the
				 * proposal makes on another node.
				 */
				struct bt_proposal *proposal = &out->proposals.items[p];
				bool is_alike = false;

				for (uint32_t k = 0; k < BT_WISHES_MAX && !is_alike; k++) {
					is_alike = wishes[k] != NULL &&
						bt_remedies_equal_but_node(&proposal->remedies,
							&wishes[k]->remedies) &&
						!bt_remedies_equal(
							&proposal->remedies, &wishes[k]->remedies);
				}
				proposal->alike_count += is_alike;
			}
		}
	}
	bt_vec_finish(&search.queue);
	bt_vec_finish(&search.alike);
	bt_vec_finish(&search.memo);
	bt_vec_finish(&search.found);
	bt_arena_finish(&search.arena);
	return result;
}
