/* SPDX-License-Identifier: Apache-2.0 */
/** Candidates: the distinct sets of changes that nodes need, nearest node first. */
#include <stdlib.h>

#include "explain/advice.h"
#include "explain/explain_search.h"

bt_remedy_list bt_remedies_sort(struct bt_arena *arena, const bt_remedy_list *remedies)
{
	bt_remedy_list list = bt_remedies_copy(arena, remedies);

	qsort(list.items, list.count, sizeof(list.items[0]), bt_remedy_compare);
	return list;
}

bool bt_remedies_include(const bt_remedy_list *whole, const bt_remedy_list *part)
{
	for (uint32_t i = 0; i < part->count; i++) {
		bool found = false;

		for (uint32_t k = 0; k < whole->count && !found; k++) {
			/*
			 * Remedy k of `whole` covers remedy i of `part` if both are the same
			 * change, or LowerRequest with a larger amount in `whole`.
			 */
			const struct bt_remedy *remedy = &whole->items[k];
			const struct bt_remedy *other = &part->items[i];
			struct bt_remedy same = *remedy;

			if (remedy->kind == BT_REMEDY_LOWER_REQUEST &&
				remedy->amount > other->amount) {
				same.amount = other->amount;
			}
			found = bt_remedy_equal(&same, other);
		}
		if (!found) {
			return false;
		}
	}
	return true;
}

/**
 * Finds the candidate that consists of the entry remedies and the wanted changes, or adds this
 * candidate to the queue. Adds 1 to the candidate's node_count. Returns NULL if there are no
 * changes or too many changes. map: hash of a candidate's remedies -> index in the queue.
 */
static struct bt_candidate *collect(struct bt_explain_search *search, struct bt_map *map,
	const bt_remedy_list *wanted, double distance, bool is_too_small, uint32_t node)
{
	bt_remedy_list all = {0};
	struct bt_candidate *candidate;
	bt_remedy_list set = {0};

	if (bt_remedies_unite(&all, &search->run->out->entry_remedies) &&
		bt_remedies_unite(&all, wanted)) {
		set = bt_remedies_sort(&search->arena, &all);
	}
	bt_vec_finish(&all);
	if (set.count == 0) {
		return NULL;
	}
	uint64_t hash = set.count;

	for (uint32_t i = 0; i < set.count; i++) {
		const struct bt_remedy *remedy = &set.items[i];

		hash = bt_hash_u64(hash, (uint64_t)remedy->kind);
		hash = bt_hash_u64(hash, bt_str_hash(remedy->node));
		hash = bt_hash_u64(hash, bt_str_hash(remedy->key));
		hash = bt_hash_u64(hash, bt_str_hash(remedy->value));
		hash = bt_hash_u64(hash, (uint64_t)remedy->amount);
	}

	BT_MAP_EACH (map, hash, index) {
		candidate = search->queue.items[index];
		if (!bt_remedies_equal(&candidate->remedies, &set)) {
			continue;
		}
		candidate->node_count++;
		if (distance < candidate->distance) {
			candidate->distance = distance;
			candidate->node = node;
		}
		return candidate;
	}
	candidate = BT_ARENA_NEW(&search->arena, struct bt_candidate);
	*candidate = (struct bt_candidate){.remedies = set,
		.distance = distance,
		.node = node,
		.node_count = 1,
		.is_too_small = is_too_small};
	bt_vec_push(&search->queue, candidate);
	bt_map_insert(map, hash, search->queue.count - 1);
	return candidate;
}

static int compare_candidates(const struct bt_candidate *x, const struct bt_candidate *y)
{
	/*
	 * A set that helps on many nodes comes first, so divide the distance by the number of
	 * nodes.
	 */
	double x_distance = x->distance / (double)x->node_count;
	double y_distance = y->distance / (double)y->node_count;
	bool x_lowers = bt_remedies_have(&x->remedies, BT_REMEDY_LOWER_REQUEST);
	bool y_lowers = bt_remedies_have(&y->remedies, BT_REMEDY_LOWER_REQUEST);

	/* Sets that keep the pod's requests come first. Indices of nodes are in the order of names.
	 */
	int order = BT_ORDER_BY(BT_ORDER(x->is_too_small, y->is_too_small),
		BT_ORDER(x->remedies.count, y->remedies.count), BT_ORDER(x_lowers, y_lowers),
		BT_ORDER(x_distance, y_distance), BT_ORDER(y->node_count, x->node_count),
		BT_ORDER(x->node, y->node));
	for (uint32_t i = 0; i < x->remedies.count && order == 0; i++) {
		order = bt_remedy_compare(&x->remedies.items[i], &y->remedies.items[i]);
	}
	return order;
}

BT_COMPARE(compare_pointers, struct bt_candidate *const, compare_candidates(*a, *b))

/** Sorts the candidates that are left in the queue. */
static void sort_queue(struct bt_explain_search *search)
{
	if (search->next < search->queue.count) {
		qsort(&search->queue.items[search->next], search->queue.count - search->next,
			sizeof(search->queue.items[0]), compare_pointers);
	}
}

/**
 * Returns a copy of the set in which DropVolume replaces each ProvisionVolume; empty if the set has
 * no ProvisionVolume.
 */
static bt_remedy_list without_volumes(struct bt_arena *arena, const bt_remedy_list *remedies)
{
	if (!bt_remedies_have(remedies, BT_REMEDY_PROVISION_VOLUME)) {
		return (bt_remedy_list){0};
	}
	bt_remedy_list dropped = bt_remedies_copy(arena, remedies);

	for (uint32_t i = 0; i < dropped.count; i++) {
		if (dropped.items[i].kind == BT_REMEDY_PROVISION_VOLUME) {
			dropped.items[i].kind = BT_REMEDY_DROP_VOLUME;
			dropped.items[i].value = BT_STR("");
		}
	}
	return dropped;
}

void bt_candidates_collect(struct bt_explain_search *search)
{
	const struct bt_explanation *out = search->run->out;
	uint32_t count = out->nodes.count;
	struct bt_map map = {0};

	search->of_node = BT_ARENA_NEW_ARRAY(
		&search->arena, struct bt_candidate *, (size_t)count * BT_WISHES_MAX);
	for (uint32_t i = 0; i < count; i++) {
		const struct bt_explained_node *node = &out->nodes.items[i];
		const struct bt_outlook *outlook = &search->run->outlooks[i];
		struct bt_candidate **wishes = &search->of_node[(size_t)i * BT_WISHES_MAX];

		if (node->is_final) {
			continue;
		}
		/* Each of these sets of changes should make the node accept the pod. */
		const struct {
			bt_remedy_list remedies;
			double distance;
			bool is_too_small;
		} wanted[BT_WISHES_MAX] = {
			{node->remedies, node->distance, node->is_too_small},
			{outlook->of_pod, outlook->of_pod_distance, outlook->of_pod_is_too_small},
			{outlook->fewest, outlook->of_pod_distance, outlook->fewest_is_too_small},
			{without_volumes(&search->arena, &node->remedies), node->distance + 1,
				node->is_too_small},
		};

		for (uint32_t k = 0; k < BT_WISHES_MAX; k++) {
			if (k != 0 && wanted[k].remedies.count == 0) {
				continue;
			}
			wishes[k] = collect(search, &map, &wanted[k].remedies, wanted[k].distance,
				wanted[k].is_too_small, i);
			/* Two of the node's sets are equal: count the node once. */
			for (uint32_t n = 0; n < k && wishes[k] != NULL; n++) {
				if (wishes[n] == wishes[k]) {
					wishes[k]->node_count--;
					break;
				}
			}
		}
	}
	bt_map_finish(&map);
	sort_queue(search);
}

void bt_candidates_requeue(struct bt_explain_search *search, struct bt_candidate *candidate)
{
	uint32_t at = search->next;

	BT_ASSERT(at > 0);
	/* queue[next - 1] is free, because its candidate was taken from the queue. */
	while (at < search->queue.count &&
		compare_candidates(search->queue.items[at], candidate) <= 0) {
		search->queue.items[at - 1] = search->queue.items[at];
		at++;
	}
	search->queue.items[at - 1] = candidate;
	search->next--;
}

/**
 * Removals: removing one pod may lift several obstacles at once, because it frees resources, ports
 * and devices and lowers spreading counts. Advisers examine one obstacle at a time and miss such
 * pods.
 */

/** Limit of pods whose removal is tried. */
#define REMOVALS_MAX 200
/**
 * Part of the budget of trials that removals may use; the rest is for the candidates of the
 * advisers.
 */
#define WORK_MAX 2000000
/**
 * In clusters of up to this many nodes, the search also checks whether removing a pod makes another
 * node accept the pending pod.
 */
#define SMALL_CLUSTER_NODES 64

/**
 * The search for the best pod to remove from one node: the pod after whose removal the fewest
 * changes are needed.
 */
struct removal {
	struct bt_explain_search *search;
	struct bt_candidate *best; /* NULL: none */
	int32_t priority;          /* priority of the pod removed by `best` */
	uint32_t limit;            /* only sets with fewer changes are considered */
	uint32_t left;             /* number of pods that may still be tried */
	uint64_t work_end;
};

static void keep_better(struct removal *removal, const bt_remedy_list *remedies, int32_t priority,
	uint32_t node, bool is_too_small)
{
	struct bt_explain_search *search = removal->search;
	struct bt_candidate *best = removal->best;

	if (remedies->count >= removal->limit ||
		(best != NULL &&
			(best->remedies.count < remedies->count ||
				(best->remedies.count == remedies->count &&
					removal->priority <= priority)))) {
		return;
	}
	removal->priority = priority;
	removal->best = BT_ARENA_NEW(&search->arena, struct bt_candidate);
	*removal->best = (struct bt_candidate){
		.remedies = bt_remedies_sort(&search->arena, remedies),
		.distance = 0.25,
		.node = node,
		.node_count = 1,
		.is_too_small = is_too_small,
	};
}

/**
 * Evaluates the cluster without the pod. Stores the needed changes in removal->best if they are
 * better than the changes stored there. node: index of the pod's node.
 */
static int try_removal(
	struct removal *removal, uint32_t pod_id, uint32_t node, struct berth_error *err)
{
	struct bt_explain_search *search = removal->search;
	const struct bt_explain_run *run = search->run;
	uint32_t slot = run->out->nodes.items[node].slot;
	struct bt_arena *arena = &search->arena;
	struct bt_pod_info pod;

	bt_pod_info_from_record(search->run->engine->state, pod_id, &pod);
	const struct bt_remedy leave = (struct bt_remedy){
		.kind = BT_REMEDY_REMOVE_POD,
		.node = bt_arena_str(arena, pod.node_name),
		.pod_namespace = bt_arena_str(arena, pod.namespace_),
		.pod_name = bt_arena_str(arena, pod.name),
	};
	int32_t priority = bt_state_pod_at(run->engine->state, pod_id)->priority;
	struct bt_explain_world world;
	bt_remedy_list remedies = {0};
	bool possible = bt_remedies_unite(&remedies, &run->out->entry_remedies) &&
		bt_remedies_add(&remedies, &leave);
	int result = possible ? bt_explain_world_open(&world, run->engine, run->pod, &remedies,
					&run->options->objects, &possible, err)
			      : 0;

	if (result == 0 && possible) {
		struct bt_scan scan = {.first_slot = BT_SLOT_NONE};

		if (run->out->nodes.count <= SMALL_CLUSTER_NODES) {
			scan = bt_explain_world_scan(&world, slot, true);
			bt_search_charge(search, scan.evaluated_count);
		}
		if (scan.first_slot != BT_SLOT_NONE) {
			keep_better(removal, &remedies, priority,
				run->node_of_slot[scan.first_slot], false);
		} else if (world.admitted) {
			/* The node's further needs, if its filters run. */
			struct bt_needs needs = {.run = search->run, .pod = &world.info};
			bool named;

			needs.cycle = bt_explain_world_begin_on(&world, slot, &named);
			if (named) {
				bt_needs_of_slot(&needs, slot);
			}
			bt_search_charge(search, 1);
			if (named && !needs.is_final &&
				bt_remedies_unite(&remedies, &needs.fewest)) {
				keep_better(removal, &remedies, priority, node,
					needs.fewest_is_too_small);
			}
			bt_needs_finish(&needs);
		}
		result = bt_explain_world_close(&world, err);
	}
	bt_vec_finish(&remedies);
	return result;
}

/** Whether the budget allows one more trial. */
static bool may_try(const struct removal *removal)
{
	const struct bt_explain_search *search = removal->search;

	return removal->left > 0 && search->work + search->cycle_work <= removal->work_end;
}

int bt_search_removals(struct bt_explain_search *search, uint32_t limit, struct berth_error *err)
{
	const struct bt_explain_run *run = search->run;
	struct removal removal = {.search = search,
		.limit = limit,
		.left = REMOVALS_MAX,
		.work_end = search->work + WORK_MAX};
	uint32_t count = run->out->nodes.count;
	bool *seen = BT_ARENA_NEW_ARRAY(&search->arena, bool, count);
	uint32_t rest = search->queue.count - search->next;
	int result = 0;

	/* Try the nearest nodes first, and nodes without known remedies last. */
	for (uint32_t i = 0; i < rest + count && may_try(&removal) && result == 0; i++) {
		uint32_t node = i < rest ? search->queue.items[search->next + i]->node : i - rest;

		if (seen[node]) {
			continue;
		}
		seen[node] = true;
		const struct bt_node_row *row =
			&run->engine->state->nodes.rows[run->out->nodes.items[node].slot];

		removal.best = NULL;
		/* The loop relies on trials leaving the list of pods unchanged. */
		for (uint32_t k = 0; k < row->pods.count && may_try(&removal) && result == 0; k++) {
			if (!bt_advice_is_removable(run->engine->state, row->pods.items[k])) {
				continue;
			}
			result = try_removal(&removal, row->pods.items[k], node, err);
			removal.left--;
		}
		if (removal.best != NULL) {
			bt_vec_push(&search->queue, removal.best);
		}
	}
	sort_queue(search);
	return result;
}
