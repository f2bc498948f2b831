/* SPDX-License-Identifier: Apache-2.0 */
/** Finds for each node the scores or all rejections. */
#include <stdlib.h>

#include "explain/explain_private.h"

/** The groups of nodes with the same status, in the order in which they were found. */
struct groups {
	struct bt_explain_run *run;
	struct bt_map map;                 /* by hash of the status */
	BT_VEC(struct bt_status) statuses; /* copies, by group */
	BT_VEC(struct bt_explained_group) groups;
};

/** Returns the index of the group with this status; adds a group if there is none. */
static uint32_t find_or_add_group(
	struct groups *groups, const struct bt_status *status, bool in_pre_filter)
{
	struct bt_arena *arena = &groups->run->out->arena;
	uint64_t hash = bt_hash_u64(status->code, (uint64_t)status->plugin * 2 + in_pre_filter);
	uint32_t reason_count = bt_status_all_reason_count(status);

	for (uint32_t i = 0; i < reason_count; i++) {
		hash = bt_hash_u64(hash, bt_str_hash(bt_status_all_reason_at(status, i)));
	}
	BT_MAP_EACH (&groups->map, hash, index) {
		if (bt_status_equal(&groups->statuses.items[index], status) &&
			groups->groups.items[index].in_pre_filter == in_pre_filter) {
			return index;
		}
	}
	struct bt_status copy = bt_status_copy(status, arena);
	struct bt_explained_group group = {
		.code = (enum bt_status_code)status->code,
		.plugin = bt_arena_str(
			arena, bt_framework_status_plugin_name(groups->run->framework, status)),
		.in_pre_filter = in_pre_filter,
	};

	for (uint32_t i = 0; i < reason_count; i++) {
		bt_arena_push(arena, &group.reasons, bt_status_all_reason_at(&copy, i));
	}
	bt_vec_push(&groups->statuses, copy);
	bt_vec_push(&groups->groups, group);
	bt_map_insert(&groups->map, hash, groups->groups.count - 1);
	return groups->groups.count - 1;
}

/**
 * Orders nodes: nodes without known changes last, then nodes that are too small, then by number of
 * remedies and by distance.
 */
static int compare_distances(const struct bt_explained_node *x, const struct bt_explained_node *y)
{
	bool is_final = x->is_final;

	return BT_ORDER_BY(BT_ORDER(x->is_final, y->is_final),
		is_final ? 0 : BT_ORDER(x->is_too_small, y->is_too_small),
		is_final ? 0 : BT_ORDER(x->remedies.count, y->remedies.count),
		BT_ORDER(x->distance, y->distance));
}

BT_COMPARE(compare_nodes, struct bt_explained_node *const,
	BT_ORDER_BY(compare_distances(*a, *b), bt_str_compare((*a)->name, (*b)->name)))

struct ranked_group {
	const struct bt_explained_group *group;
	const struct bt_explained_node *nearest;
};

static int compare_reasons(const struct bt_explained_group *x, const struct bt_explained_group *y)
{
	for (uint32_t i = 0; i < x->reasons.count && i < y->reasons.count; i++) {
		int order = bt_str_compare(x->reasons.items[i], y->reasons.items[i]);

		if (order != 0) {
			return order;
		}
	}
	return BT_ORDER(x->reasons.count, y->reasons.count);
}

static int compare_groups(const void *a, const void *b)
{
	const struct ranked_group *first = a;
	const struct ranked_group *second = b;
	const struct bt_explained_group *x = first->group;
	const struct bt_explained_group *y = second->group;

	return BT_ORDER_BY(compare_distances(first->nearest, second->nearest),
		BT_ORDER(y->nodes.count, x->nodes.count), compare_reasons(x, y),
		bt_str_compare(x->plugin, y->plugin), BT_ORDER(x->code, y->code),
		BT_ORDER(x->in_pre_filter, y->in_pre_filter));
}

/** Limit of PreFilter runs; each run removes the cause of the previous rejection. */
#define LEVELS_MAX 4

struct named_slot {
	struct bt_str name;
	uint32_t slot;
};

/** Adds all nodes of the snapshot, sorted by name, without verdicts. */
static void list_nodes(struct bt_explain_run *run)
{
	struct bt_explanation *out = run->out;
	const struct bt_state *state = run->engine->state;
	uint32_t count = state->snapshot.count;
	struct named_slot *named = BT_NEW_ARRAY(struct named_slot, count);

	for (uint32_t i = 0; i < count; i++) {
		named[i].slot = bt_snapshot_list(&state->snapshot)[i];
		named[i].name = bt_node_table_name(&state->nodes, named[i].slot);
	}
	qsort(named, count, sizeof(named[0]), bt_str_compare_qsort);
	out->nodes.items = BT_ARENA_NEW_ARRAY(&out->arena, struct bt_explained_node, count);
	out->nodes.count = count;
	run->outlooks = BT_ARENA_NEW_ARRAY(&out->arena, struct bt_outlook, count);
	run->node_of_slot = BT_ARENA_NEW_ARRAY(&out->arena, uint32_t, state->nodes.slot_count);
	for (uint32_t i = 0; i < count; i++) {
		out->nodes.items[i] = (struct bt_explained_node){
			.name = bt_arena_str(&out->arena, named[i].name),
			.slot = named[i].slot,
			.group = BT_EXPLAIN_GROUP_NONE,
		};
		run->node_of_slot[named[i].slot] = i;
	}
	bt_free(named);
}

/** Adds the obstacles of `needs` after the node's known obstacles. */
static void append_obstacles(
	struct bt_arena *arena, struct bt_explained_node *node, const struct bt_needs *needs)
{
	for (uint32_t i = 0; i < needs->obstacles.count; i++) {
		bt_arena_push(arena, &node->obstacles, needs->obstacles.items[i]);
	}
}

static void run_filters(struct bt_explain_run *run, struct bt_needs *needs,
	const struct bt_needs *base, uint32_t index)
{
	bt_needs_reset(needs);
	bt_needs_of_slot(needs, run->out->nodes.items[index].slot);
	/* Add the filters' verdicts. base: the changes without which the filters cannot run. */
	struct bt_arena *arena = &run->out->arena;
	struct bt_explained_node *node = &run->out->nodes.items[index];
	struct bt_outlook *outlook = &run->outlooks[index];
	bt_remedy_list remedies = {0};
	bt_remedy_list of_pod = {0};
	bt_remedy_list fewest = {0};

	append_obstacles(arena, node, needs);
	node->is_final = needs->is_final || base->is_final;
	node->is_too_small = needs->is_too_small;
	node->distance = base->distance + needs->distance;
	outlook->known = true;
	outlook->of_pod_is_too_small = needs->of_pod_is_too_small;
	outlook->of_pod_distance = base->of_pod_distance + needs->of_pod_distance;
	if (!bt_remedies_unite(&remedies, &base->remedies) ||
		!bt_remedies_unite(&remedies, &needs->remedies) ||
		!bt_remedies_unite(&of_pod, &base->remedies) ||
		!bt_remedies_unite(&of_pod, &needs->of_pod) ||
		!bt_remedies_unite(&fewest, &base->remedies) ||
		!bt_remedies_unite(&fewest, &needs->fewest)) {
		node->is_final = true;
	}
	if (!node->is_final) {
		/*
		 * Copy of_pod only if it differs from `remedies`, and fewest only if it is better
		 * than `remedies` and of_pod, because there may be many nodes and most lists are
		 * equal.
		 */
		if (!bt_remedies_equal(&remedies, &of_pod)) {
			outlook->of_pod = bt_remedies_copy(arena, &of_pod);
		}
		if (fewest.count < of_pod.count &&
			(fewest.count < remedies.count ||
				(needs->is_too_small && !needs->fewest_is_too_small))) {
			outlook->fewest = bt_remedies_copy(arena, &fewest);
			outlook->fewest_is_too_small = needs->fewest_is_too_small;
		}
		node->remedies = bt_remedies_copy(arena, &remedies);
	}
	bt_vec_finish(&remedies);
	bt_vec_finish(&of_pod);
	bt_vec_finish(&fewest);
}

/** Whether a node is rejected and its filters have not run yet. */
static bool has_unknown_filters(const struct bt_explain_run *run, uint32_t index)
{
	return run->out->nodes.items[index].group != BT_EXPLAIN_GROUP_NONE &&
		!run->outlooks[index].known;
}

/**
 * Explains the nodes that PreFilter rejects: removes the cause of the rejection in a trial, and
 * runs the filters of the nodes that PreFilter accepts then. needs: the remedies for PreFilter's
 * rejection; base: collects the changes without which the filters cannot run.
 */
static int run_filters_after_changes(struct bt_explain_run *run, struct bt_needs *needs,
	struct bt_needs *base, struct berth_error *err)
{
	struct bt_explanation *out = run->out;

	for (uint32_t level = 0; level < LEVELS_MAX; level++) {
		struct bt_explain_world world;
		bool possible;
		bool any = false;

		for (uint32_t i = 0; i < out->nodes.count; i++) {
			if (has_unknown_filters(run, i)) {
				append_obstacles(&out->arena, &out->nodes.items[i], needs);
				/* Until the filters have run. */
				out->nodes.items[i].is_final = true;
				any = true;
			}
		}
		if (!any || needs->is_final || needs->remedies.count == 0 ||
			!bt_remedies_unite(&base->remedies, &needs->remedies)) {
			return 0;
		}
		base->distance += needs->distance;
		base->of_pod_distance += needs->distance;
		int result = bt_explain_world_open(&world, run->engine, run->pod, &base->remedies,
			&run->options->objects, &possible, err);
		if (result < 0 || !possible) {
			return result;
		}
		if (world.framework == NULL) {
			world.framework = run->framework;
		}
		const uint32_t *slots;
		uint32_t count;

		needs->cycle = bt_explain_world_begin(&world, &slots, &count);
		needs->pod = &world.info;
		for (uint32_t i = 0; i < count; i++) {
			if (has_unknown_filters(run, run->node_of_slot[slots[i]])) {
				run_filters(run, needs, base, run->node_of_slot[slots[i]]);
			}
		}
		bt_needs_reset(needs);
		bt_needs_of_pre_filter(needs, &world.pre_filter);
		result = bt_explain_world_close(&world, err);
		if (result < 0) {
			return result;
		}
	}
	return 0;
}

/** Fills in out->nodes. The `group` of a node is then an index in `groups`. */
static int explain_all_nodes(struct bt_explain_run *run, const struct bt_pod_info *pod,
	struct groups *groups, struct berth_error *err)
{
	struct bt_explanation *out = run->out;
	struct bt_needs needs = {.run = run, .pod = pod};
	struct bt_needs base = {.run = run};
	struct bt_evaluation evaluation;

	bt_engine_evaluate(run->engine, run->framework, pod, &evaluation);
	if (!bt_status_is_success(&evaluation.error)) {
		if (out->fate != BT_EXPLAINED_ERROR) {
			out->fate = BT_EXPLAINED_ERROR;
			out->message = bt_arena_str(&out->arena,
				bt_status_message_str(&evaluation.error, evaluation.cycle->arena));
		}
		return 0;
	}
	list_nodes(run);
	const struct bt_status *absent = &evaluation.diagnosis.statuses.absent;
	uint32_t next = 0;

	out->feasible_count = evaluation.feasible_count;
	for (uint32_t i = 0; i < out->nodes.count; i++) {
		struct bt_explained_node *node = &out->nodes.items[i];

		/*
		 * Both lists are sorted by name. The evaluation lacks the nodes that PreFilter
		 * excluded.
		 */
		if (next == evaluation.node_count || evaluation.nodes[next].slot != node->slot) {
			node->in_pre_filter = true;
			node->group = find_or_add_group(groups, absent, true);
			continue;
		}
		const struct bt_status *status = &evaluation.nodes[next++].filter;
		if (!bt_status_is_success(status)) {
			node->group = find_or_add_group(groups, status, false);
		}
	}
	/* Copy the scores of the feasible nodes. */
	const struct bt_score_table *scores = &evaluation.scores;

	if (evaluation.best != UINT32_MAX) {
		struct bt_str *plugins =
			BT_ARENA_NEW_ARRAY(&out->arena, struct bt_str, scores->plugin_count);
		for (uint32_t i = 0; i < scores->plugin_count; i++) {
			plugins[i] = bt_arena_str(&out->arena,
				bt_framework_plugin_name(
					run->framework, scores->plugins[i].plugin->index));
		}
		uint32_t best_slot = evaluation.feasible[evaluation.best];
		out->best_node = out->nodes.items[run->node_of_slot[best_slot]].name;
		for (uint32_t i = 0; i < evaluation.feasible_count; i++) {
			struct bt_explained_node *node =
				&out->nodes.items[run->node_of_slot[evaluation.feasible[i]]];

			node->total_score = scores->totals[i];
			node->scores.count = scores->plugin_count;
			node->scores.items = BT_ARENA_NEW_ARRAY(
				&out->arena, struct bt_explained_score, scores->plugin_count);
			for (uint32_t k = 0; k < scores->plugin_count; k++) {
				node->scores.items[k] = (struct bt_explained_score){
					plugins[k], scores->plugins[k].scores[i]};
			}
		}
	}
	needs.cycle = evaluation.cycle;
	for (uint32_t i = 0; i < out->nodes.count; i++) {
		if (has_unknown_filters(run, i) && !out->nodes.items[i].in_pre_filter) {
			run_filters(run, &needs, &base, i);
		}
	}
	bt_needs_reset(&needs);
	bt_needs_of_pre_filter(&needs, &evaluation.pre_filter);
	int result = run_filters_after_changes(run, &needs, &base, err);
	bt_needs_finish(&needs);
	bt_needs_finish(&base);
	return result;
}

int bt_explain_nodes(
	struct bt_explain_run *run, const struct bt_pod_info *pod, struct berth_error *err)
{
	struct bt_explanation *out = run->out;
	struct groups groups = {.run = run};
	int result = explain_all_nodes(run, pod, &groups, err);
	uint32_t count = groups.groups.count;
	uint32_t node_count = 0;
	const struct bt_explained_node **nodes =
		BT_NEW_ARRAY(const struct bt_explained_node *, out->nodes.count);
	struct ranked_group *ranked = BT_NEW_ARRAY(struct ranked_group, count);

	for (uint32_t i = 0; i < out->nodes.count; i++) {
		if (out->nodes.items[i].group != BT_EXPLAIN_GROUP_NONE) {
			groups.groups.items[out->nodes.items[i].group].nodes.count++;
			nodes[node_count++] = &out->nodes.items[i];
		}
	}
	qsort(nodes, node_count, sizeof(nodes[0]), compare_nodes);
	for (uint32_t i = 0; i < count; i++) {
		struct bt_explained_group *group = &groups.groups.items[i];

		group->nodes.items = BT_ARENA_NEW_ARRAY(&out->arena, uint32_t, group->nodes.count);
		group->nodes.count = 0;
	}
	for (uint32_t i = 0; i < node_count; i++) {
		struct bt_explained_group *group = &groups.groups.items[nodes[i]->group];

		group->nodes.items[group->nodes.count++] = (uint32_t)(nodes[i] - out->nodes.items);
	}
	for (uint32_t i = 0; i < count; i++) {
		const struct bt_explained_group *group = &groups.groups.items[i];
		ranked[i] = (struct ranked_group){group, &out->nodes.items[group->nodes.items[0]]};
	}
	qsort(ranked, count, sizeof(ranked[0]), compare_groups);
	out->groups.items = BT_ARENA_NEW_ARRAY(&out->arena, struct bt_explained_group, count);
	out->groups.count = count;
	for (uint32_t i = 0; i < count; i++) {
		struct bt_explained_group *group = &out->groups.items[i];

		*group = *ranked[i].group;
		for (uint32_t k = 0; k < group->nodes.count; k++) {
			out->nodes.items[group->nodes.items[k]].group = i;
		}
	}
	bt_free(ranked);
	bt_free(nodes);
	bt_map_finish(&groups.map);
	bt_vec_finish(&groups.statuses);
	bt_vec_finish(&groups.groups);
	return result;
}
