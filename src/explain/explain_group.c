/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Explains why a pod group is not accepted, and finds changes with which the whole group fits.
 * Spec: 09.
 */
#include "api/change.h"
#include "explain/explain_private.h"
#include "plugins/common_pod_group.h"
#include "state/pod_groups.h"

/** Limit of rounds that add changes to a proposal; each round explains one more member. */
#define ROUNDS_MAX 8
/** Limit of proposals of one member that are tried for the whole group. */
#define CHOICES_MAX 8
/** Limit of nodes that are tried as templates of new nodes. */
#define MODELS_MAX 3
/** Limit of added nodes, and of added members. */
#define ADDED_MAX 10000
/** Budget of member evaluations in all trials: a few seconds. */
#define WORK_MAX 1000000

struct group_run {
	struct bt_scheduler *scheduler;
	struct bt_engine *engine;
	const struct bt_pod *const *pods; /* the caller's array */
	uint32_t count;
	const struct bt_explain_options *options;
	struct bt_group_explanation *out;
	struct bt_arena arena;                  /* memory of changed pods and nodes */
	const struct bt_pod_group *group;       /* the PodGroup in the object store; NULL: none */
	bt_remedy_list remedies;                /* changes applied at present */
	BT_VEC(const struct bt_node *) changed; /* the nodes as changed by `remedies` */
	BT_VEC(struct bt_group_proposal) proposals;
	uint64_t work;
	bool is_explained;   /* out->stop is filled in */
	bool is_last_resort; /* proposals[0] lowers requests or needs larger nodes */
	int result;
	struct berth_error *err;
};

struct outcome {
	bool is_accepted;
	uint32_t placed_count;
};

/**
 * Returns the changed copy of the node, or the node from the caller's options->objects; NULL if
 * neither is available.
 */
static const struct bt_node *current_node(void *context, struct bt_str name)
{
	const struct group_run *run = context;
	const struct bt_explain_objects *objects = &run->options->objects;
	for (uint32_t i = 0; i < run->changed.count; i++) {
		if (bt_str_equal(run->changed.items[i]->metadata.name, name)) {
			return run->changed.items[i];
		}
	}
	return objects->node != NULL ? objects->node(objects->context, name) : NULL;
}

static bool is_admitted(const struct group_run *run, const struct bt_pod *pod,
	struct bt_arena *arena, struct bt_str *out_message)
{
	struct bt_framework *framework = bt_engine_profile(run->engine, pod->spec.scheduler_name);
	struct bt_pod_info info;
	struct bt_plugin *gate;
	if (framework == NULL) {
		return true; /* the group's cycle reports the reason */
	}
	bt_pod_info_init_pending(run->engine->state, pod, &info);
	struct bt_status status = bt_run_pre_enqueue(framework, &info, arena, NULL, &gate);
	*out_message = bt_arena_str(arena, bt_status_message_str(&status, arena));
	bt_pod_info_finish_pending(run->engine->state, &info);
	return bt_status_is_success(&status);
}

/**
 * Runs the group's cycle with the pods `more` added and run->remedies applied to all pods. Pods
 * that PreEnqueue rejects are left out. visit: see bt_try_group_options; may be NULL.
 */
static struct outcome try_group(struct group_run *run, const struct bt_pod *const *more,
	uint32_t more_count, void (*visit)(void *context, const struct bt_tried_group *tried))
{
	struct bt_try_group_options options = {.visit = visit, .context = run};
	struct bt_tried_group tried;
	struct outcome outcome = {0};
	uint32_t all = run->count + more_count;
	const struct bt_pod **pods = BT_ARENA_NEW_ARRAY(&run->arena, const struct bt_pod *, all);
	options.pods = pods;
	for (uint32_t i = 0; i < all; i++) {
		const struct bt_pod *pod = i < run->count ? run->pods[i] : more[i - run->count];
		struct bt_str message;
		if (run->remedies.count != 0) {
			struct bt_pod *changed = BT_ARENA_NEW(&run->arena, struct bt_pod);
			*changed = *pod;
			bt_remedies_apply_to_pod(&run->remedies, changed, &run->arena);
			pod = changed;
		}
		if (is_admitted(run, pod, &run->arena, &message)) {
			pods[options.count++] = pod;
		}
	}
	if (options.count == 0) {
		return outcome;
	}
	bt_scheduler_try_group(run->scheduler, &options, &tried);
	run->work +=
		(uint64_t)options.count * (tried.placement_count != 0 ? tried.placement_count : 1);
	outcome.is_accepted = tried.code == BT_STATUS_SUCCESS;
	if (tried.placement_count != 0) {
		outcome.placed_count = tried.placements[tried.closest].placed_count;
	}
	return outcome;
}

static struct bt_group_proposal *propose(
	struct group_run *run, enum bt_group_change kind, uint32_t count, uint32_t placed_count)
{
	struct bt_group_proposal proposal = {
		.kind = kind, .count = count, .placed_count = placed_count};
	bt_vec_push(&run->proposals, proposal);
	return &run->proposals.items[run->proposals.count - 1];
}

/** --- the member that stops the group --- */

/** Removes the nodes outside the placement from the explanation's groups. */
static void keep_placement(struct group_run *run, struct bt_explanation *explanation,
	struct bt_str key, struct bt_str value)
{
	uint32_t kept_groups = 0;
	for (uint32_t i = 0; i < explanation->groups.count; i++) {
		struct bt_explained_group group = explanation->groups.items[i];
		uint32_t kept = 0;
		for (uint32_t k = 0; k < group.nodes.count; k++) {
			uint32_t index = group.nodes.items[k];
			const struct bt_node *node =
				current_node(run, explanation->nodes.items[index].name);
			const struct bt_str *label =
				node != NULL ? bt_str_map_find(&node->metadata.labels, key) : NULL;
			if (label != NULL && bt_str_equal(*label, value)) {
				group.nodes.items[kept++] = index;
			}
		}
		group.nodes.count = kept;
		if (kept != 0) {
			explanation->groups.items[kept_groups++] = group;
		}
	}
	explanation->groups.count = kept_groups;
}

/**
 * Whether the proposal can help the whole group. Removing one pod, or moving a pod to another
 * placement, cannot help the whole group.
 */
static bool is_usable(const struct group_run *run, const struct bt_proposal *proposal)
{
	for (uint32_t i = 0; i < proposal->remedies.count; i++) {
		const struct bt_remedy *remedy = &proposal->remedies.items[i];
		bool is_of_key = run->out->topology_key.length != 0 &&
			bt_str_equal(remedy->key, run->out->topology_key);
		if (remedy->kind == BT_REMEDY_REMOVE_POD ||
			(is_of_key &&
				(remedy->kind == BT_REMEDY_SET_LABEL ||
					remedy->kind == BT_REMEDY_REMOVE_LABEL ||
					remedy->kind == BT_REMEDY_DROP_NODE_SELECTOR))) {
			return false;
		}
	}
	return proposal->remedies.count != 0;
}

/**
 * Whether the proposal lowers requests, or frees resources on a node on which the trial placed
 * members of the group. On such a node the members themselves use the resources, so only a larger
 * node would have the proposed amount free.
 */
static bool is_second_choice(const struct bt_tried_group *tried, const struct bt_proposal *proposal)
{
	for (uint32_t i = 0; i < proposal->remedies.count; i++) {
		const struct bt_remedy *remedy = &proposal->remedies.items[i];
		if (remedy->kind == BT_REMEDY_LOWER_REQUEST) {
			return true;
		}
		for (uint32_t k = 0;
			remedy->kind == BT_REMEDY_FREE_RESOURCE && k < tried->member_count; k++) {
			if (bt_str_equal(remedy->node, tried->members[k].node_name)) {
				return true;
			}
		}
	}
	return false;
}

static void copy_members(struct group_run *run, const struct bt_tried_group *tried)
{
	struct bt_group_explanation *out = run->out;
	struct bt_arena *arena = &out->arena;
	for (uint32_t i = 0; i < tried->member_count; i++) {
		const struct bt_tried_member *member = &tried->members[i];
		struct bt_explained_member explained = {
			.name = bt_arena_str(arena, member->pod->metadata.name),
			.node_name = bt_arena_str(arena, member->node_name),
			.message = bt_arena_str(arena, member->message),
		};
		bt_arena_push(arena, &out->members, explained);
		out->placed_count += member->node_name.length != 0;
	}
	for (uint32_t i = 0; i < tried->placement_count; i++) {
		const struct bt_tried_placement *placement = &tried->placements[i];
		struct bt_explained_placement explained = {
			.name = bt_arena_str(arena, placement->name),
			.node_count = placement->node_count,
			.placed_count = placement->placed_count,
			.is_feasible = placement->is_feasible,
		};
		bt_arena_push(arena, &out->placements, explained);
	}
	out->closest = tried->closest;
	out->message = bt_arena_str(arena, tried->message);
	out->fate = tried->code == BT_STATUS_SUCCESS ? BT_GROUP_FITS
		: tried->code == BT_STATUS_ERROR     ? BT_GROUP_ERROR
						     : BT_GROUP_UNSCHEDULABLE;
}

/**
 * Explains the first member without a node, while the preceding members are on their nodes. Adds to
 * run->remedies the remedies with which this member fits. The first call also fills in run->out.
 */
static void explain_first_member(void *context, const struct bt_tried_group *tried)
{
	struct group_run *run = context;
	struct bt_group_explanation *out = run->out;
	const struct bt_pod *stopped = NULL;
	struct bt_explanation explanation;
	bool is_first = !run->is_explained;
	if (is_first) {
		copy_members(run, tried);
	}
	run->is_explained = true;
	for (uint32_t i = 0; i < tried->member_count && stopped == NULL; i++) {
		const struct bt_tried_member *member = &tried->members[i];
		if (member->was_tried && !member->is_reserved && member->node_name.length == 0) {
			stopped = member->pod;
		}
	}
	if (stopped == NULL || tried->placement_count == 0 || run->result < 0) {
		return;
	}
	struct bt_str place = tried->placements[tried->closest].name;
	struct bt_str key = out->topology_key;
	bool is_confined = key.length != 0;
	if (is_confined) {
		place = bt_arena_str(&run->arena, place);
		struct bt_pod *confined = BT_ARENA_NEW(&run->arena, struct bt_pod);
		*confined = *stopped;
		/* A pod that selects a placement itself stays as it is. */
		if (bt_str_map_find(&stopped->spec.node_selector, key) == NULL) {
			confined->spec.node_selector = bt_str_map_set(
				&stopped->spec.node_selector, key, &place, &run->arena);
		}
		stopped = confined;
	}
	const struct bt_explain_options options = {
		.proposals_max = run->options->proposals_max != 0 ? CHOICES_MAX : 0,
		.objects = {.node = current_node, .context = run},
	};
	int result = bt_explain(run->engine, stopped, &options, &explanation, run->err);
	if (result < 0) {
		run->result = result;
		bt_explanation_finish(&explanation);
		return;
	}
	if (is_confined) {
		keep_placement(run, &explanation, key, place);
	}
	const struct bt_proposal *proposal = NULL;
	for (uint32_t i = 0; i < explanation.proposals.count; i++) {
		const struct bt_proposal *other = &explanation.proposals.items[i];
		if (!is_usable(run, other)) {
			continue;
		}
		if (!is_second_choice(tried, other)) {
			proposal = other;
			break;
		}
		proposal = proposal == NULL ? other : proposal;
	}
	for (uint32_t k = 0; proposal != NULL && k < proposal->remedies.count; k++) {
		struct bt_remedy copy = bt_remedy_copy(&proposal->remedies.items[k], &out->arena);
		if (!bt_remedies_add(&run->remedies, &copy)) {
			break; /* limit reached */
		}
	}
	if (is_first) {
		out->stopped = stopped;
		out->stop = explanation;
	} else {
		bt_explanation_finish(&explanation);
	}
}

/** --- changes of nodes and members --- */

/** Runs the group's cycle with run->remedies applied to nodes and pods. */
static struct outcome try_remedies(
	struct group_run *run, void (*look_at)(void *context, const struct bt_tried_group *tried))
{
	const struct bt_explain_objects *objects = &run->options->objects;
	for (uint32_t i = 0; i < run->remedies.count; i++) {
		struct bt_str name = run->remedies.items[i].node;
		const struct bt_node *was =
			name.length != 0 && !bt_remedy_is_of_pod(run->remedies.items[i].kind)
			? current_node(run, name)
			: NULL;
		if (was == NULL) {
			continue;
		}
		struct bt_node *now = BT_ARENA_NEW(&run->arena, struct bt_node);
		*now = *objects->node(objects->context, name);
		bt_remedies_apply_to_node(&run->remedies, now, &run->arena);
		bt_state_update_node(run->engine->state, was, now);
		for (uint32_t k = 0; k < run->changed.count; k++) {
			if (run->changed.items[k] == was) {
				bt_vec_remove_swap(&run->changed, k);
				break;
			}
		}
		bt_vec_push(&run->changed, now);
	}
	struct outcome outcome = try_group(run, NULL, 0, look_at);
	for (uint32_t i = 0; i < run->changed.count; i++) {
		const struct bt_node *changed = run->changed.items[i];
		bt_state_update_node(run->engine->state, changed,
			objects->node(objects->context, changed->metadata.name));
	}
	run->changed.count = 0;
	return outcome;
}

/** Whether remedies lower requests, or free more than the pods of a node use. */
static bool is_last_resort(const struct group_run *run)
{
	const struct bt_node_table *nodes = &run->engine->state->nodes;
	for (uint32_t i = 0; i < run->remedies.count; i++) {
		const struct bt_remedy *remedy = &run->remedies.items[i];
		uint32_t slot = remedy->kind == BT_REMEDY_FREE_RESOURCE
			? bt_node_table_find(nodes, remedy->node)
			: BT_SLOT_NONE;
		if (slot != BT_SLOT_NONE &&
			bt_node_table_columns(nodes, remedy->resource).requested[slot] <
				remedy->amount) {
			return true;
		}
		if (remedy->kind == BT_REMEDY_LOWER_REQUEST) {
			return true;
		}
	}
	return false;
}

static bool has_time(const struct group_run *run)
{
	return run->work < WORK_MAX && run->result == 0;
}

/** Returns the number of further members that must find a node for the group to be accepted. */
static uint32_t missing_count(const struct group_run *run, uint32_t placed_count)
{
	const struct bt_group_explanation *out = run->out;
	uint32_t has = out->scheduled_count + placed_count;
	uint32_t wanted = out->min_count > 0 ? (uint32_t)out->min_count : out->scheduled_count + 1;
	return wanted > has ? wanted - has : 0;
}

/**
 * Searches for a proposal of kind REMEDIES. Starts with run->remedies, which explain_first_member
 * filled in; adds changes until the group is accepted; then drops each change that is not needed.
 */
static void propose_remedies(struct group_run *run)
{
	struct outcome outcome = {0};
	uint32_t placed_count = run->out->placed_count;
	uint32_t known = 0;
	for (uint32_t i = 0; i < ROUNDS_MAX && !outcome.is_accepted && has_time(run); i++) {
		bt_remedy_list before = {0};
		(void)bt_remedies_unite(&before, &run->remedies);
		outcome = try_remedies(run, explain_first_member);
		bool is_same = bt_remedies_equal(&before, &run->remedies);
		if (outcome.is_accepted && !is_same) {
			/*
			 * The group is accepted, but a member beyond minCount has no node, and
			 * changes for that member were added. Drop these changes.
			 */
			bt_remedy_list grown = run->remedies;
			run->remedies = before;
			before = grown;
		}
		bt_vec_finish(&before);
		uint64_t gain = outcome.placed_count > placed_count
			? outcome.placed_count - placed_count
			: 0;
		placed_count = outcome.placed_count;
		if (!outcome.is_accepted &&
			(is_same ||
				gain * (ROUNDS_MAX - 1 - i) < missing_count(run, placed_count))) {
			return; /* no change was added, or the remaining rounds are too few */
		}
	}
	while (outcome.is_accepted && known < run->remedies.count && has_time(run)) {
		struct bt_remedy left_out = run->remedies.items[known];
		bt_vec_remove_ordered(&run->remedies, known);
		struct outcome without = try_remedies(run, NULL);
		if (without.is_accepted) {
			outcome = without;
		} else {
			bt_vec_insert(&run->remedies, known, left_out);
			known++;
		}
	}
	if (outcome.is_accepted && known == run->remedies.count && known != 0) {
		run->is_last_resort = is_last_resort(run);
		struct bt_group_proposal *proposal =
			propose(run, BT_GROUP_CHANGE_REMEDIES, 0, outcome.placed_count);
		proposal->remedies = bt_remedies_copy(&run->out->arena, &run->remedies);
	}
}

/** --- new nodes --- */

struct added_nodes {
	const struct bt_node *nodes; /* all nodes that may be added */
	uint32_t count;              /* number of nodes added at present */
};

static void set_node_count(struct group_run *run, struct added_nodes *added, uint32_t count)
{
	while (added->count < count) {
		bt_state_add_node(run->engine->state, &added->nodes[added->count++]);
	}
	while (added->count > count && run->result == 0) {
		run->result = bt_state_remove_node(
			run->engine->state, &added->nodes[--added->count], run->err);
	}
}

static struct bt_node *make_nodes(
	struct group_run *run, const struct bt_node *model, uint32_t count)
{
	static const struct bt_str hostname = BT_STR_INIT("kubernetes.io/hostname");
	struct bt_node *nodes = BT_ARENA_NEW_ARRAY(&run->arena, struct bt_node, count);
	uint32_t number = 1;
	for (uint32_t i = 0; i < count; i++) {
		struct bt_str name;
		do {
			name = bt_arena_printf(
				&run->arena, "%.*s-%u", BT_STR_ARG(model->metadata.name), number++);
		} while (bt_node_table_find(&run->engine->state->nodes, name) != BT_SLOT_NONE);
		nodes[i] = *model;
		nodes[i].metadata.name = name;
		nodes[i].metadata.uid = name;
		if (bt_str_map_find(&model->metadata.labels, hostname) != NULL) {
			nodes[i].metadata.labels = bt_str_map_set(
				&model->metadata.labels, hostname, &name, &run->arena);
		}
	}
	return nodes;
}

/**
 * Proposes new nodes like the model, and finds the smallest number of new nodes with which the
 * group is accepted. false: no number suffices, or the budget is used up.
 */
static bool propose_nodes_like(struct group_run *run, const struct bt_node *model)
{
	uint32_t most = run->count < ADDED_MAX ? run->count : ADDED_MAX;
	struct added_nodes added = {.nodes = make_nodes(run, model, most)};
	uint32_t placed_count = 0;
	uint32_t low = 0; /* largest number of nodes known not to suffice */
	uint32_t high = most + 1;
	uint32_t count = 1;
	bool has_guessed = false;
	while (high - low > 1 && has_time(run)) {
		set_node_count(run, &added, count);
		struct outcome outcome = try_group(run, NULL, 0, NULL);
		if (outcome.is_accepted) {
			/*
			 * The estimate is usually exact. If so, a trial with one node fewer proves
			 * that the estimate is the smallest number.
			 */
			high = count;
			placed_count = outcome.placed_count;
			count = has_guessed ? low + (high - low) / 2 : high - 1;
			has_guessed = true;
		} else {
			uint32_t before = run->out->placed_count;
			uint32_t reached = outcome.placed_count;
			low = count;
			if (high <= most) {
				count = low + (high - low) / 2;
			} else if (reached <= before || missing_count(run, reached) == 0) {
				count = low * 2;
			} else {
				uint64_t gain = reached - before;
				uint64_t wanted = missing_count(run, before) * (uint64_t)low;
				count = (uint32_t)((wanted + gain - 1) / gain);
			}
		}
		count = count <= low ? low + 1 : count > most ? most : count;
	}
	set_node_count(run, &added, 0);
	if (high > most || high - low > 1 || run->result < 0) {
		return false;
	}
	struct bt_group_proposal *proposal =
		propose(run, BT_GROUP_CHANGE_ADD_NODES, high, placed_count);
	proposal->node = bt_arena_str(&run->out->arena, model->metadata.name);
	return true;
}

/**
 * Proposes new nodes. Templates are the nodes that would accept the stopped member if they were
 * empty, nearest first.
 */
static void propose_nodes(struct group_run *run)
{
	const struct bt_explanation *stop = &run->out->stop;
	const struct bt_node *models[MODELS_MAX];
	uint32_t count = 0;
	for (uint32_t g = 0; g < stop->groups.count; g++) {
		const struct bt_explained_group *group = &stop->groups.items[g];
		for (uint32_t i = 0; i < group->nodes.count && count < MODELS_MAX; i++) {
			const struct bt_explained_node *entry =
				&stop->nodes.items[group->nodes.items[i]];
			const struct bt_node *node = current_node(run, entry->name);
			bool is_new =
				node != NULL && !node->spec.unschedulable && !entry->is_too_small;
			for (uint32_t k = 0; k < count && is_new; k++) {
				is_new = !(bt_resource_list_equal(&models[k]->status.allocatable,
						   &node->status.allocatable) &&
					bt_taint_list_equal(
						&models[k]->spec.taints, &node->spec.taints));
			}
			if (is_new) {
				models[count++] = node;
			}
		}
	}
	for (uint32_t i = 0; i < count && has_time(run); i++) {
		if (propose_nodes_like(run, models[i])) {
			return;
		}
	}
}

/** --- lower minCount, more members --- */

static void set_min_count(struct group_run *run, int32_t min_count)
{
	struct bt_object_store *objects = &run->engine->state->objects;
	struct bt_pod_group changed = *run->group;
	struct bt_gang_scheduling_policy gang = *changed.spec.scheduling_policy.gang;
	gang.min_count = min_count;
	changed.spec.scheduling_policy.gang = &gang;
	bt_object_store_put(objects, bt_object_create(BT_KIND_POD_GROUP, &changed));
	/* The texts of the previous object may be released now, so look the group up again. */
	run->group = bt_object_store_find(objects, BT_KIND_POD_GROUP,
		run->pods[0]->metadata.namespace_, *bt_pod_group_name_of(run->pods[0]));
}

/** Proposes more pods for a gang that has fewer pods than minCount. */
static void propose_pods(struct group_run *run)
{
	uint32_t there = run->out->scheduled_count + run->count;
	if (run->out->min_count <= 0 || there >= (uint32_t)run->out->min_count ||
		(uint32_t)run->out->min_count - there > ADDED_MAX) {
		return;
	}
	uint32_t count = (uint32_t)run->out->min_count - there;
	const struct bt_pod **more = BT_ARENA_NEW_ARRAY(&run->arena, const struct bt_pod *, count);
	for (uint32_t i = 0; i < count; i++) {
		struct bt_pod *pod = BT_ARENA_NEW(&run->arena, struct bt_pod);
		*pod = *run->pods[0];
		pod->metadata.name = bt_arena_printf(
			&run->arena, "%.*s-more-%u", BT_STR_ARG(pod->metadata.name), i);
		pod->metadata.uid = pod->metadata.name;
		bt_pod_groups_add_pending(run->engine->state, pod);
		more[i] = pod;
	}
	struct outcome outcome = try_group(run, more, count, NULL);
	for (uint32_t i = 0; i < count; i++) {
		bt_pod_groups_remove_pending(run->engine->state, more[i]);
	}
	if (outcome.is_accepted) {
		(void)propose(run, BT_GROUP_CHANGE_ADD_PODS, count, outcome.placed_count);
	}
}

/** --- the whole explanation --- */

static void describe_group(struct group_run *run)
{
	struct bt_group_explanation *out = run->out;
	const struct bt_pod_group *group = run->group;
	out->has_object = group != NULL;
	out->topology_key = BT_STR("");
	if (group == NULL) {
		return;
	}
	if (group->spec.scheduling_policy.gang != NULL &&
		bt_gate_enabled(&run->engine->config->gates, BT_GATE_GANG_SCHEDULING)) {
		out->min_count = group->spec.scheduling_policy.gang->min_count;
	}
	if (group->spec.scheduling_constraints != NULL &&
		group->spec.scheduling_constraints->topology.count != 0 &&
		bt_gate_enabled(
			&run->engine->config->gates, BT_GATE_TOPOLOGY_AWARE_WORKLOAD_SCHEDULING)) {
		out->topology_key = bt_arena_str(
			&out->arena, group->spec.scheduling_constraints->topology.items[0].key);
	}
}

static void add_gated(struct group_run *run)
{
	struct bt_group_explanation *out = run->out;
	for (uint32_t i = 0; i < run->count; i++) {
		struct bt_str message = BT_STR("");
		if (is_admitted(run, run->pods[i], &run->arena, &message)) {
			continue;
		}
		struct bt_explained_member gated = {
			.name = bt_arena_str(&out->arena, run->pods[i]->metadata.name),
			.message = bt_arena_str(&out->arena, message),
			.is_gated = true,
		};
		out->gated_count++;
		bt_arena_push(&out->arena, &out->members, gated);
	}
	if (out->gated_count == run->count) {
		out->fate = BT_GROUP_GATED;
		out->message = out->members.items[0].message;
	}
}

int bt_explain_group(struct bt_scheduler *scheduler, const struct bt_pod *const *pods,
	uint32_t count, const struct bt_explain_options *options, struct bt_group_explanation *out,
	struct berth_error *err)
{
	struct group_run run = {.scheduler = scheduler,
		.engine = bt_scheduler_engine(scheduler),
		.pods = pods,
		.count = count,
		.options = options,
		.out = out,
		.err = err};
	struct bt_state *state = run.engine->state;
	struct bt_str name = *bt_pod_group_name_of(pods[0]);
	struct bt_str namespace_ = pods[0]->metadata.namespace_;
	const struct bt_group_members *members = bt_pod_groups_find(state, namespace_, name);
	*out = (struct bt_group_explanation){.message = BT_STR("")};
	out->scheduled_count = members != NULL ? members->scheduled_count : 0;
	run.group = bt_object_store_find(&state->objects, BT_KIND_POD_GROUP, namespace_, name);
	describe_group(&run);
	struct outcome outcome = try_group(&run, NULL, 0, explain_first_member);
	run.is_explained = true; /* later trials must not fill in *out */
	add_gated(&run);
	bool proposes = options->proposals_max != 0 && !outcome.is_accepted &&
		out->fate != BT_GROUP_ERROR && options->objects.node != NULL;
	if (proposes) {
		struct outcome with_less;
		uint32_t remedy_count = run.remedies.count;
		run.remedies.count = 0;
		uint32_t placed_count = out->fate == BT_GROUP_GATED ? count : outcome.placed_count;
		uint32_t less = 0;
		uint32_t reached = run.out->scheduled_count + placed_count;
		int32_t min_count = run.out->min_count;
		/* Try a minCount equal to the number of members that have or find a node. */
		if (min_count >= 2 && reached != 0 && reached < (uint32_t)min_count) {
			set_min_count(&run, (int32_t)reached);
			with_less = try_group(&run, NULL, 0, NULL);
			set_min_count(&run, min_count);
			less = with_less.is_accepted ? reached : 0;
		}
		run.remedies.count = remedy_count;
		/* No change but the removal of its scheduling gates helps a gated member. */
		for (uint32_t i = 0; i < count && out->gated_count != 0; i++) {
			for (uint32_t k = 0; k < pods[i]->spec.scheduling_gates.count; k++) {
				struct bt_remedy remedy = {.kind = BT_REMEDY_REMOVE_GATE,
					.key = bt_arena_str(&out->arena,
						pods[i]->spec.scheduling_gates.items[k].name)};
				(void)bt_remedies_add(&run.remedies, &remedy);
			}
		}
		if (run.remedies.count != 0) {
			propose_remedies(&run);
		}
		run.remedies.count = 0;
		propose_nodes(&run);
		if (run.is_last_resort && run.proposals.count == 2) {
			bt_vec_remove_ordered(&run.proposals, 0);
		}
		propose_pods(&run);
		if (less != 0) {
			(void)propose(&run, BT_GROUP_CHANGE_LOWER_MIN_COUNT, less,
				with_less.placed_count);
		}
	}
	for (uint32_t i = 0; i < run.proposals.count && i < options->proposals_max; i++) {
		bt_arena_push(&out->arena, &out->proposals, run.proposals.items[i]);
	}
	if (out->stopped != NULL) {
		/* `stopped` may be a changed copy: replace it by the caller's pod. */
		for (uint32_t i = 0; i < count; i++) {
			if (bt_str_equal(pods[i]->metadata.uid, out->stopped->metadata.uid)) {
				out->stopped = pods[i];
				break;
			}
		}
	}
	bt_vec_finish(&run.changed);
	bt_vec_finish(&run.remedies);
	bt_vec_finish(&run.proposals);
	bt_arena_finish(&run.arena);
	return run.result;
}

void bt_group_explanation_finish(struct bt_group_explanation *explanation)
{
	bt_explanation_finish(&explanation->stop);
	bt_arena_finish(&explanation->arena);
	*explanation = (struct bt_group_explanation){0};
}
