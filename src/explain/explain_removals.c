/* SPDX-License-Identifier: Apache-2.0 */
/**
 * One pod that leaves may lift several obstacles at once: it gives back all it has, its ports, and
 * its part in how pods are spread. Advice looks at one obstacle at a time and does not see that.
 */
#include "explain/explain_search.h"

/** Pods that are tried. */
#define REMOVALS_MAX 200
/** Of all the work there is for trials: what is left is for what advice says. */
#define WORK_MAX 2000000
/** Clusters of so many nodes: a pod that leaves may open another node than its own. */
#define SMALL_CLUSTER_NODES 64

/** What is found on one node: the pod whose leaving asks for the fewest changes beside it. */
struct removal {
	struct bt_explain_search *search;
	struct bt_candidate *best; /* NULL: none */
	int32_t priority;          /* of the pod that leaves there */
	uint32_t limit;            /* only fewer changes than this are of interest */
	uint32_t left;             /* pods that may still be tried */
	uint64_t work_end;
};

/** What the pod's own node still asks for is added. false: nothing known helps there. */
static bool add_needs(struct bt_explain_search *search, struct bt_explain_world *world,
	uint32_t slot, bt_remedy_vec *remedies, bool *out_too_small)
{
	struct bt_needs needs = {.run = search->run, .pod = &world->info};
	bool named;
	bool possible = false;

	needs.cycle = bt_explain_world_begin_on(world, slot, &named);
	if (named) {
		bt_needs_of_slot(&needs, slot);
		possible = !needs.is_final &&
			bt_remedies_unite(remedies, needs.fewest.items, needs.fewest.count);
		*out_too_small = needs.fewest_is_too_small;
	}
	bt_search_charge(search, 1);
	bt_needs_finish(&needs);
	return possible;
}

static void consider(struct removal *removal, const bt_remedy_vec *remedies, int32_t priority,
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
		.remedies = bt_remedies_sort(&search->arena, remedies->items, remedies->count),
		.distance = 0.25,
		.node = node,
		.node_count = 1,
		.is_too_small = is_too_small,
	};
}

/** The cluster without the pod. node: its own. */
static int try_removal(
	struct removal *removal, uint32_t pod_id, uint32_t node, struct berth_error *err)
{
	struct bt_explain_search *search = removal->search;
	const struct bt_explain_run *run = search->run;
	const bt_remedy_list *entry = &(const bt_remedy_list){
		run->out->entry_remedies.items, run->out->entry_remedies.count, true};
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
	bt_remedy_vec remedies = {0};
	bool is_too_small = false;
	bool possible = bt_remedies_unite(&remedies, entry->items, entry->count) &&
		bt_remedies_unite(&remedies, &leave, 1);
	int result = possible ? bt_explain_world_open(&world, run->engine, run->pod, remedies.items,
					remedies.count, &run->options->objects, &possible, err)
			      : 0;

	if (result == 0 && possible) {
		struct bt_scan scan = {.first_slot = BT_SLOT_NONE};

		if (run->out->nodes.count <= SMALL_CLUSTER_NODES) {
			scan = bt_explain_world_scan(&world, slot, true);
			bt_search_charge(search, scan.asked_count);
		}
		if (scan.first_slot != BT_SLOT_NONE) {
			consider(removal, &remedies, priority, run->node_of_slot[scan.first_slot],
				false);
		} else if (world.admitted &&
			add_needs(search, &world, slot, &remedies, &is_too_small)) {
			consider(removal, &remedies, priority, node, is_too_small);
		}
		result = bt_explain_world_close(&world, err);
	}
	bt_vec_finish(&remedies);
	return result;
}

/** One more trial may be made, and leaves time for others. */
static bool may_try(const struct removal *removal)
{
	const struct bt_explain_search *search = removal->search;

	return removal->left > 0 && search->work + search->cycle_work <= removal->work_end;
}

static int try_pods_of(struct removal *removal, uint32_t node, struct berth_error *err)
{
	struct bt_explain_search *search = removal->search;
	const struct bt_state *state = search->run->engine->state;
	const struct bt_node_row *row =
		&state->nodes.rows[search->run->out->nodes.items[node].slot];
	int result = 0;

	removal->best = NULL;
	/* A trial leaves the list as it was. */
	for (uint32_t i = 0; i < row->pods.count && may_try(removal) && result == 0; i++) {
		result = try_removal(removal, row->pods.items[i], node, err);
		removal->left--;
	}
	return result;
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
	uint32_t rest = search->queue_count - search->next;
	BT_VEC(struct bt_candidate *) found = {0};
	int result = 0;

	/* The nearest nodes first, then those that nothing is known to help on. */
	for (uint32_t i = 0; i < rest + count && may_try(&removal) && result == 0; i++) {
		uint32_t node = i < rest ? search->queue[search->next + i]->node : i - rest;

		if (seen[node]) {
			continue;
		}
		seen[node] = true;
		result = try_pods_of(&removal, node, err);
		if (removal.best != NULL) {
			bt_vec_push(&found, removal.best);
		}
	}
	if (result == 0 && found.count != 0) {
		bt_candidates_insert(search, found.items, found.count);
	}
	bt_vec_finish(&found);
	return result;
}
